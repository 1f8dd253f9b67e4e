//! What an edit costs on the way from the brush to the picture, and a project on its way to the disk.
//!
//! `cargo bench --no-default-features --bench edits` prints medians; compare rows of one run only.

use glam::{DAffine3, DQuat, DVec3, Vec3};
use sinew::document::{
    Document, Edit, History, Instance, InstanceId, LayerId, MeshId, MeshItem, MeshSource, Parts,
    PrimitiveSource, Skin, SkinId,
};
use sinew::evaluate::{InstanceUpdate, Request, ViewRequest, Worker};
use sinew::io::{gltf_build, import_bytes, project};
use sinew::math::Transform;
use sinew::sample::SampleModel;
use sinew::skeleton::{Joint, JointId, JointRule, Skeleton};
use sinew::skinning::Rows;
use sinew::task::Task;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

const N_JOINTS: u16 = 60;

fn main() {
    brush(1000, 8);
    layers(1000, 4);
    shared_mesh(84, 150);
    projects(1000);
}

/// The median of `n` runs.
fn median(n: usize, mut run: impl FnMut(usize) -> Duration) -> Duration {
    let mut times: Vec<_> = (0..n).map(&mut run).collect();
    times.sort();
    times[n / 2]
}

fn timed<T>(work: impl FnOnce() -> T) -> (Duration, T) {
    let start = Instant::now();
    let result = work();
    (start.elapsed(), result)
}

fn row(name: &str, time: Duration, note: &str) {
    println!("{name:58} {:10.4} ms  {note}", time.as_secs_f64() * 1e3);
}

/// A square of `side` x `side` points with `n_influences` each.
fn square_model(side: usize, n_influences: u16) -> SampleModel {
    let mut primitive = PrimitiveSource::default();
    for i in 0..side * side {
        let (x, y) = (i % side, i / side);
        primitive
            .positions
            .push(Vec3::new(x as f32, y as f32, 0.0) / side as f32);
        primitive.normals.push(Vec3::Z);
        let first = (x * usize::from(N_JOINTS) / side) as u16;
        let weight = |k: u16| f32::from(k + 1) / f32::from(n_influences * (n_influences + 1) / 2);
        primitive
            .influences
            .push_pairs((0..n_influences).map(|k| ((first + k * 7) % N_JOINTS, weight(k))));
    }
    let at = |x: usize, y: usize| (y * side + x) as u32;
    for y in 0..side - 1 {
        for x in 0..side - 1 {
            primitive
                .triangles
                .push([at(x, y), at(x + 1, y), at(x, y + 1)]);
            primitive
                .triangles
                .push([at(x + 1, y), at(x + 1, y + 1), at(x, y + 1)]);
        }
    }
    let joints = (0..u32::from(N_JOINTS)).map(|j| Joint {
        name: format!("joint {j}"),
        parent: j.checked_sub(1).map(JointId),
        rest: Transform {
            translation: DVec3::new(1.0 / 60.0, 0.0, 0.0),
            ..Transform::IDENTITY
        },
        source_node: None,
        content_of: None,
        removed: false,
        rule: JointRule::default(),
    });
    let skin = Skin {
        name: String::new(),
        joints: (0..u32::from(N_JOINTS)).map(JointId).collect(),
        inverse_bind: (0..N_JOINTS)
            .map(|j| DAffine3::from_translation(DVec3::new(-f64::from(j + 1) / 60.0, 0.0, 0.0)))
            .collect(),
    };
    SampleModel {
        name: "square".into(),
        joints: joints.collect(),
        skin,
        mesh: MeshSource {
            name: "square".into(),
            primitives: vec![primitive],
            morph_names: Vec::new(),
        },
        clips: Vec::new(),
    }
}

/// The square, drawn by `n_skins` instances with a skin each.
fn square(side: usize, n_influences: u16, n_skins: u32) -> Document {
    let SampleModel {
        joints, skin, mesh, ..
    } = square_model(side, n_influences);
    let built = mesh.build();
    let mesh = MeshItem {
        geometry: Arc::new(built.mesh),
        source_influences: built.influences.clone(),
        invalid: Arc::default(),
        influences: built.influences,
        stack: Arc::default(),
        layers: sinew::document::LayerStack::default(),
        masks: sinew::deform::Masks::default(),
        correctives: Arc::default(),
        clusters: Arc::default(),
        morph_weights: Vec::new(),
    };
    let ids = 0..n_skins;
    Document::new(Parts {
        skeleton: Arc::new(Skeleton::new(joints).unwrap()),
        meshes: [(MeshId(0), Arc::new(mesh))].into(),
        skins: ids
            .clone()
            .map(|i| (SkinId(i), Arc::new(skin.clone())))
            .collect(),
        instances: ids
            .map(|i| {
                let instance = Instance {
                    joint: JointId(0),
                    mesh: MeshId(0),
                    skin: Some(SkinId(i)),
                };
                (InstanceId(i), Arc::new(instance))
            })
            .collect::<BTreeMap<_, _>>(),
        ..Parts::default()
    })
    .unwrap()
}

/// The points within `radius` of the middle, as a brush finds them.
fn disc(document: &Document, radius: f32) -> Vec<u32> {
    let mesh = &document.meshes()[&MeshId(0)].geometry;
    let centre = Vec3::new(0.5, 0.5, 0.0);
    (0..mesh.n_points() as u32)
        .filter(|&p| mesh.positions[p as usize].distance(centre) < radius)
        .collect()
}

fn dab(points: &[u32], round: usize) -> Edit {
    let weight = 0.3 + 0.001 * round as f32;
    let rows: Rows = points
        .iter()
        .map(|_| vec![(30, weight), (31, 1.0 - weight)])
        .collect();
    Edit::influences(MeshId(0), points.to_vec(), rows)
}

fn ask(worker: &Worker, document: &Document, generation: u64) -> (Duration, usize) {
    let (time, result) = timed(|| {
        worker.post(Request {
            exported: None,
            bodies: sinew::evaluate::BodyMap::new(),
            generation,
            document: document.clone(),
            pose: document.pose().clone(),
            moment: sinew::skeleton::Moment::default(),
            views: vec![ViewRequest::own()],
            centres: sinew::evaluate::CentreMap::new(),
            layouts: sinew::evaluate::LayoutMap::new(),
            heat_map: None,
            net: None,
            edges: Vec::new(),
            reset: generation == 1,
        });
        worker.wait_result(Duration::from_mins(2)).unwrap()
    });
    let moved = result.updates.iter().map(|u| match &u.update {
        InstanceUpdate::Full { positions, .. } => positions.len(),
        InstanceUpdate::Sparse { points, .. } => points.len(),
    });
    (time, moved.sum())
}

fn brush(side: usize, n_influences: u16) {
    let n = side * side;
    println!("\n{n} points x {n_influences} influences, {N_JOINTS} joints");
    let (time, mut document) = timed(|| square(side, n_influences, 1));
    row("weld, order, document", time, "");
    let mut bent = (**document.pose()).clone();
    bent.locals[30].rotation = DQuat::from_rotation_z(0.7);
    let bend = Edit::pose_change(document.pose(), &bent).unwrap();
    document.apply(&mut bend.clone()).unwrap();
    row(
        "clone the document (a snapshot)",
        median(21, |_| timed(|| document.clone()).0),
        "",
    );
    let worker = Worker::spawn(|| {}).unwrap();
    row(
        "first evaluation: cook and deform everything",
        ask(&worker, &document, 1).0,
        "",
    );
    let mut generation = 1;
    let mut next = || {
        generation += 1;
        generation
    };
    let full = median(7, |i| {
        let mut pose = bent.clone();
        pose.locals[30].rotation = DQuat::from_rotation_z(0.1 * i as f64);
        let edit = Edit::pose_change(document.pose(), &pose).unwrap();
        document.apply(&mut edit.clone()).unwrap();
        ask(&worker, &document, next()).0
    });
    row("another pose: deform everything", full, "");

    for radius in [0.01, 0.04] {
        let points = disc(&document, radius);
        let mut history = History::default();
        history.begin(&document, "Paint weights");
        let mut moved = 0;
        let mut evaluated = Vec::new();
        let held = median(41, |round| {
            // The worker's snapshot keeps every chunk shared: the edit must copy those it touches.
            let snapshot = document.clone();
            let edit = dab(&points, round);
            let (time, result) = timed(|| history.apply(&mut document, edit, "Paint"));
            result.unwrap();
            drop(snapshot);
            let (time_asked, n) = ask(&worker, &document, next());
            evaluated.push(time_asked);
            moved = n;
            time
        });
        history.commit(&document);
        evaluated.sort();
        let n = points.len();
        row(&format!("dab of {n} points: edit, snapshot held"), held, "");
        row(
            &format!("dab of {n} points: post -> cook, skin, normals -> result"),
            evaluated[evaluated.len() / 2],
            &format!("{moved} points moved"),
        );
        println!(
            "{:58} {:10.1} bytes a touched point",
            "    undo of the stroke",
            history.bytes() as f64 / n as f64
        );
    }
}

/// The cost of layers: dense ones, which say something everywhere, and one that says something under the brush.
fn layers(side: usize, n_influences: u16) {
    let n = side * side;
    println!("\nlayers on {n} points x {n_influences} influences, {N_JOINTS} joints");
    let mut document = square(side, n_influences, 1);
    let mesh = MeshId(0);
    let points = disc(&document, 0.04);
    let stroke = |document: &mut Document, layer: Option<LayerId>| {
        let mut history = History::default();
        history.begin(document, "Paint weights");
        let time = median(41, |round| {
            let snapshot = document.clone();
            let edit = match (dab(&points, round), layer) {
                (Edit::Influences(edit), Some(layer)) => Edit::Influences(edit.in_layer(layer)),
                (edit, _) => edit,
            };
            let (time, result) = timed(|| history.apply(document, edit, "Paint"));
            result.unwrap();
            drop(snapshot);
            time
        });
        history.commit(document);
        let undo = timed(|| history.undo(document)).0;
        (time, undo)
    };
    let label = |what: &str| format!("dab of {} points: {what}", points.len());
    let (plain, undo) = stroke(&mut document, None);
    row(&label("without layers"), plain, "");
    row("    undo of the stroke", undo, "");
    let (edit, top) = document.add_layer(mesh, None, "Sparse").unwrap();
    let add = timed(|| document.apply(&mut edit.clone()).unwrap()).0;
    row("add a layer", add, "");
    let (time, undo) = stroke(&mut document, Some(top));
    row(&label("on a layer over the base"), time, "");
    row("    undo of the stroke", undo, "");
    let (time, _) = stroke(&mut document, None);
    row(&label("on the base below it"), time, "");

    for n_dense in 1..=3 {
        let item = &document.meshes()[&mesh];
        let mut dense = sinew::document::Layer::new(item.layers.free_id(), "Dense", n);
        let mut rows: Rows = (0..n as u32)
            .map(|p| vec![((p % 50) as u16, 0.25), ((p % 50 + 3) as u16, 0.75)])
            .collect();
        let all: Vec<u32> = (0..n as u32).collect();
        dense.rows.swap_rows(&all, &mut rows);
        let dense = Arc::new(dense);
        let edit = document.change_layers(mesh, |layers, _| layers.insert(1, dense));
        document.apply(&mut edit.unwrap()).unwrap();
        let mut faded = 0.3;
        let fade = median(9, |_| {
            faded += 0.05;
            let id = document.meshes()[&mesh].layers.layers()[1].id;
            let edit = document.change_layer(mesh, id, |layer| layer.opacity = faded);
            let mut edit = edit.unwrap();
            let snapshot = document.clone();
            let time = timed(|| document.apply(&mut edit).unwrap()).0;
            drop(snapshot);
            time
        });
        let bytes = document.meshes()[&mesh]
            .layers
            .heap_bytes(&document.meshes()[&mesh].influences);
        row(
            &format!("another opacity of the lowest of {n_dense} dense layers"),
            fade,
            &format!("{} MB beside the result", bytes >> 20),
        );
        let (time, _) = stroke(&mut document, Some(top));
        row(
            &label(&format!("on a layer over {n_dense} dense ones")),
            time,
            "",
        );
        let (time, _) = stroke(&mut document, None);
        row(
            &label(&format!("on the base below {n_dense} dense ones")),
            time,
            "",
        );
    }
}

fn shared_mesh(n_skins: u32, side: usize) {
    println!("\n{n_skins} skins on one mesh of {} points", side * side);
    let mut document = square(side, 4, n_skins);
    let worker = Worker::spawn(|| {}).unwrap();
    row(
        "first evaluation of all instances",
        ask(&worker, &document, 1).0,
        "",
    );
    let points = disc(&document, 0.05);
    let mut moved = 0;
    let time = median(21, |round| {
        document.apply(&mut dab(&points, round)).unwrap();
        let mut pose = (**document.pose()).clone();
        pose.locals[30].rotation = DQuat::from_rotation_z(0.7);
        if let Some(edit) = Edit::pose_change(document.pose(), &pose) {
            document.apply(&mut edit.clone()).unwrap();
        }
        let (time, n) = ask(&worker, &document, round as u64 + 2);
        moved = n;
        time
    });
    row(
        &format!("dab of {} points, shown in all instances", points.len()),
        time,
        &format!("{moved} points moved"),
    );
}

fn projects(side: usize) {
    let n_points = side * side;
    let glb = gltf_build::to_glb(&square_model(side, 4));
    println!(
        "\nproject of a fully painted model of {n_points} points x 4 influences, model of {} MB",
        glb.len() >> 20
    );
    let bytes = bytes::Bytes::from(glb);
    let (time, imported) = timed(|| import_bytes(bytes.clone(), None, None, &Task::new()).unwrap());
    row("import the model", time, "");
    let mut parts = imported.parts;
    if let Some(source) = &mut parts.source {
        Arc::make_mut(source).path = Some("/tmp/model.glb".into());
    }
    let fresh = Document::new(parts).unwrap();
    let mut painted = fresh.clone();
    let mesh = &fresh.meshes()[&MeshId(0)].geometry;
    let rows: Rows = mesh
        .positions
        .iter()
        .map(|p| {
            // Four joints around the point, weighted smoothly, with a little of the unevenness of a hand.
            let x = p.x * f32::from(N_JOINTS - 4);
            let first = (x as u16).min(N_JOINTS - 4);
            let uneven = (p.x * 941.0 + p.y * 613.0).sin() * 0.002;
            let raw = [0, 1, 2, 3]
                .map(|k: u16| (-(x - f32::from(first + k)).powi(2)).exp() + 0.01 + uneven.abs());
            let sum: f32 = raw.iter().sum();
            let w = raw.map(|w| w / sum);
            vec![
                (first, w[0]),
                (first + 1, w[1]),
                (first + 2, w[2]),
                (first + 3, 1.0 - w[0] - w[1] - w[2]),
            ]
        })
        .collect();
    let points = (0..mesh.n_points() as u32).collect();
    painted
        .apply(&mut Edit::influences(MeshId(0), points, rows))
        .unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("painted.ron");
    let save = median(5, |_| {
        timed(|| project::save(&painted, &path, &Task::new()).unwrap()).0
    });
    let size = std::fs::metadata(&path).unwrap().len();
    row("save", save, &format!("{:.1} MB", size as f64 / 1e6));
    let open = median(5, |_| {
        let fresh = fresh.clone();
        timed(|| {
            let text = std::fs::read_to_string(&path).unwrap();
            project::apply_project(fresh, project::parse(&text).unwrap()).unwrap()
        })
        .0
    });
    row("open, without the model's import", open, "");
}
