//! Weights files: JSON with bones by name, for pipelines and for exchanging weights between programs.
//!
//! ```json
//! {"format": "sinew weights", "version": 1, "meshes": [
//!   {"name": "Arm", "bones": ["upper", "lower"],
//!    "positions": [0.0, 0.1, 0.0, ...],
//!    "weights": [[0, 0.25, 1, 0.75], [1, 1.0], ...]}]}
//! ```
//!
//! `positions`: three numbers per point, bind pose, mesh space, metres. `weights`: one list per point, alternating bone
//! index and weight. Numbers are the shortest decimals that round-trip bit for bit.

use super::Output;
use super::atomic::WriteError;
use super::read::{MAX_MODEL_BYTES, read_file};
use crate::document::Document;
use crate::skinning::Rows;
use crate::task::{Cancelled, Task};
use crate::weights::file::{WeightsFile, WeightsOfMesh};
use glam::Vec3;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

const FORMAT: &str = "sinew weights";
const VERSION: u32 = 1;

/// The reason that a weights file cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum WeightsFileError {
    /// The work was cancelled.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
    /// The file cannot be read.
    #[error("Cannot read \"{}\": {why}.", path.display())]
    Read {
        /// The path.
        path: PathBuf,
        /// The error of the operating system.
        why: std::io::Error,
    },
    /// The file is not a weights file.
    #[error("\"{}\" is not a weights file: {why}.", path.display())]
    Format {
        /// The path.
        path: PathBuf,
        /// The reason and its location.
        why: String,
    },
    /// The document has no weights.
    #[error("No mesh is skinned, so there are no weights to write.")]
    Nothing,
    /// The file cannot be written.
    #[error(transparent)]
    Write(#[from] WriteError),
}

#[derive(Serialize, Deserialize)]
struct FileText {
    format: String,
    version: u32,
    meshes: Vec<MeshText>,
}

#[derive(Serialize, Deserialize)]
struct MeshText {
    name: String,
    bones: Vec<String>,
    positions: Vec<f32>,
    weights: Vec<RowText>,
}

/// Alternating bone index and weight.
#[derive(Serialize, Deserialize)]
struct RowText(Vec<Entry>);

/// A bone index or a weight; integers are written as such.
#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(untagged)]
enum Entry {
    Bone(u16),
    Weight(f32),
}

/// Reads a weights file.
pub fn read_weights(path: &Path, task: &Task) -> Result<WeightsFile, WeightsFileError> {
    task.step("Reading weights", 0.0)?;
    let bytes = read_file(path, MAX_MODEL_BYTES).map_err(|why| WeightsFileError::Read {
        path: path.to_owned(),
        why,
    })?;
    task.step("Reading weights", 0.2)?;
    parse(&bytes).map_err(|why| WeightsFileError::Format {
        path: path.to_owned(),
        why,
    })
}

/// Parses the text of a weights file; the error describes the fault and its location.
pub fn parse(bytes: &[u8]) -> Result<WeightsFile, String> {
    let text: FileText = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
    if text.format != FORMAT {
        return Err(format!(
            "its format is \"{}\", not \"{FORMAT}\"",
            text.format
        ));
    }
    if text.version != VERSION {
        return Err(format!(
            "it has version {}; this Sinew reads version {VERSION}",
            text.version
        ));
    }
    let meshes = text.meshes.into_iter().map(read_mesh);
    Ok(WeightsFile {
        meshes: meshes.collect::<Result<_, _>>()?,
    })
}

fn read_mesh(text: MeshText) -> Result<WeightsOfMesh, String> {
    let MeshText {
        name,
        bones,
        positions,
        weights,
    } = text;
    if positions.len() != 3 * weights.len() {
        return Err(format!(
            "mesh \"{name}\" has {} numbers in \"positions\", but three for each of its {} rows are required",
            positions.len(),
            weights.len()
        ));
    }
    if let Some(i) = positions.iter().position(|x| !x.is_finite()) {
        return Err(format!(
            "mesh \"{name}\", vertex {}: its position is not finite",
            i / 3
        ));
    }
    let mut rows = Rows::with_capacity(weights.len());
    let mut row = Vec::new();
    for (point, RowText(entries)) in weights.into_iter().enumerate() {
        let place = || format!("mesh \"{name}\", vertex {point}");
        row.clear();
        if entries.len() % 2 != 0 {
            return Err(format!("{}: a bone has no weight", place()));
        }
        for pair in entries.chunks_exact(2) {
            let Entry::Bone(bone) = pair[0] else {
                return Err(format!("{}: a bone index must be 0 - 65535", place()));
            };
            let weight = match pair[1] {
                Entry::Bone(whole) => f32::from(whole),
                Entry::Weight(weight) => weight,
            };
            if usize::from(bone) >= bones.len() {
                return Err(format!(
                    "{}: bone {bone} is used, but the mesh has {}",
                    place(),
                    bones.len()
                ));
            }
            if !(weight >= 0.0 && weight.is_finite()) {
                return Err(format!(
                    "{}: the weight {weight} is below 0 or not finite",
                    place()
                ));
            }
            if row.iter().any(|&(other, _)| other == bone) {
                return Err(format!("{}: bone {bone} appears twice", place()));
            }
            row.push((bone, weight));
        }
        rows.push_pairs(row.iter().copied());
    }
    let places = positions.chunks_exact(3).map(Vec3::from_slice);
    Ok(WeightsOfMesh {
        name,
        bones,
        positions: places.collect(),
        rows,
    })
}

/// The weights of every skinned mesh of a document, as shown.
pub fn weights_of(document: &Document) -> Result<WeightsFile, WeightsFileError> {
    let skeleton = document.skeleton();
    let mut meshes = Vec::new();
    for (&id, item) in document.meshes() {
        let (Some((_, skin)), Some(n)) = (document.skin_of_mesh(id), document.n_skin_joints(id))
        else {
            continue;
        };
        let mut rows = Rows::with_capacity(item.influences.len());
        item.influences.iter().for_each(|row| rows.push(row));
        meshes.push(WeightsOfMesh {
            name: item.geometry.name.clone(),
            bones: skin.joints[..n]
                .iter()
                .map(|&j| skeleton.label(j))
                .collect(),
            positions: item.geometry.positions.clone(),
            rows,
        });
    }
    if meshes.is_empty() {
        return Err(WeightsFileError::Nothing);
    }
    Ok(WeightsFile { meshes })
}

/// The text of a weights file.
pub fn to_text(file: &WeightsFile) -> Vec<u8> {
    let meshes = file.meshes.iter().map(|mesh| MeshText {
        name: mesh.name.clone(),
        bones: mesh.bones.clone(),
        positions: mesh.positions.iter().flat_map(Vec3::to_array).collect(),
        weights: mesh
            .rows
            .iter()
            .map(|row| {
                let entries = row
                    .iter()
                    .flat_map(|(b, w)| [Entry::Bone(b), Entry::Weight(w)]);
                RowText(entries.collect())
            })
            .collect(),
    });
    let text = FileText {
        format: FORMAT.into(),
        version: VERSION,
        meshes: meshes.collect(),
    };
    // Only numbers and strings, so serialisation cannot fail.
    serde_json::to_vec(&text).unwrap_or_default()
}

/// Writes the weights of every skinned mesh; an existing file is replaced in one step.
pub fn write_weights(
    document: &Document,
    output: Output,
    task: &Task,
) -> Result<(), WeightsFileError> {
    task.step("Writing weights", 0.0)?;
    let file = weights_of(document)?;
    task.step("Writing weights", 0.2)?;
    let text = to_text(&file);
    task.step("Writing weights", 0.8)?;
    Ok(output.write(&text)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file() -> WeightsFile {
        let rows = [vec![(0, 0.1), (1, 0.9)], vec![], vec![(1, 1.0)]];
        WeightsFile {
            meshes: vec![WeightsOfMesh {
                name: "Arm \"left\"".into(),
                bones: vec!["upper".into(), "lower".into()],
                positions: vec![Vec3::ZERO, Vec3::new(0.1, -0.2, 1e-7), Vec3::splat(3.0)],
                rows: rows.into_iter().collect(),
            }],
        }
    }

    #[test]
    fn what_was_written_is_read_bit_for_bit() {
        let file = file();
        assert_eq!(parse(&to_text(&file)).unwrap(), file);
        for i in 0..2000_u32 {
            let mut file = self::file();
            let bits = 0x3800_0000 + i.wrapping_mul(40_503) % 0x0780_0000;
            let weight = f32::from_bits(bits);
            file.meshes[0].rows = [vec![(0, weight)], vec![(1, weight)], vec![]]
                .into_iter()
                .collect();
            assert_eq!(parse(&to_text(&file)).unwrap(), file, "{weight}");
        }
    }

    #[test]
    fn faults_are_named_with_their_place() {
        let with = |positions: &str, weights: &str| {
            let text = format!(
                r#"{{"format": "sinew weights", "version": 1, "meshes": [{{"name": "A", "bones": ["b"],
                "positions": {positions}, "weights": {weights}}}]}}"#
            );
            parse(text.as_bytes()).unwrap_err()
        };
        for (positions, weights, part) in [
            ("[0, 0]", "[[0, 1]]", "three for each of its 1 rows"),
            ("[0, 0, 0]", "[[0]]", "vertex 0: a bone has no weight"),
            ("[0, 0, 0]", "[[0.5, 1]]", "vertex 0: a bone index"),
            (
                "[0, 0, 0]",
                "[[1, 1]]",
                "bone 1 is used, but the mesh has 1",
            ),
            ("[0, 0, 0]", "[[0, -1.5]]", "below 0"),
            ("[0, 0, 0]", "[[0, 0.5, 0, 0.5]]", "bone 0 appears twice"),
            ("[0, 0, 0]", "7", "line 2"),
        ] {
            let why = with(positions, weights);
            assert!(why.contains(part), "{why}");
        }
        assert!(parse(b"{}").unwrap_err().contains("format"));
        let other = br#"{"format": "x", "version": 1, "meshes": []}"#;
        assert!(parse(other).unwrap_err().contains("\"x\""));
        let later = br#"{"format": "sinew weights", "version": 2, "meshes": []}"#;
        assert!(parse(later).unwrap_err().contains("version 2"));
    }
}
