//! Joints drawn from nothing: their places, names and axes, both sides, and the binding that follows.

use crate::cli::asset;
use crate::editing::EditorHarness;
use crate::models::tube;
use crate::rig_bind::stripped;
use crate::rig_operations::{MIDDLE, ROOT};
use crate::rig_tools::{done, name, place, refused};
use glam::{DVec3, Vec2, Vec3};
use sinew::document::Document;
use sinew::document::rig::{Draw, Sides};
use sinew::editor::OpenRequest;
use sinew::editor::rigging::DrawTarget;
use sinew::math::camera::{Camera, View};
use sinew::rig::Operation;
use sinew::skeleton::JointId;
use sinew::task::Task;
use sinew::weights::automatic::Automatic;

const SIDES: Sides = Sides {
    middle: 0.0,
    snap: 0.02,
};
const SIZE: Vec2 = Vec2::new(1000.0, 800.0);

fn drawn(document: &mut Document, parent: Option<JointId>, at: DVec3, both: bool) -> Vec<JointId> {
    let sides = both.then_some(SIDES);
    done(document, &Operation::Draw(Draw { parent, at, sides }))
        .0
        .made
}

/// The mannequin without bones.
fn bare(folder: &std::path::Path) -> std::path::PathBuf {
    let glb = std::fs::read(asset("mannequin")).unwrap();
    let path = folder.join("bare.glb");
    std::fs::write(&path, stripped(&glb, false)).unwrap();
    path
}

#[test]
fn joints_are_drawn_one_after_another_on_both_sides() {
    let folder = tempfile::tempdir().unwrap();
    let request = bare(folder.path());
    let opened = sinew::io::open_any(&request, &Task::new()).unwrap();
    let mut document = opened.document;
    let hips = drawn(&mut document, None, DVec3::new(0.01, 0.9, 0.0), true)[0];
    assert_eq!(place(&document, hips), DVec3::new(0.0, 0.9, 0.0));
    assert_eq!(name(&document, hips), "Bone");
    let armature = document.skeleton().joint(hips).parent.unwrap();
    assert_eq!(name(&document, armature), "Armature");
    assert!(!document.bone_mask()[armature.get()]);

    let spine = drawn(&mut document, Some(hips), DVec3::new(0.0, 1.2, 0.0), true);
    assert_eq!(spine.len(), 1, "in the middle there is one");
    assert_eq!(name(&document, spine[0]), "Bone_01");
    // The bone above points at it.
    let world = document.rest_pose().world_matrices(document.skeleton());
    assert!(world[hips.get()].y_axis.distance(DVec3::Y) < 1e-12);

    let legs = drawn(&mut document, Some(hips), DVec3::new(0.1, 0.85, 0.0), true);
    let [left, right] = legs[..] else {
        panic!("{legs:?}")
    };
    assert_eq!(name(&document, left), "Bone_02.L");
    assert_eq!(name(&document, right), "Bone_02.R");
    assert_eq!(document.skeleton().joint(right).parent, Some(hips));
    // From the right leg on, the left one follows.
    let knees = drawn(
        &mut document,
        Some(right),
        DVec3::new(-0.12, 0.45, 0.03),
        true,
    );
    let [right_knee, left_knee] = knees[..] else {
        panic!("{knees:?}")
    };
    assert_eq!(name(&document, right_knee), "Bone_03.R");
    assert_eq!(name(&document, left_knee), "Bone_03.L");
    assert_eq!(document.skeleton().joint(left_knee).parent, Some(left));
    let mirrored = place(&document, left_knee) - DVec3::new(0.12, 0.45, 0.03);
    assert!(mirrored.length() < 1e-12, "{mirrored}");
    let world = document.rest_pose().world_matrices(document.skeleton());
    for (hip, knee) in [(left, left_knee), (right, right_knee)] {
        let along = (place(&document, knee) - place(&document, hip)).normalize_or_zero();
        let axes = world[hip.get()].matrix3;
        assert!(axes.y_axis.distance(along) < 1e-12);
        assert!(axes.z_axis.dot(DVec3::Z) > 0.9, "z forwards");
        // A leaf has the axes of its parent.
        let below = world[knee.get()].matrix3;
        assert!(
            (below - axes)
                .to_cols_array()
                .iter()
                .all(|d| d.abs() < 1e-12)
        );
    }
    // Mirrored axes: W' = M W F with F = diag(-1, 1, 1), as Blender's.
    let (l, r) = (world[left.get()].matrix3, world[right.get()].matrix3);
    let flip = glam::DMat3::from_diagonal(DVec3::new(-1.0, 1.0, 1.0));
    let off = flip * l * flip - r;
    assert!(off.to_cols_array().iter().all(|d| d.abs() < 1e-12));

    // Alone.
    let one = drawn(
        &mut document,
        Some(left_knee),
        DVec3::new(0.1, 0.1, 0.0),
        false,
    );
    assert_eq!(one.len(), 1);
    assert_eq!(name(&document, one[0]), "Bone_04.L");
    // What is drawn is bound as a template is.
    done(&mut document, &Operation::Bind(Automatic::Heat));
    assert_eq!(document.skins().len(), 1);
    assert_eq!(document.skins().values().next().unwrap().joints.len(), 7);
}

#[test]
fn a_joint_drawn_on_a_rig_belongs_to_its_skin_and_moves_nothing() {
    let mut document = tube(17);
    let before = document.clone();
    let made = drawn(
        &mut document,
        Some(MIDDLE),
        DVec3::new(0.5, 0.3, 0.0),
        false,
    );
    let skin = document.skins().values().next().unwrap();
    assert!(skin.joints.contains(&made[0]));
    // Its parent is bound: its axes stay.
    let joint = |document: &Document| document.skeleton().joint(MIDDLE).rest;
    assert_eq!(joint(&document), joint(&before));
    let at = DVec3::new(0.0, f64::NAN, 0.0);
    let sides = None;
    let parent = Some(ROOT);
    let why = refused(&document, &Operation::Draw(Draw { parent, at, sides }));
    assert_eq!(why, "The bone's position is not finite.");
    let at = DVec3::ZERO;
    let parent = None;
    let why = refused(&document, &Operation::Draw(Draw { parent, at, sides }));
    assert_eq!(
        why,
        "Select the parent of the new bone first: click a joint."
    );
    let parent = Some(JointId(99));
    let why = refused(&document, &Operation::Draw(Draw { parent, at, sides }));
    assert_eq!(why, "There is no bone 99.");
}

/// A viewport position over a world place.
fn over(h: &EditorHarness, at: Vec3) -> Vec2 {
    let camera = &h.editor.document().session().camera;
    let clip = camera.clip_from_world(SIZE.x / SIZE.y);
    clip.project_point3(at).truncate()
}

#[test]
fn clicks_draw_take_back_and_continue() {
    let folder = tempfile::tempdir().unwrap();
    let mut h = EditorHarness::on(OpenRequest::Path(bare(folder.path())));
    let before = h.editor.document().clone();
    h.editor.show_rest(true);
    *h.editor.camera_mut() = Camera::looking(View::Front);
    h.editor.frame_all();
    h.settle();
    let points: Vec<Vec3> = h
        .editor
        .displayed()
        .values()
        .flat_map(|d| d.positions.to_vec())
        .collect();
    let low = points.iter().copied().reduce(Vec3::min).unwrap();
    let high = points.iter().copied().reduce(Vec3::max).unwrap();
    let height = high.y - low.y;
    let chest = Vec3::new(0.0, low.y + 0.7 * height, 0.0);
    let belly = Vec3::new(0.0, low.y + 0.58 * height, 0.0);

    h.editor.begin_drawing();
    let beside = over(&h, high + Vec3::splat(0.4 * height));
    assert_eq!(h.editor.draw_target(beside, SIZE), None);
    h.editor.draw_joint(beside, SIZE);
    assert_eq!(h.editor.history().n_undo(), 0);
    let at = over(&h, belly);
    let Some(DrawTarget::Add {
        at: first,
        mirrored: None,
    }) = h.editor.draw_target(at, SIZE)
    else {
        panic!("the belly is in the middle")
    };
    h.editor.draw_joint(at, SIZE);
    h.settle();
    assert_eq!((h.editor.n_drawn(), h.editor.history().n_undo()), (1, 1));
    let root = h.editor.drawing_parent().unwrap();
    assert!(place(h.editor.document(), root).distance(first.as_dvec3()) < 1e-6);
    assert_eq!(h.editor.document().session().active_joint, Some(root));
    // In the body, not on its skin.
    let depth: Vec<f32> = points
        .iter()
        .filter(|p| (p.y - belly.y).abs() < 0.05 * height && p.x.abs() < 0.1 * height)
        .map(|p| p.z)
        .collect();
    let (near, far) = (
        depth.iter().copied().fold(f32::MIN, f32::max),
        depth.iter().copied().fold(f32::MAX, f32::min),
    );
    assert!(
        first.z < near - 0.2 * (near - far) && first.z > far + 0.2 * (near - far),
        "{first} {near} {far}"
    );

    let at = over(&h, chest);
    h.editor.draw_joint(at, SIZE);
    h.settle();
    let child = h.editor.drawing_parent().unwrap();
    assert_eq!(
        h.editor.document().skeleton().joint(child).parent,
        Some(root)
    );
    let label = h.editor.history().undo_label().unwrap().to_owned();
    assert_eq!(label, "Draw joint · Bone_01");
    // Back to the root by a click on it.
    let at = over(&h, place(h.editor.document(), root).as_vec3());
    assert_eq!(
        h.editor.draw_target(at, SIZE),
        Some(DrawTarget::Continue(root))
    );
    h.editor.draw_joint(at, SIZE);
    assert_eq!(h.editor.drawing_parent(), Some(root));
    // Backspace and Ctrl+Z take one back each, bit for bit.
    h.editor.take_back_drawn();
    h.settle();
    assert_eq!(h.editor.n_drawn(), 1);
    assert_eq!(h.editor.drawing_parent(), Some(root));
    h.editor.undo();
    h.settle();
    assert!(h.editor.document().same_content(&before));
    assert_eq!((h.editor.n_drawn(), h.editor.drawing_parent()), (0, None));
    h.editor.redo();
    assert_eq!(
        (h.editor.n_drawn(), h.editor.drawing_parent()),
        (1, Some(root))
    );
    // Beside the mesh the next one is as far away as the last.
    let Some(DrawTarget::Add { at, .. }) = h.editor.draw_target(beside, SIZE) else {
        panic!("beside the mesh")
    };
    let forward = -h.editor.document().session().camera.backward();
    assert!((at - first).dot(forward).abs() < 1e-3 * height);
    h.editor.end_drawing();
    assert!(h.editor.drawing().is_none());
    h.settle();
    assert!(h.notices.iter().any(|n| n.text.contains("Bones › Bind")));
    // Ctrl+click in Edit bones mode: a child of the active bone.
    h.editor.select_joint(Some(root));
    let at = over(&h, chest);
    h.editor.extrude_to(at, SIZE);
    h.settle();
    let made = h.editor.document().session().active_joint.unwrap();
    assert_eq!(
        h.editor.document().skeleton().joint(made).parent,
        Some(root)
    );
}

#[test]
fn a_drawn_skeleton_survives_a_project() {
    let folder = tempfile::tempdir().unwrap();
    let path = bare(folder.path());
    let mut h = EditorHarness::on(OpenRequest::Path(path));
    h.editor.begin_drawing();
    h.editor.draw_joint(Vec2::ZERO, SIZE);
    h.settle();
    let drawn_here = h.editor.document().clone();
    let file = folder.path().join("drawn.ron");
    h.editor.save_as(&file);
    h.settle();
    let again = EditorHarness::on(OpenRequest::Path(file));
    assert_comes_back(again.editor.document(), &drawn_here);
}

/// Whether a project that is opened again has what was saved: skeleton, skins, objects, clips, rows and the humanoid map.
pub(crate) fn assert_comes_back(again: &Document, saved: &Document) {
    assert_eq!(again.skeleton(), saved.skeleton());
    assert_eq!(again.skins(), saved.skins());
    assert_eq!(again.instances(), saved.instances());
    assert_eq!(again.clips(), saved.clips());
    assert_eq!(again.rest_pose(), saved.rest_pose());
    assert_eq!(again.human_map(), saved.human_map());
    assert_eq!(again.meshes().len(), saved.meshes().len());
    for (id, item) in again.meshes() {
        assert_eq!(item.influences, saved.meshes()[id].influences, "{id:?}");
    }
}
