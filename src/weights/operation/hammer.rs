//! Replaces outliers by the average of their surroundings (Maya's Hammer Weights).

use super::surroundings::Surroundings;
use super::{OperationError, Outcome, Subject};
use crate::mesh::PointSet;
use crate::task::Task;

/// A point whose weights differ from the mean around it by less is no outlier.
const MIN_DIFFERENCE: f32 = 0.2;

/// The factor by which an outlier's difference exceeds the median difference of its neighbours.
const OUTLIER_RATIO: f32 = 2.0;

/// Number of smoothing iterations of the filled rows.
const SMOOTHING_ITERATIONS: u32 = 12;

/// The point has no unchanged neighbours.
const ALONE: &str = "without unchanged neighbours";

/// Replaces the rows of the points in scope by those of their surroundings; without a scope, those of outliers.
pub(super) fn run(subject: &Subject<'_>, task: &Task) -> Result<Outcome, OperationError> {
    task.step("Hammering", 0.0)?;
    let all: Vec<u32> = subject.scope().collect();
    let mut notes = Vec::new();
    let points = if all.len() == subject.n_points() {
        let field = Surroundings::new(subject, all, task)?;
        let found = outliers(&field, task)?;
        if found.is_empty() {
            notes.push("No vertex differs much from its surroundings.".into());
        }
        found
    } else {
        all
    };
    let mut field = Surroundings::new(subject, points, task)?;
    let n = field.points().len();
    // From the rim inwards: each layer takes the mean of the known rows around it.
    let mut known = PointSet::full(subject.n_points());
    let asked: PointSet = field.points().iter().copied().collect();
    known.subtract(&asked);
    let mut n_open = n;
    // Candidates: all, then the neighbours of the last layer.
    let mut near: Vec<usize> = (0..n).collect();
    while n_open > 0 {
        task.step("Hammering", 0.5 * (1.0 - n_open as f32 / n as f32))?;
        let touches = |&slot: &usize| {
            let ring = field.around(field.points()[slot]).iter();
            ring.flat_map(|q| field.place(q))
                .any(|&q| known.contains(q))
        };
        let layer: Vec<usize> = near.iter().copied().filter(touches).collect();
        if layer.is_empty() {
            let is_open = |slot: &usize| !known.contains(field.points()[*slot]);
            let open: Vec<usize> = (0..n).filter(is_open).collect();
            if open.len() == near.len() {
                break;
            }
            // Where many points share a position the candidates are incomplete: test all before giving up.
            near = open;
            continue;
        }
        field.move_some(&layer, |q| known.contains(q), task)?;
        for &slot in &layer {
            known.insert(field.points()[slot]);
        }
        n_open -= layer.len();
        near = beside(&field, &layer, &known);
    }
    field.gather();
    let points = field.points().iter().copied();
    let alone: PointSet = points.filter(|&point| !known.contains(point)).collect();
    if n > n_open {
        for i in 0..SMOOTHING_ITERATIONS {
            task.step(
                "Hammering",
                0.5 + 0.5 * i as f32 / SMOOTHING_ITERATIONS as f32,
            )?;
            field.pass(1.0, |_| true, |q| known.contains(q), task)?;
        }
    }
    field.outcome(
        "Hammering",
        |point| alone.contains(point).then_some(ALONE),
        notes,
        task,
    )
}

/// The slots of points around those of `layer` that are not `known`, ascending.
fn beside(field: &Surroundings<'_>, layer: &[usize], known: &PointSet) -> Vec<usize> {
    let mut near = Vec::new();
    // Neighbourhood is symmetric except at seams, where all points of a position count as one.
    for &slot in layer {
        for point in field.at_place(field.points()[slot]) {
            for &other in field.around(point) {
                let places = field.at_place(other).into_iter();
                let open = places.filter(|&p| !known.contains(p));
                near.extend(open.filter_map(|p| field.slot(p)));
            }
        }
    }
    near.sort_unstable();
    near.dedup();
    near
}

/// The outliers: points that differ from the mean around them much more than their neighbours do.
fn outliers(field: &Surroundings<'_>, task: &Task) -> Result<Vec<u32>, OperationError> {
    let differences = field.differences(task)?;
    let mut around = Vec::new();
    let mut found = Vec::new();
    for &point in field.points() {
        let own = differences[point as usize];
        if own <= MIN_DIFFERENCE {
            continue;
        }
        around.clear();
        let ring = field.around(point).iter();
        around.extend(ring.map(|&q| differences[q as usize]));
        around.sort_by(f32::total_cmp);
        let usual = around.get(around.len() / 2).copied().unwrap_or(own);
        if own > OUTLIER_RATIO * usual {
            found.push(point);
        }
    }
    Ok(found)
}
