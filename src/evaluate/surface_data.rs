//! What is shown of surfaces besides their shapes: recorded quantities as colours, and where water meets its bed.

use super::{Evaluator, ViewId};
use crate::cluster::channel::Recordings;
use crate::cluster::{ClusterMap, Readings};
use crate::document::{Document, InstanceId, MeshId};
use crate::mesh::Mesh;
use crate::mesh::shore::{HeightField, Shore};
use crate::skeleton::Moment;
use glam::Vec3;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What is shown of one instance besides its shape.
#[derive(Clone, Debug)]
pub struct SurfaceData {
    /// The instance.
    pub instance: InstanceId,
    /// The quantity that colours it.
    pub colours: Option<DataColours>,
    /// Where it meets the other meshes.
    pub shore: Option<Arc<Shore>>,
}

/// A recorded quantity on a surface.
#[derive(Clone, Debug)]
pub struct DataColours {
    /// n_points; NaN where nothing is known.
    pub values: Arc<Vec<f32>>,
    /// The values at both ends of the colours, ascending.
    pub range: [f32; 2],
    /// Name and unit of the quantity.
    pub label: Arc<str>,
}

/// The readings of a mesh, with what they were made of.
struct Known {
    map: Arc<ClusterMap>,
    recordings: Arc<Recordings>,
    readings: Option<Readings>,
}

/// Finds what is shown of surfaces besides their shapes; keeps the channels that it reads, and the bed of water while it stands
/// still.
#[derive(Default)]
pub struct SurfaceDataFinder {
    known: BTreeMap<MeshId, Known>,
    bed: Bed,
}

/// What water stands on, and the field of its faces.
#[derive(Default)]
struct Bed {
    parts: Vec<BedPart>,
    field: HeightField,
}

/// An instance of the bed where it stands.
struct BedPart {
    instance: InstanceId,
    mesh: Arc<Mesh>,
    /// n_points, world, metres.
    positions: Vec<Vec3>,
    /// Whether its node mirrors it, which turns its faces over.
    is_mirrored: bool,
}

impl SurfaceDataFinder {
    /// Of all instances whose clusters ask for it, as `evaluator` has them at a moment, each on its own deformer stack.
    pub fn find(
        &mut self,
        evaluator: &Evaluator,
        document: &Document,
        moment: Moment,
    ) -> Vec<SurfaceData> {
        let meshes = document.meshes();
        self.known.retain(|mesh, _| meshes.contains_key(mesh));
        if meshes.values().any(|item| item.clusters.display().shore) {
            self.bed.update(evaluator, document);
        }
        let mut found = Vec::new();
        for (&instance, own) in document.instances() {
            let Some(item) = meshes.get(&own.mesh) else {
                continue;
            };
            let map = &item.clusters;
            let plan = evaluator.plan_in(ViewId::OWN, instance);
            let Some(plan) = plan.filter(|_| map.acts() && !map.display().is_empty()) else {
                continue;
            };
            let readings = self.readings(own.mesh, map, document.recordings());
            let colours = readings.and_then(|readings| {
                let values = plan.scalars(&readings.at(moment))?;
                Some(DataColours {
                    values: Arc::new(values),
                    range: readings.range().map(|end| end as f32),
                    label: readings.label().into(),
                })
            });
            let shore = map.display().shore.then(|| {
                let triangles = &item.geometry.topology().triangles;
                let bed = &self.bed.field;
                Arc::new(Shore::new(plan.positions(), triangles, bed))
            });
            found.push(SurfaceData {
                instance,
                colours,
                shore,
            });
        }
        found
    }

    fn readings(
        &mut self,
        mesh: MeshId,
        map: &Arc<ClusterMap>,
        recordings: &Arc<Recordings>,
    ) -> Option<&Readings> {
        let is_same = |known: &Known| {
            Arc::ptr_eq(&known.map, map) && Arc::ptr_eq(&known.recordings, recordings)
        };
        if !self.known.get(&mesh).is_some_and(is_same) {
            let known = Known {
                readings: Readings::new(map, recordings),
                map: map.clone(),
                recordings: recordings.clone(),
            };
            self.known.insert(mesh, known);
        }
        self.known.get(&mesh)?.readings.as_ref()
    }
}

/// What a [`BedPart`] is made of.
type Standing<'a> = (InstanceId, &'a Arc<Mesh>, &'a [Vec3], bool);

impl Bed {
    /// Updates the bed: all visible objects but water. The height field is rebuilt only if one of them moved; returns whether
    /// it was.
    fn update(&mut self, evaluator: &Evaluator, document: &Document) -> bool {
        let hidden = &document.session().hidden_instances;
        let instances = document.instances().iter();
        let shown = instances.filter(|(instance, _)| !hidden.contains(instance));
        let parts = shown.filter_map(|(&instance, own)| {
            let item = document.meshes().get(&own.mesh)?;
            let plan = evaluator.plan_in(ViewId::OWN, instance)?;
            let node = evaluator.world().get(own.joint.get());
            let mirrors = |node: &glam::DAffine3| node.matrix3.determinant() < 0.0;
            let is_water = item.clusters.display().shore;
            (!is_water).then(|| {
                let is_mirrored = own.skin.is_none() && node.is_some_and(mirrors);
                (instance, &item.geometry, plan.positions(), is_mirrored)
            })
        });
        let parts: Vec<Standing<'_>> = parts.collect();
        let is_same = |(known, now): (&BedPart, &Standing<'_>)| {
            let (instance, mesh, positions, is_mirrored) = *now;
            known.instance == instance
                && Arc::ptr_eq(&known.mesh, mesh)
                && known.is_mirrored == is_mirrored
                && known.positions == positions
        };
        if parts.len() == self.parts.len() && self.parts.iter().zip(&parts).all(is_same) {
            return false;
        }
        let parts = parts.into_iter();
        let parts = parts.map(|(instance, mesh, positions, is_mirrored)| BedPart {
            instance,
            mesh: mesh.clone(),
            positions: positions.to_vec(),
            is_mirrored,
        });
        self.parts = parts.collect();
        let triangles = self.parts.iter().flat_map(|part| {
            let corners = part.mesh.topology().triangles.iter();
            corners.map(|&[a, b, c]| {
                let [b, c] = if part.is_mirrored { [c, b] } else { [b, c] };
                [a, b, c].map(|point| part.positions[point as usize])
            })
        });
        self.field = HeightField::new(triangles.collect());
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::open_sample;
    use crate::task::Task;

    #[test]
    fn the_field_of_a_bed_is_made_again_only_where_it_moves() {
        let mut document = open_sample("reservoir", &Task::new()).unwrap().document;
        let bed = *document.instances().keys().next().unwrap();
        let mut evaluator = Evaluator::for_shapes();
        let mut known = Bed::default();
        let mut update = |document: &Document, pose: &crate::skeleton::Pose| {
            evaluator.evaluate(document, pose);
            (known.update(&evaluator, document), known.parts.len())
        };
        let rest = document.rest_pose().clone();
        assert_eq!(update(&document, &rest), (true, 2));
        assert_eq!(update(&document, &rest), (false, 2), "it stands still");
        let mut lifted = crate::skeleton::Pose::clone(&rest);
        let node = document.instances()[&bed].joint;
        lifted.locals[node.get()].translation.y += 0.5;
        assert_eq!(update(&document, &lifted), (true, 2));
        document.session_mut().hidden_instances.insert(bed);
        assert_eq!(
            update(&document, &lifted),
            (true, 1),
            "hidden objects are no bed"
        );
    }
}
