//! The fit of a body to measurements: height, lengths, trunk, girths, ground (METHODS-twin 5.2).

use super::body::{Body, Shape, extent};
use super::bones::{BoneLine, leads_to_bones};
use super::error::TwinError;
use super::factor::BoneFactor;
use super::flipped::{flipped, smooth_flipped};
use super::measurement::{FitOptions, FlippedFaces, Kind, Measurement};
use super::plan::{FACTORS, Plan, Target, USUAL};
use super::report::{FitReport, FittedRow};
use super::section::Cut;
use super::tapes::Tape;
use crate::finding::{counted, trimmed};
use crate::math::Worse;
use crate::motion::roles::{Part, SIDES};
use crate::skeleton::JointId;
use crate::task::Task;
use glam::{DMat3, DVec3};
use rayon::prelude::*;
use std::collections::BTreeMap;

/// The height is fitted to this fraction of itself.
const HEIGHT_TOLERANCE: f64 = 1e-5;
/// Girths are fitted to this fraction of themselves.
const GIRTH_TOLERANCE: f64 = 1e-3;
/// The largest number of rounds of girths, and of steps of the height.
const MAX_ROUNDS: usize = 10;

/// A body that took measurements.
#[derive(Clone, Debug)]
pub struct Fitted {
    /// n_joints.
    pub factors: Vec<BoneFactor>,
    /// n_joints: where each joint is at rest, world space, metres.
    pub places: Vec<DVec3>,
    /// The uniform scale.
    pub scale: f64,
    /// How far the whole body was lifted, metres.
    pub lift: f64,
    /// The length of the legs / the template's.
    pub leg_ratio: f64,
    /// n_joints: whether a joint belongs to the body.
    pub(super) moves: Vec<bool>,
    /// For each mesh of the body the points that smoothing moved, ascending, and by how much, metres.
    smoothed: Vec<Vec<(u32, DVec3)>>,
    /// What was reached.
    pub report: FitReport,
    /// The girths that the rows measure, where the skin is closed.
    pub tapes: Vec<Tape>,
}

/// Fits a body to the rows of a table. An error names the row.
pub fn fit(
    body: &Body,
    rows: &[Measurement],
    options: &FitOptions,
    task: &Task,
) -> Result<Fitted, TwinError> {
    task.step("Measuring the template", 0.05)?;
    let plan = Plan::new(body, rows, options)?;
    let mut solve = Solve::new(body, &plan, options);
    task.step("Fitting the height", 0.2)?;
    solve.set_lengths();
    solve.fit_height()?;
    solve.fit_girths(task)?;
    task.step("Placing the body", 0.9)?;
    solve.finish(rows)
}

struct Solve<'a> {
    body: &'a Body,
    plan: &'a Plan,
    options: &'a FitOptions,
    scale: f64,
    factors: Vec<BoneFactor>,
    moves: Vec<bool>,
    report: FitReport,
}

impl<'a> Solve<'a> {
    fn new(body: &'a Body, plan: &'a Plan, options: &'a FitOptions) -> Self {
        let mut heights = plan.targets.iter().filter(|t| t.kind == Kind::Height);
        let scale = heights.next().map_or(1.0, |t| t.metres / t.template);
        let moves = moves(body);
        let factor = |joint: usize| {
            let line: BoneLine = plan.lines[joint];
            let mut factor = BoneFactor::uniform(if moves[joint] { scale } else { 1.0 });
            factor.axis = line.axis();
            factor.length = line.length();
            factor
        };
        Self {
            factors: (0..body.skeleton.len()).map(factor).collect(),
            report: FitReport {
                scale,
                ..FitReport::default()
            },
            body,
            plan,
            options,
            scale,
            moves,
        }
    }

    fn targets(&self, kind: Kind) -> impl Iterator<Item = &'a Target> + use<'a> {
        self.plan.targets.iter().filter(move |t| t.kind == kind)
    }

    /// Lengths are absolute: they do not scale with the height.
    fn set_lengths(&mut self) {
        for target in self.targets(Kind::Length) {
            for joint in &target.joints {
                self.factors[joint.get()].along = target.metres / target.template;
            }
        }
        let measured = self.measured(Kind::Length);
        if self.options.neighbours {
            for (joint, near) in self.neighbours(&measured) {
                let sum: f64 = near.iter().map(|j| self.factors[*j].along).sum();
                self.factors[joint].along = sum / near.len() as f64;
            }
        }
    }

    fn measured(&self, kind: Kind) -> Vec<bool> {
        let mut measured = vec![false; self.factors.len()];
        let joints = self.targets(kind).flat_map(|t| &t.joints);
        joints.for_each(|joint| measured[joint.get()] = true);
        measured
    }

    /// The bones that were not measured, with the measured ones above and below.
    fn neighbours(&self, measured: &[bool]) -> Vec<(usize, Vec<usize>)> {
        let skeleton = &self.body.skeleton;
        let bones = self.body.bones().filter(|joint| !measured[joint.get()]);
        let near = bones.map(|joint| {
            let around = skeleton.logical_parent(joint).into_iter();
            let around = around.chain(skeleton.logical_children(joint).iter().copied());
            let near = around.map(JointId::get).filter(|j| measured[*j]);
            (joint.get(), near.collect::<Vec<_>>())
        });
        near.filter(|(_, near)| !near.is_empty()).collect()
    }

    /// Scales the trunk along its bones until the body has its height: the secant method.
    fn fit_height(&mut self) -> Result<(), TwinError> {
        let Some(target) = self.targets(Kind::Height).next() else {
            return Ok(());
        };
        let tolerance = HEIGHT_TOLERANCE * target.metres;
        let mut off = self.height() - target.metres;
        if off.abs() < tolerance {
            return Ok(());
        }
        if self.plan.trunk.is_empty() {
            if self.options.fit_height {
                self.report.warnings.push(
                    "The height is not fitted: no hips, spine and head were found, or all are measured.".into(),
                );
            }
            return Ok(());
        }
        let length: f64 = self
            .plan
            .trunk
            .iter()
            .map(|j| self.plan.lines[j.get()].length())
            .sum();
        let (mut before, mut factor) = (1.0, 1.0 - off / (length * self.scale));
        for step in 1..=MAX_ROUNDS {
            if !(FACTORS[0]..=FACTORS[1]).contains(&factor) {
                return Err(TwinError::Row {
                    row: target.row,
                    place: "the height".into(),
                    what: format!(
                        "with these lengths, hips, spine and neck would be {} times the template's; a factor must be {} - {}",
                        trimmed(factor),
                        FACTORS[0],
                        FACTORS[1]
                    ),
                });
            }
            for joint in &self.plan.trunk {
                self.factors[joint.get()].along = self.scale * factor;
            }
            let now = self.height() - target.metres;
            self.report.trunk_steps = step;
            self.report.trunk = Some(factor);
            if now.abs() < tolerance {
                return Ok(());
            }
            let slope = (now - off) / (factor - before);
            if slope.is_nan() || slope.abs() <= 1e-12 {
                break;
            }
            (before, off) = (factor, now);
            factor -= now / slope;
        }
        self.report
            .warnings
            .push("The height could not be fitted.".into());
        Ok(())
    }

    /// Factors across bones, until every girth is its measurement: a fixed point, since neighbours share the skin.
    fn fit_girths(&mut self, task: &Task) -> Result<(), TwinError> {
        let mut by_bone: BTreeMap<usize, Vec<&Target>> = BTreeMap::new();
        for target in self.targets(Kind::Girth) {
            by_bone
                .entry(target.joints[0].get())
                .or_default()
                .push(target);
        }
        if by_bone.is_empty() {
            return Ok(());
        }
        let mut worst = 0.0f64;
        for (&joint, targets) in &mut by_bone {
            targets.sort_by(|a, b| a.at.total_cmp(&b.at));
            // The first guess is the factor itself: it holds where no other bone moves the skin there.
            let factors = targets.iter().map(|t| (t.at, t.metres / t.template));
            let mut across: Vec<(f64, f64)> = factors.collect();
            if across.len() > 1 && !self.options.taper {
                let sum: f64 = across.iter().map(|(_, factor)| factor).sum();
                across = vec![(0.5, sum / across.len() as f64)];
            }
            let off = across
                .iter()
                .map(|(_, factor)| (self.scale / factor - 1.0).abs());
            worst = off.fold(worst, f64::worse);
            self.factors[joint].across = across;
        }
        self.report.girth_errors.push(worst);
        let measured = self.measured(Kind::Girth);
        let near = self.options.neighbours.then(|| self.neighbours(&measured));
        let near = near.unwrap_or_default();
        for round in 1..=MAX_ROUNDS {
            for (joint, near) in &near {
                let sum: f64 = near.iter().map(|j| self.factors[*j].across_at(0.5)).sum();
                self.factors[*joint].across = vec![(0.5, sum / near.len() as f64)];
            }
            task.step("Fitting the girths", 0.3 + 0.06 * round as f32)?;
            let points = self.points();
            let places = self.places();
            let points: Vec<&[DVec3]> = points.iter().map(|p| &p[..]).collect();
            let mut ratios: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
            let mut worst = 0.0f64;
            for (joint, targets) in &by_bone {
                let line = self.line(*joint, &places);
                let found = targets.iter().map(|t| measure_girth(t, &line, &points));
                let mut own: Vec<f64> = Vec::new();
                for (target, girth) in targets.iter().zip(found) {
                    // A section that the fit opened keeps its factor.
                    own.push(girth.map_or(1.0, |girth| target.metres / girth));
                }
                let several = own.len() > 1 && !self.options.taper;
                if several {
                    let mean = own.iter().sum::<f64>() / own.len() as f64;
                    own = vec![mean];
                }
                worst = own
                    .iter()
                    .map(|ratio| (1.0 / ratio - 1.0).abs())
                    .fold(worst, f64::worse);
                ratios.insert(*joint, own);
            }
            self.report.girth_errors.push(worst);
            if worst < GIRTH_TOLERANCE || round == MAX_ROUNDS {
                break;
            }
            for (joint, ratios) in &ratios {
                let across = self.factors[*joint].across.iter_mut();
                across
                    .zip(ratios)
                    .for_each(|((_, factor), ratio)| *factor *= ratio);
            }
        }
        Ok(())
    }

    /// n_joints, without the lift.
    fn places(&self) -> Vec<DVec3> {
        let skeleton = &self.body.skeleton;
        let mut places: Vec<DVec3> = self.body.world.iter().map(|w| w.translation).collect();
        let mut order: Vec<JointId> = skeleton.live_joints().collect();
        order.sort_by_key(|joint| skeleton.logical_rank(*joint));
        for joint in order.into_iter().filter(|j| self.moves[j.get()]) {
            let rest = self.body.lines[joint.get()].head;
            places[joint.get()] = match skeleton.logical_parent(joint) {
                Some(parent) => {
                    let way = rest - self.body.lines[parent.get()].head;
                    places[parent.get()] + self.factors[parent.get()].apply(way)
                }
                None => rest * self.scale,
            };
        }
        places
    }

    /// The bone of a joint on the fitted body.
    fn line(&self, joint: usize, places: &[DVec3]) -> BoneLine {
        let rest = self.plan.lines[joint];
        let head = places[joint];
        let tail = head + self.factors[joint].apply(rest.tail - rest.head);
        BoneLine { head, tail }
    }

    /// `sum_b w_b S_b` at a point.
    fn map(&self, shape: &Shape, point: usize) -> DMat3 {
        let row = shape.row(point);
        if row.is_empty() {
            return DMat3::from_diagonal(DVec3::splat(self.scale));
        }
        let parts = row.iter().map(|&(b, w)| {
            let way = shape.points[point] - self.body.lines[b as usize].head;
            self.factors[b as usize].matrix(way) * w
        });
        parts.fold(DMat3::ZERO, |sum, part| sum + part)
    }

    /// The points of each mesh, without the lift.
    fn points(&self) -> Vec<Vec<DVec3>> {
        moved_points(self.body, &self.factors, &self.places(), self.scale)
    }

    fn height(&self) -> f64 {
        let points = self.points();
        let [low, high] = extent(points.iter().map(|p| &p[..]));
        high - low
    }

    fn finish(mut self, rows: &[Measurement]) -> Result<Fitted, TwinError> {
        let mut places = self.places();
        let mut points = self.points();
        let mut smoothed = Vec::new();
        if self.options.flipped == FlippedFaces::Smooth {
            let shapes = self.body.shapes.iter().zip(&mut points);
            let smooth = |(shape, points): (&Shape, &mut Vec<DVec3>)| {
                smooth_flipped(shape, points, |point| self.map(shape, point as usize))
            };
            smoothed = shapes.map(smooth).collect();
            self.report.smoothed = smoothed.iter().map(Vec::len).sum();
        }
        let before = self.body.extent();
        let after = extent(points.iter().map(|p| &p[..]));
        let lift = before[0] - after[0];
        for (place, _) in places
            .iter_mut()
            .zip(&self.moves)
            .filter(|(_, moves)| **moves)
        {
            place.y += lift;
        }
        points.iter_mut().flatten().for_each(|p| p.y += lift);
        self.report.lift = lift;
        self.report.height = [before[1] - before[0], after[1] - after[0]];
        let list: Vec<&[DVec3]> = points.iter().map(|p| &p[..]).collect();
        let mut fitted = Vec::new();
        for target in &self.plan.targets {
            let row = self.fitted_row(target, rows, &places, &list);
            self.warn(target, &row);
            fitted.push(row);
        }
        self.report.rows = fitted;
        let girths = self.plan.targets.iter().filter(|t| t.kind == Kind::Girth);
        let tapes = girths.filter_map(|target| {
            let joint = target.joints[0].get();
            let axes = self.body.world[joint].matrix3;
            Tape::of(target, &self.line(joint, &places), axes, &list)
        });
        let tapes: Vec<Tape> = tapes.collect();
        let turned = self.body.shapes.iter().zip(&list);
        let counts = turned.map(|(shape, now)| flipped(&shape.triangles, &shape.points, now));
        self.report.flipped = counts.map(|faces| faces.len()).sum();
        self.report.triangles = self.body.shapes.iter().map(|s| s.triangles.len()).sum();
        if self.report.flipped > 0 {
            let what = match self.options.flipped {
                FlippedFaces::Keep => {
                    "flipped: the heat map Fold-over shows where. Smooth flipped faces may turn them back."
                }
                FlippedFaces::Smooth => {
                    "flipped in spite of smoothing: the heat map Fold-over shows where."
                }
            };
            let faces = counted(self.report.flipped, "face");
            self.report.warnings.push(format!("{faces} {what}"));
        }
        let is_finite = list
            .iter()
            .all(|points| points.iter().all(|p| p.is_finite()));
        if !is_finite {
            return Err(TwinError::Model(
                "the fitted body has points that are not finite numbers".into(),
            ));
        }
        Ok(Fitted {
            leg_ratio: self.leg_ratio(),
            factors: self.factors,
            places,
            scale: self.scale,
            lift,
            moves: self.moves,
            smoothed,
            report: self.report,
            tapes,
        })
    }

    fn fitted_row(
        &self,
        target: &Target,
        rows: &[Measurement],
        places: &[DVec3],
        points: &[&[DVec3]],
    ) -> FittedRow {
        let measured = match target.kind {
            Kind::Height => self.report.height[1],
            Kind::Length => {
                let lines = target.joints.iter().map(|j| self.line(j.get(), places));
                lines.map(|line| line.length()).sum()
            }
            Kind::Girth => {
                let line = self.line(target.joints[0].get(), places);
                measure_girth(target, &line, points).unwrap_or(f64::NAN)
            }
        };
        FittedRow {
            row: target.row,
            id: rows[target.row].id.clone(),
            kind: target.kind.label(),
            bone: target
                .joints
                .first()
                .map_or_else(String::new, |joint| self.body.skeleton.label(*joint)),
            at: (target.kind == Kind::Girth).then_some(target.at),
            mirrored: target.mirrored,
            template: target.template,
            target: target.metres,
            factor: target.metres / target.template,
            measured,
            error: measured / target.metres - 1.0,
        }
    }

    fn warn(&mut self, target: &Target, row: &FittedRow) {
        if !(USUAL[0]..=USUAL[1]).contains(&row.factor) && !target.mirrored {
            let what = if row.bone.is_empty() {
                "height".to_owned()
            } else {
                format!("{} of \"{}\"", row.kind, row.bone)
            };
            self.report.warnings.push(format!(
                "The {what} is {} times the template's: check the unit, and the shape.",
                trimmed(row.factor)
            ));
        }
        if row.measured.is_nan() {
            self.report.warnings.push(format!(
                "The skin round \"{}\" is open on the fitted body, so its girth is unknown.",
                row.bone
            ));
        }
    }

    /// Thigh and shin of both sides / the template's; the scale where there is no leg.
    fn leg_ratio(&self) -> f64 {
        let parts = [Part::Thigh, Part::Shin];
        let legs = SIDES
            .into_iter()
            .flat_map(|side| parts.map(|part| (part, side)));
        let joints = legs.filter_map(|(part, side)| self.body.roles.get(part, side));
        let lengths = joints.map(|j| {
            let length = self.plan.lines[j].length();
            [length, length * self.factors[j].along]
        });
        let sums = lengths.fold([0.0, 0.0], |[a, b], [x, y]| [a + x, b + y]);
        if sums[0] > 1e-9 {
            sums[1] / sums[0]
        } else {
            self.scale
        }
    }
}

impl Fitted {
    /// Whether nothing moves.
    pub fn is_identity(&self) -> bool {
        self.lift == 0.0 && self.factors.iter().all(BoneFactor::is_identity)
    }

    /// The points of each mesh of the body, world space.
    pub fn points(&self, body: &Body) -> Vec<Vec<DVec3>> {
        let mut points = moved_points(body, &self.factors, &self.places, self.scale);
        for (shape, points) in body.shapes.iter().zip(&mut points) {
            for (i, p) in points.iter_mut().enumerate() {
                // Places have the lift already.
                if shape.row(i).is_empty() {
                    p.y += self.lift;
                }
            }
        }
        for (corrections, points) in self.smoothed.iter().zip(&mut points) {
            for (point, by) in corrections {
                points[*point as usize] += *by;
            }
        }
        points
    }

    /// The triangles of a mesh of the body that flipped, ascending.
    pub fn flipped(&self, body: &Body, shape: usize) -> Vec<u32> {
        let points = self.points(body);
        match (body.shapes.get(shape), points.get(shape)) {
            (Some(shape), Some(points)) => flipped(&shape.triangles, &shape.points, points),
            _ => Vec::new(),
        }
    }
}

/// n_joints: whether the root of a joint leads to bones.
fn moves(body: &Body) -> Vec<bool> {
    let leads = leads_to_bones(&body.skeleton, &body.is_bone);
    let mut moves = vec![false; body.skeleton.len()];
    for joint in body.skeleton.live_joints() {
        let root = body
            .skeleton
            .logical_ancestors(joint)
            .last()
            .unwrap_or(joint);
        moves[joint.get()] = leads[root.get()];
    }
    moves
}

/// `v' = sum_b w_b (S_b (v - a_b) + a'_b)`.
fn moved_points(
    body: &Body,
    factors: &[BoneFactor],
    places: &[DVec3],
    scale: f64,
) -> Vec<Vec<DVec3>> {
    let shapes = body.shapes.iter().map(|shape| {
        let moved = shape.points.par_iter().enumerate().map(|(i, &v)| {
            let row = shape.row(i);
            if row.is_empty() {
                return v * scale;
            }
            let parts = row.iter().map(|&(b, w)| {
                let b = b as usize;
                (factors[b].apply(v - body.lines[b].head) + places[b]) * w
            });
            parts.sum()
        });
        moved.collect()
    });
    shapes.collect()
}

fn measure_girth(target: &Target, line: &BoneLine, points: &[&[DVec3]]) -> Option<f64> {
    target
        .sleeve
        .as_ref()?
        .girth(points, Cut::of(line, target.at)?)
}
