//! Lengths and locations under a scaled armature: always in world metres.

use crate::editing::EditorHarness;
use glam::{DVec3, Vec2};
use serde_json::{Value, json};
use sinew::document::session::{PoseSpace, TransformKind};
use sinew::editor::OpenRequest;
use sinew::skeleton::JointId;
use sinew::tools::Axis;
use std::path::Path;

const SIZE: Vec2 = Vec2::new(1000.0, 800.0);

/// The sample arm under a node of this scale.
pub(crate) fn scaled_arm(scale: f64) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/arm.glb");
    let bytes = std::fs::read(path).unwrap();
    let length = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
    let end = 20 + length(12);
    let mut json: Value = serde_json::from_slice(&bytes[20..end]).unwrap();
    let scene = json["scene"].as_u64().unwrap_or(0) as usize;
    let roots = json["scenes"][scene]["nodes"].take();
    let nodes = json["nodes"].as_array_mut().unwrap();
    nodes.push(json!({"name": "Armature", "scale": [scale, scale, scale], "children": roots}));
    let armature = nodes.len() - 1;
    json["scenes"][scene]["nodes"] = json!([armature]);
    let mut text = serde_json::to_vec(&json).unwrap();
    text.resize(text.len().next_multiple_of(4), b' ');
    let rest = &bytes[end..];
    let mut file = b"glTF".to_vec();
    file.extend(2u32.to_le_bytes());
    file.extend(((20 + text.len() + rest.len()) as u32).to_le_bytes());
    file.extend((text.len() as u32).to_le_bytes());
    file.extend(b"JSON");
    file.extend(text);
    file.extend(rest);
    file
}

#[test]
fn lengths_locations_and_typed_numbers_are_world_metres_under_a_scaled_armature() {
    let plain = EditorHarness::new();
    let own = plain.editor.bone_length(JointId(plain.joint("upper_arm")));
    let own = own.expect("a child");
    for scale in [0.01, 1.0, 100.0] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("arm.glb");
        std::fs::write(&path, scaled_arm(scale)).unwrap();
        let mut h = EditorHarness::on(OpenRequest::Path(path));
        let (upper, fore) = (JointId(h.joint("upper_arm")), JointId(h.joint("forearm")));
        let near = |a: f64, b: f64| (a - b).abs() <= 1e-6 * a.abs().max(b.abs());
        let length = h.editor.bone_length(upper).expect("a child");
        let place = |h: &EditorHarness, joint: JointId| h.editor.world()[joint.get()].translation;
        let seen = place(&h, upper).distance(place(&h, fore));
        assert!(near(length, own * scale), "{scale}: {length} {own}");
        assert!(near(length, seen), "{scale}: {length} {seen}");
        let unit = h.editor.metres_per_location(fore);
        assert!(
            unit.abs_diff_eq(DVec3::splat(scale), 1e-6 * scale),
            "{unit}"
        );

        // A typed quarter of a metre is one in the world, and the location says so.
        h.editor.select_joint(Some(fore));
        h.editor.set_pose_space(PoseSpace::World);
        let before = place(&h, fore);
        let local = |h: &EditorHarness| h.editor.document().pose().locals[fore.get()].translation;
        let local_before = local(&h);
        assert!(
            h.editor
                .begin_transform(TransformKind::Move, None, SIZE * 0.5, SIZE)
        );
        h.editor.press_axis(Axis::X, false);
        for c in "0.25".chars() {
            assert!(h.editor.type_transform(c));
        }
        h.editor.confirm_transform();
        h.settle();
        let moved = place(&h, fore) - before;
        assert!(moved.abs_diff_eq(DVec3::X * 0.25, 1e-6), "{scale}: {moved}");
        let location = (local(&h) - local_before) * unit;
        assert!(near(location.length(), 0.25), "{scale}: {location}");
    }
}
