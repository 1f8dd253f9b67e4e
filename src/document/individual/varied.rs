//! A document with the limits and gains of a table.

use super::variation::Variation;
use crate::cluster::ClusterMap;
use crate::cluster::map::gains::{Gain, GainFault};
use crate::document::{Document, MeshId, MeshItem};
use crate::skeleton::JointId;
use crate::skeleton::constraint::{Constraint, Constraints, EulerOrder, Rule};
use crate::skeleton::joint_limits::JointLimits;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

impl Document {
    /// The gains of the layers of all meshes, each name once.
    pub fn gains(&self) -> Vec<Gain> {
        let meshes = self.meshes.values();
        let found: BTreeSet<Gain> = meshes.flat_map(|item| item.clusters.gains()).collect();
        found.into_iter().collect()
    }

    /// The layers that variations would make invalid, each once: their groups stay as they are.
    pub fn gain_faults(&self, variations: &[Variation]) -> Vec<GainFault> {
        let factors: Vec<(&Gain, f64)> = variations.iter().filter_map(Variation::gain).collect();
        if factors.is_empty() {
            return Vec::new();
        }
        let meshes = self.meshes.values();
        let all = meshes.flat_map(|item| item.clusters.gain_faults(&factors));
        let mut found: Vec<GainFault> = Vec::new();
        for fault in all {
            if !found.contains(&fault) {
                found.push(fault);
            }
        }
        found
    }
}

type Pair<T> = (Arc<T>, Arc<T>);

/// What was made of parts of a document for some variations, so that equal parts keep their identity.
#[derive(Debug, Default)]
pub(super) struct Varied {
    variations: Vec<Variation>,
    clusters: BTreeMap<MeshId, Pair<ClusterMap>>,
    items: BTreeMap<MeshId, Pair<MeshItem>>,
}

impl Varied {
    /// Gives a document the limits and gains.
    pub(super) fn apply(&mut self, document: &mut Document, variations: &[Variation]) {
        if variations.is_empty() {
            return;
        }
        let ids: Vec<MeshId> = document.meshes.keys().copied().collect();
        for id in ids {
            if let Some(item) = document.meshes.get_mut(&id) {
                *item = self.item(id, item, variations);
            }
        }
        let limits = variations.iter().filter_map(|variation| match variation {
            Variation::Limits { joint, limits } => Some((*joint, *limits)),
            Variation::Gain { .. } => None,
        });
        let live: Vec<(JointId, JointLimits)> = limits
            .filter(|(joint, _)| joint.get() < document.skeleton.len())
            .filter(|(joint, _)| document.skeleton.is_live(*joint))
            .collect();
        if live.is_empty() {
            return;
        }
        let mut constraints = Constraints::clone(&document.constraints);
        for (joint, limits) in live {
            let rule = Rule::LimitAngles {
                ranges: limits.0,
                order: EulerOrder::Xyz,
            };
            let list = constraints.entry(joint).or_default();
            list.push(Constraint::new(rule));
        }
        document.set_constraints(Arc::new(constraints));
    }

    /// A mesh with the gains.
    pub(super) fn item(
        &mut self,
        id: MeshId,
        of: &Arc<MeshItem>,
        variations: &[Variation],
    ) -> Arc<MeshItem> {
        if self.variations != variations {
            *self = Self {
                variations: variations.to_vec(),
                ..Self::default()
            };
        }
        let factors: Vec<(&Gain, f64)> = variations.iter().filter_map(Variation::gain).collect();
        if of.clusters.is_empty() || factors.is_empty() {
            return of.clone();
        }
        let known = self
            .items
            .get(&id)
            .filter(|(from, _)| Arc::ptr_eq(from, of));
        if let Some((_, made)) = known {
            return made.clone();
        }
        let known = self.clusters.get(&id);
        let known = known.filter(|(from, _)| Arc::ptr_eq(from, &of.clusters));
        let clusters = match known {
            Some((_, made)) => made.clone(),
            None => Arc::new(of.clusters.with_gains(&factors)),
        };
        let pair = (of.clusters.clone(), clusters.clone());
        self.clusters.insert(id, pair);
        let mut made = MeshItem::clone(of);
        made.clusters = clusters;
        let made = Arc::new(made);
        self.items.insert(id, (of.clone(), made.clone()));
        made
    }
}
