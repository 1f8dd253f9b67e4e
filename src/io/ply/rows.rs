//! The rows of the elements of a PLY file, one number after the other.

use super::fault::PlyFault;
use super::header::{Format, Header, Number};

/// What is left of a file.
pub(super) struct Rows<'a> {
    format: Format,
    rest: &'a [u8],
    /// Of a text: the number of the line, from 1, and what is left of it.
    line: usize,
    words: &'a [u8],
}

impl<'a> Rows<'a> {
    /// The rows after a header.
    pub(super) fn new(header: &Header, bytes: &'a [u8]) -> Self {
        Self {
            format: header.format,
            rest: &bytes[header.size..],
            line: header.n_lines,
            words: &[],
        }
    }

    /// The bytes that are left.
    pub(super) fn n_left(&self) -> usize {
        self.rest.len()
    }

    /// Starts the next row (in ASCII files the next line that is not blank). `false` at the end of the file.
    pub(super) fn begin(&mut self) -> bool {
        if self.format != Format::Text {
            return !self.rest.is_empty();
        }
        loop {
            if self.rest.is_empty() {
                return false;
            }
            let end = self.rest.iter().position(|b| *b == b'\n' || *b == b'\r');
            let end = end.unwrap_or(self.rest.len());
            let after = if self.rest[end..].starts_with(b"\r\n") {
                end + 2
            } else {
                (end + 1).min(self.rest.len())
            };
            self.words = self.rest[..end].trim_ascii();
            self.rest = &self.rest[after..];
            self.line += 1;
            if !self.words.is_empty() {
                return true;
            }
        }
    }

    /// Ends a row: of a text, its line must end too.
    pub(super) fn end(&self) -> Result<(), PlyFault> {
        if self.words.is_empty() {
            return Ok(());
        }
        Err(self.fault("the line has more numbers than the header says"))
    }

    /// The next number; `None`: the file, or the line of a text, ends.
    pub(super) fn number(&mut self, kind: Number) -> Result<Option<f64>, PlyFault> {
        if self.format == Format::Text {
            return self.word();
        }
        let Some((bytes, rest)) = self.rest.split_at_checked(kind.size()) else {
            self.rest = &[];
            return Ok(None);
        };
        self.rest = rest;
        Ok(Some(decode(kind, bytes, self.format == Format::BigEndian)))
    }

    fn word(&mut self) -> Result<Option<f64>, PlyFault> {
        if self.words.is_empty() {
            return Ok(None);
        }
        let end = self.words.iter().position(u8::is_ascii_whitespace);
        let (word, rest) = self.words.split_at(end.unwrap_or(self.words.len()));
        self.words = rest.trim_ascii_start();
        let word = String::from_utf8_lossy(word);
        match word.parse() {
            Ok(number) => Ok(Some(number)),
            Err(_) => Err(self.fault(format!("\"{word}\" is not a number"))),
        }
    }

    /// A fault in the present row of a text; in a binary file, about the whole.
    pub(super) fn fault(&self, what: impl Into<String>) -> PlyFault {
        match self.format {
            Format::Text => PlyFault::line(self.line, what),
            _ => PlyFault::whole(what),
        }
    }

    pub(super) fn is_text(&self) -> bool {
        self.format == Format::Text
    }

    /// The present line of a text.
    pub(super) fn line(&self) -> usize {
        self.line
    }
}

/// `bytes`: as many as the number has.
fn decode(kind: Number, bytes: &[u8], is_big: bool) -> f64 {
    let mut little = [0; 8];
    for (to, i) in little.iter_mut().zip(0..bytes.len()) {
        *to = bytes[if is_big { bytes.len() - 1 - i } else { i }];
    }
    let [a, b, c, d, ..] = little;
    match kind {
        Number::I8 => f64::from(i8::from_le_bytes([a])),
        Number::U8 => f64::from(a),
        Number::I16 => f64::from(i16::from_le_bytes([a, b])),
        Number::U16 => f64::from(u16::from_le_bytes([a, b])),
        Number::I32 => f64::from(i32::from_le_bytes([a, b, c, d])),
        Number::U32 => f64::from(u32::from_le_bytes([a, b, c, d])),
        Number::F32 => f64::from(f32::from_le_bytes([a, b, c, d])),
        Number::F64 => f64::from_le_bytes(little),
    }
}
