//! A leg of the target.

use super::Mapping;
use crate::motion::roles::{Part, Role, Side};

/// The joints of a leg of the target.
#[derive(Clone, Copy, Debug)]
pub(super) struct Leg {
    pub(super) thigh: usize,
    pub(super) shin: usize,
    pub(super) foot: usize,
    /// The toe, or the foot without one.
    pub(super) toe: usize,
    /// The source's toe, or its foot.
    pub(super) source: usize,
}

impl Leg {
    /// That of a side, if it is mapped.
    pub(super) fn of(mapping: &Mapping, side: Side) -> Option<Self> {
        let pair = |part| mapping.roles.get(&Role::of(part, side)).copied();
        let foot = pair(Part::Foot)?;
        let toe = pair(Part::Toe).unwrap_or(foot);
        Some(Self {
            thigh: pair(Part::Thigh)?[1],
            shin: pair(Part::Shin)?[1],
            foot: foot[1],
            toe: toe[1],
            source: toe[0],
        })
    }
}
