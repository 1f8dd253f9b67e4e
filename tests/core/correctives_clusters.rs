//! Sample sets that hold control clusters only: what sculpting, imports and changes of groups leave in their samples.

use crate::cli::{done, fails, text};
use crate::editing::EditorHarness;
use crate::sculpt::{bent_arm, elbow, sculpted, select_at_elbow, shown, stroke, vertex_near};
use glam::{DQuat, Vec2, Vec3};
use serde_json::{Value, json};
use sinew::bake::{BakeMode, BakeOptions, sample_targets};
use sinew::cluster::{ClusterGroup, ClusterMap, PatchSettings};
use sinew::correctives::{self, NewSample};
use sinew::deform::correctives::SampleVertices;
use sinew::deform::{Captured, StackPreset};
use sinew::document::session::{SculptKind, TransformKind};
use sinew::document::{ClustersEdit, Edit};
use sinew::export::{ExportOptions, preflight};
use sinew::io::{open_any, project};
use sinew::psd::Displacements;
use sinew::skeleton::Pose;
use sinew::task::Task;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Marks every third vertex of the active object, in turn in the groups "Even" and "Odd".
fn mark(h: &mut EditorHarness) {
    let mesh = h.editor.clustered_mesh().unwrap();
    let n_points = h.editor.document().meshes()[&mesh].geometry.n_points() as u32;
    let groups = ["Even", "Odd"].map(|name| Arc::new(ClusterGroup::new(name, 0)));
    let marks = (0..n_points).step_by(3).zip([0, 1].into_iter().cycle());
    let map = ClusterMap::new(groups.to_vec(), marks.collect(), PatchSettings::default());
    let edit = ClustersEdit::new(h.editor.document(), mesh, Arc::new(map.unwrap()));
    h.editor.apply(Edit::Clusters(edit), "Mark").unwrap();
    h.settle();
}

fn points(moved: &Displacements) -> BTreeSet<u32> {
    moved.iter().map(|(point, _)| point).collect()
}

fn inflate(h: &mut EditorHarness) {
    h.editor.use_sculpt(SculptKind::Inflate);
    let place = elbow(h);
    let (_, at) = vertex_near(h, place);
    stroke(h, &[at, at + Vec2::new(0.03, 0.02)], |_| {});
}

#[test]
fn a_set_of_clusters_keeps_what_is_sculpted_at_clusters() {
    let mut h = bent_arm(StackPreset::Default);
    mark(&mut h);
    let plain = shown(&h);
    inflate(&mut h);
    let (all, with_all) = (sculpted(&h), shown(&h));
    let is_cluster = |p: &u32| p.is_multiple_of(3);
    assert!(points(&all).iter().any(|p| !is_cluster(p)));
    // The others are deleted in one step, which can be undone.
    let before = h.editor.document().clone();
    let n_undo = h.editor.history().n_undo();
    h.editor.set_held_vertices(0, SampleVertices::Clusters);
    h.settle();
    assert_eq!(h.editor.history().n_undo(), n_undo + 1);
    let n_others = points(&all).iter().filter(|p| !is_cluster(p)).count();
    assert_eq!(
        h.last_notice(),
        format!(
            "Deleted {n_others} displacements of vertices that are not control clusters of the set."
        )
    );
    let own = sculpted(&h);
    let expected = all.iter().filter(|(p, _)| is_cluster(p));
    assert!(own.iter().eq(expected) && own.n_points() > 3);
    // Clusters move as they did; the patches carry the vertices between them.
    let carried = shown(&h);
    for (p, _) in all.iter() {
        let p = p as usize;
        if p.is_multiple_of(3) {
            assert_eq!(carried[p], with_all[p]);
        }
    }
    let follow = all.iter().map(|(p, _)| p as usize);
    let follow = follow.filter(|p| !p.is_multiple_of(3) && carried[*p] != plain[*p]);
    assert!(follow.count() > 3);
    h.editor.undo();
    h.settle();
    assert!(h.editor.document().same_content(&before));
    assert_eq!(shown(&h), with_all);
    h.editor.redo();
    h.settle();
    assert_eq!(shown(&h), carried);

    // A further stroke reaches clusters alone; of a group only those of it.
    inflate(&mut h);
    assert!(points(&sculpted(&h)).iter().all(is_cluster));
    h.editor
        .set_held_vertices(0, SampleVertices::Group("Odd".into()));
    inflate(&mut h);
    let odd = points(&sculpted(&h));
    assert!(!odd.is_empty() && odd.iter().all(|p| p % 6 == 3));
    // So does the pose that the sample moves to, and its copy.
    h.editor.update_sample();
    h.editor.set_held_vertices(0, SampleVertices::Clusters);
    assert_eq!(points(&sculpted(&h)), odd);
}

#[test]
fn vertices_that_are_no_clusters_do_not_move_with_the_gizmo() {
    let mut h = bent_arm(StackPreset::Default);
    mark(&mut h);
    let point = select_at_elbow(&mut h);
    let mesh = h.editor.clustered_mesh().unwrap();
    let cluster = point - point % 3;
    h.editor.set_held_vertices(0, SampleVertices::Clusters);
    h.editor.select_points(mesh, &[cluster, cluster + 1]);
    let size = Vec2::new(1000.0, 800.0);
    let begin = |h: &mut EditorHarness| {
        h.editor
            .begin_vertex_transform(TransformKind::Move, None, size / 2.0, size)
    };
    assert!(begin(&mut h));
    h.editor.press_axis(sinew::math::Axis::Y, false);
    for letter in "0.02".chars() {
        assert!(h.editor.type_transform(letter));
    }
    h.editor.confirm_transform();
    h.settle();
    assert_eq!(points(&sculpted(&h)), [cluster].into());
    h.editor.select_points(mesh, &[cluster + 1]);
    assert!(!begin(&mut h));
    h.settle();
    assert_eq!(
        h.last_notice(),
        "None of the selected vertices is a control cluster of the set."
    );
}

#[test]
fn a_renamed_group_stays_chosen_and_a_deleted_one_stops_the_brush() {
    let mut h = bent_arm(StackPreset::Default);
    mark(&mut h);
    h.editor
        .set_held_vertices(0, SampleVertices::Group("Even".into()));
    inflate(&mut h);
    let own = sculpted(&h);
    let (before, n_undo) = (h.editor.document().clone(), h.editor.history().n_undo());
    h.editor.rename_group(0, "Elbow");
    h.settle();
    let held = |h: &EditorHarness| h.editor.correctives().unwrap().sets()[0].vertices.clone();
    assert_eq!(held(&h), SampleVertices::Group("Elbow".into()));
    assert_eq!(h.editor.history().n_undo(), n_undo + 1);
    assert!(sculpted(&h) == own);
    h.editor.undo();
    assert!(h.editor.document().same_content(&before));

    h.editor.delete_group(0);
    h.settle();
    inflate(&mut h);
    assert_eq!(
        h.last_notice(),
        "The set \"forearm\" holds control clusters of the group \"Even\", which does not exist. Choose its vertices again."
    );
    // Nothing of the sample is lost until then.
    assert!(sculpted(&h) == own);
    h.editor.set_held_vertices(0, SampleVertices::Clusters);
    assert!(sculpted(&h).is_empty());
}

#[test]
fn an_imported_shape_is_held_at_clusters_and_projects_keep_the_choice() {
    let mut h = bent_arm(StackPreset::Default);
    mark(&mut h);
    h.editor.set_held_vertices(0, SampleVertices::Clusters);
    let document = h.editor.document();
    let mesh = h.editor.clustered_mesh().unwrap();
    let mut pose = Pose::clone(document.rest_pose());
    let forearm = h.joint("forearm") as usize;
    pose.locals[forearm].rotation *= DQuat::from_rotation_x(0.8);
    let captured = |points: &[u32]| Captured {
        displacements: Displacements::new(points.iter().map(|&p| (p, Vec3::X * 0.01)).collect()),
        ..Captured::default()
    };
    let add = |points: &[u32]| {
        let new = NewSample {
            drivers: [sinew::skeleton::JointId(forearm as u32)].into(),
            ..NewSample::default()
        };
        correctives::add_sample(document, mesh, &captured(points), &pose, &new)
    };
    assert_eq!(
        add(&[4, 5]).unwrap_err(),
        "The set \"forearm\" holds only control clusters, and the sculpt moves none of them."
    );
    let added = add(&[3, 4, 5, 6]).unwrap();
    assert_eq!(
        added.message,
        "Sample \"Sample 1\" of \"forearm\": 2 vertices, moved by up to 0.0100 m. 2 vertices that are no control clusters of the set are left out."
    );
    h.editor.apply(added.edit, "Import").unwrap();
    h.editor.select_sample(0, 1);
    assert_eq!(points(&sculpted(&h)), [3, 6].into());

    // A file has no patches: as morph targets they would be spikes.
    let document = h.editor.document();
    assert!(sample_targets(document, document.clips()).is_none());
    let retarget = BakeOptions {
        mode: BakeMode::Retarget,
        ..BakeOptions::default()
    };
    for (correct, sample_targets) in [(None, true), (None, false), (Some(retarget), false)] {
        let is_said = sample_targets || correct.is_some();
        let options = ExportOptions {
            correct,
            sample_targets,
            ..ExportOptions::default()
        };
        let findings = preflight(document, &options);
        let mut said = findings.iter().map(|finding| finding.message.as_str());
        let is_about = |text: &str| {
            text.starts_with(
                "Samples that move control clusters alone are left out, in \"forearm\"",
            )
        };
        assert_eq!(said.any(is_about), is_said, "{findings:?}");
    }

    let folder = tempfile::tempdir().unwrap();
    for vertices in [
        SampleVertices::Clusters,
        SampleVertices::Group("Odd".into()),
    ] {
        h.editor.set_held_vertices(0, vertices.clone());
        h.settle();
        let path = folder.path().join("held.ron");
        project::save(h.editor.document(), &path, &Task::new()).unwrap();
        let opened = open_any(&path, &Task::new()).unwrap();
        assert_eq!(opened.findings, []);
        let again = &opened.document.meshes()[&mesh].correctives;
        assert_eq!(again.sets()[0].vertices, vertices);
        assert!(*again == h.editor.document().meshes()[&mesh].correctives);
    }
}

#[test]
fn the_command_line_chooses_and_reports_what_samples_hold() {
    let folder = tempfile::tempdir().unwrap();
    let join = |name: &str| folder.path().join(name);
    let mut h = EditorHarness::new();
    mark(&mut h);
    let marked = join("marked.ron");
    project::save(h.editor.document(), &marked, &Task::new()).unwrap();
    let marked = text(&marked);
    let none = fails(
        &["psd", marked, "--vertices", "clusters", "--out", marked],
        1,
    );
    assert!(none.contains("There are no corrective samples."), "{none}");
    let full = join("full.ron");
    let full = text(&full);
    done(&[
        "psd",
        marked,
        "--from-stack",
        "lbs",
        "--clip",
        "0",
        "--time",
        "1",
        "--out",
        full,
    ]);
    let report = |file: &str| -> Value {
        let told = done(&["psd", file, "--json"]);
        serde_json::from_str::<Value>(&told).unwrap()["sets"][0].clone()
    };
    let before = report(full);
    assert_eq!(
        (&before["vertices"], &before["group"]),
        (&json!("all"), &Value::Null)
    );
    let held = join("held.ron");
    let held = text(&held);
    let said = done(&["psd", full, "--vertices", "Even", "--out", held]);
    assert!(
        said.starts_with("The samples hold control clusters of \"Even\": "),
        "{said}"
    );
    let after = report(held);
    assert_eq!(
        (&after["vertices"], &after["group"]),
        (&json!("group"), &json!("Even"))
    );
    let n = |set: &Value| set["samples"][0]["points"].as_u64().unwrap();
    assert!(n(&after) * 2 < n(&before) && n(&after) > 10, "{after}");
    let unknown = fails(&["psd", full, "--vertices", "Bones", "--out", held], 2);
    assert!(
        unknown.contains("has no group of control clusters of that name"),
        "{unknown}"
    );
}
