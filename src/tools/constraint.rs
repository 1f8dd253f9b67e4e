//! What a transform may change: the axes that it leaves free.

use crate::math::Axis;

/// What is left free.
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
