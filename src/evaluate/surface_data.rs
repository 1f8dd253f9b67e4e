//! What is shown of surfaces besides their shapes: recorded quantities as colours, and where water meets its bed.

use super::{Evaluator, ViewId};
use crate::cluster::channel::Recordings;
use crate::cluster::{ClusterMap, Readings};
use crate::document::{Document, InstanceId, MeshId};
use crate::mesh::shore::{HeightField, Shore};
use crate::skeleton::Moment;
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

/// Finds what is shown of surfaces besides their shapes; keeps the channels that it reads.
#[derive(Default)]
pub struct SurfaceDataFinder {
    known: BTreeMap<MeshId, Known>,
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
                let bed = bed(evaluator, document, own.mesh);
                let triangles = &item.geometry.topology().triangles;
                Arc::new(Shore::new(plan.positions(), triangles, &bed))
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

/// What water may stand on: all meshes but those that are water themselves.
fn bed(evaluator: &Evaluator, document: &Document, water: MeshId) -> HeightField {
    let mut triangles = Vec::new();
    for (&instance, own) in document.instances() {
        let Some(item) = document.meshes().get(&own.mesh) else {
            continue;
        };
        let is_water = own.mesh == water || item.clusters.display().shore;
        let plan = evaluator.plan_in(ViewId::OWN, instance);
        if let Some(plan) = plan.filter(|_| !is_water) {
            let positions = plan.positions();
            let corners = item.geometry.topology().triangles.iter();
            triangles.extend(corners.map(|t| t.map(|point| positions[point as usize])));
        }
    }
    HeightField::new(triangles)
}
