//! The sample project of control clusters: the arm of Bukatov et al. 2014, Figs 3 and 4, on a coarse arm of its own.

use glam::{DQuat, DVec3, Vec3};
use sinew::cluster::procedural::{MuscleSettings, Profile};
use sinew::cluster::{Base, ClusterGroup, ClusterMap, GroupPreset, MuscleLayer, PatchSettings};
use sinew::deform::correctives::{CapturedOver, Correctives, Driver, Sample, SampleSet};
use sinew::deform::diagnostics::{Enclosure, VolumeReport};
use sinew::deform::{DeformStack, SkinningMethod, StackChoice, StackPreset};
use sinew::document::{
    ClustersEdit, CorrectivesEdit, Document, Edit, InstanceId, MeshId, PaneLayout,
};
use sinew::evaluate::{Comparison, Evaluator, Gauge};
use sinew::psd::{Displacements, DriverMode};
use sinew::skeleton::{JointId, Pose};
use sinew::task::Task;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Vertices of a ring of the coarse arm; its first one is on the flexor's side.
const SIDES: u32 = 10;
const RINGS: u32 = 26;
/// The elbow lies between these rings.
const ELBOW: [u32; 2] = [11, 12];

/// What the artist makes of a vertex; `None`: it is free.
fn group_of(ring: u32, side: u32) -> Option<u16> {
    const DQS: Option<u16> = Some(0);
    const PSD: Option<u16> = Some(1);
    const BICEPS: Option<u16> = Some(2);
    let even = (ring + side).is_multiple_of(2);
    let flexor = matches!(side, 8 | 9 | 0 | 1 | 2);
    match (ring, side) {
        (11, 5) | (12, 4..=6) => PSD,
        (4..=8, _) if flexor => BICEPS.filter(|_| even),
        // The elbow's own vertices are free outside, every second one is inside.
        (10..=13, 3..=7) => None,
        (10..=13 | 15..=20, _) if !even => None,
        _ => DQS,
    }
}

fn joint(document: &Document, name: &str) -> JointId {
    let skeleton = document.skeleton();
    let mut joints = skeleton.live_joints();
    joints.find(|&j| skeleton.label(j) == name).unwrap()
}

fn mesh(document: &Document) -> MeshId {
    *document.meshes().keys().next().unwrap()
}

/// The points of the rings from shoulder to fist, each ring from the flexor's side on, and those of the two ends.
struct Grid {
    rings: Vec<Vec<u32>>,
    ends: [u32; 2],
}

impl Grid {
    fn of(document: &Document) -> Self {
        let positions = &document.meshes()[&mesh(document)].geometry.positions;
        let mut along: Vec<u32> = (0..positions.len() as u32).collect();
        let x = |p: &u32| positions[*p as usize].x;
        along.sort_by(|a, b| x(a).total_cmp(&x(b)));
        assert_eq!(along.len(), (RINGS * SIDES + 2) as usize);
        let turn = |p: &u32| {
            let p = positions[*p as usize];
            let turn = p.z.atan2(p.y - 0.15) / std::f32::consts::TAU;
            (turn * SIDES as f32).round().rem_euclid(SIDES as f32) as u32
        };
        let mut rings = Vec::new();
        for ring in along[1..along.len() - 1].chunks(SIDES as usize) {
            let mut ring = ring.to_vec();
            ring.sort_by_key(turn);
            rings.push(ring);
        }
        let ends = [along[0], along[along.len() - 1]];
        Self { rings, ends }
    }

    fn point(&self, ring: u32, side: u32) -> u32 {
        self.rings[ring as usize][side as usize]
    }
}

/// The clusters in the kinds of the paper's Fig. 3.
fn clusters(document: &Document) -> ClusterMap {
    let preset = |preset: GroupPreset, name: &str, base: Base| ClusterGroup {
        name: name.to_owned(),
        base,
        ..preset.group(&ClusterMap::default())
    };
    let mut biceps = preset(GroupPreset::Procedural, "Biceps", Base::Dqs);
    let (upper, lower) = (joint(document, "upper_arm"), joint(document, "forearm"));
    biceps.muscles.push(MuscleLayer {
        name: "Biceps".to_owned(),
        upper,
        lower,
        settings: MuscleSettings {
            amplitude: 0.014,
            centre: 0.56,
            profile: Profile::Cosine { half_width: 0.4 },
            power: 1.0,
            ..MuscleSettings::for_limb(0.045, DVec3::Y)
        },
        muted: false,
    });
    let groups = [
        preset(GroupPreset::Skin, "DQS", Base::Dqs),
        preset(GroupPreset::PoseSpace, "PSD", Base::Stack),
        biceps,
    ];
    let grid = (0..RINGS).flat_map(|ring| (0..SIDES).map(move |side| (ring, side)));
    let of = Grid::of(document);
    let grid = grid.filter_map(|(ring, side)| Some((of.point(ring, side), group_of(ring, side)?)));
    let ends = of.ends.map(|point| (point, 0));
    let groups = groups.into_iter().map(Arc::new).collect();
    ClusterMap::new(groups, grid.chain(ends).collect(), PatchSettings::default()).unwrap()
}

/// One sample at the end of the bend, which moves the four clusters at the elbow.
fn correctives(document: &Document, stack: &Arc<DeformStack>) -> Correctives {
    let elbow = joint(document, "forearm");
    let (skeleton, rest) = (document.skeleton(), &document.rest_pose().locals);
    let driver = Driver {
        mode: DriverMode::Hinge(DVec3::X),
        ..Driver::of_joint(elbow, skeleton, rest)
    };
    let bend = DQuat::from_rotation_x(120f64.to_radians());
    // The tip of the elbow goes out, its sides go in.
    let moved = [
        (11, 5, [0.0, -0.006, 0.0]),
        (12, 5, [0.0, -0.008, 0.0]),
        (12, 4, [0.0, -0.002, -0.003]),
        (12, 6, [0.0, -0.002, 0.003]),
    ];
    let grid = Grid::of(document);
    let moved = moved.map(|(ring, side, by)| (grid.point(ring, side), Vec3::from_array(by)));
    let mut set = SampleSet::new("Elbow".to_owned(), vec![driver]);
    set.samples.push(Arc::new(Sample {
        name: "Bent by 120°".to_owned(),
        rotations: vec![driver.bind * bend],
        beside: Vec::new(),
        displacements: Displacements::new(moved.to_vec()),
        captured_on: stack.clone(),
        captured_over: CapturedOver::default(),
        strength: 1.0,
        muted: false,
    }));
    Correctives::new(vec![Arc::new(set)]).unwrap()
}

/// The project as it is made.
fn made() -> Document {
    let task = Task::new();
    let mut document = sinew::io::open_sample("coarse-arm", &task)
        .unwrap()
        .document;
    let mesh = mesh(&document);
    let stack = Arc::new(DeformStack::bare(SkinningMethod::Dqs));
    let own = stack.clone();
    let mut edit = Edit::Stack { mesh, stack };
    document.apply(&mut edit).unwrap();
    let correctives = Arc::new(correctives(&document, &own));
    let edit = CorrectivesEdit::new(&document, mesh, correctives);
    document.apply(&mut Edit::Correctives(edit)).unwrap();
    let clusters = Arc::new(clusters(&document));
    let edit = ClustersEdit::new(&document, mesh, clusters);
    document.apply(&mut Edit::Clusters(edit)).unwrap();

    let (elbow, clips) = (joint(&document, "forearm"), document.clips());
    let flex = *clips.iter().find(|c| c.1.name == "Flex").unwrap().0;
    let session = document.session_mut();
    (session.playback.clip, session.playback.time_secs) = (Some(flex), 0.8);
    (session.active_joint, session.active_mesh) = (Some(elbow), Some(mesh));
    session.selected_joints = [elbow].into();
    // The four methods of the paper's Fig. 2.
    session.compare.layout = PaneLayout::Four;
    session.compare.choices = [
        StackChoice::Preset(StackPreset::Lbs),
        StackChoice::Preset(StackPreset::Dqs),
        StackChoice::WithoutClusters,
        StackChoice::Project,
    ];
    let camera = &mut session.camera;
    (camera.target, camera.distance) = (Vec3::new(0.0, 0.24, 0.0), 1.05);
    (camera.yaw, camera.pitch) = (0.35, 0.12);
    document
}

/// The elbow bent by some degrees.
fn bent(document: &Document, degrees: f64) -> Pose {
    let mut pose = Pose::clone(document.rest_pose());
    let elbow = joint(document, "forearm");
    pose.locals[elbow.get()].rotation *= DQuat::from_rotation_x(degrees.to_radians());
    pose
}

fn shape(document: &Document, degrees: f64) -> Vec<Vec3> {
    let instance = *document.instances().keys().next().unwrap();
    let mut evaluator = Evaluator::default();
    evaluator.evaluate(document, &bent(document, degrees));
    evaluator.plan(instance).unwrap().positions().to_vec()
}

fn path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("projects/control-clusters-arm.ron")
}

fn opened() -> Document {
    let opened = sinew::io::open_any(&path(), &Task::new()).unwrap();
    assert_eq!(opened.findings, []);
    opened.document
}

/// When the arm or this file changes: `SINEW_UPDATE_PROJECTS=1` writes the project again; look at it before it goes in.
#[test]
fn the_project_is_made_of_the_coarse_arm() {
    let made = made();
    if std::env::var("SINEW_UPDATE_PROJECTS").as_deref() == Ok("1") {
        sinew::io::project::save(&made, &path(), &Task::new()).unwrap();
    }
    // The sample is the file, needs no other file, and has none that a save would replace.
    let sample = sinew::io::open_sample("control-clusters-arm", &Task::new()).unwrap();
    assert!(sample.is_project && sample.project.is_none());
    assert_eq!(sample.findings, []);
    for document in [&opened(), &sample.document] {
        let [own, made] = [document, &made].map(|d| &d.meshes()[&mesh(d)]);
        assert!(own.clusters == made.clusters && own.stack == made.stack);
        assert!(own.correctives == made.correctives);
    }
}

#[test]
fn its_groups_are_the_kinds_of_the_paper() {
    let document = opened();
    let map = &document.meshes()[&mesh(&document)].clusters;
    let groups: Vec<_> = map
        .groups()
        .iter()
        .map(|g| (g.name.as_str(), g.base))
        .collect();
    let expected = [
        ("DQS", Base::Dqs),
        ("PSD", Base::Stack),
        ("Biceps", Base::Dqs),
    ];
    assert_eq!(groups, expected);
    let counts = map.counts();
    assert_eq!(counts[1], 4);
    // A coarse arm whose vertices are mostly clusters (what few samples need to carry a corrective).
    let (n_points, free) = (262, 262 - map.n_clusters());
    assert!(
        counts[2] >= 10 && free * 5 > n_points && free * 2 < n_points,
        "{counts:?}"
    );
    // Yellow, green and unmarked as in Fig. 3, and told apart by their glyphs.
    let [dqs, psd, biceps] = map.groups() else {
        panic!()
    };
    assert_eq!((psd.colour, biceps.colour), ([240, 228, 66], [0, 158, 115]));
    assert!(dqs.glyph != psd.glyph && psd.glyph != biceps.glyph && dqs.glyph != biceps.glyph);
    let item = &document.meshes()[&mesh(&document)];
    let sample = &item.correctives.samples()[0];
    assert_eq!(
        (
            item.correctives.samples().len(),
            sample.displacements.n_points()
        ),
        (1, 4)
    );
}

/// The bend of Fig. 4: the free vertices stay near the shape of dual quaternion skinning, except where the biceps and the
/// elbow's tip move them; the volume stays.
#[test]
fn it_bends_from_0_to_120_degrees() {
    let document = opened();
    let (plain, grid) = (
        document.clone().without_clusters().without_correctives(),
        Grid::of(&document),
    );
    let rest = shape(&document, 0.0);
    let item = &document.meshes()[&mesh(&document)];
    for (a, b) in rest.iter().zip(&item.geometry.positions) {
        assert!(a.distance(*b) < 1e-6, "{a} {b}");
    }
    let (mut last_biceps, mut last_tip) = (0.0, 0.0);
    for step in 0..=8 {
        let degrees = 15.0 * f64::from(step);
        let (own, dqs) = (shape(&document, degrees), shape(&plain, degrees));
        assert!(own.iter().all(|p| p.is_finite()));
        let apart = |ring: u32, side: u32| {
            let i = grid.point(ring, side) as usize;
            own[i].distance(dqs[i])
        };
        // Rings beyond the muscle and the elbow: no more than a twentieth of the radius.
        for ring in [0, 1, 2, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25] {
            for side in 0..SIDES {
                assert!(
                    apart(ring, side) < 0.002,
                    "{degrees}: {ring} {side} {}",
                    apart(ring, side)
                );
            }
        }
        let (biceps, tip) = (apart(6, 0), apart(ELBOW[1], 5));
        assert!(
            biceps >= last_biceps && tip >= last_tip,
            "{degrees}: {biceps} {tip}"
        );
        (last_biceps, last_tip) = (biceps, tip);
    }
    // A slight biceps, and the sample as it was made.
    assert!((0.009..=0.014).contains(&last_biceps), "{last_biceps}");
    assert!((last_tip - 0.008).abs() < 1e-5, "{last_tip}");
    // The free vertices beside the four samples follow them: the tip is no spike.
    let (own, dqs) = (shape(&document, 120.0), shape(&plain, 120.0));
    let beside = [(11, 4), (11, 6), (13, 5), (10, 5)];
    for (ring, side) in beside {
        let i = grid.point(ring, side) as usize;
        let moved = own[i].distance(dqs[i]);
        assert!(moved > 0.0012, "{ring} {side}: {moved}");
    }
}

#[test]
fn its_volume_stays_through_the_bend() {
    let document = opened();
    let mut gauge = Gauge::default();
    let enclosure = Enclosure::of(&document.meshes()[&mesh(&document)].geometry);
    let instance: InstanceId = *document.instances().keys().next().unwrap();
    let mut changes = Vec::new();
    for degrees in [0.0, 30.0, 60.0, 90.0, 120.0] {
        gauge.evaluate(&document, &bent(&document, degrees), &Comparison::default());
        let shape = gauge.shape(&document, instance).unwrap();
        let change = VolumeReport::of(&shape, &enclosure).closed_parts.change();
        changes.push(100.0 * change.unwrap());
    }
    println!("{changes:.3?} %");
    assert!(changes[0].abs() < 1e-3);
    // The biceps adds; dual quaternion skinning and the patches keep the rest.
    for change in &changes[1..] {
        assert!((-0.5..=4.5).contains(change), "{changes:?}");
    }
    assert!(changes.is_sorted(), "{changes:?}");
}
