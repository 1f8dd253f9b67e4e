//! Applies a project to a freshly imported document: every part becomes an edit.

use super::found_copies::{Copies, Found};
use super::joints::{self, JointKey, Joints};
use super::names::Names;
use super::recording_entries::RecordingEntry;
use super::sample_entries::CorrectiveEntry;
use super::session::{self, Session};
use super::types::all_finite;
use super::v11::{
    ClipEntry, LayerEntry, MeshMask, MeshPoints, MeshWeights, Named, Project, SkinJoint, StackEntry,
};
use super::{ProjectError, clips, correctives, layers, masks, points, recordings, rig, rows};
use crate::deform::{DeformStack, MaskKind};
use crate::document::{
    ClipId, CorrectivesEdit, Document, Edit, Layer, LayerId, LayerStack, MeshId, Person, PoseId,
    checks,
};
use crate::finding::{Finding, counted};
use crate::skeleton::JointId;
use crate::task::Task;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// `document`, as imported, with the content of `project`, and findings about what did not fit.
///
/// Fails for encoded data that cannot be decoded; anything else that is wrong is skipped with a finding.
pub fn apply_project(
    document: Document,
    project: Project,
) -> Result<(Document, Vec<Finding>), ProjectError> {
    apply_within(document, project, &Task::new())
}

/// [`apply_project`] as part of a cancellable task.
pub(super) fn apply_within(
    document: Document,
    project: Project,
    task: &Task,
) -> Result<(Document, Vec<Finding>), ProjectError> {
    let meshes = document.meshes().iter();
    let clips = document.source_clips().iter();
    let mut opening = Opening {
        joints: joints::of(&document),
        meshes: Names::new(
            "mesh",
            meshes.map(|(&id, item)| (id.0, item.geometry.name.clone(), id)),
        ),
        clips: Names::new(
            "clip",
            clips.map(|(&id, clip)| (id.0, clip.name.clone(), id)),
        ),
        restored_clips: BTreeMap::new(),
        copies: Copies::default(),
        document,
        findings: Vec::new(),
    };
    let entries = rig::Entries {
        joints: project.joints,
        skins: project.skins,
        instances: project.instances,
    };
    let n_cycles = opening.document.constraint_cycles().len();
    opening.clear_constraints(&project.constraints);
    opening.mesh_copies(project.mesh_copies);
    rig::restore(
        entries,
        &mut opening.document,
        &mut opening.joints,
        &mut opening.findings,
    );
    opening.shapes(project.shapes);
    opening.weights(project.weights)?;
    opening.kept_weights(project.kept_weights)?;
    opening.layers(project.layers, task)?;
    opening.pass_on_removed();
    opening.stacks(project.stacks);
    opening.masks(project.masks)?;
    opening.recordings(project.recordings, task)?;
    opening.pose(project.pose);
    opening.names(project.renamed);
    opening.rules(&project.rules);
    opening.constraints(&project.constraints, n_cycles)?;
    opening.locks(&project.locked);
    opening.humanoid(&project.humanoid);
    opening.clips(project.removed_clips, project.clips)?;
    opening.poses(project.poses)?;
    // Their keyframes lie in clips; samples may be those of clusters alone.
    opening.clusters(project.clusters)?;
    opening.correctives(project.correctives)?;
    opening.individual(Person::Individual, project.individual);
    opening.individual(Person::WhatIf, project.what_if);
    if let Some(session) = project.session {
        opening.session(session);
    }
    opening.points(project.points);
    Ok((opening.document, opening.findings))
}

/// Why an entry for a vertex is skipped.
pub(super) const NO_VERTEX: &str = "for vertices that the mesh does not have";
/// What is said of a stack that compensates as published, saved before there were two variants.
const OTHER_SIGN: &str = "Bulge compensation \"as published\" is now the paper's text (eqs 10 - 13), which moves vertices the other \
                          way than when the project was saved. The other variant is Algorithm 1, literal.";
const OTHER_ROWS: &str = "for vertices that other rows already set";
const OTHER_VALUES: &str = "for vertices that other values already set";

/// What is said of a second entry of a mesh.
pub(super) const TWICE: &str = "They are listed twice; the second entries are skipped.";

/// A document being restored from a project.
pub(super) struct Opening {
    pub(super) document: Document,
    pub(super) joints: Joints,
    /// Those of the model.
    meshes: Names<u32, MeshId>,
    pub(super) copies: Copies,
    pub(super) clips: Names<u32, ClipId>,
    /// By their numbers in the project.
    pub(super) restored_clips: BTreeMap<u32, ClipId>,
    pub(super) findings: Vec<Finding>,
}

impl Opening {
    pub(super) fn mesh(&mut self, index: u32, name: &str) -> Option<MeshId> {
        let mut findings = std::mem::take(&mut self.findings);
        let found = self.find_mesh(index, name, &mut findings);
        self.findings = findings;
        found
    }

    /// [`Self::mesh`] with findings of their own.
    pub(super) fn find_mesh(
        &mut self,
        index: u32,
        name: &str,
        findings: &mut Vec<Finding>,
    ) -> Option<MeshId> {
        match self.copies.find(index, name) {
            Found::Copy(id) => Some(id),
            Found::Skipped => None,
            Found::NoCopy => self.meshes.find(index, Some(name), findings),
        }
    }

    pub(super) fn joint(&mut self, joint: JointKey, name: &str) -> Option<JointId> {
        self.joints.find(joint, Some(name), &mut self.findings)
    }

    pub(super) fn warn(&mut self, place: impl Into<String>, message: impl Into<String>) {
        self.findings.push(Finding::warning(place, message));
    }

    /// Applies an edit; if the document refuses it, adds a finding.
    pub(super) fn apply(&mut self, place: &str, mut edit: Edit) {
        if let Err(why) = self.document.apply(&mut edit) {
            self.warn(place, format!("It is skipped: {why}."));
        }
    }

    fn weights(&mut self, entries: Vec<MeshWeights>) -> Result<(), ProjectError> {
        let mut seen = BTreeSet::new();
        for entry in entries {
            let place = rows::place(&entry);
            let Some(mesh) = self.mesh(entry.mesh, &entry.name) else {
                continue;
            };
            if !seen.insert(mesh) {
                self.warn(place, TWICE);
                continue;
            }
            let skin_joint_of = self.skin_joints(mesh, &entry.joints);
            let Some(item) = self.document.meshes().get(&mesh) else {
                continue;
            };
            let live = self.document.live_slots(mesh);
            let restored = rows::restore(&entry, item, &live, &skin_joint_of)?;
            self.warn_of_rows(&place, &restored);
            for (points, rows) in restored.spans {
                self.apply(&place, Edit::influences(mesh, points, rows));
            }
        }
        Ok(())
    }

    /// Reports entries that were skipped, with how many and why.
    pub(super) fn warn_of_skipped(&mut self, place: &str, what: &str, left_out: &[(usize, &str)]) {
        for (n, why) in left_out.iter().filter(|&(n, _)| *n > 0) {
            self.warn(place, format!("{what} {why} are skipped ({n})."));
        }
    }

    /// Reports the rows that were skipped.
    pub(super) fn warn_of_rows(&mut self, place: &str, restored: &rows::Restored) {
        let left_out = [
            (restored.n_missing, NO_VERTEX),
            (
                restored.n_invalid,
                "with bones that the skin does not have, or weights that are not numbers >= 0,",
            ),
            (restored.n_conflicts, OTHER_ROWS),
        ];
        self.warn_of_skipped(place, "Rows", &left_out);
    }

    /// Reports the values of a painted map that were skipped.
    fn warn_of_values(&mut self, place: &str, restored: &masks::Restored, limit: f32) {
        let range = format!("that are not 0 - {limit}");
        let left_out = [
            (restored.n_missing, NO_VERTEX),
            (restored.n_invalid, range.as_str()),
            (restored.n_conflicts, OTHER_VALUES),
        ];
        self.warn_of_skipped(place, "Values", &left_out);
    }

    /// The layers of weights, after the rows of the base layers.
    fn layers(&mut self, entries: Vec<LayerEntry>, task: &Task) -> Result<(), ProjectError> {
        let mut stacks: Vec<(MeshId, Vec<LayerEntry>)> = Vec::new();
        for entry in entries {
            let Some(mesh) = self.mesh(entry.mesh, &entry.name) else {
                continue;
            };
            match stacks.iter_mut().find(|(id, _)| *id == mesh) {
                Some((_, entries)) => entries.push(entry),
                None => stacks.push((mesh, vec![entry])),
            }
        }
        for (mesh, mut entries) in stacks {
            self.settle_numbers(&mut entries);
            let mut known = layers::Symmetries::new();
            let mut layers = Vec::new();
            let mut alone = None;
            for entry in entries {
                let id = LayerId(entry.layer);
                if entry.alone {
                    alone = Some(id);
                }
                let place = layers::place(&entry);
                let layer = Arc::new(self.layer(mesh, entry, &mut known, task)?);
                layers.push((place, layer));
            }
            // The present base has the rows already.
            let base = layers.iter().find(|(_, l)| l.id == LayerStack::BASE);
            let base = base.map(|(_, layer)| layer.name.clone());
            layers.retain(|(_, layer)| layer.id != LayerStack::BASE);
            self.add_layers(mesh, base.as_ref(), &layers, alone);
        }
        Ok(())
    }

    /// Gives a layer a free id where its id is taken; skips a second base.
    fn settle_numbers(&mut self, entries: &mut Vec<LayerEntry>) {
        let taken: BTreeSet<u32> = entries.iter().map(|entry| entry.layer).collect();
        let mut free = (1..).filter(|number| !taken.contains(number));
        let mut seen = BTreeSet::new();
        entries.retain_mut(|entry| {
            if seen.insert(entry.layer) {
                return true;
            }
            let place = layers::place(entry);
            if entry.layer == LayerStack::BASE.0 {
                self.warn(
                    place,
                    "The mesh already has a base layer; this one is skipped.",
                );
                return false;
            }
            self.warn(place, "Another layer has its id; it got a new one.");
            let number = free.next();
            if let Some(number) = number {
                entry.layer = number;
            }
            number.is_some()
        });
    }

    /// Adds `layers` above the base, each with its place in the file; skips those that the document refuses.
    fn add_layers(
        &mut self,
        mesh: MeshId,
        base: Option<&String>,
        layers: &[(String, Arc<Layer>)],
        alone: Option<LayerId>,
    ) {
        let with = |document: &Document, layers: &[(String, Arc<Layer>)]| {
            document.change_layers(mesh, |there, solo| {
                if let (Some(first), Some(name)) = (there.first_mut(), base) {
                    Arc::make_mut(first).name.clone_from(name);
                }
                there.extend(layers.iter().map(|(_, layer)| layer.clone()));
                *solo = alone;
            })
        };
        let Some(mut edit) = with(&self.document, layers) else {
            return;
        };
        if self.document.apply(&mut edit).is_ok() {
            return;
        }
        for layer in layers.chunks(1) {
            if let Some(edit) = with(&self.document, layer) {
                self.apply(&layer[0].0, edit);
            }
        }
    }

    fn layer(
        &mut self,
        mesh: MeshId,
        entry: LayerEntry,
        known: &mut layers::Symmetries,
        task: &Task,
    ) -> Result<Layer, ProjectError> {
        let place = layers::place(&entry);
        let skin_joint_of = self.skin_joints(mesh, &entry.joints);
        let id = LayerId(entry.layer);
        let Some(item) = self.document.meshes().get(&mesh).cloned() else {
            return Ok(Layer::new(id, entry.title, 0));
        };
        let live = self.document.live_slots(mesh);
        let restored = layers::restore(entry, &item, &live, &skin_joint_of, known, task)?;
        self.warn_of_rows(&place, &restored.rows);
        self.warn_of_values(&place, &restored.mask, 1.0);
        if let Some(why) = restored.fault {
            self.warn(place.as_str(), why);
        }
        Ok(restored.layer)
    }

    /// For each skin joint index of the project, the one in this model.
    fn skin_joints(&mut self, mesh: MeshId, joints: &[SkinJoint]) -> Vec<Option<u16>> {
        let mut skin_joint_of = Vec::new();
        for joint in joints {
            let Some(found) = self.joint(joint.1, &joint.2) else {
                continue;
            };
            let index = usize::from(joint.0);
            // A skin may list a joint twice: the index that the project gives has precedence.
            let same_place = self
                .document
                .skin_of_mesh(mesh)
                .is_some_and(|(_, skin)| skin.joints.get(index) == Some(&found));
            if skin_joint_of.len() <= index {
                skin_joint_of.resize(index + 1, None);
            }
            skin_joint_of[index] = if same_place {
                Some(joint.0)
            } else {
                self.document.skin_joint(mesh, found)
            };
        }
        skin_joint_of
    }

    /// Weights that a changed model gives to joints that the project removed.
    fn pass_on_removed(&mut self) {
        match self.document.pass_on_removed() {
            Ok(passed) => {
                for (mesh, n_points) in passed {
                    let item = self.document.meshes().get(&mesh);
                    let name = item.map_or("", |item| item.geometry.name.as_str());
                    let place = format!("weights of mesh {} \"{name}\"", mesh.0);
                    self.warn(
                        place,
                        format!(
                            "The model gives {} to bones that the project removed; the bones above them have the weights now.",
                            counted(n_points, "point")
                        ),
                    );
                }
            }
            Err(why) => self.warn("weights", format!("Weights of removed bones stay: {why}")),
        }
    }

    fn stacks(&mut self, entries: Vec<StackEntry>) {
        for entry in entries {
            let finite = all_finite(&entry.stack);
            let had_other_sign = entry.had_other_sign;
            let stack: Arc<DeformStack> = Arc::new(entry.stack.into());
            for Named(mesh, name) in entry.meshes {
                let Some(mesh) = self.mesh(mesh, &name) else {
                    continue;
                };
                let place = format!("deformer stack of mesh {} \"{name}\"", mesh.0);
                if !finite {
                    self.warn(
                        place,
                        "It has a value that is not a finite number and is skipped.",
                    );
                } else if self
                    .document
                    .meshes()
                    .get(&mesh)
                    .is_some_and(|item| item.stack != stack)
                {
                    let stack = stack.clone();
                    self.apply(&place, Edit::Stack { mesh, stack });
                    if had_other_sign {
                        self.warn(place, OTHER_SIGN);
                    }
                }
            }
        }
    }

    fn masks(&mut self, entries: Vec<MeshMask>) -> Result<(), ProjectError> {
        let mut seen = BTreeSet::new();
        for entry in entries {
            let place = masks::place(&entry);
            let Some(mesh) = self.mesh(entry.mesh, &entry.name) else {
                continue;
            };
            let map = MaskKind::from(entry.map);
            if !seen.insert((mesh, map)) {
                self.warn(place, "It is listed twice; the second entry is skipped.");
                continue;
            }
            let Some(item) = self.document.meshes().get(&mesh) else {
                continue;
            };
            let limit = map.limit();
            let painted = (entry.values.as_slice(), entry.blocks.as_slice());
            let restored = masks::restore(painted, limit, &item.geometry, &place)?;
            self.warn_of_values(&place, &restored, limit);
            let (points, values) = (restored.points, restored.values);
            if !points.is_empty() {
                self.apply(&place, Edit::mask(mesh, map, points, values));
            }
        }
        Ok(())
    }

    /// The sample sets, after the stacks on which they were captured.
    fn correctives(&mut self, entries: Vec<CorrectiveEntry>) -> Result<(), ProjectError> {
        for entry in entries {
            let place = correctives::place(&entry);
            let mut about_mesh = Vec::new();
            let found = self
                .meshes
                .find(entry.mesh, Some(&entry.name), &mut about_mesh);
            let placed = found.and_then(|mesh| Some((mesh, self.document.meshes().get(&mesh)?)));
            let Some((mesh, item)) = placed.map(|(mesh, item)| (mesh, item.clone())) else {
                let n = counted(entry.samples.len(), "sample");
                let why =
                    format!("The model does not have this mesh. The project keeps the set: {n}.");
                self.warn(place, why);
                let kept = correctives::kept(&entry)?;
                self.document.keep_unplaced_samples(kept);
                continue;
            };
            self.findings.append(&mut about_mesh);
            let (joints, findings) = (&mut self.joints, &mut self.findings);
            let base = self.document.skin_base(mesh);
            let item = (&*item, base.as_ref());
            let restored = correctives::restore(&entry, item, joints, findings)?;
            let lost = (
                restored.n_missing,
                "of vertices that the mesh does not have",
            );
            self.warn_of_skipped(&place, "Displacements", &[lost]);
            // A set is off where its samples cannot be interpolated.
            let made = Arc::new(restored.correctives);
            let edit = CorrectivesEdit::new(&self.document, mesh, made);
            self.apply(&place, Edit::Correctives(edit));
        }
        self.findings
            .extend(checks::sets_that_are_off(&self.document));
        Ok(())
    }

    fn recordings(
        &mut self,
        entries: Vec<RecordingEntry>,
        task: &Task,
    ) -> Result<(), ProjectError> {
        recordings::restore(entries, &mut self.document, &mut self.findings, task)
    }

    fn clips(&mut self, removed: Vec<Named>, entries: Vec<ClipEntry>) -> Result<(), ProjectError> {
        for Named(clip, name) in removed {
            // Only a clip that is certainly the removed one is removed.
            match self.document.clips().get(&ClipId(clip)) {
                Some(there) if there.name == name => self.apply(
                    &clips::place(clip, &name),
                    Edit::Clip {
                        id: ClipId(clip),
                        clip: None,
                    },
                ),
                Some(_) => self.warn(
                    clips::place(clip, &name),
                    "The project removed it, but the model now has another clip in its place, which stays.",
                ),
                None => {}
            }
        }
        let mut reader = clips::Reader::new();
        for entry in entries {
            let place = clips::place(entry.clip, &entry.name);
            let clip = reader.clip(&entry, &mut self.joints, &mut self.findings)?;
            let replaced = entry
                .replaces
                .as_ref()
                .and_then(|name| self.clips.find(entry.clip, Some(name), &mut self.findings));
            let id = replaced.or_else(|| clips::free_id(&self.document, entry.clip));
            match id {
                Some(id) => {
                    self.restored_clips.insert(entry.clip, id);
                    let clip = Some(Arc::new(clip));
                    self.apply(&place, Edit::Clip { id, clip });
                }
                None => self.warn(place, "There is no free id for it; it is skipped."),
            }
        }
        Ok(())
    }

    /// The poses of the library.
    fn poses(&mut self, entries: Vec<ClipEntry>) -> Result<(), ProjectError> {
        let mut reader = clips::Reader::new();
        for entry in entries {
            let place = format!("pose {} \"{}\"", entry.clip, entry.name);
            let pose = reader.clip(&entry, &mut self.joints, &mut self.findings)?;
            let mut id = PoseId(entry.clip);
            if self.document.poses().contains_key(&id) {
                id = self.document.free_pose_id();
            }
            let pose = Some(Arc::new(pose));
            self.apply(&place, Edit::LibraryPose { id, pose });
        }
        Ok(())
    }

    fn session(&mut self, session: Session) {
        let (joints, findings) = (&mut self.joints, &mut self.findings);
        if let Some(session) = session::restore(session, &self.document, joints, findings) {
            *self.document.session_mut() = session;
        }
    }

    /// The selected and hidden points; after the session, which stores them.
    fn points(&mut self, entries: Vec<MeshPoints>) {
        for entry in entries {
            let Some(id) = self.mesh(entry.mesh, &entry.name) else {
                continue;
            };
            let Some(item) = self.document.meshes().get(&id) else {
                continue;
            };
            let selected = points::restore(&entry.selected, &item.geometry);
            let hidden = points::restore(&entry.hidden, &item.geometry);
            let session = self.document.session_mut();
            match (selected, hidden) {
                (Ok(selected), Ok(hidden)) => {
                    points::keep(&mut session.selected_points, id, selected);
                    points::keep(&mut session.hidden_points, id, hidden);
                    session.deselect_hidden();
                }
                (Err(why), _) | (_, Err(why)) => self.warn(
                    points::place(&entry),
                    format!("The selected and hidden vertices are skipped: {why}."),
                ),
            }
        }
    }
}
