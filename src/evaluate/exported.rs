//! An exported file beside the document that it was exported from, as any glTF player shows it.
//!
//! Data flow: the document of the file, read from its bytes -> its clip at the time on screen -> linear blend skinning
//! and morph targets -> by vertex to the points and normals of the document.
//!
//! Invariant: it depends on none of the document's stacks, rules and clips.

use super::plans::Plans;
use super::{ViewId, ViewRequest};
use crate::deform::{Moved, StackChoice, StackPreset};
use crate::document::{ClipId, Document, InstanceId};
use crate::mesh::Mesh;
use crate::skeleton::{Pose, PoseAt};
use glam::Vec3;
use std::collections::BTreeMap;
use std::sync::Arc;

/// An exported file that was read again, with its clips and instances matched to those of the document.
#[derive(Clone, Debug)]
pub struct ExportedModel {
    document: Document,
    clips: BTreeMap<ClipId, ClipId>,
    instances: Option<BTreeMap<InstanceId, InstanceId>>,
}

/// The file, evaluated for a view.
pub(super) struct ExportedView {
    model: Arc<ExportedModel>,
    plans: Plans,
    view: ViewId,
    shown: BTreeMap<InstanceId, Shown>,
}

/// One instance of the file, in the point order of the document.
struct Shown {
    /// The document's mesh that gives the order.
    mesh: Arc<Mesh>,
    /// n_points, n_normals: their indices in the mesh of the file.
    points: Vec<u32>,
    of_normals: Vec<u32>,
    /// n_points, n_normals, world.
    positions: Vec<Vec3>,
    normals: Vec<Vec3>,
}

impl ExportedModel {
    /// `document`: of the file; `clips`, `instances`: from ids of the exported document to ids of the file. `instances`
    /// `None`: the file has the same instances and the same nodes.
    pub fn new(
        document: Document,
        clips: BTreeMap<ClipId, ClipId>,
        instances: Option<BTreeMap<InstanceId, InstanceId>>,
    ) -> Self {
        Self {
            document,
            clips,
            instances,
        }
    }

    /// The document of the file.
    pub fn document(&self) -> &Document {
        &self.document
    }

    /// Whether the file has this clip of the document.
    pub fn has_clip(&self, clip: ClipId) -> bool {
        self.clips.contains_key(&clip)
    }

    /// Whether its clips were matched to those of the document; a file with another number of clips is not.
    pub fn matches_clips(&self) -> bool {
        !self.clips.is_empty() || self.document.clips().is_empty()
    }

    /// Whether it has the nodes of the exported document; else it shows its rest pose where no clip plays.
    pub fn keeps_nodes(&self) -> bool {
        self.instances.is_none()
    }

    /// The instance of the file for `id` of the exported document.
    fn instance(&self, id: InstanceId) -> Option<InstanceId> {
        match &self.instances {
            Some(instances) => instances.get(&id).copied(),
            None => Some(id),
        }
    }

    /// The pose of the file at the time that `document` shows. Without a clip of the file, its joints take `pose`, and
    /// added joints stay at rest; a file with other nodes then is at rest.
    fn pose_at(&self, document: &Document, pose: &Pose) -> Pose {
        let playback = &document.session().playback;
        let clip = playback.clip.filter(|_| !playback.unkeyed);
        let clip = clip.and_then(|id| self.document.clips().get(self.clips.get(&id)?));
        if let Some(clip) = clip {
            return self.document.keyed_pose(clip, playback.time_secs);
        }
        let mut own = Pose::clone(self.document.rest_pose());
        if !self.keeps_nodes() {
            return own;
        }
        for (own, shown) in own.locals.iter_mut().zip(&pose.locals) {
            *own = *shown;
        }
        for (own, shown) in own.morph_weights.iter_mut().zip(&pose.morph_weights) {
            for (own, shown) in own.iter_mut().zip(shown) {
                *own = *shown;
            }
        }
        own
    }
}

impl ExportedView {
    pub(super) fn new(model: Arc<ExportedModel>) -> Self {
        Self {
            model,
            plans: Plans::default(),
            view: ViewId::OWN,
            shown: BTreeMap::new(),
        }
    }

    pub(super) fn model(&self) -> &Arc<ExportedModel> {
        &self.model
    }

    /// Evaluates the file at the time that `document` shows in `pose`; adds its changes to `moved`.
    pub(super) fn evaluate(
        &mut self,
        view: ViewId,
        document: &Document,
        pose: &Pose,
        moved: &mut Vec<(ViewId, InstanceId, Moved)>,
    ) {
        if view != self.view {
            self.shown.clear();
            self.view = view;
        }
        let linear = ViewRequest {
            view: ViewId::OWN,
            stack: StackChoice::Preset(StackPreset::Lbs),
            plain: false,
        };
        let file = &self.model.document;
        let pose = self.model.pose_at(document, pose);
        let mut played = Vec::new();
        self.plans.begin(file, &pose, std::slice::from_ref(&linear));
        let at = PoseAt::from(&pose);
        self.plans.evaluate_view(file, at, &linear, &mut played);
        let played: BTreeMap<InstanceId, Moved> = played
            .into_iter()
            .map(|(_, id, moved)| (id, moved))
            .collect();
        for (&id, instance) in document.instances() {
            let own = document.meshes().get(&instance.mesh);
            let there = self.model.instance(id);
            let read = there.and_then(|there| file.instances().get(&there));
            let read = read.and_then(|i| file.meshes().get(&i.mesh));
            let plan = there.and_then(|there| self.plans.plan(ViewId::OWN, there));
            let theirs = there.and_then(|there| played.get(&there));
            let (Some(own), Some(read), Some(plan), Some(theirs)) = (own, read, plan, theirs)
            else {
                continue;
            };
            let known = self.shown.get(&id);
            let is_known = known.is_some_and(|shown| Arc::ptr_eq(&shown.mesh, &own.geometry));
            if !is_known {
                match Shown::of(&own.geometry, &read.geometry) {
                    Some(shown) => self.shown.insert(id, shown),
                    None => self.shown.remove(&id),
                };
            }
            let Some(shown) = self.shown.get_mut(&id) else {
                continue;
            };
            if is_known && *theirs == Moved::Nothing {
                moved.push((view, id, Moved::Nothing));
                continue;
            }
            shown.take(plan.positions(), plan.normals());
            moved.push((view, id, Moved::All));
        }
    }

    /// World positions of the points and world normals of one instance; `None` in another view.
    pub(super) fn posed_in(
        &self,
        view: ViewId,
        instance: InstanceId,
    ) -> Option<(&[Vec3], &[Vec3])> {
        let shown = self.shown.get(&instance).filter(|_| view == self.view)?;
        Some((&shown.positions, &shown.normals))
    }
}

impl Shown {
    /// The points and normals of `own` in `read`; `None` where they are not the same vertices.
    fn of(own: &Arc<Mesh>, read: &Mesh) -> Option<Self> {
        if own.n_vertices() != read.n_vertices() {
            return None;
        }
        let of_point = own.first_vertex_of_point();
        let of_point = of_point
            .iter()
            .map(|&v| read.point_of_vertex.get(v as usize).copied());
        let mut of_normals = vec![None; own.normals.len()];
        for (&mine, &theirs) in own.normal_of_vertex.iter().zip(&read.normal_of_vertex) {
            of_normals[mine as usize].get_or_insert(theirs);
        }
        Some(Self {
            mesh: own.clone(),
            points: of_point.collect::<Option<_>>()?,
            of_normals: of_normals.into_iter().collect::<Option<_>>()?,
            positions: Vec::new(),
            normals: Vec::new(),
        })
    }

    fn take(&mut self, positions: &[Vec3], normals: &[Vec3]) {
        let points = self.points.iter().map(|&p| positions[p as usize]);
        self.positions.clear();
        self.positions.extend(points);
        let directions = self.of_normals.iter().map(|&n| normals[n as usize]);
        self.normals.clear();
        self.normals.extend(directions);
    }
}
