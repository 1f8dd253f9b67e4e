//! The document with the numbering of a file: every joint has a node, and skins list no removed joint.

use crate::document::{Document, Skin};
use crate::skeleton::Skeleton;
use crate::skinning::{Influences, RowRef, Rows};
use std::borrow::Cow;
use std::sync::Arc;

impl Document {
    /// The document with a node for each joint made in Sinew, from `first_node` on, and with skins without the slots of
    /// removed joints; borrowed where there are none. Influences index the remaining slots; layers are flattened.
    ///
    /// Joint ids stay the same, and so do [`Document::source_skeleton`], [`Document::source_skins`] and the source's
    /// influences, with which an exported file is compared.
    pub fn for_file(&self, first_node: u32) -> Cow<'_, Self> {
        let is_new = |j: &crate::skeleton::Joint| j.source_node.is_none() && !j.removed;
        let has_gaps = |skin: &Skin| skin.joints.iter().any(|&j| !self.skeleton.is_live(j));
        let any_new = self.source.is_some() && self.skeleton.joints().iter().any(is_new);
        if !any_new && !self.skins.values().any(|skin| has_gaps(skin)) {
            return Cow::Borrowed(self);
        }
        let mut made = self.clone();
        let mut joints = self.skeleton.joints().to_vec();
        for (node, joint) in (first_node..).zip(joints.iter_mut().filter(|j| is_new(j))) {
            joint.source_node = Some(node);
        }
        if let Ok(skeleton) = Skeleton::new(joints) {
            made.skeleton = Arc::new(skeleton);
        }
        for (&mesh, item) in &mut made.meshes {
            let Some((_, skin)) = self.skin_of_mesh(mesh).filter(|(_, skin)| has_gaps(skin)) else {
                continue;
            };
            let kept = kept_slots(skin, &self.skeleton);
            let rows: Vec<Rows> = item
                .influences
                .iter()
                .map(|row| renumbered(row, &kept))
                .collect();
            let influences = Influences::from_rows(rows.iter().map(|rows| rows.row(0)));
            let item = Arc::make_mut(item);
            item.layers = crate::document::LayerStack::default();
            item.influences = influences;
        }
        for skin in made.skins.values_mut().filter(|skin| has_gaps(skin)) {
            let kept = kept_slots(skin, &self.skeleton);
            let skin = Arc::make_mut(skin);
            let mut is_kept = kept.iter();
            skin.joints
                .retain(|_| is_kept.next().is_some_and(Option::is_some));
            let mut is_kept = kept.iter();
            skin.inverse_bind
                .retain(|_| is_kept.next().is_some_and(Option::is_some));
        }
        Cow::Owned(made)
    }
}

/// For each slot of a skin its index among the joints that were not removed.
fn kept_slots(skin: &Skin, skeleton: &Skeleton) -> Vec<Option<u16>> {
    let mut next = 0..;
    let slots = skin.joints.iter();
    slots
        .map(|&joint| skeleton.is_live(joint).then(|| next.next())?)
        .collect()
}

fn renumbered(row: RowRef<'_>, kept: &[Option<u16>]) -> Rows {
    let slot = |(joint, weight): (u16, f32)| Some(((*kept.get(usize::from(joint))?)?, weight));
    std::iter::once(row.iter().filter_map(slot).collect::<Vec<_>>()).collect()
}
