//! The header of a PLY file.

use super::fault::PlyFault;

/// The most lines of a header, and bytes of a line.
const MAX_LINES: usize = 4096;
const MAX_LINE: usize = 4096;

/// How numbers are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    Text,
    LittleEndian,
    BigEndian,
}

/// The type of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Number {
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    F32,
    F64,
}

impl Number {
    /// By the names of 1994 and those with a size.
    fn of(name: &str) -> Option<Self> {
        Some(match name {
            "char" | "int8" => Self::I8,
            "uchar" | "uint8" => Self::U8,
            "short" | "int16" => Self::I16,
            "ushort" | "uint16" => Self::U16,
            "int" | "int32" => Self::I32,
            "uint" | "uint32" => Self::U32,
            "float" | "float32" => Self::F32,
            "double" | "float64" => Self::F64,
            _ => return None,
        })
    }

    /// Bytes.
    pub(super) fn size(self) -> usize {
        match self {
            Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 => 2,
            Self::I32 | Self::U32 | Self::F32 => 4,
            Self::F64 => 8,
        }
    }

    pub(super) fn is_integer(self) -> bool {
        !matches!(self, Self::F32 | Self::F64)
    }
}

/// A property of an element.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Property {
    pub(super) name: String,
    /// The type of the length of a list; `None`: one number.
    pub(super) length: Option<Number>,
    pub(super) number: Number,
}

/// An element.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Element {
    pub(super) name: String,
    pub(super) count: u64,
    pub(super) properties: Vec<Property>,
}

impl Element {
    /// The place of a property.
    pub(super) fn find(&self, names: &[&str]) -> Option<usize> {
        let is_one = |p: &Property| names.contains(&p.name.as_str());
        self.properties.iter().position(is_one)
    }
}

/// A header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) format: Format,
    pub(super) elements: Vec<Element>,
    /// Its length in bytes and in lines.
    pub(super) size: usize,
    pub(super) n_lines: usize,
}

/// Reads the header.
pub(super) fn read_header(bytes: &[u8]) -> Result<Header, PlyFault> {
    if bytes.is_empty() {
        return Err(PlyFault::whole("the file is empty"));
    }
    let end = line_end(bytes)?;
    let (mut at, mut number) = (0, 0);
    let mut format = None;
    let mut elements: Vec<Element> = Vec::new();
    loop {
        let rest = &bytes[at..];
        let within = &rest[..rest.len().min(MAX_LINE)];
        let length = find(within, end);
        let Some(length) = length.filter(|_| number < MAX_LINES) else {
            return Err(PlyFault::whole("the header has no end_header"));
        };
        at += length + end.len();
        number += 1;
        let line = std::str::from_utf8(&rest[..length]);
        let words: Vec<&str> = line.unwrap_or("comment").split_whitespace().collect();
        let fault = |what: String| Err(PlyFault::line(number, what));
        match &words[..] {
            ["ply"] if number == 1 => {}
            _ if number == 1 => return fault("\"ply\" expected".into()),
            [] | ["comment" | "obj_info", ..] => {}
            ["format", name, "1.0"] => {
                format = Some(match *name {
                    "ascii" => Format::Text,
                    "binary_little_endian" => Format::LittleEndian,
                    "binary_big_endian" => Format::BigEndian,
                    other => return fault(format!("unknown format \"{other}\"")),
                });
            }
            ["format", ..] => return fault("only version 1.0 can be read".into()),
            ["element", name, count] => {
                let Ok(count) = count.parse() else {
                    return fault(format!("\"{count}\" is no number of elements"));
                };
                if elements.iter().any(|element| element.name == *name) {
                    return fault(format!("there are two elements \"{name}\""));
                }
                elements.push(Element {
                    name: (*name).to_owned(),
                    count,
                    properties: Vec::new(),
                });
            }
            ["property", rest @ ..] => {
                let Some(element) = elements.last_mut() else {
                    return fault("a property before the first element".into());
                };
                match property(rest, element) {
                    Ok(property) => element.properties.push(property),
                    Err(what) => return fault(what),
                }
            }
            ["end_header"] => break,
            [word, ..] => return fault(format!("unknown word \"{word}\"")),
        }
    }
    let Some(format) = format else {
        return Err(PlyFault::whole("the header names no format"));
    };
    let empty = elements
        .iter()
        .find(|e| e.properties.is_empty() && e.count > 0);
    if let Some(empty) = empty {
        let what = format!("the element \"{}\" has no properties", empty.name);
        return Err(PlyFault::whole(what));
    }
    Ok(Header {
        format,
        elements,
        size: at,
        n_lines: number,
    })
}

fn property(words: &[&str], element: &Element) -> Result<Property, String> {
    let number = |name: &str| Number::of(name).ok_or_else(|| format!("unknown type \"{name}\""));
    let (name, length, number) = match *words {
        ["list", length, item, name] => {
            let length = number(length)?;
            if !length.is_integer() {
                return Err("the length of a list must be an integer".into());
            }
            (name, Some(length), number(item)?)
        }
        [item, name] => (name, None, number(item)?),
        _ => return Err("a property needs a type and a name".into()),
    };
    if element.find(&[name]).is_some() {
        return Err(format!("there are two properties \"{name}\""));
    }
    Ok(Property {
        name: name.to_owned(),
        length,
        number,
    })
}

/// What ends the lines, as the first one shows.
fn line_end(bytes: &[u8]) -> Result<&'static [u8], PlyFault> {
    let first = &bytes[..bytes.len().min(MAX_LINE)];
    match first.iter().position(|b| *b == b'\n' || *b == b'\r') {
        Some(at) if first[at..].starts_with(b"\r\n") => Ok(b"\r\n"),
        Some(at) if first[at] == b'\r' => Ok(b"\r"),
        Some(_) => Ok(b"\n"),
        None => Err(PlyFault::line(1, "\"ply\" expected")),
    }
}

fn find(bytes: &[u8], end: &[u8]) -> Option<usize> {
    bytes.windows(end.len()).position(|window| window == end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_ends_lines_as_its_first_one_does() {
        let text = "ply\nformat binary_big_endian 1.0\ncomment a b\nelement vertex 3\nproperty float x\nproperty list uchar int k\nend_header\n";
        for end in ["\n", "\r\n", "\r"] {
            let bytes = text.replace('\n', end) + "\nrest";
            let header = read_header(bytes.as_bytes()).unwrap();
            assert_eq!(&bytes[header.size..], "\nrest", "{end:?}");
            assert_eq!((header.format, header.n_lines), (Format::BigEndian, 7));
            assert_eq!(header.elements[0].properties[1].length, Some(Number::U8));
        }
    }

    #[test]
    fn a_broken_header_is_a_sentence_with_its_line() {
        for (text, wanted) in [
            ("", "the file is empty"),
            ("solid x\n", "line 1: \"ply\" expected"),
            ("ply", "line 1: \"ply\" expected"),
            ("ply\nformat ascii 1.0\n", "the header has no end_header"),
            (
                "ply\nformat ascii 2.0\n",
                "line 2: only version 1.0 can be read",
            ),
            ("ply\nformat odd 1.0\n", "line 2: unknown format \"odd\""),
            ("ply\nend_header\n", "the header names no format"),
            (
                "ply\nelement a -1\n",
                "line 2: \"-1\" is no number of elements",
            ),
            (
                "ply\nelement a 1\nelement a 2\n",
                "line 3: there are two elements \"a\"",
            ),
            (
                "ply\nproperty int a\n",
                "line 2: a property before the first element",
            ),
            (
                "ply\nelement a 1\nproperty half x\n",
                "line 3: unknown type \"half\"",
            ),
            (
                "ply\nelement a 1\nproperty int\n",
                "line 3: a property needs a type and a name",
            ),
            (
                "ply\nelement a 1\nproperty list float int x\n",
                "line 3: the length of a list must be an integer",
            ),
            (
                "ply\nelement a 1\nproperty int x\nproperty int x\n",
                "line 4: there are two properties \"x\"",
            ),
            ("ply\nvertices 3\n", "line 2: unknown word \"vertices\""),
            (
                "ply\nformat ascii 1.0\nelement a 1\nend_header\n",
                "the element \"a\" has no properties",
            ),
        ] {
            assert_eq!(
                read_header(text.as_bytes()).unwrap_err().to_string(),
                wanted
            );
        }
    }
}
