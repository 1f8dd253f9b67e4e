//! Roles by the names of joints.

use super::words::{Words, words};
use super::{FoundBy, Part, Role, Roles, SIDES, Side};
use crate::motion::rig::Rig;

/// The names of joints of one rig.
struct Named<'a> {
    rig: &'a Rig,
    /// n_joints.
    words: Vec<Option<Words>>,
}

impl Named<'_> {
    /// The shallowest joint with any of these words.
    fn shallowest(&self, side: Side, bases: &[&str]) -> Option<usize> {
        self.all(side, bases).first().copied()
    }

    /// All joints with a side and one of these words, the shallowest first, ties by index.
    fn all(&self, side: Side, bases: &[&str]) -> Vec<usize> {
        let is_one = |joint: &usize| {
            let words = self.words[*joint].as_ref();
            let is_one = |w: &Words| w.side == side && bases.contains(&w.base.as_str());
            self.rig.is_bone[*joint] && words.is_some_and(is_one)
        };
        let mut found: Vec<usize> = (0..self.rig.len()).filter(is_one).collect();
        found.sort_by_key(|joint| (self.rig.depth(*joint), *joint));
        found
    }
}

/// The roles that the names of joints say. Of split limbs the first joint has the role; words that mean several things
/// depend on company.
pub fn by_names(rig: &Rig) -> Roles {
    let named = Named {
        rig,
        words: rig.names.iter().map(|name| words(name)).collect(),
    };
    let mut roles = Roles {
        found_by: FoundBy::Names,
        ..Roles::default()
    };
    for side in SIDES {
        let has_arm = named
            .shallowest(side, &["arm", "upperarm", "uparm"])
            .is_some();
        let has_thigh = named
            .shallowest(side, &["thigh", "upleg", "upperleg"])
            .is_some();
        let has_hip = named.shallowest(side, &["hip"]).is_some();
        let mut set = |part: Part, joint: Option<usize>| {
            if let Some(joint) = joint {
                roles.joints.insert(Role::of(part, side), joint);
            }
        };
        if has_arm {
            set(
                Part::Clavicle,
                named.shallowest(side, &["clavicle", "collar", "collarbone", "shoulder"]),
            );
            set(
                Part::Upperarm,
                named.shallowest(side, &["arm", "upperarm", "uparm"]),
            );
        } else {
            set(
                Part::Clavicle,
                named.shallowest(side, &["clavicle", "collar", "collarbone"]),
            );
            set(Part::Upperarm, named.shallowest(side, &["shoulder"]));
        }
        set(
            Part::Forearm,
            named.shallowest(side, &["forearm", "lowerarm", "loarm", "elbow"]),
        );
        set(
            Part::Hand,
            named.shallowest(side, &["hand", "wrist", "palm"]),
        );
        if has_thigh {
            set(
                Part::Thigh,
                named.shallowest(side, &["thigh", "upleg", "upperleg"]),
            );
        } else {
            set(Part::Thigh, named.shallowest(side, &["hip"]));
        }
        let shins: &[&str] = if has_thigh || has_hip {
            &["shin", "calf", "lowerleg", "loleg", "knee", "leg"]
        } else {
            &["shin", "calf", "lowerleg", "loleg", "knee"]
        };
        set(Part::Shin, named.shallowest(side, shins));
        set(Part::Foot, named.shallowest(side, &["foot", "ankle"]));
        set(
            Part::Toe,
            named.shallowest(side, &["toe", "toes", "toebase", "ball"]),
        );
    }
    let thighs = SIDES.map(|side| roles.get(Part::Thigh, side));
    let is_above_legs = |joint: &usize| {
        thighs
            .iter()
            .flatten()
            .all(|thigh| rig.is_below(*thigh, *joint))
    };
    let hips = ["hips", "pelvis", "hip", "root", "torso", "spine"]
        .iter()
        .find_map(|base| {
            named
                .all(Side::Middle, &[base])
                .into_iter()
                .find(is_above_legs)
        });
    let mut spine = named.all(
        Side::Middle,
        &[
            "lowerback",
            "spine",
            "chest",
            "upperchest",
            "abdomen",
            "torso",
            "bodyup",
        ],
    );
    spine.retain(|joint| {
        Some(*joint) != hips
            && !thighs
                .iter()
                .flatten()
                .any(|t| rig.is_below(*t, *joint) && hips.is_some_and(|h| rig.is_below(h, *joint)))
    });
    let mut head = named.shallowest(Side::Middle, &["head"]);
    let mut neck = named.shallowest(Side::Middle, &["neck", "lowerneck"]);
    if head.is_none() {
        // Rigify counts the neck and the head to the spine: the fifth and the seventh bone.
        let numbered = |n: u32| {
            spine.iter().copied().find(|joint| {
                let words = named.words[*joint].as_ref();
                words.is_some_and(|w| w.base == "spine" && w.number == Some(n))
            })
        };
        if let (Some(fourth), Some(sixth)) = (numbered(4), numbered(6)) {
            neck = neck.or(Some(fourth));
            head = Some(sixth);
        }
    }
    spine.retain(|joint| {
        let stops = [neck, head];
        let is_upper = |stop: &usize| joint == stop || rig.is_below(*joint, *stop);
        !stops.iter().flatten().any(is_upper)
    });
    roles.spine = spine;
    for (part, joint) in [(Part::Hips, hips), (Part::Neck, neck), (Part::Head, head)] {
        if let Some(joint) = joint {
            roles.joints.insert(Role::middle(part), joint);
        }
    }
    roles
}
