//! Layers of weights <-> the project format.
//!
//! Rows and masks are stored like those of the mesh itself (see `rows` and `masks`). The composite of the layers is not
//! stored: it is computed from them.

use super::ProjectError;
use super::v11::{LayerEntry, MeshWeights, MirrorEntry, SkinJoint};
use super::{joints, masks, rows};
use crate::document::layers::{MirrorEffect, MirrorJoints};
use crate::document::{Document, Layer, LayerId, LayerStack, MeshId, MeshItem};
use crate::math::Axis;
use crate::mesh::Symmetry;
use crate::task::{Cancelled, Task};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;

/// The layers of a mesh, the base first; empty where it has none.
pub(super) fn collect(
    document: &Document,
    id: MeshId,
    item: &MeshItem,
) -> Result<Vec<LayerEntry>, ProjectError> {
    let layers = item.layers.layers().iter();
    layers
        .map(|layer| entry(document, id, item, layer))
        .collect()
}

fn entry(
    document: &Document,
    id: MeshId,
    item: &MeshItem,
    layer: &Layer,
) -> Result<LayerEntry, ProjectError> {
    let mut entry = LayerEntry {
        mesh: id.0,
        name: item.geometry.name.clone(),
        layer: layer.id.0,
        title: layer.name.clone(),
        opacity: layer.opacity,
        muted: layer.muted,
        alone: item.layers.solo() == Some(layer.id),
        mirror: layer.mirror.as_deref().map(mirror_entry),
        joints: Vec::new(),
        rows: Vec::new(),
        blocks: Vec::new(),
        mask_values: Vec::new(),
        mask_blocks: Vec::new(),
    };
    if layer.id == LayerStack::BASE {
        return Ok(entry);
    }
    let painted = masks::painted(&item.geometry, &layer.mask);
    (entry.mask_values, entry.mask_blocks) = painted.map_err(|why| ProjectError::Damaged {
        place: place(&entry),
        why,
    })?;
    let points = (0..layer.rows.len() as u32).filter(|&p| !layer.rows.row(p).is_empty());
    if let Some(weights) = rows::collect(document, id, &layer.rows, points.collect())? {
        entry.joints = weights.joints;
        entry.rows = weights.rows;
        entry.blocks = weights.blocks;
    }
    if let Some(mirror) = &entry.mirror {
        let pairs = mirror.pairs.iter().flat_map(|&(a, b)| [a, b]);
        let named = pairs.chain(mirror.unpaired.iter().copied());
        let skin = document.skin_of_mesh(id);
        for index in named {
            let joint = skin.and_then(|(_, skin)| skin.joints.get(usize::from(index)));
            let known = entry.joints.iter().any(|joint| joint.0 == index);
            if let Some(joint) = joint.filter(|_| !known) {
                let (key, name) = (
                    joints::key(document, *joint),
                    joints::name(document, *joint),
                );
                entry.joints.push(SkinJoint(index, key, name));
            }
        }
        entry.joints.sort_by_key(|joint| joint.0);
    }
    Ok(entry)
}

fn mirror_entry(mirror: &MirrorEffect) -> MirrorEntry {
    let joints = mirror.joints();
    let pairs = (0..).zip(joints.recipients.iter().copied());
    MirrorEntry {
        axis: mirror.axis().into(),
        centre: mirror.centre(),
        from_positive: mirror.from_positive(),
        tolerance: mirror.tolerance(),
        pairs: pairs
            .filter(|(joint, recipient)| joint != recipient)
            .collect(),
        unpaired: joints.unpaired.clone(),
    }
}

/// The symmetries of one mesh that were found, by axis, position of the plane and tolerance.
pub(super) type Symmetries = BTreeMap<(usize, u32, u32), Symmetry>;

/// The result of [`restore`].
#[derive(Debug)]
pub(super) struct Restored {
    pub(super) layer: Layer,
    /// The rows that did not fit.
    pub(super) rows: rows::Restored,
    /// The values of the mask that did not fit.
    pub(super) mask: masks::Restored,
    /// A message about a number that is out of its range.
    pub(super) fault: Option<&'static str>,
}

/// The layer of `entry` on the mesh `item`, whose skins have the slots `live`.
///
/// `skin_joint_of[i]`: the skin joint in this model for skin joint i of the project. `known`: symmetries that were
/// found for other layers. Fails for a block that cannot be decoded.
pub(super) fn restore(
    entry: LayerEntry,
    item: &MeshItem,
    live: &[bool],
    skin_joint_of: &[Option<u16>],
    known: &mut Symmetries,
    task: &Task,
) -> Result<Restored, ProjectError> {
    let place = place(&entry);
    let mut layer = Layer::new(LayerId(entry.layer), entry.title, item.influences.len());
    layer.muted = entry.muted;
    let mut fault = None;
    if (0.0..=1.0).contains(&entry.opacity) {
        layer.opacity = entry.opacity;
    } else {
        fault = Some("Its opacity is not 0 - 1; it is shown with opacity 1.");
    }
    let painted = (entry.mask_values.as_slice(), entry.mask_blocks.as_slice());
    let mut mask = masks::restore(painted, 1.0, &item.geometry, &place)?;
    layer.mask.swap(&mask.points, &mut mask.values);
    let weights = MeshWeights {
        mesh: entry.mesh,
        name: entry.name,
        joints: Vec::new(),
        rows: entry.rows,
        blocks: entry.blocks,
    };
    let mut restored = rows::restore(&weights, item, live, skin_joint_of)?;
    for (points, rows) in &mut restored.spans {
        layer.rows.swap_few_rows(points, rows);
    }
    if let Some(mirror) = &entry.mirror {
        match mirror_effect(mirror, item, live.len(), skin_joint_of, known, task)? {
            Ok(effect) => layer.mirror = Some(Arc::new(effect)),
            Err(why) => fault = Some(why),
        }
    }
    Ok(Restored {
        layer,
        rows: restored,
        mask,
        fault,
    })
}

fn mirror_effect(
    entry: &MirrorEntry,
    item: &MeshItem,
    n_joints: usize,
    skin_joint_of: &[Option<u16>],
    known: &mut Symmetries,
    task: &Task,
) -> Result<Result<MirrorEffect, &'static str>, Cancelled> {
    if !(0.0..=1.0).contains(&entry.tolerance) {
        return Ok(Err(
            "Its mirror effect has a tolerance that is not 0 - 1; the effect is skipped.",
        ));
    }
    if !entry.centre.is_finite() {
        return Ok(Err(
            "Its mirror effect has a plane that is not a number; the effect is skipped.",
        ));
    }
    let here = |joint: u16| {
        let here = skin_joint_of.get(usize::from(joint)).copied().flatten();
        here.filter(|&joint| usize::from(joint) < n_joints)
    };
    let mut joints = MirrorJoints {
        recipients: (0..n_joints).map(|joint| joint as u16).collect(),
        unpaired: entry.unpaired.iter().filter_map(|&j| here(j)).collect(),
    };
    joints.unpaired.sort_unstable();
    for &(joint, recipient) in &entry.pairs {
        if let (Some(joint), Some(recipient)) = (here(joint), here(recipient)) {
            joints.recipients[usize::from(joint)] = recipient;
        }
    }
    let tolerance = MirrorEffect::metres(&item.geometry, entry.tolerance);
    let (axis, centre) = (Axis::from(entry.axis), entry.centre);
    let key = (axis.index(), centre.to_bits(), tolerance.to_bits());
    let symmetry = match known.entry(key) {
        Entry::Occupied(known) => known.into_mut(),
        Entry::Vacant(place) => place.insert(Symmetry::find_about(
            &item.geometry,
            axis,
            centre,
            tolerance,
            task,
        )?),
    };
    Ok(Ok(MirrorEffect::new(
        &item.geometry,
        symmetry,
        entry.from_positive,
        entry.tolerance,
        joints,
    )))
}

/// The place of a layer in the file, for messages.
pub(super) fn place(entry: &LayerEntry) -> String {
    format!(
        "layer \"{}\" of mesh {} \"{}\"",
        entry.title, entry.mesh, entry.name
    )
}
