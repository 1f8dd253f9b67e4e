//! Weights files.
#![no_main]

#[path = "../../core/inputs.rs"]
#[allow(dead_code, reason = "the other targets use the rest")]
mod inputs;

use inputs::use_weights;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| use_weights(data));
