//! The points and faces of a PLY file.

use super::fault::PlyFault;
use super::header::{Element, Header, read_header};
use super::rows::Rows;
use crate::io::polygon::triangulated;
use crate::task::Task;
use glam::DVec3;

/// Rows between two checks for cancellation.
const SPAN: u64 = 1 << 12;

/// What a PLY file holds of a scan, in its own unit.
#[derive(Debug, Default)]
pub(in crate::io) struct PlyPoints {
    /// Finite.
    pub(in crate::io) points: Vec<DVec3>,
    /// One a point, finite; empty where the file has none.
    pub(in crate::io) normals: Vec<DVec3>,
    pub(in crate::io) triangles: Vec<[u32; 3]>,
}

/// Reads a PLY file. Faces with fewer than three corners are left out.
///
/// Fails at the first thing that is not valid, or when `task` is cancelled.
pub(in crate::io) fn read_ply(bytes: &[u8], task: &Task) -> Result<PlyPoints, PlyFault> {
    let header = read_header(bytes)?;
    let has_vertices = header.elements.iter().any(|e| e.name == "vertex");
    if !has_vertices {
        return Err(PlyFault::whole("the file has no vertices"));
    }
    let mut reader = Reader {
        rows: Rows::new(&header, bytes),
        size: bytes.len(),
        task,
        shape: PlyPoints::default(),
        faces: Faces::default(),
    };
    reader.read(&header)?;
    let Reader {
        mut shape, faces, ..
    } = reader;
    let n = shape.points.len() as u64;
    if let Some((highest, place)) = faces.highest.filter(|(highest, _)| *highest >= n) {
        let what = format!("a face has the vertex {highest}, but the file has {n}, from 0");
        return Err(match place {
            Some(line) => PlyFault::line(line, what),
            None => PlyFault::whole(what),
        });
    }
    let ends = faces.ends.iter().copied();
    shape.triangles = triangulated(&shape.points, &faces.corners, ends, task)?;
    Ok(shape)
}

/// The faces read so far.
#[derive(Default)]
struct Faces {
    corners: Vec<u32>,
    /// Of the corners of each face.
    ends: Vec<u32>,
    /// The highest vertex, and the line of a text.
    highest: Option<(u64, Option<usize>)>,
}

struct Reader<'a> {
    rows: Rows<'a>,
    /// Of the file, bytes.
    size: usize,
    task: &'a Task,
    shape: PlyPoints,
    faces: Faces,
}

impl Reader<'_> {
    fn read(&mut self, header: &Header) -> Result<(), PlyFault> {
        for element in &header.elements {
            let columns = Columns::of(element)?;
            // Every row has a byte or more.
            let most = (element.count).min(self.rows.n_left() as u64) as usize;
            match columns {
                Columns::Vertex { normal, .. } => {
                    self.shape.points.reserve(most.min(self.rows.n_left() / 3));
                    if normal.is_some() {
                        self.shape.normals.reserve(most.min(self.rows.n_left() / 6));
                    }
                }
                Columns::Face { .. } => self.faces.ends.reserve(most.min(self.rows.n_left() / 4)),
                Columns::Other => {}
            }
            let mut values = vec![0.0; element.properties.len()];
            for row in 0..element.count {
                if row % SPAN == 0 {
                    let done = 1.0 - self.rows.n_left() as f32 / self.size.max(1) as f32;
                    self.task.step("Reading the file", done)?;
                }
                if !self.rows.begin() {
                    return Err(ends_early(row, element));
                }
                self.row(element, &columns, &mut values)?
                    .then_some(())
                    .ok_or_else(|| self.too_short(row, element))?;
                self.rows.end()?;
                self.take(row, &columns, &values)?;
            }
        }
        Ok(())
    }

    /// Reads the numbers of a row; `false`: the file or the line ends within it.
    fn row(
        &mut self,
        element: &Element,
        columns: &Columns,
        values: &mut [f64],
    ) -> Result<bool, PlyFault> {
        for (i, property) in element.properties.iter().enumerate() {
            let Some(length) = property.length else {
                let Some(number) = self.rows.number(property.number)? else {
                    return Ok(false);
                };
                values[i] = number;
                continue;
            };
            let Some(length) = self.rows.number(length)? else {
                return Ok(false);
            };
            let Some(length) = whole(length) else {
                let what = format!("{length} is no length of a list");
                return Err(self.rows.fault(what));
            };
            let first = self.faces.corners.len();
            let is_face = matches!(columns, Columns::Face { corners } if *corners == i);
            for _ in 0..length {
                let Some(number) = self.rows.number(property.number)? else {
                    return Ok(false);
                };
                if is_face {
                    self.corner(number)?;
                }
            }
            if is_face {
                self.end_face(first)?;
            }
        }
        Ok(true)
    }

    fn corner(&mut self, number: f64) -> Result<(), PlyFault> {
        let Some(index) = whole(number) else {
            let what = format!("{number} is no number of a vertex");
            return Err(self.rows.fault(what));
        };
        let highest = self.faces.highest.map(|(highest, _)| highest);
        if highest.is_none_or(|known| u64::from(index) > known) {
            let line = self.rows.is_text().then(|| self.rows.line());
            self.faces.highest = Some((u64::from(index), line));
        }
        self.faces.corners.push(index);
        Ok(())
    }

    fn end_face(&mut self, first: usize) -> Result<(), PlyFault> {
        let end = self.faces.corners.len();
        if end - first < 3 {
            self.faces.corners.truncate(first);
            return Ok(());
        }
        let end = u32::try_from(end);
        let end = end.map_err(|_| PlyFault::whole("the file has too many faces"))?;
        self.faces.ends.push(end);
        Ok(())
    }

    /// Keeps a vertex.
    fn take(&mut self, row: u64, columns: &Columns, values: &[f64]) -> Result<(), PlyFault> {
        let Columns::Vertex { place, normal } = columns else {
            return Ok(());
        };
        let vector = |columns: &[usize; 3]| DVec3::from_array(columns.map(|i| values[i]));
        let point = vector(place);
        if !point.is_finite() {
            let what = format!("the vertex {row} has a position that is not finite");
            return Err(self.rows.fault(what));
        }
        self.shape.points.push(point);
        if let Some(normal) = normal {
            let normal = vector(normal);
            let known = if normal.is_finite() {
                normal
            } else {
                DVec3::ZERO
            };
            self.shape.normals.push(known);
        }
        Ok(())
    }

    fn too_short(&self, row: u64, element: &Element) -> PlyFault {
        if self.rows.is_text() {
            let what = format!("the line has too few numbers for a {}", element.name);
            self.rows.fault(what)
        } else {
            ends_early(row, element)
        }
    }
}

fn ends_early(row: u64, element: &Element) -> PlyFault {
    PlyFault::whole(format!(
        "the file ends after {row} of {} rows of \"{}\"",
        element.count, element.name
    ))
}

/// What is read of an element.
enum Columns {
    Vertex {
        place: [usize; 3],
        normal: Option<[usize; 3]>,
    },
    Face {
        corners: usize,
    },
    Other,
}

impl Columns {
    fn of(element: &Element) -> Result<Self, PlyFault> {
        let scalar = |name: &str| {
            let found = element.find(&[name])?;
            element.properties[found].length.is_none().then_some(found)
        };
        let three = |names: [&str; 3]| {
            let [x, y, z] = names.map(scalar);
            Some([x?, y?, z?])
        };
        match element.name.as_str() {
            "vertex" => {
                let place = three(["x", "y", "z"]);
                let place = place.ok_or_else(|| PlyFault::whole("a vertex needs x, y and z"))?;
                Ok(Self::Vertex {
                    place,
                    normal: three(["nx", "ny", "nz"]),
                })
            }
            "face" => {
                let list = element.find(&["vertex_indices", "vertex_index"]);
                let list = list.filter(|&i| element.properties[i].length.is_some());
                // Faces without corners, such as those of a parametric surface, say nothing.
                Ok(list.map_or(Self::Other, |corners| Self::Face { corners }))
            }
            _ => Ok(Self::Other),
        }
    }
}

/// A number that is an index or a length.
fn whole(number: f64) -> Option<u32> {
    let is_whole = number.fract() == 0.0 && (0.0..f64::from(u32::MAX)).contains(&number);
    is_whole.then_some(number as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "ply\nformat ascii 1.0\nelement vertex 4\nproperty double x\nproperty float y\nproperty float z\nproperty uchar red\nelement face 2\nproperty list uchar int vertex_indices\nend_header\n";

    fn of(rows: &str) -> Result<PlyPoints, String> {
        let text = format!("{HEAD}{rows}");
        read_ply(text.as_bytes(), &Task::new()).map_err(|fault| fault.to_string())
    }

    #[test]
    fn polygons_become_triangles_and_short_faces_are_left_out() {
        let file = of("0 0 0 1\n1 0 0 2\n\n1 1 0 3\n0 1 0 4\n4 0 1 2 3\n2 0 1\n").unwrap();
        assert_eq!(file.points[2], DVec3::new(1.0, 1.0, 0.0));
        assert_eq!(file.triangles.len(), 2);
        assert!(file.normals.is_empty());
    }

    #[test]
    fn broken_rows_are_sentences_with_their_line() {
        let points = "0 0 0 1\n1 0 0 2\n1 1 0 3\n0 1 0 4\n";
        for (rows, wanted) in [
            (
                "0 0 0 1\n0 0 x 1\n".to_owned(),
                "line 12: \"x\" is not a number",
            ),
            (
                "0 0 nan 1\n".into(),
                "line 11: the vertex 0 has a position that is not finite",
            ),
            (
                "0 0 0\n".into(),
                "line 11: the line has too few numbers for a vertex",
            ),
            (
                "0 0 0 1 2\n".into(),
                "line 11: the line has more numbers than the header says",
            ),
            (
                "0 0 0 1\n".into(),
                "the file ends after 1 of 4 rows of \"vertex\"",
            ),
            (
                format!("{points}3 0 1 2\n"),
                "the file ends after 1 of 2 rows of \"face\"",
            ),
            (
                format!("{points}3 0 1 4\n3 0 1 2\n"),
                "line 15: a face has the vertex 4, but the file has 4, from 0",
            ),
            (
                format!("{points}3 0 1 -1\n"),
                "line 15: -1 is no number of a vertex",
            ),
            (
                format!("{points}3 0 1 0.5\n"),
                "line 15: 0.5 is no number of a vertex",
            ),
            (
                format!("{points}-3 0 1\n"),
                "line 15: -3 is no length of a list",
            ),
            (
                format!("{points}4000000000 0 1\n"),
                "line 15: the line has too few numbers for a face",
            ),
        ] {
            assert_eq!(of(&rows).unwrap_err(), wanted);
        }
    }

    #[test]
    fn counts_of_the_header_reserve_nothing() {
        let text = HEAD.replace("vertex 4", "vertex 18446744073709551615");
        let why = read_ply(format!("{text}0 0 0 0\n").as_bytes(), &Task::new()).unwrap_err();
        assert!(
            why.to_string().starts_with("the file ends after 1 of"),
            "{why}"
        );
    }
}
