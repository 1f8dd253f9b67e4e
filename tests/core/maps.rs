//! Painted maps of the stack and rules of bones, through the editor; every invariant is checked after every event.

use crate::editing::EditorHarness;
use glam::{DVec3, Vec2};
use sinew::deform::MaskKind;
use sinew::document::session::PaintTarget;
use sinew::document::{Document, MeshId, MeshItem};
use sinew::editor::exporting::Correction;
use sinew::editor::{Editor, HeatOf, OpenRequest};
use sinew::io::project::Autosaves;
use sinew::skeleton::{JointId, JointRule};
use sinew::tools::PointerKind;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

const KIND: MaskKind = MaskKind::Compensation;

/// The sample arm with the brush on `kind`, no bone active and every bone locked.
fn on_map(kind: MaskKind) -> EditorHarness {
    let mut h = EditorHarness::new();
    let joints = 0..h.editor.document().skeleton().len() as u32;
    h.editor.lock_joints(&joints.map(JointId).collect(), true);
    h.editor.select_joint(None);
    h.editor.set_paint_target(PaintTarget::Mask(kind));
    h
}

fn item(document: &Document) -> (MeshId, &MeshItem) {
    let (&id, item) = document.meshes().iter().next().unwrap();
    (id, item)
}

fn painted(h: &EditorHarness, kind: MaskKind) -> Vec<(u32, f32)> {
    let map = item(h.editor.document()).1.masks.get(kind);
    map.map(|map| map.painted().collect()).unwrap_or_default()
}

fn elbow(h: &EditorHarness) -> Vec2 {
    h.place_of(h.joint("forearm"))
}

#[test]
fn a_stroke_on_a_map_is_one_step_whatever_is_locked() {
    let mut h = on_map(KIND);
    let before = h.editor.document().clone();
    let n_steps = h.editor.history().n_undo();
    let heat = h.editor.heat().values().next().unwrap();
    assert_eq!((heat.of, heat.n_marked), (HeatOf::Mask(KIND), 0));
    let at = elbow(&h);
    h.drag(at, at + Vec2::new(0.1, 0.02), false);
    let map = painted(&h, KIND);
    assert!(map.len() > 50, "{}", map.len());
    for &(point, value) in &map {
        // One stroke never passes the brush's strength, however often the pointer comes by.
        assert!((0.5..1.0).contains(&value), "point {point}: {value}");
    }
    assert!(map.iter().any(|&(_, value)| value < 0.51));
    let after = h.editor.document().clone();
    let influences = |document: &Document| item(document).1.influences.clone();
    assert_eq!(influences(&after), influences(&before));
    assert_eq!(h.editor.heat().values().next().unwrap().n_marked, map.len());
    let history = h.editor.history();
    assert_eq!(history.n_undo(), n_steps + 1);
    assert_eq!(history.undo_label(), Some("Paint compensation strength"));
    h.editor.undo();
    h.settle();
    assert!(h.editor.document().same_content(&before), "bit for bit");
    assert_eq!(h.editor.heat().values().next().unwrap().n_marked, 0);
    h.editor.redo();
    h.settle();
    assert!(h.editor.document().same_content(&after));
}

#[test]
fn a_map_of_another_part_is_another_map() {
    for (kind, label) in [
        (MaskKind::Blend, "Paint dual quaternion factor"),
        (MaskKind::Projection, "Paint projection strength"),
        (MaskKind::Smooth, "Paint smoothing strength"),
    ] {
        let mut h = on_map(kind);
        let at = elbow(&h);
        h.drag(at, at + Vec2::new(0.05, 0.0), false);
        assert_eq!(h.editor.history().undo_label(), Some(label));
        for other in MaskKind::ALL {
            assert_eq!(painted(&h, other).is_empty(), other != kind, "{other:?}");
        }
    }
}

#[test]
fn the_value_is_where_points_go_ctrl_takes_them_to_0_and_escape_takes_the_stroke_back() {
    let mut h = on_map(KIND);
    *h.editor.brush_mut().value_mut() = 2.0;
    h.editor.brush_mut().strength = 1.0;
    let at = elbow(&h);
    let to = at + Vec2::new(0.05, 0.0);
    h.drag(at, to, false);
    let strong = painted(&h, KIND);
    assert!(strong.iter().all(|&(_, v)| v > 1.0 && v <= 2.0));
    assert!(strong.iter().any(|&(_, v)| v > 1.99), "all of the way");
    let before = h.editor.document().clone();
    h.drag(at, to, true);
    let none = painted(&h, KIND);
    assert!(none.iter().any(|&(_, v)| v < 0.01));
    h.editor.undo();
    h.settle();
    assert!(h.editor.document().same_content(&before));

    h.start_drag(at, to, true);
    assert!(!h.editor.document().same_content(&before));
    h.pointer(PointerKind::Cancel, to, true);
    h.settle();
    assert!(h.editor.document().same_content(&before), "bit for bit");

    // From 0, Ctrl brings back what was there before anything was painted.
    *h.editor.brush_mut().value_mut() = 0.0;
    h.editor.brush_mut().radius_px = 200.0;
    h.editor.brush_mut().falloff = sinew::weights::falloff::Falloff::Constant;
    h.drag(at, to, true);
    assert_eq!(painted(&h, KIND), []);
    let heat = h.editor.heat().values().next().unwrap();
    assert_eq!(heat.n_marked, 0);
}

#[test]
fn a_stroke_that_changes_nothing_says_why_and_is_no_step() {
    let mut h = on_map(MaskKind::Projection);
    *h.editor.brush_mut().value_mut() = 1.0;
    let n_steps = h.editor.history().n_undo();
    let at = elbow(&h);
    h.drag(at, at + Vec2::new(0.05, 0.0), false);
    assert_eq!(h.editor.history().n_undo(), n_steps);
    assert_eq!(
        h.last_notice(),
        "All vertices under the brush are already at 1.00. Press X to swap 1 and 0, or hold Ctrl to invert."
    );
}

#[test]
fn the_brush_takes_the_value_under_the_pointer() {
    let mut h = on_map(KIND);
    *h.editor.brush_mut().value_mut() = 1.5;
    h.editor.fill_map();
    *h.editor.brush_mut().value_mut() = 0.0;
    let at = elbow(&h);
    let size = Vec2::new(1000.0, 800.0);
    assert_eq!(h.editor.value_at(at, size), Some(1.5));
    h.editor.sample_value(at, size);
    assert_eq!(h.editor.document().session().brush.value(), 1.5);
    let weight = h.editor.document().session().brush.weight;
    assert_eq!(weight, 1.0, "the weight brush is as it was");
}

#[test]
fn a_whole_map_is_filled_inverted_and_cleared() {
    let mut h = on_map(KIND);
    let start = h.editor.document().clone();
    let (mesh, n_points) = {
        let (mesh, item) = item(&start);
        (mesh, item.influences.len())
    };
    *h.editor.brush_mut().value_mut() = 0.25;
    h.editor.fill_map();
    h.settle();
    assert_eq!(
        h.editor.history().undo_label(),
        Some("Fill compensation strength")
    );
    let all = painted(&h, KIND);
    assert_eq!(all.len(), n_points);
    assert!(all.iter().all(|&(_, value)| value == 0.25));
    h.editor.invert_map();
    h.settle();
    assert!(painted(&h, KIND).iter().all(|&(_, v)| v == 1.75));
    // Of the selection only, and never what is hidden.
    h.editor.select_points(mesh, &[3, 5, 2000]);
    h.editor.clear_map();
    h.settle();
    let rest = painted(&h, KIND);
    assert_eq!(rest.len(), n_points - 3);
    assert!(
        h.last_notice()
            .contains("3 vertices of the selection changed")
    );
    h.editor.hide_selected();
    *h.editor.brush_mut().value_mut() = 0.5;
    h.editor.fill_map();
    h.settle();
    assert_eq!(painted(&h, KIND).len(), n_points - 3);
    for _ in 0..4 {
        h.editor.undo();
        h.settle();
    }
    assert!(h.editor.document().same_content(&start));
    // Nothing to do is no step.
    h.editor.show_all();
    h.editor.select_none();
    let n_steps = h.editor.history().n_undo();
    h.editor.clear_map();
    h.settle();
    assert_eq!(h.editor.history().n_undo(), n_steps);
    assert!(h.last_notice().contains("no vertex"), "{}", h.last_notice());
    h.editor.set_paint_target(PaintTarget::Weights);
    h.editor.fill_map();
    h.settle();
    assert!(
        h.last_notice()
            .starts_with("Choose a map as paint target first")
    );
}

#[test]
fn a_part_that_does_not_read_its_map_is_turned_on_in_one_step() {
    let mut h = on_map(MaskKind::Smooth);
    let before = h.editor.document().clone();
    let unread = MaskKind::ALL
        .into_iter()
        .filter(|kind| !h.editor.reads_mask(*kind));
    let unread: Vec<_> = unread.collect();
    assert!(unread.contains(&MaskKind::Smooth), "{unread:?}");
    for kind in unread {
        let n_steps = h.editor.history().n_undo();
        h.editor.turn_on_part_of(kind);
        h.settle();
        assert!(h.editor.reads_mask(kind), "{kind:?}");
        assert_eq!(h.editor.history().n_undo(), n_steps + 1);
        h.editor.undo();
        h.settle();
        assert!(h.editor.document().same_content(&before));
    }
    assert!(!h.editor.reads_mask(MaskKind::Smooth));
}

#[test]
fn maps_and_rules_come_back_from_projects_and_autosaves_and_leave_exports_alone() {
    let folder = tempfile::tempdir().unwrap();
    let arm = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/arm.glb");
    let mut h = EditorHarness {
        editor: Editor::new(
            Some(Autosaves::in_folder(folder.path().join("autosave"))),
            || {},
        )
        .unwrap(),
        notices: Vec::new(),
    };
    h.editor.open(OpenRequest::Path(arm.clone()));
    h.settle();
    h.editor.set_paint_target(PaintTarget::Mask(KIND));
    let at = elbow(&h);
    h.drag(at, at + Vec2::new(0.1, 0.0), false);
    let forearm = JointId(h.joint("forearm"));
    let rule = JointRule {
        tail: Some(DVec3::new(0.0, 0.2, 0.1)),
        compensates_scale: true,
        inflation_parent: None,
        ..JointRule::default()
    };
    h.editor.set_joint_rule(forearm, rule, "Set end of bone");
    h.settle();
    assert!(h.editor.history().is_modified());
    h.editor.autosave_now();
    let deadline = Instant::now() + Duration::from_mins(1);
    while h.editor.recoverable().is_empty() {
        assert!(Instant::now() < deadline);
        std::thread::sleep(Duration::from_millis(5));
    }
    let project = folder.path().join("arm.ron");
    let autosave = h.editor.recoverable()[0].path.clone();
    let restored = EditorHarness::on(OpenRequest::Autosave(autosave));
    assert_eq!(painted(&restored, KIND), painted(&h, KIND));
    h.editor.save_as(&project);
    h.settle();
    let opened = EditorHarness::on(OpenRequest::Path(project));
    assert_eq!(opened.notices.iter().filter(|n| n.is_error).count(), 0);
    for other in [&restored, &opened] {
        assert_eq!(painted(other, KIND), painted(&h, KIND));
        let document = other.editor.document();
        assert_eq!(document.skeleton().joint(forearm).rule, rule);
        let target = document.session().brush.target;
        assert_eq!(target, PaintTarget::Mask(KIND));
        let heat = other.editor.heat().values().next().unwrap();
        assert_eq!(heat.of, HeatOf::Mask(KIND), "colours show it at once");
    }
    let exported: PathBuf = folder.path().join("arm.glb");
    h.editor.export_settings_mut().correction = Some(Correction::None);
    h.editor.save_export(&exported);
    h.settle();
    assert_eq!(
        std::fs::read(exported).unwrap(),
        std::fs::read(arm).unwrap(),
        "no glTF file holds maps or rules: it goes out as it came"
    );
}

#[test]
fn a_bone_whose_end_was_set_is_drawn_to_there() {
    let mut h = EditorHarness::new();
    let forearm = JointId(h.joint("forearm"));
    let start = h.editor.document().clone();
    let automatic = h.editor.bone_end(forearm);
    assert!(automatic.length() > 0.01);
    let tail = DVec3::new(0.05, 0.1, -0.02);
    let rule = JointRule {
        tail: Some(tail),
        ..JointRule::default()
    };
    h.editor.set_joint_rule(forearm, rule, "Set end of bone");
    h.settle();
    assert_eq!(h.editor.bone_end(forearm), tail);
    let bones = h.editor.bones();
    let drawn: Vec<_> = bones.iter().filter(|b| b.joint == forearm).collect();
    let expected = h.editor.world()[forearm.get()].transform_point3(tail);
    assert_eq!(drawn.len(), 1);
    assert!(drawn[0].tail.distance(expected.as_vec3()) < 1e-6);
    // What cannot be is said and changes nothing.
    let hand = h
        .editor
        .document()
        .skeleton()
        .children(forearm)
        .first()
        .copied();
    let impossible = JointRule {
        inflation_parent: Some(hand.expect("the forearm has a hand")),
        ..rule
    };
    h.editor.set_joint_rule(forearm, impossible, "Follow");
    h.settle();
    assert!(h.last_notice().contains("which comes after it"));
    assert_eq!(h.editor.history().n_undo(), 1);
    h.editor.undo();
    h.settle();
    assert!(h.editor.document().same_content(&start));
    assert_eq!(h.editor.bone_end(forearm), automatic);
}
