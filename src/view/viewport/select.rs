//! Select mode: what the left button does.

use super::{Drag, Viewport, ndc, size};
use crate::editor::Editor;
use egui::{Pos2, Response};

impl Viewport {
    /// A click picks a bone, or nothing on the empty background.
    pub(super) fn select(&mut self, response: &Response, editor: &mut Editor) {
        let rect = response.rect;
        let bone_at = |editor: &Editor, at: Pos2| editor.pick_bone(ndc(at, rect), size(rect));
        self.hovered = response
            .hover_pos()
            .filter(|_| self.drag == Drag::None && self.options.show_bones)
            .and_then(|at| bone_at(editor, at));
        if response.clicked()
            && let Some(at) = response.interact_pointer_pos()
        {
            let bone = bone_at(editor, at).filter(|_| self.options.show_bones);
            // Only the empty background means "nothing": beside a bone one easily hits the skin.
            if bone.is_some() || editor.surface_at(ndc(at, rect), size(rect)).is_none() {
                editor.select_joint(bone);
            }
        }
    }
}
