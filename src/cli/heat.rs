//! Heat maps on pictures without a window.

use super::args::Show;
use crate::deform::diagnostics::{Metric, PointMap, Summary, measure};
use crate::document::Document;
use crate::evaluate::{Comparison, Gauge};
use crate::view::heat_map::HeatScale;
use crate::view::scene::{SceneMesh, ViewOptions};
use std::collections::BTreeMap;

/// What has to be evaluated besides the document's stacks for what is shown; `other`: what differences are from.
pub(crate) fn comparison(show: &Show, other: impl FnOnce() -> Document) -> Comparison {
    Comparison {
        plain: *show == Show::HeatMap(Metric::Discontinuity),
        other: (*show == Show::HeatMap(Metric::Difference)).then(other),
    }
}

/// The values of a metric on all that is drawn.
pub(crate) struct HeatMaps {
    metric: Metric,
    /// By the key of the scene's mesh.
    maps: BTreeMap<u64, PointMap>,
    diagonal: f32,
    /// Over everything that is drawn.
    pub(crate) summary: Summary,
}

impl HeatMaps {
    /// What `show` asks for of the pose that was evaluated last; `None`: it shows no heat map.
    pub(crate) fn of(show: &Show, gauge: &Gauge, document: &Document) -> Option<Self> {
        let &Show::HeatMap(metric) = show else {
            return None;
        };
        let mut diagonal = 0.0f32;
        let instances = document.instances().keys();
        let maps: BTreeMap<u64, PointMap> = instances
            .filter_map(|&id| {
                let shape = gauge.shape(document, id)?;
                diagonal = diagonal.max(shape.diagonal() as f32);
                Some((u64::from(id.0), measure(metric, &shape)))
            })
            .collect();
        let all: Vec<f32> = maps.values().flat_map(|m| m.values.clone()).collect();
        Some(Self {
            metric,
            maps,
            diagonal,
            summary: Summary::of(&all),
        })
    }

    /// The colours.
    pub(crate) fn scale(&self) -> HeatScale {
        HeatScale::new(self.metric, self.diagonal)
    }

    /// Gives the meshes their values and the options their colours.
    pub(crate) fn show<'a>(&'a self, meshes: &mut [SceneMesh<'a>], options: &mut ViewOptions) {
        options.metric = self.metric;
        options.diagonal = self.diagonal;
        for mesh in meshes {
            mesh.weights = self.maps.get(&mesh.key).map(|map| map.values.as_slice());
        }
    }
}
