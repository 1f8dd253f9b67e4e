//! The stages around the kernels: normals, smoothing, centres of rotation, and strokes through a whole plan.

use super::tube::{self, Rig};
use super::{BenchRow, thread_counts};
use crate::deform::correctives::{CapturedOver, Correctives, Driver, Sample, SampleSet};
use crate::deform::{
    CookedMesh, CorrectiveSmooth, DeformStack, InstancePlan, Masks, Smoother, transport_normals,
};
use crate::document::{
    CookedInstance, CorrectivesEdit, Document, Edit, Instance, InstanceId, LayerStack, MeshId,
    MeshItem, Parts, PosedDocument, Skin, SkinId,
};
use crate::mesh::{Mesh, Topology};
use crate::psd::Displacements;
use crate::skeleton::{JointId, Moment, Pose};
use crate::skinning::{Centres, Influences, Rows};
use crate::task::Task;
use glam::{DAffine3, DQuat, Quat, Vec3};
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// One measurement: the number of points it counts for, and a run of it.
struct Item<'a> {
    name: &'static str,
    n_counted: usize,
    /// Maximum number of rounds.
    rounds: usize,
    /// Whether a round that is not counted runs first.
    warms_up: bool,
    run: Box<dyn FnMut() -> Duration + Send + 'a>,
}

/// The figures, each from about `n_done` points. The memory of a stage is freed before the next.
pub(super) fn measure(n_points: usize, n_done: usize) -> io::Result<Vec<BenchRow>> {
    let mut rows = Vec::new();
    let rounds = (n_done / n_points / 4).clamp(1, 60);
    let mut mesh = tube::mesh(n_points);
    let bent = bent(&mesh.positions);
    let mut out = vec![Vec3::ZERO; n_points];
    mesh.topology();
    mesh.normal_fans();
    // Needed for files and drawing only.
    mesh.triangles = Vec::new();
    mesh.point_of_vertex = Vec::new();
    mesh.normal_of_vertex = Vec::new();
    {
        let (mesh, bent, out) = (&mesh, &bent, &mut out);
        let transport = Item {
            name: "normal transport",
            n_counted: n_points,
            rounds,
            warms_up: true,
            run: Box::new(move || timed(|| transport_normals(mesh, bent, out))),
        };
        rows.extend(take_turns(n_points, &mut [transport])?);
    }
    let mesh = Arc::new(mesh);
    let influences = tube::influences(n_points);
    {
        let (mesh, influences) = (&mesh, &influences);
        let centres = Item {
            name: "centres precomputation",
            n_counted: n_points,
            rounds: rounds.min(3),
            warms_up: false,
            run: Box::new(move || {
                timed(|| {
                    let found = Centres::compute(mesh, influences, &Task::new());
                    std::hint::black_box(&found);
                })
            }),
        };
        rows.extend(take_turns(n_points, &mut [centres])?);
    }
    drop(out);
    rows.extend(strokes(&mesh, influences.clone(), rounds)?);
    rows.extend(default_pose(&mesh, influences, rounds)?);

    let Ok(mesh) = Arc::try_unwrap(mesh) else {
        return Ok(rows);
    };
    rows.extend(smoothing(mesh, &bent, rounds)?);
    Ok(rows)
}

/// Stage 6 with its default settings.
fn smoothing(mut mesh: Mesh, bent: &[Vec3], rounds: usize) -> io::Result<Vec<BenchRow>> {
    let n_points = mesh.n_points();
    mesh.rings();
    mesh.topology = std::sync::OnceLock::from(Topology::default());
    mesh.normals = Vec::new();
    mesh.point_of_normal = Vec::new();
    let settings = CorrectiveSmooth {
        enabled: true,
        ..CorrectiveSmooth::default()
    };
    let masks = Masks::default();
    let mut smoother = Smoother::default();
    smoother.set_mesh(&mesh, &settings);
    smoother.set_rest(&mesh, &settings, &mesh.positions);
    let mut out = vec![Vec3::ZERO; n_points];
    let smooth = Item {
        name: "corrective smooth",
        n_counted: n_points,
        rounds,
        warms_up: true,
        run: Box::new(|| timed(|| smoother.run(&mesh, &settings, &masks, bent, &mut out))),
    };
    take_turns(n_points, &mut [smooth])
}

/// Strokes: some points get other weights, their caches are recomputed, they are skinned and their normals transported.
/// For comparison the whole mesh in another pose.
fn strokes(mesh: &Arc<Mesh>, influences: Influences, rounds: usize) -> io::Result<Vec<BenchRow>> {
    let n_points = mesh.n_points();
    let stack = DeformStack::dqs();
    let bench = std::sync::Mutex::new(Stroked::new(mesh.clone(), influences, stack)?);
    let sets: [(&'static str, usize, bool); 4] = [
        ("stroke on 1% contiguous", 100, true),
        ("stroke on 1% scattered", 100, false),
        ("stroke on 0.01% contiguous", 10_000, true),
        ("stroke on 0.01% scattered", 10_000, false),
    ];
    let mut items: Vec<Item<'_>> = Vec::new();
    for (name, share, contiguous) in sets {
        let n = n_points.div_ceil(share);
        let points: Vec<u32> = (0..n)
            .map(|i| {
                let first = (n_points - n) / 2;
                (if contiguous { first + i } else { i * share }) as u32
            })
            .collect();
        let painted: Rows = points
            .iter()
            .map(|&p| tube::painted_row(p as usize, n_points))
            .collect();
        let mut paint = Edit::influences(MeshId(0), points, painted);
        let bench = &bench;
        items.push(Item {
            name,
            n_counted: n,
            rounds,
            warms_up: true,
            run: Box::new(move || {
                let Ok(mut bench) = bench.lock() else {
                    return Duration::ZERO;
                };
                // Every second edit undoes the first.
                if bench.document.apply(&mut paint).is_err() {
                    return Duration::ZERO;
                }
                timed(|| bench.stroke())
            }),
        });
    }
    let bench = &bench;
    items.push(Item {
        name: "pose, all points and normals",
        n_counted: n_points,
        rounds,
        warms_up: true,
        run: Box::new(move || {
            let Ok(mut bench) = bench.lock() else {
                return Duration::ZERO;
            };
            bench.turn();
            timed(|| bench.stroke())
        }),
    });
    take_turns(n_points, &mut items)
}

/// Another pose of the whole mesh under the default stack, what an artist waits for in a frame; and the same with 16
/// corrective samples on a tenth of the points.
fn default_pose(
    mesh: &Arc<Mesh>,
    influences: Influences,
    rounds: usize,
) -> io::Result<Vec<BenchRow>> {
    let mut bench = Stroked::new(mesh.clone(), influences.clone(), DeformStack::default())?;
    let mut sampled = Stroked::new(mesh.clone(), influences, DeformStack::default())?;
    sampled.add_samples().map_err(io::Error::other)?;
    let pose = Item {
        name: "pose, default stack",
        n_counted: mesh.n_points(),
        rounds,
        warms_up: true,
        run: Box::new(move || {
            bench.turn();
            timed(|| bench.stroke())
        }),
    };
    let samples = Item {
        name: "pose, default stack, 16 samples",
        n_counted: mesh.n_points(),
        rounds,
        warms_up: true,
        run: Box::new(move || {
            sampled.turn();
            timed(|| sampled.stroke())
        }),
    };
    take_turns(mesh.n_points(), &mut [pose, samples])
}

/// A document of the tube, and its plan.
struct Stroked {
    document: Document,
    pose: Arc<Pose>,
    rest_world: Arc<Vec<DAffine3>>,
    world: Vec<DAffine3>,
    cooked: CookedMesh,
    order: Vec<u32>,
    plan: InstancePlan,
}

impl Stroked {
    fn new(mesh: Arc<Mesh>, influences: Influences, stack: DeformStack) -> io::Result<Self> {
        let rig = Rig::new();
        let order = rig.bind.ranks().to_vec();
        let item = MeshItem {
            geometry: mesh,
            influences,
            // Tails of leaves are no part of what is measured.
            source_influences: Influences::default(),
            invalid: Arc::default(),
            layers: LayerStack::default(),
            stack: Arc::new(stack),
            masks: Masks::default(),
            correctives: Arc::default(),
            clusters: Arc::default(),
            morph_weights: Vec::new(),
        };
        let skin = Skin {
            name: String::new(),
            joints: rig.joints,
            inverse_bind: rig.inverse_bind,
        };
        let instance = Instance {
            joint: JointId(0),
            mesh: MeshId(0),
            skin: Some(SkinId(0)),
        };
        let parts = Parts {
            skeleton: Arc::new(rig.skeleton),
            meshes: [(MeshId(0), Arc::new(item))].into(),
            skins: [(SkinId(0), Arc::new(skin))].into(),
            instances: [(InstanceId(0), Arc::new(instance))].into(),
            ..Parts::default()
        };
        let document = Document::new(parts).map_err(io::Error::other)?;
        let mut stroked = Self {
            pose: document.pose().clone(),
            document,
            rest_world: Arc::new(rig.rest),
            world: rig.world,
            cooked: CookedMesh::default(),
            order,
            plan: InstancePlan::default(),
        };
        stroked.stroke();
        Ok(stroked)
    }

    fn stroke(&mut self) {
        let item = self.document.meshes().get(&MeshId(0));
        let instance = self.document.instances().get(&InstanceId(0));
        let (Some(item), Some(instance)) = (item, instance) else {
            return;
        };
        self.cooked.update(&item.influences, &self.order);
        let posed = PosedDocument {
            document: &self.document,
            pose: &self.pose,
            moment: Moment::default(),
            rest_world: &self.rest_world,
            world: &self.world,
        };
        let cooked = CookedInstance {
            stack: None,
            correctives: true,
            layout: None,
            influences: &self.cooked,
            centres: None,
            skin_meshes: &[],
        };
        if let Some(input) = posed.deform_input(instance, cooked) {
            std::hint::black_box(self.plan.run(&input));
        }
    }

    /// Gives a tenth of the points 16 samples of one driver joint, and poses it between them.
    fn add_samples(&mut self) -> Result<(), String> {
        const N_SAMPLES: u32 = 16;
        let (skeleton, rest) = (self.document.skeleton(), &self.document.rest_pose().locals);
        let driver = Driver::of_joint(JointId(1), skeleton, rest);
        let n_points = self.document.meshes()[&MeshId(0)].geometry.n_points() as u32;
        let points = n_points * 2 / 5..n_points / 2;
        let mut set = SampleSet::new("bench".into(), vec![driver]);
        for s in 0..N_SAMPLES {
            let angle = 0.3 * f64::from(s + 1);
            let moved = points
                .clone()
                .map(|p| (p, Vec3::new(0.0, 0.01, 0.001 * s as f32)));
            set.samples.push(Arc::new(Sample {
                name: s.to_string(),
                rotations: vec![driver.bind * DQuat::from_rotation_x(angle)],
                beside: Vec::new(),
                displacements: Displacements::new(moved.collect()),
                captured_on: Arc::default(),
                captured_over: CapturedOver::default(),
                strength: 1.0,
                muted: false,
            }));
        }
        let correctives = Correctives::new(vec![Arc::new(set)]).map_err(|e| e.to_string())?;
        let edit = CorrectivesEdit::new(&self.document, MeshId(0), Arc::new(correctives));
        let applied = self.document.apply(&mut Edit::Correctives(edit));
        applied.map_err(|e| e.to_string())?;
        let local = &mut Arc::make_mut(&mut self.pose).locals[1];
        local.rotation *= DQuat::from_rotation_x(2.5);
        Ok(())
    }

    /// Another pose: rotates the whole chain a little.
    fn turn(&mut self) {
        let step = DAffine3::from_rotation_y(0.01);
        for world in &mut self.world {
            *world = step * *world;
        }
    }
}

/// Runs the items in alternation, many times, for each number of threads; returns the medians.
fn take_turns(n_points: usize, items: &mut [Item<'_>]) -> io::Result<Vec<BenchRow>> {
    let mut rows = Vec::new();
    for threads in thread_counts() {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .map_err(io::Error::other)?;
        let mut samples = vec![Vec::new(); items.len()];
        let rounds = items.iter().map(|item| item.rounds).max().unwrap_or(0);
        for round in 0..=rounds {
            for (item, samples) in items.iter_mut().zip(&mut samples) {
                if round > item.rounds || round == 0 && !item.warms_up {
                    continue;
                }
                let run = &mut item.run;
                let took = pool.install(run);
                if round > 0 {
                    samples.push(took.as_secs_f64() * 1e9 / item.n_counted as f64);
                }
            }
        }
        for (item, samples) in items.iter().zip(&mut samples) {
            rows.push(BenchRow {
                name: item.name,
                points: n_points,
                threads,
                ns_per_point: super::median(samples),
                floor_ns_per_point: None,
            });
        }
    }
    Ok(rows)
}

fn timed(work: impl FnOnce()) -> Duration {
    let start = Instant::now();
    work();
    start.elapsed()
}

/// A smoothly bent shape, so that normals and smoothing do not work on the bind shape.
fn bent(positions: &[Vec3]) -> Vec<Vec3> {
    let turned = |p: &Vec3| Quat::from_rotation_z(p.x * 0.05) * *p;
    positions.iter().map(turned).collect()
}
