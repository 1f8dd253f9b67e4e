//! The control net of patches as they stand in a pose.

use super::{Evaluator, MOST_PATCHES, ViewId};
use crate::cluster::{Interpolation, Patch};
use crate::document::InstanceId;
use glam::{DVec3, Vec3};
use std::collections::BTreeSet;

/// The control points of the patches of an instance, world, metres.
#[derive(Clone, Debug, PartialEq)]
pub struct ControlNetShape {
    /// The instance.
    pub instance: InstanceId,
    /// The cubics along the borders of patches, each once: the vertices of the surface at its ends, and a corner, the two edge
    /// points, the other corner.
    pub borders: Vec<([u32; 2], [Vec3; 4])>,
    /// The vertices at the corners of cubic patches, and their control points in the middle; those of Gregory patches move with
    /// the place on them.
    pub middles: Vec<([u32; 3], Vec3)>,
}

/// The control net of an instance as `evaluator` has it; `None` where no patches are the surface, or with too many to draw.
pub fn control_net(evaluator: &Evaluator, instance: InstanceId) -> Option<ControlNetShape> {
    let (patches, frames) = evaluator.plan_in(ViewId::OWN, instance)?.patches()?;
    let net = patches.net();
    if net.triangles.len() > MOST_PATCHES {
        return None;
    }
    let kind = patches.options().interpolation;
    // Strands follow lines of the mesh; under skinned-free vertices patches carry displacements alone.
    if matches!(kind, Interpolation::Strands | Interpolation::SkinnedFree) {
        return None;
    }
    // The borders of Gregory patches are those of the cubic ones.
    let cubic = if kind == Interpolation::Gregory {
        Interpolation::TransportedBezier
    } else {
        kind
    };
    let mut shape = ControlNetShape {
        instance,
        borders: Vec::new(),
        middles: Vec::new(),
    };
    let mut drawn = BTreeSet::new();
    for (triangle, corners) in (0u32..).zip(&net.triangles) {
        let Patch::Bezier(patch) = net.patch(triangle, &frames, cubic) else {
            continue;
        };
        for i in 0..3 {
            let j = (i + 1) % 3;
            let ends = [corners[i], corners[j]];
            if drawn.insert([ends[0].min(ends[1]), ends[0].max(ends[1])]) {
                let points = [
                    patch.corners[i],
                    patch.edges[i][0],
                    patch.edges[j][1],
                    patch.corners[j],
                ];
                let ends = ends.map(|c| net.corners[c as usize]);
                shape.borders.push((ends, points.map(DVec3::as_vec3)));
            }
        }
        if kind != Interpolation::Gregory {
            let corners = corners.map(|c| net.corners[c as usize]);
            shape.middles.push((corners, patch.centre.as_vec3()));
        }
    }
    Some(shape)
}
