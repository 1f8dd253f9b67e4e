//! A group that is moved by hand: its displacements now, and its keyframes.

use crate::cluster::ClusterGroup;
use crate::editor::Editor;
use crate::finding::counted;
use crate::view::commands::Command;
use crate::view::theme;
use egui::{Button, Label, RichText, Role, Ui, Vec2, WidgetInfo};
use egui_material_icons::{MaterialIcon, icons};

/// Draws what the active group adds at the current time, and buttons that key it.
pub(super) fn hand_ui(ui: &mut Ui, editor: &mut Editor, group: &ClusterGroup) {
    let dim = theme::palette(ui).text_dim;
    let moment = editor.document().shown_moment();
    let n = group.hand.offsets_at(moment).len();
    let mut text = format!("{} displaced", counted(n, "cluster"));
    if let Some(clip) = moment.clip {
        let n = group.hand.keys(clip).len();
        text = format!("{text}, {} in this clip", counted(n, "keyframe"));
    }
    ui.add(Label::new(RichText::new(text).color(dim)).wrap());
    let moves = editor.moves_clusters();
    let keys = |command: Command, ui: &Ui| {
        let keys = command.keys(ui.ctx());
        if keys.is_empty() {
            String::new()
        } else {
            format!("  ({keys} in Cluster mode)")
        }
    };
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing = Vec2::splat(2.0);
        let about = format!(
            "Select clusters with a click or a box, and move them with the gizmo.{}",
            keys(Command::PoseMove, ui)
        );
        if button_ui(ui, icons::ICON_OPEN_WITH, "Move clusters", &about, moves) {
            editor.set_moves_clusters(!moves);
        }
        let about = format!(
            "Insert a keyframe for the group at the current time.{}",
            keys(Command::KeyPose, ui)
        );
        if button_ui(
            ui,
            icons::ICON_KEY,
            "Insert keyframe for the group",
            &about,
            false,
        ) {
            editor.key_clusters();
        }
        let about = format!(
            "Delete the keyframe of the group at the current time.{}",
            keys(Command::DeleteKeys, ui)
        );
        if button_ui(
            ui,
            icons::ICON_KEY_OFF,
            "Delete keyframe of the group",
            &about,
            false,
        ) {
            editor.delete_cluster_key();
        }
        let about = format!(
            "Set the selected clusters back to where the deformer stack has them.{}",
            keys(Command::ClearLocation, ui)
        );
        if button_ui(ui, icons::ICON_RESTART_ALT, "Reset clusters", &about, false) {
            editor.reset_clusters();
        }
    });
}

fn button_ui(ui: &mut Ui, icon: MaterialIcon, label: &str, about: &str, is_on: bool) -> bool {
    let palette = theme::palette(ui);
    let colour = if is_on { palette.accent } else { palette.text };
    let button = Button::new(icon.rich_text().size(16.0).color(colour));
    let response = ui.add(button.min_size(Vec2::splat(theme::ROW)));
    response.widget_info(|| WidgetInfo::selected(Role::Button, true, is_on, label));
    response
        .on_hover_text(format!("{label}\n{about}"))
        .clicked()
}
