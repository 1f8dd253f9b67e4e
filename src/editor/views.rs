//! The views on screen: the document's own stacks, and others to compare them with.

use super::Editor;
use super::display::{self, DisplayedMeshes};
use crate::deform::StackChoice;
use crate::document::{Document, InstanceId};
use crate::evaluate::{Evaluated, ViewId, ViewRequest, Worker};
use std::collections::BTreeMap;

/// Which views are asked for, and what came of them.
pub(super) struct Views {
    /// The document's own first; no choice twice.
    requests: Vec<ViewRequest>,
    shown: BTreeMap<ViewId, DisplayedMeshes>,
    /// The one that clicks and strokes are meant for.
    pointed: ViewId,
    /// Names of views and of buffers are never given twice.
    next_view: u32,
    next_key: u64,
    /// Grows whenever meshes have gone.
    serial: u64,
    none: DisplayedMeshes,
}

impl Default for Views {
    fn default() -> Self {
        Self {
            requests: vec![ViewRequest::own()],
            shown: BTreeMap::new(),
            pointed: ViewId::OWN,
            next_view: 1,
            next_key: 0,
            serial: 0,
            none: BTreeMap::new(),
        }
    }
}

impl Views {
    /// What to ask the worker for.
    pub(super) fn requests(&self) -> Vec<ViewRequest> {
        self.requests.clone()
    }

    /// The meshes of a view; none before its first result.
    pub(super) fn of(&self, view: ViewId) -> &DisplayedMeshes {
        self.shown.get(&view).unwrap_or(&self.none)
    }

    /// The document's own.
    pub(super) fn own(&self) -> &DisplayedMeshes {
        self.of(ViewId::OWN)
    }

    /// The view that clicks and strokes are meant for.
    pub(super) fn pointed(&self) -> ViewId {
        if self.shown.contains_key(&self.pointed) {
            self.pointed
        } else {
            ViewId::OWN
        }
    }

    /// Its meshes, with their indices to refit.
    pub(super) fn pointed_mut(&mut self) -> &mut DisplayedMeshes {
        self.shown.entry(self.pointed()).or_default()
    }

    /// Asks for `choices` besides the document's own; whether something changed. A view that is not asked for any more
    /// stays until all that are have come, so that nothing flickers.
    fn set(&mut self, choices: &[StackChoice]) -> bool {
        let mut wanted: Vec<&StackChoice> = vec![&StackChoice::Project];
        for choice in choices {
            if !wanted.contains(&choice) {
                wanted.push(choice);
            }
        }
        if self
            .requests
            .iter()
            .map(|r| &r.stack)
            .eq(wanted.iter().copied())
        {
            return false;
        }
        let requests = wanted.into_iter().map(|choice| {
            let known = self.requests.iter().find(|r| r.stack == *choice);
            known.cloned().unwrap_or_else(|| {
                self.next_view += 1;
                ViewRequest {
                    view: ViewId(self.next_view - 1),
                    stack: choice.clone(),
                    plain: false,
                }
            })
        });
        self.requests = requests.collect();
        self.free_unasked();
        true
    }

    /// Forgets all meshes, for another model.
    pub(super) fn clear(&mut self) {
        self.shown.clear();
        self.serial += 1;
    }

    /// Forgets instances that are no more.
    pub(super) fn retain(&mut self, is_there: impl Fn(InstanceId) -> bool) {
        for meshes in self.shown.values_mut() {
            meshes.retain(|id, _| is_there(*id));
        }
    }

    /// Puts a result of the worker on screen.
    pub(super) fn take(&mut self, result: &mut Evaluated, document: &Document, worker: &Worker) {
        for &view in &result.views {
            if self.requests.iter().any(|r| r.view == view) {
                self.shown.entry(view).or_default();
            }
        }
        for updated in result.updates.drain(..) {
            if let Some(meshes) = self.shown.get_mut(&updated.view) {
                let next_key = &mut self.next_key;
                display::apply(meshes, next_key, document, updated, worker);
            }
        }
        self.free_unasked();
    }

    fn free_unasked(&mut self) {
        let requests = &self.requests;
        if requests.iter().all(|r| self.shown.contains_key(&r.view)) {
            let before = self.shown.len();
            self.shown
                .retain(|view, _| requests.iter().any(|r| r.view == *view));
            self.serial += u64::from(self.shown.len() != before);
        }
    }
}

impl Editor {
    /// The meshes on screen, deformed by the document's own stacks.
    pub fn displayed(&self) -> &DisplayedMeshes {
        self.views.own()
    }

    /// The meshes of a view ([`Editor::view_of`]); none before its first result.
    pub fn displayed_in(&self, view: ViewId) -> &DisplayedMeshes {
        self.views.of(view)
    }

    /// Asks for these stacks to be shown besides the document's own. Those that are in nobody's list any more are freed.
    pub fn show_views(&mut self, choices: &[StackChoice]) {
        self.evaluation.stale |= self.views.set(choices);
    }

    /// The view that shows `choice`, once it was asked for.
    pub fn view_of(&self, choice: &StackChoice) -> Option<ViewId> {
        let request = self.views.requests.iter().find(|r| r.stack == *choice)?;
        Some(request.view)
    }

    /// Whether a view has come, and is not freed yet.
    pub fn is_view_shown(&self, view: ViewId) -> bool {
        self.views.shown.contains_key(&view)
    }

    /// Grows whenever a view, or the model, has gone: its buffers are of no more use.
    pub fn views_serial(&self) -> u64 {
        self.views.serial
    }

    /// The keys of the buffers of all meshes in all views.
    pub fn mesh_keys(&self) -> Vec<u64> {
        let meshes = self.views.shown.values().flat_map(BTreeMap::values);
        meshes.map(|shown| shown.key).collect()
    }

    /// How many views have buffers.
    pub fn n_views(&self) -> usize {
        self.views.shown.len()
    }

    /// Says in which view clicks, strokes and selections are from now on: they meet the surfaces that it shows.
    pub fn point_in(&mut self, view: ViewId) {
        self.views.pointed = view;
    }

    /// The view that clicks, strokes and selections meet.
    pub fn pointed_view(&self) -> ViewId {
        self.views.pointed()
    }
}
