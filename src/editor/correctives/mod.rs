//! Commands on the corrective samples of the active object.
//!
//! Data flow: a command copies the sets of the mesh, changes the copy, and applies it as one edit once
//! [`Correctives::new`] has checked and solved it.
//!
//! Invariant: a change that is refused leaves the document as it was and says why in one sentence.
//! Invariant: undo restores the active sample with its step.

mod drivers;
mod pictures;
mod pose_space;
mod samples;
mod sets;
mod vertices;

pub use pose_space::PoseSpace;

use super::Editor;
use crate::deform::correctives::{Correctives, SampleSet, Staleness, WeightsWork};
use crate::document::session::{ActiveSample, SculptKind, SelectKind};
use crate::document::{CorrectivesEdit, Edit, MeshId};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The editor's state for corrective samples; not part of the document.
#[derive(Default)]
pub(super) struct Correcting {
    /// What was muted before a sample was shown alone.
    before_solo: Option<samples::BeforeSolo>,
    /// The open step was refused a change, and the user was told.
    refused: bool,
    /// The transform of selected vertices in progress.
    moving: Option<vertices::VertexMove>,
    /// The pictures of samples.
    pictures: pictures::Pictures,
    /// The samples of a mesh that no longer give their sculpt, at a revision of the history.
    stale: Option<((MeshId, u64), BTreeMap<usize, Staleness>)>,
    /// What clusters kept of the samples that were reduced to them last.
    pub(super) reduced: Option<String>,
}

impl Editor {
    /// The object whose corrective samples are shown and edited: the active one, if it has a skin.
    pub fn corrected_mesh(&self) -> Option<MeshId> {
        let mesh = self.document.session().active_mesh?;
        self.document.skin_of_mesh(mesh).map(|_| mesh)
    }

    /// Its corrective samples; `None` without such an object.
    pub fn correctives(&self) -> Option<&Arc<Correctives>> {
        let item = self.document.meshes().get(&self.corrected_mesh()?)?;
        Some(&item.correctives)
    }

    /// The active sample set: the chosen one, else the first. `None` without sets.
    pub fn active_set(&self) -> Option<usize> {
        self.document.active_set(self.corrected_mesh()?)
    }

    /// The active sample of the active set, which is sculpted; `None` where none is chosen.
    pub fn active_sample(&self) -> Option<usize> {
        let (_, sample) = self.document.active_sample(self.corrected_mesh()?)?;
        Some(sample)
    }

    /// Makes a set active, without an active sample.
    pub fn select_set(&mut self, set: usize) {
        self.choose_sample(ActiveSample { set, sample: None });
    }

    /// Makes a sample and its set active.
    pub fn select_sample(&mut self, set: usize, sample: usize) {
        self.choose_sample(ActiveSample {
            set,
            sample: Some(sample),
        });
    }

    /// What a sculpting stroke does.
    pub fn sculpt_kind(&self) -> SculptKind {
        self.document.session().sculpt_kind
    }

    /// Sets what a sculpting stroke does.
    pub fn use_sculpt(&mut self, kind: SculptKind) {
        self.document.session_mut().sculpt_kind = kind;
        if kind == SculptKind::Vertices {
            self.set_select_kind(SelectKind::Points);
        }
    }

    /// The name of the active sample, and its weight in the pose on screen before its strength.
    pub fn sculpted_sample(&self) -> Option<(String, f64)> {
        let (set, sample) = self.active_set().zip(self.active_sample())?;
        let name = self.samples_of(set).get(sample)?.name.clone();
        let index = self.correctives()?.index_of(set, sample)?;
        let weight = self.sample_weights().get(index).copied()?;
        Some((name, weight))
    }

    /// The weight of each sample of the object in the pose on screen, before its strength; in the order of
    /// [`Correctives::samples`].
    pub fn sample_weights(&self) -> Vec<f64> {
        let pose = self.document.shown_pose();
        let skeleton = self.document.skeleton();
        self.correctives().map_or_else(Vec::new, |correctives| {
            let mut work = WeightsWork::default();
            correctives
                .weights(skeleton, &pose.locals, &mut work)
                .to_vec()
        })
    }

    fn chosen_sample(&self) -> Option<ActiveSample> {
        let active = &self.document.session().active_samples;
        active.get(&self.corrected_mesh()?).copied()
    }

    fn choose_sample(&mut self, active: ActiveSample) {
        let Some(mesh) = self.corrected_mesh() else {
            return;
        };
        if self.chosen_sample() != Some(active) {
            self.finish_tool();
            let chosen = &mut self.document.session_mut().active_samples;
            chosen.insert(mesh, active);
        }
    }

    /// Renames samples or their sets, and lets bindings of channels follow them: one undo step.
    fn rename(&mut self, label: &str, rename: impl FnOnce(&mut Self)) {
        let before = crate::rig::samples(&self.document);
        self.history.begin(&self.document, label);
        rename(self);
        self.follow_renamed_samples(&before);
        self.history.commit(&self.document);
    }

    /// Changes the sets of the object as one undo step, or as part of the step opened with [`Editor::begin_step`], and
    /// makes a sample active. Returns whether they changed.
    fn change_sets(
        &mut self,
        label: &str,
        active: Option<ActiveSample>,
        change: impl FnOnce(&mut Vec<Arc<SampleSet>>),
    ) -> bool {
        let is_tool = self.is_painting() || self.is_posing() || self.is_dragging_keys();
        if is_tool {
            self.finish_tool();
        }
        let Some((mesh, known)) = self.corrected_mesh().zip(self.correctives()) else {
            self.notify("Select an object with a skin first.");
            return false;
        };
        let mut sets = known.sets().to_vec();
        change(&mut sets);
        let pairs = || sets.iter().zip(known.sets());
        if sets.len() == known.sets().len() && pairs().all(|(a, b)| Arc::ptr_eq(a, b)) {
            return false;
        }
        let is_drag = self.history.is_open();
        self.correcting.refused &= is_drag;
        let changed = match Correctives::new(sets) {
            Ok(changed) => changed,
            Err(why) => {
                if !std::mem::replace(&mut self.correcting.refused, is_drag) {
                    self.notify(sentence(&why));
                }
                return false;
            }
        };
        let edit = CorrectivesEdit::new(&self.document, mesh, Arc::new(changed));
        if !is_drag {
            self.history.begin(&self.document, label);
        }
        let applied = self.apply(Edit::Correctives(edit), label);
        if let Err(error) = &applied {
            self.notify_error(sentence(error));
        } else if let Some(active) = active {
            let chosen = &mut self.document.session_mut().active_samples;
            chosen.insert(mesh, active);
        }
        if !is_drag {
            self.history.commit(&self.document);
        }
        applied.is_ok()
    }
}

/// An error as a sentence.
fn sentence(error: &impl std::fmt::Display) -> String {
    let mut text = error.to_string();
    if let Some(first) = text.get(..1).map(str::to_uppercase) {
        text.replace_range(..1, &first);
    }
    text.push('.');
    text
}

/// `wanted`, or with the first number that makes it differ from the names in use.
pub(in crate::editor) fn free_name<'a>(
    wanted: &str,
    taken: &(impl Iterator<Item = &'a str> + Clone),
) -> String {
    let is_free = |name: &str| taken.clone().all(|known| known != name);
    if is_free(wanted) {
        return wanted.to_owned();
    }
    let mut names = (2..).map(|n| format!("{wanted} ({n})"));
    names.find(|name| is_free(name)).unwrap_or_default()
}
