//! Pose files for the arm.
#![no_main]

#[path = "../../core/inputs.rs"]
#[allow(dead_code, reason = "the other targets use the rest")]
mod inputs;

use inputs::{Originals, use_pose};
use libfuzzer_sys::fuzz_target;
use std::sync::LazyLock;

static ORIGINALS: LazyLock<Originals> = LazyLock::new(Originals::new);

fuzz_target!(|data: &[u8]| {
    if let Ok(text) = std::str::from_utf8(data) {
        use_pose(&ORIGINALS.document, text);
    }
});
