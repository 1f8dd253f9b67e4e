//! The lattice or the cage of the active group: fitted to its clusters, and its control points on screen, selected.

use super::Editor;
use crate::cluster::lattice::{LatticeSettings, Outside};
use crate::cluster::{
    Base, CageControls, CageMesh, CageSource, ClusterGroup, ControlMotion, LatticeControls,
};
use crate::document::{ControlFrame, MeshId};
use crate::finding::Place;
use crate::tools::{Region, ScreenView, SelectOp};
use glam::{DVec3, Vec2, Vec3};
use std::collections::BTreeSet;
use std::sync::Arc;

/// The numbers of control points of a new lattice, as in Blender.
const COUNTS: [u32; 3] = [2; 3];
/// The parts of each edge of a new cage.
const SEGMENTS: u32 = 2;

/// The control points of the active group, as on screen.
#[derive(Clone, Debug, PartialEq)]
pub struct ControlPoints {
    /// The index of the group.
    pub group: u16,
    /// Where they are, world.
    pub places: Vec<Vec3>,
    /// The lines between them.
    pub lines: Vec<[u32; 2]>,
    /// The selected ones.
    pub selected: BTreeSet<u32>,
    /// From mesh space to the world.
    pub frame: ControlFrame,
}

impl ControlPoints {
    /// The middle of the selected ones, and the direction of their local z axis; `None` where none is selected.
    pub fn middle(&self) -> Option<(Vec3, Vec3)> {
        let sum: Vec3 = self.selected.iter().map(|&c| self.places[c as usize]).sum();
        let n = self.selected.len();
        let axis = (self.frame.rotation * DVec3::Z).as_vec3();
        (n > 0).then(|| (sum / n as f32, axis))
    }
}

impl Editor {
    /// The control points of the lattice or the cage of the active group in the pose on screen; `None` where it has none, or no
    /// clusters.
    pub fn control_points(&self) -> Option<ControlPoints> {
        let (mesh, index, group) = self.controlled_group()?;
        let motion = group.motion()?;
        let instance = self.clustered_instance()?;
        let frame = self.document.control_frame(instance, index, &self.world)?;
        let places = group.controls_at_rest();
        let mut places: Vec<DVec3> = places.iter().map(|p| frame.place(*p)).collect();
        let mut offsets = Vec::new();
        motion.at(self.document.shown_moment(), &mut offsets);
        for (control, offset) in offsets {
            if let Some(place) = places.get_mut(control as usize) {
                *place += frame.carry(offset);
            }
        }
        let selected = self
            .document
            .session()
            .selected_controls
            .get(&(mesh, index));
        let selected = selected.into_iter().flatten().copied();
        Some(ControlPoints {
            group: index,
            selected: selected.filter(|c| (*c as usize) < places.len()).collect(),
            lines: group.control_lines(),
            places: places.iter().map(|p| p.as_vec3()).collect(),
            frame,
        })
    }

    /// Whether the mouse and the commands select control points instead of vertices: in Cluster mode with the tool that moves
    /// clusters, where the active group has a lattice or a cage.
    pub fn selects_controls(&self) -> bool {
        self.selects_for_moving() && self.controlled_group().is_some()
    }

    /// Number of selected control points, where the commands select these; else 0.
    pub fn n_selected_controls(&self) -> usize {
        let shown = self.control_points().filter(|_| self.selects_controls());
        shown.map_or(0, |shown| shown.selected.len())
    }

    /// Selects control points of the active group as a click or a region does.
    pub fn select_controls(&mut self, controls: impl IntoIterator<Item = u32>, op: SelectOp) {
        let Some((mesh, index, group)) = self.controlled_group() else {
            return;
        };
        let n = group.controls_at_rest().len();
        let found: BTreeSet<u32> = controls.into_iter().filter(|c| (*c as usize) < n).collect();
        let selected = &mut self.document.session_mut().selected_controls;
        let own = selected.entry((mesh, index)).or_default();
        match op {
            SelectOp::Replace => *own = found,
            SelectOp::Extend => own.extend(found),
            SelectOp::Subtract => own.retain(|c| !found.contains(c)),
        }
        selected.retain(|_, set| !set.is_empty());
    }

    /// The control points of the active group inside of a region of the viewport.
    pub(in crate::editor) fn controls_in(
        &self,
        region: &Region,
        view: &ScreenView,
    ) -> BTreeSet<u32> {
        let places = self
            .control_points()
            .map_or_else(Vec::new, |shown| shown.places);
        let places = (0u32..).zip(places);
        let inside = places.filter(|(_, place)| {
            let at = view.project(*place);
            at.is_some_and(|at| region.contains(at.truncate()))
        });
        inside.map(|(control, _)| control).collect()
    }

    /// The control point of the active group nearest to a pixel, within a reach.
    pub(in crate::editor) fn control_at(
        &self,
        at: Vec2,
        reach_px: f32,
        view: &ScreenView,
    ) -> Option<u32> {
        let shown = self.control_points()?;
        let places = (0u32..).zip(&shown.places);
        let gaps = places
            .filter_map(|(c, place)| Some((c, view.project(*place)?.truncate().distance(at))));
        let near = gaps.filter(|(_, gap)| *gap <= reach_px);
        near.min_by(|a, b| a.1.total_cmp(&b.1))
            .map(|(control, _)| control)
    }

    /// Fits the lattice or the cage of a group around its clusters at bind, as one undo step; it keeps its numbers of points and
    /// their displacements. A cage that is a copy of an object is copied again.
    pub fn fit_controls(&mut self, group: u16) {
        let Some(known) = self.cluster_groups().get(usize::from(group)).cloned() else {
            return;
        };
        if let Some(CageSource::Object(name)) = cage_source(&known) {
            self.use_cage(group, &name);
            return;
        }
        let label = match known.base {
            Base::Lattice => "Fit lattice to clusters",
            Base::Cage => "Fit cage to clusters",
            _ => return,
        };
        let points = self.bind_points(group);
        match fitted(&known, &points) {
            Ok(fitted) => self.replace_group(group, fitted, label),
            Err(why) => self.notify(why),
        }
    }

    /// Sets the numbers of control points of the lattice of a group, 2 - 16 each; its shape stays, or nearly with fewer.
    pub fn set_lattice_counts(&mut self, group: u16, counts: [u32; 3]) {
        let counts = counts.map(|n| n.clamp(2, LatticeSettings::MAX_COUNT));
        self.change_lattice(group, "Points of lattice", |lattice| {
            lattice.with_counts(counts)
        });
    }

    /// Sets what clusters outside of the lattice of a group do.
    pub fn set_lattice_outside(&mut self, group: u16, outside: Outside) {
        self.change_lattice(group, "Outside of lattice", |lattice| {
            let mut lattice = lattice.clone();
            lattice.settings.outside = outside;
            Ok(lattice)
        });
    }

    /// Makes the cage of a group a box around its clusters, each edge in so many parts; its shape stays nearly.
    pub fn set_cage_segments(&mut self, group: u16, segments: u32) {
        let points = self.bind_points(group);
        let Some(mesh) = CageMesh::around(points, segments) else {
            self.notify(NO_CLUSTERS);
            return;
        };
        self.change_cage(group, "Box cage", mesh);
    }

    /// Makes the cage of a group a copy of an object in the rest pose. Refused where its mesh does not enclose a space.
    pub fn use_cage(&mut self, group: u16, object: &str) {
        match self.cage_of(group, object) {
            Ok(mesh) => self.change_cage(group, &format!("Cage from {object}"), mesh),
            Err((why, Some(target))) => self.notify_at(why, target),
            Err((why, None)) => self.notify(why),
        }
    }

    /// The names of the objects that can be a cage of the active object: all others.
    pub fn cage_objects(&self) -> Vec<String> {
        let own = self.clustered_mesh();
        let mut names: Vec<String> = Vec::new();
        for drawn in self.document.instances().values() {
            let item = self.document.meshes().get(&drawn.mesh);
            if let Some(item) = item.filter(|_| Some(drawn.mesh) != own)
                && !names.contains(&item.geometry.name)
            {
                names.push(item.geometry.name.clone());
            }
        }
        names
    }

    /// The group with a new lattice or cage, where its base needs one and it has none.
    pub(super) fn with_controls(&self, index: u16, group: ClusterGroup) -> ClusterGroup {
        let is_missing = match group.base {
            Base::Lattice => group.lattice.is_none(),
            Base::Cage => group.cage.is_none(),
            _ => false,
        };
        if is_missing && let Ok(fitted) = fitted(&group, &self.bind_points(index)) {
            return fitted;
        }
        group
    }

    /// The cage that an object is; else why it is none, with the vertices that are at fault.
    fn cage_of(&self, group: u16, object: &str) -> Result<CageMesh, (String, Option<Place>)> {
        let own = self.clustered_mesh();
        let mut others = self.document.instances().iter();
        let found = others.find_map(|(_, drawn)| {
            let item = self.document.meshes().get(&drawn.mesh)?;
            let is_it = item.geometry.name == object && Some(drawn.mesh) != own;
            is_it.then_some((drawn, item))
        });
        let (drawn, item) =
            found.ok_or_else(|| (format!("There is no other object \"{object}\"."), None))?;
        let rest = self
            .document
            .rest_pose()
            .world_matrices(self.document.skeleton());
        let frame = self
            .clustered_instance()
            .and_then(|instance| self.document.control_frame(instance, group, &rest));
        let frame = frame.ok_or_else(|| (NO_CLUSTERS.to_owned(), None))?;
        let place = |point: u32| {
            let at = item.geometry.positions[point as usize].as_dvec3();
            let world = self
                .document
                .linear_matrix(drawn, point, &rest)
                .transform_point3(at);
            frame.rest_of(world)
        };
        CageMesh::of_mesh(object, &item.geometry, place).map_err(|why| {
            let points = CageMesh::points_at_fault(&item.geometry, &why);
            let target = (!points.is_empty()).then(|| Place::Points {
                mesh: drawn.mesh.0,
                points: points.into(),
            });
            let why = why.without_numbers();
            (format!("\"{object}\" cannot be the cage: {why}."), target)
        })
    }

    /// The active group with its mesh and index, if it has a lattice or a cage.
    fn controlled_group(&self) -> Option<(MeshId, u16, &Arc<ClusterGroup>)> {
        let (mesh, item) = self.clustered_item()?;
        let index = self.active_group()?;
        let group = item.clusters.groups().get(usize::from(index))?;
        let has = match group.base {
            Base::Lattice => group.lattice.is_some(),
            Base::Cage => group.cage.is_some(),
            _ => false,
        };
        has.then_some((mesh, index, group))
    }

    /// The clusters of a group at bind, mesh space.
    fn bind_points(&self, group: u16) -> Vec<DVec3> {
        let Some((_, item)) = self.clustered_item() else {
            return Vec::new();
        };
        let own = item.clusters.clusters().iter().filter(|c| c.1 == group);
        let positions = &item.geometry.positions;
        let points = own.filter_map(|c| positions.get(c.0 as usize));
        points.map(|p| p.as_dvec3()).collect()
    }

    fn change_lattice(
        &mut self,
        group: u16,
        label: &str,
        change: impl FnOnce(&LatticeControls) -> Result<LatticeControls, String>,
    ) {
        let Some(known) = self.cluster_groups().get(usize::from(group)).cloned() else {
            return;
        };
        match known.lattice.as_ref().map(|lattice| change(lattice)) {
            Some(Ok(lattice)) => {
                let mut changed = ClusterGroup::clone(&known);
                changed.lattice = Some(Arc::new(lattice));
                self.replace_group(group, changed, label);
            }
            Some(Err(why)) => self.notify(super::sentence(&why)),
            None => {}
        }
    }

    pub(super) fn replace_group(&mut self, at: u16, group: ClusterGroup, label: &str) {
        self.change_clusters(label, |map| map.with_group(Some(at), group));
    }
}

const NO_CLUSTERS: &str = "The group has no clusters to enclose: mark vertices into it first.";

fn cage_source(group: &ClusterGroup) -> Option<CageSource> {
    let cage = group.cage.as_ref().filter(|_| group.base == Base::Cage);
    cage.map(|cage| cage.mesh.source().clone())
}

/// A group whose lattice or box cage, as its base is, encloses points.
fn fitted(group: &ClusterGroup, points: &[DVec3]) -> Result<ClusterGroup, &'static str> {
    let mut group = group.clone();
    let points = points.iter().copied();
    if group.base == Base::Lattice {
        let known = group.lattice.as_ref();
        let counts = known.map_or(COUNTS, |known| known.settings.counts);
        let settings = LatticeSettings::around(points, counts).ok_or(NO_CLUSTERS)?;
        let outside = known.map_or(Outside::default(), |known| known.settings.outside);
        let motion = known.map_or_else(ControlMotion::default, |known| known.motion.clone());
        group.lattice = Some(Arc::new(LatticeControls {
            settings: LatticeSettings {
                outside,
                ..settings
            },
            motion,
        }));
    } else {
        let known = group.cage.as_ref();
        let segments = match known.map(|known| known.mesh.source()) {
            Some(CageSource::Box { segments }) => *segments,
            _ => SEGMENTS,
        };
        let mesh = CageMesh::around(points, segments).ok_or(NO_CLUSTERS)?;
        let motion = known.map_or_else(ControlMotion::default, |known| known.motion.clone());
        group.cage = Some(Arc::new(CageControls {
            motion,
            ..CageControls::new(mesh)
        }));
    }
    Ok(group)
}
