//! The evaluator of documents, which the worker, the command line and tests share.

use super::exported::{ExportedModel, ExportedView};
use super::plans::Plans;
use super::{BodyMap, CentreMap, LayoutMap, SlowCooks, ViewId, ViewRequest};
use crate::deform::{BodyChoice, InstancePlan, Moved, StackChoice};
use crate::document::{Document, InstanceId};
use crate::skeleton::{Moment, Pose, PoseAt};
use glam::{DAffine3, Vec3};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Evaluates a document under the stacks of views; recomputes only what changed since the latest evaluation.
#[derive(Default)]
pub struct Evaluator {
    plans: Plans,
    /// The file of [`StackChoice::Exported`].
    exported: Option<Box<ExportedView>>,
    /// The bodies of [`StackChoice::Body`].
    bodies: BTreeMap<BodyChoice, OtherBody>,
}

/// A document with another body than the one that is evaluated, in the same pose.
struct OtherBody {
    document: Document,
    pose: Arc<Pose>,
    plans: Plans,
}

impl OtherBody {
    /// Deforms it for one of the views that its plans began with.
    fn evaluate(
        &mut self,
        moment: Moment,
        view: &ViewRequest,
        moved: &mut Vec<(ViewId, InstanceId, Moved)>,
    ) {
        let at = self.pose.at(moment);
        self.plans.evaluate_view(&self.document, at, view, moved);
    }
}

impl Evaluator {
    /// An evaluator of final shapes, which are the same: it leaves out what only [`InstancePlan::base_positions`] would show.
    pub fn for_shapes() -> Self {
        Self {
            plans: Plans::for_shapes(),
            ..Self::default()
        }
    }

    /// As [`Evaluator::for_shapes`], without normals.
    pub fn for_positions() -> Self {
        Self {
            plans: Plans::for_positions(),
            ..Self::default()
        }
    }

    /// Uses these centres of rotation from now on and computes none: a mesh without falls back to dual quaternion
    /// skinning. Without this call the evaluator computes the centres that a stack reads.
    pub fn set_centres(&mut self, centres: CentreMap) {
        self.plans.set_centres(centres);
    }

    /// Uses these patch layouts from now on and computes none: clusters of a mesh without do not act. Without this call the
    /// evaluator computes the layouts that a document needs.
    pub fn set_layouts(&mut self, layouts: LayoutMap) {
        self.plans.set_layouts(layouts);
    }

    /// [`Evaluator::set_centres`] and [`Evaluator::set_layouts`].
    pub fn set_cooks(&mut self, cooks: SlowCooks) {
        self.set_centres(cooks.centres);
        self.set_layouts(cooks.layouts);
    }

    /// Shows this exported file in views of [`StackChoice::Exported`] from now on.
    pub fn set_exported(&mut self, model: Option<&Arc<ExportedModel>>) {
        let known = self.exported.as_ref().map(|view| view.model());
        let is_same = match (known, model) {
            (Some(a), Some(b)) => Arc::ptr_eq(a, b),
            (a, b) => a.is_none() && b.is_none(),
        };
        if !is_same {
            self.exported = model.map(|model| Box::new(ExportedView::new(model.clone())));
        }
    }

    /// Shows these bodies in views of [`StackChoice::Body`] from now on, each in the pose that its document shows; a view of
    /// another one shows the document that is evaluated.
    pub fn set_bodies(&mut self, bodies: &BodyMap) {
        self.bodies.retain(|body, _| bodies.contains_key(body));
        for (&body, shown) in bodies {
            let plans = self.bodies.remove(&body).map(|other| other.plans);
            let mut plans = plans.unwrap_or_else(|| self.plans.for_another());
            if let Some(cooks) = shown.cooks.clone() {
                plans.set_centres(cooks.centres);
                plans.set_layouts(cooks.layouts);
            }
            let other = OtherBody {
                document: shown.document.clone(),
                pose: shown.document.shown_pose(),
                plans,
            };
            self.bodies.insert(body, other);
        }
    }

    /// Whether the body is there that a view asks for.
    pub fn has_body(&self, view: &ViewRequest) -> bool {
        view.body()
            .is_none_or(|body| self.bodies.contains_key(&body))
    }

    /// The document that a view of `document` shows.
    pub fn document_in<'a>(&'a self, view: &ViewRequest, document: &'a Document) -> &'a Document {
        self.body_of(view).map_or(document, |other| &other.document)
    }

    /// World transforms of all joints in a view in the latest evaluation.
    pub fn world_in(&self, view: &ViewRequest) -> &[DAffine3] {
        let other = self.body_of(view);
        other.map_or(self.plans.world(), |other| other.plans.world())
    }

    fn body_of(&self, view: &ViewRequest) -> Option<&OtherBody> {
        self.bodies.get(&view.body()?)
    }

    /// Deforms all instances of `document` in a pose at its moment, each mesh by its own stack. Returns the changes, in order of id.
    pub fn evaluate<'p>(
        &mut self,
        document: &Document,
        at: impl Into<PoseAt<'p>>,
    ) -> Vec<(InstanceId, Moved)> {
        let moved = self.evaluate_views(document, at, &[ViewRequest::own()]);
        moved
            .into_iter()
            .map(|(_, instance, moved)| (instance, moved))
            .collect()
    }

    /// Deforms all instances of `document` in a pose at its moment, once for each view. Returns the changes in the order
    /// of `views`, then of ids. The results of other views are freed.
    pub fn evaluate_views<'p>(
        &mut self,
        document: &Document,
        at: impl Into<PoseAt<'p>>,
        views: &[ViewRequest],
    ) -> Vec<(ViewId, InstanceId, Moved)> {
        let at = at.into();
        if self.bodies.is_empty() {
            self.plans.begin(document, at.pose, views);
        } else {
            self.begin_bodies(document, at.pose, views);
        }
        let mut moved = Vec::with_capacity(document.instances().len() * views.len());
        for view in views {
            let other = view.body().and_then(|body| self.bodies.get_mut(&body));
            if let Some(other) = other {
                other.evaluate(at.moment, view, &mut moved);
            } else if view.stack != StackChoice::Exported {
                self.plans.evaluate_view(document, at, view, &mut moved);
            } else if let Some(exported) = &mut self.exported {
                // Before the first export there is nothing to show.
                exported.evaluate(view.view, document, at.pose, &mut moved);
            }
        }
        moved
    }

    /// Begins an evaluation where some views may show another body.
    fn begin_bodies(&mut self, document: &Document, pose: &Pose, views: &[ViewRequest]) {
        let of_document = |view: &&ViewRequest| self.body_of(view).is_none();
        let own: Vec<ViewRequest> = views.iter().filter(of_document).cloned().collect();
        self.plans.begin(document, pose, &own);
        for (&body, other) in &mut self.bodies {
            let of_body = |view: &&ViewRequest| view.body() == Some(body);
            let theirs: Vec<ViewRequest> = views.iter().filter(of_body).cloned().collect();
            other.plans.begin(&other.document, &other.pose, &theirs);
        }
    }

    /// The plan of one instance under its own stack, after the latest evaluation.
    pub fn plan(&self, instance: InstanceId) -> Option<&InstancePlan> {
        self.plan_in(ViewId::OWN, instance)
    }

    /// The plan of one instance in a view, after the latest evaluation.
    pub fn plan_in(&self, view: ViewId, instance: InstanceId) -> Option<&InstancePlan> {
        let plan = self.plans.plan(view, instance);
        plan.or_else(|| {
            let mut others = self.bodies.values();
            others.find_map(|other| other.plans.plan(view, instance))
        })
    }

    /// World positions of the points and world normals of one instance in a view after the latest evaluation.
    pub fn posed_in(&self, view: ViewId, instance: InstanceId) -> Option<(&[Vec3], &[Vec3])> {
        match self.plan_in(view, instance) {
            Some(plan) => Some((plan.positions(), plan.normals())),
            None => self.exported.as_ref()?.posed_in(view, instance),
        }
    }

    /// World transforms of all joints in the latest evaluation.
    pub fn world(&self) -> &[DAffine3] {
        self.plans.world()
    }
}
