//! Extends the morph weights of meshes, nodes and animations with 0 for new morph targets. Nodes that are not instances, and
//! nodes of other scenes, also draw these meshes.

use super::json::{each, index};
use crate::bake::Baked;
use crate::document::{ClipId, Document, MeshId};
use crate::skeleton::{Channel, Clip, JointId, Property};
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The number of morph targets that a node's mesh had, and the number of new ones; `None` if there are no new ones.
fn targets_of(document: &Document, baked: &Baked, node: &Value) -> Option<(usize, usize)> {
    let mesh = u32::try_from(index(node.get("mesh"))?).ok().map(MeshId)?;
    let new = baked.meshes.get(&mesh)?.targets.len();
    let own = document.meshes().get(&mesh)?.geometry.morphs.len();
    (new > 0).then_some((own, new))
}

/// Extends the weights of a mesh or node with zeros, if it has weights.
pub(super) fn widen_weights(entry: &mut Map<String, Value>, n_targets: usize) {
    if let Some(weights) = entry.get_mut("weights").and_then(Value::as_array_mut) {
        weights.resize(n_targets, 0.into());
    }
}

/// Extends the default weights of all nodes whose meshes have new morph targets.
pub(super) fn widen_nodes(document: &Document, baked: &Baked, json: &mut Value) {
    let nodes = json.get_mut("nodes").and_then(Value::as_array_mut);
    for node in nodes.into_iter().flatten() {
        let targets = targets_of(document, baked, node);
        if let Some(((own, new), entry)) = targets.zip(node.as_object_mut()) {
            widen_weights(entry, own + new);
        }
    }
}

/// The clips, with weights channels extended to all morph targets: a bake extends only the channels of instances. `json` has
/// the nodes of the file.
pub(super) fn widened_clips<'a>(
    document: &Document,
    baked: &Baked,
    clips: &'a BTreeMap<ClipId, Arc<Clip>>,
    json: &Value,
) -> Cow<'a, BTreeMap<ClipId, Arc<Clip>>> {
    let skeleton = document.skeleton();
    let nodes = (0..).zip(each(json, "nodes"));
    let widths = nodes.filter_map(|(i, node)| {
        let targets = targets_of(document, baked, node)?;
        Some((skeleton.joint_of_node(i)?, targets))
    });
    let widths: BTreeMap<JointId, (usize, usize)> = widths.collect();
    let width_of = |channel: &Channel| {
        let is_weights = channel.property == Property::MorphWeights;
        let width = widths.get(&channel.joint).copied();
        width.filter(|(own, _)| is_weights && *own > 0 && channel.width() == *own)
    };
    let mut clips = Cow::Borrowed(clips);
    let is_narrow = |clip: &Clip| clip.channels.iter().any(|c| width_of(c).is_some());
    let narrow = clips.iter().filter(|(_, clip)| is_narrow(clip));
    let narrow: Vec<ClipId> = narrow.map(|(&id, _)| id).collect();
    for id in narrow {
        let Some(clip) = clips.to_mut().get_mut(&id) else {
            continue;
        };
        for channel in &mut Arc::make_mut(clip).channels {
            if let Some((own, new)) = width_of(channel) {
                let rows = channel.values.chunks(own);
                let wide =
                    rows.flat_map(|row| row.iter().copied().chain(std::iter::repeat_n(0.0, new)));
                channel.values = wide.collect();
            }
        }
    }
    clips
}
