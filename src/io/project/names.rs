//! Finding an item of the model by the key and the name in a project.

use crate::finding::Finding;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The items of one kind in a model, by their keys in a project.
pub(super) struct Names<K, T> {
    /// "bone", "mesh", "skin", "clip".
    kind: &'static str,
    by_key: BTreeMap<K, (String, T)>,
    /// `None` where several share the name.
    by_name: HashMap<String, Option<K>>,
    /// Items that were already reported.
    reported: BTreeSet<(K, String)>,
}

/// A key of a project.
pub(super) trait NamedBy: Copy + Ord {
    /// The key in messages: "number 3".
    fn described(self) -> String;
}

impl NamedBy for u32 {
    fn described(self) -> String {
        format!("number {self}")
    }
}

impl<K: NamedBy, T: Copy> Names<K, T> {
    /// The keys and names of a model's bones, meshes, skins or clips.
    pub(super) fn new(
        kind: &'static str,
        things: impl IntoIterator<Item = (K, String, T)>,
    ) -> Self {
        let mut names = Self {
            kind,
            by_key: BTreeMap::new(),
            by_name: HashMap::new(),
            reported: BTreeSet::new(),
        };
        for (key, name, thing) in things {
            names.add(key, name, thing);
        }
        names
    }

    /// Adds an item with a new key.
    pub(super) fn add(&mut self, key: K, name: String, thing: T) {
        if !name.is_empty() {
            self.by_name
                .entry(name.clone())
                .and_modify(|entry| *entry = None)
                .or_insert(Some(key));
        }
        self.by_key.insert(key, (name, thing));
    }

    /// The item of this model for the `key` and `name` of a project; without a name the key alone decides.
    ///
    /// A key whose name agrees is certain. Otherwise the model has changed: the only item with that name, else the item
    /// with that key, else `None`; each is reported once.
    pub(super) fn find(
        &mut self,
        key: K,
        name: Option<&str>,
        findings: &mut Vec<Finding>,
    ) -> Option<T> {
        let there = self.by_key.get(&key);
        if let Some((there, thing)) = there
            && name.is_none_or(|name| there == name)
        {
            return Some(*thing);
        }
        let name = name.unwrap_or_default();
        let by_name = self.by_name.get(name).copied().flatten();
        let moved = by_name.and_then(|moved| Some((moved, self.by_key.get(&moved)?.1)));
        let described = key.described();
        let (found, message) = match (moved, there) {
            (Some((moved, thing)), _) => (
                Some(thing),
                format!(
                    "It was {described} and is now {}; the project's edits moved with it.",
                    moved.described()
                ),
            ),
            (_, Some((there, thing))) => {
                let mut described = described;
                described[..1].make_ascii_uppercase();
                (
                    Some(*thing),
                    format!(
                        "{described} is now called \"{there}\"; the project's edits apply to it."
                    ),
                )
            }
            (_, None) => (
                None,
                "The model no longer has it; the project's edits of it are skipped.".to_owned(),
            ),
        };
        if self.reported.insert((key, name.to_owned())) {
            let place = if name.is_empty() {
                format!(
                    "{} {}",
                    self.kind,
                    key.described().trim_start_matches("number ")
                )
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
        let things = ["Hips", "Arm", "Arm", "Hand", ""].into_iter();
        let mut names = Names::new(
            "bone",
            (0u32..).zip(things).map(|(i, n)| (i, n.to_owned(), i)),
        );
        let mut findings = Vec::new();
        let mut find = |key, name: &str| names.find(key, Some(name), &mut findings);
        assert_eq!(find(0, "Hips"), Some(0));
        assert_eq!(find(2, "Arm"), Some(2));
        assert_eq!(find(4, ""), Some(4));
        assert_eq!(find(9, "Hand"), Some(3));
        assert_eq!(find(9, "Hand"), Some(3));
        assert_eq!(find(3, "Arm"), Some(3));
        assert_eq!(find(9, "Tail"), None);
        assert_eq!(names.find(1, None, &mut findings), Some(1));
        assert_eq!(names.find(8, None, &mut findings), None);
        let places: Vec<&str> = findings.iter().map(|f| f.place.as_str()).collect();
        assert_eq!(
            places,
            ["bone \"Hand\"", "bone \"Arm\"", "bone \"Tail\"", "bone 8"]
        );
    }
}
