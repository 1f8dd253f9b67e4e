//! Pose files: `{"nodes": [{"node": 3, "rotation": [x, y, z, w]}]}`, with translation and scale too.

use super::read::{MAX_SMALL_BYTES, read_text};
use crate::document::Document;
use crate::math::transform::normalize_or_identity;
use crate::skeleton::Pose;
use glam::{DMat3, DQuat, DVec3};
use serde::Deserialize;
use std::path::{Path, PathBuf};

/// The greatest magnitude of a number in a pose: the squares of coordinates must stay within single precision.
pub(crate) const MAX_NUMBER: f64 = 1e12;
/// The smallest length of a rotation; a shorter one has no direction.
const MIN_ROTATION: f64 = 1e-6;

/// Why a pose file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum PoseFileError {
    /// The file cannot be read.
    #[error("\"{}\" cannot be read: {why}.", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The reason.
        why: std::io::Error,
    },
    /// Its content is not a pose of the model.
    #[error("\"{}\" is not a pose file of this model: {why}.", path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// The reason, with its place.
        why: String,
    },
}

/// The rest pose of `document` with the local transforms of the pose file at `path`.
pub fn read_pose(document: &Document, path: &Path) -> Result<Pose, PoseFileError> {
    let text = read_text(path, MAX_SMALL_BYTES).map_err(|why| PoseFileError::Read {
        path: path.to_owned(),
        why,
    })?;
    parse_pose(document, &text).map_err(|why| PoseFileError::Format {
        path: path.to_owned(),
        why,
    })
}

/// The rest pose of `document` with the local transforms in the text of a pose file; the error ends a sentence.
pub fn parse_pose(document: &Document, text: &str) -> Result<Pose, String> {
    let file: PoseFile = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let mut pose = Pose::clone(document.rest_pose());
    let skeleton = document.skeleton();
    for entry in file.nodes {
        let node = entry.node;
        let joint = skeleton
            .joint_of_node(node)
            .filter(|&joint| skeleton.is_live(joint))
            .ok_or_else(|| {
                let n = skeleton.n_live();
                format!("it poses node {node}, but the model has {n} nodes")
            })?;
        let local = &mut pose.locals[joint.get()];
        if let Some(t) = entry.translation {
            local.translation = DVec3::from_array(checked(t, node, "translation")?);
        }
        if let Some(r) = entry.rotation {
            let r = DQuat::from_array(checked(r, node, "rotation")?);
            if r.length() < MIN_ROTATION {
                return Err(format!("the rotation of node {node} has length 0"));
            }
            local.rotation = normalize_or_identity(r);
        }
        if let Some(s) = entry.scale {
            let s = checked(s, node, "scale")?;
            if s.contains(&0.0) {
                return Err(format!("the scale of node {node} has a 0"));
            }
            local.stretch = DMat3::from_diagonal(DVec3::from_array(s));
        }
    }
    Ok(pose)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PoseFile {
    nodes: Vec<NodePose>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NodePose {
    node: u32,
    #[serde(default)]
    translation: Option<[f64; 3]>,
    #[serde(default)]
    rotation: Option<[f64; 4]>,
    #[serde(default)]
    scale: Option<[f64; 3]>,
}

/// `numbers`, all finite and at most [`MAX_NUMBER`].
fn checked<const N: usize>(numbers: [f64; N], node: u32, what: &str) -> Result<[f64; N], String> {
    match numbers.iter().find(|x| x.is_nan() || x.abs() > MAX_NUMBER) {
        Some(x) => Err(format!(
            "the {what} of node {node} has the number {x:e}, but at most {MAX_NUMBER:e} can be shown"
        )),
        None => Ok(numbers),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::open_sample;
    use crate::task::Task;

    #[test]
    fn a_number_that_no_pose_can_have_is_refused_with_its_place() {
        let document = open_sample("arm", &Task::new()).unwrap().document;
        let read = |text: &str| parse_pose(&document, text);
        let good = r#"{"nodes": [{"node": 1, "translation": [0, 1, 0], "rotation": [0, 0, 2, 0], "scale": [-1, 1, 1]}]}"#;
        let pose = read(good).unwrap();
        assert_eq!(
            pose.locals[1].rotation,
            DQuat::from_xyzw(0.0, 0.0, 1.0, 0.0)
        );
        for (part, words) in [
            (
                r#""rotation": [0, 0, 0, 0]"#,
                "the rotation of node 1 has length 0",
            ),
            (r#""rotation": [0, 0, 0, 1e-300]"#, "length 0"),
            (r#""rotation": [0, 0, 0, 1e300]"#, "the number 1e300"),
            (
                r#""translation": [0, 1e13, 0]"#,
                "the translation of node 1 has the number 1e13",
            ),
            (r#""translation": [0, -1e308, 0]"#, "-1e308"),
            (r#""translation": [0, 1e999, 0]"#, "number out of range"),
            (r#""translation": [0, null, 0]"#, "invalid type"),
            (r#""scale": [1, 0, 1]"#, "the scale of node 1 has a 0"),
            (
                r#""scale": [1, 1e200, 1]"#,
                "the scale of node 1 has the number 1e200",
            ),
            (r#""scales": [1, 1, 1]"#, "unknown field"),
        ] {
            let text = format!(r#"{{"nodes": [{{"node": 1, {part}}}]}}"#);
            let why = read(&text).unwrap_err();
            assert!(why.contains(words), "{part}: {why}");
        }
        let why = read(r#"{"nodes": [{"node": 99}]}"#).unwrap_err();
        assert!(why.contains("it poses node 99"), "{why}");
    }
}
