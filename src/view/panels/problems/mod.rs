//! The Problems panel: findings in the model, and the message log.

mod messages;

use super::list::{List, memory_id};
use crate::document::MeshId;
use crate::document::checks;
use crate::editor::Editor;
use crate::finding::{Finding, Place, Severity, counted};
use crate::skeleton::JointId;
use crate::view::theme::{self, Palette};
use egui::{
    Align2, Color32, FontId, RichText, Role, TextStyle, TextWrapMode, Ui, Vec2, WidgetInfo,
    WidgetText, pos2, vec2,
};
use egui_material_icons::{MaterialIcon, icons};

/// The severities, in filter order.
const SEVERITIES: [Severity; 3] = [Severity::Error, Severity::Warning, Severity::Info];
/// Width of the severity column, points.
const SEVERITY: f32 = 84.0;

/// The state of the panel between frames.
#[derive(Clone, Copy)]
struct Memory {
    /// The severities shown.
    shown: [bool; 3],
    /// Whether the log is shown instead of the findings.
    messages: bool,
    cursor: Option<usize>,
}

impl Default for Memory {
    fn default() -> Self {
        Self {
            shown: [true; 3],
            messages: false,
            cursor: None,
        }
    }
}

/// The title of the tab: the panel name and the number of errors and warnings.
pub fn problems_title(editor: &Editor) -> String {
    let [errors, warnings, _] = checks::count(editor.problems());
    match errors + warnings {
        0 => "Problems".to_owned(),
        n => format!("Problems ({n})"),
    }
}

/// Draws the findings and the log: a click selects the elements of a finding, Fix repairs it.
pub fn problems_ui(ui: &mut Ui, editor: &mut Editor) {
    let id = memory_id("problems");
    let mut memory: Memory = ui.data(|data| data.get_temp(id)).unwrap_or_default();
    let counts = checks::count(editor.problems());
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = 4.0;
        let tabs = [
            (
                false,
                "Model",
                "Problems found in the file and by the model checks.",
            ),
            (true, "Messages", "Messages shown during this session."),
        ];
        for (messages, label, about) in tabs {
            let response = ui
                .selectable_label(memory.messages == messages, label)
                .on_hover_text(about);
            if response.clicked() {
                memory.messages = messages;
            }
        }
        ui.separator();
        if memory.messages {
            messages::head_ui(ui, editor);
            return;
        }
        for (i, severity) in SEVERITIES.into_iter().enumerate() {
            let (icon, colour) = sign(severity, theme::palette(ui));
            let label = format!("{}s", severity.label());
            let text = (
                icon.rich_text().size(14.0).color(colour),
                counted(counts[i], severity.label()),
            );
            let response = ui.add(egui::Button::selectable(memory.shown[i], text));
            response.widget_info(|| {
                let label = format!("Show {label}");
                WidgetInfo::selected(Role::CheckBox, true, memory.shown[i], label)
            });
            if response
                .on_hover_text(format!("Show or hide {label}."))
                .clicked()
            {
                memory.shown[i] = !memory.shown[i];
            }
        }
    });
    if memory.messages {
        messages::messages_ui(ui, editor);
    } else {
        findings_ui(ui, editor, &mut memory);
    }
    ui.data_mut(|data| data.insert_temp(id, memory));
}

fn findings_ui(ui: &mut Ui, editor: &mut Editor, memory: &mut Memory) {
    let problems = editor.problems().clone();
    let is_shown = |f: &Finding| {
        let place = SEVERITIES.iter().position(|s| *s == f.severity);
        memory.shown[place.unwrap_or(0)]
    };
    let shown: Vec<&Finding> = problems.iter().filter(|f| is_shown(f)).collect();
    if shown.is_empty() {
        let text = if problems.is_empty() {
            "No problems in this model."
        } else {
            "All problems are filtered out. Use the buttons above to show them."
        };
        ui.label(RichText::new(text).color(theme::palette(ui).text_dim));
        return;
    }
    let may_fix = editor.job().is_none();
    let mut fix = None;
    let list = List {
        name: "Problems in the model",
        n_rows: shown.len(),
        scroll_to: None,
    };
    let mut cursor = memory.cursor;
    let chosen = list.show_ui(ui, &mut cursor, |ui, row| {
        let finding = shown[row.index];
        let palette = theme::palette(ui);
        let (icon, colour) = sign(finding.severity, palette);
        let rect = row.rect;
        let middle = rect.center().y;
        let font = FontId::new(14.0, icon.font_family());
        ui.painter().text(
            pos2(rect.left() + 12.0, middle),
            Align2::CENTER_CENTER,
            icon.codepoint,
            font,
            colour,
        );
        let body = TextStyle::Body.resolve(ui.style());
        ui.painter().text(
            pos2(rect.left() + 24.0, middle),
            Align2::LEFT_CENTER,
            severity_label(finding.severity),
            body,
            colour,
        );
        let mut right = rect.right() - 4.0;
        for how in finding.fixes().rev() {
            let label = how.label();
            let width = text_width(ui, &label) + 16.0;
            let place = egui::Rect::from_min_size(
                pos2(right - width, rect.top() + 2.0),
                vec2(width, rect.height() - 4.0),
            );
            let button = egui::Button::new(&label).min_size(Vec2::ZERO);
            let response = ui
                .scope(|ui| {
                    ui.spacing_mut().button_padding = vec2(8.0, 1.0);
                    ui.spacing_mut().interact_size.y = 20.0;
                    ui.add_enabled_ui(may_fix, |ui| ui.put(place, button)).inner
                })
                .inner;
            response.widget_info(|| {
                let label = format!("Fix: {label}");
                WidgetInfo::labeled(Role::Button, may_fix, label)
            });
            if response.on_hover_text(how.about()).clicked() {
                fix = Some((finding, how));
            }
            right = place.left() - 8.0;
        }
        let left = rect.left() + SEVERITY;
        let place = paint_text(
            ui,
            &place(editor, finding),
            left,
            (right - left) * 0.45,
            middle,
            palette.text_dim,
        );
        let left = left + place + 10.0;
        paint_text(
            ui,
            &finding.message,
            left,
            right - left,
            middle,
            palette.text,
        );
        let name = format!(
            "{}: {}: {}",
            severity_label(finding.severity),
            finding.place,
            finding.message
        );
        row.response.widget_info(|| {
            WidgetInfo::selected(
                Role::ListBoxOption,
                true,
                memory.cursor == Some(row.index),
                &name,
            )
        });
        let click = if finding.target.is_some() {
            "\nClick to select."
        } else {
            ""
        };
        row.response
            .clone()
            .on_hover_text(format!("{}\n{}{click}", finding.place, finding.message));
    });
    memory.cursor = cursor;
    if let Some((finding, how)) = fix {
        editor.fix(finding, how);
    } else if let Some(row) = chosen {
        editor.go_to(shown[row]);
    }
}

/// Draws one line of text, truncated to `width`; returns the drawn width.
fn paint_text(ui: &Ui, text: &str, left: f32, width: f32, middle: f32, colour: Color32) -> f32 {
    if width < 8.0 {
        return 0.0;
    }
    let galley = WidgetText::from(text).into_galley(
        ui,
        Some(TextWrapMode::Truncate),
        width,
        TextStyle::Body,
    );
    let size = galley.size();
    let at = pos2(left, middle - size.y * 0.5);
    ui.painter()
        .galley_with_override_text_color(at, galley, colour);
    size.x
}

fn text_width(ui: &Ui, text: &str) -> f32 {
    WidgetText::from(text)
        .into_galley(
            ui,
            Some(TextWrapMode::Extend),
            f32::INFINITY,
            TextStyle::Button,
        )
        .size()
        .x
}

/// The icon and the colour of a severity.
fn sign(severity: Severity, palette: &Palette) -> (MaterialIcon, Color32) {
    match severity {
        Severity::Error => (icons::ICON_ERROR, palette.error),
        Severity::Warning => (icons::ICON_WARNING, palette.text),
        Severity::Info => (icons::ICON_INFO, palette.text_dim),
    }
}

fn severity_label(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "Error",
        Severity::Warning => "Warning",
        Severity::Info => "Info",
    }
}

/// The location in the artist's terms; the path in the file if nothing better is known.
fn place(editor: &Editor, finding: &Finding) -> String {
    let document = editor.document();
    let is_of_file = |list: &str| finding.place.starts_with(list);
    match &finding.target {
        Some(Place::Mesh(mesh)) if is_of_file("meshes[") => {
            let item = document.meshes().get(&MeshId(*mesh));
            let name = item.map(|item| item.geometry.name.as_str());
            name.filter(|name| !name.is_empty())
                .map_or_else(|| finding.place.clone(), |name| format!("mesh \"{name}\""))
        }
        Some(Place::Joints(joints)) if is_of_file("nodes[") => match joints[..] {
            [joint] => format!("node \"{}\"", document.skeleton().label(JointId(joint))),
            _ => finding.place.clone(),
        },
        _ => finding.place.clone(),
    }
}
