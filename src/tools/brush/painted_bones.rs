//! The bones that a stroke paints: the active one, those painted with it, and their counterparts on the other side.

use crate::document::session::PaintedBones;
use crate::document::{Document, MeshId, Skin};
use crate::math::Axis;
use crate::skeleton::JointId;
use crate::weights::JointPairs;

/// The active bone and, if they are painted together, the other selected ones that `can` be painted, as indices of the
/// skin.
pub(super) fn painted_joints(
    document: &Document,
    skin: &Skin,
    active: JointId,
    can: impl Fn(usize) -> bool,
) -> Vec<JointId> {
    let session = document.session();
    let mut painted = vec![active];
    if session.brush.bones == PaintedBones::Selected && session.selected_joints.contains(&active) {
        let others = session.selected_joints.iter().copied();
        painted.extend(others.filter(|&joint| {
            let index = skin.joints.iter().position(|&j| j == joint);
            joint != active && index.is_some_and(&can)
        }));
    }
    painted
}

/// Whether mirroring across a plane perpendicular to `axis` exchanges left and right bones.
pub(super) fn swaps_sides(document: &Document, mesh: MeshId, axis: Axis) -> bool {
    let side = document.side_axis(mesh);
    side.is_none_or(|side| side == axis)
}

/// The bones of the other side that can be painted, as indices of the skin, and a note about those that cannot.
/// `can_paint`: the index of a bone that can.
pub(super) fn mirrored_joints(
    document: &Document,
    painted: &[JointId],
    can_paint: impl Fn(JointId) -> Option<usize>,
) -> (Vec<u16>, Option<String>) {
    let skeleton = document.skeleton();
    let pairs = JointPairs::new(skeleton, &document.session().joint_pairs);
    let mut found = Vec::new();
    let mut note = None;
    for &joint in painted {
        let label = skeleton.label(joint);
        match pairs.partner(joint) {
            None => {
                note = Some(format!(
                    "No matching bone on the other side for \"{label}\": only this side was painted."
                ));
            }
            Some(partner) => match can_paint(partner) {
                Some(index) => found.push(index as u16),
                None => {
                    let why = if document.locked().contains(&partner) {
                        "is locked"
                    } else {
                        "is not a bone of this skin"
                    };
                    note = Some(format!(
                        "\"{}\" {why}: only this side was painted.",
                        skeleton.label(partner)
                    ));
                }
            },
        }
    }
    (found, note)
}
