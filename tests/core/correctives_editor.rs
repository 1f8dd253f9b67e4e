//! Corrective samples with the headless editor: one undo step a command, the shape on screen, plain refusals.

use crate::editing::EditorHarness;
use glam::{DQuat, DVec3, Vec3};
use sinew::cluster::channel::RecordingId;
use sinew::correctives;
use sinew::deform::correctives::{Correctives, Sample};
use sinew::document::{CorrectivesEdit, Edit};
use sinew::editor::OpenRequest;
use sinew::motion::bindings::{Binding, BoundTo, bind};
use sinew::motion::{ChannelKind, Recording, ScalarTrack};
use sinew::psd::{Displacements, DriverMode, Kernel};
use sinew::rig::Character;
use sinew::skeleton::JointId;
use sinew::skinning::Rows;
use std::sync::Arc;

/// Shows the artist's pose with one joint rotated from rest about its own axis, and selects the joint.
fn pose(h: &mut EditorHarness, joint: JointId, axis: DVec3, degrees: f64) {
    let mut local = h.editor.document().rest_pose().locals[joint.get()];
    local.rotation *= DQuat::from_axis_angle(axis, degrees.to_radians());
    h.editor.begin_pose_field(joint, "Rotate");
    h.editor.set_pose_field(joint, local);
    h.editor.confirm_transform();
    h.editor.select_joint(Some(joint));
    h.settle();
}

fn joint(h: &EditorHarness, name: &str) -> JointId {
    JointId(h.joint(name))
}

/// Gives the active sample displacements, as sculpting does.
fn sculpt(h: &mut EditorHarness, moved: &[(u32, Vec3)]) {
    let mesh = h.editor.corrected_mesh().unwrap();
    let (set, sample) = (
        h.editor.active_set().unwrap(),
        h.editor.active_sample().unwrap(),
    );
    let mut sets = h.editor.correctives().unwrap().sets().to_vec();
    let known = Sample::clone(&sets[set].samples[sample]);
    Arc::make_mut(&mut sets[set]).samples[sample] = Arc::new(Sample {
        displacements: Displacements::new(moved.to_vec()),
        ..known
    });
    let changed = Arc::new(Correctives::new(sets).unwrap());
    let edit = CorrectivesEdit::new(h.editor.document(), mesh, changed);
    h.editor.apply(Edit::Correctives(edit), "Sculpt").unwrap();
    h.settle();
}

fn shown(h: &EditorHarness) -> Vec<Vec3> {
    let displayed = h.editor.displayed().values();
    displayed
        .flat_map(|d| d.positions.iter().copied())
        .collect()
}

fn same_shape(a: &[Vec3], b: &[Vec3]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.distance(*b) < 1e-5)
}

fn names(h: &EditorHarness, set: usize) -> Vec<String> {
    let samples = h.editor.samples_of(set).iter();
    samples.map(|s| s.name.clone()).collect()
}

/// The arm with a sample of the forearm at 90 degrees that moves two vertices.
fn with_sample() -> (EditorHarness, JointId) {
    let mut h = EditorHarness::new();
    let forearm = joint(&h, "forearm");
    h.editor.show_clip(None);
    pose(&mut h, forearm, DVec3::X, 90.0);
    assert!(h.editor.add_sample());
    sculpt(&mut h, &[(3, Vec3::X * 0.02), (1200, Vec3::Y * 0.01)]);
    (h, forearm)
}

#[test]
fn a_sample_at_this_pose_makes_its_set_from_the_selected_bone() {
    let mut h = EditorHarness::new();
    h.editor.show_clip(None);
    let before = h.editor.document().clone();
    let n = h.editor.history().n_undo();
    assert!(!h.editor.add_sample());
    h.settle();
    assert_eq!(
        h.last_notice(),
        "Pose the bones that drive the correction, and select them, first."
    );
    // Selected, but at bind.
    h.editor.select_joint(Some(joint(&h, "forearm")));
    assert!(!h.editor.add_sample());
    assert!(h.editor.document().same_content(&before));

    let forearm = joint(&h, "forearm");
    pose(&mut h, forearm, DVec3::X, 60.0);
    let shape = shown(&h);
    assert!(h.editor.add_sample());
    h.settle();
    assert_eq!(h.editor.history().undo_label(), Some("Add sample"));
    assert_eq!(h.editor.history().n_undo(), n + 2);
    assert_eq!(
        (h.editor.active_set(), h.editor.active_sample()),
        (Some(0), Some(0))
    );
    let set = h.editor.correctives().unwrap().sets()[0].clone();
    assert_eq!(
        (set.name.as_str(), set.drivers.len(), set.drivers[0].joint),
        ("forearm", 1, forearm)
    );
    assert_eq!(names(&h, 0), ["forearm 60°"]);
    assert!((h.editor.sample_weights()[0] - 1.0).abs() < 1e-12);
    assert!(same_shape(&shape, &shown(&h)));
    // The same pose again is refused, and nothing changes.
    let at = h.editor.document().clone();
    assert!(!h.editor.add_sample());
    h.settle();
    assert!(
        h.last_notice()
            .starts_with("Samples \"forearm 60°\" and \"forearm 60° (2)\" have the same driver"),
        "{}",
        h.last_notice()
    );
    assert!(h.editor.document().same_content(&at));
    // Undo removes the set, and what was active with it.
    h.editor.undo();
    h.settle();
    assert!(h.editor.correctives().unwrap().is_empty());
    assert_eq!(
        (h.editor.active_set(), h.editor.active_sample()),
        (None, None)
    );
    h.editor.redo();
    assert_eq!(h.editor.active_sample(), Some(0));
}

#[test]
fn a_further_sample_starts_with_the_correction_on_screen() {
    let (mut h, forearm) = with_sample();
    pose(&mut h, forearm, DVec3::X, 50.0);
    let shape = shown(&h);
    assert!(h.editor.add_sample());
    h.settle();
    assert!(same_shape(&shape, &shown(&h)));
    assert_eq!(names(&h, 0), ["forearm 90°", "forearm 50°"]);
    // A bone that no set has gets a set of its own, which remembers the pose of the other set.
    let hand = joint(&h, "upper_arm");
    pose(&mut h, hand, DVec3::Z, 40.0);
    assert!(h.editor.add_sample());
    let sets = h.editor.correctives().unwrap().sets();
    assert_eq!(sets.len(), 2);
    assert_eq!(sets[1].samples[0].beside.len(), 1);
    assert_eq!(h.editor.active_set(), Some(1));
}

#[test]
fn channels_are_bound_to_either_of_two_samples_of_one_name() {
    let (mut h, _) = with_sample();
    assert_eq!(h.editor.bindable_samples(), ["forearm 90°"]);
    h.editor.rename_sample(0, "Bent");
    let upper = joint(&h, "upper_arm");
    pose(&mut h, upper, DVec3::Z, 40.0);
    assert!(h.editor.add_sample());
    h.editor.rename_sample(0, "Bent");
    h.settle();
    let names = h.editor.bindable_samples();
    assert_eq!(names, ["Bent (forearm)", "Bent (upper_arm)"]);
    let character = Character::of(h.editor.document());
    let recording = Recording {
        times: vec![0.0, 0.1],
        scalars: vec![ScalarTrack {
            name: "emg".into(),
            unit: String::new(),
            values: vec![0.0, 1.0],
        }],
        ..Recording::default()
    };
    let rotated = |sample: &str| {
        let binding = format!("emg=sample:{sample}").parse().unwrap();
        let bound = bind(&recording, &[binding], &character.bind_target()).unwrap();
        ["forearm", "upper_arm"].map(|name| bound.rotates(name))
    };
    assert_eq!(rotated(&names[0]), [true, false]);
    assert_eq!(rotated(&names[1]), [false, true]);
    // A binding of an older project means the first.
    assert_eq!(rotated("Bent"), [true, false]);
    // With a name of its own it is listed by that, and its set still tells it.
    h.editor.rename_sample(0, "Raised");
    h.settle();
    assert_eq!(h.editor.bindable_samples(), ["Bent", "Raised"]);
    assert_eq!(rotated(&names[0]), [true, false]);
    // What is bound follows a sample that is renamed, in one step.
    let folder = tempfile::tempdir().unwrap();
    let take = folder.path().join("load.csv");
    std::fs::write(&take, "time,emg\n0,0\n0.1,1\n0.2,0.5\n").unwrap();
    h.editor.add_recording(&take);
    h.settle();
    let (id, emg) = (RecordingId(0), ("emg", ChannelKind::Scalar));
    let to = "emg=sample:Raised".parse::<Binding>().unwrap().to;
    h.editor.bind_channel(id, emg, Some(to));
    h.settle();
    let bound_to = |h: &EditorHarness| match h.editor.binding_of(id, emg) {
        Some(BoundTo::Sample { sample, .. }) => sample.clone(),
        other => panic!("{other:?}"),
    };
    h.editor.rename_sample(0, "Bent");
    h.settle();
    assert_eq!(bound_to(&h), "Bent (upper_arm)");
    let set = h.editor.active_set().unwrap();
    h.editor.rename_set(set, "Shoulder");
    h.settle();
    assert_eq!(bound_to(&h), "Bent (Shoulder)");
    assert_eq!(h.editor.history().undo_label(), Some("Rename sample set"));
    h.editor.undo();
    h.settle();
    assert_eq!(bound_to(&h), "Bent (upper_arm)");
    h.editor.undo();
    h.settle();
    assert_eq!(bound_to(&h), "Raised");
    h.check();
}

#[test]
fn a_sample_of_two_posed_bones_belongs_to_the_set_of_both() {
    let mut h = EditorHarness::new();
    h.editor.show_clip(None);
    let (upper, forearm) = (joint(&h, "upper_arm"), joint(&h, "forearm"));
    pose(&mut h, forearm, DVec3::X, 60.0);
    pose(&mut h, upper, DVec3::Z, 40.0);
    h.editor.select_joints([upper, forearm], Some(forearm));
    assert!(h.editor.add_sample());
    sculpt(&mut h, &[(1200, Vec3::Y * 0.01)]);
    let corrected = shown(&h);
    // Later samples of one of the bones, or of both, go there too.
    pose(&mut h, upper, DVec3::Z, 80.0);
    assert!(h.editor.add_sample());
    h.settle();
    pose(&mut h, forearm, DVec3::X, 100.0);
    assert!(h.editor.add_sample());
    h.settle();
    let sets = h.editor.correctives().unwrap().sets();
    let drivers: Vec<JointId> = sets[0].drivers.iter().map(|d| d.joint).collect();
    assert_eq!((sets.len(), drivers), (1, vec![upper, forearm]));
    assert_eq!(sets[0].name, "upper_arm + forearm");
    assert!(sets[0].samples.iter().all(|s| s.beside.is_empty()));
    assert_eq!(sets[0].samples.len(), 3);
    // The first one is still what was sculpted.
    h.editor.select_sample(0, 0);
    h.editor.go_to_sample();
    h.settle();
    assert!(same_shape(&corrected, &shown(&h)));
}

#[test]
fn go_to_poses_the_drivers_and_update_moves_the_sample() {
    let (mut h, forearm) = with_sample();
    let corrected = shown(&h);
    let hand = joint(&h, "upper_arm");
    pose(&mut h, forearm, DVec3::X, 0.0);
    pose(&mut h, hand, DVec3::Z, 30.0);
    let n = h.editor.history().n_undo();
    h.editor.go_to_sample();
    h.settle();
    assert_eq!(h.editor.history().n_undo(), n + 1);
    assert_eq!(
        h.editor.history().undo_label(),
        Some("Go to \"forearm 90°\"")
    );
    assert!((h.editor.sample_weights()[0] - 1.0).abs() < 1e-12);
    // Bones that drive nothing keep their pose.
    let pose_now = h.editor.document().shown_pose();
    let rest = h.editor.document().rest_pose().locals[hand.get()].rotation;
    assert!(pose_now.locals[hand.get()].rotation.angle_between(rest) > 0.5);
    pose(&mut h, hand, DVec3::Z, 0.0);
    assert!(same_shape(&corrected, &shown(&h)));

    pose(&mut h, forearm, DVec3::X, 70.0);
    let held = h.editor.samples_of(0)[0].displacements.clone();
    h.editor.update_sample();
    h.settle();
    assert_eq!(h.editor.history().undo_label(), Some("Update sample"));
    assert!((h.editor.sample_weights()[0] - 1.0).abs() < 1e-12);
    assert_eq!(h.editor.samples_of(0)[0].displacements, held);
    // At bind a sample has nothing to correct.
    pose(&mut h, forearm, DVec3::X, 0.0);
    let at = h.editor.document().clone();
    h.editor.update_sample();
    h.settle();
    assert!(
        h.last_notice()
            .contains("is at the bind pose of its drivers"),
        "{}",
        h.last_notice()
    );
    assert!(h.editor.document().same_content(&at));
}

#[test]
fn mute_solo_strength_and_order_are_one_step_each_and_undo_to_the_bit() {
    let (mut h, forearm) = with_sample();
    pose(&mut h, forearm, DVec3::X, 45.0);
    h.editor.add_sample();
    pose(&mut h, forearm, DVec3::X, 120.0);
    h.editor.add_sample();
    h.settle();
    let muted = |h: &EditorHarness| -> Vec<bool> {
        h.editor.samples_of(0).iter().map(|s| s.muted).collect()
    };
    let checked = |h: &mut EditorHarness, label: &str, command: &dyn Fn(&mut EditorHarness)| {
        let before = h.editor.document().clone();
        let n = h.editor.history().n_undo();
        command(h);
        h.settle();
        assert_eq!(h.editor.history().undo_label(), Some(label));
        assert_eq!(h.editor.history().n_undo(), n + 1);
        let after = h.editor.document().clone();
        h.editor.undo();
        assert!(h.editor.document().same_content(&before), "{label}");
        h.editor.redo();
        assert!(h.editor.document().same_content(&after), "{label}");
        h.settle();
    };
    checked(&mut h, "Mute sample", &|h| h.editor.mute_sample(1, true));
    checked(&mut h, "Solo sample", &|h| h.editor.solo_sample(Some(0)));
    assert_eq!(muted(&h), [false, true, true]);
    assert!(h.editor.is_sample_solo(0));
    checked(&mut h, "Solo sample", &|h| h.editor.solo_sample(Some(2)));
    // What was muted before stays so.
    checked(&mut h, "Unmute samples", &|h| h.editor.solo_sample(None));
    assert_eq!(muted(&h), [false, true, false]);
    // Names do not count, nor does a solo that was undone.
    for index in 0..3 {
        h.editor.rename_sample(index, "Same");
    }
    h.editor.solo_sample(Some(2));
    h.editor.rename_sample(1, "Other");
    h.editor.solo_sample(None);
    assert_eq!(muted(&h), [false, true, false]);
    h.editor.solo_sample(Some(0));
    h.editor.undo();
    h.editor.mute_sample(1, false);
    h.editor.mute_sample(2, true);
    h.editor.mute_sample(1, true);
    h.editor.solo_sample(Some(1));
    h.editor.solo_sample(None);
    assert_eq!(muted(&h), [false, true, true]);
    h.editor.mute_sample(2, false);
    h.editor.rename_sample(0, "forearm 90°");
    checked(&mut h, "Sample strength", &|h| {
        h.editor.begin_step("Sample strength");
        for strength in [0.9, 0.5, f32::NAN, 7.0, 0.25] {
            h.editor.set_sample_strength(0, strength);
        }
        h.editor.end_step();
    });
    assert_eq!(h.editor.samples_of(0)[0].strength, 0.25);
    checked(&mut h, "Move sample", &|h| {
        h.editor.select_sample(0, 0);
        h.editor.move_sample(false);
    });
    assert_eq!(names(&h, 0)[1], "forearm 90°");
    assert_eq!(h.editor.active_sample(), Some(1));
    checked(&mut h, "Rename sample", &|h| {
        h.editor.rename_sample(1, " Bent ");
    });
    assert_eq!(names(&h, 0)[1], "Bent");
    checked(&mut h, "Delete sample", &|h| h.editor.delete_sample());
    assert_eq!(h.editor.samples_of(0).len(), 2);
    checked(&mut h, "Delete sample set", &|h| h.editor.delete_set());
    assert!(h.editor.correctives().unwrap().is_empty());
}

#[test]
fn a_set_changes_its_drivers_and_its_interpolation() {
    let (mut h, _) = with_sample();
    let axis = h.editor.suggested_axis(0, 0, true);
    assert!(axis.is_normalized());
    h.editor.change_set(0, "Driver mode", |set| {
        set.drivers[0].mode = DriverMode::Hinge(DVec3::X);
    });
    assert!((h.editor.sample_weights()[0] - 1.0).abs() < 1e-12);
    let n = h.editor.history().n_undo();
    h.editor.begin_step("Radius");
    for radius in [1.1, 1.5, 2.0] {
        h.editor.change_set(0, "Radius", |set| set.radius = radius);
    }
    h.editor.end_step();
    h.editor
        .change_set(0, "Kernel", |set| set.kernel = Kernel::Gaussian);
    assert_eq!(h.editor.history().n_undo(), n + 2);
    // Unchanged: no step.
    h.editor
        .change_set(0, "Kernel", |set| set.kernel = Kernel::Gaussian);
    assert_eq!(h.editor.history().n_undo(), n + 2);
    let at = h.editor.document().clone();
    h.editor.begin_step("Radius");
    for radius in [9.0, 10.0] {
        h.editor.change_set(0, "Radius", |set| set.radius = radius);
    }
    h.editor.end_step();
    h.settle();
    assert!(h.editor.document().same_content(&at));
    let told = h.notices.iter().filter(|n| n.text.contains("radius"));
    assert_eq!(told.count(), 1, "{:?}", h.notices);

    let hand = joint(&h, "upper_arm");
    h.editor.select_joint(Some(hand));
    h.editor.add_drivers();
    let set = h.editor.correctives().unwrap().sets()[0].clone();
    assert_eq!((set.drivers.len(), set.samples[0].rotations.len()), (2, 2));
    assert_eq!(set.samples[0].rotations[1], set.drivers[1].bind);
    h.editor.select_drivers();
    assert_eq!(h.editor.document().session().selected_joints.len(), 2);
    h.editor.remove_driver(0, 1);
    assert_eq!(h.editor.correctives().unwrap().sets()[0].drivers.len(), 1);
    h.editor.remove_driver(0, 0);
    h.settle();
    assert_eq!(h.last_notice(), "The set \"forearm\" has no driver bone.");
    // A bone drives one set.
    h.editor.select_joint(Some(hand));
    assert!(h.editor.add_set());
    assert_eq!(h.editor.active_set(), Some(1));
    assert!(!h.editor.add_set());
    h.settle();
    assert!(h.last_notice().contains("a driver bone in common"));
    h.editor.rename_set(1, "Wrist");
    assert_eq!(h.editor.correctives().unwrap().sets()[1].name, "Wrist");
}

#[test]
fn the_finger_of_a_hand_is_found_to_be_a_hinge_from_its_clips() {
    let mut h = EditorHarness::on(OpenRequest::Sample("hand".into()));
    let finger = joint(&h, "index.02.L");
    h.editor.select_joint(Some(finger));
    assert!(h.editor.add_set());
    let set = h.editor.correctives().unwrap().sets()[0].clone();
    let DriverMode::Hinge(axis) = set.drivers[0].mode else {
        panic!("{:?}", set.drivers[0].mode);
    };
    assert!(axis.abs_diff_eq(DVec3::X, 1e-3), "{axis}");
}

/// Painting elsewhere draws no picture again.
#[test]
fn a_picture_is_drawn_again_where_its_vertices_change() {
    let (mut h, _) = with_sample();
    let mesh = h.editor.corrected_mesh().unwrap();
    let item = h.editor.document().meshes()[&mesh].clone();
    let last = item.geometry.n_points() as u32 - 1;
    assert!(last > 1024, "more than one chunk");
    let moved = Displacements::new((0..50).map(|p| (p, Vec3::splat(0.02))).collect());
    let made = item.correctives.with_displacements(0, 0, moved);
    let edit = correctives::edit_of(h.editor.document(), mesh, made);
    h.editor.apply(edit, "Sculpt").unwrap();
    let picture = |h: &mut EditorHarness| {
        h.editor.sample_picture(0, 0);
        h.settle();
        h.editor.sample_picture(0, 0).unwrap()
    };
    let paint = |h: &mut EditorHarness, point: u32| {
        let rows: Rows = [vec![(0, 1.0)]].into_iter().collect();
        let edit = Edit::influences(mesh, vec![point], rows);
        h.editor.apply(edit, "Paint").unwrap();
    };
    let first = picture(&mut h);
    paint(&mut h, last);
    assert!(Arc::ptr_eq(&picture(&mut h), &first));
    paint(&mut h, 20);
    let second = picture(&mut h);
    assert!(!Arc::ptr_eq(&second, &first));
    // What the sample does not depend on is compared from there on.
    paint(&mut h, last - 1);
    assert!(Arc::ptr_eq(&picture(&mut h), &second));
}

/// What a plot shows is the same while its driver swings, and another once another bone bends.
#[test]
fn the_drivers_beside_the_plotted_one_tell_whether_its_weights_changed() {
    let (mut h, forearm) = with_sample();
    let beside = |h: &EditorHarness| {
        let rotation = DQuat::from_rotation_x(0.2);
        h.editor.drivers_beside(0, 0, rotation).unwrap()
    };
    let upper_arm = joint(&h, "upper_arm");
    pose(&mut h, upper_arm, DVec3::X, 30.0);
    h.editor.add_sample();
    let before = beside(&h);
    assert_eq!(before.len(), 2);
    let same = |a: &[DQuat], b: &[DQuat]| a.iter().zip(b).all(|(a, b)| a.abs_diff_eq(*b, 1e-9));
    pose(&mut h, forearm, DVec3::X, 45.0);
    assert!(same(&beside(&h), &before));
    pose(&mut h, upper_arm, DVec3::X, 50.0);
    assert!(!same(&beside(&h), &before));
}
