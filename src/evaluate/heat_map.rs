//! Heat maps: the values of a metric at the points of every visible view, computed after the evaluation.
//!
//! Invariant: a map is recomputed only when the shapes or the settings that it depends on changed.

use super::{Evaluator, ViewId, ViewRequest};
use crate::deform::diagnostics::{Metric, Segments, ShapeView, Summary, measure_into};
use crate::deform::{Moved, ScaleMode, StackChoice, StackPreset};
use crate::document::session::PointsOfMeshes;
use crate::document::{Document, InstanceId};
use glam::Vec3;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The two stacks that [`Metric::Difference`] compares.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// The first stack; `None`: that of each view.
    pub of: Option<StackChoice>,
    /// The second one.
    pub to: StackChoice,
}

impl Default for Difference {
    /// The stack of each view and linear blend skinning.
    fn default() -> Self {
        Self {
            of: None,
            to: StackChoice::Preset(StackPreset::Lbs),
        }
    }
}

/// The heat map that colours the surfaces.
#[derive(Clone, Debug, PartialEq)]
pub struct HeatMapRequest {
    /// Changes whenever earlier maps are dropped; returned in [`HeatUpdate`].
    pub asked: u64,
    /// The metric.
    pub metric: Metric,
    /// The two stacks that [`Metric::Difference`] compares.
    pub difference: Difference,
    /// Instances that are left out.
    pub hidden_instances: BTreeSet<InstanceId>,
    /// Points that are left out of the figures.
    pub hidden_points: PointsOfMeshes,
}

/// The values at the points of one instance in one view.
#[derive(Clone, Debug)]
pub struct HeatValues {
    /// The view.
    pub view: ViewId,
    /// The instance.
    pub instance: InstanceId,
    /// n_points, in the metric's unit; NaN where it has no meaning, infinite where a position is not finite.
    pub values: Arc<Vec<f32>>,
}

/// The summary of the values of a view over all of its visible instances.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HeatFigures {
    /// The metric.
    pub metric: Metric,
    /// The numbers. Its points belong to several meshes: [`HeatFigures::worst`] names the place.
    pub summary: Summary,
    /// The instance and point of the largest magnitude.
    pub worst: Option<(InstanceId, u32)>,
}

/// The changes of the heat maps by a request.
#[derive(Clone, Debug, Default)]
pub struct HeatUpdate {
    /// The request's.
    pub asked: u64,
    /// Maps that changed.
    pub values: Vec<HeatValues>,
    /// Of every view that was evaluated; empty without a heat map.
    pub figures: BTreeMap<ViewId, HeatFigures>,
    /// The diagonal of the bounding box of the model at rest, metres; 0 without a heat map.
    pub diagonal: f32,
}

/// The ids of hidden views, which others are compared with.
const FIRST_HIDDEN_VIEW: u32 = u32::MAX - 16;

/// The state of the heat maps, beside the evaluator.
#[derive(Default)]
pub(super) struct HeatMapper {
    request: Option<HeatMapRequest>,
    maps: BTreeMap<(ViewId, InstanceId), Map>,
    figures: BTreeMap<ViewId, HeatFigures>,
    diagonal: f32,
    inflated: Vec<Vec3>,
    /// All values of a view, and those of visible points.
    all: Vec<f32>,
    known: Vec<f32>,
}

#[derive(Default)]
struct Map {
    values: Arc<Vec<f32>>,
    /// Earlier values, whose buffers are used again.
    spare: Arc<Vec<f32>>,
}

/// The views that a view is compared with.
#[derive(Clone, Copy, Default)]
struct Partners {
    /// Plain dual quaternion skinning.
    plain: Option<ViewId>,
    /// The first stack of a difference, where that is not that of the view.
    of: Option<ViewId>,
    /// The second one.
    to: Option<ViewId>,
    /// One of them is of a body that is not there: there is nothing to compare with.
    is_missing: bool,
}

/// The hidden views that `request` needs, and which of them each visible view is compared with.
fn partners(
    request: &HeatMapRequest,
    shown: &[ViewRequest],
) -> (Vec<ViewRequest>, BTreeMap<ViewId, Partners>) {
    let mut hidden: Vec<ViewRequest> = Vec::new();
    let mut add = |number: u32, stack: &StackChoice, plain: bool| {
        let same = |r: &&ViewRequest| r.plain == plain && r.stack == *stack;
        if let Some(known) = shown.iter().find(same) {
            return known.view;
        }
        let view = ViewId(FIRST_HIDDEN_VIEW + number);
        if !hidden.iter().any(|r| r.view == view) {
            hidden.push(ViewRequest {
                view,
                stack: stack.clone(),
                plain,
            });
        }
        view
    };
    let mut partners = BTreeMap::new();
    for view in shown {
        let mut mine = Partners::default();
        match request.metric {
            Metric::Discontinuity => {
                // Stacks with the same scale have the same plain skinning, and each body has its own.
                let scale = view.stack.instead().map(|s| s.as_applied().scale);
                let number = match (scale, view.body()) {
                    (Some(ScaleMode::TwoPhase), _) => 1,
                    (Some(ScaleMode::Drop), _) => 2,
                    (None, Some(body)) => 5 + body as u32,
                    (None, None) => 0,
                };
                mine.plain = Some(add(number, &view.stack, true));
            }
            Metric::Difference => {
                let of = request.difference.of.as_ref();
                mine.of = of.map(|of| add(3, of, false));
                mine.to = Some(add(4, &request.difference.to, false));
            }
            _ => {}
        }
        partners.insert(view.view, mine);
    }
    (hidden, partners)
}

/// The views to evaluate for `request`: the visible ones, and those that they are compared with.
pub fn views_for(request: &HeatMapRequest, shown: &[ViewRequest]) -> Vec<ViewRequest> {
    let mut all = shown.to_vec();
    all.extend(partners(request, shown).0);
    all
}

impl HeatMapper {
    /// Measures the instances that `moved`, or were not measured yet, in the visible views.
    pub(super) fn update(
        &mut self,
        evaluator: &Evaluator,
        document: &Document,
        request: Option<&HeatMapRequest>,
        shown: &[ViewRequest],
        moved: &[(ViewId, InstanceId, Moved)],
    ) -> HeatUpdate {
        let Some(request) = request else {
            *self = Self::default();
            return HeatUpdate::default();
        };
        let same_values = self.request.as_ref().is_some_and(|known| {
            known.asked == request.asked
                && known.metric == request.metric
                && known.difference == request.difference
        });
        if !same_values {
            self.maps.clear();
            self.figures.clear();
        }
        let same_figures = same_values && self.request.as_ref() == Some(request);
        self.request = Some(request.clone());
        self.maps.retain(|(view, instance), _| {
            shown.iter().any(|r| r.view == *view)
                && document.instances().contains_key(instance)
                && !request.hidden_instances.contains(instance)
        });
        self.figures
            .retain(|view, _| shown.iter().any(|r| r.view == *view));
        let moved: BTreeSet<(ViewId, InstanceId)> = moved
            .iter()
            .filter(|(.., moved)| *moved != Moved::Nothing)
            .map(|(view, instance, _)| (*view, *instance))
            .collect();
        let (hidden, partners) = partners(request, shown);
        let mut update = HeatUpdate {
            asked: request.asked,
            ..HeatUpdate::default()
        };
        for view in shown {
            let mut mine = partners.get(&view.view).copied().unwrap_or_default();
            let is_there = |id: &Option<ViewId>| {
                let mut known = hidden.iter().chain(shown);
                let asked = known.find(|r| Some(r.view) == *id);
                asked.is_none_or(|r| evaluator.has_body(r))
            };
            mine.is_missing = ![mine.of, mine.to].iter().all(is_there);
            let mut changed = !same_figures || !self.figures.contains_key(&view.view);
            for &instance in document.instances().keys() {
                if request.hidden_instances.contains(&instance) {
                    continue;
                }
                let sources = [Some(view.view), mine.plain, mine.of, mine.to];
                let mut sources = sources.into_iter().flatten();
                let is_known = self.maps.contains_key(&(view.view, instance));
                if is_known && !sources.any(|source| moved.contains(&(source, instance))) {
                    continue;
                }
                let shown = evaluator.document_in(view, document);
                if let Some(values) = self.measure(evaluator, shown, view.view, mine, instance) {
                    changed = true;
                    update.values.push(values);
                }
            }
            if changed {
                let figures = self.figures_of(view.view, document, request);
                self.figures.insert(view.view, figures);
            }
        }
        update.figures.clone_from(&self.figures);
        update.diagonal = self.diagonal;
        update
    }

    fn measure(
        &mut self,
        evaluator: &Evaluator,
        document: &Document,
        view: ViewId,
        partners: Partners,
        instance: InstanceId,
    ) -> Option<HeatValues> {
        let metric = self.request.as_ref()?.metric;
        let (posed, normals) = evaluator.posed_in(view, instance)?;
        // An exported file is measured with the bones of the document.
        let plan = evaluator.plan_in(view, instance);
        let plan = plan.or_else(|| evaluator.plan_in(ViewId::OWN, instance))?;
        let item = document.instances().get(&instance)?;
        let item = document.meshes().get(&item.mesh)?;
        let positions = |view: Option<ViewId>| {
            let of = view.and_then(|view| evaluator.posed_in(view, instance));
            of.map(|(positions, _)| positions)
        };
        let segments = match plan.bones() {
            Some((bones, pose)) => {
                plan.inflated_bind_into(&mut self.inflated);
                Segments::of_bones(bones, pose)
            }
            None => {
                // The rest shape of a rigid instance moves with its node.
                self.inflated.clear();
                self.inflated.extend_from_slice(plan.positions());
                Segments::default()
            }
        };
        let shape = ShapeView {
            mesh: &item.geometry,
            influences: &item.influences,
            palette: plan.palette(),
            segments: &segments,
            bones: plan.bones().map(|(bones, _)| bones),
            inflated: &self.inflated,
            posed: positions(partners.of).unwrap_or(posed),
            normals,
            plain: positions(partners.plain),
            other: positions(partners.to),
        };
        if metric == Metric::Difference {
            self.diagonal = self.diagonal.max(shape.diagonal() as f32);
        }
        let map = self.maps.entry((view, instance)).or_default();
        let spare = std::mem::take(&mut map.spare);
        let mut values = Arc::try_unwrap(spare).unwrap_or_default();
        measure_into(metric, &shape, &mut values);
        if partners.is_missing {
            values.fill(f32::NAN);
        }
        map.spare = std::mem::replace(&mut map.values, Arc::new(values));
        Some(HeatValues {
            view,
            instance,
            values: map.values.clone(),
        })
    }

    fn figures_of(
        &mut self,
        view: ViewId,
        document: &Document,
        request: &HeatMapRequest,
    ) -> HeatFigures {
        self.all.clear();
        let mut starts: Vec<(usize, InstanceId)> = Vec::new();
        for ((of, instance), map) in &self.maps {
            if *of != view {
                continue;
            }
            let first = self.all.len();
            starts.push((first, *instance));
            self.all.extend_from_slice(&map.values);
            let mesh = document.instances().get(instance).map(|i| i.mesh);
            let hidden = mesh.and_then(|mesh| request.hidden_points.get(&mesh));
            for point in hidden.iter().flat_map(|set| set.iter()) {
                if let Some(value) = self.all.get_mut(first + point as usize) {
                    *value = f32::NAN;
                }
            }
        }
        let summary = Summary::of_in(&self.all, &mut self.known);
        let worst = summary.worst().and_then(|at| {
            let (first, instance) = starts.iter().rfind(|(first, _)| *first <= at as usize)?;
            Some((*instance, at - *first as u32))
        });
        HeatFigures {
            metric: request.metric,
            summary,
            worst,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(metric: Metric) -> HeatMapRequest {
        HeatMapRequest {
            asked: 0,
            metric,
            difference: Difference::default(),
            hidden_instances: BTreeSet::new(),
            hidden_points: PointsOfMeshes::new(),
        }
    }

    fn view(number: u32, preset: StackPreset) -> ViewRequest {
        ViewRequest {
            view: ViewId(number),
            stack: StackChoice::Preset(preset),
            plain: false,
        }
    }

    #[test]
    fn only_what_a_metric_compares_with_is_evaluated_besides() {
        let shown = [
            ViewRequest::own(),
            view(1, StackPreset::Lbs),
            view(2, StackPreset::Dqs),
        ];
        assert_eq!(views_for(&request(Metric::Bulge), &shown), shown);
        // Plain skinning once for the project's own scale, and once for both presets.
        let jump = views_for(&request(Metric::Discontinuity), &shown);
        assert_eq!(jump.len(), 5);
        assert!(jump[3].plain && jump[4].plain);
        // LBS is shown already.
        let difference = request(Metric::Difference);
        assert_eq!(views_for(&difference, &shown).len(), 3);
        assert_eq!(views_for(&difference, &shown[..1]).len(), 2);
        let (_, partners) = partners(&difference, &shown);
        assert_eq!(partners[&ViewId::OWN].to, Some(ViewId(1)));
        let mut ids: Vec<ViewId> = jump.iter().map(|r| r.view).collect();
        ids.dedup();
        assert_eq!(ids.len(), 5);
    }
}
