//! Findings: problems with their location, cause and fix, reported by the importer, the checks and the Problems panel.

use crate::sentence::shortened;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::sync::Arc;

/// The severity of a [`Finding`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Information; nothing is lost.
    Info,
    /// Something is loaded or drawn differently from the file.
    Warning,
    /// Something that the artist needs is missing or broken.
    Error,
}

impl Severity {
    /// The label beside the icon.
    pub fn label(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// The part of the document that a [`Finding`] is about, which a click selects. Indices are those of the document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Place {
    /// Some joints, ascending.
    Joints(Arc<[u32]>),
    /// A mesh.
    Mesh(u32),
    /// Some points of a mesh, ascending.
    Points {
        /// The mesh.
        mesh: u32,
        /// The points.
        points: Arc<[u32]>,
    },
    /// Some corrective samples of a mesh: indices into all its samples, ascending.
    Samples {
        /// The mesh.
        mesh: u32,
        /// The samples.
        samples: Arc<[u32]>,
    },
    /// A set of corrective samples.
    SampleSet {
        /// The mesh.
        mesh: u32,
        /// Its index among the sets of the mesh.
        set: u32,
    },
    /// A recording.
    Recording(u32),
    /// A constraint that the project keeps without a place in the model: its index.
    KeptConstraint(u32),
}

/// A one-click fix for a [`Finding`]. It applies to the [`Place`] of the finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Fix {
    /// Scales the weights of each point to sum to 1.
    Normalise,
    /// Assigns each point to the bone nearest to it in the bind pose.
    GiveToNearest,
    /// Keeps this many of the largest influences of each point.
    Limit(u8),
    /// Gives each point without a valid weight in the file the weights of the nearest one with valid ones.
    CopyNearest,
    /// Gives all points at one position the average of their weights.
    Weld,
    /// A change of corrective samples.
    Samples(SampleFix),
    /// Asks for another file of a recording.
    Relink,
    /// Reads the file of a recording again.
    Reload,
    /// Deletes a constraint that the project keeps.
    DeleteConstraint,
    /// Finds the logical parents of the joints.
    InferParents,
}

/// A one-click fix for a [`Finding`] about corrective samples, or about a set of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SampleFix {
    /// Captures the samples again on the present deformer stack and weights: the sculpted shape stays.
    Retarget,
    /// Accepts the displacements of the samples on the present deformer stack and weights.
    Keep,
    /// Deletes the samples.
    Delete,
    /// Deletes the set of samples.
    DeleteSet,
    /// Gives the set of samples the linear kernel.
    UseLinear,
}

impl Fix {
    /// The label of its button.
    pub fn label(self) -> String {
        match self {
            Self::Normalise => "Normalise".into(),
            Self::GiveToNearest => "Assign to nearest bone".into(),
            Self::Limit(most) => format!("Limit to {most}"),
            Self::CopyNearest => "Copy nearest weights".into(),
            Self::Weld => "Weld weights".into(),
            Self::Samples(fix) => fix.label().into(),
            Self::Relink => "Relink\u{2026}".into(),
            Self::Reload => "Reload".into(),
            Self::DeleteConstraint => "Delete".into(),
            Self::InferParents => "Infer logical parents".into(),
        }
    }

    /// A description in one sentence.
    pub fn about(self) -> String {
        match self {
            Self::Normalise => {
                "Scale the weights of these vertices so that they add up to 1. Locked bones keep their weights."
                    .into()
            }
            Self::GiveToNearest => {
                "Assign each of these vertices to the nearest unlocked bone in the bind pose.".into()
            }
            Self::Limit(most) => format!(
                "Keep only the {most} largest influences of these vertices. An export does this anyway."
            ),
            Self::CopyNearest => {
                "Give each of these vertices the weights of the nearest vertex that has valid ones. Locked bones keep their weights."
                    .into()
            }
            Self::Weld => {
                "Average the weights of the vertices at each of these positions.".into()
            }
            Self::Samples(fix) => fix.about().into(),
            Self::Relink => "Choose the file of this recording. Its layers find their channels by name.".into(),
            Self::Reload => "Read the file of this recording again. You can undo this.".into(),
            Self::InferParents => "Infer the parent of each of these bones along its limb. The pose does not change.".into(),
            Self::DeleteConstraint => "Delete this constraint from the project. You can undo this.".into(),
        }
    }
}

impl SampleFix {
    /// The label of its button.
    pub fn label(self) -> &'static str {
        match self {
            Self::Retarget => "Re-target",
            Self::Keep => "Keep",
            Self::Delete => "Delete sample",
            Self::DeleteSet => "Delete set",
            Self::UseLinear => "Use linear kernel",
        }
    }

    /// A description in one sentence.
    pub fn about(self) -> &'static str {
        match self {
            Self::Retarget => {
                "Recompute these samples for the current deformer stack and weights, so that the vertices they move keep \
                 their sculpted shape."
            }
            Self::Keep => {
                "Accept the displacements of these samples as they are on the current deformer stack and weights."
            }
            Self::Delete => "Delete this corrective sample.",
            Self::DeleteSet => "Delete this set of corrective samples from the project.",
            Self::UseLinear => "Interpolate the samples of this set with the linear kernel.",
        }
    }
}

/// A count with its noun, given in the singular: "1 vertex", "1,204 vertices".
pub fn counted(n: usize, noun: &str) -> String {
    let noun = if n == 1 {
        noun.to_owned()
    } else {
        plural(noun)
    };
    format!("{} {noun}", thousands(n))
}

/// The plural of an English noun, or of a phrase that ends with one.
fn plural(noun: &str) -> String {
    if let Some(stem) = noun.strip_suffix("vertex") {
        format!("{stem}vertices")
    } else if noun.ends_with("child") {
        format!("{noun}ren")
    } else if noun.ends_with(['s', 'x']) || noun.ends_with("sh") || noun.ends_with("ch") {
        format!("{noun}es")
    } else {
        format!("{noun}s")
    }
}

/// A number without rounding noise: at most four decimals, no trailing zeros.
pub fn trimmed(value: f64) -> String {
    let text = format!("{value:.4}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    // A small negative number is rounded to zero, which has no sign.
    if text == "-0" { "0" } else { text }.to_owned()
}

/// A number with thousands separators: "1,204".
pub fn thousands(n: usize) -> String {
    let digits = n.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// One problem: what, where and why, in plain words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// The severity.
    pub severity: Severity,
    /// The location, in the file's own terms: `meshes[0].primitives[1].attributes.WEIGHTS_0`, `joint "Hips"`.
    pub place: String,
    /// The problem and how it was handled: one sentence with a full stop.
    pub message: String,
    /// The affected part of the document, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<Place>,
    /// The fix, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fix: Option<Fix>,
    /// Another way to fix it, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other_fix: Option<Fix>,
}

impl Finding {
    /// A finding without target and fix.
    pub fn new(severity: Severity, place: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            severity,
            place: cut(place.into()),
            message: cut(message.into()),
            target: None,
            fix: None,
            other_fix: None,
        }
    }

    /// The finding with the target `target`.
    #[must_use]
    pub fn at(mut self, target: Place) -> Self {
        self.target = Some(target);
        self
    }

    /// The finding with a fix.
    #[must_use]
    pub fn fixed_by(mut self, fix: Option<Fix>) -> Self {
        self.fix = fix;
        self
    }

    /// The finding with a second fix to choose from.
    #[must_use]
    pub fn or_by(mut self, fix: Fix) -> Self {
        self.other_fix = Some(fix);
        self
    }

    /// Its fixes, the recommended one first.
    pub fn fixes(&self) -> impl DoubleEndedIterator<Item = Fix> {
        [self.fix, self.other_fix].into_iter().flatten()
    }

    /// A finding of severity `info`.
    pub fn info(place: impl Into<String>, message: impl Into<String>) -> Self {
        Self::new(Severity::Info, place, message)
    }

    /// A finding of severity `warning`.
    pub fn warning(place: impl Into<String>, message: impl Into<String>) -> Self {
        Self::new(Severity::Warning, place, message)
    }

    /// A finding of severity `error`.
    pub fn error(place: impl Into<String>, message: impl Into<String>) -> Self {
        Self::new(Severity::Error, place, message)
    }
}

/// A text of any length as one that can be read.
fn cut(text: String) -> String {
    match shortened(&text) {
        Cow::Borrowed(_) => text,
        Cow::Owned(short) => short,
    }
}

impl std::fmt::Display for Finding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{}: {}: {}",
            self.severity.label(),
            self.place,
            self.message
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_as_an_artist_writes_them() {
        assert_eq!(counted(1, "vertex"), "1 vertex");
        assert_eq!(counted(999, "skinned mesh"), "999 skinned meshes");
        assert_eq!(counted(1204, "selected vertex"), "1,204 selected vertices");
        assert_eq!(counted(1_234_567, "bone"), "1,234,567 bones");
        assert_eq!(trimmed(100.0 * 0.000_07), "0.007");
        assert_eq!((trimmed(10.0), trimmed(0.0)), ("10".into(), "0".into()));
        assert_eq!(trimmed(-0.000_01), "0");
    }

    #[test]
    fn a_finding_without_a_target_is_written_as_before() {
        let finding = Finding::info("file", "Odd.");
        let text = serde_json::to_string(&finding).unwrap();
        assert_eq!(
            text,
            r#"{"severity":"info","place":"file","message":"Odd."}"#
        );
        assert_eq!(serde_json::from_str::<Finding>(&text).unwrap(), finding);
    }
}
