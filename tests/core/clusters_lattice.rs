//! Clusters that a lattice or a cage moves: the shape, its keyframes, the files, and the headless editor.

use crate::bake::{corrected, with_stack};
use crate::bake_sources;
use crate::cli::{asset, done, text};
use crate::clustered::{
    MESH, RIGID, SIZE, SKINNED, apart, apply, bent, bits, every, move_by, shape, shape_at,
    shape_of, still, with,
};
use crate::clusters_editor::{shown, undo_label};
use crate::editing::EditorHarness;
use crate::export_models::reopen;
use crate::models::tube;
use glam::{DAffine3, DMat3, DVec3, Vec3};
use serde_json::{Value, json};
use sinew::bake::static_shapes::{StaticPose, static_shapes};
use sinew::bake::{BakeMode, BakeOptions};
use sinew::cluster::cage::CageError;
use sinew::cluster::lattice::{LatticeSettings, Outside};
use sinew::cluster::{
    Base, CageControls, CageMesh, CageSource, ClusterGroup, ClusterMap, ControlMotion, GroupPreset,
    LatticeControls, MapError, MeshLayout, PatchSettings, is_slow_to_bind,
};
use sinew::deform::{DeformStack, Moved};
use sinew::document::session::{PoseSpace, TransformKind};
use sinew::document::{ClipId, Document, Edit, checks};
use sinew::evaluate::Evaluator;
use sinew::finding::Place;
use sinew::io::project::{apply_project, parse, to_project, to_text};
use sinew::io::{open_any, open_sample};
use sinew::math::{Axis, Worse};
use sinew::mesh::PointSet;
use sinew::skeleton::Moment;
use sinew::task::Task;
use sinew::tools::SelectOp;
use std::path::Path;
use std::sync::Arc;

const CLIP: ClipId = ClipId(0);
/// The last control point of a lattice of 2 x 2 x 2: the corner where all coordinates are largest.
const CORNER: u32 = 7;

/// The box of the tube of [`tube`].
fn around_tube(counts: [u32; 3]) -> LatticeSettings {
    let half = DVec3::new(2.0, 0.5, 0.5);
    LatticeSettings::from_box(-half, half, counts)
}

fn box_cage() -> CageMesh {
    let half = DVec3::new(2.0, 0.5, 0.5);
    CageMesh::around([-half, half], 1).unwrap()
}

fn with_group(
    points: impl IntoIterator<Item = u32>,
    change: impl FnOnce(&mut ClusterGroup),
) -> ClusterMap {
    let mut group = ClusterGroup::new("Limb", 0);
    change(&mut group);
    let points = points.into_iter().map(|point| (point, 0)).collect();
    ClusterMap::new(vec![Arc::new(group)], points, PatchSettings::default()).unwrap()
}

fn by_lattice(
    points: impl IntoIterator<Item = u32>,
    settings: LatticeSettings,
    motion: ControlMotion,
) -> ClusterMap {
    with_group(points, |group| {
        group.base = Base::Lattice;
        group.lattice = Some(Arc::new(LatticeControls { settings, motion }));
    })
}

fn by_cage(
    points: impl IntoIterator<Item = u32>,
    mesh: CageMesh,
    motion: ControlMotion,
) -> ClusterMap {
    with_group(points, |group| {
        group.base = Base::Cage;
        group.cage = Some(Arc::new(CageControls {
            motion,
            ..CageControls::new(mesh)
        }));
    })
}

#[test]
fn at_rest_the_clusters_are_those_of_the_stack_to_the_bit() {
    let document = tube(40);
    let points = every(&document, 9);
    let stack = with(&document, with_group(points.clone(), |_| {}));
    let settings = around_tube([3, 2, 4]);
    let small = LatticeSettings {
        outside: Outside::Nearest,
        ..LatticeSettings::from_box(DVec3::ZERO, DVec3::ONE, [2; 3])
    };
    let none = ControlMotion::default;
    for other in [
        by_lattice(points.clone(), settings, none()),
        by_lattice(points.clone(), small, none()),
        by_cage(points.clone(), box_cage(), none()),
        // A base without its lattice or cage is the stack.
        with_group(points.clone(), |group| group.base = Base::Lattice),
        with_group(points.clone(), |group| group.base = Base::Cage),
    ] {
        let other = with(&document, other);
        for degrees in [0.0, 80.0] {
            let pose = bent(&document, degrees);
            assert_eq!(bits(&shape(&other, &pose)), bits(&shape(&stack, &pose)));
        }
    }
}

/// Trilinear: Sederberg & Parry 1986, eq. 2 for l = m = n = 1. A corner counts by the product of the three coordinates, and the
/// displacement turns with the skin.
#[test]
fn one_corner_of_a_lattice_of_eight_moves_clusters_by_their_coordinates() {
    let document = tube(60);
    let points = every(&document, 11);
    let offset = Vec3::new(0.3, 0.4, -0.2);
    let settings = around_tube([2; 3]);
    let of = |motion| with(&document, by_lattice(points.clone(), settings, motion));
    let (plain, pulled) = (
        of(ControlMotion::default()),
        of(still(vec![(CORNER, offset)])),
    );
    let rest = &document.meshes()[&MESH].geometry.positions;
    for degrees in [0.0, 45.0, 90.0] {
        let pose = bent(&document, degrees);
        let (before, after) = (shape(&plain, &pose), shape(&pulled, &pose));
        let mut posed = plain.clone();
        if let Some(mut edit) = Edit::pose_change(posed.pose(), &pose) {
            posed.apply(&mut edit).unwrap();
        }
        let rotations = posed.point_rotations(SKINNED).unwrap();
        let mut most = 0.0f64;
        for &point in &points {
            let p = rest[point as usize].as_dvec3();
            let at = (p + DVec3::new(2.0, 0.5, 0.5)) / DVec3::new(4.0, 1.0, 1.0);
            let by = offset.as_dvec3() * (at.x * at.y * at.z);
            let wanted = before[point as usize].as_dvec3() + rotations.at(point) * by;
            let error = after[point as usize].as_dvec3().distance(wanted);
            assert!(error < 1e-6, "{degrees} {point}: {error:e}");
            most = most.max(by.length());
        }
        assert!(most > 0.25, "{most}");
        // The free vertices between follow.
        assert!(f64::from(apart(&before, &after)) < 1.3 * most);
        // Without a skin the node turns it.
        let [before, after] =
            [&plain, &pulled].map(|d| shape_of(d, RIGID, &pose, Moment::default()));
        let node = pose.world_matrices(document.skeleton())[4].matrix3;
        let point = *points.last().unwrap() as usize;
        let p = rest[point].as_dvec3();
        let at = (p + DVec3::new(2.0, 0.5, 0.5)) / DVec3::new(4.0, 1.0, 1.0);
        let wanted = node * (offset.as_dvec3() * (at.x * at.y * at.z));
        let error = (after[point] - before[point]).as_dvec3().distance(wanted);
        assert!(error < 1e-5, "rigid, {degrees}: {error:e}");
    }
}

#[test]
fn a_cage_moved_by_an_affine_map_takes_the_clusters_along() {
    let document = tube(40);
    let points = every(&document, 7);
    let cage = box_cage();
    let map = DAffine3::from_mat3_translation(
        DMat3::from_cols_array(&[1.1, 0.2, 0.0, -0.3, 0.9, 0.1, 0.0, 0.2, 1.3]),
        DVec3::new(0.1, -0.2, 0.3),
    );
    let moved = cage.vertices().iter();
    let moved = moved.map(|v| (map.transform_point3(*v) - *v).as_vec3());
    let motion = still((0..).zip(moved).collect());
    let rest = document.rest_pose().as_ref();
    let plain = shape(&with(&document, with_group(points.clone(), |_| {})), rest);
    let document = with(&document, by_cage(points.clone(), cage, motion));
    let found = shape(&document, rest);
    for point in points {
        let wanted = map.transform_point3(plain[point as usize].as_dvec3());
        let error = found[point as usize].as_dvec3().distance(wanted);
        assert!(error < 3e-6, "{point}: {error:e}");
    }
}

fn keyed() -> ControlMotion {
    let keys = [(0.0, 0.0), (1.0, 0.1), (3.0, -0.1)];
    let keys = keys.map(|(secs, y)| (secs, vec![(CORNER, Vec3::Y * y)]));
    let still = vec![(CORNER, Vec3::X * 0.2)];
    ControlMotion::new(still, [(CLIP, keys.to_vec())]).unwrap()
}

#[test]
fn keyframes_are_linear_in_their_clip_alone() {
    let document = tube(40);
    let rest = document.rest_pose().clone();
    // At the corner itself: the whole displacement.
    let last = document.meshes()[&MESH].geometry.n_points() as u32 - 16;
    let at = document.meshes()[&MESH].geometry.positions[last as usize].as_dvec3();
    let settings = LatticeSettings::from_box(-DVec3::splat(3.0), at, [2; 3]);
    let map = by_lattice(every(&document, 16), settings, keyed());
    let plain = shape(&document, &rest);
    let document = with(&document, map);
    assert_eq!(document.clip_span(CLIP), Some((0.0, 3.0)));
    let offset = |moment| shape_at(&document, &rest, moment)[last as usize] - plain[last as usize];
    let near = |a: Vec3, b: Vec3| assert!(a.distance(b) < 1e-6, "{a} {b}");
    near(offset(Moment::default()), Vec3::X * 0.2);
    near(offset(Moment::of(CLIP, 0.5)), Vec3::Y * 0.05);
    near(offset(Moment::of(CLIP, 2.0)), Vec3::ZERO);
    near(offset(Moment::of(CLIP, 60.0)), Vec3::Y * -0.1);
}

#[test]
fn an_incremental_evaluation_has_the_bits_of_a_full_one_on_any_number_of_threads() {
    let document = tube(90);
    let points = every(&document, 17);
    // A lattice at one end only.
    let settings = LatticeSettings::from_box(
        DVec3::new(1.2, -0.5, -0.5),
        DVec3::new(2.1, 0.5, 0.5),
        [2; 3],
    );
    let mut document = with(&document, by_lattice(points.clone(), settings, keyed()));
    let pose = bent(&document, 50.0);
    let mut evaluator = Evaluator::default();
    evaluator.evaluate(&document, pose.at(Moment::of(CLIP, 0.2)));
    let n_points = document.meshes()[&MESH].geometry.n_points();
    let mut compare = |document: &Document, moment: Moment, what: &str| {
        let changes = evaluator.evaluate(document, pose.at(moment));
        let (_, change) = changes.into_iter().find(|(id, _)| *id == SKINNED).unwrap();
        let incremental = bits(evaluator.plan(SKINNED).unwrap().positions());
        for threads in [1, 3] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
            let full = pool
                .unwrap()
                .install(|| bits(&shape_at(document, &pose, moment)));
            assert_eq!(incremental, full, "{what}");
        }
        match change {
            Moved::Some { points, .. } => points.len(),
            Moved::Nothing => 0,
            Moved::All => n_points,
        }
    };
    let n = compare(&document, Moment::of(CLIP, 0.7), "time");
    assert!(n > 10 && n < n_points / 2, "{n} of {n_points}");
    assert_eq!(compare(&document, Moment::of(CLIP, 0.7), "nothing"), 0);
    // Another control point in an edit, then the whole box, more points, a cage, and the stack.
    let group = document.meshes()[&MESH].clusters.groups()[0].clone();
    let lattice = group.lattice.clone().unwrap();
    let map = |change: &dyn Fn(&mut ClusterGroup)| {
        let mut group = ClusterGroup::clone(&group);
        change(&mut group);
        let known = &tubes_map(&points);
        known.with_group(Some(0), group).unwrap()
    };
    let key = vec![(CORNER, Vec3::Y * 0.1), (3, Vec3::Z * 0.2)];
    let moved = lattice.motion.with_key(CLIP, 1.0, key).unwrap();
    apply(
        &mut document,
        map(&|g| *g = g.with_motion(Base::Lattice, moved.clone())),
    );
    let n = compare(&document, Moment::of(CLIP, 0.7), "keyframe");
    assert!(n > 10 && n < n_points / 2, "{n} of {n_points}");
    let wider = LatticeControls {
        settings: around_tube([2; 3]),
        motion: moved.clone(),
    };
    apply(
        &mut document,
        map(&|g| g.lattice = Some(Arc::new(wider.clone()))),
    );
    compare(&document, Moment::of(CLIP, 0.7), "box");
    let finer = Arc::new(wider.with_counts([3, 4, 2]).unwrap());
    apply(&mut document, map(&|g| g.lattice = Some(finer.clone())));
    compare(&document, Moment::of(CLIP, 0.7), "counts");
    apply(
        &mut document,
        map(&|g| {
            g.base = Base::Cage;
            g.cage = Some(Arc::new(CageControls {
                motion: keyed(),
                ..CageControls::new(box_cage())
            }));
        }),
    );
    compare(&document, Moment::of(CLIP, 0.7), "cage");
    apply(&mut document, map(&|g| g.base = Base::Stack));
    compare(&document, Moment::of(CLIP, 0.7), "stack");
}

fn tubes_map(points: &[u32]) -> ClusterMap {
    with_group(points.iter().copied(), |_| {})
}

#[test]
fn what_is_not_valid_is_refused_and_what_does_not_act_is_a_problem() {
    let flat = LatticeSettings::from_box(DVec3::ZERO, DVec3::new(1.0, 0.0, 1.0), [2; 3]);
    let refused = |settings, motion| {
        let group = ClusterGroup {
            lattice: Some(Arc::new(LatticeControls { settings, motion })),
            ..ClusterGroup::new("Limb", 0)
        };
        let none = ClusterMap::default();
        let Err(why @ MapError::Controls { .. }) = none.with_group(None, group) else {
            panic!("accepted")
        };
        why.to_string()
    };
    assert_eq!(
        refused(flat, ControlMotion::default()),
        "the lattice of the group \"Limb\": the box of the lattice has no volume"
    );
    assert_eq!(
        refused(around_tube([2; 3]), still(vec![(8, Vec3::X)])),
        "the lattice of the group \"Limb\": control point 8 is displaced, and there are 8"
    );
    let open = CageMesh::new(
        CageSource::Object("Shell".into()),
        box_cage().vertices().to_vec(),
        box_cage().triangles()[1..].to_vec(),
    );
    let said = open.unwrap_err().to_string();
    assert!(said.starts_with("the cage is open at the edge"), "{said}");

    let document = tube(40);
    let points = every(&document, 16);
    let said = |map| -> String {
        let found = checks::of_layers(&with(&document, map));
        assert!(found.iter().all(|f| f.message.len() <= 300));
        // A click selects the clusters.
        assert!(found.iter().all(|f| matches!(
            &f.target,
            Some(Place::Points { points, .. }) if !points.is_empty()
        )));
        found.iter().map(ToString::to_string).collect()
    };
    let none = ControlMotion::default;
    let half = LatticeSettings::from_box(
        DVec3::new(0.0, -0.5, -0.5),
        DVec3::new(3.0, 0.5, 0.5),
        [2; 3],
    );
    let found = said(by_lattice(points.clone(), half, none()));
    assert!(
        found.contains("20 clusters are outside of the lattice, which does not move them"),
        "{found}"
    );
    let follows = LatticeSettings {
        outside: Outside::Nearest,
        ..half
    };
    assert_eq!(said(by_lattice(points.clone(), follows, none())), "");
    assert_eq!(
        said(by_lattice(points.clone(), around_tube([2; 3]), none())),
        ""
    );
    let small = CageMesh::around([DVec3::splat(-0.45), DVec3::new(2.0, 0.45, 0.45)], 2).unwrap();
    let found = said(by_cage(points.clone(), small, none()));
    assert!(
        found.contains("clusters are outside of the cage"),
        "{found}"
    );
    assert_eq!(said(by_cage(points.clone(), box_cage(), none())), "");
    let found = said(with_group(points, |group| group.base = Base::Cage));
    assert!(
        found.contains("Its group is driven by a Cage, and has none"),
        "{found}"
    );
}

/// A fine cage around many clusters is bound with their patches, where the artist sees progress and can cancel, and never within
/// an evaluation.
#[test]
fn a_cage_that_takes_long_to_bind_comes_with_the_patches() {
    let document = tube(120);
    let half = DVec3::new(2.0, 0.5, 0.5);
    let fine = |margin: f64| CageMesh::around([-half * margin, half * margin], 8).unwrap();
    let points = every(&document, 2);
    assert!(
        is_slow_to_bind(&fine(1.0), points.len()),
        "{}",
        points.len()
    );
    assert!(!is_slow_to_bind(&box_cage(), points.len()));
    let lifted = |mesh: CageMesh| {
        let controls = 0..mesh.vertices().len() as u32;
        let motion = still(controls.map(|control| (control, Vec3::Y * 0.1)).collect());
        by_cage(points.clone(), mesh, motion)
    };
    let geometry = document.meshes()[&MESH].geometry.clone();
    let map = lifted(fine(1.0));
    let task = Task::new();
    let layout = MeshLayout::compute(&geometry, &map, &task).unwrap();
    assert_eq!(task.label(), "Binding to the cage");
    assert!(task.fraction() > 0.5, "{}", task.fraction());
    assert_eq!(layout.cages().len(), 1);
    // Displacements leave it as it is; another cage or other clusters do not, and then only the cage is bound again.
    assert!(layout.is_of(
        &geometry,
        &by_cage(points.clone(), fine(1.0), still(vec![]))
    ));
    let wide = lifted(fine(1.5));
    assert!(!layout.is_of(&geometry, &wide));
    let coarse = lifted(box_cage());
    assert!(!layout.is_of(&geometry, &coarse));
    let again = MeshLayout::compute_after(Some(&layout), &geometry, &wide, &task).unwrap();
    assert!(std::ptr::eq(layout.surface(), again.surface()));
    assert!(again.is_of(&geometry, &wide));
    let none = MeshLayout::compute_after(Some(&again), &geometry, &coarse, &task).unwrap();
    assert!(none.cages().is_empty() && none.is_of(&geometry, &coarse));
    let cancelled = Task::new();
    cancelled.cancel();
    let ended = MeshLayout::compute_after(Some(&layout), &geometry, &wide, &cancelled);
    assert!(ended.is_err());

    // With the layout of the other cage the group follows the stack until its own is there.
    let pose = bent(&document, 40.0);
    let shape_by = |map: &ClusterMap, layout: Option<&Arc<MeshLayout>>| -> Vec<Vec3> {
        let document = with(&document, map.clone());
        let mut evaluator = Evaluator::default();
        if let Some(layout) = layout {
            evaluator.set_layouts([(MESH, layout.clone())].into());
        }
        evaluator.evaluate(&document, &pose);
        evaluator.plan(SKINNED).unwrap().positions().to_vec()
    };
    let (own, other) = (Arc::new(again), Arc::new(layout));
    let shown = shape_by(&wide, Some(&own));
    assert_eq!(bits(&shown), bits(&shape_by(&wide, None)));
    let stack = shape_by(&with_group(points.clone(), |_| {}), None);
    assert!((apart(&shown, &stack) - 0.1).abs() < 0.02);
    assert_eq!(bits(&shape_by(&wide, Some(&other))), bits(&stack));
}

#[test]
fn a_project_keeps_lattices_and_cages_and_names_damage() {
    let plain = open_sample("arm", &Task::new()).unwrap().document;
    let points = every(&plain, 16);
    let settings = LatticeSettings {
        outside: Outside::Nearest,
        ..around_tube([2, 3, 4])
    };
    let map = by_lattice(points, settings, keyed());
    let cage = ClusterGroup {
        base: Base::Cage,
        cage: Some(Arc::new(CageControls {
            motion: keyed(),
            ..CageControls::new(box_cage())
        })),
        ..ClusterGroup::new("Caged", 1)
    };
    let map = map
        .with_group(None, cage)
        .unwrap()
        .with_points(&[3, 9], Some(1));
    let document = with(&plain, map);
    let path = Path::new("/projects/arm.ron");
    let text = to_text(&to_project(&document, Some(path)).unwrap()).unwrap();
    let reopened = |text: &str| apply_project(plain.clone(), parse(text).unwrap());
    let (again, findings) = reopened(&text).unwrap();
    assert_eq!(findings, []);
    assert_eq!(
        again.meshes()[&MESH].clusters,
        document.meshes()[&MESH].clusters
    );
    assert_eq!(
        to_text(&to_project(&again, Some(path)).unwrap()).unwrap(),
        text
    );
    let fails = |from: &str, to: &str| {
        let damaged = text.replacen(from, to, 1);
        assert_ne!(damaged, text, "{from}");
        parse(&damaged)
            .and_then(|project| apply_project(plain.clone(), project))
            .unwrap_err()
            .to_string()
    };
    let said = fails("counts: (2, 3, 4)", "counts: (2, 3, 99)");
    assert!(
        said.contains("group \"Limb\"") && said.contains("along U is 99, which is not 2 - 16"),
        "{said}"
    );
    let said = fails("[(7, (", "[(99, (");
    assert!(said.contains("control point 99 is displaced"), "{said}");
    let said = fails("secs: 1.0", "secs: -1.0");
    assert!(said.contains("-1 s"), "{said}");
    let said = fails("triangles: [(0, ", "triangles: [(88, ");
    assert!(said.contains("names vertex 88"), "{said}");
    // An older version has neither.
    let said = parse(&text.replacen("version: 11", "version: 8", 1));
    assert!(said.is_err());
}

/// A tube that bends within a second, with keyframes of its lattice until a half second later.
#[test]
fn an_export_of_a_keyed_lattice_reads_back_within_a_tenth_of_a_percent() {
    let mut gltf = bake_sources::tube(2);
    let clip = bake_sources::clip(&mut gltf, "Bend");
    let times = [0.0, 0.5, 1.0];
    bake_sources::turn(&mut gltf, clip, 2, "LINEAR", &times, &[0.0, 60.0, 20.0]);
    let document = bake_sources::document(gltf);
    let points = every(&document, 3);
    let positions = document.meshes()[&MESH].geometry.positions.clone();
    let positions = positions.iter().map(|p| p.as_dvec3());
    let settings = LatticeSettings::around(positions, [2, 3, 2]).unwrap();
    let key = |secs: f32, by: Vec3| (secs, (6..10).map(|c| (c, by)).collect());
    let keys = vec![
        key(0.0, Vec3::ZERO),
        key(0.37, Vec3::new(0.1, 0.15, 0.0)),
        key(1.5, Vec3::new(-0.1, 0.0, 0.2)),
    ];
    let motion = ControlMotion::new(Vec::new(), [(CLIP, keys)]).unwrap();
    let without = with(
        &document,
        by_lattice(points.clone(), settings, ControlMotion::default()),
    );
    let document = with(&document, by_lattice(points, settings, motion));
    assert_eq!(document.clip_span(CLIP), Some((0.0, 1.5)));
    let vertices = |document: &Document, time: f64| -> Vec<Vec3> {
        let still = StaticPose {
            clip: Some(CLIP),
            time,
        };
        let pose = still.pose(document).unwrap();
        let at = pose.at(still.moment(document));
        let shapes = static_shapes(document, at, &Task::new()).unwrap();
        let shape = shapes.values().next().unwrap();
        let mesh = &document.meshes().values().next().unwrap().geometry;
        let points = mesh.point_of_vertex.iter();
        points.map(|&p| shape.positions[p as usize]).collect()
    };
    for mode in [BakeMode::Clips, BakeMode::Frames] {
        let options = BakeOptions {
            mode,
            ..BakeOptions::default()
        };
        let (exported, report) = corrected(&document, options);
        println!("{mode:?}: {}", report.summary());
        assert!(report.met && report.max_percent <= 0.1, "{report:?}");
        let read = with_stack(reopen(&exported), &DeformStack::lbs());
        let mut by = 0.0f32;
        for time in [0.0, 0.2, 0.37, 0.6, 0.99, 1.2, 1.5] {
            let seen = vertices(&document, time);
            let error = apart(&seen, &vertices(&read, time));
            let percent = 100.0 * f64::from(error) / report.diagonal;
            assert!(percent <= 0.1, "{mode:?}: {percent} % at {time} s");
            by = by.worse(apart(&seen, &vertices(&without, time)));
        }
        // What the lattice moves is far larger.
        assert!(f64::from(by) > 0.02 * report.diagonal, "{by}");
    }
}

/// The sample arm with every 40th vertex a cluster of a group with this base, its control points selected with the mouse.
fn editor(base: Base) -> EditorHarness {
    let mut h = EditorHarness::new();
    h.editor.show_clip(None);
    let mesh = h.editor.document().meshes().keys().next().copied().unwrap();
    let n = h.editor.document().meshes()[&mesh].geometry.n_points() as u32;
    let points: PointSet = (0..n).step_by(40).collect();
    h.editor.select_points_of([(mesh, points)]);
    assert!(h.editor.add_group(GroupPreset::Custom));
    h.editor.mark_selected();
    h.editor.set_group_base(0, base);
    h.editor.select_for_moving(true);
    h.editor.set_pose_space(PoseSpace::World);
    h.settle();
    h
}

fn n_selected(h: &EditorHarness) -> usize {
    h.editor.control_points().unwrap().selected.len()
}

fn group(h: &EditorHarness) -> ClusterGroup {
    ClusterGroup::clone(&h.editor.cluster_groups()[0])
}

#[test]
fn a_base_fits_its_lattice_and_its_points_are_selected_moved_keyed_and_reset() {
    let mut h = editor(Base::Lattice);
    assert_eq!(undo_label(&h), "Driven by · Lattice");
    let lattice = group(&h).lattice.unwrap();
    assert_eq!(lattice.settings.counts, [2; 3]);
    let before = shown(&h);
    let points = h.editor.control_points().unwrap();
    assert_eq!((points.places.len(), points.lines.len()), (8, 12));
    // In the rest pose they enclose the model.
    let (low, high) = points
        .places
        .iter()
        .fold((Vec3::INFINITY, -Vec3::INFINITY), |(l, h), p| {
            (l.min(*p), h.max(*p))
        });
    let map = h.editor.clusters().unwrap().clone();
    let inside = |c: &(u32, u16)| {
        let p = before[c.0 as usize];
        p.cmpge(low).all() && p.cmple(high).all()
    };
    assert!(map.clusters().iter().all(inside));

    h.editor.select_controls([CORNER], SelectOp::Replace);
    assert_eq!(n_selected(&h), 1);
    let (document, n) = (h.editor.document().clone(), h.editor.history().n_undo());
    move_by(&mut h, Axis::Y, "0.1");
    assert_eq!(undo_label(&h), "Move 1 control point");
    assert_eq!(h.editor.history().n_undo(), n + 1);
    let now = h.editor.control_points().unwrap();
    let by = now.places[7] - points.places[7];
    assert!(by.distance(Vec3::Y * 0.1) < 1e-5, "{by}");
    assert!(apart(&shown(&h), &before) > 0.01);
    h.editor.undo();
    h.settle();
    assert!(h.editor.document().same_content(&document));
    assert_eq!(shown(&h), before);
    h.editor.redo();
    h.settle();

    // A keyframe of all points; then a change in the clip goes into one.
    let clip = *h.editor.document().clips().keys().next().unwrap();
    h.editor.show_clip(Some(clip));
    h.editor.set_time(0.5);
    h.settle();
    h.editor.key_clusters();
    let name = group(&h).name;
    assert_eq!(
        undo_label(&h),
        format!("Insert keyframe for {name} at 0.50 s")
    );
    h.editor.set_time(1.5);
    h.settle();
    h.editor.select_all();
    assert_eq!(n_selected(&h), 8);
    move_by(&mut h, Axis::X, "0.2");
    assert_eq!(undo_label(&h), "Move 8 control points · keyframe at 1.50 s");
    assert_eq!(h.editor.group_keys()[0].times, [0.5, 1.5]);
    let mesh = h.editor.clustered_mesh().unwrap();
    h.editor.begin_group_key_drag(mesh, 0, 1.5);
    h.editor.drag_keys_by(0.5);
    h.editor.end_key_drag();
    assert_eq!(h.editor.group_keys()[0].times, [0.5, 2.0]);
    h.editor.set_time(2.0);
    h.settle();
    h.editor.select_none();
    assert_eq!(n_selected(&h), 0);
    h.editor.reset_clusters();
    h.settle();
    assert_eq!(undo_label(&h), "Reset all 8 control points");
    h.editor.delete_cluster_key();
    assert_eq!(h.editor.group_keys()[0].times, [0.5]);
    h.editor.duplicate_clip();
    let copy = h.editor.playback().clip.unwrap();
    assert_eq!(group(&h).motion().unwrap().keys(copy).len(), 1);
    h.settle();
}

#[test]
fn counts_and_the_outside_change_as_steps_and_the_shape_stays() {
    let mut h = editor(Base::Lattice);
    h.editor.select_controls([CORNER], SelectOp::Replace);
    move_by(&mut h, Axis::Y, "0.1");
    let before = shown(&h);
    h.editor.set_lattice_counts(0, [4, 3, 2]);
    h.settle();
    assert_eq!(undo_label(&h), "Points of lattice");
    assert_eq!(h.editor.control_points().unwrap().places.len(), 24);
    // Of displacements that are stored in single precision.
    assert!(apart(&shown(&h), &before) < 1e-6);
    h.editor.set_lattice_outside(0, Outside::Nearest);
    h.settle();
    assert_eq!(undo_label(&h), "Outside of lattice");
    h.editor.fit_controls(0);
    h.settle();
    assert_eq!(undo_label(&h), "Outside of lattice", "it fitted already");
    // A cage beside it; back at the lattice everything is as it was.
    let lattice = group(&h).lattice;
    h.editor.set_group_base(0, Base::Cage);
    h.settle();
    assert_eq!(group(&h).lattice, lattice);
    assert_eq!(h.editor.control_points().unwrap().places.len(), 26);
    h.editor.select_all();
    move_by(&mut h, Axis::Z, "0.1");
    assert_eq!(undo_label(&h), "Move 26 control points");
    let before = shown(&h);
    h.editor.set_cage_segments(0, 3);
    h.settle();
    assert_eq!(undo_label(&h), "Box cage");
    assert_eq!(h.editor.control_points().unwrap().places.len(), 56);
    assert!(apart(&shown(&h), &before) < 1e-5);
    h.editor.use_cage(0, "nothing");
    h.settle();
    assert!(h.last_notice().contains("no other object \"nothing\""));
}

/// Where it takes long to find how the vertices of a new cage are displaced, a job does it, with Cancel; the old cage stays until
/// it has ended.
#[test]
fn a_cage_is_replaced_in_the_background_and_can_be_cancelled() {
    let mut h = editor(Base::Cage);
    // A cage at rest has nothing to hand over.
    h.editor.set_cage_segments(0, 8);
    assert_eq!(h.editor.coming_cage(0), None);
    assert_eq!(group(&h).cage.unwrap().mesh.vertices().len(), 386);
    let clip = *h.editor.document().clips().keys().next().unwrap();
    h.editor.show_clip(Some(clip));
    h.editor.select_all();
    move_by(&mut h, Axis::Z, "0.1");
    for i in 0..240u8 {
        h.editor.set_time(0.01 * f64::from(i));
        h.editor.key_clusters();
    }
    h.settle();
    let (before, n) = (group(&h), h.editor.history().n_undo());
    let old = before.cage.clone().unwrap();
    assert_eq!(old.motion.keys(clip).len(), 240);

    h.editor.set_cage_segments(0, 7);
    assert_eq!(group(&h), before);
    let coming = CageSource::Box { segments: 7 };
    assert_eq!(h.editor.coming_cage(0), Some(&coming));
    let (label, _) = h.editor.running().expect("a job in the status bar");
    assert_eq!(label, "Box cage");
    h.editor.cancel_running();
    h.settle();
    assert_eq!(h.editor.coming_cage(0), None);
    assert_eq!(group(&h), before);
    assert_eq!(h.editor.history().n_undo(), n);

    // Of two the later one comes.
    h.editor.set_cage_segments(0, 6);
    h.editor.set_cage_segments(0, 7);
    h.settle();
    assert_eq!(undo_label(&h), "Box cage");
    assert_eq!(h.editor.history().n_undo(), n + 1);
    let new = group(&h).cage.unwrap();
    assert_eq!(new.mesh.source(), &coming);
    let expected = old.with_mesh(CageMesh::clone(&new.mesh), &Task::new());
    assert_eq!(expected.as_ref(), Ok(&*new));
    let cancelled = Task::new();
    cancelled.cancel();
    let ended = old.with_mesh(CageMesh::clone(&new.mesh), &cancelled);
    assert!(matches!(ended, Err(CageError::Cancelled(_))));
    h.editor.undo();
    h.settle();
    assert_eq!(group(&h), before);

    // What the artist does meanwhile stays.
    h.editor.set_cage_segments(0, 7);
    h.editor.set_group_base(0, Base::Lattice);
    h.settle();
    assert_eq!(group(&h).base, Base::Lattice);
    assert_eq!(group(&h).cage, before.cage);
    assert!(h.last_notice().starts_with("The group changed while"));
}

#[test]
fn what_cannot_be_done_is_said() {
    let mut h = editor(Base::Lattice);
    let at = SIZE / 2.0;
    let begin = |h: &mut EditorHarness| {
        h.editor
            .begin_cluster_transform(TransformKind::Move, None, at, SIZE)
    };
    assert!(!begin(&mut h));
    h.settle();
    assert!(
        h.last_notice()
            .starts_with("Select control points of the group first")
    );
    h.editor.reset_clusters();
    h.settle();
    assert_eq!(h.last_notice(), "The control points are already at rest.");
    h.editor.add_group(GroupPreset::Custom);
    h.editor.set_group_base(1, Base::Cage);
    assert!(h.editor.control_points().is_none());
    h.editor.fit_controls(1);
    h.settle();
    assert!(
        h.last_notice()
            .starts_with("The group has no clusters to enclose")
    );
}

#[test]
fn the_command_line_gives_a_group_a_lattice_with_offsets_and_shows_it() {
    let folder = tempfile::tempdir().unwrap();
    let arm = asset("arm");
    let (layers, project) = (folder.path().join("l.json"), folder.path().join("arm.ron"));
    let vertices: Vec<u32> = (0..3992).step_by(40).collect();
    let wanted = json!({"groups": [
        {"mesh": 0, "name": "Arm", "base": "lattice", "vertices": vertices,
         "lattice": {"counts": [2, 2, 3], "outside": "nearest", "offsets": [[11, 0.0, 0.1, 0.0]]}},
        {"mesh": 0, "name": "Tip", "base": "cage", "vertices": [1, 2, 3, 4],
         "cage": {"segments": 1, "offsets": [[0, 0.0, 0.1, 0.0]]}},
    ]});
    std::fs::write(&layers, wanted.to_string()).unwrap();
    done(&[
        "clusters",
        &arm,
        "--layers",
        text(&layers),
        "--out",
        text(&project),
    ]);
    let document = open_any(&project, &Task::new()).unwrap().document;
    let map = &document.meshes()[&MESH].clusters;
    let lattice = map.groups()[0].lattice.as_ref().unwrap();
    assert_eq!(lattice.settings.counts, [2, 2, 3]);
    assert_eq!(lattice.motion.still()[..], [(11, Vec3::Y * 0.1)]);
    assert_eq!(
        map.groups()[1].cage.as_ref().unwrap().mesh.vertices().len(),
        8
    );
    let said: Value = serde_json::from_str(&done(&["clusters", text(&project), "--json"])).unwrap();
    let groups = &said["meshes"][0]["groups"];
    assert_eq!(
        (
            &groups[0]["base"],
            &groups[0]["lattice"],
            &groups[0]["displaced"]
        ),
        (&json!("lattice"), &json!([2, 2, 3]), &json!(1))
    );
    assert_eq!(
        (&groups[1]["base"], &groups[1]["cage"]["vertices"]),
        (&json!("cage"), &json!(8))
    );
    let plain = done(&["clusters", text(&project)]);
    assert!(
        plain.contains("lattice of 2 × 2 × 3 control points"),
        "{plain}"
    );
}
