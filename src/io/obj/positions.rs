//! The positions of a Wavefront OBJ file: all that a sculpt of a known mesh needs.

use crate::io::read::{MAX_MODEL_BYTES, read_file};
use crate::task::{Cancelled, Task};
use glam::Vec3;
use std::path::{Path, PathBuf};

/// Lines between two checks for cancellation.
const SPAN: usize = 1 << 14;

/// Why an OBJ file cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ObjError {
    /// It was cancelled.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
    /// The file cannot be read.
    #[error("{} cannot be read: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A line is not valid.
    #[error("{}, line {line}: a vertex (v) needs three finite numbers", path.display())]
    Vertex {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
    },
}

/// The positions of the `v` lines of a file, in order, as they are.
pub fn read_obj_positions(path: &Path, task: &Task) -> Result<Vec<Vec3>, ObjError> {
    let bytes = read_file(path, MAX_MODEL_BYTES).map_err(|source| ObjError::Io {
        path: path.to_owned(),
        source,
    })?;
    // Names may be in any encoding; positions are ASCII.
    positions(&String::from_utf8_lossy(&bytes), path, task)
}

fn positions(text: &str, path: &Path, task: &Task) -> Result<Vec<Vec3>, ObjError> {
    let mut positions = Vec::new();
    for (index, line) in text.lines().enumerate() {
        if index.is_multiple_of(SPAN) {
            task.check()?;
        }
        let mut words = line.split_whitespace();
        if words.next() != Some("v") {
            continue;
        }
        let mut number = || words.next()?.parse::<f32>().ok().filter(|x| x.is_finite());
        let (Some(x), Some(y), Some(z)) = (number(), number(), number()) else {
            return Err(ObjError::Vertex {
                path: path.to_owned(),
                line: index + 1,
            });
        };
        positions.push(Vec3::new(x, y, z));
    }
    Ok(positions)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_are_read_and_a_bad_line_is_named() {
        let read = |text: &str| positions(text, Path::new("a.obj"), &Task::new());
        let text = "# x\nv 1 2.5 -3e-1 1.0\nvt 0 0\nvn 0 1 0\n v 0 0 0\nf 1//1 2//1 1//1\n";
        let found = read(text).unwrap();
        assert_eq!(found, [Vec3::new(1.0, 2.5, -0.3), Vec3::ZERO]);
        for bad in ["v 1 2", "v 1 2 x", "v 1 2 nan"] {
            let why = read(&format!("o a\n{bad}\n")).unwrap_err().to_string();
            assert_eq!(
                why,
                "a.obj, line 2: a vertex (v) needs three finite numbers"
            );
        }
    }
}
