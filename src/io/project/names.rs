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
        let described = key.described();
        let (found, message) = match (self.moved(name), there) {
            (Some((moved, thing)), _) => (Some(thing), has_moved(&described, moved)),
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
        self.report((key, name), message, findings);
        found
    }

    /// As [`Self::find`], without the item that has the `key` and another name: it can be another one. `Err`: the end of a
    /// sentence that says so.
    pub(super) fn find_named(
        &mut self,
        key: K,
        name: Option<&str>,
        findings: &mut Vec<Finding>,
    ) -> Result<T, String> {
        let there = self.by_key.get(&key);
        if let Some((there, thing)) = there
            && name.is_none_or(|name| there == name)
        {
            return Ok(*thing);
        }
        let (kind, name) = (self.kind, name.unwrap_or_default());
        if let Some((moved, thing)) = self.moved(name) {
            let message = has_moved(&key.described(), moved);
            self.report((key, name), message, findings);
            return Ok(thing);
        }
        let described = if name.is_empty() {
            format!("{kind} without a name at {}", key.described())
        } else {
            format!("{kind} “{name}”")
        };
        Err(match there {
            Some((there, _)) if !there.is_empty() => {
                format!(
                    "the model has no {described} ({} is “{there}” now)",
                    key.described()
                )
            }
            _ => format!("the model has no {described}"),
        })
    }

    /// The only item with a name, and its key.
    fn moved(&self, name: &str) -> Option<(K, T)> {
        let key = self.by_name.get(name).copied().flatten()?;
        Some((key, self.by_key.get(&key)?.1))
    }

    /// Adds a finding about an item, once.
    fn report(&mut self, (key, name): (K, &str), message: String, findings: &mut Vec<Finding>) {
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
    }
}

fn has_moved(described: &str, to: impl NamedBy) -> String {
    format!(
        "It was {described} and is now {}; the project's edits moved with it.",
        to.described()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_item_with_another_name_is_another_one() {
        let things = [(0u32, "Hips", 0), (1, "Arm", 1), (2, "Hand", 2)];
        let things = things.map(|(key, name, thing)| (key, name.to_owned(), thing));
        let mut names = Names::new("bone", things);
        let mut findings = Vec::new();
        let mut find = |key, name: &str| names.find_named(key, Some(name), &mut findings);
        assert_eq!(find(1, "Arm"), Ok(1));
        assert_eq!(find(9, "Hand"), Ok(2));
        let why = find(1, "Tail").unwrap_err();
        assert_eq!(why, "the model has no bone “Tail” (number 1 is “Arm” now)");
        assert_eq!(find(9, "Tail").unwrap_err(), "the model has no bone “Tail”");
        assert_eq!(names.find_named(1, None, &mut findings), Ok(1));
        assert_eq!(findings.len(), 1, "{findings:?}");
    }

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
