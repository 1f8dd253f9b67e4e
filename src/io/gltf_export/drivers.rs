//! The driver block in the file's root `extras`: how engines drive helper joints and samples in clips outside the file.
//!
//! The manual documents the format ("Driving helper joints").

use super::json::{list_mut, number};
use super::nodes::{AddedNodes, node_of};
use super::patch::Patch;
use super::report::ExportReport;
use super::sample_drivers;
use crate::bake::{BakeOptions, Baked, SkinFrames};
use crate::document::{Document, Skin, SkinId};
use crate::finding::Finding;
use crate::math::dual_quaternion::quat_from_rotation;
use crate::math::polar;
use crate::skeleton::{JointId, Pose};
use glam::{DAffine3, DMat4, DQuat};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The block's name in the root `extras`.
pub const DRIVERS: &str = "sinew_skin";
/// The version of the format that this writes and reads.
pub const DRIVERS_VERSION: u64 = 1;
/// The note for programs that do not read the drivers.
const FALLBACK: &str = "Helpers that nothing drives and no clip moves stay with their parents: the skin bends wrongly \
                        around them. Samples that nothing drives have weight 0. Drive both, or play the clips that \
                        have tracks for them.";

/// Removes the block from files without the skins that it references.
pub(super) fn drop_drivers(json: &mut Value) {
    let Some(extras) = json.get_mut("extras").and_then(Value::as_object_mut) else {
        return;
    };
    if extras.shift_remove(DRIVERS).is_some()
        && extras.is_empty()
        && let Some(root) = json.as_object_mut()
    {
        root.shift_remove("extras");
    }
}

/// Writes the block. Other extras of the file are kept; an existing block of this version is extended.
pub(super) fn patch_drivers(
    document: &Document,
    baked: &Baked,
    added: &AddedNodes,
    options: &BakeOptions,
    patch: &mut Patch,
    report: &mut ExportReport,
) {
    if baked.joints.is_empty() && baked.samples.is_empty() {
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
            "The file's own extras were not an object; they are kept as \"extras\" beside the drivers of helper joints.",
        ));
    }
    let Some(extras) = extras.as_object_mut() else {
        return;
    };
    let mut block = Map::new();
    block.insert("version".into(), DRIVERS_VERSION.into());
    block.insert("tolerance".into(), short(options.tolerance));
    block.insert("achieved".into(), json!({ "max": short(baked.expected) }));
    let skins = baked.frames.iter();
    let skins = skins.map(|(&skin, frames)| skin_of(document, skin, frames));
    block.insert("skins".into(), skins.collect());
    let helpers = (0..baked.joints.len()).map(|helper| helper_of(document, baked, added, helper));
    block.insert("helpers".into(), helpers.collect());
    let samples = baked.samples.iter();
    let samples =
        samples.filter_map(|(&mesh, driven)| sample_drivers::entry(document, mesh, driven));
    let samples: Vec<Value> = samples.collect();
    if !samples.is_empty() {
        block.insert("psd".into(), samples.into());
    }
    block.insert("fallback".into(), FALLBACK.into());
    match extras.get_mut(DRIVERS) {
        Some(old) if old.get("version").and_then(Value::as_u64) == Some(DRIVERS_VERSION) => {
            merge(old, block);
        }
        Some(old) => {
            *old = Value::Object(block);
            report.findings.push(Finding::warning(
                "extras",
                "The file's drivers of helper joints have an unknown version; they were replaced.",
            ));
        }
        None => {
            extras.insert(DRIVERS.into(), Value::Object(block));
        }
    }
}

/// The driver block of the document's source, as its edited joints need it, as the `extras` of a file.
pub fn source_drivers(document: &Document) -> Option<Value> {
    let block = document.source()?.json.get("extras")?.get(DRIVERS)?;
    let mut json = json!({ "extras": { DRIVERS: block } });
    follow_rig(document, &mut json).then_some(json)
}

/// Changes the block of the source as the rest pose, the parents and the inverse bind matrices of its nodes changed;
/// `false` if its version is unknown.
pub(super) fn follow_rig(document: &Document, json: &mut Value) -> bool {
    let Some(block) = json.pointer_mut(&format!("/extras/{DRIVERS}")) else {
        return true;
    };
    if block["version"] != DRIVERS_VERSION {
        return false;
    }
    let (now, before) = (document.skeleton(), document.source_skeleton());
    let world = [
        document.rest_pose().world_matrices(now),
        Pose::rest(before).world_matrices(before),
    ];
    let joint_of = |node: Option<&Value>| {
        let node = u32::try_from(node?.as_u64()?).ok()?;
        let joint = now.joint_of_node(node)?;
        (now.is_live(joint) && joint.get() < before.len()).then_some(joint)
    };
    for skin in list_mut(block, "skins") {
        let id = skin["skin"].as_u64().and_then(|id| u32::try_from(id).ok());
        for above in list_mut(skin, "above") {
            let matrix: Option<[f64; 16]> =
                serde_json::from_value(above["inverseBind"].clone()).ok();
            let (Some(joint), Some(matrix)) = (joint_of(above.get("node")), matrix) else {
                continue;
            };
            let moved = id.map(|id| moved_below(document, &world, SkinId(id), joint));
            // W' C^-1 = D W: the joint moves like the joints of the skin below it.
            let change = world[0][joint.get()].inverse()
                * moved.unwrap_or(DAffine3::IDENTITY)
                * world[1][joint.get()];
            if change.is_finite() && !change.abs_diff_eq(DAffine3::IDENTITY, 1e-12) {
                let matrix = DMat4::from(change) * DMat4::from_cols_array(&matrix);
                above["inverseBind"] = matrix.to_cols_array().iter().map(|&x| short(x)).collect();
            }
        }
        if skin["stretch"] == "blend" {
            follow_old_parents(document, skin);
        }
    }
    let change = |node: Option<&Value>| {
        let Some(joint) = joint_of(node) else {
            return DQuat::IDENTITY;
        };
        let change = world[1][joint.get()].inverse() * world[0][joint.get()];
        let rotation = quat_from_rotation(polar(change.matrix3).0);
        // Rounding of the rest pose is no change.
        let is_same = rotation.abs_diff_eq(DQuat::IDENTITY, 1e-9);
        if is_same { DQuat::IDENTITY } else { rotation }
    };
    for entry in list_mut(block, "psd") {
        sample_drivers::follow_axes(entry, change);
    }
    for helper in list_mut(block, "helpers") {
        let Some(joint) = joint_of(helper.get("node")) else {
            continue;
        };
        let parents = [now, before].map(|skeleton| skeleton.joint(joint).parent);
        if let Some(parent) = parents[0].filter(|_| parents[0] != parents[1]) {
            helper["parent"] = node_of(document, parent).into();
        }
        let skin = helper.pointer("/skins/0").and_then(Value::as_u64);
        let skin = skin.and_then(|skin| Some(SkinId(u32::try_from(skin).ok()?)));
        let bind_in = |skins: &BTreeMap<SkinId, Arc<Skin>>| {
            let skin = skins.get(&skin?)?;
            let slot = skin.joints.iter().position(|&j| j == joint)?;
            skin.inverse_bind.get(slot).copied()
        };
        let bind = bind_in(document.skins());
        if let Some(bind) = bind.filter(|_| bind != bind_in(document.source_skins())) {
            let pivot = bind.inverse().translation.to_array();
            helper["pivot"] = pivot.iter().map(|&x| short(x)).collect();
        }
    }
    true
}

/// How a change of the rig moves what the joints of a skin below `joint` deform at rest: the identity but for a new parent
/// without the motion of the old one. `world`: the rest poses now and of the source.
fn moved_below(
    document: &Document,
    world: &[Vec<DAffine3>; 2],
    skin: SkinId,
    joint: JointId,
) -> DAffine3 {
    let sides = [
        (document.skins(), document.skeleton()),
        (document.source_skins(), document.source_skeleton()),
    ];
    let skins = sides.map(|(skins, _)| skins.get(&skin));
    let [Some(now), Some(before)] = skins else {
        return DAffine3::IDENTITY;
    };
    let is_below = |j: JointId| {
        let mut both = sides.iter().map(|(_, skeleton)| {
            j.get() < skeleton.len() && skeleton.ancestors(j).any(|above| above == joint)
        });
        both.all(|below| below)
    };
    let slots = before.joints.iter().zip(&before.inverse_bind);
    let mut slots = slots.zip(now.joints.iter().zip(&now.inverse_bind));
    let found = slots.find(|((was, _), (is, _))| was == is && is_below(**is));
    let moved = found.map(|((&j, was), (_, is))| {
        let [now, before] = [(&world[0], is), (&world[1], was)].map(|(w, m)| w[j.get()] * *m);
        now * before.inverse()
    });
    let is_motion =
        |moved: &DAffine3| moved.is_finite() && !moved.abs_diff_eq(DAffine3::IDENTITY, 1e-9);
    moved.filter(is_motion).unwrap_or(DAffine3::IDENTITY)
}

/// Lists the joints whose parents changed as following their parents of the source: they inherit the stretch of these.
fn follow_old_parents(document: &Document, skin: &mut Value) {
    let (now, before) = (document.skeleton(), document.source_skeleton());
    let joints = (0..).map(JointId).zip(before.joints());
    for (joint, was) in joints.filter(|(joint, _)| now.is_live(*joint)) {
        let mut above = before.ancestors(joint);
        let above = above.find(|&above| now.is_live(above));
        let (Some(above), Some(node)) = (above, was.source_node) else {
            continue;
        };
        let is_listed = list_mut(skin, "follows").any(|f| f["node"] == node);
        if now.joint(joint).parent != Some(above) && !is_listed {
            let entry = json!({ "node": node, "after": node_of(document, above) });
            match skin["follows"].as_array_mut() {
                Some(list) => list.push(entry),
                None => skin["follows"] = json!([entry]),
            }
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
        "node": added.joints.get(&joint.id),
        "parent": node_of(document, joint.parent),
        "skins": skins,
        "dlb": { "joints": joints, "weights": weights },
        "pivot": pivot,
    })
}

/// Merges a block into an existing one: its helpers come after those that they may follow.
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
            ("helpers" | "psd", Value::Array(new)) => match old[&key].as_array_mut() {
                Some(list) => list.extend(new),
                None => old[&key] = Value::Array(new),
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

/// A number with the precision of an f32.
fn short(x: f64) -> Value {
    number(format!("{x:.8e}").parse().unwrap_or(x))
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
    fn numbers_are_as_long_as_they_need_to_be() {
        assert_eq!(short(1.0), json!(1));
        assert_eq!(short(0.1f32.into()), json!(0.100_000_001));
        assert_eq!(short(1e-7), json!(1e-7));
    }

    /// A skin of joint 1, a child of joint 0, which is above the skin; joint 2 elsewhere.
    fn document_with_drivers() -> Document {
        use crate::document::{Parts, Source, SourceKind};
        use crate::math::Transform;
        use crate::skeleton::{Joint, Skeleton};
        use glam::{DQuat, DVec3};
        let joint = |node: u32, parent: Option<JointId>| Joint {
            source_node: Some(node),
            ..Joint::new(
                format!("{node}"),
                parent,
                Transform::from_rotation_translation(DQuat::from_rotation_x(0.3), DVec3::Y),
            )
        };
        let joints = vec![joint(0, None), joint(1, Some(JointId(0))), joint(2, None)];
        let identity = DMat4::IDENTITY.to_cols_array();
        let block = json!({
            "version": 1, "helpers": [],
            "skins": [{"skin": 0, "unit": 1, "stretch": "blend", "above": [{"node": 0, "inverseBind": identity}]}]
        });
        let skin = Skin {
            name: String::new(),
            joints: vec![JointId(1)],
            inverse_bind: vec![DAffine3::from_translation(DVec3::Z)],
        };
        Document::new(Parts {
            source: Some(Arc::new(Source {
                path: None,
                sample: None,
                converted_from: None,
                repairs: crate::document::Repairs::default(),
                fingerprint: 0,
                kind: SourceKind::Gltf,
                bytes: bytes::Bytes::new(),
                json: json!({"extras": {DRIVERS: block}, "nodes": [{}, {}, {}]}),
                outside: std::collections::BTreeSet::new(),
                buffers: Vec::new(),
            })),
            skeleton: Arc::new(Skeleton::new(joints).unwrap()),
            skins: [(SkinId(0), Arc::new(skin))].into(),
            ..Parts::default()
        })
        .unwrap()
    }

    /// How a node above the skin moves its space at rest.
    fn motion_above(document: &Document, json: &Value) -> DAffine3 {
        let matrix = &json["extras"][DRIVERS]["skins"][0]["above"][0]["inverseBind"];
        let matrix: [f64; 16] = serde_json::from_value(matrix.clone()).unwrap();
        let world = document.rest_pose().world_matrices(document.skeleton());
        world[0] * DAffine3::from_mat4(DMat4::from_cols_array(&matrix))
    }

    #[test]
    fn joints_above_a_skin_move_it_as_before() {
        use crate::document::Edit;
        use crate::document::rig::{self, Keep, Reparent, RigEdit};
        use crate::skeleton::Frame;
        use glam::DQuat;
        let before = document_with_drivers();
        let source = before.source().unwrap().json.clone();
        let was = motion_above(&before, &source);
        let edited = |edit: RigEdit| {
            let mut document = before.clone();
            document.apply(&mut Edit::Rig(Box::new(edit))).unwrap();
            let json = source_drivers(&document).unwrap();
            (motion_above(&document, &json), document)
        };
        let frames = [(
            JointId(0),
            Frame::from_rotation(DQuat::from_rotation_z(1.0)),
        )];
        let (now, document) = edited(rig::change_frames(&before, &frames.into(), 1e-4).unwrap());
        assert!(now.abs_diff_eq(was, 1e-7), "{now} {was}");
        let json = source_drivers(&document).unwrap();
        assert_ne!(json["extras"], source["extras"]);
        // The mesh moves with the joints, and the joint above with it.
        let hang = Reparent {
            joint: JointId(0),
            parent: Some(JointId(2)),
            keep: Keep::LocalKeys,
            nearest: false,
            tolerance: 1e-4,
        };
        let (now, document) = edited(rig::reparent(&before, &hang).unwrap());
        let skin = |document: &Document| {
            let world = document.rest_pose().world_matrices(document.skeleton());
            world[1] * document.skins()[&SkinId(0)].inverse_bind[0]
        };
        let moved = skin(&document) * skin(&before).inverse();
        assert!(now.abs_diff_eq(moved * was, 1e-7), "{now} {was}");
        assert!(!now.abs_diff_eq(was, 1e-2));
    }
}
