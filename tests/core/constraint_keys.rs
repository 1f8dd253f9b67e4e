//! Constraints as keyframes: what players without constraints show.

use crate::bake::{corrected, with_stack};
use crate::bake_sources::{channel, clip, tube, turn};
use crate::constraints::{constrain, copies, edit};
use crate::export_models::{open, reopen};
use crate::shared::shared_dir;
use glam::{DQuat, DVec3, Vec3};
use gltf::animation::util::ReadOutputs;
use serde_json::json;
use sinew::bake::BakeOptions;
use sinew::bake::static_shapes::{StaticPose, static_shapes};
use sinew::deform::DeformStack;
use sinew::document::{ClipId, ConstraintKeys, Document, Edit, rig};
use sinew::export::{ExportOptions, Exported, export};
use sinew::finding::Severity;
use sinew::io::import_bytes;
use sinew::math::Worse;
use sinew::math::transform::normalize_or_identity;
use sinew::skeleton::constraint::{Constraint, Rule};
use sinew::skeleton::{Clip, JointId, Property};
use sinew::task::Task;

/// A tube over four joints, a target beside it, and two clips, the second of which moves one joint only: joint 1 moves,
/// joint 2 copies half of it, joint 3 aims at the target.
pub(crate) fn following() -> Document {
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
pub(crate) fn played(bytes: &[u8], animation: usize, time: f64) -> Vec<(DQuat, DVec3)> {
    let file = gltf::Gltf::from_slice_without_validation(bytes).unwrap();
    let blob = file.blob.as_deref();
    let mut nodes: Vec<(DQuat, DVec3)> = file
        .nodes()
        .map(|node| {
            let (t, r, _) = node.transform().decomposed();
            let q = DQuat::from_array(r.map(f64::from));
            (
                normalize_or_identity(q),
                DVec3::from_array(t.map(f64::from)),
            )
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
                let q = |k: usize| {
                    let q = DQuat::from_array(values[k].map(f64::from));
                    normalize_or_identity(q)
                };
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

pub(crate) fn plain(document: &Document) -> Exported {
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
                let angle = |q: DQuat, r: DQuat| 2.0 * q.dot(r).abs().clamp(0.0, 1.0).acos();
                worst = worst.worse(angle(*q, pose.locals[j].rotation).to_degrees());
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
            let off = 100.0 * f64::from(off.fold(0.0, f32::worse)) / report.diagonal;
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
    let twist = rig::Twist {
        joint: forearm,
        child: hand,
        n: 2,
        of: rig::TwistOf::Child,
    };
    let (edit, made) = rig::twist(&document, &twist).unwrap();
    document.apply(&mut Edit::Rig(Box::new(edit))).unwrap();
    let given = &document.constraints_of(made[0])[0].rule;
    assert!(
        matches!(given, Rule::TwistShare { source, share, .. } if *source == hand && *share == 0.5)
    );
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
