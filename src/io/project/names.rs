//! Finding again what a project names by index and name.

use crate::finding::Finding;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The things of one kind that a model has, by index.
pub(super) struct Names {
    /// "bone", "mesh", "clip".
    kind: &'static str,
    by_index: BTreeMap<u32, String>,
    /// `None` where several share the name.
    by_name: HashMap<String, Option<u32>>,
    /// What was already reported.
    told: BTreeSet<(u32, String)>,
}

impl Names {
    /// The names of a model's bones, meshes or clips.
    pub(super) fn new(kind: &'static str, names: impl IntoIterator<Item = (u32, String)>) -> Self {
        let by_index: BTreeMap<u32, String> = names.into_iter().collect();
        let mut by_name = HashMap::with_capacity(by_index.len());
        for (&index, name) in by_index.iter().filter(|(_, name)| !name.is_empty()) {
            by_name
                .entry(name.clone())
                .and_modify(|entry| *entry = None)
                .or_insert(Some(index));
        }
        Self {
            kind,
            by_index,
            by_name,
            told: BTreeSet::new(),
        }
    }

    /// The index in this model of what the project calls `index`, `name`.
    ///
    /// An index whose name agrees is certain. Else the model has changed: the only one of that name, else the one with
    /// that index, else `None`; each is reported once.
    pub(super) fn find(
        &mut self,
        index: u32,
        name: &str,
        findings: &mut Vec<Finding>,
    ) -> Option<u32> {
        let there = self.by_index.get(&index);
        if there.is_some_and(|there| there == name) {
            return Some(index);
        }
        let (found, message) = match (self.by_name.get(name), there) {
            (Some(&Some(moved)), _) => (
                Some(moved),
                format!(
                    "It was number {index} and is now number {moved}; the project's edits went with it."
                ),
            ),
            (_, Some(there)) => (
                Some(index),
                format!("Number {index} is now called \"{there}\"; it got the project's edits."),
            ),
            (_, None) => (
                None,
                "The model has it no more; the project's edits of it are left out.".to_owned(),
            ),
        };
        if self.told.insert((index, name.to_owned())) {
            let place = if name.is_empty() {
                format!("{} {index}", self.kind)
            } else {
                format!("{} \"{name}\"", self.kind)
            };
            findings.push(Finding::warning(place, message));
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_moved_is_found_by_its_only_name_and_reported_once() {
        let mut names = Names::new(
            "bone",
            ["Hips", "Arm", "Arm", "Hand", ""]
                .into_iter()
                .enumerate()
                .map(|(i, n)| (i as u32, n.to_owned())),
        );
        let mut findings = Vec::new();
        assert_eq!(names.find(0, "Hips", &mut findings), Some(0));
        assert_eq!(names.find(2, "Arm", &mut findings), Some(2));
        assert_eq!(names.find(4, "", &mut findings), Some(4));
        assert!(findings.is_empty());
        assert_eq!(names.find(9, "Hand", &mut findings), Some(3));
        assert_eq!(names.find(9, "Hand", &mut findings), Some(3));
        assert_eq!(names.find(3, "Arm", &mut findings), Some(3));
        assert_eq!(names.find(9, "Tail", &mut findings), None);
        let places: Vec<&str> = findings.iter().map(|f| f.place.as_str()).collect();
        assert_eq!(places, ["bone \"Hand\"", "bone \"Arm\"", "bone \"Tail\""]);
    }
}
