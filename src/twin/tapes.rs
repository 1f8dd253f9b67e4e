//! The girths of a posed body, where its rows measure them.

use super::body::Body;
use super::error::TwinError;
use super::measurement::{FitOptions, Kind, Measurement};
use super::plan::{Plan, Target};
use super::section::{Cut, Sleeve};
use crate::skeleton::JointId;
use glam::{DAffine3, DVec3};

/// A girth that is followed through poses.
#[derive(Clone, Debug)]
pub struct Tape {
    /// The bone.
    pub joint: JointId,
    /// Where on the bone: 0 at its head, 1 at its tail.
    pub at: f64,
    /// The girth at rest, metres.
    pub rest: f64,
    sleeve: Sleeve,
    /// At rest, in the space of the joint.
    cut: Cut,
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
        let tape = |target: &Target| {
            let (joint, at) = (*target.joints.first()?, target.at);
            let into_joint = body.world[joint.get()].inverse();
            let cut = Cut::of(&plan.lines[joint.get()], at)?;
            Some(Tape {
                joint,
                at,
                rest: target.template,
                sleeve: target.sleeve.clone()?,
                cut: cut.moved(&into_joint),
            })
        };
        let girths = plan.targets.iter().filter(|t| t.kind == Kind::Girth);
        Ok(Self {
            tapes: girths.filter_map(tape).collect(),
        })
    }

    /// The girths in a pose, metres: the perimeter of the skin in the plane that is normal to the bone and moves with it;
    /// `None` where the skin is not closed there. `world`: n_joints; `points`: of each mesh of the body, world space.
    pub fn girths(&self, world: &[DAffine3], points: &[&[DVec3]]) -> Vec<Option<f64>> {
        let girth = |tape: &Tape| {
            let cut = tape.cut.moved(&world[tape.joint.get()]);
            let is_plane = cut.normal.is_normalized() && cut.centre.is_finite();
            is_plane.then(|| tape.sleeve.girth(points, cut)).flatten()
        };
        self.tapes.iter().map(girth).collect()
    }
}
