//! Where a muscle lies: its bone and the limb around it at bind, and both in the pose on screen.

use super::Editor;
use crate::cluster::procedural::limb_radius;
use crate::cluster::{Flexion, MuscleLayer};
use crate::document::{Document, MeshId};
use crate::skeleton::JointId;
use glam::{DAffine3, DVec3};
use std::collections::BTreeSet;

/// The radius of a limb without vertices, as a fraction of the length of its bone.
const THIN: f64 = 0.15;

/// How far from a place along the bone the surface there is measured, as a fraction of the bone's length.
const NEAR: f64 = 0.06;

/// The cosine of the angle around the bone within which the surface is measured.
const FACING: f64 = 0.8;

/// The largest number of poses that a clip is searched in for a bend.
const CLIP_POSES: usize = 12;

/// The largest number of clips that are searched.
const CLIPS: usize = 8;

/// The sine of the angle to the bone below which a direction has no side.
const STRAIGHT: f64 = 1e-3;

/// The sine of the angle between the bones below which a limb counts as modelled straight.
const MODELLED_BENT: f64 = 0.01;

/// A smaller bend says nothing about the side, radians.
const NO_BEND: f64 = 0.09;

/// The place of a muscle. Bind space is that of the mesh at the size of the world, metres.
#[derive(Clone, Debug)]
pub struct MuscleSite {
    /// Head and tail of the bone at bind.
    pub bone: [DVec3; 2],
    /// The radius of the limb, metres: the median distance of its vertices from the bone.
    pub radius: f64,
    /// The bend of its joint.
    pub flexion: Flexion,
    /// The side across the bone to which the second bone points in the rest pose, bind space, unit: limbs are modelled
    /// slightly bent, towards the flexor. Any side where they are straight.
    pub modelled: DVec3,
    /// Whether the limb is modelled bent.
    pub is_modelled_bent: bool,
    joints: [JointId; 2],
    /// Bind space -> the space of the first joint.
    to_joint: DAffine3,
    /// Of each vertex of the limb: its place along the bone, 0 - 1, and its offset from the bone.
    limb: Vec<(f64, DVec3)>,
}

/// The site that was measured last, and for what.
#[derive(Default)]
pub(in crate::editor) struct KnownSite {
    of: Option<(Document, MeshId, [JointId; 2])>,
    site: Option<MuscleSite>,
}

impl MuscleSite {
    /// The unit direction of the bone.
    pub fn along(&self) -> DVec3 {
        (self.bone[1] - self.bone[0]).normalize_or(DVec3::Y)
    }

    /// The length of the bone, metres.
    pub fn length(&self) -> f64 {
        self.bone[0].distance(self.bone[1])
    }

    /// `side` across the bone, unit; any such direction where it points along the bone.
    pub fn across(&self, side: DVec3) -> DVec3 {
        let along = self.along();
        let across = side - along * side.dot(along);
        if across.length() > STRAIGHT * side.length() {
            across.normalize_or(along.any_orthonormal_vector())
        } else {
            along.any_orthonormal_vector()
        }
    }

    /// The distance of the surface from the bone at a fraction of its length, towards the unit direction `side`, metres.
    pub fn surface(&self, fraction: f64, side: DVec3) -> f64 {
        let near = self.limb.iter().filter(|(at, offset)| {
            (at - fraction).abs() < NEAR && offset.dot(side) > FACING * offset.length()
        });
        let (n, sum) = near.fold((0, 0.0), |(n, sum), (_, offset)| {
            (n + 1, sum + offset.length())
        });
        if n > 0 {
            sum / f64::from(n)
        } else {
            self.radius
        }
    }

    /// The point at a fraction of the bone's length and an offset from it, bind space.
    pub fn point(&self, fraction: f64, offset: DVec3) -> DVec3 {
        self.bone[0].lerp(self.bone[1], fraction) + offset
    }

    /// Bind space -> the world in a pose of these world transforms; `None` where there is no such joint.
    pub fn posed(&self, world: &[DAffine3]) -> Option<DAffine3> {
        Some(*world.get(self.joints[0].get())? * self.to_joint)
    }

    /// The side to which the second bone turns in a pose, bind space, unit; `None` where it does not turn.
    fn side_in(&self, world: &[DAffine3], rest: DVec3) -> Option<DVec3> {
        let turned = self.flexion.toward(world)? - rest;
        let turned = self.to_joint.matrix3.inverse() * turned;
        let along = self.along();
        (turned - along * turned.dot(along)).try_normalize()
    }
}

impl Editor {
    /// The place of the active muscle of the active group; `None` without one, or where its bone is not one of the skin.
    pub fn muscle_site(&mut self) -> Option<&MuscleSite> {
        let joints = {
            let muscle: &MuscleLayer = self.active_muscle()?.1;
            [muscle.upper, muscle.lower]
        };
        self.site_of(joints)
    }

    /// The bend of the active muscle's joint in the pose on screen, radians from the rest pose, below 0 away from the side to
    /// which it flexes; `None` without one.
    pub fn muscle_bend(&mut self) -> Option<f64> {
        let side = self.active_muscle()?.1.settings.flexion;
        let site = self.muscle_site()?;
        let flexion = side.map_or(site.flexion, |side| {
            site.flexion.toward_side(site.to_joint.matrix3 * side)
        });
        let bend = flexion.bend(&self.world);
        bend.is_finite().then_some(bend)
    }

    /// The side to which the joint of the active muscle flexes, as a direction of the world in the rest pose, unit; `None`
    /// without a muscle, or where any bend of its joint counts.
    pub fn muscle_flexion(&mut self) -> Option<DVec3> {
        let side = self.active_muscle()?.1.settings.flexion?;
        let rest = self.document.rest_pose();
        let rest = rest.world_matrices(self.document.skeleton());
        let site = self.muscle_site()?;
        let posed = site.posed(&rest)?;
        (posed.matrix3 * site.across(side)).try_normalize()
    }

    /// The side to which the joint of a bone bends, bind space, unit: in the pose on screen, else where clips bend it
    /// most, else in the rest pose; any side where it is straight in all of them.
    pub(super) fn flexor_side(&mut self, joints: [JointId; 2]) -> Option<DVec3> {
        let found = self.found_flexor_side(joints);
        let site = self.site_of(joints)?;
        Some(found.unwrap_or(site.modelled))
    }

    /// The same; `None` where the joint is straight in all of them.
    pub(super) fn found_flexor_side(&mut self, joints: [JointId; 2]) -> Option<DVec3> {
        let world = self.world.clone();
        let site = self.site_of(joints)?.clone();
        let skeleton = self.document.skeleton();
        let rest_world = self.document.rest_pose().world_matrices(skeleton);
        let rest = site.flexion.toward(&rest_world)?;
        if site.flexion.bend(&world).abs() > NO_BEND
            && let Some(side) = site.side_in(&world, rest)
        {
            return Some(side);
        }
        let mut most: Option<(f64, DVec3)> = None;
        for clip in self.document.clips().values().take(CLIPS) {
            let (start, end) = (f64::from(clip.start_secs()), f64::from(clip.end_secs()));
            for i in 0..CLIP_POSES {
                let at = start + (end - start) * (i as f64 + 0.5) / CLIP_POSES as f64;
                let pose = self.document.pose_of_clip(clip, at);
                let world = pose.world_matrices(skeleton);
                let bend = site.flexion.bend(&world).abs();
                if bend > most.map_or(NO_BEND, |known| known.0)
                    && let Some(side) = site.side_in(&world, rest)
                {
                    most = Some((bend, side));
                }
            }
        }
        let found = most.map(|(_, side)| side);
        found.or(site.is_modelled_bent.then_some(site.modelled))
    }

    /// The place of a bone of the active object, measured again if the model below its clusters changed.
    pub(super) fn site_of(&mut self, joints: [JointId; 2]) -> Option<&MuscleSite> {
        let mesh = self.clustered_mesh()?;
        let known = self.muscles.site.of.as_ref();
        let is_known = known.is_some_and(|(document, of, bone)| {
            *of == mesh && *bone == joints && document.bends_the_same(&self.document)
        });
        if !is_known {
            self.muscles.site.site = measure(&self.document, mesh, joints);
            self.muscles.site.of = Some((self.document.clone(), mesh, joints));
        }
        self.muscles.site.site.as_ref()
    }
}

fn measure(document: &Document, mesh: MeshId, joints: [JointId; 2]) -> Option<MuscleSite> {
    let (_, skin) = document.skin_of_mesh(mesh)?;
    let item = document.meshes().get(&mesh)?;
    let instance = crate::correctives::skinned_instance(document, mesh)?;
    let unit = document.point_rotations(instance)?.unit_scale();
    let slot = |joint: JointId| skin.joints.iter().position(|&other| other == joint);
    let to_joint = |slot: usize| skin.inverse_bind.get(slot).copied();
    let [upper, lower] = [slot(joints[0])?, slot(joints[1])?];
    let [first, second] = [to_joint(upper)?, to_joint(lower)?];
    let bone = [first, second].map(|m| m.inverse().translation * unit);
    let length = bone[0].distance(bone[1]);
    if !(length > 0.0 && length.is_finite()) {
        return None;
    }
    // The vertices that the bone moves most, with those of twist joints along it.
    let skeleton = document.skeleton();
    let is_of_bone = |joint: JointId| {
        joint == joints[0]
            || (joint != joints[1]
                && skeleton.ancestors(joint).any(|above| above == joints[0])
                && !skeleton.ancestors(joint).any(|above| above == joints[1]))
    };
    let own: BTreeSet<u16> = (0u16..)
        .zip(&skin.joints)
        .filter(|(_, joint)| is_of_bone(**joint))
        .map(|(slot, _)| slot)
        .collect();
    let positions = &item.geometry.positions;
    let points = positions.iter().zip(0u32..).filter(|(_, point)| {
        let row = item.influences.row(*point);
        let most = row.iter().max_by(|a, b| a.1.total_cmp(&b.1));
        most.is_some_and(|(slot, _)| own.contains(&slot))
    });
    let points: Vec<DVec3> = points.map(|(p, _)| p.as_dvec3() * unit).collect();
    let radius = limb_radius(bone, points.iter().copied()).ok().flatten();
    let along = (bone[1] - bone[0]) / length;
    let limb = points.iter().map(|p| {
        let fraction = (*p - bone[0]).dot(along) / length;
        (fraction, *p - bone[0].lerp(bone[1], fraction))
    });
    let rest_world = document.rest_pose().world_matrices(skeleton);
    let to_joint = first * DAffine3::from_scale(DVec3::splat(1.0 / unit));
    let mut site = MuscleSite {
        bone,
        radius: radius.filter(|r| *r > 0.0).unwrap_or(THIN * length),
        flexion: Flexion::new(joints, skeleton, &rest_world),
        modelled: DVec3::ZERO,
        is_modelled_bent: false,
        joints,
        to_joint,
        limb: limb.collect(),
    };
    let toward = site.flexion.toward(&rest_world).unwrap_or(DVec3::ZERO);
    let toward = to_joint.matrix3.inverse() * toward;
    site.modelled = site.across(toward);
    let across = toward - site.along() * toward.dot(site.along());
    site.is_modelled_bent = across.length() > MODELLED_BENT * toward.length();
    Some(site)
}
