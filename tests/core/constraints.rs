//! Constraints of joints: edits, evaluation everywhere, and what the rig does with them.

use crate::rig_operations::{END, MIDDLE, ROOT, apart, apply, assert_sound, moving_tube};
use glam::{DQuat, DVec3, Vec3};
use sinew::bake::static_shapes::static_shapes;
use sinew::document::rig::{self, Insert, RigError, WeightRecipient};
use sinew::document::{ClipId, ConstraintsEdit, Document, Edit, EditError, History, InstanceId};
use sinew::evaluate::Evaluator;
use sinew::math::Worse;
use sinew::skeleton::constraint::limit::Cone;
use sinew::skeleton::constraint::{Constraint, CopiedAxes, EulerOrder, Rule, Space};
use sinew::skeleton::{Clip, Frame, JointId, Pose, Property};
use sinew::task::Task;
use std::collections::BTreeMap;
use std::sync::Arc;

const PROP: JointId = JointId(4);

pub(crate) fn constrain(document: &mut Document, joint: JointId, rules: &[Rule]) {
    let list = rules.iter().cloned().map(Constraint::new).collect();
    let edit = document.constraints_edit(joint, list).unwrap();
    document.apply(&mut Edit::Constraints(edit)).unwrap();
    assert_sound(document);
}

pub(crate) fn copies(source: JointId) -> Rule {
    Rule::CopyRotation {
        source,
        space: Space::Local,
        keeps_offset: true,
        axes: CopiedAxes::ALL,
    }
}

fn aims(target: JointId) -> Rule {
    Rule::Aim {
        target,
        axis: DVec3::X,
        up: None,
    }
}

pub(crate) fn edit(joint: JointId, list: Vec<Constraint>) -> Edit {
    Edit::Constraints(ConstraintsEdit { joint, list })
}

#[test]
fn a_list_is_edited_in_steps_that_undo_to_the_same_bits() {
    let before = moving_tube();
    let (mut document, mut history) = (before.clone(), History::default());
    let half = Constraint {
        influence: 0.5,
        ..Constraint::new(copies(END))
    };
    let whole = Constraint::new(copies(END));
    history
        .apply(
            &mut document,
            edit(PROP, vec![whole.clone()]),
            "Add constraint",
        )
        .unwrap();
    // A drag of the influence is one step.
    history.begin(&document, "Influence");
    for influence in [0.9, 0.7, 0.5] {
        let changed = Constraint {
            influence,
            ..whole.clone()
        };
        history
            .apply(&mut document, edit(PROP, vec![changed]), "Influence")
            .unwrap();
    }
    history.commit(&document);
    assert_eq!(history.n_undo(), 2);
    assert_eq!(document.constraints_of(PROP), [half]);
    assert!(document.evaluator().is_some() && !document.same_content(&before));
    history.undo(&mut document);
    assert_eq!(document.constraints_of(PROP), [whole]);
    history.undo(&mut document);
    assert!(document.same_content(&before) && document.evaluator().is_none());
    history.redo(&mut document);
    history.redo(&mut document);
    assert_eq!(document.constraints_of(PROP)[0].influence, 0.5);
}

#[test]
fn cycles_and_bad_values_are_refused_by_name() {
    let mut document = moving_tube();
    let said = |document: &Document, joint, rule: Rule| {
        let mut edit = edit(joint, vec![Constraint::new(rule)]);
        document.clone().apply(&mut edit).unwrap_err().to_string()
    };
    // A bone cannot aim at what hangs from it.
    let why = said(&document, MIDDLE, aims(END));
    assert_eq!(
        why,
        "the constraints would form a dependency cycle: “middle” follows “end” (Damped Track)"
    );
    constrain(&mut document, END, &[copies(PROP)]);
    let why = said(&document, PROP, copies(END));
    assert!(
        why.contains("“prop”") && why.contains("which follows"),
        "{why}"
    );
    let why = said(&document, PROP, copies(PROP));
    assert_eq!(why, "Copy Rotation of “prop”: a bone cannot follow itself");
    let why = said(&document, PROP, copies(JointId(77)));
    assert!(
        why.ends_with("the bone that it follows is not in the model"),
        "{why}"
    );
    let chain = |n_bones| Rule::ReachChain {
        target: PROP,
        n_bones,
    };
    let why = said(&document, END, chain(3));
    assert!(
        why.ends_with("it bends 3 bones, but only 2 are above"),
        "{why}"
    );
    let twist = |axis| Rule::TwistShare {
        source: END,
        axis,
        share: 0.5,
        centre: 0.0,
    };
    for axis in [DVec3::ZERO, DVec3::NAN, DVec3::ONE] {
        assert!(said(&document, PROP, twist(axis)).contains("out of its range"));
    }
    let mut strong = edit(
        PROP,
        vec![Constraint {
            influence: f64::NAN,
            ..Constraint::new(copies(END))
        }],
    );
    assert!(document.apply(&mut strong).is_err());
}

/// The prop follows the end, whose motion is then the same as that of a copied channel.
#[test]
fn every_evaluation_sees_the_constraints() {
    let mut document = moving_tube();
    let id = ClipId(7);
    let by_hand = {
        let mut clip = Clip::clone(&document.clips()[&id]);
        let c = clip.channel_of(END, Property::Rotation).unwrap();
        let channel = sinew::skeleton::Channel {
            joint: PROP,
            ..clip.channels[c].clone()
        };
        clip.channels.push(channel);
        let mut document = document.clone();
        let clip = Some(Arc::new(clip));
        document.apply(&mut Edit::Clip { id, clip }).unwrap();
        document
    };
    let clip = document.clips()[&id].clone();
    let keyed = document.keyed_pose(&clip, 0.45);
    constrain(&mut document, PROP, &[copies(END)]);
    let turned = |pose: &Pose| pose.locals[PROP.get()].rotation;
    let expected = by_hand.pose_of_clip(&by_hand.clips()[&id], 0.45);
    let angle = |a: DQuat, b: DQuat| a.dot(b).abs().clamp(0.0, 1.0).acos() * 2.0;
    assert!(angle(turned(&expected), turned(&keyed)) > 0.3);
    assert_eq!(document.keyed_pose(&clip, 0.45), keyed);
    let pose = document.pose_of_clip(&clip, 0.45);
    assert!(angle(turned(&pose), turned(&expected)) < 1e-7);
    let playback = &mut document.session_mut().playback;
    (playback.clip, playback.time_secs) = (Some(id), 0.45);
    assert_eq!(*document.shown_pose(), pose);
    assert_eq!(*document.free_pose(), keyed);

    // The viewport, and a static mesh as the command line writes it.
    let prop = InstanceId(4);
    let shape = |document: &Document, pose: &Pose| -> Vec<Vec3> {
        let mut evaluator = Evaluator::default();
        evaluator.evaluate(document, pose);
        let shapes = static_shapes(document, pose, &Task::new()).unwrap();
        let positions = evaluator.plan(prop).unwrap().positions().to_vec();
        assert_eq!(positions, shapes[&prop].positions);
        positions
    };
    let (seen, wanted) = (shape(&document, &pose), shape(&by_hand, &expected));
    let off = seen.iter().zip(&wanted).map(|(a, b)| a.distance(*b));
    assert!(off.fold(0.0, f32::worse) < 1e-5);
    // What was computed without them is out of date.
    let bare = document.clone().without_constraints();
    assert!(!bare.bends_the_same(&document) && document.bends_the_same(&document.clone()));
    // The rest pose has no constraints.
    document.session_mut().shows_rest = true;
    assert_eq!(document.shown_pose(), *document.rest_pose());
    document.session_mut().shows_rest = false;
    // The artist's pose has.
    let mut turn = document.pose().locals[END.get()];
    turn.rotation = DQuat::from_rotation_x(0.5);
    let mut pose_edit = Edit::Pose {
        joints: vec![END],
        locals: vec![turn],
    };
    document.session_mut().playback.clip = None;
    document.apply(&mut pose_edit).unwrap();
    let shown = document.shown_pose().locals[PROP.get()].rotation;
    assert!(shown.abs_diff_eq(turn.rotation, 1e-12));
    assert_eq!(document.posed(), document.shown_pose());
    assert_eq!(document.pose().locals[PROP.get()].rotation, DQuat::IDENTITY);
}

#[test]
fn an_evaluation_allocates_nothing() {
    // The prop hangs from the chain: another root is the target.
    let target = JointId(3);
    let chain = Rule::ReachChain { target, n_bones: 2 };
    let two = Rule::ReachTwoBones {
        target,
        pole: Some(target),
        softness: 0.1,
    };
    let turns = |space| Rule::CopyRotation {
        source: target,
        space,
        keeps_offset: true,
        axes: CopiedAxes::ALL,
    };
    let place = Rule::CopyLocation {
        source: target,
        keeps_offset: true,
        axes: [true; 3],
        space: Space::World,
    };
    let cone = Rule::LimitCone(Cone {
        axis: DVec3::X,
        side: DVec3::Y,
        half_angles: [0.3, 0.4],
        twist: [-0.2, 0.2],
    });
    let limits = Rule::LimitAngles {
        ranges: [[-1.0, 1.0]; 3],
        order: EulerOrder::Xyz,
    };
    for (reach, rules) in [
        (chain, vec![aims(target), limits]),
        (
            two,
            vec![place, turns(Space::Local), turns(Space::World), cone],
        ),
    ] {
        let mut document = moving_tube();
        constrain(&mut document, END, &[reach]);
        constrain(&mut document, PROP, &rules);
        let mut pose = document.keyed_pose(&document.clips()[&ClipId(7)].clone(), 0.3);
        let before = pose.clone();
        // Other tests allocate beside this one: once without suffices.
        let found = (0..5_000).any(|attempt| {
            if attempt > 0 {
                std::thread::sleep(std::time::Duration::from_millis(1));
            }
            pose.locals.copy_from_slice(&before.locals);
            let region = stats_alloc::Region::new(crate::ALLOCATOR);
            document.constrain(&mut pose);
            region.change().allocations == 0
        });
        assert!(found, "{rules:?}");
        assert_ne!(pose, before);
        // The same pose, the same bits.
        let first = pose.clone();
        pose.locals.copy_from_slice(&before.locals);
        document.constrain(&mut pose);
        assert_eq!(first, pose);
    }
}

#[test]
fn the_rig_keeps_its_constraints_sound() {
    let mut document = moving_tube();
    constrain(&mut document, PROP, &[copies(END)]);
    let error = rig::remove(&document, END, WeightRecipient::IntoParent).unwrap_err();
    let expected = RigError::Followed {
        joint: "end".into(),
        follower: "prop".into(),
        rule: "Copy Rotation",
    };
    assert_eq!(error, expected);
    // Its own constraints go with a bone, and come back.
    let (mut gone, mut history) = (document.clone(), History::default());
    let removal = rig::remove(&document, PROP, WeightRecipient::IntoParent).unwrap();
    history
        .apply(&mut gone, Edit::Rig(Box::new(removal)), "Remove prop")
        .unwrap();
    assert!(gone.constraints().is_empty() && gone.evaluator().is_none());
    assert_sound(&gone);
    history.undo(&mut gone);
    assert!(gone.same_content(&document) && gone.evaluator().is_some());

    // Axes follow the frame of their bone.
    let mut twisted = moving_tube();
    let twist = Rule::TwistShare {
        source: END,
        axis: DVec3::X,
        share: 0.5,
        centre: 0.0,
    };
    constrain(&mut twisted, PROP, &[twist]);
    let before = twisted.clone();
    let turn = DQuat::from_rotation_y(0.4) * DQuat::from_rotation_z(1.0);
    let frames = BTreeMap::from([(PROP, Frame::from_rotation(turn))]);
    let turned = rig::change_frames(&twisted, &frames, rig::KEY_TOLERANCE).unwrap();
    twisted.apply(&mut Edit::Rig(Box::new(turned))).unwrap();
    assert_ne!(twisted.constraints(), before.constraints());
    let compared = rig::measure::Compared::new(&before, &twisted);
    let clips = before.clips().keys();
    let moved = clips
        .map(|&id| compared.in_clip(id).max)
        .fold(0.0, f64::worse);
    assert!(moved / compared.diagonal < 1e-9, "{moved}");

    // Copied axis by axis, the axes of both bones turn alike, or not at all.
    for (rule, turned_alike) in [
        (copies(END), true),
        (
            Rule::CopyScale {
                source: END,
                axes: [true; 3],
            },
            true,
        ),
        (
            Rule::CopyRotation {
                source: END,
                space: Space::World,
                keeps_offset: true,
                axes: CopiedAxes::ALL,
            },
            false,
        ),
    ] {
        let mut copying = moving_tube();
        constrain(&mut copying, PROP, std::slice::from_ref(&rule));
        let before = copying.clone();
        for joint in [PROP, END] {
            let frames = BTreeMap::from([(joint, Frame::from_rotation(turn))]);
            let edit = rig::change_frames(&copying, &frames, rig::KEY_TOLERANCE);
            assert_eq!(edit.is_err(), turned_alike, "{rule:?}, {joint:?}");
            if let Err(error) = edit {
                assert!(matches!(error, RigError::CopiesAxes { .. }), "{error}");
            }
        }
        let both = [PROP, END].map(|joint| (joint, Frame::from_rotation(turn)));
        let edit = rig::change_frames(&copying, &BTreeMap::from(both), rig::KEY_TOLERANCE);
        apply(&mut copying, edit.unwrap());
        assert!(apart(&before, &copying) < 1e-6);
    }
    // Limits about axes follow half turns of the axes only.
    let mut limited = moving_tube();
    let limit = Rule::LimitAngles {
        ranges: [[-0.3, 0.1], [-0.2, 0.5], [0.0, 0.4]],
        order: EulerOrder::Xyz,
    };
    let half = Rule::CopyRotation {
        source: END,
        space: Space::World,
        keeps_offset: true,
        axes: CopiedAxes::ALL,
    };
    constrain(&mut limited, PROP, &[half, limit]);
    let before = limited.clone();
    let frames = |turn: DQuat| BTreeMap::from([(PROP, Frame::from_rotation(turn))]);
    let error = rig::change_frames(&limited, &frames(turn), rig::KEY_TOLERANCE).unwrap_err();
    assert!(matches!(error, RigError::LimitsAxes { .. }), "{error}");
    for axis in DVec3::AXES {
        let turn = DQuat::from_axis_angle(axis, std::f64::consts::PI);
        let edit = rig::change_frames(&limited, &frames(turn), rig::KEY_TOLERANCE).unwrap();
        apply(&mut limited, edit);
        assert!(apart(&before, &limited) < 1e-6, "{axis}");
    }

    // A bone inserted into the chain of an IK would change what it bends.
    let mut reaching = moving_tube();
    let reach = Rule::ReachTwoBones {
        target: JointId(3),
        pole: None,
        softness: 0.0,
    };
    constrain(&mut reaching, END, &[reach]);
    let wanted = Insert {
        joint: MIDDLE,
        child: END,
        n: 1,
        half_width: None,
    };
    let (insertion, _) = rig::insert(&reaching, &wanted).unwrap();
    let error = reaching
        .apply(&mut Edit::Rig(Box::new(insertion)))
        .unwrap_err();
    assert!(matches!(error, EditError::Constraint { .. }), "{error}");
    let error = rig::remove(&reaching, ROOT, WeightRecipient::IntoParent).unwrap_err();
    assert!(matches!(error, RigError::Followed { .. }), "{error}");
}

/// A pose becomes the rest pose where every constraint gives the same motion about it; others are refused by name.
#[test]
fn a_rest_pose_that_constraints_would_read_otherwise_is_refused() {
    let posed = |document: &Document| {
        let mut pose = Pose::clone(document.rest_pose());
        pose.locals[END.get()].rotation *= DQuat::from_rotation_x(0.8);
        document.constrain(&mut pose);
        pose
    };
    let mut copying = moving_tube();
    constrain(&mut copying, PROP, &[copies(END)]);
    let before = copying.clone();
    let edit_of = rig::pose_as_rest(&copying, &posed(&copying)).unwrap();
    apply(&mut copying, edit_of);
    for (id, clip) in before.clips() {
        for step in 0..=20 {
            let time = f64::from(step) / 20.0;
            let was = before.pose_of_clip(clip, time);
            let is = copying.pose_of_clip(&copying.clips()[id], time);
            for joint in [END, PROP].map(JointId::get) {
                let turned = was.locals[joint].rotation.dot(is.locals[joint].rotation);
                assert!(turned.abs() > 1.0 - 1e-9, "bone {joint} at {time}");
            }
        }
    }
    // A pose that does not have the copy would give another one.
    let mut pose = Pose::clone(before.rest_pose());
    pose.locals[PROP.get()].rotation *= DQuat::from_rotation_x(0.8);
    let error = rig::pose_as_rest(&before, &pose).unwrap_err();
    assert!(matches!(error, RigError::RelativeToRest { .. }), "{error}");

    let half = Constraint {
        influence: 0.5,
        ..Constraint::new(copies(END))
    };
    let twist = Constraint::new(Rule::TwistShare {
        source: END,
        axis: DVec3::X,
        share: 0.5,
        centre: 0.0,
    });
    for (constraint, name) in [(half, "Copy Rotation"), (twist, "Twist Share")] {
        let mut document = moving_tube();
        let mut list = vec![constraint];
        document.apply(&mut edit(PROP, list.clone())).unwrap();
        let pose = posed(&document);
        let error = rig::pose_as_rest(&document, &pose).unwrap_err();
        let said = format!(
            "{name} of “prop” is relative to the rest pose, and would change every clip: mute or remove it first."
        );
        assert_eq!(error.to_string(), said);
        // Muted it is in nobody's way.
        list[0].is_muted = true;
        document.apply(&mut edit(PROP, list)).unwrap();
        assert!(rig::pose_as_rest(&document, &pose).is_ok());
    }
}

/// What the artist sees stays: the children of a constrained bone keep its motion under another parent, and when it is
/// removed.
#[test]
fn bones_keep_the_constrained_motion_under_another_parent() {
    let mut before = crate::constraint_keys::following();
    before.apply(&mut edit(JointId(4), Vec::new())).unwrap();
    let aim = Rule::Aim {
        target: JointId(5),
        axis: DVec3::Y,
        up: None,
    };
    constrain(&mut before, JointId(3), &[aim]);
    let request = rig::Reparent {
        joint: JointId(4),
        parent: Some(JointId(1)),
        keep: rig::Keep::Motion,
        nearest: false,
        tolerance: rig::KEY_TOLERANCE,
    };
    let reparented = rig::reparent(&before, &request).unwrap();
    let removed = rig::remove(&before, JointId(3), WeightRecipient::IntoParent).unwrap();
    for edit in [reparented, removed] {
        let mut after = before.clone();
        apply(&mut after, edit);
        for (id, clip) in before.clips() {
            for step in 0..=40 {
                let time = f64::from(step) / 40.0;
                let world = |document: &Document, clip: &Clip| {
                    let pose = document.pose_of_clip(clip, time);
                    pose.world_matrices(document.skeleton())[4]
                };
                let (was, is) = (world(&before, clip), world(&after, &after.clips()[id]));
                let off = was.translation.distance(is.translation);
                assert!(off < 2e-3, "{id:?} at {time}: {off}");
                let apart = (was.matrix3 - is.matrix3).to_cols_array();
                let apart = apart.into_iter().fold(0.0f64, |a, b| a.worse(b.abs()));
                assert!(apart < 5e-3, "{id:?} at {time}: {apart}");
            }
        }
    }
}
