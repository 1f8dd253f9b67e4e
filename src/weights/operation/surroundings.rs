//! Weights averaged with those of the surroundings: shared by smoothing and hammering.

use super::Subject;
use super::each_point::each_of;
use super::settle::{RowResult, Rules, Sum, drop_smallest};
use super::{OperationError, Outcome};
use crate::mesh::{PointSet, Rings};
use crate::skinning::{CHUNK, RowRef, Rows};
use crate::task::{Cancelled, Task};
use rayon::prelude::*;
use std::collections::HashMap;

/// Smallest weight of a new influence.
const MIN_NEW_WEIGHT: f64 = 1e-6;

/// Smallest change: a row that would change by less keeps every bit.
const MIN_CHANGE: f64 = 1e-7;

/// Maximum number of influences of a row during the iterations.
const WIDEST: usize = 32;

/// Where more points than this share a position, seams are not searched.
const MAX_COINCIDENT: usize = 64;

/// Index of a point that does not change.
const OUTSIDE: u32 = u32::MAX;

/// The rows of some points during the iterations, and their neighbours.
pub(super) struct Surroundings<'a> {
    subject: &'a Subject<'a>,
    rings: &'a Rings,
    /// Ascending.
    points: Vec<u32>,
    /// n_points: the index of a point in `points`.
    slots: Vec<u32>,
    /// Rows of `points`, in chunks.
    rows: Vec<Rows>,
    /// Rows that replace those of some points until they are gathered.
    loose: Rows,
    /// n_points of `points`, or empty: the loose row of each.
    loose_at: Vec<u32>,
    /// The neighbours of points that share position and row with others that no seam joins: they change alike.
    shared: HashMap<u32, Vec<u32>>,
}

/// The sums of one thread.
struct Scratch {
    /// n_skin_joints.
    sums: Vec<f64>,
    touched: Vec<u16>,
    row: Vec<(u16, f32)>,
}

impl<'a> Surroundings<'a> {
    /// The present rows of `points`, ascending.
    pub(super) fn new(
        subject: &'a Subject<'a>,
        points: Vec<u32>,
        task: &Task,
    ) -> Result<Self, Cancelled> {
        let rings = subject.mesh.rings();
        task.check()?;
        let mut slots = vec![OUTSIDE; subject.n_points()];
        for (slot, &point) in points.iter().enumerate() {
            slots[point as usize] = slot as u32;
        }
        let rows = points
            .par_chunks(CHUNK)
            .map(|points| {
                let mut rows = Rows::with_capacity(points.len());
                for &p in points {
                    rows.push(subject.row(p));
                }
                rows
            })
            .collect();
        Ok(Self {
            subject,
            rings,
            shared: shared_rings(subject, rings),
            points,
            slots,
            rows,
            loose: Rows::default(),
            loose_at: Vec::new(),
        })
    }

    /// The points that change, ascending.
    pub(super) fn points(&self) -> &[u32] {
        &self.points
    }

    /// Whether a point changes.
    pub(super) fn is_inside(&self, point: u32) -> bool {
        self.slots[point as usize] != OUTSIDE
    }

    /// The present row of a point.
    pub(super) fn row(&self, point: u32) -> RowRef<'_> {
        match self.slots[point as usize] {
            OUTSIDE => self.subject.row(point),
            slot => match self.loose_at.get(slot as usize) {
                Some(&at) if at != OUTSIDE => self.loose.row(at as usize),
                _ => self.rows[slot as usize / CHUNK].row(slot as usize % CHUNK),
            },
        }
    }

    /// The index of a point among those that change.
    pub(super) fn slot(&self, point: u32) -> Option<usize> {
        let slot = self.slots[point as usize];
        (slot != OUTSIDE).then_some(slot as usize)
    }

    /// The points at the position of a point, itself included; where many share it only those that a seam joins.
    pub(super) fn at_place(&self, point: u32) -> Vec<u32> {
        let topology = self.subject.mesh.topology();
        let mut all = vec![point];
        let mut at = point;
        while let Some(next) = topology.next_coincident(at).filter(|&q| q != point) {
            if all.len() > MAX_COINCIDENT {
                all.truncate(1);
                break;
            }
            all.push(next);
            at = next;
        }
        all.extend(self.place(&point));
        all.sort_unstable();
        all.dedup();
        all
    }

    /// The neighbours of a point; of a seam position one of its points.
    pub(super) fn around(&self, point: u32) -> &[u32] {
        let shared = if self.shared.is_empty() {
            None
        } else {
            self.shared.get(&point)
        };
        shared.map_or_else(|| self.rings.neighbours(point), Vec::as_slice)
    }

    /// The points of a neighbouring position.
    pub(super) fn place<'b>(&'b self, point: &'b u32) -> &'b [u32] {
        self.rings
            .seam(*point)
            .unwrap_or(std::slice::from_ref(point))
    }

    /// Adds the weights of the joints in scope around a point, weighted by inverse distance; returns the sum of
    /// factors.
    fn add_up(
        &self,
        point: u32,
        counts: &(impl Fn(u32) -> bool + Sync),
        scratch: &mut Scratch,
    ) -> f64 {
        let positions = &self.subject.mesh.positions;
        let here = positions[point as usize];
        let ring = self.around(point);
        let distance = |q: &u32| f64::from(positions[*q as usize].distance(here));
        let mean = ring.iter().map(distance).sum::<f64>() / ring.len().max(1) as f64;
        // A coincident neighbour gets a large factor, but not all.
        let nearest = if mean > 0.0 { 0.1 * mean } else { 1.0 };
        let mut total = 0.0;
        for q in ring {
            let members = self.place(q);
            let share = 1.0 / distance(q).max(nearest) / members.len() as f64;
            for &member in members.iter().filter(|&&m| counts(m)) {
                total += share;
                for (joint, weight) in self.row(member).iter() {
                    if !self.subject.acts_on(joint) {
                        continue;
                    }
                    let sum = &mut scratch.sums[usize::from(joint)];
                    if *sum == 0.0 && weight > 0.0 {
                        scratch.touched.push(joint);
                    }
                    *sum += share * f64::from(weight);
                }
            }
        }
        total
    }

    /// Writes the row of a point, moved by `strength` towards the mean around it, to the scratch; `false` if it stays.
    fn blend(
        &self,
        rules: &Rules<'_>,
        point: u32,
        strength: f64,
        counts: &(impl Fn(u32) -> bool + Sync),
        scratch: &mut Scratch,
    ) -> bool {
        let total = self.add_up(point, counts, scratch);
        let own = self.row(point);
        let row = &mut scratch.row;
        row.clear();
        let mut moved = 0.0f64;
        if total > 0.0 {
            for (joint, weight) in own.iter() {
                if !self.subject.acts_on(joint) {
                    row.push((joint, weight));
                    continue;
                }
                let mean = std::mem::take(&mut scratch.sums[usize::from(joint)]) / total;
                let step = strength * (mean - f64::from(weight));
                moved = moved.max(step.abs());
                row.push((joint, (f64::from(weight) + step) as f32));
            }
            // Sorted by joint: both sides of a seam must sum in the same order.
            scratch.touched.sort_unstable();
            for &joint in &scratch.touched {
                let mean = std::mem::take(&mut scratch.sums[usize::from(joint)]) / total;
                let step = strength * mean;
                if step > MIN_NEW_WEIGHT {
                    moved = moved.max(step);
                    row.push((joint, step as f32));
                }
            }
        }
        for joint in scratch.touched.drain(..) {
            scratch.sums[usize::from(joint)] = 0.0;
        }
        if moved <= MIN_CHANGE {
            return false;
        }
        let acts_on = |joint: u16| self.subject.acts_on(joint);
        row.retain(|&(joint, weight)| f64::from(weight) > MIN_NEW_WEIGHT || !acts_on(joint));
        while row.iter().filter(|e| acts_on(e.0)).count() > WIDEST {
            let asked = row.iter().enumerate().filter(|(_, e)| acts_on(e.0));
            let smallest = asked.min_by(|(_, a), (_, b)| a.1.total_cmp(&b.1));
            match smallest.map(|(i, _)| i) {
                Some(i) => row.remove(i),
                None => break,
            };
        }
        let target = if self.subject.keep_sum {
            1.0
        } else {
            let before = self.subject.row(point);
            before.weights.iter().map(|&w| f64::from(w)).sum()
        };
        if self.subject.acts_on.is_some() && total_of(row, |joint| !acts_on(joint)) <= 0.0 {
            self.add_others(point, counts, row);
        }
        rules
            .fit(row, target, &|joint: u16| rules.tier(joint))
            .is_ok()
    }

    /// Adds the joints out of scope that the neighbours of a point have, in their proportion, for a row that has none
    /// to take what a joint in scope gives away.
    fn add_others(
        &self,
        point: u32,
        counts: &(impl Fn(u32) -> bool + Sync),
        row: &mut Vec<(u16, f32)>,
    ) {
        let start = row.len();
        let members = self.around(point).iter().flat_map(|q| self.place(q));
        for &member in members.filter(|&&m| counts(m)) {
            for (joint, weight) in self.row(member).iter() {
                if self.subject.is_locked(joint) || self.subject.acts_on(joint) {
                    continue;
                }
                match row[start..].iter_mut().find(|(j, _)| *j == joint) {
                    Some((_, sum)) => *sum += weight,
                    None => row.push((joint, weight)),
                }
            }
        }
        // Sorted by joint: both sides of a seam must sum in the same order.
        row[start..].sort_unstable_by_key(|&(joint, _)| joint);
        let may_go = |joint: u16| !self.subject.is_locked(joint) && !self.subject.acts_on(joint);
        drop_smallest(row, WIDEST + start, may_go);
    }

    fn scratch(&self) -> Scratch {
        Scratch {
            sums: vec![0.0; self.subject.joints.len()],
            touched: Vec::new(),
            row: Vec::new(),
        }
    }
    /// Moves each point that is `moving` (by its index) by `strength` towards the mean of its neighbours that `count`, all
    /// simultaneously.
    pub(super) fn pass(
        &mut self,
        strength: f32,
        moving: impl Fn(usize) -> bool + Sync,
        counts: impl Fn(u32) -> bool + Sync,
        task: &Task,
    ) -> Result<(), Cancelled> {
        let rules = Rules::new(self.subject);
        let this = &*self;
        let next = this
            .points
            .par_chunks(CHUNK)
            .enumerate()
            .map_init(
                || this.scratch(),
                |scratch, (chunk, points)| {
                    task.check()?;
                    let mut rows = Rows::with_capacity(points.len());
                    for (i, &point) in points.iter().enumerate() {
                        let moves = moving(chunk * CHUNK + i)
                            && this.blend(&rules, point, f64::from(strength), &counts, scratch);
                        if moves {
                            rows.push_pairs(scratch.row.iter().copied());
                        } else {
                            rows.push(this.row(point));
                        }
                    }
                    Ok(rows)
                },
            )
            .collect::<Result<Vec<Rows>, Cancelled>>()?;
        self.rows = next;
        Ok(())
    }
    /// Moves the points of some slots to the mean of their neighbours that `count`, simultaneously; the cost grows with the
    /// number of these points. Each may move once before [`Surroundings::gather`].
    pub(super) fn move_some(
        &mut self,
        slots: &[usize],
        counts: impl Fn(u32) -> bool + Sync,
        task: &Task,
    ) -> Result<(), Cancelled> {
        let rules = Rules::new(self.subject);
        let this = &*self;
        let moved = slots
            .par_chunks(CHUNK)
            .map_init(
                || this.scratch(),
                |scratch, slots| {
                    task.check()?;
                    let mut rows = Rows::with_capacity(slots.len());
                    for &slot in slots {
                        let point = this.points[slot];
                        if this.blend(&rules, point, 1.0, &counts, scratch) {
                            rows.push_pairs(scratch.row.iter().copied());
                        } else {
                            rows.push(this.row(point));
                        }
                    }
                    Ok(rows)
                },
            )
            .collect::<Result<Vec<Rows>, Cancelled>>()?;
        if self.loose_at.is_empty() {
            self.loose_at = vec![OUTSIDE; self.points.len()];
        }
        let rows = moved.iter().flat_map(Rows::iter);
        for (&slot, row) in slots.iter().zip(rows) {
            self.loose_at[slot] = self.loose.len() as u32;
            self.loose.push(row);
        }
        Ok(())
    }

    /// Merges the rows of the points that moved.
    pub(super) fn gather(&mut self) {
        if self.loose_at.is_empty() {
            return;
        }
        let this = &*self;
        let gathered = this.points.par_chunks(CHUNK).map(|points| {
            let mut rows = Rows::with_capacity(points.len());
            for &p in points {
                rows.push(this.row(p));
            }
            rows
        });
        let gathered: Vec<Rows> = gathered.collect();
        self.rows = gathered;
        self.loose = Rows::default();
        self.loose_at = Vec::new();
    }
    /// The difference of each of `points` from the mean around it: the sum of the absolute differences of the weights in
    /// scope, 0 - 2 for sums of 1.
    pub(super) fn differences(&self, task: &Task) -> Result<Vec<f32>, Cancelled> {
        let of_chunk = |scratch: &mut Scratch, points: &[u32]| {
            task.check()?;
            let of = |point: &u32| {
                let total = self.add_up(*point, &|_| true, scratch);
                let mut difference = 0.0;
                if total > 0.0 {
                    for (joint, weight) in self.row(*point).iter() {
                        if self.subject.acts_on(joint) {
                            let sum = std::mem::take(&mut scratch.sums[usize::from(joint)]);
                            difference += (sum / total - f64::from(weight)).abs();
                        }
                    }
                    scratch.touched.sort_unstable();
                    for &joint in &scratch.touched {
                        difference += std::mem::take(&mut scratch.sums[usize::from(joint)]) / total;
                    }
                }
                for joint in scratch.touched.drain(..) {
                    scratch.sums[usize::from(joint)] = 0.0;
                }
                difference as f32
            };
            Ok(points.iter().map(of).collect())
        };
        let parts = self
            .points
            .par_chunks(CHUNK)
            .map_init(
                || self.scratch(),
                |scratch, points| of_chunk(scratch, points),
            )
            .collect::<Result<Vec<Vec<f32>>, Cancelled>>()?;
        Ok(parts.concat())
    }

    /// The outcome: rows of valid length and sum. `left` gives the reason for points that stay.
    pub(super) fn outcome(
        self,
        label: &str,
        left: impl Fn(u32) -> Option<&'static str> + Sync,
        notes: Vec<String>,
        task: &Task,
    ) -> Result<Outcome, OperationError> {
        let subject = self.subject;
        let rules = Rules::new(subject);
        let this = &self;
        let tally = each_of(
            &rules,
            task,
            label,
            |point| subject.includes(point),
            |point, before, pen| {
                if let Some(why) = left(point) {
                    return RowResult::Left(why);
                }
                if !this.is_inside(point) {
                    return RowResult::Same;
                }
                pen.row.clear();
                pen.row.extend(this.row(point).iter());
                rules.settle(before, &mut pen.row, Sum::Kept, |joint| rules.tier(joint))
            },
        )?;
        Ok(tally.outcome(notes))
    }
}

/// The sum of the weights of the joints that are in.
fn total_of(row: &[(u16, f32)], is_in: impl Fn(u16) -> bool) -> f64 {
    let weights = row.iter().filter(|(joint, _)| is_in(*joint));
    weights.map(|&(_, w)| f64::from(w)).sum()
}

/// For points that share their position and their row with points across a seam: the neighbours of all of them.
fn shared_rings(subject: &Subject<'_>, rings: &Rings) -> HashMap<u32, Vec<u32>> {
    let topology = subject.mesh.topology();
    let mut points: Vec<u32> = topology.coincident_pairs().map(|(p, _)| p).collect();
    points.sort_unstable();
    let mut done = PointSet::default();
    let mut shared = HashMap::new();
    for &point in &points {
        if !done.insert(point) {
            continue;
        }
        let mut members = vec![point];
        let mut at = point;
        while let Some(next) = topology.next_coincident(at).filter(|&q| q != point) {
            done.insert(next);
            members.push(next);
            at = next;
        }
        if members.len() > MAX_COINCIDENT {
            continue;
        }
        members.sort_unstable();
        while let Some(&first) = members.first() {
            let row = subject.row(first);
            let is_alike = |&&q: &&u32| {
                let other: Vec<(u16, f32)> = subject.row(q).iter().collect();
                super::settle::is_same(row, &other)
            };
            let alike: Vec<u32> = members.iter().filter(is_alike).copied().collect();
            members.retain(|q| !alike.contains(q));
            let seam = rings.seam(first).unwrap_or(&[]);
            if alike.iter().all(|q| *q == first || seam.contains(q)) {
                continue;
            }
            let mut ring: Vec<u32> = alike
                .iter()
                .flat_map(|&q| rings.neighbours(q))
                .copied()
                .collect();
            ring.sort_unstable();
            ring.dedup();
            shared.extend(alike.iter().map(|&q| (q, ring.clone())));
        }
    }
    shared
}
