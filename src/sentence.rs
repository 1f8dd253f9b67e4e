//! Sentences that leave the program: errors, notices and findings of a length that can be read.

use std::borrow::Cow;

/// The greatest length of a sentence, characters.
pub const MAX_CHARS: usize = 300;
/// A name keeps at least this many characters when it is cut.
const MIN_NAME_CHARS: usize = 24;
/// What stands for the missing middle.
const ELLIPSIS: char = '…';

/// `text` in at most [`MAX_CHARS`] characters and on one line: the longest names, in quotes or without spaces, lose their
/// middle; if that is not enough, so does the sentence. Its end, which tells what to do, stays.
pub fn shortened(text: &str) -> Cow<'_, str> {
    let is_short = text.chars().take(MAX_CHARS + 1).count() <= MAX_CHARS;
    if is_short && !text.contains(['\n', '\r']) {
        return Cow::Borrowed(text);
    }
    let line = text.replace(['\r', '\n'], " ");
    let mut chars: Vec<char> = line.chars().collect();
    while chars.len() > MAX_CHARS {
        let excess = chars.len() - MAX_CHARS;
        let Some((start, len)) = longest_name(&chars) else {
            break;
        };
        // One more for the ellipsis.
        let keep = len.saturating_sub(excess + 1).max(MIN_NAME_CHARS);
        cut_middle(&mut chars, start, len, keep);
    }
    if chars.len() > MAX_CHARS {
        let len = chars.len();
        cut_middle(&mut chars, 0, len, MAX_CHARS - 1);
    }
    Cow::Owned(chars.into_iter().collect())
}

/// Every line of `text` in at most [`MAX_CHARS`] characters.
pub fn shortened_lines(text: &str) -> String {
    let lines: Vec<Cow<'_, str>> = text.split('\n').map(shortened).collect();
    lines.join("\n")
}

/// `name` in at most `most` characters (2 or more): a longer one loses its middle.
pub fn shortened_name(name: &str, most: usize) -> Cow<'_, str> {
    let mut chars: Vec<char> = name.chars().collect();
    let len = chars.len();
    if len <= most {
        return Cow::Borrowed(name);
    }
    cut_middle(&mut chars, 0, len, most.saturating_sub(1));
    Cow::Owned(chars.into_iter().collect())
}

/// The start and the length of the longest name that can still be cut: the text between two quotes, or a word.
fn longest_name(chars: &[char]) -> Option<(usize, usize)> {
    let mut found: Option<(usize, usize)> = None;
    let mut keep = |start: usize, end: usize| {
        let len = end - start;
        if len > MIN_NAME_CHARS + 1 && found.is_none_or(|(_, longest)| len > longest) {
            found = Some((start, len));
        }
    };
    let (mut quote, mut word) = (None, 0);
    for (i, &c) in chars.iter().enumerate() {
        if c == '"' {
            quote = match quote {
                Some(start) => {
                    keep(start, i);
                    None
                }
                None => Some(i + 1),
            };
        }
        if c.is_whitespace() || c == '"' {
            keep(word, i);
            word = i + 1;
        }
    }
    keep(word, chars.len());
    found
}

/// Keeps `keep` of the `len` characters from `start` on, half of them at each end.
fn cut_middle(chars: &mut Vec<char>, start: usize, len: usize, keep: usize) {
    let head = keep / 2;
    let tail = keep - head;
    chars.splice(start + head..start + len - tail, [ELLIPSIS]);
}

/// A message with a capital letter and a full stop.
pub fn sentence(why: &str) -> String {
    let mut text = why.to_owned();
    if let Some(first) = text.get(..1).map(str::to_uppercase) {
        text.replace_range(..1, &first);
    }
    text.push('.');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_name_loses_its_middle_and_the_sentence_keeps_its_end() {
        let name = format!("C:/begin{}end.glb", "x".repeat(5000));
        let text = format!("The file \"{name}\" cannot be read: permission denied.");
        let short = shortened(&text);
        assert_eq!(short.chars().count(), MAX_CHARS);
        assert!(short.starts_with("The file \"C:/begin"), "{short}");
        assert!(
            short.ends_with("end.glb\" cannot be read: permission denied."),
            "{short}"
        );
    }

    #[test]
    fn names_with_spaces_and_several_names_are_cut_alike() {
        let name = "a name with spaces ".repeat(40);
        let two = format!("\"{name}\" is \"{name}\".");
        let short = shortened(&two);
        assert!(short.chars().count() <= MAX_CHARS);
        assert_eq!(short.matches('…').count(), 2, "{short}");
        let words = "word ".repeat(1000) + "end.";
        let short = shortened(&words);
        assert_eq!(short.chars().count(), MAX_CHARS);
        assert!(short.ends_with("word end."));
    }

    #[test]
    fn a_name_keeps_its_ends() {
        assert_eq!(shortened_name("LeftHandThumb1", 14), "LeftHandThumb1");
        assert_eq!(shortened_name("LeftHandThumb1", 9), "Left…umb1");
        assert_eq!(shortened_name("左手の親指の先", 4), "左…の先");
    }

    #[test]
    fn short_sentences_and_other_scripts_stay_whole() {
        for text in ["", "Fine.", &"ä".repeat(MAX_CHARS)] {
            assert!(matches!(shortened(text), Cow::Borrowed(same) if same == text));
        }
        assert_eq!(shortened("two\nlines"), "two lines");
        assert_eq!(shortened(&"漢".repeat(400)).chars().count(), MAX_CHARS);
        assert_eq!(shortened_lines("a\nb"), "a\nb");
    }

    #[test]
    fn many_short_names_end_in_a_cut_of_the_sentence() {
        let names: Vec<String> = (0..500).map(|i| format!("\"clip {i}\"")).collect();
        let text = format!("The model has no clip \"x\"; it has {}.", names.join(", "));
        let short = shortened(&text);
        assert!(short.chars().count() <= MAX_CHARS && short.ends_with("\"clip 499\"."));
    }
}
