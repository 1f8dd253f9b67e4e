//! VMC packets, as a log and one by one.
#![no_main]

#[path = "../../core/motion_inputs.rs"]
#[allow(dead_code, reason = "the other targets use the rest")]
mod motion_inputs;

use libfuzzer_sys::fuzz_target;
use motion_inputs::{use_motion, use_stream};

fuzz_target!(|data: &[u8]| {
    use_motion(data, "vmclog");
    use_stream(data);
});
