//! Applies what a project says of single bones: names, rules, constraints, the pose and locks.

use super::apply::{Opening, TWICE};
use super::constraint_entries::ConstraintsEntry;
use super::joints::{self, JointKey, JointRef};
use super::v11::{JointPose, Renamed, RuleEntry, TransformEntry};
use super::{ProjectError, constraints, rules, transforms};
use crate::document::{Edit, checks};
use crate::skeleton::{JointId, Pose};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

impl Opening {
    pub(super) fn rules(&mut self, entries: &[RuleEntry]) {
        let mut seen = BTreeSet::new();
        let mut rules = Vec::new();
        for entry in entries {
            let Some(joint) = self.joint(entry.joint, &entry.name) else {
                continue;
            };
            let place = format!("rule of bone {} \"{}\"", entry.joint, entry.name);
            if !seen.insert(joint) {
                self.warn(place, "It is listed twice; the second entry is skipped.");
                continue;
            }
            let rule = rules::restore(entry, &mut self.joints, &mut self.findings);
            rules.push((place, joint, rule));
        }
        // A logical parent may be valid only after those of other joints.
        while !rules.is_empty() {
            let skeleton = self.document.skeleton();
            let next = rules
                .iter()
                .position(|(_, j, rule)| rule.check(*j, skeleton).is_ok());
            let (place, joint, rule) = rules.remove(next.unwrap_or(0));
            self.apply(&place, Edit::JointRule { joint, rule });
        }
    }

    /// Takes away the lists of the source that the project replaces: bones that they need can be gone or have another parent.
    pub(super) fn clear_constraints(&mut self, entries: &[ConstraintsEntry]) {
        let mut cleared = BTreeMap::new();
        // New bones have none.
        for entry in (entries.iter()).filter(|entry| matches!(entry.joint, JointKey::Node(_))) {
            // What names another bone is reported with its constraints.
            let found = self
                .joints
                .find_named(entry.joint, Some(&entry.name), &mut self.findings);
            if let Ok(joint) = found {
                cleared.insert(joint, Vec::new());
            }
        }
        if !cleared.is_empty() {
            self.document.restore_constraints(cleared);
        }
    }

    /// The lists of constraints. More cycles than the `n_cycles` of the source are reported.
    pub(super) fn constraints(
        &mut self,
        entries: &[ConstraintsEntry],
        n_cycles: usize,
    ) -> Result<(), ProjectError> {
        let (mut seen, mut lists) = (BTreeSet::new(), BTreeMap::new());
        for entry in entries {
            let found = self
                .joints
                .find_named(entry.joint, Some(&entry.name), &mut self.findings);
            let place = constraints::place(entry);
            let joint = match found {
                Ok(joint) if seen.insert(joint) => joint,
                Ok(_) => {
                    self.warn(place, TWICE);
                    let why = "its bone has another list of constraints";
                    let unplaced = constraints::all_kept(entry, why)?;
                    self.document.keep_unplaced_constraints(unplaced);
                    continue;
                }
                Err(why) => {
                    if entry.list.is_empty() {
                        let why = format!("The project deletes constraints of it, but {why}.");
                        self.warn(place, why);
                    }
                    let unplaced = constraints::all_kept(entry, &why)?;
                    self.document.keep_unplaced_constraints(unplaced);
                    continue;
                }
            };
            let skeleton = self.document.skeleton();
            if !skeleton.is_live(joint) {
                self.warn(place, "The bone is removed; its constraints are skipped.");
                continue;
            }
            let of = (joint, joints::key(&self.document, joint), &**skeleton);
            let (joints, findings) = (&mut self.joints, &mut self.findings);
            let (list, unplaced) = constraints::restore(entry, of, joints, findings)?;
            lists.insert(joint, list);
            self.document.keep_unplaced_constraints(unplaced);
        }
        if !lists.is_empty() {
            self.document.restore_constraints(lists);
        }
        self.findings
            .extend(checks::of_kept_constraints(&self.document));
        if self.document.constraint_cycles().len() > n_cycles {
            self.findings.extend(checks::of_constraints(&self.document));
        }
        Ok(())
    }

    pub(super) fn pose(&mut self, entries: Vec<JointPose>) {
        let mut to = Pose::clone(self.document.pose());
        let mut seen = BTreeSet::new();
        for entry in entries {
            let Some(joint) = self.joint(entry.joint, &entry.name) else {
                continue;
            };
            let place = format!("pose of bone {} \"{}\"", entry.joint, entry.name);
            let Some(local) = to.locals.get_mut(joint.get()) else {
                continue;
            };
            if !seen.insert(joint) {
                self.warn(place, "It is listed twice; the second entry is skipped.");
                continue;
            }
            let difference = TransformEntry {
                translation: entry.translation,
                rotation: entry.rotation,
                scale: entry.scale,
                stretch: entry.stretch,
            };
            match transforms::restore(local, &difference) {
                Ok(posed) => *local = posed,
                Err(why) => self.warn(place.as_str(), format!("{why} and is skipped.")),
            }
            if let Some(weights) = entry.morph_weights {
                self.apply(&place, Edit::MorphWeights { joint, weights });
            }
        }
        if let Some(edit) = Edit::pose_change(self.document.pose(), &to) {
            self.apply("pose", edit);
        }
    }

    pub(super) fn names(&mut self, entries: Vec<Renamed>) {
        for entry in entries {
            if let Some(joint) = self.joint(entry.joint, &entry.was) {
                let place = format!("name of bone {} \"{}\"", entry.joint, entry.was);
                let name = entry.name;
                self.apply(&place, Edit::JointName { joint, name });
            }
        }
    }

    pub(super) fn locks(&mut self, entries: &[JointRef]) {
        let (joints, findings) = (&mut self.joints, &mut self.findings);
        let locked: BTreeSet<JointId> = entries
            .iter()
            .filter_map(|joint| joints.find_joint(joint, findings))
            .collect();
        if !locked.is_empty() {
            self.apply("locks", Edit::Locks(Arc::new(locked)));
        }
    }
}
