//! The measures of a template: lengths, girths and its height.

use super::body::Body;
use super::section::{Cut, Sleeve};
use crate::skeleton::JointId;
use glam::DVec3;
use rayon::prelude::*;

/// Where girths of a template are listed.
pub const SITES: [f64; 3] = [0.25, 0.5, 0.75];

/// The measures of one bone at rest.
#[derive(Clone, Debug, PartialEq)]
pub struct BoneMeasure {
    /// The joint.
    pub joint: JointId,
    /// Its name.
    pub bone: String,
    /// Its role, as in `l.thigh`.
    pub role: Option<String>,
    /// Metres.
    pub length: f64,
    /// The girth at each of [`SITES`], metres; `None` where the skin is not closed round the bone.
    pub girths: [Option<f64>; 3],
}

/// The measures of a template.
#[derive(Clone, Debug, PartialEq)]
pub struct TemplateMeasures {
    /// Metres.
    pub height: f64,
    /// Points of all meshes.
    pub n_points: usize,
    /// The bones of the skins, by joint.
    pub bones: Vec<BoneMeasure>,
}

/// The measures of a body.
pub fn template_measures(body: &Body) -> TemplateMeasures {
    let points = body.points();
    let bones: Vec<JointId> = body.bones().collect();
    let measured = bones.par_iter().map(|&joint| {
        let sleeve = Sleeve::of(body, joint);
        BoneMeasure {
            joint,
            bone: body.skeleton.label(joint),
            role: body.role(joint).map(crate::motion::roles::Role::label),
            length: body.line(joint).length(),
            girths: SITES.map(|at| girth_of(body, &sleeve, joint, at, &points)),
        }
    });
    TemplateMeasures {
        height: body.height(),
        n_points: body.n_points(),
        bones: measured.collect(),
    }
}

/// The girth of a bone at rest, metres; `None` where the skin is not closed round it.
pub fn girth_at(body: &Body, joint: JointId, at: f64) -> Option<f64> {
    girth_of(body, &Sleeve::of(body, joint), joint, at, &body.points())
}

fn girth_of(
    body: &Body,
    sleeve: &Sleeve,
    joint: JointId,
    at: f64,
    points: &[&[DVec3]],
) -> Option<f64> {
    sleeve.girth(points, Cut::of(&body.line(joint), at)?)
}
