//! The scope of a weight operation: vertices, bones, objects.

use super::rows::{combo_ui, row_ui};
use crate::editor::Editor;
use crate::editor::operations::{Scope, ScopeBones, ScopeObjects, ScopePoints};
use crate::finding::thousands;
use crate::weights::operation::Operation;
use egui::Ui;

/// Draws the scope settings.
pub(super) fn scope_ui(ui: &mut Ui, editor: &mut Editor) {
    let Some(adjusting) = editor.adjusting() else {
        return;
    };
    let session = adjusting.base().session();
    let n_selected: usize = session.selected_points.values().map(|p| p.count()).sum();
    let n_bones = session.selected_joints.len();
    let active = session.active_joint;
    let has_active = active.is_some();
    let active_name = active.map_or_else(
        || "This bone".to_owned(),
        |joint| format!("This bone ({})", adjusting.base().skeleton().label(joint)),
    );
    let n_objects = {
        let document = adjusting.base();
        let ids = document.meshes().keys();
        ids.filter(|id| document.n_skin_joints(**id).is_some())
            .count()
    };
    // Operations that name their bones need no bone filter.
    let takes_bones = matches!(
        adjusting.operation(),
        Operation::Smooth { .. }
            | Operation::Prune { .. }
            | Operation::Hammer
            | Operation::Quantise { .. }
            | Operation::Levels(_)
            | Operation::Mirror(_)
            | Operation::Flip(_)
            | Operation::Paste { .. }
            | Operation::Transfer(_)
            | Operation::Import(_)
            | Operation::Automatic(_)
    );
    let scope = adjusting.scope();
    let mut chosen = scope;
    ui.separator();
    row_ui(ui, "Vertices", "The vertices to change.", |ui| {
        let selected = format!("Selected ({})", thousands(n_selected));
        let options = [
            (ScopePoints::All, "All".to_owned(), true),
            (ScopePoints::Selected, selected, n_selected > 0),
        ];
        combo_ui(ui, "Vertices", &mut chosen.points, &options);
    });
    if takes_bones {
        row_ui(
            ui,
            "Bones",
            "The bones to change. The other unlocked bones are rescaled to keep the sum at 1. Locked bones never change.",
            |ui| {
                let options = [
                    (ScopeBones::Active, active_name, has_active),
                    (
                        ScopeBones::Selected,
                        format!("Selected ({n_bones})"),
                        n_bones > 0,
                    ),
                    (ScopeBones::Unlocked, "All unlocked".to_owned(), true),
                ];
                combo_ui(ui, "Bones", &mut chosen.bones, &options);
            },
        );
    }
    if n_objects > 1 {
        row_ui(ui, "Objects", "The objects to change.", |ui| {
            let active = match chosen.points {
                ScopePoints::All => "Active",
                ScopePoints::Selected => "With selected vertices",
            };
            let options = [
                (ScopeObjects::Active, active.to_owned(), true),
                (ScopeObjects::All, format!("All ({n_objects})"), true),
            ];
            combo_ui(ui, "Objects", &mut chosen.objects, &options);
        });
    }
    if chosen != scope {
        editor.set_operation_scope(Scope { ..chosen });
    }
}
