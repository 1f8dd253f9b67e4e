//! The look: colours, sizes, fonts.

use egui::{Color32, CornerRadius, FontFamily, FontId, Margin, Stroke, TextStyle, Vec2, Visuals};

/// Behind panels.
pub const PANEL: Color32 = Color32::from_rgb(0x2B, 0x2D, 0x30);
/// Behind text fields and lists.
pub const FIELD: Color32 = Color32::from_rgb(0x1F, 0x20, 0x23);
/// Text.
pub const TEXT: Color32 = Color32::from_rgb(0xD6, 0xD8, 0xDB);
/// Text that explains; 4.5 : 1 on panels.
pub const TEXT_DIM: Color32 = Color32::from_rgb(0x9D, 0xA1, 0xA7);
/// The active thing, and nothing else.
pub const ACCENT: Color32 = Color32::from_rgb(0xE8, 0xA3, 0x3D);
/// What went wrong.
pub const ERROR: Color32 = Color32::from_rgb(0xF0, 0x7C, 0x84);

/// Height of a row of widgets.
pub const ROW: f32 = 24.0;
/// Space inside panels.
pub const PADDING: i8 = 8;

/// Gives `ctx` the dark theme, the sizes and the icon font.
pub fn apply(ctx: &egui::Context) {
    egui_material_icons::initialize(ctx);
    ctx.set_theme(egui::Theme::Dark);
    let mut visuals = Visuals::dark();
    visuals.panel_fill = PANEL;
    visuals.window_fill = PANEL;
    visuals.extreme_bg_color = FIELD;
    visuals.faint_bg_color = Color32::from_rgb(0x30, 0x32, 0x36);
    visuals.override_text_color = Some(TEXT);
    visuals.weak_text_color = Some(TEXT_DIM);
    visuals.selection.bg_fill = Color32::from_rgb(0x5A, 0x45, 0x22);
    visuals.selection.stroke = Stroke::new(1.0, ACCENT);
    visuals.hyperlink_color = ACCENT;
    visuals.error_fg_color = ERROR;
    visuals.warn_fg_color = ACCENT;
    let radius = CornerRadius::same(4);
    let widgets = &mut visuals.widgets;
    for (state, fill) in [
        (&mut widgets.noninteractive, PANEL),
        (&mut widgets.inactive, Color32::from_rgb(0x3A, 0x3D, 0x42)),
        (&mut widgets.hovered, Color32::from_rgb(0x48, 0x4C, 0x52)),
        (&mut widgets.active, Color32::from_rgb(0x55, 0x5A, 0x61)),
        (&mut widgets.open, Color32::from_rgb(0x42, 0x46, 0x4C)),
    ] {
        state.bg_fill = fill;
        state.weak_bg_fill = fill;
        state.corner_radius = radius;
        state.expansion = 0.0;
    }
    widgets.noninteractive.bg_stroke = Stroke::new(1.0, Color32::from_rgb(0x3C, 0x3F, 0x44));
    ctx.set_visuals_of(egui::Theme::Dark, visuals);
    ctx.all_styles_mut(|style| {
        style.text_styles = [
            (
                TextStyle::Small,
                FontId::new(11.0, FontFamily::Proportional),
            ),
            (TextStyle::Body, FontId::new(13.0, FontFamily::Proportional)),
            (
                TextStyle::Button,
                FontId::new(13.0, FontFamily::Proportional),
            ),
            (
                TextStyle::Heading,
                FontId::new(15.0, FontFamily::Proportional),
            ),
            (
                TextStyle::Monospace,
                FontId::new(12.0, FontFamily::Monospace),
            ),
        ]
        .into();
        style.spacing.item_spacing = Vec2::new(8.0, 4.0);
        style.spacing.button_padding = Vec2::new(8.0, 4.0);
        style.spacing.interact_size = Vec2::new(32.0, ROW);
        style.spacing.icon_width = 16.0;
        style.spacing.window_margin = Margin::same(12);
        style.animation_time = 0.0;
    });
}
