//! Projects (RON) of the arm. The last byte chooses the deformer stack and the kind of export.
#![no_main]

#[path = "../../core/inputs.rs"]
#[allow(dead_code, reason = "the other targets use the rest")]
mod inputs;

use inputs::{Choice, Originals, use_project};
use libfuzzer_sys::fuzz_target;
use std::sync::LazyLock;

static ORIGINALS: LazyLock<Originals> = LazyLock::new(Originals::new);

fuzz_target!(|data: &[u8]| {
    if let Some((&choice, text)) = data.split_last()
        && let Ok(text) = std::str::from_utf8(text)
    {
        use_project(&ORIGINALS.document, text, Choice::of(choice.into()));
    }
});
