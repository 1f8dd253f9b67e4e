//! Runs after which only some corners have moved.

use super::ClusterStage;
use super::cooked::Cooked;
use super::posed::{Mode, Posed, takes_positions};
use crate::cluster::CornerFrame;
use crate::deform::stage::run::Run;
use crate::math::same_bits;
use glam::Vec3;

impl ClusterStage {
    /// What the changed points before this stage, and the stale and shifted corners, move; ascending.
    pub(super) fn run_some(
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
        let renewed = self.renew_base(run, cooked, before);
        let (around, others) = if self.mode == Mode::Based {
            (renewed.clone(), renewed)
        } else {
            let around = self.displace_some(run, cooked, before);
            let others = self.reframe(run, cooked, before, &around);
            (around, others)
        };
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
        let (work, shape) = (&mut self.work, &mut self.shape);
        if self.mode == Mode::Framed {
            let frames = &self.frames;
            cooked.patches.evaluate_some(frames, &others, work, shape);
        } else {
            let rows = &self.rows;
            cooked
                .patches
                .evaluate_some_rows(rows, &others, work, shape);
        }
        let is_moved = |(point, at): &(u32, Vec3)| !same_bits(*at, self.shape[*point as usize]);
        moved
            .into_iter()
            .filter(is_moved)
            .map(|entry| entry.0)
            .collect()
    }

    /// Brings the stale corners to where their bases move them; those whose rows are others now, ascending.
    fn renew_base(&mut self, run: &Run<'_>, cooked: &Cooked, before: &[Vec3]) -> Vec<u32> {
        let base = match self.mode {
            Mode::Based => &mut self.rows,
            Mode::Displaced | Mode::Framed => &mut self.base,
        };
        let mut renewed = Vec::new();
        let on = (&cooked.corners, &cooked.patches);
        let bases = &cooked.bases;
        bases.rows_of(run, on, before, &self.stale, &mut |corner, row| {
            let known = &mut base[corner as usize];
            if !known.same_bits(row) {
                *known = *row;
                renewed.push(corner);
            }
        });
        renewed.sort_unstable();
        renewed
    }

    /// Brings what is added to the stale and shifted corners up to date; the corners whose frames may follow, ascending.
    fn displace_some(&mut self, run: &Run<'_>, cooked: &Cooked, before: &[Vec3]) -> Vec<u32> {
        let at = Posed {
            run,
            cooked,
            before,
            base: &self.base,
        };
        let mut around = self.stale.clone();
        around.extend_from_slice(&self.shifted);
        around.sort_unstable();
        around.dedup();
        for i in 0..around.len() {
            let corner = around[i];
            let added = at.added(corner);
            let known = std::mem::replace(&mut self.added[corner as usize], added);
            if known != added {
                around.extend_from_slice(cooked.patches.net().rings.neighbours(corner));
            }
        }
        around.sort_unstable();
        around.dedup();
        around
    }

    /// Brings the frames of some corners up to date; the corners whose frames are others now, ascending.
    fn reframe(
        &mut self,
        run: &Run<'_>,
        cooked: &Cooked,
        before: &[Vec3],
        around: &[u32],
    ) -> Vec<u32> {
        let at = Posed {
            run,
            cooked,
            before,
            base: &self.base,
        };
        if takes_positions(run, cooked) {
            let frames: Vec<CornerFrame> = (around.iter())
                .map(|&corner| at.frame(corner, &self.added))
                .collect();
            return self.reframe_by_positions(cooked, around, &frames);
        }
        let mut others = Vec::new();
        for &corner in around {
            let i = corner as usize;
            if self.mode == Mode::Framed {
                let frame = at.frame(corner, &self.added);
                if self.frames[i] != frame {
                    self.frames[i] = frame;
                    others.push(corner);
                }
            } else {
                let row = at.row(corner, &self.added);
                if !self.rows[i].same_bits(&row) {
                    self.rows[i] = row;
                    others.push(corner);
                }
            }
        }
        others
    }

    /// As [`ClusterStage::reframe`], where frames follow from positions alone: those of the corners that moved and around them.
    /// `found`: the frames that the corners `around` have besides.
    fn reframe_by_positions(
        &mut self,
        cooked: &Cooked,
        around: &[u32],
        found: &[CornerFrame],
    ) -> Vec<u32> {
        let net = cooked.patches.net();
        let mut positions = std::mem::take(&mut self.spare.vectors);
        positions.clone_from(&self.positions);
        let mut others = Vec::new();
        for (&corner, frame) in around.iter().zip(found) {
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
}
