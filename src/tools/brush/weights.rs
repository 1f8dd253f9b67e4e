//! Painting weights: gives the active bone more under the pointer, or less.

use crate::document::session::BrushOptions;
use crate::document::{Document, Edit, InstanceId, MeshId, MeshItem};
use crate::skinning::RowRef;
use crate::weights::{PaintRules, set_weight};
use std::collections::{BTreeMap, HashMap, HashSet};

/// A stroke on the weights of a bone.
#[derive(Debug)]
pub(super) struct WeightPaint {
    /// Index of the painted bone in the influences.
    joint: u16,
    /// n_skin_joints.
    locked: Vec<bool>,
    /// What each touched point had before the stroke.
    before: HashMap<u32, Vec<(u16, f32)>>,
    /// New rows by point, of this event.
    rows: BTreeMap<u32, Vec<(u16, f32)>>,
    /// Points that lost influences to the limit.
    limited: HashSet<u32>,
}

impl WeightPaint {
    /// A stroke on `instance`, or why there can be none.
    pub(super) fn begin(
        document: &Document,
        instance: InstanceId,
    ) -> Result<(MeshId, Self), String> {
        let skeleton = document.skeleton();
        let Some(drawn) = document.instances().get(&instance) else {
            return Err("The mesh is gone.".into());
        };
        let name = document
            .meshes()
            .get(&drawn.mesh)
            .map_or("", |m| m.geometry.name.as_str());
        let Some(skin) = drawn.skin.and_then(|s| document.skins().get(&s)) else {
            return Err(format!(
                "\"{name}\" is not skinned: it follows one bone, so there are no weights to paint."
            ));
        };
        let Some(active) = document.session().active_joint else {
            return Err(
                "No bone is active. Click a bone in the view or in the list, then paint.".into(),
            );
        };
        let label = skeleton.label(active);
        let Some(joint) = skin.joints.iter().position(|&j| j == active) else {
            return Err(format!(
                "\"{label}\" is no bone of the skin that moves \"{name}\"."
            ));
        };
        let locked: Vec<bool> = skin
            .joints
            .iter()
            .map(|j| document.locked().contains(j))
            .collect();
        if document
            .n_skin_joints(drawn.mesh)
            .is_some_and(|n| joint >= n)
        {
            return Err(format!(
                "Not every skin that moves \"{name}\" has the bone \"{label}\", so it cannot be painted."
            ));
        }
        if locked[joint] {
            return Err(format!("\"{label}\" is locked. Unlock it to paint."));
        }
        if document.session().brush.normalise
            && locked.len() > 1
            && locked.iter().filter(|l| !**l).count() == 1
        {
            return Err(format!(
                "All bones but \"{label}\" are locked, so no weight can move. Unlock another one."
            ));
        }
        let paint = Self {
            joint: joint as u16,
            locked,
            before: HashMap::new(),
            rows: BTreeMap::new(),
            limited: HashSet::new(),
        };
        Ok((drawn.mesh, paint))
    }

    pub(super) fn touch(
        &mut self,
        item: &MeshItem,
        point: u32,
        effect: f32,
        brush: &BrushOptions,
        invert: bool,
    ) {
        let rules = PaintRules {
            locked: &self.locked,
            normalise: brush.normalise,
            max_influences: brush.max_influences,
        };
        let before = self
            .before
            .entry(point)
            .or_insert_with(|| item.influences.row(point).iter().collect());
        let (joints, weights): (Vec<u16>, Vec<f32>) = before.iter().copied().unzip();
        let before = RowRef {
            joints: &joints,
            weights: &weights,
        };
        // To add nothing is not what anybody wants: weight 0 takes away.
        let (adds, weight) = if brush.weight > 0.0 {
            (!invert, brush.weight)
        } else {
            (invert, 1.0)
        };
        let amount = if adds { effect } else { -effect } * weight;
        let weight = before.weight_of(self.joint) + amount;
        let mut row = Vec::new();
        if set_weight(before, self.joint, weight, &rules, &mut row) {
            if before.len() > brush.max_influences && row.len() < before.len() {
                self.limited.insert(point);
            }
            self.rows.insert(point, row);
        }
    }

    pub(super) fn take_edit(&mut self, mesh: MeshId) -> Option<Edit> {
        let rows = std::mem::take(&mut self.rows);
        let (points, rows): (Vec<u32>, Vec<_>) = rows.into_iter().unzip();
        (!points.is_empty()).then(|| Edit::influences(mesh, points, rows.into_iter().collect()))
    }

    pub(super) fn say(&self) -> Option<String> {
        (!self.limited.is_empty()).then(|| {
            format!(
                "{} points had more influences than the brush allows; their smallest ones went.",
                self.limited.len()
            )
        })
    }
}
