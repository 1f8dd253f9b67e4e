//! The constraint of a transform: its free axes.

use crate::math::Axis;

/// The free directions of a transform.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Constraint {
    /// In the view plane, about the view axis, or uniform.
    Free,
    /// Trackball (rotations only).
    Trackball,
    /// One axis.
    Axis(Axis),
    /// All but one axis.
    Plane(Axis),
}
