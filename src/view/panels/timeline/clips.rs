//! The clip selector and the clip name.

use crate::document::ClipId;
use crate::editor::Editor;
use crate::view::theme;
use egui::{
    AtomExt as _, ComboBox, Key, PopupCloseBehavior, RichText, Role, ScrollArea, TextEdit, Ui,
    WidgetInfo,
};

/// The entry for the pose without a clip.
const MY_POSE: &str = "Free pose";
/// With more clips than this, a filter appears.
const FEW: usize = 8;
/// Width of the selector with its arrow, points.
pub(super) const WIDTH: f32 = 190.0;
/// Width of the arrow and the margins, points.
const ARROW: f32 = 38.0;
/// Width of the preview badge, points.
const BADGE: f32 = 50.0;

/// A chosen entry of the list.
#[derive(Clone, Copy)]
enum Choice {
    MyPose,
    Clip(ClipId),
}

/// The clip selector.
#[derive(Default)]
pub(super) struct ClipPicker {
    filter: String,
    /// The clip being renamed, and the typed name.
    renaming: Option<(ClipId, String)>,
    /// The model of that clip.
    model: u64,
    wants_focus: bool,
}

impl ClipPicker {
    pub(super) fn start_renaming(&mut self, editor: &Editor) {
        if let Some((id, clip)) = editor.shown_clip() {
            self.renaming = Some((id, clip.name.clone()));
            self.wants_focus = true;
        }
    }

    pub(super) fn show_ui(&mut self, ui: &mut Ui, editor: &mut Editor) {
        let shown = editor.shown_clip().map(|(id, _)| id);
        if std::mem::replace(&mut self.model, editor.model_serial()) != editor.model_serial() {
            self.renaming = None;
        }
        match self.renaming.take() {
            Some((id, name)) if Some(id) == shown => self.rename_ui(ui, editor, id, name),
            _ => self.pick_ui(ui, editor, shown),
        }
    }

    /// The name field: Enter or focus elsewhere applies, Esc cancels.
    fn rename_ui(&mut self, ui: &mut Ui, editor: &mut Editor, id: ClipId, mut name: String) {
        let field = TextEdit::singleline(&mut name).hint_text("Clip name");
        let response = ui.add_sized([WIDTH, theme::ROW], field);
        response.widget_info(|| WidgetInfo {
            label: Some("Clip name".into()),
            ..WidgetInfo::text_edit(true, "", &name, "Clip name")
        });
        if std::mem::take(&mut self.wants_focus) {
            response.request_focus();
            self.renaming = Some((id, name));
        } else if response.lost_focus() {
            if !ui.input(|i| i.key_pressed(Key::Escape)) {
                editor.rename_clip(&name);
            }
        } else {
            self.renaming = Some((id, name));
        }
    }

    fn pick_ui(&mut self, ui: &mut Ui, editor: &mut Editor, shown: Option<ClipId>) {
        let label = editor.shown_clip();
        let preview = label.is_some_and(|(_, clip)| clip.preview);
        let label = label.map_or(MY_POSE.to_owned(), |(id, clip)| clip_label(id, &clip.name));
        let about = if preview {
            "The clip on screen. It is a preview: exports leave it out."
        } else {
            "The clip on screen, or your own pose."
        };
        // A long name must not move the widgets beside it.
        let room = WIDTH - ARROW - if preview { BADGE } else { 0.0 };
        let combo = ComboBox::from_id_salt("clip")
            .width(WIDTH)
            .truncate()
            .selected_text((label.as_str().atom_max_width(room), badge(ui, preview)))
            .height(f32::INFINITY)
            .close_behavior(PopupCloseBehavior::CloseOnClickOutside)
            .show_ui(ui, |ui| self.list_ui(ui, editor, shown));
        combo
            .response
            .widget_info(|| WidgetInfo::labeled(Role::ComboBox, true, "Clip"));
        combo.response.on_hover_text(format!("{label}\n{about}"));
        match combo.inner {
            Some(Some(chosen)) => {
                self.filter.clear();
                editor.show_clip(match chosen {
                    Choice::MyPose => None,
                    Choice::Clip(id) => Some(id),
                });
            }
            Some(None) => {}
            // Closed: the next time all clips are listed.
            None => self.filter.clear(),
        }
    }

    /// Draws the clips that match the filter; returns the chosen entry.
    fn list_ui(&mut self, ui: &mut Ui, editor: &Editor, shown: Option<ClipId>) -> Option<Choice> {
        let clips = editor.document().clips();
        ui.set_min_width(WIDTH.max(220.0));
        let mut chosen = None;
        let mut enter = false;
        if clips.len() > FEW {
            let field = TextEdit::singleline(&mut self.filter)
                .hint_text(format!("Filter {} clips", clips.len()))
                .desired_width(f32::INFINITY);
            let response = ui.add(field);
            response.widget_info(|| WidgetInfo {
                label: Some("Filter clips".into()),
                ..WidgetInfo::text_edit(true, "", &self.filter, "Filter clips")
            });
            enter = response.lost_focus() && ui.input(|i| i.key_pressed(Key::Enter));
            if !response.has_focus() && !enter {
                response.request_focus();
            }
        }
        let wanted = self.filter.to_lowercase();
        let found: Vec<(ClipId, String, bool)> = clips
            .iter()
            .map(|(&id, clip)| (id, clip_label(id, &clip.name), clip.preview))
            .filter(|(_, label, _)| label.to_lowercase().contains(&wanted))
            .collect();
        if enter && !wanted.is_empty() {
            chosen = found.first().map(|(id, ..)| Choice::Clip(*id));
        }
        ScrollArea::vertical().max_height(300.0).show(ui, |ui| {
            if wanted.is_empty() && ui.selectable_label(shown.is_none(), MY_POSE).clicked() {
                chosen = Some(Choice::MyPose);
            }
            for (id, label, preview) in &found {
                let is_shown = shown == Some(*id);
                let atoms = (label.as_str(), egui::Atom::grow(), badge(ui, *preview));
                let row = ui.add(egui::Button::selectable(is_shown, atoms));
                let spoken = if *preview {
                    format!("{label}, preview")
                } else {
                    label.clone()
                };
                row.widget_info(|| WidgetInfo::selected(Role::Button, true, is_shown, &spoken));
                if row.clicked() {
                    chosen = Some(Choice::Clip(*id));
                }
            }
            if found.is_empty() && !wanted.is_empty() {
                let text = format!("No clip name contains \"{}\".", self.filter);
                ui.label(RichText::new(text).color(theme::palette(ui).text_dim));
            }
        });
        if chosen.is_some() {
            ui.close();
        }
        chosen
    }
}

/// The badge of a preview clip; empty for others.
fn badge(ui: &Ui, preview: bool) -> RichText {
    let text = if preview { "preview" } else { "" };
    RichText::new(text)
        .small()
        .color(theme::palette(ui).text_dim)
}

fn clip_label(id: ClipId, name: &str) -> String {
    if name.is_empty() {
        format!("Clip {} (no name)", id.0)
    } else {
        name.to_owned()
    }
}
