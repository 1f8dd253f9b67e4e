//! The layers of the active group in lists of one kind each: chosen, named, muted, duplicated, ordered, deleted. Each change
//! is one undo step.

use super::Editor;
use crate::cluster::{ClusterGroup, DataLayer, DriverLayer, MuscleLayer, UnplacedLayer};
use crate::editor::correctives::free_name;

/// Which layer of each kind is active.
#[derive(Default)]
pub struct ActiveLayers {
    muscle: usize,
    driver: usize,
    data: usize,
}

/// A kind of layer of a group of clusters.
pub trait GroupLayer: Clone {
    /// What it is called in names of undo steps.
    const NOUN: &'static str;

    /// The layers of a group.
    fn of(group: &ClusterGroup) -> &[Self];

    /// The layers of a group, to be changed.
    fn of_mut(group: &mut ClusterGroup) -> &mut Vec<Self>;

    /// The index of the active layer.
    fn active(chosen: &mut ActiveLayers) -> &mut usize;

    /// The index of the active layer.
    fn active_in(chosen: &ActiveLayers) -> usize;

    /// Its label.
    fn name(&self) -> &str;

    /// Its label, to be changed.
    fn name_mut(&mut self) -> &mut String;

    /// Whether it is left out.
    fn is_muted(&self) -> bool;

    /// Mutes or unmutes it.
    fn set_muted(&mut self, muted: bool);
}

/// Implements [`GroupLayer`] by the fields of a layer and of the group.
macro_rules! group_layer {
    ($layer:ty, $noun:literal, $list:ident, $active:ident) => {
        impl GroupLayer for $layer {
            const NOUN: &'static str = $noun;

            fn of(group: &ClusterGroup) -> &[Self] {
                &group.$list
            }

            fn of_mut(group: &mut ClusterGroup) -> &mut Vec<Self> {
                &mut group.$list
            }

            fn active(chosen: &mut ActiveLayers) -> &mut usize {
                &mut chosen.$active
            }

            fn active_in(chosen: &ActiveLayers) -> usize {
                chosen.$active
            }

            fn name(&self) -> &str {
                &self.name
            }

            fn name_mut(&mut self) -> &mut String {
                &mut self.name
            }

            fn is_muted(&self) -> bool {
                self.muted
            }

            fn set_muted(&mut self, muted: bool) {
                self.muted = muted;
            }
        }
    };
}

group_layer!(MuscleLayer, "muscle", muscles, muscle);
group_layer!(DriverLayer, "driver", drivers, driver);
group_layer!(DataLayer, "data", data, data);

impl Editor {
    /// The layers of a kind of the active group.
    pub fn group_layers<L: GroupLayer>(&self) -> &[L] {
        let group = self.active_group().map(usize::from);
        let group = group.and_then(|group| self.cluster_groups().get(group));
        group.map_or(&[], |group| L::of(group))
    }

    /// The layers of the active group that the model has no place for: the project keeps them.
    pub fn kept_layers(&self) -> &[UnplacedLayer] {
        let group = self.active_group().map(usize::from);
        let group = group.and_then(|group| self.cluster_groups().get(group));
        group.map_or(&[], |group| &group.unplaced)
    }

    /// Deletes a layer of the active group that the model has no place for, as one undo step: the project no longer keeps it.
    pub fn delete_kept_layer(&mut self, layer: usize) {
        let known = self.kept_layers().get(layer);
        let Some((name, group)) = known.map(|k| k.name.clone()).zip(self.active_group()) else {
            return;
        };
        let label = format!("Delete kept layer · {name}");
        self.change_group(group, &label, |group| {
            group.unplaced.remove(layer);
        });
    }

    /// The active layer of a kind of the active group, and its index.
    pub fn active_group_layer<L: GroupLayer>(&self) -> Option<(usize, &L)> {
        let layers = self.group_layers::<L>();
        let last = layers.len().checked_sub(1)?;
        let active = L::active_in(&self.active_layers).min(last);
        Some((active, &layers[active]))
    }

    /// Makes a layer of the active group active.
    pub fn choose_group_layer<L: GroupLayer>(&mut self, layer: usize) {
        *L::active(&mut self.active_layers) = layer;
    }

    /// Deletes a layer of the active group.
    pub fn delete_group_layer<L: GroupLayer>(&mut self, layer: usize) {
        let Some(known) = self.group_layers::<L>().get(layer) else {
            return;
        };
        let label = format!("Delete {} · {}", L::NOUN, known.name());
        let is_gone = self.change_group_layers::<L>(&label, |layers| {
            layers.remove(layer);
        });
        let active = L::active(&mut self.active_layers);
        if is_gone && *active > layer {
            *active -= 1;
        }
    }

    /// Renames a layer of the active group. An empty name changes nothing.
    pub fn rename_group_layer<L: GroupLayer>(&mut self, layer: usize, name: &str) {
        let name = name.trim();
        if !name.is_empty() {
            let label = format!("Rename {} · {name}", L::NOUN);
            self.change_group_layer::<L>(layer, &label, |layer| {
                name.clone_into(layer.name_mut());
            });
        }
    }

    /// Mutes or unmutes a layer of the active group.
    pub fn mute_group_layer<L: GroupLayer>(&mut self, layer: usize, muted: bool) {
        let Some(known) = self.group_layers::<L>().get(layer) else {
            return;
        };
        let verb = if muted { "Mute" } else { "Unmute" };
        let label = format!("{verb} {} · {}", L::NOUN, known.name());
        self.change_group_layer::<L>(layer, &label, |layer| layer.set_muted(muted));
    }

    /// Adds a copy of a layer below it, and makes that active.
    pub fn duplicate_group_layer<L: GroupLayer>(&mut self, layer: usize) {
        let Some(known) = self.group_layers::<L>().get(layer) else {
            return;
        };
        let label = format!("Duplicate {} · {}", L::NOUN, known.name());
        let mut copy = known.clone();
        let name = self.free_layer_name::<L>(known.name());
        *copy.name_mut() = name;
        let is_added =
            self.change_group_layers::<L>(&label, |layers| layers.insert(layer + 1, copy));
        if is_added {
            self.choose_group_layer::<L>(layer + 1);
        }
    }

    /// Moves a layer up or down in its list. What it does stays the same: layers add up.
    pub fn move_group_layer<L: GroupLayer>(&mut self, layer: usize, up: bool) {
        let layers = self.group_layers::<L>();
        let to = if up {
            layer.checked_sub(1)
        } else {
            Some(layer + 1)
        };
        let (Some(known), Some(to)) = (layers.get(layer), to.filter(|to| *to < layers.len()))
        else {
            return;
        };
        let way = if up { "up" } else { "down" };
        let label = format!("Move {} {way} · {}", L::NOUN, known.name());
        if self.change_group_layers::<L>(&label, |layers| layers.swap(layer, to)) {
            self.choose_group_layer::<L>(to);
        }
    }

    /// Changes a layer of the active group as one undo step or as part of the open one. What is not valid is refused with
    /// the reason.
    pub fn change_group_layer<L: GroupLayer>(
        &mut self,
        layer: usize,
        label: &str,
        change: impl FnOnce(&mut L),
    ) -> bool {
        if layer >= self.group_layers::<L>().len() {
            return false;
        }
        self.change_group_layers::<L>(label, |layers| change(&mut layers[layer]))
    }

    /// Adds a layer to a group at the end of its list and makes it active. Returns whether it did.
    pub(super) fn push_group_layer<L: GroupLayer>(&mut self, group: u16, layer: L) -> bool {
        let at = self.group_layers::<L>().len();
        let label = format!("Add {} · {}", L::NOUN, layer.name());
        let is_added = self.change_group(group, &label, |group| L::of_mut(group).push(layer));
        if is_added {
            self.choose_group_layer::<L>(at);
        }
        is_added
    }

    /// `wanted`, or with a number that makes it differ from the names of the layers of its kind.
    pub(super) fn free_layer_name<L: GroupLayer>(&self, wanted: &str) -> String {
        free_name(wanted, &self.group_layers::<L>().iter().map(L::name))
    }

    fn change_group_layers<L: GroupLayer>(
        &mut self,
        label: &str,
        change: impl FnOnce(&mut Vec<L>),
    ) -> bool {
        let Some(group) = self.active_group() else {
            return false;
        };
        self.change_group(group, label, |group| change(L::of_mut(group)))
    }
}
