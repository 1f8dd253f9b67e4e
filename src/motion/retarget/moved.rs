//! The joints of a character besides the hips that move in their parents.

use crate::motion::rig::Rig;

/// Which joint travels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RootMotion {
    /// The hips.
    #[default]
    Hips,
    /// The root joint of the skeleton takes the travel along the floor and the heading, the hips keep the rest.
    Root,
}

/// A joint of the target besides the hips that moves in its parent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moved {
    pub(super) joint: usize,
    pub(super) how: How,
}

/// How a joint moves in its parent.
#[derive(Clone, Copy, Debug)]
pub(super) enum How {
    /// As if it were below this joint.
    Carried(usize),
    /// As far from its parent as a joint of the source is from its own, in lengths at rest.
    Stretch {
        joint: usize,
        parent: usize,
        length: f64,
    },
    /// It takes the travel of the hips over.
    Root,
}

/// The highest bone above the hips, or where none moves a skin the highest joint.
pub(super) fn root_above(target: &Rig, hips: usize) -> Option<usize> {
    let bones = target
        .ancestors(hips)
        .filter(|joint| target.is_bone[*joint]);
    bones.last().or_else(|| target.ancestors(hips).last())
}
