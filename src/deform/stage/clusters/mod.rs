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
mod corners;
mod data;
mod drivers;
mod layers;
mod muscles;
mod probe;

use super::changed::Changed;
use super::key::{Identity, LastKey, refill};
use super::left_out::clusters_act;
use super::run::{Run, Stage};
use crate::cluster::{
    AnchorFits, Base, ClusterMap, CornerFrame, Interpolation, MeshLayout, PatchWork, Patches,
};
use crate::deform::{DeformInput, Masks};
use crate::math::same_bits;
use bases::Bases;
use corners::Corners;
use glam::{DMat3, DVec3, Vec3};
use layers::Layers;
use rayon::prelude::*;

/// The shape with control clusters, world space.
#[derive(Default)]
pub(super) struct ClusterStage {
    key: LastKey<Key>,
    map: Identity<ClusterMap>,
    /// The painted maps of the latest run, which rotations may follow.
    masks: Masks,
    cooked: Option<Cooked>,
    /// One a corner: as its base moves it.
    skinned: Vec<CornerFrame>,
    /// One a corner: what later stages and layers add, world, metres.
    added: Vec<DVec3>,
    /// One a corner: as it deforms its patches.
    frames: Vec<CornerFrame>,
    /// One a corner: where it is, metres, where frames follow from these alone ([`takes_positions`]).
    positions: Vec<DVec3>,
    /// Corners whose frames may be others, ascending after [`ClusterStage::mark`].
    stale: Vec<u32>,
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

/// What follows from the layout and the bind shape.
struct Cooked {
    corners: Corners,
    patches: Patches,
    bases: Bases,
    layers: Layers,
    /// Without a skin: the clusters that the anchors follow.
    anchors: Option<AnchorFits>,
    /// The points of parts without a cluster, ascending.
    excluded: Vec<u32>,
}

impl Cooked {
    /// Makes the layers again on the same corners.
    fn renew_layers(&mut self, run: &Run<'_>, map: &ClusterMap) {
        let controls = std::mem::take(&mut self.layers).into_controls();
        let net = self.patches.net();
        self.layers = Layers::new(run, &self.corners, net, map, controls);
    }
}

/// What everything cooked depends on, besides the morphed bind shape and the map.
#[derive(Default, PartialEq)]
struct Key {
    layout: Identity<MeshLayout>,
    /// Bits of the unit of the mesh.
    unit: u64,
    /// The order of the joints in cooked influences.
    order: Vec<u32>,
    has_skin: bool,
    adds: bool,
}

impl Stage for ClusterStage {
    fn acts(run: &Run<'_>) -> bool {
        clusters_act(run.input)
    }

    fn run(&mut self, run: &Run<'_>, before: &[Vec3], changed: Changed) -> Changed {
        let is_new = self.cook(run);
        let Some(mut cooked) = self.cooked.take() else {
            return changed;
        };
        let new_masks = self.masks != *run.input.masks;
        if new_masks {
            self.masks.clone_from(run.input.masks);
        }
        let all = is_new || new_masks || run.skin.changes().palette || changed == Changed::All;
        self.stale.clear();
        let all = cooked.bases.run(run, &cooked.corners, &mut self.stale) || all;
        let corners = &cooked.corners;
        cooked.layers.run(run, corners, before, &mut self.stale);
        let is_skinned = keeps_skin(run);
        let result = if all || is_skinned {
            if !all {
                self.spare.shape.clone_from(&self.shape);
            }
            self.run_all(run, &cooked, before);
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
        self.cooked = Some(cooked);
        result
    }

    fn shape(&self) -> &[Vec3] {
        &self.shape
    }

    fn scalars(&self, known: &[(u32, f64)]) -> Option<Vec<f32>> {
        let cooked = self.cooked.as_ref()?;
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

    fn patches(&self) -> Option<(&Patches, &[CornerFrame])> {
        let cooked = self.cooked.as_ref()?;
        Some((&cooked.patches, &self.frames))
    }
}

impl ClusterStage {
    /// Brings what is cooked up to date. Returns whether every corner may move otherwise.
    fn cook(&mut self, run: &Run<'_>) -> bool {
        let input = run.input;
        let Some(clusters) = input.clusters else {
            self.cooked = None;
            return true;
        };
        let (layout, map) = (clusters.layout, clusters.map);
        let unit = unit(run);
        let is_new = self.key.replace(|old| Key {
            layout: Identity::of(Some(layout)),
            unit: unit.to_bits(),
            order: refill(old.order, input.cooked.order().iter().copied()),
            has_skin: input.skin.is_some(),
            adds: adds(input),
        });
        let new_bind = is_new || run.bind.changed() != Changed::Nothing;
        let mut known = self.cooked.take();
        // Morph targets leave control points bound as they are.
        let controls = known.as_mut().filter(|_| new_bind && !is_new);
        let controls = controls.map(|known| std::mem::take(&mut known.layers).into_controls());
        let known = known.filter(|_| !new_bind);
        let new_map = !self.map.is(Some(map));
        let before = std::mem::replace(&mut self.map, Identity::of(Some(map)));
        let options = map.settings().options();
        let Some(mut cooked) = known else {
            let corners = Corners::new(layout, map, run.bind.shape(), unit);
            let patches = Patches::new(&corners.surface, layout.layout(), options);
            let has_skin = input.skin.is_some();
            let anchors = || AnchorFits::new(&corners.surface, layout.layout());
            self.cooked = Some(Cooked {
                bases: Bases::new(run, &corners, map),
                layers: Layers::new(
                    run,
                    &corners,
                    patches.net(),
                    map,
                    controls.unwrap_or_default(),
                ),
                anchors: (!has_skin).then(anchors),
                excluded: excluded(&patches, &corners),
                patches,
                corners,
            });
            return true;
        };
        let mut all = false;
        if !new_map && !cooked.layers.fit(run) {
            cooked.renew_layers(run, map);
            all = true;
        }
        if new_map {
            all = before
                .value()
                .is_none_or(|before| before.settings() != map.settings());
            if cooked.patches.options() != options {
                let surface = &cooked.corners.surface;
                cooked.patches = Patches::new(surface, layout.layout(), options);
            }
            let points = layout.groups(map);
            let bases = |points: &[(u32, Option<u16>)], of: &ClusterMap| {
                let base = |&(point, group): &(u32, Option<u16>)| {
                    let group = group.and_then(|g| of.groups().get(usize::from(g)));
                    (point, group.map_or(Base::Stack, |group| group.base))
                };
                points.iter().map(base).collect::<Vec<_>>()
            };
            let same = before
                .value()
                .is_some_and(|before| bases(&cooked.corners.points, before) == bases(&points, map));
            cooked.corners.points = points;
            cooked.layers.take_controls(&cooked.corners, map);
            let layered = |of: &ClusterMap| of.muscles().next().is_some() || of.has_driven();
            let had = before.value().is_none_or(|before| layered(before));
            // Their clusters may have changed groups.
            if layered(map) || cooked.layers.act_besides_controls() || had {
                cooked.renew_layers(run, map);
                all = true;
            }
            if !same {
                cooked.bases = Bases::new(run, &cooked.corners, map);
                all = true;
            }
        }
        self.cooked = Some(cooked);
        all
    }

    /// Every corner and every point.
    fn run_all(&mut self, run: &Run<'_>, cooked: &Cooked, before: &[Vec3]) {
        let n = cooked.corners.len();
        self.skinned.resize(n, CornerFrame::at(DVec3::ZERO));
        self.frames.resize(n, CornerFrame::at(DVec3::ZERO));
        self.added.resize(n, DVec3::ZERO);
        let tilts = tilts(run, cooked);
        let corners = self.skinned.par_chunks_mut(CORNERS_PER_TASK);
        let corners = corners.zip(self.added.par_chunks_mut(CORNERS_PER_TASK));
        let corners = corners.zip(self.frames.par_chunks_mut(CORNERS_PER_TASK));
        corners
            .enumerate()
            .for_each(|(chunk, ((skinned, added), frames))| {
                let first = (chunk * CORNERS_PER_TASK) as u32;
                let corners = skinned.iter_mut().zip(added).zip(frames);
                for (corner, ((skinned, added), frame)) in (first..).zip(corners) {
                    (*skinned, *added) = skin(run, cooked, before, corner);
                    if !tilts {
                        let of = (&*skinned, *added, DMat3::ZERO);
                        *frame = framed(cooked, before, corner, of);
                    }
                }
            });
        // What tilts a corner is added to those around it, which all have to be known.
        if tilts {
            let mut frames = std::mem::take(&mut self.frames);
            let chunks = frames.par_chunks_mut(CORNERS_PER_TASK).enumerate();
            chunks.for_each(|(chunk, frames)| {
                let first = (chunk * CORNERS_PER_TASK) as u32;
                for (corner, frame) in (first..).zip(frames) {
                    *frame = self.frame(run, cooked, before, corner);
                }
            });
            self.frames = frames;
        }
        self.take_positions(run, cooked);
        if keeps_skin(run) {
            self.shape.clear();
            self.shape.extend_from_slice(before);
        } else {
            // The patches write all others.
            self.shape.resize(before.len(), Vec3::ZERO);
            for &point in &cooked.excluded {
                self.shape[point as usize] = before[point as usize];
            }
        }
        for corner in 0..n as u32 {
            self.place(run, cooked, before, corner);
        }
        if keeps_skin(run) {
            self.displace_free(run, cooked, before);
        } else {
            cooked
                .patches
                .evaluate(&self.frames, &mut self.work, &mut self.shape);
        }
    }

    /// Adds to the free points, which keep their skin, what is added to the corners: `v' = F(v) + R d(u)`.
    fn displace_free(&mut self, run: &Run<'_>, cooked: &Cooked, before: &[Vec3]) {
        let corners = self.frames.iter().zip(&cooked.corners.points);
        let d = corners
            .zip(&self.skinned)
            .map(|((frame, (point, _)), skinned)| {
                let added = frame.position - before[*point as usize].as_dvec3();
                skinned.rotation.conjugate() * added
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

    /// What the changed points before this stage, and the stale corners, move; ascending.
    fn run_some(
        &mut self,
        run: &Run<'_>,
        cooked: &Cooked,
        before: &[Vec3],
        changed: &[u32],
    ) -> Vec<u32> {
        let surface = &cooked.corners.surface;
        let layout = run.input.clusters.map(|clusters| clusters.layout.layout());
        let is_free = |point: &&u32| cooked.patches.is_free(**point);
        let own: Vec<u32> = changed.iter().filter(|p| !is_free(p)).copied().collect();
        for &point in &own {
            let vertex = surface.vertex_of_point(point);
            let corner = layout.and_then(|layout| layout.corner_of_vertex(vertex));
            self.stale.extend(corner);
        }
        self.mark(run, cooked);
        let stale = std::mem::take(&mut self.stale);
        let mut around = stale.clone();
        for &corner in &stale {
            let added = self.added[corner as usize];
            let i = corner as usize;
            (self.skinned[i], self.added[i]) = skin(run, cooked, before, corner);
            if self.added[i] != added {
                around.extend_from_slice(cooked.patches.net().rings.neighbours(corner));
            }
        }
        around.sort_unstable();
        around.dedup();
        let others = self.reframe(run, cooked, before, &around);
        // What may move, and where it was.
        let mut moved: Vec<(u32, Vec3)> = Vec::new();
        {
            let mut add = |point: u32| moved.push((point, self.shape[point as usize]));
            for &point in &own {
                add(point);
            }
            for &corner in &around {
                let vertex = cooked.patches.net().corners[corner as usize];
                for &point in surface.points_of_vertex(vertex) {
                    add(point);
                }
            }
            let points = others.iter();
            let points = points.flat_map(|&c| cooked.patches.points_of_corner(c));
            points.for_each(add);
        }
        moved.sort_unstable_by_key(|entry| entry.0);
        moved.dedup_by_key(|entry| entry.0);
        for point in own {
            self.shape[point as usize] = before[point as usize];
        }
        for &corner in &around {
            self.place(run, cooked, before, corner);
        }
        let (frames, work) = (&self.frames, &mut self.work);
        cooked
            .patches
            .evaluate_some(frames, &others, work, &mut self.shape);
        self.stale = stale;
        let is_moved = |(point, at): &(u32, Vec3)| !same_bits(*at, self.shape[*point as usize]);
        moved
            .into_iter()
            .filter(is_moved)
            .map(|entry| entry.0)
            .collect()
    }

    /// Brings the frames of some corners up to date; the corners whose frames are others now, ascending.
    fn reframe(
        &mut self,
        run: &Run<'_>,
        cooked: &Cooked,
        before: &[Vec3],
        around: &[u32],
    ) -> Vec<u32> {
        if takes_positions(run, cooked) {
            return self.reframe_by_positions(run, cooked, before, around);
        }
        let mut others = Vec::new();
        for &corner in around {
            let frame = self.frame(run, cooked, before, corner);
            if self.frames[corner as usize] != frame {
                self.frames[corner as usize] = frame;
                others.push(corner);
            }
        }
        others
    }

    /// As [`ClusterStage::reframe`], where frames follow from positions alone: those of the corners that moved and around them.
    fn reframe_by_positions(
        &mut self,
        run: &Run<'_>,
        cooked: &Cooked,
        before: &[Vec3],
        around: &[u32],
    ) -> Vec<u32> {
        let net = cooked.patches.net();
        let mut positions = std::mem::take(&mut self.spare.vectors);
        positions.clone_from(&self.positions);
        let mut others = Vec::new();
        for &corner in around {
            let frame = self.frame(run, cooked, before, corner);
            positions[corner as usize] = frame.position;
            if self.frames[corner as usize].mirrored != frame.mirrored {
                self.frames[corner as usize].mirrored = frame.mirrored;
                others.push(corner);
            }
        }
        if let Some(anchors) = cooked.anchors.as_ref().filter(|_| cooked.layers.act()) {
            anchors.place(&mut positions, |c| self.frames[c as usize].mirrored);
        }
        let pairs = (0u32..).zip(positions.iter().zip(&self.positions));
        for (corner, _) in pairs.filter(|(_, (a, b))| a != b) {
            others.push(corner);
            others.extend_from_slice(net.rings.neighbours(corner));
        }
        others.sort_unstable();
        others.dedup();
        others.retain(|&corner| net.refit_one(&positions, corner, &mut self.frames));
        self.spare.vectors = std::mem::replace(&mut self.positions, positions);
        others
    }

    /// Adds the corners whose rotation follows changed influences to the stale ones; sorts them.
    fn mark(&mut self, run: &Run<'_>, cooked: &Cooked) {
        let chunks = &run.skin.changes().chunks;
        if !chunks.is_empty() {
            let points = (0u32..).zip(&cooked.corners.points);
            let reads = points.filter(|(_, (point, _))| {
                let chunk = *point as usize / crate::skinning::CHUNK;
                chunks.binary_search(&chunk).is_ok()
            });
            self.stale.extend(reads.map(|(corner, _)| corner));
        }
        self.stale.sort_unstable();
        self.stale.dedup();
    }

    /// The frame of a corner in which its displacement and those around it tilt it.
    fn frame(&self, run: &Run<'_>, cooked: &Cooked, before: &[Vec3], corner: u32) -> CornerFrame {
        let i = corner as usize;
        let gradient = if tilts(run, cooked) {
            cooked.patches.net().rings.gradient(corner, &self.added)
        } else {
            DMat3::ZERO
        };
        let of = (&self.skinned[i], self.added[i], gradient);
        framed(cooked, before, corner, of)
    }

    /// Replaces all frames by those that follow from the positions alone (mode B), where [`takes_positions`]. Without a skin
    /// anchors follow the clusters near them.
    fn take_positions(&mut self, run: &Run<'_>, cooked: &Cooked) {
        if takes_positions(run, cooked) {
            let positions = &mut self.positions;
            positions.clear();
            positions.extend(self.frames.iter().map(|frame| frame.position));
            if let Some(anchors) = cooked.anchors.as_ref().filter(|_| cooked.layers.act()) {
                anchors.place(positions, |c| self.frames[c as usize].mirrored);
            }
            cooked.patches.net().refit(positions, &mut self.frames);
        }
    }

    /// Writes the points of a corner. Another cluster at its place that follows the stack keeps its own position.
    fn place(&mut self, run: &Run<'_>, cooked: &Cooked, before: &[Vec3], corner: u32) {
        let i = corner as usize;
        let position = self.frames[i].position.as_vec3();
        let own = cooked.corners.points[i].0;
        let vertex = cooked.patches.net().corners[i];
        let is_still = !cooked.layers.moves(corner);
        let keeps = cooked.bases.of(corner) == Base::Stack && is_still;
        let map = run.input.clusters.map(|clusters| clusters.map);
        for &point in cooked.corners.surface.points_of_vertex(vertex) {
            let is_cluster = || map.is_some_and(|map| map.group_of(point).is_some());
            let keeps_own = point != own && keeps && is_cluster();
            self.shape[point as usize] = if keeps_own {
                before[point as usize]
            } else {
                position
            };
        }
    }
}

/// Whether the frames of the corners follow from their positions alone: where that is chosen, and where layers move clusters
/// without a skin, which has no tangents.
fn takes_positions(run: &Run<'_>, cooked: &Cooked) -> bool {
    let settings = run.input.clusters.map(|clusters| clusters.map.settings());
    settings.is_some_and(|settings| settings.positions_only)
        || run.input.skin.is_none() && cooked.layers.act()
}

/// A corner as its base moves it, and what later stages and layers add to it.
fn skin(run: &Run<'_>, cooked: &Cooked, before: &[Vec3], corner: u32) -> (CornerFrame, DVec3) {
    let i = corner as usize;
    let place = before[cooked.corners.points[i].0 as usize].as_dvec3();
    let plane = &cooked.patches.net().planes[i];
    let bases = &cooked.bases;
    let frame = bases.frame(run, &cooked.corners, plane, place, corner);
    let follows = bases.of(corner) == Base::Stack && run.input.skin.is_some();
    let later = if follows && adds(run.input) {
        place - frame.position
    } else {
        DVec3::ZERO
    };
    (frame, later + layered(cooked, corner, &frame))
}

/// Whether displacements tilt the corners around them.
fn tilts(run: &Run<'_>, cooked: &Cooked) -> bool {
    let settings = run.input.clusters.map(|clusters| *clusters.map.settings());
    let couples = settings.is_some_and(|settings| settings.couples_normals);
    couples && (adds(run.input) || cooked.layers.act())
}

/// The frame of a corner: as its base moves it, with what is added to it and the gradient of that.
fn framed(
    cooked: &Cooked,
    before: &[Vec3],
    corner: u32,
    (skinned, added, gradient): (&CornerFrame, DVec3, DMat3),
) -> CornerFrame {
    let i = corner as usize;
    let plane = &cooked.patches.net().planes[i];
    let mut frame = skinned.displaced(plane, added, gradient);
    if cooked.bases.of(corner) == Base::Stack {
        // To the bit where the stages before have it.
        let place = before[cooked.corners.points[i].0 as usize].as_dvec3();
        frame.position = place + layered(cooked, corner, skinned);
    }
    frame
}

/// What the layers add to a corner, world, metres. `skinned`: the corner as its base moves it.
fn layered(cooked: &Cooked, corner: u32, skinned: &CornerFrame) -> DVec3 {
    let plane = &cooked.patches.net().planes[corner as usize];
    cooked.layers.displacement(corner, skinned, plane)
}

/// The points that neither are at corners nor follow patches, ascending.
fn excluded(patches: &Patches, corners: &Corners) -> Vec<u32> {
    let surface = &corners.surface;
    let mut is_corner = vec![false; surface.n_points()];
    for &vertex in &patches.net().corners {
        for &point in surface.points_of_vertex(vertex) {
            is_corner[point as usize] = true;
        }
    }
    let points = (0u32..).zip(is_corner);
    let points = points.filter(|(point, is_corner)| !is_corner && !patches.is_free(*point));
    points.map(|(point, _)| point).collect()
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

/// Whether stages 6 and 7 move points after the skin.
fn adds(input: &DeformInput<'_>) -> bool {
    input.stack.smooth.acts() || input.correctives.is_some_and(|c| c.acts())
}

/// Metres of the world in one unit of the mesh.
fn unit(run: &Run<'_>) -> f64 {
    if run.input.skin.is_some() {
        return run.skin.palette().unit_scale();
    }
    let rest = run.input.rest_world.get(run.input.node.get());
    let unit = rest.map_or(1.0, |m| m.matrix3.determinant().abs().cbrt());
    if unit > 0.0 && unit.is_finite() {
        unit
    } else {
        1.0
    }
}
