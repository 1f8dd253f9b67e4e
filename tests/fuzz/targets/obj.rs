//! Wavefront OBJ files with the materials of the seeds.
#![no_main]

#[path = "../../core/inputs.rs"]
#[allow(dead_code, reason = "the other targets use the rest")]
mod inputs;

use inputs::{Choice, Originals, use_obj};
use libfuzzer_sys::fuzz_target;
use std::sync::LazyLock;

static ORIGINALS: LazyLock<Originals> = LazyLock::new(Originals::new);

fuzz_target!(|data: &[u8]| {
    if let Ok(text) = std::str::from_utf8(data) {
        use_obj(text, &ORIGINALS.obj[1], Choice::of(0));
    }
});
