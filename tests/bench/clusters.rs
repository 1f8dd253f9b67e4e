//! What control clusters cost, in ratios to dual quaternion skinning of the same mesh in one run: free vertices, whole poses
//! with positions and normals, one moved cluster, the layout of the patches, and a mark up to the picture.
//! `cargo bench --profile ci --no-default-features --bench clusters [vertices]`

use glam::{DAffine3, DQuat, DVec3, Vec3};
use sinew::cluster::{
    Base, ClusterGroup, ClusterMap, ControlMotion, MeshLayout, PatchOptions, PatchSettings, Patches,
};
use sinew::deform::{DeformStack, InstancePlan, Moved};
use sinew::document::session::SelectKind;
use sinew::document::{
    ClustersEdit, Document, Edit, Instance, InstanceId, MeshId, MeshItem, MeshSource, Parts,
    PrimitiveSource, Skin, SkinId,
};
use sinew::editor::{Editor, OpenRequest};
use sinew::evaluate::Evaluator;
use sinew::io::gltf_build;
use sinew::math::Transform;
use sinew::mesh::PointSet;
use sinew::sample::SampleModel;
use sinew::skeleton::{Joint, JointId, JointRule, Pose, Skeleton};
use sinew::task::Task;
use std::sync::Arc;
use std::time::{Duration, Instant};

const MESH: MeshId = MeshId(0);
const INSTANCE: InstanceId = InstanceId(0);
const N_JOINTS: u32 = 16;
const LENGTH: f32 = 4.0;
const ROUNDS: usize = 40;

fn main() {
    let numbers = std::env::args().skip(1).filter_map(|a| a.parse().ok());
    let sizes: Vec<usize> = numbers.collect();
    let sizes = if sizes.is_empty() {
        vec![50_000, 500_000]
    } else {
        sizes
    };
    for n_points in sizes {
        println!("\n{n_points} vertices, 4 influences each");
        let document = tube(n_points);
        layouts(&document);
        for threads in [1, 2] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
            pool.unwrap().install(|| poses(&document, threads));
        }
        moves(&document);
    }
    marking();
}

/// A tube whose points have four of the joints in a row each.
fn model(n_points: usize) -> SampleModel {
    let n_sides = ((n_points as f64 * 0.6).sqrt() as usize).max(8);
    let n_rings = n_points / n_sides;
    let mut primitive = PrimitiveSource::default();
    for i in 0..n_rings {
        let share = i as f32 / (n_rings - 1) as f32;
        for k in 0..n_sides {
            let (sin, cos) = (std::f32::consts::TAU * k as f32 / n_sides as f32).sin_cos();
            let radius = 0.4 + 0.03 * (20.0 * share).sin();
            let at = Vec3::new(LENGTH * (share - 0.5), radius * cos, radius * sin);
            primitive.positions.push(at);
            let bone = share * (N_JOINTS - 3) as f32;
            let (first, t) = ((bone as u16).min(N_JOINTS as u16 - 4), bone.fract());
            let weights = [0.4 * (1.0 - t), 0.4, 0.2, 0.4 * t];
            primitive.influences.push_pairs((first..).zip(weights));
        }
    }
    for i in 0..n_rings - 1 {
        for k in 0..n_sides {
            let at = |i: usize, k: usize| (i * n_sides + k % n_sides) as u32;
            let [a, b, c, d] = [at(i, k), at(i, k + 1), at(i + 1, k), at(i + 1, k + 1)];
            primitive.triangles.extend([[a, b, c], [b, d, c]]);
        }
    }
    let step = f64::from(LENGTH) / f64::from(N_JOINTS);
    let joints = (0..N_JOINTS).map(|j| Joint {
        name: format!("joint {j}"),
        parent: j.checked_sub(1).map(JointId),
        rest: Transform {
            translation: DVec3::X
                * if j == 0 {
                    -0.5 * f64::from(LENGTH)
                } else {
                    step
                },
            ..Transform::IDENTITY
        },
        source_node: None,
        content_of: None,
        removed: false,
        rule: JointRule::default(),
    });
    let head = |j: u32| DVec3::X * (f64::from(j) * step - 0.5 * f64::from(LENGTH));
    SampleModel {
        name: "tube".into(),
        joints: joints.collect(),
        skin: Skin {
            name: String::new(),
            joints: (0..N_JOINTS).map(JointId).collect(),
            inverse_bind: (0..N_JOINTS)
                .map(|j| DAffine3::from_translation(-head(j)))
                .collect(),
        },
        mesh: MeshSource {
            name: "tube".into(),
            primitives: vec![primitive],
            morph_names: Vec::new(),
        },
        clips: Vec::new(),
    }
}

/// The tube under dual quaternion skinning.
fn tube(n_points: usize) -> Document {
    let SampleModel {
        joints, skin, mesh, ..
    } = model(n_points);
    let built = mesh.build();
    let item = MeshItem {
        geometry: Arc::new(built.mesh),
        source_influences: built.influences.clone(),
        invalid: Arc::default(),
        influences: built.influences,
        stack: Arc::new(DeformStack::dqs()),
        layers: sinew::document::LayerStack::default(),
        masks: sinew::deform::Masks::default(),
        correctives: Arc::default(),
        clusters: Arc::default(),
        morph_weights: Vec::new(),
    };
    let instance = Instance {
        joint: JointId(0),
        mesh: MESH,
        skin: Some(SkinId(0)),
    };
    Document::new(Parts {
        skeleton: Arc::new(Skeleton::new(joints).unwrap()),
        meshes: [(MESH, Arc::new(item))].into(),
        skins: [(SkinId(0), Arc::new(skin))].into(),
        instances: [(INSTANCE, Arc::new(instance))].into(),
        ..Parts::default()
    })
    .unwrap()
}

/// About `percent` of the points in one group, spread over the mesh.
fn map(document: &Document, percent: f64, base: Base, hand: ControlMotion) -> ClusterMap {
    let n = document.meshes()[&MESH].geometry.n_points() as u64;
    // The golden ratio spreads them without rows.
    let chosen = |p: u64| (p.wrapping_mul(0x9E37_79B9) % (1 << 32)) as f64;
    let limit = percent / 100.0 * f64::from(u32::MAX);
    let points = (0..n).filter(|&p| chosen(p) < limit).map(|p| (p as u32, 0));
    let group = ClusterGroup {
        base,
        hand,
        ..ClusterGroup::new("Clusters", 0)
    };
    let settings = PatchSettings::default();
    ClusterMap::new(vec![Arc::new(group)], points.collect(), settings).unwrap()
}

fn with(document: &Document, map: ClusterMap) -> Document {
    let mut document = document.clone();
    let edit = ClustersEdit::new(&document, MESH, Arc::new(map));
    document.apply(&mut Edit::Clusters(edit)).unwrap();
    document
}

fn bent(document: &Document, degrees: f64) -> Pose {
    let mut pose = Pose::clone(document.rest_pose());
    for local in &mut pose.locals[1..] {
        local.rotation = DQuat::from_rotation_z(degrees.to_radians() / f64::from(N_JOINTS));
    }
    pose
}

/// The layout of the patches: limit 10 microseconds a vertex.
fn layouts(document: &Document) {
    let geometry = &document.meshes()[&MESH].geometry;
    let n = geometry.n_points();
    geometry.topology();
    for percent in [1.6, 5.0, 11.0] {
        let map = map(document, percent, Base::Stack, ControlMotion::default());
        let mut times: Vec<Duration> = (0..3)
            .map(|_| {
                let start = Instant::now();
                let layout = MeshLayout::compute(geometry, &map, &Task::new()).unwrap();
                std::hint::black_box(&layout);
                start.elapsed()
            })
            .collect();
        times.sort();
        let micros = times[1].as_secs_f64() * 1e6;
        println!(
            "layout, {percent:4.1} % clusters: {:.0} ms, {:.2} us a vertex",
            micros / 1e3,
            micros / n as f64
        );
    }
}

/// Whole poses in alternation with dual quaternion skinning, and the free vertices alone.
fn poses(document: &Document, threads: usize) {
    let n = document.meshes()[&MESH].geometry.n_points();
    let shares = [0.0, 1.6, 5.0, 11.0, 20.0];
    let documents = shares.map(|percent| {
        if percent == 0.0 {
            return document.clone();
        }
        let map = map(document, percent, Base::Stack, ControlMotion::default());
        with(document, map)
    });
    for normals in [true, false] {
        let mut posed = documents
            .each_ref()
            .map(|document| Posed::new(document, normals));
        let mut times = shares.map(|_| Vec::new());
        for round in 0..=ROUNDS {
            for (posed, times) in posed.iter_mut().zip(&mut times) {
                let took = posed.turn(round);
                if round > 0 {
                    times.push(took.as_secs_f64() * 1e9 / n as f64);
                }
            }
        }
        let medians = times.each_mut().map(|times| median(times));
        let what = if normals {
            "positions and normals"
        } else {
            "positions"
        };
        println!(
            "{threads} threads, {what}: DQS {:.2} ns a vertex",
            medians[0]
        );
        for (percent, own) in shares.iter().zip(medians).skip(1) {
            println!(
                "    {percent:4.1} % clusters {own:6.2} ns a vertex, {:.2} of DQS",
                own / medians[0]
            );
        }
    }
    free_vertices(&documents[2], document, threads);
}

/// The kernel of the patches at one free vertex, against dual quaternion skinning of one vertex; what the corners cost is in
/// the whole poses. Both get their normals in the same way.
fn free_vertices(document: &Document, plain: &Document, threads: usize) {
    let item = &document.meshes()[&MESH];
    let layout = MeshLayout::compute(&item.geometry, &item.clusters, &Task::new()).unwrap();
    let patches = Patches::new(layout.surface(), layout.layout(), PatchOptions::default());
    let n_free = patches.free_points().iter().count();
    let mut frames = patches.net().bind_frames();
    let n = item.geometry.n_points();
    let mut out = vec![Vec3::ZERO; n];
    let mut dqs = [Posed::new(plain, false), Posed::new(plain, true)];
    let mut times = [const { Vec::new() }; 3];
    for round in 0..=ROUNDS {
        let turn = DQuat::from_rotation_y(0.01 * round as f64);
        for frame in &mut frames {
            frame.rotation = turn;
        }
        let rows = patches.rows(&frames);
        let start = Instant::now();
        patches.evaluate_rows(&rows, &mut out);
        times[0].push(start.elapsed().as_secs_f64() * 1e9 / n_free as f64);
        for (posed, times) in dqs.iter_mut().zip(&mut times[1..]) {
            times.push(posed.turn(round).as_secs_f64() * 1e9 / n as f64);
        }
    }
    let [own, dqs, with_normal] = times.each_mut().map(|times| median(times));
    println!(
        "{threads} threads, one free vertex at 5 % clusters: {own:.2} ns, {:.2} of DQS ({dqs:.2} ns); with its normal {:.2}",
        own / dqs,
        (own + with_normal - dqs) / with_normal
    );
}

/// A document that is evaluated in one pose after the other.
struct Posed<'a> {
    document: &'a Document,
    evaluator: Evaluator,
}

impl<'a> Posed<'a> {
    fn new(document: &'a Document, normals: bool) -> Self {
        let mut evaluator = if normals {
            Evaluator::for_shapes()
        } else {
            Evaluator::for_positions()
        };
        evaluator.evaluate(document, document.rest_pose());
        Self {
            document,
            evaluator,
        }
    }

    fn turn(&mut self, round: usize) -> Duration {
        let pose = bent(self.document, 40.0 + round as f64);
        let start = Instant::now();
        let moved = self.evaluator.evaluate(self.document, &pose);
        let took = start.elapsed();
        assert!(moved.iter().all(|(_, moved)| *moved == Moved::All));
        std::hint::black_box(self.evaluator.plan(INSTANCE).map(InstancePlan::positions));
        took
    }
}

/// One cluster moved by hand: what is evaluated again.
fn moves(document: &Document) {
    let hand = |by: f32, point: u32| {
        let still = vec![(point, Vec3::Y * by)];
        ControlMotion::default().with_still(still).unwrap()
    };
    let middle = {
        let marked = map(document, 5.0, Base::Hand, ControlMotion::default());
        let clusters = marked.clusters();
        clusters[clusters.len() / 2].0
    };
    let pose = bent(document, 60.0);
    let mut posed = with(
        document,
        map(document, 5.0, Base::Hand, hand(0.0005, middle)),
    );
    let mut evaluator = Evaluator::for_shapes();
    evaluator.evaluate(&posed, &pose);
    let (mut times, mut n_points) = (Vec::new(), 0);
    for i in 1..=ROUNDS {
        let moved = map(&posed, 5.0, Base::Hand, hand(0.001 * i as f32, middle));
        let edit = ClustersEdit::new(&posed, MESH, Arc::new(moved));
        posed.apply(&mut Edit::Clusters(edit)).unwrap();
        let start = Instant::now();
        let moved = evaluator.evaluate(&posed, &pose);
        times.push(start.elapsed().as_secs_f64() * 1e6);
        let Moved::Some { points, .. } = &moved[0].1 else {
            panic!("one cluster moves all: {:?}", moved.len());
        };
        n_points = points.len();
    }
    println!(
        "one of 5 % clusters moved: {n_points} vertices move, {:.0} us",
        median(&mut times)
    );
}

/// A mark on 100 thousand vertices: the marks on screen follow the document in the frame of the command.
fn marking() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tube.glb");
    std::fs::write(&path, gltf_build::to_glb(&model(100_000))).unwrap();
    let mut editor = Editor::new(None, || {}).unwrap();
    editor.open(OpenRequest::Path(path));
    settle(&mut editor);
    let mesh = editor.clustered_mesh().unwrap();
    editor.set_select_kind(SelectKind::Points);
    let (mut times, mut shown) = (Vec::new(), Vec::new());
    for i in 0..ROUNDS as u32 {
        let points: PointSet = (i * 50..i * 50 + 20).collect();
        editor.select_points_of([(mesh, points)]);
        let before = editor.clusters().map_or(0, |map| map.n_clusters());
        let start = Instant::now();
        editor.mark_selected();
        let after = editor.clusters().map_or(0, |map| map.n_clusters());
        times.push(start.elapsed().as_secs_f64() * 1e3);
        assert!(after > before, "the marks are there in this frame");
        let serial = editor.picture_serial();
        while editor.picture_serial() == serial {
            editor.poll(0.0);
            std::thread::yield_now();
        }
        settle(&mut editor);
        shown.push(start.elapsed().as_secs_f64() * 1e3);
    }
    println!(
        "\n20 vertices of 100000 marked: {:.2} ms up to the marks, {:.0} ms up to the surface with its new patches",
        median(&mut times),
        median(&mut shown)
    );
}

fn settle(editor: &mut Editor) {
    loop {
        editor.poll(0.0);
        if editor.is_idle() {
            return;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn median(times: &mut [f64]) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}
