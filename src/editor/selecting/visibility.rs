//! Hiding bones, points and objects: hidden items are neither drawn, framed, picked nor painted.

use super::{Editor, SelectKind};
use crate::document::InstanceId;
use crate::document::session::PointsOfMeshes;
use crate::skeleton::JointId;
use std::collections::BTreeSet;
use std::sync::Arc;

/// All hidden items.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Hidden {
    joints: BTreeSet<JointId>,
    points: PointsOfMeshes,
    instances: BTreeSet<InstanceId>,
}

impl Hidden {
    fn is_empty(&self) -> bool {
        self.joints.is_empty() && self.points.is_empty() && self.instances.is_empty()
    }

    /// Removes the items that `other` contains.
    fn subtract(&mut self, other: &Self) {
        self.joints.retain(|j| !other.joints.contains(j));
        self.instances.retain(|i| !other.instances.contains(i));
        for (mesh, theirs) in &other.points {
            if let Some(set) = self.points.get_mut(mesh) {
                Arc::make_mut(set).subtract(theirs);
            }
        }
        self.points.retain(|_, set| !set.is_empty());
    }

    /// Keeps only the items that `other` contains.
    fn intersect(&mut self, other: &Self) {
        self.joints.retain(|j| other.joints.contains(j));
        self.instances.retain(|i| other.instances.contains(i));
        self.points.retain(|mesh, set| {
            let Some(theirs) = other.points.get(mesh) else {
                return false;
            };
            Arc::make_mut(set).intersect(theirs);
            !set.is_empty()
        });
    }
}

impl Editor {
    /// Hides the selection.
    pub fn hide_selected(&mut self) {
        self.finish_tool();
        let selection = self.selection();
        let mut hidden = self.hidden();
        let n = self.n_selected();
        match self.select_kind() {
            SelectKind::Bones => hidden.joints.extend(selection.joints),
            SelectKind::Points => {
                for (mesh, set) in selection.points {
                    Arc::make_mut(hidden.points.entry(mesh).or_default()).union(&set);
                }
            }
        }
        if n == 0 {
            self.notify("Nothing is selected.");
        } else {
            self.set_hidden(hidden);
        }
    }

    /// Hides everything that is not selected. Returns whether anything stays visible.
    pub fn hide_unselected(&mut self) -> bool {
        self.finish_tool();
        if self.n_selected() == 0 {
            self.notify("Nothing is selected: everything would be hidden.");
            return false;
        }
        let selection = self.selection();
        let mut hidden = self.hidden();
        match self.select_kind() {
            SelectKind::Bones => {
                let others = self.visible_joints().into_iter();
                hidden
                    .joints
                    .extend(others.filter(|j| !selection.joints.contains(j)));
            }
            SelectKind::Points => {
                for (mesh, mut others) in self.visible_points() {
                    if let Some(selected) = selection.points.get(&mesh) {
                        others.subtract(selected);
                    }
                    Arc::make_mut(hidden.points.entry(mesh).or_default()).union(&others);
                }
            }
        }
        self.set_hidden(hidden);
        true
    }

    /// Isolates the selection; a second call shows the rest again, except items hidden otherwise, before or since.
    pub fn toggle_isolate(&mut self) {
        if let Some(added) = self.selecting.isolated_from.take() {
            let mut hidden = self.hidden();
            hidden.subtract(&added);
            self.set_hidden(hidden);
        } else {
            let before = self.hidden();
            if self.hide_unselected() {
                let mut added = self.hidden();
                added.subtract(&before);
                self.selecting.isolated_from = Some(added).filter(|added| !added.is_empty());
            }
        }
    }

    /// Whether [`Editor::toggle_isolate`] would show the rest again.
    pub fn is_isolated(&self) -> bool {
        self.selecting.isolated_from.is_some()
    }

    /// Shows everything; the shown items of the kind that is picked are selected.
    pub fn show_all(&mut self) {
        self.finish_tool();
        self.selecting.isolated_from = None;
        let hidden = self.hidden();
        if hidden.is_empty() {
            return;
        }
        self.set_hidden(Hidden::default());
        let mut selection = self.selection();
        match self.select_kind() {
            SelectKind::Bones if !hidden.joints.is_empty() => selection.joints = hidden.joints,
            SelectKind::Points if !hidden.points.is_empty() => selection.points = hidden.points,
            _ => {}
        }
        self.set_selection(selection);
    }

    /// Whether any item is hidden.
    pub fn has_hidden(&self) -> bool {
        !self.hidden().is_empty()
    }

    /// Hides or shows a bone.
    pub fn set_joint_hidden(&mut self, joint: JointId, hide: bool) {
        self.set_joints_hidden(&[joint].into(), hide);
    }

    /// Hides or shows several bones at once.
    pub fn set_joints_hidden(&mut self, joints: &BTreeSet<JointId>, hide: bool) {
        let mut hidden = self.hidden();
        if hide {
            hidden.joints.extend(joints);
        } else {
            hidden.joints.retain(|joint| !joints.contains(joint));
        }
        self.set_hidden(hidden);
    }

    /// Hides or shows an object.
    pub fn set_instance_hidden(&mut self, instance: InstanceId, hide: bool) {
        self.finish_tool();
        let mut hidden = self.hidden();
        if hide {
            hidden.instances.insert(instance);
        } else {
            hidden.instances.remove(&instance);
        }
        self.set_hidden(hidden);
    }

    /// Whether an object is hidden.
    pub fn is_instance_hidden(&self, instance: InstanceId) -> bool {
        self.document.session().hidden_instances.contains(&instance)
    }

    fn hidden(&self) -> Hidden {
        let session = self.document.session();
        Hidden {
            joints: session.hidden_joints.clone(),
            points: session.hidden_points.clone(),
            instances: session.hidden_instances.clone(),
        }
    }

    fn set_hidden(&mut self, mut hidden: Hidden) {
        hidden.points.retain(|_, set| !set.is_empty());
        // Items shown one by one during isolation are no longer part of it.
        if let Some(mut added) = self.selecting.isolated_from.take() {
            added.intersect(&hidden);
            self.selecting.isolated_from = Some(added).filter(|added| !added.is_empty());
        }
        let session = self.document.session_mut();
        session.hidden_joints = hidden.joints;
        session.hidden_points = hidden.points;
        session.hidden_instances = hidden.instances;
        session.deselect_hidden();
        self.selecting.hidden_serial += 1;
        self.selection_changed();
    }
}
