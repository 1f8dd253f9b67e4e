//! Whether roles make a body.

use super::{Part, Role, Roles, SIDES, Side};
use crate::motion::rig::Rig;

/// Why roles make no body.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RolesFault {
    /// There are no hips.
    #[error("no hips were found: map hips, or add chains")]
    NoHips,
    /// There is no leg.
    #[error("no legs were found: map thigh, shin and foot, or add chains")]
    NoLegs,
    /// There is no arm.
    #[error("no arms were found: map upperarm, forearm and hand, or add chains")]
    NoArms,
    /// A part of a leg is missing.
    #[error("no {} was found on the {} side: map {}, or add chains", .0.part.label(), .0.side.label(), .0.label())]
    Missing(Role),
    /// Two roles have one joint.
    #[error("\"{joint}\" is {} and {}: map one of them to another joint", .roles[0].label(), .roles[1].label())]
    Twice {
        /// The joint.
        joint: String,
        /// Its roles.
        roles: [Role; 2],
    },
    /// The left joints of limbs are where the body's right is.
    #[error("the left and the right {} are swapped: swap their sides", limbs(*.legs, *.arms))]
    Swapped {
        /// Whether the legs are.
        legs: bool,
        /// Whether the arms are.
        arms: bool,
    },
    /// A joint is not below the one of the part before it.
    #[error("\"{child}\" is not below \"{parent}\": map {} to a joint of the same limb", .role.label())]
    NotBelow {
        /// The role of the child.
        role: Role,
        /// The joint.
        child: String,
        /// The joint that should be above.
        parent: String,
    },
}

fn limbs(legs: bool, arms: bool) -> &'static str {
    match (legs, arms) {
        (true, true) => "legs and arms",
        (true, false) => "legs",
        (false, _) => "arms",
    }
}

/// An error that names what keeps roles from being a body: hips and both legs, at least a part of each arm, each joint below
/// the one before it.
pub fn check_roles(rig: &Rig, roles: &Roles) -> Result<(), RolesFault> {
    if roles.middle(Part::Hips).is_none() {
        return Err(RolesFault::NoHips);
    }
    let has = |part: Part, side: Side| roles.get(part, side).is_some();
    let leg = [Part::Thigh, Part::Shin, Part::Foot];
    if !SIDES
        .iter()
        .any(|side| leg.iter().any(|part| has(*part, *side)))
    {
        return Err(RolesFault::NoLegs);
    }
    let arm = [Part::Upperarm, Part::Forearm, Part::Hand];
    if !SIDES
        .iter()
        .any(|side| arm.iter().any(|part| has(*part, *side)))
    {
        return Err(RolesFault::NoArms);
    }
    for side in SIDES {
        if let Some(part) = leg.into_iter().find(|part| !has(*part, side)) {
            return Err(RolesFault::Missing(Role::of(part, side)));
        }
        if !arm.iter().any(|part| has(*part, side)) {
            return Err(RolesFault::Missing(Role::of(Part::Upperarm, side)));
        }
    }
    for (role, joint) in &roles.joints {
        let other = roles.joints.iter().find(|(r, j)| *r != role && *j == joint);
        if let Some((other, _)) = other {
            return Err(RolesFault::Twice {
                joint: rig.names[*joint].clone(),
                roles: [*role, *other],
            });
        }
        let next = role.part.next().map(|part| Role::of(part, role.side));
        let Some((next, child)) = next.and_then(|next| Some((next, *roles.joints.get(&next)?)))
        else {
            continue;
        };
        if !rig.is_below(child, *joint) {
            return Err(RolesFault::NotBelow {
                role: next,
                child: rig.names[child].clone(),
                parent: rig.names[*joint].clone(),
            });
        }
    }
    Ok(())
}
