//! Roles by hand, as a file.

use super::{Finger, FoundBy, Part, Role, Roles};
use crate::motion::rig::Rig;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Pairs of joints by name, the motion's and the character's, that replace those that are found.
///
/// ```ron
/// (roles: {"hips": ("Hips", "pelvis"), "l.thigh": ("LeftUpLeg", "thigh_l")}, spine: (["Spine", "Spine1"], ["spine_01"]))
/// ```
///
/// Of a quadruped, chains, each from its first joint to its last:
///
/// ```ron
/// (chains: [(motion: ["Hip"], character: ["b_Hip"], root: true), (motion: ["Tail1", "Tail5"], character: ["b_Tail01", "b_Tail03"])])
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RoleMap {
    /// By the name of the role; an empty name leaves it out.
    #[serde(default)]
    pub roles: BTreeMap<String, (String, String)>,
    /// The spines, from above the hips to below the neck; `None` keeps what is found.
    #[serde(default)]
    pub spine: Option<(Vec<String>, Vec<String>)>,
    /// Chains of joints.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub chains: Vec<ChainNames>,
    /// How far bones are turned about themselves, degrees, by the name of the role.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub twists: BTreeMap<String, f64>,
}

/// The joints of a chain by name, from its base outward. Joints between two that are named are in it too; of joints that are not
/// below each other (a flat rig), all are named.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChainNames {
    /// The motion's.
    pub motion: Vec<String>,
    /// The character's.
    pub character: Vec<String>,
    /// Whether its first joint carries the others.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub root: bool,
}

impl RoleMap {
    /// Gives a joint of the character another name.
    pub fn rename_target(&mut self, from: &str, to: &str) {
        let of_roles = self.roles.values_mut().map(|(_, theirs)| theirs);
        let of_spine = self.spine.iter_mut().flat_map(|(_, theirs)| theirs);
        let of_chains = self
            .chains
            .iter_mut()
            .flat_map(|chain| &mut chain.character);
        let all = of_roles.chain(of_spine).chain(of_chains);
        for name in all.filter(|name| *name == from) {
            to.clone_into(name);
        }
    }
}

impl ChainNames {
    /// Whether both sides name a joint.
    fn is_whole(&self) -> bool {
        let has_name = |names: &[String]| names.iter().any(|name| !name.is_empty());
        has_name(&self.motion) && has_name(&self.character)
    }
}

impl RoleMap {
    /// Puts the pairs of the file into the roles of a motion and of a character. An error names a role or a joint that does
    /// not exist.
    pub fn apply(
        &self,
        rigs: [&Rig; 2],
        source: &mut Roles,
        target: &mut Roles,
    ) -> Result<(), String> {
        for (label, (ours, theirs)) in &self.roles {
            if let Some(finger) = Finger::of_label(label) {
                set_finger(rigs[0], source, finger, ours, "the motion")?;
                set_finger(rigs[1], target, finger, theirs, "the character")?;
                continue;
            }
            let role = Role::of_label(label).ok_or_else(|| {
                format!(
                    "\"{label}\" is not a role; roles are hips, neck, head, and with l. or r. in \
                    front clavicle, upperarm, forearm, hand, thigh, shin, foot, toe, and thumb1 to thumb3, index1 to \
                    index3, middle, ring, little"
                )
            })?;
            set(rigs[0], source, role, ours, "the motion")?;
            set(rigs[1], target, role, theirs, "the character")?;
        }
        if let Some((ours, theirs)) = &self.spine {
            let all = |rig: &Rig, names: &[String], whose| {
                names
                    .iter()
                    .map(|name| find(rig, name, whose))
                    .collect::<Result<Vec<_>, _>>()
            };
            source.spine = all(rigs[0], ours, "the motion")?;
            target.spine = all(rigs[1], theirs, "the character")?;
        }
        self.apply_chains(rigs, source, target)?;
        for (label, &degrees) in &self.twists {
            let role = Role::of_label(label).filter(|role| role.part != Part::Hips);
            let role =
                role.ok_or_else(|| format!("\"{label}\" is no role with a bone to twist"))?;
            if degrees.is_nan() || degrees.abs() > 180.0 {
                return Err(format!(
                    "the twist of {label} is {degrees}: it is -180 to 180 degrees"
                ));
            }
            target.twists.insert(role, degrees);
        }
        source.found_by = FoundBy::Hand;
        target.found_by = FoundBy::Hand;
        Ok(())
    }

    /// What of it two skeletons have the joints for.
    #[must_use]
    pub fn for_names(mut self, motion: &[String], character: &[String]) -> Self {
        let has = |names: &[String], name: &String| name.is_empty() || names.contains(name);
        self.roles
            .retain(|_, (ours, theirs)| has(motion, ours) && has(character, theirs));
        let has_all = |names: &[String], all: &[String]| all.iter().all(|name| has(names, name));
        self.spine
            .take_if(|(ours, theirs)| !has_all(motion, ours) || !has_all(character, theirs));
        self.chains
            .retain(|chain| has_all(motion, &chain.motion) && has_all(character, &chain.character));
        self
    }

    /// The number of its roles, spines and chains.
    pub fn n_pairs(&self) -> usize {
        self.roles.len() + usize::from(self.spine.is_some()) + self.chains.len()
    }

    /// Chains that name no joint on one side are left out.
    fn apply_chains(
        &self,
        rigs: [&Rig; 2],
        source: &mut Roles,
        target: &mut Roles,
    ) -> Result<(), String> {
        for chain in self.chains.iter().filter(|chain| chain.is_whole()) {
            let ours = chain_of(rigs[0], &chain.motion, "the motion")?;
            let theirs = chain_of(rigs[1], &chain.character, "the character")?;
            for &joint in &theirs {
                if target.chains.iter().any(|other| other.contains(&joint)) {
                    let name = &rigs[1].names[joint];
                    return Err(format!("\"{name}\" is in two chains of the character"));
                }
                // What was guessed for this joint gives way to what is said.
                target.joints.retain(|_, other| *other != joint);
                target.spine.retain(|other| *other != joint);
                target.fingers.retain(|_, other| *other != joint);
            }
            if chain.root {
                if source.root_chain.is_some() {
                    return Err("two chains are the root: only one can be".into());
                }
                source.root_chain = Some(source.chains.len());
                target.root_chain = source.root_chain;
            }
            source.chains.push(ours);
            target.chains.push(theirs);
        }
        Ok(())
    }
}

/// The joints of a chain, with those between two that are named.
fn chain_of(rig: &Rig, names: &[String], whose: &str) -> Result<Vec<usize>, String> {
    let mut joints: Vec<usize> = Vec::new();
    for name in names.iter().filter(|name| !name.is_empty()) {
        let joint = find(rig, name, whose)?;
        match joints.last() {
            Some(last) if *last == joint => continue,
            Some(&last) if rig.is_below(joint, last) => {
                let between = rig.ancestors(joint).take_while(|above| *above != last);
                let mut between: Vec<usize> = between.collect();
                between.reverse();
                joints.extend(between);
            }
            Some(&last) if rig.is_below(last, joint) => {
                let last = &rig.names[last];
                return Err(format!(
                    "\"{name}\" is above \"{last}\": give the bones of a chain from its base outward"
                ));
            }
            _ => {}
        }
        if joints.contains(&joint) {
            return Err(format!("\"{name}\" is twice in a chain of {whose}"));
        }
        joints.push(joint);
    }
    Ok(joints)
}

fn set(rig: &Rig, roles: &mut Roles, role: Role, name: &str, whose: &str) -> Result<(), String> {
    if name.is_empty() {
        roles.joints.remove(&role);
        return Ok(());
    }
    let joint = find(rig, name, whose)?;
    // What was guessed for this joint gives way to what is said.
    roles.joints.retain(|_, other| *other != joint);
    roles.spine.retain(|other| *other != joint);
    roles.fingers.retain(|_, other| *other != joint);
    roles.joints.insert(role, joint);
    Ok(())
}

fn set_finger(
    rig: &Rig,
    roles: &mut Roles,
    finger: Finger,
    name: &str,
    whose: &str,
) -> Result<(), String> {
    if name.is_empty() {
        roles.fingers.remove(&finger);
        return Ok(());
    }
    let joint = find(rig, name, whose)?;
    roles.joints.retain(|_, other| *other != joint);
    roles.spine.retain(|other| *other != joint);
    roles.fingers.retain(|_, other| *other != joint);
    roles.fingers.insert(finger, joint);
    Ok(())
}

fn find(rig: &Rig, name: &str, whose: &str) -> Result<usize, String> {
    let bones = || (0..rig.len()).filter(|j| rig.names[*j] == name);
    let found = bones().find(|j| rig.is_bone[*j]).or_else(|| bones().next());
    found.ok_or_else(|| format!("{whose} has no joint called \"{name}\""))
}
