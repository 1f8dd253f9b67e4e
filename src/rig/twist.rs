//! Twist chains: which twist a bone shares follows from its part of the body.

use super::bone::{locked_note, real_tail_of};
use super::done::Done;
use crate::document::Document;
use crate::document::rig::{self, RigError, Twist, TwistOf};
use crate::motion::roles::{Part, SIDES};
use crate::skeleton::JointId;

pub(super) fn run(document: &Document, joint: JointId, n: usize) -> Result<Done, RigError> {
    let child = real_tail_of(document, joint)?;
    let of = twist_of(document, joint);
    let request = Twist {
        joint,
        child,
        n,
        of,
    };
    let (edit, made) = rig::twist(document, &request)?;
    let skeleton = document.skeleton();
    let mut notes = vec![match of {
        TwistOf::Child => format!(
            "Constraints give them their shares of the twist of “{}”. Exports write their keyframes.",
            skeleton.label(child)
        ),
        TwistOf::Own => format!(
            "Constraints take back the twist of “{}” towards its head. Exports write their keyframes.",
            skeleton.label(joint)
        ),
    }];
    notes.extend(locked_note(document, &[joint]));
    Ok(Done { edit, made, notes })
}

/// Upper arms and thighs share their own twist, everything else that of its child.
fn twist_of(document: &Document, joint: JointId) -> TwistOf {
    let roles = document.roles();
    let near_body = [Part::Upperarm, Part::Thigh];
    let mut near = SIDES
        .iter()
        .flat_map(|&side| near_body.map(|part| roles.get(part, side)));
    if near.any(|found| found == Some(joint.get())) {
        TwistOf::Own
    } else {
        TwistOf::Child
    }
}
