//! What is baked together: meshes and skins that hang together, as they are before anything is baked.

use super::rows::{MAX_INFLUENCES, WeightRow, limited, normalised};
use super::sampler::{InstanceFrame, Sampler};
use crate::document::MeshId;
use crate::mesh::Mesh;
use glam::DVec3;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Meshes and joint_sets that hang together: they share helper joints.
pub(crate) struct Group {
    pub(crate) joint_sets: Vec<usize>,
    /// All of these joint_sets' skins list this many joints; `None`: they differ, and no helper joint can have one slot in
    /// all of them.
    pub(crate) n_joints: Option<usize>,
    pub(crate) meshes: Vec<GroupMesh>,
}

/// One mesh of a group.
pub(crate) struct GroupMesh {
    pub(crate) mesh: MeshId,
    pub(crate) geometry: Arc<Mesh>,
    /// Its instances.
    pub(crate) instances: Vec<usize>,
    /// n_points, as the artist has them, summing to 1.
    pub(crate) weights: Vec<WeightRow>,
    /// n_points, as a file without correction has them.
    pub(crate) file_weights: Vec<WeightRow>,
    /// Points that need correction.
    pub(crate) active: Vec<u32>,
    /// How far those are off without one, world.
    pub(crate) lbs_errors: Vec<f32>,
}

impl GroupMesh {
    /// The bind position of a point with the source's morph targets.
    pub(crate) fn bind(&self, point: u32, instances: &InstanceFrame) -> DVec3 {
        let p = point as usize;
        let mut position = self.geometry.positions[p];
        for (morph, &weight) in self.geometry.morphs.iter().zip(&drawn.morph_weights) {
            if weight != 0.0 {
                position += morph.deltas[p] * weight;
            }
        }
        position.as_dvec3()
    }
}

impl Group {
    /// The groups of everything that is drawn with skins.
    pub(crate) fn all(sampler: &Sampler<'_>) -> Vec<Self> {
        let mut set_of_name: Vec<usize> = (0..sampler.joint_sets.len()).collect();
        // Units that draw one mesh share their helpers' slots.
        for a in &sampler.instances {
            for b in &sampler.instances {
                let (from, to) = (set_of_name[a.joint_set], set_of_name[b.joint_set]);
                if a.mesh == b.mesh && from != to {
                    let (low, high) = (from.min(to), from.max(to));
                    set_of_name
                        .iter_mut()
                        .filter(|u| **u == high)
                        .for_each(|u| *u = low);
                }
            }
        }
        let names: BTreeSet<usize> = set_of_name.iter().copied().collect();
        let groups = names.into_iter().map(|name| {
            let joint_sets: Vec<usize> = (0..set_of_name.len())
                .filter(|&u| set_of_name[u] == name)
                .collect();
            let mut sizes = joint_sets
                .iter()
                .map(|&u| sampler.joint_sets[u].joints.len());
            let first = sizes.next();
            let n_joints = first.filter(|n| sizes.all(|size| size == *n));
            let drawn = sampler.instances.iter().enumerate();
            let drawn = drawn.filter(|(_, d)| joint_sets.contains(&d.joint_set));
            let instances: Vec<(usize, MeshId)> = drawn.map(|(i, d)| (i, d.mesh)).collect();
            let meshes: BTreeSet<MeshId> = drawn.iter().map(|d| d.1).collect();
            let parts = meshes.into_iter().filter_map(|mesh| {
                let item = sampler.item(mesh)?;
                let own = drawn.iter().filter(|d| d.1 == mesh).map(|d| d.0);
                let row = |row: crate::skinning::RowRef<'_>| -> WeightRow {
                    row.iter()
                        .map(|(j, w)| (j, f64::from(w)))
                        .filter(|r| r.1 > 0.0)
                        .collect()
                };
                let weights: Vec<WeightRow> =
                    item.influences.iter().map(|r| normalised(row(r))).collect();
                // What has no weights follows the first joint in a file.
                let weights: Vec<WeightRow> = weights
                    .into_iter()
                    .map(|row| if row.is_empty() { vec![(0, 1.0)] } else { row })
                    .collect();
                Some(GroupMesh {
                    mesh,
                    geometry: item.geometry.clone(),
                    instances: own.collect(),
                    file_weights: weights.iter().map(file_row).collect(),
                    weights,
                    active: Vec::new(),
                    lbs_errors: Vec::new(),
                })
            });
            let meshes = parts.collect();
            Self {
                joint_sets,
                n_joints,
                meshes,
            }
        });
        groups.collect()
    }

    /// All instances of the group.
    pub(crate) fn instances(&self) -> Vec<usize> {
        self.meshes
            .iter()
            .flat_map(|part| part.instances.iter().copied())
            .collect()
    }

    /// Joints that move the group: those of its skins, what is above them, and the nodes with morph weights.
    pub(super) fn movers(&self, sampler: &Sampler<'_>) -> BTreeSet<u32> {
        let skeleton = sampler.document.skeleton();
        let joints = self
            .joint_sets
            .iter()
            .flat_map(|&u| sampler.joint_sets[u].joints.iter());
        let nodes = self
            .instances()
            .into_iter()
            .map(|d| sampler.instances[d].node);
        let mut movers = BTreeSet::new();
        for &joint in joints {
            movers.extend(skeleton.ancestors(joint).chain([joint]).map(|j| j.0));
        }
        movers.extend(nodes.map(|j| j.0));
        movers
    }

    /// The active points, by part, `most` of them at most, spread evenly.
    pub(crate) fn active(&self, most: usize) -> Vec<Vec<u32>> {
        let n: usize = self.meshes.iter().map(|part| part.active.len()).sum();
        let step = n.div_ceil(most.max(1)).max(1);
        let parts = self.meshes.iter();
        let few = parts.map(|part| part.active.iter().copied().step_by(step).collect());
        few.collect()
    }

    /// What the `all` of the active points have, by part, for some `points` of them.
    pub(crate) fn of_points<T: Clone>(&self, all: &[Vec<T>], points: &[Vec<u32>]) -> Vec<Vec<T>> {
        let parts = self.meshes.iter().zip(all).zip(points);
        let few = parts.map(|((part, all), points)| {
            let places = points
                .iter()
                .filter_map(|p| part.active.binary_search(p).ok());
            places.map(|a| all[a].clone()).collect()
        });
        few.collect()
    }

    /// Whether any point needs correction.
    pub(crate) fn is_off(&self) -> bool {
        self.meshes.iter().any(|part| !part.active.is_empty())
    }
}

/// The row that a file without correction has for one of the artist's; the same bits where it may have all of it, so
/// that what does not change is seen not to.
fn file_row(row: &WeightRow) -> WeightRow {
    if row.len() > MAX_INFLUENCES {
        limited(row.clone())
    } else {
        row.clone()
    }
}
