//! Models: .glb and .gltf, through the deformer stack and an export, without pictures. The last byte chooses the stack and the
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
