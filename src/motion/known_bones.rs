//! Bones of the humanoid map of a skeleton that the file or the artist gives.

use std::collections::BTreeMap;

/// A bone of the humanoid map: one of those that VRM 1.0 names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HumanBone(pub(super) u8);

/// Bones of the humanoid map that the file or the artist gives, with their joints.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KnownBones {
    /// The map of the file (VRM).
    pub file: BTreeMap<HumanBone, usize>,
    /// Those that the artist set; `None`: the body has no such bone.
    pub by_hand: BTreeMap<HumanBone, Option<usize>>,
}
