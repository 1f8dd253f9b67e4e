//! The Timeline panel: clips, time, and the keyframes of the selected bones.
//!
//! Data flow: `transport` (buttons, numbers), `clips` (selector) and `clip_menu` (settings) above a sheet of `ruler`
//! (time, loop range), `lanes` (recordings) and `tracks` (keyframes), which share one `scale`. All of them read the
//! editor and send it edits.

mod clip_menu;
mod clips;
mod contact_bars;
mod lanes;
mod ruler;
mod scale;
mod slider_keys;
mod tracks;
mod transport;

use crate::document::ClipId;
use crate::editor::Editor;
use crate::view::commands::Command;
use crate::view::theme;
use egui::{Rangef, Rect, RichText, Ui, Vec2, pos2, vec2};
use lanes::Lanes;
use scale::{Scale, Span};
use tracks::Tracks;

/// Size of an icon button, points.
const BUTTON: Vec2 = Vec2::new(26.0, 24.0);
/// Height of the ruler, points.
const RULER: f32 = 26.0;
/// Width reserved for the scroll bar, points.
const RIGHT: f32 = 12.0;
/// Zoom per point of wheel movement.
const ZOOM_A_POINT: f32 = 0.004;

/// The Timeline panel and its state.
pub struct Timeline {
    span: Span,
    /// The model and clip for which the span was set.
    spanned: Option<(u64, ClipId)>,
    /// The time to which the span was last scrolled.
    shown_time: f64,
    tracks: Tracks,
    lanes: Lanes,
    picker: clips::ClipPicker,
    is_hovered: bool,
}

impl Default for Timeline {
    fn default() -> Self {
        Self {
            span: Span::around(0.0, 2.0),
            spanned: None,
            shown_time: 0.0,
            tracks: Tracks::default(),
            lanes: Lanes::default(),
            picker: clips::ClipPicker::default(),
            is_hovered: false,
        }
    }
}

impl Timeline {
    /// Whether the pointer was over the timeline in the last frame: "Frame all" then frames the clip.
    pub fn is_hovered(&self) -> bool {
        self.is_hovered
    }

    /// Resets the hover state before the panels are drawn, because a hidden timeline cannot be hovered.
    pub fn forget_pointer(&mut self) {
        self.is_hovered = false;
        self.tracks.forget_pointer();
    }

    /// Whether the pointer was over the rows of keyframes in the last frame.
    pub fn is_over_keys(&self) -> bool {
        self.tracks.is_hovered()
    }

    /// Deletes the keyframe under the pointer, or else those of the selected bones at the current time.
    pub fn delete_keys(&mut self, editor: &mut Editor) {
        if !self.tracks.delete_pointed(editor) {
            editor.delete_keys();
        }
    }

    /// Shows the whole clip.
    pub fn frame_clip(&mut self, editor: &Editor) {
        let (start, end) = editor.clip_range().unwrap_or((0.0, 0.0));
        // A new clip is short. Leave space to extend it.
        let end = if end - start < 0.5 { start + 2.0 } else { end };
        self.span = Span::around(start, end);
    }

    /// Starts renaming the clip on screen.
    pub fn start_renaming(&mut self, editor: &Editor) {
        self.picker.start_renaming(editor);
    }

    /// Draws the panel; returns the requested commands.
    pub fn show_ui(&mut self, ui: &mut Ui, editor: &mut Editor) -> Vec<Command> {
        let mut commands = Vec::new();
        let panel = ui.max_rect();
        self.is_hovered = ui.rect_contains_pointer(panel);
        self.follow(editor);
        transport::transport_ui(ui, editor, &mut self.picker, &mut commands);
        if editor.shown_clip().is_some() {
            self.sheet_ui(ui, editor, &mut commands);
        } else {
            empty_ui(ui, editor);
        }
        commands
    }

    /// Frames a new clip and scrolls to a new time.
    fn follow(&mut self, editor: &Editor) {
        let clip = editor
            .shown_clip()
            .map(|(id, _)| (editor.model_serial(), id));
        let time = editor.playback().time_secs;
        if clip != self.spanned {
            self.spanned = clip;
            self.frame_clip(editor);
            self.shown_time = time;
        }
        if time != self.shown_time {
            self.shown_time = time;
            self.span = self.span.showing(time);
        }
    }

    fn sheet_ui(&mut self, ui: &mut Ui, editor: &mut Editor, commands: &mut Vec<Command>) {
        let size = ui.available_size().max(vec2(0.0, RULER + tracks::ROW));
        let (_, sheet) = ui.allocate_space(size);
        let gutter = (sheet.width() * 0.18).clamp(166.0, 190.0);
        let left = sheet.left() + gutter;
        let right = (sheet.right() - RIGHT).max(left + 1.0);
        let scale = Scale {
            span: self.span,
            x: Rangef::new(left, right),
        };
        let ruler_rect =
            Rect::from_min_max(pos2(left, sheet.top()), pos2(right, sheet.top() + RULER));
        let below = Rect::from_min_max(pos2(sheet.left(), ruler_rect.bottom()), sheet.max);
        // The keyframes keep half of the height, or a row where the lanes need the rest.
        let most = (0.5 * below.height()).max(below.height() - tracks::ROW);
        let lanes_height = Lanes::height(editor).min(most);
        let (lanes_rect, tracks_rect) = below.split_top_bottom_at_y(below.top() + lanes_height);
        let head = Rect::from_min_max(sheet.min, pos2(left - 4.0, ruler_rect.bottom()));
        ui.painter().rect_filled(
            Rect::from_min_max(pos2(left, sheet.top()), pos2(right, sheet.bottom())),
            0.0,
            theme::palette(ui).field,
        );
        transport::badge_ui(ui, head, editor, commands);
        let ruler = ruler::ruler_ui(ui, ruler_rect, &scale, editor);
        if lanes_height > 0.0 {
            self.lanes.show_ui(ui, lanes_rect, &scale, editor);
        }
        let keys = self.tracks.show_ui(ui, tracks_rect, &scale, editor);
        ruler::playhead_ui(ui, ruler_rect, sheet.bottom(), &scale, editor);
        self.navigate(
            ui,
            Rect::from_min_max(ruler_rect.min, pos2(right, sheet.bottom())),
            &scale,
            &[ruler, keys],
        );
        // While scrubbing the pointer already is at the time: do not scroll.
        self.shown_time = editor.playback().time_secs;
    }

    /// Wheel and pinch zoom about the pointer; the middle button and horizontal wheel scroll.
    fn navigate(&mut self, ui: &Ui, plot: Rect, scale: &Scale, responses: &[egui::Response]) {
        let dragged = responses
            .iter()
            .filter(|r| r.dragged_by(egui::PointerButton::Middle))
            .fold(Vec2::ZERO, |sum, r| sum + r.drag_delta());
        let mut by = -f64::from(dragged.x) / scale.points_per_sec();
        if ui.rect_contains_pointer(plot) {
            let (scroll, zoom, at) = ui.input(|i| {
                let at = i.pointer.hover_pos().unwrap_or(plot.center());
                (i.smooth_scroll_delta(), i.zoom_delta(), at)
            });
            by -= f64::from(scroll.x) / scale.points_per_sec();
            let factor = zoom * (scroll.y * ZOOM_A_POINT).exp();
            if factor != 1.0 {
                let time = scale.time_at(at.x);
                self.span = self.span.zoomed(f64::from(factor), time);
            }
        }
        if by != 0.0 {
            self.span = self.span.moved(by);
        }
    }
}

/// Draws the empty state: how to make a clip.
fn empty_ui(ui: &mut Ui, editor: &Editor) {
    let keys = Command::KeyPose.keys(ui.ctx());
    let press = if keys.is_empty() {
        "choose Insert keyframe".to_owned()
    } else {
        format!("press {keys}")
    };
    let text = if editor.document().skeleton().is_empty() {
        "Open a model to animate it.".to_owned()
    } else if editor.document().session().shows_rest {
        "Edit bones mode shows the rest pose. Choose another mode to see poses and clips."
            .to_owned()
    } else if editor.shows_live() {
        format!(
            "Live motion is on screen. Record it in the Motion panel, or {press} to keep a pose in a new clip."
        )
    } else if editor.document().clips().is_empty() {
        format!("This file has no clips. Pose a bone and {press} to create one.")
    } else {
        format!(
            "Your own pose is on screen. Select a clip to see its keyframes, or pose a bone and {press} to create a \
             new clip."
        )
    };
    let colour = theme::palette(ui).text_dim;
    ui.add_space(8.0);
    ui.vertical_centered(|ui| ui.add(egui::Label::new(RichText::new(text).color(colour)).wrap()));
    // Keeps the height of the panel.
    ui.allocate_space(ui.available_size());
}
