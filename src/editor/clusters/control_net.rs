//! The control net of the active object's patches on screen, and the edges of all patches.

use super::Editor;
use crate::document::{InstanceId, MeshId};
use crate::evaluate::{ControlNetShape, NetEdge, NetEdges};
use std::sync::Arc;

/// Whether the control net is shown, and what was found of it.
#[derive(Default)]
pub(in crate::editor) struct ShownNet {
    is_shown: bool,
    /// Whether the view draws it.
    is_visible: bool,
    /// Whose net the latest request asked for.
    asked: Option<InstanceId>,
    shape: Option<ControlNetShape>,
    /// The instances whose edges the latest request asked for.
    asked_edges: Vec<InstanceId>,
    edges: Vec<NetEdges>,
}

impl ShownNet {
    /// Puts a result on screen.
    pub(in crate::editor) fn take(&mut self, shape: Option<ControlNetShape>, edges: Vec<NetEdges>) {
        self.shape = shape;
        // While something moves none are asked for, and the angles stay.
        if !edges.is_empty() {
            self.edges = edges;
        }
    }
}

impl Editor {
    /// Shows or hides the control points of the active object's patches.
    pub fn show_control_net(&mut self, show: bool) {
        self.clustering.net.is_shown = show;
    }

    /// Whether the control points of the active object's patches are shown.
    pub fn shows_control_net(&self) -> bool {
        self.clustering.net.is_shown
    }

    /// Says whether the view draws the control net where it is shown: it does in Cluster mode. It is not evaluated elsewhere.
    pub fn set_control_net_visible(&mut self, is_visible: bool) {
        self.clustering.net.is_visible = is_visible;
    }

    /// The control net on screen, once it is evaluated.
    pub fn control_net(&self) -> Option<&ControlNetShape> {
        self.clustering.net.shape.as_ref()
    }

    /// Whose control net is to be shown.
    fn wanted_net(&self) -> Option<InstanceId> {
        let ShownNet {
            is_shown,
            is_visible,
            ..
        } = self.clustering.net;
        let is_wanted = is_shown && is_visible && self.current_layout().is_some();
        self.clustered_instance().filter(|_| is_wanted)
    }

    /// The instances whose patches are measured: the first visible one of each object. None while something moves.
    fn wanted_edges(&self) -> Vec<InstanceId> {
        if self.is_playing() || self.is_posing() || self.is_painting() || self.history.is_open() {
            return Vec::new();
        }
        let meshes = self.document.meshes().keys();
        let laid_out = meshes.filter(|&&mesh| self.current_layout_of(mesh).is_some());
        let shown = laid_out.filter_map(|&mesh| self.shown_instance_of(mesh));
        shown.collect()
    }

    /// Whether the latest request asked for another control net than is to be shown, or did not measure the patches.
    pub(in crate::editor) fn wants_other_net(&self) -> bool {
        let net = &self.clustering.net;
        if net.asked != self.wanted_net() {
            return true;
        }
        let edges = self.wanted_edges();
        !edges.is_empty() && net.asked_edges != edges
    }

    /// Whose control net and whose edges the next request asks for.
    pub(in crate::editor) fn ask_for_net(&mut self) -> (Option<InstanceId>, Vec<InstanceId>) {
        let (asked, edges) = (self.wanted_net(), self.wanted_edges());
        self.clustering.net.asked = asked;
        self.clustering.net.asked_edges.clone_from(&edges);
        (asked, edges)
    }

    /// The edges of the patches of a mesh, as they were measured last; of several instances the first visible one.
    pub(super) fn net_edges_of(&self, mesh: MeshId) -> &[NetEdge] {
        let found = self.current_layout_of(mesh).and_then(|layout| {
            let mut known = self.clustering.net.edges.iter();
            known.find(|edges| Arc::ptr_eq(&edges.layout, layout))
        });
        found.map_or(&[], |found| &found.edges)
    }
}
