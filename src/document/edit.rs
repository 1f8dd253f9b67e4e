//! The edits of a document.
//!
//! An [`Edit`] *swaps* its payload with the document: applied twice it restores the document bit for bit. So the same
//! value serves do, undo and redo.

use super::clusters_edit::ClustersEdit;
use super::constraints::ConstraintsEdit;
use super::correctives_edit::CorrectivesEdit;
use super::dirty::Dirty;
use super::edit_error::{EditError, length};
use super::individual::IndividualEdit;
use super::influence_edit::InfluenceEdit;
use super::layers::LayersEdit;
use super::mask_edit::MaskEdit;
use super::mask_of::MaskOf;
use super::rig::RigEdit;
use super::{ClipId, Document, HumanMap, MeshId, PoseId, UnplacedConstraint};
use crate::cluster::channel::{RecordingId, RecordingItem};
use crate::deform::DeformStack;
use crate::math::Transform;
use crate::mesh::PointSet;
use crate::skeleton::{Clip, Joint, JointId, JointRule, Pose, Skeleton};
use crate::skinning::Rows;
use std::collections::BTreeSet;
use std::sync::Arc;

/// A change whose payload is exchanged with what the document holds.
#[derive(Clone, Debug)]
pub enum Edit {
    /// New influences for some points.
    Influences(InfluenceEdit),
    /// New local transforms for some joints of the artist's pose; joints are distinct.
    Pose {
        /// The joints.
        joints: Vec<JointId>,
        /// Their transforms; same length.
        locals: Vec<Transform>,
    },
    /// New morph weights for the mesh that one joint draws.
    MorphWeights {
        /// The joint that draws the mesh.
        joint: JointId,
        /// One a morph target.
        weights: Vec<f32>,
    },
    /// A new deformer stack.
    Stack {
        /// The mesh it deforms.
        mesh: MeshId,
        /// The stack.
        stack: Arc<DeformStack>,
    },
    /// New values of a painted map for some points.
    Mask(MaskEdit),
    /// New corrective samples.
    Correctives(CorrectivesEdit),
    /// New control clusters.
    Clusters(ClustersEdit),
    /// New layers of weights, or none.
    Layers(LayersEdit),
    /// A clip added (the document has none of this id), replaced, or removed (`None`).
    Clip {
        /// Which clip.
        id: ClipId,
        /// Its new content.
        clip: Option<Arc<Clip>>,
    },
    /// A pose of the library added (it has none of this id), replaced, or removed (`None`).
    LibraryPose {
        /// Which pose.
        id: PoseId,
        /// Its new content.
        pose: Option<Arc<Clip>>,
    },
    /// A recording added (the document has none of this id), replaced, or removed (`None`).
    Recording {
        /// Which recording.
        id: RecordingId,
        /// Its new content.
        recording: Option<Arc<RecordingItem>>,
    },
    /// A new name for a joint.
    JointName {
        /// Which joint.
        joint: JointId,
        /// Its name.
        name: String,
    },
    /// How the user overrides what follows from a joint's position in the hierarchy.
    JointRule {
        /// Which joint.
        joint: JointId,
        /// Its rule.
        rule: JointRule,
    },
    /// New constraints for a joint.
    Constraints(ConstraintsEdit),
    /// Other constraints that the project keeps without a place in the model.
    UnplacedConstraints(Arc<Vec<UnplacedConstraint>>),
    /// A new set of locked joints.
    Locks(Arc<BTreeSet<JointId>>),
    /// Other bones of the humanoid map set by hand.
    Humanoid(Arc<HumanMap>),
    /// New measurements of a person.
    Individual(IndividualEdit),
    /// A new rig: other joints, with everything that follows from them.
    Rig(Box<RigEdit>),
}

impl Document {
    /// Exchanges the payload of `edit` with the document. Checks first: on `Err` nothing changed.
    pub fn apply(&mut self, edit: &mut Edit) -> Result<Dirty, EditError> {
        edit.check(self)?;
        Ok(self.exchange(edit))
    }

    /// Exchanges the payload of an edit with the document, unchecked: for undo and redo, which return to states that the
    /// document had. A check can depend on the way to a state, as that of dependency cycles does.
    pub(super) fn exchange(&mut self, edit: &mut Edit) -> Dirty {
        let mut dirty = Dirty::default();
        match edit {
            Edit::Influences(edit) => edit.swap(self, &mut dirty),
            Edit::Pose { joints, locals } => {
                let pose = Arc::make_mut(&mut self.pose);
                for (joint, local) in joints.iter().zip(locals) {
                    std::mem::swap(&mut pose.locals[joint.get()], local);
                }
                dirty.pose = true;
            }
            Edit::MorphWeights { joint, weights } => {
                std::mem::swap(
                    &mut Arc::make_mut(&mut self.pose).morph_weights[joint.get()],
                    weights,
                );
                dirty.pose = true;
            }
            Edit::Stack { mesh, stack } => {
                if let Some(item) = self.meshes.get_mut(mesh) {
                    std::mem::swap(&mut Arc::make_mut(item).stack, stack);
                }
                dirty.stacks.insert(*mesh);
            }
            Edit::Mask(edit) => edit.swap(self, &mut dirty),
            Edit::Correctives(edit) => edit.swap(self, &mut dirty),
            Edit::Clusters(edit) => edit.swap(self, &mut dirty),
            Edit::Layers(edit) => {
                if let Some(item) = self.meshes.get_mut(&edit.mesh) {
                    let chunks = edit.swap(Arc::make_mut(item));
                    dirty.layers.insert(edit.mesh);
                    if !chunks.is_empty() {
                        dirty.influences.insert(edit.mesh, chunks);
                    }
                }
            }
            Edit::Clip { id, clip } => {
                let before = match clip.take() {
                    Some(clip) => self.clips.insert(*id, clip),
                    None => self.clips.remove(id),
                };
                *clip = before;
                dirty.clips.insert(*id);
            }
            Edit::LibraryPose { id, pose } => {
                let poses = Arc::make_mut(&mut self.poses);
                let before = match pose.take() {
                    Some(pose) => poses.insert(*id, pose),
                    None => poses.remove(id),
                };
                *pose = before;
                dirty.poses.insert(*id);
            }
            Edit::Recording { id, recording } => {
                let recordings = Arc::make_mut(&mut self.recordings);
                let before = match recording.take() {
                    Some(recording) => recordings.insert(*id, recording),
                    None => recordings.remove(id),
                };
                *recording = before;
                dirty.recordings.insert(*id);
            }
            Edit::JointName { joint, name } => {
                self.change_joint(*joint, |joint| std::mem::swap(&mut joint.name, name));
                dirty.joints = true;
            }
            Edit::JointRule { joint, rule } => {
                self.change_joint(*joint, |joint| std::mem::swap(&mut joint.rule, rule));
                dirty.joints = true;
                dirty.pose = true;
            }
            Edit::Constraints(edit) => edit.swap(self, &mut dirty),
            Edit::UnplacedConstraints(list) => self.swap_unplaced_constraints(list, &mut dirty),
            Edit::Locks(locked) => {
                std::mem::swap(&mut self.locked, locked);
                dirty.joints = true;
            }
            Edit::Humanoid(map) => {
                std::mem::swap(&mut self.human_map, map);
                dirty.joints = true;
            }
            Edit::Individual(edit) => edit.swap(self, &mut dirty),
            Edit::Rig(edit) => edit.swap(self, &mut dirty),
        }
        dirty
    }

    /// Changes a joint, except for its parent.
    fn change_joint(&mut self, joint: JointId, change: impl FnOnce(&mut Joint)) {
        let mut joints = self.skeleton.joints().to_vec();
        change(&mut joints[joint.get()]);
        // The parents were a forest before and still are.
        if let Ok(skeleton) = Skeleton::new(joints) {
            // Undo back to the source's skeleton restores its identity as well.
            self.skeleton = if skeleton == *self.source_skeleton {
                self.source_skeleton.clone()
            } else {
                Arc::new(skeleton)
            };
            self.order_constraints();
        }
    }
}

impl Edit {
    /// An edit that gives each of `points` its row, in the base layer. [`Document::paint_edit`] edits the active layer.
    pub fn influences(mesh: MeshId, points: Vec<u32>, rows: Rows) -> Self {
        Self::Influences(InfluenceEdit::new(mesh, points, rows))
    }

    /// An edit that gives each of `points` its value of a painted map.
    pub fn mask(mesh: MeshId, mask: impl Into<MaskOf>, points: Vec<u32>, values: Vec<f32>) -> Self {
        Self::Mask(MaskEdit::new(mesh, mask, points, values))
    }

    /// An edit of the artist's pose that takes it from `from` to `to`; `None` where they are equal.
    ///
    /// Both have one transform a joint; morph weights are not compared.
    pub fn pose_change(from: &Pose, to: &Pose) -> Option<Self> {
        let changed = from
            .locals
            .iter()
            .zip(&to.locals)
            .enumerate()
            .filter(|(_, (a, b))| a != b);
        let (joints, locals): (Vec<_>, Vec<_>) =
            changed.map(|(j, (_, b))| (JointId(j as u32), *b)).unzip();
        (!joints.is_empty()).then_some(Self::Pose { joints, locals })
    }

    /// Whether the edit may be applied to `document`.
    fn check(&self, document: &Document) -> Result<(), EditError> {
        let n_joints = document.skeleton.n_live();
        let has_joint = |joint: JointId| {
            if document.skeleton.is_live(joint) {
                Ok(())
            } else {
                Err(EditError::NoJoint { joint, n_joints })
            }
        };
        match self {
            Self::Influences(edit) => edit.check(document),
            Self::Pose { joints, locals } => {
                length("transforms", locals.len(), joints.len())?;
                let mut seen = BTreeSet::new();
                for (&joint, local) in joints.iter().zip(locals) {
                    has_joint(joint)?;
                    if !seen.insert(joint) {
                        return Err(EditError::Twice(joint));
                    }
                    if !local.is_finite() {
                        return Err(EditError::NotFinite(format!(
                            "the pose of {}",
                            document.skeleton.label(joint)
                        )));
                    }
                }
                Ok(())
            }
            Self::MorphWeights { joint, weights } => {
                has_joint(*joint)?;
                length(
                    "morph weights",
                    weights.len(),
                    document.pose.morph_weights[joint.get()].len(),
                )?;
                if weights.iter().all(|w| w.is_finite()) {
                    Ok(())
                } else {
                    Err(EditError::NotFinite("a morph weight".into()))
                }
            }
            Self::Stack { mesh, stack } => {
                if !document.meshes.contains_key(mesh) {
                    return Err(EditError::NoMesh(*mesh));
                }
                stack.check().map_err(EditError::Stack)
            }
            Self::Clip { clip, .. } => clip.as_ref().map_or(Ok(()), |clip| {
                document.check_clip(clip).map_err(|why| EditError::Clip {
                    name: clip.name.clone(),
                    why,
                })
            }),
            Self::LibraryPose { id, pose } => document.check_library_pose(*id, pose.as_deref()),
            Self::Recording { id, recording } => {
                document.check_recording(*id, recording.as_deref())
            }
            Self::Mask(edit) => edit.check(document),
            Self::Correctives(edit) => edit.check(document),
            Self::Clusters(edit) => edit.check(document),
            Self::Layers(edit) => edit.check(document),
            Self::JointName { joint, .. } => has_joint(*joint),
            Self::JointRule { joint, rule } => {
                has_joint(*joint)?;
                rule.check(*joint, &document.skeleton)
                    .map_err(|why| EditError::JointRule {
                        joint: document.skeleton.label(*joint),
                        why,
                    })
            }
            Self::Constraints(edit) => edit.check(document),
            Self::UnplacedConstraints(_) => Ok(()),
            Self::Locks(locked) => locked.iter().try_for_each(|&j| has_joint(j)),
            Self::Humanoid(map) => map.values().flatten().try_for_each(|&j| has_joint(j)),
            Self::Individual(edit) => edit.check(),
            Self::Rig(edit) => edit.check(document),
        }
    }

    /// Folds `later`, which was applied after this edit, into it; returns `later` where the two change different
    /// things.
    ///
    /// Both hold what the document had before them, so where both changed the same thing the earlier value is kept.
    pub fn absorb(&mut self, later: Self) -> Option<Self> {
        match (self, later) {
            (Self::Influences(a), Self::Influences(b))
                if (a.mesh, a.layer) == (b.mesh, b.layer) =>
            {
                a.absorb(&b);
                None
            }
            (Self::Mask(a), Self::Mask(b)) if (a.mesh, a.mask) == (b.mesh, b.mask) => {
                a.absorb(&b);
                None
            }
            (
                Self::Pose { joints, locals },
                Self::Pose {
                    joints: later_joints,
                    locals: later_locals,
                },
            ) => {
                // A drag changes the same joints in nearly every frame.
                if *joints == later_joints {
                    return None;
                }
                let known: BTreeSet<JointId> = joints.iter().copied().collect();
                for (joint, local) in later_joints.into_iter().zip(later_locals) {
                    if !known.contains(&joint) {
                        joints.push(joint);
                        locals.push(local);
                    }
                }
                None
            }
            (Self::MorphWeights { joint: a, .. }, Self::MorphWeights { joint: b, .. })
            | (Self::JointName { joint: a, .. }, Self::JointName { joint: b, .. })
            | (Self::JointRule { joint: a, .. }, Self::JointRule { joint: b, .. })
                if *a == b =>
            {
                None
            }
            (Self::Stack { mesh: a, .. }, Self::Stack { mesh: b, .. }) if *a == b => None,
            (Self::Clip { id: a, .. }, Self::Clip { id: b, .. }) if *a == b => None,
            (Self::LibraryPose { id: a, .. }, Self::LibraryPose { id: b, .. }) if *a == b => None,
            (Self::Recording { id: a, .. }, Self::Recording { id: b, .. }) if *a == b => None,
            (Self::Correctives(a), Self::Correctives(b)) if a.mesh == b.mesh => {
                a.absorb(&b);
                None
            }
            (Self::Clusters(a), Self::Clusters(b)) if a.mesh == b.mesh => {
                a.absorb(&b);
                None
            }
            (Self::Constraints(a), Self::Constraints(b)) if a.joint == b.joint => None,
            (Self::Individual(a), Self::Individual(b)) if a.person == b.person => None,
            (Self::Locks(_), Self::Locks(_))
            | (Self::Humanoid(_), Self::Humanoid(_))
            | (Self::UnplacedConstraints(_), Self::UnplacedConstraints(_)) => None,
            // Of two layer stacks the earlier one is the state before both.
            (Self::Layers(a), Self::Layers(b)) if a.mesh == b.mesh => None,
            (_, later) => Some(later),
        }
    }

    /// Whether this edit and `later` may be applied in either order.
    pub(super) fn commutes(&self, later: &Self) -> bool {
        if matches!(self, Self::Rig(_)) || matches!(later, Self::Rig(_)) {
            return false;
        }
        if matches!(
            (self, later),
            (Self::Recording { .. }, Self::Clusters(_))
                | (Self::Clusters(_), Self::Recording { .. })
        ) {
            return false;
        }
        if matches!((self, later), (Self::Constraints(_), Self::Constraints(_))) {
            return false;
        }
        match (self.layered_mesh(), later.layered_mesh()) {
            (Some(a), Some(b)) => {
                a != b || !(matches!(self, Self::Layers(_)) || matches!(later, Self::Layers(_)))
            }
            _ => true,
        }
    }

    /// The mesh whose layers the edit changes.
    fn layered_mesh(&self) -> Option<MeshId> {
        match self {
            Self::Influences(edit) => Some(edit.mesh),
            Self::Mask(edit) => matches!(edit.mask, MaskOf::Layer(_)).then_some(edit.mesh),
            Self::Layers(edit) => Some(edit.mesh),
            _ => None,
        }
    }

    /// Whether it changes the artist's pose and nothing else.
    pub(super) fn is_pose(&self) -> bool {
        matches!(self, Self::Pose { .. } | Self::MorphWeights { .. })
    }

    /// Whether the document already has what the edit would give it, as far as that is cheap to tell.
    pub(super) fn is_in(&self, document: &Document) -> bool {
        match self {
            Self::Stack { mesh, stack } => {
                document.meshes.get(mesh).map(|item| &item.stack) == Some(stack)
            }
            Self::Constraints(edit) => document.constraints_of(edit.joint) == edit.list,
            Self::UnplacedConstraints(list) => document.unplaced_constraints == *list,
            Self::Locks(locked) => document.locked == *locked,
            Self::Humanoid(map) => document.human_map == *map,
            Self::Individual(edit) => document.person(edit.person) == edit.individual.as_ref(),
            Self::Correctives(edit) => {
                let item = document.meshes.get(&edit.mesh);
                item.is_some_and(|item| Arc::ptr_eq(&item.correctives, &edit.correctives))
            }
            Self::Clusters(edit) => {
                let item = document.meshes.get(&edit.mesh);
                item.is_some_and(|item| item.clusters == edit.clusters)
            }
            Self::Layers(edit) => document.meshes.get(&edit.mesh).is_some_and(|item| {
                let same_rows = edit
                    .plain
                    .as_ref()
                    .is_none_or(|rows| *rows == item.influences);
                item.layers == edit.stack && same_rows
            }),
            _ => false,
        }
    }

    /// Frees memory that only serves [`Edit::absorb`]; nothing can be folded in afterwards.
    pub(super) fn seal(&mut self) {
        match self {
            Self::Influences(edit) => {
                edit.touched = None;
                edit.left_alone = Vec::new();
                edit.points.shrink_to_fit();
            }
            Self::Mask(edit) => {
                edit.touched = None;
                edit.points.shrink_to_fit();
                edit.values.shrink_to_fit();
            }
            _ => {}
        }
    }

    /// Whether the edit has an empty list of points: it changes nothing.
    pub fn changes_no_points(&self) -> bool {
        match self {
            Self::Influences(edit) => edit.points.is_empty(),
            Self::Mask(edit) => edit.points.is_empty(),
            _ => false,
        }
    }

    /// The mesh whose weights or map it changes, if it does.
    pub fn painted_mesh(&self) -> Option<MeshId> {
        match self {
            Self::Influences(edit) => Some(edit.mesh),
            Self::Mask(edit) => Some(edit.mesh),
            _ => None,
        }
    }

    /// Number of points whose weights it changes.
    pub fn n_points(&self) -> usize {
        match self {
            Self::Influences(edit) => edit.points.len(),
            _ => 0,
        }
    }

    /// Bytes that the payload keeps alive, counted against the limit of the history.
    pub fn heap_bytes(&self) -> usize {
        match self {
            Self::Influences(edit) => {
                edit.points.capacity() * 4
                    + edit.rows.heap_bytes()
                    + edit.touched.as_ref().map_or(0, PointSet::heap_bytes)
            }
            Self::Mask(edit) => {
                (edit.points.capacity() + edit.values.capacity()) * 4
                    + edit.touched.as_ref().map_or(0, PointSet::heap_bytes)
            }
            Self::Layers(edit) => edit.heap_bytes(),
            Self::Correctives(edit) => edit.heap_bytes(),
            Self::Clusters(edit) => edit.heap_bytes(),
            Self::JointRule { .. } => size_of::<JointRule>(),
            Self::Pose { joints, .. } => joints.len() * (4 + size_of::<Transform>()),
            Self::MorphWeights { weights, .. } => weights.len() * 4,
            Self::Stack { .. } => size_of::<DeformStack>(),
            Self::Clip { clip, .. } | Self::LibraryPose { pose: clip, .. } => {
                clip.as_ref().map_or(0, |clip| {
                    clip.channels
                        .iter()
                        .map(|c| (c.times.len() + c.values.len()) * 4 + 64)
                        .sum()
                })
            }
            Self::Recording { recording, .. } => {
                recording.as_ref().map_or(0, |item| item.heap_bytes())
            }
            Self::JointName { name, .. } => name.capacity(),
            Self::Constraints(edit) => edit.heap_bytes(),
            Self::UnplacedConstraints(list) => list.iter().map(|kept| kept.entry.len() + 64).sum(),
            Self::Locks(locked) => locked.len() * 16,
            Self::Humanoid(map) => map.len() * 32,
            Self::Individual(edit) => edit.heap_bytes(),
            Self::Rig(edit) => edit.heap_bytes(),
        }
    }
}
