//! Every way to change a document.
//!
//! An [`Edit`] *swaps* its payload with the document: applied twice it restores the document bit for bit. So the same
//! value serves do, undo and redo.

use super::{ClipId, Document, MeshId, invariants};
use crate::deform::{DeformStack, MaskKind};
use crate::math::Transform;
use crate::mesh::PointSet;
use crate::skeleton::{Clip, Joint, JointIndex, JointRule, Pose, Skeleton};
use crate::skinning::Rows;
use crate::skinning::influences::CHUNK;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// A change whose payload is exchanged with what the document holds.
#[derive(Clone, Debug)]
pub enum Edit {
    /// New influences for some points.
    Influences(InfluenceEdit),
    /// New local transforms for some joints of the artist's pose; joints are distinct.
    Pose {
        /// Which joints.
        joints: Vec<JointIndex>,
        /// Their transforms, same length.
        locals: Vec<Transform>,
    },
    /// New morph weights for the mesh of one joint.
    MorphWeights {
        /// The joint that draws the mesh.
        joint: JointIndex,
        /// One a morph target.
        weights: Vec<f32>,
    },
    /// Another deformer stack.
    Stack {
        /// The mesh it deforms.
        mesh: MeshId,
        /// The stack.
        stack: Arc<DeformStack>,
    },
    /// New values of a painted map for some points.
    Mask(MaskEdit),
    /// A clip added (the document has none of this id), replaced, or removed (`None`).
    Clip {
        /// Which clip.
        id: ClipId,
        /// Its new content.
        clip: Option<Arc<Clip>>,
    },
    /// Another name for a joint.
    JointName {
        /// Which joint.
        joint: JointIndex,
        /// Its name.
        name: String,
    },
    /// How the artist overrides what follows from a joint's place in the tree.
    JointRule {
        /// Which joint.
        joint: JointIndex,
        /// Its rule.
        rule: JointRule,
    },
    /// Another set of locked joints.
    Locks(Arc<BTreeSet<JointIndex>>),
}

/// Rows for some points of a mesh.
#[derive(Clone, Debug)]
pub struct InfluenceEdit {
    /// The mesh.
    pub mesh: MeshId,
    /// Distinct points, in any order.
    pub points: Vec<u32>,
    /// One row a point.
    pub rows: Rows,
    /// The points as a set, while a drag is open and edits are folded into this one.
    touched: Option<PointSet>,
}

impl InfluenceEdit {
    /// An edit that gives each of `points` its row.
    pub fn new(mesh: MeshId, points: Vec<u32>, rows: Rows) -> Self {
        Self {
            mesh,
            points,
            rows,
            touched: None,
        }
    }
}

/// Values for some points of a painted map.
#[derive(Clone, Debug)]
pub struct MaskEdit {
    /// The mesh.
    pub mesh: MeshId,
    /// Which of its maps.
    pub mask: MaskKind,
    /// Distinct points, in any order.
    pub points: Vec<u32>,
    /// One a point: 0 - [`MaskKind::limit`].
    pub values: Vec<f32>,
    /// The points as a set, while a drag is open and edits are folded into this one.
    touched: Option<PointSet>,
}

impl MaskEdit {
    /// An edit that gives each of `points` its value.
    pub fn new(mesh: MeshId, mask: MaskKind, points: Vec<u32>, values: Vec<f32>) -> Self {
        Self {
            mesh,
            mask,
            points,
            values,
            touched: None,
        }
    }
}

/// Why an edit cannot be applied; the document is unchanged.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum EditError {
    /// The document has no such mesh.
    #[error("there is no mesh {}", .0.0)]
    NoMesh(MeshId),
    /// The document has no such joint.
    #[error("there is no bone {}; the model has {n_joints}", joint.0)]
    NoJoint {
        /// The joint.
        joint: JointIndex,
        /// How many there are.
        n_joints: usize,
    },
    /// Two lists of an edit do not belong together.
    #[error("{what}: {found} given, {expected} needed")]
    Length {
        /// Which list.
        what: &'static str,
        /// Its length.
        found: usize,
        /// What it should be.
        expected: usize,
    },
    /// A point is outside of the mesh or named twice.
    #[error("point {point} is named twice or outside of the mesh's {n_points} points")]
    Point {
        /// The point.
        point: u32,
        /// How many there are.
        n_points: usize,
    },
    /// A row is not a list of distinct joints of the skin with finite weights >= 0.
    #[error("the weights of point {point} are not valid: {why}")]
    Row {
        /// The point.
        point: u32,
        /// What is wrong.
        why: String,
    },
    /// A number of a stack is out of its range.
    #[error("{0}")]
    Stack(String),
    /// A value of a painted map is out of its range.
    #[error("{value} is not a {}: 0 - {} is", .mask.label().to_lowercase(), .mask.limit())]
    MaskValue {
        /// The map.
        mask: MaskKind,
        /// The value.
        value: f32,
    },
    /// A joint's rule cannot be.
    #[error("\"{joint}\": {why}")]
    JointRule {
        /// The joint.
        joint: String,
        /// What is wrong.
        why: String,
    },
    /// A joint is named twice.
    #[error("bone {} is named twice", .0.0)]
    Twice(JointIndex),
    /// A number is not finite.
    #[error("{0} has a value that is not a finite number")]
    NotFinite(String),
    /// A clip's channels do not fit the document.
    #[error("the clip \"{name}\" is not valid: {why}")]
    Clip {
        /// The clip.
        name: String,
        /// What is wrong.
        why: String,
    },
}

/// What an applied edit made stale.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Dirty {
    /// For each mesh, the chunks of points whose influences changed, ascending.
    pub influences: BTreeMap<MeshId, BTreeSet<u32>>,
    /// For each mesh, the painted maps whose values changed, with the chunks of points, ascending.
    pub masks: BTreeMap<(MeshId, MaskKind), BTreeSet<u32>>,
    /// The artist's pose or morph weights.
    pub pose: bool,
    /// Names or locks of joints.
    pub joints: bool,
    /// Meshes whose stack changed.
    pub stacks: BTreeSet<MeshId>,
    /// Clips added, changed or removed.
    pub clips: BTreeSet<ClipId>,
}

impl Dirty {
    /// Adds what `other` made stale.
    pub fn merge(&mut self, other: Self) {
        for (mesh, chunks) in other.influences {
            self.influences.entry(mesh).or_default().extend(chunks);
        }
        for (map, chunks) in other.masks {
            self.masks.entry(map).or_default().extend(chunks);
        }
        self.pose |= other.pose;
        self.joints |= other.joints;
        self.stacks.extend(other.stacks);
        self.clips.extend(other.clips);
    }

    /// Whether nothing is stale.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl Document {
    /// Exchanges the payload of `edit` with the document. Checks first: on `Err` nothing changed.
    pub fn apply(&mut self, edit: &mut Edit) -> Result<Dirty, EditError> {
        edit.check(self)?;
        let mut dirty = Dirty::default();
        match edit {
            Edit::Influences(InfluenceEdit {
                mesh, points, rows, ..
            }) => {
                if let Some(item) = self.meshes.get_mut(mesh) {
                    Arc::make_mut(item).influences.swap_rows(points, rows);
                }
                let chunks = points.iter().map(|&p| p / CHUNK as u32).collect();
                dirty.influences.insert(*mesh, chunks);
            }
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
            Edit::Mask(MaskEdit {
                mesh,
                mask,
                points,
                values,
                ..
            }) => {
                if let Some(item) = self.meshes.get_mut(mesh) {
                    Arc::make_mut(item).masks.swap(*mask, points, values);
                }
                let chunks = points.iter().map(|&p| p / CHUNK as u32).collect();
                dirty.masks.insert((*mesh, *mask), chunks);
            }
            Edit::Clip { id, clip } => {
                let before = match clip.take() {
                    Some(clip) => self.clips.insert(*id, clip),
                    None => self.clips.remove(id),
                };
                *clip = before;
                dirty.clips.insert(*id);
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
            Edit::Locks(locked) => {
                std::mem::swap(&mut self.locked, locked);
                dirty.joints = true;
            }
        }
        Ok(dirty)
    }

    /// Changes a joint in all but its parent.
    fn change_joint(&mut self, joint: JointIndex, change: impl FnOnce(&mut Joint)) {
        let mut joints = self.skeleton.joints().to_vec();
        change(&mut joints[joint.get()]);
        // The parents were a forest before and still are.
        if let Ok(skeleton) = Skeleton::new(joints) {
            // An undone change is the source's own skeleton again.
            self.skeleton = if skeleton == *self.source_skeleton {
                self.source_skeleton.clone()
            } else {
                Arc::new(skeleton)
            };
        }
    }
}

impl Edit {
    /// An edit that gives each of `points` its row.
    pub fn influences(mesh: MeshId, points: Vec<u32>, rows: Rows) -> Self {
        Self::Influences(InfluenceEdit::new(mesh, points, rows))
    }

    /// An edit that gives each of `points` its value of a painted map.
    pub fn mask(mesh: MeshId, mask: MaskKind, points: Vec<u32>, values: Vec<f32>) -> Self {
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
        let (joints, locals): (Vec<_>, Vec<_>) = changed
            .map(|(j, (_, b))| (JointIndex(j as u32), *b))
            .unzip();
        (!joints.is_empty()).then_some(Self::Pose { joints, locals })
    }

    /// Whether the edit may be applied to `document`.
    fn check(&self, document: &Document) -> Result<(), EditError> {
        let n_joints = document.skeleton.len();
        let has_joint = |joint: JointIndex| {
            if joint.get() < n_joints {
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
                invariants::check_clip(clip, &document.rest_pose).map_err(|why| EditError::Clip {
                    name: clip.name.clone(),
                    why,
                })
            }),
            Self::Mask(edit) => edit.check(document),
            Self::JointName { joint, .. } => has_joint(*joint),
            Self::JointRule { joint, rule } => {
                has_joint(*joint)?;
                rule.check(*joint, &document.skeleton)
                    .map_err(|why| EditError::JointRule {
                        joint: document.skeleton.label(*joint),
                        why,
                    })
            }
            Self::Locks(locked) => locked.iter().try_for_each(|&j| has_joint(j)),
        }
    }

    /// Folds `later`, applied after this edit, into it; gives `later` back where the two do not concern the same thing.
    ///
    /// Both hold what the document had before them, so of a thing that both changed the earlier value is kept.
    pub fn absorb(&mut self, later: Self) -> Option<Self> {
        match (self, later) {
            (Self::Influences(a), Self::Influences(b)) if a.mesh == b.mesh => {
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
                let known: BTreeSet<JointIndex> = joints.iter().copied().collect();
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
            (Self::Locks(_), Self::Locks(_)) => None,
            (_, later) => Some(later),
        }
    }

    /// Whether the document has what the edit would give it, as far as that is cheap to tell.
    pub(super) fn is_in(&self, document: &Document) -> bool {
        match self {
            Self::Stack { mesh, stack } => {
                document.meshes.get(mesh).map(|item| &item.stack) == Some(stack)
            }
            Self::Locks(locked) => document.locked == *locked,
            _ => false,
        }
    }

    /// Gives back memory that only serves [`Edit::absorb`]: nothing will be folded in any more.
    pub(super) fn seal(&mut self) {
        match self {
            Self::Influences(edit) => {
                edit.touched = None;
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

    /// Bytes the payload keeps alive, for the bound of the history.
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
            Self::JointRule { .. } => size_of::<JointRule>(),
            Self::Pose { joints, .. } => joints.len() * (4 + size_of::<Transform>()),
            Self::MorphWeights { weights, .. } => weights.len() * 4,
            Self::Stack { .. } => size_of::<DeformStack>(),
            Self::Clip { clip, .. } => clip.as_ref().map_or(0, |clip| {
                clip.channels
                    .iter()
                    .map(|c| (c.times.len() + c.values.len()) * 4 + 64)
                    .sum()
            }),
            Self::JointName { name, .. } => name.capacity(),
            Self::Locks(locked) => locked.len() * 16,
        }
    }
}

impl InfluenceEdit {
    fn check(&self, document: &Document) -> Result<(), EditError> {
        let item = document
            .meshes
            .get(&self.mesh)
            .ok_or(EditError::NoMesh(self.mesh))?;
        let n_points = item.influences.len();
        length("rows", self.rows.len(), self.points.len())?;
        let n_joints = document.n_skin_joints(self.mesh).unwrap_or(0);
        let mut seen = PointSet::default();
        for (&point, row) in self.points.iter().zip(self.rows.iter()) {
            if point as usize >= n_points || !seen.insert(point) {
                return Err(EditError::Point { point, n_points });
            }
            invariants::check_row(row, n_joints).map_err(|why| EditError::Row { point, why })?;
        }
        Ok(())
    }

    fn absorb(&mut self, later: &Self) {
        let touched = self
            .touched
            .get_or_insert_with(|| self.points.iter().copied().collect());
        for (&point, row) in later.points.iter().zip(later.rows.iter()) {
            if touched.insert(point) {
                self.points.push(point);
                self.rows.push(row);
            }
        }
    }
}

impl MaskEdit {
    fn check(&self, document: &Document) -> Result<(), EditError> {
        let item = document
            .meshes
            .get(&self.mesh)
            .ok_or(EditError::NoMesh(self.mesh))?;
        let n_points = item.influences.len();
        length("values", self.values.len(), self.points.len())?;
        let mut seen = PointSet::default();
        for (&point, &value) in self.points.iter().zip(&self.values) {
            if point as usize >= n_points || !seen.insert(point) {
                return Err(EditError::Point { point, n_points });
            }
            if !(0.0..=self.mask.limit()).contains(&value) {
                return Err(EditError::MaskValue {
                    mask: self.mask,
                    value,
                });
            }
        }
        Ok(())
    }

    fn absorb(&mut self, later: &Self) {
        let touched = self
            .touched
            .get_or_insert_with(|| self.points.iter().copied().collect());
        for (&point, &value) in later.points.iter().zip(&later.values) {
            if touched.insert(point) {
                self.points.push(point);
                self.values.push(value);
            }
        }
    }
}

fn length(what: &'static str, found: usize, expected: usize) -> Result<(), EditError> {
    if found == expected {
        Ok(())
    } else {
        Err(EditError::Length {
            what,
            found,
            expected,
        })
    }
}
