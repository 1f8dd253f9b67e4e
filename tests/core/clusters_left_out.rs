//! Points that follow patches are left out of the stages before control clusters, where only their final places count; and
//! one cluster that moves evaluates its own patches again, no others.

use crate::clustered::{MESH, RIGID, SKINNED, apply, bent, bits, every, shape_of};
use crate::models::tube;
use glam::{DVec3, Vec3};
use sinew::cluster::fade::Fade;
use sinew::cluster::procedural::{
    DriverInput, DriverPoint, DriverSettings, Normalisation, SinkDirection, SinkMask, SinkSettings,
};
use sinew::cluster::{
    Base, ClusterGroup, ClusterMap, ControlMotion, DriverLayer, Interpolation, PatchSettings,
};
use sinew::correctives;
use sinew::deform::{DeformStack, MaskKind, Moved, SkinningMethod};
use sinew::document::{Document, Edit, InstanceId};
use sinew::evaluate::Evaluator;
use sinew::math::Transform;
use sinew::skeleton::{JointId, Moment, Pose};
use sinew::skinning::Rows;
use std::collections::BTreeSet;
use std::sync::Arc;

fn set_stack(document: &mut Document, stack: DeformStack) {
    let stack = Arc::new(stack);
    document
        .apply(&mut Edit::Stack { mesh: MESH, stack })
        .unwrap();
}

/// One group for each base, in turns.
fn of_all_bases(document: &Document, nth: usize) -> ClusterMap {
    let bases = [Base::Stack, Base::Dqs, Base::Hand, Base::Fixed, Base::Lbs];
    let groups = bases.iter().enumerate().map(|(i, &base)| {
        Arc::new(ClusterGroup {
            base,
            ..ClusterGroup::new(format!("{base:?}"), i)
        })
    });
    let points = every(document, nth).into_iter().enumerate();
    let points = points.map(|(i, point)| (point, (i % bases.len()) as u16));
    let settings = PatchSettings::default();
    ClusterMap::new(groups.collect(), points.collect(), settings).unwrap()
}

/// An object without a skin whose clusters stay at rest is deformed by them as its node moves: exports hold that as they do
/// what layers do.
#[test]
fn fixed_clusters_deform_an_object_without_a_skin() {
    let mut document = tube(30);
    let [mut at_rest, mut on_stack] = [Base::Fixed, Base::Stack].map(|base| {
        let group = ClusterGroup {
            base,
            ..ClusterGroup::new("Clusters", 0)
        };
        let points = [0, 7, 100].map(|point| (point, 0)).to_vec();
        let settings = PatchSettings::default();
        ClusterMap::new(vec![Arc::new(group)], points, settings).unwrap()
    });
    for (map, is_driven) in [(&mut at_rest, true), (&mut on_stack, false)] {
        apply(&mut document, map.clone());
        let instance = &document.instances()[&RIGID];
        assert_eq!(document.is_driven(instance), is_driven);
        let mut pose = Pose::clone(document.rest_pose());
        pose.locals[instance.joint.get()].translation += DVec3::Y;
        let shape = shape_of(&document, RIGID, &pose, Moment::default());
        let rest = shape_of(&document, RIGID, document.rest_pose(), Moment::default());
        let by = (shape[7] - rest[7]).length();
        assert!((by < 1e-6) == is_driven, "{by}");
    }
}

/// The two kinds of evaluators, of which only one may leave points out.
struct Both {
    full: Evaluator,
    sparse: Evaluator,
}

impl Both {
    fn new() -> Self {
        Self {
            full: Evaluator::default(),
            sparse: Evaluator::for_shapes(),
        }
    }

    /// Evaluates with both and compares every point, every normal, and what is said to have moved.
    fn compare(&mut self, document: &Document, pose: &Pose, what: &str) {
        let before = self.sparse.plan(SKINNED).map(|plan| bits(plan.positions()));
        self.full.evaluate(document, pose);
        let moved = self.sparse.evaluate(document, pose);
        let (_, moved) = moved.into_iter().find(|(id, _)| *id == SKINNED).unwrap();
        let plans = [&self.full, &self.sparse].map(|e| e.plan(SKINNED).unwrap());
        let [full, sparse] = plans.map(|plan| bits(plan.positions()));
        let other = (0..full.len()).find(|&p| full[p] != sparse[p]);
        assert_eq!(other, None, "{what}");
        let [full, own] = plans.map(|plan| bits(plan.normals()));
        assert!(full == own, "{what}: normals");
        if let (Some(before), Moved::Some { points, .. }) = (before, &moved) {
            let told: BTreeSet<u32> = points.iter().copied().collect();
            for p in 0..sparse.len() {
                let is_told = told.contains(&(p as u32));
                assert_eq!(before[p] != sparse[p], is_told, "{what}: vertex {p}");
            }
        }
        let fresh = {
            let mut fresh = Evaluator::for_shapes();
            fresh.evaluate(document, pose);
            bits(fresh.plan(SKINNED).unwrap().positions())
        };
        assert!(fresh == sparse, "{what}: another evaluator");
    }
}

#[test]
fn final_shapes_have_the_same_bits_whatever_changes() {
    let mut document = tube(120);
    let marked = of_all_bases(&document, 13);
    apply(&mut document, marked.clone());
    let mut both = Both::new();
    let mut pose = bent(&document, 40.0);
    both.compare(&document, &pose, "the first pose");
    pose = bent(&document, 70.0);
    both.compare(&document, &pose, "another pose");

    // Weights beside a cluster, of a free point, and of a cluster.
    for point in [700u32, 17, 13, 26, 1400] {
        let rows: Rows = [vec![(0, 0.3), (1, 0.7)]].into_iter().collect();
        let mut edit = Edit::influences(MESH, vec![point], rows);
        document.apply(&mut edit).unwrap();
        both.compare(&document, &pose, &format!("weights of {point}"));
    }
    let painted: Vec<u32> = (300..900).collect();
    for kind in MaskKind::ALL {
        let values = vec![0.4; painted.len()];
        let mut edit = Edit::mask(MESH, kind, painted.clone(), values);
        document.apply(&mut edit).unwrap();
        both.compare(&document, &pose, kind.label());
    }
    for method in SkinningMethod::ALL {
        set_stack(&mut document, DeformStack::bare(method));
        both.compare(&document, &pose, &format!("{method:?}"));
    }
    set_stack(&mut document, DeformStack::default());
    both.compare(&document, &pose, "the default stack");
    let mut smoothed = DeformStack::default();
    smoothed.smooth.enabled = true;
    set_stack(&mut document, smoothed);
    both.compare(&document, &pose, "smoothing, which reads all neighbours");
    set_stack(&mut document, DeformStack::default());
    both.compare(&document, &pose, "no smoothing again");

    let node = document.instances()[&SKINNED].joint.get();
    pose.morph_weights[node] = vec![0.6];
    both.compare(&document, &pose, "a morph target");
    let local = pose.locals[1];
    let scale = DVec3::new(1.0, 1.4, 0.8);
    pose.locals[1] = Transform::from_trs(local.translation, local.rotation, scale);
    both.compare(&document, &pose, "a scaled bone");

    for interpolation in Interpolation::ALL {
        let known = document.meshes()[&MESH].clusters.clone();
        let settings = PatchSettings {
            interpolation,
            ..*known.settings()
        };
        apply(&mut document, known.with_settings(settings).unwrap());
        both.compare(&document, &pose, &format!("{interpolation:?}"));
    }
    apply(&mut document, marked.with_points(&[39, 40], None));
    both.compare(&document, &pose, "fewer clusters");
    apply(&mut document, ClusterMap::default());
    both.compare(&document, &pose, "no clusters");
    apply(&mut document, marked);
    both.compare(&document, &pose, "clusters again");
}

/// A corrective sample acts on the clusters alone, and what it does to free points is not seen.
#[test]
fn samples_on_free_points_change_nothing_else() {
    let document = tube(90);
    let pose = bent(&document, 60.0);
    let mut marked = document.clone();
    apply(&mut marked, of_all_bases(&document, 11));
    let mut evaluator = Evaluator::default();
    evaluator.evaluate(&marked, &pose);
    let plan = evaluator.plan(SKINNED).unwrap();
    let item = &marked.meshes()[&MESH];
    let moved = (400..700u32).map(|p| (p, plan.base_positions()[p as usize] + Vec3::Y * 0.05));
    let moved: Vec<(u32, Vec3)> = moved.collect();
    let captured = sinew::deform::capture(plan, &item.stack, &item.masks, &moved);
    let new = correctives::NewSample {
        name: None,
        drivers: [JointId(1)].into(),
    };
    let mut added = correctives::add_sample(&marked, MESH, &captured, &pose, &new).unwrap();
    marked.apply(&mut added.edit).unwrap();
    let mut both = Both::new();
    for degrees in [0.0, 30.0, 60.0, 75.0] {
        both.compare(
            &marked,
            &bent(&document, degrees),
            &format!("{degrees} degrees"),
        );
    }
}

/// A driver reads a free vertex: it is not left out.
#[test]
fn what_a_driver_reads_is_deformed() {
    let mut document = tube(90);
    let driver = DriverLayer {
        name: "Distance".into(),
        settings: DriverSettings {
            input: DriverInput::Distance {
                a: DriverPoint::Vertex(802),
                b: DriverPoint::Vertex(1203),
            },
            from: 0.0,
            to: 2.0,
            mode: Normalisation::Extend,
            curve: None,
            gain: 0.3,
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
    };
    let group = ClusterGroup {
        drivers: vec![driver],
        ..ClusterGroup::new("Driven", 0)
    };
    let points = every(&document, 20).into_iter().map(|p| (p, 0)).collect();
    let settings = PatchSettings::default();
    let map = ClusterMap::new(vec![Arc::new(group)], points, settings).unwrap();
    assert_eq!([map.group_of(802), map.group_of(1203)], [None, None]);
    apply(&mut document, map);
    let mut both = Both::new();
    for degrees in [20.0, 60.0, 100.0] {
        both.compare(
            &document,
            &bent(&document, degrees),
            &format!("{degrees} degrees"),
        );
    }
}

/// Points within two edges of the coarse surface around a cluster: those of the patches that may change with it.
fn near(
    document: &Document,
    instance: InstanceId,
    evaluator: &Evaluator,
    moved: u32,
) -> BTreeSet<u32> {
    let (patches, _) = evaluator.plan(instance).unwrap().patches().unwrap();
    let geometry = &document.meshes()[&MESH].geometry;
    let surface = sinew::cluster::ClusterSurface::new(geometry);
    let vertex = surface.vertex_of_point(moved);
    let corner = patches.net().corners.binary_search(&vertex).unwrap() as u32;
    let mut corners = vec![corner];
    corners.extend_from_slice(patches.net().rings.neighbours(corner));
    let own = corners.iter().map(|&c| patches.net().corners[c as usize]);
    let own = own.flat_map(|vertex| surface.points_of_vertex(vertex).to_vec());
    let free = corners.iter().flat_map(|&c| patches.points_of_corner(c));
    own.chain(free).collect()
}

/// Moves one of many clusters by hand; what moves with it, and what may.
fn moved_by_hand(instance: InstanceId, positions_only: bool) -> (usize, usize, usize) {
    let mut document = tube(200);
    let points = every(&document, 19);
    let moved = points[points.len() / 2];
    let group = |by: f32| ClusterGroup {
        base: Base::Hand,
        hand: ControlMotion::default()
            .with_still(vec![(moved, Vec3::Y * by), (points[3], Vec3::Z * 0.01)])
            .unwrap(),
        ..ClusterGroup::new("Moved", 0)
    };
    let settings = PatchSettings {
        positions_only,
        ..PatchSettings::default()
    };
    let clusters = points.iter().map(|&point| (point, 0)).collect();
    let map = ClusterMap::new(vec![Arc::new(group(0.02))], clusters, settings).unwrap();
    apply(&mut document, map);
    let pose = bent(&document, 50.0);
    let mut evaluator = Evaluator::for_shapes();
    evaluator.evaluate(&document, &pose);
    let known = document.meshes()[&MESH].clusters.clone();
    apply(
        &mut document,
        known.with_group(Some(0), group(0.05)).unwrap(),
    );
    let changes = evaluator.evaluate(&document, &pose);
    let (_, change) = changes.into_iter().find(|(id, _)| *id == instance).unwrap();
    let Moved::Some { points, .. } = change else {
        panic!("all moved");
    };
    let allowed = near(&document, instance, &evaluator, moved);
    assert!(points.iter().all(|p| allowed.contains(p)), "{points:?}");
    let mut fresh = Evaluator::for_shapes();
    fresh.evaluate(&document, &pose);
    let [own, full] = [&evaluator, &fresh].map(|e| bits(e.plan(instance).unwrap().positions()));
    assert!(own == full);
    (points.len(), allowed.len(), full.len())
}

#[test]
fn one_cluster_that_moves_evaluates_its_own_patches_again() {
    // With a skin in both modes, and without: there frames always follow from positions alone.
    for (instance, positions_only) in [(SKINNED, false), (SKINNED, true), (RIGID, false)] {
        let (n_moved, n_near, n) = moved_by_hand(instance, positions_only);
        println!("{instance:?} {positions_only}: {n_moved} of {n_near} near, {n} in all");
        assert!(
            n_moved > 20 && n_near < n / 8,
            "{n_moved} of {n_near} of {n}"
        );
    }
}
