//! The theme: colours, sizes, fonts.

use egui::{Color32, CornerRadius, FontFamily, FontId, Margin, Stroke, TextStyle, Vec2, Visuals};
use serde::{Deserialize, Serialize};

/// The chosen theme.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ThemeChoice {
    /// Light text on dark grey.
    #[default]
    Dark,
    /// Dark text on light grey.
    Light,
    /// White on black with strong lines.
    HighContrast,
}

impl ThemeChoice {
    /// All themes.
    pub const ALL: [Self; 3] = [Self::Dark, Self::Light, Self::HighContrast];

    /// The name of the theme.
    pub fn label(self) -> &'static str {
        match self {
            Self::Dark => "Dark",
            Self::Light => "Light",
            Self::HighContrast => "High contrast",
        }
    }

    /// The colours of the theme.
    pub fn palette(self) -> &'static Palette {
        match self {
            Self::Dark => &DARK,
            Self::Light => &LIGHT,
            Self::HighContrast => &HIGH_CONTRAST,
        }
    }
}

/// The colours of the interface by purpose. Text contrast is at least 4.5 : 1 on panels and fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Palette {
    /// Background of panels.
    pub panel: Color32,
    /// Background of text fields and lists.
    pub field: Color32,
    /// Background of every other list row.
    pub stripe: Color32,
    /// Buttons at rest.
    pub button: Color32,
    /// Buttons under the pointer.
    pub button_hovered: Color32,
    /// Pressed buttons.
    pub button_pressed: Color32,
    /// Lines between panels.
    pub line: Color32,
    /// Text.
    pub text: Color32,
    /// Secondary text.
    pub text_dim: Color32,
    /// The active element, and nothing else.
    pub accent: Color32,
    /// Background of the selection.
    pub selected: Color32,
    /// Errors.
    pub error: Color32,
    /// The X axis.
    pub x: Color32,
    /// The Y axis.
    pub y: Color32,
    /// The Z axis.
    pub z: Color32,
    /// Lines and text over the viewport.
    pub overlay: Color32,
    /// Outline of those lines and text, for contrast on any surface.
    pub overlay_halo: Color32,
}

const fn rgb(hex: u32) -> Color32 {
    Color32::from_rgb((hex >> 16) as u8, (hex >> 8) as u8, hex as u8)
}

const DARK: Palette = Palette {
    panel: rgb(0x2B2D30),
    field: rgb(0x1F2023),
    stripe: rgb(0x303236),
    button: rgb(0x3A3D42),
    button_hovered: rgb(0x414449),
    button_pressed: rgb(0x4B4F56),
    line: rgb(0x3C3F44),
    text: rgb(0xD6D8DB),
    text_dim: rgb(0x9DA1A7),
    accent: rgb(0xE8A33D),
    selected: rgb(0x433519),
    error: rgb(0xF07C84),
    x: rgb(0xE0525B),
    y: rgb(0x7FB238),
    z: rgb(0x4C8BE0),
    overlay: rgb(0xF2F3F5),
    overlay_halo: Color32::from_rgba_premultiplied(0, 0, 0, 150),
};

const LIGHT: Palette = Palette {
    panel: rgb(0xE9EAEC),
    field: rgb(0xFBFBFC),
    stripe: rgb(0xE2E3E6),
    button: rgb(0xD6D8DC),
    button_hovered: rgb(0xCED1D5),
    button_pressed: rgb(0xBFC3C9),
    line: rgb(0xC4C7CC),
    text: rgb(0x1E2023),
    text_dim: rgb(0x53575D),
    accent: rgb(0x824D00),
    selected: rgb(0xF3D9AE),
    error: rgb(0xAE1D2B),
    x: rgb(0xC22F3A),
    y: rgb(0x4C7A12),
    z: rgb(0x2462B8),
    overlay: rgb(0x17181A),
    overlay_halo: Color32::from_rgba_premultiplied(170, 170, 170, 170),
};

const HIGH_CONTRAST: Palette = Palette {
    panel: rgb(0x000000),
    field: rgb(0x101010),
    stripe: rgb(0x161616),
    button: rgb(0x242424),
    button_hovered: rgb(0x3A3A3A),
    button_pressed: rgb(0x505050),
    line: rgb(0xB0B0B0),
    text: rgb(0xFFFFFF),
    text_dim: rgb(0xD8D8D8),
    accent: rgb(0xFFC04D),
    selected: rgb(0x5C4200),
    error: rgb(0xFF9AA2),
    x: rgb(0xFF7A82),
    y: rgb(0xA6E04C),
    z: rgb(0x7DB2FF),
    overlay: rgb(0xFFFFFF),
    overlay_halo: Color32::from_rgba_premultiplied(0, 0, 0, 220),
};

/// The active theme.
pub fn choice(ctx: &egui::Context) -> ThemeChoice {
    ctx.data(|data| data.get_temp(theme_id()))
        .unwrap_or_default()
}

/// The colours of the active theme.
pub fn palette(ui: &egui::Ui) -> &'static Palette {
    choice(ui.ctx()).palette()
}

fn theme_id() -> egui::Id {
    egui::Id::unique("theme choice")
}

/// Height of a row of widgets.
pub const ROW: f32 = 24.0;
/// Space inside panels.
pub const PADDING: i8 = 8;

/// Sets the sizes, the icon font and the dark theme of `ctx`.
pub fn apply(ctx: &egui::Context) {
    egui_material_icons::initialize(ctx);
    set(ctx, ThemeChoice::default());
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

/// Activates a theme.
pub fn set(ctx: &egui::Context, choice: ThemeChoice) {
    ctx.data_mut(|data| data.insert_temp(theme_id(), choice));
    let (theme, mut visuals) = match choice {
        ThemeChoice::Light => (egui::Theme::Light, Visuals::light()),
        ThemeChoice::Dark | ThemeChoice::HighContrast => (egui::Theme::Dark, Visuals::dark()),
    };
    let palette = choice.palette();
    visuals.panel_fill = palette.panel;
    visuals.window_fill = palette.panel;
    visuals.extreme_bg_color = palette.field;
    visuals.faint_bg_color = palette.stripe;
    visuals.override_text_color = Some(palette.text);
    visuals.weak_text_color = Some(palette.text_dim);
    visuals.selection.bg_fill = palette.selected;
    visuals.selection.stroke = Stroke::new(1.0, palette.accent);
    visuals.hyperlink_color = palette.accent;
    visuals.error_fg_color = palette.error;
    visuals.warn_fg_color = palette.accent;
    let radius = CornerRadius::same(4);
    let widgets = &mut visuals.widgets;
    for (state, fill) in [
        (&mut widgets.noninteractive, palette.panel),
        (&mut widgets.inactive, palette.button),
        (&mut widgets.hovered, palette.button_hovered),
        (&mut widgets.active, palette.button_pressed),
        (&mut widgets.open, palette.button_hovered),
    ] {
        state.bg_fill = fill;
        state.weak_bg_fill = fill;
        state.corner_radius = radius;
        state.expansion = 0.0;
    }
    widgets.noninteractive.bg_stroke = Stroke::new(1.0, palette.line);
    if choice == ThemeChoice::HighContrast {
        // An edge separates a button from the background.
        widgets.inactive.bg_stroke = Stroke::new(1.0, palette.line);
    }
    for state in [&mut widgets.hovered, &mut widgets.active, &mut widgets.open] {
        state.bg_stroke = Stroke::new(1.0, palette.text_dim);
    }
    for state in [
        &mut widgets.noninteractive,
        &mut widgets.inactive,
        &mut widgets.hovered,
        &mut widgets.active,
        &mut widgets.open,
    ] {
        state.fg_stroke.color = palette.text;
    }
    visuals.window_stroke = Stroke::new(1.0, palette.line);
    visuals.text_cursor.stroke.color = palette.accent;
    visuals.button_frame = true;
    ctx.set_theme(theme);
    ctx.set_visuals_of(theme, visuals);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Relative luminance after WCAG 2.2.
    fn luminance(colour: Color32) -> f64 {
        let linear = |c: u8| {
            let c = f64::from(c) / 255.0;
            if c <= 0.04045 {
                c / 12.92
            } else {
                ((c + 0.055) / 1.055).powf(2.4)
            }
        };
        let [r, g, b, _] = colour.to_array();
        0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b)
    }

    fn contrast(a: Color32, b: Color32) -> f64 {
        let (a, b) = (luminance(a), luminance(b));
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    #[test]
    fn text_can_be_read_on_whatever_it_stands() {
        assert!((contrast(Color32::WHITE, Color32::BLACK) - 21.0).abs() < 1e-9);
        let mut faults = Vec::new();
        for choice in ThemeChoice::ALL {
            let p = choice.palette();
            let grounds = [p.panel, p.field, p.stripe, p.selected];
            let buttons = [p.button, p.button_hovered, p.button_pressed];
            let mut check = |name: &str, colour: Color32, on: &[Color32], least: f64| {
                for ground in on {
                    let found = contrast(colour, *ground);
                    if found < least {
                        faults.push(format!("{choice:?}: {name} on {ground:?} is {found:.2}"));
                    }
                }
            };
            check("text", p.text, &[&grounds[..], &buttons].concat(), 4.5);
            check("dim text", p.text_dim, &grounds, 4.5);
            check(
                "accent",
                p.accent,
                &[&grounds[..], &buttons[..2]].concat(),
                4.5,
            );
            check("error", p.error, &grounds[..3], 4.5);
            // Marks, not text.
            for (name, colour) in [("x", p.x), ("y", p.y), ("z", p.z)] {
                check(name, colour, &[p.panel, p.field], 3.0);
            }
        }
        assert!(faults.is_empty(), "{}", faults.join("\n"));
    }
}
