//! The words of `VRMC_node_constraint` 1.0, the constraints of nodes in VRM files.
//!
//! Source: the VRM Consortium's specification.

use glam::DVec3;

/// The name of the extension, of nodes.
pub(super) const NAME: &str = "VRMC_node_constraint";
/// The extension of a file that is a VRM model.
pub(super) const VRM: &str = "VRMC_vrm";
/// The version of the specification.
pub(super) const VERSION: &str = "1.0";
/// The kinds, of which a constraint has exactly one.
pub(super) const KINDS: [&str; 3] = ["roll", "aim", "rotation"];
/// The axes of a roll.
pub(super) const ROLL_AXES: [(&str, DVec3); 3] =
    [("X", DVec3::X), ("Y", DVec3::Y), ("Z", DVec3::Z)];
/// The axes of an aim.
pub(super) const AIM_AXES: [(&str, DVec3); 6] = [
    ("PositiveX", DVec3::X),
    ("NegativeX", DVec3::NEG_X),
    ("PositiveY", DVec3::Y),
    ("NegativeY", DVec3::NEG_Y),
    ("PositiveZ", DVec3::Z),
    ("NegativeZ", DVec3::NEG_Z),
];
