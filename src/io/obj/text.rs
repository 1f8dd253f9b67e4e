//! The text of a Wavefront OBJ file: numbers, faces, and the names they stand under.
//!
//! A reader of our own: the crates for this format panic on lines that other programs write, or refuse a whole file for
//! one of them, and name no line.

use crate::io::gltf::ImportError;
use crate::io::read::{MAX_MODEL_BYTES, read_file};
use crate::task::Task;
use glam::{Vec2, Vec3};
use std::collections::HashMap;
use std::path::Path;
use std::str::SplitWhitespace;

/// Lines, and corners of a face, between two checks for cancellation.
const SPAN: usize = 1 << 12;

/// Libraries of materials that are read.
const MAX_LIBRARIES: usize = 64;

/// The index of what a corner or a face does not have.
pub(super) const NONE: u32 = u32::MAX;

/// A corner of a face: indices into the lists of the file. The point is in range; the others are too, or [`NONE`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Corner {
    pub(super) point: u32,
    pub(super) uv: u32,
    pub(super) normal: u32,
}

/// A face.
#[derive(Clone, Copy, Debug)]
pub(super) struct Face {
    /// The end of its corners; they begin where those of the face before end. At least three.
    pub(super) end: u32,
    /// The name it stands under, an index, or [`NONE`].
    pub(super) name: u32,
    /// The material it stands under, an index, or [`NONE`].
    pub(super) material: u32,
}

/// A file as it was read.
#[derive(Debug, Default)]
pub(super) struct ObjText {
    /// Finite.
    pub(super) positions: Vec<Vec3>,
    /// Origin at the bottom; finite.
    pub(super) uvs: Vec<Vec2>,
    /// Finite; any length.
    pub(super) normals: Vec<Vec3>,
    pub(super) corners: Vec<Corner>,
    pub(super) faces: Vec<Face>,
    /// The names of objects; of groups in a file without objects.
    pub(super) names: Names,
    /// The names of materials.
    pub(super) materials: Names,
    /// The files of materials, each once.
    pub(super) libraries: Names,
    /// Faces with fewer than three corners, which are left out.
    pub(super) n_short: usize,
    /// Lines, points, curves and surfaces, which are left out.
    pub(super) n_other: usize,
    /// Texture coordinates and normals that are no finite numbers; they are 0.
    pub(super) n_unreadable: usize,
}

/// Different names in the order of their first use.
#[derive(Debug, Default)]
pub(super) struct Names {
    pub(super) list: Vec<String>,
    index: HashMap<String, u32>,
}

impl Names {
    /// The index of a name; [`NONE`] for an empty one.
    fn of(&mut self, name: &str) -> u32 {
        if name.is_empty() {
            return NONE;
        }
        if let Some(&known) = self.index.get(name) {
            return known;
        }
        let index = self.list.len() as u32;
        self.index.insert(name.to_owned(), index);
        self.list.push(name.to_owned());
        index
    }
}

/// The positions of the `v` lines of a file, in order, as they are: all that a sculpt of a known mesh needs. The whole file is
/// checked: a sculpt with a damaged face was not written as it was meant.
///
/// Fails if the file cannot be read, at a line of a vertex or a face that is not valid, or when `task` is cancelled.
pub fn read_obj_positions(path: &Path, task: &Task) -> Result<Vec<Vec3>, ImportError> {
    Ok(read(&bytes_of(path)?, task)?.positions)
}

/// The content of a file.
pub(super) fn bytes_of(path: &Path) -> Result<Vec<u8>, ImportError> {
    read_file(path, MAX_MODEL_BYTES).map_err(|source| ImportError::Io {
        path: path.to_owned(),
        source,
    })
}

/// Reads the text of a file. Positive indices may reach forward, negative ones count back from the line.
///
/// Fails at a line of a vertex or a face that is not valid, or when `task` is cancelled.
pub(super) fn read(bytes: &[u8], task: &Task) -> Result<ObjText, ImportError> {
    // Names may be in any encoding; all else is ASCII.
    let text = String::from_utf8_lossy(bytes);
    let text = text.trim_start_matches('\u{feff}');
    let line_end = if text.contains('\n') { '\n' } else { '\r' };
    let is_object = |line: &str| line.trim_start().starts_with("o ");
    let mut reader = Reader {
        has_objects: text.split(line_end).any(is_object),
        file: ObjText::default(),
        name: NONE,
        material: NONE,
        highest: [(0, 0); 3],
        task,
    };
    let mut lines = text.split(line_end);
    let (mut number, mut n_bytes) = (0, 0);
    let mut joined = String::new();
    while let Some(line) = lines.next() {
        number += 1;
        n_bytes += line.len() + 1;
        if number % SPAN == 0 {
            let read = n_bytes as f32 / text.len().max(1) as f32;
            task.step("Reading the file", 0.02 * read)?;
        }
        let first = number;
        let mut line = line.trim();
        // A backslash continues a line on the next one; in a comment it is a part of a path.
        if line.ends_with('\\') && !line.starts_with('#') {
            joined.clear();
            while let Some(part) = line.strip_suffix('\\') {
                joined.push_str(part);
                joined.push(' ');
                number += 1;
                line = lines.next().unwrap_or_default().trim();
                n_bytes += line.len() + 1;
            }
            joined.push_str(line);
            line = &joined;
        }
        reader.line(line, first)?;
    }
    reader.finish()
}

struct Reader<'a> {
    has_objects: bool,
    file: ObjText,
    name: u32,
    material: u32,
    /// The highest index of a vertex, texture coordinate and normal that a face has, from 1, and its line.
    highest: [(u64, usize); 3],
    task: &'a Task,
}

impl Reader<'_> {
    fn line(&mut self, line: &str, number: usize) -> Result<(), ImportError> {
        let mut words = line.split_whitespace();
        let Some(key) = words.next() else {
            return Ok(());
        };
        let rest = line[key.len()..].trim();
        let file = &mut self.file;
        match key {
            "v" => {
                let position = vector(&mut words);
                let position = position.ok_or_else(|| fault(number, VERTEX))?;
                file.positions.push(position);
            }
            "vt" => {
                let (u, v) = (finite(words.next()), words.next());
                let v = v.map_or(Some(0.0), |word| finite(Some(word)));
                file.n_unreadable += usize::from(u.is_none() || v.is_none());
                file.uvs.push(Vec2::new(u.unwrap_or(0.0), v.unwrap_or(0.0)));
            }
            "vn" => {
                let normal = vector(&mut words);
                file.n_unreadable += usize::from(normal.is_none());
                file.normals.push(normal.unwrap_or(Vec3::ZERO));
            }
            "f" => self.face(words, number)?,
            "o" => self.name = file.names.of(rest),
            "g" if !self.has_objects => self.name = file.names.of(rest),
            "usemtl" => self.material = file.materials.of(rest),
            "mtllib" if file.libraries.list.len() < MAX_LIBRARIES => {
                file.libraries.of(rest);
            }
            "l" | "p" | "curv" | "curv2" | "surf" => file.n_other += 1,
            // Comments, smoothing groups, and what only other programs know.
            _ => {}
        }
        Ok(())
    }

    fn face(&mut self, words: SplitWhitespace<'_>, number: usize) -> Result<(), ImportError> {
        let first = self.file.corners.len();
        for word in words {
            if word.starts_with('#') {
                break;
            }
            let corner = self.corner(word, number);
            let corner = corner.ok_or_else(|| fault(number, CORNER))?;
            self.file.corners.push(corner);
            if self.file.corners.len().is_multiple_of(SPAN) {
                self.task.check()?;
            }
        }
        let end = self.file.corners.len();
        if end - first < 3 {
            self.file.corners.truncate(first);
            self.file.n_short += 1;
            return Ok(());
        }
        let end = u32::try_from(end).map_err(|_| fault(number, "the file has too many corners"))?;
        self.file.faces.push(Face {
            end,
            name: self.name,
            material: self.material,
        });
        Ok(())
    }

    /// The corner `v`, `v/vt`, `v//vn` or `v/vt/vn`.
    fn corner(&mut self, word: &str, number: usize) -> Option<Corner> {
        let file = &self.file;
        let n = [file.positions.len(), file.uvs.len(), file.normals.len()];
        let mut found = [NONE; 3];
        for (i, part) in word.split('/').enumerate() {
            if i >= 3 {
                return None;
            }
            if part.is_empty() && i > 0 {
                continue;
            }
            let index = match part.parse::<i64>().ok()? {
                0 => return None,
                back @ ..0 => (n[i] as i64).checked_add(back)?,
                index => index - 1,
            };
            found[i] = u32::try_from(index).ok().filter(|&index| index != NONE)?;
            let (highest, line) = &mut self.highest[i];
            if u64::from(found[i]) + 1 > *highest {
                (*highest, *line) = (u64::from(found[i]) + 1, number);
            }
        }
        let [point, uv, normal] = found;
        Some(Corner { point, uv, normal })
    }

    fn finish(self) -> Result<ObjText, ImportError> {
        let file = self.file;
        let lists = [
            ("vertex", file.positions.len()),
            ("texture coordinate", file.uvs.len()),
            ("normal", file.normals.len()),
        ];
        for ((what, n), (highest, line)) in lists.into_iter().zip(self.highest) {
            if highest > n as u64 {
                let why = format!("a face uses {what} {highest}, but the file has {n}");
                return Err(fault(line, why));
            }
        }
        Ok(file)
    }
}

const VERTEX: &str = "a vertex (v) needs three finite numbers";
const CORNER: &str = "a corner of a face (f) must be like 1, 1/2, 1//3 or 1/2/3, counted from 1";

fn fault(line: usize, why: impl Into<String>) -> ImportError {
    ImportError::Obj {
        line,
        why: why.into(),
    }
}

/// Three finite numbers; more are left alone.
fn vector(words: &mut SplitWhitespace<'_>) -> Option<Vec3> {
    let mut number = || finite(words.next());
    Some(Vec3::new(number()?, number()?, number()?))
}

fn finite(word: Option<&str>) -> Option<f32> {
    word?.parse().ok().filter(|x: &f32| x.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Result<ObjText, String> {
        read(text.as_bytes(), &Task::new()).map_err(|e| e.to_string())
    }

    #[test]
    fn a_backslash_continues_a_line_but_not_a_comment() {
        let text = "\u{feff}v 0 0 0\n# C:\\models\\\nv 1 \\\n 0 0\nv 0 1 0 1\nf 1 2\\\n3\n";
        let file = of(text).unwrap();
        assert_eq!(file.positions, [Vec3::ZERO, Vec3::X, Vec3::Y]);
        assert_eq!(file.faces.len(), 1);
        assert!(of("v 0 0 \\").unwrap_err().contains("line 1"));
    }

    #[test]
    fn what_is_no_face_is_counted() {
        let file = of("v 0 0 0\nv 1 0 0\nv 0 1 0\nl 1 2 3\np 1\nf 1 2\nvt nan\nvn 1 2\n").unwrap();
        assert_eq!((file.n_other, file.n_short, file.n_unreadable), (2, 1, 2));
        assert!(file.faces.is_empty() && file.corners.is_empty());
    }

    #[test]
    fn indices_are_checked_where_they_stand() {
        let points = "v 0 0 0\rv 1 0 0\rv 0 1 0\r";
        for (face, wanted) in [
            ("f 1/-9 2/-9 3/-9", "line 4: a corner"),
            ("f 0 1 2", "line 4: a corner"),
            ("f 1 2 3/1/1/1", "line 4: a corner"),
            ("f 1 2 4294967296", "line 4: a corner"),
            ("f 1 2 -9223372036854775808", "line 4: a corner"),
            (
                "f 1 2 4294967295",
                "line 4: a face uses vertex 4294967295, but the file has 3",
            ),
            (
                "f 1/1 2/1 3/1",
                "a face uses texture coordinate 1, but the file has 0",
            ),
        ] {
            let why = of(&format!("{points}{face}")).unwrap_err();
            assert!(why.contains(wanted), "{face}: {why}");
        }
        let forward = of("f 1 2 3\nv 0 0 0\nv 1 0 0\nv 0 1 0").unwrap();
        assert_eq!(forward.corners[2].point, 2);
    }
}
