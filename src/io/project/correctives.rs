//! Corrective samples <-> the project format.
//!
//! Few displacements of a sample are text, many are blocks, one for each span of [`keys::SPAN`] vertices of a primitive.
//! A block holds, in ascending order of vertex: u32 steps to the next vertex, then x, y and z as f32; all as byte planes.
//! A sample that was captured on the mesh's present stack does not store it. A set with a missing driver bone, or for a
//! mesh that the model does not have, is kept as its entry.

use super::ProjectError;
use super::joints::{self, JointRef, Joints};
use super::keys::{self, Key, SPAN};
use super::migrate::from_ron;
use super::moved_blocks::{decode, encode};
use super::sample_entries::{
    CorrectiveEntry, DriverEntry, HeldVertices, MovedPoint, Rotation, SampleEntry, SampleMode,
};
use super::stack::Stack;
use crate::deform::correctives::{
    CapturedOver, Correctives, Driver, Fault, Sample, SampleSet, SampleVertices, SkinBase,
};
use crate::document::{Document, MeshId, MeshItem};
use crate::finding::Finding;
use crate::mesh::Mesh;
use crate::psd::{Displacements, DriverMode};
use glam::{DQuat, DVec3, Vec3};
use rayon::prelude::*;
use std::collections::HashMap;
use std::sync::Arc;

/// More displacements of a sample than this are encoded.
const MAX_TEXT_POINTS: usize = 32;

/// The sample sets of a mesh.
pub(super) fn collect(
    document: &Document,
    id: MeshId,
    item: &MeshItem,
) -> Result<Vec<CorrectiveEntry>, ProjectError> {
    let sets = item.correctives.sets().iter();
    sets.map(|set| {
        if let Some(Fault::NoBone { entry, .. }) = &set.fault {
            let mut entry: CorrectiveEntry = from_ron(entry)?;
            entry.mesh = id.0;
            entry.name.clone_from(&item.geometry.name);
            entry.title.clone_from(&set.name);
            return Ok(entry);
        }
        let drivers = set.drivers.iter().map(|driver| DriverEntry {
            joint: joints::reference(document, driver.joint),
            relative_to: driver.relative_to.map(|j| joints::reference(document, j)),
            mode: mode_entry(driver.mode),
            lambda: driver.lambda,
            bind: driver.bind.into(),
        });
        let mut entry = CorrectiveEntry {
            mesh: id.0,
            name: item.geometry.name.clone(),
            title: set.name.clone(),
            drivers: drivers.collect(),
            kernel: set.kernel.into(),
            radius: set.radius,
            smoothing: set.smoothing,
            clamp: set.clamp.into(),
            fade: set.fade,
            weighted: set.weighted,
            scale_with_limb: set.scale_with_limb,
            vertices: set.vertices.clone().into(),
            samples: Vec::new(),
        };
        let samples = set.samples.par_iter();
        let samples = samples.map(|sample| sample_entry(document, (id, item), sample));
        entry.samples = samples.collect::<Result<_, _>>().map_err(|why| {
            let place = place(&entry);
            ProjectError::Damaged { place, why }
        })?;
        Ok(entry)
    })
    .collect()
}

fn sample_entry(
    document: &Document,
    (id, item): (MeshId, &MeshItem),
    sample: &Sample,
) -> Result<SampleEntry, String> {
    let mesh = &item.geometry;
    let values: HashMap<u32, Vec3> = sample.displacements.iter().collect();
    let keys = keys::of_points(mesh, values.keys().copied().collect());
    let value = |key: &Key| values.get(&key.point).copied().unwrap_or_default();
    let (mut points, mut blocks) = (Vec::new(), Vec::new());
    if keys.len() <= MAX_TEXT_POINTS {
        points.extend(keys.iter().map(|key| MovedPoint {
            p: key.primitive,
            v: key.vertex,
            d: value(key).into(),
        }));
    } else {
        for keys in keys::spans(&keys) {
            blocks.push(encode(keys, value)?);
        }
    }
    let is_present =
        Arc::ptr_eq(&sample.captured_on, &item.stack) || sample.captured_on == item.stack;
    // What was assumed is told once it is no longer there.
    let sum = sample.base_checksum().or_else(|| {
        let (base, now) = (sample.captured_over.base()?, document.skin_base(id)?);
        let is_stale = sample.has_other_base(&now);
        is_stale.then(|| base.checksum(&sample.captured_on, &sample.displacements))
    });
    let beside = sample.beside.iter();
    Ok(SampleEntry {
        name: sample.name.clone(),
        rotations: sample.rotations.iter().map(|q| (*q).into()).collect(),
        beside: beside
            .map(|(joint, q)| (joints::reference(document, *joint), (*q).into()))
            .collect(),
        captured_on: (!is_present).then(|| Stack::from((*sample.captured_on).clone())),
        captured_over: sum.map(|sum| format!("{sum:016x}")),
        strength: sample.strength,
        muted: sample.muted,
        points,
        blocks,
    })
}

/// The result of [`restore`].
pub(super) struct Restored {
    /// The sets of the mesh, that of the entry among them.
    pub(super) correctives: Correctives,
    /// Displacements for vertices that the mesh does not have.
    pub(super) n_missing: usize,
}

/// The sets of a mesh and that of an entry, which is disabled where a driver is missing. `base`: the mesh's present weights and painted
/// maps. Fails for a block that cannot be decoded.
pub(super) fn restore(
    entry: &CorrectiveEntry,
    (item, base): (&MeshItem, Option<&Arc<SkinBase>>),
    joints: &mut Joints,
    findings: &mut Vec<Finding>,
) -> Result<Restored, ProjectError> {
    let place = place(entry);
    let mut drivers = Vec::with_capacity(entry.drivers.len());
    let mut about_bones = Vec::new();
    for driver in &entry.drivers {
        let mut find = |reference: &JointRef| {
            let found = joints.find_joint(reference, &mut about_bones);
            found.ok_or_else(|| reference.clone())
        };
        let relative_to = driver.relative_to.as_ref().map(&mut find).transpose();
        match (find(&driver.joint), relative_to) {
            (Ok(joint), Ok(relative_to)) => drivers.push(Driver {
                joint,
                relative_to,
                mode: mode(driver.mode),
                lambda: driver.lambda,
                bind: driver.bind.into(),
            }),
            (Err(bone), _) | (_, Err(bone)) => {
                return Ok(Restored {
                    correctives: item.correctives.with_set(without_bone(entry, bone)?),
                    n_missing: 0,
                });
            }
        }
    }
    findings.append(&mut about_bones);
    let mut samples = Vec::with_capacity(entry.samples.len());
    for sample in &entry.samples {
        let mut beside = Vec::new();
        for (joint, rotation) in &sample.beside {
            // Without the joint there is no set that it drives.
            if let Some(joint) = joints.find_joint(joint, findings) {
                beside.push((joint, (*rotation).into()));
            }
        }
        let captured_on = sample.captured_on.clone();
        samples.push(Arc::new(Sample {
            name: sample.name.clone(),
            rotations: sample.rotations.iter().map(|q| (*q).into()).collect(),
            beside,
            displacements: Displacements::default(),
            captured_on: captured_on.map_or_else(|| item.stack.clone(), |s| Arc::new(s.into())),
            captured_over: captured_over(sample).map_err(|why| ProjectError::Damaged {
                place: format!("sample \"{}\" of {place}", sample.name),
                why,
            })?,
            strength: sample.strength,
            muted: sample.muted,
        }));
    }
    let set = SampleSet {
        name: entry.title.clone(),
        drivers,
        kernel: entry.kernel.into(),
        radius: entry.radius,
        smoothing: entry.smoothing,
        clamp: entry.clamp.into(),
        fade: entry.fade,
        weighted: entry.weighted,
        scale_with_limb: entry.scale_with_limb,
        vertices: entry.vertices.clone().into(),
        samples,
        fault: None,
    };
    // The weights do not depend on what the samples move: they are solved for while that is decoded.
    let solve = || item.correctives.with_set(set.clone());
    let decode = || decoded(entry, &set.samples, &item.geometry, base, &place);
    let (solved, decoded) = rayon::join(solve, decode);
    let (displacements, n_missing) = decoded?;
    let is_sound = |(all, _): &(Displacements, _)| all.iter().all(|(_, d)| d.is_finite());
    let correctives = if displacements.iter().all(is_sound) {
        solved.filled(&set.samples, displacements)
    } else {
        let mut set = set;
        for (sample, (displacements, over)) in set.samples.iter_mut().zip(displacements) {
            let sample = Arc::make_mut(sample);
            (sample.displacements, sample.captured_over) = (displacements, over);
        }
        item.correctives.with_set(set)
    };
    Ok(Restored {
        correctives,
        n_missing,
    })
}

/// The displacements of each sample of an entry with what they were captured over, and how many the mesh has no vertex for.
fn decoded(
    entry: &CorrectiveEntry,
    samples: &[Arc<Sample>],
    mesh: &Mesh,
    base: Option<&Arc<SkinBase>>,
    place: &str,
) -> Result<(Vec<(Displacements, CapturedOver)>, usize), ProjectError> {
    let displacements = entry.samples.par_iter().zip(samples).map(|(sample, made)| {
        let damaged = |why: String| ProjectError::Damaged {
            place: format!("sample \"{}\" of {place}", sample.name),
            why,
        };
        let (displacements, n_missing) = displacements(sample, mesh).map_err(damaged)?;
        // What is as it was can be compared from now on, and so can what an older project does not tell.
        let over = match (&made.captured_over, base) {
            (CapturedOver::Unknown, Some(base)) => CapturedOver::Assumed(base.clone()),
            (CapturedOver::Checksum(sum), Some(base))
                if base.checksum(&made.captured_on, &displacements) == *sum =>
            {
                CapturedOver::Known(base.clone())
            }
            (over, _) => over.clone(),
        };
        Ok(((displacements, over), n_missing))
    });
    let found = displacements.collect::<Result<Vec<_>, ProjectError>>()?;
    let n_missing = found.iter().map(|(_, missing)| missing).sum();
    Ok((found.into_iter().map(|(d, _)| d).collect(), n_missing))
}

/// What a sample was captured over, as the file has it.
fn captured_over(entry: &SampleEntry) -> Result<CapturedOver, String> {
    let Some(text) = &entry.captured_over else {
        return Ok(CapturedOver::Unknown);
    };
    let sum = u64::from_str_radix(text, 16)
        .ok()
        .filter(|_| text.len() == 16);
    sum.map(CapturedOver::Checksum)
        .ok_or_else(|| format!("\"{text}\" is no checksum of 16 hex digits"))
}

/// The set of an entry that has a driver bone which the model has not.
fn without_bone(
    entry: &CorrectiveEntry,
    JointRef(key, name): JointRef,
) -> Result<SampleSet, ProjectError> {
    let text = kept(entry)?;
    let mut set = SampleSet::new(entry.title.clone(), Vec::new());
    set.fault = Some(Fault::NoBone {
        bone: name.unwrap_or_else(|| key.to_string()),
        n_samples: entry.samples.len(),
        entry: text,
    });
    Ok(set)
}

/// An entry as text, to be saved again.
pub(super) fn kept(entry: &CorrectiveEntry) -> Result<Arc<str>, ProjectError> {
    let text = ron::to_string(entry).map_err(|error| ProjectError::Damaged {
        place: place(entry),
        why: error.to_string(),
    })?;
    Ok(text.into())
}

/// The entries of sets whose mesh the model does not have.
pub(super) fn unplaced(document: &Document) -> Result<Vec<CorrectiveEntry>, ProjectError> {
    let entries = document.unplaced_samples().iter();
    entries.map(|entry| from_ron(entry)).collect()
}

/// The place of a set in the file, for messages.
pub(super) fn place(entry: &CorrectiveEntry) -> String {
    format!(
        "corrective samples \"{}\" of mesh {} \"{}\"",
        entry.title, entry.mesh, entry.name
    )
}

/// The displacements of a sample, and how many the mesh has no vertex for.
fn displacements(sample: &SampleEntry, mesh: &Mesh) -> Result<(Displacements, usize), String> {
    let n_points = sample
        .blocks
        .iter()
        .map(|b| u64::from(b.n_points))
        .sum::<u64>();
    // Displacements of vertices that the model no longer has are a finding; an implausible count is damage.
    if n_points > 4 * mesh.n_vertices() as u64 + u64::from(SPAN) {
        return Err(format!(
            "it moves {n_points} of {} vertices",
            mesh.n_vertices()
        ));
    }
    let mut moved = Vec::new();
    let mut n_missing = 0;
    let mut add = |primitive, vertex, value: Vec3| match keys::point_of(mesh, primitive, vertex) {
        Some(point) => moved.push((point, value)),
        None => n_missing += 1,
    };
    for point in &sample.points {
        add(point.p, point.v, point.d.into());
    }
    for block in &sample.blocks {
        for (vertex, value) in decode(block)? {
            add(block.primitive, vertex, value);
        }
    }
    Ok((Displacements::new(moved), n_missing))
}

fn mode_entry(mode: DriverMode) -> SampleMode {
    match mode {
        DriverMode::Hinge(axis) => SampleMode::Hinge(axis.x, axis.y, axis.z),
        DriverMode::Ball => SampleMode::Ball,
        DriverMode::Swing(axis) => SampleMode::Swing(axis.x, axis.y, axis.z),
        DriverMode::Twist(axis) => SampleMode::Twist(axis.x, axis.y, axis.z),
    }
}

fn mode(entry: SampleMode) -> DriverMode {
    match entry {
        SampleMode::Hinge(x, y, z) => DriverMode::Hinge(DVec3::new(x, y, z)),
        SampleMode::Ball => DriverMode::Ball,
        SampleMode::Swing(x, y, z) => DriverMode::Swing(DVec3::new(x, y, z)),
        SampleMode::Twist(x, y, z) => DriverMode::Twist(DVec3::new(x, y, z)),
    }
}

impl From<SampleVertices> for HeldVertices {
    fn from(vertices: SampleVertices) -> Self {
        match vertices {
            SampleVertices::All => Self::All,
            SampleVertices::Clusters => Self::Clusters,
            SampleVertices::Group(name) => Self::Group(name),
        }
    }
}

impl From<HeldVertices> for SampleVertices {
    fn from(vertices: HeldVertices) -> Self {
        match vertices {
            HeldVertices::All => Self::All,
            HeldVertices::Clusters => Self::Clusters,
            HeldVertices::Group(name) => Self::Group(name),
        }
    }
}

impl From<DQuat> for Rotation {
    fn from(q: DQuat) -> Self {
        Self(q.x, q.y, q.z, q.w)
    }
}

impl From<Rotation> for DQuat {
    fn from(Rotation(x, y, z, w): Rotation) -> Self {
        Self::from_xyzw(x, y, z, w)
    }
}
