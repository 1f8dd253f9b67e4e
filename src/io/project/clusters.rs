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
use super::unplaced::{self, KeptLayer};
use crate::cluster::channel::{Binding, RecordingId, Recordings, check_bindings};
use crate::cluster::map::check_group;
use crate::cluster::{
    ClusterGroup, ClusterMap, ColourBy, ControlMotion, DataLayer, MapError, SurfaceDisplay,
};
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
        unplaced::restore(group, &mut entry)?;
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

/// The clusters of an entry in a mesh; its layers read the recordings. Fails for a block that cannot be decoded.
pub(super) fn restore(
    entry: ClusterEntry,
    (mesh, recordings): (&Mesh, &Recordings),
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
    let mut layers = Layers {
        mesh,
        recordings,
        joints,
        bindings: Vec::new(),
    };
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
        let title = group.title.clone();
        let of_group = |why| damaged(format!("its group \"{title}\": {why}"));
        let hand = match &group.hand {
            Some(entry) => {
                let (hand, missing) =
                    motions::restore(entry, mesh, find_clip, findings).map_err(&of_group)?;
                n_missing += missing;
                hand
            }
            None => ControlMotion::default(),
        };
        let lattice = group.lattice.as_ref();
        let lattice = lattice.map(|entry| controls::restore_lattice(entry, find_clip, findings));
        let lattice = lattice.transpose().map_err(&of_group)?;
        let cage = group.cage.as_ref();
        let cage = cage.map(|entry| controls::restore_cage(entry, find_clip, findings));
        let cage = cage.transpose().map_err(&of_group)?;
        let made = ClusterGroup {
            colour: [r, green, b],
            glyph: group.glyph.into(),
            base: group.base.into(),
            hand,
            lattice: lattice.map(Arc::new),
            cage: cage.map(Arc::new),
            ..ClusterGroup::new(group.title.clone(), 0)
        };
        let made = layers.add(made, group, findings).map_err(of_group)?;
        groups.push(Arc::new(made));
    }
    let clusters = group_of.into_iter().collect();
    let colour_by = entry.colour_by.filter(|colour| {
        let is_there = recordings.contains_key(&RecordingId(colour.recording));
        if !is_there {
            let why = format!("The colours are skipped. {NO_RECORDING}");
            findings.push(Finding::warning(place.clone(), why));
        }
        is_there
    });
    let display = SurfaceDisplay {
        colour: colour_by.map(|colour| ColourBy {
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

/// Restores the layers of groups; keeps those that are not valid in this model.
struct Layers<'a> {
    mesh: &'a Mesh,
    recordings: &'a Recordings,
    joints: &'a mut Joints,
    /// Of the data of all groups so far.
    bindings: Vec<Binding>,
}

/// What is said of a layer of a recording that the project does not have.
const NO_RECORDING: &str = "The project does not have its recording.";

impl Layers<'_> {
    /// `group` with the layers of its entry. Fails where one cannot be kept.
    fn add(
        &mut self,
        mut group: ClusterGroup,
        entry: GroupEntry,
        findings: &mut Vec<Finding>,
    ) -> Result<ClusterGroup, String> {
        let bare = ClusterGroup {
            base: group.base,
            ..ClusterGroup::new(group.name.clone(), 0)
        };
        let mesh = self.mesh;
        let valid = |with: ClusterGroup| check_group(&with).map_err(|why| why_not(&why, mesh));
        let mut unplaced = Vec::new();
        for entry in entry.muscles {
            let found = muscles::restore(entry.clone(), self.joints, findings);
            let found = found.ok_or("The model no longer has one of its bones.".to_owned());
            let checked = found.and_then(|muscle| {
                let muscles = vec![muscle.clone()];
                valid(ClusterGroup {
                    muscles,
                    ..bare.clone()
                })
                .map(|()| muscle)
            });
            match checked {
                Ok(muscle) => group.muscles.push(muscle),
                Err(why) => unplaced.push(KeptLayer::Muscle(entry).keep(why, findings)?),
            }
        }
        for entry in entry.drivers {
            let found = driven::restore_driver(entry.clone(), mesh, self.joints, findings);
            let found =
                found.ok_or("The model no longer has a bone or a vertex that it reads.".to_owned());
            let checked = found.and_then(|driver| {
                let recording = driver.recording();
                if recording.is_some_and(|id| !self.recordings.contains_key(&id)) {
                    return Err(NO_RECORDING.to_owned());
                }
                let drivers = vec![driver.clone()];
                valid(ClusterGroup {
                    drivers,
                    ..bare.clone()
                })
                .map(|()| driver)
            });
            match checked {
                Ok(driver) => group.drivers.push(driver),
                Err(why) => unplaced.push(KeptLayer::Driver(entry).keep(why, findings)?),
            }
        }
        for entry in entry.data {
            let mut about = Vec::new();
            let data = driven::restore_data(entry.clone(), mesh, &mut about);
            let alone = ClusterGroup {
                data: vec![data.clone()],
                ..bare.clone()
            };
            match valid(alone).and_then(|()| self.check_data(&data)) {
                Ok(()) => {
                    findings.append(&mut about);
                    self.bindings.extend_from_slice(&data.bindings);
                    group.data.push(data);
                }
                Err(why) => unplaced.push(KeptLayer::Data(entry).keep(why, findings)?),
            }
        }
        Ok(ClusterGroup { unplaced, ..group })
    }

    /// Refuses data of a recording that is not there, and a second position of a vertex.
    fn check_data(&self, data: &DataLayer) -> Result<(), String> {
        if !self.recordings.contains_key(&data.played.recording) {
            return Err(NO_RECORDING.to_owned());
        }
        let checked = check_bindings(self.bindings.iter().chain(&data.bindings));
        checked.map_err(|why| why_not(&MapError::Bindings(why), self.mesh))
    }
}

/// Why a layer is left out, a sentence without its name; its vertex has the number that it has in the model's file.
fn why_not(why: &MapError, mesh: &Mesh) -> String {
    match why {
        MapError::Layer { why, .. } | MapError::Muscle { why, .. } => {
            format!("It is not valid: {why}.")
        }
        why => {
            let keys = why.point().map(|point| keys::of_points(mesh, vec![point]));
            let why = match keys.as_deref() {
                Some([key]) => why.naming(&format!(
                    "vertex {} of primitive {}",
                    key.vertex, key.primitive
                )),
                _ => why.to_string(),
            };
            format!("It is not valid: {why}.")
        }
    }
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
