//! Removes unreferenced entries: accessors, buffer views, empty nodes.
//!
//! Only for files that need not keep the source's numbering. An unknown extension may reference any entry by index: if
//! one contains numbers, nothing is removed.

use super::json::{DRACO, INSTANCING, each, entry_mut, index};
use super::uses::{Uses, is_known_throughout};
use serde_json::{Map, Value};
use std::collections::BTreeSet;

/// Extensions that may reference nodes.
const WITH_NODES: [&str; 2] = ["VRMC_", "KHR_animation_pointer"];

/// Removes unreferenced accessors and buffer views.
pub(super) fn prune_data(json: &mut Value) {
    let used: Vec<bool> = Uses::count(json).accessors.iter().map(|n| *n > 0).collect();
    let places = keep(json, "accessors", &used);
    each_accessor(json, &mut |number| renumber(number, &places));
    let used: Vec<bool> = Uses::count(json).views.iter().map(|n| *n > 0).collect();
    let places = keep(json, "bufferViews", &used);
    each_view(json, &mut |number| renumber(number, &places));
}

/// Whether each node is kept. Nodes of `joints` are removed if they have no content and no remaining children, and so are
/// ancestors that this leaves empty. `None` if an unknown extension prevents removal.
pub(super) fn kept_nodes(json: &Value, joints: &BTreeSet<usize>) -> Option<Vec<bool>> {
    if !is_known_throughout(json, &WITH_NODES) {
        return None;
    }
    let holds: Vec<bool> = each(json, "nodes")
        .map(|node| {
            let mut keys = ["mesh", "camera", "extensions", "extras"].iter();
            keys.any(|key| node.get(key).is_some())
        })
        .collect();
    let n = holds.len();
    let mut parents: Vec<Vec<usize>> = vec![Vec::new(); n];
    // The number of remaining children of each node.
    let mut left = vec![0; n];
    for (parent, node) in each(json, "nodes").enumerate() {
        let children = each(node, "children").filter_map(|c| index(Some(c)));
        let children: BTreeSet<usize> = children.filter(|c| *c < n).collect();
        left[parent] = children.len();
        for child in children {
            parents[child].push(parent);
        }
    }
    let mut kept = vec![true; n];
    let mut open: Vec<usize> = joints.iter().copied().filter(|&j| j < n).collect();
    // Removing a node may leave its parents empty.
    while let Some(node) = open.pop() {
        if !kept[node] || holds[node] || left[node] > 0 {
            continue;
        }
        kept[node] = false;
        for &parent in &parents[node] {
            left[parent] -= 1;
            open.push(parent);
        }
    }
    Some(kept)
}

/// Removes nodes that are not kept; returns the new index of each.
pub(super) fn prune_nodes(json: &mut Value, kept: &[bool]) -> Vec<Option<usize>> {
    let places = keep(json, "nodes", kept);
    let renumber_list = |list: &mut Value| {
        if let Some(items) = list.as_array_mut() {
            items.retain(|item| {
                index(Some(item)).is_none_or(|i| kept.get(i).copied().unwrap_or(false))
            });
            for item in items {
                renumber(item, &places);
            }
        }
    };
    for (list, key) in [("nodes", "children"), ("scenes", "nodes")] {
        for i in 0..each(json, list).count() {
            let Some(entry) = entry_mut(json, list, i) else {
                continue;
            };
            if let Some(numbers) = entry.get_mut(key) {
                renumber_list(numbers);
            }
            // An empty array is invalid.
            if entry
                .get(key)
                .is_some_and(|l| l.as_array().is_some_and(Vec::is_empty))
            {
                entry.shift_remove(key);
            }
        }
    }
    for i in 0..each(json, "animations").count() {
        let channels = entry_mut(json, "animations", i).and_then(|a| a.get_mut("channels"));
        for channel in channels.and_then(Value::as_array_mut).into_iter().flatten() {
            if let Some(node) = channel.get_mut("target").and_then(|t| t.get_mut("node")) {
                renumber(node, &places);
            }
        }
    }
    places
}

/// Removes the list entries that are not `kept`; returns the new index of each.
fn keep(json: &mut Value, list: &str, kept: &[bool]) -> Vec<Option<usize>> {
    let mut next = 0;
    let places: Vec<Option<usize>> = kept
        .iter()
        .map(|kept| {
            kept.then(|| {
                next += 1;
                next - 1
            })
        })
        .collect();
    let Some(root) = json.as_object_mut() else {
        return places;
    };
    if let Some(Value::Array(items)) = root.get_mut(list) {
        let mut kept = kept.iter();
        items.retain(|_| kept.next().copied().unwrap_or(true));
        if items.is_empty() {
            root.shift_remove(list);
        }
    }
    places
}

fn renumber(number: &mut Value, places: &[Option<usize>]) {
    if let Some(Some(place)) = index(Some(number)).and_then(|i| places.get(i)) {
        *number = Value::from(*place);
    }
}

fn list_mut<'a>(value: &'a mut Value, key: &str) -> impl Iterator<Item = &'a mut Value> {
    let list = value.get_mut(key).and_then(Value::as_array_mut);
    list.into_iter().flatten()
}

fn values_of(map: Option<&mut Value>) -> impl Iterator<Item = &mut Value> {
    let map = map.and_then(Value::as_object_mut);
    map.into_iter().flat_map(Map::values_mut)
}

/// Visits every accessor index defined by the specification or a known extension.
fn each_accessor(json: &mut Value, work: &mut dyn FnMut(&mut Value)) {
    for mesh in list_mut(json, "meshes") {
        for primitive in list_mut(mesh, "primitives") {
            primitive
                .get_mut("indices")
                .into_iter()
                .for_each(&mut *work);
            values_of(primitive.get_mut("attributes")).for_each(&mut *work);
            for target in list_mut(primitive, "targets") {
                values_of(Some(target)).for_each(&mut *work);
            }
        }
    }
    for skin in list_mut(json, "skins") {
        skin.get_mut("inverseBindMatrices")
            .into_iter()
            .for_each(&mut *work);
    }
    for animation in list_mut(json, "animations") {
        for sampler in list_mut(animation, "samplers") {
            for key in ["input", "output"] {
                sampler.get_mut(key).into_iter().for_each(&mut *work);
            }
        }
    }
    for node in list_mut(json, "nodes") {
        let instancing = node
            .get_mut("extensions")
            .and_then(|e| e.get_mut(INSTANCING)?.get_mut("attributes"));
        values_of(instancing).for_each(&mut *work);
    }
}

/// Visits every buffer-view index defined by the specification or a known extension.
fn each_view(json: &mut Value, work: &mut dyn FnMut(&mut Value)) {
    for accessor in list_mut(json, "accessors") {
        accessor
            .get_mut("bufferView")
            .into_iter()
            .for_each(&mut *work);
        for part in ["indices", "values"] {
            let view = accessor
                .get_mut("sparse")
                .and_then(|s| s.get_mut(part)?.get_mut("bufferView"));
            view.into_iter().for_each(&mut *work);
        }
    }
    for image in list_mut(json, "images") {
        image.get_mut("bufferView").into_iter().for_each(&mut *work);
    }
    for mesh in list_mut(json, "meshes") {
        for primitive in list_mut(mesh, "primitives") {
            let view = primitive
                .get_mut("extensions")
                .and_then(|e| e.get_mut(DRACO)?.get_mut("bufferView"));
            view.into_iter().for_each(&mut *work);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn unknown_numbers_keep_all_nodes() {
        let file =
            json!({"nodes": [{}, {"mesh": 0}], "extensions": {"VENDOR_thing": {"accessor": 0}}});
        assert!(kept_nodes(&file, &BTreeSet::from([0])).is_none());
    }

    #[test]
    fn long_chains_of_joints_go_and_circles_stay() {
        let n = 20_000;
        let mut nodes: Vec<Value> = (1..n).map(|i| json!({ "children": [i] })).collect();
        nodes.push(json!({}));
        nodes.push(json!({ "children": [n] }));
        let file = json!({ "nodes": nodes });
        let joints: BTreeSet<usize> = (0..=n).collect();
        let kept = kept_nodes(&file, &joints).unwrap();
        assert_eq!(kept.iter().filter(|kept| **kept).count(), 1);
        assert!(kept[n]);
    }

    #[test]
    fn empty_joints_go_and_what_holds_something_stays() {
        let mut file = json!({
            "nodes": [{"children": [1, 4]}, {"children": [2]}, {"name": "tip"}, {}, {"mesh": 0}],
            "scenes": [{"nodes": [0, 3]}]
        });
        let kept = kept_nodes(&file, &BTreeSet::from([1, 2])).unwrap();
        let places = prune_nodes(&mut file, &kept);
        assert_eq!(places, [Some(0), None, None, Some(1), Some(2)]);
        assert_eq!(file["nodes"], json!([{"children": [2]}, {}, {"mesh": 0}]));
        assert_eq!(file["scenes"], json!([{"nodes": [0, 1]}]));
    }
}
