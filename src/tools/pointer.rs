//! What a tool is told, and what it asks for.

use super::SurfaceView;
use crate::document::{Document, Edit, InstanceId, MeshId};
use crate::math::{Camera, Ray};
use crate::mesh::Symmetry;
use glam::Vec2;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What the pointer did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PointerKind {
    /// The button went down.
    Press,
    /// The pointer moved with the button down.
    Drag,
    /// The button came up, wherever the pointer is.
    Release,
    /// The artist pressed Esc: take the drag back.
    Cancel,
}

/// A pointer event in the viewport.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PointerEvent {
    /// What happened.
    pub kind: PointerKind,
    /// Where: (-1, -1) bottom left to (1, 1) top right of the viewport.
    pub ndc: Vec2,
    /// Logical pixels of the viewport.
    pub size_px: Vec2,
    /// Ctrl: the opposite of what the tool does.
    pub invert: bool,
    /// Shift: smooth, whatever the tool does.
    pub smooth: bool,
    /// How hard a pen presses, 0 - 1; `None` for what knows no pressure.
    pub pressure: Option<f32>,
}

impl PointerEvent {
    /// The world ray under the pointer.
    pub fn ray(&self, camera: &Camera) -> Ray {
        camera.ray(self.ndc, self.size_px.x / self.size_px.y.max(1.0))
    }
}

/// What a tool may look at.
pub struct ToolContext<'a> {
    /// The document as it is now.
    pub document: &'a Document,
    /// Where the artist looks from.
    pub camera: &'a Camera,
    /// The displayed surfaces of the instances that can be hit.
    pub surfaces: &'a mut [(InstanceId, SurfaceView<'a>)],
    /// Mirror images across the plane of the brush's symmetry, as far as they are known.
    pub mirrors: &'a BTreeMap<MeshId, Arc<Symmetry>>,
}

/// What a tool asks the editor to do.
#[derive(Debug)]
pub enum ToolAction {
    /// Start an undo step of this name.
    Begin(&'static str),
    /// Apply inside the step.
    Apply(Edit),
    /// End the step.
    Commit,
    /// Take the step back.
    Cancel,
    /// Tell the artist why nothing happens.
    Say(String),
}
