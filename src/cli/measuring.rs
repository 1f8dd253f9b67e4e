//! Metrics of a document over poses: what `measure` prints and `compare` plots.

use super::Failure;
use super::args::PoseArgs;
use super::load::Loaded;
use super::named_stack::NamedStack;
use super::scene::{self, Posed};
use crate::deform::diagnostics::{
    Enclosure, Folds, Metric, Summary, Volume, VolumeReport, folds, measure,
};
use crate::document::{Document, InstanceId, MeshId};
use crate::evaluate::{Comparison, Evaluator, Gauge, SlowCooks};
use crate::skeleton::{Moment, PoseAt};
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Maximum number of poses: more would be a mistake in the rate.
const MOST_POSES: f64 = 100_000.0;

/// A pose to measure, and its time in its clip.
pub(crate) struct Measured {
    /// `None` for a pose that is not from a clip.
    pub(crate) time_secs: Option<f64>,
    pub(crate) posed: Posed,
}

/// The requested poses: one, or a whole clip at `rate` poses a second from its start to its end.
pub(crate) fn moments(
    loaded: &Loaded,
    args: &PoseArgs,
    rate: f64,
) -> Result<Vec<Measured>, Failure> {
    let document = &loaded.document;
    let (Some(wanted), None) = (&args.clip, args.time) else {
        return Ok(vec![Measured {
            time_secs: args.time,
            posed: scene::pose(loaded, args)?,
        }]);
    };
    let (id, clip) = scene::find_clip_id(document, wanted)?;
    let (start, end) = document.clip_span(id).unwrap_or((0.0, 0.0));
    // Times of a file are f32: their rounding must not add a pose.
    let steps = ((end - start) * rate - 1e-3).ceil().max(0.0);
    if steps.is_nan() || steps > MOST_POSES {
        return Err(Failure::Usage(format!(
            "The clip \"{}\" lasts {:.1} s: at {rate} poses per second that is more than {MOST_POSES}; give a lower \
             --rate.",
            clip.name,
            end - start
        )));
    }
    let time = |i: usize| match steps {
        0.0 => start,
        _ => start + (end - start) * (i as f64 / steps),
    };
    Ok((0..=steps as usize)
        .map(|i| Measured {
            time_secs: Some(time(i)),
            posed: Posed {
                pose: Arc::new(document.pose_of_clip(clip, time(i))),
                moment: Moment::of(id, time(i)),
            },
        })
        .collect())
}

/// The measurements of one instance in one pose.
pub(crate) struct Sample {
    /// In the order of [`Metric::ALL`]; a metric that has nothing to compare with is left out.
    pub(crate) metrics: Vec<(Metric, Summary)>,
    pub(crate) folds: Folds,
    pub(crate) volume: VolumeReport,
}

/// Measures documents that differ only in their stacks.
pub(crate) struct Measurer {
    gauge: Gauge,
    comparison: Comparison,
    enclosures: BTreeMap<MeshId, Enclosure>,
}

impl Measurer {
    /// `against`: the stack that [`Metric::Difference`] compares with; `own`: the document with its own stacks.
    /// `cooks`: of all meshes that need them.
    pub(crate) fn new(own: &Document, against: &NamedStack, cooks: &SlowCooks) -> Self {
        let meshes = own.meshes().iter();
        let other = against.document(own);
        let mut gauge = Gauge::default();
        gauge.set_cooks(cooks);
        Self {
            gauge,
            comparison: Comparison {
                plain: true,
                other: Some(other),
            },
            enclosures: meshes
                .map(|(&id, item)| (id, Enclosure::of(&item.geometry)))
                .collect(),
        }
    }

    /// The evaluator of the latest pose.
    pub(crate) fn evaluator(&self) -> &Evaluator {
        self.gauge.evaluator()
    }

    /// The measurements of each instance in a pose at its time, in order of id.
    pub(crate) fn sample(
        &mut self,
        document: &Document,
        at: PoseAt<'_>,
    ) -> Vec<(InstanceId, Sample)> {
        self.gauge.evaluate(document, at, &self.comparison);
        document
            .instances()
            .iter()
            .filter_map(|(&id, instance)| {
                let shape = self.gauge.shape(document, id)?;
                let known = |m: &Metric| *m != Metric::Difference || shape.other.is_some();
                let sample = Sample {
                    metrics: Metric::ALL
                        .into_iter()
                        .filter(known)
                        .map(|m| (m, measure(m, &shape).summary))
                        .collect(),
                    folds: folds(&shape),
                    volume: VolumeReport::of(&shape, self.enclosures.get(&instance.mesh)?),
                };
                Some((id, sample))
            })
            .collect()
    }
}

/// The measurements of a whole model in one pose: of its skinned instances, or of all if none is skinned.
pub(crate) struct Combined {
    /// In the order of [`Metric::ALL`]; points are numbered across instances.
    pub(crate) metrics: Vec<(Metric, Summary)>,
    pub(crate) folded_faces: usize,
    /// Of all closed parts together; `None` if there is none.
    pub(crate) volume_change: Option<f64>,
    /// The instances, each with the number of its first point.
    starts: Vec<(u32, InstanceId)>,
}

impl Combined {
    /// The instance of a point, and its number there.
    pub(crate) fn owner(&self, point: u32) -> Option<(InstanceId, u32)> {
        let after = self.starts.partition_point(|(start, _)| *start <= point);
        let (start, id) = self.starts.get(after.checked_sub(1)?)?;
        Some((*id, point - start))
    }
}

impl Measurer {
    /// The measurements of the whole document in a pose at its time.
    pub(crate) fn combined(&mut self, document: &Document, at: PoseAt<'_>) -> Combined {
        self.gauge.evaluate(document, at, &self.comparison);
        let any_skinned = document.instances().values().any(|i| i.skin.is_some());
        let counts = |id: &InstanceId| {
            let skin = document.instances().get(id).and_then(|i| i.skin);
            skin.is_some() || !any_skinned
        };
        let shapes: Vec<_> = document
            .instances()
            .keys()
            .filter(|&id| counts(id))
            .filter_map(|&id| Some((id, self.gauge.shape(document, id)?)))
            .collect();
        let mut starts = Vec::with_capacity(shapes.len());
        let mut n = 0u32;
        for (id, shape) in &shapes {
            starts.push((n, *id));
            n += shape.n_points() as u32;
        }
        let metrics = Metric::ALL.into_iter().map(|metric| {
            let values: Vec<f32> = shapes
                .iter()
                .flat_map(|(_, shape)| measure(metric, shape).values)
                .collect();
            (metric, Summary::of(&values))
        });
        let metrics = metrics.collect();
        let (mut rest_sum, mut posed_sum) = (0.0, 0.0);
        for (id, shape) in &shapes {
            let mesh = document.instances().get(id).map(|i| i.mesh);
            let Some(enclosure) = mesh.and_then(|m| self.enclosures.get(&m)) else {
                continue;
            };
            if let Volume::Closed { rest, posed } = VolumeReport::of(shape, enclosure).closed_parts
            {
                rest_sum += rest;
                posed_sum += posed;
            }
        }
        Combined {
            metrics,
            folded_faces: shapes.iter().map(|(_, s)| folds(s).faces).sum(),
            volume_change: (rest_sum > 0.0).then(|| posed_sum / rest_sum - 1.0),
            starts,
        }
    }
}

/// A vertex as its file numbers it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct VertexPlace {
    /// The mesh's name.
    pub(crate) mesh: String,
    /// The primitive's index in the mesh.
    pub(crate) primitive: usize,
    /// The vertex's index in the primitive's POSITION accessor; of a point with several vertices the first.
    pub(crate) vertex: u32,
}

impl std::fmt::Display for VertexPlace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "\"{}\" primitive {} vertex {}",
            self.mesh, self.primitive, self.vertex
        )
    }
}

/// Converts points to the vertex numbers of their file.
#[derive(Default)]
pub(crate) struct Places {
    first_vertices: BTreeMap<MeshId, Vec<u32>>,
}

impl Places {
    /// The first vertex of a point of an instance's mesh.
    pub(crate) fn of(
        &mut self,
        document: &Document,
        id: InstanceId,
        point: u32,
    ) -> Option<VertexPlace> {
        let mesh_id = document.instances().get(&id)?.mesh;
        let mesh = &document.meshes().get(&mesh_id)?.geometry;
        let first = self
            .first_vertices
            .entry(mesh_id)
            .or_insert_with(|| mesh.first_vertex_of_point());
        let vertex = *first.get(point as usize)?;
        let primitive = mesh.primitive_of_vertex(vertex)?;
        Some(VertexPlace {
            mesh: mesh.name.clone(),
            primitive,
            vertex: vertex - mesh.primitives[primitive].vertices.start,
        })
    }
}
