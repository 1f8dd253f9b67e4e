//! Motions put on a character in the headless editor: one undo step, adjusted until the next edit, plain refusals.

use crate::editing::EditorHarness;
use glam::DQuat;
use sinew::document::ClipId;
use sinew::editor::OpenRequest;
use sinew::editor::motions::{FoundHow, PairOf};
use sinew::motion::retarget::{RoleSearch, Scale, Travel};
use sinew::motion::roles::{Part, Role, Side};
use sinew::skeleton::{JointId, Property};
use std::path::{Path, PathBuf};

const WALKER: &str = "tests/data/walker.bvh";

fn character() -> EditorHarness {
    EditorHarness::on(OpenRequest::Path("assets/mannequin.glb".into()))
}

fn adding(path: &Path) -> EditorHarness {
    let mut h = character();
    h.editor.add_motion(path);
    h.settle();
    h
}

fn label(h: &EditorHarness) -> &str {
    h.editor.history().undo_label().unwrap_or_default()
}

/// How far the hips of a clip go along one of their axes.
fn travel(h: &EditorHarness, clip: ClipId) -> f32 {
    let clip = &h.editor.document().clips()[&clip];
    let mut channels = clip.channels.iter();
    let hips = channels.find(|c| c.property == Property::Translation);
    let values = &hips.expect("the hips move").values;
    let along = [0, 1, 2].map(|axis| {
        let along = values.chunks(3).map(|v| v[axis]);
        let (low, high) = along.fold((f32::MAX, f32::MIN), |(l, h), v| (l.min(v), h.max(v)));
        high - low
    });
    along.into_iter().fold(0.0, f32::max)
}

/// A copy of the walker whose joints have names that say nothing.
fn nameless(folder: &Path) -> PathBuf {
    let text = std::fs::read_to_string(WALKER).unwrap();
    let mut n = 0;
    let lines = text.lines().map(|line| {
        let word = ["ROOT ", "JOINT "].into_iter().find(|w| line.contains(w));
        match word.and_then(|word| line.split_once(word)) {
            Some((before, _)) => {
                n += 1;
                format!("{before}{} J{n}", word.unwrap().trim())
            }
            None => line.to_owned(),
        }
    });
    let lines: Vec<String> = lines.collect();
    let path = folder.join("nameless.bvh");
    std::fs::write(&path, lines.join("\n")).unwrap();
    path
}

#[test]
fn a_motion_becomes_a_clip_that_is_adjusted_in_one_step() {
    let mut h = adding(Path::new(WALKER));
    let before = character().editor.document().clips().len();
    assert_eq!(label(&h), "Add motion · walker");
    let motion = h.editor.adding_motion().unwrap();
    let (id, n_steps) = (motion.clip().unwrap(), h.editor.history().n_undo());
    assert_eq!(h.editor.document().clips().len(), before + 1);
    assert_eq!(h.editor.shown_clip().unwrap().0, id);
    let said = motion.result().unwrap().lines().join("\n");
    assert!(said.starts_with("22 bones moved, +Y up"), "{said}");
    let pairs = motion.pairs();
    assert_eq!(pairs.len(), 19);
    assert!(pairs.iter().all(|pair| pair.found == FoundHow::Names));
    assert_eq!(motion.spines()[0], ["Spine", "Chest"]);

    // 96 cm of the file.
    let full = travel(&h, id);
    assert!((full - 0.96 * 1.02).abs() < 0.05, "{full}");
    let mut settings = motion.settings().clone();
    settings.retarget.travel = Travel::Vertical;
    h.editor.set_time(0.5);
    h.editor.set_motion_settings(settings.clone());
    h.settle();
    let motion = h.editor.adding_motion().unwrap();
    assert_eq!(motion.clip(), Some(id));
    assert_eq!(h.editor.history().n_undo(), n_steps);
    assert_eq!(h.editor.document().session().playback.time_secs, 0.5);
    let vertical = travel(&h, id);
    assert!(vertical < 0.03 * full, "{vertical}");

    settings.retarget.scale = Scale::Fixed(0.0);
    h.editor.set_motion_settings(settings.clone());
    h.settle();
    let motion = h.editor.adding_motion().unwrap();
    assert_eq!(motion.failure(), Some("The scale 0 is not above 0."));
    assert_eq!(h.editor.document().clips().len(), before);
    settings.retarget.scale = Scale::Hip;
    h.editor.set_motion_settings(settings);
    h.settle();
    assert_eq!(h.editor.document().clips().len(), before + 1);

    // Any other edit keeps the clip and ends the adjustment.
    h.editor.rename_clip("Stroll");
    h.settle();
    assert!(h.editor.adding_motion().is_none());
    h.editor.undo();
    h.editor.undo();
    h.settle();
    assert_eq!(h.editor.document().clips().len(), before);
    h.check();
}

#[test]
fn the_source_skeleton_walks_beside_the_character() {
    let mut h = adding(Path::new(WALKER));
    let bones = h.editor.motion_ghost().expect("shown at first");
    assert_eq!(bones.len(), 20, "one for each joint but the root");
    let height = |bones: &[[glam::Vec3; 2]]| {
        let heights = bones.iter().map(|bone| bone[1].y);
        let (low, high) = heights.fold((f32::MAX, f32::MIN), |(l, h), y| (l.min(y), h.max(y)));
        high - low
    };
    let skeleton = h.editor.document().skeleton();
    let rest = h.editor.document().rest_pose().world_matrices(skeleton);
    let tops = skeleton.live_joints().map(|j| rest[j.get()].translation.y);
    let own = tops.fold(f64::MIN, f64::max) as f32;
    assert!(
        (height(&bones) / own - 1.0).abs() < 0.15,
        "as tall as the character"
    );
    let head = |bones: &[[glam::Vec3; 2]]| {
        bones
            .iter()
            .map(|b| b[1])
            .reduce(|a, b| if b.y > a.y { b } else { a })
    };
    let start = head(&bones).unwrap();
    assert!(start.x > 0.5 * own, "to its left: {start}");
    h.editor.set_time(0.96);
    h.settle();
    let end = head(&h.editor.motion_ghost().unwrap()).unwrap();
    assert!(end.z - start.z > 0.3 * own, "it walks: {start} {end}");
    h.editor.show_motion_ghost(false);
    assert_eq!(h.editor.motion_ghost(), None);
    h.editor.show_motion_ghost(true);
    h.editor.show_clip(None);
    assert_eq!(
        h.editor.motion_ghost(),
        None,
        "only while its clip is shown"
    );
}

#[test]
fn bones_are_matched_by_structure_and_by_hand() {
    let folder = tempfile::tempdir().unwrap();
    let mut h = adding(&nameless(folder.path()));
    let motion = h.editor.adding_motion().unwrap();
    let hips = |h: &EditorHarness| h.editor.adding_motion().unwrap().pairs()[0].clone();
    assert_eq!(hips(&h).found, FoundHow::Structure);
    assert_eq!(hips(&h).bones[0].as_deref(), Some("J1"));
    let mut settings = motion.settings().clone();
    settings.search = RoleSearch::Names;
    h.editor.set_motion_settings(settings.clone());
    h.settle();
    let motion = h.editor.adding_motion().unwrap();
    assert_eq!(
        motion.failure(),
        Some("The motion: no hips were found: map hips, or add chains.")
    );
    assert!(motion.clip().is_none() && hips(&h).found == FoundHow::Missing);

    settings.search = RoleSearch::Auto;
    h.editor.set_motion_settings(settings);
    h.settle();
    let head = PairOf::Part(Role::middle(Part::Head));
    let names = h.editor.adding_motion().unwrap().bone_names();
    assert_eq!(names[0].len(), 21);
    let own = h.editor.adding_motion().unwrap().pairs();
    let own = own.iter().find(|pair| pair.of == head).unwrap().bones[1].clone();
    h.editor
        .pair_bones(head, [String::new(), own.clone().unwrap_or_default()]);
    h.settle();
    let of = |h: &EditorHarness, role| {
        let pairs = h.editor.adding_motion().unwrap().pairs();
        pairs.into_iter().find(|pair| pair.of == role).unwrap()
    };
    assert_eq!(of(&h, head).found, FoundHow::Hand);
    assert_eq!(of(&h, head).bones, [None, own]);
    let thigh = PairOf::Part(Role::of(Part::Thigh, Side::Left));
    assert_eq!(of(&h, thigh).found, FoundHow::Structure, "the others stay");
    h.editor.reset_pairs();
    h.settle();
    assert_eq!(of(&h, head).found, FoundHow::Structure);
}

#[test]
fn clips_of_a_model_move_another_and_faults_change_nothing() {
    let mut h = adding(Path::new("assets/mannequin.glb"));
    let motion = h.editor.adding_motion().unwrap();
    let names: Vec<String> = motion.names().map(str::to_owned).collect();
    let own: Vec<String> = {
        let clips = character().editor.document().clips().clone();
        clips.values().map(|clip| clip.name.clone()).collect()
    };
    assert_eq!(names, own);
    assert_eq!(label(&h), format!("Add motion · {} 2", own[0]));
    if names.len() > 1 {
        h.editor.choose_motion(1);
        h.settle();
        assert_eq!(label(&h), format!("Add motion · {} 2", own[1]));
    }
    h.editor.take_back_motion();
    h.settle();
    assert!(h.editor.adding_motion().is_none());
    assert_eq!(h.editor.history().undo_label(), None);
    assert_eq!(h.editor.document().clips().len(), own.len());

    // An edit of the skeleton ends it, too.
    h.editor.add_motion(Path::new(WALKER));
    h.settle();
    let joint = JointId(h.joint("head"));
    let mut local = h.editor.document().rest_pose().locals[joint.get()];
    local.rotation *= DQuat::from_rotation_x(0.3);
    h.editor.begin_pose_field(joint, "Rotate");
    h.editor.set_pose_field(joint, local);
    h.editor.confirm_transform();
    h.settle();
    assert!(h.editor.adding_motion().is_none());

    let folder = tempfile::tempdir().unwrap();
    let broken = folder.path().join("broken.bvh");
    std::fs::write(&broken, "HIERARCHY\nROOT Hips\n{\n  OFFSET 0 half 0\n}\n").unwrap();
    let n_steps = h.editor.history().n_undo();
    h.editor.add_motion(&broken);
    h.settle();
    let said = h.last_notice();
    assert!(said.contains("line 4") && said.ends_with('.'), "{said}");
    assert!(h.editor.adding_motion().is_none());
    assert_eq!(h.editor.history().n_undo(), n_steps);
}
