//! The header of the viewport: mode, shading, overlays, camera, panes, and the view of linear blend skinning.

use super::{item_ui, target_label};
use crate::deform::StackPreset;
use crate::document::PaneLayout;
use crate::document::session::PaintTarget;
use crate::editor::{Editor, WeightView};
use crate::sentence::shortened_name;
use crate::view::commands::Command;
use crate::view::mode::Mode;
use crate::view::scene::Shading;
use crate::view::theme;
use crate::view::viewport::Viewport;
use egui::{Button, Id, Role, Ui, Vec2, WidgetInfo};
use egui_material_icons::{MaterialIcon, icons};

/// Below this width the shading buttons become a menu, points.
const SMALLEST: f32 = 560.0;

/// Below this width the paint target shows an icon only, points.
const WORDLESS: f32 = 720.0;

/// Maximum letters of the paint target: bone names can be long.
const MOST_LETTERS: usize = 24;

/// The overlays, in the order of the menu.
const OVERLAYS: [Command; 10] = [
    Command::ToggleBones,
    Command::ToggleXray,
    Command::ToggleNames,
    Command::ToggleHoverBar,
    Command::ToggleIsolines,
    Command::ToggleLockPattern,
    Command::ToggleClusters,
    Command::ToggleControlNet,
    Command::ToggleGrid,
    Command::ToggleWire,
];

/// The viewpoints in the camera menu.
const VIEWS: [Command; 6] = [
    Command::ViewFront,
    Command::ViewBack,
    Command::ViewRight,
    Command::ViewLeft,
    Command::ViewTop,
    Command::ViewBottom,
];

/// The comparison stacks, in the order of the menu.
const BEFORE: [Command; 7] = [
    Command::UseBefore(StackPreset::Lbs),
    Command::UseBefore(StackPreset::Dqs),
    Command::UseBefore(StackPreset::Compensation),
    Command::UseBefore(StackPreset::Projection),
    Command::UseBefore(StackPreset::CentresOfRotation),
    Command::UseBefore(StackPreset::Default),
    Command::KeepBefore,
];

/// Draws the header; returns the requested commands. Its menus show icons only where their names do not fit.
pub fn header_ui(
    ui: &mut Ui,
    editor: &Editor,
    view: &Viewport,
    is_on: &dyn Fn(Command) -> Option<bool>,
) -> Vec<Command> {
    let mut commands = Vec::new();
    let width = ui.available_width();
    let is_painting = view.mode == Mode::Paint;
    let shows_weights = view.options.shading == Shading::Weights;
    let is_smallest = width < SMALLEST;
    // What decides its width with all names, and that width when it was last drawn so.
    let layout = view.layout(editor);
    let is_orthographic = editor.document().session().camera.orthographic;
    let key = (
        (
            view.mode,
            is_painting.then(|| target_label(editor.paint_target(), editor)),
        ),
        (view.options.shading, view.options.weight_view),
        (layout, is_orthographic, width < WORDLESS),
    );
    let known = Id::unique("width of the header").with(format!("{key:?}"));
    let whole: Option<f32> = ui.data(|data| data.get_temp(known));
    let is_narrow = is_smallest || whole.is_some_and(|whole| whole > width);
    let title = |text: &'static str| if is_narrow { "" } else { text };
    ui.spacing_mut().item_spacing.x = if is_smallest { 2.0 } else { 4.0 };
    let mode = if is_smallest { "" } else { view.mode.label() };
    let row = ui.horizontal(|ui| {
        menu_ui(
            ui,
            "Mode",
            view.mode.icon(),
            mode,
            "The mode sets what the left mouse button does.",
            |ui| {
                for mode in Mode::ALL {
                    item_ui(ui, Command::SetMode(mode), editor, is_on, &mut commands);
                }
            },
        );
        if is_painting {
            let target = target_label(editor.paint_target(), editor);
            let target = shortened_name(&target, MOST_LETTERS);
            let text = if width < WORDLESS { "" } else { &target };
            let about = "What the brush paints, and operations on the whole map.";
            let icon = icons::ICON_FORMAT_COLOR_FILL;
            menu_ui(ui, "Painted", icon, text, about, |ui| {
                for target in PaintTarget::ALL {
                    item_ui(ui, Command::Paint(target), editor, is_on, &mut commands);
                }
                ui.separator();
                for command in [Command::FillMap, Command::ClearMap, Command::InvertMap] {
                    item_ui(ui, command, editor, is_on, &mut commands);
                }
            });
        }
        if matches!(view.mode, Mode::Paint | Mode::Sculpt) {
            let on = is_on(Command::ToggleSymmetry) == Some(true);
            let icon = icons::ICON_FLIP;
            choice_ui(ui, Command::ToggleSymmetry, icon, on, editor, &mut commands);
        }
        ui.separator();
        let shadings = Command::all().filter_map(|c| match c {
            Command::Show(shading) => Some(shading),
            _ => None,
        });
        let shown = view.options.shading;
        if is_smallest {
            let icon = shading_icon(shown);
            menu_ui(ui, "Shading", icon, "", "How surfaces are drawn.", |ui| {
                for shading in shadings {
                    item_ui(ui, Command::Show(shading), editor, is_on, &mut commands);
                }
                ui.separator();
                weights_ui(ui, editor, is_on, &mut commands);
            });
        } else {
            for shading in shadings {
                let (command, icon) = (Command::Show(shading), shading_icon(shading));
                choice_ui(ui, command, icon, shading == shown, editor, &mut commands);
            }
        }
        if shows_weights && !is_smallest {
            let shown = view.options.weight_view;
            let about = "What the weight colours show.";
            menu_ui(
                ui,
                "Weight colours show",
                weight_icon(shown),
                title(shown.label()),
                about,
                |ui| weights_ui(ui, editor, is_on, &mut commands),
            );
        }
        ui.separator();
        let about = "What is drawn over the model.";
        menu_ui(
            ui,
            "Overlays",
            icons::ICON_LAYERS,
            title("Overlays"),
            about,
            |ui| {
                for command in OVERLAYS {
                    item_ui(ui, command, editor, is_on, &mut commands);
                }
            },
        );
        let (icon, text) = if is_orthographic {
            (icons::ICON_GRID_ON, title("Orthographic"))
        } else {
            (icons::ICON_VIEW_IN_AR, title("Perspective"))
        };
        menu_ui(
            ui,
            "Camera",
            icon,
            text,
            "Perspective or orthographic view, and viewpoints.",
            |ui| {
                item_ui(
                    ui,
                    Command::ToggleOrthographic,
                    editor,
                    is_on,
                    &mut commands,
                );
                ui.separator();
                for command in VIEWS {
                    item_ui(ui, command, editor, is_on, &mut commands);
                }
            },
        );
        menu_ui(
            ui,
            "Panes",
            panes_icon(layout),
            title(Command::UsePanes(layout).label()),
            "Number of views, wipe, and the comparison stack.",
            |ui| {
                for layout in PaneLayout::ALL {
                    item_ui(ui, Command::UsePanes(layout), editor, is_on, &mut commands);
                }
                ui.separator();
                item_ui(ui, Command::ShowBefore, editor, is_on, &mut commands);
                for command in BEFORE {
                    item_ui(ui, command, editor, is_on, &mut commands);
                }
            },
        );
        lbs_ui(ui, editor, view.shows_lbs(), &mut commands);
    });
    let drawn = row.response.rect.width();
    if !is_narrow && whole != Some(drawn) {
        ui.data_mut(|data| data.insert_temp(known, drawn));
        if drawn > width {
            // Too wide: this frame is drawn again without names.
            ui.ctx()
                .request_discard("the names of the header do not fit");
        }
    }
    commands
}

fn panes_icon(layout: PaneLayout) -> MaterialIcon {
    match layout {
        PaneLayout::One => icons::ICON_CROP_SQUARE,
        PaneLayout::Two => icons::ICON_SPLITSCREEN_RIGHT,
        PaneLayout::Four => icons::ICON_GRID_VIEW,
        PaneLayout::Wipe => icons::ICON_COMPARE,
    }
}

/// The button that shows the model under linear blend skinning, as other viewers draw it.
fn lbs_ui(ui: &mut Ui, editor: &Editor, on: bool, commands: &mut Vec<Command>) {
    let command = Command::ViewLbs;
    let enabled = command.is_enabled(editor);
    let name = StackPreset::Lbs.short_label();
    let button = Button::selectable(on, name).frame_when_inactive(true);
    let response = ui.add_enabled(enabled, button);
    response.widget_info(|| WidgetInfo::selected(Role::Button, enabled, on, command.label()));
    let text = format!("{}\n{}", command.label(), command.tooltip(ui.ctx()));
    if response.on_hover_text(text).clicked() {
        commands.push(command);
    }
}

fn shading_icon(shading: Shading) -> MaterialIcon {
    match shading {
        Shading::Textured => icons::ICON_TEXTURE,
        Shading::Shaded => icons::ICON_BRIGHTNESS_6,
        Shading::Form => icons::ICON_TONALITY,
        Shading::Weights => icons::ICON_GRADIENT,
        Shading::Wire => icons::ICON_LANGUAGE,
        Shading::HeatMap => icons::ICON_THERMOSTAT,
    }
}

/// The weight menu: what the colours show, and overlays.
fn weights_ui(
    ui: &mut Ui,
    editor: &Editor,
    is_on: &dyn Fn(Command) -> Option<bool>,
    commands: &mut Vec<Command>,
) {
    for view in WeightView::ALL {
        item_ui(ui, Command::UseWeightView(view), editor, is_on, commands);
    }
    ui.separator();
    for command in [Command::ToggleIsolines, Command::ToggleLockPattern] {
        item_ui(ui, command, editor, is_on, commands);
    }
}

fn weight_icon(view: WeightView) -> MaterialIcon {
    match view {
        WeightView::Painted => icons::ICON_ADJUST,
        WeightView::Bones => icons::ICON_PALETTE,
        WeightView::Count => icons::ICON_NUMBERS,
        WeightView::Sum => icons::ICON_FUNCTIONS,
    }
}

/// A menu named `name` whose button shows `text`.
fn menu_ui(
    ui: &mut Ui,
    name: &str,
    icon: MaterialIcon,
    text: &str,
    about: &str,
    content: impl FnOnce(&mut Ui),
) {
    let arrow = icons::ICON_ARROW_DROP_DOWN.rich_text().size(14.0);
    let icon = icon.rich_text().size(16.0);
    ui.spacing_mut().button_padding.x = if text.is_empty() { 4.0 } else { 6.0 };
    let response = if text.is_empty() {
        ui.menu_button((icon, arrow), content).response
    } else {
        ui.menu_button((icon, text, arrow), content).response
    };
    response.widget_info(|| {
        let label = if text.is_empty() || text == name {
            name.to_owned()
        } else {
            format!("{name}: {text}")
        };
        WidgetInfo::labeled(Role::Button, true, label)
    });
    response.on_hover_text(about);
}

/// A square button of a radio group.
fn choice_ui(
    ui: &mut Ui,
    command: Command,
    icon: MaterialIcon,
    on: bool,
    editor: &Editor,
    commands: &mut Vec<Command>,
) {
    let palette = theme::palette(ui);
    let enabled = command.is_enabled(editor);
    let colour = if on { palette.accent } else { palette.text };
    ui.spacing_mut().button_padding.x = 4.0;
    let button = Button::selectable(on, icon.rich_text().size(16.0).color(colour))
        .min_size(Vec2::splat(24.0));
    let response = ui.add_enabled(enabled, button);
    response.widget_info(|| WidgetInfo::selected(Role::Button, enabled, on, command.label()));
    let text = format!("{}\n{}", command.label(), command.tooltip(ui.ctx()));
    if response.on_hover_text(text).clicked() {
        commands.push(command);
    }
}
