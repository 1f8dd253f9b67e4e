//! What stands out, made like its surroundings.

use super::surroundings::Surroundings;
use super::{OperationError, Outcome, Subject};
use crate::mesh::PointSet;
use crate::task::Task;

/// A point whose weights differ by less from the mean around it does not stand out.
const STANDS_OUT: f32 = 0.2;

/// How many times the usual difference of its neighbours a point's must be.
const TIMES: f32 = 2.0;

/// How often the filled rows are evened out.
const EVENED: u32 = 12;

/// Nothing around it tells what its weights should be.
const ALONE: &str = "with nothing around them that is left as it is";

/// Replaces the rows of the points that are asked about by those of their surroundings; of a whole mesh those of points
/// that stand out.
pub(super) fn run(subject: &Subject<'_>, task: &Task) -> Result<Outcome, OperationError> {
    task.step("Hammering", 0.0)?;
    let all: Vec<u32> = subject.scope().collect();
    let mut notes = Vec::new();
    let points = if all.len() == subject.n_points() {
        let field = Surroundings::new(subject, all, task)?;
        let found = outliers(&field, task)?;
        if found.is_empty() {
            notes.push("No point stands out from its surroundings.".into());
        }
        found
    } else {
        all
    };
    let mut field = Surroundings::new(subject, points, task)?;
    let n = field.points().len();
    // From the rim inwards: a layer takes the mean of what is known around it.
    let mut known = PointSet::full(subject.n_points());
    let asked: PointSet = field.points().iter().copied().collect();
    known.subtract(&asked);
    let mut n_open = n;
    // Who may be next: all, then the neighbours of the last layer.
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
            // In crowds not all neighbours are told: look everywhere before giving up.
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
        for i in 0..EVENED {
            task.step("Hammering", 0.5 + 0.5 * i as f32 / EVENED as f32)?;
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
    // Who has a point around it stands around that, but for the sides of seams: all that share a place count as one.
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

/// Points that differ from the mean around them much more than their neighbours do.
fn outliers(field: &Surroundings<'_>, task: &Task) -> Result<Vec<u32>, OperationError> {
    let differences = field.differences(task)?;
    let mut around = Vec::new();
    let mut found = Vec::new();
    for &point in field.points() {
        let own = differences[point as usize];
        if own <= STANDS_OUT {
            continue;
        }
        around.clear();
        let ring = field.around(point).iter();
        around.extend(ring.map(|&q| differences[q as usize]));
        around.sort_by(f32::total_cmp);
        let usual = around.get(around.len() / 2).copied().unwrap_or(own);
        if own > TIMES * usual {
            found.push(point);
        }
    }
    Ok(found)
}
