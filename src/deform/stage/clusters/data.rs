//! Stage 8: the displacements of clusters by the recorded data of their groups.

use super::bases::rest_matrix;
use super::corners::Corners;
use crate::cluster::channel::{
    Binding, BindingKind, Channel, Recording, RecordingItem, Recordings, ScalarDirection,
    Similarity,
};
use crate::cluster::{ClusterMap, DataLayer};
use crate::deform::stage::key::Identity;
use crate::deform::stage::run::Run;
use glam::DVec3;
use std::sync::Arc;

/// The data of all groups on their corners, and their displacements in the latest run.
#[derive(Default)]
pub(super) struct Data {
    layers: Vec<OnCorners>,
    /// One a corner; empty without data.
    displaced: Vec<Displaced>,
    /// One a corner: whether data moves it at some time.
    moved: Vec<bool>,
    recordings: Identity<Recordings>,
}

/// A displacement by data.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Displaced {
    /// World, metres.
    pub(super) world: DVec3,
    /// Along the posed normal, metres.
    pub(super) along_normal: f64,
}

/// The data of one recording on the corners of a group.
struct OnCorners {
    layer: DataLayer,
    item: Arc<RecordingItem>,
    bound: Vec<Bound>,
    /// Markers at the reference time and the rest places of their vertices, and the fit of those.
    pairs: Vec<[DVec3; 2]>,
    fit: Similarity,
}

/// A channel and its corners.
struct Bound {
    binding: Binding,
    corners: Vec<u32>,
    signal: Signal,
    /// In the latest run; `None` before the first.
    now: Option<Displaced>,
}

enum Signal {
    /// And its value at the reference time.
    Marker(Channel<DVec3>, Option<DVec3>),
    Scalar(Channel<f64>),
}

impl Data {
    /// The data of a map. What has no recording or no channel is left out.
    pub(super) fn new(run: &Run<'_>, corners: &Corners, map: &ClusterMap) -> Self {
        let recordings = run.input.clusters.map(|clusters| clusters.recordings);
        let acting = map.data().filter(|(_, data)| !data.muted);
        let layers: Vec<OnCorners> = acting
            .filter_map(|(group, layer)| {
                let item = recordings?.get(&layer.played.recording)?;
                let recording = item.recording()?;
                Some(OnCorners::new(corners, group, layer, (item, recording)))
            })
            .collect();
        let mut moved = vec![false; if layers.is_empty() { 0 } else { corners.len() }];
        for bound in layers.iter().flat_map(|layer| &layer.bound) {
            for &corner in &bound.corners {
                moved[corner as usize] = true;
            }
        }
        Self {
            layers,
            displaced: vec![Displaced::default(); moved.len()],
            moved,
            recordings: Identity::of(recordings),
        }
    }

    /// Whether the recordings are still those that it was made of.
    pub(super) fn fit(&self, run: &Run<'_>) -> bool {
        let recordings = run.input.clusters.map(|clusters| clusters.recordings);
        self.recordings.is(recordings)
    }

    /// Whether there is any.
    pub(super) fn act(&self) -> bool {
        !self.layers.is_empty()
    }

    /// Whether data moves a corner at some time.
    pub(super) fn moves(&self, corner: u32) -> bool {
        self.moved.get(corner as usize) == Some(&true)
    }

    /// The displacement of a corner; `None` where no data moves it.
    pub(super) fn displaced(&self, corner: u32) -> Option<Displaced> {
        self.moves(corner).then(|| self.displaced[corner as usize])
    }

    /// Brings the displacements to the moment; adds the corners that move to `stale`.
    pub(super) fn run(&mut self, run: &Run<'_>, corners: &Corners, stale: &mut Vec<u32>) {
        let mut any = false;
        for layer in &mut self.layers {
            any |= layer.run(run, corners, stale);
        }
        if !any {
            return;
        }
        self.displaced.fill(Displaced::default());
        for bound in self.layers.iter().flat_map(|layer| &layer.bound) {
            let now = bound.now.unwrap_or_default();
            for &corner in &bound.corners {
                let sum = &mut self.displaced[corner as usize];
                sum.world += now.world;
                sum.along_normal += now.along_normal;
            }
        }
    }
}

impl OnCorners {
    fn new(
        corners: &Corners,
        group: u16,
        layer: &DataLayer,
        (item, recording): (&Arc<RecordingItem>, &Recording),
    ) -> Self {
        let sampling = layer.played.sampling;
        let reference = layer.reference_time(recording);
        let bound = layer.bindings.iter().filter_map(|binding| {
            let signal = match binding.kind {
                BindingKind::Scalar { .. } => {
                    Signal::Scalar(recording.scalar(&binding.channel, sampling)?.ok()?)
                }
                BindingKind::Absolute | BindingKind::Delta => {
                    let channel = recording.marker(&binding.channel, sampling)?.ok()?;
                    let at_rest = channel.at(reference);
                    Signal::Marker(channel, at_rest)
                }
            };
            let own = (0u32..).zip(&corners.points);
            let own = own.filter(|(_, (point, of))| {
                *of == Some(group) && binding.clusters.binary_search(point).is_ok()
            });
            Some(Bound {
                corners: own.map(|(corner, _)| corner).collect(),
                binding: binding.clone(),
                signal,
                now: None,
            })
        });
        Self {
            bound: bound.collect(),
            layer: layer.clone(),
            item: item.clone(),
            pairs: Vec::new(),
            fit: Similarity::IDENTITY,
        }
    }

    /// Brings its channels to the moment; adds the corners that move to `stale`. Returns whether there are any.
    fn run(&mut self, run: &Run<'_>, corners: &Corners, stale: &mut Vec<u32>) -> bool {
        self.refit(run, corners);
        let time = self.layer.played.time(&self.item, run.input.moment);
        let mut any = false;
        for bound in &mut self.bound {
            let now = bound.at(time, &self.layer, &self.fit, |corner| {
                at_rest(run, corners, corner)
            });
            if bound.now.map(Displaced::to_bits) != Some(now.to_bits()) {
                bound.now = Some(now);
                stale.extend_from_slice(&bound.corners);
                any = true;
            }
        }
        any
    }

    /// Fits the markers to the rest places of their vertices, where those changed.
    fn refit(&mut self, run: &Run<'_>, corners: &Corners) {
        let pairs = self.bound.iter().filter_map(|bound| {
            let Signal::Marker(_, Some(marker)) = &bound.signal else {
                return None;
            };
            let places = bound.corners.iter().map(|&c| at_rest(run, corners, c));
            let n = bound.corners.len();
            let place = places.sum::<DVec3>() / n as f64;
            (n > 0).then(|| [bound.binding.marker(*marker), place])
        });
        let pairs: Vec<[DVec3; 2]> = pairs.collect();
        if pairs != self.pairs {
            self.fit = self.layer.similarity(&pairs);
            self.pairs = pairs;
        }
    }
}

impl Bound {
    /// Its displacement at a time of the recording; it fades to none while the channel has no value.
    fn at(
        &self,
        time: f64,
        layer: &DataLayer,
        fit: &Similarity,
        at_rest: impl Fn(u32) -> DVec3,
    ) -> Displaced {
        let fade = &layer.fade;
        let binding = &self.binding;
        let mut now = Displaced::default();
        match (&self.signal, binding.kind) {
            (Signal::Marker(channel, _), BindingKind::Absolute) => {
                if let Some(&corner) = self.corners.first() {
                    let rest = at_rest(corner);
                    let shown = channel.shown_as(time, fade, |m| binding.place(fit, m) - rest);
                    now.world = shown.value;
                }
            }
            (Signal::Marker(channel, Some(reference)), _) => {
                let moved = |marker| binding.displacement(fit, marker, *reference);
                now.world = channel.shown_as(time, fade, moved).value;
            }
            (Signal::Scalar(channel), BindingKind::Scalar { direction, .. }) => {
                let along = |value| binding.scalar_displacement(value, DVec3::X);
                match direction {
                    ScalarDirection::Normal => {
                        now.along_normal = channel.shown_as(time, fade, |y| along(y).x).value;
                    }
                    ScalarDirection::Fixed(_) => {
                        now.world = channel.shown_as(time, fade, along).value;
                    }
                }
            }
            // Without a value at the reference time there is nothing to compare with.
            _ => {}
        }
        now
    }
}

impl Displaced {
    fn to_bits(self) -> [u64; 4] {
        let [x, y, z] = self.world.to_array();
        [x, y, z, self.along_normal].map(f64::to_bits)
    }
}

/// Where a corner is in the rest pose of the model, world, metres.
fn at_rest(run: &Run<'_>, corners: &Corners, corner: u32) -> DVec3 {
    let (point, _) = corners.points[corner as usize];
    let bind = corners.position(corner) / corners.unit;
    rest_matrix(run, point).transform_point3(bind)
}
