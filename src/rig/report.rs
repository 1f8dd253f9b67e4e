//! What an operation changes, in numbers.

use super::done::Done;
use super::operation::Operation;
use crate::document::Document;
use crate::document::rig::{self, RigReport};
use crate::finding::counted;
use serde_json::{Value, json};

/// The largest difference of a pose that is not worth a line, percent.
const NOTHING: f64 = 5e-4;

/// What an operation changes.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// The operation.
    pub label: &'static str,
    /// The numbers.
    pub counts: RigReport,
    /// The largest posed difference of each clip, in percent of the model's diagonal, by the clip's name or number, in the
    /// order of the clips.
    pub clips: Vec<(String, f64)>,
    /// Names of new joints.
    pub made: Vec<String>,
    /// What the artist should know, in sentences.
    pub notes: Vec<String>,
}

impl Report {
    /// Measures what `done` changes in `document`, to which it is not applied yet. `after`: the document with it.
    pub fn new(operation: &Operation, done: &Done, document: &Document, after: &Document) -> Self {
        let counts = rig::report(document, &done.edit);
        let clips = counts.in_clips.iter().map(|(id, off)| {
            let name = document.clips().get(id).map(|clip| clip.name.clone());
            let name = name.filter(|name| !name.is_empty());
            let name = name.unwrap_or_else(|| format!("clip {}", id.0));
            (name, 100.0 * off)
        });
        Self {
            label: operation.label(),
            clips: clips.collect(),
            made: done
                .made
                .iter()
                .map(|&j| after.skeleton().label(j))
                .collect(),
            notes: done.notes.clone(),
            counts,
        }
    }

    /// The largest difference at rest, in percent of the diagonal.
    pub fn at_rest(&self) -> f64 {
        100.0 * self.counts.at_rest
    }

    /// One line with what changed, one for new joints, one for each of the clips that change most, and the notes.
    pub fn lines(&self) -> Vec<String> {
        let counts = &self.counts;
        let added = match counts.keys_added {
            0 => String::new(),
            n if n > 0 => format!(" ({n} added)"),
            n => format!(" ({} removed)", -n),
        };
        let n_new = self.made.len();
        let changed = [
            (counts.n_joints.saturating_sub(n_new), "bone"),
            (counts.n_points, "vertex"),
            (counts.keys_changed, "keyframe"),
        ];
        let changed = changed.into_iter().filter(|(n, _)| *n > 0);
        let changed: Vec<String> = changed.map(|(n, noun)| counted(n, noun)).collect();
        let mut parts = Vec::new();
        if n_new > 0 {
            parts.push(format!("{} added", counted(n_new, "bone")));
        }
        if !changed.is_empty() {
            parts.push(format!("{} changed{added}", changed.join(", ")));
        }
        let mut lines = vec![if parts.is_empty() {
            format!("{}: nothing changed", self.label)
        } else {
            let at_rest = if self.at_rest() < ROUNDING {
                "the mesh at rest does not move".to_owned()
            } else {
                let at_rest = up_to(self.at_rest());
                format!("the mesh at rest moves by {at_rest} of the diagonal")
            };
            format!("{}: {}; {at_rest}", self.label, parts.join("; "))
        }];
        if !self.made.is_empty() {
            lines.push(format!("  New: {}", self.made.join(", ")));
        }
        let mut clips: Vec<&(String, f64)> = self.clips.iter().collect();
        clips.sort_by(|a, b| b.1.total_cmp(&a.1));
        let moved: Vec<_> = clips
            .iter()
            .filter(|(_, off)| off.is_nan() || *off >= NOTHING)
            .collect();
        for (name, off) in moved.iter().take(5) {
            lines.push(format!("  “{name}” changes by {}", up_to(*off)));
        }
        if moved.len() > 5 {
            let more = counted(moved.len() - 5, "more clip");
            lines.push(format!("  and {more} by less"));
        }
        if moved.is_empty()
            && let Some((name, off)) = clips.first()
        {
            lines.push(format!(
                "  No clip changes by more than {} (“{name}”)",
                percent(off.max(LEAST_SHOWN))
            ));
        }
        lines.extend(self.notes.iter().map(|note| format!("  {note}")));
        lines
    }

    /// The report as JSON, differences in percent of the diagonal; one that is not finite is null.
    pub fn to_json(&self) -> Value {
        let clips = self
            .clips
            .iter()
            .map(|(name, off)| json!({"clip": name, "percent": off}));
        json!({
            "operation": self.label,
            "bones": self.counts.n_joints,
            "vertices": self.counts.n_points,
            "keyframes_changed": self.counts.keys_changed,
            "keyframes_added": self.counts.keys_added,
            "at_rest_percent": self.at_rest(),
            "clips": clips.collect::<Vec<_>>(),
            "new": self.made,
            "notes": self.notes,
        })
    }
}

/// Smaller differences are rounding errors, percent.
const ROUNDING: f64 = 1e-9;

/// The smallest percentage that is shown as a number: nobody sees less.
const LEAST_SHOWN: f64 = 1e-4;

/// A percentage with the digits that matter.
fn percent(value: f64) -> String {
    if value >= 0.01 {
        format!("{value:.2} %")
    } else {
        format!("{value:.4} %")
    }
}

/// A bound in percent, in words.
fn up_to(value: f64) -> String {
    if value < LEAST_SHOWN {
        format!("less than {}", percent(LEAST_SHOWN))
    } else {
        format!("up to {}", percent(value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_name_what_changes_most() {
        let clip = |i: u32, off: f64| (format!("clip {i}"), off);
        let report = Report {
            label: "Move bone",
            counts: RigReport {
                n_joints: 2,
                n_points: 0,
                keys_added: 2,
                keys_changed: 30,
                at_rest: 1e-9,
                ..RigReport::default()
            },
            clips: (0..7).map(|i| clip(i, f64::from(i))).collect(),
            made: vec!["arm_01".into()],
            notes: vec!["A note.".into()],
        };
        let lines = report.lines();
        assert_eq!(
            lines[0],
            "Move bone: 1 bone added; 1 bone, 30 keyframes changed (2 added); the mesh at rest moves by less than 0.0001 % of the diagonal"
        );
        assert_eq!(lines[2], "  “clip 6” changes by up to 6.00 %");
        assert_eq!(lines[7], "  and 1 more clip by less");
        let quiet = Report {
            clips: vec![clip(3, 1e-6)],
            ..report
        };
        assert_eq!(
            quiet.lines()[2],
            "  No clip changes by more than 0.0001 % (“clip 3”)"
        );
        let broken = Report {
            clips: vec![clip(3, f64::NAN)],
            ..quiet.clone()
        };
        assert_eq!(broken.lines()[2], "  “clip 3” changes by up to NaN %");
        assert_eq!(up_to(2e-14), "less than 0.0001 %");
        assert_eq!(up_to(f64::NAN), "up to NaN %");
        assert_eq!(quiet.to_json()["clips"][0]["clip"], "clip 3");
    }
}
