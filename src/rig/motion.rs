//! A motion on the character of a document, as a clip.

use crate::deform::correctives::Driver;
use crate::document::Document;
use crate::finding::{counted, trimmed};
use crate::motion::ChannelKind;
use crate::motion::bindings::{BindTarget, Binding, BoundTo, SamplePose, bind};
use crate::motion::by_name::{ByNameError, Named, NamedReport, NamedTarget, bake_by_name, height};
use crate::motion::contacts::FeetSecs;
use crate::motion::retarget::{
    Baked, FootLock, Ghost, MotionSettings, Retarget, RetargetError, RetargetReport,
};
use crate::motion::roles::Roles;
use crate::motion::vmc::is_of_body;
use crate::motion::{MorphedJoint, Recording, Rig, Take};
use crate::sentence::{sentence, shortened};
use crate::skeleton::{Clip, JointId, Pose, Property, Skeleton};
use crate::task::{Cancelled, Task};
use std::collections::BTreeSet;
use std::sync::Arc;

/// The skeleton of a document, for motions.
#[derive(Clone, Debug)]
pub struct Character {
    skeleton: Arc<Skeleton>,
    /// At rest.
    pub rig: Rig,
    rest: Arc<Pose>,
    morphs: Vec<MorphedJoint>,
    samples: Vec<SamplePose>,
}

/// A motion that was put on a character.
#[derive(Clone, Debug)]
pub struct AddedMotion {
    /// The clip, its feet and keys.
    pub baked: Baked,
    /// What was chosen; without a body, how many joints are moved.
    pub report: RetargetReport,
    /// Whether a body was retargeted; otherwise joints follow channels of their names.
    pub has_body: bool,
    /// What follows channels of its name.
    pub named: NamedReport,
    /// n_frames of the motion, seconds.
    pub times: Vec<f64>,
    /// The motion's own skeleton beside the character.
    pub ghost: Ghost,
    /// Of the clip: [`crate::skeleton::Clip::fingerprint`].
    pub fingerprint: u64,
}

/// Whether a body moves joints too, and whether a rotation of a name may move a joint without a binding.
type Others<'a> = (bool, &'a dyn Fn(&str, JointId) -> bool);

/// Why a motion is not put on a character.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum AddMotionError {
    /// A pair chosen by hand names a role or a joint that does not exist.
    #[error("{}", sentence(.0))]
    Map(String),
    /// Channels cannot be put on the joints and morph targets of their names.
    #[error("{}", sentence(&.0.to_string()))]
    ByName(ByNameError),
    /// A channel is bound to what is not there, or does not fit; the end of a sentence.
    #[error("{}", sentence(.0))]
    Binding(String),
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

impl From<ByNameError> for AddMotionError {
    fn from(error: ByNameError) -> Self {
        match error {
            ByNameError::Cancelled(cancelled) => Self::Cancelled(cancelled),
            error => Self::ByName(error),
        }
    }
}

/// The joints of a document that draw meshes with morph targets.
fn morphs(document: &Document) -> Vec<MorphedJoint> {
    let instances = document.instances().values();
    let morphed = instances.filter_map(|instance| {
        let mesh = document.meshes().get(&instance.mesh)?;
        let rest = document
            .rest_pose()
            .morph_weights
            .get(instance.joint.get())?;
        let names = mesh.geometry.morphs.iter().map(|morph| morph.name.clone());
        (!rest.is_empty()).then(|| MorphedJoint {
            joint: instance.joint,
            names: names.collect(),
            rest: rest.clone(),
        })
    });
    morphed.collect()
}

/// The corrective samples of a document whose drivers are relative to their parents. The names with those of their sets differ: of
/// equal ones the later get a number.
pub fn samples(document: &Document) -> Vec<SamplePose> {
    let skeleton = document.skeleton();
    let sets = document.meshes().values();
    let sets = sets.flat_map(|mesh| mesh.correctives.sets());
    let mut poses: Vec<SamplePose> = Vec::new();
    let mut taken: BTreeSet<String> = BTreeSet::new();
    for set in sets {
        let is_local = |driver: &Driver| {
            skeleton.is_live(driver.joint)
                && driver.relative_to == skeleton.joint(driver.joint).parent
        };
        if !set.drivers.iter().all(is_local) {
            continue;
        }
        for sample in &set.samples {
            let joints = set.drivers.iter().zip(&sample.rotations);
            let of_set = format!("{} ({})", sample.name, set.name);
            let numbered = (2..).map(|n| format!("{of_set} {n}"));
            let mut names = std::iter::once(of_set.clone()).chain(numbered);
            let of_set = names.find(|name| !taken.contains(name)).unwrap_or(of_set);
            taken.insert(of_set.clone());
            poses.push(SamplePose {
                name: sample.name.clone(),
                of_set,
                joints: joints.map(|(driver, q)| (driver.joint, *q)).collect(),
            });
        }
    }
    poses
}

impl Character {
    /// The skeleton of a document at rest.
    pub fn of(document: &Document) -> Self {
        let bones = skinned_joints(document);
        let skeleton = document.skeleton().clone();
        Self {
            rig: document.body_rig(|joint| bones.contains(&joint)),
            rest: document.rest_pose().clone(),
            morphs: morphs(document),
            samples: samples(document),
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

    /// The joints that draw meshes with morph targets.
    pub fn morphs(&self) -> &[MorphedJoint] {
        &self.morphs
    }

    fn named_target(&self) -> NamedTarget<'_> {
        NamedTarget {
            skeleton: &self.skeleton,
            rest: &self.rest,
            morphs: &self.morphs,
        }
    }

    /// What bindings can move.
    pub fn bind_target(&self) -> BindTarget<'_> {
        BindTarget {
            skeleton: &self.skeleton,
            rest: &self.rest,
            morphs: &self.morphs,
            samples: &self.samples,
        }
    }

    /// The corrective samples, as bindings find them.
    pub fn samples(&self) -> &[SamplePose] {
        &self.samples
    }

    /// Whether a channel of a recording has the name of a joint or of a morph target, or is bound to something that it moves.
    pub fn follows(&self, recording: &Recording, bindings: &[Binding]) -> bool {
        let displays = |binding: &Binding| binding.to == BoundTo::Display;
        if !bindings.iter().all(displays) {
            return true;
        }
        let target = self.named_target();
        let is_unbound =
            |name: &str, kind: ChannelKind| !bindings.iter().any(|of| of.is_of(name, kind));
        let is_joint = |name: &str| target.skeleton.joint_named(name).is_some();
        let is_morph = |name: &str| {
            let mut morphs = target.morphs.iter();
            morphs.any(|of| of.driven_by(name).next().is_some())
        };
        let mut rotations = recording.rotations.iter().map(|track| &track.name);
        let mut scalars = recording.scalars.iter().map(|track| &track.name);
        rotations.any(|name| is_unbound(name, ChannelKind::Rotation) && is_joint(name))
            || scalars.any(|name| is_unbound(name, ChannelKind::Scalar) && is_morph(name))
    }

    /// Adds keyframes of channels, bound or of the names of what they move, to a clip. `None`: no
    /// channel moves anything.
    fn bake_channels(
        &self,
        recording: &Recording,
        (has_body, is_free): Others<'_>,
        clip: &mut Clip,
        settings: &MotionSettings,
        task: &Task,
    ) -> Result<Option<NamedReport>, AddMotionError> {
        let target = self.named_target();
        let bindings = &settings.bindings;
        let of_body = |binding: &&Binding| {
            has_body
                && binding.to == BoundTo::Display
                && is_of_body(recording, binding.shown_channel())
        };
        if let Some(binding) = bindings.iter().find(of_body) {
            return Err(AddMotionError::Binding(format!(
                "the channel \"{}\" moves the body: choose its bone among those of the retargeting instead",
                binding.channel
            )));
        }
        let bound =
            bind(recording, bindings, &self.bind_target()).map_err(AddMotionError::Binding)?;
        let named = Named::new(&bound.recording, &target, |name, joint| {
            bound.rotates(name) || is_free(name, joint)
        });
        if named.is_empty() && !bound.has_moves() {
            return Ok(None);
        }
        let tolerance = settings.bake.tolerance;
        let mut report = if named.is_empty() {
            NamedReport::default()
        } else {
            bake_by_name(&bound.recording, &named, &target, clip, tolerance, task)?
        };
        task.check()?;
        let [keys, of] = bound.bake_moves(clip, tolerance * height(&target));
        report.keys.keys += keys;
        report.keys.of += of;
        let moved = bindings.iter().filter_map(|binding| match &binding.to {
            BoundTo::Translation { joint, .. } => Some(joint),
            _ => None,
        });
        for joint in moved {
            if !report.joints.contains(joint) {
                report.joints.push(joint.clone());
            }
        }
        report.bound = bindings.len();
        Ok(Some(report))
    }

    /// Channels of a recording on the joints and morph targets that they are bound to, or of their names, as a clip of this name.
    fn add_by_name(
        &self,
        recording: &Recording,
        settings: &MotionSettings,
        name: &str,
        task: &Task,
    ) -> Result<AddedMotion, AddMotionError> {
        let mut clip = Clip::named(name);
        let report =
            self.bake_channels(recording, (false, &|_, _| true), &mut clip, settings, task)?;
        let report = report.ok_or(ByNameError::NoNames)?;
        let secs = f64::from(clip.end_secs());
        Ok(AddedMotion {
            report: RetargetReport {
                mapped: report.joints.len(),
                ..RetargetReport::default()
            },
            has_body: false,
            times: vec![0.0, secs],
            ghost: Ghost::default(),
            fingerprint: clip.fingerprint(),
            baked: Baked {
                clip,
                feet: FootLock::default(),
                keys: report.keys,
            },
            named: report,
        })
    }

    /// A recorded motion on this character, as [`Character::add`]; joints and morph targets beside the body follow the channels of
    /// their names, and where the channels move no body, all joints do.
    pub fn add_recorded(
        &self,
        take: &Take,
        recording: &Recording,
        roles: &[Roles; 2],
        settings: &MotionSettings,
        name: &str,
        task: &Task,
    ) -> Result<AddedMotion, AddMotionError> {
        if take.rest.is_empty() {
            return self.add_by_name(recording, settings, name, task);
        }
        match self.add(take, roles, settings, name, task) {
            Ok(mut added) => {
                self.add_beside_body(&mut added, recording, settings, task)?;
                Ok(added)
            }
            // A few bones are no body, but may be joints.
            Err(AddMotionError::Retarget(RetargetError::Source(_)))
                if self.follows(recording, &settings.bindings) =>
            {
                self.add_by_name(recording, settings, name, task)
            }
            Err(why) => Err(why),
        }
    }

    /// Adds to a body's clip the channels of its recording that move joints beside the body, and morph targets, by their names.
    fn add_beside_body(
        &self,
        added: &mut AddedMotion,
        recording: &Recording,
        settings: &MotionSettings,
        task: &Task,
    ) -> Result<(), AddMotionError> {
        let clip = &mut added.baked.clip;
        let mut moved: BTreeSet<JointId> = clip.channels.iter().map(|c| c.joint).collect();
        let mut channels = clip.channels.iter();
        let hips = channels.find(|c| c.property == Property::Translation);
        if let Some(hips) = hips.map(|channel| channel.joint) {
            moved.extend(self.skeleton.ancestors(hips));
        }
        let is_free = |name: &str, joint: JointId| {
            !is_of_body(recording, (name, ChannelKind::Rotation)) && !moved.contains(&joint)
        };
        let Some(report) = self.bake_channels(recording, (true, &is_free), clip, settings, task)?
        else {
            return Ok(());
        };
        added.baked.keys.keys += report.keys.keys;
        added.baked.keys.of += report.keys.of;
        added.fingerprint = clip.fingerprint();
        added.named = report;
        Ok(())
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
            has_body: true,
            named: NamedReport::default(),
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

    /// What follows channels of its name; `None` for nothing.
    fn named_line(&self) -> Option<String> {
        let (joints, morphs) = (&self.named.joints, &self.named.morphs);
        let parts = [(joints, "bone"), (morphs, "morph target")];
        let parts = parts.iter().filter(|(names, _)| !names.is_empty());
        let parts = parts.map(|(names, what)| counted(names.len(), what));
        let parts: Vec<String> = parts.collect();
        let verb = match (joints.len() + morphs.len(), self.named.bound) {
            (0, _) => return None,
            (1, 0) => "follows the channel of its name",
            (_, 0) => "follow the channels of their names",
            (1, _) => "follows its channel",
            (_, _) => "follow their channels",
        };
        let names: Vec<&str> = joints.iter().chain(morphs).map(String::as_str).collect();
        let names = shortened(&names.join(", ")).into_owned();
        Some(format!("{} {verb}: {names}", parts.join(" and ")))
    }

    /// One line with what was chosen, warnings, one with the feet and one with the keys.
    pub fn lines(&self) -> Vec<String> {
        let report = &self.report;
        let mut lines = Vec::new();
        if self.has_body {
            lines.push(format!(
                "{} moved, {} up, reference {}, scale {}",
                counted(report.mapped, "bone"),
                report.up,
                report.reference,
                trimmed(report.scale)
            ));
        }
        lines.extend(self.named_line());
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
