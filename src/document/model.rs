//! The document itself.

use super::kept_weights::KeptOfMeshes;
use super::session::Playback;
use super::{
    ClipId, HumanMap, Image, Individual, Instance, InstanceId, LeftOut, Material, MeshId, MeshItem,
    Parts, Session, Skin, SkinId, Source, UnplacedConstraint,
};
use crate::cluster::channel::Recordings;
use crate::finding::Finding;
use crate::skeleton::clip_keys::frame_rate;
use crate::skeleton::constraint::{Constraints, Evaluator};
use crate::skeleton::library_pose::PoseLibrary;
use crate::skeleton::{Clip, JointId, Moment, Pose, Skeleton};
use crate::skinning::Influences;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// A model with all edits. Cloning is cheap: workers, saves and exports read a clone.
#[derive(Clone, Debug)]
pub struct Document {
    pub(super) source: Option<Arc<Source>>,
    pub(super) skeleton: Arc<Skeleton>,
    /// As imported; project files and exports compare with it.
    pub(super) source_skeleton: Arc<Skeleton>,
    pub(super) meshes: BTreeMap<MeshId, Arc<MeshItem>>,
    pub(super) skins: BTreeMap<SkinId, Arc<Skin>>,
    pub(super) instances: BTreeMap<InstanceId, Arc<Instance>>,
    /// Nodes of the file that would exceed the memory budget by instantiating a mesh again.
    left_out: Arc<LeftOut>,
    pub(super) clips: BTreeMap<ClipId, Arc<Clip>>,
    pub(super) source_clips: Arc<BTreeMap<ClipId, Arc<Clip>>>,
    pub(super) source_skins: Arc<BTreeMap<SkinId, Arc<Skin>>>,
    pub(super) recordings: Arc<Recordings>,
    pub(super) poses: Arc<PoseLibrary>,
    pub(super) constraints: Arc<Constraints>,
    pub(super) source_constraints: Arc<Constraints>,
    /// The constraints in their order; `None` without any.
    pub(super) evaluator: Option<Arc<Evaluator>>,
    pub(super) pose: Arc<Pose>,
    pub(super) rest_pose: Arc<Pose>,
    pub(super) locked: Arc<BTreeSet<JointId>>,
    /// The weights of meshes that were unbound.
    pub(super) kept_weights: Arc<KeptOfMeshes>,
    /// The bones of the humanoid map that are set by hand.
    pub(super) human_map: Arc<HumanMap>,
    pub(super) materials: Arc<Vec<Material>>,
    pub(super) images: Arc<Vec<Option<Arc<Image>>>>,
    pub(super) unplaced_samples: Arc<Vec<Arc<str>>>,
    pub(super) unplaced_clusters: Arc<Vec<Arc<str>>>,
    pub(super) unplaced_constraints: Arc<Vec<UnplacedConstraint>>,
    /// Meshes whose points are not the source's: those of an individual.
    pub(super) reshaped: Arc<BTreeSet<MeshId>>,
    /// Copies of meshes of the source, each with that mesh.
    pub(super) mesh_copies: Arc<BTreeMap<MeshId, MeshId>>,
    pub(super) individual: Option<Arc<Individual>>,
    pub(super) what_if: Option<Arc<Individual>>,
    session: Session,
}

/// Why [`Parts`] cannot become a document.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InvalidParts(pub Finding);

impl Default for Document {
    /// A document without joints and meshes.
    fn default() -> Self {
        Self::assemble(Parts::default())
    }
}

impl Document {
    pub(super) fn assemble(parts: Parts) -> Self {
        let mut rest = Pose::rest(&parts.skeleton);
        for (joint, weights) in parts.rest_morph_weights {
            if let Some(slot) = rest.morph_weights.get_mut(joint.get()) {
                *slot = weights;
            }
        }
        let rest = Arc::new(rest);
        let active_mesh = parts
            .instances
            .values()
            .filter(|i| i.skin.is_some())
            .chain(parts.instances.values())
            .map(|i| i.mesh)
            .next();
        let rate = parts.clips.values().find_map(|clip| frame_rate(clip));
        let playback = Playback::default();
        let playback = Playback {
            fps: rate.unwrap_or(playback.fps),
            ..playback
        };
        let constraints = Arc::new(parts.constraints);
        let mut document = Self {
            source: parts.source,
            source_skeleton: parts.skeleton.clone(),
            skeleton: parts.skeleton,
            meshes: parts.meshes,
            source_skins: Arc::new(parts.skins.clone()),
            skins: parts.skins,
            instances: parts.instances,
            left_out: parts.left_out,
            source_clips: Arc::new(parts.clips.clone()),
            clips: parts.clips,
            recordings: Arc::default(),
            poses: Arc::default(),
            source_constraints: constraints.clone(),
            constraints,
            evaluator: None,
            pose: rest.clone(),
            rest_pose: rest,
            locked: Arc::default(),
            kept_weights: Arc::default(),
            human_map: Arc::default(),
            materials: parts.materials,
            images: parts.images,
            unplaced_samples: Arc::default(),
            unplaced_clusters: Arc::default(),
            unplaced_constraints: Arc::default(),
            reshaped: Arc::default(),
            mesh_copies: Arc::default(),
            individual: None,
            what_if: None,
            session: Session {
                playback,
                active_mesh,
                ..Session::default()
            },
        };
        document.order_constraints();
        document
    }

    /// The file that the document was imported from.
    pub fn source(&self) -> Option<&Arc<Source>> {
        self.source.as_ref()
    }

    /// The joint hierarchy (glTF nodes).
    pub fn skeleton(&self) -> &Arc<Skeleton> {
        &self.skeleton
    }

    /// The joint hierarchy as imported.
    pub fn source_skeleton(&self) -> &Arc<Skeleton> {
        &self.source_skeleton
    }

    /// Meshes by id.
    pub fn meshes(&self) -> &BTreeMap<MeshId, Arc<MeshItem>> {
        &self.meshes
    }

    /// Skins by id.
    pub fn skins(&self) -> &BTreeMap<SkinId, Arc<Skin>> {
        &self.skins
    }

    /// The instances to draw, by node index.
    pub fn instances(&self) -> &BTreeMap<InstanceId, Arc<Instance>> {
        &self.instances
    }

    /// The nodes of the file that would exceed the memory budget by instantiating a mesh again.
    pub fn left_out(&self) -> &Arc<LeftOut> {
        &self.left_out
    }

    /// Clips by id.
    pub fn clips(&self) -> &BTreeMap<ClipId, Arc<Clip>> {
        &self.clips
    }

    /// The recordings that layers of control clusters read.
    pub fn recordings(&self) -> &Arc<Recordings> {
        &self.recordings
    }

    /// Clips as imported.
    pub fn source_clips(&self) -> &BTreeMap<ClipId, Arc<Clip>> {
        &self.source_clips
    }

    /// Skins as imported.
    pub fn source_skins(&self) -> &BTreeMap<SkinId, Arc<Skin>> {
        &self.source_skins
    }

    /// The artist's pose, before constraints: the editable pose that is shown while no clip is active.
    pub fn pose(&self) -> &Arc<Pose> {
        &self.pose
    }

    /// The artist's pose after constraints.
    pub fn posed(&self) -> Arc<Pose> {
        self.constrained(self.pose.clone())
    }

    /// The rest transforms and the default morph weights.
    pub fn rest_pose(&self) -> &Arc<Pose> {
        &self.rest_pose
    }

    /// Joints whose weights no tool may change.
    pub fn locked(&self) -> &BTreeSet<JointId> {
        &self.locked
    }

    /// The weights of meshes that were unbound.
    pub fn kept_weights(&self) -> &Arc<KeptOfMeshes> {
        &self.kept_weights
    }

    /// Materials that primitives name by index.
    pub fn materials(&self) -> &Arc<Vec<Material>> {
        &self.materials
    }

    /// Images that materials name by index.
    pub fn images(&self) -> &Arc<Vec<Option<Arc<Image>>>> {
        &self.images
    }

    /// The session: camera, playback, selection, tool options.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// Mutable access to the session, which has no undo.
    pub fn session_mut(&mut self) -> &mut Session {
        &mut self.session
    }

    /// The pose on screen, with its constraints: [`Document::current_pose`], or the rest pose where the session asks for it.
    pub fn shown_pose(&self) -> Arc<Pose> {
        if self.session.shows_rest {
            return self.rest_pose.clone();
        }
        self.current_pose()
    }

    /// The session's clip at its time over the rest pose, with its constraints. Without a clip, or while the pose is not keyed
    /// yet, the artist's pose.
    pub fn current_pose(&self) -> Arc<Pose> {
        self.constrained(self.current_free_pose())
    }

    /// As [`Document::constrain`]; the pose itself where there are no constraints.
    pub fn constrained(&self, mut pose: Arc<Pose>) -> Arc<Pose> {
        if let Some(evaluator) = self.evaluator() {
            evaluator.apply(Arc::make_mut(&mut pose));
        }
        pose
    }

    /// The pose on screen before its constraints: what posing changes and keyframes hold.
    pub fn free_pose(&self) -> Arc<Pose> {
        if self.session.shows_rest {
            return self.rest_pose.clone();
        }
        self.current_free_pose()
    }

    fn current_free_pose(&self) -> Arc<Pose> {
        if let Some(pose) = self.live_pose() {
            return pose.clone();
        }
        let playback = &self.session.playback;
        match playback.clip.and_then(|id| self.clips.get(&id)) {
            Some(clip) if !playback.unkeyed => Arc::new(self.keyed_pose(clip, playback.time_secs)),
            // A pose that is not keyed yet stays in the clip.
            Some(clip) if clip.keys_influences() => {
                let mut pose = Pose::clone(&self.pose);
                clip.apply_influences(playback.time_secs, &mut pose);
                Arc::new(pose)
            }
            _ => self.pose.clone(),
        }
    }

    /// The pose of live motion, where it is one of this skeleton.
    fn live_pose(&self) -> Option<&Arc<Pose>> {
        let pose = self.session.live_pose.as_ref()?;
        (pose.locals.len() == self.skeleton.len()).then_some(pose)
    }

    /// The time of [`Document::shown_pose`]: the session's in its clip. A pose that is not keyed yet stays in the clip.
    pub fn shown_moment(&self) -> Moment {
        let playback = &self.session.playback;
        if self.session.shows_rest || self.live_pose().is_some() {
            return Moment::default();
        }
        match playback.clip.filter(|id| self.clips.contains_key(id)) {
            Some(clip) => Moment::of(clip, playback.time_secs),
            None => Moment::default(),
        }
    }

    /// The rest pose with the channels of `clip` at `time_secs`, and with its constraints.
    pub fn pose_of_clip(&self, clip: &Clip, time_secs: f64) -> Pose {
        let mut pose = self.keyed_pose(clip, time_secs);
        self.constrain(&mut pose);
        pose
    }

    /// The rest pose with the channels of `clip` at `time_secs`, without constraints: what a player shows of keyframes.
    pub fn keyed_pose(&self, clip: &Clip, time_secs: f64) -> Pose {
        let mut pose = Pose::clone(&self.rest_pose);
        clip.apply(time_secs, &mut pose);
        pose
    }

    /// n_joints of the skeleton: whether a skin lists the joint and it was not removed.
    pub fn skin_joint_mask(&self) -> Vec<bool> {
        let mut mask = vec![false; self.skeleton.len()];
        for joint in self.skins.values().flat_map(|skin| &skin.joints) {
            mask[joint.get()] = self.skeleton.is_live(*joint);
        }
        mask
    }

    /// The first skin, by instance, that moves `mesh`.
    pub fn skin_of_mesh(&self, mesh: MeshId) -> Option<(SkinId, &Arc<Skin>)> {
        let id = self
            .instances
            .values()
            .filter(|i| i.mesh == mesh)
            .find_map(|i| i.skin)?;
        Some((id, self.skins.get(&id)?))
    }

    /// The index that influences of `mesh` use for `joint`.
    pub fn skin_joint(&self, mesh: MeshId, joint: JointId) -> Option<u16> {
        let (_, skin) = self.skin_of_mesh(mesh)?;
        skin.joints
            .iter()
            .position(|&j| j == joint)
            .map(|i| i as u16)
    }

    /// The smallest number of joints of any skin that draws `mesh`: the bound of its influences' indices.
    pub fn n_skin_joints(&self, mesh: MeshId) -> Option<usize> {
        self.instances
            .values()
            .filter(|i| i.mesh == mesh)
            .filter_map(|i| self.skins.get(&i.skin?))
            .map(|skin| skin.joints.len())
            .min()
    }

    /// Whether the source has a mesh with invalid weights.
    pub fn has_invalid_weights(&self) -> bool {
        self.meshes.values().any(|item| !item.invalid.is_empty())
    }

    /// Whether both documents have the same content: everything but the session, bit for bit. Geometry is compared by
    /// identity.
    pub fn same_content(&self, other: &Self) -> bool {
        let same_mesh = |a: &MeshItem, b: &MeshItem| {
            Arc::ptr_eq(&a.geometry, &b.geometry)
                && a.influences == b.influences
                && a.layers == b.layers
                && a.stack == b.stack
                && a.masks == b.masks
                && (Arc::ptr_eq(&a.correctives, &b.correctives) || a.correctives == b.correctives)
                && (Arc::ptr_eq(&a.clusters, &b.clusters) || a.clusters == b.clusters)
        };
        self.skeleton == other.skeleton
            && self.skins == other.skins
            && self.instances == other.instances
            && self.clips == other.clips
            && (Arc::ptr_eq(&self.recordings, &other.recordings)
                || self.recordings == other.recordings)
            && self.poses == other.poses
            && self.constraints == other.constraints
            && self.unplaced_constraints == other.unplaced_constraints
            && self.pose == other.pose
            && self.rest_pose == other.rest_pose
            && self.locked == other.locked
            && self.human_map == other.human_map
            && self.individual == other.individual
            && self.what_if == other.what_if
            && self.kept_weights == other.kept_weights
            && self.mesh_copies == other.mesh_copies
            && self.meshes.len() == other.meshes.len()
            && self
                .meshes
                .iter()
                .zip(&other.meshes)
                .all(|((ia, a), (ib, b))| ia == ib && same_mesh(a, b))
    }
}

impl MeshItem {
    /// The rows of the base layer; without layers the only rows.
    pub fn base_rows(&self) -> &Influences {
        self.layers
            .base()
            .map_or(&self.influences, |base| &base.rows)
    }

    /// Indices of the chunks whose influences differ from the source's.
    pub fn edited_chunks(&self) -> Vec<usize> {
        self.chunks_unlike_source(&self.influences)
    }

    fn chunks_unlike_source(&self, influences: &Influences) -> Vec<usize> {
        let pairs = influences
            .chunks()
            .iter()
            .zip(self.source_influences.chunks());
        pairs
            .enumerate()
            .filter(|(_, (a, b))| !Arc::ptr_eq(a, b) && a != b)
            .map(|(i, _)| i)
            .collect()
    }

    /// Whether a point has weights in the source.
    pub fn had_weights(&self, point: u32) -> bool {
        !self.source_influences.row(point).is_empty()
    }

    /// Points without a valid weight in the source that still follow their first joint, ascending.
    pub fn points_to_fix(&self) -> Vec<u32> {
        let missing = self.invalid.missing.iter().copied();
        let is_there = |&p: &u32| (p as usize) < self.influences.len();
        let stays = |&p: &u32| self.influences.row(p) == self.source_influences.row(p);
        missing.filter(is_there).filter(stays).collect()
    }

    /// Points whose influences differ from the source's, ascending.
    pub fn edited_points(&self) -> Vec<u32> {
        self.points_unlike_source(&self.influences)
    }

    /// Points whose rows in the base differ from the source's, ascending.
    pub fn edited_base_points(&self) -> Vec<u32> {
        self.points_unlike_source(self.base_rows())
    }

    fn points_unlike_source(&self, influences: &Influences) -> Vec<u32> {
        let mut points = Vec::new();
        for chunk in self.chunks_unlike_source(influences) {
            let first = (chunk * crate::skinning::influences::CHUNK) as u32;
            let (now, before) = (
                &influences.chunks()[chunk],
                &self.source_influences.chunks()[chunk],
            );
            points.extend(
                (0..now.len())
                    .filter(|&i| now.row(i) != before.row(i))
                    .map(|i| first + i as u32),
            );
        }
        points
    }
}
