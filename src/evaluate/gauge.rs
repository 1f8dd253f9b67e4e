//! Evaluated instances, and the shapes that metrics compare them with.

use super::{Evaluator, SlowCooks};
use crate::deform::DeformStack;
use crate::deform::diagnostics::{Segments, ShapeView};
use crate::document::{Document, Edit, InstanceId};
use crate::skeleton::PoseAt;
use glam::Vec3;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The shapes to compare with the result of the document's own stacks.
#[derive(Clone, Debug, Default)]
pub struct Comparison {
    /// Also evaluate plain dual quaternion skinning ([`crate::deform::diagnostics::Metric::Discontinuity`]).
    pub plain: bool,
    /// Also evaluate this document, the same model under other stacks ([`with_stacks`],
    /// [`crate::deform::diagnostics::Metric::Difference`]).
    pub other: Option<Document>,
}

/// Evaluates a document in poses for metrics ([`ShapeView`]); recomputes only what changed.
pub struct Gauge {
    shown: Evaluator,
    plain: Evaluator,
    other: Evaluator,
    has_plain: bool,
    has_other: bool,
    extras: BTreeMap<InstanceId, Extra>,
}

/// The data of a [`ShapeView`] besides the evaluated instance.
struct Extra {
    inflated: Vec<Vec3>,
    segments: Segments,
}

impl Default for Gauge {
    fn default() -> Self {
        Self {
            shown: Evaluator::for_shapes(),
            plain: Evaluator::for_shapes(),
            other: Evaluator::for_shapes(),
            has_plain: false,
            has_other: false,
            extras: BTreeMap::new(),
        }
    }
}

impl Gauge {
    /// Uses these centres of rotation and patch layouts from now on; see [`Evaluator::set_cooks`].
    pub fn set_cooks(&mut self, cooks: &SlowCooks) {
        for evaluator in [&mut self.shown, &mut self.plain, &mut self.other] {
            evaluator.set_cooks(cooks.clone());
        }
    }

    /// Evaluates all instances of `document` in a pose at its moment, and the shapes to compare them with.
    pub fn evaluate<'p>(
        &mut self,
        document: &Document,
        at: impl Into<PoseAt<'p>>,
        comparison: &Comparison,
    ) {
        let at = at.into();
        self.shown.evaluate(document, at);
        self.has_plain = comparison.plain;
        if comparison.plain {
            let plain = with_stacks(document, DeformStack::plain)
                .without_correctives()
                .without_clusters();
            self.plain.evaluate(&plain, at);
        }
        self.has_other = comparison.other.is_some();
        if let Some(other) = &comparison.other {
            self.other.evaluate(other, at);
        }
        self.extras = document
            .instances()
            .keys()
            .filter_map(|&id| {
                let plan = self.shown.plan(id)?;
                let extra = match plan.bones() {
                    Some((bones, pose)) => Extra {
                        inflated: plan.inflated_bind(),
                        segments: Segments::of_bones(bones, pose),
                    },
                    // The rest shape of a rigid instance moves with its node.
                    None => Extra {
                        inflated: plan.positions().to_vec(),
                        segments: Segments::default(),
                    },
                };
                Some((id, extra))
            })
            .collect();
    }

    /// One instance of the latest evaluation; `None` if it draws nothing.
    pub fn shape<'a>(
        &'a self,
        document: &'a Document,
        instance: InstanceId,
    ) -> Option<ShapeView<'a>> {
        let plan = self.shown.plan(instance)?;
        let extra = self.extras.get(&instance)?;
        let item = document
            .meshes()
            .get(&document.instances().get(&instance)?.mesh)?;
        let positions = |evaluator: &'a Evaluator, has: bool| {
            evaluator
                .plan(instance)
                .filter(|_| has)
                .map(crate::deform::InstancePlan::positions)
        };
        Some(ShapeView {
            mesh: &item.geometry,
            influences: &item.influences,
            palette: plan.palette(),
            segments: &extra.segments,
            bones: plan.bones().map(|(bones, _)| bones),
            inflated: &extra.inflated,
            posed: plan.positions(),
            normals: plan.normals(),
            plain: positions(&self.plain, self.has_plain),
            other: positions(&self.other, self.has_other),
        })
    }

    /// The evaluator of the document's own stack.
    pub fn evaluator(&self) -> &Evaluator {
        &self.shown
    }
}

/// The document with another stack on each mesh; `stack` maps the mesh's own to it.
pub fn with_stacks(document: &Document, stack: impl Fn(&DeformStack) -> DeformStack) -> Document {
    let mut changed = document.clone();
    for (&mesh, item) in document.meshes() {
        let mut edit = Edit::Stack {
            mesh,
            stack: Arc::new(stack(&item.stack)),
        };
        // An invalid stack is refused; the mesh then keeps its own.
        let _ = changed.apply(&mut edit);
    }
    changed
}
