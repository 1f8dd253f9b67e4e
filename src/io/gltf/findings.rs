//! The list of findings, bounded: a broken file may have millions of faults.

use crate::finding::Finding;

/// Findings beyond this many are counted, not kept.
const MAX_FINDINGS: usize = 500;

/// What had to be mended, left out or guessed, in order of reading.
#[derive(Debug, Default)]
pub(super) struct Findings {
    kept: Vec<Finding>,
    n_more: usize,
}

impl Findings {
    pub(super) fn push(&mut self, finding: Finding) {
        if self.kept.len() < MAX_FINDINGS {
            self.kept.push(finding);
        } else {
            self.n_more += 1;
        }
    }

    /// Adds what another part of the import found.
    pub(super) fn append(&mut self, other: Self) {
        for finding in other.kept {
            self.push(finding);
        }
        self.n_more += other.n_more;
    }

    /// The list, with a last entry that counts what was not kept.
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

#[cfg(test)]
mod tests {
    use super::*;

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
