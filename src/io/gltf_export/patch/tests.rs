use super::*;
use crate::io::gltf_export::allocator::Policy;
use serde_json::json;

/// A patch of `json`, whose buffer has `n` bytes.
fn patch(json: Value, n: usize, policy: Policy) -> Patch {
    let allocator = Allocator::new(&json, 0, Bytes::from(vec![0; n]), policy);
    Patch::new(json, allocator)
}

fn floats(replaces: Option<usize>, values: &[f32]) -> NewAccessor {
    NewAccessor {
        replaces,
        component: ComponentType::F32,
        kind: Type::Scalar,
        normalized: false,
        count: values.len(),
        bytes: Bytes::copy_from_slice(bytemuck::cast_slice(values)),
        target: None,
        bounds: None,
    }
}

fn file() -> Value {
    json!({
        "bufferViews": [{"buffer": 0, "byteLength": 8, "name": "own"}, {"buffer": 0, "byteLength": 8}],
        "accessors": [
            {"name": "mine", "bufferView": 0, "byteOffset": 4, "componentType": 5121, "count": 9, "type": "VEC4",
             "sparse": {"count": 1, "indices": {"bufferView": 1}, "values": {"bufferView": 1}}, "max": [1]},
            {"bufferView": 1}],
        "animations": [{"samplers": [{"input": 0, "output": 1}, {"input": 1, "output": 1}]}]
    })
}

#[test]
fn an_accessor_of_ones_own_is_rewritten_in_place() {
    let mut patch = patch(file(), 16, Policy::Append);
    patch.release(Some(0));
    assert_eq!(patch.put(floats(Some(0), &[1.0, 2.0])), 0);
    assert_eq!(
        patch.json["accessors"][0],
        json!({"name": "mine", "bufferView": 0, "componentType": 5126, "count": 2, "type": "SCALAR"})
    );
    assert_eq!(
        patch.json["bufferViews"][0],
        json!({"buffer": 0, "byteLength": 8, "name": "own", "byteOffset": 16})
    );
    assert_eq!(patch.json["accessors"][1], file()["accessors"][1]);
}

#[test]
fn an_accessor_that_others_read_is_left_alone() {
    let mut patch = patch(file(), 16, Policy::Append);
    patch.release(Some(1));
    let new = patch.put(floats(Some(1), &[1.0]));
    assert_eq!(new, 2);
    assert_eq!(
        patch.put(floats(Some(1), &[1.0])),
        new,
        "equal data is stored once"
    );
    assert_eq!(patch.json["accessors"][1], file()["accessors"][1]);
    assert_eq!(patch.allocator.n_bytes_appended(), 4);
}

#[test]
fn the_last_entry_of_an_extension_takes_it_off_the_lists() {
    let mut patch = patch(
        json!({"extensionsUsed": ["A", "EXT_meshopt_compression"],
               "extensionsRequired": ["EXT_meshopt_compression"],
               "bufferViews": [{"buffer": 1, "extensions": {"EXT_meshopt_compression": {}}}],
               "accessors": [{"bufferView": 0}],
               "skins": [{"inverseBindMatrices": 0}]}),
        0,
        Policy::Append,
    );
    assert!(patch.is_compressed(0));
    patch.release(Some(0));
    patch.put(floats(Some(0), &[1.0]));
    let json = patch.finish().json;
    assert_eq!(json["extensionsUsed"], json!(["A"]));
    assert!(json.get("extensionsRequired").is_none());
    assert!(json["bufferViews"][0].get("extensions").is_none());
}

/// Two vertices whose weights are interleaved in a buffer view with other data, joints in a buffer view of their
/// own, and an image at the end.
fn skinned() -> Value {
    let accessor = |view: usize, at: usize, component: u32, kind: &str| json!({"bufferView": view, "byteOffset": at, "componentType": component, "count": 2, "type": kind});
    json!({
        "buffers": [{"byteLength": 300}],
        "bufferViews": [
            {"buffer": 0, "byteLength": 96, "byteStride": 16, "target": 34962},
            {"buffer": 0, "byteOffset": 96, "byteLength": 130},
            {"buffer": 0, "byteOffset": 226, "byteLength": 74}],
        "accessors": [accessor(0, 0, 5126, "VEC3"), accessor(0, 32, 5126, "VEC4"), accessor(1, 0, 5123, "VEC4")],
        "images": [{"bufferView": 2}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0, "WEIGHTS_0": 1, "JOINTS_0": 2}}]}]
    })
}

/// A patch of `json` whose weights and joints were released.
fn over(json: Value) -> Patch {
    let mut patch = patch(json, 300, Policy::Reuse);
    patch.release(Some(1));
    patch.release(Some(2));
    patch
}

fn places(patch: &Patch) -> Vec<(usize, usize)> {
    let places = patch.allocator.overwritten.iter();
    places.map(|(at, bytes)| (*at, bytes.len())).collect()
}

#[test]
fn what_shares_its_bytes_or_is_read_twice_does_not_become_free() {
    let separate = |json: Value, policy: Policy, accessor: usize| {
        let patch = patch(json, 300, policy);
        patch.separable_element(accessor, 1, &BTreeMap::new())
    };
    assert_eq!(separate(skinned(), Policy::Reuse, 2), Some(8));
    assert_eq!(separate(skinned(), Policy::Append, 2), None);
    // Weights that follow the positions, and those that are interleaved with them.
    assert_eq!(separate(skinned(), Policy::Reuse, 1), Some(16));
    let mut interleaved = skinned();
    interleaved["bufferViews"][0]["byteStride"] = json!(32);
    interleaved["accessors"][1]["byteOffset"] = json!(16);
    assert_eq!(separate(interleaved, Policy::Reuse, 1), None);
    let mut twice = skinned();
    let primitives = twice["meshes"][0]["primitives"].as_array_mut().unwrap();
    primitives.push(primitives[0].clone());
    assert_eq!(separate(twice.clone(), Policy::Reuse, 2), None);
    let both = patch(twice, 300, Policy::Reuse).separable_element(2, 2, &BTreeMap::new());
    assert_eq!(both, Some(8));
    let mut compressed = skinned();
    compressed["bufferViews"][1]["extensions"] = json!({"EXT_meshopt_compression": {}});
    assert_eq!(separate(compressed, Policy::Reuse, 2), None);
}

/// Two vertices of which each has its position, joints and weights together, and other data after them.
fn rows() -> Value {
    let column = |at: usize, component: u32, kind: &str| json!({"bufferView": 0, "byteOffset": at, "componentType": component, "count": 2, "type": kind});
    json!({
        "buffers": [{"byteLength": 300}],
        "bufferViews": [
            {"buffer": 0, "byteLength": 72, "byteStride": 36, "target": 34962},
            {"buffer": 0, "byteOffset": 72, "byteLength": 228}],
        "accessors": [column(24, 5126, "VEC3"), column(0, 5126, "VEC4"), column(16, 5123, "VEC4")],
        "images": [{"bufferView": 1}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0, "WEIGHTS_0": 1, "JOINTS_0": 2}}]}]
    })
}

#[test]
fn released_attributes_leave_interleaved_rows() {
    let bytes: Vec<u8> = (0..=255).cycle().take(300).collect();
    let allocator = Allocator::new(&rows(), 0, bytes.clone().into(), Policy::Reuse);
    let mut patch = Patch::new(rows(), allocator);
    let interleaved = patch.interleaved();
    assert_eq!(patch.separable_element(1, 1, &interleaved), Some(16));
    patch.release(Some(1));
    patch.release(Some(2));
    patch.narrow(&interleaved);
    assert_eq!(
        patch.json["bufferViews"][0],
        json!({"buffer": 0, "byteLength": 24, "byteStride": 12, "target": 34962})
    );
    assert_eq!(patch.json["accessors"][0]["byteOffset"], 0);
    // The 48 bytes behind the positions take new data.
    patch.put(floats(Some(1), &[1.0; 8]));
    patch.put(floats(Some(2), &[2.0; 4]));
    let patched = patch.finish();
    assert_eq!(patched.n_bytes_added, 0);
    let positions = [&bytes[24..36], &bytes[60..72]].concat();
    assert_eq!(patched.bytes[..24], positions);
    assert_eq!(patched.bytes[24..28], 1.0f32.to_le_bytes());
    assert_eq!(patched.bytes[56..60], 2.0f32.to_le_bytes());
    assert_eq!(patched.bytes[72..], bytes[72..]);
}

#[test]
fn freed_bytes_are_written_over_first() {
    let mut patch = over(skinned());
    // The weights were at 32 - 64 of the first view, which the positions still use.
    patch.put(floats(Some(1), &[1.0; 8]));
    // The joints have 130 bytes, of which 100 are used.
    patch.put(floats(Some(2), &[2.0; 25]));
    // There is no space for this, or for a part of it.
    patch.put(floats(None, &[3.0; 9]));
    assert_eq!(places(&patch), [(32, 32), (96, 100)]);
    assert_eq!(patch.allocator.n_bytes_appended(), 36);
    assert_eq!(patch.json["bufferViews"][0], skinned()["bufferViews"][0]);
    assert_eq!(patch.json["bufferViews"][1]["byteOffset"], 96);
    assert_eq!(patch.json["bufferViews"][1]["byteLength"], 100);
}

#[test]
fn bytes_begin_at_multiples_of_four() {
    let mut json = skinned();
    json["bufferViews"][1] = json!({"buffer": 0, "byteOffset": 98, "byteLength": 10});
    json["accessors"][2]["count"] = 1.into();
    let mut patch = over(json);
    patch.put(floats(Some(1), &[1.0; 8]));
    // 98 - 108 are free, of which 100 is the first multiple of 4.
    patch.put(floats(None, &[2.0; 3]));
    assert_eq!(places(&patch), [(32, 32)]);
    patch.put(floats(None, &[3.0; 2]));
    assert_eq!(places(&patch), [(32, 32), (100, 8)]);
}

#[test]
fn bytes_that_another_view_overlaps_stay() {
    let mut json = skinned();
    json["accessors"]
        .as_array_mut()
        .unwrap()
        .push(json!({"bufferView": 3, "componentType": 5121, "count": 8, "type": "SCALAR"}));
    json["bufferViews"].as_array_mut().unwrap().push(json!(
        {"buffer": 0, "byteOffset": 40, "byteLength": 160,
         "extensions": {"EXT_meshopt_compression": {"buffer": 0, "byteOffset": 40, "byteLength": 160}}}));
    json["meshes"][0]["primitives"][0]["indices"] = 3.into();
    let mut patch = over(json);
    patch.put(floats(None, &[1.0; 3]));
    patch.put(floats(None, &[2.0; 2]));
    patch.put(floats(None, &[1.0; 6]));
    // 32 - 40 and 200 - 226 stay free.
    assert_eq!(places(&patch), [(200, 12), (32, 8)]);
    assert_eq!(patch.allocator.n_bytes_appended(), 24);
}

#[test]
fn what_an_unknown_extension_may_point_into_stays() {
    let mut json = skinned();
    json["extensions"] = json!({"VENDOR_thing": {"offset": 96}});
    let mut patch = over(json);
    patch.put_shared(floats(None, &[1.0; 40]));
    patch.put(floats(Some(1), &[1.0; 8]));
    patch.place_shared();
    assert!(patch.allocator.overwritten.is_empty());
    assert_eq!(patch.allocator.n_bytes_appended(), 192);
    // Numbers of known meaning that are not references do no harm.
    let mut json = skinned();
    json["extensions"] = json!({"KHR_lights_punctual": {"lights": [{"intensity": 96}]}});
    let mut patch = over(json);
    patch.put(floats(Some(1), &[1.0; 8]));
    assert_eq!(places(&patch), [(32, 32)]);
    // The policy Append never reuses bytes.
    let mut patch = super::tests::patch(skinned(), 300, Policy::Append);
    patch.release(Some(1));
    patch.put(floats(Some(1), &[1.0; 8]));
    assert!(patch.allocator.overwritten.is_empty());
}

#[test]
fn what_shares_views_fills_gaps_and_leaves_no_entry_behind() {
    let mut patch = over(skinned());
    patch.put(floats(Some(1), &[1.0; 8]));
    patch.settle();
    // It replaces the joints' accessor.
    let large = patch.put_shared(floats(None, &[1.0; 31]));
    let small = patch.put_shared(floats(None, &[2.0; 1]));
    let sparse = patch.put_sparse(
        Map::new(),
        2,
        (ComponentType::U8, Bytes::from_static(&[0, 1])),
        Bytes::from_static(&[7; 24]),
    );
    assert_eq!((large, small, sparse), (2, 3, 4));
    patch.place_shared();
    // The joints' 130 bytes hold all but the values; their buffer view is reused.
    assert_eq!(places(&patch), [(32, 32), (96, 130)]);
    let json = &patch.json;
    assert_eq!(json["bufferViews"].as_array().unwrap().len(), 5);
    let place = |entry: &Value| {
        let offset = entry.get("byteOffset").map_or(0, |o| o.as_u64().unwrap());
        (entry["bufferView"].as_u64().unwrap(), offset)
    };
    assert_eq!(place(&json["accessors"][2]), (1, 0));
    assert_eq!(place(&json["accessors"][3]), (1, 124));
    assert_eq!(place(&json["accessors"][4]["sparse"]["indices"]), (1, 128));
    assert_eq!(place(&json["accessors"][4]["sparse"]["values"]), (4, 0));
    assert_eq!(patch.allocator.n_bytes_appended(), 24);
}

#[test]
fn what_nothing_replaces_holds_no_data() {
    let mut patch = over(skinned());
    patch.put(floats(Some(1), &[1.0; 40]));
    patch.place_shared();
    assert_eq!(
        patch.json["accessors"][2],
        json!({"componentType": 5121, "count": 1, "type": "SCALAR"})
    );
}
