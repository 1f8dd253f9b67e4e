//! The girths of a fitted body, followed through poses.
//!
//! A plane through a bent joint meets both of its limbs, so a posed girth is that of the curve that was measured at rest,
//! carried by the skin: the length of a tape that sticks to it.

use super::bones::BoneLine;
use super::plan::Target;
use super::section::{Cut, SkinCurve};
use crate::skeleton::JointId;
use glam::{DMat3, DVec3};

/// A girth that is followed through poses.
#[derive(Clone, Debug)]
pub struct Tape {
    /// The row of the table, from 0.
    pub row: usize,
    /// The bone.
    pub joint: JointId,
    /// Where on the bone: 0 at its head, 1 at its tail.
    pub at: f64,
    /// The tail of the bone in the space of its joint.
    pub tail: DVec3,
    /// The girth at rest, metres.
    pub rest: f64,
    /// The mesh on which it lies, by its place in the body.
    pub mesh: usize,
    curve: SkinCurve,
}

impl Tape {
    /// The tape around a bone of a fitted body; `None` where the target is no girth, or the skin is open there. `axes`: of the
    /// joint in the world. `points`: of each mesh, at rest, world space, metres.
    pub(super) fn of(
        target: &Target,
        line: &BoneLine,
        axes: DMat3,
        points: &[&[DVec3]],
    ) -> Option<Self> {
        let cut = Cut::of(line, target.at)?;
        let curve = target.sleeve.as_ref()?.curve(points, cut)?;
        Some(Self {
            row: target.row,
            tail: axes.inverse() * (line.tail - line.head),
            joint: *target.joints.first()?,
            at: target.at,
            rest: curve.length(|point| points[curve.mesh][point as usize])?,
            mesh: curve.mesh,
            curve,
        })
    }

    /// Its length in a pose, metres; `None` where a position under it is not finite. `position`: of a point of its mesh in the
    /// pose, world space, metres.
    pub fn length(&self, position: impl Fn(u32) -> DVec3) -> Option<f64> {
        self.curve.length(position)
    }

    /// Its corners in a pose, metres; the last one leads to the first. `position` as for [`Tape::length`].
    pub fn places(&self, position: impl Fn(u32) -> DVec3) -> Vec<DVec3> {
        self.curve.places(position)
    }
}
