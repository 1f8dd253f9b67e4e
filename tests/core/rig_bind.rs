//! Models without bones: templates, the middle of limbs, and binding meshes that have no skin.

use crate::cli::asset;
use crate::export_models::reopen;
use crate::reference::cylinder::Cylinder;
use crate::retarget::json_of;
use crate::rig_operations::assert_sound;
use crate::rig_tools::{done, name, place, refused, sums_to_one};
use glam::{DQuat, DVec3, Vec3};
use serde_json::{Value, json};
use sinew::document::rig::measure::{Compared, posed_points, rest_points};
use sinew::document::{Document, Instance};
use sinew::export::{ExportOptions, GltfFormat, export};
use sinew::io::gltf_export::for_file;
use sinew::math::Transform;
use sinew::mesh::limb_centre::{limb_centre, limb_centre_after};
use sinew::mesh::spatial::SurfaceIndex;
use sinew::rig::{Operation, Template};
use sinew::skeleton::{JointId, Pose};
use sinew::task::Task;
use sinew::weights::automatic::Automatic;
use std::fmt::Write as _;
use std::path::Path;

/// A glTF binary with another JSON.
pub(crate) fn with_json(glb: &[u8], json: &Value) -> Vec<u8> {
    let length = u32::from_le_bytes(glb[12..16].try_into().unwrap()) as usize;
    let mut text = serde_json::to_vec(json).unwrap();
    while !text.len().is_multiple_of(4) {
        text.push(b' ');
    }
    let rest = &glb[20 + length..];
    let total = 20 + text.len() + rest.len();
    let mut made = glb[..8].to_vec();
    made.extend((total as u32).to_le_bytes());
    made.extend((text.len() as u32).to_le_bytes());
    made.extend(&glb[16..20]);
    made.extend(&text);
    made.extend(rest);
    made
}

/// A model without skins, weights and clips; without `nodes` only the nodes that draw meshes are left.
pub(crate) fn stripped(glb: &[u8], nodes: bool) -> Vec<u8> {
    let mut json = json_of(glb);
    let root = json.as_object_mut().unwrap();
    root.remove("skins");
    root.remove("animations");
    for mesh in json["meshes"].as_array_mut().unwrap() {
        for primitive in mesh["primitives"].as_array_mut().unwrap() {
            let attributes = primitive["attributes"].as_object_mut().unwrap();
            attributes.retain(|key, _| !key.starts_with("JOINTS_") && !key.starts_with("WEIGHTS_"));
        }
    }
    let mut list = json["nodes"].as_array().unwrap().clone();
    for node in &mut list {
        node.as_object_mut().unwrap().remove("skin");
    }
    if !nodes {
        list.retain(|node| node.get("mesh").is_some());
        for node in &mut list {
            node.as_object_mut().unwrap().remove("children");
        }
        let all: Vec<usize> = (0..list.len()).collect();
        json["scenes"] = json!([{ "nodes": all }]);
        json["scene"] = json!(0);
    }
    json["nodes"] = list.into();
    with_json(glb, &json)
}

/// The mannequin without bones, as a file in `folder`.
fn mannequin(folder: &Path, nodes: bool) -> Document {
    let glb = std::fs::read(asset("mannequin")).unwrap();
    let path = folder.join(format!("bare-{nodes}.glb"));
    std::fs::write(&path, stripped(&glb, nodes)).unwrap();
    sinew::io::open_any(&path, &Task::new()).unwrap().document
}

fn named(document: &Document, wanted: &str) -> JointId {
    let in_skin = document.skin_joint_mask();
    let mut joints = document.skeleton().live_joints();
    joints
        .find(|&j| name(document, j) == wanted && (document.skins().is_empty() || in_skin[j.get()]))
        .unwrap_or_else(|| panic!("{wanted}"))
}

fn named_anywhere(document: &Document, wanted: &str) -> JointId {
    let mut joints = document.skeleton().live_joints();
    joints
        .find(|&j| name(document, j) == wanted)
        .unwrap_or_else(|| panic!("{wanted}"))
}

/// The points of the only instance with a skin in a pose.
fn posed(document: &Document, pose: &Pose) -> Vec<DVec3> {
    let world = pose.world_matrices(document.skeleton());
    let mut instances = document.instances().values();
    let instance: &Instance = instances.find(|i| i.skin.is_some()).unwrap();
    posed_points(document, instance, &world)
}

/// METHODS-rigging 1.4, *Centre in limb*: distances from the axis of cylinder C after one round and after four.
#[test]
fn the_middle_of_cylinder_c_is_its_axis() {
    let shape = Cylinder::new();
    let positions: Vec<Vec3> = shape.positions.iter().map(|p| p.as_vec3()).collect();
    let triangles: Vec<[u32; 3]> = shape
        .triangles
        .iter()
        .map(|t| t.map(|corner| corner as u32))
        .collect();
    let index = SurfaceIndex::new(&triangles, &positions);
    for (at, after_one) in [
        (DVec3::new(0.3, 0.2, -0.1), 3.7e-4),
        (DVec3::new(0.3, 0.7, 0.5), 1.1e-3),
        (DVec3::new(0.3, 0.0, 0.95), 8e-4),
    ] {
        let off = |centre: DVec3| {
            assert!((centre.x - 0.3).abs() < 1e-6);
            centre.y.hypot(centre.z)
        };
        let one = limb_centre_after(1, &index, &triangles, &positions, at, DVec3::X);
        println!("{at}: {:.3e} after one round", off(one.centre));
        // The directions of the rays are a choice: the size of the rest is not.
        assert!(
            off(one.centre) < 3.0 * after_one,
            "{at}: {}",
            off(one.centre)
        );
        let four = limb_centre(&index, &triangles, &positions, at, DVec3::X);
        // Rays are in single precision.
        assert!(
            four.hits == 1.0 && off(four.centre) < 1e-6,
            "{at}: {}",
            off(four.centre)
        );
    }
}

#[test]
fn a_model_without_bones_is_rigged_from_a_template_and_bends() {
    let folder = tempfile::tempdir().unwrap();
    let mut document = mannequin(folder.path(), true);
    let bind = Operation::Bind(Automatic::Heat);
    let why = refused(&document, &bind);
    assert_eq!(
        why,
        "The model has no bones. Add a skeleton first, for example from a template, then bind."
    );
    let imported = document.clone();
    let (did, _) = done(&mut document, &Operation::Template(Template::Humanoid));
    assert_eq!(name(&document, did.made[0]), "hips");
    // The file's own joints of the same names show where they belong.
    let original = |wanted: &str| {
        let skeleton = imported.skeleton();
        let mut joints = skeleton.live_joints();
        let joint = joints.find(|&j| skeleton.joint(j).name == wanted).unwrap();
        place(&imported, joint)
    };
    let made = |wanted: &str| {
        let joint = did.made.iter().find(|&&j| name(&document, j) == wanted);
        place(&document, *joint.unwrap_or_else(|| panic!("{wanted}")))
    };
    let size = sinew::document::rig::measure::diagonal(&document);
    for joint in [
        "hips",
        "chest",
        "upper_arm.L",
        "forearm.L",
        "hand.L",
        "shin.R",
        "foot.R",
    ] {
        let off = made(joint).distance(original(joint)) / size;
        println!("{joint}: {:.2} % of the diagonal", 100.0 * off);
        assert!(off < 0.05, "{joint}: {off}");
    }
    for stem in ["upper_arm", "forearm", "hand", "thigh", "shin", "foot"] {
        let [left, right] = ["L", "R"].map(|side| made(&format!("{stem}.{side}")));
        let flipped = left * DVec3::new(-1.0, 1.0, 1.0);
        assert!(flipped.distance(right) < 0.02 * size, "{stem}");
    }
    let why = refused(&document, &Operation::Template(Template::Hand));
    assert!(why.starts_with("The model already has bones"), "{why}");

    let (did, report) = done(&mut document, &bind);
    println!("{:?}", did.notes);
    assert!(report.counts.n_points > 0 && report.at_rest() < 1e-4);
    sums_to_one(&document);
    let rest = posed(&document, document.rest_pose());
    let mut pose = Pose::clone(document.rest_pose());
    let elbow = named(&document, "forearm.L");
    let turn = DQuat::from_axis_angle(DVec3::X, 1.0);
    let local = &mut pose.locals[elbow.get()];
    local.rotation *= turn;
    let bent = posed(&document, &pose);
    let world =
        [document.rest_pose().as_ref(), &pose].map(|p| p.world_matrices(document.skeleton()));
    let (at, wrist) = (
        place(&document, elbow),
        place(&document, named(&document, "hand.L")),
    );
    let moved = world[1][elbow.get()] * world[0][elbow.get()].inverse();
    let (mut n_forearm, mut n_still) = (0, 0);
    for (was, now) in rest.iter().zip(&bent) {
        let along = (*was - at).dot(wrist - at) / (wrist - at).length_squared();
        if along > 0.5 && was.distance(at) < 1.5 * wrist.distance(at) {
            n_forearm += 1;
            let off = now.distance(moved.transform_point3(*was)) / size;
            assert!(off < 0.01, "{was}: {off}");
        }
        if was.y < original("hips").y - 0.2 * size {
            n_still += 1;
            assert!(now.distance(*was) < 1e-3 * size, "{was}");
        }
    }
    assert!(n_forearm > 20 && n_still > 100, "{n_forearm} {n_still}");

    // A project, and a file.
    let path = folder.path().join("bound.ron");
    sinew::io::project::save(&document, &path, &Task::new()).unwrap();
    let again = sinew::io::open_any(&path, &Task::new()).unwrap();
    assert!(again.findings.is_empty(), "{:?}", again.findings);
    let loaded = again.document;
    assert_eq!(loaded.skins(), document.skins());
    assert_eq!(loaded.instances(), document.instances());
    assert_eq!(loaded.rest_pose(), document.rest_pose());
    for (id, item) in document.meshes() {
        assert!(loaded.meshes()[id].influences == item.influences);
    }
    assert_sound(&loaded);
    let options = ExportOptions {
        format: GltfFormat::Glb,
        ..ExportOptions::default()
    };
    let exported = export(&loaded, &options, &Task::new()).unwrap();
    let json = json_of(&exported.files[0].1);
    assert_eq!(json["skins"].as_array().unwrap().len(), 1);
    let nodes = json["nodes"].as_array().unwrap();
    let drawing = nodes
        .iter()
        .find(|node| node.get("mesh").is_some())
        .unwrap();
    assert_eq!(drawing["skin"], 0);
    let file = reopen(&exported);
    let with_nodes = for_file(&document);
    let compared = Compared::new(&with_nodes, &file);
    assert!(compared.at_rest().max / compared.diagonal < 1e-6);
    let first = file.skins().values().next().unwrap();
    assert_eq!(
        first.joints.len(),
        document.skins().values().next().unwrap().joints.len()
    );
}

/// The mesh keeps its place under a node that is turned, scaled and moved, and meshes at one place share a skin.
#[test]
fn meshes_keep_their_places_and_share_a_skin_where_they_can() {
    let folder = tempfile::tempdir().unwrap();
    let glb = std::fs::read(asset("mannequin")).unwrap();
    let mut json = json_of(&stripped(&glb, false));
    let nodes = json["nodes"].as_array_mut().unwrap();
    let mut node = nodes[0].clone();
    let moved = json!({
        "translation": [1.0, -2.0, 0.5],
        "rotation": [0.0, 0.6, 0.0, 0.8],
        "scale": [2.0, 3.0, 2.0]
    });
    for (key, value) in moved.as_object().unwrap() {
        node[key] = value.clone();
    }
    // Copies of the mesh: two at one place and one elsewhere.
    let mesh = json["meshes"][0].clone();
    json["meshes"] = json!([mesh, mesh, mesh]);
    let with = |mesh: usize, node: &Value| {
        let mut node = node.clone();
        node["mesh"] = mesh.into();
        node
    };
    let plain = json!({ "name": "plain", "mesh": 2 });
    // A node that something hangs from stays where it is; another one draws its mesh.
    let mut parent = with(0, &node);
    parent["children"] = json!([3]);
    let child = json!({ "name": "child", "translation": [0.0, 1.0, 0.0] });
    json["nodes"] = json!([parent, with(1, &node), plain, child]);
    json["scenes"] = json!([{ "nodes": [0, 1, 2] }]);
    let path = folder.path().join("three.glb");
    std::fs::write(&path, with_json(&glb, &json)).unwrap();
    let mut document = sinew::io::open_any(&path, &Task::new()).unwrap().document;
    let before = rest_points(&document);
    done(&mut document, &Operation::Template(Template::Chain));
    let (_, report) = done(&mut document, &Operation::Bind(Automatic::Rigid));
    assert!(report.at_rest() < 1e-6, "{}", report.at_rest());
    assert_eq!(document.skins().len(), 2);
    let size = sinew::document::rig::measure::diagonal(&document);
    for (id, points) in rest_points(&document) {
        for (a, b) in points.iter().zip(&before[&id]) {
            assert!(a.distance(*b) < 1e-9 * size);
        }
    }
    let options = ExportOptions {
        format: GltfFormat::Glb,
        ..ExportOptions::default()
    };
    let file = reopen(&export(&document, &options, &Task::new()).unwrap());
    let with_nodes = for_file(&document);
    let compared = Compared::new(&with_nodes, &file);
    assert!(compared.at_rest().max / compared.diagonal < 1e-6);
    assert_eq!(file.skins().len(), 2);
    // glTF ignores where a skinned mesh is, so it is at the root.
    for instance in file.instances().values() {
        let entry = file.skeleton().joint(instance.joint);
        assert!(
            instance.skin.is_some() && entry.parent.is_none(),
            "{}",
            entry.name
        );
        assert_eq!(entry.rest, Transform::IDENTITY);
    }
    let child = named_anywhere(&file, "child");
    let at = place(&file, child);
    assert!(at.distance(DVec3::new(1.0, 1.0, 0.5)) < 1e-6, "{at}");
    let project = folder.path().join("three.ron");
    sinew::io::project::save(&document, &project, &Task::new()).unwrap();
    let loaded = sinew::io::open_any(&project, &Task::new()).unwrap();
    assert!(loaded.findings.is_empty(), "{:?}", loaded.findings);
    assert_eq!(loaded.document.skins(), document.skins());
    assert_eq!(loaded.document.instances(), document.instances());
    assert_eq!(loaded.document.skeleton(), document.skeleton());
    // Bound again, and what is bound is bound the same.
    let (did, _) = done(&mut document, &Operation::Bind(Automatic::Rigid));
    assert_eq!(
        did.notes,
        ["Nothing changes: the meshes already have these weights."]
    );
}

#[test]
fn every_template_fits_into_the_bounds() {
    let folder = tempfile::tempdir().unwrap();
    for kind in Template::ALL {
        let mut document = mannequin(folder.path(), false);
        let (low, high) = rest_points(&document)
            .values()
            .flatten()
            .fold((DVec3::INFINITY, DVec3::NEG_INFINITY), |(low, high), &p| {
                (low.min(p), high.max(p))
            });
        let (did, _) = done(&mut document, &Operation::Template(kind));
        let margin = 0.02 * (high - low).length();
        for &joint in &did.made {
            let at = place(&document, joint);
            assert!(
                at.cmpge(low - margin).all() && at.cmple(high + margin).all(),
                "{kind:?} {}: {at}",
                name(&document, joint)
            );
        }
    }
    let why = refused(&Document::default(), &Operation::Template(Template::Chain));
    assert!(
        why.starts_with("The model has no mesh with a size"),
        "{why}"
    );
}

#[test]
fn a_joint_moves_into_the_middle_of_its_limb() {
    let opened = sinew::io::open_any(Path::new(&asset("mannequin")), &Task::new()).unwrap();
    let mut document = opened.document;
    let size = sinew::document::rig::measure::diagonal(&document);
    let joint = named(&document, "shin.L");
    let before = place(&document, joint);
    let moved = |joint: JointId, by: DVec3| Operation::Move {
        joint,
        by,
        intent: sinew::document::rig::Intent::NewPivot,
    };
    let centre = Operation::Centre { joint };
    done(&mut document, &centre);
    let middle = place(&document, joint);
    assert!(middle.distance(before) < 0.02 * size, "{before} {middle}");
    done(
        &mut document,
        &moved(joint, DVec3::new(0.0, 0.0, 0.02 * size)),
    );
    done(&mut document, &centre);
    let again = place(&document, joint);
    // The plane across the bone tilts with the joint, so it may shift along the limb.
    let off = (again - middle) * DVec3::new(1.0, 0.0, 1.0);
    assert!(off.length() < 1e-3 * size, "{middle} {again}");
    let hand = named(&document, "hand.L");
    done(&mut document, &moved(hand, DVec3::Z * size));
    let why = refused(&document, &Operation::Centre { joint: hand });
    assert_eq!(why, "“hand.L” is outside the mesh: move it inside first.");
}

/// A rigid copy of a skinned mesh gets a skin that files and projects keep, also where the model's own skin has the same joints
/// and matrices; a mirrored node is refused.
#[test]
fn a_mesh_beside_a_skinned_one_is_bound_and_comes_back() {
    let folder = tempfile::tempdir().unwrap();
    let glb = std::fs::read(asset("cylinder")).unwrap();
    let opened = |scale: [f64; 3]| {
        let mut json = json_of(&glb);
        let mut mesh = json["meshes"][0].clone();
        for primitive in mesh["primitives"].as_array_mut().unwrap() {
            let attributes = primitive["attributes"].as_object_mut().unwrap();
            attributes.retain(|key, _| !key.starts_with("JOINTS_") && !key.starts_with("WEIGHTS_"));
        }
        let meshes = json["meshes"].as_array_mut().unwrap();
        meshes.push(mesh);
        let mesh = meshes.len() - 1;
        let nodes = json["nodes"].as_array_mut().unwrap();
        nodes.push(json!({ "name": "copy", "mesh": mesh, "scale": scale }));
        let node = nodes.len() - 1;
        json["scenes"][0]["nodes"]
            .as_array_mut()
            .unwrap()
            .push(node.into());
        let path = folder.path().join("two.glb");
        std::fs::write(&path, with_json(&glb, &json)).unwrap();
        sinew::io::open_any(&path, &Task::new()).unwrap().document
    };
    let n_skinned = |document: &Document| {
        let instances = document.instances().values();
        instances.filter(|i| i.skin.is_some()).count()
    };
    let mut document = opened([1.0; 3]);
    assert_eq!(n_skinned(&document), 1);
    done(&mut document, &Operation::Bind(Automatic::Rigid));
    assert_eq!(n_skinned(&document), 2);
    let options = ExportOptions {
        format: GltfFormat::Glb,
        ..ExportOptions::default()
    };
    let again = reopen(&export(&document, &options, &Task::new()).unwrap());
    assert_eq!(n_skinned(&again), 2);
    let restored = document.edited_rig().expect("an edited rig");
    let mut fresh = opened([1.0; 3]);
    fresh.restore_rig(restored).unwrap();
    assert_eq!(n_skinned(&fresh), 2);

    let mut mirrored = opened([-1.0, 1.0, 1.0]);
    let (did, _) = done(&mut mirrored, &Operation::Bind(Automatic::Rigid));
    assert_eq!(n_skinned(&mirrored), 1);
    let is_said = |note: &String| note.starts_with("“copy” has a negative scale");
    assert!(did.notes.iter().any(is_said), "{:?}", did.notes);
}

/// A person of round parts, as an OBJ: y up, facing z, of height 1.
struct Person {
    crotch: f64,
    /// The top of the trunk, and where the head begins.
    neck: [f64; 2],
    head: f64,
    trunk: f64,
    /// The hand; the arm begins beside the top of the trunk.
    hand: DVec3,
    shoulder: DVec3,
}

impl Person {
    fn document(&self, folder: &Path) -> Document {
        let mut text = String::new();
        let mut n = 0;
        let mut tube = |from: DVec3, to: DVec3, radius: &dyn Fn(f64) -> f64| {
            const RINGS: usize = 13;
            const SIDES: usize = 16;
            let along = (to - from).try_normalize().unwrap();
            let side = along.any_orthonormal_vector();
            let other = along.cross(side);
            for ring in 0..RINGS {
                let t = ring as f64 / (RINGS - 1) as f64;
                for k in 0..SIDES {
                    let (s, c) = (std::f64::consts::TAU * k as f64 / SIDES as f64).sin_cos();
                    let p = from.lerp(to, t) + (side * c + other * s) * radius(t);
                    writeln!(text, "v {} {} {}", p.x, p.y, p.z).unwrap();
                }
            }
            for end in [from, to] {
                writeln!(text, "v {} {} {}", end.x, end.y, end.z).unwrap();
            }
            let at = |ring: usize, k: usize| n + 1 + ring * SIDES + k % SIDES;
            for k in 0..SIDES {
                for ring in 0..RINGS - 1 {
                    let [a, b] = [at(ring, k), at(ring, k + 1)];
                    let [c, d] = [at(ring + 1, k + 1), at(ring + 1, k)];
                    writeln!(text, "f {a} {b} {c} {d}").unwrap();
                }
                let ends = [n + 1 + RINGS * SIDES, n + 2 + RINGS * SIDES];
                writeln!(text, "f {} {} {}", ends[0], at(0, k + 1), at(0, k)).unwrap();
                let last = RINGS - 1;
                writeln!(text, "f {} {} {}", ends[1], at(last, k), at(last, k + 1)).unwrap();
            }
            n += RINGS * SIDES + 2;
        };
        let up = |y: f64| DVec3::new(0.0, y, 0.0);
        let round = |size: f64| move |t: f64| size * (1.0 - (2.0 * t - 1.0).powi(2)).sqrt();
        tube(up(self.crotch), up(self.neck[0]), &|_| self.trunk);
        let narrow = 0.35 * self.trunk;
        tube(up(self.neck[0] - 0.02), up(self.neck[1] + 0.04), &|_| {
            narrow
        });
        tube(up(self.neck[1]), up(1.0), &round(self.head));
        for side in [-1.0, 1.0] {
            let flip = DVec3::new(side, 1.0, 1.0);
            let leg = DVec3::new(0.52 * self.trunk, 0.0, 0.0);
            let thick = 0.45 * self.trunk;
            let top = leg + DVec3::Y * (self.crotch + 0.03);
            tube(flip * (leg + DVec3::Y * 0.02), flip * top, &|_| thick);
            let heel = leg + DVec3::new(0.0, 0.02, -0.03);
            tube(flip * heel, flip * (heel + DVec3::Z * 0.14), &|_| 0.02);
            tube(flip * self.shoulder, flip * self.hand, &|_| 0.03);
        }
        let path = folder.join("person.obj");
        std::fs::write(&path, text).unwrap();
        sinew::io::open_any(&path, &Task::new()).unwrap().document
    }
}

/// Bodies of other proportions than the canon's: the head of a third of the height has no shoulders in it.
#[test]
fn the_humanoid_template_fits_large_and_small_heads() {
    let folder = tempfile::tempdir().unwrap();
    let plain = Person {
        crotch: 0.47,
        neck: [0.82, 0.87],
        head: 0.06,
        trunk: 0.1,
        hand: DVec3::new(0.53, 0.8, 0.0),
        shoulder: DVec3::new(0.09, 0.8, 0.0),
    };
    let third = Person {
        crotch: 0.27,
        neck: [0.61, 0.66],
        head: 0.18,
        trunk: 0.13,
        hand: DVec3::new(0.38, 0.58, 0.0),
        shoulder: DVec3::new(0.12, 0.58, 0.0),
    };
    let hanging = Person {
        hand: DVec3::new(0.3, 0.33, 0.0),
        shoulder: DVec3::new(0.14, 0.57, 0.0),
        ..third
    };
    for (name, person) in [("plain", plain), ("third", third), ("hanging", hanging)] {
        let mut document = person.document(folder.path());
        let (did, _) = done(&mut document, &Operation::Template(Template::Humanoid));
        let made = |wanted: &str| {
            let joint = did
                .made
                .iter()
                .find(|&&j| self::name(&document, j) == wanted);
            place(&document, *joint.unwrap_or_else(|| panic!("{wanted}")))
        };
        let near = |wanted: &str, expected: DVec3, tolerance: f64| {
            let at = made(wanted);
            let off = (at - expected).truncate().length();
            assert!(off < tolerance, "{name} {wanted}: {at} of {expected}");
        };
        near("upper_arm.L", person.shoulder, 0.045);
        let elbow = person.shoulder.lerp(person.hand, 0.42);
        near("forearm.L", elbow, 0.04);
        near("hand.L", person.shoulder.lerp(person.hand, 0.75), 0.04);
        let trunk = person.neck[0] - person.crotch;
        near("hips", DVec3::Y * (person.crotch + 0.17 * trunk), 0.03);
        near("chest", DVec3::Y * (person.crotch + 0.6 * trunk), 0.04);
        let [low, high] = person.neck;
        assert!(
            (low - 0.03..high).contains(&made("neck").y),
            "{name}: {}",
            made("neck")
        );
        assert!(
            (low..high + 0.06).contains(&made("head").y),
            "{name}: {}",
            made("head")
        );
        let leg = DVec3::new(0.52 * person.trunk, 0.5 * person.crotch, 0.0);
        near("shin.L", leg, 0.06);
        let thigh = made("thigh.L");
        assert!(thigh.y > person.crotch - 0.02 && thigh.y < person.crotch + 0.25 * trunk);
    }
}
