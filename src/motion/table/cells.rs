//! The rows and cells of a table of text (RFC 4180, with other separators and comments).

use crate::motion::fault::Fault;
use std::borrow::Cow;

/// The rows that decide the separator.
const SAMPLE: usize = 32;
/// The largest number of cells in a row.
pub(super) const MAX_CELLS: usize = 16_384;

/// Reads a text row by row.
pub(crate) struct Rows<'a> {
    text: &'a str,
    separator: char,
    /// The byte of the next row.
    next: usize,
    /// Its line, from 1.
    line: usize,
}

/// One line of the table.
pub(crate) enum Row {
    /// Its cells are in the buffer.
    Cells {
        /// The line on which it begins, from 1.
        line: usize,
    },
    /// A comment is in the buffer, without its `#`.
    Comment {
        /// The line.
        line: usize,
    },
}

impl<'a> Rows<'a> {
    /// From the start of a text.
    pub(crate) fn new(text: &'a str, separator: char) -> Self {
        Self {
            text,
            separator,
            next: 0,
            line: 1,
        }
    }

    /// The bytes that were read.
    pub(super) fn n_read(&self) -> usize {
        self.next
    }

    /// Reads the next row that is not blank into `cells`; `None` at the end.
    pub(crate) fn next(&mut self, cells: &mut Vec<Cow<'a, str>>) -> Result<Option<Row>, Fault> {
        while self.next < self.text.len() {
            let line = self.line;
            let rest = &self.text[self.next..];
            let end = rest.find(['\n', '\r']).unwrap_or(rest.len());
            let trimmed = rest[..end].trim_matches([' ', '\t', '\u{feff}']);
            cells.clear();
            if trimmed.is_empty() {
                self.end_line(end);
                continue;
            }
            if let Some(comment) = trimmed.strip_prefix('#') {
                cells.push(Cow::Borrowed(comment.trim()));
                self.end_line(end);
                return Ok(Some(Row::Comment { line }));
            }
            self.read_cells(cells)?;
            if cells.iter().any(|cell| !cell.trim().is_empty()) {
                return Ok(Some(Row::Cells { line }));
            }
        }
        Ok(None)
    }

    fn read_cells(&mut self, cells: &mut Vec<Cow<'a, str>>) -> Result<(), Fault> {
        let line = self.line;
        loop {
            if cells.len() == MAX_CELLS {
                let what = format!("more than {MAX_CELLS} cells");
                return Err(Fault::cell(line, MAX_CELLS, what));
            }
            let rest = &self.text[self.next..];
            let blanks = rest.len() - rest.trim_start_matches(' ').len();
            let after = if rest[blanks..].starts_with('"') {
                self.next += blanks + 1;
                cells.push(self.read_quoted(cells.len())?);
                self.text[self.next..].chars().next()
            } else {
                let end = rest
                    .find([self.separator, '\n', '\r'])
                    .unwrap_or(rest.len());
                cells.push(Cow::Borrowed(&rest[..end]));
                self.next += end;
                rest[end..].chars().next()
            };
            if after == Some(self.separator) {
                self.next += self.separator.len_utf8();
            } else {
                self.end_line(0);
                return Ok(());
            }
        }
    }

    /// The text after an opening quote; goes on to the separator or the end of the line.
    fn read_quoted(&mut self, column: usize) -> Result<Cow<'a, str>, Fault> {
        let (line, start) = (self.line, self.next);
        let mut doubled = false;
        let mut at = start;
        loop {
            let Some(found) = self.text[at..].find('"') else {
                return Err(Fault::cell(line, column, "a quote is not closed"));
            };
            at += found + 1;
            if !self.text[at..].starts_with('"') {
                break;
            }
            doubled = true;
            at += 1;
        }
        let inside = &self.text[start..at - 1];
        self.line += inside.matches('\n').count();
        let rest = &self.text[at..];
        let end = rest
            .find([self.separator, '\n', '\r'])
            .unwrap_or(rest.len());
        if !rest[..end].trim().is_empty() {
            let what = format!("\"{}\" follows a closing quote", rest[..end].trim());
            return Err(Fault::cell(line, column, what));
        }
        self.next = at + end;
        Ok(if doubled {
            Cow::Owned(inside.replace("\"\"", "\""))
        } else {
            Cow::Borrowed(inside)
        })
    }

    /// Goes past the line break that is `ahead` bytes away: CRLF, LF or CR.
    fn end_line(&mut self, ahead: usize) {
        self.next += ahead;
        let rest = &self.text[self.next..];
        self.next += match rest.as_bytes() {
            [b'\r', b'\n', ..] => 2,
            [_, ..] => 1,
            [] => 0,
        };
        self.line += 1;
    }
}

/// The separator of a table: of `,`, `;` and tab the one that gives the most rows with as many cells as the first, at
/// least two; of equal ones the one with more cells. A comma if none splits anything.
pub(crate) fn find_separator(text: &str) -> char {
    let mut best = (0, 0, ',');
    for separator in [',', ';', '\t'] {
        let mut rows = Rows::new(text, separator);
        let mut cells = Vec::new();
        let (mut n_cells, mut n_equal, mut n_rows) = (0, 0, 0);
        // A fault ends the sample; it is found again by the reader.
        while let Ok(Some(row)) = rows.next(&mut cells) {
            if let Row::Comment { .. } = row {
                continue;
            }
            if n_rows == 0 {
                n_cells = cells.len();
            }
            n_equal += usize::from(cells.len() == n_cells);
            n_rows += 1;
            if n_rows == SAMPLE {
                break;
            }
        }
        if n_cells >= 2 && (n_equal, n_cells) > (best.0, best.1) {
            best = (n_equal, n_cells, separator);
        }
    }
    best.2
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, separator: char) -> Result<Vec<(usize, Vec<String>)>, String> {
        let mut rows = Rows::new(text, separator);
        let (mut cells, mut all) = (Vec::new(), Vec::new());
        while let Some(row) = rows.next(&mut cells).map_err(|fault| fault.to_string())? {
            if let Row::Cells { line } = row {
                all.push((line, cells.iter().map(ToString::to_string).collect()));
            }
        }
        Ok(all)
    }

    #[test]
    fn quotes_comments_and_line_breaks_of_any_kind() {
        let text = "# x\r\na,\"b, c\" ,\"d \"\"e\"\"\"\r\r\n1,\"two\nlines\",\n,,\n\n3,,4";
        let rows = read(text, ',').unwrap();
        let expected = [
            (2, vec!["a", "b, c", "d \"e\""]),
            (4, vec!["1", "two\nlines", ""]),
            (8, vec!["3", "", "4"]),
        ];
        let expected =
            expected.map(|(line, cells)| (line, cells.into_iter().map(str::to_owned).collect()));
        assert_eq!(rows, expected);
        assert_eq!(
            read("t,a\n0,\"1\n0.1,2", ',').unwrap_err(),
            "line 2, column 2: a quote is not closed"
        );
        assert_eq!(
            read("t\n\"a\"b", ',').unwrap_err(),
            "line 2, column 1: \"b\" follows a closing quote"
        );
        let wide = ",".repeat(MAX_CELLS);
        assert!(
            read(&wide, ',')
                .unwrap_err()
                .contains("more than 16384 cells")
        );
    }

    #[test]
    fn the_separator_is_the_one_that_makes_a_table() {
        assert_eq!(find_separator("time,a;b\n0,1\n"), ',');
        assert_eq!(find_separator("time;a;b\n0,5;1,2;3\n"), ';');
        assert_eq!(find_separator("time\ta b\n0\t1,2\n"), '\t');
        assert_eq!(find_separator("time\n0\n"), ',');
        assert_eq!(find_separator("time,\"a;b;c\"\n0,1\n"), ',');
    }
}
