//! Settings for retargeting an animated skeleton to the character.

use super::{BakeOptions, RetargetOptions};
use crate::motion::bindings::Binding;
use crate::motion::bvh::Positions;
use crate::motion::contacts::FeetSecs;
use crate::motion::rig::Rig;
use crate::motion::roles::{RoleMap, Roles, by_names, by_structure, check_roles, find_roles};
use crate::motion::source::MotionSource;
use crate::skeleton::ClipId;
use std::sync::Arc;

/// How the joints of a skeleton get their roles in a body.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RoleSearch {
    /// By name; by structure if the names give no body.
    #[default]
    Auto,
    /// By name.
    Names,
    /// By structure: the shape of the skeleton in the rest pose.
    Structure,
}

/// How a motion is retargeted.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MotionSettings {
    /// What the position channels of a BVH file are.
    pub positions: Positions,
    /// How roles are found.
    pub search: RoleSearch,
    /// Pairs that replace those that are found.
    pub by_hand: RoleMap,
    /// Reference, heading, scale and travel.
    pub retarget: RetargetOptions,
    /// Feet and keys.
    pub bake: BakeOptions,
    /// What channels move that the artist bound; the others move what has their name.
    pub bindings: Vec<Binding>,
}

impl MotionSettings {
    /// The roles of a motion's skeleton and of a character. An error names what the pairs by hand name wrongly.
    pub fn roles(&self, source: &Rig, target: &Rig) -> Result<[Roles; 2], String> {
        let [mut ours, mut theirs] = [self.found_roles(source), self.found_roles(target)];
        if self.by_hand != RoleMap::default() {
            self.by_hand
                .apply([source, target], &mut ours, &mut theirs)?;
        }
        Ok([ours, theirs])
    }

    /// The roles of a skeleton, without those by hand.
    fn found_roles(&self, rig: &Rig) -> Roles {
        let mut roles = match self.search {
            RoleSearch::Auto => return find_roles(rig),
            RoleSearch::Names => by_names(rig),
            RoleSearch::Structure => by_structure(rig).unwrap_or_default(),
        };
        rig.known.put_by_hand(rig, &mut roles);
        roles.find_fingers(rig);
        roles
    }
}

/// The animated skeleton of a recording, and the clip that it was retargeted to.
#[derive(Clone, Debug, Default)]
pub struct BodyMotion {
    /// The animated skeleton; `None` where it cannot be read.
    pub source: Option<Arc<MotionSource>>,
    /// The clip of a model's file by its name; empty for a file of one motion.
    pub take: String,
    /// How it is retargeted.
    pub settings: MotionSettings,
    /// Foot contacts, seconds of the clip.
    pub feet: FeetSecs,
    /// The clip that it was retargeted to.
    pub clip: Option<ClipId>,
    /// The [`crate::skeleton::Clip::fingerprint`] of that clip as it was made; `None` where it is not known.
    pub baked: Option<u64>,
}

impl BodyMotion {
    /// Whether its skeleton is a body that can be retargeted, and not a few bones, which move the joints of their names. That of a
    /// file, and one whose bones are chosen by hand, is taken for one.
    pub fn has_body(&self) -> bool {
        let Some(source) = self.source.as_ref().filter(|source| source.has_body()) else {
            return false;
        };
        if source.is_bvh() || self.settings.by_hand != RoleMap::default() {
            return true;
        }
        let rig = &source.take(Positions::default()).rest;
        check_roles(rig, &self.settings.found_roles(rig)).is_ok()
    }
}

impl PartialEq for BodyMotion {
    /// Whether both are used alike; the skeletons come from the files, which are compared elsewhere.
    fn eq(&self, other: &Self) -> bool {
        self.source.is_some() == other.source.is_some()
            && self.take == other.take
            && self.settings == other.settings
            && self.feet == other.feet
            && self.clip == other.clip
            && self.baked == other.baked
    }
}
