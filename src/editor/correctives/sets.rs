//! Commands on sample sets.

use super::{drivers, free_name};
use crate::deform::correctives::{SampleSet, SampleVertices};
use crate::document::session::ActiveSample;
use crate::editor::Editor;
use crate::finding::counted;
use crate::psd::DriverMode;
use crate::skeleton::{JointId, bone_segments};
use glam::{DQuat, DVec3};
use std::sync::Arc;

impl Editor {
    /// Adds a set driven by the selected bones and makes it active: one undo step. Returns whether it did.
    pub fn add_set(&mut self) -> bool {
        self.finish_tool();
        let joints: Vec<JointId> = self.joints_to_pose().into_iter().collect();
        if joints.is_empty() {
            self.notify("Select the bones that drive the set first.");
            return false;
        }
        let set = self.new_set(&joints);
        let place = self.place_of_new_set();
        let active = ActiveSample {
            set: place,
            sample: None,
        };
        self.change_sets("Add sample set", Some(active), |sets| {
            sets.insert(place, Arc::new(set));
        })
    }

    /// Deletes the active set with its samples: one undo step.
    pub fn delete_set(&mut self) {
        self.finish_tool();
        let Some(index) = self.active_set() else {
            self.notify("Add a sample set first.");
            return;
        };
        let active = ActiveSample {
            set: index.saturating_sub(1),
            sample: None,
        };
        self.change_sets("Delete sample set", Some(active), |sets| {
            sets.remove(index);
        });
    }

    /// Renames a set: one undo step.
    pub fn rename_set(&mut self, index: usize, name: &str) {
        self.finish_tool();
        let name = name.trim();
        if !name.is_empty() {
            self.rename("Rename sample set", |editor| {
                editor.change_set(index, "Rename sample set", |set| {
                    name.clone_into(&mut set.name);
                });
            });
        }
    }

    /// Changes a set: one undo step, or part of the step opened with [`Editor::begin_step`]. What is not valid is
    /// refused with the reason.
    pub fn change_set(&mut self, index: usize, label: &str, change: impl FnOnce(&mut SampleSet)) {
        self.change_sets(label, None, |sets| {
            if let Some(set) = sets.get_mut(index) {
                let mut changed = SampleSet::clone(set);
                change(&mut changed);
                if changed != **set {
                    *set = Arc::new(changed);
                }
            }
        });
    }

    /// Sets which vertices the samples of a set hold, and deletes their displacements of others: one undo step. Says how
    /// many vertices it left out.
    pub fn set_held_vertices(&mut self, index: usize, vertices: SampleVertices) {
        self.finish_tool();
        let n_held = |editor: &Self| -> usize {
            let samples = editor.samples_of(index).iter();
            samples.map(|sample| sample.displacements.n_points()).sum()
        };
        let before = n_held(self);
        self.change_set(index, "Vertices of samples", |set| set.vertices = vertices);
        let n_left_out = before.saturating_sub(n_held(self));
        if n_left_out > 0 {
            let n = counted(n_left_out, "displacement");
            self.notify(format!(
                "Deleted {n} of vertices that are not control clusters of the set."
            ));
        }
    }

    /// Gives sets that hold the clusters of a group its new name, within the open undo step.
    pub(in crate::editor) fn rename_held_group(&mut self, before: &str, name: &str) {
        self.change_sets("Rename group", None, |sets| {
            for set in sets {
                if set.vertices.group() == Some(before) {
                    Arc::make_mut(set).vertices = SampleVertices::Group(name.to_owned());
                }
            }
        });
    }

    /// Adds the selected bones to the drivers of the active set: one undo step. Each sample gets the rotation that they
    /// had when it was captured, as far as another set recorded it, else that of the bind pose.
    pub fn add_drivers(&mut self) {
        self.finish_tool();
        let Some(index) = self.active_set() else {
            self.notify("Add a sample set first.");
            return;
        };
        let joints = self.joints_to_pose();
        let is_new = |joint: &JointId| {
            let sets = self.correctives().map_or(&[][..], |c| c.sets());
            let set = sets.get(index);
            set.is_some_and(|set| set.drivers.iter().all(|d| d.joint != *joint))
        };
        let joints: Vec<JointId> = joints.into_iter().filter(is_new).collect();
        if joints.is_empty() {
            self.notify("Select the bones to add to the drivers of the set first.");
            return;
        }
        let found = joints.iter().map(|&j| drivers::found(&self.document, j));
        let found: Vec<_> = found.collect();
        self.change_set(index, "Add driver", |set| {
            for driver in found {
                for sample in &mut set.samples {
                    let sample = Arc::make_mut(sample);
                    let known = sample.beside.iter().position(|(j, _)| *j == driver.joint);
                    let known = known.map(|i| sample.beside.remove(i).1);
                    sample.rotations.push(known.unwrap_or(driver.bind));
                }
                set.drivers.push(driver);
            }
        });
    }

    /// Removes a driver from a set: one undo step.
    pub fn remove_driver(&mut self, index: usize, driver: usize) {
        self.finish_tool();
        self.change_set(index, "Remove driver", |set| {
            if driver < set.drivers.len() {
                set.drivers.remove(driver);
                for sample in &mut set.samples {
                    // A set that is off may lack rotations.
                    let rotations = &mut Arc::make_mut(sample).rotations;
                    if driver < rotations.len() {
                        rotations.remove(driver);
                    }
                }
            }
        });
    }

    /// Selects the driver bones of the active set.
    pub fn select_drivers(&mut self) {
        let set = self.active_set().and_then(|set| {
            let sets = self.correctives()?.sets();
            sets.get(set).cloned()
        });
        if let Some(set) = set {
            let joints = set.drivers.iter().map(|driver| driver.joint);
            self.select_joints(joints, set.drivers.first().map(|d| d.joint));
        }
    }

    /// The axis that a driver gets with a mode that needs one: its present one, else for a hinge that of the rotation on
    /// screen, and along the bone for swing and twist.
    pub fn suggested_axis(&self, set: usize, driver: usize, is_hinge: bool) -> DVec3 {
        let sets = self.correctives().map_or(&[][..], |c| c.sets());
        let Some(driver) = sets.get(set).and_then(|set| set.drivers.get(driver)) else {
            return DVec3::X;
        };
        if is_hinge {
            if let DriverMode::Hinge(axis) = drivers::found(&self.document, driver.joint).mode {
                return axis;
            }
            let pose = self.document.shown_pose();
            let rotation = driver.rotation(self.document.skeleton(), &pose.locals);
            let from_bind: DQuat = driver.from_bind(rotation);
            return drivers::rotation_vector(from_bind).normalize_or(DVec3::X);
        }
        let skeleton = self.document.skeleton();
        let tail = skeleton.joint(driver.joint).rule.tail;
        let tail = tail.unwrap_or_else(|| bone_segments::automatic_tail(skeleton, driver.joint));
        tail.normalize_or(DVec3::Y)
    }

    /// The index of a new set: behind those that are solved, before those that are off.
    pub(super) fn place_of_new_set(&self) -> usize {
        self.correctives().map_or(0, |c| c.interpolations().len())
    }

    /// A set driven by joints, each relative to its parent.
    pub(super) fn new_set(&self, joints: &[JointId]) -> SampleSet {
        let skeleton = self.document.skeleton();
        let names: Vec<String> = joints.iter().map(|&j| skeleton.label(j)).collect();
        let sets = self.correctives().map_or(&[][..], |c| c.sets());
        let name = free_name(&names.join(" + "), &sets.iter().map(|s| s.name.as_str()));
        let pose = self.document.shown_pose();
        let drivers = joints
            .iter()
            .map(|&j| drivers::found_at(&self.document, j, &pose.locals));
        SampleSet::new(name, drivers.collect())
    }
}
