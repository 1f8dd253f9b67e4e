//! Problems of bones: badges in the outliner, and findings.

use crate::document::Document;
use crate::document::rig::partners;
use crate::finding::{Finding, Place, counted};
use crate::math::Transform;
use crate::skeleton::JointId;
use crate::skeleton::mirror::Mirror;
use glam::DMat3;
use std::collections::BTreeSet;

/// The problems of a bone, shown as badges.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Badges {
    /// It is a bone of a skin but moves no point.
    pub unweighted: bool,
    /// Its name has a side, but no bone has the name of the other side.
    pub unpaired: bool,
    /// Its scale is not 1, in the rest pose or in the artist's pose.
    pub scaled: bool,
}

/// The largest deviation of a scale from 1 that is accepted.
const SCALE_TOLERANCE: f64 = 1e-4;
/// The number of bones that one finding names.
const MOST_NAMES: usize = 4;

/// n_joints: the badges of each joint. `n_moved`: n_joints.
pub(super) fn badges(document: &Document, n_moved: &[u32]) -> Vec<Badges> {
    let skeleton = document.skeleton();
    let in_skin = document.skin_joint_mask();
    let is_live = |j: usize| !skeleton.joints()[j].removed;
    let mirror = Mirror::new(skeleton);
    // Bones that symmetrizing finds no counterpart of.
    let partners = partners(document);
    let has_side = |j: JointId| mirror.partner(j).is_some_and(|partner| partner != j);
    let mut unpaired: BTreeSet<JointId> = mirror.unpaired().collect();
    unpaired.extend(skeleton.live_joints().filter(|&j| has_side(j)));
    unpaired.retain(|j| partners[j.get()].is_none());
    let is_scaled = |t: &Transform| !t.stretch.abs_diff_eq(DMat3::IDENTITY, SCALE_TOLERANCE);
    let posed = document.posed();
    (0..skeleton.len())
        .map(|j| {
            let joint = &skeleton.joints()[j];
            Badges {
                unweighted: in_skin[j] && n_moved.get(j) == Some(&0),
                unpaired: in_skin[j] && unpaired.contains(&JointId(j as u32)),
                scaled: is_live(j)
                    && (is_scaled(&joint.rest) || posed.locals.get(j).is_some_and(is_scaled)),
            }
        })
        .collect()
}

/// Findings about the bones of the skins.
pub(super) fn findings(document: &Document, badges: &[Badges]) -> Vec<Finding> {
    let in_skin = document.skin_joint_mask();
    let bones = |which: &dyn Fn(usize) -> bool| -> Vec<u32> {
        (0..in_skin.len())
            .filter(|&j| in_skin[j] && which(j))
            .map(|j| j as u32)
            .collect()
    };
    let lengthless = lengthless(document, &in_skin);
    let groups = [
        (
            bones(&|j| badges[j].scaled),
            [
                "is scaled in the rest pose or in the pose",
                "are scaled in the rest pose or in the pose",
            ],
            "two-phase skinning applies the scale, plain dual quaternion skinning drops it",
        ),
        (
            bones(&|j| lengthless[j]),
            ["has no length", "have no length"],
            "a child is at the same position",
        ),
        (
            bones(&|j| badges[j].unpaired),
            [
                "has no counterpart on the other side",
                "have no counterpart on the other side",
            ],
            "mirroring by name skips it",
        ),
        (
            bones(&|j| badges[j].unweighted),
            ["influences no vertices", "influence no vertices"],
            "such bones often only group others",
        ),
    ];
    grouped(document, groups)
}

/// One finding for each group of bones: the bones, what is said of one and of several, and why it matters.
pub(super) fn grouped<'a>(
    document: &Document,
    groups: impl IntoIterator<Item = (Vec<u32>, [&'a str; 2], &'a str)>,
) -> Vec<Finding> {
    groups
        .into_iter()
        .filter(|(joints, ..)| !joints.is_empty())
        .map(|(joints, [one, many], why)| {
            let (place, message) = if let [joint] = joints[..] {
                let label = document.skeleton().label(JointId(joint));
                (format!("bone \"{label}\""), format!("It {one}; {why}."))
            } else {
                let names: Vec<String> = joints
                    .iter()
                    .take(MOST_NAMES)
                    .map(|&j| document.skeleton().label(JointId(j)))
                    .collect();
                let more = if joints.len() > MOST_NAMES {
                    " …"
                } else {
                    ""
                };
                (
                    counted(joints.len(), "bone"),
                    format!("{}{more} {many}; {why}.", names.join(", ")),
                )
            };
            Finding::info(place, message).at(Place::Joints(joints.into()))
        })
        .collect()
}

/// n_joints: whether a bone has zero length, relative to the size of the skeleton in the rest pose.
fn lengthless(document: &Document, in_skin: &[bool]) -> Vec<bool> {
    let skeleton = document.skeleton();
    let world = document.rest_pose().world_matrices(skeleton);
    let place = |j: usize| world[j].translation;
    let shown: Vec<usize> = (0..skeleton.len()).filter(|&j| in_skin[j]).collect();
    let size = shown
        .iter()
        .map(|&j| place(j).distance(place(shown[0])))
        .fold(0.0, f64::max);
    (0..skeleton.len())
        .map(|j| {
            in_skin[j]
                && skeleton.children(JointId(j as u32)).iter().any(|child| {
                    in_skin[child.get()] && place(j).distance(place(child.get())) < size * 1e-5
                })
        })
        .collect()
}
