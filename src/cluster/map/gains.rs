//! The gains of the layers of a map: how strongly drivers, muscles and recorded data move clusters.

use super::ClusterMap;
use crate::cluster::channel::{Binding, BindingKind};
use crate::cluster::data::DataLayer;
use crate::cluster::group::ClusterGroup;
use std::sync::Arc;

/// The kinds of layers that have a gain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum GainKind {
    /// The gain of a driver.
    Driver,
    /// The amplitude of a muscle.
    Muscle,
    /// The scale of recorded displacements and scalars.
    Data,
}

impl GainKind {
    /// All of them, in the order of lists.
    pub const ALL: [Self; 3] = [Self::Driver, Self::Muscle, Self::Data];

    /// What it is called in a sentence.
    pub fn label(self) -> &'static str {
        match self {
            Self::Driver => "driver",
            Self::Muscle => "muscle",
            Self::Data => "data",
        }
    }
}

/// The gain of the layers of one kind and name, in groups of one name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Gain {
    /// The kind of the layer.
    pub kind: GainKind,
    /// The name of its group.
    pub group: String,
    /// Its own name.
    pub layer: String,
}

impl ClusterMap {
    /// The gains of all layers, by group.
    pub fn gains(&self) -> Vec<Gain> {
        let of_group = |group: &Arc<ClusterGroup>| {
            let gain = |kind: GainKind, layer: &str| Gain {
                kind,
                group: group.name.clone(),
                layer: layer.to_owned(),
            };
            let drivers = group
                .drivers
                .iter()
                .map(|l| gain(GainKind::Driver, &l.name));
            let muscles = group
                .muscles
                .iter()
                .map(|l| gain(GainKind::Muscle, &l.name));
            let data = group.data.iter().filter(|layer| has_gain(layer));
            let data = data.map(|l| gain(GainKind::Data, &l.name));
            drivers.chain(muscles).chain(data).collect::<Vec<_>>()
        };
        self.groups().iter().flat_map(of_group).collect()
    }

    /// The map with gains multiplied by factors. A group of which a layer would become invalid ([`ClusterMap::gain_faults`]) stays as
    /// it is.
    #[must_use]
    pub fn with_gains(&self, factors: &[(&Gain, f64)]) -> Self {
        let mut made = self.clone();
        for group in &mut made.groups {
            let changed = scaled(group, factors);
            if changed != **group && faults(&changed).is_empty() {
                *group = Arc::new(changed);
            }
        }
        made
    }

    /// The layers that factors on gains would make invalid.
    pub fn gain_faults(&self, factors: &[(&Gain, f64)]) -> Vec<GainFault> {
        let of_group = |group: &Arc<ClusterGroup>| {
            let changed = scaled(group, factors);
            if changed == **group {
                return Vec::new();
            }
            faults(&changed)
        };
        self.groups.iter().flat_map(of_group).collect()
    }
}

/// Why the gains of a group cannot be multiplied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GainFault {
    /// The name of the group.
    pub group: String,
    /// The name of the layer.
    pub layer: String,
    /// What would be wrong with it; the end of a sentence.
    pub why: String,
}

impl GainFault {
    /// Whether another fault is of the same layer.
    pub fn is_of_same_layer(&self, other: &Self) -> bool {
        self.group == other.group && self.layer == other.layer
    }
}

/// A group with gains multiplied by factors, valid or not.
fn scaled(group: &ClusterGroup, factors: &[(&Gain, f64)]) -> ClusterGroup {
    let factor = |kind: GainKind, layer: &str| {
        let same =
            |gain: &Gain| gain.kind == kind && gain.group == group.name && gain.layer == layer;
        let own = factors.iter().filter(|(gain, _)| same(gain));
        own.map(|(_, factor)| factor).product::<f64>()
    };
    let mut changed = group.clone();
    for layer in &mut changed.drivers {
        layer.settings.gain *= factor(GainKind::Driver, &layer.name);
    }
    for layer in &mut changed.muscles {
        layer.settings.amplitude *= factor(GainKind::Muscle, &layer.name);
    }
    for layer in &mut changed.data {
        let by = factor(GainKind::Data, &layer.name);
        let scaled = layer.bindings.iter_mut();
        let scaled = scaled.filter(|binding| binding.kind != BindingKind::Absolute);
        scaled.for_each(|binding| binding.scale *= by);
    }
    changed
}

/// Markers that are places of their vertices have no gain.
fn has_gain(layer: &DataLayer) -> bool {
    let mut bindings = layer.bindings.iter();
    bindings.any(|binding| binding.kind != BindingKind::Absolute)
}

/// The layers of a group that are not valid.
fn faults(group: &ClusterGroup) -> Vec<GainFault> {
    let drivers = group.drivers.iter().map(|l| (&l.name, l.check()));
    let muscles = group.muscles.iter().map(|l| (&l.name, l.settings.check()));
    let data = group.data.iter().map(|layer| {
        let mut bindings = layer.bindings.iter();
        let bound = bindings.try_for_each(Binding::check);
        (&layer.name, layer.check().and(bound))
    });
    let all = drivers.chain(muscles).chain(data);
    let faults = all.filter_map(|(layer, found)| {
        Some(GainFault {
            group: group.name.clone(),
            layer: layer.clone(),
            why: found.err()?,
        })
    });
    faults.collect()
}
