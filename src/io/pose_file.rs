//! Pose files: `{"name": "Fist", "nodes": [{"node": 3, "name": "hand", "rotation": [x, y, z, w]}]}`, with translation, scale
//! and morph weights too. A pose of the library is copied as such a text.

use super::read::{MAX_SMALL_BYTES, read_text};
use crate::document::Document;
use crate::math::transform::normalize_or_identity;
use crate::skeleton::{Channel, Clip, JointId, Pose, Property};
use glam::{DMat3, DQuat, DVec3};
use serde::{Deserialize, Serialize};
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
    let file = parse(text)?;
    let mut pose = Pose::clone(document.rest_pose());
    for entry in file.nodes {
        let joint = entry.joint(document).ok_or_else(|| {
            let n = document.skeleton().n_live();
            format!("it poses {}, but the model has {n} nodes", entry.label())
        })?;
        for (property, value) in entry.values(document, joint)? {
            let local = &mut pose.locals[joint.get()];
            match property {
                Property::Translation => local.translation = DVec3::from_slice(&value),
                Property::Rotation => local.rotation = DQuat::from_slice(&value),
                Property::Scale => {
                    local.stretch = DMat3::from_diagonal(DVec3::from_slice(&value));
                }
                Property::MorphWeights | Property::Influence(_) => {
                    let weights = value.into_iter().map(|w| w as f32);
                    pose.morph_weights[joint.get()] = weights.collect();
                }
            }
        }
    }
    Ok(pose)
}

/// A pose of the library that was read from the text of a pose file.
#[derive(Clone, Debug, PartialEq)]
pub struct TextPose {
    /// The pose, with its name in the text or an empty one.
    pub pose: Clip,
    /// The nodes of the text that the model does not have, by name or number.
    pub missing: Vec<String>,
}

/// The pose of the library in the text of a pose file; nodes that the model does not have are left out. The error ends a
/// sentence.
pub fn parse_library_pose(document: &Document, text: &str) -> Result<TextPose, String> {
    let file = parse(text)?;
    let mut pose = Clip::named(file.name.unwrap_or_default());
    let mut missing = Vec::new();
    for entry in file.nodes {
        let Some(joint) = entry.joint(document) else {
            missing.push(entry.label());
            continue;
        };
        for (property, value) in entry.values(document, joint)? {
            if pose.channel_of(joint, property).is_some() {
                return Err(format!("it poses {} twice", entry.label()));
            }
            let channel = Channel::of_key(joint, property, 0.0, &value);
            if channel.values.iter().any(|v| !v.is_finite()) {
                return Err(format!("{} has too large a number", entry.label()));
            }
            pose.channels.push(channel);
        }
    }
    pose.channels.sort_by_key(|c| c.joint);
    Ok(TextPose { pose, missing })
}

/// A pose of the library as the text of a pose file, with the names of the bones: one line for each.
pub fn pose_text(document: &Document, pose: &Clip) -> String {
    let line = |joint: JointId| {
        let value = |property: Property| {
            let channel = pose.channel_of(joint, property)?;
            Some(pose.channels[channel].key(0).to_vec())
        };
        let entry = NodeText {
            node: document.skeleton().joint(joint).source_node,
            name: &document.skeleton().joint(joint).name,
            translation: value(Property::Translation),
            rotation: value(Property::Rotation),
            scale: value(Property::Scale),
            weights: value(Property::MorphWeights),
        };
        // Numbers and text only: it cannot fail.
        serde_json::to_string(&entry).unwrap_or_default()
    };
    let lines: Vec<String> = pose.posed_joints().into_iter().map(line).collect();
    let name = serde_json::to_string(&pose.name).unwrap_or_default();
    let lines = lines.join(",\n    ");
    format!("{{\n  \"name\": {name},\n  \"nodes\": [\n    {lines}\n  ]\n}}\n")
}

fn parse(text: &str) -> Result<PoseFile, String> {
    serde_json::from_str(text).map_err(|error| error.to_string())
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PoseFile {
    #[serde(default)]
    name: Option<String>,
    nodes: Vec<NodePose>,
}

/// A node by its number, its name, or both: then the name decides where they disagree.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NodePose {
    #[serde(default)]
    node: Option<u32>,
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    translation: Option<[f64; 3]>,
    #[serde(default)]
    rotation: Option<[f64; 4]>,
    #[serde(default)]
    scale: Option<[f64; 3]>,
    #[serde(default)]
    weights: Option<Vec<f64>>,
}

/// As [`NodePose`], to write.
#[derive(Serialize)]
struct NodeText<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    node: Option<u32>,
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    translation: Option<Vec<f32>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rotation: Option<Vec<f32>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    scale: Option<Vec<f32>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    weights: Option<Vec<f32>>,
}

impl NodePose {
    /// The joint of this model: of the number and the name, else of the name alone, with or without a namespace and whatever
    /// the case; without a name of the number.
    fn joint(&self, document: &Document) -> Option<JointId> {
        let skeleton = document.skeleton();
        let of_node = self.node.and_then(|node| skeleton.joint_of_node(node));
        let of_node = of_node.filter(|&joint| skeleton.is_live(joint));
        let Some(name) = self.name.as_deref().filter(|name| !name.is_empty()) else {
            return of_node;
        };
        let named = |joint: JointId| skeleton.joint(joint).name.as_str();
        if let Some(joint) = of_node.filter(|&joint| named(joint) == name) {
            return Some(joint);
        }
        let exact = skeleton.live_joints().find(|&joint| named(joint) == name);
        let bare = |name: &str| name.rsplit(':').next().map(str::to_lowercase);
        exact.or_else(|| {
            let mut live = skeleton.live_joints();
            live.find(|&joint| bare(named(joint)) == bare(name))
        })
    }

    /// The node in messages.
    fn label(&self) -> String {
        match (&self.name, self.node) {
            (Some(name), _) if !name.is_empty() => format!("“{name}”"),
            (_, Some(node)) => format!("node {node}"),
            _ => "a node without a number or a name".to_owned(),
        }
    }

    /// What the entry sets, checked; rotations are unit.
    fn values(
        &self,
        document: &Document,
        joint: JointId,
    ) -> Result<Vec<(Property, Vec<f64>)>, String> {
        let label = self.label();
        let mut values = Vec::new();
        if let Some(t) = self.translation {
            let t = checked(t, &label, "translation")?;
            values.push((Property::Translation, t.to_vec()));
        }
        if let Some(r) = self.rotation {
            let r = DQuat::from_array(checked(r, &label, "rotation")?);
            if r.length() < MIN_ROTATION {
                return Err(format!("the rotation of {label} has length 0"));
            }
            let r = normalize_or_identity(r);
            values.push((Property::Rotation, r.to_array().to_vec()));
        }
        if let Some(s) = self.scale {
            let s = checked(s, &label, "scale")?;
            if s.contains(&0.0) {
                return Err(format!("the scale of {label} has a 0"));
            }
            values.push((Property::Scale, s.to_vec()));
        }
        if let Some(weights) = &self.weights {
            let n = document.rest_pose().morph_weights[joint.get()].len();
            if weights.len() != n {
                let found = weights.len();
                return Err(format!(
                    "{label} has {found} morph weights, but the model has {n} morph targets there"
                ));
            }
            for &weight in weights {
                checked([weight], &label, "morph weights")?;
            }
            if n > 0 {
                values.push((Property::MorphWeights, weights.clone()));
            }
        }
        Ok(values)
    }
}

/// `numbers`, all finite and at most [`MAX_NUMBER`].
fn checked<const N: usize>(numbers: [f64; N], label: &str, what: &str) -> Result<[f64; N], String> {
    match numbers.iter().find(|x| x.is_nan() || x.abs() > MAX_NUMBER) {
        Some(x) => Err(format!(
            "the {what} of {label} has the number {x:e}, but at most {MAX_NUMBER:e} can be shown"
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
        let why = read(r#"{"nodes": [{"node": 1, "weights": [1]}]}"#).unwrap_err();
        assert!(why.contains("node 1 has 1 morph weights"), "{why}");
    }

    #[test]
    fn a_pose_of_the_library_is_the_same_after_its_text() {
        let document = open_sample("arm", &Task::new()).unwrap().document;
        let mut shown = Pose::clone(document.rest_pose());
        shown.locals[1].rotation = DQuat::from_rotation_z(0.7);
        shown.locals[2].translation.x += 0.1;
        let live: Vec<JointId> = document.skeleton().live_joints().collect();
        let pose = Clip::of_pose("A \"fist\"\n", &shown, live);
        let text = pose_text(&document, &pose);
        let read = parse_library_pose(&document, &text).unwrap();
        assert_eq!(read.pose, pose);
        assert_eq!(read.missing, Vec::<String>::new());
        // The command line reads it too.
        let posed = parse_pose(&document, &text).unwrap();
        assert!(
            posed.locals[1]
                .rotation
                .angle_between(shown.locals[1].rotation)
                < 1e-6
        );

        // By name where the numbers differ, without a namespace; what is missing is said.
        let name = &document.skeleton().joint(JointId(1)).name;
        let text = format!(
            r#"{{"nodes": [{{"node": 77, "name": "rig:{}", "scale": [2, 2, 2]}}, {{"name": "tail"}}]}}"#,
            name.to_uppercase()
        );
        let read = parse_library_pose(&document, &text).unwrap();
        assert_eq!(read.pose.posed_joints(), [JointId(1)].into());
        assert_eq!(read.missing, ["“tail”"]);
        for (text, words) in [
            ("no", "expected"),
            (
                r#"{"nodes": [{"node": 1, "scale": [1, 1, 1]}, {"node": 1, "scale": [1, 1, 1]}]}"#,
                "twice",
            ),
        ] {
            let why = parse_library_pose(&document, text).unwrap_err();
            assert!(why.contains(words), "{why}");
        }
    }
}
