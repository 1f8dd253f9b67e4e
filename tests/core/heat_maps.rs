//! Heat maps and the volume study as the editor hands them out.

use crate::editing::EditorHarness;
use crate::gltf_builder::Gltf;
use glam::{DMat3, DQuat, DVec3};
use serde_json::json;
use sinew::deform::diagnostics::{Metric, Summary, measure};
use sinew::deform::{StackChoice, StackPreset};
use sinew::document::session::SelectKind;
use sinew::document::{Document, Edit, InstanceId};
use sinew::editor::OpenRequest;
use sinew::evaluate::gauge::with_stacks;
use sinew::evaluate::volumes::{Closure, study};
use sinew::evaluate::{Comparison, Difference, Gauge, ViewId};
use sinew::skeleton::JointId;
use sinew::task::Task;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

fn bend(h: &mut EditorHarness, joint: &str, degrees: f64) {
    let joint = JointId(h.joint(joint));
    let mut pose = (**h.editor.document().pose()).clone();
    let local = &mut pose.locals[joint.get()];
    local.rotation = DQuat::from_rotation_z(degrees.to_radians()) * local.rotation;
    let edit = Edit::pose_change(h.editor.document().pose(), &pose).unwrap();
    h.editor.apply(edit, "Bend").unwrap();
    h.settle();
}

/// What a metric says of an instance, from an evaluation of its own.
fn measured(document: &Document, id: InstanceId, metric: Metric) -> Vec<f32> {
    let mut gauge = Gauge::default();
    let comparison = Comparison {
        plain: true,
        other: Some(with_stacks(document, |_| StackPreset::Lbs.stack())),
    };
    gauge.evaluate(document, &document.shown_pose(), &comparison);
    measure(metric, &gauge.shape(document, id).unwrap()).values
}

fn bits(values: &[f32]) -> Vec<u32> {
    values.iter().map(|v| v.to_bits()).collect()
}

#[test]
fn every_metric_is_shown_with_the_bits_of_an_evaluation_of_its_own() {
    let mut h = EditorHarness::new();
    bend(&mut h, "forearm", 90.0);
    let id = *h.editor.displayed().keys().next().unwrap();
    for metric in Metric::ALL {
        h.editor.show_heat_map(Some(metric));
        h.settle();
        let map = h.editor.heat_map_in(ViewId::OWN, id).unwrap().clone();
        let expected = measured(h.editor.document(), id, metric);
        assert_eq!(bits(&map.values), bits(&expected), "{metric:?}");
        let figures = h.editor.heat_figures(ViewId::OWN).unwrap();
        let summary = Summary::of(&expected);
        assert_eq!(figures.summary, summary, "{metric:?}");
        assert_eq!(figures.worst, summary.worst().map(|point| (id, point)));
        let worst = h.editor.worst_place(ViewId::OWN);
        let place = h.editor.displayed()[&id].positions[summary.worst().unwrap() as usize];
        assert_eq!(worst, Some((place, summary.worst_value())));
    }
    h.editor.show_heat_map(None);
    h.settle();
    assert!(h.editor.heat_map_in(ViewId::OWN, id).is_none());
    assert!(h.editor.heat_figures(ViewId::OWN).is_none());
}

#[test]
fn every_view_has_its_map_and_only_what_moved_is_measured_again() {
    let mut h = EditorHarness::new();
    bend(&mut h, "forearm", 90.0);
    let (lbs, dqs) = (
        StackChoice::Preset(StackPreset::Lbs),
        StackChoice::Preset(StackPreset::Dqs),
    );
    h.editor.show_views(&[lbs.clone(), dqs.clone()]);
    h.editor.show_heat_map(Some(Metric::Bulge));
    h.settle();
    let [lbs, dqs] = [lbs, dqs].map(|choice| h.editor.view_of(&choice).unwrap());
    let bulge = |h: &EditorHarness, view| h.editor.heat_figures(view).unwrap().summary.max;
    // The corrections take the bulge of dual quaternions away.
    assert!(bulge(&h, dqs) > 0.06, "{}", bulge(&h, dqs));
    assert!(bulge(&h, ViewId::OWN) < 0.25 * bulge(&h, dqs));
    // Of a joint that is rigid in the pose nothing changes with the time.
    let id = *h.editor.displayed().keys().next().unwrap();
    let generation = |h: &EditorHarness, view| h.editor.heat_map_in(view, id).unwrap().generation;
    let before = [ViewId::OWN, lbs, dqs].map(|view| generation(&h, view));
    h.editor
        .change_stack("Set", |s| s.compensation.strength = 0.5);
    h.settle();
    let after = [ViewId::OWN, lbs, dqs].map(|view| generation(&h, view));
    assert!(after[0] > before[0], "its own stack changed");
    assert_eq!(after[1..], before[1..], "the others' did not");
    // The difference from what a view shows itself is nothing.
    h.editor.show_heat_map(Some(Metric::Difference));
    h.settle();
    let summary = |h: &EditorHarness, view| h.editor.heat_figures(view).unwrap().summary;
    assert_eq!(summary(&h, lbs).max, 0.0);
    assert!(summary(&h, dqs).max > 0.001 && h.editor.heat_diagonal() > 0.1);
    // Of two that are chosen it is the same in every view.
    h.editor.set_difference(Difference {
        of: Some(StackChoice::Preset(StackPreset::CentresOfRotation)),
        to: StackChoice::Preset(StackPreset::Dqs),
    });
    h.settle();
    let figures = [ViewId::OWN, lbs, dqs].map(|view| summary(&h, view).max);
    assert!(
        figures[0] > 0.0 && figures.iter().all(|f| *f == figures[0]),
        "{figures:?}"
    );
}

#[test]
fn what_is_hidden_does_not_count() {
    let mut h = EditorHarness::new();
    bend(&mut h, "forearm", 100.0);
    h.editor.show_heat_map(Some(Metric::EdgeStrain));
    h.settle();
    let before = *h.editor.heat_figures(ViewId::OWN).unwrap();
    let (id, worst) = before.worst.unwrap();
    let forearm = JointId(h.joint("forearm"));
    h.editor.select_joint(Some(forearm));
    h.editor.set_select_kind(SelectKind::Points);
    h.editor.select_moved_points();
    h.editor.hide_selected();
    h.settle();
    let figures = *h.editor.heat_figures(ViewId::OWN).unwrap();
    let mesh = h.editor.document().instances()[&id].mesh;
    let hidden = h.editor.document().session().hidden_points[&mesh].clone();
    assert!(hidden.contains(worst), "the forearm moves the elbow");
    assert_eq!(figures.summary.n + hidden.count(), before.summary.n);
    assert!(
        !figures
            .worst
            .is_some_and(|(_, point)| hidden.contains(point))
    );
    h.editor.show_all();
    h.settle();
    assert_eq!(*h.editor.heat_figures(ViewId::OWN).unwrap(), before);
}

#[test]
fn the_worst_point_is_framed() {
    let mut h = EditorHarness::new();
    assert!(!h.editor.frame_worst(), "nothing is measured");
    bend(&mut h, "forearm", 90.0);
    h.editor.show_heat_map(Some(Metric::EdgeStrain));
    h.settle();
    let (place, _) = h.editor.worst_place(ViewId::OWN).unwrap();
    assert!(h.editor.frame_worst());
    let camera = h.editor.document().session().camera;
    let clip = camera.clip_from_world(1.5) * place.extend(1.0);
    let ndc = clip.truncate() / clip.w;
    assert!(ndc.x.abs() < 1e-3 && ndc.y.abs() < 1e-3, "{ndc}");
}

/// A cube of side 1 m that one bone moves; `open`: without one of its sides.
fn cube(folder: &Path, open: bool) -> PathBuf {
    let corners: Vec<f32> = (0..8u8)
        .flat_map(|i| [0, 1, 2].map(|axis| f32::from(i >> axis & 1)))
        .collect();
    let mut faces: Vec<u16> = vec![
        0, 2, 1, 1, 2, 3, 4, 5, 6, 5, 7, 6, 0, 1, 4, 1, 5, 4, 2, 6, 3, 3, 6, 7, 0, 4, 2, 2, 4, 6,
        1, 3, 5, 3, 7, 5,
    ];
    if open {
        faces.truncate(30);
    }
    let mut gltf = Gltf::new(json!({
        "nodes": [{"name": "Bone"}, {"name": "Cube", "mesh": 0, "skin": 0}],
        "skins": [{"joints": [0]}],
        "scenes": [{"nodes": [0, 1]}],
    }));
    let position = gltf.f32s("VEC3", &corners);
    let joints = gltf.u8s("VEC4", &[0; 32]);
    let weights = gltf.f32s("VEC4", [[1.0, 0.0, 0.0, 0.0]; 8].as_flattened());
    let indices = gltf.u16s("SCALAR", &faces);
    let attributes = json!({"POSITION": position, "JOINTS_0": joints, "WEIGHTS_0": weights});
    let primitive = json!({"attributes": attributes, "indices": indices});
    gltf.push("meshes", json!({"primitives": [primitive]}));
    let path = folder.join(if open { "open.glb" } else { "cube.glb" });
    std::fs::write(&path, gltf.glb()).unwrap();
    path
}

/// The editor on a cube whose bone is twice as large in each direction.
fn scaled_cube(open: bool) -> EditorHarness {
    let folder = tempfile::tempdir().unwrap();
    let mut h = EditorHarness::on(OpenRequest::Path(cube(folder.path(), open)));
    let mut pose = (**h.editor.document().pose()).clone();
    let bone = h.joint("Bone") as usize;
    pose.locals[bone].stretch = DMat3::from_diagonal(DVec3::splat(2.0));
    let edit = Edit::pose_change(h.editor.document().pose(), &pose).unwrap();
    h.editor.apply(edit, "Scale").unwrap();
    h.settle();
    h
}

#[test]
fn a_cube_that_is_scaled_keeps_its_volume_and_an_open_one_has_none() {
    let h = scaled_cube(false);
    let found = study(h.editor.document(), 30, &Task::new()).unwrap();
    let of = found.instances.values().next().unwrap();
    assert_eq!(of.closure, Closure::Closed);
    // What a bone's scale is meant to do is no fault: the shape at rest has it too.
    assert!((of.whole.rest - 8.0).abs() < 1e-5, "{}", of.whole.rest);
    assert!(of.whole.changes[0].abs() < 1e-6);
    assert!((found.whole.rest - 8.0).abs() < 1e-5);
    let share = of.joints.values().next().unwrap();
    assert!((share.rest - 8.0).abs() < 1e-4 && share.changes[0].abs() < 1e-5);
    let found = study(scaled_cube(true).editor.document(), 30, &Task::new()).unwrap();
    let of = found.instances.values().next().unwrap();
    assert_eq!(of.closure, Closure::Open);
    assert!(of.whole.changes[0].is_nan() && found.whole.changes[0].is_nan());
    assert!(of.joints.is_empty());
}

/// The published figures of the bent test cylinder: 0.964400 of its volume is left by LBS at 90 degrees, 0.999928 by
/// DQS.
#[test]
fn linear_skinning_loses_the_volume_that_the_tables_say() {
    let mut h = EditorHarness::on(OpenRequest::Sample("cylinder".into()));
    let joints = h.editor.document().skeleton().joints();
    let second = joints[h.editor.document().skins().values().next().unwrap().joints[1].get()]
        .name
        .clone();
    bend(&mut h, &second, 90.0);
    for (preset, left) in [(StackPreset::Lbs, 0.964_400), (StackPreset::Dqs, 0.999_928)] {
        h.editor.use_preset(preset);
        let found = study(h.editor.document(), 30, &Task::new()).unwrap();
        let change = f64::from(found.whole.changes[0]);
        assert!((1.0 + change - left).abs() < 1e-4, "{preset:?}: {change}");
    }
}

#[test]
fn a_clip_is_measured_in_the_background_and_goes_out_of_date() {
    let mut h = EditorHarness::new();
    let clip = *h.editor.document().clips().keys().next().unwrap();
    h.editor.show_clip(Some(clip));
    h.settle();
    assert!(h.editor.volume_study().is_none() && !h.editor.is_volume_stale());
    let measured = |h: &mut EditorHarness| {
        h.editor.measure_volume();
        assert!(h.editor.measuring().is_some());
        let deadline = Instant::now() + Duration::from_mins(2);
        while h.editor.measuring().is_some() {
            assert!(Instant::now() < deadline, "it does not end");
            std::thread::sleep(Duration::from_millis(1));
            h.editor.poll(0.0);
        }
        h.editor.volume_study().cloned().unwrap()
    };
    let found = measured(&mut h);
    assert_eq!(found.clip, Some(clip));
    let shown = &h.editor.document().clips()[&clip];
    let n = f64::from(shown.end_secs() - shown.start_secs()) * 30.0;
    // A frame that ends within rounding of the clip is its last one.
    assert_eq!(found.times_secs.len(), (n - 1e-3).ceil() as usize + 1);
    assert!(found.times_secs.is_sorted());
    let last = *found.times_secs.last().unwrap();
    assert!((last - f64::from(shown.end_secs())).abs() < 1e-9);
    let n = found.times_secs.len();
    assert!(found.whole.changes.len() == n && found.bulges.len() == n);
    // The arm is closed, at rest at its start, and bends in between.
    assert!(found.whole.changes[0].abs() < 1e-4);
    assert!(found.whole.worst().unwrap().1.abs() > 1e-4);
    // Time moves on, and nothing is out of date.
    h.editor.set_time(0.5);
    h.settle();
    assert!(!h.editor.is_volume_stale());
    h.editor.use_preset(StackPreset::Lbs);
    h.settle();
    assert!(h.editor.is_volume_stale());
    let linear = measured(&mut h);
    assert!(!h.editor.is_volume_stale());
    assert!(linear.whole.worst().unwrap().1 < found.whole.worst().unwrap().1);
    // Cancelled, what is shown stays.
    h.editor.measure_volume();
    h.editor.cancel_measuring();
    assert!(h.editor.measuring().is_none());
    assert!(Arc::ptr_eq(h.editor.volume_study().unwrap(), &linear));
}
