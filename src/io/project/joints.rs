//! The keys of joints in a project: the node of the source file, or a number for new joints.

use super::names::{NamedBy, Names};
use crate::document::Document;
use crate::finding::Finding;
use crate::skeleton::JointId;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// The key of a joint in a project.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum JointKey {
    /// A node of the source. In a file: its index, 3.
    Node(u32),
    /// Made in Sinew, numbered from 1 in the order of creation. In a file: "new 1".
    New(u32),
}

/// A joint and, as a check, its name in the source, or its own name where the source does not have it: `(3, "Elbow")`.
/// Files older than version 4 may have no name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct JointRef(pub(super) JointKey, pub(super) Option<String>);

/// The joints of a model by their keys in a project.
pub(super) type Joints = Names<JointKey, JointId>;

impl fmt::Display for JointKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Node(node) => node.fmt(f),
            Self::New(number) => write!(f, "{NEW} {number}"),
        }
    }
}

const NEW: &str = "new";

impl NamedBy for JointKey {
    fn described(self) -> String {
        match self {
            Self::Node(node) => format!("number {node}"),
            Self::New(number) => format!("new bone {number}"),
        }
    }
}

impl Serialize for JointKey {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Node(node) => serializer.serialize_u32(*node),
            Self::New(_) => serializer.collect_str(self),
        }
    }
}

impl<'de> Deserialize<'de> for JointKey {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl serde::de::Visitor<'_> for Visitor {
            type Value = JointKey;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "the index of a node, or \"{NEW} 1\", \"{NEW} 2\" ...")
            }

            fn visit_u64<E: serde::de::Error>(self, node: u64) -> Result<JointKey, E> {
                let unexpected = serde::de::Unexpected::Unsigned(node);
                let node = u32::try_from(node).map_err(|_| E::invalid_value(unexpected, &self))?;
                Ok(JointKey::Node(node))
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<JointKey, E> {
                let number = text.strip_prefix(NEW).and_then(|n| n.strip_prefix(' '));
                match number.and_then(|number| number.parse().ok()) {
                    Some(number @ 1..) => Ok(JointKey::New(number)),
                    _ => Err(E::invalid_value(serde::de::Unexpected::Str(text), &self)),
                }
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

impl Joints {
    /// [`Names::find`] for a reference.
    pub(super) fn find_joint(
        &mut self,
        JointRef(key, name): &JointRef,
        findings: &mut Vec<Finding>,
    ) -> Option<JointId> {
        self.find(*key, name.as_deref(), findings)
    }

    /// [`Names::find_named`] for a reference.
    pub(super) fn find_named_joint(
        &mut self,
        JointRef(key, name): &JointRef,
        findings: &mut Vec<Finding>,
    ) -> Result<JointId, String> {
        self.find_named(*key, name.as_deref(), findings)
    }
}

/// The key of `joint`.
pub(super) fn key(document: &Document, joint: JointId) -> JointKey {
    match document.skeleton().joint(joint).source_node {
        Some(node) => JointKey::Node(node),
        // The slots of the source come first and are never reused.
        None => {
            JointKey::New((1 + joint.0).saturating_sub(document.source_skeleton().len() as u32))
        }
    }
}

/// The name that a project stores as a check of `joint`: the source's, even if the user renamed the joint.
pub(super) fn name(document: &Document, joint: JointId) -> String {
    let source = document.source_skeleton().joints().get(joint.get());
    let joint = source.unwrap_or_else(|| document.skeleton().joint(joint));
    joint.name.clone()
}

/// Key and name of `joint`.
pub(super) fn reference(document: &Document, joint: JointId) -> JointRef {
    JointRef(key(document, joint), Some(name(document, joint)))
}

/// The joints of a freshly imported `document`.
pub(super) fn of(document: &Document) -> Joints {
    let joints = (0..document.skeleton().len() as u32).map(JointId);
    Names::new(
        "bone",
        joints.map(|joint| (key(document, joint), name(document, joint), joint)),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_a_node_or_a_number_of_its_own() {
        let read = |text: &str| ron::from_str::<JointKey>(text);
        for (text, key) in [("3", JointKey::Node(3)), ("\"new 2\"", JointKey::New(2))] {
            assert_eq!(read(text).unwrap(), key);
            assert_eq!(ron::to_string(&key).unwrap(), text);
        }
        for broken in [
            "-1",
            "4294967296",
            "\"new 0\"",
            "\"new\"",
            "\"old 1\"",
            "1.5",
            "\"new -1\"",
        ] {
            assert!(read(broken).is_err(), "{broken}");
        }
    }
}
