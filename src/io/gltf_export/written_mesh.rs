//! The primitives whose weights are written anew.

use super::patch::Patch;
use super::primitives::{attributes_mut, points_of};
use super::slots::FileSlots;
use super::uncompress;
use crate::bake::BakedMesh;
use crate::document::{Document, MeshId, MeshItem};
use crate::skinning::{CHUNK, Influences};
use serde_json::Value;
use std::collections::BTreeSet;
use std::sync::Arc;

/// A mesh with the primitives whose weights are written anew.
pub(super) struct WrittenMesh<'a> {
    pub(super) mesh: MeshId,
    pub(super) item: &'a MeshItem,
    pub(super) baked: Option<&'a BakedMesh>,
    pub(super) influences: &'a Influences,
    /// n_points: whether the user edited the point.
    pub(super) edited: Arc<[bool]>,
    pub(super) primitives: BTreeSet<usize>,
}

impl<'a> WrittenMesh<'a> {
    pub(super) fn of(
        document: &Document,
        (mesh, item): (MeshId, &'a MeshItem),
        baked: Option<&'a BakedMesh>,
        slots: &FileSlots,
        patch: &mut Patch,
    ) -> Self {
        let influences = baked.map_or(&item.influences, |baked| &baked.influences);
        let edited = edited_flags(influences, &item.source_influences);
        let renumbers = slots.renumber_source(document, mesh);
        let mut primitives = edited_primitives(item, &edited);
        let all = 0..item.geometry.primitives.len();
        let has_targets = baked.is_some_and(|baked| !baked.targets.is_empty())
            || document.reshaped().contains(&mesh);
        let mut uncompressed = BTreeSet::new();
        for primitive in all.clone().filter(|_| has_targets) {
            if uncompress::is_compressed(patch, mesh, primitive)
                && !uncompress::stays_compressed(document, patch, (mesh, item), primitive)
            {
                uncompressed.insert(primitive);
            }
        }
        if renumbers || !item.invalid.is_empty() || !uncompressed.is_empty() {
            let is_invalid = |p: &usize| item.invalid.primitives.contains(&(*p as u32));
            let is_meant = |p: &usize| {
                renumbers || primitives.contains(p) || is_invalid(p) || uncompressed.contains(p)
            };
            primitives = all
                .filter(|p| is_meant(p) && is_skinned(&mut patch.json, mesh, item, *p))
                .collect();
        }
        Self {
            mesh,
            item,
            baked,
            influences,
            edited,
            primitives,
        }
    }
}

/// n_points: whether the influences `now` differ from those `before`; empty if none do.
fn edited_flags(now: &Influences, before: &Influences) -> Arc<[bool]> {
    let mut flags = Vec::new();
    for (c, (now_rows, rows)) in now.chunks().iter().zip(before.chunks()).enumerate() {
        if Arc::ptr_eq(now_rows, rows) {
            continue;
        }
        for i in 0..now_rows.len() {
            if now_rows.row(i) != rows.row(i) {
                flags.resize(now.len(), false);
                flags[c * CHUNK + i] = true;
            }
        }
    }
    flags.into()
}

fn edited_primitives(item: &MeshItem, edited: &[bool]) -> BTreeSet<usize> {
    let is_edited = |&point: &u32| edited.get(point as usize) == Some(&true);
    (0..item.geometry.primitives.len())
        .filter(|&p| points_of(item, p).iter().any(is_edited))
        .collect()
}

/// Whether a primitive that was read has influences in the file.
pub(super) fn is_skinned(
    json: &mut Value,
    mesh: MeshId,
    item: &MeshItem,
    primitive: usize,
) -> bool {
    let attributes = attributes_mut(json, mesh, primitive);
    !points_of(item, primitive).is_empty() && attributes.is_some_and(|a| a.contains_key("JOINTS_0"))
}
