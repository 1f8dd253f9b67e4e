//! The views on screen: the document's own stacks, and comparison stacks.

use super::Editor;
use super::display::{self, Displayed, DisplayedMeshes};
use crate::deform::StackChoice;
use crate::document::{Document, InstanceId};
use crate::evaluate::{Evaluated, ViewId, ViewRequest, Worker};
use glam::DAffine3;
use std::collections::BTreeMap;

/// The requested views and their meshes.
pub(super) struct Views {
    /// The document's own first; no duplicates.
    requests: Vec<ViewRequest>,
    shown: BTreeMap<ViewId, DisplayedMeshes>,
    /// World transforms of the joints of each view that shows another body.
    worlds: BTreeMap<ViewId, Vec<DAffine3>>,
    /// The view that receives clicks and strokes.
    pointed: ViewId,
    /// The next id: ids of views and buffers are never reused.
    next_view: u32,
    next_key: u64,
    /// Increases whenever meshes are removed.
    serial: u64,
    none: DisplayedMeshes,
}

impl Default for Views {
    fn default() -> Self {
        Self {
            requests: vec![ViewRequest::own()],
            shown: BTreeMap::new(),
            worlds: BTreeMap::new(),
            pointed: ViewId::OWN,
            next_view: 1,
            next_key: 0,
            serial: 0,
            none: BTreeMap::new(),
        }
    }
}

impl Views {
    /// The requests to the worker.
    pub(super) fn requests(&self) -> Vec<ViewRequest> {
        self.requests.clone()
    }

    /// The meshes of a view; none before its first result.
    pub(super) fn of(&self, view: ViewId) -> &DisplayedMeshes {
        self.shown.get(&view).unwrap_or(&self.none)
    }

    /// The meshes of the document's own view.
    pub(super) fn own(&self) -> &DisplayedMeshes {
        self.of(ViewId::OWN)
    }

    /// The view that receives clicks and strokes.
    pub(super) fn pointed(&self) -> ViewId {
        if self.shown.contains_key(&self.pointed) {
            self.pointed
        } else {
            ViewId::OWN
        }
    }

    /// The meshes of the pointed view, mutable because picking refits their BVHs.
    pub(super) fn pointed_mut(&mut self) -> &mut DisplayedMeshes {
        self.shown.entry(self.pointed()).or_default()
    }

    /// An instance in a view, if it is shown there.
    pub(super) fn shown_mut(
        &mut self,
        view: ViewId,
        instance: InstanceId,
    ) -> Option<&mut Displayed> {
        self.shown.get_mut(&view)?.get_mut(&instance)
    }

    /// World transforms of the joints of a view that shows another body.
    pub(super) fn world_of_body(&self, view: ViewId) -> Option<&[DAffine3]> {
        self.worlds.get(&view).map(Vec::as_slice)
    }

    /// Requests `choices` besides the document's own view. Returns whether something changed. A view that is no longer
    /// requested stays until all requested ones are ready, to avoid flicker.
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

    /// Drops all meshes, for another model.
    pub(super) fn clear(&mut self) {
        self.shown.clear();
        self.worlds.clear();
        self.serial += 1;
    }

    /// Drops instances that no longer exist.
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
        self.worlds = std::mem::take(&mut result.worlds).into_iter().collect();
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

    /// Requests views of these stacks besides the document's own, and frees those no longer requested.
    pub fn show_views(&mut self, choices: &[StackChoice]) {
        self.evaluation.stale |= self.views.set(choices);
    }

    /// The view of `choice`, if requested.
    pub fn view_of(&self, choice: &StackChoice) -> Option<ViewId> {
        let request = self.views.requests.iter().find(|r| r.stack == *choice)?;
        Some(request.view)
    }

    /// Whether a view is ready and not yet freed.
    pub fn is_view_shown(&self, view: ViewId) -> bool {
        self.views.shown.contains_key(&view)
    }

    /// Increases whenever the buffers of a view or of a model become obsolete.
    pub fn views_serial(&self) -> u64 {
        self.views.serial
    }

    /// The buffer keys of all meshes in all views.
    pub fn mesh_keys(&self) -> Vec<u64> {
        let meshes = self.views.shown.values().flat_map(BTreeMap::values);
        meshes.map(|shown| shown.key).collect()
    }

    /// The number of views with buffers.
    pub fn n_views(&self) -> usize {
        self.views.shown.len()
    }

    /// Sets the view that receives clicks, strokes and selections, which apply to its displayed surfaces.
    pub fn point_in(&mut self, view: ViewId) {
        self.views.pointed = view;
    }

    /// The view that receives clicks, strokes and selections.
    pub fn pointed_view(&self) -> ViewId {
        self.views.pointed()
    }
}
