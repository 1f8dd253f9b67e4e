//! The channels that are received live, and what one of them is bound to.

use super::super::clusters::layer_row::dim_ui;
use super::super::correctives::heading_ui;
use super::super::correctives::sets::text_ui;
use super::super::recording_binding::{BindingOf, BindingRows, binding_words};
use super::super::recording_channels::{ROW, row_ui};
use crate::editor::Editor;
use crate::finding::counted;
use crate::motion::ChannelKind;
use crate::view::theme;
use egui::{Role, ScrollArea, Ui, WidgetInfo};

/// The height of the list, points.
const LIST: f32 = 112.0;

/// The list of live channels.
#[derive(Default)]
pub(super) struct LiveChannels {
    /// The name and the kind of the channel that was clicked.
    chosen: Option<(String, ChannelKind)>,
    binding: BindingRows,
}

impl LiveChannels {
    /// Draws the channels that have arrived, and below them what the chosen one is bound to.
    pub(super) fn show_ui(&mut self, ui: &mut Ui, editor: &mut Editor) {
        let Some(live) = editor.live() else {
            return;
        };
        let channels = live.channels();
        let n = channels.len();
        // One that was bound before the body came can be unbound.
        let (of_body, free): (Vec<_>, Vec<_>) = channels.into_iter().partition(|channel| {
            live.is_of_body(*channel) && editor.live_binding_of(*channel).is_none()
        });
        let n_moving = of_body.len();
        let free = free.into_iter();
        let free = free.map(|(name, kind)| (name.to_owned(), kind));
        let channels: Vec<(String, ChannelKind)> = free.collect();
        if n == 0 {
            return;
        }
        heading_ui(ui, "Channels", "");
        if n_moving > 0 {
            let moving = counted(n_moving, "channel");
            let verb = if n_moving == 1 { "moves" } else { "move" };
            let text = format!("{moving} {verb} the body. Its bones are paired automatically.");
            dim_ui(ui, &text);
        }
        if channels.is_empty() {
            return;
        }
        let area = ScrollArea::vertical()
            .id_salt("live channels")
            .max_height(LIST)
            .min_scrolled_height(LIST.min(ROW * channels.len() as f32))
            .auto_shrink([false, true]);
        let spacing = std::mem::take(&mut ui.spacing_mut().item_spacing.y);
        area.show_rows(ui, ROW, channels.len(), |ui, range| {
            for channel in &channels[range] {
                self.row_ui(ui, editor, channel);
            }
        });
        ui.spacing_mut().item_spacing.y = spacing;
        let chosen = self
            .chosen
            .take()
            .filter(|chosen| channels.contains(chosen));
        if let Some((name, kind)) = &chosen
            && *kind != ChannelKind::Text
        {
            self.binding
                .show_ui(ui, editor, (BindingOf::Live, (name, *kind)));
        }
        self.chosen = chosen;
    }

    fn row_ui(&mut self, ui: &mut Ui, editor: &Editor, channel: &(String, ChannelKind)) {
        let (name, kind) = channel;
        let palette = theme::palette(ui);
        let is_chosen = self.chosen.as_ref() == Some(channel);
        let (rect, response) = row_ui(ui, is_chosen);
        let bound = editor.live_binding_of((name, *kind)).map(binding_words);
        let beside = bound.unwrap_or_else(|| kind.label().to_owned());
        let spoken = format!("{name}: {beside}");
        response
            .widget_info(|| WidgetInfo::selected(Role::ListBoxOption, true, is_chosen, &spoken));
        let half = rect.width() * 0.6;
        let right = text_ui(ui, &beside, palette.text_dim, rect, true, half);
        let own = rect.with_max_x(right - 6.0);
        text_ui(ui, name, palette.text, own, false, own.width());
        if response.clicked() {
            self.chosen = (!is_chosen).then(|| channel.clone());
        }
        let about = if *kind == ChannelKind::Text {
            "A text channel moves nothing. It is recorded."
        } else {
            "Click to choose what this channel moves."
        };
        response.on_hover_text(format!("{spoken}\n{about}"));
    }
}
