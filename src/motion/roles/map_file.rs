//! Roles by hand, as a file.

use super::{Finger, FoundBy, Role, Roles};
use crate::motion::rig::Rig;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Pairs of joints by name, the motion's and the character's, that replace those that are found.
///
/// ```ron
/// (roles: {"hips": ("Hips", "pelvis"), "l.thigh": ("LeftUpLeg", "thigh_l")}, spine: (["Spine", "Spine1"], ["spine_01"]))
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
        source.found_by = FoundBy::Hand;
        target.found_by = FoundBy::Hand;
        Ok(())
    }
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
