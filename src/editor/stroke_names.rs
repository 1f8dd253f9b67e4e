//! The name of a stroke's undo step: the brush, the bone and the number of vertices, "Add · chest · 214 vertices".

use super::Editor;
use crate::document::session::{BrushKind, PaintTarget, PaintedBones};
use crate::finding::counted;
use crate::tools::{PointerEvent, ToolAction};

impl Editor {
    /// Notes what the stroke that begins with `event` will do.
    pub(super) fn note_stroke(&mut self, event: &PointerEvent) {
        let session = self.document.session();
        let brush = &session.brush;
        let what = match brush.kind() {
            _ if event.smooth => BrushKind::Smooth.label(),
            BrushKind::Add if event.invert => "Subtract",
            kind => kind.label(),
        };
        let n_selected = session.selected_joints.len();
        let bones = match session.active_joint {
            _ if brush.target != PaintTarget::Weights => None,
            Some(_) if brush.bones == PaintedBones::Selected && n_selected > 1 => {
                Some(counted(n_selected, "bone"))
            }
            Some(joint) => Some(self.document.skeleton().label(joint)),
            None => None,
        };
        self.stroke_name = bones.map_or_else(String::new, |bones| format!("{what} · {bones}"));
    }

    /// Performs the actions of the brush, whose undo step gets its name when it ends.
    pub(super) fn perform_stroke(&mut self, actions: Vec<ToolAction>) {
        for action in actions {
            if matches!(action, ToolAction::Commit) && !self.stroke_name.is_empty() {
                let name = std::mem::take(&mut self.stroke_name);
                let n = self.history.n_open_points();
                if n > 0 {
                    let name = format!("{name} · {}", counted(n, "vertex"));
                    self.history.name_step(name);
                }
            }
            self.perform(vec![action]);
        }
    }
}
