//! A bounded list of findings: a broken file may have millions of faults.

use crate::finding::{Finding, Place};

/// The largest number of findings kept; further ones are only counted.
const MAX_FINDINGS: usize = 500;

/// What was repaired, left out or guessed, in the order of reading.
#[derive(Debug, Default)]
pub(super) struct Findings {
    kept: Vec<Finding>,
    n_more: usize,
}

impl Findings {
    pub(super) fn push(&mut self, mut finding: Finding) {
        if self.kept.len() < MAX_FINDINGS {
            finding.target = finding.target.or_else(|| target(&finding.place));
            self.kept.push(finding);
        } else {
            self.n_more += 1;
        }
    }

    /// Appends the findings of another part of the import.
    pub(super) fn append(&mut self, other: Self) {
        for finding in other.kept {
            self.push(finding);
        }
        self.n_more += other.n_more;
    }

    /// The findings, each with `target` unless it has another one.
    pub(super) fn about(mut self, target: &Place) -> Self {
        for finding in &mut self.kept {
            finding.target.get_or_insert_with(|| target.clone());
        }
        self
    }

    /// The list, with a last entry that counts the dropped findings.
    pub(super) fn into_list(mut self) -> Vec<Finding> {
        if self.n_more > 0 {
            self.kept.push(Finding::warning(
                "file",
                format!("{} more findings are not listed.", self.n_more),
            ));
        }
        self.kept
    }
}

/// The part of the document at a location in the file: meshes and nodes keep their indices.
fn target(place: &str) -> Option<Place> {
    let index = |list: &str| -> Option<u32> {
        let rest = place.strip_prefix(list)?.strip_prefix('[')?;
        rest.split_once(']')?.0.parse().ok()
    };
    match (index("meshes"), index("nodes")) {
        (Some(mesh), _) => Some(Place::Mesh(mesh)),
        (_, Some(node)) => Some(Place::Joints([node].into())),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn meshes_and_nodes_can_be_selected() {
        assert_eq!(target("meshes[3].primitives[0]"), Some(Place::Mesh(3)));
        assert_eq!(target("nodes[12].skin"), Some(Place::Joints([12].into())));
        for none in ["file", "meshes", "meshes[x]", "skins[0].joints[2]"] {
            assert_eq!(target(none), None, "{none}");
        }
    }

    #[test]
    fn a_million_findings_become_501() {
        let mut findings = Findings::default();
        for _ in 0..1_000_000 {
            findings.push(Finding::info("file", "Odd."));
        }
        let list = findings.into_list();
        assert_eq!(list.len(), 501);
        assert_eq!(list[500].message, "999500 more findings are not listed.");
    }
}
