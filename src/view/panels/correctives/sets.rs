//! The sample sets of the object, and the drivers and settings of the active one.

use super::fields::{Number, named_ui, pick_ui};
use super::vertices::held_vertices_ui;
use super::{CorrectivesPanel, Rename, buttons_ui, heading_ui, id_of};
use crate::deform::correctives::{Driver, SampleSet};
use crate::editor::Editor;
use crate::finding::counted;
use crate::psd::{DriverMode, Kernel};
use crate::view::commands::Command;
use crate::view::panels::rename::{NameField, RenameEnd};
use crate::view::theme;
use egui::{
    Button, Checkbox, Color32, Label, Rect, RichText, Role, Sense, TextStyle, TextWrapMode, Ui,
    Vec2, WidgetInfo, WidgetText, pos2, vec2,
};
use egui_material_icons::icons;
use std::sync::Arc;

/// What of a rotation counts, without its axis.
#[derive(Clone, Copy, PartialEq)]
enum ModeKind {
    Ball,
    Hinge,
    Swing,
    Twist,
}

const MODES: [(ModeKind, &str, &str); 4] = [
    (
        ModeKind::Ball,
        "Ball",
        "The whole rotation counts, smoothly through a full circle.",
    ),
    (
        ModeKind::Hinge,
        "Hinge",
        "The angle about one axis counts, from -180° to 180°. For elbows, knees and fingers.",
    ),
    (
        ModeKind::Swing,
        "Swing",
        "The direction of the bone counts, not its twist.",
    ),
    (
        ModeKind::Twist,
        "Twist",
        "The twist about the bone counts, not its direction.",
    ),
];

const KERNELS: [(Kernel, &str, &str); 5] = [
    (
        Kernel::MultiQuadric,
        "Multiquadric",
        "Smooth. The weights of the samples and of the bind pose sum to 1.",
    ),
    (
        Kernel::Linear,
        "Linear",
        "Never overshoots; the speed of the correction jumps at each sample.",
    ),
    (
        Kernel::Gaussian,
        "Gaussian",
        "Local. Bending the other way inverts the correction slightly.",
    ),
    (
        Kernel::InverseMultiQuadric,
        "Inverse multiquadric",
        "Local, with a slower falloff than the Gaussian kernel.",
    ),
    (
        Kernel::ThinPlate,
        "Thin plate",
        "For up to three hinges with more samples than hinges.",
    ),
];

impl CorrectivesPanel {
    /// Draws the list of sets, then the active one.
    pub(super) fn sets_ui(
        &mut self,
        ui: &mut Ui,
        editor: &mut Editor,
        commands: &mut Vec<Command>,
    ) {
        let sets = editor
            .correctives()
            .map_or(Vec::new(), |c| c.sets().to_vec());
        heading_ui(ui, "Sample sets", "");
        let buttons = [
            (Command::AddSampleSet, icons::ICON_ADD),
            (Command::AddDrivers, icons::ICON_PERSON_ADD),
            (Command::DeleteSampleSet, icons::ICON_DELETE),
            (Command::MirrorSamples, icons::ICON_FLIP),
            (Command::SuggestCorrectives, icons::ICON_AUTO_FIX_HIGH),
        ];
        commands.extend(buttons_ui(ui, editor, &buttons));
        for (index, set) in sets.iter().enumerate() {
            self.set_row_ui(ui, editor, index, set);
        }
        let Some(active) = editor.active_set() else {
            return;
        };
        let Some(set) = sets.get(active) else {
            return;
        };
        if let Some(fault) = &set.fault {
            let text = format!("This set is off: {fault}.");
            let error = theme::palette(ui).error;
            ui.add(Label::new(RichText::new(text).color(error)).wrap());
        }
        ui.add_space(4.0);
        heading_ui(ui, "Drivers", "");
        for (driver, known) in set.drivers.iter().enumerate() {
            self.driver_ui(ui, editor, (active, driver), known);
        }
        ui.add_space(4.0);
        heading_ui(ui, "Interpolation", "");
        self.interpolation_ui(ui, editor, active, set);
    }

    fn set_row_ui(&mut self, ui: &mut Ui, editor: &mut Editor, index: usize, set: &Arc<SampleSet>) {
        let palette = theme::palette(ui);
        let size = Vec2::new(ui.available_width(), theme::ROW);
        let (_, rect) = ui.allocate_space(size);
        let id = id_of(ui, "set", index, 0);
        let response = ui.interact(rect, id, Sense::CLICK);
        let is_active = editor.active_set() == Some(index);
        if is_active {
            ui.painter().rect_filled(rect, 3.0, palette.selected);
            let bar = Rect::from_min_size(rect.min, vec2(3.0, rect.height()));
            ui.painter().rect_filled(bar, 1.0, palette.accent);
        } else if response.hovered() {
            ui.painter().rect_filled(rect, 3.0, palette.stripe);
        }
        let count = counted(set.n_samples(), "sample");
        let state = if set.fault.is_some() { ", off" } else { "" };
        let spoken = format!("{}, {count}{state}", set.name);
        response
            .widget_info(|| WidgetInfo::selected(Role::ListBoxOption, true, is_active, &spoken));
        let wanted = |rename: &Rename| rename.set == index && rename.sample.is_none();
        let place = rect.with_min_x(rect.left() + 8.0);
        if let Some(rename) = self.rename.as_mut().filter(|rename| wanted(rename)) {
            if let Some(end) = rename
                .field
                .show_ui(ui, place, id.with("name"), "Name of the set")
            {
                self.rename = None;
                if let RenameEnd::Named(name) = end {
                    editor.rename_set(index, &name);
                }
            }
            return;
        }
        let beside = format!("{count}{state}");
        let right = text_ui(ui, &beside, palette.text_dim, rect, true, 120.0);
        let name = rect.with_min_x(rect.left() + 8.0).with_max_x(right - 6.0);
        let colour = if is_active {
            palette.accent
        } else {
            palette.text
        };
        text_ui(ui, &set.name, colour, name, false, name.width());
        if response.double_clicked() {
            self.rename = Some(Rename {
                set: index,
                sample: None,
                field: NameField::new(set.name.clone()),
            });
        } else if response.clicked() && !is_active {
            editor.select_set(index);
        }
        response.on_hover_text(format!(
            "{}\nClick to edit it, double-click to rename it.",
            set.name
        ));
    }

    fn driver_ui(
        &mut self,
        ui: &mut Ui,
        editor: &mut Editor,
        (set, index): (usize, usize),
        driver: &Driver,
    ) {
        let label = editor.document().skeleton().label(driver.joint);
        ui.push_id(("driver", index), |ui| {
            ui.horizontal(|ui| {
                ui.spacing_mut().item_spacing.x = 4.0;
                let is_plotted = self.driver == index;
                let name = RichText::new(&label);
                let name = Button::selectable(is_plotted, name).truncate();
                let width = (ui.available_width() - 176.0).max(40.0);
                let response = ui.add_sized(Vec2::new(width, theme::ROW), name);
                let about = format!("{label}\nPlot its pose space, and select the bone.");
                if response.on_hover_text(about).clicked() {
                    self.driver = index;
                    editor.select_joint(Some(driver.joint));
                }
                let kind = kind_of(driver.mode);
                let (response, chosen) =
                    pick_ui(ui, &format!("Type of {label}"), 72.0, kind, &MODES);
                response.on_hover_text(
                    "Driver type: which part of the bone's rotation drives the samples.",
                );
                if let Some(kind) = chosen {
                    let mode = mode_of(editor, set, index, kind);
                    editor.change_set(set, "Driver type", |set| {
                        if let Some(driver) = set.drivers.get_mut(index) {
                            driver.mode = mode;
                        }
                    });
                }
                let number = Number {
                    label: &format!("Weight of {label}"),
                    range: 0.01..=100.0,
                    speed: 0.02,
                    decimals: 2,
                    suffix: "",
                    about: "The weight of this driver in the distance between poses (λ).",
                    step: "Driver weight",
                };
                if let Some(lambda) = number.show_ui(ui, self, editor, driver.lambda) {
                    editor.change_set(set, "Driver weight", |set| {
                        if let Some(driver) = set.drivers.get_mut(index) {
                            driver.lambda = lambda;
                        }
                    });
                }
                let icon = icons::ICON_CLOSE.rich_text().size(14.0);
                let response = ui.add(Button::new(icon).frame(false));
                let remove = format!("Remove the driver {label}");
                response.widget_info(|| WidgetInfo::labeled(Role::Button, true, &remove));
                let about = format!("{remove}. The samples forget its rotation.");
                if response.on_hover_text(about).clicked() {
                    editor.remove_driver(set, index);
                }
            });
        });
    }

    fn interpolation_ui(
        &mut self,
        ui: &mut Ui,
        editor: &mut Editor,
        index: usize,
        set: &SampleSet,
    ) {
        let about = "How the weight of a sample falls off with the distance from its pose.";
        named_ui(ui, "Kernel", about, |ui| {
            let width = ui.available_width();
            let (response, chosen) = pick_ui(ui, "Kernel", width, set.kernel, &KERNELS);
            response.on_hover_text(about);
            if let Some(kernel) = chosen {
                editor.change_set(index, "Kernel", |set| set.kernel = kernel);
            }
        });
        let mut number = |ui: &mut Ui, name: &str, number: &Number<'_>, value: f64, pick: usize| {
            named_ui(ui, name, number.about, |ui| {
                if let Some(value) = number.show_ui(ui, self, editor, value) {
                    editor.change_set(index, number.step, |set| match pick {
                        0 => set.radius = value,
                        1 => set.smoothing = value,
                        2 => set.clamp[0] = value,
                        _ => set.clamp[1] = value,
                    });
                }
            });
        };
        let radius = Number {
            label: "Radius",
            range: 0.25..=4.0,
            speed: 0.01,
            decimals: 2,
            suffix: " ×",
            about: "The reach of each sample, as a multiple of the mean distance of neighbouring samples.",
            step: "Radius",
        };
        number(ui, "Radius", &radius, set.radius, 0);
        let smoothing = Number {
            label: "Smoothing",
            range: 0.0..=1.0,
            // A drag multiplies: useful values span orders of magnitude. The speed also sets the decimals that are shown.
            speed: if set.smoothing > 0.0 {
                0.02 * set.smoothing
            } else {
                1e-3
            },
            decimals: 12,
            suffix: "",
            about: "Regularization of the solve, 1e-10 to 1e-4 for most sets. Above 0 the weights vary less, and samples are no longer reproduced exactly; the rest pose is.",
            step: "Smoothing",
        };
        number(ui, "Smoothing", &smoothing, set.smoothing, 1);
        let least = Number {
            label: "Smallest weight",
            range: -2.0..=0.0,
            speed: 0.01,
            decimals: 2,
            suffix: "",
            about: "The smallest weight that a sample can have.",
            step: "Clamp weights",
        };
        number(ui, "Min weight", &least, set.clamp[0], 2);
        let most = Number {
            label: "Largest weight",
            range: 1.0..=3.0,
            speed: 0.01,
            decimals: 2,
            suffix: "",
            about: "The largest weight that a sample can have.",
            step: "Clamp weights",
        };
        number(ui, "Max weight", &most, set.clamp[1], 3);
        let mut fade = set.fade;
        let about = "Fade the correction out at poses far from every sample.";
        let response = ui.add(Checkbox::new(&mut fade, "Fade out"));
        if response.on_hover_text(about).changed() {
            editor.change_set(index, "Fade out", |set| set.fade = fade);
        }
        let mut weighted = set.weighted;
        let has_several = set.drivers.len() > 1;
        let about = "Let each vertex weigh the driver bones by its own skin weights: it follows the bones that move it.";
        let response = ui.add_enabled(has_several, Checkbox::new(&mut weighted, "Weighted PSD"));
        let response = response
            .on_hover_text(about)
            .on_disabled_hover_text("A set with one driver bone has nothing to weigh.");
        if response.changed() {
            editor.change_set(index, "Weighted PSD", |set| set.weighted = weighted);
        }
        let mut scales = set.scale_with_limb;
        let about = "Stretch the correction with scaled bones: a limb of twice the length gets twice the displacement \
                     along it.";
        let response = ui.add(Checkbox::new(&mut scales, "Scale with limb"));
        if response.on_hover_text(about).changed() {
            editor.change_set(index, "Scale with limb", |set| set.scale_with_limb = scales);
        }
        held_vertices_ui(ui, editor, index, set);
        if let Some(solved) = editor
            .correctives()
            .and_then(|c| c.interpolations().get(index))
        {
            let text = format!("Condition number {:.1}", solved.condition());
            let dim = theme::palette(ui).text_dim;
            let about = "How sensitive the weights are to small changes of the poses: above 1e8 Sinew warns and uses the \
                         linear kernel.";
            ui.label(RichText::new(text).color(dim))
                .on_hover_text(about);
        }
    }
}

fn kind_of(mode: DriverMode) -> ModeKind {
    match mode {
        DriverMode::Ball => ModeKind::Ball,
        DriverMode::Hinge(_) => ModeKind::Hinge,
        DriverMode::Swing(_) => ModeKind::Swing,
        DriverMode::Twist(_) => ModeKind::Twist,
    }
}

fn mode_of(editor: &Editor, set: usize, driver: usize, kind: ModeKind) -> DriverMode {
    let axis = editor.suggested_axis(set, driver, kind == ModeKind::Hinge);
    match kind {
        ModeKind::Ball => DriverMode::Ball,
        ModeKind::Hinge => DriverMode::Hinge(axis),
        ModeKind::Swing => DriverMode::Swing(axis),
        ModeKind::Twist => DriverMode::Twist(axis),
    }
}

/// Draws one line of text at the left or the right end of a rectangle; returns its left edge.
pub(in crate::view::panels) fn text_ui(
    ui: &Ui,
    text: &str,
    colour: Color32,
    rect: Rect,
    is_right: bool,
    width: f32,
) -> f32 {
    let galley = WidgetText::from(text).into_galley(
        ui,
        Some(TextWrapMode::Truncate),
        width.max(0.0),
        TextStyle::Body,
    );
    let left = if is_right {
        rect.right() - 4.0 - galley.size().x
    } else {
        rect.left()
    };
    let at = pos2(left, rect.center().y - galley.size().y * 0.5);
    ui.painter()
        .galley_with_override_text_color(at, galley, colour);
    left
}
