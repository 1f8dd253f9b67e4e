//! The part of a corrective shape that clusters alone keep.

use super::exact::ExactPatches;
use super::frame::CornerFrame;
use super::interpolation::{Interpolation, PatchOptions};
use super::layout::Layout;
use super::net::ControlNet;
use super::surface::ClusterSurface;
use glam::{DMat3, DQuat, DVec3};

/// A corrective shape of the whole mesh at a pose, as corrective samples store it: `s = F + R d`.
#[derive(Clone, Copy, Debug)]
pub struct Corrective<'a> {
    /// n_vertices: F, the surface without the corrective at the pose, metres.
    pub skinned: &'a [DVec3],
    /// n_vertices: R, the blended rotation at the pose, unit.
    pub rotations: &'a [DQuat],
    /// n_vertices: d, in the frame of bind, metres.
    pub displacements: &'a [DVec3],
}

/// A corrective of clusters, and what it leaves of the one it was taken from.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Extraction {
    /// The displaced clusters by their corner, ascending, and their displacement in the frame of bind, metres.
    pub samples: Vec<(u32, DVec3)>,
    /// Number of vertices that the corrective displaces.
    pub n_displaced: usize,
    /// The root mean square of what is left over these vertices, as a fraction of the corrective's: 0 keeps all of it, 1 none.
    pub residual: f64,
    /// The largest distance that is left, metres.
    pub largest: f64,
}

/// Takes the displacements of a corrective at the clusters, and measures what the patches between them leave. Anchors are
/// no clusters and keep none (METHODS 1.2).
///
/// `frames`: the corners without the corrective at its pose; `couples`: whether a displaced cluster tilts the surface at
/// its neighbours. What is left contains the error of the patches themselves, but
/// for [`Interpolation::SkinnedFree`], which has none.
pub fn extract(
    surface: &ClusterSurface,
    layout: &Layout,
    net: &ControlNet,
    (options, couples): (PatchOptions, bool),
    frames: &[CornerFrame],
    corrective: &Corrective<'_>,
) -> Extraction {
    let d = |v: u32| corrective.displacements[v as usize];
    let is_anchor = |v: u32| layout.anchors.binary_search(&v).is_ok();
    let kept = |v: u32| if is_anchor(v) { DVec3::ZERO } else { d(v) };
    let own: Vec<DVec3> = layout.corners.iter().map(|&v| kept(v)).collect();
    let left: Vec<DVec3> = if options.interpolation == Interpolation::SkinnedFree {
        let gradient = |c: u32| {
            if couples {
                net.rings.gradient(c, &own)
            } else {
                DMat3::ZERO
            }
        };
        let gradients: Vec<DMat3> = (0..own.len() as u32).map(gradient).collect();
        let blended = layout.free.iter().map(|free| {
            let patch = net.displacement_patch(free.triangle, &own, &gradients);
            patch.at(free.barycentric) - d(free.vertex)
        });
        blended.collect()
    } else {
        let world: Vec<DVec3> = layout
            .corners
            .iter()
            .map(|&v| corrective.rotations[v as usize] * kept(v))
            .collect();
        let mut frames = frames.to_vec();
        net.displace(&mut frames, &world, couples);
        let patches = ExactPatches::new(surface, layout, net, options);
        let places = patches.evaluate(&frames).into_iter().zip(&layout.free);
        let left = places.map(|(place, free)| {
            let v = free.vertex as usize;
            place - corrective.skinned[v] - corrective.rotations[v] * d(free.vertex)
        });
        left.collect()
    };
    let (mut rest, mut largest) = (0.0, 0.0f64);
    for (left, _) in left
        .iter()
        .zip(&layout.free)
        .filter(|(_, free)| d(free.vertex) != DVec3::ZERO)
    {
        rest += left.length_squared();
        largest = largest.max(left.length());
    }
    for left in layout.anchors.iter().map(|&v| d(v)) {
        rest += left.length_squared();
        largest = largest.max(left.length());
    }
    let displaced = corrective
        .displacements
        .iter()
        .filter(|d| **d != DVec3::ZERO);
    let whole: f64 = displaced.clone().map(|d| d.length_squared()).sum();
    let samples = (0u32..).zip(own).filter(|(_, d)| *d != DVec3::ZERO);
    Extraction {
        samples: samples.collect(),
        n_displaced: displaced.count(),
        residual: if whole > 0.0 {
            (rest / whole).sqrt()
        } else {
            0.0
        },
        largest,
    }
}
