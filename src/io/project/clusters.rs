//! Control clusters <-> the project format.
//!
//! Clusters are identified by the lowest vertex of their point: few of a group are text, many are blocks, one for each
//! span of [`keys::SPAN`] vertices of a primitive. A block holds u32 steps to the next vertex as byte planes.

use super::ProjectError;
use super::block;
use super::cluster_entries::{ClusterEntry, ColourEntry, GroupEntry, PointBlock};
use super::controls;
use super::driven;
use super::joints::Joints;
use super::keys::{self, Key, SPAN};
use super::motions::{self, FindClip};
use super::muscles;
use super::points_of_primitives::PrimitivePoints;
use crate::cluster::channel::RecordingId;
use crate::cluster::{ClusterGroup, ClusterMap, ColourBy, ControlMotion, MapError, SurfaceDisplay};
use crate::document::{Document, MeshId, MeshItem};
use crate::finding::Finding;
use crate::mesh::Mesh;
use std::collections::BTreeMap;
use std::sync::Arc;

/// More clusters of a group than this are encoded.
const MAX_TEXT_POINTS: usize = 256;

/// The clusters of a mesh; `None` without groups.
pub(super) fn collect(
    document: &Document,
    id: MeshId,
    item: &MeshItem,
) -> Result<Option<ClusterEntry>, ProjectError> {
    let (map, mesh) = (&item.clusters, &item.geometry);
    if map.is_empty() {
        return Ok(None);
    }
    let mut entry = ClusterEntry {
        mesh: id.0,
        name: mesh.name.clone(),
        settings: (*map.settings()).into(),
        colour_by: map.display().colour.as_ref().map(|colour| ColourEntry {
            recording: colour.recording.0,
            quantity: colour.quantity.clone(),
            range: colour.range.map(<(f64, f64)>::from),
        }),
        shore: map.display().shore,
        groups: Vec::new(),
    };
    let groups = map.groups().iter().enumerate().map(|(g, group)| {
        let own = map.clusters().iter().filter(|c| usize::from(c.1) == g);
        let mut entry = group_entry(group, mesh, own.map(|c| c.0).collect())?;
        let muscles = group.muscles.iter();
        entry.muscles = muscles.map(|m| muscles::collect(document, m)).collect();
        entry.hand = motions::collect(document, mesh, &group.hand)?;
        let lattice = group.lattice.as_ref();
        entry.lattice = lattice.map(|lattice| controls::collect_lattice(document, lattice));
        let cage = group.cage.as_ref();
        entry.cage = cage.map(|cage| controls::collect_cage(document, cage));
        let drivers = group.drivers.iter();
        let drivers = drivers.map(|d| driven::collect_driver(document, mesh, d));
        entry.drivers = drivers.collect();
        let data = group.data.iter();
        entry.data = data.map(|d| driven::collect_data(mesh, d)).collect();
        Ok(entry)
    });
    entry.groups = groups
        .collect::<Result<_, _>>()
        .map_err(|why| ProjectError::Damaged {
            place: place(&entry),
            why,
        })?;
    Ok(Some(entry))
}

fn group_entry(group: &ClusterGroup, mesh: &Mesh, points: Vec<u32>) -> Result<GroupEntry, String> {
    let keys = keys::of_points(mesh, points);
    let mut entry = GroupEntry {
        title: group.name.clone(),
        colour: group.colour.into(),
        glyph: group.glyph.into(),
        base: group.base.into(),
        muscles: Vec::new(),
        hand: None,
        lattice: None,
        cage: None,
        drivers: Vec::new(),
        data: Vec::new(),
        points: Vec::new(),
        blocks: Vec::new(),
    };
    if keys.len() <= MAX_TEXT_POINTS {
        let primitives = keys.chunk_by(|a, b| a.primitive == b.primitive);
        entry.points.extend(primitives.map(|keys| PrimitivePoints {
            p: keys[0].primitive,
            v: keys.iter().map(|key| key.vertex).collect(),
        }));
    } else {
        for keys in keys::spans(&keys) {
            entry.blocks.push(encode(keys)?);
        }
    }
    Ok(entry)
}

/// The result of [`restore`].
pub(super) struct Restored {
    pub(super) map: Result<ClusterMap, MapError>,
    /// Clusters for vertices that the mesh does not have.
    pub(super) n_missing: usize,
    /// Clusters for points that are in another group already.
    pub(super) n_conflicts: usize,
}

/// The clusters of an entry in `mesh`. Fails for a block that cannot be decoded.
pub(super) fn restore(
    entry: ClusterEntry,
    mesh: &Mesh,
    joints: &mut Joints,
    find_clip: FindClip<'_>,
    findings: &mut Vec<Finding>,
) -> Result<Restored, ProjectError> {
    let place = place(&entry);
    let damaged = |why: String| ProjectError::Damaged {
        place: place.clone(),
        why,
    };
    let blocks = entry.groups.iter().flat_map(|group| &group.blocks);
    let n_points: u64 = blocks.map(|b| u64::from(b.n_points)).sum();
    // Clusters of vertices that the model no longer has are a finding; an implausible count is damage.
    if n_points > 4 * mesh.n_vertices() as u64 + u64::from(SPAN) {
        let n = mesh.n_vertices();
        return Err(damaged(format!("it marks {n_points} of {n} vertices")));
    }
    let mut group_of: BTreeMap<u32, u16> = BTreeMap::new();
    let (mut n_missing, mut n_conflicts) = (0, 0);
    let mut groups = Vec::new();
    for (g, group) in entry.groups.into_iter().enumerate() {
        let Ok(g) = u16::try_from(g) else {
            return Err(damaged("it has too many groups".into()));
        };
        let text = group.points.iter();
        let mut vertices: Vec<(u32, u32)> = text
            .flat_map(|part| part.v.iter().map(|&vertex| (part.p, vertex)))
            .collect();
        for block in &group.blocks {
            vertices.extend(decode(block).map_err(damaged)?);
        }
        for (primitive, vertex) in vertices {
            match keys::point_of(mesh, primitive, vertex) {
                Some(point) => {
                    let known = *group_of.entry(point).or_insert(g);
                    n_conflicts += usize::from(known != g);
                }
                None => n_missing += 1,
            }
        }
        let (r, green, b) = group.colour;
        let hand = match &group.hand {
            Some(entry) => {
                let of_group = |why| damaged(format!("its group \"{}\": {why}", group.title));
                let (hand, missing) =
                    motions::restore(entry, mesh, find_clip, findings).map_err(of_group)?;
                n_missing += missing;
                hand
            }
            None => ControlMotion::default(),
        };
        let of_group = |why| damaged(format!("its group \"{}\": {why}", group.title));
        let lattice = group.lattice.as_ref();
        let lattice = lattice.map(|entry| controls::restore_lattice(entry, find_clip, findings));
        let lattice = lattice.transpose().map_err(of_group)?;
        let cage = group.cage.as_ref();
        let cage = cage.map(|entry| controls::restore_cage(entry, find_clip, findings));
        let cage = cage.transpose().map_err(of_group)?;
        groups.push(Arc::new(ClusterGroup {
            name: group.title,
            colour: [r, green, b],
            glyph: group.glyph.into(),
            base: group.base.into(),
            muscles: group
                .muscles
                .into_iter()
                .filter_map(|muscle| muscles::restore(muscle, joints, findings))
                .collect(),
            hand,
            lattice: lattice.map(Arc::new),
            cage: cage.map(Arc::new),
            drivers: group
                .drivers
                .into_iter()
                .filter_map(|driver| driven::restore_driver(driver, mesh, joints, findings))
                .collect(),
            data: group
                .data
                .into_iter()
                .map(|data| driven::restore_data(data, mesh, findings))
                .collect(),
        }));
    }
    let clusters = group_of.into_iter().collect();
    let display = SurfaceDisplay {
        colour: entry.colour_by.map(|colour| ColourBy {
            recording: RecordingId(colour.recording),
            quantity: colour.quantity,
            range: colour.range.map(<[f64; 2]>::from),
        }),
        shore: entry.shore,
    };
    Ok(Restored {
        map: ClusterMap::new(groups, clusters, entry.settings.into())
            .and_then(|map| map.with_display(display)),
        n_missing,
        n_conflicts,
    })
}

/// The place of the clusters in the file, for messages.
pub(super) fn place(entry: &ClusterEntry) -> String {
    format!("control clusters of mesh {} \"{}\"", entry.mesh, entry.name)
}

fn encode(keys: &[Key]) -> Result<PointBlock, String> {
    let mut bytes = Vec::with_capacity(4 * keys.len());
    block::push_planes(&mut bytes, keys::steps(keys).map(u32::to_le_bytes));
    Ok(PointBlock {
        primitive: keys.first().map_or(0, |key| key.primitive),
        n_points: keys.len() as u32,
        data: block::to_text(&bytes)?,
    })
}

/// (primitive, vertex) of each point of a block.
fn decode(block: &PointBlock) -> Result<Vec<(u32, u32)>, String> {
    let n = block.n_points as usize;
    let bytes = block::from_text(&block.data, 4 * n)?;
    let steps = block::take_planes::<4>(&mut bytes.as_slice(), n);
    let steps = steps.ok_or_else(|| "its encoded data is too short".to_owned())?;
    let mut vertex = 0u32;
    let points = steps.map(|step| {
        vertex = vertex.wrapping_add(u32::from_le_bytes(step));
        (block.primitive, vertex)
    });
    Ok(points.collect())
}
