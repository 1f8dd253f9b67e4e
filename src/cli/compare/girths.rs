//! The girths that were measured of a person, in the frames of a comparison.

use crate::document::{Document, MeshId};
use crate::evaluate::Evaluator;
use crate::twin::Tape;
use serde::Serialize;

/// A girth in one frame.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Girth {
    pub(crate) bone: String,
    /// Where on the bone: 0 at its head, 1 at its tail.
    pub(crate) at: f64,
    /// At rest, metres.
    pub(crate) rest: f64,
    /// Metres; `null`: the mesh is not drawn, or a position under the tape is not finite.
    pub(crate) posed: Option<f64>,
}

impl Girth {
    /// The change from the rest pose, as a fraction.
    pub(crate) fn change(&self) -> Option<f64> {
        Some(self.posed? / self.rest - 1.0)
    }
}

/// The girths in the pose in which a document was evaluated.
pub(crate) fn in_pose(
    tapes: &[(MeshId, Tape)],
    document: &Document,
    evaluator: &Evaluator,
) -> Vec<Girth> {
    let positions = |mesh: MeshId| {
        let mut drawn = document.instances().iter();
        let (&id, _) = drawn.find(|(_, i)| i.mesh == mesh && i.skin.is_some())?;
        Some(evaluator.plan(id)?.positions())
    };
    let girth = |(mesh, tape): &(MeshId, Tape)| Girth {
        bone: document.skeleton().label(tape.joint),
        at: tape.at,
        rest: tape.rest,
        posed: positions(*mesh).and_then(|p| tape.length(|point| p[point as usize].as_dvec3())),
    };
    tapes.iter().map(girth).collect()
}
