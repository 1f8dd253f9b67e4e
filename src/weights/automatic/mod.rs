//! Weights computed from the bones and the surface.
//!
//! Data flow: a subject -> `welded_surface` (seams joined) and `bones` (the joints that receive weight, and their
//! segments) -> a method: `rigid` (the nearest bone), `heat` over the surface, `voxel` through the inside (`grid` -> `solid` -> `geodesic`), or
//! `biharmonic` on a coarse copy of the inside (`proxy`) -> `rows`: the largest few weights of each position -> an
//! outcome that keeps locked weights.
//!
//! Invariant: memory grows with points x influences, never with points x joints.
//! Invariant: where a method fails a fallback is used, and the notes of the report name it and the bones or vertices.

mod biharmonic;
mod bones;
mod geodesic;
mod grid;
mod heat;
mod proxy;
mod rigid;
mod rows;
mod solid;
mod voxel;
mod welded_surface;

pub(crate) use bones::some;
pub(crate) use heat::islands_note;
pub(crate) use rows::{TopRows, finish};
pub(crate) use welded_surface::WeldedSurface;

use crate::math::FactorError;
use crate::task::Task;
use crate::weights::outcome::{OperationError, Outcome};
use crate::weights::subject::Subject;
use bones::Deformers;
use geodesic::away;
use solid::Solid;

/// Cells along the longest side of the bounds that the blocks of [`Automatic::Biharmonic`] are made of, at most.
const FINEST: u32 = 256;

/// How automatic weights are computed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Automatic {
    /// Bone heat (Baran and Popovic 2007).
    Heat,
    /// Geodesic voxel binding (Dionne and de Lasa 2013).
    Voxel {
        /// Cells along the longest side of the bounds, 32 - 512.
        resolution: u32,
        /// Falloff with distance, 0 - 1: 0 reaches far, 1 stays near the closest bone.
        falloff: f32,
    },
    /// Bounded biharmonic weights (Jacobson et al. 2011) on a voxel proxy.
    Biharmonic {
        /// Cells along the longest side of the bounds, 16 - 256.
        resolution: u32,
    },
    /// Weight 1 for the nearest bone.
    Rigid,
}

impl Automatic {
    /// The new rows of `subject`.
    ///
    /// Unlocked joints of the skin receive weight, except those that have none now and look like helpers (see the
    /// notes of the report). Fails if no joint can.
    pub fn run(&self, subject: &Subject<'_>, task: &Task) -> Result<Outcome, OperationError> {
        task.step("Reading the mesh", 0.0)?;
        let surface = WeldedSurface::new(subject);
        let index = surface.index();
        task.check()?;
        let mut deformers = Deformers::new(subject, &surface, &index);
        if deformers.list.is_empty() {
            return Err(OperationError::Refused(format!(
                "No bone of \"{}\" can receive weight: {}.",
                subject.mesh.name,
                if subject.joints.is_empty() {
                    "it has no skin"
                } else {
                    "all are locked"
                }
            )));
        }
        let (rows, more) = match *self {
            Self::Rigid => {
                let rows = rigid::weights(subject, &surface, &deformers, task)?;
                (rows, Vec::new())
            }
            Self::Heat => heat::weights(subject, &surface, &deformers, &index, task)?,
            Self::Voxel {
                resolution,
                falloff,
            } => {
                let solid = Solid::new(&surface, &index, resolution.clamp(32, 512), task)?;
                deformers.leave_out(subject, &away(&solid, &surface, &index, &deformers));
                let bend = falloff.clamp(0.0, 1.0);
                voxel::weights(subject, &surface, &deformers, &solid, bend, task)?
            }
            Self::Biharmonic { resolution } => {
                let resolution = resolution.clamp(16, FINEST);
                let side = (FINEST / resolution).clamp(1, 4);
                let solid = Solid::new(&surface, &index, resolution * side, task)?;
                deformers.leave_out(subject, &away(&solid, &surface, &index, &deformers));
                biharmonic::weights(subject, &surface, &deformers, &solid, side as usize, task)?
            }
        };
        task.step("Writing weights", 0.97)?;
        let mut notes = deformers.notes;
        notes.extend(more);
        Ok(finish(subject, &surface, &rows, notes))
    }
}

/// The message for a system that could not be solved.
pub(crate) fn solved(error: FactorError) -> OperationError {
    match error {
        FactorError::Cancelled(cancelled) => cancelled.into(),
        failed @ FactorError::Failed { .. } => {
            let sentence = failed.to_string();
            let mut letters = sentence.chars();
            let first = letters.next().map(|c| c.to_ascii_uppercase());
            OperationError::Refused(first.into_iter().chain(letters).chain(['.']).collect())
        }
    }
}
