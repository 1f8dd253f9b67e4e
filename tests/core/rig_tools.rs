//! Operations on the rig as the window and the command line run them: helper joints, symmetry, scale, binding, rest poses.

use crate::cli::asset;
use crate::export_models::{open, reopen};
use crate::models::tube;
use crate::rig_operations::{END, MIDDLE, ROOT, apart, apply, assert_sound, moving_tube};
use crate::shared::shared_dir;
use crate::skinning::Random;
use glam::{DMat3, DQuat, DVec3};
use sinew::document::rig::measure::{Compared, n_keys};
use sinew::document::rig::{self, Children, Intent, Move, RigError, Twist, TwistOf};
use sinew::document::{ClipId, Document, Edit, History};
use sinew::export::{ExportOptions, GltfFormat, export};
use sinew::io::gltf_export::for_file;
use sinew::math::{Transform, Worse};
use sinew::rig::{Done, Operation, Report};
use sinew::skeleton::constraint::twist_angle;
use sinew::skeleton::{Clip, JointId, Pose, Property};
use sinew::skinning::RowRef;
use sinew::task::Task;
use sinew::weights::automatic::Automatic;
use std::path::Path;
use std::sync::Arc;

const CLIP: ClipId = ClipId(7);

/// Runs an operation, applies it, checks every invariant, takes it back bit for bit and does it again.
pub(crate) fn done(document: &mut Document, operation: &Operation) -> (Done, Report) {
    let before = document.clone();
    let done = operation
        .run(document, &Task::new())
        .unwrap_or_else(|why| panic!("{operation:?}: {why}"));
    assert!(document.same_content(&before));
    let mut history = History::default();
    let edit = Edit::Rig(Box::new(done.edit.clone()));
    history.apply(document, edit, operation.label()).unwrap();
    assert_sound(document);
    let after = document.clone();
    let report = Report::new(operation, &done, &before, &after);
    history.undo(document).unwrap();
    assert!(document.same_content(&before), "{operation:?}");
    history.redo(document).unwrap();
    assert!(document.same_content(&after), "{operation:?}");
    (done, report)
}

pub(crate) fn refused(document: &Document, operation: &Operation) -> String {
    let why = operation.run(document, &Task::new()).unwrap_err();
    let why = why.to_string();
    assert!(why.ends_with('.') && why.chars().count() <= 300, "{why}");
    why
}

/// The note of an operation that changes nothing.
pub(crate) fn unchanged(document: &Document, operation: &Operation) -> String {
    let done = operation.run(document, &Task::new()).unwrap();
    assert!(done.edit.changes_nothing(document));
    let [note] = &done.notes[..] else {
        panic!("{:?}", done.notes)
    };
    note.clone()
}

pub(crate) fn name(document: &Document, joint: JointId) -> &str {
    &document.skeleton().joint(joint).name
}

pub(crate) fn place(document: &Document, joint: JointId) -> DVec3 {
    let world = document.rest_pose().world_matrices(document.skeleton());
    world[joint.get()].translation
}

/// The largest difference at rest, by the diagonal.
fn at_rest(before: &Document, after: &Document) -> f64 {
    let compared = Compared::new(before, after);
    compared.at_rest().max / compared.diagonal
}

fn clip_at(document: &Document, time: f64) -> Pose {
    document.pose_of_clip(&document.clips()[&CLIP], time)
}

pub(crate) fn sums_to_one(document: &Document) {
    for item in document.meshes().values() {
        for row in item.influences.iter() {
            let sum: f32 = row.weights.iter().sum();
            assert!((sum - 1.0).abs() < 1e-6, "{sum}");
        }
    }
}

/// The sum of the weights of a joint over all points.
fn weight_of(document: &Document, joint: JointId) -> f64 {
    let item = document.meshes().values().next().unwrap();
    let skin = document.skins().values().next().unwrap();
    let slot = skin.joints.iter().position(|&j| j == joint).unwrap() as u16;
    let pairs = item.influences.iter().flat_map(RowRef::iter);
    pairs
        .filter(|(j, _)| *j == slot)
        .map(|(_, w)| f64::from(w))
        .sum()
}

#[test]
fn twist_chains_share_the_twist_of_the_child_and_move_nothing_at_rest() {
    for n in [1, 2, 3] {
        let before = moving_tube();
        let mut document = before.clone();
        let (did, report) = done(&mut document, &Operation::Twist { joint: MIDDLE, n });
        assert_eq!(did.made.len(), n);
        assert_eq!(name(&document, did.made[0]), "middle_twist_01");
        assert!(at_rest(&before, &document) < 1e-12);
        assert!(report.counts.n_points > 0 && report.counts.keys_added == 0);
        sums_to_one(&document);
        for time in [0.0, 0.2, 0.4, 0.7, 1.0] {
            let pose = clip_at(&document, time);
            let all = twist_angle(pose.locals[END.get()].rotation, DVec3::X);
            for (k, joint) in (1..).zip(&did.made) {
                let local = &pose.locals[joint.get()];
                let share = twist_angle(local.rotation, DVec3::X);
                let expected = all * f64::from(k) / n as f64;
                assert!((share - expected).abs() < 1e-9, "{share} {expected}");
                let x = f64::from(k) / n as f64;
                assert!(local.translation.distance(DVec3::X * x) < 1e-12);
            }
        }
        // They follow by constraints, also in a pose that no clip has.
        for &joint in &did.made {
            assert_eq!(document.constraints_of(joint).len(), 1);
            for clip in document.clips().values() {
                assert_eq!(clip.channel_of(joint, Property::Rotation), None);
            }
        }
        let mut pose = Pose::clone(document.rest_pose());
        pose.locals[END.get()].rotation *= DQuat::from_rotation_x(0.8);
        document.constrain(&mut pose);
        let last = did.made.last().unwrap();
        let share = twist_angle(pose.locals[last.get()].rotation, DVec3::X);
        assert!((share - 0.8).abs() < 1e-9, "{share}");
    }
}

#[test]
fn an_upper_arms_twist_is_taken_back_at_its_head() {
    let mut document = moving_tube();
    let twisting = Transform {
        rotation: DQuat::from_rotation_x(1.2) * DQuat::from_rotation_z(0.3),
        ..document.pose().locals[MIDDLE.get()]
    };
    let (joints, locals) = (vec![MIDDLE], vec![twisting]);
    document.apply(&mut Edit::Pose { joints, locals }).unwrap();
    let request = Twist {
        joint: MIDDLE,
        child: END,
        n: 2,
        of: TwistOf::Own,
    };
    let before = document.clone();
    let (edit, made) = rig::twist(&document, &request).unwrap();
    apply(&mut document, edit);
    assert!(at_rest(&before, &document) < 1e-12);
    let mut pose = Pose::clone(document.pose());
    document.constrain(&mut pose);
    let own = twist_angle(pose.locals[MIDDLE.get()].rotation, DVec3::X);
    for (k, joint) in made.iter().enumerate() {
        let local = pose.locals[joint.get()];
        let share = twist_angle(local.rotation, DVec3::X);
        let expected = -own * (1.0 - k as f64 / 2.0);
        assert!((share - expected).abs() < 1e-9, "{share} {expected}");
        assert!(local.translation.distance(DVec3::X * 0.5 * k as f64) < 1e-12);
    }
}

#[test]
fn a_half_joint_turns_by_half_and_takes_from_both() {
    let before = moving_tube();
    let mut document = before.clone();
    let (did, report) = done(&mut document, &Operation::Half { joint: END });
    let half = did.made[0];
    assert_eq!(name(&document, half), "end_half");
    assert_eq!(document.skeleton().joint(half).parent, Some(MIDDLE));
    assert!(at_rest(&before, &document) < 1e-12);
    assert!(report.counts.n_points > 0 && report.counts.keys_added > 0);
    sums_to_one(&document);
    let lost = |joint| weight_of(&before, joint) - weight_of(&document, joint);
    assert!(lost(MIDDLE) > 1.0);
    assert!((lost(MIDDLE) - lost(END)).abs() < 1e-4);
    assert!((weight_of(&document, half) - 2.0 * lost(END)).abs() < 1e-4);
    for time in [0.0, 0.3, 0.8] {
        let pose = clip_at(&document, time);
        let whole = pose.locals[END.get()];
        let part = pose.locals[half.get()];
        let angle = |q: DQuat| 2.0 * q.w.abs().clamp(0.0, 1.0).acos();
        assert!((2.0 * angle(part.rotation) - angle(whole.rotation)).abs() < 4e-3);
        // It goes along with the end's place.
        assert!(part.translation.distance(whole.translation) < 1e-6);
    }
    let why = refused(&document, &Operation::Half { joint: ROOT });
    assert_eq!(
        why,
        "“root” has no parent: a half joint lies between two bones."
    );
}

/// The moving tube as a left arm, with a root in the middle.
fn left_arm() -> Document {
    let mut document = moving_tube();
    for (joint, name) in [(MIDDLE, "arm.l"), (END, "hand.l"), (JointId(4), "prop.l")] {
        let edit = rig::rename(&document, joint, name).unwrap();
        apply(&mut document, edit);
    }
    document
}

#[test]
fn a_missing_side_is_created_and_an_existing_one_matched() {
    let before = left_arm();
    let mut document = before.clone();
    let (did, _) = done(&mut document, &Operation::Symmetrize { joint: MIDDLE });
    let names: Vec<&str> = did.made.iter().map(|&j| name(&document, j)).collect();
    assert!(
        names.contains(&"arm.r") && names.contains(&"hand.r"),
        "{names:?}"
    );
    assert!(at_rest(&before, &document) < 1e-6);
    sums_to_one(&document);
    let named = |document: &Document, wanted: &str| {
        let skeleton = document.skeleton().clone();
        let mut joints = skeleton.live_joints();
        joints.find(|&j| skeleton.joint(j).name == wanted).unwrap()
    };
    let hand = named(&document, "hand.r");
    assert!(place(&document, hand).distance(DVec3::NEG_X) < 1e-12);
    // W' = M W F with F = diag(-1, 1, 1): the axes of a frame along the world's stay.
    let world = document.rest_pose().world_matrices(document.skeleton());
    assert!(
        world[hand.get()]
            .matrix3
            .abs_diff_eq(DMat3::IDENTITY, 1e-12)
    );
    // The tube is symmetric, so the new hand has the old one's weight.
    let (left, right) = (weight_of(&document, END), weight_of(&document, hand));
    assert!((left - right).abs() < 1e-3 && right > 1.0, "{left} {right}");
    let why = unchanged(&document, &Operation::Symmetrize { joint: MIDDLE });
    assert_eq!(
        why,
        "Nothing changes: the other side of “arm.l” is already symmetric."
    );
    // The right hand is turned and moved away, and comes back; its clips keep what turns keep.
    let wanted = Move {
        joint: hand,
        by: DVec3::new(0.1, 0.2, 0.0),
        intent: Intent::NewPivot,
        children: Children::Stay,
        tolerance: 1e-4,
    };
    let edit = rig::move_joint(&document, &wanted).unwrap();
    apply(&mut document, edit);
    let (did, report) = done(&mut document, &Operation::Symmetrize { joint: END });
    assert!(did.made.is_empty() && report.counts.n_joints > 0);
    let there = place(&document, hand);
    assert!(there.distance(DVec3::NEG_X) < 1e-9, "{there}");
    let why = refused(&document, &Operation::Symmetrize { joint: ROOT });
    assert!(why.starts_with("“root” has no side in its name"), "{why}");
}

/// The bones that gave weight to the helpers of one side give as much on the other.
#[test]
fn mirrored_helpers_take_their_weights_from_the_same_bones() {
    let mut document = open(Path::new(&asset("mannequin")));
    let joint_of = |document: &Document, name: &str| {
        let joints = document.skeleton().joints().iter();
        let at = joints.clone().position(|j| j.name == name).unwrap();
        JointId(at as u32)
    };
    let joint = joint_of(&document, "upper_arm.L");
    done(&mut document, &Operation::Twist { joint, n: 2 });
    let (did, _) = done(&mut document, &Operation::Symmetrize { joint });
    assert_eq!(did.made.len(), 2);
    for stem in ["upper_arm", "forearm", "clavicle", "hand", "thigh"] {
        let [left, right] = ["L", "R"]
            .map(|side| weight_of(&document, joint_of(&document, &format!("{stem}.{side}"))));
        assert!((left - right).abs() < 0.01 * left, "{stem}: {left} {right}");
    }
    sums_to_one(&document);
}

#[test]
fn a_frozen_scale_leaves_every_pose_and_is_refused_where_it_would_shear() {
    let mut document = moving_tube();
    let scaled = |scale: DVec3, document: &mut Document| {
        let mut pose = Pose::clone(document.rest_pose());
        pose.locals[ROOT.get()].stretch = DMat3::from_diagonal(scale);
        let edit = rig::pose_as_rest(document, &pose).unwrap();
        apply(document, edit);
    };
    let freeze = Operation::FreezeScale { joint: ROOT };
    let why = unchanged(&document, &freeze);
    assert_eq!(why, "Nothing changes: “root” has a scale of 1.");
    let plain = document.clone();
    scaled(DVec3::splat(3.0), &mut document);
    let before = document.clone();
    done(&mut document, &freeze);
    assert!(
        apart(&before, &document) < 2e-7,
        "{}",
        apart(&before, &document)
    );
    let root = document.skeleton().joint(ROOT).rest;
    assert!(root.scale().abs_diff_eq(DVec3::ONE, 1e-15));
    let middle = document.skeleton().joint(MIDDLE).rest.translation;
    assert!(middle.distance(DVec3::X * 6.0) < 1e-12);
    let mut uneven = plain;
    scaled(DVec3::new(1.0, 2.0, 1.0), &mut uneven);
    let why = refused(&uneven, &freeze);
    assert!(
        why.starts_with("“root” has a non-uniform scale and “middle” below it rotates"),
        "{why}"
    );
}

#[test]
fn an_armature_of_a_hundred_is_frozen_with_all_that_hangs_from_it() {
    let Some(shared) = shared_dir("an_armature_of_a_hundred_is_frozen_with_all_that_hangs_from_it")
    else {
        return;
    };
    let before = open(&shared.join("models/robot_expressive/robot_expressive.glb"));
    let skeleton = before.skeleton();
    let mut joints = skeleton.live_joints();
    let armature = joints.find(|&j| skeleton.joint(j).name == "RobotArmature");
    let mut document = before.clone();
    let joint = armature.unwrap();
    let (_, report) = done(&mut document, &Operation::FreezeScale { joint });
    let off = 100.0 * report.counts.worst();
    println!("RobotExpressive, scale 100 frozen: {off:.1e} %");
    assert!(off < 1e-4, "{off:e}");
    assert_eq!(n_keys(&document), n_keys(&before));
}

#[test]
fn a_pose_becomes_the_rest_pose_and_no_clip_changes() {
    let mut document = moving_tube();
    let mut pose = Pose::clone(document.rest_pose());
    pose.locals[MIDDLE.get()].rotation = DQuat::from_rotation_z(0.5);
    pose.locals[ROOT.get()].translation += DVec3::Y;
    let before = document.clone();
    let (_, report) = done(&mut document, &Operation::PoseAsRest(Arc::new(pose)));
    assert!(at_rest(&before, &document) > 0.05);
    let clips = report.counts.in_clips.values().copied();
    assert!(clips.fold(0.0, f64::worse) < 1e-7, "{:?}", report.clips);
    // In both clips the root gets its old place, and in the one that does not turn it, nothing else.
    assert_eq!(report.counts.keys_added, 2);
    let why = unchanged(&before, &Operation::PoseAsRest(before.rest_pose().clone()));
    assert_eq!(why, "Nothing changes: the pose is already the rest pose.");
}

#[test]
fn a_skinned_mesh_is_bound_again() {
    let before = moving_tube();
    let mut document = before.clone();
    let (_, report) = done(&mut document, &Operation::Bind(Automatic::Rigid));
    assert!(report.counts.n_points > 0 && report.at_rest() < 1e-9);
    let item = document.meshes().values().next().unwrap();
    assert!(item.influences.iter().all(|row| row.len() == 1));
    let (_, report) = done(&mut document, &Operation::Bind(Automatic::Heat));
    assert!(report.counts.n_points > 0);
    sums_to_one(&document);
    // Joints that disagree about the mesh at rest.
    let mut pose = Pose::clone(document.rest_pose());
    pose.locals[END.get()].translation += DVec3::Y;
    let edit = rig::pose_as_rest(&document, &pose).unwrap();
    apply(&mut document, edit);
    let why = refused(&document, &Operation::Bind(Automatic::Rigid));
    assert!(why.contains("disagree on the place of the mesh"), "{why}");
    let why = refused(&Document::default(), &Operation::Bind(Automatic::Rigid));
    assert_eq!(why, "The model has no mesh to bind.");
}

#[test]
fn names_change_and_nothing_else() {
    let before = moving_tube();
    let mut document = before.clone();
    let rename = |name: &str| Operation::Rename {
        joint: MIDDLE,
        name: name.into(),
    };
    let (did, report) = done(&mut document, &rename(" elbow "));
    assert_eq!(name(&document, MIDDLE), "elbow");
    assert_eq!((report.counts.n_joints, report.counts.worst()), (1, 0.0));
    assert!(did.notes.is_empty());
    let (did, _) = done(&mut document, &rename("end"));
    assert_eq!(did.notes, ["Another bone is named “end” too."]);
    let (did, _) = done(&mut document, &rename("end "));
    assert_eq!(did.notes, ["Nothing changes: “end” already has this name."]);
    assert_eq!(refused(&document, &rename(" ")), "A bone needs a name.");
    let why = refused(&document, &rename("el\nbow"));
    assert!(why.contains("control characters"), "{why}");
}

#[test]
fn a_removal_says_both_numbers() {
    let mut document = moving_tube();
    let (did, report) = done(&mut document, &Operation::Remove { joint: MIDDLE });
    let note = &did.notes[0];
    assert!(
        note.contains("along the bone") && note.contains("to the parent"),
        "{note}"
    );
    assert_eq!(note.matches("rms").count(), 2);
    assert!(report.counts.n_points > 0);
    let gone = Operation::Half { joint: MIDDLE };
    assert_eq!(refused(&document, &gone), "There is no bone 1.");
}

#[test]
fn a_move_is_measured_in_the_world() {
    let mut document = tube(12);
    // The parent's axes are turned: the offset is the world's.
    let mut pose = Pose::clone(document.rest_pose());
    pose.locals[ROOT.get()].rotation = DQuat::from_rotation_z(0.8);
    let edit = rig::pose_as_rest(&document, &pose).unwrap();
    apply(&mut document, edit);
    let was = place(&document, END);
    let by = DVec3::new(0.0, 0.25, -0.1);
    for intent in [
        Intent::NewPivot,
        Intent::KeepMotion,
        Intent::ChildrenKeepMotion,
    ] {
        let before = document.clone();
        let wanted = Operation::Move {
            joint: MIDDLE,
            by,
            intent,
        };
        let from = place(&document, MIDDLE);
        done(&mut document, &wanted);
        assert!(place(&document, MIDDLE).distance(from + by) < 1e-12);
        assert!(place(&document, END).distance(was) < 1e-12);
        assert!(at_rest(&before, &document) < 1e-6);
    }
}

#[test]
fn a_bone_is_extruded_in_the_world_and_merged_back() {
    let before = moving_tube();
    let mut document = before.clone();
    let by = DVec3::new(0.2, 0.1, -0.3);
    let (did, report) = done(&mut document, &Operation::Extrude { joint: END, by });
    let [made] = did.made[..] else {
        panic!("{:?}", did.made)
    };
    assert_eq!(document.skeleton().joint(made).parent, Some(END));
    let offset = place(&document, made) - place(&document, END);
    assert!(offset.distance(by) < 1e-12);
    assert!(apart(&before, &document) < 1e-12);
    assert_eq!(weight_of(&document, made), 0.0);
    assert_eq!(report.label, "Extrude bone");
    assert!(did.notes[0].contains("no weights"), "{:?}", did.notes);

    // All weights of a dissolved bone go to its parent.
    let all = weight_of(&document, MIDDLE) + weight_of(&document, END);
    done(&mut document, &Operation::Dissolve { joint: END });
    assert!(!document.skeleton().is_live(END));
    assert_eq!(document.skeleton().joint(made).parent, Some(MIDDLE));
    assert!((weight_of(&document, MIDDLE) - all).abs() < 1e-4);
    sums_to_one(&document);
}

#[test]
fn a_cleared_parent_is_the_root_of_the_rig() {
    let before = moving_tube();
    let mut document = before.clone();
    let operation = Operation::ClearParent { joint: END };
    done(&mut document, &operation);
    assert_eq!(document.skeleton().joint(END).parent, Some(ROOT));
    assert!(apart(&before, &document) < 3e-4);
    let why = unchanged(&document, &operation);
    assert_eq!(
        why,
        "Nothing changes: “end” is already a child of “root”, the root of the rig."
    );
    let why = unchanged(&document, &Operation::ClearParent { joint: ROOT });
    assert_eq!(why, "Nothing changes: “root” has no parent.");
}

#[test]
fn locked_bones_keep_their_weights_and_the_note_says_so() {
    let mut document = moving_tube();
    let locks = Arc::new([MIDDLE].into());
    document.apply(&mut Edit::Locks(locks)).unwrap();
    for operation in [
        Operation::Insert {
            joint: MIDDLE,
            n: 1,
        },
        Operation::Twist {
            joint: MIDDLE,
            n: 2,
        },
        Operation::Half { joint: END },
    ] {
        let before = document.clone();
        let (did, report) = done(&mut document, &operation);
        assert_eq!(report.counts.n_points, 0);
        assert!(
            did.notes
                .iter()
                .any(|n| n.starts_with("“middle” is locked"))
        );
        assert!(did.made.iter().all(|j| document.locked().contains(j)));
        document = before;
    }
    let removal = rig::remove(&document, MIDDLE, rig::WeightRecipient::IntoParent);
    assert!(matches!(removal, Err(RigError::Locked(_))));
}

#[test]
fn keyframes_of_helpers_are_few() {
    let Some(shared) = shared_dir("keyframes_of_helpers_are_few") else {
        return;
    };
    let before = open(&shared.join("models/mannequiny/mannequiny.glb"));
    let skeleton = before.skeleton().clone();
    let joint = |wanted: &str| {
        let mut joints = skeleton.live_joints();
        joints.find(|&j| skeleton.joint(j).name == wanted).unwrap()
    };
    let hand = joint("hand.l");
    let keys = |document: &Document, joint: JointId| -> usize {
        let clips = document.clips().values();
        let of = |clip: &Arc<Clip>| {
            let c = clip.channel_of(joint, Property::Rotation);
            c.map_or(0, |c| clip.channels[c].times.len())
        };
        clips.map(of).sum()
    };
    let mut document = before.clone();
    let operation = Operation::Twist {
        joint: joint("lowerarm.l"),
        n: 2,
    };
    let (did, report) = done(&mut document, &operation);
    let (source, baked) = (keys(&before, hand), keys(&document, did.made[0]));
    println!("hand.l {source} keys, its half twist {baked} at 0.1 degrees");
    assert!(baked < source, "{source} -> {baked}");
    assert_eq!(name(&document, did.made[0]), "lowerarm_twist_01.l");
    assert!(did.notes[0].contains("“hand.l”"), "{:?}", did.notes);
    assert!(report.at_rest() < 1e-4);
    let own = Operation::Twist {
        joint: joint("upperarm.l"),
        n: 2,
    };
    let (did, _) = done(&mut document, &own);
    assert!(did.notes[0].contains("take back the twist of “upperarm.l”"));
}

/// A random operation on random bones of the model.
fn random_operation(document: &Document, random: &mut Random) -> Operation {
    let live: Vec<JointId> = document.skeleton().live_joints().collect();
    let mut pick = || live[(random.next() * live.len() as f64) as usize % live.len()];
    let (joint, parent) = (pick(), pick());
    let n = 1 + (random.next() * 3.0) as usize;
    let size = rig::measure::diagonal(document);
    let intents = [
        Intent::NewPivot,
        Intent::KeepMotion,
        Intent::ChildrenKeepMotion,
    ];
    match (random.next() * 12.0) as u32 {
        0 => Operation::Insert { joint, n },
        1 | 2 => Operation::Move {
            joint,
            by: random.vector(0.02 * size),
            intent: intents[n - 1],
        },
        3 => Operation::Orient {
            joint,
            aim: rig::Axis::NegY,
            second: rig::Axis::X,
        },
        4 => Operation::Reparent { joint, parent },
        5 => Operation::Remove { joint },
        6 => Operation::Symmetrize { joint },
        7 => Operation::Twist { joint, n },
        8 => Operation::Half { joint },
        9 => Operation::FreezeScale { joint },
        10 => Operation::Rename {
            joint,
            name: format!("bone {n}"),
        },
        _ => {
            let mut pose = Pose::clone(document.rest_pose());
            let turn = DQuat::from_axis_angle(DVec3::Z, 0.1 * n as f64);
            let local = &mut pose.locals[joint.get()];
            local.rotation = turn * local.rotation;
            Operation::PoseAsRest(Arc::new(pose))
        }
    }
}

/// Fifty random operations: each is undone bit for bit, the project and the file have what the document has.
#[test]
fn fifty_random_operations_survive_undo_project_and_export() {
    let folder = tempfile::tempdir().unwrap();
    for (seed, name) in ["arm", "mannequin"].into_iter().enumerate() {
        let opened = sinew::io::open_any(Path::new(&asset(name)), &Task::new()).unwrap();
        let before = opened.document;
        let mut document = before.clone();
        let mut random = Random::new(seed as u64 + 5);
        let mut history = History::default();
        let mut states = vec![document.clone()];
        let mut n_tries = 0;
        while states.len() <= 50 && n_tries < 200 {
            n_tries += 1;
            let operation = random_operation(&document, &mut random);
            let done = match operation.run(&document, &Task::new()) {
                Ok(done) => done,
                Err(why) => {
                    refused(&document, &operation);
                    assert!(!why.to_string().contains("NaN"), "{why}");
                    continue;
                }
            };
            let edit = Edit::Rig(Box::new(done.edit));
            match history.apply(&mut document, edit, operation.label()) {
                Ok(_) => {
                    assert_sound(&document);
                    states.push(document.clone());
                }
                Err(why) => {
                    println!("{operation:?}: {why}");
                    assert!(document.same_content(states.last().unwrap()));
                }
            }
        }
        println!("{name}: {} of {n_tries} operations", states.len() - 1);
        assert!(states.len() > 25, "{name}: {}", states.len());
        // The project.
        let path = folder.path().join(format!("{name}.ron"));
        sinew::io::project::save(&document, &path, &Task::new()).unwrap();
        let again = sinew::io::open_any(&path, &Task::new()).unwrap();
        let loaded = again.document;
        assert_eq!(loaded.skeleton().len(), document.skeleton().len());
        for joint in document.skeleton().live_joints() {
            let joints = [&loaded, &document].map(|d| d.skeleton().joint(joint));
            assert_eq!(joints[0], joints[1]);
        }
        assert_eq!(loaded.skins(), document.skins());
        assert_eq!(loaded.clips(), document.clips());
        assert_eq!(loaded.rest_pose(), document.rest_pose());
        for (id, item) in document.meshes() {
            assert!(loaded.meshes()[id].influences == item.influences);
        }
        // The file.
        let options = ExportOptions {
            format: GltfFormat::Glb,
            influences: 8,
            ..ExportOptions::default()
        };
        let file = reopen(&export(&document, &options, &Task::new()).unwrap());
        let with_nodes = for_file(&document);
        let compared = Compared::new(&with_nodes, &file);
        assert!(compared.at_rest().max / compared.diagonal < 1e-5);
        for (id, clip) in document.clips() {
            let off = compared.in_clips(clip, &file.clips()[id]).max / compared.diagonal;
            // Within the tolerance of the keyframes that are written for constraints.
            assert!(off < 1e-4, "{name}, {}: {off:e}", clip.name);
        }
        for state in states.iter().rev().skip(1) {
            history.undo(&mut document).unwrap();
            assert!(document.same_content(state));
        }
        assert!(document.same_content(&before));
    }
}
