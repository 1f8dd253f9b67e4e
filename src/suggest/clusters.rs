//! Suggested control clusters: as few as reach an error over training poses, chosen greedily.

use crate::cluster::{
    self, ClusterErrors, ClusterGroup, ClusterMap, ClusterSurface, MapError, MeshLayout,
};
use crate::deform::{ClusterInput, CookedMesh, InstancePlan, SkinningMethod};
use crate::document::{CookedInstance, Document, Instance, MeshId, PosedDocument};
use crate::evaluate::Evaluator;
use crate::skeleton::{Clip, JointId, Moment, Pose, RangeOfMotion};
use crate::skinning::Centres;
use crate::task::{Cancelled, Task};
use glam::{DAffine3, DVec3, Vec3};
use serde::Serialize;
use std::collections::BTreeSet;
use std::sync::Arc;

/// The name of the group of suggested clusters.
pub const SUGGESTED_GROUP: &str = "Suggested";

/// The largest number of training poses.
const MAX_POSES: usize = 24;

/// The goal of a suggestion: it stops at whichever is reached first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClusterGoal {
    /// The largest error of a vertex to reach, as a fraction of the model's diagonal.
    pub error: f64,
    /// The largest fraction of the mesh's vertices that may be clusters.
    pub share: f64,
}

impl ClusterGoal {
    /// As many clusters as reach an error.
    pub fn error(error: f64) -> Self {
        Self { error, share: 1.0 }
    }
}

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
    /// The clusters that it had, with the group of the suggested ones.
    start: ClusterMap,
    group: u16,
    /// The points that each round adds.
    added: Vec<Vec<u32>>,
}

impl SuggestedClusters {
    /// The clusters of a round.
    pub fn of_round(&self, round: usize) -> ClusterMap {
        let points = self.added.iter().take(round + 1);
        let points: Vec<u32> = points.flatten().copied().collect();
        self.start.with_points(&points, Some(self.group))
    }

    /// The index of the group of the suggested clusters.
    pub fn group(&self) -> u16 {
        self.group
    }
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

/// The poses that clusters are measured in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TrainingPoses {
    /// Even moments of all clips; without clips, of a generated range of motion.
    #[default]
    Clips,
    /// Even moments of a generated range of motion.
    RangeOfMotion,
    /// The pose on screen alone.
    Current,
}

/// What clusters are measured in.
#[derive(Clone, Debug)]
pub struct Training {
    /// The poses.
    pub poses: Vec<Pose>,
    /// The diagonal of the model in its rest pose, metres.
    pub diagonal: f64,
}

impl Training {
    /// The training of a document: its clips, else a range of motion.
    pub fn new(document: &Document) -> Self {
        Self::of(document, TrainingPoses::Clips)
    }

    /// The training of a document in these poses.
    pub fn of(document: &Document, poses: TrainingPoses) -> Self {
        let poses = match poses {
            TrainingPoses::Clips => training_poses(document, true),
            TrainingPoses::RangeOfMotion => training_poses(document, false),
            TrainingPoses::Current => vec![Pose::clone(&document.shown_pose())],
        };
        Self {
            poses,
            diagonal: diagonal(document),
        }
    }
}

fn training_poses(document: &Document, of_clips: bool) -> Vec<Pose> {
    let generated;
    let mut clips: Vec<&Clip> = document.clips().values().map(|clip| &**clip).collect();
    clips.retain(|clip| of_clips && !clip.channels.is_empty());
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

/// Adds clusters to a mesh until no vertex is farther than the goal's error from where the deformer stack has it in any of the
/// poses, its share is reached, or none is left to add ([`cluster::suggest`]). The bits do not depend on the number of threads.
pub fn suggest_clusters(
    document: &Document,
    mesh: MeshId,
    goal: ClusterGoal,
    training: &Training,
    task: &Task,
) -> Result<SuggestedClusters, SuggestClustersError> {
    let trainer = Trainer::new(document, mesh, training, task)?;
    let item = &document.meshes()[&mesh];
    let surface = ClusterSurface::new(&item.geometry);
    let mut start = (*item.clusters).clone();
    let group = match start.group_named(SUGGESTED_GROUP) {
        Some(group) => group,
        None => {
            let index = start.groups().len();
            start = start.with_group(None, ClusterGroup::new(SUGGESTED_GROUP, index))?;
            index as u16
        }
    };
    // Both sides of a seam whose weights differ: each stays where the stack has it.
    let points = |vertices: &[u32]| -> Vec<u32> {
        let points = vertices.iter().map(|&v| surface.points_of_vertex(v));
        points.flatten().copied().collect()
    };
    let given = surface.marked(start.clusters().iter().map(|c| c.0));
    let map_of = |marked: &[bool]| {
        let fresh = (0..marked.len() as u32).filter(|&v| marked[v as usize] && !given[v as usize]);
        start.with_points(&points(&fresh.collect::<Vec<_>>()), Some(group))
    };
    let mut counts = Vec::new();
    let measure = |marked: &[bool]| -> Result<ClusterErrors, SuggestClustersError> {
        let map = map_of(marked);
        counts.push(map.n_clusters());
        let errors = trainer.errors(&map, task)?;
        let of_vertex = |vertex: u32| {
            let points = surface.points_of_vertex(vertex).iter();
            points.fold(0.0f64, |worst, &p| worst.max(errors.of_points[p as usize]))
        };
        Ok(ClusterErrors {
            of_vertices: (0..surface.n_vertices() as u32).map(of_vertex).collect(),
            rms: errors.rms,
        })
    };
    let settings = cluster::SuggestSettings {
        error: goal.error,
        most: (goal.share * surface.n_vertices() as f64) as usize,
    };
    let found = cluster::suggest(&surface, &given, settings, measure, task)?;
    let rounds = found.rounds.iter().zip(&counts);
    let rounds = rounds.map(|(round, &n_clusters)| ClusterRound {
        n_clusters,
        max: round.largest,
        rms: round.rms,
    });
    Ok(SuggestedClusters {
        mesh,
        map: map_of(&found.clusters),
        rounds: rounds.collect(),
        added: found
            .added
            .iter()
            .map(|vertices| points(vertices))
            .collect(),
        group,
        start,
    })
}

/// Evaluates clusters in the training poses against the deformer stack.
struct Trainer<'a> {
    document: &'a Document,
    instance: Instance,
    cooked: CookedMesh,
    centres: Option<Arc<Centres>>,
    rest_world: Arc<Vec<DAffine3>>,
    training: &'a Training,
    /// Of each pose: n_points, world.
    targets: Vec<Vec<Vec3>>,
}

/// Errors as fractions of the model's diagonal.
struct Errors {
    of_points: Vec<f64>,
    rms: f64,
}

impl<'a> Trainer<'a> {
    fn new(
        document: &'a Document,
        mesh: MeshId,
        training: &'a Training,
        task: &Task,
    ) -> Result<Self, SuggestClustersError> {
        let mut instances = document.instances().values();
        let drawn = instances.find(|i| i.mesh == mesh && i.skin.is_some());
        let item = document.meshes().get(&mesh);
        let (Some(instance), Some(item)) = (drawn, item) else {
            let name = item.map_or_else(String::new, |item| item.geometry.name.clone());
            return Err(SuggestClustersError::NoSkin(name));
        };
        let mut cooked = CookedMesh::default();
        if let Some(skin) = instance.skin.and_then(|skin| document.skins().get(&skin)) {
            cooked.update(&item.influences, &document.joint_order(skin));
        }
        let centres = if item.stack.method == SkinningMethod::CentresOfRotation {
            let found = Centres::compute(&item.geometry, &item.influences, task)?;
            Some(Arc::new(found))
        } else {
            None
        };
        let mut trainer = Self {
            document,
            instance: Instance::clone(instance),
            cooked,
            centres,
            rest_world: Arc::new(document.rest_pose().world_matrices(document.skeleton())),
            training,
            targets: Vec::new(),
        };
        let mut targets = Vec::with_capacity(training.poses.len());
        trainer.deform(None, task, |_, shape| targets.push(shape.to_vec()))?;
        trainer.targets = targets;
        Ok(trainer)
    }

    /// Calls `take` with each pose and the shape of the mesh in it, under clusters or without.
    fn deform(
        &self,
        clusters: Option<(&Arc<ClusterMap>, &Arc<MeshLayout>)>,
        task: &Task,
        mut take: impl FnMut(usize, &[Vec3]),
    ) -> Result<(), Cancelled> {
        let skin = self.instance.skin;
        let skin_meshes = skin.map_or_else(Vec::new, |skin| self.document.meshes_of_skin(skin));
        let mut plan = InstancePlan::without_normals();
        for (i, pose) in self.training.poses.iter().enumerate() {
            task.check()?;
            let posed = PosedDocument {
                document: self.document,
                pose,
                moment: Moment::default(),
                rest_world: &self.rest_world,
                world: &pose.world_matrices(self.document.skeleton()),
            };
            let cooked = CookedInstance {
                stack: None,
                correctives: true,
                layout: None,
                influences: &self.cooked,
                centres: self.centres.as_ref(),
                skin_meshes: &skin_meshes,
            };
            if let Some(mut input) = posed.deform_input(&self.instance, cooked) {
                input.clusters = clusters.map(|(map, layout)| ClusterInput {
                    map,
                    layout,
                    recordings: self.document.recordings(),
                });
                plan.run(&input);
                take(i, plan.positions());
            }
        }
        Ok(())
    }

    fn errors(&self, map: &ClusterMap, task: &Task) -> Result<Errors, Cancelled> {
        let n = self.targets.first().map_or(0, Vec::len);
        let mut errors = Errors {
            of_points: vec![0.0; n],
            rms: 0.0,
        };
        let Some(item) = self.document.meshes().get(&self.instance.mesh) else {
            return Ok(errors);
        };
        let layout = Arc::new(MeshLayout::quietly(&item.geometry, map, task)?);
        // The targets have neither other bases nor layers.
        let map = Arc::new(map.on_stack());
        let diagonal = self.training.diagonal;
        self.deform(Some((&map, &layout)), task, |i, shape| {
            let pairs = shape.iter().zip(&self.targets[i]);
            for (known, (a, b)) in errors.of_points.iter_mut().zip(pairs) {
                let apart = (a.as_dvec3() - b.as_dvec3()).length() / diagonal;
                let apart = if apart.is_finite() { apart } else { 0.0 };
                *known = known.max(apart);
                errors.rms += apart * apart;
            }
        })?;
        errors.rms = (errors.rms / (n * self.targets.len()).max(1) as f64).sqrt();
        Ok(errors)
    }
}

/// The diagonal of the bounding box of the model in its rest pose, metres; 1 where it has none.
fn diagonal(document: &Document) -> f64 {
    let plain = document.clone().without_clusters();
    let mut evaluator = Evaluator::default();
    evaluator.evaluate(&plain, plain.rest_pose());
    let (mut low, mut high) = (DVec3::INFINITY, DVec3::NEG_INFINITY);
    for &id in document.instances().keys() {
        let plan = evaluator.plan(id);
        let positions = plan.map_or(&[][..], InstancePlan::positions);
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
