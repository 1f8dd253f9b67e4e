//! Stages 8 and 9: control clusters move as their groups say, and the free points follow the patches between them
//! ([`crate::cluster`]).
//!
//! A cluster is where the stages before have it, with what control points add ([`controls`]), or where its group's own base puts
//! it. The skin around it, as [`probe`] differentiates it, gives the tangents of the patches there; what samples and
//! smoothing add to the skin enters by its gradient over the coarse surface.
//!
//! Layers of the groups displace their clusters ([`layers`]): muscles and drivers by the pose, drivers and data by its moment.
//! Without a skin the frames of the corners follow from their positions alone, and anchors from the clusters near them.
//!
//! Points of components without clusters stay where the stages before have them.

mod bases;
mod controls;
mod cooked;
mod corners;
mod data;
mod drivers;
mod layers;
mod muscles;
mod partial;
mod posed;
mod probe;

use super::changed::Changed;
use super::left_out::clusters_act;
use super::run::{Run, Stage};
use crate::cluster::{Base, CornerFrame, CornerRow, Interpolation, PatchWork, Patches};
use crate::deform::Masks;
use crate::math::same_bits;
use cooked::{Cooked, CookedCache};
use glam::{DVec3, Vec3};
use posed::{Mode, Posed, takes_positions};
use rayon::prelude::*;
use std::borrow::Cow;

/// The shape with control clusters, world space.
#[derive(Default)]
pub(super) struct ClusterStage {
    cache: CookedCache,
    /// The painted maps of the latest run, which rotations may follow.
    masks: Masks,
    mode: Mode,
    /// One a corner: as its base moves it. Not in [`Mode::Based`].
    base: Vec<CornerRow>,
    /// One a corner: what later stages and layers add, world, metres. Not in [`Mode::Based`].
    added: Vec<DVec3>,
    /// One a corner: as it deforms its patches. Not in [`Mode::Framed`].
    rows: Vec<CornerRow>,
    /// One a corner: the same in [`Mode::Framed`].
    frames: Vec<CornerFrame>,
    /// One a corner: where it is, metres, where frames follow from these alone ([`takes_positions`]).
    positions: Vec<DVec3>,
    /// Corners that their bases may move otherwise, ascending after [`ClusterStage::mark`].
    stale: Vec<u32>,
    /// Corners that layers displace otherwise.
    shifted: Vec<u32>,
    work: PatchWork,
    shape: Vec<Vec3>,
    spare: Spare,
}

/// Memory that runs share.
#[derive(Default)]
struct Spare {
    /// One a corner: positions, or displacements at bind.
    vectors: Vec<DVec3>,
    /// One a point: displacements at bind.
    displacements: Vec<Vec3>,
    /// One a point: the shape before.
    shape: Vec<Vec3>,
}

/// Corners handed to a thread at a time.
const CORNERS_PER_TASK: usize = 256;

/// Points handed to a thread at a time.
const POINTS_PER_TASK: usize = 16_384;

impl Stage for ClusterStage {
    fn acts(run: &Run<'_>) -> bool {
        clusters_act(run.input)
    }

    fn run(&mut self, run: &Run<'_>, before: &[Vec3], changed: Changed) -> Changed {
        let is_new = self.cache.cook(run);
        let Some(mut cooked) = self.cache.take() else {
            return changed;
        };
        let new_masks = self.masks != *run.input.masks;
        if new_masks {
            self.masks.clone_from(run.input.masks);
        }
        let all = is_new || new_masks || run.skin.changes().palette || changed == Changed::All;
        self.stale.clear();
        self.shifted.clear();
        let all = cooked.bases.run(run, &cooked.corners, &mut self.stale) || all;
        let corners = &cooked.corners;
        cooked.layers.run(run, corners, before, &mut self.shifted);
        let mode = Mode::of(run, &cooked);
        let all = std::mem::replace(&mut self.mode, mode) != mode || all;
        let is_skinned = keeps_skin(run);
        let result = if all || is_skinned {
            if !all {
                self.spare.shape.clone_from(&self.shape);
            }
            self.run_all(run, &mut cooked, before);
            if all {
                Changed::All
            } else {
                Changed::points(different(&self.spare.shape, &self.shape))
            }
        } else {
            let points = match &changed {
                Changed::Points(points) => &points[..],
                _ => &[],
            };
            Changed::points(self.run_some(run, &cooked, before, points))
        };
        self.cache.give(cooked);
        result
    }

    fn shape(&self) -> &[Vec3] {
        &self.shape
    }

    fn scalars(&self, known: &[(u32, f64)]) -> Option<Vec<f32>> {
        let cooked = self.cache.cooked()?;
        let (surface, net) = (&cooked.corners.surface, cooked.patches.net());
        let known: Vec<(u32, f64)> = known
            .iter()
            .filter(|(point, _)| (*point as usize) < surface.n_points())
            .filter_map(|&(point, value)| {
                let vertex = surface.vertex_of_point(point);
                let corner = net.corners.binary_search(&vertex).ok()?;
                Some((corner as u32, value))
            })
            .collect();
        let values = cooked.patches.spread(&known)?;
        let mut scalars = cooked.patches.scalars(&values);
        let known = || known.iter().map(|k| k.1);
        let low = known().fold(f64::INFINITY, f64::min) as f32;
        let high = known().fold(f64::NEG_INFINITY, f64::max) as f32;
        for scalar in scalars.iter_mut().filter(|scalar| !scalar.is_nan()) {
            *scalar = scalar.clamp(low, high);
        }
        for (&vertex, value) in net.corners.iter().zip(values) {
            for &point in surface.points_of_vertex(vertex) {
                scalars[point as usize] = value as f32;
            }
        }
        Some(scalars)
    }

    fn patches(&self) -> Option<(&Patches, Cow<'_, [CornerFrame]>)> {
        let patches = &self.cache.cooked()?.patches;
        let frames = if self.mode == Mode::Framed {
            Cow::Borrowed(&self.frames[..])
        } else {
            let pairs = self.rows.iter().zip(&patches.net().planes);
            pairs.map(|(row, plane)| row.frame(plane)).collect()
        };
        Some((patches, frames))
    }
}

impl ClusterStage {
    /// Every corner and every point.
    fn run_all(&mut self, run: &Run<'_>, cooked: &mut Cooked, before: &[Vec3]) {
        let n = cooked.corners.len();
        let base = match self.mode {
            Mode::Based => &mut self.rows,
            Mode::Displaced | Mode::Framed => &mut self.base,
        };
        base.resize(n, CornerRow::default());
        let on = (&cooked.corners, &cooked.patches);
        cooked.bases.rows(run, on, before, base);
        let cooked = &*cooked;
        self.displace_all(run, cooked, before);
        self.shape.resize(before.len(), Vec3::ZERO);
        if keeps_skin(run) {
            self.shape.copy_from_slice(before);
            self.place_all(run, cooked, before);
            self.displace_free(run, cooked, before);
            return;
        }
        // The patches write all other points.
        for &point in &cooked.excluded {
            self.shape[point as usize] = before[point as usize];
        }
        self.place_all(run, cooked, before);
        if self.mode == Mode::Framed {
            let (frames, work) = (&self.frames, &mut self.work);
            cooked.patches.evaluate(frames, work, &mut self.shape);
        } else {
            cooked.patches.evaluate_rows(&self.rows, &mut self.shape);
        }
    }

    /// Adds to all corners what later stages and layers do.
    fn displace_all(&mut self, run: &Run<'_>, cooked: &Cooked, before: &[Vec3]) {
        if self.mode == Mode::Based {
            return;
        }
        let n = cooked.corners.len();
        let at = Posed {
            run,
            cooked,
            before,
            base: &self.base,
        };
        self.added.resize(n, DVec3::ZERO);
        in_parallel(&mut self.added, |corner| at.added(corner));
        // What tilts a corner is added to those around it, which all have to be known.
        let added = &self.added;
        if self.mode == Mode::Displaced {
            self.rows.resize(n, CornerRow::default());
            in_parallel(&mut self.rows, |corner| at.row(corner, added));
        } else {
            self.frames.resize(n, CornerFrame::at(DVec3::ZERO));
            in_parallel(&mut self.frames, |corner| at.frame(corner, added));
            self.take_positions(run, cooked);
        }
    }

    /// Adds to the free points, which keep their skin, what is added to the corners: `v' = F(v) + R d(u)`.
    fn displace_free(&mut self, run: &Run<'_>, cooked: &Cooked, before: &[Vec3]) {
        let at = Posed {
            run,
            cooked,
            before,
            base: &self.base,
        };
        let corners = (0u32..).zip(self.frames.iter().zip(&cooked.corners.points));
        let d = corners.map(|(corner, (frame, (point, _)))| {
            let added = frame.position - before[*point as usize].as_dvec3();
            at.based(corner).rotation.conjugate() * added
        });
        self.spare.vectors.clear();
        self.spare.vectors.extend(d);
        let settings = run.input.clusters.map(|clusters| clusters.map.settings());
        let couples = settings.is_some_and(|settings| settings.couples_normals);
        let displacements = &mut self.spare.displacements;
        displacements.clear();
        displacements.resize(before.len(), Vec3::ZERO);
        let (d, work) = (&self.spare.vectors, &mut self.work);
        cooked
            .patches
            .displacements(d, couples, work, displacements);
        for point in cooked.patches.free_points().iter() {
            let displacement = displacements[point as usize];
            if displacement != Vec3::ZERO {
                let rotation = bases::rotation(run, Base::Stack, point);
                let added = rotation * displacement.as_dvec3();
                self.shape[point as usize] = (before[point as usize].as_dvec3() + added).as_vec3();
            }
        }
    }

    /// Replaces all frames by those that follow from the positions alone (mode B), where [`takes_positions`]. Without a skin
    /// anchors follow the clusters near them.
    fn take_positions(&mut self, run: &Run<'_>, cooked: &Cooked) {
        if takes_positions(run, cooked) {
            let positions = &mut self.positions;
            positions.clear();
            positions.extend(self.frames.iter().map(|frame| frame.position));
            if let Some(anchors) = &cooked.anchors {
                anchors.place(positions, |c| self.frames[c as usize].mirrored);
            }
            cooked.patches.net().refit(positions, &mut self.frames);
        }
    }

    /// Where a corner is.
    fn position(&self, corner: u32) -> Vec3 {
        match self.mode {
            Mode::Framed => self.frames[corner as usize].position.as_vec3(),
            Mode::Based | Mode::Displaced => self.rows[corner as usize].position(),
        }
    }

    /// Writes the points of all corners, as [`ClusterStage::place`] does.
    fn place_all(&mut self, run: &Run<'_>, cooked: &Cooked, before: &[Vec3]) {
        let mut shape = std::mem::take(&mut self.shape);
        let tasks = shape.par_chunks_mut(POINTS_PER_TASK).enumerate();
        tasks.for_each(|(task, shape)| {
            let start = task * POINTS_PER_TASK;
            let placed = &cooked.placed[..];
            let first = placed.partition_point(|placed| (placed.point as usize) < start);
            for placed in &placed[first..] {
                let Some(out) = shape.get_mut(placed.point as usize - start) else {
                    break;
                };
                let keeps_own =
                    !placed.is_own && keeps_own(run, cooked, placed.corner, placed.point);
                *out = if keeps_own {
                    before[placed.point as usize]
                } else {
                    self.position(placed.corner)
                };
            }
        });
        self.shape = shape;
    }

    /// Writes the points of a corner. Another cluster at its place that follows the stack keeps its own position.
    fn place(&mut self, run: &Run<'_>, cooked: &Cooked, before: &[Vec3], corner: u32) {
        let position = self.position(corner);
        let own = cooked.corners.points[corner as usize].0;
        let vertex = cooked.patches.net().corners[corner as usize];
        for &point in cooked.corners.surface.points_of_vertex(vertex) {
            let keeps_own = point != own && keeps_own(run, cooked, corner, point);
            self.shape[point as usize] = if keeps_own {
                before[point as usize]
            } else {
                position
            };
        }
    }
}

/// Whether another point at a corner keeps its own position.
fn keeps_own(run: &Run<'_>, cooked: &Cooked, corner: u32, point: u32) -> bool {
    let map = run.input.clusters.map(|clusters| clusters.map);
    cooked.bases.of(corner) == Base::Stack
        && !cooked.layers.moves(corner)
        && map.is_some_and(|map| map.group_of(point).is_some())
}

/// Sets one entry a corner.
fn in_parallel<T: Send>(entries: &mut [T], of_corner: impl Fn(u32) -> T + Sync) {
    let tasks = entries.par_chunks_mut(CORNERS_PER_TASK).enumerate();
    tasks.for_each(|(task, entries)| {
        let first = (task * CORNERS_PER_TASK) as u32;
        for (corner, entry) in (first..).zip(entries) {
            *entry = of_corner(corner);
        }
    });
}

/// Whether free points keep their skin and follow displacements alone.
fn keeps_skin(run: &Run<'_>) -> bool {
    let settings = run.input.clusters.map(|clusters| clusters.map.settings());
    settings.is_some_and(|settings| settings.interpolation == Interpolation::SkinnedFree)
}

/// The points whose bits differ, ascending.
fn different(a: &[Vec3], b: &[Vec3]) -> Vec<u32> {
    let pairs = (0u32..).zip(a.iter().zip(b));
    let other = pairs.filter(|(_, (a, b))| !same_bits(**a, **b));
    other.map(|(point, _)| point).collect()
}
