//! The groups of control clusters: added, named, drawn, moved by a base, shown alone.

use super::Editor;
use crate::cluster::{Base, ClusterGroup, Glyph, GroupPreset};
use crate::document::MeshId;
use std::sync::Arc;

impl Editor {
    /// The groups of the object, in the order of lists.
    pub fn cluster_groups(&self) -> &[Arc<ClusterGroup>] {
        self.clusters().map_or(&[], |map| map.groups())
    }

    /// The number of clusters of each group. The sides of a seam count once.
    pub fn cluster_counts(&self) -> Vec<usize> {
        let mesh = self.clustered_mesh();
        mesh.map_or_else(Vec::new, |mesh| self.document.cluster_counts(mesh))
    }

    /// The active group, into which strokes mark: the chosen one, else the first. `None` without groups.
    pub fn active_group(&self) -> Option<u16> {
        self.document.active_group(self.clustered_mesh()?)
    }

    /// The group that is shown alone; `None` where all are shown.
    pub fn isolated_group(&self) -> Option<u16> {
        self.document.isolated_group(self.clustered_mesh()?)
    }

    /// Makes a group active.
    pub fn choose_group(&mut self, group: u16) {
        let is_there = usize::from(group) < self.cluster_groups().len();
        let Some(mesh) = self.clustered_mesh().filter(|_| is_there) else {
            return;
        };
        if self.active_group() != Some(group) {
            self.finish_tool();
        }
        let session = self.document.session_mut();
        session.active_groups.insert(mesh, group);
        if let Some(alone) = session.isolated_groups.get_mut(&mesh) {
            *alone = group;
        }
    }

    /// Shows only the clusters of a group, and leaves those of the others alone; `None` shows all.
    pub fn isolate_group(&mut self, group: Option<u16>) {
        let Some(mesh) = self.clustered_mesh() else {
            return;
        };
        self.finish_tool();
        let session = self.document.session_mut();
        match group {
            Some(group) => {
                session.isolated_groups.insert(mesh, group);
                session.active_groups.insert(mesh, group);
            }
            None => {
                session.isolated_groups.remove(&mesh);
            }
        }
    }

    /// Adds a group and makes it active. Returns whether there is one more.
    pub fn add_group(&mut self, preset: GroupPreset) -> bool {
        let Some(map) = self.clusters() else {
            self.notify("Select an object first.");
            return false;
        };
        let group = preset.group(map);
        let index = map.groups().len() as u16;
        let label = format!("Add group · {}", group.name);
        self.in_step(&label, |editor| {
            let is_added = editor.change_clusters(&label, |map| map.with_group(None, group));
            if let Some(mesh) = editor.clustered_mesh().filter(|_| is_added) {
                editor.choose_group_of(mesh, Some(index));
            }
            is_added
        })
    }

    /// Deletes a group; its clusters become free.
    pub fn delete_group(&mut self, group: u16) {
        let Some(known) = self.cluster_groups().get(usize::from(group)) else {
            return;
        };
        let label = format!("Delete group · {}", known.name);
        let (active, mesh) = (self.active_group(), self.clustered_mesh());
        self.in_step(&label, |editor| {
            let is_gone = editor.change_clusters(&label, |map| Ok(map.without_group(group)));
            if let Some(mesh) = mesh.filter(|_| is_gone) {
                let next = active.map(|a| a - u16::from(a > group));
                editor.choose_group_of(mesh, next);
            }
            is_gone
        });
    }

    /// Renames a group, and with it what sample sets hold. An empty name changes nothing; a taken one is refused.
    pub fn rename_group(&mut self, group: u16, name: &str) {
        let name = name.trim();
        let known = self.cluster_groups().get(usize::from(group));
        let Some(before) = known.map(|known| known.name.clone()) else {
            return;
        };
        if name.is_empty() || name == before {
            return;
        }
        let label = format!("Rename group · {name}");
        self.in_step(&label, |editor| {
            let is_renamed =
                editor.change_group(group, &label, |group| name.clone_into(&mut group.name));
            if is_renamed {
                editor.rename_held_group(&before, name);
            }
            is_renamed
        });
    }

    /// Sets what moves the clusters of a group. A lattice or a cage that it does not have yet is fitted to its clusters.
    pub fn set_group_base(&mut self, group: u16, base: Base) {
        let Some(known) = self.cluster_groups().get(usize::from(group)) else {
            return;
        };
        let label = format!("Driven by · {}", base.label());
        let changed = ClusterGroup {
            base,
            ..ClusterGroup::clone(known)
        };
        let changed = self.with_controls(group, changed);
        self.change_clusters(&label, |map| map.with_group(Some(group), changed));
    }

    /// Sets the glyph of a group.
    pub fn set_group_glyph(&mut self, group: u16, glyph: Glyph) {
        self.change_group(group, "Glyph of group", |group| group.glyph = glyph);
    }

    /// Sets the colour of a group, sRGB.
    pub fn set_group_colour(&mut self, group: u16, colour: [u8; 3]) {
        self.change_group(group, "Colour of group", |group| group.colour = colour);
    }

    /// Changes a group as one undo step or as part of the open one. Returns whether it changed.
    pub(super) fn change_group(
        &mut self,
        at: u16,
        label: &str,
        change: impl FnOnce(&mut ClusterGroup),
    ) -> bool {
        let Some(known) = self.cluster_groups().get(usize::from(at)) else {
            return false;
        };
        let mut group = ClusterGroup::clone(known);
        change(&mut group);
        self.change_clusters(label, |map| map.with_group(Some(at), group))
    }

    /// Makes a group active without a check, and shows all groups.
    fn choose_group_of(&mut self, mesh: MeshId, group: Option<u16>) {
        let session = self.document.session_mut();
        session.isolated_groups.remove(&mesh);
        // Groups after a deleted one have other indices.
        session.selected_controls.retain(|of, _| of.0 != mesh);
        match group {
            Some(group) => session.active_groups.insert(mesh, group),
            None => session.active_groups.remove(&mesh),
        };
    }

    /// Runs `change` in an undo step of its own: what it does to the session is undone with it.
    pub(super) fn in_step(&mut self, label: &str, change: impl FnOnce(&mut Self) -> bool) -> bool {
        self.finish_tool();
        self.history.begin(&self.document, label);
        let changed = change(self);
        self.history.commit(&self.document);
        changed
    }
}
