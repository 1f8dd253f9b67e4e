//! Range of motion: what the generated clip does, and where the editor puts it.

use glam::{DQuat, DVec3};
use sinew::document::{Document, Edit};
use sinew::editor::{Editor, OpenRequest};
use sinew::skeleton::range_of_motion::axis_along;
use sinew::skeleton::{JointId, RangeOfMotion};
use sinew::task::Task;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

fn asset(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("assets")
        .join(name)
}

fn sample(name: &str) -> Document {
    sinew::io::open_any(&asset(name), &Task::new())
        .unwrap()
        .document
}

fn joint(document: &Document, name: &str) -> JointId {
    let joints = document.skeleton().joints();
    let at = joints.iter().position(|j| j.name == name);
    JointId(at.unwrap_or_else(|| panic!("no {name}")) as u32)
}

/// How a joint is turned relative to rest, in its own frame at rest: axis times degrees.
fn turned(document: &Document, clip: &sinew::skeleton::Clip, joint: JointId, time: f64) -> DVec3 {
    let pose = document.pose_of_clip(clip, time);
    let rest = document.rest_pose().locals[joint.get()].rotation;
    let turn = rest.conjugate() * pose.locals[joint.get()].rotation;
    let turn = if turn.w < 0.0 { -turn } else { turn };
    DQuat::to_scaled_axis(turn).map(f64::to_degrees)
}

#[test]
fn every_chosen_joint_goes_to_both_sides_of_each_axis_and_the_others_stay() {
    let document = sample("mannequin.glb");
    let chosen: BTreeSet<JointId> = ["shin.L", "spine.01", "hand.R"]
        .into_iter()
        .map(|name| joint(&document, name))
        .collect();
    let settings = RangeOfMotion {
        angles: [50f64, 30.0, 70.0].map(f64::to_radians),
        move_secs: 0.7,
        ..RangeOfMotion::default()
    };
    let skeleton = document.skeleton();
    let clip = settings.clip("Range", skeleton, &chosen);
    assert!(clip.preview && clip.name == "Range");
    let moves = settings.moves(skeleton, &chosen);
    assert_eq!(moves.len(), 9);
    let end = f64::from(clip.end_secs());
    assert!((end - 9.0 * 0.7).abs() < 1e-5 && clip.start_secs() == 0.0);
    // Parents first.
    let ranks: Vec<u32> = moves.iter().map(|m| skeleton.rank(m.joint)).collect();
    assert!(ranks.is_sorted());
    let rest = document.rest_pose();
    for m in &moves {
        let angle = settings.angles[m.axis].to_degrees();
        for (part, degrees) in [
            (0.25, angle),
            (0.75, -angle),
            (0.0, 0.0),
            (0.5, 0.0),
            (1.0, 0.0),
        ] {
            let time = m.start_secs + 0.7 * part;
            let way = turned(&document, &clip, m.joint, time);
            let wanted = DVec3::AXES[m.axis] * degrees;
            assert!(way.abs_diff_eq(wanted, 2e-3), "{m:?} at {part}: {way}");
            // One at a time, and nothing but rotations.
            let pose = document.pose_of_clip(&clip, time);
            for (j, (local, rest)) in pose.locals.iter().zip(&rest.locals).enumerate() {
                assert_eq!(
                    (local.translation, local.stretch),
                    (rest.translation, rest.stretch)
                );
                if j != m.joint.get() {
                    let off = turned(&document, &clip, JointId(j as u32), time).length();
                    assert!(off < 1e-3, "{j} {off}");
                }
            }
        }
    }
    // Beyond the angle it never goes, and both ends are at rest.
    for i in 0..=600 {
        let time = end * f64::from(i) / 600.0;
        for &j in &chosen {
            let way = turned(&document, &clip, j, time).abs();
            assert!(way.max_element() < 70.0 + 1e-2);
        }
    }
    for time in [0.0, end] {
        let pose = document.pose_of_clip(&clip, time);
        for (local, rest) in pose.locals.iter().zip(&rest.locals) {
            assert!((local.rotation - rest.rotation).length() < 1e-6);
        }
    }
}

#[test]
fn bends_are_across_the_bone_and_twists_along_it() {
    let document = sample("mannequin.glb");
    let skeleton = document.skeleton();
    let shin = joint(&document, "shin.L");
    let along = axis_along(skeleton, shin).expect("a shin has a length");
    let chosen = BTreeSet::from([shin]);
    let axes = |bend: bool, twist: bool| -> Vec<usize> {
        let settings = RangeOfMotion {
            bend,
            twist,
            ..RangeOfMotion::default()
        };
        let moves = settings.moves(skeleton, &chosen);
        moves.iter().map(|m| m.axis).collect()
    };
    assert_eq!(axes(false, true), [along]);
    assert_eq!(axes(true, true), [0, 1, 2]);
    assert!(axes(true, false).len() == 2 && !axes(true, false).contains(&along));
    assert!(axes(false, false).is_empty());
    // An axis without an angle is left out.
    let settings = RangeOfMotion {
        angles: [0.0, 0.0, 1.0],
        ..RangeOfMotion::default()
    };
    assert_eq!(settings.moves(skeleton, &chosen).len(), 1);
    let nothing = settings.clip("", skeleton, &BTreeSet::new());
    assert!(nothing.channels.is_empty());
}

fn settle(editor: &mut Editor) {
    let deadline = Instant::now() + Duration::from_mins(2);
    loop {
        editor.poll(0.0);
        if editor.is_idle() && !editor.document().skeleton().is_empty() {
            break;
        }
        assert!(
            Instant::now() < deadline,
            "the editor does not come to rest"
        );
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn editor(sample: &str) -> Editor {
    let mut editor = Editor::new(None, || {}).unwrap();
    editor.open(OpenRequest::Path(asset(sample)));
    settle(&mut editor);
    editor
}

#[test]
fn the_selection_moves_or_all_bones_with_weights() {
    let mut e = editor("mannequin.glb");
    let weighted = e.document().weighted_joints();
    let n_weighted = weighted.iter().filter(|w| **w).count();
    e.select_none();
    let all = e.range_of_motion_joints();
    assert_eq!(all.len(), n_weighted);
    assert!(all.iter().all(|j| weighted[j.get()]));
    let shin = joint(e.document(), "shin.L");
    e.select_joint(Some(shin));
    assert_eq!(e.range_of_motion_joints(), BTreeSet::from([shin]));
}

#[test]
fn it_is_one_step_and_the_next_one_takes_its_place() {
    let mut e = editor("mannequin.glb");
    let shin = joint(e.document(), "shin.L");
    e.select_joint(Some(shin));
    let n = e.document().clips().len();
    let before = e.document().clone();
    // The model has a clip of its own that is called so; it is not touched unless asked for.
    let name = e.free_preview_name("Range of motion");
    assert_eq!(name, "Range of motion 2");
    let settings = RangeOfMotion::default();
    assert!(e.make_range_of_motion(&settings, &name));
    assert_eq!(e.document().clips().len(), n + 1);
    let (id, clip) = e.shown_clip().unwrap();
    let (id, clip) = (id, clip.clone());
    assert!(clip.preview && clip.name == name);
    assert_eq!(e.history().undo_label(), Some("Make \"Range of motion 2\""));
    assert_eq!(e.playback().time_secs, 0.0);
    // The same name again is offered, since that clip is only a preview.
    assert_eq!(e.free_preview_name("Range of motion"), name);
    let wider = RangeOfMotion {
        angles: [1.5; 3],
        ..settings
    };
    assert!(e.make_range_of_motion(&wider, &name));
    assert_eq!(e.document().clips().len(), n + 1);
    let (again, wide) = e.shown_clip().unwrap();
    assert_eq!(again, id);
    assert!(*wide != clip);
    assert_eq!(
        e.history().undo_label(),
        Some("Replace \"Range of motion 2\"")
    );
    e.undo();
    assert_eq!(*e.document().clips()[&id], clip);
    e.undo();
    assert!(e.document().same_content(&before));
    // Nothing to move is said, not done.
    let none = RangeOfMotion {
        bend: false,
        twist: false,
        ..settings
    };
    let steps = e.history().n_undo();
    assert!(!e.make_range_of_motion(&none, "Nothing"));
    assert_eq!(e.history().n_undo(), steps);
    let notice = std::iter::from_fn(|| e.take_notice()).last().unwrap();
    assert!(
        notice.text.contains("No bone would move"),
        "{}",
        notice.text
    );
}

#[test]
fn undo_of_a_preview_that_is_shown_leaves_the_editor_well() {
    let mut e = editor("arm.glb");
    e.select_none();
    let name = e.free_preview_name("Range of motion");
    assert!(e.make_range_of_motion(&RangeOfMotion::default(), &name));
    settle(&mut e);
    e.undo();
    settle(&mut e);
    assert!(e.shown_clip().is_none());
    // Keys can be put into a preview clip as into any other.
    e.redo();
    let bone = *e.range_of_motion_joints().first().unwrap();
    e.select_joint(Some(bone));
    e.set_time(0.1);
    let mut pose = (*e.document().shown_pose()).clone();
    pose.locals[bone.get()].rotation *= DQuat::from_rotation_x(0.2);
    let edit = Edit::pose_change(e.document().pose(), &pose).unwrap();
    e.apply(edit, "Rotate").unwrap();
    e.show_unkeyed_pose();
    e.key_pose();
    assert!(e.shown_clip().unwrap().1.preview);
}
