//! Moving weights between joints, in the base and in every layer.

use super::RigError;
use crate::document::{Dirty, InfluenceEdit};
use crate::document::{Document, LayerId, MeshId, SkinId};
use crate::skeleton::JointId;
use crate::skinning::{RowRef, Rows};
use glam::{DAffine3, DVec3};
use std::collections::BTreeSet;

/// A mesh whose skins all have these joints in the same slots.
pub(super) struct Shared {
    pub(super) mesh: MeshId,
    /// The slot of each requested joint.
    pub(super) slots: Vec<u16>,
    /// Bind-pose mesh space -> space of the first joint.
    pub(super) into_joint: DAffine3,
}

/// The skinned meshes that list all of `joints`, each in the same slot of every skin; other meshes keep their weights.
pub(super) fn shared(document: &Document, joints: &[JointId]) -> Vec<Shared> {
    let slots_in = |skin: &SkinId| -> Option<Vec<u16>> {
        let skin = document.skins.get(skin)?;
        let slot = |joint: &JointId| skin.joints.iter().position(|j| j == joint);
        joints.iter().map(|j| Some(slot(j)? as u16)).collect()
    };
    let meshes = document.meshes.keys().filter_map(|&mesh| {
        let instances = document.instances.values().filter(|i| i.mesh == mesh);
        let skins: BTreeSet<SkinId> = instances.filter_map(|i| i.skin).collect();
        let mut all = skins.iter().map(slots_in);
        let slots = all.next()??;
        if all.any(|other| other.as_ref() != Some(&slots)) {
            return None;
        }
        let first = document.skins.get(skins.first()?)?;
        let into_joint = *first.inverse_bind.get(usize::from(*slots.first()?))?;
        Some(Shared {
            mesh,
            slots,
            into_joint,
        })
    });
    meshes.collect()
}

/// Replaces rows of a mesh, in the base and in every layer: `change` gets a point's bind-pose position and its row, and
/// returns the new row or `None` where it stays.
pub(super) fn change_rows(
    document: &mut Document,
    mesh: MeshId,
    change: impl Fn(DVec3, RowRef<'_>) -> Option<Vec<(u16, f32)>>,
) -> Result<(), RigError> {
    let Some(item) = document.meshes.get(&mesh).cloned() else {
        return Ok(());
    };
    let layers = item
        .layers
        .layers()
        .iter()
        .map(|layer| (Some(layer.id), &layer.rows));
    let mut all: Vec<(Option<LayerId>, _)> = layers.collect();
    if all.is_empty() {
        all.push((None, &item.influences));
    }
    for (layer, rows) in all {
        let (mut points, mut changed) = (Vec::new(), Rows::default());
        for (point, row) in rows.iter().enumerate() {
            let position = item.geometry.positions[point].as_dvec3();
            if !row.is_empty()
                && let Some(row) = change(position, row)
            {
                points.push(point as u32);
                changed.push_pairs(row);
            }
        }
        if points.is_empty() {
            continue;
        }
        let mut edit = InfluenceEdit::new(mesh, points, changed);
        if let Some(layer) = layer {
            edit = edit.in_layer(layer);
        }
        edit.check(document)?;
        edit.swap(document, &mut Dirty::default());
    }
    Ok(())
}

/// `row` with the weight of `from` distributed over `fractions`, whose fractions sum to 1. Where that makes the row longer
/// than `limit` and longer than it was, the largest fraction gets all of it.
///
/// `None` where `from` has no weight and no entry in the row.
pub(super) fn redistributed(
    row: RowRef<'_>,
    from: u16,
    fractions: &[(u16, f64)],
    limit: usize,
) -> Option<Vec<(u16, f32)>> {
    let at = row.joints.iter().position(|&j| j == from)?;
    let weight = row.weights[at];
    let largest = fractions
        .iter()
        .copied()
        .reduce(|a, b| if b.1 > a.1 { b } else { a });
    let all = |slot: u16| vec![(slot, weight)];
    let mut parts: Vec<(u16, f32)> = Vec::new();
    let mut left = weight;
    for &(slot, fraction) in fractions {
        let part = (f64::from(weight) * fraction) as f32;
        if part > 0.0 && slot != from {
            // So that the two sum to the weight again, bit for bit.
            let rest = left - part.min(left);
            parts.push((slot, left - rest));
            left = rest;
        }
    }
    let keeps = fractions.iter().find(|(slot, _)| *slot == from);
    match (keeps, parts.first_mut()) {
        // The remainder, so that the sum stays exact to the last bit.
        (Some((_, fraction)), _) => {
            if *fraction > 0.0 && left > 0.0 {
                parts.insert(0, (from, left));
            } else if let Some(part) = parts.last_mut() {
                part.1 += left;
            }
        }
        (None, Some(_)) => {
            if let Some(part) = parts.iter_mut().max_by(|a, b| a.1.total_cmp(&b.1)) {
                part.1 += left;
            }
        }
        (None, None) => parts = largest.map_or_else(Vec::new, |(slot, _)| all(slot)),
    }
    let n_new = |parts: &[(u16, f32)]| {
        let others = row.len() - 1;
        let is_new = |(slot, _): &&(u16, f32)| !row.joints.contains(slot) || *slot == from;
        others + parts.iter().filter(is_new).count()
    };
    if n_new(&parts) > row.len().max(limit) || n_new(&parts) > row.len() + 1 {
        parts = largest.map_or_else(Vec::new, |(slot, _)| all(slot));
    }
    let mut made: Vec<(u16, f32)> = row.iter().collect();
    // The first fraction replaces the entry of `from`, so that moving weights back restores the row.
    let mut position = Some(at);
    for (slot, part) in parts {
        match made
            .iter_mut()
            .find(|(joint, _)| *joint == slot && slot != from)
        {
            Some((_, weight)) => *weight += part,
            None => match position.take() {
                Some(at) if slot == from => made[at].1 = part,
                Some(at) => {
                    made[at] = (slot, part);
                }
                None => made.push((slot, part)),
            },
        }
    }
    if position.is_some() {
        made.remove(at);
    }
    Some(made)
}

/// Smoothstep of `x`, clamped to 0 - 1.
pub(super) fn smoothstep(x: f64) -> f64 {
    let x = x.clamp(0.0, 1.0);
    x * x * (3.0 - 2.0 * x)
}

/// The parameter of a position in the joint's space along the bone from the joint's origin to `tail`, 0 - 1; `None` for
/// a bone of zero length.
pub(super) fn along(position: DVec3, tail: DVec3) -> Option<f64> {
    let length = tail.length_squared();
    (length > 1e-20).then(|| (position.dot(tail) / length).clamp(0.0, 1.0))
}

/// The distance between a position in the joint's space and the bone to `tail`.
pub(super) fn distance(position: DVec3, tail: DVec3) -> f64 {
    position.distance(tail * along(position, tail).unwrap_or(0.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(pairs: &[(u16, f32)]) -> Rows {
        std::iter::once(pairs.to_vec()).collect()
    }

    fn moved(pairs: &[(u16, f32)], fractions: &[(u16, f64)], limit: usize) -> Vec<(u16, f32)> {
        redistributed(row(pairs).row(0), 1, fractions, limit).unwrap()
    }

    #[test]
    fn weights_pass_on_and_sums_stay() {
        let before = [(0, 0.25), (1, 0.5), (2, 0.25)];
        assert_eq!(
            moved(&before, &[(1, 0.75), (3, 0.25)], 4),
            [(0, 0.25), (1, 0.375), (2, 0.25), (3, 0.125)]
        );
        // No free entry: the larger fraction gets all.
        assert_eq!(
            moved(&before, &[(1, 0.75), (3, 0.25)], 3),
            [(0, 0.25), (1, 0.5), (2, 0.25)]
        );
        // To joints that the row already has.
        assert_eq!(
            moved(&before, &[(0, 0.5), (2, 0.5)], 3),
            [(0, 0.5), (2, 0.5)]
        );
        assert!(redistributed(row(&[(0, 1.0)]).row(0), 1, &[(3, 1.0)], 4).is_none());
    }

    #[test]
    fn a_position_has_a_parameter_along_a_bone() {
        assert_eq!(along(DVec3::new(1.0, 0.5, 0.0), DVec3::Y), Some(0.5));
        assert_eq!(along(DVec3::NEG_Y, DVec3::Y), Some(0.0));
        assert_eq!(along(DVec3::X, DVec3::ZERO), None);
        assert_eq!(distance(DVec3::new(1.0, 9.0, 0.0), DVec3::Y), 65f64.sqrt());
    }
}
