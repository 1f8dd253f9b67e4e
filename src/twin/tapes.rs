//! The girths of a posed body, where its rows measure them.
//!
//! A plane through a bent joint meets both of its limbs, so a posed girth is that of the curve that was measured at rest,
//! carried by the skin: the length of a tape that sticks to it.

use super::body::Body;
use super::error::TwinError;
use super::measurement::{FitOptions, Kind, Measurement};
use super::plan::{Plan, Target};
use super::section::{Cut, SkinCurve};
use crate::skeleton::JointId;
use glam::DVec3;

/// A girth that is followed through poses.
#[derive(Clone, Debug)]
pub struct Tape {
    /// The bone.
    pub joint: JointId,
    /// Where on the bone: 0 at its head, 1 at its tail.
    pub at: f64,
    /// The girth at rest, metres.
    pub rest: f64,
    curve: SkinCurve,
}

/// The girths of a body, one for each side that a row measures.
#[derive(Clone, Debug, Default)]
pub struct Tapes {
    /// In the order of the rows.
    pub tapes: Vec<Tape>,
}

impl Tapes {
    /// The girths among the rows of a table on a body. Fails where a row does not fit the body.
    pub fn new(body: &Body, rows: &[Measurement], options: &FitOptions) -> Result<Self, TwinError> {
        let plan = Plan::new(body, rows, options)?;
        let points = body.points();
        let tape = |target: &Target| {
            let (joint, at) = (*target.joints.first()?, target.at);
            let cut = Cut::of(&plan.lines[joint.get()], at)?;
            Some(Tape {
                joint,
                at,
                rest: target.template,
                curve: target.sleeve.as_ref()?.curve(&points, cut)?,
            })
        };
        let girths = plan.targets.iter().filter(|t| t.kind == Kind::Girth);
        Ok(Self {
            tapes: girths.filter_map(tape).collect(),
        })
    }

    /// The girths in a pose, metres; `None` where a point is not finite. `points`: of each mesh of the body, world space.
    pub fn girths(&self, points: &[&[DVec3]]) -> Vec<Option<f64>> {
        let girth = |tape: &Tape| tape.curve.length(points[tape.curve.mesh]);
        self.tapes.iter().map(girth).collect()
    }
}
