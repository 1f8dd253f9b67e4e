//! Commands on the samples of the active set.

use super::drivers::{self, is_posed, pose_drivers};
use super::free_name;
use crate::correctives;
use crate::deform::correctives::{Driver, Sample, SampleSet, Staleness, sum_of_samples};
use crate::document::MeshId;
use crate::document::session::ActiveSample;
use crate::editor::Editor;
use crate::psd::Displacements;
use crate::skeleton::{JointId, Pose};
use glam::DQuat;
use std::sync::Arc;

/// What was muted before a sample was shown alone.
pub(super) struct BeforeSolo {
    mesh: MeshId,
    /// The undo step that did it, counted from the first one of the session.
    step: usize,
    /// The samples that were muted.
    muted: Vec<Identity>,
}

/// What tells a sample from all others of a mesh whatever its name and place are: a driver, which has one set, and its
/// pose, which no other sample of the set has.
#[derive(PartialEq)]
struct Identity {
    driver: Option<JointId>,
    rotations: Vec<DQuat>,
}

impl Identity {
    fn of(set: &SampleSet, sample: &Sample) -> Self {
        Self {
            driver: set.drivers.first().map(|driver| driver.joint),
            rotations: sample.rotations.clone(),
        }
    }
}

/// The label of the undo step that shows a sample alone.
const SOLO: &str = "Solo sample";

/// The set of a new sample.
enum Home {
    Known(usize),
    /// A new set, driven by these joints.
    New(Vec<JointId>),
}

impl Editor {
    /// Adds a sample at the pose on screen and makes it active: one undo step. It goes to the set that all selected and
    /// posed bones drive, to a new set where none does, and to the active set where no posed bone is selected. It starts
    /// with the correction on screen, so that the shape stays as it is. Returns whether it did.
    pub fn add_sample(&mut self) -> bool {
        self.finish_tool();
        if self.corrected_mesh().is_none() {
            self.notify("Select an object with a skin first.");
            return false;
        }
        let Some(home) = self.home_of_new_sample() else {
            self.notify("Pose the bones that drive the correction, and select them, first.");
            return false;
        };
        let own = match &home {
            Home::Known(index) => self.correctives().and_then(|c| c.sets().get(*index)),
            Home::New(_) => None,
        };
        let scales = own.is_some_and(|set| set.scale_with_limb);
        let displacements = self.shown_correction(scales);
        self.add_sample_with(home, "Add sample", displacements, None)
    }

    /// Adds a copy of the active sample at the pose on screen, and makes it active: one undo step. Returns whether it
    /// did.
    pub fn duplicate_sample(&mut self) -> bool {
        self.finish_tool();
        let Some((index, sample)) = self.active_set().zip(self.sample_to_change()) else {
            return false;
        };
        let (home, displacements) = (Home::Known(index), sample.displacements.clone());
        self.add_sample_with(home, "Duplicate sample", displacements, Some(&sample))
    }

    /// Poses the driver bones as they were when the active sample was captured: one undo step. Drivers of other sets
    /// return to bind, unless the sample recorded their rotations.
    pub fn go_to_sample(&mut self) {
        self.finish_tool();
        let Some((index, sample)) = self.active_set().zip(self.sample_to_change()) else {
            return;
        };
        let Some(correctives) = self.correctives().cloned() else {
            return;
        };
        let mut wanted: Vec<(Driver, DQuat)> = Vec::new();
        for (i, set) in correctives.sets().iter().enumerate() {
            for (k, driver) in set.drivers.iter().enumerate() {
                let beside = sample.beside.iter().find(|(j, _)| *j == driver.joint);
                let own = sample.rotations.get(k).filter(|_| i == index);
                let rotation = own.or(beside.map(|(_, rotation)| rotation));
                let rotation = *rotation.unwrap_or(&driver.bind);
                wanted.push((*driver, rotation));
            }
        }
        let mut pose = Pose::clone(&self.document.free_pose());
        pose_drivers(self.document.skeleton(), &wanted, &mut pose.locals);
        self.pose_at_once(pose, &format!("Go to \"{}\"", sample.name));
    }

    /// Moves the active sample to the pose on screen; it keeps its sculpt. One undo step.
    pub fn update_sample(&mut self) {
        self.finish_tool();
        let Some((index, sample)) = self.active_set().zip(self.active_sample()) else {
            self.sample_to_change();
            return;
        };
        let pose = self.document.shown_pose();
        let skeleton = self.document.skeleton().clone();
        self.change_sets("Update sample", None, |sets| {
            let beside = beside(sets, index, &pose, &skeleton);
            let set = Arc::make_mut(&mut sets[index]);
            let rotations = rotations(set, &pose, &skeleton);
            let sample = Arc::make_mut(&mut set.samples[sample]);
            (sample.rotations, sample.beside) = (rotations, beside);
        });
    }

    /// Renames a sample of the active set: one undo step.
    pub fn rename_sample(&mut self, sample: usize, name: &str) {
        self.finish_tool();
        let name = name.trim();
        if !name.is_empty() {
            self.rename("Rename sample", |editor| {
                editor.change_sample(sample, "Rename sample", |sample| {
                    name.clone_into(&mut sample.name);
                });
            });
        }
    }

    /// Deletes the active sample: one undo step.
    pub fn delete_sample(&mut self) {
        self.finish_tool();
        let Some((set, sample)) = self.active_set().zip(self.active_sample()) else {
            self.sample_to_change();
            return;
        };
        let active = ActiveSample {
            set,
            sample: sample.checked_sub(1).or(Some(0)),
        };
        self.change_sets("Delete sample", Some(active), |sets| {
            Arc::make_mut(&mut sets[set]).samples.remove(sample);
        });
    }

    /// Mutes or unmutes a sample of the active set: one undo step. The weights of the others stay the same.
    pub fn mute_sample(&mut self, sample: usize, muted: bool) {
        self.finish_tool();
        let label = if muted {
            "Mute sample"
        } else {
            "Unmute sample"
        };
        self.change_sample(sample, label, |sample| sample.muted = muted);
    }

    /// Whether a sample of the active set is the only one of the object that is not muted.
    pub fn is_sample_solo(&self, sample: usize) -> bool {
        let Some((set, correctives)) = self.active_set().zip(self.correctives()) else {
            return false;
        };
        let own = correctives.sets().get(set);
        let own = own.and_then(|set| set.samples.get(sample));
        correctives.samples().len() > 1
            && own.is_some_and(|own| !own.muted)
            && correctives.samples().iter().filter(|s| !s.muted).count() == 1
    }

    /// Mutes all other samples of the object; `None` restores what was muted before. One undo step.
    pub fn solo_sample(&mut self, alone: Option<usize>) {
        self.finish_tool();
        let Some((mesh, set)) = self.corrected_mesh().zip(self.active_set()) else {
            return;
        };
        let sets = self.correctives().map_or(&[][..], |c| c.sets());
        let samples = sets
            .iter()
            .flat_map(|set| set.samples.iter().map(move |sample| (set, sample)));
        let n_heard = samples.clone().filter(|(_, sample)| !sample.muted).count();
        let muted = samples.filter(|(_, sample)| sample.muted);
        let muted: Vec<Identity> = muted
            .map(|(set, sample)| Identity::of(set, sample))
            .collect();
        let known = self.correcting.before_solo.take();
        // Without one that is shown alone there is nothing to restore.
        let is_kept = |known: &BeforeSolo| known.mesh == mesh && n_heard == 1;
        let known = known.filter(|known| is_kept(known) && self.is_still_solo(known));
        let Some(alone) = alone else {
            let before = known.map_or_else(Vec::new, |known| known.muted);
            self.mute_samples("Unmute samples", |_, _, sample| before.contains(&sample));
            return;
        };
        let step = self.history.n_dropped() + self.history.n_undo();
        self.correcting.before_solo = known.or(Some(BeforeSolo { mesh, step, muted }));
        self.mute_samples(SOLO, |i, k, _| (i, k) != (set, alone));
    }

    /// Whether the step that showed a sample alone is still done: what it muted is not restored after an undo.
    fn is_still_solo(&self, known: &BeforeSolo) -> bool {
        let kept = known.step.checked_sub(self.history.n_dropped());
        let kept = kept.filter(|step| *step < self.history.n_undo());
        kept.and_then(|step| self.history.labels().nth(step)) == Some(SOLO)
    }

    /// Sets the factor of the displacements of a sample of the active set, 0 - 2. Inside a step opened with
    /// [`Editor::begin_step`], a whole drag is one step.
    pub fn set_sample_strength(&mut self, sample: usize, strength: f32) {
        let strength = if strength.is_finite() { strength } else { 1.0 };
        self.change_sample(sample, "Sample strength", |sample| {
            sample.strength = strength.clamp(0.0, 2.0);
        });
    }

    /// Moves the active sample up or down by one in the list: one undo step. The result stays the same.
    pub fn move_sample(&mut self, up: bool) {
        self.finish_tool();
        let Some((index, sample)) = self.active_set().zip(self.active_sample()) else {
            self.sample_to_change();
            return;
        };
        let other = if up {
            sample.checked_sub(1)
        } else {
            Some(sample + 1)
        };
        let n_samples = self.samples_of(index).len();
        let Some(other) = other.filter(|other| *other < n_samples) else {
            return;
        };
        let active = ActiveSample {
            set: index,
            sample: Some(other),
        };
        self.change_sets("Move sample", Some(active), |sets| {
            Arc::make_mut(&mut sets[index]).samples.swap(sample, other);
        });
    }

    /// The samples of a set of the object.
    pub fn samples_of(&self, set: usize) -> &[Arc<Sample>] {
        let sets = self.correctives().map_or(&[][..], |c| c.sets());
        sets.get(set).map_or(&[][..], |set| &set.samples)
    }

    /// Why a sample of a set no longer gives its sculpt; `None`: it does. While a step is open, as before it.
    pub fn sample_staleness(&mut self, set: usize, sample: usize) -> Option<Staleness> {
        let mesh = self.corrected_mesh()?;
        let now = (mesh, self.history.revision_but_for_poses());
        let known = self.correcting.stale.as_ref().map(|(at, _)| *at);
        let is_kept = known.is_some_and(|(of, _)| of == mesh) && self.history.is_open();
        if known != Some(now) && !is_kept {
            self.correcting.stale = Some((now, self.document.stale_samples(mesh)));
        }
        let index = self.correctives()?.index_of(set, sample)?;
        let (_, stale) = self.correcting.stale.as_ref()?;
        stale.get(&index).copied()
    }

    /// The displacements that all samples together add in the pose on screen, as those of a sample whose set `scales`
    /// with the limb, or does not.
    fn shown_correction(&self, scales: bool) -> Displacements {
        let mesh = self.corrected_mesh().zip(self.correctives());
        let parts = mesh.and_then(|(mesh, correctives)| {
            let instance = correctives::skinned_instance(&self.document, mesh)?;
            let rotations = self.document.point_rotations(instance)?;
            Some((
                correctives,
                self.document.point_weights(instance)?,
                rotations,
            ))
        });
        parts.map_or_else(
            Displacements::default,
            |(correctives, mut weights, rotations)| {
                sum_of_samples(correctives, &mut weights, &rotations, scales)
            },
        )
    }

    /// The active sample; without one it says so.
    pub fn sample_to_change(&mut self) -> Option<Arc<Sample>> {
        let place = self.active_set().zip(self.active_sample());
        let sample = place.and_then(|(set, sample)| self.samples_of(set).get(sample).cloned());
        if sample.is_none() {
            self.notify("Select a corrective sample first.");
        }
        sample
    }

    fn change_sample(&mut self, sample: usize, label: &str, change: impl FnOnce(&mut Sample)) {
        let Some(set) = self.active_set() else {
            return;
        };
        self.change_sets(label, None, |sets| {
            let Some(known) = sets[set].samples.get(sample) else {
                return;
            };
            let mut changed = Sample::clone(known);
            change(&mut changed);
            let same = (&changed.name, changed.muted, changed.strength.to_bits())
                == (&known.name, known.muted, known.strength.to_bits());
            if !same {
                Arc::make_mut(&mut sets[set]).samples[sample] = Arc::new(changed);
            }
        });
    }

    /// Mutes exactly the samples for which `is_muted` is true of set, sample and what the sample is.
    fn mute_samples(&mut self, label: &str, is_muted: impl Fn(usize, usize, Identity) -> bool) {
        self.change_sets(label, None, |sets| {
            for (i, set) in sets.iter_mut().enumerate() {
                let wanted: Vec<bool> = set
                    .samples
                    .iter()
                    .enumerate()
                    .map(|(k, sample)| is_muted(i, k, Identity::of(set, sample)))
                    .collect();
                let mut samples = set.samples.iter().zip(&wanted);
                if samples.all(|(sample, muted)| sample.muted == *muted) {
                    continue;
                }
                let samples = Arc::make_mut(set).samples.iter_mut();
                for (sample, muted) in samples.zip(wanted) {
                    if sample.muted != muted {
                        Arc::make_mut(sample).muted = muted;
                    }
                }
            }
        });
    }

    /// The set of a new sample; `None` where nothing drives it.
    fn home_of_new_sample(&self) -> Option<Home> {
        let (skeleton, pose) = (self.document.skeleton(), self.document.shown_pose());
        let rest = &self.document.rest_pose().locals;
        let posed: Vec<JointId> = self
            .joints_to_pose()
            .into_iter()
            .filter(|&joint| {
                let driver = Driver::of_joint(joint, skeleton, rest);
                is_posed(&driver, skeleton, &pose.locals)
            })
            .collect();
        if posed.is_empty() {
            return self.active_set().map(Home::Known);
        }
        let sets = self.correctives().map_or(&[][..], |c| c.sets());
        let owns = |set: &Arc<SampleSet>| {
            let is_own = |joint: &JointId| set.drivers.iter().any(|d| d.joint == *joint);
            set.fault.is_none() && posed.iter().all(is_own)
        };
        let known = sets.iter().position(owns).map(Home::Known);
        Some(known.unwrap_or(Home::New(posed)))
    }

    /// Adds a sample at the pose on screen. `of`: the sample that it copies, whose displacements are only as good as it.
    fn add_sample_with(
        &mut self,
        home: Home,
        label: &str,
        displacements: Displacements,
        of: Option<&Sample>,
    ) -> bool {
        let mesh = self.corrected_mesh();
        let item = mesh.and_then(|mesh| Some((mesh, self.document.meshes().get(&mesh)?)));
        let Some(((mesh, item), known)) = item.zip(self.correctives()) else {
            return false;
        };
        let pose = self.document.shown_pose();
        let skeleton = self.document.skeleton().clone();
        let (index, new_set) = match home {
            Home::Known(index) => (index, None),
            Home::New(joints) => (self.place_of_new_set(), Some(self.new_set(&joints))),
        };
        let set = new_set
            .as_ref()
            .or_else(|| known.sets().get(index).map(|s| &**s));
        let Some(set) = set else {
            return false;
        };
        if set.fault.is_some() {
            let why = format!(
                "The sample set \"{}\" is disabled: Problems says why. Pose the bones of another set first.",
                set.name
            );
            self.notify(why);
            return false;
        }
        let (rotations, wanted) = (
            rotations(set, &pose, &skeleton),
            wanted_name(set, &pose, &skeleton),
        );
        let (captured_on, captured_over) = match of {
            Some(of) => (of.captured_on.clone(), of.captured_over.clone()),
            None => (item.stack.clone(), self.document.captured_now(mesh)),
        };
        let sample = Sample {
            name: free_name(&wanted, &known.samples().iter().map(|s| s.name.as_str())),
            rotations,
            beside: beside(known.sets(), index, &pose, &skeleton),
            displacements,
            captured_on,
            captured_over,
            strength: 1.0,
            muted: false,
        };
        let active = ActiveSample {
            set: index,
            sample: Some(set.samples.len()),
        };
        self.change_sets(label, Some(active), |sets| {
            if let Some(set) = new_set {
                sets.insert(index, Arc::new(set));
            }
            Arc::make_mut(&mut sets[index])
                .samples
                .push(Arc::new(sample));
        })
    }
}

/// The rotations of the drivers of a set in a pose.
fn rotations(set: &SampleSet, pose: &Pose, skeleton: &crate::skeleton::Skeleton) -> Vec<DQuat> {
    let drivers = set.drivers.iter();
    drivers
        .map(|driver| driver.rotation(skeleton, &pose.locals))
        .collect()
}

/// The drivers of other sets that are off bind in a pose, with their rotations.
fn beside(
    sets: &[Arc<SampleSet>],
    index: usize,
    pose: &Pose,
    skeleton: &crate::skeleton::Skeleton,
) -> Vec<(JointId, DQuat)> {
    let others = sets.iter().enumerate().filter(|(i, _)| *i != index);
    let others = others.flat_map(|(_, set)| &set.drivers);
    let posed = others.filter(|driver| is_posed(driver, skeleton, &pose.locals));
    posed
        .map(|driver| (driver.joint, driver.rotation(skeleton, &pose.locals)))
        .collect()
}

/// The name of a new sample: the bone that is rotated most, and by how much.
fn wanted_name(set: &SampleSet, pose: &Pose, skeleton: &crate::skeleton::Skeleton) -> String {
    let angle = |driver: &Driver| {
        let from_bind = driver.from_bind(driver.rotation(skeleton, &pose.locals));
        drivers::rotation_vector(from_bind).length().to_degrees()
    };
    let angles = set.drivers.iter().map(|d| (d.joint, angle(d)));
    let most = angles.max_by(|a, b| a.1.total_cmp(&b.1));
    most.map_or_else(String::new, |(joint, angle)| {
        format!("{} {angle:.0}°", skeleton.label(joint))
    })
}
