//! The heat maps on screen: what they show, their numbers, the worst place, the value under the pointer.

use super::Editor;
use crate::deform::diagnostics::Metric;
use crate::document::InstanceId;
use crate::document::session::PointsOfMeshes;
use crate::evaluate::{
    Difference, HeatFigures, HeatMapRequest, HeatUpdate, ViewId, ViewRequest, views_for,
};
use glam::{Vec2, Vec3};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The values of a metric at the points of an instance in a view.
#[derive(Clone, Debug)]
pub struct HeatMap {
    /// n_points, in the metric's unit; NaN where it has no meaning.
    pub values: Arc<Vec<f32>>,
    /// Another number whenever a value changed; never one of another map.
    pub generation: u64,
}

/// What is asked for, and what came of it.
#[derive(Default)]
pub(super) struct HeatMaps {
    /// Grows whenever what is shown is forgotten: results of earlier requests are not shown.
    asked: u64,
    metric: Option<Metric>,
    difference: Difference,
    /// What was hidden when it was asked for.
    hidden: (BTreeSet<InstanceId>, PointsOfMeshes),
    maps: BTreeMap<(ViewId, InstanceId), HeatMap>,
    figures: BTreeMap<ViewId, HeatFigures>,
    diagonal: f32,
    next_generation: u64,
}

impl HeatMaps {
    /// Puts what was measured on screen.
    pub(super) fn take(&mut self, update: HeatUpdate) {
        if self.metric.is_some() && update.asked != self.asked {
            return;
        }
        for heat in update.values {
            self.next_generation += 1;
            let map = HeatMap {
                values: heat.values,
                generation: self.next_generation,
            };
            self.maps.insert((heat.view, heat.instance), map);
        }
        let figures = &update.figures;
        self.maps.retain(|(view, _), _| figures.contains_key(view));
        self.figures = update.figures;
        self.diagonal = update.diagonal;
    }

    /// Forgets everything shown, for another model.
    pub(super) fn clear(&mut self) {
        self.asked += 1;
        self.maps.clear();
        self.figures.clear();
        self.diagonal = 0.0;
    }
}

impl Editor {
    /// Asks for heat maps of `metric` in every view; `None`: none is shown.
    pub fn show_heat_map(&mut self, metric: Option<Metric>) {
        if self.heat_maps.metric == metric {
            return;
        }
        self.heat_maps.metric = metric;
        self.heat_maps.clear();
        self.evaluation.stale = true;
    }

    /// What is measured.
    pub fn heat_metric(&self) -> Option<Metric> {
        self.heat_maps.metric
    }

    /// What [`Metric::Difference`] compares.
    pub fn difference(&self) -> &Difference {
        &self.heat_maps.difference
    }

    /// Chooses what [`Metric::Difference`] compares.
    pub fn set_difference(&mut self, difference: Difference) {
        if self.heat_maps.difference != difference {
            self.heat_maps.difference = difference;
            self.evaluation.stale |= self.heat_maps.metric == Some(Metric::Difference);
        }
    }

    /// The heat map of an instance in a view, once it has come.
    pub fn heat_map_in(&self, view: ViewId, instance: InstanceId) -> Option<&HeatMap> {
        self.heat_maps.maps.get(&(view, instance))
    }

    /// What the values of a view come to, once they have come.
    pub fn heat_figures(&self, view: ViewId) -> Option<&HeatFigures> {
        let figures = self.heat_maps.figures.get(&view)?;
        (Some(figures.metric) == self.heat_maps.metric).then_some(figures)
    }

    /// The diagonal of the box around the model at rest as it was measured, metres; 0 before.
    pub fn heat_diagonal(&self) -> f32 {
        self.heat_maps.diagonal
    }

    /// Where the metric is worst in a view, in world space, and what it is there.
    pub fn worst_place(&self, view: ViewId) -> Option<(Vec3, f32)> {
        let figures = self.heat_figures(view)?;
        let (instance, point) = figures.worst?;
        let shown = self.displayed_in(view).get(&instance)?;
        let place = shown.positions.get(point as usize)?;
        place
            .is_finite()
            .then_some((*place, figures.summary.worst_value()))
    }

    /// Moves the camera to where the metric is worst in the view that is pointed in; `false`: nothing is measured.
    pub fn frame_worst(&mut self) -> bool {
        let Some((place, _)) = self.worst_place(self.pointed_view()) else {
            return false;
        };
        self.frame_points(&[place]);
        true
    }

    /// The views whose stacks have to be known: those that are shown, and those that a heat map compares them with.
    pub(super) fn views_to_know(&self) -> Vec<ViewRequest> {
        let shown = self.views.requests();
        let Some(metric) = self.heat_maps.metric else {
            return shown;
        };
        let request = HeatMapRequest {
            asked: self.heat_maps.asked,
            metric,
            difference: self.heat_maps.difference.clone(),
            hidden_instances: BTreeSet::new(),
            hidden_points: PointsOfMeshes::new(),
        };
        views_for(&request, &shown)
    }

    /// The value under a place of the viewport, interpolated over the face.
    pub fn heat_at(&mut self, ndc: Vec2, size_px: Vec2) -> Option<f32> {
        let (instance, hit) = self.hit(ndc, size_px)?;
        let view = self.pointed_view();
        let map = self.heat_maps.maps.get(&(view, instance))?;
        let shown = self.displayed_in(view).get(&instance)?;
        let corners = shown.mesh.topology().triangles.get(hit.triangle as usize)?;
        let shares = hit.barycentric.to_array();
        let values = corners.iter().zip(shares);
        let value: Option<f32> = values
            .map(|(&point, share)| Some(map.values.get(point as usize)? * share))
            .sum();
        value.filter(|value| !value.is_nan())
    }

    /// What the next request measures. Points that were hidden or shown since the last one count anew.
    pub(super) fn heat_request(&mut self) -> Option<HeatMapRequest> {
        let session = self.document.session();
        let heat_maps = &mut self.heat_maps;
        let metric = heat_maps.metric?;
        heat_maps.hidden = (
            session.hidden_instances.clone(),
            session.hidden_points.clone(),
        );
        Some(HeatMapRequest {
            asked: heat_maps.asked,
            metric,
            difference: heat_maps.difference.clone(),
            hidden_instances: heat_maps.hidden.0.clone(),
            hidden_points: heat_maps.hidden.1.clone(),
        })
    }

    /// Requests another evaluation where something was hidden or shown; whether it did.
    pub(super) fn follow_hidden(&mut self) -> bool {
        if self.heat_maps.metric.is_none() || self.evaluation.stale {
            return false;
        }
        let session = self.document.session();
        let (instances, points) = &self.heat_maps.hidden;
        let same_points = points.len() == session.hidden_points.len()
            && points
                .iter()
                .zip(&session.hidden_points)
                .all(|(a, b)| a.0 == b.0 && Arc::ptr_eq(a.1, b.1));
        self.evaluation.stale = !same_points || *instances != session.hidden_instances;
        self.evaluation.stale
    }
}
