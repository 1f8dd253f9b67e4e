//! Lattices and cages of groups of clusters as a JSON file has them: mesh space at bind, in its units.

use crate::cluster::lattice::{LatticeSettings, Outside};
use crate::cluster::{CageControls, CageMesh, CageSource, ControlMotion, LatticeControls};
use glam::{DVec3, Vec3};
use serde::Deserialize;

/// A lattice: around the clusters of its group unless it has a box of its own.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LatticeJson {
    #[serde(default)]
    counts: Option<[u32; 3]>,
    /// A corner of the box, and the edges from there.
    #[serde(default)]
    origin: Option<[f64; 3]>,
    #[serde(default)]
    edges: Option<[[f64; 3]; 3]>,
    #[serde(default)]
    outside: Option<String>,
    #[serde(default)]
    offsets: Vec<(u32, f32, f32, f32)>,
}

/// A cage: a box around the clusters of its group, or a mesh of its own.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CageJson {
    #[serde(default)]
    segments: Option<u32>,
    #[serde(default)]
    vertices: Vec<[f64; 3]>,
    #[serde(default)]
    triangles: Vec<[u32; 3]>,
    #[serde(default)]
    offsets: Vec<(u32, f32, f32, f32)>,
}

impl LatticeJson {
    /// The lattice. `points`: the clusters of the group at bind, mesh space.
    pub(super) fn controls(&self, points: &[DVec3]) -> Result<LatticeControls, String> {
        let counts = self.counts.unwrap_or([2; 3]);
        let settings = match (self.origin, self.edges) {
            (Some(origin), Some(edges)) => LatticeSettings {
                origin: origin.into(),
                edges: edges.map(Into::into),
                counts,
                outside: Outside::default(),
            },
            (None, None) => LatticeSettings::around(points.iter().copied(), counts)
                .ok_or("there are no vertices to enclose")?,
            _ => return Err("origin and edges go together".into()),
        };
        let outside = match self.outside.as_deref() {
            None | Some("still") => Outside::Still,
            Some("nearest") => Outside::Nearest,
            Some(other) => {
                return Err(format!(
                    "outside is \"{other}\", which is not one of still, nearest"
                ));
            }
        };
        let lattice = LatticeControls {
            settings: LatticeSettings {
                outside,
                ..settings
            },
            motion: still(&self.offsets)?,
        };
        lattice.check()?;
        Ok(lattice)
    }
}

impl CageJson {
    /// The cage. `points`: the clusters of the group at bind, mesh space.
    pub(super) fn controls(&self, points: &[DVec3]) -> Result<CageControls, String> {
        let mesh = if self.vertices.is_empty() && self.triangles.is_empty() {
            let segments = self.segments.unwrap_or(2);
            if !(1..=CageMesh::MAX_SEGMENTS).contains(&segments) {
                let most = CageMesh::MAX_SEGMENTS;
                return Err(format!("segments is {segments}, which is not 1 - {most}"));
            }
            CageMesh::around(points.iter().copied(), segments)
                .ok_or("there are no vertices to enclose")?
        } else if self.segments.is_some() {
            return Err("segments are those of a box, which has no vertices of its own".into());
        } else {
            let vertices = self.vertices.iter().map(|&v| v.into()).collect();
            let source = CageSource::Object("JSON".into());
            let mesh = CageMesh::new(source, vertices, self.triangles.clone());
            mesh.map_err(|why| why.to_string())?
        };
        let cage = CageControls {
            motion: still(&self.offsets)?,
            ..CageControls::new(mesh)
        };
        cage.check()?;
        Ok(cage)
    }
}

fn still(offsets: &[(u32, f32, f32, f32)]) -> Result<ControlMotion, String> {
    let offsets = offsets.iter().map(|&(c, x, y, z)| (c, Vec3::new(x, y, z)));
    ControlMotion::new(offsets.collect(), []).map_err(|why| why.to_string())
}
