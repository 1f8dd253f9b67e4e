//! The input of a tool (events, context) and its output (actions).

use super::SurfaceView;
use crate::document::{Document, Edit, InstanceId, MeshId};
use crate::math::{Camera, Ray};
use crate::mesh::Symmetry;
use glam::Vec2;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The kind of a pointer event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PointerKind {
    /// The button went down.
    Press,
    /// The pointer moved with the button down.
    Drag,
    /// The button came up, wherever the pointer is.
    Release,
    /// Esc was pressed: cancels the drag.
    Cancel,
}

/// A pointer event in the viewport.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PointerEvent {
    /// What happened.
    pub kind: PointerKind,
    /// Its position: (-1, -1) bottom left to (1, 1) top right of the viewport.
    pub ndc: Vec2,
    /// Logical pixels of the viewport.
    pub size_px: Vec2,
    /// Ctrl: inverts the tool.
    pub invert: bool,
    /// Shift: smooths instead.
    pub smooth: bool,
    /// Pressure of a pen, 0 - 1; `None` for devices without pressure.
    pub pressure: Option<f32>,
}

impl PointerEvent {
    /// The world ray under the pointer.
    pub fn ray(&self, camera: &Camera) -> Ray {
        camera.ray(self.ndc, self.size_px.x / self.size_px.y.max(1.0))
    }
}

/// The state that a tool reads.
pub struct ToolContext<'a> {
    /// The present document.
    pub document: &'a Document,
    /// The camera.
    pub camera: &'a Camera,
    /// The displayed surfaces of the instances that can be hit.
    pub surfaces: &'a mut [(InstanceId, SurfaceView<'a>)],
    /// Mirror images across the plane of the brush's symmetry, as far as computed.
    pub mirrors: &'a BTreeMap<MeshId, Arc<Symmetry>>,
}

/// An action that a tool requests of the editor.
#[derive(Debug)]
pub enum ToolAction {
    /// Start an undo step of this name.
    Begin(&'static str),
    /// Apply inside the step.
    Apply(Edit),
    /// Give the step another name.
    Name(String),
    /// End the step.
    Commit,
    /// Cancel the step.
    Cancel,
    /// Show the reason why nothing happens.
    Notify(String),
}
