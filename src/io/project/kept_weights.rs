//! The weights of meshes that were unbound <-> the project format.

use super::apply::Opening;
use super::v11::KeptEntry;
use super::{ProjectError, rows};
use crate::document::{Document, KeptOfMeshes, KeptWeights, SkinId};
use crate::skeleton::JointId;
use crate::skinning::{Influences, RowRef, Rows};
use std::sync::Arc;

/// The kept weights, one entry per mesh.
pub(super) fn collect(document: &Document) -> Result<Vec<KeptEntry>, ProjectError> {
    let mut entries = Vec::new();
    for (&mesh, kept) in document.kept_weights().iter() {
        let points: Vec<u32> = (0..kept.rows.len() as u32)
            .filter(|&point| !kept.rows.row(point).is_empty())
            .collect();
        let of = (&kept.rows, &kept.joints[..]);
        let weights = rows::collect_of(document, mesh, of, points)?;
        entries.extend(weights.map(|weights| KeptEntry {
            skin: kept.skin.0,
            weights,
        }));
    }
    Ok(entries)
}

impl Opening {
    /// Keeps the weights of unbound meshes; joints that the model does not have lose theirs.
    pub(super) fn kept_weights(&mut self, entries: Vec<KeptEntry>) -> Result<(), ProjectError> {
        let mut all = KeptOfMeshes::new();
        for KeptEntry { skin, weights } in entries {
            let place = rows::place(&weights);
            let Some(mesh) = self.mesh(weights.mesh, &weights.name) else {
                continue;
            };
            let Some(item) = self.document.meshes().get(&mesh).cloned() else {
                continue;
            };
            // The slots of the rows stay as they were.
            let n_slots = weights.joints.iter().map(|joint| usize::from(joint.0) + 1);
            let mut slots = vec![None; n_slots.max().unwrap_or(0)];
            // As in the skin that they were of, so that it can be taken again.
            let known = self.document.skins().get(&SkinId(skin));
            let mut joints: Vec<JointId> = known.map_or_else(Vec::new, |s| s.joints.clone());
            for entry in &weights.joints {
                let found = self.joint(entry.1, &entry.2);
                if let Some(joint) = found {
                    let slot = joints.iter().position(|&j| j == joint);
                    let slot = slot.unwrap_or(joints.len());
                    if slot == joints.len() {
                        joints.push(joint);
                    }
                    slots[usize::from(entry.0)] = Some(slot as u16);
                }
            }
            let live = vec![true; joints.len()];
            let restored = rows::restore(&weights, &item, &live, &slots)?;
            self.warn_of_rows(&place, &restored);
            let mut made: Vec<Vec<(u16, f32)>> = vec![Vec::new(); item.influences.len()];
            for (points, rows) in &restored.spans {
                for (&point, row) in points.iter().zip(rows.iter()) {
                    if let Some(made) = made.get_mut(point as usize) {
                        *made = row.iter().collect();
                    }
                }
            }
            let rows: Rows = made.into_iter().collect();
            let rows: Vec<RowRef<'_>> = rows.iter().collect();
            let kept = KeptWeights {
                skin: SkinId(skin),
                joints,
                rows: Influences::from_rows(rows),
            };
            all.insert(mesh, Arc::new(kept));
        }
        if !all.is_empty() {
            self.document.restore_kept_weights(all);
        }
        Ok(())
    }
}
