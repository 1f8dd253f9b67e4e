//! The foot contacts of the clip on screen as bars in the timeline: one row a foot, whose bars and ends are dragged.

use super::super::recording_contacts::{ADDED_SECS, FEET};
use super::scale::Scale;
use super::slider_keys::slider_ui;
use crate::cluster::channel::{RecordingId, RecordingItem};
use crate::editor::Editor;
use crate::editor::motions::SHORTEST_CONTACT_SECS;
use crate::motion::contacts::FeetSecs;
use crate::view::theme;
use egui::{
    Align2, CursorIcon, FontId, Id, Key, PointerButton, Rect, Response, Role, Sense, Ui,
    WidgetInfo, pos2,
};

/// The height of the row of a foot, points.
const FOOT: f32 = 12.0;
/// The width of the end of a bar that is dragged, points.
const END: f32 = 6.0;

/// Which part of a bar is dragged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Start,
    End,
    Whole,
}

/// A bar that is dragged.
struct Drag {
    recording: RecordingId,
    foot: usize,
    bar: usize,
    part: Part,
    /// The contacts before.
    before: FeetSecs,
    /// Where the drag began, seconds.
    from: f64,
    /// The contacts now.
    now: FeetSecs,
}

/// The bars and the one that is dragged.
#[derive(Default)]
pub(super) struct ContactBars {
    drag: Option<Drag>,
}

/// What the bars of a recording ask for.
enum Change {
    Set(FeetSecs),
    Find,
}

impl ContactBars {
    /// The height of the bars of a recording, points; 0 where its clip is not on screen.
    pub(super) fn height(editor: &Editor, item: &RecordingItem) -> f32 {
        let clip = item.motion.as_ref().and_then(|motion| motion.clip);
        let is_shown = clip.is_some() && clip == editor.shown_clip().map(|(id, _)| id);
        if is_shown { 2.0 * FOOT } else { 0.0 }
    }

    /// Drops a drag of another recording than these.
    pub(super) fn keep_drag(&mut self, is_drawn: impl Fn(RecordingId) -> bool) {
        self.drag.take_if(|drag| !is_drawn(drag.recording));
    }

    /// Draws the bars of a recording in `rect`; the part left of `scale` holds the names.
    pub(super) fn show_ui(
        &mut self,
        ui: &mut Ui,
        rect: Rect,
        scale: &Scale,
        editor: &mut Editor,
        id: RecordingId,
    ) {
        let Some(known) = editor.contacts_of(id) else {
            self.keep_drag(|of| of != id);
            return;
        };
        let is_dragged = self.drag.as_ref().is_some_and(|drag| drag.recording == id);
        let feet = match &self.drag {
            Some(drag) if is_dragged => drag.now.clone(),
            _ => known.clone(),
        };
        let mut change = None;
        for (foot, name) in FEET.iter().enumerate() {
            let top = rect.top() + foot as f32 * FOOT;
            let row = Rect::from_x_y_ranges(rect.x_range(), top..=top + FOOT);
            let palette = theme::palette(ui);
            ui.painter().text(
                pos2(scale.x.min - 8.0, row.center().y),
                Align2::RIGHT_CENTER,
                format!("{name} foot"),
                FontId::proportional(10.0),
                palette.text_dim,
            );
            let plot = Rect::from_x_y_ranges(scale.x, row.y_range());
            let found = self.row_ui(ui, plot, scale, (id, foot), &feet);
            change = change.or(found);
        }
        if let Some(drag) = self.drag.as_ref().filter(|_| is_dragged) {
            if ui.input(|i| i.key_pressed(Key::Escape)) {
                self.drag = None;
            } else if ui.input(|i| !i.pointer.primary_down()) {
                let (now, before) = (drag.now.clone(), drag.before.clone());
                self.drag = None;
                if now != before {
                    change = Some(Change::Set(now));
                }
            }
        }
        match change {
            Some(Change::Set(feet)) => editor.set_contacts(id, Some(feet)),
            Some(Change::Find) => editor.set_contacts(id, None),
            None => {}
        }
    }

    /// Draws the bars of a foot.
    fn row_ui(
        &mut self,
        ui: &Ui,
        plot: Rect,
        scale: &Scale,
        (id, foot): (RecordingId, usize),
        feet: &FeetSecs,
    ) -> Option<Change> {
        let name = FEET[foot];
        let row_id = ui.scope_id().with(("contacts", id.0, foot));
        let row = ui.interact(plot, row_id, Sense::click());
        let about = format!("Contacts of the {} foot", name.to_lowercase());
        row.widget_info(|| WidgetInfo::labeled(Role::Group, true, &about));
        let mut change = None;
        let pointed = ui.input(|i| i.pointer.latest_pos());
        let at = pointed.map_or(0.0, |at| scale.time_at(at.x));
        let added = |at: f64| {
            let mut feet = feet.clone();
            let from = (at - 0.5 * ADDED_SECS).max(0.0);
            feet[foot].push([from, from + ADDED_SECS]);
            Change::Set(feet)
        };
        if row.double_clicked() {
            change = Some(added(at));
        }
        // The menu is opened at a place and chosen from at another.
        let menu_at = row_id.with("menu at");
        if row.secondary_clicked() {
            ui.data_mut(|data| data.insert_temp(menu_at, at));
        }
        row.context_menu(|ui| {
            if ui.button("Add contact here").clicked() {
                let at = ui.data(|data| data.get_temp(menu_at)).unwrap_or(at);
                change = Some(added(at));
                ui.close();
            }
            if ui.button("Find contacts again").clicked() {
                change = Some(Change::Find);
                ui.close();
            }
        });
        row.on_hover_text(format!(
            "{about}\nDouble-click to add a contact. Drag a bar or its ends; right-click it to delete it."
        ));
        for (bar, stretch) in feet[foot].iter().enumerate() {
            let found = self.bar_ui(ui, plot, scale, (id, foot, bar), (feet, *stretch));
            change = change.or(found);
        }
        change
    }

    /// Draws a bar with its ends.
    fn bar_ui(
        &mut self,
        ui: &Ui,
        plot: Rect,
        scale: &Scale,
        (id, foot, bar): (RecordingId, usize, usize),
        (feet, [from, to]): (&FeetSecs, [f64; 2]),
    ) -> Option<Change> {
        let x = [from, to].map(|time| scale.x_of(time));
        let whole = Rect::from_x_y_ranges(x[0]..=x[1].max(x[0] + 2.0), plot.y_range());
        let shown = whole.intersect(plot);
        if !shown.is_positive() {
            return None;
        }
        let palette = theme::palette(ui);
        let name = FEET[foot].to_lowercase();
        let label = format!("Contact of the {name} foot from {from:.2} to {to:.2} s");
        let bar_id = ui.scope_id().with(("contact", id.0, foot, bar));
        let response = ui.interact(shown, bar_id, Sense::click_and_drag());
        response.widget_info(|| WidgetInfo::labeled(Role::Button, true, &label));
        let ends = [(Part::Start, x[0]), (Part::End, x[1])].map(|(part, x)| {
            // Inside the bar, so that those of two bars that touch are apart.
            let width = END.min(whole.width() * 0.4);
            let (range, time) = match part {
                Part::End => (x - width..=x, to),
                _ => (x..=x + width, from),
            };
            let place = Rect::from_x_y_ranges(range, plot.y_range()).intersect(plot);
            end_ui(ui, bar_id, place, part, (time, &label))
        });
        let by_keys = ends
            .each_ref()
            .map(|end| end.as_ref().map_or(0.0, |end| end.1));
        let ends = ends.map(|end| end.map(|end| end.0));
        let is_hot = response.hovered() || response.has_focus();
        let is_hot = is_hot
            || ends
                .iter()
                .flatten()
                .any(|end| end.hovered() || end.dragged());
        let fill = if is_hot {
            palette.accent
        } else {
            palette.accent.gamma_multiply(0.6)
        };
        ui.painter_at(plot)
            .rect_filled(whole.shrink2(egui::vec2(0.0, 1.5)), 2.0, fill);
        let mut deletes = false;
        response.context_menu(|ui| {
            if ui.button("Delete contact").clicked() {
                deletes = true;
                ui.close();
            }
        });
        let parts = [Part::Start, Part::End].into_iter().zip(&ends);
        let parts = parts.filter_map(|(part, end)| Some((part, end.as_ref()?)));
        for (part, response) in parts.chain([(Part::Whole, &response)]) {
            self.drag_ui(response, scale, (id, foot, bar, part), feet);
        }
        response.on_hover_text(format!(
            "{label}\nDrag it or its ends; right-click to delete it."
        ));
        let by_keys = [Part::Start, Part::End].into_iter().zip(by_keys);
        if let Some((part, by)) = by_keys.into_iter().find(|(_, by)| *by != 0.0) {
            let mut feet = feet.clone();
            feet[foot][bar] = moved(part, [from, to], by);
            return Some(Change::Set(feet));
        }
        deletes.then(|| {
            let mut feet = feet.clone();
            feet[foot].remove(bar);
            Change::Set(feet)
        })
    }

    /// Starts or continues a drag.
    fn drag_ui(
        &mut self,
        response: &Response,
        scale: &Scale,
        (recording, foot, bar, part): (RecordingId, usize, usize, Part),
        feet: &FeetSecs,
    ) {
        let Some(at) = response.interact_pointer_pos() else {
            return;
        };
        let time = scale.time_at(at.x);
        if response.drag_started_by(PointerButton::Primary) {
            self.drag = Some(Drag {
                recording,
                foot,
                bar,
                part,
                before: feet.clone(),
                from: time,
                now: feet.clone(),
            });
        }
        let drag = self.drag.as_mut();
        let drag =
            drag.filter(|d| (d.recording, d.foot, d.bar, d.part) == (recording, foot, bar, part));
        let Some(drag) = drag.filter(|_| response.dragged_by(PointerButton::Primary)) else {
            return;
        };
        let [from, to] = drag.before[foot][bar];
        let by = time - drag.from;
        drag.now[foot][bar] = moved(part, [from, to], by);
    }
}

/// A bar whose part was moved, seconds. Ends do not pass each other, and it stays long enough to be one.
fn moved(part: Part, [from, to]: [f64; 2], by: f64) -> [f64; 2] {
    let least = SHORTEST_CONTACT_SECS;
    match part {
        Part::Start => [(from + by).min(to - least).max(0.0), to],
        Part::End => [from, (to + by).max(from + least)],
        Part::Whole => {
            let by = by.max(-from);
            [from + by, to + by]
        }
    }
}

/// The end of a bar at a time, seconds, and how far keys move it.
fn end_ui(
    ui: &Ui,
    bar_id: Id,
    place: Rect,
    part: Part,
    (time, label): (f64, &str),
) -> Option<(Response, f64)> {
    if !place.is_positive() {
        return None;
    }
    let name = if part == Part::Start { "Start" } else { "End" };
    let response = ui.interact(place, bar_id.with(name), Sense::drag());
    let label = format!("{name}: {label}");
    let by = slider_ui(ui, &response, time, &label);
    let response = response.on_hover_and_drag_cursor(CursorIcon::ResizeHorizontal);
    Some((response, by))
}
