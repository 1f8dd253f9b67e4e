//! Templates: skeletons for models without bones, fitted to the bounds.

use super::centre::{Surface, whole_surface};
use super::done::Done;
use super::plan::{Plan, chain, hand, humanoid, quadruped};
use crate::document::Document;
use crate::document::rig::measure::rest_points;
use crate::document::rig::{NewBone, RigError, add_skeleton, joints_to_bind};
use crate::math::transform::normalize_or_identity;
use glam::{DMat3, DQuat, DVec3};

/// A bone moves into the middle of its limb by at most this fraction of the distance to its parent.
const FARTHEST: f64 = 0.5;
/// Bones nearer to the forward axis than this cosine point their z axis upwards.
const FORWARD: f64 = 0.9;

/// A kind of skeleton.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Template {
    /// A person who stands upright.
    Humanoid,
    /// An animal on four legs, with a tail.
    Quadruped,
    /// Five bones along the longest side: a tail, a rope, a tentacle.
    Chain,
    /// A hand with five fingers along the longest side.
    Hand,
}

impl Template {
    /// All of them, in the order of menus.
    pub const ALL: [Self; 4] = [Self::Humanoid, Self::Quadruped, Self::Chain, Self::Hand];

    /// Its name in menus.
    pub fn label(self) -> &'static str {
        match self {
            Self::Humanoid => "Humanoid",
            Self::Quadruped => "Quadruped",
            Self::Chain => "Chain",
            Self::Hand => "Hand",
        }
    }
}

/// Adds the template's bones: placed by the bounds and what stands out of them, settled in the middle of the limbs, with y
/// along each bone.
///
/// Fails for a model that has bones and for one without an extent.
pub(super) fn run(document: &Document, template: Template) -> Result<Done, RigError> {
    if !document.skins().is_empty() || !joints_to_bind(document).is_empty() {
        return Err(RigError::Value(
            "The model already has bones. Bind its meshes to them instead.".into(),
        ));
    }
    let points = rest_points(document).into_values().flatten();
    let points: Vec<DVec3> = points.filter(|p| p.is_finite()).collect();
    let flat = || {
        RigError::Value(
            "The model has no mesh with a size, so no skeleton can be fitted to it.".into(),
        )
    };
    let (rotation, plans) = match template {
        Template::Humanoid => {
            let (points, triangles) = whole_surface(document, DMat3::IDENTITY);
            let points: Vec<DVec3> = points.iter().map(|p| p.as_dvec3()).collect();
            humanoid(&points, &triangles)
        }
        Template::Quadruped => quadruped(&points),
        Template::Chain => chain(&points),
        Template::Hand => hand(&points),
    }
    .ok_or_else(flat)?;
    let surface = Surface::of(document, rotation);
    let heads = settled(&plans, &surface);
    let axes = axes(&plans, &heads);
    let back = rotation.transpose();
    let bones = plans.iter().zip(&heads).zip(&axes);
    let bones = bones.map(|((plan, &head), &axes)| NewBone {
        name: plan.name.clone(),
        parent: plan.parent,
        head: back * head,
        axes: normalize_or_identity(DQuat::from_mat3(&(back * axes))),
    });
    let bones: Vec<NewBone> = bones.collect();
    let (edit, made) = add_skeleton(document, &bones)?;
    Ok(Done {
        edit,
        // The armature is no bone.
        made: made.into_iter().skip(1).collect(),
        notes: vec![
            "Check the joints before you bind: those of elbows and knees decide where the mesh bends."
                .into(),
        ],
    })
}

/// The heads in the middle of their limbs, the same on both sides.
fn settled(plans: &[Plan], surface: &Surface) -> Vec<DVec3> {
    let mut heads: Vec<DVec3> = plans.iter().map(|plan| plan.at).collect();
    for (p, plan) in plans.iter().enumerate().filter(|(_, plan)| plan.settles) {
        let above = plan.parent.map(|parent| heads[parent]);
        let below = plans.iter().position(|other| other.parent == Some(p));
        let below = below.map(|below| plans[below].at);
        let into = above.map(|above| plan.at - above);
        let out = below.map(|below| below - plan.at);
        // Across both bones, unless they bend sharply, as at the ankle.
        let along = match (into, out) {
            (Some(into), Some(out))
                if into.normalize_or_zero().dot(out.normalize_or_zero()) > 0.5 =>
            {
                into.normalize_or_zero() + out.normalize_or_zero()
            }
            (Some(into), _) => into,
            (None, Some(out)) => out,
            (None, None) => DVec3::Y,
        };
        let length = into.or(out).map_or(0.0, DVec3::length);
        if let Some(centre) = surface.centre(plan.at, along)
            && centre.distance(plan.at) <= FARTHEST * length
        {
            heads[p] = centre;
        }
    }
    for (p, plan) in plans.iter().enumerate() {
        if let Some((other, middle)) = plan.mirrors {
            let flipped = |at: DVec3| DVec3::new(2.0 * middle - at.x, at.y, at.z);
            let mean = 0.5 * (heads[p] + flipped(heads[other]));
            heads[p] = mean;
            heads[other] = flipped(mean);
        }
        if let Some(middle) = plan.middle {
            heads[p].x = middle;
        }
    }
    heads
}

/// The axes: y along the bone, z forwards or, along a bone that points there, upwards. A leaf has its parent's.
fn axes(plans: &[Plan], heads: &[DVec3]) -> Vec<DMat3> {
    let mut axes: Vec<DMat3> = Vec::new();
    for (p, plan) in plans.iter().enumerate() {
        let child = plans.iter().position(|other| other.parent == Some(p));
        let along = child.and_then(|child| (heads[child] - heads[p]).try_normalize());
        let made = match (along, plan.parent) {
            (Some(y), _) => {
                let towards = if y.z.abs() > FORWARD {
                    DVec3::Y
                } else {
                    DVec3::Z
                };
                let z = (towards - y * towards.dot(y)).normalize_or(DVec3::Z);
                DMat3::from_cols(y.cross(z), y, z)
            }
            (None, Some(parent)) => axes[parent],
            (None, None) => DMat3::IDENTITY,
        };
        axes.push(made);
    }
    axes
}
