//! Joints added, inserted, moved, turned, reparented and removed: one undo step each, refused in full sentences.

use crate::models::tube;
use crate::reference::larger;
use crate::skinning::Random;
use glam::{DQuat, DVec3};
use sinew::document::rig::{
    self, Axis, Children, Extrude, Insert, Intent, Keep, Move, Orient, Reparent, RigEdit,
    SecondAxis, WeightRecipient,
};
use sinew::document::{ClipId, Document, Edit, EditError, History, MeshId, invariants};
use sinew::evaluate::Evaluator;
use sinew::finding::Severity;
use sinew::math::Transform;
use sinew::skeleton::{Channel, Clip, Frame, Interpolation, JointId, Pose, Property};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

pub(crate) const ROOT: JointId = JointId(0);
pub(crate) const MIDDLE: JointId = JointId(1);
pub(crate) const END: JointId = JointId(2);

/// Every invariant of documents, and those of the joints.
pub(crate) fn assert_sound(document: &Document) {
    let findings = invariants::check(document);
    let broken = findings.iter().find(|f| f.severity == Severity::Error);
    assert!(broken.is_none(), "{broken:?}");
    let skeleton = document.skeleton();
    let removed = |j: &JointId| !skeleton.is_live(*j);
    assert!(
        skeleton
            .order()
            .iter()
            .all(|&j| skeleton.is_live(JointId(j)))
    );
    for clip in document.clips().values() {
        assert!(!clip.channels.iter().any(|c| removed(&c.joint)));
    }
    for (&mesh, item) in document.meshes() {
        let Some((_, skin)) = document.skin_of_mesh(mesh) else {
            continue;
        };
        for (joint, weight) in item
            .influences
            .iter()
            .flat_map(sinew::skinning::RowRef::iter)
        {
            assert!(weight == 0.0 || skeleton.is_live(skin.joints[usize::from(joint)]));
        }
    }
}

pub(crate) fn apply(document: &mut Document, edit: RigEdit) {
    document.apply(&mut Edit::Rig(Box::new(edit))).unwrap();
    assert_sound(document);
}

/// The tube with a clip that turns, moves and sizes its joints.
pub(crate) fn moving_tube() -> Document {
    let mut document = tube(24);
    let mut clip = Clip::named("moving");
    let times: Arc<[f32]> = [0.0, 0.4, 1.0].into();
    let turn = |axis: DVec3, angles: [f64; 3]| -> Arc<[f32]> {
        let turns = angles.map(|a| DQuat::from_axis_angle(axis, a).to_array());
        turns.into_iter().flatten().map(|v| v as f32).collect()
    };
    let mut add = |joint: JointId, property: Property, values: Arc<[f32]>| {
        clip.channels.push(Channel {
            joint,
            property,
            interpolation: Interpolation::Linear,
            times: times.clone(),
            values,
        });
    };
    add(ROOT, Property::Rotation, turn(DVec3::Y, [0.0, 0.3, -0.2]));
    add(MIDDLE, Property::Rotation, turn(DVec3::Z, [0.1, 1.1, 0.4]));
    add(END, Property::Rotation, turn(DVec3::X, [0.0, -0.7, 0.9]));
    add(
        END,
        Property::Translation,
        [1.0, 0.0, 0.0, 1.1, 0.1, 0.0, 1.0, 0.0, 0.2].into(),
    );
    let id = ClipId(7);
    let clip = Some(Arc::new(clip));
    document.apply(&mut Edit::Clip { id, clip }).unwrap();
    document
}

/// The largest difference of a number of a skin matrix at rest.
fn apart_by_skins(before: &Document, after: &Document) -> f64 {
    let matrices = |document: &Document| -> Vec<f64> {
        let world = document.rest_pose().world_matrices(document.skeleton());
        let joints = document.skins().values().flat_map(|skin| {
            let pairs = skin.joints.iter().zip(&skin.inverse_bind);
            pairs.map(|(joint, inverse_bind)| world[joint.get()] * *inverse_bind)
        });
        joints.flat_map(|k| k.to_cols_array()).collect()
    };
    let (before, after) = (matrices(before), matrices(after));
    assert!(!before.is_empty() && before.len() == after.len());
    let differences = before.iter().zip(&after).map(|(a, b)| (a - b).abs());
    differences.max_by(f64::total_cmp).unwrap_or(f64::NAN)
}

/// The largest distance between the posed points of two documents, at rest and in all clips, by the diagonal.
pub(crate) fn apart(before: &Document, after: &Document) -> f64 {
    let compared = rig::measure::Compared::new(before, after);
    let clips = before.clips().keys().map(|&id| compared.in_clip(id).max);
    clips.fold(compared.at_rest().max, larger) / compared.diagonal
}

#[test]
fn a_turn_moves_nothing_and_is_undone_bit_for_bit() {
    let before = moving_tube();
    let mut document = before.clone();
    let turn = DQuat::from_axis_angle(DVec3::new(1.0, 2.0, 3.0).normalize_or_zero(), 1.1);
    let frames = BTreeMap::from([
        (MIDDLE, Frame::from_rotation(turn)),
        (END, Frame::from_rotation(turn.inverse())),
    ]);
    let edit = rig::change_frames(&before, &frames, 1e-4).unwrap();
    let mut history = History::default();
    let dirty = history
        .apply(&mut document, Edit::Rig(Box::new(edit)), "Orient")
        .unwrap();
    assert!(dirty.rig && dirty.pose && dirty.joints);
    assert!(dirty.clips.contains(&ClipId(7)));
    assert!(apart(&before, &document) < 1e-6);
    assert!(!document.same_content(&before));
    assert!(history.bytes() > 400);
    history.undo(&mut document).unwrap();
    assert!(document.same_content(&before));
    history.redo(&mut document).unwrap();
    assert!(apart(&before, &document) < 1e-6);
}

#[test]
fn turned_joints_deform_alike_in_every_method() {
    let before = moving_tube();
    let mut after = before.clone();
    let turn = DQuat::from_axis_angle(DVec3::new(1.0, 2.0, 3.0).normalize_or_zero(), 1.1);
    let frames = BTreeMap::from([(MIDDLE, Frame::from_rotation(turn))]);
    apply(
        &mut after,
        rig::change_frames(&before, &frames, 1e-4).unwrap(),
    );
    let inserted = rig::insert(&after, &bone(MIDDLE, END, 2)).unwrap().0;
    // Two-phase dual quaternions with all corrections, as documents begin.
    let places = |document: &Document| {
        let clip = &document.clips()[&ClipId(7)];
        let pose = document.pose_of_clip(clip, 0.6);
        let mut evaluator = Evaluator::default();
        let moved = evaluator.evaluate(document, &pose);
        let instances = moved.iter().map(|(id, _)| *id);
        let places = instances.filter_map(|id| Some(evaluator.plan(id)?.positions().to_vec()));
        places.flatten().collect::<Vec<_>>()
    };
    let distance = |a: &Document, b: &Document| {
        let (a, b) = (places(a), places(b));
        assert_eq!(a.len(), b.len());
        let apart = a.iter().zip(&b).map(|(a, b)| a.distance(*b));
        apart.fold(0.0, larger)
    };
    assert!(
        distance(&before, &after) < 2e-5,
        "{}",
        distance(&before, &after)
    );
    // Weights that stay where they are move as before, and a new evaluation follows the new joints.
    apply(&mut after, inserted);
    assert!(places(&after).iter().all(|p| p.is_finite()));
}

pub(crate) fn bone(joint: JointId, child: JointId, n: usize) -> Insert {
    Insert {
        joint,
        child,
        n,
        half_width: None,
    }
}

#[test]
fn inserted_joints_change_no_pose_and_hand_their_weights_back() {
    let before = moving_tube();
    for n in 1..4 {
        let mut document = before.clone();
        document.session_mut().hidden_joints.insert(MIDDLE);
        document
            .session_mut()
            .joint_colours
            .insert(MIDDLE, [1, 2, 3]);
        let (edit, made) = rig::insert(&document, &bone(MIDDLE, END, n)).unwrap();
        assert_eq!(made.len(), n);
        let report = rig::report(&document, &edit);
        assert!(report.n_points > 0 && report.worst() < 1e-6 && report.keys_added == 0);
        apply(&mut document, edit);
        let session = document.session();
        assert!(session.hidden_joints.contains(&made[0]));
        assert_eq!(session.joint_colours.get(&made[n - 1]), Some(&[1, 2, 3]));
        assert!(apart(&before, &document) < 1e-6);
        let skin = document.skins().values().next().unwrap();
        assert_eq!(skin.joints.len(), 3 + n);
        for &joint in made.iter().rev() {
            let edit = rig::remove(&document, joint, WeightRecipient::IntoParent).unwrap();
            apply(&mut document, edit);
        }
        assert!(apart(&before, &document) < 1e-6);
        assert_eq!(document.skeleton().n_live(), before.skeleton().n_live());
        let rows = |d: &Document| d.meshes().values().next().unwrap().influences.clone();
        if n == 1 {
            assert_eq!(rows(&document), rows(&before));
        }
    }
}

#[test]
fn a_moved_joint_keeps_the_mesh_at_rest_and_what_was_asked_of_its_motion() {
    let before = moving_tube();
    let wanted = Move {
        joint: MIDDLE,
        by: DVec3::new(0.1, 0.05, -0.02),
        intent: Intent::NewPivot,
        children: Children::Stay,
        tolerance: 1e-4,
    };
    let moved = |intent: Intent, children: Children| {
        let mut document = before.clone();
        let wanted = Move {
            intent,
            children,
            ..wanted
        };
        apply(&mut document, rig::move_joint(&before, &wanted).unwrap());
        assert!(apart_by_skins(&before, &document) < 1e-12, "{intent:?}");
        let at_rest = rig::measure::Compared::new(&before, &document).at_rest();
        // What hangs rigidly from bones that follow goes along with them.
        let most = match children {
            Children::Stay => 0.0,
            Children::Follow => wanted.by.length(),
        };
        assert!(at_rest.max < most + 1e-12, "{intent:?}: {at_rest:?}");
        document
    };
    let place =
        |d: &Document, j: JointId| d.rest_pose().world_matrices(d.skeleton())[j.get()].translation;
    let stays = moved(Intent::NewPivot, Children::Stay);
    assert!(place(&stays, MIDDLE).distance(place(&before, MIDDLE) + wanted.by) < 1e-12);
    assert!(place(&stays, END).distance(place(&before, END)) < 1e-12);
    assert!(
        apart(&before, &stays) > 1e-3,
        "clips turn about the new place"
    );
    let follows = moved(Intent::NewPivot, Children::Follow);
    assert!(place(&follows, END).distance(place(&before, END) + wanted.by) < 1e-12);
    let kept = moved(Intent::KeepMotion, Children::Stay);
    assert!(apart(&before, &kept) < 2e-4, "{}", apart(&before, &kept));
    let children = moved(Intent::ChildrenKeepMotion, Children::Stay);
    let clip = ClipId(7);
    let end_at = |d: &Document| {
        let pose = d.pose_of_clip(&d.clips()[&clip], 0.7);
        pose.world_matrices(d.skeleton())[END.get()].translation
    };
    assert!(end_at(&before).distance(end_at(&children)) < 1e-3);
    assert!(end_at(&before).distance(end_at(&stays)) > 1e-2);
}

#[test]
fn a_reparented_joint_stays_in_its_place_in_every_clip() {
    let before = moving_tube();
    let mut document = before.clone();
    let wanted = Reparent {
        joint: END,
        parent: Some(ROOT),
        keep: Keep::Motion,
        nearest: false,
        tolerance: 1e-4,
    };
    apply(&mut document, rig::reparent(&before, &wanted).unwrap());
    assert_eq!(document.skeleton().joint(END).parent, Some(ROOT));
    assert!(
        apart(&before, &document) < 2e-4,
        "{}",
        apart(&before, &document)
    );
    let below = Reparent {
        joint: ROOT,
        parent: Some(END),
        ..wanted
    };
    let error = rig::reparent(&before, &below).unwrap_err();
    assert_eq!(
        error.to_string(),
        "“root” cannot be a child of “end”, which is the bone itself or one of its descendants."
    );
    // Without keys of its own it goes with its new parent, and so does the mesh.
    let local = Reparent {
        keep: Keep::LocalKeys,
        ..wanted
    };
    let mut document = before.clone();
    apply(&mut document, rig::reparent(&before, &local).unwrap());
    assert!(apart(&before, &document) > 1e-2);
}

#[test]
fn a_removed_joint_leaves_a_slot_that_nothing_uses() {
    let mut document = moving_tube();
    document.session_mut().active_joint = Some(MIDDLE);
    document.session_mut().selected_joints = BTreeSet::from([MIDDLE, END]);
    let posed = Transform::from_rotation_translation(DQuat::from_rotation_z(0.7), DVec3::X);
    let (joints, locals) = (vec![MIDDLE], vec![posed]);
    document.apply(&mut Edit::Pose { joints, locals }).unwrap();
    let before = document.clone();
    let mut history = History::default();
    let edit = rig::remove(&document, MIDDLE, WeightRecipient::AlongBone).unwrap();
    history
        .apply(&mut document, Edit::Rig(Box::new(edit)), "Remove bone")
        .unwrap();
    assert_sound(&document);
    let skeleton = document.skeleton();
    assert_eq!((skeleton.len(), skeleton.n_live()), (5, 4));
    assert_eq!(skeleton.joint(END).parent, Some(ROOT));
    assert_eq!(document.session().active_joint, None);
    assert_eq!(document.session().selected_joints, BTreeSet::from([END]));
    assert!(!document.skin_joint_mask()[MIDDLE.get()]);
    // Its pose is at rest, and no tool gives its slot weight.
    assert_eq!(
        document.pose().locals[MIDDLE.get()],
        skeleton.joint(MIDDLE).rest
    );
    assert_eq!(document.skin_locks(MeshId(0)), [false, true, false]);
    let world = Pose::rest(skeleton).world_matrices(skeleton);
    assert_eq!(world[MIDDLE.get()], glam::DAffine3::IDENTITY);
    // Nothing can be done to it any more.
    let mut rename = Edit::JointName {
        joint: MIDDLE,
        name: "ghost".into(),
    };
    let error = document.apply(&mut rename).unwrap_err();
    assert!(matches!(error, EditError::NoJoint { joint: MIDDLE, .. }));
    let clip = Some(before.clips()[&ClipId(7)].clone());
    let mut animate = Edit::Clip {
        id: ClipId(8),
        clip,
    };
    let error = document.apply(&mut animate).unwrap_err().to_string();
    assert!(error.contains("which was removed"), "{error}");
    let rows = [vec![(1, 1.0)]].into_iter().collect();
    let error = document.apply(&mut Edit::influences(MeshId(0), vec![0], rows));
    let error = error.unwrap_err().to_string();
    assert!(error.contains("which was removed"), "{error}");
    let (chosen, costs) = rig::remove_measured(&before, MIDDLE).unwrap();
    assert!(costs.along_bone.rms() > 0.0 && costs.into_parent.rms() > 0.0);
    let applied = |edit: RigEdit| {
        let mut changed = before.clone();
        changed.apply(&mut Edit::Rig(Box::new(edit))).unwrap();
        changed
    };
    let same = rig::remove(&before, MIDDLE, costs.preselected()).unwrap();
    assert!(applied(chosen).same_content(&applied(same)));
    history.undo(&mut document).unwrap();
    assert!(document.same_content(&before));
    assert_eq!(document.session().active_joint, Some(MIDDLE));
    assert_eq!(document.session().selected_joints.len(), 2);
}

#[test]
fn layers_and_props_follow_the_joints() {
    let mut document = moving_tube();
    let mesh = *document.meshes().keys().next().unwrap();
    let (mut edit, _) = document.add_layer(mesh, None, "Paint").unwrap();
    document.apply(&mut edit).unwrap();
    let before = document.clone();
    let edit = rig::insert(&document, &bone(MIDDLE, END, 1)).unwrap().0;
    let mut edit = Edit::Rig(Box::new(edit));
    document.apply(&mut edit).unwrap();
    assert_sound(&document);
    assert!(apart(&before, &document) < 1e-6);
    document.apply(&mut edit).unwrap();
    assert!(document.same_content(&before));
    // A mesh that hangs rigidly from a turned joint gets a joint of its own at the offset.
    let prop = before.instances().values().find(|i| i.skin.is_none());
    let prop = prop.unwrap().joint;
    let frames = BTreeMap::from([(prop, Frame::from_rotation(DQuat::from_rotation_z(0.7)))]);
    apply(
        &mut document,
        rig::change_frames(&before, &frames, 1e-4).unwrap(),
    );
    assert_eq!(document.skeleton().len(), before.skeleton().len() + 1);
    assert!(apart(&before, &document) < 1e-6);
    // Removing it leaves what it draws in place, below its parent.
    let edit = rig::remove(&before, prop, WeightRecipient::IntoParent).unwrap();
    let mut document = before.clone();
    apply(&mut document, edit);
    assert!(apart(&before, &document) < 1e-6);
}

/// A random edit of the joints; `None` where it is refused.
pub(crate) fn random_edit(document: &Document, random: &mut Random) -> Option<RigEdit> {
    let skeleton = document.skeleton();
    let live: Vec<JointId> = skeleton.live_joints().collect();
    let pick =
        |random: &mut Random| live[(random.next() * live.len() as f64) as usize % live.len()];
    let vector = |random: &mut Random| random.vector(0.5);
    let joint = pick(random);
    let size = rig::measure::diagonal(document);
    match (random.next() * 6.0) as u32 {
        0 => {
            let turn =
                DQuat::from_axis_angle(vector(random).normalize_or_zero(), random.next() * 3.0);
            let frames = BTreeMap::from([(joint, Frame::from_rotation(turn))]);
            rig::change_frames(document, &frames, 1e-4).ok()
        }
        1 => {
            let child = *skeleton.children(joint).first()?;
            let n = 1 + (random.next() * 2.0) as usize;
            Some(rig::insert(document, &bone(joint, child, n)).ok()?.0)
        }
        2 => {
            let world = document.rest_pose().world_matrices(skeleton);
            let unit = world[joint.get()].matrix3.determinant().abs().cbrt();
            let intents = [Intent::NewPivot, Intent::KeepMotion];
            let wanted = Move {
                joint,
                by: vector(random) * (0.02 * size / unit.max(1e-9)),
                intent: intents[usize::from(random.next() < 0.5)],
                children: Children::Stay,
                tolerance: 1e-4,
            };
            rig::move_joint(document, &wanted).ok()
        }
        3 => {
            let wanted = Reparent {
                joint,
                parent: Some(pick(random)),
                keep: Keep::Motion,
                nearest: false,
                tolerance: 1e-4,
            };
            rig::reparent(document, &wanted).ok()
        }
        4 => {
            let recipients = [WeightRecipient::AlongBone, WeightRecipient::IntoParent];
            rig::remove(
                document,
                joint,
                recipients[usize::from(random.next() < 0.5)],
            )
            .ok()
        }
        _ => {
            let wanted = Extrude {
                parent: Some(joint),
                at: vector(random),
                name: String::new(),
            };
            Some(rig::extrude(document, &wanted).ok()?.0)
        }
    }
}

#[test]
fn fifty_random_edits_are_sound_and_undone_bit_for_bit() {
    for seed in 0..6 {
        let mut random = Random::new(seed);
        let mut document = moving_tube();
        let mut history = History::default();
        let mut states = vec![document.clone()];
        let mut n_tries = 0;
        while states.len() <= 50 && n_tries < 400 {
            n_tries += 1;
            let Some(edit) = random_edit(&document, &mut random) else {
                continue;
            };
            if history
                .apply(&mut document, Edit::Rig(Box::new(edit)), "Edit bones")
                .is_ok()
            {
                assert_sound(&document);
                states.push(document.clone());
            } else {
                assert!(document.same_content(states.last().unwrap()));
            }
        }
        assert!(states.len() > 20, "{} steps of {n_tries}", states.len());
        for state in states.iter().rev().skip(1) {
            history.undo(&mut document).unwrap();
            assert!(document.same_content(state));
        }
        for state in states.iter().skip(1) {
            history.redo(&mut document).unwrap();
            assert!(document.same_content(state));
        }
    }
}

#[test]
fn axes_are_oriented_along_bones_without_moving_anything() {
    let before = moving_tube();
    for towards in [
        SecondAxis::BendNormal,
        SecondAxis::World(DVec3::Z),
        SecondAxis::Towards(DVec3::new(0.0, 5.0, 1.0)),
        SecondAxis::LeastRotation,
    ] {
        let wanted = Orient {
            joints: vec![ROOT, MIDDLE, END],
            aim: Axis::Y,
            second: Axis::Z,
            towards,
            roll: 0.0,
            leaves_stay: false,
        };
        let mut document = before.clone();
        apply(&mut document, rig::orient(&before, &wanted).unwrap());
        assert!(apart(&before, &document) < 1e-6);
        let world = document.rest_pose().world_matrices(document.skeleton());
        for joint in [ROOT, MIDDLE] {
            let axis = world[joint.get()].matrix3.y_axis;
            assert!(axis.distance(DVec3::X) < 1e-12, "{towards:?}: {axis}");
        }
    }
}

/// Documents as imported get their edited joints back from what a project keeps of them.
#[test]
fn edited_joints_are_restored_on_the_imported_document() {
    let imported = moving_tube();
    assert!(imported.edited_rig().is_none());
    let mut edited = imported.clone();
    let edit = rig::insert(&edited, &bone(MIDDLE, END, 2)).unwrap().0;
    apply(&mut edited, edit);
    let edit = rig::remove(&edited, END, WeightRecipient::IntoParent).unwrap();
    apply(&mut edited, edit);
    let kept = edited.edited_rig().unwrap();
    assert_eq!(kept.joints.len(), 7);
    let mut restored = imported.clone();
    let dirty = restored.restore_rig(kept.clone()).unwrap();
    assert!(dirty.rig);
    // Rows and clips come after the joints.
    let mesh: MeshId = *edited.meshes().keys().next().unwrap();
    let rows = &edited.meshes()[&mesh].influences;
    let points: Vec<u32> = (0..rows.len() as u32).collect();
    let all = rows.iter().map(|row| row.iter().collect::<Vec<_>>());
    let mut edit = Edit::influences(mesh, points, all.collect());
    restored.apply(&mut edit).unwrap();
    for (&id, clip) in edited.clips() {
        let clip = Some(clip.clone());
        restored.apply(&mut Edit::Clip { id, clip }).unwrap();
    }
    assert!(restored.same_content(&edited));
    let mut broken = kept;
    broken.joints[1].parent = Some(JointId(40));
    let before = imported.clone();
    let mut restored = imported;
    assert!(restored.restore_rig(broken).is_err());
    assert!(restored.same_content(&before));
}

/// Points that do not change are not posed, but what is no number is no equal.
#[test]
fn poses_that_are_no_numbers_are_infinitely_far_from_themselves() {
    let document = moving_tube();
    let clip = document.clips().values().next().unwrap();
    let compared = rig::measure::Compared::new(&document, &document);
    assert_eq!(compared.in_clips(clip, clip).max, 0.0);
    let mut broken = Clip::clone(clip);
    broken.channels = vec![Channel {
        joint: MIDDLE,
        property: Property::Translation,
        interpolation: Interpolation::Linear,
        times: [0.0, 1.0].into(),
        values: [f32::NAN; 6].into(),
    }];
    assert_eq!(compared.in_clips(&broken, &broken).max, f64::INFINITY);
}
