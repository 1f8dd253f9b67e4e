//! What moves helper joints in clips that the file does not have: one block in the file's root `extras`, and its reader.
//!
//! The format is in the manual ("Driving helper joints"). What is read back here is only what was written, so that the
//! check of an export tells whether an engine can do with the file alone what [`crate::bake`] did.

use super::nodes::{AddedNodes, node_of};
use super::patch::{Patch, number};
use super::report::ExportReport;
use crate::bake::{BakeOptions, Baked, SkinFrames};
use crate::document::{Document, Skin, SkinId};
use crate::finding::Finding;
use crate::math::dual_quaternion::quat_from_rotation;
use crate::math::{DualQuat, polar};
use crate::skeleton::{Channel, Clip, Interpolation, Property};
use glam::{DAffine3, DMat3, DMat4, DQuat, DVec3};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The block's name in the root `extras`.
const NAME: &str = "sinew_skin";
/// The format that this writes and reads.
const VERSION: u64 = 1;
/// What a player without a driver shows.
const FALLBACK: &str = "Helpers that nothing drives and no clip moves stay with their parents: the skin bends wrongly \
                        around them. Drive them, or play the clips that have tracks for them.";

/// Takes the block out, for files without the skins that it speaks of.
pub(super) fn drop_drivers(json: &mut Value) {
    let Some(extras) = json.get_mut("extras").and_then(Value::as_object_mut) else {
        return;
    };
    if extras.shift_remove(NAME).is_some()
        && extras.is_empty()
        && let Some(root) = json.as_object_mut()
    {
        root.shift_remove("extras");
    }
}

/// Writes the block. Extras of the file stay; a block of this version that is there already is added to.
pub(super) fn patch_drivers(
    document: &Document,
    baked: &Baked,
    added: &AddedNodes,
    options: &BakeOptions,
    patch: &mut Patch,
    report: &mut ExportReport,
) {
    if baked.joints.is_empty() {
        return;
    }
    let Some(root) = patch.json.as_object_mut() else {
        return;
    };
    let extras = root.entry("extras").or_insert_with(|| json!({}));
    if !extras.is_object() {
        let kept = extras.take();
        *extras = json!({ "extras": kept });
        report.findings.push(Finding::info(
            "extras",
            "The file's own extras were no object; they are kept as \"extras\" beside the drivers of helper joints.",
        ));
    }
    let Some(extras) = extras.as_object_mut() else {
        return;
    };
    let mut block = Map::new();
    block.insert("version".into(), VERSION.into());
    block.insert("tolerance".into(), short(options.tolerance));
    block.insert("achieved".into(), json!({ "max": short(baked.expected) }));
    let skins = baked.frames.iter();
    let skins = skins.map(|(&skin, frames)| skin_of(document, skin, frames));
    block.insert("skins".into(), skins.collect());
    let helpers = (0..baked.joints.len()).map(|helper| helper_of(document, baked, added, helper));
    block.insert("helpers".into(), helpers.collect());
    block.insert("fallback".into(), FALLBACK.into());
    match extras.get_mut(NAME) {
        Some(old) if old.get("version").and_then(Value::as_u64) == Some(VERSION) => {
            merge(old, block);
        }
        Some(old) => {
            *old = Value::Object(block);
            report.findings.push(Finding::warning(
                "extras",
                "The drivers of helper joints that the file had are of a version that is not known; they were replaced.",
            ));
        }
        None => {
            extras.insert(NAME.into(), Value::Object(block));
        }
    }
}

fn skin_of(document: &Document, skin: SkinId, frames: &SkinFrames) -> Value {
    let mut entry = Map::new();
    entry.insert("skin".into(), skin.0.into());
    entry.insert("unit".into(), short(frames.unit));
    let stretch = if frames.stretches { "blend" } else { "drop" };
    entry.insert("stretch".into(), stretch.into());
    if !frames.above.is_empty() {
        let above = frames.above.iter().map(|(joint, inverse_bind)| {
            let matrix = DMat4::from(*inverse_bind).to_cols_array();
            let matrix: Value = matrix.iter().map(|&x| short(x)).collect();
            json!({ "node": node_of(document, *joint), "inverseBind": matrix })
        });
        entry.insert("above".into(), above.collect());
    }
    if !frames.follows.is_empty() {
        let follows = frames.follows.iter().map(|(joint, after)| {
            json!({ "node": node_of(document, *joint), "after": node_of(document, *after) })
        });
        entry.insert("follows".into(), follows.collect());
    }
    Value::Object(entry)
}

fn helper_of(document: &Document, baked: &Baked, added: &AddedNodes, helper: usize) -> Value {
    let joint = &baked.joints[helper];
    let skins = baked
        .skins
        .iter()
        .filter(|(_, list)| list.contains(&helper));
    let skins: Value = skins.map(|(skin, _)| Value::from(skin.0)).collect();
    let joints = joint.driver.iter().map(|d| node_of(document, d.0));
    let joints: Value = joints.collect();
    let weights = joint.driver.iter();
    let weights: Value = weights.map(|d| number((d.1 * 1e7).round() / 1e7)).collect();
    let pivot = joint.inverse_bind.inverse().translation.to_array();
    let pivot: Value = pivot.iter().map(|&x| short(x)).collect();
    json!({
        "node": added.get(&joint.id),
        "parent": node_of(document, joint.parent),
        "skins": skins,
        "dlb": { "joints": joints, "weights": weights },
        "pivot": pivot,
    })
}

/// Adds a block to one that is there: its helpers go after those that it may follow.
fn merge(old: &mut Value, new: Map<String, Value>) {
    for (key, value) in new {
        let larger = |a: Option<&Value>, b: &Value| {
            let of = |v: Option<&Value>| v.and_then(Value::as_f64).unwrap_or(0.0);
            number(of(a).max(of(Some(b))))
        };
        match (key.as_str(), value) {
            ("tolerance", value) => old[&key] = larger(old.get(&key), &value),
            ("achieved", value) => {
                let largest = larger(old[&key].get("max"), &value["max"]);
                match old[&key].as_object_mut() {
                    Some(achieved) => {
                        achieved.insert("max".into(), largest);
                    }
                    None => old[&key] = json!({ "max": largest }),
                }
            }
            ("helpers", Value::Array(helpers)) => match old[&key].as_array_mut() {
                Some(list) => list.extend(helpers),
                None => old[&key] = Value::Array(helpers),
            },
            ("skins", Value::Array(skins)) => {
                for mut skin in skins {
                    let list = old[&key].as_array_mut();
                    let before = list.and_then(|list| {
                        let at = list.iter().position(|s| s["skin"] == skin["skin"])?;
                        Some(list.remove(at))
                    });
                    for part in ["above", "follows"] {
                        let kept = before.as_ref().and_then(|b| b[part].as_array()).cloned();
                        let mut all = kept.unwrap_or_default();
                        let fresh = skin[part].as_array().cloned().unwrap_or_default();
                        all.retain(|old| fresh.iter().all(|new| new["node"] != old["node"]));
                        all.extend(fresh);
                        if !all.is_empty() {
                            skin[part] = Value::Array(all);
                        }
                    }
                    match old[&key].as_array_mut() {
                        Some(list) => list.push(skin),
                        None => old[&key] = json!([skin]),
                    }
                }
            }
            (_, value) => old[&key] = value,
        }
    }
}

/// A number with the digits that an f32 has.
fn short(x: f64) -> Value {
    number(format!("{x:.8e}").parse().unwrap_or(x))
}

/// The block as an engine reads it.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Drivers {
    version: u64,
    #[serde(default)]
    skins: Vec<SkinEntry>,
    #[serde(default)]
    helpers: Vec<HelperEntry>,
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

/// How a joint moves the points of a skin: `x -> rotation * (stretch * (x - origin) + stretched_origin) + translation`.
#[derive(Clone, Copy)]
struct Motion {
    rotation: DQuat,
    translation: DVec3,
    stretch: DMat3,
    origin: DVec3,
    stretched_origin: DVec3,
}

impl Drivers {
    /// The block of a file; `None` without one of this version.
    pub(super) fn of(json: &Value) -> Option<Self> {
        let block = json.get("extras")?.get(NAME)?;
        let drivers: Self = serde_json::from_value(block.clone()).ok()?;
        (drivers.version == VERSION).then_some(drivers)
    }

    /// The clip with tracks for the helpers of `document`, at the times of its first channel.
    pub(super) fn driven(&self, document: &Document, clip: &Clip) -> Clip {
        let times = clip.channels.first().map(|c| c.times.clone());
        let times: Arc<[f32]> = times.unwrap_or_else(|| Arc::from([0.0]));
        let mut tracks: BTreeMap<u32, [Vec<f32>; 3]> = BTreeMap::new();
        for &time in times.iter() {
            let pose = document.pose_of_clip(clip, f64::from(time));
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

    /// The local transform of a helper in a pose, and its world transform into `world`.
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
        // From the node up through what it goes with.
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
            // A file can say that joints follow each other in a circle: that ends where it began.
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

    /// How a node has moved since the bind pose, and where it was then; `None` where the block does not say.
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
    fn blocks_are_added_to_each_other() {
        let mut old = json!({
            "version": 1, "tolerance": 0.001, "achieved": {"max": 0.004}, "later": true,
            "skins": [{"skin": 0, "unit": 1, "stretch": "blend", "above": [{"node": 4}, {"node": 5}]}],
            "helpers": [{"node": 7}]
        });
        let new = json!({
            "version": 1, "tolerance": 0.002, "achieved": {"max": 0.001},
            "skins": [{"skin": 0, "unit": 2, "stretch": "blend", "above": [{"node": 4, "new": true}]}, {"skin": 1}],
            "helpers": [{"node": 9}]
        });
        merge(&mut old, new.as_object().unwrap().clone());
        let expected = json!({
            "version": 1, "tolerance": 0.002, "achieved": {"max": 0.004}, "later": true,
            "skins": [
                {"skin": 0, "unit": 2, "stretch": "blend", "above": [{"node": 5}, {"node": 4, "new": true}]},
                {"skin": 1}
            ],
            "helpers": [{"node": 7}, {"node": 9}]
        });
        assert_eq!(old, expected);
    }

    #[test]
    fn blocks_that_hold_something_else_are_added_to() {
        for other in [json!(3), json!("much"), json!([0.5]), Value::Null] {
            let mut old =
                json!({"achieved": other, "helpers": other, "skins": other, "tolerance": other});
            let new = json!({
                "achieved": {"max": 0.001}, "helpers": [{"node": 9}], "skins": [{"skin": 1}], "tolerance": 0.002
            });
            merge(&mut old, new.as_object().unwrap().clone());
            assert_eq!(old["achieved"], json!({"max": 0.001}));
            assert!(
                old["helpers"]
                    .as_array()
                    .unwrap()
                    .contains(&json!({"node": 9}))
            );
            assert!(
                old["skins"]
                    .as_array()
                    .unwrap()
                    .contains(&json!({"skin": 1}))
            );
        }
    }

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

    #[test]
    fn numbers_are_as_long_as_they_need_to_be() {
        assert_eq!(short(1.0), json!(1));
        assert_eq!(short(0.1f32.into()), json!(0.100_000_001));
        assert_eq!(short(1e-7), json!(1e-7));
    }
}
