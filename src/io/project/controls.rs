//! Lattices and cages of groups of control clusters <-> the project format.

use super::motions::FindClip;
use super::types::{enums, is_default};
use crate::cluster::lattice::{LatticeSettings, Outside};
use crate::cluster::{
    CageControls, CageMesh, CageSource, ControlKey, ControlMotion, LatticeControls,
};
use crate::document::Document;
use crate::finding::Finding;
use glam::Vec3;
use serde::{Deserialize, Serialize};

enums! {
    /// What vertices outside of the box of a lattice do.
    #[derive(Default)]
    LatticeOutside = Outside { #[default] Still, Nearest }
}

/// A lattice, mesh space.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LatticeEntry {
    origin: (f64, f64, f64),
    edges: [(f64, f64, f64); 3],
    counts: (u32, u32, u32),
    #[serde(default, skip_serializing_if = "is_default")]
    outside: LatticeOutside,
    #[serde(default, skip_serializing_if = "is_default")]
    motion: ControlsEntry,
}

/// A cage, mesh space.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CageEntry {
    source: CageSourceEntry,
    vertices: Vec<(f64, f64, f64)>,
    triangles: Vec<(u32, u32, u32)>,
    #[serde(default, skip_serializing_if = "is_default")]
    motion: ControlsEntry,
}

/// Where a cage is from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
enum CageSourceEntry {
    Box { segments: u32 },
    Object(String),
}

/// Displacements of control points.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ControlsEntry {
    /// Outside of clips.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    still: Vec<MovedControl>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    clips: Vec<ClipControls>,
}

/// A control point and its displacement, mesh space.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct MovedControl(u32, (f32, f32, f32));

/// The keyframes in a clip.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ClipControls {
    clip: u32,
    name: String,
    keys: Vec<KeyControls>,
}

/// The displacements at a time, seconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct KeyControls {
    secs: f32,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    offsets: Vec<MovedControl>,
}

/// The entry of a lattice.
pub(super) fn collect_lattice(document: &Document, lattice: &LatticeControls) -> LatticeEntry {
    let settings = &lattice.settings;
    LatticeEntry {
        origin: settings.origin.into(),
        edges: settings.edges.map(Into::into),
        counts: settings.counts.into(),
        outside: settings.outside.into(),
        motion: motion_entry(document, &lattice.motion),
    }
}

/// The lattice of an entry. Keyframes of clips that `find_clip` does not find are left out. Fails for what is not valid.
pub(super) fn restore_lattice(
    entry: &LatticeEntry,
    find_clip: FindClip<'_>,
    findings: &mut Vec<Finding>,
) -> Result<LatticeControls, String> {
    let lattice = LatticeControls {
        settings: LatticeSettings {
            origin: entry.origin.into(),
            edges: entry.edges.map(Into::into),
            counts: entry.counts.into(),
            outside: entry.outside.into(),
        },
        motion: motion(&entry.motion, find_clip, findings)?,
    };
    lattice.check()?;
    Ok(lattice)
}

/// The entry of a cage.
pub(super) fn collect_cage(document: &Document, cage: &CageControls) -> CageEntry {
    CageEntry {
        source: match cage.mesh.source() {
            CageSource::Box { segments } => CageSourceEntry::Box {
                segments: *segments,
            },
            CageSource::Object(name) => CageSourceEntry::Object(name.clone()),
        },
        vertices: cage.mesh.vertices().iter().map(|&v| v.into()).collect(),
        triangles: cage.mesh.triangles().iter().map(|&t| t.into()).collect(),
        motion: motion_entry(document, &cage.motion),
    }
}

/// The cage of an entry; see [`restore_lattice`].
pub(super) fn restore_cage(
    entry: &CageEntry,
    find_clip: FindClip<'_>,
    findings: &mut Vec<Finding>,
) -> Result<CageControls, String> {
    let source = match &entry.source {
        CageSourceEntry::Box { segments } => CageSource::Box {
            segments: (*segments).clamp(1, CageMesh::MAX_SEGMENTS),
        },
        CageSourceEntry::Object(name) => CageSource::Object(name.clone()),
    };
    let vertices = entry.vertices.iter().map(|&v| v.into()).collect();
    let triangles = entry.triangles.iter().map(|&t| t.into()).collect();
    let mesh = CageMesh::new(source, vertices, triangles).map_err(|why| why.to_string())?;
    let cage = CageControls {
        motion: motion(&entry.motion, find_clip, findings)?,
        ..CageControls::new(mesh)
    };
    cage.check()?;
    Ok(cage)
}

fn motion_entry(document: &Document, motion: &ControlMotion) -> ControlsEntry {
    let moved = |offsets: &[(u32, Vec3)]| {
        let moved = offsets.iter().map(|&(c, d)| MovedControl(c, d.into()));
        moved.collect::<Vec<_>>()
    };
    let key_entry = |key: &ControlKey| KeyControls {
        secs: key.secs,
        offsets: moved(&key.offsets),
    };
    let clips = motion.clips().map(|(clip, keys)| {
        let known = document.clips().get(&clip);
        ClipControls {
            clip: clip.0,
            name: known.map_or_else(String::new, |clip| clip.name.clone()),
            keys: keys.iter().map(key_entry).collect(),
        }
    });
    ControlsEntry {
        still: moved(motion.still()),
        clips: clips.collect(),
    }
}

fn motion(
    entry: &ControlsEntry,
    find_clip: FindClip<'_>,
    findings: &mut Vec<Finding>,
) -> Result<ControlMotion, String> {
    let offsets = |moved: &[MovedControl]| {
        let moved = moved.iter().map(|m| (m.0, m.1.into()));
        moved.collect::<Vec<(u32, Vec3)>>()
    };
    let mut clips = Vec::new();
    for clip in &entry.clips {
        if let Some(id) = find_clip(clip.clip, &clip.name, findings) {
            let keys = clip.keys.iter();
            let keys = keys.map(|key| (key.secs, offsets(&key.offsets)));
            clips.push((id, keys.collect()));
        }
    }
    ControlMotion::new(offsets(&entry.still), clips).map_err(|why| why.to_string())
}
