//! Constraints of joints: edits, evaluation everywhere, and what players without them show.

use crate::bake::{corrected, with_stack};
use crate::bake_sources::{channel, clip, tube, turn};
use crate::export_models::{open, reopen};
use crate::rig_operations::{END, MIDDLE, ROOT, apart, apply, assert_sound, moving_tube};
use crate::shared::shared_dir;
use crate::skinning::Random;
use glam::{DQuat, DVec3, Vec3};
use gltf::animation::util::ReadOutputs;
use serde_json::json;
use sinew::bake::BakeOptions;
use sinew::bake::static_shapes::{StaticPose, static_shapes};
use sinew::deform::DeformStack;
use sinew::document::rig::{self, Insert, RigError, WeightRecipient};
use sinew::document::{
    ClipId, ConstraintKeys, ConstraintsEdit, Document, Edit, EditError, History, InstanceId,
};
use sinew::evaluate::Evaluator;
use sinew::export::{ExportOptions, Exported, export};
use sinew::finding::Severity;
use sinew::io::import_bytes;
use sinew::skeleton::constraint::{self, Constraint, Rule, Space};
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
    }
}

fn aims(target: JointId) -> Rule {
    Rule::Aim {
        target,
        axis: DVec3::X,
        up: None,
    }
}

fn edit(joint: JointId, list: Vec<Constraint>) -> Edit {
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
        "bones would follow each other in a circle: “middle” follows “end” (Aim)"
    );
    constrain(&mut document, END, &[copies(PROP)]);
    let why = said(&document, PROP, copies(END));
    assert!(
        why.contains("“prop”") && why.contains("which follows"),
        "{why}"
    );
    let why = said(&document, PROP, copies(PROP));
    assert_eq!(why, "\"prop\", Copy rotation: a bone cannot follow itself");
    let why = said(&document, PROP, copies(JointId(77)));
    assert!(why.ends_with("there is no bone 77 to follow"), "{why}");
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
    let angle = |a: DQuat, b: DQuat| a.dot(b).abs().min(1.0).acos() * 2.0;
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
    assert!(off.fold(0.0, f32::max) < 1e-5);
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
    let mut document = moving_tube();
    // The prop hangs from the chain: another root is the target.
    let target = JointId(3);
    let reach = Rule::ReachChain { target, n_bones: 2 };
    constrain(&mut document, END, &[reach]);
    constrain(
        &mut document,
        PROP,
        &[aims(target), Rule::LimitAngles([[-1.0, 1.0]; 3])],
    );
    let mut pose = document.keyed_pose(&document.clips()[&ClipId(7)].clone(), 0.3);
    let before = pose.clone();
    // Other tests allocate beside this one: once without suffices.
    let found = (0..200).any(|_| {
        pose.locals.copy_from_slice(&before.locals);
        let region = stats_alloc::Region::new(crate::ALLOCATOR);
        document.constrain(&mut pose);
        region.change().allocations == 0
    });
    assert!(found);
    assert_ne!(pose, before);
    // The same pose, the same bits.
    let first = pose.clone();
    pose.locals.copy_from_slice(&before.locals);
    document.constrain(&mut pose);
    assert_eq!(first, pose);
}

#[test]
fn the_rig_keeps_its_constraints_sound() {
    let mut document = moving_tube();
    constrain(&mut document, PROP, &[copies(END)]);
    let error = rig::remove(&document, END, WeightRecipient::IntoParent).unwrap_err();
    let expected = RigError::Followed {
        joint: "end".into(),
        follower: "prop".into(),
        rule: "Copy rotation",
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
        .fold(0.0, f64::max);
    assert!(moved / compared.diagonal < 1e-9, "{moved}");

    // Copied axis by axis, the axes of both bones turn alike, or not at all.
    for (rule, turned_alike) in [
        (copies(END), true),
        (Rule::CopyScale { source: END }, true),
        (
            Rule::CopyRotation {
                source: END,
                space: Space::World,
                keeps_offset: true,
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
    let limit = Rule::LimitAngles([[-0.3, 0.1], [-0.2, 0.5], [0.0, 0.4]]);
    let half = Rule::CopyRotation {
        source: END,
        space: Space::World,
        keeps_offset: true,
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

/// A tube over four joints, a target beside it, and two clips, the second of which moves one joint only: joint 1 moves,
/// joint 2 copies half of it, joint 3 aims at the target.
fn following() -> Document {
    let mut gltf = tube(4);
    gltf.json["nodes"].as_array_mut().unwrap().push(json!({
        "name": "Target", "translation": [1.0, 1.5, 0.5]
    }));
    gltf.json["scenes"][0]["nodes"] = json!([0, 1, 5]);
    let first = clip(&mut gltf, "Bend");
    let times = [0.0, 0.4, 1.0];
    turn(&mut gltf, first, 2, "LINEAR", &times, &[0.0, 80.0, -30.0]);
    let places = [1.0, 1.5, 0.5, -1.0, 2.0, 0.5, 0.8, 1.2, -1.0];
    channel(
        &mut gltf,
        first,
        5,
        "translation",
        "LINEAR",
        &times,
        &places,
    );
    let second = clip(&mut gltf, "Nod");
    turn(&mut gltf, second, 1, "LINEAR", &times, &[0.0, 20.0, 0.0]);
    let imported = import_bytes(gltf.glb(), None, None, &Task::new()).unwrap();
    let mut document = Document::new(imported.parts).unwrap();
    let half = Constraint {
        influence: 0.5,
        ..Constraint::new(copies(JointId(2)))
    };
    document.apply(&mut edit(JointId(3), vec![half])).unwrap();
    let aim = Rule::Aim {
        target: JointId(5),
        axis: DVec3::Y,
        up: None,
    };
    constrain(&mut document, JointId(4), &[aim]);
    document
}

/// The local rotation and place of each node in an animation of a file, as a player computes them, by the `gltf` crate's
/// reader.
fn played(bytes: &[u8], animation: usize, time: f64) -> Vec<(DQuat, DVec3)> {
    let file = gltf::Gltf::from_slice_without_validation(bytes).unwrap();
    let blob = file.blob.as_deref();
    let mut nodes: Vec<(DQuat, DVec3)> = file
        .nodes()
        .map(|node| {
            let (t, r, _) = node.transform().decomposed();
            let q = DQuat::from_array(r.map(f64::from));
            (q.normalize(), DVec3::from_array(t.map(f64::from)))
        })
        .collect();
    let animation = file.animations().nth(animation).unwrap();
    for channel in animation.channels() {
        let reader = channel.reader(|_| blob);
        let times: Vec<f64> = reader.read_inputs().unwrap().map(f64::from).collect();
        let after = times.partition_point(|&t| t <= time);
        let (a, b) = (after.saturating_sub(1), after.min(times.len() - 1));
        let u = if a == b || after == 0 {
            0.0
        } else {
            (time - times[a]) / (times[b] - times[a])
        };
        let node = &mut nodes[channel.target().node().index()];
        match reader.read_outputs().unwrap() {
            ReadOutputs::Rotations(values) => {
                let values: Vec<[f32; 4]> = values.into_f32().collect();
                let q = |k: usize| DQuat::from_array(values[k].map(f64::from)).normalize();
                let (from, mut to) = (q(a), q(b));
                if from.dot(to) < 0.0 {
                    to = -to;
                }
                node.0 = from.slerp(to, u);
            }
            ReadOutputs::Translations(values) => {
                let values: Vec<[f32; 3]> = values.collect();
                let v = |k: usize| DVec3::from_array(values[k].map(f64::from));
                node.1 = v(a).lerp(v(b), u);
            }
            _ => {}
        }
    }
    nodes
}

fn plain(document: &Document) -> Exported {
    export(document, &ExportOptions::default(), &Task::new()).unwrap()
}

/// METHODS-rigging 4, *Bake*: within .1 degree and 1e-4 of the diagonal, and a channel in every clip.
#[test]
fn players_without_constraints_show_the_constrained_motion() {
    let document = following();
    let exported = plain(&document);
    let said = exported
        .report
        .findings
        .iter()
        .find(|f| f.message.contains("constrained"));
    assert!(
        said.is_some_and(|f| f.severity == Severity::Info),
        "{:?}",
        exported.report
    );
    let bytes = &exported.files[0].1;
    let (mut worst, mut least) = (0.0f64, f64::INFINITY);
    for (i, clip) in document.clips().values().enumerate() {
        let mut most = 0.0f64;
        for step in 0..=211 {
            let time = f64::from(step) / 211.0;
            let (pose, free) = (
                document.pose_of_clip(clip, time),
                document.keyed_pose(clip, time),
            );
            let shown = played(bytes, i, time);
            for (j, (q, place)) in shown.iter().enumerate() {
                let angle = |q: DQuat, r: DQuat| 2.0 * q.dot(r).abs().min(1.0).acos();
                worst = worst.max(angle(*q, pose.locals[j].rotation).to_degrees());
                most = most.max(angle(*q, free.locals[j].rotation).to_degrees());
                assert!(place.distance(pose.locals[j].translation) < 1e-4);
            }
        }
        least = least.min(most);
    }
    assert!(worst <= 0.1 + 0.03, "{worst}");
    assert!(least > 5.0, "{least}");
    // The same bytes for any number of threads.
    for n in [1, 3] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(n).build();
        let again = pool.unwrap().install(|| plain(&document));
        assert_eq!(again.files, exported.files);
    }
    // Every constrained joint has a channel in every clip.
    let read = reopen(&exported);
    for clip in read.clips().values() {
        for joint in [3, 4].map(JointId) {
            assert!(clip.channel_of(joint, Property::Rotation).is_some());
        }
    }
    // Undone, the source's bytes.
    let bare = document.without_constraints();
    assert_eq!(
        plain(&bare).files[0].1[..],
        bare.source().unwrap().bytes[..]
    );
}

/// What the artist sees stays: the children of a constrained bone keep its motion under another parent, and when it is
/// removed.
#[test]
fn bones_keep_the_constrained_motion_under_another_parent() {
    let mut before = following();
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
                let apart = apart.into_iter().fold(0.0f64, |a, b| a.max(b.abs()));
                assert!(apart < 5e-3, "{id:?} at {time}: {apart}");
            }
        }
    }
}

/// Helper joints and morph targets are fitted to the constrained motion, and the error is measured against it.
#[test]
fn corrections_see_the_constrained_motion() {
    let document = with_stack(following(), &DeformStack::dqs());
    let (exported, report) = corrected(&document, BakeOptions::default());
    assert!(report.met, "{report:?}");
    let read = with_stack(reopen(&exported), &DeformStack::lbs());
    let vertices = |document: &Document, id: ClipId, time: f64| -> Vec<Vec3> {
        let still = StaticPose {
            clip: Some(id),
            time,
        };
        let pose = still.pose(document).unwrap();
        let shapes = static_shapes(document, &pose, &Task::new()).unwrap();
        let shape = shapes.values().next().unwrap();
        let mesh = &document.meshes().values().next().unwrap().geometry;
        let points = mesh.point_of_vertex.iter();
        points.map(|&p| shape.positions[p as usize]).collect()
    };
    for (id, read_id) in document.clips().keys().zip(read.clips().keys()) {
        for time in [0.13, 0.4, 0.77] {
            let pairs = vertices(&document, *id, time);
            let shown = vertices(&read, *read_id, time);
            let off = pairs.iter().zip(&shown).map(|(a, b)| a.distance(*b));
            let off = 100.0 * f64::from(off.fold(0.0, f32::max)) / report.diagonal;
            assert!(off <= 0.1, "{off} % at {time}");
        }
    }
}

/// METHODS-rigging 4: half of the twist of mannequiny's hand.l over its ten clips: 194 source keys become at most 126, 79 and
/// 50 at .01, .1 and .5 degrees.
#[test]
fn the_half_twist_of_a_hand_needs_few_keys() {
    let Some(shared) = shared_dir("the keys of a half twist") else {
        return;
    };
    let mut document = open(&shared.join("models/mannequiny/mannequiny.glb"));
    let joint = |name: &str| {
        let mut joints = document.skeleton().live_joints();
        let named = |j: &JointId| document.skeleton().joint(*j).name == name;
        joints.find(named).unwrap()
    };
    let (hand, forearm) = (joint("hand.l"), joint("lowerarm.l"));
    let axis = document.skeleton().joint(hand).rest.translation.normalize();
    let twist = rig::Twist {
        joint: forearm,
        child: hand,
        n: 2,
        of: rig::TwistOf::Child,
    };
    let (edit, made) = rig::twist(&document, &twist).unwrap();
    document.apply(&mut Edit::Rig(Box::new(edit))).unwrap();
    let share = Rule::TwistShare {
        source: hand,
        axis,
        share: 0.5,
        centre: 0.0,
    };
    constrain(&mut document, made[0], &[share]);
    let n_source: usize = document
        .clips()
        .values()
        .filter_map(|clip| {
            Some(
                clip.channels[clip.channel_of(hand, Property::Rotation)?]
                    .times
                    .len(),
            )
        })
        .sum();
    let counts = [0.01, 0.1, 0.5].map(|degrees| {
        let keys = ConstraintKeys::within(&document, degrees, 1.0).unwrap();
        // The operation has keyed the helper already.
        let clips = document.clips().values().map(|clip| {
            let mut clip = Clip::clone(clip);
            clip.channels.retain(|c| c.joint != made[0]);
            clip
        });
        let n = clips.map(|clip| keys.channels(&clip, &Task::new()).unwrap()[0].times.len());
        n.sum::<usize>()
    });
    assert_eq!(n_source, 194);
    for (n, published) in counts.into_iter().zip([126, 79, 50]) {
        assert!(n <= published && 10 * n >= 9 * published, "{counts:?}");
    }
}

/// Roll of `VRMC_node_constraint` 1.0 is a twist share: the specification's pseudocode on random frames (METHODS-rigging
/// 4: equal to 1.2e-15 on 2,000 of them).
#[test]
fn a_roll_is_a_twist_share() {
    let mut random = Random::new(7);
    for k in 0..2000 {
        let [rest, source_rest, now] = [0; 3].map(|_| random.rotation());
        let axis = DVec3::AXES[k % 3];
        let weight = (k % 11) as f64 / 10.0;
        // deltaSrcQuat, deltaSrcQuatInParent, deltaSrcQuatInDst, fromToQuat of the specification.
        let delta = source_rest.inverse() * now;
        let in_parent = source_rest * delta * source_rest.inverse();
        let in_own = rest.inverse() * in_parent * rest;
        let from_to = DQuat::from_rotation_arc(axis, in_own * axis);
        let mut target = rest * from_to.inverse() * in_own;
        if target.dot(rest) < 0.0 {
            target = -target;
        }
        let expected = rest.slerp(target, weight);
        let ours = rest * constraint::twist_share(in_own, axis, weight);
        let off = (ours - expected).length().min((ours + expected).length());
        assert!(off < 1e-9, "{k}: {off}");
    }
}

/// A VRM model whose nodes 3 and 4 have constraints; node 1 has one of another version and node 2 one of two kinds.
fn vrm() -> crate::gltf_builder::Gltf {
    let mut gltf = tube(5);
    let first = clip(&mut gltf, "Bend");
    let times = [0.0, 0.5, 1.0];
    turn(&mut gltf, first, 2, "LINEAR", &times, &[0.0, 70.0, -30.0]);
    gltf.json["extensions"] = json!({"VRMC_vrm": {"specVersion": "1.0"}});
    gltf.json["extensionsUsed"] = json!(["VRMC_vrm", "VRMC_node_constraint"]);
    let mut put = |node: usize, version: &str, constraint: serde_json::Value| {
        gltf.json["nodes"][node]["extensions"] = json!({
            "VRMC_node_constraint": {"specVersion": version, "constraint": constraint}
        });
    };
    put(1, "2.0", json!({"rotation": {"source": 2}}));
    put(
        2,
        "1.0",
        json!({"rotation": {"source": 1}, "roll": {"source": 1, "rollAxis": "X"}}),
    );
    put(3, "1.0", json!({"rotation": {"source": 2, "weight": 0.25}}));
    put(
        4,
        "1.0",
        json!({"roll": {"source": 2, "rollAxis": "Y", "weight": 0.5}}),
    );
    put(
        5,
        "1.0",
        json!({"aim": {"source": 1, "aimAxis": "NegativeZ"}}),
    );
    gltf
}

fn json_of(bytes: &[u8]) -> serde_json::Value {
    let length = u32::from_le_bytes(bytes[12..16].try_into().unwrap()) as usize;
    serde_json::from_slice(&bytes[20..20 + length]).unwrap()
}

/// METHODS-rigging 4: all three kinds of `VRMC_node_constraint` become live, others stay as they are.
#[test]
fn node_constraints_of_vrm_are_read_kept_and_written() {
    let imported = import_bytes(vrm().glb(), None, None, &Task::new()).unwrap();
    let about: Vec<String> = imported
        .findings
        .iter()
        .filter(|f| f.message.contains("the file keeps it as it is"))
        .map(ToString::to_string)
        .collect();
    assert_eq!(about.len(), 2, "{:?}", imported.findings);
    assert!(about[0].contains("\"2.0\", not \"1.0\""), "{about:?}");
    assert!(about[1].contains("2 kinds of constraint"), "{about:?}");
    let mut document = Document::new(imported.parts).unwrap();
    let labels: Vec<_> = [3, 4, 5]
        .map(|j| document.constraints_of(JointId(j))[0].rule.label())
        .into();
    assert_eq!(labels, ["Copy rotation", "Twist share", "Aim"]);
    assert_eq!(document.constraints_of(JointId(3))[0].influence, 0.25);
    assert_eq!(document.constraints().len(), 3);
    let clip = document.clips()[&ClipId(0)].clone();
    let turned = document.pose_of_clip(&clip, 0.5);
    let quarter = DQuat::IDENTITY.slerp(turned.locals[2].rotation, 0.25);
    assert!(turned.locals[3].rotation.dot(quarter).abs() > 1.0 - 1e-12);
    assert!(quarter.w < 0.99);

    // Without edits: keyframes beside the same constraints, so that viewers that do not know them play the same motion.
    let before = json_of(&document.source().unwrap().bytes);
    let exported = plain(&document);
    let about = |exported: &Exported| {
        let findings = exported.report.findings.iter();
        let said = findings.filter(|f| f.message.contains("constrained bone"));
        said.cloned().collect::<Vec<_>>()
    };
    assert_eq!(about(&exported).len(), 1, "{:?}", exported.report);
    for step in 0..=50 {
        let time = f64::from(step) / 50.0;
        let pose = document.pose_of_clip(&clip, time);
        for (j, (q, _)) in played(&exported.files[0].1, 0, time).iter().enumerate() {
            let off = 2.0 * q.dot(pose.locals[j].rotation).abs().min(1.0).acos();
            assert!(off.to_degrees() < 0.11, "bone {j} at {time}: {off}");
        }
    }
    // What is said of the file is true of the file: opened again, it has all keyframes and is copied.
    let again = plain(&reopen(&exported));
    assert_eq!(about(&again), []);
    assert_eq!(again.files[0].1, exported.files[0].1);
    let json = json_of(&exported.files[0].1);
    let of = |json: &serde_json::Value, node: usize| {
        json["nodes"][node]["extensions"]["VRMC_node_constraint"].clone()
    };
    for node in 1..=5 {
        assert_eq!(of(&json, node), of(&before, node));
    }
    let read = reopen(&exported);
    assert_eq!(read.constraints(), document.constraints());
    let n_keyed = read.clips()[&ClipId(0)].channels.len();
    assert!(n_keyed >= 4, "{n_keyed}");
    // With the keyframes beside them they give the same pose.
    let again = read.pose_of_clip(&read.clips()[&ClipId(0)], 0.5);
    for j in 1..=5 {
        let (a, b) = (again.locals[j].rotation, turned.locals[j].rotation);
        assert!(a.dot(b).abs() > 1.0 - 1e-6, "{j}");
    }

    // Changed ones are written, removed ones go, and what cannot be expressed is keyframes only.
    let list = vec![Constraint {
        influence: 0.75,
        ..Constraint::new(copies(JointId(1)))
    }];
    document.apply(&mut edit(JointId(3), list)).unwrap();
    document.apply(&mut edit(JointId(4), Vec::new())).unwrap();
    constrain(
        &mut document,
        JointId(5),
        &[Rule::LimitAngles([[-0.5, 0.5]; 3])],
    );
    let exported = plain(&document);
    let json = json_of(&exported.files[0].1);
    assert_eq!(
        of(&json, 3)["constraint"],
        json!({"rotation": {"source": 1, "weight": 0.75}})
    );
    assert!(of(&json, 4).is_null() && of(&json, 5).is_null());
    assert_eq!(of(&json, 1), of(&before, 1));
    let said = exported.report.findings.iter();
    let keys_only = said.filter(|f| f.message.contains("keyframes only"));
    let keys_only: Vec<&str> = keys_only.map(|f| f.message.as_str()).collect();
    let expected =
        "VRMC_node_constraint cannot express the constraints of 1 bone; they are keyframes only.";
    assert_eq!(keys_only, [expected]);

    // An influence is part of a roll's weight, what is muted is not spoken of, and what cannot be read gives way.
    let roll = Constraint {
        influence: 0.5,
        ..Constraint::new(Rule::TwistShare {
            source: JointId(2),
            axis: DVec3::Y,
            share: 0.5,
            centre: 0.0,
        })
    };
    document.apply(&mut edit(JointId(4), vec![roll])).unwrap();
    let muted = Constraint {
        is_muted: true,
        ..Constraint::new(Rule::LimitAngles([[-0.5, 0.5]; 3]))
    };
    document.apply(&mut edit(JointId(5), vec![muted])).unwrap();
    let quarter = Constraint {
        influence: 0.25,
        ..Constraint::new(copies(JointId(2)))
    };
    document.apply(&mut edit(JointId(3), Vec::new())).unwrap();
    document
        .apply(&mut edit(JointId(1), vec![quarter]))
        .unwrap();
    let exported = plain(&document);
    let json = json_of(&exported.files[0].1);
    let roll = json!({"roll": {"source": 2, "rollAxis": "Y", "weight": 0.25}});
    assert_eq!(of(&json, 4)["constraint"], roll);
    assert_eq!(
        of(&json, 1),
        json!({"specVersion": "1.0", "constraint": {"rotation": {"source": 2, "weight": 0.25}}})
    );
    assert!(of(&json, 5).is_null() && of(&json, 3).is_null());
    let said: Vec<&str> = (exported.report.findings.iter())
        .filter(|f| f.place == "constraints" && !f.message.contains("constrained bone"))
        .map(|f| f.message.as_str())
        .collect();
    let expected =
        "Constraints that Sinew cannot read were replaced by those of the project on 1 bone.";
    assert_eq!(said, [expected]);
}

/// The check of a file without other edits compares with the keyframes that it has.
#[test]
fn a_vrm_without_edits_meets_the_tolerance() {
    let imported = import_bytes(vrm().glb(), None, None, &Task::new()).unwrap();
    let document = with_stack(Document::new(imported.parts).unwrap(), &DeformStack::lbs());
    let (_, report) = corrected(&document, BakeOptions::default());
    assert!(report.met, "{report:?}");
}

/// Other files get them on request: what is written reads as it was.
#[test]
fn node_constraints_are_written_on_request() {
    let document = following();
    let json = json_of(&plain(&document).files[0].1);
    assert!(json["extensionsUsed"].is_null());
    let options = ExportOptions {
        node_constraints: true,
        ..ExportOptions::default()
    };
    let exported = export(&document, &options, &Task::new()).unwrap();
    let json = json_of(&exported.files[0].1);
    assert_eq!(json["extensionsUsed"], json!(["VRMC_node_constraint"]));
    assert!(json["extensionsRequired"].is_null());
    assert_eq!(reopen(&exported).constraints(), document.constraints());
}

/// A file whose constraints close a circle opens; the circle is named, and one constraint does not act.
#[test]
fn a_circle_in_a_file_is_opened_and_named() {
    let mut gltf = tube(4);
    for (node, source) in [(3, 4), (4, 3)] {
        gltf.json["nodes"][node]["extensions"] = json!({"VRMC_node_constraint": {
            "specVersion": "1.0", "constraint": {"rotation": {"source": source}}
        }});
    }
    let imported = import_bytes(gltf.glb(), None, None, &Task::new()).unwrap();
    let document = Document::new(imported.parts).unwrap();
    let found = sinew::document::checks::of_constraints(&document);
    assert_eq!(found.len(), 1);
    assert!(
        found[0]
            .message
            .contains("follows “Joint 2” (Copy rotation)"),
        "{found:?}"
    );
    // Joint 3 follows joint 4; joint 4 stays.
    let turn = DQuat::from_rotation_x(0.7);
    let mut pose = Pose::clone(document.rest_pose());
    pose.locals[4].rotation *= turn;
    let keyed = pose.clone();
    document.constrain(&mut pose);
    assert_eq!(pose.locals[4], keyed.locals[4]);
    assert!((pose.locals[3].rotation.dot(keyed.locals[4].rotation)).abs() > 1.0 - 1e-12);

    // Another circle is refused all the same, and so is one that would stop what acts.
    let mut document = document;
    constrain(&mut document, JointId(2), &[copies(JointId(1))]);
    for (joint, source) in [(1, 2), (4, 1)] {
        let list = vec![
            Constraint::new(copies(JointId(3))),
            Constraint::new(copies(JointId(source))),
        ];
        let list = if joint == 4 { list } else { list[1..].to_vec() };
        let found = document.clone().apply(&mut edit(JointId(joint), list));
        assert_eq!(found.is_err(), joint == 1, "{found:?}");
    }
    let list = vec![Constraint::new(copies(JointId(3)))];
    let error = document.clone().apply(&mut edit(JointId(1), list.clone()));
    assert!(error.is_ok(), "{error:?}");
    constrain(&mut document, JointId(1), &[copies(JointId(3))]);
    let error = document.apply(&mut edit(
        JointId(3),
        vec![Constraint::new(copies(JointId(2)))],
    ));
    assert!(matches!(error, Err(EditError::Cycle(_))), "{error:?}");
}
