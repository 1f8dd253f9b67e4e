//! A motion on the character of a document, as a clip.

use crate::document::Document;
use crate::finding::{counted, trimmed};
use crate::motion::contacts::FeetSecs;
use crate::motion::retarget::{
    Baked, Ghost, MotionSettings, Retarget, RetargetError, RetargetReport,
};
use crate::motion::roles::Roles;
use crate::motion::{Rig, Take};
use crate::sentence::sentence;
use crate::skeleton::{JointId, Skeleton};
use crate::task::{Cancelled, Task};
use std::collections::BTreeSet;
use std::sync::Arc;

/// The skeleton of a document, for motions.
#[derive(Clone, Debug)]
pub struct Character {
    skeleton: Arc<Skeleton>,
    /// At rest.
    pub rig: Rig,
}

/// A motion that was put on a character.
#[derive(Clone, Debug)]
pub struct AddedMotion {
    /// The clip, its feet and keys.
    pub baked: Baked,
    /// What was chosen.
    pub report: RetargetReport,
    /// n_frames of the motion, seconds.
    pub times: Vec<f64>,
    /// The motion's own skeleton beside the character.
    pub ghost: Ghost,
    /// Of the clip: [`crate::skeleton::Clip::fingerprint`].
    pub fingerprint: u64,
}

/// Why a motion is not put on a character.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum AddMotionError {
    /// A pair chosen by hand names a role or a joint that does not exist.
    #[error("{}", sentence(.0))]
    Map(String),
    /// The roles or the settings do not fit.
    #[error("{}", sentence(&.0.to_string()))]
    Retarget(#[from] RetargetError),
    /// It was cancelled.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
}

/// The slots of the joints that move a skin; of all joints where there is none.
pub fn skinned_joints(document: &Document) -> BTreeSet<usize> {
    let skins = document.skins().values();
    let joints: BTreeSet<usize> = skins
        .flat_map(|skin| skin.joints.iter().map(|joint| joint.get()))
        .collect();
    if joints.is_empty() {
        let all = document.skeleton().live_joints();
        return all.map(JointId::get).collect();
    }
    joints
}

impl Character {
    /// The skeleton of a document at rest.
    pub fn of(document: &Document) -> Self {
        let bones = skinned_joints(document);
        let skeleton = document.skeleton().clone();
        Self {
            rig: document.body_rig(|joint| bones.contains(&joint)),
            skeleton,
        }
    }

    /// The roles of a motion's skeleton and of this one. An error names what the pairs by hand name wrongly.
    pub fn roles(&self, source: &Rig, settings: &MotionSettings) -> Result<[Roles; 2], String> {
        settings.roles(source, &self.rig)
    }

    /// The skeleton.
    pub fn skeleton(&self) -> &Arc<Skeleton> {
        &self.skeleton
    }

    /// A motion on this character as a clip of this name, with roles from [`Character::roles`].
    pub fn add(
        &self,
        take: &Take,
        [ours, theirs]: &[Roles; 2],
        settings: &MotionSettings,
        name: &str,
        task: &Task,
    ) -> Result<AddedMotion, AddMotionError> {
        let options = &settings.retarget;
        let retarget = Retarget::new(take, ours, &self.skeleton, &self.rig, theirs, options)?;
        let baked = retarget.bake(name, &settings.bake, task)?;
        Ok(AddedMotion {
            ghost: retarget.ghost(),
            times: retarget.times().to_vec(),
            report: retarget.report,
            fingerprint: baked.clip.fingerprint(),
            baked,
        })
    }
}

impl AddedMotion {
    /// The length of the motion, seconds.
    pub fn secs(&self) -> f64 {
        self.times.last().copied().unwrap_or(0.0)
    }

    /// The contacts of the feet, seconds of the clip.
    pub fn feet_secs(&self) -> FeetSecs {
        let secs = |frame: usize| self.times.get(frame).copied().unwrap_or(0.0);
        let contacts = self.baked.feet.contacts.each_ref();
        contacts.map(|of| of.iter().map(|c| [secs(c.first), secs(c.last)]).collect())
    }

    /// One line with what was chosen, warnings, one with the feet and one with the keys.
    pub fn lines(&self) -> Vec<String> {
        let report = &self.report;
        let mut lines = vec![format!(
            "{} moved, {} up, reference {}, scale {}",
            counted(report.mapped, "bone"),
            report.up,
            report.reference,
            trimmed(report.scale)
        )];
        lines.extend(report.warnings.iter().cloned());
        let feet = &self.baked.feet;
        let n: usize = feet.contacts.iter().map(Vec::len).sum();
        if feet.holds {
            lines.push(format!(
                "{} of the feet locked: they slide {:.1} cm/s instead of {:.1}, the hips are lowered by {:.1} cm",
                counted(n, "contact"),
                feet.slide_after[0] * 100.0,
                feet.slide_before[0] * 100.0,
                feet.hip_drop * 100.0
            ));
        } else if feet.is_searched {
            lines.push(format!(
                "{} found: the feet are hardly planted, so they are not locked",
                counted(n, "contact")
            ));
        }
        let keys = &self.baked.keys;
        lines.push(format!(
            "clip \"{}\": {:.2} s, {} of {} keyframes, joints within {} % of the height",
            self.baked.clip.name,
            self.secs(),
            keys.keys,
            keys.of,
            trimmed(keys.worst * 100.0)
        ));
        lines
    }
}
