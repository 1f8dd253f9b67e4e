//! The library's whole stack, driven through documents, against the f64 reference: tables, golden points, fixtures.

use crate::reference::bones::Bones;
use crate::reference::compensation::{self as reference_compensation, F_MANUAL};
use crate::reference::cylinder::{Cylinder, N_SIDES, SIGMA, bones, pose, row_at};
use crate::reference::fixture::Fixture;
use crate::reference::larger;
use crate::reference::metrics::measure;
use crate::reference::projection::Blended;
use crate::reference::{Rigid, Row, dqs};
use crate::seed_000::{self, THREE_BONES, three_bones, unguarded};
use crate::seed_001::{self, THREE_BONES_PROJECTED};
use crate::seed_tables::{check, tables};
use glam::{DAffine3, DVec3};
use sinew::deform::{
    BulgeProjection, Compensation, DeformStack, Polynomial, SkinningMethod, TwistDamping, Variant,
};
use sinew::document::{
    Document, Edit, Instance, InstanceId, MeshId, MeshItem, MeshSource, Parts, PrimitiveSource,
    Skin, SkinId,
};
use sinew::evaluate::Evaluator;
use sinew::math::Transform;
use sinew::skeleton::{Joint, JointId, JointRule, Pose, Skeleton};
use std::sync::Arc;

/// A mesh on joints without rotation at bind, as a document.
pub(crate) struct Rig {
    pub(crate) document: Document,
    bones: Bones,
    point_of_vertex: Vec<u32>,
}

impl Rig {
    /// `bones`: tails are what the artist says, `None`: what follows from the points.
    pub(crate) fn new(
        positions: &[DVec3],
        triangles: &[[usize; 3]],
        rows: &[Row],
        bones: &Bones,
    ) -> Self {
        let mut primitive = PrimitiveSource {
            positions: positions.iter().map(|p| p.as_vec3()).collect(),
            triangles: triangles.iter().map(|t| t.map(|v| v as u32)).collect(),
            ..PrimitiveSource::default()
        };
        for row in rows {
            let pairs = row.iter().map(|&(j, w)| (j as u16, w as f32));
            primitive.influences.push_pairs(pairs.filter(|p| p.1 > 0.0));
        }
        let built = MeshSource {
            name: "shape".into(),
            primitives: vec![primitive],
            morph_names: Vec::new(),
        }
        .build();
        let n_joints = bones.parents.len();
        let mut joints: Vec<Joint> = (0..n_joints)
            .map(|j| Joint {
                name: format!("joint {j}"),
                parent: bones.parents[j].map(|p| JointId(p as u32)),
                rest: Transform {
                    translation: bones.origins[j]
                        - bones.parents[j].map_or(DVec3::ZERO, |p| bones.origins[p]),
                    ..Transform::IDENTITY
                },
                source_node: None,
                content_of: None,
                removed: false,
                rule: JointRule {
                    tail: bones.tails[j].map(|tail| tail - bones.origins[j]),
                    ..JointRule::default()
                },
            })
            .collect();
        joints.push(Joint {
            name: "mesh".into(),
            parent: None,
            rest: Transform::IDENTITY,
            source_node: None,
            content_of: None,
            removed: false,
            rule: JointRule::default(),
        });
        let skin = Skin {
            name: "skin".into(),
            joints: (0..n_joints as u32).map(JointId).collect(),
            inverse_bind: bones
                .origins
                .iter()
                .map(|g| DAffine3::from_translation(-*g))
                .collect(),
        };
        let point_of_vertex = built.mesh.point_of_vertex.clone();
        let mesh = MeshItem {
            geometry: Arc::new(built.mesh),
            influences: built.influences.clone(),
            source_influences: built.influences,
            invalid: Arc::default(),
            stack: Arc::default(),
            layers: sinew::document::LayerStack::default(),
            masks: sinew::deform::Masks::default(),
            correctives: Arc::default(),
            clusters: Arc::default(),
            morph_weights: Vec::new(),
        };
        let instance = Instance {
            joint: JointId(n_joints as u32),
            mesh: MeshId(0),
            skin: Some(SkinId(0)),
        };
        let document = Document::new(Parts {
            skeleton: Arc::new(Skeleton::new(joints).unwrap()),
            meshes: [(MeshId(0), Arc::new(mesh))].into(),
            skins: [(SkinId(0), Arc::new(skin))].into(),
            instances: [(InstanceId(0), Arc::new(instance))].into(),
            ..Parts::default()
        })
        .unwrap();
        Self {
            document,
            bones: bones.clone(),
            point_of_vertex,
        }
    }

    pub(crate) fn cylinder(shape: &Cylinder) -> Self {
        // The library finds the tail of the last bone by itself.
        let tailless = Bones {
            tails: vec![None; 2],
            ..bones()
        };
        Self::new(&shape.positions, &shape.triangles, &shape.rows, &tailless)
    }

    pub(crate) fn fixture(fixture: &Fixture) -> Self {
        Self::new(
            &fixture.positions,
            &fixture.triangles,
            &fixture.rows,
            &fixture.bones,
        )
    }

    /// The pose in which the joints' skin matrices are these.
    pub(crate) fn pose(&self, skin_matrices: &[DAffine3]) -> Pose {
        let mut pose = Pose::rest(self.document.skeleton());
        let world = |j: usize| skin_matrices[j] * DAffine3::from_translation(self.bones.origins[j]);
        for j in 0..skin_matrices.len() {
            let above = self.bones.parents[j].map_or(DAffine3::IDENTITY, world);
            let (scale, rotation, translation) =
                (above.inverse() * world(j)).to_scale_rotation_translation();
            pose.locals[j] = Transform::from_trs(translation, rotation, scale);
        }
        pose
    }

    pub(crate) fn set_stack(&mut self, stack: DeformStack) {
        let mut edit = Edit::Stack {
            mesh: MeshId(0),
            stack: Arc::new(stack),
        };
        self.document.apply(&mut edit).unwrap();
    }

    /// The point of each vertex.
    pub(crate) fn points_of_vertices(&self) -> &[u32] {
        &self.point_of_vertex
    }

    /// Where a fresh evaluator puts the vertices.
    pub(crate) fn run(&mut self, stack: DeformStack, skin_matrices: &[DAffine3]) -> Vec<DVec3> {
        let pose = self.pose(skin_matrices);
        self.run_pose(stack, &pose)
    }

    pub(crate) fn run_pose(&mut self, stack: DeformStack, pose: &Pose) -> Vec<DVec3> {
        self.set_stack(stack);
        let mut evaluator = Evaluator::default();
        evaluator.evaluate(&self.document, pose);
        let positions = evaluator.plan(InstanceId(0)).unwrap().positions();
        self.point_of_vertex
            .iter()
            .map(|&p| positions[p as usize].as_dvec3())
            .collect()
    }
}

fn matrices(motions: &[Rigid]) -> Vec<DAffine3> {
    motions
        .iter()
        .map(|m| DAffine3::from_rotation_translation(m.rotation, m.translation))
        .collect()
}

/// Compensation without the fold guard, and nothing else but DQS.
fn compensated(polynomial: Polynomial) -> DeformStack {
    DeformStack {
        compensation: Compensation {
            polynomial,
            fold_guard: false,
            ..Compensation::default()
        },
        ..DeformStack::dqs()
    }
}

fn published_projection() -> BulgeProjection {
    BulgeProjection {
        variant: Variant::Published,
        ..BulgeProjection::default()
    }
}

/// The stack of a method of the tables.
fn stack_of(method: &str) -> DeformStack {
    let manual = || compensated(Polynomial::Manual);
    let projected = |projection: BulgeProjection, stack: DeformStack| DeformStack {
        projection,
        ..stack
    };
    let blended = BulgeProjection::default;
    let mushed = |mut stack: DeformStack| {
        stack.smooth.enabled = true;
        stack.smooth.iterations = 40;
        stack
    };
    match method {
        "LBS" => DeformStack::lbs(),
        "DQS" => DeformStack::dqs(),
        "Kim-Han (as published)" => projected(published_projection(), DeformStack::dqs()),
        "Kim-Han blended p=2" => projected(blended(), DeformStack::dqs()),
        "Sulema f_orig (corrected sign)" => compensated(Polynomial::Original),
        "Sulema f_manual (corrected sign)" => manual(),
        "Algorithm 1 literal sign, f_orig" => DeformStack {
            compensation: Compensation {
                variant: Variant::Algorithm1,
                polynomial: Polynomial::Original,
                ..Compensation::default()
            },
            ..DeformStack::dqs()
        },
        "Sulema manual + fold guard" => DeformStack {
            compensation: Compensation::default(),
            ..DeformStack::dqs()
        },
        "Sulema manual then Kim-Han" => projected(published_projection(), manual()),
        "Sulema manual then blended KH" => projected(blended(), manual()),
        "Sulema manual+guard then blended KH" => DeformStack::default(),
        "Centres of rotation" => DeformStack::bare(SkinningMethod::CentresOfRotation),
        "Delta Mush on LBS (40 it)" => mushed(DeformStack::lbs()),
        "Delta Mush on DQS (40 it)" => mushed(DeformStack::dqs()),
        _ => panic!("the tables have a method {method}"),
    }
}

#[test]
fn every_method_of_the_tables_by_the_library() {
    let shape = Cylinder::new();
    let mut rig = Rig::cylinder(&shape);
    let rows = tables();
    assert_eq!(rows.len(), 4 * 14);
    for row in rows {
        let matrices = pose(row.bend, 0.0);
        let posed = rig.run(stack_of(row.method), &matrices);
        let tolerance = match row.method {
            // The tangents of the prototype's frames are of one edge, the library's of all.
            method if method.starts_with("Delta Mush") => 1e-3,
            // Binning the surface by its weights moves a point by up to 9e-5.
            "Centres of rotation" => 2e-4,
            _ => 1e-4,
        };
        check(
            "f32",
            &row,
            &measure(&shape, &posed, &matrices).0,
            tolerance,
        );
    }
}

/// Asserts that points are the expected ones to `tolerance` (1 + largest coordinate).
fn assert_near(what: &str, actual: &[DVec3], expected: &[DVec3], tolerance: f64) {
    assert_eq!(actual.len(), expected.len(), "{what}");
    let largest = expected
        .iter()
        .fold(0.0f64, |m, p| m.max(p.abs().max_element()));
    let (at, worst) = actual
        .iter()
        .zip(expected)
        .map(|(a, e)| (*a - *e).abs().max_element())
        .enumerate()
        .fold(
            (0, 0.0),
            |m, e| if e.1 > m.1 || e.1.is_nan() { e } else { m },
        );
    assert!(
        worst <= tolerance * (1.0 + largest),
        "{what}: point {at} is off by {worst:e}: {} not {}",
        actual[at],
        expected[at]
    );
}

#[test]
fn golden_points_by_the_library() {
    // The points as a mesh of their own, one triangle each with itself and two others.
    let ring: Vec<[f64; 3]> = seed_000::GOLDEN.iter().map(|g| g.2).collect();
    for (k, (bend, twist, p, original, manual)) in seed_000::GOLDEN.into_iter().enumerate() {
        let (_, _, _, projected) = seed_001::GOLDEN[k];
        let positions: Vec<DVec3> = std::iter::once(p)
            .chain(ring.iter().copied().filter(|q| *q != p))
            .map(DVec3::from_array)
            .collect();
        let rows: Vec<Row> = positions.iter().map(|p| row_at(p.x)).collect();
        let triangles = [[0, 1, 2], [0, 2, 3]];
        let mut rig = Rig::new(&positions, &triangles, &rows, &bones());
        for (what, stack, expected) in [
            ("original", compensated(Polynomial::Original), original),
            ("manual", compensated(Polynomial::Manual), manual),
            (
                "projected",
                DeformStack {
                    projection: published_projection(),
                    ..DeformStack::dqs()
                },
                projected,
            ),
        ] {
            let posed = rig.run(stack, &pose(bend, twist));
            assert_near(what, &posed[..1], &[DVec3::from_array(expected)], 4e-7);
        }
    }
    let (bones, motions) = three_bones();
    let positions: Vec<DVec3> = THREE_BONES.iter().map(|g| DVec3::from_array(g.0)).collect();
    let rows: Vec<Row> = THREE_BONES
        .iter()
        .map(|g| g.1.into_iter().enumerate().filter(|r| r.1 > 0.0).collect())
        .collect();
    let mut rig = Rig::new(&positions, &[[0, 1, 2], [1, 2, 3]], &rows, &bones);
    let expected = |f: &dyn Fn(usize) -> [f64; 3]| -> Vec<DVec3> {
        (0..4).map(|k| DVec3::from_array(f(k))).collect()
    };
    for (what, stack, expected) in [
        (
            "manual",
            compensated(Polynomial::Manual),
            expected(&|k| THREE_BONES[k].3),
        ),
        (
            "published",
            DeformStack {
                projection: published_projection(),
                ..DeformStack::dqs()
            },
            expected(&|k| THREE_BONES_PROJECTED[k].0),
        ),
        (
            "blended",
            DeformStack {
                projection: BulgeProjection::default(),
                ..DeformStack::dqs()
            },
            expected(&|k| THREE_BONES_PROJECTED[k].1),
        ),
    ] {
        assert_near(what, &rig.run(stack, &matrices(&motions)), &expected, 4e-7);
    }
}

#[test]
fn fixtures_of_junction_and_fork_by_the_library() {
    for name in ["junction_h20", "junction_h10", "fork_h150", "fork_h075"] {
        let Some(fixture) = Fixture::read(name) else {
            return;
        };
        let mut rig = Rig::fixture(&fixture);
        let skin_matrices = matrices(&fixture.motions);
        let soft = DeformStack {
            projection: BulgeProjection::default(),
            ..DeformStack::dqs()
        };
        let posed = rig.run(soft, &skin_matrices);
        assert_near(
            name,
            &posed,
            &fixture.expected("projection_blended_p2"),
            6e-7,
        );
        // Points whose two largest weights are equal to f32 may follow either bone.
        let clear = |points: Vec<DVec3>| -> Vec<DVec3> {
            let decided = |v: &usize| {
                let mut weights: Vec<f64> = fixture.rows[*v].iter().map(|r| r.1).collect();
                weights.sort_by(|a, b| b.total_cmp(a));
                weights.len() < 2 || weights[0] - weights[1] > 1e-6
            };
            (0..points.len())
                .filter(decided)
                .map(|v| points[v])
                .collect()
        };
        let hard = DeformStack {
            projection: published_projection(),
            ..DeformStack::dqs()
        };
        let posed = clear(rig.run(hard, &skin_matrices));
        let expected = clear(fixture.expected("projection_published"));
        assert_near(name, &posed, &expected, 6e-7);
        if !name.starts_with("junction") {
            continue;
        }
        for (fade, what) in [
            (true, "compensation_manual_noguard_aspublished_pairs"),
            (false, "compensation_manual_noguard_no_third_bone_fade"),
        ] {
            let mut stack = compensated(Polynomial::Manual);
            stack.compensation.siblings = true;
            stack.compensation.third_bone_fade = fade;
            let posed = clear(rig.run(stack, &skin_matrices));
            assert_near(what, &posed, &clear(fixture.expected(what)), 6e-7);
        }
    }
}

#[test]
fn every_option_of_compensation_and_projection_equals_the_reference() {
    let Some(fixture) = Fixture::read("fork_h150") else {
        return;
    };
    let mut rig = Rig::fixture(&fixture);
    let Fixture { bones, motions, .. } = &fixture;
    let skin_matrices = matrices(motions);
    let (positions, rows) = (&fixture.positions, &fixture.rows);
    for (k, (twist, reference_twist)) in [
        (TwistDamping::Axis, reference_compensation::Twist::Eq12),
        (TwistDamping::Sine, reference_compensation::Twist::Sine),
        (TwistDamping::Off, reference_compensation::Twist::Off),
    ]
    .into_iter()
    .enumerate()
    {
        let (guard, siblings) = (k % 2 == 0, k == 1);
        let options = reference_compensation::Compensation {
            polynomial: reference_compensation::polynomial(2.0, -7.0),
            strength: 1.5,
            twist: reference_twist,
            guard,
            sibling_pairs: siblings,
            ..reference_compensation::Compensation::default()
        };
        let blended = Blended {
            p: 3.5,
            strength: 0.75,
            sibling_fade: true,
        };
        let expected = options.apply(positions, rows, &fixture.dqs, bones, motions);
        let expected: Vec<DVec3> = (0..expected.len())
            .map(|v| blended.project(positions[v], &rows[v], expected[v], bones, motions))
            .collect();
        let stack = DeformStack {
            compensation: Compensation {
                polynomial: Polynomial::Custom { c1: 2.0, c2: -7.0 },
                strength: 1.5,
                twist,
                fold_guard: guard,
                siblings,
                ..Compensation::default()
            },
            projection: BulgeProjection {
                power: 3.5,
                sibling_fade: true,
                strength: 0.75,
                ..BulgeProjection::default()
            },
            ..DeformStack::dqs()
        };
        let posed = rig.run(stack, &skin_matrices);
        assert_near(&format!("{twist:?}"), &posed, &expected, 6e-7);
    }
}

#[test]
fn off_plane_steps_by_the_library() {
    // The line of equal weights beside the joint: published projection steps, the continuous one does not.
    for shift in [0.0, 0.1, 0.3, 0.5] {
        let shape = Cylinder::with(401, SIGMA, shift);
        let skin_matrices = pose(90.0, 0.0);
        let motions = skin_matrices.map(|m| Rigid::from_matrix(&m));
        let mut rig = Rig::new(&shape.positions, &shape.triangles, &shape.rows, &bones());
        let plain: Vec<DVec3> = shape
            .positions
            .iter()
            .zip(&shape.rows)
            .map(|(p, row)| dqs(*p, row, &motions))
            .collect();
        let step = |posed: &[DVec3]| {
            let correction = |i: usize| {
                let v = i * N_SIDES + N_SIDES / 2;
                posed[v] - plain[v]
            };
            (0..400)
                .map(|i| correction(i).distance(correction(i + 1)))
                .fold(0.0, larger)
        };
        let soft = rig.run(stack_of("Kim-Han blended p=2"), &skin_matrices);
        let free = rig.run(compensated(Polynomial::Manual), &skin_matrices);
        let whole = rig.run(DeformStack::default(), &skin_matrices);
        let reference =
            unguarded(F_MANUAL).apply(&shape.positions, &shape.rows, &plain, &bones(), &motions);
        assert_near("compensated", &free, &reference, 6e-7);
        println!(
            "shift {shift}: steps blended {:.4}, compensated {:.4}, whole stack {:.4}",
            step(&soft),
            step(&free),
            step(&whole)
        );
        assert!(step(&soft) < 0.0162 && step(&free) < 0.0114);
    }
}

#[test]
fn automatic_strength_reads_the_falloff_from_the_weights() {
    for sigma in [0.3, SIGMA, 1.0] {
        // The radius must not matter, nor where along the limb the points are.
        let shape = Cylinder::with(201, sigma, 0.0);
        let skin_matrices = pose(90.0, 0.0);
        let mut rig = Rig::cylinder(&shape);
        let mut automatic = compensated(Polynomial::Manual);
        automatic.compensation.auto_strength = true;
        let posed = rig.run(automatic, &skin_matrices);
        let mut fixed = compensated(Polynomial::Manual);
        fixed.compensation.strength = reference_compensation::automatic_strength(sigma, 1.0) as f32;
        let expected = rig.run(fixed, &skin_matrices);
        assert_near("automatic", &posed, &expected, 5e-4);
        // It is what the reference found best on the outside of the bend.
        let rms = |posed: &[DVec3]| measure(&shape, posed, &skin_matrices).0[3];
        let plain = rig.run(compensated(Polynomial::Manual), &skin_matrices);
        assert!(rms(&posed) <= rms(&plain) + 1e-4, "{sigma}");
    }
}

#[test]
fn a_blend_of_two_methods_lies_between_them_point_by_point() {
    let shape = Cylinder::new();
    let mut rig = Rig::cylinder(&shape);
    let skin_matrices = pose(90.0, 30.0);
    let linear = rig.run(DeformStack::lbs(), &skin_matrices);
    let dual = rig.run(DeformStack::dqs(), &skin_matrices);
    let blend = |share: f32| DeformStack {
        blend: share,
        ..DeformStack::bare(SkinningMethod::Blend)
    };
    for share in [0.0, 0.25, 1.0] {
        let posed = rig.run(blend(share), &skin_matrices);
        let expected: Vec<DVec3> = linear
            .iter()
            .zip(&dual)
            .map(|(a, b)| a.lerp(*b, f64::from(share)))
            .collect();
        assert_near("blend", &posed, &expected, 2e-7);
    }
}
