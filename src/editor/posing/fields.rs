//! One bone posed by the numbers of the Properties panel.

use super::chains::ChainEnd;
use crate::editor::Editor;
use crate::math::Transform;
use crate::skeleton::JointId;
use crate::tools::transform::step_label;

impl Editor {
    /// Begins to change one bone with the fields of the Properties panel: one undo step until
    /// [`Editor::confirm_transform`].
    pub fn begin_pose_field(&mut self, joint: JointId, verb: &str) {
        self.finish_tool();
        if !self.document.skeleton().is_live(joint) {
            return;
        }
        let label = step_label(verb, self.document.skeleton(), 1, joint);
        let start = self.document.free_pose();
        // Pinned bones stay where they are on screen.
        let shown = self.document.shown_pose();
        let world = shown.world_matrices(self.document.skeleton());
        let pins = &self.document.session().pins;
        let pins = pins.iter().filter(|&&pin| pin != joint);
        let hold = |&pin: &JointId| Some(ChainEnd::new(self.chain_of(pin)?, &world, true));
        let pinned = pins.filter_map(hold).collect();
        self.open_step(label, start, None, Vec::new(), pinned);
    }

    /// Sets the local transform of the bone whose field is being edited.
    pub fn set_pose_field(&mut self, joint: JointId, local: Transform) {
        let Some(running) = &mut self.posing.running else {
            return;
        };
        if local.is_finite() && joint.get() < running.next.locals.len() {
            running.next.locals.clone_from(&running.start.locals);
            running.next.locals[joint.get()] = local;
            let rest = self.document.rest_pose().clone();
            let skeleton = self.document.skeleton().clone();
            for end in &running.pinned {
                end.keep(&skeleton, &running.start, &rest, &mut running.next);
            }
            self.show_next();
        }
    }
}
