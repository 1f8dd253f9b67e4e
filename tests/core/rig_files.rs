//! Files of documents whose joints were edited: lists of joints, inverse bind matrices, influences, scenes and drivers.

use crate::export_models::reopen;
use crate::gltf_builder::Gltf;
use crate::rig_operations::assert_sound;
use glam::{DAffine3, DQuat, DVec3};
use serde_json::{Value, json};
use sinew::bake::BakeOptions;
use sinew::deform::DeformStack;
use sinew::document::rig::measure::Compared;
use sinew::document::rig::{self, Extrude, Insert, Keep, Reparent, RigEdit, WeightRecipient};
use sinew::document::{Document, Edit, MeshId};
use sinew::export::{ExportOptions, GltfFormat, export};
use sinew::io::gltf_export::for_file;
use sinew::io::import_bytes;
use sinew::skeleton::{Frame, JointId};
use sinew::task::Task;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

const ROOT: JointId = JointId(0);
pub(crate) const MIDDLE: JointId = JointId(1);
pub(crate) const TIP: JointId = JointId(2);
/// A sibling of the tip, at the same place.
pub(crate) const SIDE: JointId = JointId(3);

/// Four joints of a chain along y without meshes and skins, and a clip that bends the middle.
pub(crate) fn chain() -> Gltf {
    let mut gltf = Gltf::new(json!({
        "scene": 0,
        "scenes": [{"nodes": [0]}],
        "nodes": [
            {"name": "Root", "children": [1]},
            {"name": "Middle", "translation": [0, 1, 0], "children": [2, 3]},
            {"name": "Tip", "translation": [0, 1, 0]},
            {"name": "Side", "translation": [0, 1, 0]}
        ]
    }));
    let input = gltf.f32s("SCALAR", &[0.0, 1.0]);
    let output = gltf.f32s("VEC4", &[0.0, 0.0, 0.0, 1.0, 0.6, 0.0, 0.0, 0.8]);
    gltf.push(
        "animations",
        json!({
            "name": "Bend",
            "channels": [{"sampler": 0, "target": {"node": 1, "path": "rotation"}}],
            "samplers": [{"input": input, "output": output}]
        }),
    );
    gltf
}

/// Rows of six vertices at the heights 0, 0, 1, 1, 2, 2 over the slots of the root, the middle and the tip.
pub(crate) fn rows(slots: [u8; 3]) -> ([[u8; 4]; 6], [[f32; 4]; 6]) {
    let [a, b, c] = slots;
    let joints = [[a, b, c, c], [a, b, c, c], [b, a, c, c]];
    let weights = [
        [1.0, 0.0, 0.0, 0.0],
        [0.75, 0.25, 0.0, 0.0],
        [0.5, 0.25, 0.25, 0.0],
    ];
    (
        std::array::from_fn(|i| joints[i / 2]),
        std::array::from_fn(|i| weights[i / 2]),
    )
}

/// Two triangles with influences; the index of the mesh.
pub(crate) fn mesh(gltf: &mut Gltf, joints: &[[u8; 4]; 6], weights: &[[f32; 4]; 6]) -> usize {
    let places: Vec<f32> = (0..6)
        .flat_map(|i| [(i % 2) as f32, (i / 2) as f32, 0.3])
        .collect();
    let position = gltf.f32s("VEC3", &places);
    let joints = gltf.u8s("VEC4", joints.as_flattened());
    let weights = gltf.f32s("VEC4", weights.as_flattened());
    let attributes = json!({"POSITION": position, "JOINTS_0": joints, "WEIGHTS_0": weights});
    gltf.push(
        "meshes",
        json!({"primitives": [{"attributes": attributes}]}),
    )
}

/// Inverse bind matrices of joints at these heights; the index of the accessor.
pub(crate) fn matrices(gltf: &mut Gltf, heights: &[f32]) -> usize {
    let of = |y: &f32| {
        [
            1., 0., 0., 0., 0., 1., 0., 0., 0., 0., 1., 0., 0., -y, 0., 1.,
        ]
    };
    let numbers: Vec<f32> = heights.iter().flat_map(of).collect();
    gltf.f32s("MAT4", &numbers)
}

/// A node of the first scene that draws a mesh with a skin.
pub(crate) fn draw(gltf: &mut Gltf, mesh: usize, skin: usize) {
    let node = gltf.push("nodes", json!({"mesh": mesh, "skin": skin}));
    let list = gltf.json["scenes"][0]["nodes"].as_array_mut().unwrap();
    list.push(node.into());
}

pub(crate) fn open(gltf: Gltf) -> Document {
    let imported = import_bytes(gltf.glb(), None, None, &Task::new()).unwrap();
    Document::new(imported.parts).unwrap()
}

pub(crate) fn edit(document: &mut Document, edit: RigEdit) {
    document.apply(&mut Edit::Rig(Box::new(edit))).unwrap();
    assert_sound(document);
}

pub(crate) fn remove(document: &mut Document, joint: JointId) {
    let wanted = rig::remove(document, joint, WeightRecipient::IntoParent).unwrap();
    edit(document, wanted);
}

pub(crate) fn turned(document: &mut Document, joint: JointId) {
    let turn = DQuat::from_axis_angle(DVec3::new(1.0, 2.0, 3.0).normalize_or_zero(), 1.1);
    let frames = BTreeMap::from([(joint, Frame::from_rotation(turn))]);
    let wanted = rig::change_frames(document, &frames, 1e-4).unwrap();
    edit(document, wanted);
}

/// Exports the document, and checks the file: it shows what the document shows, and its skins and influences are valid.
pub(crate) fn written(document: &Document) -> (Value, Document) {
    let options = ExportOptions {
        format: GltfFormat::Glb,
        ..ExportOptions::default()
    };
    let exported = export(document, &options, &Task::new()).unwrap();
    assert_valid(&exported.files[0].1);
    let read = reopen(&exported);
    let document = for_file(document);
    let compared = Compared::new(&document, &read);
    let clips = document.clips().keys().map(|&id| compared.in_clip(id).max);
    let off = clips.fold(compared.at_rest().max, crate::reference::larger);
    assert!(off < 1e-5, "{off:e}");
    (read.source().unwrap().json.clone(), read)
}

/// Each index of JOINTS_n is one of the skin's list, which has one matrix for each joint and one root in the scene.
fn assert_valid(glb: &[u8]) {
    let file = gltf::Gltf::from_slice_without_validation(glb).unwrap();
    let blob = file.blob.as_deref();
    let mut parents = vec![None; file.nodes().count()];
    for node in file.nodes() {
        for child in node.children() {
            let other = parents[child.index()].replace(node.index());
            assert_eq!(other, None, "node {} has two parents", child.index());
        }
    }
    let scene: BTreeSet<usize> = file
        .scenes()
        .flat_map(|scene| scene.nodes())
        .map(|node| node.index())
        .collect();
    for skin in file.skins() {
        let joints: Vec<usize> = skin.joints().map(|joint| joint.index()).collect();
        let matrices = skin.reader(|_| blob).read_inverse_bind_matrices();
        let n_matrices = matrices.map_or(joints.len(), Iterator::count);
        assert_eq!(n_matrices, joints.len());
        let root = |joint: &usize| {
            let above = std::iter::successors(Some(*joint), |&j| parents[j]);
            above.last().unwrap()
        };
        let roots: BTreeSet<usize> = joints.iter().map(root).collect();
        assert_eq!(roots.len(), 1, "{roots:?}");
        assert!(roots.is_subset(&scene));
        let distinct: BTreeSet<&usize> = joints.iter().collect();
        assert_eq!(distinct.len(), joints.len());
    }
    for node in file.nodes() {
        let (Some(mesh), Some(skin)) = (node.mesh(), node.skin()) else {
            continue;
        };
        for primitive in mesh.primitives() {
            let reader = primitive.reader(|_| blob);
            let joints = reader.read_joints(0).unwrap().into_u16();
            let largest = joints.flatten().max().unwrap();
            assert!(usize::from(largest) < skin.joints().count());
        }
    }
}

fn joints_of(json: &Value, skin: usize) -> Vec<u64> {
    let list = json["skins"][skin]["joints"].as_array().unwrap();
    list.iter().map(|node| node.as_u64().unwrap()).collect()
}

/// Two meshes with a skin each, which list the joints in different orders.
fn two_skins() -> Document {
    let mut gltf = chain();
    let first = matrices(&mut gltf, &[0.0, 1.0, 2.0]);
    gltf.push(
        "skins",
        json!({"joints": [0, 1, 2], "inverseBindMatrices": first}),
    );
    let second = matrices(&mut gltf, &[2.0, 2.0, 1.0, 0.0]);
    gltf.push(
        "skins",
        json!({"joints": [3, 2, 1, 0], "inverseBindMatrices": second}),
    );
    for (skin, slots) in [(0, [0, 1, 2]), (1, [3, 2, 1])] {
        let (joints, weights) = rows(slots);
        let mesh = mesh(&mut gltf, &joints, &weights);
        draw(&mut gltf, mesh, skin);
    }
    open(gltf)
}

#[test]
fn each_skin_leaves_out_its_own_slot_of_a_removed_joint() {
    let mut document = two_skins();
    turned(&mut document, MIDDLE);
    remove(&mut document, MIDDLE);
    let (json, _) = written(&document);
    assert_eq!(joints_of(&json, 0), [0, 2]);
    assert_eq!(joints_of(&json, 1), [3, 2, 0]);
    // With all bones that the artist added, and another one removed.
    let (wanted, _) = rig::insert(
        &document,
        &Insert {
            joint: ROOT,
            child: TIP,
            n: 2,
            half_width: None,
        },
    )
    .unwrap();
    edit(&mut document, wanted);
    remove(&mut document, SIDE);
    let (json, _) = written(&document);
    assert_eq!(joints_of(&json, 0), [0, 2, 6, 7]);
    assert_eq!(joints_of(&json, 1), [2, 0, 6, 7]);
}

#[test]
fn a_correction_is_made_and_measured_in_the_slots_of_the_document() {
    let mut document = two_skins();
    remove(&mut document, MIDDLE);
    let meshes: Vec<MeshId> = document.meshes().keys().copied().collect();
    for mesh in meshes {
        let stack = Arc::new(DeformStack::dqs());
        document.apply(&mut Edit::Stack { mesh, stack }).unwrap();
    }
    let options = ExportOptions {
        format: GltfFormat::Glb,
        correct: Some(BakeOptions {
            tolerance: 1e-3,
            ..BakeOptions::default()
        }),
        ..ExportOptions::default()
    };
    let exported = export(&document, &options, &Task::new()).unwrap();
    assert_valid(&exported.files[0].1);
    let report = exported.correction.as_ref().unwrap();
    assert!(report.met, "{}", report.summary());

    // The file opens with linear blend skinning: another method would correct it twice.
    let bytes = exported.files[0].1.clone();
    let imported = import_bytes(bytes, None, None, &Task::new()).unwrap();
    let is_told = |finding: &sinew::finding::Finding| {
        finding.message.contains("with its correction baked in")
    };
    assert!(imported.findings.iter().any(is_told));
    let again = Document::new(imported.parts).unwrap();
    for item in again.meshes().values() {
        assert_eq!(*item.stack, DeformStack::lbs());
    }
    let plain = ExportOptions::default();
    let plain = reopen(&export(&document, &plain, &Task::new()).unwrap());
    for item in plain.meshes().values() {
        assert_eq!(*item.stack, DeformStack::default());
    }
}

#[test]
fn a_removed_joint_stays_in_a_list_where_another_skin_of_the_mesh_needs_its_slot() {
    let mut gltf = chain();
    let extra: Vec<usize> = ["One", "Two"]
        .map(|name| gltf.push("nodes", json!({"name": name})))
        .to_vec();
    gltf.json["nodes"][2]["children"] = json!(extra);
    let (joints, weights) = rows([0, 1, 2]);
    let mesh = mesh(&mut gltf, &joints, &weights);
    for (skin, own) in extra.iter().enumerate() {
        let matrices = matrices(&mut gltf, &[0.0, 1.0, 2.0, 2.0, 2.0]);
        gltf.push(
            "skins",
            json!({"joints": [0, 1, 2, own, 3], "inverseBindMatrices": matrices}),
        );
        draw(&mut gltf, mesh, skin);
    }
    let before = open(gltf);
    let [one, two] = [extra[0], extra[1]].map(|node| JointId(node as u32));
    let mut document = before.clone();
    remove(&mut document, one);
    let (json, read) = written(&document);
    assert_eq!(joints_of(&json, 0), [0, 1, 2, u64::from(one.0), 3]);
    assert_eq!(joints_of(&json, 1), [0, 1, 2, u64::from(two.0), 3]);
    let skin = read.skins().values().next().unwrap();
    assert_eq!(skin.inverse_bind[3], DAffine3::IDENTITY);
    assert_eq!(read.skeleton().joint(one).parent, Some(ROOT));
    // No tool gives the slot weight in either skin.
    assert_eq!(
        document.skin_locks(MeshId(0)),
        [false, false, false, true, false]
    );
    // Where no skin has a live joint in the slot it is left out.
    remove(&mut document, two);
    let (json, _) = written(&document);
    for skin in 0..2 {
        assert_eq!(joints_of(&json, skin), [0, 1, 2, 3]);
    }
}

#[test]
fn weights_of_a_mesh_whose_skins_list_a_joint_in_two_slots_cannot_pass_on() {
    let mut gltf = chain();
    let (joints, weights) = rows([0, 1, 2]);
    let mesh = mesh(&mut gltf, &joints, &weights);
    for (skin, list) in [[0, 1, 2], [0, 2, 1]].into_iter().enumerate() {
        let name = ["first", "second"][skin];
        gltf.push("skins", json!({"name": name, "joints": list}));
        draw(&mut gltf, mesh, skin);
    }
    let document = open(gltf);
    let error = rig::remove(&document, MIDDLE, WeightRecipient::IntoParent).unwrap_err();
    assert_eq!(
        error.to_string(),
        "The weights of “Middle” cannot be redistributed: the skin “second”, which deforms the same mesh, lists \
         another bone in its place."
    );
}

#[test]
fn skins_that_share_their_matrices_get_their_own_where_they_differ() {
    let shared = || {
        let mut gltf = chain();
        let matrices = matrices(&mut gltf, &[0.0, 1.0, 2.0]);
        for (skin, last) in [2, 3].into_iter().enumerate() {
            gltf.push(
                "skins",
                json!({"joints": [0, 1, last], "inverseBindMatrices": matrices}),
            );
            let (joints, weights) = rows([0, 1, 2]);
            let mesh = mesh(&mut gltf, &joints, &weights);
            draw(&mut gltf, mesh, skin);
        }
        (open(gltf), matrices)
    };
    let accessors = |json: &Value| [0, 1].map(|i| json["skins"][i]["inverseBindMatrices"].clone());
    // Only the first skin changes.
    let (mut document, old) = shared();
    turned(&mut document, TIP);
    let (json, read) = written(&document);
    let [first, second] = accessors(&json);
    assert!(first != second && second == json!(old));
    let skins: Vec<_> = read.skins().values().collect();
    assert_ne!(skins[0].inverse_bind[2], skins[1].inverse_bind[2]);
    // Both change alike: equal bytes are written once.
    let (mut document, _) = shared();
    turned(&mut document, MIDDLE);
    let (json, _) = written(&document);
    let [first, second] = accessors(&json);
    assert_eq!(first, second);
    // Both change, each in its own way.
    turned(&mut document, TIP);
    remove(&mut document, SIDE);
    let (json, _) = written(&document);
    assert_eq!(
        (joints_of(&json, 0), joints_of(&json, 1)),
        (vec![0, 1, 2], vec![0, 1])
    );
}

#[test]
fn indices_of_vertices_that_nobody_edited_name_the_joints_that_are_left() {
    let mut gltf = chain();
    let matrices = matrices(&mut gltf, &[0.0, 1.0, 2.0]);
    gltf.push(
        "skins",
        json!({"joints": [0, 1, 2], "inverseBindMatrices": matrices}),
    );
    let (joints, mut weights) = rows([0, 1, 2]);
    // The tip is listed with a weight of 0 everywhere.
    weights.fill([0.75, 0.25, 0.0, 0.0]);
    let mesh = mesh(&mut gltf, &joints, &weights);
    draw(&mut gltf, mesh, 0);
    for joint in [ROOT, TIP] {
        let mut document = open(gltf.clone());
        remove(&mut document, joint);
        let (json, _) = written(&document);
        assert_eq!(joints_of(&json, 0).len(), 2);
    }
}

#[test]
fn a_skin_without_matrices_leaves_out_a_removed_joint() {
    let mut gltf = chain();
    gltf.push("skins", json!({"joints": [0, 1, 2]}));
    let (joints, weights) = rows([0, 1, 2]);
    let mesh = mesh(&mut gltf, &joints, &weights);
    draw(&mut gltf, mesh, 0);
    let mut document = open(gltf);
    // Children first: what is left keeps its rest transforms, and so its matrices.
    remove(&mut document, TIP);
    let (json, _) = written(&document);
    assert_eq!(joints_of(&json, 0), [0, 1]);
    assert_eq!(json["skins"][0].get("inverseBindMatrices"), None);
}

#[test]
fn new_roots_join_the_scene_that_the_file_shows() {
    let mut gltf = chain();
    gltf.json["scene"] = json!(1);
    gltf.push("scenes", json!({}));
    let mut document = open(gltf);
    let wanted = Extrude {
        parent: None,
        at: DVec3::X,
        name: "New".into(),
    };
    let (wanted, joint) = rig::extrude(&document, &wanted).unwrap();
    edit(&mut document, wanted);
    // A joint of the file stays in the scene that showed it.
    let wanted = Reparent {
        joint: MIDDLE,
        parent: None,
        keep: Keep::Motion,
        nearest: false,
        tolerance: 1e-4,
    };
    let wanted = rig::reparent(&document, &wanted).unwrap();
    edit(&mut document, wanted);
    let (json, read) = written(&document);
    assert_eq!(json["scenes"][0]["nodes"], json!([0, 1]));
    assert_eq!(json["scenes"][1]["nodes"], json!([4]));
    assert_eq!(read.skeleton().joint(joint).name, "New");
}

#[test]
fn a_node_with_a_sheared_matrix_keeps_its_shear() {
    let mut gltf = chain();
    let sheared = json!([1, 0, 0, 0, 0.5, 1, 0, 0, 0, 0, 2, 0, 0, 1, 0, 1]);
    gltf.json["nodes"][2] = json!({"name": "Tip", "matrix": sheared});
    let matrices = matrices(&mut gltf, &[0.0, 1.0, 2.0]);
    gltf.push(
        "skins",
        json!({"joints": [0, 1, 2], "inverseBindMatrices": matrices}),
    );
    let (joints, weights) = rows([0, 1, 2]);
    let mesh = mesh(&mut gltf, &joints, &weights);
    draw(&mut gltf, mesh, 0);
    let before = open(gltf);
    let mut document = before.clone();
    turned(&mut document, TIP);
    turned(&mut document, MIDDLE);
    let compared = Compared::new(&before, &document);
    let clip = *before.clips().keys().next().unwrap();
    assert!(compared.at_rest().max < 1e-6 && compared.in_clip(clip).max < 1e-6);
    let (json, _) = written(&document);
    assert!(json["nodes"][2].get("matrix").is_some());
    // Between parents without scale, too.
    let mut document = before.clone();
    let wanted = Reparent {
        joint: TIP,
        parent: Some(SIDE),
        keep: Keep::Motion,
        nearest: false,
        tolerance: 1e-4,
    };
    let wanted = rig::reparent(&before, &wanted).unwrap();
    edit(&mut document, wanted);
    let compared = Compared::new(&before, &document);
    assert!(compared.at_rest().max < 1e-6 && compared.in_clip(clip).max < 1e-6);
    let (json, _) = written(&document);
    assert!(json["nodes"][2].get("matrix").is_some());
}
