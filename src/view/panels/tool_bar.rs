//! The toolbar: the modes, and the tools of the mode.

use crate::document::session::{BrushKind, SculptKind};
use crate::editor::{Editor, RigKind};
use crate::view::commands::Command;
use crate::view::mode::Mode;
use crate::view::theme;
use egui::{Button, CornerRadius, Role, Stroke, Ui, Vec2, WidgetInfo};
use egui_material_icons::{MaterialIcon, icons};

/// Width of the toolbar with its margins, points.
pub const TOOL_BAR_WIDTH: f32 = 40.0;

/// The tools of a mode, in groups.
fn tools(mode: Mode) -> &'static [&'static [(Command, MaterialIcon)]] {
    match mode {
        Mode::Select => &[
            &[
                (Command::SelectBox, icons::ICON_SELECT),
                (Command::SelectCircle, icons::ICON_CIRCLE),
                (Command::SelectLasso, icons::ICON_LASSO_SELECT),
            ],
            &[
                (Command::Hide, icons::ICON_VISIBILITY_OFF),
                (Command::ShowAll, icons::ICON_VISIBILITY),
            ],
        ],
        Mode::Pose => &[
            &[
                (Command::PoseMove, icons::ICON_OPEN_WITH),
                (Command::PoseRotate, icons::ICON_ROTATE_RIGHT),
                (Command::PoseScale, icons::ICON_OPEN_IN_FULL),
            ],
            &[
                (Command::TogglePin, icons::ICON_KEEP),
                (Command::ResetPose, icons::ICON_RESTART_ALT),
                (Command::KeyPose, icons::ICON_KEY),
            ],
        ],
        Mode::Rig => &[
            &[
                (Command::DrawJoints, icons::ICON_DRAW),
                (Command::Extrude, icons::ICON_ADD_CIRCLE),
                (
                    Command::EditRig(RigKind::Subdivide),
                    icons::ICON_LINEAR_SCALE,
                ),
                (Command::EditRig(RigKind::Dissolve), icons::ICON_MERGE),
                (Command::EditRig(RigKind::Remove), icons::ICON_DELETE),
            ],
            &[
                (
                    Command::EditRig(RigKind::SetParent),
                    icons::ICON_ACCOUNT_TREE,
                ),
                (Command::OrientPie, icons::ICON_3D_ROTATION),
                (Command::EditRig(RigKind::Symmetrize), icons::ICON_FLIP),
            ],
            &[
                (Command::EditRig(RigKind::Twist), icons::ICON_CYCLONE),
                (Command::EditRig(RigKind::Half), icons::ICON_CALL_SPLIT),
            ],
            &[(Command::SelectBox, icons::ICON_SELECT)],
        ],
        Mode::Paint => &[
            &[
                (Command::UseBrush(BrushKind::Add), icons::ICON_ADD_CIRCLE),
                (
                    Command::UseBrush(BrushKind::Replace),
                    icons::ICON_FORMAT_PAINT,
                ),
                (Command::UseBrush(BrushKind::Scale), icons::ICON_PERCENT),
                (Command::UseBrush(BrushKind::Smooth), icons::ICON_BLUR_ON),
                (Command::UseBrush(BrushKind::Sharpen), icons::ICON_DETAILS),
                (Command::UseBrush(BrushKind::Gradient), icons::ICON_GRADIENT),
                (
                    Command::UseBrush(BrushKind::Radial),
                    icons::ICON_BLUR_CIRCULAR,
                ),
                (Command::UseBrush(BrushKind::Sample), icons::ICON_COLORIZE),
            ],
            &[(Command::SwapWeight, icons::ICON_INVERT_COLORS)],
            &[
                (Command::LockActive, icons::ICON_LOCK),
                (Command::UnlockAll, icons::ICON_LOCK_OPEN),
            ],
        ],
        Mode::Cluster => &[
            &[
                (Command::MarkBrush, icons::ICON_BRUSH),
                (Command::PoseMove, icons::ICON_OPEN_WITH),
                (Command::PoseRotate, icons::ICON_ROTATE_RIGHT),
                (Command::PoseScale, icons::ICON_OPEN_IN_FULL),
                (Command::KeyPose, icons::ICON_KEY),
            ],
            &[
                (Command::SelectBox, icons::ICON_SELECT),
                (Command::SelectCircle, icons::ICON_CIRCLE),
                (Command::SelectLasso, icons::ICON_LASSO_SELECT),
            ],
            &[
                (Command::MarkSelected, icons::ICON_ADD_LOCATION),
                (Command::UnmarkSelected, icons::ICON_LAYERS_CLEAR),
                (Command::GrowGroup, icons::ICON_EXPAND_CONTENT),
                (Command::ShrinkGroup, icons::ICON_COLLAPSE_CONTENT),
                (Command::SelectGroup, icons::ICON_SELECT_ALL),
                (Command::IsolateGroup, icons::ICON_FILTER_CENTER_FOCUS),
            ],
        ],
        Mode::Sculpt => &[
            &[
                (Command::UseSculpt(SculptKind::Grab), icons::ICON_BACK_HAND),
                (
                    Command::UseSculpt(SculptKind::Inflate),
                    icons::ICON_BUBBLE_CHART,
                ),
                (Command::UseSculpt(SculptKind::Smooth), icons::ICON_BLUR_ON),
                (Command::UseSculpt(SculptKind::Relax), icons::ICON_SPA),
                (
                    Command::UseSculpt(SculptKind::Flatten),
                    icons::ICON_COMPRESS,
                ),
                (
                    Command::UseSculpt(SculptKind::Pinch),
                    icons::ICON_CLOSE_FULLSCREEN,
                ),
                (Command::UseSculpt(SculptKind::Slide), icons::ICON_SWIPE),
                (
                    Command::UseSculpt(SculptKind::Erase),
                    icons::ICON_INK_ERASER,
                ),
            ],
            &[
                (Command::PoseMove, icons::ICON_OPEN_WITH),
                (Command::PoseRotate, icons::ICON_ROTATE_RIGHT),
                (Command::PoseScale, icons::ICON_OPEN_IN_FULL),
                (Command::ToggleSoftSelection, icons::ICON_BLUR_CIRCULAR),
            ],
            &[
                (Command::AddSample, icons::ICON_ADD_CIRCLE),
                (Command::GoToSample, icons::ICON_MY_LOCATION),
            ],
        ],
    }
}

/// Draws modes and tools; returns the requested commands. `is_on` is the state of toggle commands.
pub fn tool_bar_ui(
    ui: &mut Ui,
    mode: Mode,
    editor: &Editor,
    is_on: &dyn Fn(Command) -> Option<bool>,
) -> Vec<Command> {
    let mut commands = Vec::new();
    let mut tool = |ui: &mut Ui, command: Command, icon: MaterialIcon| {
        let enabled = command.is_enabled(editor);
        let why = if enabled {
            None
        } else {
            command.why_disabled(editor)
        };
        if tool_ui(ui, command, icon, (enabled, why), is_on(command)) {
            commands.push(command);
        }
    };
    // Close together, so that the tools of most modes fit into a low window.
    ui.spacing_mut().item_spacing = Vec2::new(4.0, 1.0);
    egui::ScrollArea::vertical()
        .scroll_bar_visibility(egui::scroll_area::ScrollBarVisibility::AlwaysHidden)
        .show(ui, |ui| {
            for mode in Mode::ALL {
                tool(ui, Command::SetMode(mode), mode.icon());
            }
            for group in tools(mode) {
                ui.separator();
                for (command, icon) in *group {
                    tool(ui, *command, *icon);
                }
            }
        });
    commands
}

/// A square button; the active one is amber with a bar at its side.
fn tool_ui(
    ui: &mut Ui,
    command: Command,
    icon: MaterialIcon,
    (enabled, why): (bool, Option<&str>),
    on: Option<bool>,
) -> bool {
    let palette = theme::palette(ui);
    let is_on = on == Some(true);
    let colour = if is_on { palette.accent } else { palette.text };
    let button = Button::new(icon.rich_text().size(16.0).color(colour))
        .frame_when_inactive(false)
        .selected(false)
        .corner_radius(CornerRadius::same(4))
        .min_size(Vec2::splat(26.0));
    ui.spacing_mut().button_padding = Vec2::splat(4.0);
    let response = ui.add_enabled(enabled, button);
    if is_on {
        let side = response.rect.left() - 3.0;
        let y = response.rect.shrink(4.0).y_range();
        ui.painter()
            .vline(side, y, Stroke::new(2.0, palette.accent));
    }
    response.widget_info(|| match on {
        Some(on) => WidgetInfo::selected(Role::Button, enabled, on, command.label()),
        None => WidgetInfo::labeled(Role::Button, enabled, command.label()),
    });
    let text = format!("{}\n{}", command.label(), command.tooltip(ui.ctx()));
    response
        .on_hover_text(&text)
        .on_disabled_hover_text(why.map_or_else(|| text.clone(), |why| format!("{text}\n{why}")))
        .clicked()
}
