//! Meshes and skins that must be solved together.

use super::rows::{MAX_INFLUENCES, WeightRow, limited, normalised};
use super::sampler::{InstanceFrame, Sampler};
use super::set_bytes::SetBytes;
use crate::document::{MeshId, MeshItem};
use crate::mesh::Mesh;
use glam::DVec3;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Meshes and joint sets that share helper joints.
pub(crate) struct Group {
    pub(crate) joint_sets: Vec<usize>,
    /// The number of joints that all skins of the group list; `None`: it differs, so a helper joint cannot have the
    /// same slot in all of them.
    pub(crate) n_joints: Option<usize>,
    pub(crate) meshes: Vec<GroupMesh>,
}

/// A mesh of a group.
pub(crate) struct GroupMesh {
    pub(crate) mesh: MeshId,
    pub(crate) geometry: Arc<Mesh>,
    /// Indices of the sampler's instances that draw it.
    pub(crate) instances: Vec<usize>,
    /// The document's weights, n_points, each row summing to 1.
    pub(crate) weights: Vec<WeightRow>,
    /// The weights in an uncorrected file (at most [`MAX_INFLUENCES`]), n_points.
    pub(crate) file_weights: Vec<WeightRow>,
    /// The change in bytes of its first set of influences in the file.
    pub(crate) set_bytes: SetBytes,
    /// Points whose linear blend skinning error needs correction, ascending.
    pub(crate) active: Vec<u32>,
    /// The largest error of those without correction, world.
    pub(crate) lbs_errors: Vec<f32>,
}

impl GroupMesh {
    /// The bind position of a point with the source's morph targets applied.
    #[inline]
    pub(crate) fn bind(&self, point: u32, instance: &InstanceFrame) -> DVec3 {
        let p = point as usize;
        let mut position = self.geometry.positions[p];
        for (morph, &weight) in self.geometry.morphs.iter().zip(&instance.morph_weights) {
            if weight != 0.0 {
                position += morph.deltas[p] * weight;
            }
        }
        position.as_dvec3()
    }
}

impl Group {
    /// The groups of all skinned instances: connected components of joint sets that draw the same mesh.
    pub(crate) fn all(sampler: &Sampler<'_>) -> Vec<Self> {
        let set_bytes = SetBytes::of_all(sampler.document);
        let mut group_of_set: Vec<usize> = (0..sampler.joint_sets.len()).collect();
        // Joint sets that draw the same mesh share the slots of its helpers.
        for a in &sampler.instances {
            for b in &sampler.instances {
                let (from, to) = (group_of_set[a.joint_set], group_of_set[b.joint_set]);
                if a.mesh == b.mesh && from != to {
                    let (low, high) = (from.min(to), from.max(to));
                    group_of_set
                        .iter_mut()
                        .filter(|u| **u == high)
                        .for_each(|u| *u = low);
                }
            }
        }
        let names: BTreeSet<usize> = group_of_set.iter().copied().collect();
        let groups = names.into_iter().map(|name| {
            let joint_sets: Vec<usize> = (0..group_of_set.len())
                .filter(|&u| group_of_set[u] == name)
                .collect();
            let mut sizes = joint_sets
                .iter()
                .map(|&u| sampler.joint_sets[u].joints.len());
            let first = sizes.next();
            let n_joints = first.filter(|n| sizes.all(|size| size == *n));
            let own = sampler.instances.iter().enumerate();
            let own = own.filter(|(_, d)| joint_sets.contains(&d.joint_set));
            let instances: Vec<(usize, MeshId)> = own.map(|(i, d)| (i, d.mesh)).collect();
            let meshes: BTreeSet<MeshId> = instances.iter().map(|d| d.1).collect();
            let parts = meshes.into_iter().filter_map(|mesh| {
                let item = sampler.item(mesh)?;
                let own = instances.iter().filter(|d| d.1 == mesh).map(|d| d.0);
                let row = |row: crate::skinning::RowRef<'_>| -> WeightRow {
                    row.iter()
                        .map(|(j, w)| (j, f64::from(w)))
                        .filter(|r| r.1 > 0.0)
                        .collect()
                };
                let weights: Vec<WeightRow> =
                    item.influences.iter().map(|r| normalised(row(r))).collect();
                // glTF readers give a point without weights to the first joint, but not those of a primitive that has no weights
                // at all: such points stay where they are, and nothing is to be corrected.
                let unweighted = in_unweighted_primitives(item, &weights);
                let with_joint = weights.into_iter().zip(unweighted).map(|(row, stays)| {
                    if row.is_empty() && !stays {
                        vec![(0, 1.0)]
                    } else {
                        row
                    }
                });
                let weights: Vec<WeightRow> = with_joint.collect();
                Some(GroupMesh {
                    mesh,
                    geometry: item.geometry.clone(),
                    instances: own.collect(),
                    file_weights: weights.iter().map(file_row).collect(),
                    weights,
                    set_bytes: set_bytes.get(&mesh).copied().unwrap_or_default(),
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

    /// The indices of all instances of the group.
    pub(crate) fn instances(&self) -> Vec<usize> {
        self.meshes
            .iter()
            .flat_map(|part| part.instances.iter().copied())
            .collect()
    }

    /// Joints whose tracks move the group: those of its skins, their ancestors, and the nodes with morph weights.
    pub(crate) fn movers(&self, sampler: &Sampler<'_>) -> BTreeSet<u32> {
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

    /// At most about `max` of the active points, by mesh, at a regular stride.
    pub(crate) fn active(&self, most: usize) -> Vec<Vec<u32>> {
        let n: usize = self.meshes.iter().map(|part| part.active.len()).sum();
        let step = n.div_ceil(most.max(1)).max(1);
        let parts = self.meshes.iter();
        let few = parts.map(|part| part.active.iter().copied().step_by(step).collect());
        few.collect()
    }

    /// The entries of `all` (one per active point, by mesh) that belong to `points`.
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

/// For each point whether it belongs to a primitive that has no weights, now and in the source. One whose weights were removed
/// gets new ones in the file.
fn in_unweighted_primitives(item: &MeshItem, weights: &[WeightRow]) -> Vec<bool> {
    let geometry = &item.geometry;
    let mut stays = vec![false; weights.len()];
    for primitive in &geometry.primitives {
        let vertices = primitive.vertices.start as usize..primitive.vertices.end as usize;
        let points = &geometry.point_of_vertex[vertices];
        let is_empty = |&p: &u32| weights[p as usize].is_empty() && !item.had_weights(p);
        if points.iter().all(is_empty) {
            for &p in points {
                stays[p as usize] = true;
            }
        }
    }
    stays
}

/// The row that an uncorrected file has. Rows that fit keep their bits, so that an unchanged row compares equal.
fn file_row(row: &WeightRow) -> WeightRow {
    if row.len() > MAX_INFLUENCES {
        limited(row.clone())
    } else {
        row.clone()
    }
}
