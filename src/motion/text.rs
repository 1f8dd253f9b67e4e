//! The text in the bytes of a file.

use super::fault::Fault;

/// The text of bytes in UTF-8, without its byte order mark.
pub fn decode(bytes: Vec<u8>) -> Result<String, Fault> {
    String::from_utf8(checked(bytes)?).map_err(|error| {
        let good = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let lines = String::from_utf8_lossy(good);
        let last = lines.rsplit('\n').next().unwrap_or_default();
        let what = "this is not UTF-8: save it as UTF-8";
        Fault::cell(lines.split('\n').count(), last.chars().count(), what)
    })
}

/// The text of bytes in UTF-8, else in Latin-1, without its byte order mark.
pub fn decode_or_latin(bytes: Vec<u8>) -> Result<String, Fault> {
    let bytes = checked(bytes)?;
    Ok(String::from_utf8(bytes)
        .unwrap_or_else(|error| error.as_bytes().iter().map(|&b| char::from(b)).collect()))
}

/// The bytes without a byte order mark, if they can be text.
fn checked(mut bytes: Vec<u8>) -> Result<Vec<u8>, Fault> {
    if bytes.starts_with(&[0xEF, 0xBB, 0xBF]) {
        bytes.drain(..3);
    }
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Err(Fault::whole("the file is empty"));
    }
    let is_marked = bytes.starts_with(&[0xFF, 0xFE]) || bytes.starts_with(&[0xFE, 0xFF]);
    let is_wide = bytes.len() >= 4
        && [0, 1].iter().any(|&odd| {
            let start = &bytes[..4];
            start[odd] == 0 && start[odd + 2] == 0 && start[1 - odd] != 0 && start[3 - odd] != 0
        });
    if is_marked || is_wide {
        return Err(Fault::whole("this is UTF-16: save it as UTF-8"));
    }
    if bytes.contains(&0) {
        return Err(Fault::whole("this is not a text file"));
    }
    Ok(bytes)
}

/// The lines of a text and their numbers, from 1; each ends with LF, CRLF or CR.
#[derive(Clone)]
pub(super) struct Lines<'a> {
    rest: &'a str,
    line: usize,
}

impl<'a> Lines<'a> {
    /// From the start of a text.
    pub(super) fn new(text: &'a str) -> Self {
        Self {
            rest: text,
            line: 0,
        }
    }

    /// The bytes that are left.
    pub(super) fn n_left(&self) -> usize {
        self.rest.len()
    }

    /// The number of the line that was read last.
    pub(super) fn line(&self) -> usize {
        self.line
    }

    /// The next line that is not blank, without blanks around it.
    pub(super) fn next_filled(&mut self) -> Option<(usize, &'a str)> {
        self.map(|(line, text)| (line, text.trim()))
            .find(|(_, text)| !text.is_empty())
    }
}

impl<'a> Iterator for Lines<'a> {
    type Item = (usize, &'a str);

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let is_break = |b: &u8| *b == b'\n' || *b == b'\r';
        let end = self.rest.as_bytes().iter().position(is_break);
        let end = end.unwrap_or(self.rest.len());
        let (text, after) = self.rest.split_at(end);
        let width = match after.as_bytes() {
            [b'\r', b'\n', ..] => 2,
            [_, ..] => 1,
            [] => 0,
        };
        self.rest = &after[width..];
        self.line += 1;
        Some((self.line, text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_utf_8_is_text() {
        let read = |bytes: &[u8]| decode(bytes.to_vec()).map_err(|fault| fault.to_string());
        assert_eq!(read(b"\xEF\xBB\xBFtime").unwrap(), "time");
        for (bytes, said) in [
            (&b""[..], "the file is empty"),
            (b" \r\n", "the file is empty"),
            (b"\xFF\xFEt\0", "this is UTF-16: save it as UTF-8"),
            (b"t\0i\0m\0", "this is UTF-16: save it as UTF-8"),
            (b"\0t\0i", "this is UTF-16: save it as UTF-8"),
            (b"ab\0\0\0cd", "this is not a text file"),
            (
                b"time,a[\xB0]",
                "line 1, column 8: this is not UTF-8: save it as UTF-8",
            ),
            (
                b"t\nab\xFF",
                "line 2, column 3: this is not UTF-8: save it as UTF-8",
            ),
        ] {
            assert_eq!(read(bytes).unwrap_err(), said);
        }
    }

    #[test]
    fn latin_1_is_text_where_it_is_asked_for() {
        assert_eq!(decode_or_latin(b"h\xFCfte".to_vec()).unwrap(), "h\u{fc}fte");
        assert!(decode_or_latin(b"a\0\x01b".to_vec()).is_err());
    }

    #[test]
    fn lines_end_with_any_break() {
        let found: Vec<_> = Lines::new("a\r\nb\r\rc\n").collect();
        assert_eq!(found, [(1, "a"), (2, "b"), (3, ""), (4, "c")]);
        let mut lines = Lines::new("\n \n x \n");
        assert_eq!(lines.next_filled(), Some((3, "x")));
        assert_eq!((lines.next_filled(), lines.line()), (None, 3));
    }
}
