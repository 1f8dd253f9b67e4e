//! Every way to change a document.
//!
//! An [`Edit`] *swaps* its payload with the document: applied twice it restores the document bit for bit. So the same
//! value serves do, undo and redo.

use super::layers::{LayerStack, LayersEdit};
use super::rig::RigEdit;
use super::{ClipId, Document, LayerId, MeshId, MeshItem, invariants};
use crate::deform::{DeformStack, MaskKind};
use crate::math::Transform;
use crate::mesh::PointSet;
use crate::skeleton::{Clip, Joint, JointId, JointRule, Pose, Skeleton};
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
        joints: Vec<JointId>,
        /// Their transforms, same length.
        locals: Vec<Transform>,
    },
    /// New morph weights for the mesh of one joint.
    MorphWeights {
        /// The joint that draws the mesh.
        joint: JointId,
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
    /// Other layers of weights, or none.
    Layers(LayersEdit),
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
        joint: JointId,
        /// Its name.
        name: String,
    },
    /// How the artist overrides what follows from a joint's place in the tree.
    JointRule {
        /// Which joint.
        joint: JointId,
        /// Its rule.
        rule: JointRule,
    },
    /// Another set of locked joints.
    Locks(Arc<BTreeSet<JointId>>),
    /// Other joints, with everything that follows from them.
    Rig(Box<RigEdit>),
}

/// Rows for some points of a mesh.
#[derive(Clone, Debug)]
pub struct InfluenceEdit {
    /// The mesh.
    pub mesh: MeshId,
    /// The layer whose rows they are; `None`: the base, which without layers is all there is.
    pub layer: Option<LayerId>,
    /// Distinct points, in any order.
    pub points: Vec<u32>,
    /// One row a point.
    pub rows: Rows,
    /// Points of the request that stay unchanged because of locked bones; cleared when the step is closed.
    pub left_alone: Vec<u32>,
    /// The points as a set, while a drag is open and edits are folded into this one.
    touched: Option<PointSet>,
}

impl InfluenceEdit {
    /// An edit that gives each of `points` its row, in the base.
    pub fn new(mesh: MeshId, points: Vec<u32>, rows: Rows) -> Self {
        Self {
            mesh,
            layer: None,
            points,
            rows,
            left_alone: Vec::new(),
            touched: None,
        }
    }

    /// The same in a layer.
    #[must_use]
    pub fn in_layer(mut self, layer: LayerId) -> Self {
        self.layer = (layer != LayerStack::BASE).then_some(layer);
        self
    }
}

/// A painted map of a mesh.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MaskOf {
    /// How much of a part of the stack points take.
    Stack(MaskKind),
    /// How much of a layer of weights they take.
    Layer(LayerId),
}

impl From<MaskKind> for MaskOf {
    fn from(kind: MaskKind) -> Self {
        Self::Stack(kind)
    }
}

impl From<LayerId> for MaskOf {
    fn from(layer: LayerId) -> Self {
        Self::Layer(layer)
    }
}

impl MaskOf {
    /// The largest value of the map; the smallest is 0.
    pub fn limit(self) -> f32 {
        match self {
            Self::Stack(kind) => kind.limit(),
            Self::Layer(_) => 1.0,
        }
    }

    /// What lists call it.
    pub fn label(self) -> &'static str {
        match self {
            Self::Stack(kind) => kind.label(),
            Self::Layer(_) => "Layer mask",
        }
    }

    /// The value of a point of `item`.
    pub fn value(self, item: &MeshItem, point: u32) -> f32 {
        match self {
            Self::Stack(kind) => item.masks.value(kind, point),
            Self::Layer(id) => {
                let layer = item.layers.get(id);
                layer.map_or(MaskKind::UNPAINTED, |layer| layer.mask.get(point))
            }
        }
    }

    /// The values of a chunk of points of `item`; `None` where none was painted.
    pub fn chunk(self, item: &MeshItem, chunk: usize) -> Option<&Arc<[f32; CHUNK]>> {
        match self {
            Self::Stack(kind) => item.masks.chunk(kind, chunk),
            Self::Layer(id) => item.layers.get(id)?.mask.chunk(chunk),
        }
    }
}

/// Values for some points of a painted map.
#[derive(Clone, Debug)]
pub struct MaskEdit {
    /// The mesh.
    pub mesh: MeshId,
    /// Which of its maps.
    pub mask: MaskOf,
    /// Distinct points, in any order.
    pub points: Vec<u32>,
    /// One a point: 0 - [`MaskOf::limit`].
    pub values: Vec<f32>,
    /// The points as a set, while a drag is open and edits are folded into this one.
    touched: Option<PointSet>,
}

impl MaskEdit {
    /// An edit that gives each of `points` its value.
    pub fn new(mesh: MeshId, mask: impl Into<MaskOf>, points: Vec<u32>, values: Vec<f32>) -> Self {
        Self {
            mesh,
            mask: mask.into(),
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
        joint: JointId,
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
    /// The mesh has no such layer.
    #[error("there is no layer {}", .0.0)]
    NoLayer(LayerId),
    /// Layers do not fit the mesh or each other.
    #[error("the layers are not valid: {0}")]
    Layers(String),
    /// A value of a painted map is out of its range.
    #[error("{value} is not a {}: 0 - {} is", .mask.label().to_lowercase(), .mask.limit())]
    MaskValue {
        /// The map.
        mask: MaskOf,
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
    Twice(JointId),
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
    /// A change of the joints breaks an invariant.
    #[error("{0}")]
    Rig(String),
}

/// What an applied edit made stale.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Dirty {
    /// For each mesh, the chunks of points whose influences changed, ascending.
    pub influences: BTreeMap<MeshId, BTreeSet<u32>>,
    /// For each mesh, the painted maps whose values changed, with the chunks of points, ascending.
    pub masks: BTreeMap<(MeshId, MaskOf), BTreeSet<u32>>,
    /// Meshes whose layers changed, also where that is not seen.
    pub layers: BTreeSet<MeshId>,
    /// The artist's pose or morph weights.
    pub pose: bool,
    /// Names or locks of joints.
    pub joints: bool,
    /// Which joints there are, their tree, or the skins.
    pub rig: bool,
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
        self.layers.extend(other.layers);
        self.pose |= other.pose;
        self.joints |= other.joints;
        self.rig |= other.rig;
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
            Edit::Rig(edit) => edit.swap(self, &mut dirty),
        }
        Ok(dirty)
    }

    /// Changes a joint in all but its parent.
    fn change_joint(&mut self, joint: JointId, change: impl FnOnce(&mut Joint)) {
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
    /// An edit that gives each of `points` its row, in the base: [`Document::paint_edit`] is about the active layer.
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
                invariants::check_clip(clip, &document.rest_pose).map_err(|why| EditError::Clip {
                    name: clip.name.clone(),
                    why,
                })
            }),
            Self::Mask(edit) => edit.check(document),
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
            Self::Locks(locked) => locked.iter().try_for_each(|&j| has_joint(j)),
            Self::Rig(edit) => edit.check(document),
        }
    }

    /// Folds `later`, applied after this edit, into it; gives `later` back where the two do not concern the same thing.
    ///
    /// Both hold what the document had before them, so of a thing that both changed the earlier value is kept.
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
            (Self::Locks(_), Self::Locks(_)) => None,
            // Of two stacks of layers the earlier one is what was there before both.
            (Self::Layers(a), Self::Layers(b)) if a.mesh == b.mesh => None,
            (_, later) => Some(later),
        }
    }

    /// Whether this edit and `later` may be applied in either order.
    pub(super) fn commutes(&self, later: &Self) -> bool {
        if matches!(self, Self::Rig(_)) || matches!(later, Self::Rig(_)) {
            return false;
        }
        match (self.layered_mesh(), later.layered_mesh()) {
            (Some(a), Some(b)) => {
                a != b || !(matches!(self, Self::Layers(_)) || matches!(later, Self::Layers(_)))
            }
            _ => true,
        }
    }

    /// The mesh of whose layers the edit is a change.
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

    /// Whether the document has what the edit would give it, as far as that is cheap to tell.
    pub(super) fn is_in(&self, document: &Document) -> bool {
        match self {
            Self::Stack { mesh, stack } => {
                document.meshes.get(mesh).map(|item| &item.stack) == Some(stack)
            }
            Self::Locks(locked) => document.locked == *locked,
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

    /// Gives back memory that only serves [`Edit::absorb`]: nothing will be folded in any more.
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

    /// Whether the edit names no point of a mesh: it changes nothing.
    pub fn is_of_no_point(&self) -> bool {
        match self {
            Self::Influences(edit) => edit.points.is_empty(),
            Self::Mask(edit) => edit.points.is_empty(),
            _ => false,
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
            Self::Layers(edit) => edit.heap_bytes(),
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
            Self::Rig(edit) => edit.heap_bytes(),
        }
    }
}

impl InfluenceEdit {
    pub(super) fn check(&self, document: &Document) -> Result<(), EditError> {
        let item = document
            .meshes
            .get(&self.mesh)
            .ok_or(EditError::NoMesh(self.mesh))?;
        layer_index(item, self.layer)?;
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

    pub(super) fn swap(&mut self, document: &mut Document, dirty: &mut Dirty) {
        let Some(item) = document.meshes.get_mut(&self.mesh) else {
            return;
        };
        let item = Arc::make_mut(item);
        let chunks = if item.layers.is_plain() {
            item.influences.swap_rows(&self.points, &mut self.rows);
            self.points.iter().map(|&p| p / CHUNK as u32).collect()
        } else {
            let Ok(index) = layer_index(item, self.layer) else {
                return;
            };
            dirty.layers.insert(self.mesh);
            let before = &item.influences;
            let chunks = item
                .layers
                .swap_rows(index, &self.points, &mut self.rows, before);
            show(item, chunks)
        };
        dirty.influences.insert(self.mesh, chunks);
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
        if let MaskOf::Layer(layer) = self.mask {
            // The base is always shown, all of it.
            if layer_index(item, Some(layer))? == 0 {
                return Err(EditError::NoLayer(layer));
            }
        }
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

    fn swap(&mut self, document: &mut Document, dirty: &mut Dirty) {
        let Some(item) = document.meshes.get_mut(&self.mesh) else {
            return;
        };
        let item = Arc::make_mut(item);
        match self.mask {
            MaskOf::Stack(kind) => item.masks.swap(kind, &self.points, &mut self.values),
            MaskOf::Layer(layer) => {
                let Ok(index) = layer_index(item, Some(layer)) else {
                    return;
                };
                dirty.layers.insert(self.mesh);
                let before = &item.influences;
                let chunks = item
                    .layers
                    .swap_mask(index, &self.points, &mut self.values, before);
                let chunks = show(item, chunks);
                if !chunks.is_empty() {
                    dirty.influences.insert(self.mesh, chunks);
                }
            }
        }
        let chunks = self.points.iter().map(|&p| p / CHUNK as u32).collect();
        dirty.masks.insert((self.mesh, self.mask), chunks);
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

/// The place of `layer`, or of the base, in the stack of `item`; 0 without layers.
fn layer_index(item: &MeshItem, layer: Option<LayerId>) -> Result<usize, EditError> {
    match layer {
        None => Ok(0),
        Some(layer) => item.layers.position(layer).ok_or(EditError::NoLayer(layer)),
    }
}

/// Makes the composition of the layers the influences of `item`, in chunks that may have changed. Returns those that
/// did.
fn show(item: &mut MeshItem, chunks: BTreeSet<usize>) -> BTreeSet<u32> {
    let Some(result) = item.layers.result() else {
        return BTreeSet::new();
    };
    let mut changed = BTreeSet::new();
    for chunk in chunks {
        let rows = &result.chunks()[chunk];
        if !Arc::ptr_eq(rows, &item.influences.chunks()[chunk]) {
            item.influences.set_chunk(chunk, rows.clone());
            changed.insert(chunk as u32);
        }
    }
    changed
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
