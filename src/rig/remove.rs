//! Removing a joint with the better of two ways to pass its weights on.

use super::done::Done;
use crate::document::Document;
use crate::document::rig::measure::{Distances, diagonal};
use crate::document::rig::{MEASURED_CLIPS, RigError, WeightRecipient, remove_measured};
use crate::finding::counted;
use crate::skeleton::JointId;

/// Measures both ways over the first clips and takes the one with the smaller mean square; says both numbers.
pub(super) fn run(document: &Document, joint: JointId) -> Result<Done, RigError> {
    let (edit, costs) = remove_measured(document, joint)?;
    let chosen = costs.preselected();
    let mut done = Done::of(edit);
    let size = diagonal(document);
    let number = |d: &Distances| {
        format!(
            "largest {:.3} %, rms {:.3} %",
            100.0 * d.max / size,
            100.0 * d.rms() / size
        )
    };
    if done.edit.n_points() > 0 {
        let (into, along) = (number(&costs.into_parent), number(&costs.along_bone));
        let over = match document.clips().len() {
            n if n > MEASURED_CLIPS => {
                format!("over the first {}", counted(MEASURED_CLIPS, "clip"))
            }
            _ => "over all clips".to_owned(),
        };
        done.notes.push(match chosen {
            WeightRecipient::AlongBone => format!(
                "Its weights are distributed along the bone ({over}: {along}); all to the parent would give {into}."
            ),
            _ if into == along => {
                "Its weights go to its parent, or to a child where no ancestor is in the skin.".into()
            }
            _ => format!(
                "Its weights go to the parent ({over}: {into}); along the bone would give {along}."
            ),
        });
    }
    Ok(done)
}
