//! What else has to know control clusters: several instances of a mesh, autosave and recovery, heat maps, normals, operations on
//! weights, and edits of the rig.

use crate::bake_sources::{document, draw, skin, tube as chain};
use crate::clustered::{MESH, SKINNED, apart, bent, bits, every, shape, with};
use crate::editing::EditorHarness;
use crate::models::tube_with_sides;
use glam::{DQuat, Vec3};
use serde_json::json;
use sinew::cluster::{ClusterGroup, ClusterMap, PatchSettings};
use sinew::deform::diagnostics::{Metric, Summary, measure};
use sinew::document::{ClustersEdit, Document, Edit, InstanceId, rig};
use sinew::editor::{OpenRequest, OperationKind};
use sinew::evaluate::{Comparison, Evaluator, Gauge, ViewId};
use sinew::math::Worse;
use sinew::skeleton::{JointId, Pose};
use std::sync::Arc;

/// A group of points that the deformer stack moves.
pub(crate) fn map(points: Vec<u32>) -> ClusterMap {
    let group = Arc::new(ClusterGroup::new("Clusters", 0));
    let points = points.into_iter().map(|point| (point, 0)).collect();
    ClusterMap::new(vec![group], points, PatchSettings::default()).unwrap()
}

/// Two instances of one mesh under skins of their own: each has its clusters where its own skin moves them, and its own patches
/// between them.
#[test]
fn every_instance_of_a_mesh_is_patched_in_its_own_pose() {
    let mut gltf = chain(2);
    let nodes = gltf.json["nodes"].as_array_mut().unwrap();
    nodes.push(json!({"name": "Other 0", "children": [4], "translation": [1.5, 0, 0]}));
    nodes.push(json!({"name": "Other 1", "translation": [0, 1, 0]}));
    let roots = gltf.json["scenes"][0]["nodes"].as_array_mut().unwrap();
    roots.push(json!(3));
    let other = skin(&mut gltf, 3, 2, 1.0);
    let other = gltf.push("skins", other);
    draw(&mut gltf, 0, other);
    let plain = document(gltf);
    let points = every(&plain, 7);
    let marked = with(&plain, map(points.clone()));
    let skinned: Vec<InstanceId> = plain.instances().keys().copied().collect();
    let shapes = |document: &Document, angles: [f64; 2]| {
        let mut pose = Pose::clone(document.rest_pose());
        for (joint, angle) in [2, 4].into_iter().zip(angles) {
            pose.locals[joint].rotation *= DQuat::from_rotation_z(angle);
        }
        let mut evaluator = Evaluator::default();
        evaluator.evaluate(document, &pose);
        let of = |id: &InstanceId| evaluator.plan(*id).unwrap().positions().to_vec();
        skinned.iter().map(of).collect::<Vec<_>>()
    };
    let (stack, patched) = (shapes(&plain, [1.2, 0.4]), shapes(&marked, [1.2, 0.4]));
    for k in 0..2 {
        for &p in &points {
            let (a, b) = (patched[k][p as usize], stack[k][p as usize]);
            assert_eq!(bits(&[a]), bits(&[b]), "instance {k}, cluster {p}");
        }
        assert_ne!(bits(&patched[k]), bits(&stack[k]), "instance {k}");
    }
    // Where only the other one moves, a shape keeps its bits.
    let moved = shapes(&marked, [1.2, -0.9]);
    assert_eq!(bits(&moved[0]), bits(&patched[0]));
    assert_ne!(bits(&moved[1]), bits(&patched[1]));
}

/// The arm with every ninth vertex marked, bent.
fn mark_and_bend(h: &mut EditorHarness) {
    let document = h.editor.document();
    let points = every(document, 9);
    let edit = Edit::Clusters(ClustersEdit::new(document, MESH, Arc::new(map(points))));
    h.editor.apply(edit, "Mark").unwrap();
    let forearm = JointId(h.joint("forearm"));
    let mut pose = Pose::clone(h.editor.document().pose());
    pose.locals[forearm.get()].rotation *= DQuat::from_rotation_z(1.5);
    let edit = Edit::pose_change(h.editor.document().pose(), &pose).unwrap();
    h.editor.apply(edit, "Bend").unwrap();
    h.settle();
}

#[test]
fn clusters_come_back_after_a_crash_and_show_the_same_shape() {
    let folder = tempfile::tempdir().unwrap();
    let mut h = EditorHarness::with_autosaves(folder.path());
    mark_and_bend(&mut h);
    let restored = h.after_a_crash();
    let clusters = |h: &EditorHarness| h.editor.document().meshes()[&MESH].clusters.clone();
    assert_eq!(clusters(&restored), clusters(&h));
    assert!(clusters(&restored).n_clusters() > 100);
    let shown = |h: &EditorHarness| {
        let displayed = h.editor.displayed().values();
        let shapes = displayed.map(|d| bits(&d.positions));
        shapes.collect::<Vec<_>>()
    };
    assert_eq!(shown(&restored), shown(&h));
}

#[test]
fn heat_maps_measure_the_patched_surface() {
    let mut h = EditorHarness::new();
    mark_and_bend(&mut h);
    let id = *h.editor.displayed().keys().next().unwrap();
    let comparison = Comparison {
        plain: true,
        other: None,
    };
    let measured = |document: &Document, metric| {
        let mut gauge = Gauge::default();
        gauge.evaluate(document, &document.shown_pose(), &comparison);
        measure(metric, &gauge.shape(document, id).unwrap()).values
    };
    let bits = |values: &[f32]| values.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
    let without = with(h.editor.document(), ClusterMap::default());
    // The difference is that to a preset, which shows its stages alone.
    let own = |metric: &Metric| *metric != Metric::Difference;
    for metric in Metric::ALL.into_iter().filter(own) {
        h.editor.show_heat_map(Some(metric));
        h.settle();
        let map = h.editor.heat_map_in(ViewId::OWN, id).unwrap().clone();
        let expected = measured(h.editor.document(), metric);
        assert_eq!(bits(&map.values), bits(&expected), "{metric:?}");
        // No face may be inverted in either.
        if metric != Metric::FoldOver {
            let plain = bits(&measured(&without, metric));
            assert_ne!(bits(&map.values), plain, "{metric:?}");
        }
        let figures = h.editor.heat_figures(ViewId::OWN).unwrap();
        assert_eq!(figures.summary, Summary::of(&expected), "{metric:?}");
    }
}

/// Normals are carried to the surface of the patches, whichever method moves their corners.
#[test]
fn normals_follow_the_surface_across_patches() {
    let plain = tube_with_sides(60, 24);
    let marked = with(&plain, map(every(&plain, 11)));
    let pose = bent(&plain, 70.0);
    let mut evaluator = Evaluator::for_shapes();
    evaluator.evaluate(&marked, &pose);
    let plan = evaluator.plan(SKINNED).unwrap();
    let (positions, normals) = (plan.positions(), plan.normals());
    let geometry = &plain.meshes()[&MESH].geometry;
    let mut around = vec![Vec3::ZERO; positions.len()];
    for t in &geometry.triangles {
        let points = t.map(|v| geometry.point_of_vertex[v as usize] as usize);
        let [a, b, c] = points.map(|p| positions[p]);
        let sides = [[b - a, c - a], [c - b, a - b], [a - c, b - c]];
        for (p, [d, e]) in points.into_iter().zip(sides) {
            around[p] += d.cross(e).normalize_or(Vec3::ZERO) * d.angle_between(e);
        }
    }
    let inside = |p: usize| (2 * 24..58 * 24).contains(&p);
    let mut worst = 0f32;
    for (vertex, &normal) in geometry.normal_of_vertex.iter().enumerate() {
        let p = geometry.point_of_vertex[vertex] as usize;
        if inside(p) {
            let angle = normals[normal as usize]
                .angle_between(around[p])
                .to_degrees();
            worst = worst.worse(angle);
        }
    }
    assert!(worst < 4.0, "{worst} degrees");
    // They are not those of the skin below.
    let mut evaluator = Evaluator::for_shapes();
    evaluator.evaluate(&plain, &pose);
    assert!(apart(evaluator.plan(SKINNED).unwrap().normals(), normals) > 1e-3);
}

/// Mirrored weights change rows of free vertices too; the clusters and the patches stay.
#[test]
fn mirrored_weights_keep_clusters_and_say_what_rests() {
    let mut h = EditorHarness::on(OpenRequest::Sample("mannequin".into()));
    let document = h.editor.document();
    let points = every(document, 9);
    let edit = Edit::Clusters(ClustersEdit::new(document, MESH, Arc::new(map(points))));
    h.editor.apply(edit, "Mark").unwrap();
    h.settle();
    let clusters = |h: &EditorHarness| h.editor.document().meshes()[&MESH].clusters.clone();
    let before = clusters(&h);
    h.editor.begin_operation(OperationKind::Mirror);
    let said = h.settle_and_notice();
    assert!(said.contains("are ignored."), "{said}");
    assert!(Arc::ptr_eq(&clusters(&h), &before));
}

/// Bones that are renamed, removed and given other frames leave the clusters, which follow the skin that is left; undo restores
/// all bits.
#[test]
fn edits_of_the_rig_keep_clusters() {
    let plain = tube_with_sides(40, 16);
    let marked = with(&plain, map(every(&plain, 9)));
    let last = JointId(2);
    let steps = [
        rig::rename(&marked, last, "Other").unwrap(),
        rig::half(&marked, last).unwrap().0,
        rig::remove(&marked, last, rig::WeightRecipient::IntoParent).unwrap(),
    ];
    for step in steps {
        let mut document = marked.clone();
        let mut edit = Edit::Rig(Box::new(step));
        document.apply(&mut edit).unwrap();
        let clusters = |d: &Document| d.meshes()[&MESH].clusters.clone();
        assert_eq!(clusters(&document), clusters(&marked));
        let rest = document.rest_pose().clone();
        let off = apart(&shape(&document, &rest), &shape(&plain, plain.rest_pose()));
        assert!(off < 1e-5, "at rest: {off}");
        let pose = bent(&document, 60.0);
        let posed = shape(&document, &pose);
        let stack = shape(&with(&document, ClusterMap::default()), &pose);
        for p in every(&document, 9) {
            let [a, b] = [&posed, &stack].map(|s| bits(&[s[p as usize]]));
            assert_eq!(a, b, "cluster {p}");
        }
        document.apply(&mut edit).unwrap();
        assert!(document.same_content(&marked), "undone");
    }
}
