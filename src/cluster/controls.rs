//! The control points of a group of clusters: a lattice or a cage at rest, and how its points are displaced.
//!
//! The box of a lattice and the vertices of a cage lie in mesh space at bind, and their displacements have its units. A cluster
//! follows them by its place at bind, before morph targets, as vertices are bound to a skin; the displacement that results is added to the
//! deformer stack and turns with the skin, as what is added by hand. So a lattice deforms a posed limb as it does the limb at
//! rest, as one that is parented to the bone does in other tools, and at rest it adds nothing in any pose.

use super::bound_cage::is_slow_to_bind;
use super::cage::{Cage, CageError, MAX_COORDINATES};
use super::cage_mesh::CageMesh;
use super::lattice::LatticeSettings;
use super::motion::ControlMotion;
use crate::task::Task;
use glam::DVec3;
use std::sync::Arc;

/// Vertices of a cage times vertices of the next one times keyframes up to which displacements are resampled at once: some 30 ms.
const DISPLACED_AT_ONCE: usize = 1 << 24;

/// The lattice of a group.
#[derive(Clone, Debug, PartialEq)]
pub struct LatticeControls {
    /// The lattice at rest.
    pub settings: LatticeSettings,
    /// The displacements of its control points, in the order of [`LatticeSettings::rest`].
    pub motion: ControlMotion,
}

/// The cage of a group.
#[derive(Clone, Debug, PartialEq)]
pub struct CageControls {
    /// The cage at rest.
    pub mesh: Arc<CageMesh>,
    /// The displacements of its vertices.
    pub motion: ControlMotion,
}

impl LatticeControls {
    /// A lattice at rest.
    pub fn new(settings: LatticeSettings) -> Self {
        Self {
            settings,
            motion: ControlMotion::default(),
        }
    }

    /// With other numbers of control points, of nearly the same shape at all times; see [`LatticeSettings::resampled`].
    pub fn with_counts(&self, counts: [u32; 3]) -> Result<Self, String> {
        let settings = LatticeSettings {
            counts,
            ..self.settings
        };
        settings.check()?;
        let n = self.settings.n_controls();
        let motion = self.motion.mapped(|offsets| {
            let dense = dense(offsets.iter().map(|&(c, d)| (c, d.as_dvec3())), n);
            let other = self.settings.resampled(&dense, counts);
            (0u32..).zip(other.iter().map(|d| d.as_vec3())).collect()
        });
        Ok(Self {
            settings,
            motion: motion.map_err(|why| why.to_string())?,
        })
    }

    /// An error in words where a setting is out of its range, or a control that does not exist is displaced.
    pub fn check(&self) -> Result<(), String> {
        self.settings.check()?;
        check_controls(&self.motion, self.settings.n_controls())
    }
}

impl CageControls {
    /// A cage at rest.
    pub fn new(mesh: CageMesh) -> Self {
        Self {
            mesh: Arc::new(mesh),
            motion: ControlMotion::default(),
        }
    }

    /// With another cage at rest, whose vertices are displaced as their places are in this one; as they were where only places
    /// differ.
    pub fn with_mesh(&self, mesh: CageMesh, task: &Task) -> Result<Self, CageError> {
        if !self.displaces_anew(&mesh) {
            let mut replaced = Self::new(mesh);
            replaced.motion = self.motion.clone();
            return Ok(replaced);
        }
        let (rest, n) = (&self.mesh, self.mesh.vertices().len());
        let cage = Cage::new(rest.vertices(), rest.triangles(), mesh.vertices(), task)?;
        let motion = self.motion.mapped(|offsets| {
            // The result is dropped.
            if task.is_cancelled() {
                return Vec::new();
            }
            let mut moved = vec![DVec3::ZERO; mesh.vertices().len()];
            let dense = dense(offsets.iter().map(|&(c, d)| (c, d.as_dvec3())), n);
            cage.add(&dense, &mut moved);
            (0u32..).zip(moved.iter().map(|d| d.as_vec3())).collect()
        });
        task.check()?;
        Ok(Self {
            mesh: Arc::new(mesh),
            motion: motion.map_err(|why| CageError::Displacements(why.to_string()))?,
        })
    }

    /// Whether [`CageControls::with_mesh`] takes too long for the window to wait for it.
    pub fn is_slow_to_replace(&self, mesh: &CageMesh) -> bool {
        let pairs = self
            .mesh
            .vertices()
            .len()
            .saturating_mul(mesh.vertices().len());
        let keys: usize = self.motion.clips().map(|(_, keys)| keys.len()).sum();
        self.displaces_anew(mesh)
            && (is_slow_to_bind(&self.mesh, mesh.vertices().len())
                || keys.saturating_mul(pairs) > DISPLACED_AT_ONCE)
    }

    /// Whether the displacements have to be resampled for another cage: its topology differs, and some vertex is displaced.
    fn displaces_anew(&self, mesh: &CageMesh) -> bool {
        mesh.triangles() != self.mesh.triangles() && !self.motion.is_empty()
    }

    /// An error in words where a vertex that does not exist is displaced.
    pub fn check(&self) -> Result<(), String> {
        check_controls(&self.motion, self.mesh.vertices().len())
    }

    /// Whether it can hold the coordinates of so many clusters.
    pub fn holds(&self, n_clusters: usize) -> bool {
        self.mesh.vertices().len().saturating_mul(n_clusters) <= MAX_COORDINATES
    }
}

/// Displacements by control as one for each of `n` controls.
pub fn dense(offsets: impl IntoIterator<Item = (u32, DVec3)>, n: usize) -> Vec<DVec3> {
    let mut all = vec![DVec3::ZERO; n];
    for (control, offset) in offsets {
        if let Some(slot) = all.get_mut(control as usize) {
            *slot = offset;
        }
    }
    all
}

fn check_controls(motion: &ControlMotion, n: usize) -> Result<(), String> {
    match motion.last_control() {
        Some(last) if last as usize >= n => Err(format!(
            "control point {last} is displaced, and there are {n}"
        )),
        _ => Ok(()),
    }
}
