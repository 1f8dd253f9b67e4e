//! What a transform may change: the axes that it leaves free.

use crate::math::Axis;

/// What is left free.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Constraint {
    /// In the plane of the view, about the view's axis, or all axes alike.
    Free,
    /// A turn as of a ball under the hand (of rotations only).
    Trackball,
    /// One axis.
    Axis(Axis),
    /// All but one axis.
    Plane(Axis),
}
