//! Clusters that are moved by hand: the shape, its keyframes, and the files.

use crate::bake::{corrected, with_stack};
use crate::bake_sources;
use crate::cli::{asset, done, text};
use crate::clustered::{
    MESH, SKINNED, apart, apply, bent, bits, every, shape, shape_at, still, with,
};
use crate::export_models::reopen;
use crate::models::tube;
use crate::npy::read_npy;
use glam::Vec3;
use serde_json::{Value, json};
use sinew::bake::BakeOptions;
use sinew::bake::static_shapes::{StaticPose, static_shapes};
use sinew::cluster::{Base, ClusterGroup, ClusterMap, ControlMotion, PatchSettings};
use sinew::deform::{DeformStack, Moved};
use sinew::document::{ClipId, ClustersEdit, Document, Edit, EditError, InstanceId};
use sinew::evaluate::Evaluator;
use sinew::io::project::{apply_project, parse, to_project, to_text};
use sinew::io::{open_any, open_sample};
use sinew::math::{Transform, Worse};
use sinew::skeleton::{Moment, Pose};
use sinew::task::Task;
use std::path::Path;
use std::sync::Arc;

const CLIP: ClipId = ClipId(0);

fn by_hand(points: impl IntoIterator<Item = u32>, hand: ControlMotion) -> ClusterMap {
    let group = ClusterGroup {
        base: Base::Hand,
        hand,
        ..ClusterGroup::new("Hand", 0)
    };
    let points = points.into_iter().map(|point| (point, 0)).collect();
    ClusterMap::new(vec![Arc::new(group)], points, PatchSettings::default()).unwrap()
}

#[test]
fn without_displacements_the_clusters_are_those_of_the_stack_to_the_bit() {
    let document = tube(40);
    let points = every(&document, 9);
    let stack = {
        let mut group = ClusterGroup::clone(&by_hand([], ControlMotion::default()).groups()[0]);
        group.base = Base::Stack;
        by_hand(points.iter().copied(), ControlMotion::default())
            .with_group(Some(0), group)
            .unwrap()
    };
    let stack = with(&document, stack);
    let hand = with(&document, by_hand(points, ControlMotion::default()));
    for degrees in [0.0, 80.0] {
        let pose = bent(&document, degrees);
        assert_eq!(bits(&shape(&hand, &pose)), bits(&shape(&stack, &pose)));
    }
}

/// As Maya's cluster deformer after the skin: the displacement is added to the stack and turns with it.
#[test]
fn a_displacement_is_added_to_the_stack_and_turns_with_the_skin() {
    let document = tube(60);
    let points = every(&document, 11);
    let moved = points[points.len() / 2];
    let offset = Vec3::new(0.05, 0.1, -0.02);
    let plain = with(
        &document,
        by_hand(points.iter().copied(), ControlMotion::default()),
    );
    let pulled = with(
        &document,
        by_hand(points.iter().copied(), still(vec![(moved, offset)])),
    );
    for degrees in [0.0, 45.0, 90.0] {
        let pose = bent(&document, degrees);
        let (before, after) = (shape(&plain, &pose), shape(&pulled, &pose));
        let mut posed = plain.clone();
        posed
            .apply(
                &mut Edit::pose_change(posed.pose(), &pose).unwrap_or(Edit::Locks(Arc::default())),
            )
            .unwrap();
        let rotation = posed.point_rotations(SKINNED).unwrap().at(moved);
        let wanted = before[moved as usize].as_dvec3() + rotation * offset.as_dvec3();
        let error = after[moved as usize].as_dvec3().distance(wanted);
        assert!(error < 1e-6, "{degrees}: {error:e}");
        // The free vertices between follow, the other clusters stay.
        let differs = |p: &u32| before[*p as usize].distance(after[*p as usize]) > 1e-6;
        assert!(!points.iter().any(|p| *p != moved && differs(p)));
        let n_free = (0..before.len() as u32).filter(|p| differs(p)).count();
        assert!(n_free > 10, "{n_free}");
        assert!(apart(&before, &after) < 0.2);
    }
}

fn keyed(moved: u32) -> ControlMotion {
    let keys = [(0.0, 0.0), (1.0, 0.1), (3.0, -0.1)];
    let keys = keys.map(|(secs, y)| (secs, vec![(moved, Vec3::Y * y)]));
    let still = vec![(moved, Vec3::X * 0.2)];
    ControlMotion::new(still, [(CLIP, keys.to_vec())]).unwrap()
}

#[test]
fn keyframes_are_linear_in_their_clip_alone() {
    let document = tube(40);
    let points = every(&document, 11);
    let moved = points[points.len() / 2];
    let rest = document.rest_pose().clone();
    let plain = shape(
        &with(&document, by_hand(points.clone(), ControlMotion::default())),
        &rest,
    );
    let document = with(&document, by_hand(points, keyed(moved)));
    let offset = |moment| {
        let shape = shape_at(&document, &rest, moment);
        shape[moved as usize] - plain[moved as usize]
    };
    let near = |a: Vec3, b: Vec3| assert!(a.distance(b) < 1e-6, "{a} {b}");
    near(offset(Moment::default()), Vec3::X * 0.2);
    near(offset(Moment::of(ClipId(9), 1.0)), Vec3::X * 0.2);
    near(offset(Moment::of(CLIP, 0.5)), Vec3::Y * 0.05);
    near(offset(Moment::of(CLIP, 1.0)), Vec3::Y * 0.1);
    near(offset(Moment::of(CLIP, 2.0)), Vec3::ZERO);
    near(offset(Moment::of(CLIP, 60.0)), Vec3::Y * -0.1);
}

#[test]
fn an_incremental_evaluation_has_the_bits_of_a_full_one_and_moves_only_what_changes() {
    let document = tube(90);
    let points = every(&document, 17);
    let moved = points[points.len() / 2];
    let mut document = with(&document, by_hand(points.clone(), keyed(moved)));
    let pose = bent(&document, 50.0);
    let mut evaluator = Evaluator::default();
    evaluator.evaluate(&document, pose.at(Moment::of(CLIP, 0.2)));
    let n_points = document.meshes()[&MESH].geometry.n_points();
    let mut compare = |document: &Document, moment: Moment, what: &str| {
        let changes = evaluator.evaluate(document, pose.at(moment));
        let (_, change) = changes.into_iter().find(|(id, _)| *id == SKINNED).unwrap();
        let incremental = evaluator.plan(SKINNED).unwrap().positions();
        let full = shape_at(document, &pose, moment);
        assert_eq!(bits(incremental), bits(&full), "{what}");
        match change {
            Moved::Some { points, .. } => points.len(),
            Moved::Nothing => 0,
            Moved::All => n_points,
        }
    };
    let n = compare(&document, Moment::of(CLIP, 0.7), "time");
    assert!(n > 10 && n < n_points / 4, "{n} of {n_points}");
    // A keyframe of one cluster at another place, in an edit.
    let group = &document.meshes()[&MESH].clusters.groups()[0];
    let mut changed = ClusterGroup::clone(group);
    let other = points[points.len() / 3];
    let offsets = vec![(moved, Vec3::Y * 0.1), (other, Vec3::Z * 0.05)];
    changed.hand = changed.hand.with_key(CLIP, 1.0, offsets).unwrap();
    let map = document.meshes()[&MESH]
        .clusters
        .with_group(Some(0), changed)
        .unwrap();
    apply(&mut document, map);
    let n = compare(&document, Moment::of(CLIP, 0.7), "keyframe");
    assert!(n > 10 && n < n_points / 4, "{n} of {n_points}");
    assert_eq!(compare(&document, Moment::of(CLIP, 0.7), "nothing"), 0);
    compare(&document, Moment::default(), "outside of the clip");
    // Another group takes a cluster.
    let map = document.meshes()[&MESH]
        .clusters
        .with_group(None, ClusterGroup::new("Skin", 1));
    let map = map.unwrap().with_points(&[moved], Some(1));
    apply(&mut document, map);
    compare(&document, Moment::of(CLIP, 0.7), "another group");
}

/// An instance without a skin whose node mirrors: its surface is the mirror image, displacements and patches included.
#[test]
fn a_node_that_mirrors_gives_the_mirror_image_of_the_patches() {
    let document = tube(60);
    let points = every(&document, 13);
    let moved = points[points.len() / 2];
    let offset = Vec3::new(0.05, 0.2, -0.1);
    let marked = with(&document, by_hand(points, still(vec![(moved, offset)])));
    let rigid = InstanceId(4);
    let of = |pose: &Pose| {
        let mut evaluator = Evaluator::default();
        evaluator.evaluate(&marked, pose);
        evaluator.plan(rigid).unwrap().positions().to_vec()
    };
    let pose = Pose::rest(marked.skeleton());
    let plain = of(&pose);
    let node = marked.instances()[&rigid].joint.get();
    let mut mirrored = pose.clone();
    let local = mirrored.locals[node];
    let scale = glam::DVec3::new(-1.0, 1.0, 1.0);
    mirrored.locals[node] = Transform::from_trs(local.translation, local.rotation, scale);
    let image = of(&mirrored);
    let bind = &marked.meshes()[&MESH].geometry.positions;
    assert!(plain[moved as usize].distance(bind[moved as usize] + offset) < 1e-5);
    for (p, (own, image)) in plain.iter().zip(&image).enumerate() {
        let expected = Vec3::new(-own.x, own.y, own.z);
        assert!(image.distance(expected) < 1e-5, "{p}: {image} {expected}");
    }
    // And back again, in one evaluator.
    let mut evaluator = Evaluator::for_shapes();
    for pose in [&pose, &mirrored, &pose] {
        evaluator.evaluate(&marked, pose);
        let shape = evaluator.plan(rigid).unwrap().positions();
        assert_eq!(bits(shape), bits(&of(pose)));
    }
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let document = tube(120);
    let points = every(&document, 11);
    let moved = points[points.len() / 2];
    let document = with(&document, by_hand(points, keyed(moved)));
    let pose = bent(&document, 70.0);
    let of = |n| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(n).build();
        let shape = || bits(&shape_at(&document, &pose, Moment::of(CLIP, 1.7)));
        pool.unwrap().install(shape)
    };
    let one = of(1);
    assert!(one == of(2) && one == of(5));
}

#[test]
fn a_displacement_of_a_vertex_that_the_mesh_lacks_is_refused() {
    let document = tube(30);
    let n_points = document.meshes()[&MESH].geometry.n_points();
    let map = by_hand([3, 9], still(vec![(n_points as u32, Vec3::X)]));
    let edit = ClustersEdit::new(&document, MESH, Arc::new(map));
    let mut other = document.clone();
    let why = other.apply(&mut Edit::Clusters(edit)).unwrap_err();
    let point = n_points as u32;
    assert_eq!(why, EditError::Point { point, n_points });
    assert!(other.same_content(&document));
}

#[test]
fn a_project_keeps_displacements_and_keyframes_and_names_damage() {
    let plain = open_sample("arm", &Task::new()).unwrap().document;
    let n = plain.meshes()[&MESH].geometry.n_points() as u32;
    let points: Vec<u32> = (0..n).step_by(7).collect();
    // Many are encoded, few are text.
    let many: Vec<(u32, Vec3)> = points
        .iter()
        .map(|&p| (p, Vec3::new(p as f32 * 1e-4, 0.5, -1e-7)))
        .collect();
    let few = vec![(points[3], Vec3::X * 0.25)];
    let hand = ControlMotion::new(few.clone(), [(CLIP, vec![(0.0, many), (0.5, few)])]).unwrap();
    let document = with(&plain, by_hand(points, hand));
    let path = Path::new("/projects/arm.ron");
    let text = to_text(&to_project(&document, Some(path)).unwrap()).unwrap();
    let reopened = |text: &str| apply_project(plain.clone(), parse(text).unwrap());
    let (again, findings) = reopened(&text).unwrap();
    assert_eq!(findings, []);
    let (a, b) = (
        &again.meshes()[&MESH].clusters,
        &document.meshes()[&MESH].clusters,
    );
    assert_eq!(a, b);
    assert_eq!(
        to_text(&to_project(&again, Some(path)).unwrap()).unwrap(),
        text
    );

    let fails = |from: &str, to: &str| {
        let damaged = text.replacen(from, to, 1);
        assert_ne!(damaged, text, "{from}");
        parse(&damaged)
            .and_then(|project| apply_project(plain.clone(), project))
            .unwrap_err()
            .to_string()
    };
    let said = fails("secs: 0.5", "secs: -0.5");
    assert!(
        said.contains("group \"Hand\"") && said.contains("-0.5 s"),
        "{said}"
    );
    let said = fails("secs: 0.5", "secs: 0.0");
    assert!(said.contains("do not ascend"), "{said}");
    let said = fails("d: (0.25", "d: (inf");
    assert!(said.contains("not finite"), "{said}");
    fails("secs: 0.5", "second: 0.5");
    // A clip or a vertex that the model has no longer is a finding.
    let clip = plain.clips()[&CLIP].name.clone();
    let lost = text.replace(&format!("name: \"{clip}\", keys"), "name: \"gone\", keys");
    let lost = lost.replace(&format!("name: \"{clip}\",\n"), "name: \"gone\",\n");
    assert_ne!(lost, text);
    let (other, findings) = reopened(&lost).unwrap();
    let said = findings.iter().map(ToString::to_string).collect::<String>();
    assert!(said.contains("\"gone\""), "{said}");
    // The clip of that number takes its keyframes, under whatever name.
    let own = &other.meshes()[&MESH].clusters.groups()[0].hand;
    assert!(own.keys(CLIP) == b.groups()[0].hand.keys(CLIP));
    assert_eq!(
        other.meshes()[&MESH].clusters.groups()[0].hand.still(),
        b.groups()[0].hand.still()
    );
    let v = text.find("d: (0.25").unwrap();
    let start = text[..v].rfind("v: ").unwrap();
    let lost = format!("{}v: 99999999, {}", &text[..start], &text[v..]);
    let (_, findings) = reopened(&lost).unwrap();
    let said = findings.iter().map(ToString::to_string).collect::<String>();
    assert!(
        said.contains("vertices that the mesh does not have are skipped (1)"),
        "{said}"
    );
}

/// A tube that bends within a second, with clusters that are moved by hand on until a half second later.
#[test]
fn an_export_of_keyed_clusters_reads_back_within_a_tenth_of_a_percent() {
    let mut gltf = bake_sources::tube(2);
    let clip = bake_sources::clip(&mut gltf, "Bend");
    let times = [0.0, 0.5, 1.0];
    bake_sources::turn(&mut gltf, clip, 2, "LINEAR", &times, &[0.0, 60.0, 20.0]);
    let document = bake_sources::document(gltf);
    let points = every(&document, 3);
    let moved = [points.len() / 4, points.len() / 2, 3 * points.len() / 4].map(|i| points[i]);
    let key = |secs: f32, by: Vec3| (secs, moved.map(|point| (point, by)).to_vec());
    let keys = vec![
        key(0.0, Vec3::ZERO),
        key(0.37, Vec3::new(0.1, 0.05, 0.0)),
        key(1.5, Vec3::new(-0.05, 0.0, 0.1)),
    ];
    let hand = ControlMotion::new(Vec::new(), [(CLIP, keys)]).unwrap();
    let document = with(&document, by_hand(points, hand));
    assert_eq!(document.clip_span(CLIP), Some((0.0, 1.5)));
    let (exported, report) = corrected(&document, BakeOptions::default());
    println!("{}", report.summary());
    assert!(report.met && report.max_percent <= 0.1, "{report:?}");
    let read = with_stack(reopen(&exported), &DeformStack::lbs());
    assert!((read.clips()[&CLIP].end_secs() - 1.5).abs() < 1e-6);
    let vertices = |document: &Document, time: f64| -> Vec<Vec3> {
        let still = StaticPose {
            clip: Some(CLIP),
            time,
        };
        let pose = still.pose(document).unwrap();
        let at = pose.at(still.moment(document));
        let shapes = static_shapes(document, at, &Task::new()).unwrap();
        let shape = shapes.values().next().unwrap();
        let mesh = &document.meshes().values().next().unwrap().geometry;
        let points = mesh.point_of_vertex.iter();
        points.map(|&p| shape.positions[p as usize]).collect()
    };
    let without = {
        let mut group = ClusterGroup::clone(&document.meshes()[&MESH].clusters.groups()[0]);
        group.hand = ControlMotion::default();
        let map = document.meshes()[&MESH].clusters.with_group(Some(0), group);
        with(&document, map.unwrap())
    };
    let mut by = 0.0f32;
    for time in [0.0, 0.2, 0.37, 0.6, 0.99, 1.2, 1.5] {
        let seen = vertices(&document, time);
        let error = apart(&seen, &vertices(&read, time));
        let percent = 100.0 * f64::from(error) / report.diagonal;
        assert!(percent <= 0.1, "{percent} % at {time} s");
        by = by.worse(apart(&seen, &vertices(&without, time)));
    }
    // What was moved by hand is far larger.
    assert!(f64::from(by) > 0.02 * report.diagonal, "{by}");
}

#[test]
fn the_command_line_takes_the_base_and_shows_and_plays_keyframes() {
    let folder = tempfile::tempdir().unwrap();
    let arm = asset("arm");
    let marks = folder.path().join("marks.json");
    // All: then there is nothing to lay out.
    let vertices: Vec<u32> = (0..3992).collect();
    let wanted = json!({
        "meshes": [{"mesh": 0, "primitive": 0, "vertices": vertices, "group": "Arm"}],
        "groups": [{"name": "Arm", "base": "hand"}],
    });
    std::fs::write(&marks, wanted.to_string()).unwrap();
    let project = folder.path().join("arm.ron");
    done(&[
        "clusters",
        &arm,
        "--mark",
        text(&marks),
        "--out",
        text(&project),
    ]);
    let mut document = open_any(&project, &Task::new()).unwrap().document;
    let map = document.meshes()[&MESH].clusters.clone();
    let moved = map.clusters()[map.n_clusters() / 2].0;
    let mut group = ClusterGroup::clone(&map.groups()[0]);
    assert_eq!(group.base, Base::Hand);
    let keys = vec![(0.0, Vec::new()), (1.0, vec![(moved, Vec3::Y * 0.1)])];
    group.hand = ControlMotion::new(vec![(moved, Vec3::X * 0.2)], [(CLIP, keys)]).unwrap();
    apply(&mut document, map.with_group(Some(0), group).unwrap());
    let saved = to_text(&to_project(&document, Some(&project)).unwrap()).unwrap();
    std::fs::write(&project, saved).unwrap();

    let said: Value = serde_json::from_str(&done(&["clusters", text(&project), "--json"])).unwrap();
    let group = &said["meshes"][0]["groups"][0];
    assert_eq!(
        (&group["base"], &group["displaced"]),
        (&json!("hand"), &json!(1))
    );
    assert_eq!(
        (&group["clips"][0]["clip"], &group["clips"][0]["keyframes"]),
        (&json!(0), &json!(2))
    );
    let plain = done(&["clusters", text(&project)]);
    assert!(
        plain.contains("moved by hand") && plain.contains("2 keyframes in clip 0"),
        "{plain}"
    );
    let skinned = |args: &[&str]| {
        let out = folder.path().join("skin.npy");
        let all = [&["skin", text(&project), "--out", text(&out)], args].concat();
        done(&all);
        read_npy(&out).1
    };
    let clip = document.clips()[&CLIP].clone();
    for (args, moment, pose) in [
        (
            vec![],
            Moment::default(),
            document.rest_pose().as_ref().clone(),
        ),
        (
            vec!["--clip", "0", "--time", "0.5"],
            Moment::of(CLIP, 0.5),
            document.pose_of_clip(&clip, 0.5),
        ),
    ] {
        let mut evaluator = Evaluator::default();
        evaluator.evaluate(&document, pose.at(moment));
        let id = *document.instances().keys().next().unwrap();
        let expected = evaluator.plan(id).unwrap().positions();
        let item = &document.meshes()[&MESH];
        let found = skinned(&args);
        let points = item.geometry.point_of_vertex.iter();
        for (found, &point) in found.chunks_exact(3).zip(points) {
            let found = Vec3::new(found[0] as f32, found[1] as f32, found[2] as f32);
            let error = found.distance(expected[point as usize]);
            assert!(error < 1e-5, "{args:?} {point}: {error}");
        }
    }
}
