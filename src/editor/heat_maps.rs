//! The heat maps on screen: metric, statistics, the largest value, and the value under the pointer.

use super::Editor;
use crate::deform::StackChoice;
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
    /// n_points, in the unit of the metric; NaN where it is undefined.
    pub values: Arc<Vec<f32>>,
    /// Changes with every value; unique among maps.
    pub generation: u64,
}

/// The request and the results.
#[derive(Default)]
pub(super) struct HeatMaps {
    /// Increases whenever results are dropped: those of earlier requests are not shown.
    asked: u64,
    metric: Option<Metric>,
    difference: Difference,
    /// What was hidden at the request.
    hidden: (BTreeSet<InstanceId>, PointsOfMeshes),
    maps: BTreeMap<(ViewId, InstanceId), HeatMap>,
    figures: BTreeMap<ViewId, HeatFigures>,
    diagonal: f32,
    next_generation: u64,
}

impl HeatMaps {
    /// Puts results on screen.
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

    /// A map that was measured elsewhere.
    pub(super) fn map_of(&mut self, values: Vec<f32>) -> HeatMap {
        self.next_generation += 1;
        HeatMap {
            values: Arc::new(values),
            generation: self.next_generation,
        }
    }

    /// The metric that is measured with every evaluation; `None`: there is none, or it was measured once.
    fn measured(&self) -> Option<Metric> {
        self.metric.filter(|metric| *metric != Metric::ScanDistance)
    }

    /// Drops everything shown, for another model.
    pub(super) fn clear(&mut self) {
        self.asked += 1;
        self.maps.clear();
        self.figures.clear();
        self.diagonal = 0.0;
    }
}

impl Editor {
    /// Requests heat maps of `metric` in every view; `None` shows none.
    pub fn show_heat_map(&mut self, metric: Option<Metric>) {
        if self.heat_maps.metric == metric {
            return;
        }
        self.heat_maps.metric = metric;
        self.heat_maps.clear();
        self.evaluation.stale = true;
    }

    /// The metric.
    pub fn heat_metric(&self) -> Option<Metric> {
        self.heat_maps.metric
    }

    /// The comparison of [`Metric::Difference`].
    pub fn difference(&self) -> &Difference {
        &self.heat_maps.difference
    }

    /// Sets the comparison of [`Metric::Difference`].
    pub fn set_difference(&mut self, difference: Difference) {
        if self.heat_maps.difference != difference {
            self.heat_maps.difference = difference;
            self.evaluation.stale |= self.heat_maps.metric == Some(Metric::Difference);
        }
    }

    /// The heat map of an instance in a view, once it is computed.
    pub fn heat_map_in(&self, view: ViewId, instance: InstanceId) -> Option<&HeatMap> {
        if self.heat_maps.metric != Some(Metric::ScanDistance) {
            return self.heat_maps.maps.get(&(view, instance));
        }
        let of_view = self.scanning.distances(instance);
        let n_points = self.displayed_in(view).get(&instance)?.mesh.n_points();
        of_view.filter(|map| self.shows_compared(view) && map.values.len() == n_points)
    }

    /// What a view says about the distances to a scan: that it shows another body, or that they are from before a change.
    pub fn scan_badge(&self, view: ViewId) -> Option<&'static str> {
        let is_shown = self.heat_maps.metric == Some(Metric::ScanDistance);
        if !is_shown || self.scan_comparison().is_none() {
            return None;
        }
        if !self.shows_compared_body(view) {
            return Some("The scan was compared with another body.");
        }
        if !self.shows_compared(view) {
            return Some("The scan was compared on another deformer stack.");
        }
        let old = "The model has changed since these distances were measured. Compare again in the Individual panel.";
        self.are_distances_old().then_some(old)
    }

    /// Whether a view shows the body that was compared with a scan.
    fn shows_compared_body(&self, view: ViewId) -> bool {
        let compared = self.scan_comparison().map(|scan| scan.body);
        let request = self.views.requests().into_iter().find(|r| r.view == view);
        request.is_some_and(|r| compared == Some(self.body_of_view(&r)))
    }

    /// Whether a view shows the body that was compared with a scan, on its own stacks.
    fn shows_compared(&self, view: ViewId) -> bool {
        let is_own =
            |r: &ViewRequest| matches!(r.stack, StackChoice::Project | StackChoice::Body(_));
        let mut requests = self.views.requests().into_iter();
        self.shows_compared_body(view) && requests.any(|r| r.view == view && is_own(&r))
    }

    /// The statistics of a view's values, once they are computed.
    pub fn heat_figures(&self, view: ViewId) -> Option<&HeatFigures> {
        let figures = match self.heat_maps.metric {
            Some(Metric::ScanDistance) if self.shows_compared(view) => self.scanning.figures()?,
            _ => self.heat_maps.figures.get(&view)?,
        };
        (Some(figures.metric) == self.heat_maps.metric).then_some(figures)
    }

    /// The diagonal of the model's bounding box in the rest pose, metres; 0 until it is measured.
    pub fn heat_diagonal(&self) -> f32 {
        self.heat_maps.diagonal
    }

    /// The world position of the largest value of the metric in a view, and that value.
    pub fn worst_place(&self, view: ViewId) -> Option<(Vec3, f32)> {
        let figures = self.heat_figures(view)?;
        let (instance, point) = figures.worst?;
        let shown = self.displayed_in(view).get(&instance)?;
        let place = shown.positions.get(point as usize)?;
        place
            .is_finite()
            .then_some((*place, figures.summary.worst_value()))
    }

    /// Frames the largest value of the metric in the pointed view; `false` if nothing is measured.
    pub fn frame_worst(&mut self) -> bool {
        let Some((place, _)) = self.worst_place(self.pointed_view()) else {
            return false;
        };
        self.frame_points(&[place]);
        true
    }

    /// The views whose stacks are evaluated: those on screen, and those that a heat map compares them with.
    pub(super) fn views_to_know(&self) -> Vec<ViewRequest> {
        let shown = self.views.requests();
        let Some(metric) = self.heat_maps.measured() else {
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

    /// The value under a viewport position, interpolated over the face.
    pub fn heat_at(&mut self, ndc: Vec2, size_px: Vec2) -> Option<f32> {
        let (instance, hit) = self.hit(ndc, size_px)?;
        let view = self.pointed_view();
        let map = self.heat_map_in(view, instance)?;
        let shown = self.displayed_in(view).get(&instance)?;
        let corners = shown.mesh.topology().triangles.get(hit.triangle as usize)?;
        let shares = hit.barycentric.to_array();
        let values = corners.iter().zip(shares);
        let value: Option<f32> = values
            .map(|(&point, share)| Some(map.values.get(point as usize)? * share))
            .sum();
        value.filter(|value| !value.is_nan())
    }

    /// The measurement for the next request. Points hidden or shown since the last one are measured again.
    pub(super) fn heat_request(&mut self) -> Option<HeatMapRequest> {
        let session = self.document.session();
        let heat_maps = &mut self.heat_maps;
        let metric = heat_maps.measured()?;
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

    /// Requests another evaluation if something was hidden or shown; returns whether it did.
    pub(super) fn follow_hidden(&mut self) -> bool {
        if self.evaluation.stale {
            return false;
        }
        if self.heat_maps.measured().is_none() {
            self.evaluation.stale = self.wants_other_bed();
            return self.evaluation.stale;
        }
        let session = self.document.session();
        let (instances, points) = &self.heat_maps.hidden;
        let same_points = points.len() == session.hidden_points.len()
            && points
                .iter()
                .zip(&session.hidden_points)
                .all(|(a, b)| a.0 == b.0 && Arc::ptr_eq(a.1, b.1));
        let same = same_points && *instances == session.hidden_instances;
        self.evaluation.stale = !same || self.wants_other_bed();
        self.evaluation.stale
    }
}
