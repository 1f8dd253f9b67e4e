//! Selected clusters and control points, moved by the gizmo or the keys G, R and S: displacements of groups that are moved by
//! hand, or by a lattice or a cage.
//!
//! Data flow: [`Editor::begin_cluster_transform`] with the surface on screen -> [`Transforming`] follows the pointer, the
//! axis keys and typed numbers -> its map gives each cluster or control point an offset, one edit for each event, all in one step.
//!
//! In a clip with keyframes of the group, the offset goes into a keyframe at the current time; otherwise it holds in all
//! poses and clips without keyframes, as automatic keyframes do in Maya.

use super::Editor;
use super::controls::ControlPoints;
use super::keys::{key_clip, motion_at};
use crate::cluster::{Base, ClusterMap, MapError, reflected};
use crate::document::session::{BrushOptions, TransformKind};
use crate::document::{ClustersEdit, Edit, InstanceId, MeshId};
use crate::evaluate::ViewId;
use crate::finding::counted;
use crate::math::dual_quaternion::quat_from_rotation;
use crate::math::polar;
use crate::mesh::PointTree;
use crate::skeleton::Moment;
use crate::tools::transform::Transforming;
use crate::tools::{Handle, Screen};
use glam::{DMat3, DQuat, Vec2, Vec3};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A transform of clusters in progress.
pub(in crate::editor) struct ClusterMove {
    tool: Transforming,
    mesh: MeshId,
    metres_per_px: f32,
    /// By group.
    moved: BTreeMap<u16, Vec<MovedCluster>>,
    /// The time in the clip; a keyframe for each group that has some in the clip.
    moment: Moment,
    label: String,
    /// The clusters at the start.
    before: Arc<ClusterMap>,
}

/// A cluster or a control point that is being moved.
struct MovedCluster {
    control: u32,
    /// On screen at the start, world.
    place: Vec3,
    /// World from mesh space at bind, after a reflection along x where that mirrors.
    rotation: DQuat,
    mirrored: bool,
    /// Metres of the world in one unit of its displacement.
    unit: f64,
    is_selected: bool,
    /// 1 for a selected one; what soft selection makes of the distance to the nearest of those for the others.
    effect: f32,
}

/// What a transform is about to move.
struct Subject {
    mesh: MeshId,
    moved: BTreeMap<u16, Vec<MovedCluster>>,
    /// The middle, and the direction of the local z axis.
    pivot: (Vec3, Vec3),
    n: usize,
    noun: &'static str,
}

impl Editor {
    /// Whether the left mouse button selects and moves clusters in Cluster mode, instead of marking.
    pub fn moves_clusters(&self) -> bool {
        self.document.session().moves_clusters
    }

    /// Lets the left mouse button select and move clusters, or mark.
    pub fn set_moves_clusters(&mut self, moves: bool) {
        if self.moves_clusters() != moves {
            self.finish_tool();
            self.document.session_mut().moves_clusters = moves;
        }
    }

    /// Whether clusters are being moved.
    pub fn is_moving_clusters(&self) -> bool {
        self.clustering.moving.is_some()
    }

    /// The selected clusters of groups that are moved by hand, ascending; both sides of a seam.
    pub fn clusters_by_hand(&self) -> Vec<u32> {
        let Some((mesh, item)) = self.clustered_item() else {
            return Vec::new();
        };
        let session = self.document.session();
        let Some(selected) = session.selected_points.get(&mesh) else {
            return Vec::new();
        };
        let topology = item.geometry.topology();
        let is_selected =
            |p: u32| selected.contains(p) || topology.twins(p).any(|twin| selected.contains(twin));
        let hidden = session.hidden_points.get(&mesh);
        let is_shown = |p: u32| !hidden.is_some_and(|hidden| hidden.contains(p));
        let own = self.document.points_by_hand(mesh);
        let own = own.iter().filter(|&p| is_selected(p) && is_shown(p));
        own.collect()
    }

    /// The position and axes of the gizmo of the selected clusters that are moved by hand, or of the selected control points
    /// of the active group, as on screen; `None` without.
    pub fn cluster_gizmo_frame(&self) -> Option<(Vec3, [Vec3; 3])> {
        let (place, normal) = match self.control_points() {
            Some(shown) => shown.middle()?,
            None => self.middle_of(self.clustered_instance()?, &self.clusters_by_hand())?,
        };
        let axes = Transforming::axes_of_points(self.pose_options().space, normal);
        Some((place, axes))
    }

    /// Begins to transform the selected clusters as [`Editor::begin_transform`] does bones.
    pub fn begin_cluster_transform(
        &mut self,
        kind: TransformKind,
        handle: Option<Handle>,
        at_px: Vec2,
        size_px: Vec2,
    ) -> bool {
        if self.press_kind(kind) {
            return true;
        }
        self.finish_tool();
        self.cancel_select();
        self.edit_template();
        if self.is_playing() {
            self.pause();
        }
        if self.views.pointed() != ViewId::OWN {
            self.notify("Move clusters in the view of the object's own deformer stack, not in a comparison.");
            return false;
        }
        let subject = match self.control_points() {
            Some(shown) => self.subject_of_controls(&shown),
            None => self.subject_by_hand(),
        };
        let subject = match subject {
            Ok(subject) => subject,
            Err(why) => {
                self.notify(why);
                return false;
            }
        };
        let Some(before) = self.clusters().cloned() else {
            return false;
        };
        let session = self.document.session();
        let screen = Screen::new(session.camera, size_px);
        let metres_per_px = screen.metres_per_px(subject.pivot.0);
        let mut tool = Transforming::of_points(
            subject.n,
            subject.pivot,
            (kind, session.pose.space),
            (screen, at_px),
        );
        if let Some(handle) = handle {
            tool.grab(handle);
        }
        let moment = self.document.shown_moment();
        let is_keyed = |group: &u16| {
            let motion = before.groups()[usize::from(*group)].motion();
            motion.is_some_and(|motion| key_clip(motion, moment).is_some())
        };
        let what = counted(subject.n, subject.noun);
        let mut label = format!("{} {what}", tool.kind().verb());
        let is_selected = |moved: &Vec<MovedCluster>| moved.iter().any(|m| m.is_selected);
        let mut selected = subject.moved.iter().filter(|(_, moved)| is_selected(moved));
        if selected.any(|(group, _)| is_keyed(group)) {
            label = format!("{label} · keyframe at {:.2} s", moment.secs);
        }
        self.history.begin(&self.document, &label);
        self.clustering.moving = Some(ClusterMove {
            tool,
            mesh: subject.mesh,
            metres_per_px,
            moved: subject.moved,
            moment,
            label,
            before,
        });
        self.reach_clusters();
        true
    }

    /// The pivot of the transform of clusters in progress and the radius of soft selection there, metres.
    pub(in crate::editor) fn soft_reach_of_clusters(&self) -> Option<(Vec3, f32)> {
        let moving = self.clustering.moving.as_ref()?;
        let radius = self.soft_radius(moving.metres_per_px)?;
        Some((moving.tool.pivot(), radius))
    }

    /// Finds how far the clusters and control points follow that soft selection takes along.
    pub(in crate::editor) fn reach_clusters(&mut self) {
        let Some(mut moving) = self.clustering.moving.take() else {
            return;
        };
        let radius = self.soft_radius(moving.metres_per_px);
        moving.reach(radius, &self.document.session().brush);
        self.clustering.moving = Some(moving);
    }

    fn subject_by_hand(&self) -> Result<Subject, &'static str> {
        let points = self.clusters_by_hand();
        let pivot = self
            .clustered_instance()
            .and_then(|instance| Some((instance, self.middle_of(instance, &points)?)));
        let Some(((instance, pivot), (mesh, item))) = pivot.zip(self.clustered_item()) else {
            let mut groups = self.cluster_groups().iter();
            return Err(if groups.any(|group| group.base == Base::Hand) {
                "Select clusters of a group that is moved by hand first: press L, or B and drag a box."
            } else {
                "No group is moved by hand. Choose \"By hand\", \"Lattice\" or \"Cage\" as Driven by for a group in the Clusters \
                 panel first."
            });
        };
        let mut moved: BTreeMap<u16, Vec<MovedCluster>> = BTreeMap::new();
        for cluster in self.moved_clusters(instance, &points) {
            if let Some(group) = item.clusters.group_of(cluster.control) {
                moved.entry(group).or_default().push(cluster);
            }
        }
        Ok(Subject {
            mesh,
            moved,
            pivot,
            n: self.n_places_of(&points),
            noun: "cluster",
        })
    }

    fn subject_of_controls(&self, shown: &ControlPoints) -> Result<Subject, &'static str> {
        let found = shown.middle().zip(self.clustered_mesh());
        let (pivot, mesh) = found.ok_or(
            "Select control points of the group first: click one, or press B and drag a box.",
        )?;
        let moved = (0u32..).zip(&shown.places).map(|(control, &place)| {
            let is_selected = shown.selected.contains(&control);
            MovedCluster {
                control,
                place,
                rotation: shown.frame.rotation,
                mirrored: shown.frame.mirrored,
                unit: shown.frame.unit,
                is_selected,
                effect: f32::from(is_selected),
            }
        });
        let moved: Vec<MovedCluster> = moved.collect();
        Ok(Subject {
            mesh,
            n: shown.selected.len(),
            moved: [(shown.group, moved)].into(),
            pivot,
            noun: "control point",
        })
    }

    /// The tool of a transform of clusters in progress.
    pub(in crate::editor) fn cluster_tool(&self) -> Option<&Transforming> {
        self.clustering.moving.as_ref().map(|moving| &moving.tool)
    }

    /// The tool of a transform of clusters in progress.
    pub(in crate::editor) fn cluster_tool_mut(&mut self) -> Option<&mut Transforming> {
        let moving = self.clustering.moving.as_mut();
        moving.map(|moving| &mut moving.tool)
    }

    /// Brings the clusters to the transform in progress.
    pub(in crate::editor) fn show_moved_clusters(&mut self) {
        let Some(moving) = &self.clustering.moving else {
            return;
        };
        let map = match moving.clusters() {
            Ok(map) => map,
            Err(why) => {
                self.notify_error(super::sentence(&why));
                return;
            }
        };
        let (mesh, label) = (moving.mesh, moving.label.clone());
        let known = self.document.meshes().get(&mesh);
        if known.is_none_or(|item| *item.clusters == map) {
            return;
        }
        let edit = ClustersEdit::new(&self.document, mesh, Arc::new(map));
        if let Err(error) = self.apply(Edit::Clusters(edit), &label) {
            self.notify_error(super::sentence(&error));
        }
    }

    /// Ends the transform of clusters: one undo step, or none if nothing changed. Returns whether there was one.
    pub(in crate::editor) fn confirm_moved_clusters(&mut self) -> bool {
        let Some(moving) = self.clustering.moving.take() else {
            return false;
        };
        let now = self.document.meshes().get(&moving.mesh);
        if now.is_some_and(|item| item.clusters == moving.before) {
            let dirty = self.history.cancel(&mut self.document);
            self.refresh(&dirty);
        } else {
            self.history.commit(&self.document);
        }
        true
    }

    /// Cancels the transform of clusters; restores them bit for bit. Returns whether there was one.
    pub(in crate::editor) fn cancel_moved_clusters(&mut self) -> bool {
        let was = self.clustering.moving.take().is_some();
        if was {
            let dirty = self.history.cancel(&mut self.document);
            self.refresh(&dirty);
        }
        was
    }

    /// The mean position of points on screen and their mean normal, world; `None` without points.
    fn middle_of(&self, instance: InstanceId, points: &[u32]) -> Option<(Vec3, Vec3)> {
        let shown = self.views.own().get(&instance)?;
        let topology = shown.mesh.topology();
        let (mut place, mut normal) = (Vec3::ZERO, Vec3::ZERO);
        for &point in points {
            place += *shown.positions.get(point as usize)?;
            let normals = topology.normals_of_point(point);
            let normals = normals.filter_map(|n| shown.normals.get(n as usize));
            normal += normals.sum::<Vec3>().normalize_or_zero();
        }
        let normal = normal.normalize_or_zero();
        (!points.is_empty()).then(|| (place / points.len() as f32, normal))
    }

    /// The selected points of an instance, ascending, and all others that are moved by hand, where they are on screen, with the
    /// rotations that carry their displacements.
    fn moved_clusters(&self, instance: InstanceId, selected: &[u32]) -> Vec<MovedCluster> {
        let found = self.views.own().get(&instance).zip(self.clustered_mesh());
        let Some((shown, mesh)) = found else {
            return Vec::new();
        };
        let hidden = self.document.session().hidden_points.get(&mesh);
        let is_shown = |p: &u32| !hidden.is_some_and(|hidden| hidden.contains(*p));
        let own = self.document.points_by_hand(mesh);
        let rotations = self.document.point_rotations(instance);
        let drawn = self.document.instances().get(&instance);
        let node = drawn.and_then(|drawn| self.world.get(drawn.joint.get()));
        let node = node.map_or(DMat3::IDENTITY, |node| node.matrix3);
        let of_node = quat_from_rotation(polar(node).0);
        let mirrors = |point: u32| {
            let matrix = drawn.map(|drawn| self.document.linear_matrix(drawn, point, &self.world));
            matrix.is_some_and(|matrix| matrix.matrix3.determinant() < 0.0)
        };
        let moved = own.iter().filter(is_shown).filter_map(|point| {
            let is_selected = selected.binary_search(&point).is_ok();
            Some(MovedCluster {
                control: point,
                place: *shown.positions.get(point as usize)?,
                rotation: rotations.as_ref().map_or(of_node, |r| r.at(point)),
                mirrored: mirrors(point),
                unit: 1.0,
                is_selected,
                effect: f32::from(is_selected),
            })
        });
        moved.collect()
    }
}

impl ClusterMove {
    /// Takes along the clusters and control points within `radius` metres of a selected one, with the falloff of the brush;
    /// `None`: the selected ones only.
    fn reach(&mut self, radius: Option<f32>, brush: &BrushOptions) {
        let all = || self.moved.values().flatten();
        let selected = all().filter(|cluster| cluster.is_selected);
        let selected: Vec<Vec3> = selected.map(|cluster| cluster.place).collect();
        let all = (0..selected.len() as u32).collect();
        let near = radius.map(|radius| (radius, PointTree::new(&selected, all)));
        for cluster in self.moved.values_mut().flatten() {
            let reached = |(radius, near): &(f32, PointTree)| {
                let found = near.nearest(&selected, cluster.place, *radius)?;
                let apart = selected[found as usize].distance(cluster.place);
                (apart < *radius).then(|| brush.fades_to(apart / radius))
            };
            cluster.effect = if cluster.is_selected {
                1.0
            } else {
                near.as_ref().and_then(reached).unwrap_or(0.0)
            };
        }
    }

    /// The clusters with the transform as it is now.
    fn clusters(&self) -> Result<ClusterMap, MapError> {
        let by = self.tool.point_map();
        let mut map = ClusterMap::clone(&self.before);
        for (&index, clusters) in &self.moved {
            let Some(known) = self.before.groups().get(usize::from(index)) else {
                continue;
            };
            let Some(motion) = known.motion() else {
                continue;
            };
            let mut offsets: BTreeMap<u32, Vec3> =
                motion.offsets_at(self.moment).into_iter().collect();
            if clusters.iter().all(|cluster| cluster.effect == 0.0) {
                continue;
            }
            for cluster in clusters.iter().filter(|cluster| cluster.effect > 0.0) {
                let world = by.offset(cluster.place, cluster.effect).as_dvec3();
                let offset = offsets.entry(cluster.control).or_default();
                let bind = reflected(cluster.rotation.conjugate() * world, cluster.mirrored);
                *offset += (bind / cluster.unit).as_vec3();
            }
            let motion = motion_at(motion, self.moment, offsets.into_iter().collect())?;
            let group = known.with_motion(known.base, motion);
            map = map.with_group(Some(index), group)?;
        }
        Ok(map)
    }
}
