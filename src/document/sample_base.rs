//! What the corrective samples of a mesh were captured over, compared with the present state.

use super::{Document, MeshId};
use crate::deform::Correctives;
use crate::deform::correctives::{CapturedOver, SkinBase, Staleness};
use crate::skeleton::JointId;
use std::collections::BTreeMap;
use std::sync::Arc;
use xxhash_rust::xxh3::xxh3_64;

/// What marks joints that are not in the source.
const NEW: u64 = 1 << 32;

impl Document {
    /// The present weights and painted maps of a mesh, for samples that are captured over them. Shares their chunks.
    pub fn skin_base(&self, mesh: MeshId) -> Option<Arc<SkinBase>> {
        let item = self.meshes.get(&mesh)?;
        let joints = self.skin_of_mesh(mesh).map_or(&[][..], |(_, s)| &s.joints);
        let joints = joints.iter().map(|&joint| self.code_of_joint(joint));
        Some(Arc::new(SkinBase::new(
            item.influences.clone(),
            joints.collect(),
            item.masks.clone(),
        )))
    }

    /// As a sample of a mesh that is captured now.
    pub fn captured_now(&self, mesh: MeshId) -> CapturedOver {
        let base = self.skin_base(mesh);
        base.map_or(CapturedOver::Unknown, CapturedOver::Known)
    }

    /// The samples of a mesh, by their index among all of it, that no longer give their sculpt, each with the reason.
    pub fn stale_samples(&self, mesh: MeshId) -> BTreeMap<usize, Staleness> {
        let item = self.meshes.get(&mesh);
        let Some((item, base)) = item.zip(self.skin_base(mesh)) else {
            return BTreeMap::new();
        };
        let samples = item.correctives.samples().iter().enumerate();
        let stale = samples.filter_map(|(i, s)| Some((i, s.staleness(&item.stack, &base)?)));
        stale.collect()
    }

    /// The document with the weights and painted maps of a mesh that a sample was captured over.
    #[must_use]
    pub fn over_base(mut self, mesh: MeshId, base: &SkinBase) -> Self {
        if let Some(item) = self.meshes.get_mut(&mesh) {
            let item = Arc::make_mut(item);
            item.influences = base.influences().clone();
            item.masks = base.masks().clone();
        }
        self
    }

    /// The samples of a mesh after a change: those whose displacements changed, and that gave their sculpt before, were
    /// captured over the present weights.
    pub(super) fn recaptured(&self, mesh: MeshId, made: Arc<Correctives>) -> Arc<Correctives> {
        let Some(item) = self.meshes.get(&mesh) else {
            return made;
        };
        let mut changed = made.clone();
        let mut base = None;
        let before = item.correctives.sets();
        for (s, (old, new)) in before.iter().zip(made.sets()).enumerate() {
            for (i, (old, new)) in old.samples.iter().zip(&new.samples).enumerate() {
                if Arc::ptr_eq(old, new)
                    || !old.captured_over.is(&new.captured_over)
                    || old.displacements.shares(&new.displacements)
                {
                    continue;
                }
                let is_known = matches!(
                    &new.captured_over,
                    CapturedOver::Known(base) if base.shares(&item.influences, &item.masks)
                );
                // Where samples were added, removed or sorted, others stand at this index.
                let known = item.correctives.samples();
                if is_known || known.iter().any(|sample| Arc::ptr_eq(sample, new)) {
                    continue;
                }
                base = base.or_else(|| self.skin_base(mesh));
                if let Some(base) = base.as_ref().filter(|base| !old.has_other_base(base)) {
                    let over = CapturedOver::Known(base.clone());
                    changed = Arc::new(changed.captured_over(s, i, over));
                }
            }
        }
        changed
    }

    /// Takes the present weights for those that samples were captured over, where they gave their sculpt in `before`: for a
    /// change of joints that deforms nothing otherwise.
    pub(super) fn keep_samples_fitting(&mut self, before: &Self) {
        let meshes: Vec<MeshId> = self.meshes.keys().copied().collect();
        for mesh in meshes {
            let Some((was, now)) = before.skin_base(mesh).zip(self.skin_base(mesh)) else {
                continue;
            };
            let Some(item) = self.meshes.get(&mesh) else {
                continue;
            };
            let mut made = item.correctives.clone();
            for (s, set) in item.correctives.sets().iter().enumerate() {
                for (i, sample) in set.samples.iter().enumerate() {
                    if !sample.has_other_base(&was) && sample.has_other_base(&now) {
                        let over = CapturedOver::Known(now.clone());
                        made = Arc::new(made.captured_over(s, i, over));
                    }
                }
            }
            if !Arc::ptr_eq(&made, &item.correctives)
                && let Some(item) = self.meshes.get_mut(&mesh)
            {
                Arc::make_mut(item).correctives = made;
            }
        }
    }

    /// A number that is the joint's in every session: of its name in the source, which may be exported again with other nodes,
    /// of its node where it has none, or its place among new ones.
    fn code_of_joint(&self, joint: JointId) -> u64 {
        let source = self.source_skeleton.joints().get(joint.get());
        match self.skeleton.joint(joint).source_node {
            Some(node) => source
                .filter(|source| !source.name.is_empty())
                .map_or(u64::from(node), |source| xxh3_64(source.name.as_bytes())),
            None => NEW | u64::from(joint.0).saturating_sub(self.source_skeleton.len() as u64),
        }
    }
}
