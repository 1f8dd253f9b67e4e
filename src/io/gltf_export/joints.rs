//! Writes edited joints as nodes, scenes and skins.
//!
//! All other export code sees [`for_file`], in which every joint has a node. Nodes of removed joints stay in the list
//! without references, because extensions reference nodes by index. Skins leave out the slots of removed joints
//! ([`FileSlots`]).

use super::drivers;
use super::json::{each, entry_mut, index, number, place};
use super::nodes::{node_of, write_transform};
use super::patch::{NewAccessor, Patch};
use super::report::ExportReport;
use super::slots::FileSlots;
use crate::bake::Baked;
use crate::document::{Document, Skin, SkinId};
use crate::finding::{Finding, counted};
use crate::io::gltf_json::ComponentType;
use crate::math::Transform;
use crate::skeleton::{JointId, Skeleton};
use ::gltf::json::accessor::Type;
use bytes::Bytes;
use glam::DAffine3;
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The members of a node that move with the joint that carries its content.
const CONTENT: [&str; 4] = ["mesh", "skin", "weights", "camera"];
/// Extensions that belong to the content of a node.
const CONTENT_EXTENSIONS: [&str; 2] = ["KHR_lights_punctual", "EXT_mesh_gpu_instancing"];

/// The document with a node for each joint and without gaps in its skins.
pub fn for_file(document: &Document) -> Cow<'_, Document> {
    let json = document.source().map(|source| &source.json);
    let n_nodes = json.map_or(0, |json| each(json, "nodes").count());
    let kept = FileSlots::new(document).kept_removed(document);
    document.with_nodes(n_nodes as u32, |joint| kept.contains_key(&joint))
}

/// Writes the changes of joints and skins; `document` is the result of [`for_file`]. The inverse bind matrices of skins
/// with `baked` helper joints are written with those. `repaired`: skins to write in any case.
pub(super) fn patch_joints(
    document: &Document,
    (slots, repaired): (&FileSlots, &BTreeSet<SkinId>),
    baked: Option<&Baked>,
    patch: &mut Patch,
    report: &mut ExportReport,
) {
    if !document.is_rig_edited() {
        patch_skins(document, (slots, repaired), baked, patch);
        return;
    }
    add_nodes(document, &mut patch.json);
    patch_rest(document, &mut patch.json);
    patch_children(document, &slots.kept_removed(document), &mut patch.json);
    patch_roots(document, &mut patch.json);
    move_content(document, &mut patch.json);
    add_skins(document, &mut patch.json);
    drop_skins(document, &mut patch.json);
    patch_skins(document, (slots, repaired), baked, patch);
    patch_skeletons(document, &mut patch.json);
    if !drivers::follow_rig(document, &mut patch.json) {
        report.findings.push(Finding::warning(
            "extras",
            "The file's drivers of helper joints have an unknown version; they do not follow the changed bones.",
        ));
    }
    let n_removed = document.skeleton().len() - document.skeleton().n_live();
    if n_removed > 0 {
        report.findings.push(Finding::info(
            "nodes",
            format!(
                "{} removed: the nodes stay in the file's list without references.",
                counted(n_removed, "bone")
            ),
        ));
    }
}

/// The joints created in Sinew, by node.
fn new_joints(document: &Document) -> Vec<JointId> {
    let skeleton = document.skeleton();
    let known = document.source_skeleton();
    let is_new = |&j: &JointId| {
        let node = skeleton.joint(j).source_node;
        node.is_some_and(|node| known.joint_of_node(node).is_none())
    };
    let all = (0..skeleton.len() as u32).map(JointId);
    let mut joints: Vec<JointId> = all.filter(is_new).collect();
    joints.sort_by_key(|&j| skeleton.joint(j).source_node);
    joints
}

fn add_nodes(document: &Document, json: &mut Value) {
    for joint in new_joints(document) {
        let joint = document.skeleton().joint(joint);
        let mut entry = Map::new();
        if !joint.name.is_empty() {
            entry.insert("name".into(), joint.name.as_str().into());
        }
        write_transform(&mut entry, &joint.rest, &Transform::IDENTITY);
        place(json, "nodes", None, entry);
    }
}

fn patch_rest(document: &Document, json: &mut Value) {
    let now = document.skeleton().joints();
    for (now, before) in now.iter().zip(document.source_skeleton().joints()) {
        let node = now.source_node.map(|node| node as usize);
        if !now.removed
            && now.rest != before.rest
            && let Some(entry) = node.and_then(|node| entry_mut(json, "nodes", node))
        {
            write_transform(entry, &now.rest, &before.rest);
        }
    }
}

fn child_nodes(skeleton: &Skeleton, joint: JointId) -> BTreeSet<u32> {
    let children = skeleton.children(joint).iter();
    children
        .filter_map(|&child| skeleton.joint(child).source_node)
        .collect()
}

/// Writes the lists of children: existing ones keep their order, new ones are appended.
///
/// The nodes of removed joints that skins still list (`kept`) are children, so that the joints of a skin have one root.
fn patch_children(document: &Document, kept: &BTreeMap<JointId, JointId>, json: &mut Value) {
    let (skeleton, before) = (document.skeleton(), document.source_skeleton());
    for (j, joint) in (0..).map(JointId).zip(skeleton.joints()) {
        let Some(node) = joint.source_node else {
            continue;
        };
        let mut wanted = child_nodes(skeleton, j);
        let kept = kept.iter().filter(|(_, parent)| **parent == j);
        wanted.extend(kept.filter_map(|(joint, _)| skeleton.joint(*joint).source_node));
        let had = before.joint_of_node(node);
        let had = had.map_or_else(BTreeSet::new, |j| child_nodes(before, j));
        if wanted == had {
            continue;
        }
        if let Some(entry) = entry_mut(json, "nodes", node as usize) {
            let list = relisted(entry.get("children"), &wanted, &had);
            if list.is_empty() {
                entry.shift_remove("children");
            } else {
                entry.insert("children".into(), list.into());
            }
        }
    }
}

/// A list of nodes without those in `had` that are not `wanted`, and with the missing ones appended.
fn relisted(list: Option<&Value>, wanted: &BTreeSet<u32>, had: &BTreeSet<u32>) -> Vec<Value> {
    let node = |entry: &Value| entry.as_u64().and_then(|n| u32::try_from(n).ok());
    let old = list.and_then(Value::as_array);
    let mut made: Vec<Value> = old.cloned().unwrap_or_default();
    made.retain(|entry| node(entry).is_none_or(|n| wanted.contains(&n) || !had.contains(&n)));
    let there: BTreeSet<u32> = made.iter().filter_map(node).collect();
    made.extend(wanted.difference(&there).map(|&n| Value::from(n)));
    made
}

/// Writes the scenes' roots: a joint that became a root stays in the scenes that contained it.
fn patch_roots(document: &Document, json: &mut Value) {
    let (skeleton, before) = (document.skeleton(), document.source_skeleton());
    let nodes = |skeleton: &Skeleton| -> BTreeSet<u32> {
        let roots = skeleton.roots();
        roots
            .filter_map(|j| skeleton.joint(j).source_node)
            .collect()
    };
    let (now, had) = (nodes(skeleton), nodes(before));
    let added: Vec<u32> = now.difference(&had).copied().collect();
    let gone: BTreeSet<u32> = had.difference(&now).copied().collect();
    if added.is_empty() && gone.is_empty() {
        return;
    }
    let root_before = |node: u32| {
        let joint = before.joint_of_node(node)?;
        let root = before.ancestors(joint).last().unwrap_or(joint);
        before.joint(root).source_node
    };
    let n_scenes = each(json, "scenes").count();
    let shown = index(json.get("scene")).unwrap_or(0);
    for scene in 0..n_scenes {
        let Some(entry) = entry_mut(json, "scenes", scene) else {
            continue;
        };
        let list = entry.get("nodes").and_then(Value::as_array);
        let list = list.cloned().unwrap_or_default();
        let there: BTreeSet<u32> = list
            .iter()
            .filter_map(|n| u32::try_from(n.as_u64()?).ok())
            .collect();
        let mut made = list;
        for &node in &added {
            // A new root joins the scene that the file shows.
            let is_shown = root_before(node).map_or(scene == shown, |root| there.contains(&root));
            if is_shown && !there.contains(&node) {
                made.push(node.into());
            }
        }
        made.retain(|n| {
            let node = n.as_u64().and_then(|n| u32::try_from(n).ok());
            node.is_none_or(|node| !gone.contains(&node))
        });
        if made.is_empty() {
            entry.shift_remove("nodes");
        } else {
            entry.insert("nodes".into(), made.into());
        }
    }
}

/// Moves the content of a node to the node of the joint that now carries it.
fn move_content(document: &Document, json: &mut Value) {
    for joint in document.skeleton().joints() {
        let (Some(from), Some(to)) = (joint.content_of, joint.source_node) else {
            continue;
        };
        if from == to || joint.removed {
            continue;
        }
        let mut content = Map::new();
        let mut extensions = Map::new();
        if let Some(entry) = entry_mut(json, "nodes", from as usize) {
            for key in CONTENT {
                if let Some(value) = entry.shift_remove(key) {
                    content.insert(key.into(), value);
                }
            }
            if let Some(old) = entry.get_mut("extensions").and_then(Value::as_object_mut) {
                for key in CONTENT_EXTENSIONS {
                    if let Some(value) = old.shift_remove(key) {
                        extensions.insert(key.into(), value);
                    }
                }
                if old.is_empty() {
                    entry.shift_remove("extensions");
                }
            }
        }
        if let Some(entry) = entry_mut(json, "nodes", to as usize) {
            entry.append(&mut content);
            if !extensions.is_empty() {
                entry.insert("extensions".into(), extensions.into());
            }
        }
    }
}

/// Adds the skins that the source does not have, still empty, and names them at the nodes whose meshes they move.
fn add_skins(document: &Document, json: &mut Value) {
    let mut written: BTreeMap<SkinId, usize> = BTreeMap::new();
    for (&id, skin) in document.skins() {
        if document.source_skins().contains_key(&id) {
            continue;
        }
        let mut entry = Map::new();
        if !skin.name.is_empty() {
            entry.insert("name".into(), skin.name.as_str().into());
        }
        entry.insert("joints".into(), Value::Array(Vec::new()));
        let at = place(json, "skins", None, entry);
        debug_assert_eq!(at, id.0 as usize);
        written.insert(id, at);
    }
    for instance in document.instances().values() {
        let skin = instance.skin.and_then(|skin| written.get(&skin));
        let node = node_of(document, instance.joint);
        if let Some(&skin) = skin
            && let Some(entry) = entry_mut(json, "nodes", node)
        {
            entry.insert("skin".into(), skin.into());
        }
    }
}

/// Takes the skins from the nodes whose meshes were unbound; the skins stay in the list, to which extensions may refer.
fn drop_skins(document: &Document, json: &mut Value) {
    for id in document.unbound_instances() {
        let instance = document.instances().get(&id);
        let node = instance.map(|instance| node_of(document, instance.joint));
        if let Some(entry) = node.and_then(|node| entry_mut(json, "nodes", node)) {
            entry.shift_remove("skin");
        }
    }
}

/// Writes skins that were changed or repaired.
fn patch_skins(
    document: &Document,
    (slots, repaired): (&FileSlots, &BTreeSet<SkinId>),
    baked: Option<&Baked>,
    patch: &mut Patch,
) {
    // A removed joint whose matrix was the identity leaves its skin as it was, but not the skin of the file.
    let is_changed = |id: &SkinId, skin: &Arc<Skin>| {
        document.source_skins().get(id) != Some(skin)
            || repaired.contains(id)
            || slots.of_skin(*id).is_some_and(|slots| !slots.keeps_all())
    };
    let changed: Vec<(SkinId, &Skin)> = document
        .skins()
        .iter()
        .filter(|(id, skin)| is_changed(id, skin))
        .map(|(&id, skin)| (id, skin.as_ref()))
        .collect();
    let is_written_later = |id: &SkinId| baked.is_some_and(|baked| baked.skins.contains_key(id));
    let old: Vec<Option<usize>> = changed
        .iter()
        .map(|(id, _)| {
            if is_written_later(id) {
                return None;
            }
            let entry = entry_mut(&mut patch.json, "skins", id.0 as usize);
            let old = entry.and_then(|entry| index(entry.get("inverseBindMatrices")));
            patch.release(old);
            old
        })
        .collect();
    for ((id, skin), replaces) in changed.into_iter().zip(old) {
        let Some(slots) = slots.of_skin(id) else {
            continue;
        };
        let matrices: Vec<DAffine3> = slots.kept(&skin.inverse_bind).copied().collect();
        let is_needed = !is_written_later(&id)
            && (replaces.is_some() || matrices.iter().any(|m| *m != DAffine3::IDENTITY));
        let accessor = is_needed.then(|| put_matrices(&matrices, replaces, patch));
        let joints: Vec<Value> = slots
            .kept(&skin.joints)
            .map(|&joint| node_of(document, joint).into())
            .collect();
        let Some(entry) = entry_mut(&mut patch.json, "skins", id.0 as usize) else {
            continue;
        };
        if let Some(accessor) = accessor {
            entry.insert("inverseBindMatrices".into(), accessor.into());
        }
        entry.insert("joints".into(), joints.into());
    }
}

fn put_matrices(matrices: &[DAffine3], replaces: Option<usize>, patch: &mut Patch) -> usize {
    let bytes: Vec<u8> = matrices
        .iter()
        .flat_map(|m| glam::DMat4::from(*m).to_cols_array())
        .flat_map(|x| (x as f32).to_le_bytes())
        .collect();
    patch.put(NewAccessor {
        replaces,
        component: ComponentType::F32,
        kind: Type::Mat4,
        normalized: false,
        count: matrices.len(),
        bytes: Bytes::from(bytes),
        target: None,
        bounds: None,
    })
}

/// Updates `skeleton` of the skins that have one: unchanged if it is still a common ancestor of all joints, otherwise
/// the nearest one.
fn patch_skeletons(document: &Document, json: &mut Value) {
    let skeleton = document.skeleton();
    for (id, skin) in document.skins() {
        let Some(entry) = entry_mut(json, "skins", id.0 as usize) else {
            continue;
        };
        let Some(root) = index(entry.get("skeleton")) else {
            continue;
        };
        let above: Vec<JointId> = common_ancestors(skeleton, skin);
        let is_root = |j: &JointId| node_of(document, *j) == root;
        if above.iter().any(is_root) {
            continue;
        }
        match above.first() {
            Some(&nearest) => {
                let node = node_of(document, nearest);
                entry.insert("skeleton".into(), number(node as f64));
            }
            None => {
                entry.shift_remove("skeleton");
            }
        }
    }
}

/// The common ancestors of all joints of a skin, which may be among them, the nearest first.
fn common_ancestors(skeleton: &Skeleton, skin: &Skin) -> Vec<JointId> {
    let mut joints = skin.joints.iter().copied().filter(|&j| skeleton.is_live(j));
    let chain = |j: JointId| std::iter::once(j).chain(skeleton.ancestors(j));
    let Some(first) = joints.next() else {
        return Vec::new();
    };
    let mut common: Vec<JointId> = chain(first).collect();
    for joint in joints {
        let others: BTreeSet<JointId> = chain(joint).collect();
        common.retain(|j| others.contains(j));
    }
    common
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::skeleton::Joint;
    use serde_json::json;

    #[test]
    fn lists_keep_their_order_and_what_is_not_known() {
        let list = json!([4, 2, 9, "x"]);
        let (wanted, had) = (BTreeSet::from([2, 7]), BTreeSet::from([4, 2]));
        let made = relisted(Some(&list), &wanted, &had);
        assert_eq!(made, [json!(2), json!(9), json!("x"), json!(7)]);
        assert!(relisted(None, &BTreeSet::new(), &had).is_empty());
    }

    #[test]
    fn the_nearest_joint_above_all_is_found() {
        let joint = |parent: Option<u32>| Joint::new("", parent.map(JointId), Transform::IDENTITY);
        let joints = vec![joint(None), joint(Some(0)), joint(Some(1)), joint(Some(1))];
        let skeleton = Skeleton::new(joints).unwrap();
        let skin = |joints: &[u32]| Skin {
            name: String::new(),
            joints: joints.iter().map(|&j| JointId(j)).collect(),
            inverse_bind: vec![DAffine3::IDENTITY; joints.len()],
        };
        assert_eq!(
            common_ancestors(&skeleton, &skin(&[2, 3])),
            [JointId(1), JointId(0)]
        );
        assert_eq!(common_ancestors(&skeleton, &skin(&[2]))[0], JointId(2));
    }
}
