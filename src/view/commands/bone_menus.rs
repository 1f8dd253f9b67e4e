//! The operations on bones, as the context menus group them.

use super::Command;
use crate::editor::RigKind;

/// Those that divide and remove bones.
pub const DIVIDE: [Command; 3] = [
    Command::EditRig(RigKind::Subdivide),
    Command::EditRig(RigKind::Dissolve),
    Command::EditRig(RigKind::Remove),
];

/// Those that change which bone belongs to which.
pub const RELATE: [Command; 3] = [
    Command::EditRig(RigKind::SetParent),
    Command::EditRig(RigKind::ClearParent),
    Command::EditRig(RigKind::Symmetrize),
];

/// Those that add helper bones.
pub const HELPERS: [Command; 2] = [
    Command::EditRig(RigKind::Twist),
    Command::EditRig(RigKind::Half),
];
