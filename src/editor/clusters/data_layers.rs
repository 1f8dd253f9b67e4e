//! Recorded data as layers of the active group: added, bound to clusters, changed. Each change is one undo step.

use super::Editor;
use super::marker_match::{Matched, match_markers};
use crate::cluster::channel::{
    Binding, BindingKind, Played, Recording, RecordingId, ScalarDirection,
};
use crate::cluster::fade::Fade;
use crate::cluster::{Base, ClusterGroup, DataLayer, Fit};
use crate::document::MeshId;
use crate::finding::{counted, trimmed};
use glam::DVec3;
use std::collections::BTreeSet;
use std::sync::Arc;

/// How far the whole range of a scalar without a length moves its clusters, as a fraction of the object's size.
const GAIN: f64 = 0.05;

impl Editor {
    /// The name of an undo step of the data of the active group: "Data scale · Levels".
    pub fn data_step(&self, layer: usize, what: &str) -> String {
        let known = self.group_layers::<DataLayer>().get(layer);
        let name = known.map_or("", |known| known.name.as_str());
        format!("Data {what} · {name}")
    }

    /// Changes data of the active group as one undo step, or as part of the open one. What is not valid is refused with the
    /// reason.
    pub fn set_data(
        &mut self,
        layer: usize,
        what: &str,
        change: impl FnOnce(&mut DataLayer),
    ) -> bool {
        let label = self.data_step(layer, what);
        self.change_group_layer(layer, &label, change)
    }

    /// Changes a binding of data of the active group, as [`Editor::set_data`].
    pub fn set_binding(
        &mut self,
        layer: usize,
        binding: usize,
        what: &str,
        change: impl FnOnce(&mut Binding),
    ) -> bool {
        self.set_data(layer, what, |data| {
            if let Some(known) = data.bindings.get_mut(binding) {
                change(known);
            }
        })
    }

    /// Adds data of a recording to the active group and makes it active. Returns whether it did.
    pub fn add_data(&mut self, recording: RecordingId) -> bool {
        let Some(item) = self.document.recordings().get(&recording) else {
            return false;
        };
        let wanted = item.name.clone();
        let Some(group) = self.active_group() else {
            self.notify("Add a group and mark its clusters first: data moves them.");
            return false;
        };
        let layer = DataLayer {
            name: self.free_layer_name::<DataLayer>(&wanted),
            played: Played::on_lane(recording, item),
            fit: Fit::default(),
            reference: None,
            fade: Fade::default(),
            bindings: Vec::new(),
            muted: false,
        };
        self.push_group_layer(group, layer)
    }

    /// The recording of data of the active group; `None` where its file cannot be read.
    pub fn recording_of_data(&self, layer: usize) -> Option<Arc<Recording>> {
        let known = self.group_layers::<DataLayer>().get(layer)?;
        let item = self.document.recordings().get(&known.played.recording)?;
        item.content.as_ref().ok().cloned()
    }

    /// Binds a channel to the selected clusters of the active group, else to all of them: a marker by its displacement, a
    /// scalar along the normals.
    pub fn add_binding(&mut self, layer: usize, channel: &str) {
        let Some(recording) = self.recording_of_data(layer) else {
            self.notify("The file of this recording cannot be read. Relink it first.");
            return;
        };
        let clusters = self.clusters_to_bind();
        if clusters.is_empty() {
            self.notify(
                "The active group has no clusters. Mark the vertices that the data moves first.",
            );
            return;
        }
        let mut binding = Binding::new(channel, clusters);
        if !recording.markers.iter().any(|track| track.name == channel) {
            let known = self.group_layers::<DataLayer>()[layer].clone();
            let Some((kind, scale)) = self.scalar_kind(&recording, channel, &known) else {
                self.notify(format!(
                    "The recording has no marker and no scalar \"{channel}\"."
                ));
                return;
            };
            binding.kind = kind;
            binding.scale = scale;
        }
        self.set_data(layer, "binding", |data| data.bindings.push(binding));
    }

    /// Removes a binding of data of the active group.
    pub fn remove_binding(&mut self, layer: usize, binding: usize) {
        self.set_data(layer, "binding removed", |data| {
            if binding < data.bindings.len() {
                data.bindings.remove(binding);
            }
        });
    }

    /// Gives a binding the selected clusters of the active group; one that is a position takes one.
    pub fn bind_selected(&mut self, layer: usize, binding: usize) {
        let clusters = self.selected_clusters_of_group();
        if clusters.is_empty() {
            self.notify("Select clusters of the active group first.");
            return;
        }
        let places = self.one_of_each_place(&clusters);
        self.set_binding(layer, binding, "clusters", |known| {
            known.clusters = if known.kind == BindingKind::Absolute {
                places
            } else {
                clusters
            };
        });
    }

    /// Selects the clusters of a binding.
    pub fn select_bound(&mut self, layer: usize, binding: usize) {
        let known = self.group_layers::<DataLayer>().get(layer);
        let known = known.and_then(|known| known.bindings.get(binding));
        let (Some(mesh), Some(known)) = (self.clustered_mesh(), known) else {
            return;
        };
        let points = known.clusters.iter().copied().collect();
        self.select_points_of([(mesh, points)]);
    }

    /// Makes a binding of a marker the position of its cluster, or its displacement. A position also gives the group the base
    /// Data, in the same undo step.
    pub fn set_binding_places(&mut self, layer: usize, binding: usize, places: bool) {
        let Some(group) = self.active_group() else {
            return;
        };
        let known = self.group_layers::<DataLayer>().get(layer);
        let known = known.and_then(|known| known.bindings.get(binding));
        let Some(known) = known.cloned() else {
            return;
        };
        let one = self.one_of_each_place(&known.clusters);
        let label = self.data_step(layer, "kind");
        let was_data = self.has_base_data(group);
        let changed = self.change_group(group, &label, |group| {
            let known = &mut group.data[layer].bindings[binding];
            if places {
                known.kind = BindingKind::Absolute;
                known.clusters = one;
                group.base = Base::Data;
            } else {
                known.kind = BindingKind::Delta;
            }
        });
        if changed && places && !was_data {
            self.notify(
                "The markers now set the positions of their clusters: the group is driven by Data.",
            );
        }
    }

    /// Binds each marker that moves nothing yet to the free cluster of the active group nearest to it at the reference time,
    /// as its position: one undo step. The group gets the base Data.
    pub fn bind_nearest(&mut self, layer: usize) {
        let (Some(group), Some(mesh)) = (self.active_group(), self.clustered_mesh()) else {
            return;
        };
        let Some(recording) = self.recording_of_data(layer) else {
            self.notify("The file of this recording cannot be read. Relink it first.");
            return;
        };
        let Some(matched) = self.matched_markers(layer, mesh, &recording) else {
            self.notify("Nothing to bind: every marker with a value at the reference time, or every cluster of the \
                group, is bound already.");
            return;
        };
        let label = self.data_step(layer, "binding");
        let changed = self.change_group(group, &label, |group: &mut ClusterGroup| {
            let bindings = matched.iter().map(|found| Binding {
                kind: BindingKind::Absolute,
                ..found.binding.clone()
            });
            group.data[layer].bindings.extend(bindings);
            group.base = Base::Data;
        });
        if changed {
            let farthest = matched.iter().map(|found| found.distance);
            let farthest = farthest.fold(0.0, f64::max);
            self.notify(format!(
                "{} bound. The farthest is {} mm from its vertex.",
                counted(matched.len(), "marker"),
                trimmed((farthest * 10_000.0).round() / 10.0)
            ));
        }
    }

    /// Markers without a binding, each with its cluster; `None` where there are none of either.
    fn matched_markers(
        &self,
        layer: usize,
        mesh: MeshId,
        recording: &Recording,
    ) -> Option<Vec<Matched>> {
        let data = self.group_layers::<DataLayer>().get(layer)?;
        let bound: BTreeSet<&str> = data.bindings.iter().map(|b| b.channel.as_str()).collect();
        let placed = self.cluster_groups().iter().flat_map(|group| &group.data);
        let placed = placed.flat_map(|data| &data.bindings);
        let placed: BTreeSet<u32> = placed
            .filter(|binding| binding.kind == BindingKind::Absolute)
            .flat_map(|binding| binding.clusters.iter().copied())
            .collect();
        let own = self.one_of_each_place(&self.points_of_active_group());
        let free: Vec<u32> = own.into_iter().filter(|p| !placed.contains(p)).collect();
        let clusters = self.document.rest_places(mesh, &free);
        // Axes and scale are those of the marker that is bound first.
        let mut known = data.bindings.iter();
        let like = known.find(|binding| !matches!(binding.kind, BindingKind::Scalar { .. }));
        let like = like.cloned();
        let like = like.unwrap_or_else(|| Binding::new("", Vec::new()));
        let reference = data.reference_time(recording);
        let sampling = data.played.sampling;
        let at_rest = |name: &str| recording.marker(name, sampling)?.ok()?.at(reference);
        let names = recording.markers.iter().map(|track| track.name.as_str());
        let markers = names
            .filter(|name| !bound.contains(name))
            .filter_map(|name| {
                let binding = Binding {
                    channel: name.to_owned(),
                    clusters: Vec::new(),
                    ..like.clone()
                };
                let place = binding.marker(at_rest(name)?);
                Some((binding, place))
            });
        let markers: Vec<(Binding, DVec3)> = markers.collect();
        let pairs = data.bindings.iter().filter_map(|binding| {
            let marker = binding.marker(at_rest(&binding.channel)?);
            let places = self.document.rest_places(mesh, &binding.clusters);
            let n = places.len() as f64;
            let middle = places.iter().map(|p| p.1).sum::<DVec3>() / n.max(1.0);
            (n > 0.0).then_some([marker, middle])
        });
        let pairs: Vec<[DVec3; 2]> = pairs.collect();
        let fit = (!pairs.is_empty()).then(|| data.similarity(&pairs));
        let may_move = data.fit != Fit::None;
        let matched = match_markers(&markers, &clusters, fit.as_ref(), may_move);
        (!matched.is_empty()).then_some(matched)
    }

    fn points_of_active_group(&self) -> Vec<u32> {
        let (Some(map), Some(group)) = (self.clusters(), self.active_group()) else {
            return Vec::new();
        };
        let own = map.clusters().iter().filter(|c| c.1 == group);
        own.map(|c| c.0).collect()
    }

    /// The selected clusters of the active group, else all of them, ascending.
    fn clusters_to_bind(&self) -> Vec<u32> {
        let selected = self.selected_clusters_of_group();
        if selected.is_empty() {
            self.points_of_active_group()
        } else {
            selected
        }
    }

    /// Of the sides of each seam the first that is among these points. Coincident vertices that are no seam stay apart.
    fn one_of_each_place(&self, points: &[u32]) -> Vec<u32> {
        let Some((_, item)) = self.clustered_item() else {
            return Vec::new();
        };
        let rings = item.geometry.rings();
        let among: BTreeSet<u32> = points.iter().copied().collect();
        let first = points.iter().map(|&point| {
            let seam = rings.seam(point).unwrap_or_default().iter();
            let own = seam.copied().filter(|side| among.contains(side));
            own.fold(point, u32::min)
        });
        first.collect::<BTreeSet<u32>>().into_iter().collect()
    }

    fn has_base_data(&self, group: u16) -> bool {
        let group = self.cluster_groups().get(usize::from(group));
        group.is_some_and(|group| group.base == Base::Data)
    }

    /// The kind and the scale with which a scalar moves clusters: its value at the reference time moves none. Lengths are
    /// lengths; what else is recorded moves them by a part of the object's size over its range.
    fn scalar_kind(
        &mut self,
        recording: &Recording,
        channel: &str,
        data: &DataLayer,
    ) -> Option<(BindingKind, f64)> {
        let found = recording.scalar(channel, data.played.sampling)?.ok()?;
        let reference = found.at(data.reference_time(recording));
        let reference = reference.or(found.values().first().copied())?;
        let has_skin = self
            .clustered_mesh()
            .is_some_and(|mesh| self.document.skin_of_mesh(mesh).is_some());
        let direction = if has_skin {
            ScalarDirection::Normal
        } else {
            ScalarDirection::Fixed(DVec3::Y)
        };
        let kind = BindingKind::Scalar {
            reference,
            direction,
        };
        let (unit, _) = recording.shown_unit(channel);
        let values = found.values().iter();
        let most = values.map(|v| (v - reference).abs()).fold(0.0, f64::max);
        let scale = if unit == "m" || most <= 0.0 {
            1.0
        } else {
            GAIN * self.object_size() / most
        };
        Some((kind, scale.clamp(-1e6, 1e6)))
    }
}
