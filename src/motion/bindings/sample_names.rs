//! How bindings name corrective samples: by the name of the sample, followed by that of its set where samples share a name.

use crate::skeleton::JointId;
use glam::DQuat;
use std::collections::{BTreeMap, BTreeSet};

/// The pose at which a corrective sample was sculpted.
#[derive(Clone, Debug, PartialEq)]
pub struct SamplePose {
    /// Its name.
    pub name: String,
    /// Its name with that of its set, which tells it from those of the same name.
    pub of_set: String,
    /// Its driver joints, with their rotations in their parents' spaces, unit.
    pub joints: Vec<(JointId, DQuat)>,
}

/// The place of the sample that a binding of this name means.
pub fn find_sample(samples: &[SamplePose], name: &str) -> Option<usize> {
    let find = |named: fn(&SamplePose) -> &String| {
        let mut samples = samples.iter();
        samples.position(|sample| named(sample) == name)
    };
    find(|sample| &sample.of_set).or_else(|| find(|sample| &sample.name))
}

/// The names by which bindings mean the samples, in their order.
pub fn names_of_samples(samples: &[SamplePose]) -> Vec<&str> {
    let of_sets: BTreeSet<&str> = samples.iter().map(|sample| &*sample.of_set).collect();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for sample in samples {
        *counts.entry(&sample.name).or_default() += 1;
    }
    let is_unique = |name: &str| counts[name] == 1 && !of_sets.contains(name);
    let names = samples.iter().map(|sample| match &*sample.name {
        name if is_unique(name) => name,
        _ => &sample.of_set,
    });
    names.collect()
}

/// The name that a binding has after samples were renamed from `before` to `after`, in the same order; `None` where it stays.
pub fn renamed_sample<'a>(
    name: &str,
    before: &[SamplePose],
    after: &'a [SamplePose],
) -> Option<&'a str> {
    let place = find_sample(before, name)?;
    let is_same = before.len() != after.len() || find_sample(after, name) == Some(place);
    (!is_same).then(|| names_of_samples(after)[place])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples(names: &[(&str, &str)]) -> Vec<SamplePose> {
        let sample = |(name, set): &(&str, &str)| SamplePose {
            name: (*name).into(),
            of_set: format!("{name} ({set})"),
            joints: Vec::new(),
        };
        names.iter().map(sample).collect()
    }

    #[test]
    fn a_binding_follows_the_sample_that_it_means() {
        let before = samples(&[("Bent", "Elbow"), ("Bent", "Knee"), ("Up", "Arm")]);
        let names = ["Bent (Elbow)", "Bent (Knee)", "Up"];
        assert_eq!(names_of_samples(&before), names);
        // The first of its name, where it is written without the set.
        assert_eq!(find_sample(&before, "Bent"), Some(0));
        let after = samples(&[("Flexed", "Elbow"), ("Bent", "Knee"), ("Up", "Arm")]);
        let follow = |name: &str| renamed_sample(name, &before, &after);
        assert_eq!(follow("Bent"), Some("Flexed"));
        assert_eq!(follow("Bent (Elbow)"), Some("Flexed"));
        assert_eq!(follow("Bent (Knee)"), None);
        assert_eq!(follow("Up"), None);
        assert_eq!(follow("Gone"), None);
        // To the name of another one.
        let after = samples(&[("Bent", "Elbow"), ("Bent", "Knee"), ("Bent", "Arm")]);
        assert_eq!(renamed_sample("Up", &before, &after), Some("Bent (Arm)"));
        // A set.
        let after = samples(&[("Bent", "Left elbow"), ("Bent", "Knee"), ("Up", "Arm")]);
        let follow = |name: &str| renamed_sample(name, &before, &after);
        assert_eq!(follow("Bent (Elbow)"), Some("Bent (Left elbow)"));
        // One more or fewer is no renaming.
        assert_eq!(renamed_sample("Up", &before, &after[..2]), None);
    }
}
