//! The surfaces of a posed document as one, to be compared with a scan.

use super::Evaluator;
use crate::document::{Document, InstanceId};
use crate::twin::scan::{ScanError, SignedSurface};
use glam::DVec3;
use std::collections::BTreeSet;

/// The surface of the skinned instances of a document in a pose, world space; of all, if none is skinned.
#[derive(Clone, Debug)]
pub struct PosedSurface {
    /// It.
    pub surface: SignedSurface,
    /// The first point of each instance.
    starts: Vec<(u32, InstanceId)>,
}

impl PosedSurface {
    /// Of a document that was evaluated. Fails where there are no faces, or a point has a position that is not finite.
    pub fn of(document: &Document, evaluator: &Evaluator) -> Result<Self, ScanError> {
        Self::without(document, evaluator, &BTreeSet::new())
    }

    /// As [`PosedSurface::of`], without the instances `hidden`.
    pub fn without(
        document: &Document,
        evaluator: &Evaluator,
        hidden: &BTreeSet<InstanceId>,
    ) -> Result<Self, ScanError> {
        let is_shown = |id: &InstanceId| !hidden.contains(id);
        let mut shown = document.instances().iter().filter(|(id, _)| is_shown(id));
        let any_skinned = shown.any(|(_, i)| i.skin.is_some());
        let (mut points, mut triangles, mut starts) = (Vec::new(), Vec::new(), Vec::new());
        for (&id, instance) in document.instances() {
            if hidden.contains(&id) || any_skinned && instance.skin.is_none() {
                continue;
            }
            let (Some(plan), Some(item)) =
                (evaluator.plan(id), document.meshes().get(&instance.mesh))
            else {
                continue;
            };
            let first = points.len() as u32;
            starts.push((first, id));
            points.extend(plan.positions().iter().map(|p| p.as_dvec3()));
            let of_mesh = item.geometry.topology().triangles.iter();
            triangles.extend(of_mesh.map(|t| t.map(|point| first + point)));
        }
        Ok(Self {
            surface: SignedSurface::new(points, triangles, "the body")?,
            starts,
        })
    }

    /// The instance of a point, and its number there.
    pub fn owner(&self, point: u32) -> Option<(InstanceId, u32)> {
        let after = self.starts.partition_point(|(start, _)| *start <= point);
        let (start, id) = self.starts.get(after.checked_sub(1)?)?;
        Some((*id, point - start))
    }

    /// The values of each instance of one value a point.
    pub fn split<'a>(&self, values: &'a [f64]) -> impl Iterator<Item = (InstanceId, &'a [f64])> {
        let ends = self.starts.iter().skip(1).map(|(start, _)| *start as usize);
        let ends: Vec<usize> = ends.chain([values.len()]).collect();
        let starts = self.starts.clone().into_iter();
        let ranges = starts
            .zip(ends)
            .map(|((start, id), end)| (id, start as usize..end));
        ranges.map(|(id, range)| (id, values.get(range).unwrap_or_default()))
    }

    /// The name of the bone that a point follows most; `None`: it follows none.
    pub fn bone(&self, document: &Document, point: u32) -> Option<String> {
        let (id, point) = self.owner(point)?;
        let instance = document.instances().get(&id)?;
        let skin = document.skins().get(&instance.skin?)?;
        let influences = &document.meshes().get(&instance.mesh)?.influences;
        if point as usize >= influences.len() {
            return None;
        }
        let row = influences.row(point).iter();
        let most = row.reduce(|a, b| if b.1 > a.1 { b } else { a })?;
        let joint = skin.joints.get(usize::from(most.0))?;
        Some(document.skeleton().label(*joint))
    }

    /// The place of a point.
    pub fn place(&self, point: u32) -> Option<DVec3> {
        self.surface.points().get(point as usize).copied()
    }
}
