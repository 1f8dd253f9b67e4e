//! The girths that were measured of a person, in the frames of a comparison.

use crate::cli::Failure;
use crate::document::{Document, MeshId, Person};
use crate::evaluate::Evaluator;
use crate::twin::Tapes;
use glam::DVec3;
use serde::Serialize;

/// Where girths are measured; none without measurements of a person.
#[derive(Default)]
pub(crate) struct Girths {
    tapes: Tapes,
    meshes: Vec<MeshId>,
}

/// A girth in one frame.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Girth {
    pub(crate) bone: String,
    /// Where on the bone: 0 at its head, 1 at its tail.
    pub(crate) at: f64,
    /// At rest, metres.
    pub(crate) rest: f64,
    /// Metres; `null`: a position is not finite.
    pub(crate) posed: Option<f64>,
}

impl Girth {
    /// The change from the rest pose, as a fraction.
    pub(crate) fn change(&self) -> Option<f64> {
        Some(self.posed? / self.rest - 1.0)
    }
}

impl Girths {
    /// Those of a person on a document that has the person's body.
    pub(crate) fn of(document: &Document, person: Person) -> Result<Self, Failure> {
        let Some(table) = document.person(person) else {
            return Ok(Self::default());
        };
        let found = document.tapes(&table.rows, &table.options);
        let (tapes, meshes) = found.map_err(Failure::input)?;
        Ok(Self { tapes, meshes })
    }

    /// The girths in the pose in which a document was evaluated.
    pub(crate) fn in_pose(&self, document: &Document, evaluator: &Evaluator) -> Vec<Girth> {
        let points = |mesh: &MeshId| {
            let mut drawn = document.instances().iter();
            let (&id, _) = drawn.find(|(_, i)| i.mesh == *mesh && i.skin.is_some())?;
            let posed = evaluator.plan(id)?.positions();
            Some(posed.iter().map(|p| p.as_dvec3()).collect())
        };
        let points: Option<Vec<Vec<DVec3>>> = self.meshes.iter().map(points).collect();
        let tapes = &self.tapes.tapes;
        let posed = points.map_or_else(
            || vec![None; tapes.len()],
            |points| {
                let points: Vec<&[DVec3]> = points.iter().map(Vec::as_slice).collect();
                self.tapes.girths(&points)
            },
        );
        let girth = |(tape, posed): (&crate::twin::Tape, Option<f64>)| Girth {
            bone: document.skeleton().label(tape.joint),
            at: tape.at,
            rest: tape.rest,
            posed,
        };
        tapes.iter().zip(posed).map(girth).collect()
    }
}
