//! Which points are clusters: marked, unmarked, grown, shrunk, selected.

use super::Editor;
use crate::cluster::{ClusterMap, GroupPreset};
use crate::document::{MeshId, MeshItem};
use crate::finding::counted;
use crate::mesh::{PointSet, Topology, islands};

impl Editor {
    /// Puts the selected vertices of the object into a group and deselects them, so that the next key chooses a group
    /// again. Without a selection it only makes the group active.
    pub fn assign_group(&mut self, group: u16) {
        let groups = self.cluster_groups();
        if usize::from(group) >= groups.len() {
            let n = groups.len();
            let text = if n == 0 {
                "There are no groups. Add one in the Clusters panel first.".to_owned()
            } else {
                format!(
                    "There is no group {}: the object has {}.",
                    group + 1,
                    counted(n, "group")
                )
            };
            self.notify(text);
            return;
        }
        if self.has_selected_vertices() {
            self.mark_selected_into(group);
        }
        self.choose_group(group);
    }

    /// Puts the selected vertices of the object into the active group and deselects them; without a group, into a new
    /// one.
    pub fn mark_selected(&mut self) {
        if !self.has_selected_vertices() {
            self.notify("Select vertices of the active object first.");
            return;
        }
        self.mark_selected_into(self.active_group().unwrap_or_default());
    }

    /// Makes the selected vertices of the object free.
    pub fn unmark_selected(&mut self) {
        if !self.has_selected_vertices() {
            self.notify("Select vertices of the active object first.");
            return;
        }
        let Some((_, item)) = self.clustered_item() else {
            return;
        };
        let selected = self.selected_vertices_of(item);
        let points: Vec<u32> = selected
            .iter()
            .filter(|&p| self.may_change(item, p))
            .collect();
        let n = n_places(item.geometry.topology(), &points);
        if n == 0 {
            self.notify("None of the selected vertices is a cluster.");
            return;
        }
        let label = format!("Unmark {}", counted(n, "cluster"));
        self.change_clusters(&label, |map| Ok(map.with_points(&points, None)));
    }

    /// Makes all clusters of the object free. With one group shown alone, only its clusters.
    pub fn unmark_all(&mut self) {
        let Some((_, item)) = self.clustered_item() else {
            return;
        };
        let points = item.clusters.clusters().iter().map(|c| c.0);
        let points: Vec<u32> = points.filter(|&p| self.may_change(item, p)).collect();
        let n = n_places(item.geometry.topology(), &points);
        if n == 0 {
            self.notify("There are no clusters to unmark.");
            return;
        }
        let label = format!("Unmark {}", counted(n, "cluster"));
        self.change_clusters(&label, |map| Ok(map.with_points(&points, None)));
    }

    /// Extends the active group by the free neighbours of its clusters.
    pub fn grow_group(&mut self) {
        let Some((group, item, own)) = self.clusters_of_active() else {
            return;
        };
        let (mesh, n) = (&item.geometry, item.geometry.n_points());
        let mut grown = islands::grow(mesh.topology(), &own, n);
        grown.subtract(&own);
        let hidden = self.hidden_of_active();
        let is_free = |p: &u32| item.clusters.group_of(*p).is_none() && !hidden.contains(*p);
        let points: Vec<u32> = grown.iter().filter(is_free).collect();
        let n = n_places(mesh.topology(), &points);
        if n == 0 {
            self.notify("The clusters of the group have no free neighbours.");
            return;
        }
        let name = name_of(&item.clusters, group);
        let label = format!("Grow {name} · {}", counted(n, "cluster"));
        self.change_clusters(&label, |map| Ok(map.with_points(&points, Some(group))));
    }

    /// Makes the clusters of the active group free that have a neighbour outside of it.
    pub fn shrink_group(&mut self) {
        let Some((group, item, own)) = self.clusters_of_active() else {
            return;
        };
        let (mesh, n) = (&item.geometry, item.geometry.n_points());
        let mut others = own.clone();
        others.invert(n);
        let left = islands::shrink(mesh.topology(), &own, &others, n);
        let mut border = own;
        border.subtract(&left);
        border.subtract(&self.hidden_of_active());
        let points: Vec<u32> = border.iter().collect();
        let n = n_places(mesh.topology(), &points);
        if n == 0 {
            self.notify(
                "The group has no border to shrink: it contains every neighbour of its clusters.",
            );
            return;
        }
        let name = name_of(&item.clusters, group);
        let label = format!("Shrink {name} · {}", counted(n, "cluster"));
        self.change_clusters(&label, |map| Ok(map.with_points(&points, None)));
    }

    /// Selects the visible clusters of a group.
    pub fn select_group(&mut self, group: u16) {
        let Some((mesh, item)) = self.clustered_item() else {
            return;
        };
        let points = points_of(&item.clusters, group);
        self.select_points_of([(mesh, points)]);
        if self.n_selected() == 0 {
            self.notify("The group has no visible clusters.");
        }
    }

    /// Whether a vertex of the active object is selected.
    pub fn has_selected_vertices(&self) -> bool {
        let selected = &self.document.session().selected_points;
        let mesh = self.clustered_mesh();
        mesh.is_some_and(|mesh| selected.contains_key(&mesh))
    }

    /// The number of positions of some points of the object, ascending: the sides of a seam are at one.
    pub(super) fn n_places_of(&self, points: &[u32]) -> usize {
        let item = self.clustered_item();
        item.map_or(0, |(_, item)| n_places(item.geometry.topology(), points))
    }

    fn mark_selected_into(&mut self, group: u16) {
        let Some((_, item)) = self.clustered_item() else {
            return;
        };
        let selected = self.selected_vertices_of(item);
        let is_new = |p: &u32| {
            let known = item.clusters.group_of(*p);
            known != Some(group) && (known.is_none() || self.may_change(item, *p))
        };
        let points: Vec<u32> = selected.iter().filter(is_new).collect();
        let n = n_places(item.geometry.topology(), &points);
        let fresh = item.clusters.groups().is_empty();
        let fresh = fresh.then(|| GroupPreset::Skin.group(&item.clusters));
        let name = fresh.as_ref().map_or_else(
            || name_of(&item.clusters, group),
            |fresh| fresh.name.clone(),
        );
        let label = format!("Mark {} · {name}", counted(n, "cluster"));
        let lost = item.clusters.lost_by_hand(&points, Some(group));
        let lost = n_places(item.geometry.topology(), &lost);
        if lost > 0 {
            self.notify(format!(
                "The displacements by hand of {} are lost: the group \"{name}\" is not moved by hand. Undo restores \
                 them.",
                counted(lost, "cluster")
            ));
        }
        self.in_step(&label, |editor| {
            let changed = editor.change_clusters(&label, |map| {
                let map = match fresh {
                    Some(fresh) => map.with_group(None, fresh)?,
                    None => map.clone(),
                };
                Ok(map.with_points(&points, Some(group)))
            });
            editor.deselect_vertices();
            changed
        });
    }

    fn deselect_vertices(&mut self) {
        let Some(mesh) = self.clustered_mesh() else {
            return;
        };
        self.document.session_mut().selected_points.remove(&mesh);
        self.selection_changed();
    }

    /// The selected points of the object with the other sides of their seams.
    pub(super) fn selected_vertices_of(&self, item: &MeshItem) -> PointSet {
        let selected = self.clustered_mesh().and_then(|mesh| {
            let selected = &self.document.session().selected_points;
            selected.get(&mesh)
        });
        let topology = item.geometry.topology();
        let selected = selected.into_iter().flat_map(|set| set.iter());
        let sides = selected.flat_map(|p| std::iter::once(p).chain(topology.twins(p)));
        sides.collect()
    }

    /// Whether a point is a cluster that may change: with one group shown alone, those of the others may not.
    fn may_change(&self, item: &MeshItem, point: u32) -> bool {
        let alone = self.isolated_group();
        let group = item.clusters.group_of(point);
        group.is_some() && (alone.is_none() || alone == group)
    }

    /// The active group of the object, and its clusters. Says so where there are none.
    fn clusters_of_active(&mut self) -> Option<(u16, std::sync::Arc<MeshItem>, PointSet)> {
        let found = self.clustered_mesh().and_then(|mesh: MeshId| {
            let item = self.document.meshes().get(&mesh)?.clone();
            let group = self.active_group()?;
            let own = points_of(&item.clusters, group);
            (!own.is_empty()).then_some((group, item, own))
        });
        if found.is_none() {
            self.notify("The active group has no clusters.");
        }
        found
    }

    fn hidden_of_active(&self) -> PointSet {
        let hidden = &self.document.session().hidden_points;
        let hidden = self.clustered_mesh().and_then(|mesh| hidden.get(&mesh));
        hidden.map_or_else(PointSet::default, |set| PointSet::clone(set))
    }
}

fn points_of(map: &ClusterMap, group: u16) -> PointSet {
    let own = map.clusters().iter().filter(|c| c.1 == group);
    own.map(|c| c.0).collect()
}

fn name_of(map: &ClusterMap, group: u16) -> String {
    let group = map.groups().get(usize::from(group));
    group.map_or_else(String::new, |group| group.name.clone())
}

/// The number of positions of some points, ascending: the sides of a seam are at one.
fn n_places(topology: &Topology, points: &[u32]) -> usize {
    let is_in = |p: u32| points.binary_search(&p).is_ok();
    let is_first = |p: &&u32| !topology.twins(**p).any(|twin| twin < **p && is_in(twin));
    points.iter().filter(is_first).count()
}
