//! A pose applied to the mesh: the posed shape is bound, clips stay, and project and file hold it.

use crate::bake_sources::{add_morphs, document as document_of, json_of, skin, tube};
use crate::cli::{asset, done as cli};
use crate::export_models::reopen;
use crate::gltf_builder::Gltf;
use crate::rig_draw::assert_comes_back;
use crate::rig_tools::{done, refused, unchanged};
use crate::shared::shared_dir;
use glam::{DQuat, DVec3, Vec3};
use serde_json::json;
use sinew::document::rig::measure::{Compared, diagonal, posed_points, rest_points};
use sinew::document::{Document, Edit, MeshId};
use sinew::export::{ExportOptions, GltfFormat, export};
use sinew::io::pose_file::read_pose;
use sinew::math::Worse;
use sinew::mesh::{Mesh, Morph};
use sinew::rig::Operation;
use sinew::skeleton::{JointId, Pose};
use sinew::skinning::Rows;
use sinew::task::Task;
use std::sync::Arc;

/// The largest distance of the points at rest from those that `before` has in a pose, by the diagonal.
fn off(before: &Document, pose: &Pose, after: &Document) -> f64 {
    let world = pose.world_matrices(before.skeleton());
    let now = rest_points(after);
    let mut worst = 0.0f64;
    for (id, instance) in before.instances() {
        for (a, b) in posed_points(before, instance, &world).iter().zip(&now[id]) {
            let apart = a.distance(*b);
            assert!(apart.is_finite());
            worst = worst.max(apart);
        }
    }
    worst / diagonal(before)
}

fn arm() -> Document {
    let opened = sinew::io::open_any(asset("arm").as_ref(), &Task::new());
    opened.unwrap().document
}

/// The joints above the last one of the skin, the nearest first.
fn above_hand(document: &Document) -> Vec<JointId> {
    let last = *document
        .skins()
        .values()
        .next()
        .unwrap()
        .joints
        .last()
        .unwrap();
    document.skeleton().ancestors(last).collect()
}

fn bent(document: &Document) -> Pose {
    let mut pose = Pose::clone(document.rest_pose());
    let joints = above_hand(document);
    pose.locals[joints[0].get()].rotation *= DQuat::from_axis_angle(DVec3::new(0.6, 0.0, 0.8), 1.1);
    pose.locals[joints[1].get()].rotation *= DQuat::from_rotation_y(0.4);
    pose
}

fn apply(document: &Document, pose: &Pose) -> Document {
    let mut after = document.clone();
    done(&mut after, &Operation::ApplyPose(Arc::new(pose.clone())));
    after
}

/// The arm with a shape of its own.
fn shaped(change: impl FnOnce(&Mesh) -> Mesh) -> (Document, MeshId) {
    let mut document = arm();
    let (&id, item) = document.meshes().iter().next().unwrap();
    let mesh = change(&item.geometry);
    document.restore_shape(id, Arc::new(mesh));
    (document, id)
}

#[test]
fn the_posed_shape_is_the_mesh_and_the_pose_is_the_rest_pose() {
    let before = arm();
    let pose = bent(&before);
    let after = apply(&before, &pose);
    assert!(off(&before, &pose, &after) < 1e-6);
    assert_eq!(after.rest_pose().locals, pose.locals);
    assert_eq!(after.reshaped().len(), 1);
    // Of one bone: as before in every pose.
    let world = |d: &Document, time: f64| {
        let clip = d.clips().values().next().unwrap();
        d.pose_of_clip(clip, time).world_matrices(d.skeleton())
    };
    let (item, instance) = (
        before.meshes().values().next().unwrap(),
        before.instances().values().next().unwrap(),
    );
    let mut n_single = 0;
    for time in [0.0, 0.3, 0.8] {
        let was = posed_points(&before, instance, &world(&before, time));
        let now = posed_points(&after, instance, &world(&after, time));
        for (point, (a, b)) in was.iter().zip(&now).enumerate() {
            if item.influences.row(point as u32).len() == 1 {
                n_single += 1;
                assert!(a.distance(*b) < 1e-6 * diagonal(&before), "{point}");
            }
        }
    }
    assert!(n_single > 10);
    // Again: there is nothing to do.
    let again = Operation::ApplyPose(Arc::new(pose));
    assert_eq!(
        unchanged(&after, &again),
        "Nothing changes: the pose is already the bind pose."
    );
}

#[test]
fn normals_rotate_with_their_points() {
    let before = arm();
    let mut pose = Pose::clone(before.rest_pose());
    let turn = DQuat::from_rotation_z(0.7);
    // The root of the skin, whose parents do not rotate.
    let root = before.skins().values().next().unwrap().joints[0];
    pose.locals[root.get()].rotation = turn * pose.locals[root.get()].rotation;
    let after = apply(&before, &pose);
    let [was, now] =
        [&before, &after].map(|d| d.meshes().values().next().unwrap().geometry.clone());
    for (a, b) in was.normals.iter().zip(&now.normals) {
        assert!(
            (turn * a.as_dvec3()).distance(b.as_dvec3()) < 1e-6,
            "{a} {b}"
        );
    }
}

#[test]
fn morph_targets_keep_their_effect_in_every_mix() {
    let delta = |i: usize, k: f32| {
        let i = i as f32;
        Vec3::new((i * 0.3 + k).sin(), (i * 0.7).cos(), (i * k).sin()) * 0.1
    };
    let target = |mesh: &Mesh, k: f32| Morph {
        name: format!("{k}"),
        deltas: (0..mesh.n_points()).map(|i| delta(i, k)).collect(),
        normals: vec![(3, Vec3::new(0.1, 0.2, 0.0))],
    };
    let (before, id) = shaped(|mesh| {
        let morphs = vec![target(mesh, 0.5), target(mesh, 1.3)];
        mesh.with_shape(mesh.positions.clone(), mesh.normals.clone(), morphs)
    });
    let pose = bent(&before);
    let after = apply(&before, &pose);
    for mix in [[1.0, 0.0], [0.3, -0.8], [2.0, 1.5]] {
        let mixed = |document: &Document| {
            let mut document = document.clone();
            let mesh = document.meshes()[&id].geometry.clone();
            let positions = (0..mesh.n_points()).map(|i| {
                let deltas = mesh.morphs.iter().zip(mix).map(|(m, w)| m.deltas[i] * w);
                mesh.positions[i] + deltas.sum::<Vec3>()
            });
            let mesh = mesh.with_shape(positions.collect(), mesh.normals.clone(), Vec::new());
            document.restore_shape(id, Arc::new(mesh));
            document
        };
        let apart = off(&mixed(&before), &pose, &mixed(&after));
        assert!(apart < 1e-6, "{mix:?}: {apart:e}");
    }
    // The displaced normal, n + d, rotates as the normal does: it stays a unit vector, also in the file.
    let [was, now] = [&before, &after].map(|d| d.meshes()[&id].geometry.clone());
    assert_ne!(was.morphs[0].normals, now.morphs[0].normals);
    let (vertex, delta) = now.morphs[0].normals[0];
    let normal = now.normals[now.normal_of_vertex[vertex as usize] as usize];
    assert!(((normal + delta).length() - 1.0).abs() < 1e-6);
}

#[test]
fn project_and_file_hold_the_shape() {
    let folder = tempfile::tempdir().unwrap();
    let opened = sinew::io::open_any(crate::cli::asset("arm").as_ref(), &Task::new()).unwrap();
    let before = opened.document;
    let mut pose = Pose::clone(before.rest_pose());
    let joint = *before
        .skins()
        .values()
        .next()
        .unwrap()
        .joints
        .last()
        .unwrap();
    let parent = before.skeleton().joint(joint).parent.unwrap();
    pose.locals[parent.get()].rotation *= DQuat::from_rotation_z(0.8);
    let after = apply(&before, &pose);
    let path = folder.path().join("posed.ron");
    sinew::io::project::save(&after, &path, &Task::new()).unwrap();
    let again = sinew::io::open_any(&path, &Task::new()).unwrap();
    assert!(again.findings.is_empty(), "{:?}", again.findings);
    assert_comes_back(&again.document, &after);
    let shape = |document: &Document| -> Vec<[Vec3; 2]> {
        let mesh = document.meshes().values().next().unwrap().geometry.clone();
        let vertices = mesh.point_of_vertex.iter().zip(&mesh.normal_of_vertex);
        let at = |(p, n): (&u32, &u32)| [mesh.positions[*p as usize], mesh.normals[*n as usize]];
        vertices.map(at).collect()
    };
    assert_eq!(shape(&again.document), shape(&after));
    assert_eq!(again.document.reshaped(), after.reshaped());

    let options = ExportOptions {
        format: GltfFormat::Glb,
        ..ExportOptions::default()
    };
    let read = reopen(&export(&after, &options, &Task::new()).unwrap());
    for (a, b) in shape(&read).iter().zip(shape(&after)) {
        assert_eq!(a[0], b[0]);
        assert!(a[1].distance(b[1]) < 1e-6);
    }
    let matrices = |d: &Document| d.skins().values().next().unwrap().inverse_bind.clone();
    for (a, b) in matrices(&read).iter().zip(matrices(&after)) {
        assert!(a.abs_diff_eq(b, 1e-6), "single precision");
    }

    // A file whose mesh changed since is said to be another one.
    let text = std::fs::read_to_string(&path).unwrap();
    let at = text.find("shapes:").unwrap();
    let first = at + text[at..].find("positions:").unwrap();
    let open = first + text[first..].find('(').unwrap();
    let close = open + text[open..].find("),").unwrap() + 2;
    std::fs::write(&path, format!("{}{}", &text[..open], &text[close..])).unwrap();
    let other = sinew::io::open_any(&path, &Task::new()).unwrap();
    let said = other.findings.iter().map(|f| f.message.as_str());
    assert!(
        said.clone()
            .any(|text| text.contains("other vertices than when its shape was changed")),
        "{:?}",
        said.collect::<Vec<_>>()
    );
}

#[test]
fn nothing_bound_is_refused() {
    let mut document = arm();
    done(&mut document, &Operation::Unbind);
    let pose = Arc::new(bent(&document));
    assert_eq!(
        refused(&document, &Operation::ApplyPose(pose)),
        "No mesh is bound."
    );
}

/// METHODS-rigging 2: mannequiny in p0, in all clips at most 1.77 %, rms .14 % (by other frames).
#[test]
fn blended_vertices_of_mannequiny_move_as_much_as_measured() {
    let Some(shared) = shared_dir("blended_vertices_of_mannequiny_move_as_much_as_measured") else {
        return;
    };
    let folder = shared.join("models/mannequiny");
    let opened = sinew::io::open_any(&folder.join("mannequiny.glb"), &Task::new()).unwrap();
    let before = opened.document;
    let pose = read_pose(&before, &folder.join("oracle/pose_p0.json")).unwrap();
    let after = apply(&before, &pose);
    assert!(off(&before, &pose, &after) < 1e-6);
    let compared = Compared::new(&before, &after);
    let (mut worst, mut rms) = (0.0f64, 0.0f64);
    for &id in before.clips().keys() {
        let apart = compared.in_clip(id);
        worst = worst.worse(100.0 * apart.max / compared.diagonal);
        rms = rms.worse(100.0 * apart.rms() / compared.diagonal);
    }
    println!("all clips: at most {worst:.2} %, rms {rms:.3} %");
    assert!((1.6..1.95).contains(&worst), "{worst}");
    assert!((0.09..0.15).contains(&rms), "{rms}");
}

#[test]
fn the_command_line_applies_the_pose_of_its_flags() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("posed.glb");
    let (file, out) = (asset("arm"), out.to_str().unwrap());
    let said = cli(&[
        "rig",
        &file,
        "--apply-pose",
        "--clip",
        "0",
        "--time",
        "0.4",
        "--out",
        out,
    ]);
    assert!(said.contains("Apply pose to mesh"), "{said}");
    let before = arm();
    let clip = before.clips().values().next().unwrap();
    let pose = before.pose_of_clip(clip, 0.4);
    let posed = pose.world_matrices(before.skeleton());
    let after = sinew::io::open_any(out.as_ref(), &Task::new())
        .unwrap()
        .document;
    // The order of the points may differ.
    let size = |points: Vec<DVec3>| {
        let low = points.iter().fold(DVec3::INFINITY, |a, p| a.min(*p));
        let high = points.iter().fold(DVec3::NEG_INFINITY, |a, p| a.max(*p));
        [low, high]
    };
    let instance = before.instances().values().next().unwrap();
    let was = size(posed_points(&before, instance, &posed));
    let now = size(rest_points(&after).into_values().flatten().collect());
    for (a, b) in was.iter().zip(&now) {
        assert!(a.distance(*b) < 1e-5, "{a} {b}");
    }
}

/// The displacements of normals in morph targets are those of the new shape, and tangents, which are of the old one, go.
#[test]
fn the_file_has_the_normals_of_the_shape_in_its_morph_targets() {
    let mut gltf = tube(2);
    add_morphs(&mut gltf, true);
    let primitive = &gltf.json["meshes"][0]["primitives"][0];
    let position = primitive["attributes"]["POSITION"].as_u64().unwrap() as usize;
    let n = gltf.json["accessors"][position]["count"].as_u64().unwrap() as usize;
    let tangents = gltf.f32s("VEC4", &[0.0, 1.0, 0.0, 1.0].repeat(n));
    let still = gltf.f32s("VEC3", &vec![0.0; 3 * n]);
    let primitive = &mut gltf.json["meshes"][0]["primitives"][0];
    primitive["attributes"]["TANGENT"] = json!(tangents);
    for target in primitive["targets"].as_array_mut().unwrap() {
        target["TANGENT"] = json!(still);
    }
    let before = document_of(gltf);
    let mut pose = Pose::clone(before.rest_pose());
    pose.locals[2].rotation = DQuat::from_rotation_z(1.0);
    let after = apply(&before, &pose);
    let options = ExportOptions {
        format: GltfFormat::Glb,
        ..ExportOptions::default()
    };
    let written = export(&after, &options, &Task::new()).unwrap();
    let json = json_of(&written);
    let primitive = &json["meshes"][0]["primitives"][0];
    assert!(primitive["attributes"].get("TANGENT").is_none());
    for target in primitive["targets"].as_array().unwrap() {
        assert!(target.get("TANGENT").is_none() && target.get("NORMAL").is_some());
    }
    let read = reopen(&written);
    let of = |d: &Document| d.meshes().values().next().unwrap().geometry.clone();
    let [was, kept, now] = [&before, &after, &read].map(of);
    for (morph, (kept, now)) in was.morphs.iter().zip(kept.morphs.iter().zip(&now.morphs)) {
        let dense = |morph: &Morph| {
            let mut all = vec![Vec3::ZERO; was.n_vertices()];
            for &(vertex, d) in &morph.normals {
                all[vertex as usize] = d;
            }
            all
        };
        let apart = dense(kept)
            .iter()
            .zip(dense(now))
            .map(|(a, b)| a.distance(b))
            .fold(0.0, f32::worse);
        assert!(apart < 1e-6, "{apart}");
        let is_same = dense(kept)
            .iter()
            .zip(dense(morph))
            .all(|(a, b)| a.distance(b) < 1e-3);
        assert_eq!(is_same, morph.normals.is_empty(), "{}", morph.name);
    }
}

/// A file with one mesh that three skins draw, the third in the pose of the first, and a node without a skin.
fn crowd() -> Gltf {
    let mut gltf = tube(2);
    for k in 1..3 {
        let first = gltf.json["nodes"].as_array().unwrap().len();
        gltf.push(
            "nodes",
            json!({"name": format!("Lower {k}"), "children": [first + 1], "translation": [3 * k, 0, 0]}),
        );
        gltf.push(
            "nodes",
            json!({"name": format!("Upper {k}"), "translation": [0, 1, 0]}),
        );
        // The inverse bind matrices of the third one have rounding errors.
        let step = if k == 2 {
            1.0 + 2.0 * f32::EPSILON
        } else {
            1.0
        };
        let skin = skin(&mut gltf, first, 2, step);
        let skin = gltf.push("skins", skin);
        let drawn = gltf.push(
            "nodes",
            json!({"name": format!("Body {k}"), "mesh": 0, "skin": skin}),
        );
        for node in [first, drawn] {
            let roots = gltf.json["scenes"][0]["nodes"].as_array_mut().unwrap();
            roots.push(json!(node));
        }
    }
    let statue = gltf.push("nodes", json!({"mesh": 0, "translation": [-4, 0, 0]}));
    let roots = gltf.json["scenes"][0]["nodes"].as_array_mut().unwrap();
    roots.push(json!(statue));
    gltf
}

#[test]
fn a_mesh_under_several_skins_gets_a_copy_for_each_shape() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("crowd.glb");
    std::fs::write(&file, crowd().glb()).unwrap();
    let open = |path| sinew::io::open_any(path, &Task::new()).unwrap();
    let before = open(&file).document;
    let mut pose = Pose::clone(before.rest_pose());
    let upper = |name: &str| {
        let skeleton = before.skeleton();
        let mut joints = skeleton.live_joints();
        joints.find(|&j| skeleton.joint(j).name == name).unwrap()
    };
    let bend = DQuat::from_rotation_z(0.9);
    for (name, turn) in [
        ("Joint 1", bend),
        ("Upper 1", DQuat::from_rotation_x(-0.6)),
        ("Upper 2", bend),
    ] {
        pose.locals[upper(name).get()].rotation = turn;
    }
    let mut after = before.clone();
    let operation = Operation::ApplyPose(Arc::new(pose.clone()));
    let (made, _) = done(&mut after, &operation);
    let said = made
        .notes
        .iter()
        .any(|note| note.contains("so 2 copies were added, such as “Tube.001”"));
    assert!(said, "{:?}", made.notes);
    // The statue keeps the shape of the file; the first and third skin share one.
    assert!(off(&before, &pose, &after) < 1e-6);
    let names = |d: &Document| -> Vec<String> {
        let items = d.meshes().values();
        items.map(|item| item.geometry.name.clone()).collect()
    };
    assert_eq!(names(&after), ["Tube", "Tube.001", "Tube.002"]);
    let drawn = |d: &Document| -> Vec<u32> { d.instances().values().map(|i| i.mesh.0).collect() };
    assert_eq!(drawn(&after), [1, 2, 1, 0]);
    let first = |d: &Document| d.meshes()[&MeshId(0)].geometry.positions.clone();
    assert_eq!(first(&after), first(&before));

    // The file has them, and moves like the document.
    let options = ExportOptions {
        format: GltfFormat::Glb,
        ..ExportOptions::default()
    };
    let compare = |read: &Document| {
        assert_eq!(names(read), names(&after));
        assert_eq!(drawn(read), drawn(&after));
        let mut posed = Pose::clone(after.rest_pose());
        for name in ["Joint 1", "Upper 1", "Upper 2"] {
            posed.locals[upper(name).get()].rotation *= DQuat::from_rotation_y(0.4);
        }
        let world = posed.world_matrices(after.skeleton());
        for id in after.instances().keys() {
            // The order of the points may differ, that of the vertices does not.
            let [was, now] = [&after, read].map(|d| {
                let drawn = &d.instances()[id];
                let points = posed_points(d, drawn, &world);
                let vertices = &d.meshes()[&drawn.mesh].geometry.point_of_vertex;
                vertices
                    .iter()
                    .map(|&p| points[p as usize])
                    .collect::<Vec<_>>()
            });
            for (a, b) in was.iter().zip(&now) {
                assert!(a.distance(*b) < 1e-5, "{a} {b}");
            }
        }
    };
    compare(&reopen(&export(&after, &options, &Task::new()).unwrap()));
    // Painted alone, a copy is written alone.
    let mut painted = after.clone();
    let blended = |d: &Document, mesh: u32| -> Vec<u32> {
        let rows = &d.meshes()[&MeshId(mesh)].influences;
        (0..rows.len() as u32)
            .filter(|&p| rows.row(p).len() == 2)
            .collect()
    };
    let n = blended(&after, 2).len();
    let rows: Rows = std::iter::once(vec![(1u16, 1.0f32)]).collect();
    let mut paint = Edit::influences(MeshId(2), vec![blended(&after, 2)[0]], rows);
    painted.apply(&mut paint).unwrap();
    let read = reopen(&export(&painted, &options, &Task::new()).unwrap());
    assert_eq!([1, 2].map(|k| blended(&read, k).len()), [n, n - 1]);

    // The project, too.
    let path = folder.path().join("crowd.ron");
    sinew::io::project::save(&painted, &path, &Task::new()).unwrap();
    let again = open(&path);
    assert!(again.findings.is_empty(), "{:?}", again.findings);
    assert_eq!(again.document.mesh_copies(), painted.mesh_copies());
    assert_comes_back(&again.document, &painted);
    assert_eq!(blended(&again.document, 2), blended(&painted, 2));

    // Posed again, the copies are changed themselves.
    pose.locals[upper("Upper 1").get()].rotation = DQuat::from_rotation_y(0.3);
    done(&mut after, &Operation::ApplyPose(Arc::new(pose)));
    assert_eq!(drawn(&after), [1, 2, 1, 0]);
}

/// The crowd with a shape of its own for each skin, saved over the file `change` makes of it, and opened again.
fn reopened_crowd(change: impl FnOnce(&mut Gltf)) -> (Document, Document, Vec<String>) {
    let folder = tempfile::tempdir().unwrap();
    let (file, project) = (
        folder.path().join("crowd.glb"),
        folder.path().join("crowd.ron"),
    );
    std::fs::write(&file, crowd().glb()).unwrap();
    let open = |path| sinew::io::open_any(path, &Task::new()).unwrap();
    let before = open(&file).document;
    let mut pose = Pose::clone(before.rest_pose());
    let skeleton = before.skeleton();
    for (name, angle) in [("Joint 1", 0.9), ("Upper 1", -0.6), ("Upper 2", 0.3)] {
        let joint = skeleton
            .live_joints()
            .find(|&j| skeleton.joint(j).name == name);
        pose.locals[joint.unwrap().get()].rotation = DQuat::from_rotation_z(angle);
    }
    let mut after = before.clone();
    done(&mut after, &Operation::ApplyPose(Arc::new(pose)));
    // The weights of each copy are its own.
    for mesh in after.mesh_copies().keys().copied().collect::<Vec<_>>() {
        let row = vec![(1u16, 0.25f32), (0, 0.75)];
        let rows: Rows = std::iter::once(row).collect();
        let mut paint = Edit::influences(mesh, vec![mesh.0], rows);
        after.apply(&mut paint).unwrap();
    }
    sinew::io::project::save(&after, &project, &Task::new()).unwrap();
    let mut gltf = crowd();
    change(&mut gltf);
    std::fs::write(&file, gltf.glb()).unwrap();
    let again = open(&project);
    let said = again.findings.iter().map(ToString::to_string).collect();
    (after, again.document, said)
}

/// The name and shape of what each object draws, and the rows of its weights, by the name of the object.
type Drawing = (String, Vec<Vec3>, Vec<Vec<(u16, f32)>>);

fn drawings(document: &Document) -> std::collections::BTreeMap<String, Drawing> {
    let drawn = document.instances().values().map(|instance| {
        let item = &document.meshes()[&instance.mesh];
        let mesh = &item.geometry;
        let rows = 0..item.influences.len() as u32;
        let rows = rows.map(|p| item.influences.row(p).iter().collect());
        let name = document.skeleton().joint(instance.joint).name.clone();
        (
            name,
            (mesh.name.clone(), mesh.positions.clone(), rows.collect()),
        )
    });
    drawn.collect()
}

#[test]
fn edits_of_a_copy_that_is_skipped_are_skipped_with_it() {
    // The second object is no more.
    let (was, now, said) = reopened_crowd(|gltf| {
        let nodes = gltf.json["nodes"].as_array_mut().unwrap();
        let body = nodes.iter_mut().find(|node| node["name"] == "Body 1");
        let body = body.unwrap().as_object_mut().unwrap();
        body.remove("mesh");
        body.remove("skin");
    });
    let (mut was, now) = (drawings(&was), drawings(&now));
    was.remove("Body 1").unwrap();
    assert_eq!(was["Body 2"].0, "Tube.003");
    assert_eq!(now, was);
    let skipped = said
        .iter()
        .filter(|s| s.contains("the copy of the mesh is skipped"));
    assert_eq!(skipped.count(), 1, "{said:?}");
    let wrong = said
        .iter()
        .find(|s| s.contains("now called") || s.contains("listed twice"));
    assert_eq!(wrong, None);
}

#[test]
fn a_new_mesh_of_the_file_is_no_copy() {
    let (was, now, said) = reopened_crowd(|gltf| {
        let mut mesh = gltf.json["meshes"][0].clone();
        mesh.as_object_mut().unwrap().remove("name");
        gltf.push("meshes", mesh);
    });
    assert_eq!(drawings(&now), drawings(&was), "{said:?}");
    assert_eq!(now.mesh_copies().len(), 3);
}

#[test]
fn copies_follow_their_objects_to_other_places_of_the_file() {
    let (was, now, said) = reopened_crowd(|gltf| {
        let nodes = gltf.json["nodes"].as_array_mut().unwrap();
        let at = |name: &str| nodes.iter().position(|node| node["name"] == name).unwrap();
        let (a, b) = (at("Body 1"), at("Body 2"));
        nodes.swap(a, b);
    });
    assert_eq!(drawings(&now), drawings(&was));
    let moved = said.iter().filter(|s| s.contains("moved with it")).count();
    assert_eq!(moved, 2, "{said:?}");
}
