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
    keys_ui(ui, editor, group, "cluster");
    let moves = editor.moves_clusters();
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing = Vec2::splat(2.0);
        let about = format!(
            "Select clusters with a click or a box, and move them with the gizmo.{}",
            keys_of(Command::PoseMove, ui)
        );
        if button_ui(ui, icons::ICON_OPEN_WITH, "Move clusters", &about, moves) {
            editor.set_moves_clusters(!moves);
        }
        key_buttons_ui(ui, editor);
        let about = format!(
            "Move the selected clusters back to where the deformer stack places them.{}",
            keys_of(Command::ClearLocation, ui)
        );
        if button_ui(ui, icons::ICON_RESTART_ALT, "Reset clusters", &about, false) {
            editor.reset_clusters();
        }
    });
}

/// Draws the number of displaced clusters or control points of a group at the current time, and its keyframes in
/// the clip.
pub(super) fn keys_ui(ui: &mut Ui, editor: &Editor, group: &ClusterGroup, noun: &str) {
    let Some(motion) = group.motion() else {
        return;
    };
    let moment = editor.document().shown_moment();
    let n = motion.offsets_at(moment).len();
    let mut text = format!("{} displaced", counted(n, noun));
    if let Some(clip) = moment.clip {
        let n = motion.keys(clip).len();
        text = format!("{text}, {} in this clip", counted(n, "keyframe"));
    }
    let dim = theme::palette(ui).text_dim;
    ui.add(Label::new(RichText::new(text).color(dim)).wrap());
}

/// Draws the buttons that insert and delete a keyframe of the active group.
pub(super) fn key_buttons_ui(ui: &mut Ui, editor: &mut Editor) {
    let about = format!(
        "Insert a keyframe for the group at the current time.{}",
        keys_of(Command::KeyPose, ui)
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
        keys_of(Command::DeleteKeys, ui)
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
}

/// The keys of a command in Cluster mode, for tooltips.
pub(super) fn keys_of(command: Command, ui: &Ui) -> String {
    let keys = command.keys(ui.ctx());
    if keys.is_empty() {
        String::new()
    } else {
        format!("  ({keys} in Cluster mode)")
    }
}

/// Draws a button with an icon; returns whether it was clicked.
pub(super) fn button_ui(
    ui: &mut Ui,
    icon: MaterialIcon,
    label: &str,
    about: &str,
    is_on: bool,
) -> bool {
    let palette = theme::palette(ui);
    let colour = if is_on { palette.accent } else { palette.text };
    let button = Button::new(icon.rich_text().size(16.0).color(colour));
    let response = ui.add(button.min_size(Vec2::splat(theme::ROW)));
    response.widget_info(|| WidgetInfo::selected(Role::Button, true, is_on, label));
    response
        .on_hover_text(format!("{label}\n{about}"))
        .clicked()
}
