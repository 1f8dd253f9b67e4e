//! Evaluates a document at frames of its clips: the deformer stacks' result, and the joint matrices that a player has.

use super::extent::Extent;
pub(crate) use super::played::{Clips, FrameTime};
use crate::cluster::MeshLayout;
use crate::deform::{CookedMesh, DeformStack, InstancePlan, SkinningMethod};
use crate::document::{
    CookedInstance, Document, InstanceId, MeshId, MeshItem, PosedDocument, SkinId, SkinnedMesh,
};
use crate::math::DualQuat;
use crate::skeleton::{Joint, JointId, JointRule, Pose, PoseAt, Skeleton};

use crate::skinning::{Centres, Motion};
use crate::task::{Cancelled, Task};
use glam::{DAffine3, DMat3, DQuat, DVec3, Vec3};
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Frames that one thread evaluates in a row, so that cooked data of the stack is reused. Fixed, so that chunks do not
/// depend on the number of threads.
const FRAMES_PER_CHUNK: usize = 12;

/// Which deformer stack is evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StackChoice {
    /// The mesh's own.
    Own,
    /// The mesh's own skinning method without corrections.
    Uncorrected,
    /// Linear blend skinning, as every player has it.
    Linear,
}

impl StackChoice {
    pub(crate) fn of(self, own: &Arc<DeformStack>) -> Arc<DeformStack> {
        match self {
            Self::Own => own.clone(),
            Self::Uncorrected => Arc::new(DeformStack {
                scale: own.scale,
                blend: own.blend,
                ..DeformStack::bare(own.method)
            }),
            Self::Linear => Arc::new(DeformStack::lbs()),
        }
    }
}

/// The joint list and inverse bind matrices that one or more skins share.
pub(crate) struct JointSet {
    pub(crate) skins: Vec<SkinId>,
    pub(crate) joints: Vec<JointId>,
    pub(crate) inverse_bind: Vec<DAffine3>,
}

/// An instance with a skin, or with layers of control clusters in its place.
pub(crate) struct SkinnedInstance {
    pub(crate) id: InstanceId,
    pub(crate) mesh: MeshId,
    /// `None`: layers of control clusters move it without one.
    pub(crate) skin: Option<SkinId>,
    pub(crate) joint_set: usize,
    pub(crate) node: JointId,
}

/// A document with what all evaluations share.
pub(crate) struct Sampler<'a> {
    pub(crate) document: &'a Document,
    pub(crate) joint_sets: Vec<JointSet>,
    pub(crate) instances: Vec<SkinnedInstance>,
    /// Without the constraints of joints that no file can hold: the node tree of a player.
    pub(crate) player_skeleton: Skeleton,
    cooked: Vec<CookedMesh>,
    centres: BTreeMap<MeshId, Arc<Centres>>,
    layouts: BTreeMap<MeshId, Arc<MeshLayout>>,
    pub(crate) rest_world: Arc<Vec<DAffine3>>,
}

/// The document evaluated at one time.
pub(crate) struct Frame {
    pub(crate) time: FrameTime,
    /// World transforms of the joints in a player.
    pub(crate) world: Vec<DAffine3>,
    /// By joint set.
    pub(crate) joint_sets: Vec<JointSetFrame>,
    /// By instance of the sampler.
    pub(crate) instances: Vec<InstanceFrame>,
}

/// The joints of a joint set at one frame.
pub(crate) struct JointSetFrame {
    /// Skin matrices in a player, bind -> world, one a joint.
    pub(crate) matrices: Vec<DAffine3>,
    /// Rigid motions and stretches that dual quaternion skinning blends, one a joint.
    pub(crate) motions: Vec<Motion>,
    pub(crate) unit_scale: f64,
}

/// An instance at one frame, deformed by a stack.
pub(crate) struct InstanceFrame {
    /// Weights of the source's morph targets.
    pub(crate) morph_weights: Vec<f32>,
    /// The stack's result: n_points, world.
    pub(crate) target: Vec<Vec3>,
    /// The result of the stack without corrections; empty unless requested.
    pub(crate) uncorrected: Vec<Vec3>,
    /// n_normals, world, normalised; empty unless requested.
    pub(crate) normals: Vec<Vec3>,
}

/// What to evaluate at each frame.
#[derive(Clone, Copy)]
pub(crate) struct SampleRequest<'a> {
    pub(crate) stacks: StackChoice,
    /// Also evaluate the stack without corrections.
    pub(crate) uncorrected: bool,
    /// Also evaluate normals.
    pub(crate) normals: bool,
    /// Instances to evaluate; empty: all.
    pub(crate) chosen: &'a [usize],
}

impl<'a> SampleRequest<'a> {
    /// All instances by the same kind of stack.
    pub(crate) fn all(stacks: StackChoice) -> Self {
        Self {
            stacks,
            uncorrected: false,
            normals: false,
            chosen: &[],
        }
    }

    /// Some instances by their own stacks.
    pub(crate) fn own(chosen: &'a [usize]) -> Self {
        Self {
            chosen,
            ..Self::all(StackChoice::Own)
        }
    }
}

impl JointSetFrame {
    /// Skin matrices of the joints, followed by those of helpers.
    pub(crate) fn with_helpers(&self, helpers: &[DAffine3]) -> Vec<DAffine3> {
        self.matrices.iter().chain(helpers).copied().collect()
    }

    /// The transform that dual quaternion skinning applies to a point of weights `blend_weights`: the blended rigid
    /// motion after the blended stretch (Kavan et al. 2008; Lee et al. 2013). Bind -> world.
    pub(crate) fn blend(&self, blend_weights: &[(u16, f64)]) -> DAffine3 {
        let motion = |joint: u16| {
            let motion = self.motions.get(usize::from(joint));
            motion.copied().unwrap_or(Motion::IDENTITY)
        };
        let heaviest = blend_weights
            .iter()
            .reduce(|a, b| if b.1 > a.1 { b } else { a });
        let Some(pivot) = heaviest.map(|&(joint, _)| motion(joint).rotation) else {
            return DAffine3::IDENTITY;
        };
        let zero = DQuat::from_xyzw(0.0, 0.0, 0.0, 0.0);
        let mut sum = DualQuat {
            real: zero,
            dual: zero,
        };
        let mut stretch = DAffine3::from_mat3(DMat3::ZERO);
        for &(joint, weight) in blend_weights {
            let motion = motion(joint);
            let q = DualQuat::from_rotation_translation(motion.rotation, motion.translation);
            let signed = if q.real.dot(pivot) < 0.0 {
                -weight
            } else {
                weight
            };
            sum.real += q.real * signed;
            sum.dual += q.dual * signed;
            let inflation = motion.inflation();
            stretch.matrix3 += inflation.matrix3 * weight;
            stretch.translation += inflation.translation * weight;
        }
        sum.normalized().to_affine() * stretch * DAffine3::from_scale(DVec3::splat(self.unit_scale))
    }
}

impl<'a> Sampler<'a> {
    /// A sampler of all skinned instances of `document`. Computes the centres of rotation of stacks that need them.
    pub(crate) fn new(document: &'a Document, task: &Task) -> Result<Self, Cancelled> {
        Self::of(document, false, task)
    }

    /// As [`Sampler::new`], with the instances without a skin that layers of control clusters deform.
    pub(crate) fn with_driven(document: &'a Document, task: &Task) -> Result<Self, Cancelled> {
        Self::of(document, true, task)
    }

    fn of(document: &'a Document, driven: bool, task: &Task) -> Result<Self, Cancelled> {
        let mut joint_sets: Vec<JointSet> = Vec::new();
        let mut instances = Vec::new();
        for (&id, instance) in document.instances() {
            let Some((skin_id, skin)) = instance
                .skin
                .and_then(|s| Some((s, document.skins().get(&s)?)))
            else {
                if driven && document.is_driven(instance) {
                    joint_sets.push(JointSet {
                        skins: Vec::new(),
                        joints: Vec::new(),
                        inverse_bind: Vec::new(),
                    });
                    instances.push(SkinnedInstance {
                        id,
                        mesh: instance.mesh,
                        skin: None,
                        joint_set: joint_sets.len() - 1,
                        node: instance.joint,
                    });
                }
                continue;
            };
            let same =
                |u: &JointSet| u.joints == skin.joints && u.inverse_bind == skin.inverse_bind;
            let joint_set = joint_sets.iter().position(same).unwrap_or_else(|| {
                joint_sets.push(JointSet {
                    skins: Vec::new(),
                    joints: skin.joints.clone(),
                    inverse_bind: skin.inverse_bind.clone(),
                });
                joint_sets.len() - 1
            });
            if !joint_sets[joint_set].skins.contains(&skin_id) {
                joint_sets[joint_set].skins.push(skin_id);
            }
            instances.push(SkinnedInstance {
                id,
                mesh: instance.mesh,
                skin: Some(skin_id),
                joint_set,
                node: instance.joint,
            });
        }
        let skeleton = document.skeleton();
        let cooked = instances.iter().map(|d: &SkinnedInstance| {
            let mut cooked = CookedMesh::default();
            let skin = d.skin.and_then(|skin| document.skins().get(&skin));
            if let (Some(item), Some(skin)) = (document.meshes().get(&d.mesh), skin) {
                cooked.update(&item.influences, &document.joint_order(skin));
            }
            cooked
        });
        let cooked = cooked.collect();
        let (mut centres, mut layouts) = (BTreeMap::new(), BTreeMap::new());
        for mesh in instances
            .iter()
            .map(|d: &SkinnedInstance| d.mesh)
            .collect::<BTreeSet<_>>()
        {
            let Some(item) = document.meshes().get(&mesh) else {
                continue;
            };
            if item.stack.method == SkinningMethod::CentresOfRotation {
                let found = Centres::compute(&item.geometry, &item.influences, task)?;
                centres.insert(mesh, Arc::new(found));
            }
            if item.clusters.acts() {
                let found = MeshLayout::compute(&item.geometry, &item.clusters, task)?;
                layouts.insert(mesh, Arc::new(found));
            }
        }
        Ok(Self {
            document,
            player_skeleton: without_rules(skeleton),
            rest_world: Arc::new(document.rest_pose().world_matrices(skeleton)),
            joint_sets,
            instances,
            cooked,
            centres,
            layouts,
        })
    }

    /// The mesh item of an id.
    pub(crate) fn item(&self, mesh: MeshId) -> Option<&'a Arc<MeshItem>> {
        self.document.meshes().get(&mesh)
    }

    /// The results of `work` on each frame, in order.
    pub(crate) fn sample<R: Send>(
        &self,
        clips: &Clips<'_>,
        times: &[FrameTime],
        wanted: SampleRequest<'_>,
        task: &Task,
        work: impl Fn(usize, Frame) -> R + Sync,
    ) -> Result<Vec<R>, Cancelled> {
        let rows: Vec<Vec<R>> = times
            .par_chunks(FRAMES_PER_CHUNK)
            .enumerate()
            .map(|(row, times)| {
                let mut runner = FrameEvaluator::new(self, wanted.stacks, wanted.normals);
                let mut bare = wanted
                    .uncorrected
                    .then(|| FrameEvaluator::new(self, StackChoice::Uncorrected, false));
                let mut results = Vec::with_capacity(times.len());
                for (i, &time) in times.iter().enumerate() {
                    task.check()?;
                    let frame = runner.frame(clips, time, wanted.chosen, bare.as_mut());
                    results.push(work(row * FRAMES_PER_CHUNK + i, frame));
                }
                Ok(results)
            })
            .collect::<Result<_, Cancelled>>()?;
        Ok(rows.into_iter().flatten().collect())
    }

    /// The results of `work` in each pose on the plans of all instances (in the order of `instances`) after their own
    /// stacks, in order.
    pub(crate) fn sample_poses<R: Send>(
        &self,
        poses: &[PoseAt<'_>],
        task: &Task,
        work: impl Fn(usize, &[InstancePlan]) -> R + Sync,
    ) -> Result<Vec<R>, Cancelled> {
        let rows: Vec<Vec<R>> = poses
            .par_chunks(FRAMES_PER_CHUNK)
            .enumerate()
            .map(|(row, poses)| {
                let mut runner = FrameEvaluator::new(self, StackChoice::Own, true);
                let mut results = Vec::with_capacity(poses.len());
                for (i, &at) in poses.iter().enumerate() {
                    task.check()?;
                    runner.run(at, &[]);
                    results.push(work(row * FRAMES_PER_CHUNK + i, &runner.plans));
                }
                Ok(results)
            })
            .collect::<Result<_, Cancelled>>()?;
        Ok(rows.into_iter().flatten().collect())
    }

    /// As [`Sampler::sample_poses`], in the authored poses of clips at `times`.
    pub(crate) fn sample_times<R: Send>(
        &self,
        clips: &Clips<'_>,
        times: &[FrameTime],
        task: &Task,
        work: impl Fn(usize, &[InstancePlan]) -> R + Sync,
    ) -> Result<Vec<R>, Cancelled> {
        let pose = |&time: &FrameTime| clips.authored_pose(self.document, time);
        let poses: Vec<Pose> = times.iter().map(pose).collect();
        let at = poses.iter().zip(times);
        let at = at.map(|(pose, &time)| pose.at(clips.moment(time)));
        self.sample_poses(&at.collect::<Vec<_>>(), task, work)
    }

    /// The joints of a joint set in the pose in which `plans` (one an instance) last ran. `world`: the joints of a player
    /// in that pose.
    pub(crate) fn joint_set_frame(
        &self,
        joint_set: usize,
        plans: &[InstancePlan],
        world: &[DAffine3],
    ) -> JointSetFrame {
        let set = &self.joint_sets[joint_set];
        let n = set.joints.len();
        let mut motions = vec![Motion::IDENTITY; n];
        let mut known = vec![false; n];
        let mut unit_scale = None;
        for (i, (drawn, plan)) in self.instances.iter().zip(plans).enumerate() {
            if drawn.joint_set != joint_set || plan.palette().n_joints() != n {
                continue;
            }
            unit_scale.get_or_insert(plan.palette().unit_scale());
            // Each from an instance that the joint influences.
            let bound = self.cooked[i].bound(n);
            for (j, motion) in plan.palette().motions().iter().enumerate() {
                if bound[j] && !known[j] {
                    motions[j] = *motion;
                    known[j] = true;
                }
            }
        }
        let joints = set.joints.iter().zip(&set.inverse_bind);
        JointSetFrame {
            matrices: joints.map(|(j, ibm)| world[j.get()] * *ibm).collect(),
            motions,
            unit_scale: unit_scale.unwrap_or(1.0),
        }
    }

    /// The box of all instances in a pose under linear blend skinning, as [`Sampler::diagonal`] measures it.
    pub(crate) fn linear_extent(&self, pose: &Pose) -> Extent {
        let mut runner = FrameEvaluator::new(self, StackChoice::Linear, false);
        runner.run(pose.into(), &[]);
        let plans = runner.plans.iter();
        plans
            .flat_map(|plan| plan.positions().iter().copied())
            .collect()
    }
}

/// Evaluates frames one after the other with cooked plans.
struct FrameEvaluator<'s, 'a> {
    sampler: &'s Sampler<'a>,
    stacks: Vec<Arc<DeformStack>>,
    skin_meshes: Vec<Vec<SkinnedMesh<'a>>>,
    plans: Vec<InstancePlan>,
    normals: bool,
    /// Whether corrective samples and control clusters are applied.
    corrects: bool,
}

impl<'s, 'a> FrameEvaluator<'s, 'a> {
    fn new(sampler: &'s Sampler<'a>, stacks: StackChoice, normals: bool) -> Self {
        let plan = || {
            let plan = if normals {
                InstancePlan::default()
            } else {
                InstancePlan::without_normals()
            };
            plan.for_shapes()
        };
        let own = |d: &SkinnedInstance| {
            let item = sampler.item(d.mesh);
            item.map_or_else(Arc::default, |item| stacks.of(&item.stack))
        };
        Self {
            sampler,
            stacks: sampler.instances.iter().map(own).collect(),
            skin_meshes: sampler
                .instances
                .iter()
                .map(|d| {
                    d.skin
                        .map_or_else(Vec::new, |skin| sampler.document.meshes_of_skin(skin))
                })
                .collect(),
            plans: sampler.instances.iter().map(|_| plan()).collect(),
            normals,
            corrects: stacks == StackChoice::Own,
        }
    }

    fn run(&mut self, at: PoseAt<'_>, chosen: &[usize]) {
        let document = self.sampler.document;
        let world = at.pose.world_matrices(document.skeleton());
        let posed = PosedDocument {
            document,
            pose: at.pose,
            moment: at.moment,
            rest_world: &self.sampler.rest_world,
            world: &world,
        };
        for (i, drawn) in self.sampler.instances.iter().enumerate() {
            if !chosen.is_empty() && !chosen.contains(&i) {
                continue;
            }
            let Some(instance) = document.instances().get(&drawn.id) else {
                continue;
            };
            let cooked = CookedInstance {
                stack: Some(&self.stacks[i]),
                correctives: self.corrects,
                layout: (self.sampler.layouts.get(&drawn.mesh)).filter(|_| self.corrects),
                influences: &self.sampler.cooked[i],
                centres: self.sampler.centres.get(&drawn.mesh),
                skin_meshes: &self.skin_meshes[i],
            };
            let Some(input) = posed.deform_input(instance, cooked) else {
                continue;
            };
            self.plans[i].run(&input);
        }
    }

    fn frame(
        &mut self,
        clips: &Clips<'_>,
        time: FrameTime,
        chosen: &[usize],
        bare: Option<&mut Self>,
    ) -> Frame {
        let sampler = self.sampler;
        let pose = clips.authored_pose(sampler.document, time);
        let at = pose.at(clips.moment(time));
        self.run(at, chosen);
        let written = clips.played_pose(sampler.document, time);
        let world = written.world_matrices(&sampler.player_skeleton);
        let joint_sets = 0..sampler.joint_sets.len();
        let joint_sets = joint_sets.map(|u| sampler.joint_set_frame(u, &self.plans, &world));
        let joint_sets = joint_sets.collect();
        let uncorrected: Vec<Vec<Vec3>> = match bare {
            Some(bare) => {
                bare.run(at, chosen);
                let plans = bare.plans.iter();
                plans.map(|plan| plan.positions().to_vec()).collect()
            }
            None => vec![Vec::new(); self.plans.len()],
        };
        let drawn = sampler.instances.iter().zip(&self.plans).zip(uncorrected);
        let drawn = drawn.map(|((drawn, plan), uncorrected)| InstanceFrame {
            morph_weights: morph_weights(&written, drawn.node).to_vec(),
            target: plan.positions().to_vec(),
            uncorrected,
            normals: if self.normals {
                plan.normals().to_vec()
            } else {
                Vec::new()
            },
        });
        Frame {
            time,
            instances: drawn.collect(),
            world,
            joint_sets,
        }
    }
}

fn morph_weights(pose: &Pose, node: JointId) -> &[f32] {
    let weights = pose.morph_weights.get(node.get());
    weights.map_or(&[], Vec::as_slice)
}

/// The node tree without constraints.
fn without_rules(skeleton: &Skeleton) -> Skeleton {
    let joints = skeleton.joints().iter().map(|joint| Joint {
        rule: JointRule::default(),
        ..joint.clone()
    });
    // The same parents as before, so this cannot fail.
    Skeleton::new(joints.collect()).unwrap_or_else(|_| skeleton.clone())
}
