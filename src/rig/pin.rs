//! Pinning a bone over a range of a clip, and what is said of it.

use super::done::Done;
use crate::document::Document;
use crate::document::rig::{self, LetGo, Pin, RigError};
use crate::skeleton::clip_keys::frame_rate;
use crate::task::Task;

/// Frames per second of a clip that has no rate of its own.
const USUAL_RATE: u32 = 30;
/// A smaller slip is not worth a note, as a fraction of the limb's length.
const NO_SLIP: f64 = 1e-3;

pub(super) fn run(document: &Document, request: &Pin, task: &Task) -> Result<Done, RigError> {
    let (edit, pinned) = rig::pin(document, request, task)?;
    let mut done = Done::of(edit);
    let label = document.skeleton().label(request.joint);
    let [from, to] = pinned.held;
    done.notes.push(format!(
        "“{label}” stays in place from {from:.2} s to {to:.2} s."
    ));
    let clip = document.clips().get(&request.clip);
    let rate = clip.and_then(|clip| frame_rate(clip)).unwrap_or(USUAL_RATE);
    for LetGo { time, miss } in pinned.let_go {
        let frame = (time * f64::from(rate)).round();
        let what = if time < from {
            format!("begins after frame {frame} ({time:.2} s): there")
        } else {
            format!("ends at frame {frame} ({time:.2} s): from there")
        };
        done.notes.push(format!(
            "The pin on “{label}” {what} it is out of reach by {:.1} % of the limb length.",
            100.0 * miss
        ));
    }
    if pinned.slip > NO_SLIP {
        done.notes.push(format!(
            "“{label}” slips by up to {:.1} % of the limb length.",
            100.0 * pinned.slip
        ));
    }
    Ok(done)
}
