//! Models: .glb and .gltf, and everything that the command line does with one. The last byte chooses the deformer stack and the
//! kind of export.
#![no_main]

#[path = "../../core/inputs.rs"]
#[allow(dead_code, reason = "the other targets use the rest")]
mod inputs;

use bytes::Bytes;
use inputs::{Choice, use_model};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    if let Some((&choice, model)) = data.split_last() {
        use_model(&Bytes::copy_from_slice(model), Choice::of(choice.into()));
    }
});
