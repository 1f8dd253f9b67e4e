//! Driving helper joints and corrective samples from the driver block of a written file, as an engine does.
//!
//! The manual documents the format ("Driving helper joints"). This reads only what was written, so that the
//! verification of an export shows whether the file alone is sufficient for an engine.

use super::driving_samples::MeshSamples;
use crate::document::{Document, Skin, SkinId};
use crate::io::gltf_export::{DRIVERS, DRIVERS_VERSION};
use crate::math::dual_quaternion::quat_from_rotation;
use crate::math::{DualQuat, polar};
use crate::skeleton::{Channel, Clip, Interpolation, Property};
use glam::{DAffine3, DMat3, DMat4, DQuat, DVec3};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The driver block, as an engine reads it.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Drivers {
    version: u64,
    #[serde(default)]
    skins: Vec<SkinEntry>,
    #[serde(default)]
    helpers: Vec<HelperEntry>,
    #[serde(default)]
    psd: Vec<MeshSamples>,
}

#[derive(Clone, Debug, Deserialize)]
struct SkinEntry {
    skin: u32,
    unit: f64,
    stretch: String,
    #[serde(default)]
    above: Vec<Above>,
    #[serde(default)]
    follows: Vec<Follows>,
}

#[derive(Clone, Debug, Deserialize)]
struct Above {
    node: u32,
    #[serde(rename = "inverseBind")]
    inverse_bind: [f64; 16],
}

#[derive(Clone, Debug, Deserialize)]
struct Follows {
    node: u32,
    after: u32,
}

#[derive(Clone, Debug, Deserialize)]
struct HelperEntry {
    node: u32,
    parent: u32,
    skins: Vec<u32>,
    dlb: Dlb,
}

#[derive(Clone, Debug, Deserialize)]
struct Dlb {
    joints: Vec<u32>,
    weights: Vec<f64>,
}

/// The rigid motion and stretch of a joint, applied to points of a skin: `x -> rotation * (stretch * (x - origin) +
/// stretched_origin) + translation`.
#[derive(Clone, Copy)]
struct Motion {
    rotation: DQuat,
    translation: DVec3,
    stretch: DMat3,
    origin: DVec3,
    stretched_origin: DVec3,
}

impl Drivers {
    /// The driver block of a file; `None` if it has none of this version.
    pub(super) fn of(json: &Value) -> Option<Self> {
        let block = json.get("extras")?.get(DRIVERS)?;
        let drivers: Self = serde_json::from_value(block.clone()).ok()?;
        (drivers.version == DRIVERS_VERSION).then_some(drivers)
    }

    /// The clip with channels for the helpers and samples of `document`, at the times of its first channel.
    pub(super) fn driven(&self, document: &Document, clip: &Clip) -> Clip {
        let times = clip.channels.first().map(|c| c.times.clone());
        let times: Arc<[f32]> = times.unwrap_or_else(|| Arc::from([0.0]));
        let mut tracks: BTreeMap<u32, [Vec<f32>; 3]> = BTreeMap::new();
        for &time in times.iter() {
            let pose = document.keyed_pose(clip, f64::from(time));
            let mut world = pose.world_matrices(document.skeleton());
            for helper in &self.helpers {
                let Some(local) = self.local(document, helper, &mut world) else {
                    continue;
                };
                let (rotation, stretch) = polar(local.matrix3);
                let [r, t, s] = tracks.entry(helper.node).or_default();
                r.extend(quat_from_rotation(rotation).as_quat().to_array());
                t.extend(local.translation.as_vec3().to_array());
                s.extend((0..3).map(|i| stretch.col(i)[i] as f32));
            }
        }
        let mut driven = clip.clone();
        for samples in &self.psd {
            samples.drive(document, &times, &mut driven);
        }
        for (node, values) in tracks {
            let Some(joint) = document.skeleton().joint_of_node(node) else {
                continue;
            };
            let properties = [Property::Rotation, Property::Translation, Property::Scale];
            for (property, values) in properties.into_iter().zip(values) {
                driven.channels.push(Channel {
                    joint,
                    property,
                    interpolation: Interpolation::Linear,
                    times: times.clone(),
                    values: values.into(),
                });
            }
        }
        driven
    }

    /// The local transform of a helper in a pose; stores its world transform in `world`.
    fn local(
        &self,
        document: &Document,
        helper: &HelperEntry,
        world: &mut [DAffine3],
    ) -> Option<DAffine3> {
        let skin_id = helper.skins.first()?;
        let entry = self.skins.iter().find(|s| s.skin == *skin_id)?;
        let skin = document.skins().get(&SkinId(*skin_id))?;
        let skeleton = document.skeleton();
        let helper_joint = skeleton.joint_of_node(helper.node)?;
        let slot = skin.joints.iter().position(|&j| j == helper_joint)?;
        let mut sum = DualQuat {
            real: DQuat::from_xyzw(0.0, 0.0, 0.0, 0.0),
            dual: DQuat::from_xyzw(0.0, 0.0, 0.0, 0.0),
        };
        let mut stretch = DAffine3::from_mat3(DMat3::ZERO);
        let mut first: Option<DQuat> = None;
        for (&joint, &weight) in helper.dlb.joints.iter().zip(&helper.dlb.weights) {
            let motion = entry.motion(document, skin, joint, world)?;
            let q = DualQuat::from_rotation_translation(motion.rotation, motion.translation);
            let first = *first.get_or_insert(motion.rotation);
            let signed = if first.dot(motion.rotation) < 0.0 {
                -weight
            } else {
                weight
            };
            sum.real += q.real * signed;
            sum.dual += q.dual * signed;
            let place = motion.stretched_origin - motion.stretch * motion.origin;
            stretch.matrix3 += motion.stretch * weight;
            stretch.translation += place * weight;
        }
        let unit = DAffine3::from_scale(DVec3::splat(entry.unit));
        let matrix = sum.normalized().to_affine() * stretch * unit;
        let helper_world = matrix * skin.inverse_bind[slot].inverse();
        let parent = skeleton.joint_of_node(helper.parent)?;
        let local = world[parent.get()].inverse() * helper_world;
        world[helper_joint.get()] = helper_world;
        local.is_finite().then_some(local)
    }
}

impl SkinEntry {
    fn motion(
        &self,
        document: &Document,
        skin: &Skin,
        node: u32,
        world: &[DAffine3],
    ) -> Option<Motion> {
        // From the node up through the nodes that it follows.
        let mut chain = vec![(node, self.frame(document, skin, node, world)?)];
        while self.stretch == "blend"
            && let Some(&(below, _)) = chain.last()
        {
            let after = self.follows.iter().find(|f| f.node == below);
            let skeleton = document.skeleton();
            let parent = || {
                let parent = skeleton.joint(skeleton.joint_of_node(below)?).parent?;
                skeleton.joint(parent).source_node
            };
            // A file can define a cycle of joints that follow each other: it ends at its first node.
            let above = after.map(|f| f.after).or_else(parent);
            let above = above.filter(|above| chain.iter().all(|(node, _)| node != above));
            match above.and_then(|above| Some((above, self.frame(document, skin, above, world)?))) {
                Some(above) => chain.push(above),
                None => break,
            }
        }
        let frames = chain.into_iter().rev().map(|(_, frame)| frame);
        frames.fold(None, |above: Option<Motion>, (matrix, origin)| {
            let (rotation, stretch) = polar(matrix.matrix3);
            let mut motion = Motion {
                rotation: quat_from_rotation(rotation),
                translation: DVec3::ZERO,
                stretch: DMat3::IDENTITY,
                origin,
                stretched_origin: origin,
            };
            if self.stretch == "blend" {
                motion.stretch = stretch;
            }
            if let Some(above) = above {
                motion.stretched_origin =
                    above.stretch * (origin - above.origin) + above.stretched_origin;
            }
            motion.translation =
                matrix.transform_point3(origin) - motion.rotation * motion.stretched_origin;
            Some(motion)
        })
    }

    /// The motion of a node since the bind pose, and its position in the bind pose; `None` if the block lacks them.
    fn frame(
        &self,
        document: &Document,
        skin: &Skin,
        node: u32,
        world: &[DAffine3],
    ) -> Option<(DAffine3, DVec3)> {
        let joint = document.skeleton().joint_of_node(node)?;
        let listed = self.above.iter().find(|a| a.node == node);
        let inverse_bind = match listed {
            Some(above) => DAffine3::from_mat4(DMat4::from_cols_array(&above.inverse_bind)),
            None => {
                let slot = skin.joints.iter().position(|&j| j == joint)?;
                skin.inverse_bind[slot]
            }
        };
        let inverse_bind = inverse_bind * DAffine3::from_scale(DVec3::splat(1.0 / self.unit));
        let matrix = *world.get(joint.get())? * inverse_bind;
        Some((matrix, inverse_bind.inverse().translation))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joints_that_follow_each_other_in_a_circle_come_to_an_end() {
        let arm = concat!(env!("CARGO_MANIFEST_DIR"), "/assets/arm.glb");
        let arm = std::fs::read(arm).unwrap().into();
        let imported = crate::io::import_bytes(arm, None, None, &crate::task::Task::new());
        let document = Document::new(imported.unwrap().parts).unwrap();
        let nodes = document.skins().values().next().map(|s| s.joints.clone());
        let nodes = nodes.unwrap();
        let (a, b) = (nodes[0], nodes[1]);
        let entry = SkinEntry {
            skin: 0,
            unit: 1.0,
            stretch: "blend".into(),
            above: Vec::new(),
            follows: [(a, b), (b, a)]
                .map(|(node, after)| Follows {
                    node: node.0,
                    after: after.0,
                })
                .into(),
        };
        let world = document.rest_pose().world_matrices(document.skeleton());
        let skin = document.skins().values().next().unwrap();
        for node in [a, b] {
            let motion = entry.motion(&document, skin, node.0, &world).unwrap();
            assert!(motion.translation.length() < 1e-6, "{}", motion.translation);
        }
    }
}
