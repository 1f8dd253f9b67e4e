//! Names that do not fit lose their middle: ends tell bones apart ("mixamorig:LeftHandThumb1", "…Thumb2").

use egui::{Color32, FontId, Galley, Label, Response, RichText, Role, TextStyle, Ui, WidgetInfo};
use std::borrow::Cow;
use std::sync::Arc;

/// What stands for the missing middle.
const ELLIPSIS: char = '…';
/// The most characters that are laid out to measure a name.
const MOST_CHARS: usize = 400;

/// `text` in at most `width` points of `font`: where it is longer, its middle is missing.
pub fn cut<'a>(ui: &Ui, text: &'a str, font: &FontId, width: f32) -> Cow<'a, str> {
    let fits = |text: &str| {
        let galley =
            ui.painter()
                .layout_no_wrap(text.to_owned(), font.clone(), Color32::PLACEHOLDER);
        galley.size().x <= width
    };
    let n = text.chars().take(MOST_CHARS + 1).count();
    if n <= MOST_CHARS && fits(text) {
        return Cow::Borrowed(text);
    }
    let chars: Vec<char> = text.chars().collect();
    // The most characters that fit, by halving: a frame lays out the same few texts, which egui keeps.
    let (mut fitting, mut too_many) = (0, n.min(chars.len()));
    while too_many - fitting > 1 {
        let keep = usize::midpoint(fitting, too_many);
        if fits(&without_middle(&chars, keep)) {
            fitting = keep;
        } else {
            too_many = keep;
        }
    }
    Cow::Owned(without_middle(&chars, fitting))
}

/// The layout of a name on one line, cut to `width` points.
pub fn galley(ui: &Ui, text: &str, font: &FontId, width: f32) -> Arc<Galley> {
    let text = cut(ui, text, font, width).into_owned();
    ui.painter()
        .layout_no_wrap(text, font.clone(), Color32::PLACEHOLDER)
}

/// The layout of a name in the font of text.
pub fn body(ui: &Ui, text: &str, width: f32) -> Arc<Galley> {
    galley(ui, text, &TextStyle::Body.resolve(ui.style()), width)
}

/// A label of at most `width` points; where it is cut, its tooltip has all of it.
pub fn label_ui(ui: &mut Ui, text: &str, colour: Color32, width: f32) -> Response {
    let font = TextStyle::Body.resolve(ui.style());
    let shown = cut(ui, text, &font, width);
    let is_cut = matches!(shown, Cow::Owned(_));
    let label = Label::new(RichText::new(shown).color(colour)).selectable(false);
    let response = ui.add(label);
    if !is_cut {
        return response;
    }
    response.widget_info(|| WidgetInfo::labeled(Role::Label, true, text));
    response.on_hover_text(text)
}

/// The first and the last characters of a text, `keep` in all, around an ellipsis.
fn without_middle(chars: &[char], keep: usize) -> String {
    let mut head = keep.div_ceil(2);
    let mut tail = chars.len() - (keep - head);
    // A mark stays with the letter that it belongs to.
    while head > 0 && chars.get(head).copied().is_some_and(is_mark) {
        head -= 1;
    }
    while tail < chars.len() && is_mark(chars[tail]) {
        tail += 1;
    }
    let (first, last) = (&chars[..head], &chars[tail..]);
    first.iter().chain([&ELLIPSIS]).chain(last).collect()
}

/// Whether a character is drawn onto the one before it (common combining marks, joiners, variation selectors).
fn is_mark(c: char) -> bool {
    matches!(
        c,
        '\u{300}'..='\u{36F}'
            | '\u{610}'..='\u{61A}'
            | '\u{64B}'..='\u{65F}'
            | '\u{670}'
            | '\u{3099}'..='\u{309A}'
            | '\u{200C}'..='\u{200D}'
            | '\u{FE00}'..='\u{FE0F}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `text` cut to `width` points of a 13 point font.
    fn cut_to(text: &str, width: f32) -> String {
        let mut found = String::new();
        let ctx = egui::Context::default();
        let mut output = ctx.run_ui(egui::RawInput::default(), |ui| {
            found = cut(ui, text, &FontId::proportional(13.0), width).into_owned();
        });
        output.textures_delta.clear();
        found
    }

    #[test]
    fn a_name_keeps_both_of_its_ends() {
        let name = "mixamorig:LeftHandThumb_of_a_very_long_name_indeed_1";
        let short = cut_to(name, 120.0);
        assert!(
            short.starts_with("mixamo") && short.ends_with("_1"),
            "{short}"
        );
        assert_eq!(short.matches('…').count(), 1);
        assert_eq!(cut_to("arm", 120.0), "arm");
        // Nothing fits: still one character that says so.
        assert_eq!(cut_to(name, 0.0), "…");
        let long = format!("a{}z", "x".repeat(5000));
        let short = cut_to(&long, 120.0);
        assert!(
            short.starts_with('a') && short.ends_with('z') && short.len() < 40,
            "{short}"
        );
    }

    #[test]
    fn marks_stay_with_their_letters() {
        let chars: Vec<char> = "ае\u{301}ие\u{301}н".chars().collect();
        for keep in 0..chars.len() {
            let short = without_middle(&chars, keep);
            assert!(!short.contains("…\u{301}"), "{keep}: {short}");
            assert!(!short.starts_with('\u{301}'));
        }
        assert_eq!(without_middle(&chars, 3), "а…н");
    }
}
