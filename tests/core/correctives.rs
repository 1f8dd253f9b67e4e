//! Corrective samples in documents: what is sculpted at a pose comes back there, whatever the stack below is.

use crate::models::tube;
use glam::{DMat3, DQuat, DVec3, Vec3};
use sinew::correctives;
use sinew::deform::correctives::{
    Correctives, Driver, PointWeights, Sample, SampleSet, WeightsWork, sum_of_samples,
};
use sinew::deform::{DeformStack, ScaleMode, SkinningMethod, StackPreset, Variant, capture};
use sinew::document::checks;
use sinew::document::rig::{self, WeightRecipient};
use sinew::document::{CorrectivesEdit, Document, Edit, InfluenceEdit, InstanceId, MeshId};
use sinew::evaluate::Evaluator;
use sinew::finding::SampleFix;
use sinew::math::Worse;
use sinew::psd::{DriverMode, Kernel, PsdError};
use sinew::skeleton::{Frame, JointId, Pose};
use sinew::skinning::Rows;
use sinew::task::Task;
use std::collections::BTreeMap;
use std::sync::Arc;

const MESH: MeshId = MeshId(0);
const SKINNED: InstanceId = InstanceId(3);

fn shape(document: &Document, pose: &Pose) -> Vec<Vec3> {
    let mut evaluator = Evaluator::default();
    evaluator.evaluate(document, pose);
    evaluator.plan(SKINNED).unwrap().positions().to_vec()
}

fn apply(document: &mut Document, correctives: Correctives) {
    let edit = CorrectivesEdit::new(document, MESH, Arc::new(correctives));
    document.apply(&mut Edit::Correctives(edit)).unwrap();
}

/// The pose with these rotations of the joints `middle` and `end`.
fn posed(document: &Document, middle: DQuat, end: DQuat) -> Pose {
    let mut pose = Pose::rest(document.skeleton());
    pose.locals[1].rotation = middle;
    pose.locals[2].rotation = end;
    pose
}

/// A shape as an artist would leave it: the posed one with a bump around the middle.
fn sculpt(document: &Document, pose: &Pose, size: f32) -> Vec<(u32, Vec3)> {
    let shape = shape(document, pose);
    let bind = &document.meshes()[&MESH].geometry.positions;
    let bumps = (0..)
        .zip(bind.iter().zip(&shape))
        .filter_map(|(p, (bind, v))| {
            let falloff = 1.0 - (bind.x - 0.2).abs() / 0.8;
            let bump = Vec3::new(bind.y, 0.5 - bind.z, 0.3 + bind.x) * size * falloff;
            (falloff > 0.0).then(|| (p, *v + bump))
        });
    bumps.collect()
}

/// The document with a further sample, sculpted at `pose`, of the set driven by these joints.
fn with_sample(
    document: &Document,
    pose: &Pose,
    joints: &[u32],
    sculpted: &[(u32, Vec3)],
) -> Document {
    let item = &document.meshes()[&MESH];
    let skeleton = document.skeleton();
    let mut evaluator = Evaluator::default();
    evaluator.evaluate(document, pose);
    let plan = evaluator.plan(SKINNED).unwrap();
    let captured = capture(plan, &item.stack, &item.masks, sculpted);
    let mut sets = item.correctives.sets().to_vec();
    let mine = |set: &Arc<SampleSet>| {
        set.drivers
            .iter()
            .map(|d| d.joint.0)
            .eq(joints.iter().copied())
    };
    let index = sets.iter().position(mine).unwrap_or_else(|| {
        let rest = &document.rest_pose().locals;
        let drivers = joints
            .iter()
            .map(|&j| Driver::of_joint(JointId(j), skeleton, rest));
        sets.push(Arc::new(SampleSet::new(
            format!("{joints:?}"),
            drivers.collect(),
        )));
        sets.len() - 1
    });
    let others = sets
        .iter()
        .filter(|set| !mine(set))
        .flat_map(|set| &set.drivers);
    let rotation = |driver: &Driver| driver.rotation(skeleton, &pose.locals);
    let sample = Sample {
        name: format!("sample {}", item.correctives.samples().len()),
        rotations: sets[index].drivers.iter().map(rotation).collect(),
        beside: others
            .map(|driver| (driver.joint, rotation(driver)))
            .collect(),
        displacements: captured.for_set(&sets[index]).clone(),
        captured_on: item.stack.clone(),
        captured_over: document.captured_now(MESH),
        strength: 1.0,
        muted: false,
    };
    Arc::make_mut(&mut sets[index])
        .samples
        .push(Arc::new(sample));
    let mut document = document.clone();
    let made = Correctives::new(sets).unwrap();
    apply(&mut document, made);
    document
}

fn worst(shape: &[Vec3], sculpted: &[(u32, Vec3)]) -> f32 {
    let apart = sculpted
        .iter()
        .map(|(p, v)| shape[*p as usize].distance(*v));
    apart.fold(0.0, f32::worse)
}

fn diagonal(document: &Document) -> f32 {
    let positions = &document.meshes()[&MESH].geometry.positions;
    let (low, high) = positions
        .iter()
        .fold((Vec3::MAX, Vec3::MIN), |(low, high), p| {
            (low.min(*p), high.max(*p))
        });
    low.distance(high)
}

/// Every method, preset and variant, with and without scale.
fn stacks() -> Vec<DeformStack> {
    let mut stacks: Vec<DeformStack> = StackPreset::ALL.map(StackPreset::stack).to_vec();
    stacks.extend(SkinningMethod::ALL.map(|method| DeformStack {
        method,
        blend: 0.6,
        ..DeformStack::default()
    }));
    let mut published = DeformStack::default();
    published.compensation.variant = Variant::Published;
    published.projection.variant = Variant::Published;
    stacks.push(published);
    let mut smooth = DeformStack::default();
    smooth.smooth.enabled = true;
    stacks.push(smooth.clone());
    smooth.scale = ScaleMode::Drop;
    stacks.push(smooth);
    stacks
}

#[test]
fn a_sculpt_comes_back_under_every_stack_and_bind_stays() {
    for stack in stacks() {
        let mut document = tube(40);
        let stack = Arc::new(stack);
        let mut edit = Edit::Stack {
            mesh: MESH,
            stack: stack.clone(),
        };
        document.apply(&mut edit).unwrap();
        let plain = document.clone();
        let mut poses = [
            posed(&document, DQuat::from_rotation_z(1.9), DQuat::IDENTITY),
            posed(
                &document,
                DQuat::from_rotation_y(-1.0),
                DQuat::from_rotation_x(1.1),
            ),
            posed(&document, DQuat::from_rotation_x(3.1), DQuat::IDENTITY),
        ];
        // A scaled joint and a morph target.
        poses[1].locals[2].stretch = DMat3::from_diagonal(DVec3::new(1.2, 0.7, 1.0));
        poses[1].morph_weights[3] = vec![0.6];
        let sculpts: Vec<_> = [0.1, -0.2, 0.15]
            .iter()
            .zip(&poses)
            .map(|(size, pose)| sculpt(&plain, pose, *size))
            .collect();
        for (pose, sculpted) in poses.iter().zip(&sculpts) {
            document = with_sample(&document, pose, &[1, 2], sculpted);
        }
        let tolerance = 1e-5 * diagonal(&document);
        for (pose, sculpted) in poses.iter().zip(&sculpts) {
            let error = worst(&shape(&document, pose), sculpted);
            assert!(error <= tolerance, "{error} under {stack:?}");
        }
        let weighted = weighted(&document);
        // The first pose has no scale: its displacements are the same with it.
        let mut scaled = scaled(&with_sample(&plain, &poses[0], &[1, 2], &sculpts[0]));
        for (pose, sculpted) in poses.iter().zip(&sculpts).skip(1) {
            scaled = with_sample(&scaled, pose, &[1, 2], sculpted);
        }
        for (pose, sculpted) in poses.iter().zip(&sculpts) {
            for document in [&weighted, &scaled] {
                let error = worst(&shape(document, pose), sculpted);
                assert!(error <= tolerance, "{error} under {stack:?}");
            }
        }
        let rest = document.rest_pose();
        for document in [&document, &weighted, &scaled] {
            assert_eq!(shape(document, rest), shape(&plain, rest), "{stack:?}");
        }
        let item = &document.meshes()[&MESH];
        assert!(
            item.correctives
                .samples()
                .iter()
                .all(|s| !s.is_on_other_stack(&stack))
        );
    }
}

/// The document with every set changed.
fn with_sets(document: &Document, change: impl Fn(&mut SampleSet)) -> Document {
    let mut sets = document.meshes()[&MESH].correctives.sets().to_vec();
    for set in &mut sets {
        change(Arc::make_mut(set));
    }
    let mut document = document.clone();
    apply(&mut document, Correctives::new(sets).unwrap());
    document
}

/// The document whose sets weigh their drivers by the skin weights of each vertex.
fn weighted(document: &Document) -> Document {
    with_sets(document, |set| set.weighted = true)
}

/// The document whose displacements stretch with the scale of the joints.
fn scaled(document: &Document) -> Document {
    with_sets(document, |set| set.scale_with_limb = true)
}

/// `v' = F + R A d`, where A is the stretch of the one joint that moves a point.
#[test]
fn a_correction_scales_with_the_limb_where_its_set_says_so() {
    let stretch = DMat3::from_diagonal(DVec3::new(2.0, 0.5, 0.5));
    let bent = DQuat::from_rotation_z(1.2);
    for method in [SkinningMethod::Dqs, SkinningMethod::Lbs] {
        // One ring follows the middle joint alone.
        let mut plain = tube(41);
        let stack = Arc::new(DeformStack::bare(method));
        let mut edit = Edit::Stack { mesh: MESH, stack };
        plain.apply(&mut edit).unwrap();
        let pose = posed(&plain, bent, DQuat::IDENTITY);
        let document = with_sample(&plain, &pose, &[1], &sculpt(&plain, &pose, 0.1));
        let large = scaled(&document);
        // Without scale there is no difference.
        assert_eq!(shape(&document, &pose), shape(&large, &pose));
        let mut pose = pose;
        pose.locals[1].stretch = stretch;
        let base = shape(&plain, &pose);
        let offsets = |document: &Document| -> Vec<DVec3> {
            let shape = shape(document, &pose);
            let pairs = shape.iter().zip(&base);
            pairs.map(|(a, b)| a.as_dvec3() - b.as_dvec3()).collect()
        };
        let (kept, stretched) = (offsets(&document), offsets(&large));
        let item = &document.meshes()[&MESH];
        let skin = document.skin_of_mesh(MESH).unwrap().1;
        let slot = skin.joints.iter().position(|j| j.0 == 1).unwrap() as u16;
        let rotation = plain_rotation(&plain, &pose);
        let mut n = 0;
        for (p, (kept, stretched)) in kept.iter().zip(&stretched).enumerate() {
            if item.influences.row(p as u32).weight_of(slot) < 1.0 || kept.length() < 1e-3 {
                continue;
            }
            let expected = rotation * (stretch * (rotation.inverse() * *kept));
            assert!(
                stretched.abs_diff_eq(expected, 1e-5),
                "{method:?}: point {p} moves by {stretched} instead of {expected}"
            );
            n += 1;
        }
        assert!(n > 3, "{n}");
        // Another one sculpted there comes back, and a bone scaled to nothing takes no displacement.
        pose.locals[1].rotation = DQuat::from_rotation_z(-0.8);
        let sculpted = sculpt(&plain, &pose, -0.2);
        let again = with_sample(&large, &pose, &[1], &sculpted);
        assert!(worst(&shape(&again, &pose), &sculpted) <= 1e-5 * diagonal(&plain));
        pose.locals[1].stretch = DMat3::from_diagonal(DVec3::new(1.0, 1.0, 1e-6));
        let mut evaluator = Evaluator::default();
        evaluator.evaluate(&large, &pose);
        let plan = evaluator.plan(SKINNED).unwrap();
        let captured = capture(plan, &item.stack, &item.masks, &sculpted);
        let stretched = captured.stretched.as_ref().unwrap();
        assert!(!captured.flat.is_empty());
        assert_eq!(stretched.n_points() + captured.flat.len(), sculpted.len());
        assert!(stretched.iter().all(|(_, d)| d.length() < 1e4));
    }
}

/// The rotation of joint 1 from bind to a pose, world.
fn plain_rotation(document: &Document, pose: &Pose) -> DQuat {
    let skeleton = document.skeleton();
    let of = |pose: &Pose| pose.world_matrices(skeleton)[1];
    let mut unscaled = pose.clone();
    unscaled.locals[1].stretch = DMat3::IDENTITY;
    let from_bind = of(&unscaled) * of(document.rest_pose()).inverse();
    DQuat::from_mat3(&from_bind.matrix3)
}

/// `l_jv = max(w_vj, w_v,parent(j))`, in sixteenths of their sum: a vertex hardly notices a joint that does not move it.
#[test]
fn a_vertex_of_a_weighted_set_follows_the_joints_that_move_it() {
    let plain = tube(40);
    let bent = DQuat::from_rotation_z(1.2);
    let posed_at = [
        posed(&plain, bent, DQuat::IDENTITY),
        posed(&plain, DQuat::IDENTITY, DQuat::from_rotation_z(1.0)),
    ];
    let mut document = plain.clone();
    for pose in &posed_at {
        document = with_sample(&document, pose, &[1, 2], &sculpt(&plain, pose, 0.1));
    }
    let document = weighted(&document);
    let item = &document.meshes()[&MESH];
    let correctives = &item.correctives;
    let skin = document.skin_of_mesh(MESH).unwrap().1;
    let both = posed(&document, bent, DQuat::from_rotation_z(1.0));
    let skeleton = document.skeleton();
    let mut weights = PointWeights::new(
        correctives,
        &skin.joints,
        None,
        &item.influences,
        (skeleton, &both.locals),
    );
    let mut work = WeightsWork::default();
    let unweighted = correctives
        .weights(skeleton, &both.locals, &mut work)
        .to_vec();
    let slot = |joint: u32| skin.joints.iter().position(|j| j.0 == joint).unwrap() as u16;
    let weight = |point: u32, joint: u32| item.influences.row(point).weight_of(slot(joint));
    let points = 0..item.geometry.n_points() as u32;
    // Moved by the joints at the root and in the middle alone: the factors are 16 and 1 sixteenth.
    let root = points
        .clone()
        .find(|&p| weight(p, 2) == 0.0 && weight(p, 1) == 0.0)
        .unwrap();
    let found = weights.at(root).to_vec();
    let d = |angle: f64| 2.0 * (angle / 2.0).sin();
    let (a, b) = (d(1.2), d(1.0) / 4.0);
    // Distances between bind, A, B and the pose, which has both rotations.
    let nodes = [(0.0, 0.0), (a, 0.0), (0.0, b), (a, b)];
    let distance = |i: usize, j: usize| {
        let (p, q): ((f64, f64), (f64, f64)) = (nodes[i], nodes[j]);
        (p.0 - q.0).hypot(p.1 - q.1)
    };
    let nearest = (b + distance(1, 0).min(distance(1, 2)) + b) / 3.0;
    let kernel = |i, j| -(distance(i, j).powi(2) + (0.2 * nearest).powi(2)).sqrt();
    // [K 1; 1 0] x = [k; 1], by Cramer's rule: the weights of bind, A and B.
    let rows = [
        [kernel(0, 0), kernel(0, 1), kernel(0, 2), 1.0],
        [kernel(1, 0), kernel(1, 1), kernel(1, 2), 1.0],
        [kernel(2, 0), kernel(2, 1), kernel(2, 2), 1.0],
        [1.0, 1.0, 1.0, 0.0],
    ];
    let side = [kernel(3, 0), kernel(3, 1), kernel(3, 2), 1.0];
    let matrix = glam::DMat4::from_cols_array_2d(&rows);
    let expected = matrix.inverse() * glam::DVec4::from_array(side);
    for (found, expected) in found.iter().zip([expected.y, expected.z]) {
        assert!((found - expected).abs() < 1e-9, "{found} {expected}");
    }
    assert!(found[0] > unweighted[0] + 0.1, "{found:?} {unweighted:?}");
    // A tip point follows the sample of the end more than the plain distances say.
    let tip = points.clone().find(|&p| weight(p, 2) == 1.0).unwrap();
    assert!(weights.at(tip)[1] > found[1], "{found:?}");
}

/// What a new sample starts with is what all samples add at each point, also where points weigh the drivers.
#[test]
fn the_sum_of_all_samples_is_that_of_each_point() {
    let plain = tube(40);
    let bent = DQuat::from_rotation_z(1.2);
    let mut document = plain.clone();
    for (pose, size) in [
        (posed(&plain, bent, DQuat::IDENTITY), 0.1),
        (
            posed(&plain, DQuat::IDENTITY, DQuat::from_rotation_z(1.0)),
            0.07,
        ),
    ] {
        document = with_sample(&document, &pose, &[1, 2], &sculpt(&plain, &pose, size));
    }
    for mut document in [weighted(&document), document] {
        let both = posed(&document, bent, DQuat::from_rotation_z(0.7));
        document.session_mut().playback.clip = None;
        let mut to_both = Edit::pose_change(document.pose(), &both).unwrap();
        document.apply(&mut to_both).unwrap();
        let correctives = document.meshes()[&MESH].correctives.clone();
        let sum = || {
            let mut weights = document.point_weights(SKINNED).unwrap();
            let rotations = document.point_rotations(SKINNED).unwrap();
            sum_of_samples(&correctives, &mut weights, &rotations, false)
        };
        let found = sum();
        let mut weights = document.point_weights(SKINNED).unwrap();
        for point in 0..document.meshes()[&MESH].geometry.n_points() as u32 {
            let own = correctives.samples().iter().enumerate();
            let weights = weights.at(point);
            let own = own.map(|(s, sample)| {
                let displacement = sample.displacements.get(point).unwrap_or_default();
                displacement * (weights[s] * f64::from(sample.strength)) as f32
            });
            let off = found.get(point).unwrap_or_default() - own.sum::<Vec3>();
            assert!(off.length() < 1e-6, "{point}: {off}");
        }
        assert!(found.n_points() > 20);
        let one = rayon::ThreadPoolBuilder::new()
            .num_threads(1)
            .build()
            .unwrap();
        assert_eq!(one.install(sum), found);
    }
}

/// New weights of displaced points change their classes: an update is what an evaluation from the start is.
#[test]
fn weighted_samples_follow_painted_weights() {
    let plain = tube(40);
    let mut document = plain.clone();
    for (middle, end) in [(1.2, 0.0), (0.0, 1.0), (0.8, -0.9)] {
        let turn = DQuat::from_rotation_z;
        let pose = posed(&plain, turn(middle), turn(end));
        document = with_sample(&document, &pose, &[1, 2], &sculpt(&plain, &pose, 0.1));
    }
    let mut document = weighted(&document);
    let pose = posed(
        &document,
        DQuat::from_rotation_z(1.0),
        DQuat::from_rotation_z(0.7),
    );
    let mut kept = Evaluator::default();
    kept.evaluate(&document, &pose);
    let before = kept.plan(SKINNED).unwrap().positions().to_vec();
    let points: Vec<u32> = (0..60).collect();
    let mut rows = Rows::default();
    for p in &points {
        let other = if p % 2 == 0 { 1 } else { 2 };
        rows.push_pairs([(0, 0.4), (other, 0.6)]);
    }
    let edit = InfluenceEdit::new(MESH, points, rows);
    document.apply(&mut Edit::Influences(edit)).unwrap();
    kept.evaluate(&document, &pose);
    let updated = kept.plan(SKINNED).unwrap().positions().to_vec();
    assert_eq!(updated, shape(&document, &pose));
    assert_ne!(updated, before);
    // Vertices that a sample begins to move are weighed, too.
    let known = document.meshes()[&MESH].correctives.clone();
    let n = document.meshes()[&MESH].geometry.n_points() as u32;
    let more = (0..n).map(|p| (p, Vec3::new(0.01, 0.02, p as f32 * 1e-4)));
    let moved = known.samples()[0].displacements.with(more.collect());
    apply(&mut document, known.with_displacements(0, 0, moved));
    kept.evaluate(&document, &pose);
    let updated = kept.plan(SKINNED).unwrap().positions().to_vec();
    assert_eq!(updated, shape(&document, &pose));
    // Without the flag the result is another one.
    let mut sets = document.meshes()[&MESH].correctives.sets().to_vec();
    Arc::make_mut(&mut sets[0]).weighted = false;
    apply(&mut document, Correctives::new(sets).unwrap());
    kept.evaluate(&document, &pose);
    let plain_distances = kept.plan(SKINNED).unwrap().positions().to_vec();
    assert_eq!(plain_distances, shape(&document, &pose));
    assert_ne!(plain_distances, updated);
}

/// Re-targeted samples keep the shape of their sculpt on any other stack, also beside another set.
#[test]
fn a_retargeted_sample_keeps_its_sculpt_and_a_kept_one_its_displacements() {
    let plain = tube(40);
    let poses = [
        posed(&plain, DQuat::from_rotation_z(1.2), DQuat::IDENTITY),
        posed(
            &plain,
            DQuat::from_rotation_z(0.7),
            DQuat::from_rotation_y(-0.9),
        ),
    ];
    let mut sculpted = plain.clone();
    let mut sculpts = Vec::new();
    for ((pose, joint), size) in poses.iter().zip([1, 2]).zip([0.2, 0.1]) {
        sculpts.push(sculpt(&plain, pose, size));
        let last = sculpts.last().unwrap();
        sculpted = with_sample(&sculpted, pose, &[joint], last);
    }
    assert!(correctives::stale(&sculpted, MESH).is_empty());
    let mut smooth = DeformStack::default();
    smooth.smooth.enabled = true;
    for stack in [DeformStack::lbs(), DeformStack::dqs(), smooth] {
        let mut document = sculpted.clone();
        let stack = Arc::new(stack);
        let mut edit = Edit::Stack {
            mesh: MESH,
            stack: stack.clone(),
        };
        document.apply(&mut edit).unwrap();
        let stale = correctives::stale(&document, MESH);
        assert_eq!(stale.len(), 2, "{stack:?}");
        let findings = checks::of_correctives(&document);
        let found = findings[0].to_string();
        assert!(
            found.contains("on another deformer stack") && found.contains("Re-target"),
            "{found}"
        );
        let which: Vec<u32> = stale.iter().map(|&s| s as u32).collect();
        let fixed = |fix| {
            let fixed = correctives::fix(&document, MESH, &which, fix, &Task::new()).unwrap();
            let mut document = document.clone();
            document.apply(&mut fixed.edit.unwrap()).unwrap();
            assert!(correctives::stale(&document, MESH).is_empty());
            assert_eq!(checks::of_correctives(&document), []);
            document
        };
        let retargeted = fixed(SampleFix::Retarget);
        for (pose, sculpt) in poses.iter().zip(&sculpts) {
            let error = worst(&shape(&retargeted, pose), sculpt);
            assert!(error <= 1e-5 * diagonal(&plain), "{error} under {stack:?}");
        }
        let kept = fixed(SampleFix::Keep);
        let of = |document: &Document| {
            let samples = document.meshes()[&MESH].correctives.samples().to_vec();
            let all = samples.iter().map(|s| s.displacements.clone());
            all.collect::<Vec<_>>()
        };
        assert_eq!(of(&kept), of(&sculpted));
        assert_ne!(of(&retargeted), of(&sculpted));
    }
}

/// A sample that is sculpted while another set is off bind holds only its own share.
#[test]
fn sets_on_other_joints_are_solved_together() {
    let plain = tube(40);
    let middle = |angle: f64| DQuat::from_rotation_z(angle);
    let end = |angle: f64| DQuat::from_rotation_y(angle);
    let poses = [
        posed(&plain, middle(1.2), DQuat::IDENTITY),
        // Off bind of the other set by half, and by all.
        posed(&plain, middle(0.6), end(-1.0)),
        posed(&plain, middle(1.2), end(0.9)),
    ];
    let mut document = plain.clone();
    let mut sculpts = Vec::new();
    for ((pose, joint), size) in poses.iter().zip([1, 2, 2]).zip([0.2, 0.1, -0.1]) {
        let sculpted = sculpt(&plain, pose, size);
        document = with_sample(&document, pose, &[joint], &sculpted);
        sculpts.push(sculpted);
    }
    for (pose, sculpted) in poses.iter().zip(&sculpts) {
        let error = worst(&shape(&document, pose), sculpted);
        assert!(error <= 1e-5 * diagonal(&plain), "{error}");
    }
    let correctives = &document.meshes()[&MESH].correctives;
    let condition = correctives.joint_condition();
    assert!(condition > 1.01 && condition < 20.0, "{condition}");
    let rest = document.rest_pose();
    assert_eq!(shape(&document, rest), shape(&plain, rest));
    // The same joint cannot drive two sets.
    let mut sets = correctives.sets().to_vec();
    Arc::make_mut(&mut sets[1]).drivers[0].joint = JointId(1);
    let error = Correctives::new(sets).unwrap_err();
    assert!(matches!(error, PsdError::SharedDriver { .. }), "{error}");
}

/// One sample of each kind of driver on the joint `middle`.
fn sampled(mode: DriverMode) -> Document {
    sampled_on(&tube(40), mode)
}

/// An edit that gives a tube a sample of the joint `middle`.
pub(crate) fn sample_edit(tube: &Document) -> Edit {
    let sampled = sampled_on(tube, DriverMode::Ball);
    let correctives = sampled.meshes()[&MESH].correctives.clone();
    Edit::Correctives(CorrectivesEdit::new(tube, MESH, correctives))
}

fn sampled_on(plain: &Document, mode: DriverMode) -> Document {
    let turn = DQuat::from_rotation_z(1.1) * DQuat::from_rotation_x(0.7);
    let pose = posed(plain, turn, DQuat::IDENTITY);
    let document = with_sample(plain, &pose, &[1], &sculpt(plain, &pose, 0.2));
    let mut sets = document.meshes()[&MESH].correctives.sets().to_vec();
    Arc::make_mut(&mut sets[0]).drivers[0].mode = mode;
    let mut document = document;
    apply(&mut document, Correctives::new(sets).unwrap());
    document
}

/// Dual quaternion skinning itself jumps at 180 degrees: the weights do not.
#[test]
fn two_full_turns_have_no_jump() {
    for mode in [
        DriverMode::Ball,
        DriverMode::Swing(DVec3::X),
        DriverMode::Twist(DVec3::Z),
    ] {
        let document = sampled(mode);
        let tilt = DQuat::from_rotation_y(0.2);
        let poses = (0..=1440).map(|step| {
            let turn = DQuat::from_rotation_z(f64::to_radians(f64::from(step) * 0.5));
            posed(&document, tilt * turn, DQuat::IDENTITY)
        });
        let weights = weights(&document, &poses.collect::<Vec<_>>());
        let steps = weights.windows(2).map(|w| (w[0] - w[1]).abs());
        let step = steps.fold(0.0, f64::worse);
        assert!(step < 0.02, "{mode:?}: {step}");
        let (low, high) = weights
            .iter()
            .fold((0.0, 0.0), |(low, high): (f64, f64), w| {
                (low.min(*w), high.max(*w))
            });
        assert!(high - low > 0.1, "{mode:?}");
    }
}

#[test]
fn an_edit_of_samples_is_one_step_back_and_forth() {
    let mut document = sampled(DriverMode::Ball);
    let before = document.clone().without_correctives();
    let edited = document.clone();
    let mut edit = Edit::Correctives(CorrectivesEdit::new(&document, MESH, Arc::default()));
    assert!(edit.heap_bytes() > 100);
    let dirty = document.apply(&mut edit).unwrap();
    assert!(dirty.correctives.contains(&MESH));
    assert!(document.same_content(&before) && !document.same_content(&edited));
    document.apply(&mut edit).unwrap();
    assert!(document.same_content(&edited));
    // A sample of another mesh is refused, and nothing changes.
    let mut small = tube(4);
    let correctives = document.meshes()[&MESH].correctives.clone();
    let edit = CorrectivesEdit::new(&small, MESH, correctives);
    assert!(small.apply(&mut Edit::Correctives(edit)).is_err());
    assert!(small.meshes()[&MESH].correctives.is_empty());
}

/// The weights of all samples at some poses.
fn weights(document: &Document, poses: &[Pose]) -> Vec<f64> {
    let correctives = &document.meshes()[&MESH].correctives;
    let mut work = sinew::deform::correctives::WeightsWork::default();
    let at = |pose: &Pose| {
        let weights = correctives.weights(document.skeleton(), &pose.locals, &mut work);
        weights.to_vec()
    };
    poses.iter().map(at).collect::<Vec<_>>().concat()
}

#[test]
fn samples_follow_the_axes_of_their_joints() {
    let modes = [
        DriverMode::Ball,
        DriverMode::Hinge(DVec3::Z),
        DriverMode::Swing(DVec3::X),
        DriverMode::Twist(DVec3::X),
    ];
    for mode in modes {
        let document = sampled(mode);
        let poses = |document: &Document| {
            let clip = document.clips().values().next().unwrap();
            let times = [0.0, 0.3, 0.8, 1.0];
            times.map(|time| document.pose_of_clip(clip, time)).to_vec()
        };
        let turn = DQuat::from_xyzw(0.1, -0.5, 0.5, 0.7);
        let frames: BTreeMap<_, _> = [
            (JointId(0), Frame::from_rotation(turn)),
            (JointId(1), Frame::from_rotation(turn * turn)),
        ]
        .into();
        let mut changed = document.clone();
        let edit = rig::change_frames(&document, &frames, 1e-4).unwrap();
        let mut edit = Edit::Rig(Box::new(edit));
        changed.apply(&mut edit).unwrap();
        let (a, b) = (
            weights(&document, &poses(&document)),
            weights(&changed, &poses(&changed)),
        );
        for (a, b) in a.iter().zip(&b) {
            assert!((a - b).abs() < 1e-6, "{mode:?}: {a} {b}");
        }
        for (a, b) in poses(&document).iter().zip(&poses(&changed)) {
            let (a, b) = (shape(&document, a), shape(&changed, b));
            let apart = a.iter().zip(&b).map(|(a, b)| a.distance(*b));
            assert!(apart.fold(0.0, f32::worse) < 1e-5, "{mode:?}");
        }
        changed.apply(&mut edit).unwrap();
        assert!(changed.same_content(&document), "{mode:?}");
    }
}

#[test]
fn a_driver_cannot_be_removed_and_an_inserted_joint_changes_nothing() {
    let document = sampled(DriverMode::Ball);
    for joint in [0, 1] {
        let refused = rig::remove(&document, JointId(joint), WeightRecipient::IntoParent);
        let why = refused.unwrap_err().to_string();
        assert!(why.contains("corrective samples"), "{why}");
    }
    let request = rig::Insert {
        joint: JointId(0),
        child: JointId(1),
        n: 1,
        half_width: None,
    };
    let (edit, _) = rig::insert(&document, &request).unwrap();
    let mut changed = document.clone();
    changed.apply(&mut Edit::Rig(Box::new(edit))).unwrap();
    let poses = |document: &Document| {
        let clip = document.clips().values().next().unwrap();
        [0.2, 0.9]
            .map(|time| document.pose_of_clip(clip, time))
            .to_vec()
    };
    let (a, b) = (
        weights(&document, &poses(&document)),
        weights(&changed, &poses(&changed)),
    );
    assert!(
        a.iter().zip(&b).all(|(a, b)| (a - b).abs() < 1e-9),
        "{a:?} {b:?}"
    );
}

#[test]
fn samples_that_cannot_be_told_apart_are_refused_by_name() {
    let plain = tube(40);
    let pose = posed(&plain, DQuat::from_rotation_z(1.0), DQuat::IDENTITY);
    let document = with_sample(&plain, &pose, &[1], &sculpt(&plain, &pose, 0.2));
    let set = &document.meshes()[&MESH].correctives.sets()[0];
    let with = |change: &dyn Fn(&mut SampleSet)| {
        let mut set = SampleSet::clone(set);
        change(&mut set);
        Correctives::new(vec![Arc::new(set)]).unwrap_err()
    };
    let twice = with(&|set| {
        let mut twin = Sample::clone(&set.samples[0]);
        twin.name = "twin".into();
        set.samples.push(Arc::new(twin));
    });
    let text = twice.to_string();
    assert!(
        text.contains("samples \"sample 0\" and \"twin\" have the same driver pose"),
        "{text}"
    );
    let at_bind = with(&|set| {
        Arc::make_mut(&mut set.samples[0]).rotations[0] = set.drivers[0].bind;
    });
    assert!(matches!(at_bind, PsdError::AtBind { .. }), "{at_bind}");
    assert!(
        at_bind
            .to_string()
            .contains("correct the bind mesh instead")
    );
    let plate = with(&|set| set.kernel = Kernel::ThinPlate);
    assert!(matches!(plate, PsdError::ThinPlate { .. }), "{plate}");
    let range = with(&|set| set.clamp = [0.1, 1.0]);
    assert!(matches!(range, PsdError::Value { .. }), "{range}");
}
