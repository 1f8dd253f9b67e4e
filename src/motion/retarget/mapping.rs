//! Which joint of a motion moves which joint of a character.

use crate::motion::rig::Rig;
use crate::motion::roles::{Finger, Part, Role, Roles};
use std::collections::BTreeMap;

/// Pairs of joints, source and target.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mapping {
    /// By role, except the spine.
    pub roles: BTreeMap<Role, [usize; 2]>,
    /// The spines, from above the hips to below the neck.
    pub spine: [Vec<usize>; 2],
    /// Bones of fingers.
    pub fingers: BTreeMap<Finger, [usize; 2]>,
    /// Chains, each from its base outward.
    pub chains: Vec<[Vec<usize>; 2]>,
    /// The pair that carries the others where chains alone are mapped; a body has its hips.
    pub root: Option<[usize; 2]>,
    /// Joints without a role that have the same name.
    pub named: Vec<[usize; 2]>,
}

impl Mapping {
    /// The pairs of two skeletons with roles.
    pub fn new(source: (&Rig, &Roles), target: (&Rig, &Roles)) -> Self {
        let pairs = source.1.joints.iter().filter_map(|(role, s)| {
            let t = target.1.joints.get(role)?;
            Some((*role, [*s, *t]))
        });
        let fingers = source.1.fingers.iter().filter_map(|(finger, s)| {
            let t = target.1.fingers.get(finger)?;
            Some((*finger, [*s, *t]))
        });
        let fingers: BTreeMap<Finger, [usize; 2]> = fingers.collect();
        let count = |rig: &Rig| {
            let mut counts: BTreeMap<String, Vec<usize>> = BTreeMap::new();
            for (joint, name) in rig.names.iter().enumerate() {
                if rig.is_bone[joint] && !name.is_empty() {
                    counts.entry(name.clone()).or_default().push(joint);
                }
            }
            counts
        };
        let mut spine = [source.1.spine.clone(), target.1.spine.clone()];
        if spine.iter().any(Vec::is_empty) {
            spine = [Vec::new(), Vec::new()];
        }
        let theirs = count(target.0);
        let chains = source.1.chains.iter().zip(&target.1.chains);
        let chains: Vec<[Vec<usize>; 2]> = chains
            .filter(|(ours, theirs)| !ours.is_empty() && !theirs.is_empty())
            .map(|(ours, theirs)| [ours.clone(), theirs.clone()])
            .collect();
        let hips = target.1.middle(Part::Hips);
        let root = match hips {
            Some(_) => None,
            None => root_of(target.0, &chains, target.1.root_chain),
        };
        // What carries the whole body does so whatever is above it.
        let hips = hips.or(root.map(|[_, t]| t));
        let is_above = |joint: usize| hips.is_some_and(|hips| target.0.is_below(hips, joint));
        let named = count(source.0).into_iter().filter_map(|(name, ours)| {
            let (&[s], &[t]) = (&ours[..], &theirs.get(&name)?[..]) else {
                return None;
            };
            let is_of_finger = fingers.values().any(|pair| pair[0] == s || pair[1] == t);
            let is_free = !source.1.has(s) && !target.1.has(t) && !is_of_finger;
            (is_free && !is_above(t)).then_some([s, t])
        });
        Self {
            roles: pairs.collect(),
            named: named.collect(),
            fingers: fingers.clone(),
            spine,
            chains,
            root,
        }
    }

    /// The pair of a part in the middle.
    pub fn middle(&self, part: Part) -> Option<[usize; 2]> {
        self.roles.get(&Role::middle(part)).copied()
    }

    /// The number of target joints that are moved.
    pub fn n_mapped(&self) -> usize {
        let chains: usize = self.chains.iter().map(|[_, theirs]| theirs.len()).sum();
        self.roles.len() + self.spine[1].len() + self.fingers.len() + self.named.len() + chains
    }

    /// The pair that carries the others: the hips of a body, or the root of chains.
    pub(super) fn carrier(&self) -> Option<[usize; 2]> {
        self.root.or(self.middle(Part::Hips))
    }

    /// The bone of a role: its pair and the pair at its end.
    pub(super) fn bone(&self, role: Role) -> Option<[[usize; 2]; 2]> {
        let next = Role::of(role.part.next()?, role.side);
        Some([*self.roles.get(&role)?, *self.roles.get(&next)?])
    }
}

/// The first pair of the chain that carries the others: the one that is chosen, else the first whose base is below no other.
fn root_of(target: &Rig, chains: &[[Vec<usize>; 2]], chosen: Option<usize>) -> Option<[usize; 2]> {
    let base = |chain: &[Vec<usize>; 2]| [chain[0][0], chain[1][0]];
    let is_first = |chain: &&[Vec<usize>; 2]| {
        let mut others = chains.iter();
        !others.any(|other| target.is_below(chain[1][0], other[1][0]))
    };
    let chosen = chosen.and_then(|chosen| chains.get(chosen));
    chosen.or_else(|| chains.iter().find(is_first)).map(base)
}
