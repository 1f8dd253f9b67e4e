//! The key of every stage notices each of its inputs: a plan that has seen other inputs before has the bits of a fresh one.

use glam::{DAffine3, DMat3, DQuat, DVec3, Vec3};
use proptest::prelude::*;
use sinew::cluster::channel::Recordings;
use sinew::cluster::fade::Fade;
use sinew::cluster::procedural::{
    DriverInput, DriverSettings, Normalisation, SinkDirection, SinkMask, SinkSettings,
};
use sinew::cluster::{
    Base, ClusterGroup, ClusterMap, DriverLayer, Interpolation, MeshLayout, PatchSettings,
};
use sinew::deform::correctives::{CapturedOver, Correctives, Driver, Sample, SampleSet};
use sinew::deform::{
    ClusterInput, CookedMesh, CorrectiveSmooth, DeformInput, DeformStack, InstancePlan, MaskKind,
    Masks, Moved, Polynomial, ScaleMode, SkinSource, SkinningMethod, TwistDamping, Variant,
};
use sinew::document::{MeshSource, PrimitiveSource};
use sinew::math::Transform;
use sinew::mesh::Mesh;
use sinew::psd::Displacements;
use sinew::skeleton::{ClipId, Joint, JointId, Moment, Pose, Skeleton};
use sinew::skinning::{Centres, Influences, Rows};
use sinew::task::Task;
use std::sync::Arc;

const N_RINGS: usize = 70;
const N_SIDES: usize = 16;

/// Root, middle, and under the middle two joints side by side.
const JOINTS: [(Option<u32>, DVec3); 5] = [
    (None, DVec3::new(-2.0, 0.0, 0.0)),
    (Some(0), DVec3::new(2.0, 0.0, 0.0)),
    (Some(1), DVec3::new(1.0, 0.4, 0.0)),
    (Some(1), DVec3::new(1.0, -0.4, 0.0)),
    // Draws the mesh.
    (None, DVec3::new(0.5, 0.0, 0.0)),
];

/// All that a plan reads, as values of their own.
#[derive(Clone)]
struct Inputs {
    geometry: Arc<Mesh>,
    influences: Influences,
    stack: DeformStack,
    masks: Masks,
    correctives: Option<Arc<Correctives>>,
    clusters: Option<Arc<ClusterMap>>,
    centres: Option<Arc<Centres>>,
    skeleton: Arc<Skeleton>,
    node: JointId,
    has_skin: bool,
    joints: Vec<JointId>,
    inverse_bind: Vec<DAffine3>,
    skin_mesh: Arc<Mesh>,
    rest_world: Arc<Vec<DAffine3>>,
    locals: Vec<Transform>,
    world: Vec<DAffine3>,
    moment: Moment,
    morph_weights: Vec<f32>,
}

/// A plan and the influences that are cooked for it.
#[derive(Default)]
struct Plan {
    cooked: CookedMesh,
    instance: InstancePlan,
    layout: Option<Arc<MeshLayout>>,
    recordings: Arc<Recordings>,
}

impl Plan {
    fn run(&mut self, inputs: &Inputs) -> Moved {
        let order = sinew::deform::cook::joint_order(
            inputs.joints.iter().map(|&j| inputs.skeleton.rank(j)),
        );
        self.cooked.update(&inputs.influences, &order);
        let meshes = [(&inputs.skin_mesh, &inputs.influences)];
        let clusters = inputs.clusters.clone();
        let clusters = clusters.map(|map| (map.clone(), self.layout(&inputs.geometry, &map)));
        self.instance.run(&DeformInput {
            geometry: &inputs.geometry,
            cooked: &self.cooked,
            stack: &inputs.stack,
            masks: &inputs.masks,
            correctives: inputs.correctives.as_ref(),
            home: None,
            clusters: clusters.as_ref().map(|(map, layout)| ClusterInput {
                map,
                layout,
                recordings: &self.recordings,
            }),
            centres: inputs.centres.as_ref(),
            skeleton: &inputs.skeleton,
            node: inputs.node,
            skin: inputs.has_skin.then_some(SkinSource {
                joints: &inputs.joints,
                inverse_bind: &inputs.inverse_bind,
                meshes: &meshes,
            }),
            rest_world: &inputs.rest_world,
            locals: &inputs.locals,
            world: &inputs.world,
            moment: inputs.moment,
            morph_weights: &inputs.morph_weights,
        })
    }

    /// The layout of clusters, the known one where it is that.
    fn layout(&mut self, geometry: &Arc<Mesh>, map: &ClusterMap) -> Arc<MeshLayout> {
        let known = self
            .layout
            .take()
            .filter(|layout| layout.is_of(geometry, map));
        let layout = known
            .unwrap_or_else(|| Arc::new(MeshLayout::compute(geometry, map, &Task::new()).unwrap()));
        self.layout = Some(layout.clone());
        layout
    }

    fn bits(&self) -> Vec<[u32; 3]> {
        let both = self
            .instance
            .positions()
            .iter()
            .chain(self.instance.normals());
        both.map(|v| v.to_array().map(f32::to_bits)).collect()
    }
}

fn fresh(inputs: &Inputs) -> Vec<[u32; 3]> {
    let mut plan = Plan::default();
    plan.run(inputs);
    plan.bits()
}

/// A tube along x that forks in its weights, not in its shape; in units of `1 / scale` metres.
fn tube(radius: f32, scale: f32, n_triangles_less: usize) -> (Arc<Mesh>, Influences) {
    tube_of(N_RINGS, radius, scale, n_triangles_less)
}

fn tube_of(
    n_rings: usize,
    radius: f32,
    scale: f32,
    n_triangles_less: usize,
) -> (Arc<Mesh>, Influences) {
    let mut primitive = PrimitiveSource::default();
    for i in 0..n_rings {
        let x = -2.0 + 4.0 * i as f32 / (n_rings - 1) as f32;
        for k in 0..N_SIDES {
            let (sin, cos) = (std::f32::consts::TAU * k as f32 / N_SIDES as f32).sin_cos();
            primitive
                .positions
                .push(Vec3::new(x, radius * cos, radius * sin) * scale);
            primitive.normals.push(Vec3::new(0.0, cos, sin));
            let w = ((x + 0.5).clamp(0.0, 1.0), (x - 0.3).clamp(0.0, 1.0));
            let (upper, lower) = (w.1 * (0.5 + 0.45 * cos), w.1 * (0.5 - 0.45 * cos));
            let row = [(0, 1.0 - w.0), (1, w.0 - w.1), (2, upper), (3, lower)];
            let row = row.into_iter().filter(|e| e.1 > 0.0);
            primitive.influences.push_pairs(row);
        }
    }
    for i in 0..n_rings - 1 {
        for k in 0..N_SIDES {
            let at = |i: usize, k: usize| (i * N_SIDES + k % N_SIDES) as u32;
            let (a, b, c, d) = (at(i, k), at(i, k + 1), at(i + 1, k), at(i + 1, k + 1));
            primitive.triangles.extend([[a, b, c], [b, d, c]]);
        }
    }
    let n_triangles = primitive.triangles.len() - n_triangles_less;
    primitive.triangles.truncate(n_triangles);
    let thicker = primitive
        .positions
        .iter()
        .map(|p| Vec3::new(0.0, p.y, p.z) * 0.2);
    primitive.morphs = vec![thicker.collect()];
    let source = MeshSource {
        name: "tube".into(),
        primitives: vec![primitive],
        morph_names: vec!["thick".into()],
    };
    let built = source.build();
    (Arc::new(built.mesh), built.influences)
}

fn skeleton(change: impl FnOnce(&mut Vec<Joint>)) -> Arc<Skeleton> {
    let joint = |(parent, at): &(Option<u32>, DVec3)| Joint {
        name: String::new(),
        parent: parent.map(JointId),
        rest: Transform::from_rotation_translation(DQuat::IDENTITY, *at),
        ..Joint::default()
    };
    let mut joints = JOINTS.iter().map(joint).collect();
    change(&mut joints);
    Arc::new(Skeleton::new(joints).unwrap())
}

/// A sample at 1.2 radians of the middle joint, and one of another set.
fn sculpted(
    skeleton: &Skeleton,
    points: std::ops::Range<u32>,
    by: Vec3,
    strength: f32,
) -> Arc<Correctives> {
    let rest = Pose::rest(skeleton);
    let set = |joint: u32, angle: f64, points: std::ops::Range<u32>, strength| {
        let driver = Driver::of_joint(JointId(joint), skeleton, &rest.locals);
        let sample = Sample {
            name: format!("bent {joint}"),
            rotations: vec![DQuat::from_rotation_z(angle)],
            beside: Vec::new(),
            displacements: Displacements::new(points.map(|p| (p, by)).collect()),
            captured_on: Arc::default(),
            captured_over: CapturedOver::default(),
            strength,
            muted: false,
        };
        let mut set = SampleSet::new(format!("set {joint}"), vec![driver]);
        set.samples.push(Arc::new(sample));
        Arc::new(set)
    };
    let sets = vec![set(1, 1.2, points, strength), set(2, -1.0, 800..1000, 1.0)];
    Arc::new(Correctives::new(sets).unwrap())
}

/// Bent, twisted, stretched, morphed, painted, sculpted, under the default stack.
fn base() -> Inputs {
    let (geometry, influences) = tube(0.4, 1.0, 0);
    let skeleton = skeleton(|_| {});
    let rest_world = Pose::rest(&skeleton).world_matrices(&skeleton);
    let mut pose = Pose::rest(&skeleton);
    pose.locals[1].rotation = DQuat::from_rotation_z(1.9) * DQuat::from_rotation_x(0.6);
    pose.locals[2].rotation = DQuat::from_rotation_y(-1.1);
    pose.locals[3].rotation = DQuat::from_rotation_z(-0.7);
    pose.locals[1].stretch = DMat3::from_diagonal(DVec3::new(1.0, 1.3, 0.8));
    let world = pose.world_matrices(&skeleton);
    Inputs {
        skin_mesh: geometry.clone(),
        geometry,
        influences,
        stack: DeformStack::default(),
        masks: Masks::default(),
        correctives: Some(sculpted(&skeleton, 300..900, Vec3::new(0.0, 0.2, 0.1), 1.0)),
        clusters: None,
        centres: None,
        node: JointId(4),
        has_skin: true,
        joints: (0..4).map(JointId).collect(),
        inverse_bind: rest_world[..4].iter().map(DAffine3::inverse).collect(),
        rest_world: Arc::new(rest_world),
        world,
        locals: pose.locals,
        moment: Moment::default(),
        skeleton,
        morph_weights: vec![0.5],
    }
}

/// Deformed by `method`, smoothed if so.
fn stacks() -> Vec<DeformStack> {
    let with = |method, enabled| DeformStack {
        method,
        blend: 0.6,
        smooth: CorrectiveSmooth {
            enabled,
            ..CorrectiveSmooth::default()
        },
        ..DeformStack::default()
    };
    vec![
        with(SkinningMethod::Dqs, false),
        with(SkinningMethod::Dqs, true),
        with(SkinningMethod::Lbs, true),
        with(SkinningMethod::Blend, false),
        with(SkinningMethod::CentresOfRotation, true),
        DeformStack::bare(SkinningMethod::Dqs),
    ]
}

/// A driver that lifts its clusters over an input of 0 - 1.
fn driver(input: DriverInput) -> DriverLayer {
    DriverLayer {
        name: "Lift".into(),
        settings: DriverSettings {
            input,
            from: 0.0,
            to: 1.0,
            mode: Normalisation::Cycle,
            curve: None,
            gain: 0.05,
            fade: Fade::default(),
            sink: SinkSettings {
                direction: SinkDirection::Normal,
                mask: SinkMask::Painted,
            },
        },
        played: None,
        bone: None,
        weights: Vec::new(),
        muted: false,
    }
}

/// Every `nth` point a cluster, in turn of groups that the stack, linear skinning, dual quaternions and the rest pose
/// move; in the patches of `settings`.
fn clusters(n_points: usize, nth: usize, settings: PatchSettings) -> Arc<ClusterMap> {
    let groups = Base::ALL.into_iter().enumerate().map(|(i, base)| {
        Arc::new(ClusterGroup {
            base,
            drivers: vec![
                driver(DriverInput::Time),
                driver(DriverInput::Twist { joint: 1 }),
            ],
            ..ClusterGroup::new(base.key(), i)
        })
    });
    // Mostly the stack's.
    let group = |i: usize| [0, 0, 1, 0, 2, 0, 0, 3][i % 8];
    let points = (0..n_points).step_by(nth).enumerate();
    let points = points.map(|(i, point)| (point as u32, group(i)));
    Arc::new(ClusterMap::new(groups.collect(), points.collect(), settings).unwrap())
}

/// The inputs with clusters.
fn with_clusters(inputs: Inputs) -> Inputs {
    let n_points = inputs.geometry.n_points();
    Inputs {
        clusters: Some(clusters(n_points, 7, PatchSettings::default())),
        ..inputs
    }
}

type Change = (&'static str, fn(&mut Inputs));

fn paint(inputs: &mut Inputs, kind: MaskKind) {
    let points: Vec<u32> = (400..700).collect();
    let mut values = vec![0.25; points.len()];
    inputs.masks.swap(kind, &points, &mut values);
}

fn centres_of(inputs: &Inputs) -> Arc<Centres> {
    Arc::new(Centres::compute(&inputs.geometry, &inputs.influences, &Task::new()).unwrap())
}

/// Each changes one input. All can be made one after the other, in any order.
const CHANGES: &[Change] = &[
    ("positions", |i| i.geometry = tube(0.5, 1.0, 0).0),
    ("topology", |i| i.geometry = tube(0.4, 1.0, 40).0),
    ("centimetres", |i| {
        i.geometry = tube(0.4, 100.0, 0).0;
        let metres = DAffine3::from_scale(DVec3::splat(0.01));
        i.inverse_bind.iter_mut().for_each(|m| *m *= metres);
    }),
    ("a moment", |i| {
        i.moment = Moment::of(ClipId(2), i.moment.secs + 0.3);
    }),
    ("morph weights", |i| i.morph_weights = vec![0.0]),
    ("influences", |i| {
        let mut rows: Rows = [vec![(0, 0.3), (1, 0.7)]].into_iter().collect();
        i.influences.swap_rows(&[500], &mut rows);
    }),
    ("a point without influences", |i| {
        let mut rows: Rows = [vec![]].into_iter().collect();
        i.influences.swap_rows(&[700], &mut rows);
    }),
    ("a joint without points", |i| {
        let points: Vec<u32> = (0..i.influences.len() as u32).collect();
        let without = |row: sinew::skinning::RowRef<'_>| {
            let row = row.iter().map(|(joint, w)| (joint.min(2), w));
            let mut merged: Vec<(u16, f32)> = Vec::new();
            for (joint, w) in row {
                match merged.last_mut().filter(|e| e.0 == joint) {
                    Some(e) => e.1 += w,
                    None => merged.push((joint, w)),
                }
            }
            merged
        };
        let mut rows: Rows = i.influences.iter().map(without).collect();
        i.influences.swap_rows(&points, &mut rows);
    }),
    ("mask of the blend", |i| paint(i, MaskKind::Blend)),
    ("mask of compensation", |i| paint(i, MaskKind::Compensation)),
    ("mask of projection", |i| paint(i, MaskKind::Projection)),
    ("mask of the smooth", |i| paint(i, MaskKind::Smooth)),
    ("linear", |i| i.stack.method = SkinningMethod::Lbs),
    ("dual quaternions", |i| i.stack.method = SkinningMethod::Dqs),
    ("blended", |i| i.stack.method = SkinningMethod::Blend),
    ("about centres", |i| {
        i.stack.method = SkinningMethod::CentresOfRotation;
    }),
    ("centres", |i| i.centres = Some(centres_of(i))),
    ("centres of other weights", |i| {
        let mut other = base();
        other.geometry = i.geometry.clone();
        let mut rows: Rows = (300..600).map(|_| vec![(1, 0.5), (2, 0.5)]).collect();
        let points: Vec<u32> = (300..600).collect();
        other.influences.swap_rows(&points, &mut rows);
        i.centres = Some(centres_of(&other));
    }),
    ("scale", |i| i.stack.scale = ScaleMode::Drop),
    ("blend", |i| i.stack.blend = 0.2),
    ("compensation", |i| i.stack.compensation.enabled ^= true),
    ("published compensation", |i| {
        i.stack.compensation.variant = Variant::Published;
    }),
    ("polynomial", |i| {
        i.stack.compensation.polynomial = Polynomial::Original;
    }),
    ("strength of compensation", |i| {
        i.stack.compensation.strength = 0.5;
    }),
    ("twist", |i| i.stack.compensation.twist = TwistDamping::Off),
    ("third bone", |i| {
        i.stack.compensation.third_bone_fade ^= true;
    }),
    ("fold guard", |i| i.stack.compensation.fold_guard ^= true),
    ("automatic strength", |i| {
        i.stack.compensation.auto_strength ^= true;
    }),
    ("siblings", |i| i.stack.compensation.siblings ^= true),
    ("projection", |i| i.stack.projection.enabled ^= true),
    ("published projection", |i| {
        i.stack.projection.variant = Variant::Published;
    }),
    ("power", |i| i.stack.projection.power = 5.0),
    ("sibling fade", |i| i.stack.projection.sibling_fade ^= true),
    ("strength of projection", |i| {
        i.stack.projection.strength = 0.5;
    }),
    ("smooth", |i| i.stack.smooth.enabled ^= true),
    ("factor", |i| i.stack.smooth.factor = 0.9),
    ("iterations", |i| i.stack.smooth.iterations = 2),
    ("strength of the smooth", |i| i.stack.smooth.strength = 0.5),
    ("no samples", |i| i.correctives = None),
    ("other samples", |i| {
        let made = sculpted(&i.skeleton, 100..600, Vec3::new(0.0, 0.2, 0.1), 1.0);
        i.correctives = Some(made);
    }),
    ("another sculpt", |i| {
        let made = sculpted(&i.skeleton, 300..900, Vec3::new(0.1, 0.2, 0.1), 1.0);
        i.correctives = Some(made);
    }),
    ("strength of a sample", |i| {
        let made = sculpted(&i.skeleton, 300..900, Vec3::new(0.0, 0.2, 0.1), 0.5);
        i.correctives = Some(made);
    }),
    ("clusters", |i| {
        i.clusters = Some(clusters(
            i.geometry.n_points(),
            11,
            PatchSettings::default(),
        ));
    }),
    ("other groups", |i| {
        let map = clusters(i.geometry.n_points(), 7, PatchSettings::default());
        i.clusters = Some(Arc::new(map.with_points(&[70, 700], Some(1))));
    }),
    ("another base", |i| {
        let map = clusters(i.geometry.n_points(), 7, PatchSettings::default());
        let group = ClusterGroup::new("lbs", 1);
        i.clusters = Some(Arc::new(map.with_group(Some(1), group).unwrap()));
    }),
    ("other patches", |i| {
        let settings = PatchSettings {
            interpolation: Interpolation::PointNormal,
            ..PatchSettings::default()
        };
        i.clusters = Some(clusters(i.geometry.n_points(), 7, settings));
    }),
    ("strands", |i| {
        let settings = PatchSettings {
            interpolation: Interpolation::Strands,
            tension: 0.25,
            ..PatchSettings::default()
        };
        i.clusters = Some(clusters(i.geometry.n_points(), 7, settings));
    }),
    ("free points that keep their skin", |i| {
        let settings = PatchSettings {
            interpolation: Interpolation::SkinnedFree,
            ..PatchSettings::default()
        };
        i.clusters = Some(clusters(i.geometry.n_points(), 7, settings));
    }),
    ("patches of positions", |i| {
        let settings = PatchSettings {
            positions_only: true,
            ..PatchSettings::default()
        };
        i.clusters = Some(clusters(i.geometry.n_points(), 7, settings));
    }),
    ("patches that do not tilt", |i| {
        let settings = PatchSettings {
            couples_normals: false,
            ..PatchSettings::default()
        };
        i.clusters = Some(clusters(i.geometry.n_points(), 7, settings));
    }),
    ("rotation of a driver", |i| {
        i.locals[2].rotation = DQuat::from_rotation_z(-0.8);
    }),
    ("tail", |i| {
        i.skeleton = skeleton(|joints| joints[2].rule.tail = Some(DVec3::new(0.0, 2.0, 0.0)));
    }),
    ("inflation parent", |i| {
        i.skeleton = skeleton(|joints| joints[2].rule.inflation_parent = Some(JointId(0)));
    }),
    ("parent", |i| {
        i.skeleton = skeleton(|joints| joints[3].parent = Some(JointId(0)));
    }),
    ("names", |i| {
        i.skeleton = skeleton(|joints| joints[3].name = "other".into());
    }),
    ("joints of the skin", |i| i.joints.swap(2, 3)),
    ("inverse bind matrices", |i| {
        i.inverse_bind[2].translation.y += 0.1;
    }),
    ("length of leaf bones", |i| {
        i.skin_mesh = tube(0.4, 1.6, 0).0;
    }),
    ("rest pose", |i| {
        let scale = DAffine3::from_scale(DVec3::splat(3.0));
        i.rest_world = Arc::new(i.rest_world.iter().map(|m| scale * *m).collect());
    }),
    ("pose", |i| {
        i.world[2] *= DAffine3::from_rotation_x(0.3);
    }),
    ("stretch", |i| {
        i.world[3] *= DAffine3::from_scale(DVec3::new(1.0, 2.0, 1.0));
    }),
    ("no skin", |i| i.has_skin = false),
    ("node", |i| i.node = JointId(2)),
    ("pose of the node", |i| {
        i.world[4] *= DAffine3::from_rotation_x(0.3);
    }),
];

/// Changes that leave the picture as it is.
const UNSEEN: [&str; 1] = ["names"];

#[test]
fn each_input_is_noticed_by_itself() {
    let mut shown = vec![false; CHANGES.len()];
    for stack in stacks() {
        for (has_skin, has_clusters) in [(true, false), (false, false), (true, true), (false, true)]
        {
            let mut base = Inputs {
                stack: stack.clone(),
                has_skin,
                ..base()
            };
            if has_clusters {
                base = with_clusters(base);
            }
            let before = fresh(&base);
            let mut plan = Plan::default();
            plan.run(&base);
            for (k, (name, change)) in CHANGES.iter().enumerate() {
                let mut changed = base.clone();
                change(&mut changed);
                plan.run(&changed);
                let expected = fresh(&changed);
                assert!(plan.bits() == expected, "{name} under {stack:?}");
                shown[k] |= expected != before;
                plan.run(&base);
                assert!(plan.bits() == before, "{name} taken back under {stack:?}");
                assert_eq!(plan.run(&base), Moved::Nothing, "{name}");
            }
        }
    }
    // A change that no stack shows would prove nothing.
    for ((name, _), shown) in CHANGES.iter().zip(shown) {
        assert_eq!(shown, !UNSEEN.contains(name), "{name}");
    }
}

#[test]
fn a_point_that_loses_its_influences_keeps_the_detail_of_a_model_in_centimetres() {
    let change = |name: &str| CHANGES.iter().find(|c| c.0 == name).unwrap().1;
    let mut inputs = base();
    inputs.stack = DeformStack::dqs();
    inputs.stack.smooth.enabled = true;
    change("centimetres")(&mut inputs);
    for joint in &mut inputs.world {
        // Without scale, so that nothing inflates.
        joint.matrix3 = DMat3::from_quat(DQuat::from_rotation_z(0.4));
    }
    let mut plan = Plan::default();
    plan.run(&inputs);
    change("a point without influences")(&mut inputs);
    plan.run(&inputs);
    assert!(plan.bits() == fresh(&inputs));
}

#[test]
fn an_inverse_bind_matrix_without_numbers_is_bound_once() {
    let mut inputs = base();
    inputs.inverse_bind[2].translation.y = f64::NAN;
    let mut plan = Plan::default();
    plan.run(&inputs);
    assert_eq!(plan.run(&inputs), Moved::Nothing);
}

/// Gives the last ring of the third chunk of the large tube, where joints 0 and 1 meet, the second weight `second`.
fn set_last_ring_of_chunk(inputs: &mut Inputs, second: f32) {
    let points: Vec<u32> = (3072 - N_SIDES as u32..3072).collect();
    let mut rows: Rows = points
        .iter()
        .map(|_| vec![(0, 1.0 - second), (1, second)])
        .collect();
    inputs.influences.swap_rows(&points, &mut rows);
}

/// Changes of some chunks of the large tube, or of all of them.
const CHANGES_OF_MANY_CHUNKS: &[Change] = &[
    ("a steep edge between two chunks", |i| {
        set_last_ring_of_chunk(i, 0.01);
    }),
    // The chunk on the other side, whose weights stay, has measured its slope, too.
    ("the same edge, flat", |i| set_last_ring_of_chunk(i, 0.42)),
    ("influences here and there", |i| {
        let points: Vec<u32> = (0..i.influences.len() as u32).step_by(300).collect();
        let mut rows: Rows = points.iter().map(|_| vec![(0, 0.3), (1, 0.7)]).collect();
        i.influences.swap_rows(&points, &mut rows);
    }),
    ("influences of one point", |i| {
        let mut rows: Rows = [vec![(1, 0.6), (2, 0.4)]].into_iter().collect();
        i.influences.swap_rows(&[2100], &mut rows);
    }),
    ("maps here and there", |i| {
        let points: Vec<u32> = (0..i.influences.len() as u32).step_by(200).collect();
        for kind in MaskKind::ALL {
            let mut values = vec![0.25; points.len()];
            i.masks.swap(kind, &points, &mut values);
        }
    }),
    ("points without influences", |i| {
        let points: Vec<u32> = (7..i.influences.len() as u32).step_by(900).collect();
        let mut rows: Rows = points.iter().map(|_| vec![]).collect();
        i.influences.swap_rows(&points, &mut rows);
    }),
    ("pose", |i| {
        i.world[2] *= DAffine3::from_rotation_x(0.3);
    }),
    ("joints of the skin", |i| i.joints.swap(2, 3)),
];

#[test]
fn changes_of_many_chunks_are_those_of_a_fresh_plan() {
    // As many points as are handed to several threads, and more chunks than one thread takes.
    let (geometry, influences) = tube_of(400, 0.4, 1.0, 0);
    assert!(geometry.n_points() > 6000 && influences.chunks().len() > 5);
    let mut automatic = stacks()[1].clone();
    automatic.compensation.auto_strength = true;
    for stack in stacks().into_iter().chain([automatic]) {
        let mut inputs = Inputs {
            skin_mesh: geometry.clone(),
            geometry: geometry.clone(),
            influences: influences.clone(),
            stack,
            ..base()
        };
        inputs.centres = Some(centres_of(&inputs));
        changes_are_those_of_a_fresh_plan(inputs.clone());
        changes_are_those_of_a_fresh_plan(with_clusters(inputs));
    }
}

fn changes_are_those_of_a_fresh_plan(mut inputs: Inputs) {
    {
        let before = inputs.clone();
        let mut plan = Plan::default();
        plan.run(&inputs);
        for (name, change) in CHANGES_OF_MANY_CHUNKS {
            change(&mut inputs);
            plan.run(&inputs);
            assert!(
                plan.bits() == fresh(&inputs),
                "{name} under {:?}",
                inputs.stack
            );
        }
        plan.run(&before);
        assert!(plan.bits() == fresh(&before), "under {:?}", before.stack);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_plan_has_no_memory(
        stack in 0usize..6,
        has_clusters in any::<bool>(),
        steps in prop::collection::vec((0..CHANGES.len(), any::<bool>()), 1..12),
    ) {
        let mut start = Inputs { stack: stacks()[stack].clone(), ..base() };
        if has_clusters {
            start = with_clusters(start);
        }
        let mut inputs = start.clone();
        let mut plan = Plan::default();
        plan.run(&inputs);
        let mut shown = plan.bits();
        for (change, starts_over) in steps {
            if starts_over {
                inputs = start.clone();
            }
            CHANGES[change].1(&mut inputs);
            let moved = plan.run(&inputs);
            let now = plan.bits();
            prop_assert!(now == fresh(&inputs), "after {}", CHANGES[change].0);
            let n_points = plan.instance.positions().len();
            let differs = |i: &usize| shown.get(*i) != now.get(*i);
            let (points, normals): (Vec<u32>, Vec<u32>) = (
                (0..n_points).filter(differs).map(|i| i as u32).collect(),
                (n_points..now.len()).filter(differs).map(|i| (i - n_points) as u32).collect(),
            );
            match moved {
                Moved::All => {}
                Moved::Nothing => prop_assert!(points.is_empty() && normals.is_empty()),
                Moved::Some { points: p, normals: n } => prop_assert_eq!((p, n), (points, normals)),
            }
            shown = now;
        }
    }
}
