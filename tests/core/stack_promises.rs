//! What the whole stack promises: it moves with the model, its bits depend on neither threads nor history, and frames
//! of a steady model allocate nothing.

use crate::models::tube;
use crate::reference::cylinder::{Cylinder, pose};
use crate::reference::larger;
use crate::stacks::Rig;
use glam::{DAffine3, DMat3, DQuat, DVec3};
use proptest::prelude::*;
use sinew::deform::{
    BulgeProjection, Compensation, DeformStack, MaskKind, Moved, Polynomial, ScaleMode,
    SkinningMethod, TwistDamping, Variant,
};
use sinew::document::{
    Document, Edit, InstanceId, MaskEdit, MeshId, MeshItem, Parts, Skin, SkinId,
};
use sinew::evaluate::Evaluator;
use sinew::math::Transform;
use sinew::skeleton::{Joint, JointId, JointRule, Pose, Skeleton};
use sinew::skinning::{Influences, Rows};
use std::sync::Arc;

const MESH: MeshId = MeshId(0);

#[test]
fn the_whole_stack_moves_with_the_model() {
    let shape = Cylinder::new();
    let mut rig = Rig::cylinder(&shape);
    let joints = pose(95.0, 20.0);
    let rest = rig.run(DeformStack::default(), &joints);
    let axis = DVec3::new(1.0, -2.0, 0.5).normalize_or(DVec3::X);
    for (angle, t) in [
        (0.0, [3.0, -4.0, 20.0]),
        (1.0, [0.0; 3]),
        (3.1, [-7.0, 2.0, 5.0]),
    ] {
        let motion = DAffine3::from_rotation_translation(
            DQuat::from_axis_angle(axis, angle),
            DVec3::from_array(t),
        );
        let moved = rig.run(DeformStack::default(), &joints.map(|k| motion * k));
        for (a, b) in moved.iter().zip(&rest) {
            let expected = motion.transform_point3(*b);
            let tolerance = 1.5e-6 * (1.0 + expected.abs().max_element());
            assert!(a.abs_diff_eq(expected, tolerance), "{a} not {expected}");
        }
    }
}

#[test]
fn the_whole_stack_knows_no_unit() {
    let shape = Cylinder::new();
    let joints = pose(95.0, 20.0);
    let mut rig = Rig::cylinder(&shape);
    let metres = rig.run(DeformStack::default(), &joints);
    for scale in [0.01, 0.1, 2.5, 10.0, 100.0] {
        // The same model in another unit.
        let bones = crate::reference::bones::Bones {
            origins: crate::reference::cylinder::bones()
                .origins
                .iter()
                .map(|g| *g * scale)
                .collect(),
            tails: vec![None; 2],
            ..crate::reference::cylinder::bones()
        };
        let positions: Vec<DVec3> = shape.positions.iter().map(|p| *p * scale).collect();
        let mut other = Rig::new(&positions, &shape.triangles, &shape.rows, &bones);
        let scaled = other.run(DeformStack::default(), &joints);
        assert_scaled(&scaled, &metres, scale, DVec3::ZERO);
        // The root of the pose scaled about its place.
        let root = DVec3::new(-5.0, 0.0, 0.0);
        let about = DAffine3::from_translation(root)
            * DAffine3::from_scale(DVec3::splat(scale))
            * DAffine3::from_translation(-root);
        let inflated = rig.run(DeformStack::default(), &joints.map(|k| about * k));
        assert_scaled(&inflated, &metres, scale, root);
    }
}

fn assert_scaled(scaled: &[DVec3], plain: &[DVec3], scale: f64, about: DVec3) {
    let worst = scaled
        .iter()
        .zip(plain)
        .map(|(a, b)| a.distance(about + (*b - about) * scale))
        .fold(0.0, larger);
    assert!(worst <= 1e-5 * scale.max(1.0), "{scale}: {worst:e}");
}

fn bits(evaluator: &Evaluator) -> Vec<u32> {
    [InstanceId(3), InstanceId(4)]
        .iter()
        .flat_map(|id| {
            let plan = evaluator.plan(*id).unwrap();
            let both = plan.positions().iter().chain(plan.normals());
            both.flat_map(|v| v.to_array().map(f32::to_bits))
                .collect::<Vec<_>>()
        })
        .collect()
}

/// The tube in a bent, twisted and stretched pose.
fn bent(document: &Document) -> Pose {
    let mut pose = Pose::rest(document.skeleton());
    pose.locals[1].rotation = DQuat::from_rotation_z(1.4) * DQuat::from_rotation_x(0.6);
    pose.locals[2].rotation = DQuat::from_rotation_y(-1.1);
    pose.locals[1].stretch = DMat3::from_diagonal(DVec3::new(1.0, 1.3, 0.8));
    pose.morph_weights[3] = vec![0.7];
    pose
}

fn every_stack() -> Vec<DeformStack> {
    let mut stacks: Vec<DeformStack> = SkinningMethod::ALL
        .into_iter()
        .map(|method| DeformStack {
            method,
            blend: 0.6,
            ..DeformStack::default()
        })
        .collect();
    let mut published = DeformStack::default();
    published.compensation.variant = Variant::Published;
    published.projection.variant = Variant::Published;
    stacks.push(published);
    let mut smooth = DeformStack::default();
    smooth.smooth.enabled = true;
    smooth.compensation.auto_strength = true;
    smooth.projection.sibling_fade = true;
    stacks.push(smooth);
    stacks
}

#[test]
fn the_bits_do_not_depend_on_the_number_of_threads() {
    for stack in every_stack() {
        let mut document = tube(300);
        let mut edit = Edit::Stack {
            mesh: MESH,
            stack: Arc::new(stack.clone()),
        };
        document.apply(&mut edit).unwrap();
        let pose = bent(&document);
        let results: Vec<Vec<u32>> = [1, 2, 7]
            .into_iter()
            .map(|n| {
                let pool = rayon::ThreadPoolBuilder::new()
                    .num_threads(n)
                    .build()
                    .unwrap();
                pool.install(|| {
                    let mut evaluator = Evaluator::default();
                    evaluator.evaluate(&document, &pose);
                    bits(&evaluator)
                })
            })
            .collect();
        assert!(
            results[0] == results[1] && results[0] == results[2],
            "{stack:?}"
        );
    }
}

fn any_stack() -> impl Strategy<Value = DeformStack> {
    let compensation = (
        any::<[bool; 5]>(),
        0usize..3,
        0usize..3,
        prop_oneof![Just(1.0f32), Just(0.0), 0.0f32..2.0],
    )
        .prop_map(|(on, polynomial, twist, strength)| Compensation {
            enabled: on[0],
            variant: if on[1] && on[2] {
                Variant::Published
            } else {
                Variant::Corrected
            },
            polynomial: [
                Polynomial::Manual,
                Polynomial::Original,
                Polynomial::Custom { c1: 2.0, c2: -7.0 },
            ][polynomial],
            strength,
            twist: [TwistDamping::Axis, TwistDamping::Sine, TwistDamping::Off][twist],
            third_bone_fade: on[3],
            fold_guard: on[1],
            auto_strength: on[4],
            siblings: on[2],
        });
    let projection = (any::<[bool; 3]>(), 1.0f32..8.0, 0.0f32..1.0).prop_map(
        |([enabled, published, sibling_fade], power, strength)| BulgeProjection {
            enabled,
            variant: if published {
                Variant::Published
            } else {
                Variant::Corrected
            },
            power,
            sibling_fade,
            strength,
        },
    );
    let method = prop_oneof![
        4 => Just(SkinningMethod::Dqs),
        2 => Just(SkinningMethod::Lbs),
        2 => Just(SkinningMethod::Blend),
        // Finding centres takes long.
        1 => Just(SkinningMethod::CentresOfRotation),
    ];
    (
        method,
        any::<[bool; 2]>(),
        0.0f32..1.0,
        1u32..8,
        compensation,
        projection,
    )
        .prop_map(
            |(method, [drop, smooth], blend, iterations, compensation, projection)| {
                let mut stack = DeformStack {
                    method,
                    scale: if drop {
                        ScaleMode::Drop
                    } else {
                        ScaleMode::TwoPhase
                    },
                    blend,
                    compensation,
                    projection,
                    ..DeformStack::default()
                };
                stack.smooth.enabled = smooth;
                stack.smooth.iterations = iterations;
                stack
            },
        )
}

fn any_edit(n_points: u32) -> impl Strategy<Value = Edit> {
    let rows = prop::collection::btree_map(
        0..n_points,
        prop::collection::vec((0u16..3, 0.001f32..1.0), 0..4),
        1..40,
    )
    .prop_map(|rows| {
        let points = rows.keys().copied().collect();
        let rows: Rows = rows
            .into_values()
            .map(|mut row| {
                row.sort_by_key(|e| e.0);
                row.dedup_by_key(|e| e.0);
                row
            })
            .collect();
        Edit::influences(MESH, points, rows)
    });
    let mask = (
        0usize..4,
        prop::collection::btree_map(0..n_points, 0.0f32..1.0, 1..40),
    )
        .prop_map(|(kind, values)| {
            let (points, values) = values.into_iter().unzip();
            Edit::Mask(MaskEdit::new(MESH, MaskKind::ALL[kind], points, values))
        });
    let pose =
        (0u32..5, -3.0f64..3.0, -3.0f64..3.0, 0.2f64..2.0).prop_map(|(joint, angle, x, s)| {
            let scale = if s < 1.0 {
                DVec3::ONE
            } else {
                DVec3::new(1.0, s, 1.0)
            };
            let rotation = DQuat::from_rotation_z(angle) * DQuat::from_rotation_y(0.3 * x);
            Edit::Pose {
                joints: vec![JointId(joint)],
                locals: vec![Transform::from_trs(
                    DVec3::new(x, 0.0, 0.0),
                    rotation,
                    scale,
                )],
            }
        });
    let rule = (0u32..5, -2.0f64..2.0, any::<[bool; 2]>()).prop_map(|(joint, x, [tail, scale])| {
        Edit::JointRule {
            joint: JointId(joint),
            rule: JointRule {
                tail: tail.then(|| DVec3::new(x, 0.3, 0.0)),
                compensates_scale: scale,
                ..JointRule::default()
            },
        }
    });
    prop_oneof![
        3 => rows,
        3 => mask,
        3 => any_stack().prop_map(|stack| Edit::Stack { mesh: MESH, stack: Arc::new(stack) }),
        3 => pose,
        1 => rule,
        1 => (3u32..5, -1.0f32..1.0).prop_map(|(j, w)| Edit::MorphWeights { joint: JointId(j), weights: vec![w] }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn an_edited_model_has_the_bits_of_a_fresh_one(edits in prop::collection::vec(any_edit(100 * 16), 1..14)) {
        let mut document = tube(100);
        let mut incremental = Evaluator::default();
        let mut shown: Vec<Vec<u32>> = Vec::new();
        for edit in edits {
            document.apply(&mut edit.clone()).unwrap();
            let pose = document.pose().clone();
            let moved = incremental.evaluate(&document, &pose);
            let mut fresh = Evaluator::default();
            fresh.evaluate(&document, &pose);
            prop_assert!(bits(&incremental) == bits(&fresh), "after {edit:?}");
            // What is said to have stood still did.
            let now: Vec<Vec<u32>> = [InstanceId(3), InstanceId(4)]
                .iter()
                .map(|id| {
                    let plan = incremental.plan(*id).unwrap();
                    plan.positions().iter().flat_map(|v| v.to_array().map(f32::to_bits)).collect()
                })
                .collect();
            for (k, (_, moved)) in moved.iter().enumerate() {
                let Some(before) = shown.get(k) else { continue };
                let changed: Vec<u32> = (0..now[k].len() / 3)
                    .filter(|p| before[3 * p..3 * p + 3] != now[k][3 * p..3 * p + 3])
                    .map(|p| p as u32)
                    .collect();
                match moved {
                    Moved::All => {}
                    Moved::Nothing => prop_assert!(changed.is_empty()),
                    Moved::Some { points, .. } => prop_assert_eq!(points, &changed),
                }
            }
            shown = now;
        }
    }
}

/// Asserts that an evaluator that has seen the steps before has the bits of a fresh one at each.
fn assert_no_memory(steps: &[(Document, Pose)]) {
    let mut old = Evaluator::default();
    for (k, (document, pose)) in steps.iter().enumerate() {
        old.evaluate(document, pose);
        let mut fresh = Evaluator::default();
        fresh.evaluate(document, pose);
        assert!(bits(&old) == bits(&fresh), "step {k}");
    }
}

fn with_stack(document: &Document, stack: DeformStack) -> Document {
    let mut document = document.clone();
    let mut edit = Edit::Stack {
        mesh: MESH,
        stack: Arc::new(stack),
    };
    document.apply(&mut edit).unwrap();
    document
}

#[test]
fn automatic_strength_switched_on_and_off_shows_at_once() {
    let document = tube(140);
    let pose = bent(&document);
    let stack = |auto_strength: bool| DeformStack {
        compensation: Compensation {
            auto_strength,
            ..Compensation::default()
        },
        ..DeformStack::default()
    };
    let states = [false, true, false, true].map(|on| with_stack(&document, stack(on)));
    let steps: Vec<(Document, Pose)> = states.into_iter().map(|d| (d, pose.clone())).collect();
    let mut evaluator = Evaluator::default();
    let results: Vec<Vec<u32>> = steps
        .iter()
        .map(|(document, pose)| {
            evaluator.evaluate(document, pose);
            bits(&evaluator)
        })
        .collect();
    assert!(results[0] != results[1] && results[0] == results[2] && results[1] == results[3]);
    assert_no_memory(&steps);
}

#[test]
fn a_bone_stretched_by_a_joint_without_points_is_measured_again() {
    // Between the middle joint and the end stands another in the middle's place: it moves no point, but where the
    // middle's bone ends in the inflated shape.
    let sound = tube(140);
    let mut joints = sound.skeleton().joints().to_vec();
    joints.push(Joint {
        name: "twin".into(),
        parent: Some(JointId(1)),
        rest: Transform::IDENTITY,
        source_node: None,
        content_of: None,
        removed: false,
        rule: JointRule::default(),
    });
    joints[2].parent = Some(JointId(5));
    let mut rows = Rows::default();
    for row in sound.meshes()[&MESH].influences.iter() {
        // Only the first two joints move points.
        let second: f32 = row.iter().filter(|r| r.0 > 0).map(|r| r.1).sum();
        rows.push_pairs(
            [(0, 1.0 - second), (1, second)]
                .into_iter()
                .filter(|r| r.1 > 0.0),
        );
    }
    let influences = Influences::from_rows(rows.iter());
    let item = MeshItem {
        influences: influences.clone(),
        source_influences: influences,
        ..sound.meshes()[&MESH].as_ref().clone()
    };
    // With the end among the skin's joints and without.
    for n_skin_joints in [3, 2] {
        let mut skin = sound.skins()[&SkinId(0)].as_ref().clone();
        skin.joints.truncate(n_skin_joints);
        skin.inverse_bind.truncate(n_skin_joints);
        stretch_the_twin(&sound, &joints, &item, skin);
    }
}

fn stretch_the_twin(sound: &Document, joints: &[Joint], item: &MeshItem, skin: Skin) {
    let document = Document::new(Parts {
        skeleton: Arc::new(Skeleton::new(joints.to_vec()).unwrap()),
        meshes: [(MESH, Arc::new(item.clone()))].into(),
        skins: [(SkinId(0), Arc::new(skin))].into(),
        instances: sound.instances().clone(),
        rest_morph_weights: [(JointId(3), vec![0.0]), (JointId(4), vec![0.0])].into(),
        ..Parts::default()
    })
    .unwrap();
    let pose = |stretch: f64| {
        let mut pose = Pose::rest(document.skeleton());
        pose.locals[1].rotation = DQuat::from_rotation_z(1.4);
        pose.locals[5].stretch = DMat3::from_diagonal(DVec3::new(stretch, 1.0, 1.0));
        pose.morph_weights[3] = vec![0.0];
        pose.morph_weights[4] = vec![0.0];
        pose
    };
    let steps = [1.0, 3.0, 0.2, 1.0].map(|stretch| (document.clone(), pose(stretch)));
    assert_no_memory(&steps);
}

/// Allocations of the frames of a moving model, counted in a process of its own: here other tests allocate too.
#[test]
fn frames_of_a_moving_model_allocate_nothing() {
    const CHILD: &str = "SINEW_COUNT_ALLOCATIONS";
    if std::env::var_os(CHILD).is_some() {
        count_allocations();
        return;
    }
    let output = std::process::Command::new(std::env::current_exe().unwrap())
        .args([
            "stack_promises::frames_of_a_moving_model_allocate_nothing",
            "--exact",
            "--nocapture",
            "--test-threads=1",
        ])
        .env(CHILD, "1")
        .env("RAYON_NUM_THREADS", "2")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    print!("{said}");
    assert!(
        output.status.success(),
        "{said}{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

fn count_allocations() {
    for stack in every_stack() {
        let mut document = tube(300);
        let mut edit = Edit::Stack {
            mesh: MESH,
            stack: Arc::new(stack.clone()),
        };
        document.apply(&mut edit).unwrap();
        let poses: Vec<Pose> = (0..14)
            .map(|i| {
                let mut pose = bent(&document);
                pose.locals[1].rotation = DQuat::from_rotation_z(0.1 * f64::from(i));
                pose
            })
            .collect();
        let mut evaluator = Evaluator::default();
        for pose in &poses[..6] {
            evaluator.evaluate(&document, pose);
        }
        let region = stats_alloc::Region::new(crate::ALLOCATOR);
        for pose in &poses[6..] {
            evaluator.evaluate(&document, pose);
        }
        let change = region.change();
        println!(
            "{:?}: {} allocations and {} reallocations in 8 frames",
            stack.method, change.allocations, change.reallocations
        );
        // A vector of what moved is handed out each frame; rayon's queues grow once in a while.
        assert!(
            change.allocations + change.reallocations <= 24,
            "{stack:?}: {change:?}"
        );
    }
}
