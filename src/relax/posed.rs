//! A pose of the surface around a joint.

use glam::{DQuat, DVec3};

/// The skinned points of a neighbourhood in a pose.
#[derive(Clone, Debug, Default)]
pub struct Posed {
    /// n_points, world, metres: where skinning puts them (S).
    pub skinned: Vec<DVec3>,
    /// n_points, world, metres: the shape whose outline stretched skin keeps (T); the same, or that of another stack.
    pub outline: Vec<DVec3>,
    /// n_points: the blended rotation of each (R), unit.
    pub rotations: Vec<DQuat>,
}
