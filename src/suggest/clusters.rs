//! Suggested control clusters: as few as reach an error over training poses, chosen greedily.

use crate::cluster::{ClusterGroup, ClusterMap, ClusterSurface, MapError, MeshLayout};
use crate::document::{ClustersEdit, Document, Edit, InstanceId, MeshId};
use crate::evaluate::{Evaluator, LayoutMap};
use crate::skeleton::{Clip, JointId, Pose, RangeOfMotion};
use crate::task::{Cancelled, Task};
use glam::{DVec3, Vec3};
use serde::Serialize;
use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

/// The name of the group of suggested clusters.
pub const SUGGESTED_GROUP: &str = "Suggested";

/// The largest number of training poses.
const MAX_POSES: usize = 24;

/// The largest number of rounds; then some vertices of an area are too far apart in weights for any patch.
const MAX_ROUNDS: usize = 60;

/// The part of the vertices of the first round, and that a round adds.
const ROUND: f64 = 0.01;

/// The smallest number of clusters that a round adds, where there are so many.
const MIN_ROUND: usize = 4;

/// A vertex is chosen only if its error is at least this part of the wanted one, at the error of patches near it.
const WORTHWHILE: f64 = 0.5;

/// The clusters of one round, and their error.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ClusterRound {
    /// The number of clusters.
    pub n_clusters: usize,
    /// The largest distance of a vertex from where the deformer stack has it, as a fraction of the model's diagonal.
    pub max: f64,
    /// The root of the mean squared distance over all vertices and poses, as such a fraction.
    pub rms: f64,
}

/// Suggested clusters for one mesh.
#[derive(Clone, Debug)]
pub struct SuggestedClusters {
    /// The mesh.
    pub mesh: MeshId,
    /// Its clusters, with those that it had.
    pub map: ClusterMap,
    /// The error after each round.
    pub rounds: Vec<ClusterRound>,
}

/// Why no clusters are suggested.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SuggestClustersError {
    /// The mesh has no skin that draws it.
    #[error("The mesh \"{0}\" has no skin: nothing deforms it.")]
    NoSkin(String),
    /// The groups of the mesh leave no place for another.
    #[error("{0}.")]
    Map(#[from] MapError),
    /// It was cancelled.
    #[error("Cancelled.")]
    Cancelled(#[from] Cancelled),
}

/// Poses to train clusters in: even moments of all clips, else of a generated range of motion.
pub fn training_poses(document: &Document) -> Vec<Pose> {
    let generated;
    let mut clips: Vec<&Clip> = document.clips().values().map(|clip| &**clip).collect();
    clips.retain(|clip| !clip.channels.is_empty());
    if clips.is_empty() {
        let is_bone = document.skin_joint_mask();
        let joints = document.skeleton().live_joints();
        let joints: BTreeSet<JointId> = joints.filter(|j| is_bone[j.get()]).collect();
        generated = RangeOfMotion::default().clip("", document.skeleton(), &joints);
        clips.push(&generated);
    }
    let spans: Vec<f64> = clips
        .iter()
        .map(|clip| f64::from(clip.end_secs() - clip.start_secs()).max(0.0))
        .collect();
    let total: f64 = spans.iter().sum();
    if !total.is_finite() {
        return vec![Pose::clone(document.rest_pose())];
    }
    let mut poses = Vec::with_capacity(MAX_POSES);
    for k in 0..MAX_POSES {
        // The middles of equal parts: not the rest pose between the moves of a range of motion.
        let mut at = total * (k as f64 + 0.5) / MAX_POSES as f64;
        let mut which = 0;
        while which + 1 < clips.len() && at > spans[which] {
            at -= spans[which];
            which += 1;
        }
        let clip = clips[which];
        poses.push(document.pose_of_clip(clip, f64::from(clip.start_secs()) + at));
    }
    poses
}

/// Adds clusters to a mesh until no vertex is farther than `error` (a fraction of the model's diagonal) from where the
/// deformer stack has it in any of `poses`, or none is left to add. The bits do not depend on the number of threads.
///
/// A round adds about 1 % of the vertices: those with the largest errors, two edges apart (METHODS: greedy selection).
pub fn suggest_clusters(
    document: &Document,
    mesh: MeshId,
    error: f64,
    poses: &[Pose],
    task: &Task,
) -> Result<SuggestedClusters, SuggestClustersError> {
    let mut trainer = Trainer::new(document, mesh, poses, task)?;
    let item = &document.meshes()[&mesh];
    let surface = ClusterSurface::new(&item.geometry);
    let neighbours = Neighbours::new(&surface);
    let mut map = (*item.clusters).clone();
    let group = match map.group_named(SUGGESTED_GROUP) {
        Some(group) => group,
        None => {
            let index = map.groups().len();
            map = map.with_group(None, ClusterGroup::new(SUGGESTED_GROUP, index))?;
            index as u16
        }
    };
    let n = surface.n_vertices();
    let per_round = ((n as f64 * ROUND) as usize).max(MIN_ROUND);
    let mut marked = surface.marked(map.clusters().iter().map(|c| c.0));
    let point = |vertex: u32| surface.points_of_vertex(vertex)[0];
    if !map.acts() {
        let seeds = spread_seeds(&surface, &neighbours, per_round);
        seeds.iter().for_each(|&v| marked[v as usize] = true);
        let points: Vec<u32> = seeds.into_iter().map(point).collect();
        map = map.with_points(&points, Some(group));
    }
    let mut rounds = Vec::new();
    for round in 0..MAX_ROUNDS {
        task.step("Choosing clusters", round as f32 / MAX_ROUNDS as f32)?;
        let errors = trainer.errors(&map, task)?;
        rounds.push(ClusterRound {
            n_clusters: map.n_clusters(),
            max: errors.max,
            rms: errors.rms,
        });
        if errors.max <= error {
            break;
        }
        let of_vertex = |vertex: u32| {
            let points = surface.points_of_vertex(vertex).iter();
            points.fold(0.0f64, |worst, &p| worst.max(errors.of_points[p as usize]))
        };
        let mut order: Vec<(f64, u32)> = (0..n as u32)
            .filter(|&v| !marked[v as usize])
            .map(|v| (of_vertex(v), v))
            .filter(|(own, _)| *own > WORTHWHILE * error)
            .collect();
        order.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let mut near = vec![false; n];
        let mut chosen = Vec::new();
        for (_, vertex) in order {
            if chosen.len() == per_round {
                break;
            }
            if near[vertex as usize] {
                continue;
            }
            chosen.push(vertex);
            near[vertex as usize] = true;
            for &a in neighbours.of(vertex) {
                near[a as usize] = true;
                for &b in neighbours.of(a) {
                    near[b as usize] = true;
                }
            }
        }
        if chosen.is_empty() {
            break;
        }
        chosen.iter().for_each(|&v| marked[v as usize] = true);
        let points: Vec<u32> = chosen.into_iter().map(point).collect();
        map = map.with_points(&points, Some(group));
    }
    Ok(SuggestedClusters { mesh, map, rounds })
}

/// Evaluates clusters in the training poses against the deformer stack.
struct Trainer {
    document: Document,
    mesh: MeshId,
    instance: InstanceId,
    poses: Vec<Arc<Pose>>,
    /// Of each pose: n_points, world.
    targets: Vec<Vec<Vec3>>,
    diagonal: f64,
}

/// Errors as fractions of the model's diagonal.
struct Errors {
    of_points: Vec<f64>,
    max: f64,
    rms: f64,
}

impl Trainer {
    fn new(
        document: &Document,
        mesh: MeshId,
        poses: &[Pose],
        task: &Task,
    ) -> Result<Self, SuggestClustersError> {
        let mut instances = document.instances().iter();
        let drawn = instances.find(|(_, i)| i.mesh == mesh && i.skin.is_some());
        let Some((&instance, _)) = drawn else {
            let item = document.meshes().get(&mesh);
            let name = item.map_or_else(String::new, |item| item.geometry.name.clone());
            return Err(SuggestClustersError::NoSkin(name));
        };
        let plain = document.clone().without_clusters();
        let mut evaluator = Evaluator::default();
        let mut targets = Vec::with_capacity(poses.len());
        for pose in poses {
            task.check()?;
            evaluator.evaluate(&plain, pose);
            let plan = evaluator.plan(instance);
            targets.push(plan.map_or_else(Vec::new, |plan| plan.positions().to_vec()));
        }
        Ok(Self {
            diagonal: diagonal(&plain, &mut evaluator),
            document: plain,
            mesh,
            instance,
            poses: poses.iter().cloned().map(Arc::new).collect(),
            targets,
        })
    }

    fn errors(&mut self, map: &ClusterMap, task: &Task) -> Result<Errors, Cancelled> {
        let clusters = Arc::new(map.clone());
        let mut edit = Edit::Clusters(ClustersEdit::new(&self.document, self.mesh, clusters));
        // Clusters of points of the mesh cannot be refused.
        let _ = self.document.apply(&mut edit);
        let geometry = &self.document.meshes()[&self.mesh].geometry;
        let layout = MeshLayout::compute(geometry, map, task)?;
        let mut evaluator = Evaluator::default();
        evaluator.set_layouts(LayoutMap::from([(self.mesh, Arc::new(layout))]));
        let n = geometry.n_points();
        let mut errors = Errors {
            of_points: vec![0.0; n],
            max: 0.0,
            rms: 0.0,
        };
        for (pose, target) in self.poses.iter().zip(&self.targets) {
            task.check()?;
            evaluator.evaluate(&self.document, pose);
            let Some(plan) = evaluator.plan(self.instance) else {
                continue;
            };
            let pairs = plan.positions().iter().zip(target);
            for (known, (a, b)) in errors.of_points.iter_mut().zip(pairs) {
                let apart = f64::from(a.distance(*b)) / self.diagonal;
                let apart = if apart.is_finite() { apart } else { 0.0 };
                *known = known.max(apart);
                errors.max = errors.max.max(apart);
                errors.rms += apart * apart;
            }
        }
        errors.rms = (errors.rms / (n * self.poses.len()).max(1) as f64).sqrt();
        Ok(errors)
    }
}

/// The diagonal of the bounding box of the model in its rest pose, metres.
fn diagonal(document: &Document, evaluator: &mut Evaluator) -> f64 {
    evaluator.evaluate(document, document.rest_pose());
    let (mut low, mut high) = (DVec3::INFINITY, DVec3::NEG_INFINITY);
    for &id in document.instances().keys() {
        let plan = evaluator.plan(id);
        let positions = plan.map_or(&[][..], |plan| plan.positions());
        for p in positions.iter().filter(|p| p.is_finite()) {
            (low, high) = (low.min(p.as_dvec3()), high.max(p.as_dvec3()));
        }
    }
    let diagonal = (high - low).length();
    if diagonal > 0.0 && diagonal.is_finite() {
        diagonal
    } else {
        1.0
    }
}

/// The vertices around each vertex, as compressed rows.
struct Neighbours {
    starts: Vec<u32>,
    ends: Vec<u32>,
}

impl Neighbours {
    fn new(surface: &ClusterSurface) -> Self {
        let mut pairs: Vec<(u32, u32)> = surface
            .triangles
            .iter()
            .flat_map(|&[a, b, c]| [(a, b), (b, c), (c, a), (b, a), (c, b), (a, c)])
            .collect();
        pairs.sort_unstable();
        pairs.dedup();
        let mut starts = vec![0u32; surface.n_vertices() + 1];
        for &(a, _) in &pairs {
            starts[a as usize + 1] += 1;
        }
        for v in 1..starts.len() {
            starts[v] += starts[v - 1];
        }
        Self {
            starts,
            ends: pairs.into_iter().map(|pair| pair.1).collect(),
        }
    }

    fn of(&self, vertex: u32) -> &[u32] {
        let v = vertex as usize;
        &self.ends[self.starts[v] as usize..self.starts[v + 1] as usize]
    }
}

/// About `n` vertices spread evenly over the surface, at least one for each component: each takes the vertices
/// nearest to it along edges, as many as its share.
fn spread_seeds(surface: &ClusterSurface, neighbours: &Neighbours, n: usize) -> Vec<u32> {
    let n_vertices = surface.n_vertices();
    let reach = (n_vertices / n.max(1)).max(1);
    let mut taken = vec![false; n_vertices];
    let mut seeds = Vec::new();
    for seed in 0..n_vertices as u32 {
        // Vertices without triangles have no patches.
        if taken[seed as usize] || neighbours.of(seed).is_empty() {
            continue;
        }
        seeds.push(seed);
        taken[seed as usize] = true;
        let mut queue = VecDeque::from([seed]);
        let mut n_taken = 1;
        while let Some(vertex) = queue.pop_front() {
            for &next in neighbours.of(vertex) {
                if !taken[next as usize] && n_taken < reach {
                    taken[next as usize] = true;
                    n_taken += 1;
                    queue.push_back(next);
                }
            }
        }
    }
    seeds
}
