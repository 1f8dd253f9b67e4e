//! Recordings as the project format has them, and how those of skeletons move the character.

use super::types::{MotionPositions, MotionTravel, RoleSearch, is_default};
use crate::cluster::channel::UnreadBlock;
use crate::motion::Timing;
use crate::motion::bindings::Binding;
use crate::motion::contacts::FeetSecs;
use crate::motion::retarget::{
    self, BakeOptions, BodyMotion, MotionSettings, RetargetOptions, RootMotion,
};
use crate::motion::roles::{ChainNames, RoleMap};
use crate::skeleton::ClipId;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A recording.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RecordingEntry {
    /// The number that layers use.
    pub(super) recording: u32,
    pub(super) title: String,
    /// Relative to the folder of the project file, with `/` separators; absolute in an autosave. Empty where the content is
    /// kept here.
    pub(super) path: String,
    /// xxh3-64 of the file, 16 hex digits.
    pub(super) fingerprint: String,
    /// Live motion as JSON lines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) kept: Option<KeptBlock>,
    /// a and b of the time on the timeline, `a s + b`, at s on the device.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) clock: Option<(f64, f64)>,
    /// What the times of the samples are.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) timing: Timing,
    /// Names and times on the device.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) stamps: Vec<(String, f64)>,
    /// How wide the peaks are that the stamps were found as, seconds, in their order; empty for stamps by hand.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) stamp_widths: Vec<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) motion: Option<MotionOfRecording>,
}

/// A text, compressed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct KeptBlock {
    /// The length of the text.
    pub(super) n_bytes: usize,
    pub(super) data: String,
}

impl From<&UnreadBlock> for KeptBlock {
    fn from(block: &UnreadBlock) -> Self {
        Self {
            n_bytes: block.n_bytes,
            data: block.data.clone(),
        }
    }
}

impl From<&KeptBlock> for UnreadBlock {
    fn from(block: &KeptBlock) -> Self {
        Self {
            n_bytes: block.n_bytes,
            data: block.data.clone(),
        }
    }
}

/// How a recording of a skeleton is retargeted to the character. What is omitted is as it is by default.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct MotionOfRecording {
    /// The clip of a model's file.
    #[serde(skip_serializing_if = "String::is_empty")]
    take: String,
    #[serde(skip_serializing_if = "is_default")]
    positions: MotionPositions,
    #[serde(skip_serializing_if = "is_default")]
    search: RoleSearch,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    roles: BTreeMap<String, (String, String)>,
    #[serde(skip_serializing_if = "Option::is_none")]
    spine: Option<(Vec<String>, Vec<String>)>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    chains: Vec<ChainNames>,
    /// How far bones are turned about themselves, degrees.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    twists: BTreeMap<String, f64>,
    /// Whether the root joint of the skeleton travels instead of the hips.
    #[serde(skip_serializing_if = "is_default")]
    root_joint: bool,
    #[serde(skip_serializing_if = "is_default")]
    stretch: Stretch,
    #[serde(skip_serializing_if = "is_default")]
    reference: Reference,
    #[serde(skip_serializing_if = "is_default")]
    recorded_heading: bool,
    #[serde(skip_serializing_if = "is_default")]
    scale: Scale,
    #[serde(skip_serializing_if = "is_default")]
    travel: MotionTravel,
    #[serde(skip_serializing_if = "is_default")]
    free_feet: bool,
    /// Contacts of the left and the right foot by hand.
    #[serde(skip_serializing_if = "Option::is_none")]
    contacts: Option<FeetSecs>,
    /// How far joints may be off for fewer keys, a share of the height.
    #[serde(skip_serializing_if = "Option::is_none")]
    tolerance: Option<f64>,
    /// What channels are bound to by hand.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    bindings: Vec<Binding>,
    /// Contacts of the feet in the clip.
    #[serde(skip_serializing_if = "is_default")]
    feet: FeetSecs,
    #[serde(skip_serializing_if = "Option::is_none")]
    clip: Option<u32>,
    /// The fingerprint of the clip as it was made, in hexadecimal; empty: unknown.
    #[serde(skip_serializing_if = "String::is_empty")]
    baked: String,
}

/// What becomes of the lengths of bones that change in the motion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
enum Stretch {
    #[default]
    Drop,
    Keep,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
enum Reference {
    #[default]
    Auto,
    Best,
    Zero,
    Frame(usize),
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
enum Scale {
    #[default]
    Leg,
    Hip,
    Fixed(f64),
}

impl From<&BodyMotion> for MotionOfRecording {
    fn from(motion: &BodyMotion) -> Self {
        let settings = &motion.settings;
        let (retarget, bake) = (&settings.retarget, &settings.bake);
        Self {
            take: motion.take.clone(),
            positions: settings.positions.into(),
            search: settings.search.into(),
            roles: settings.by_hand.roles.clone(),
            spine: settings.by_hand.spine.clone(),
            chains: settings.by_hand.chains.clone(),
            twists: settings.by_hand.twists.clone(),
            root_joint: retarget.root == RootMotion::Root,
            stretch: if retarget.keeps_stretch {
                Stretch::Keep
            } else {
                Stretch::Drop
            },
            reference: match retarget.reference {
                retarget::Reference::Auto => Reference::Auto,
                retarget::Reference::Best => Reference::Best,
                retarget::Reference::Zero => Reference::Zero,
                retarget::Reference::Frame(frame) => Reference::Frame(frame),
            },
            recorded_heading: retarget.keeps_heading,
            scale: match retarget.scale {
                retarget::Scale::Leg => Scale::Leg,
                retarget::Scale::Hip => Scale::Hip,
                retarget::Scale::Fixed(scale) => Scale::Fixed(scale),
            },
            travel: retarget.travel.into(),
            free_feet: !bake.locks_feet,
            contacts: bake.contacts.clone(),
            tolerance: Some(bake.tolerance).filter(|t| *t != BakeOptions::default().tolerance),
            bindings: settings.bindings.clone(),
            feet: motion.feet.clone(),
            clip: motion.clip.map(|clip| clip.0),
            baked: motion
                .baked
                .map_or_else(String::new, |n| format!("{n:016x}")),
        }
    }
}

impl From<MotionOfRecording> for BodyMotion {
    /// Without the skeleton, which comes from the file.
    fn from(entry: MotionOfRecording) -> Self {
        Self {
            source: None,
            take: entry.take,
            settings: MotionSettings {
                positions: entry.positions.into(),
                search: entry.search.into(),
                by_hand: RoleMap {
                    roles: entry.roles,
                    spine: entry.spine,
                    chains: entry.chains,
                    twists: entry.twists,
                },
                retarget: RetargetOptions {
                    reference: match entry.reference {
                        Reference::Auto => retarget::Reference::Auto,
                        Reference::Best => retarget::Reference::Best,
                        Reference::Zero => retarget::Reference::Zero,
                        Reference::Frame(frame) => retarget::Reference::Frame(frame),
                    },
                    keeps_heading: entry.recorded_heading,
                    scale: match entry.scale {
                        Scale::Leg => retarget::Scale::Leg,
                        Scale::Hip => retarget::Scale::Hip,
                        Scale::Fixed(scale) => retarget::Scale::Fixed(scale),
                    },
                    travel: entry.travel.into(),
                    root: if entry.root_joint {
                        RootMotion::Root
                    } else {
                        RootMotion::Hips
                    },
                    keeps_stretch: entry.stretch == Stretch::Keep,
                },
                bake: BakeOptions {
                    locks_feet: !entry.free_feet,
                    contacts: entry.contacts,
                    tolerance: entry.tolerance.unwrap_or(BakeOptions::default().tolerance),
                },
                bindings: entry.bindings,
            },
            feet: entry.feet,
            clip: entry.clip.map(ClipId),
            baked: u64::from_str_radix(&entry.baked, 16).ok(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_setting_of_a_motion_comes_back() {
        let mut motion = BodyMotion::default();
        let text = ron::to_string(&MotionOfRecording::from(&motion)).unwrap();
        assert_eq!(text, "()");
        motion.take = "Walk".into();
        motion.clip = Some(ClipId(3));
        motion.baked = Some(u64::MAX);
        motion.feet = [vec![[0.1, 0.4]], vec![]];
        let settings = &mut motion.settings;
        settings.positions = crate::motion::bvh::Positions::Add;
        settings.search = retarget::RoleSearch::Structure;
        let bones = ("Hips".to_owned(), "pelvis".to_owned());
        settings.by_hand.roles.insert("hips".into(), bones);
        settings.by_hand.spine = Some((vec!["a".into()], vec![]));
        settings.by_hand.chains.push(ChainNames {
            motion: vec!["tail1".into()],
            character: vec!["a".into(), "b".into()],
            root: true,
        });
        settings.by_hand.twists.insert("l.forearm".into(), -12.5);
        settings.retarget.root = RootMotion::Root;
        settings.retarget.keeps_stretch = true;
        settings.retarget.reference = retarget::Reference::Frame(7);
        settings.retarget.keeps_heading = true;
        settings.retarget.scale = retarget::Scale::Fixed(0.1);
        settings.retarget.travel = retarget::Travel::Vertical;
        settings.bake.locks_feet = false;
        settings.bake.contacts = Some([vec![], vec![[0.3, 0.1 + 0.2]]]);
        settings.bake.tolerance = 0.0;
        let bound = [
            "emg=hinge:forearm,x,-2,10",
            "a=none",
            "b=world:hand",
            "c=move:hips",
            "d=sample:Bent",
            "e=morph:Joy,0.5",
        ];
        settings.bindings = bound.map(|text| text.parse().unwrap()).into();
        let text = ron::to_string(&MotionOfRecording::from(&motion)).unwrap();
        let back: MotionOfRecording = ron::from_str(&text).unwrap();
        assert_eq!(BodyMotion::from(back), motion);
    }
}
