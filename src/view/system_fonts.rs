//! The system's fonts, for names in scripts that the window's own font lacks (Japanese, Chinese, Korean, Arabic ...).

use egui::FontProvider;
use egui_system_font_provider::SystemFontProvider;
use std::sync::{Arc, OnceLock};

/// Finds the system's font for a character that no other font has, when that character is first drawn.
///
/// A thread lists the fonts; only those that a name needs are loaded. Letters are shaped (Arabic ones join), but a line
/// that mixes directions keeps the order of its parts.
pub fn system_fonts() -> Arc<dyn FontProvider> {
    static FONTS: OnceLock<Arc<SystemFontProvider>> = OnceLock::new();
    FONTS
        .get_or_init(|| Arc::new(SystemFontProvider::new()))
        .clone()
}
