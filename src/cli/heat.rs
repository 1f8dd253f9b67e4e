//! Heat maps in offscreen pictures.

use super::args::Show;
use crate::deform::diagnostics::{Metric, PointMap, Summary, measure};
use crate::document::Document;
use crate::evaluate::{Comparison, Gauge};
use crate::view::heat_map::HeatScale;
use crate::view::scene::{SceneMesh, ViewOptions};
use std::collections::BTreeMap;

/// The views to evaluate besides the document's stacks for `show`; `other`: the stack that differences compare with.
pub(crate) fn comparison(show: &Show, other: impl FnOnce() -> Document) -> Comparison {
    Comparison {
        plain: *show == Show::HeatMap(Metric::Discontinuity),
        other: (*show == Show::HeatMap(Metric::Difference)).then(other),
    }
}

/// The values of a metric on everything that is drawn.
pub(crate) struct HeatMaps {
    metric: Metric,
    /// By the key of the scene's mesh.
    maps: BTreeMap<u64, PointMap>,
    diagonal: f32,
    /// Over everything that is drawn.
    pub(crate) summary: Summary,
}

impl HeatMaps {
    /// The heat map that `show` requests, of the pose that was evaluated last; `None` if it shows none.
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

    /// Sets the values of the meshes and the colours of the options.
    pub(crate) fn show<'a>(&'a self, meshes: &mut [SceneMesh<'a>], options: &mut ViewOptions) {
        options.metric = self.metric;
        options.diagonal = self.diagonal;
        for mesh in meshes {
            mesh.weights = self.maps.get(&mesh.key).map(|map| map.values.as_slice());
        }
    }
}
