//! Which helper joints to add: for the worst points first, as long as the points around them gain.

use super::basis::displaced;
use super::group::{Group, Part, with_helpers};
use super::refine::{Pulled, Refiner};
use super::rows::{Care, Row, Sight, blended, distance, normalised, refit};
use super::stage::{Moment, Stage};
use crate::task::{Cancelled, Task};
use glam::{DAffine3, DMat3, DVec3};
use rayon::prelude::*;

/// Helpers at which the state is kept to choose from.
const STOPS: [usize; 14] = [0, 4, 8, 12, 16, 20, 24, 28, 32, 40, 48, 64, 80, 96];

/// Helpers that are added at a time.
const AT_A_TIME: usize = 4;

/// Weight vectors of helpers that are added together differ by more than this.
const SPACING: f64 = 0.6;

/// Helpers that a point may choose from: of the most similar weights, and where they follow corrections as many of the
/// nearest.
const NEAREST: usize = 6;

/// Points of a part that the search looks at.
const MOST_POINTS: usize = 3000;

/// Points that one task takes.
const POINTS: usize = 256;

/// Views of a point: instances times moments.
const MOST_VIEWS: usize = 96;

/// Moments with the matrices of joints and helpers in them.
pub(super) struct Views {
    pub(super) moments: Vec<Moment>,
    /// By moment, then by unit of the group.
    pub(super) matrices: Vec<Vec<Vec<DAffine3>>>,
    /// By part: displacements of its active points, n x k.
    pub(super) bases: Vec<(usize, Vec<DVec3>)>,
    /// By moment, then by instance of the stage: their weights; empty where there are none.
    pub(super) weights: Vec<Vec<Vec<f64>>>,
}

/// Rows that some helpers allow.
#[derive(Clone)]
pub(super) struct Snapshot {
    /// The first so many helpers.
    pub(super) helpers: usize,
    /// By part, for the points the search looked at.
    pub(super) rows: Vec<Vec<Row>>,
    /// Of the views: by moment, then by unit of the group.
    pub(super) matrices: Vec<Vec<Vec<DAffine3>>>,
}

/// The helpers found, in the order of their use, and the states on the way.
pub(super) struct Search {
    /// Their weights over the joints.
    pub(super) omegas: Vec<Row>,
    /// Where the points they were placed for lie, bind space.
    pub(super) seeds: Vec<DVec3>,
    /// By part: places in [`Part::active`].
    pub(super) points: Vec<Vec<usize>>,
    pub(super) snapshots: Vec<Snapshot>,
}

impl Views {
    pub(super) fn new(moments: Vec<Moment>, group: &Group) -> Self {
        let of = |moment: &Moment| {
            let units = group.units.iter();
            units
                .map(|&u| with_helpers(&moment.units[u], &[]))
                .collect()
        };
        Self {
            matrices: moments.iter().map(of).collect(),
            bases: Vec::new(),
            weights: vec![Vec::new(); moments.len()],
            moments,
        }
    }

    /// Where a part's point lies before joints move it, with its displacements.
    fn place(&self, part: &Part, i: usize, point: u32, m: usize, d: usize) -> DVec3 {
        let place = part.bind(point, &self.moments[m].drawn[d]);
        let (Some((k, b)), Some(w)) = (self.bases.get(i), self.weights[m].get(d)) else {
            return place;
        };
        match part.active.binary_search(&point) {
            Ok(a) if w.len() == *k => place + displaced(&b[a * k..(a + 1) * k], w),
            _ => place,
        }
    }

    /// A part's points in the views `seen`; `whole`, `care` and `enough` as of [`Looked`].
    fn look<'a>(
        &'a self,
        group: &'a Group,
        index: usize,
        seen: &'a [(usize, usize, usize)],
        whole: bool,
        care: Care,
        enough: f64,
    ) -> Looked<'a> {
        Looked {
            part: &group.meshes[index],
            index,
            views: self,
            seen,
            care,
            whole,
            enough,
        }
    }

    /// The moments and instances in which a part is seen: (moment, instance, unit of the group).
    pub(super) fn of_part(
        &self,
        stage: &Stage<'_>,
        group: &Group,
        part: &Part,
        most: usize,
    ) -> Vec<(usize, usize, usize)> {
        let unit_of = |d: usize| {
            let unit = stage.drawn[d].unit;
            group.units.iter().position(|&u| u == unit).unwrap_or(0)
        };
        let all = (0..self.moments.len())
            .flat_map(|m| part.drawn.iter().map(move |&d| (m, d, unit_of(d))));
        let all: Vec<_> = all.collect();
        let step = all.len().div_ceil(most.max(1)).max(1);
        all.into_iter().step_by(step).collect()
    }

    /// Adds a helper; for a point of a part it also goes where that point goes.
    fn add(&mut self, stage: &Stage<'_>, group: &Group, omega: &Row, point: Option<(usize, u32)>) {
        for (moment, matrices) in self.moments.iter().zip(&mut self.matrices) {
            for (&unit, matrices) in group.units.iter().zip(matrices) {
                let mut matrix = moment.units[unit].blend(omega);
                if let Some((i, point)) = point {
                    let part = &group.meshes[i];
                    let drawn = part.drawn.iter().find(|&&d| stage.drawn[d].unit == unit);
                    if let Some(&d) = drawn {
                        let drawn = &moment.drawn[d];
                        let at = matrix.transform_point3(part.bind(point, drawn));
                        let shift = drawn.target[point as usize].as_dvec3() - at;
                        if shift.is_finite() {
                            matrix.translation += shift;
                        }
                    }
                }
                matrices.push(matrix);
            }
        }
    }

    /// Has the helpers of a snapshot again, in the moments that it knows.
    pub(super) fn restore(&mut self, snapshot: &Snapshot) {
        self.moments.truncate(snapshot.matrices.len());
        self.bases.clear();
        self.weights = vec![Vec::new(); self.moments.len()];
        self.matrices.clone_from(&snapshot.matrices);
    }
}

/// A point of a part in some views.
pub(super) struct Looked<'a> {
    pub(super) part: &'a Part,
    /// Its place in the group.
    pub(super) index: usize,
    pub(super) views: &'a Views,
    pub(super) seen: &'a [(usize, usize, usize)],
    pub(super) care: Care,
    /// Whether points are to come to where the whole stack has them, not the skinning in it.
    pub(super) whole: bool,
    /// Points nearer than this are near enough.
    pub(super) enough: f64,
}

impl Looked<'_> {
    fn sight(&self, point: u32, seen: (usize, usize, usize)) -> Sight<'_> {
        let (m, d, u) = seen;
        let moment = &self.views.moments[m];
        let drawn = &moment.drawn[d];
        let target = if self.whole || drawn.uncorrected.is_empty() {
            &drawn.target
        } else {
            &drawn.uncorrected
        };
        Sight {
            matrices: &self.views.matrices[m][u],
            place: self.views.place(self.part, self.index, point, m, d),
            target: target[point as usize].as_dvec3(),
            linear: DMat3::ZERO,
        }
    }

    /// How far a row puts a point from where it is to come, at most.
    pub(super) fn error(&self, point: u32, row: &[(u16, f64)]) -> f64 {
        let errors = self.seen.iter().map(|&seen| {
            let sight = self.sight(point, seen);
            let at = blended(row, sight.matrices).transform_point3(sight.place);
            at.distance_squared(sight.target)
        });
        errors.fold(0.0, f64::max).sqrt()
    }

    /// The best row over the point's joints and the helpers near to it.
    pub(super) fn refit(
        &self,
        point: u32,
        n_joints: usize,
        omegas: &[Row],
        seeds: &[DVec3],
        unit_of: &[usize],
    ) -> Row {
        let own = &self.part.omega[point as usize];
        let mut candidates: Vec<(u16, Row)> =
            own.iter().map(|&(j, _)| (j, vec![(j, 1.0)])).collect();
        let mut near: Vec<(f64, usize)> = omegas
            .iter()
            .enumerate()
            .map(|(h, omega)| (distance(omega, own), h))
            .filter(|n| n.0 < 1.9)
            .collect();
        near.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let mut around: Vec<(f64, usize)> = Vec::new();
        if !seeds.is_empty() {
            let place = self.part.geometry.positions[point as usize].as_dvec3();
            around = near
                .iter()
                .map(|n| (seeds[n.1].distance_squared(place), n.1))
                .collect();
            around.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            around.truncate(NEAREST);
        }
        near.truncate(NEAREST);
        around.retain(|a| near.iter().all(|n| n.1 != a.1));
        near.extend(around);
        candidates.extend(
            near.into_iter()
                .map(|(_, h)| ((n_joints + h) as u16, omegas[h].clone())),
        );
        let sights = self.seen.iter().map(|&seen| {
            let unit = &self.views.moments[seen.0].units[unit_of[seen.2]];
            Sight {
                linear: unit.blend(own).matrix3,
                ..self.sight(point, seen)
            }
        });
        refit(&candidates, own, sights, self.care, self.enough)
    }
}

/// What a search is for.
#[derive(Clone, Copy)]
pub(super) struct Aim {
    /// Most helpers.
    pub(super) most: usize,
    /// Every point is to be this near.
    pub(super) enough: f64,
    pub(super) care: Care,
    /// Helpers that are fitted to corrections may do for one place if they lie so far from each other, bind space.
    pub(super) gap: f64,
    /// Whether helpers are fitted to what the whole stack does, not blends of their weights.
    pub(super) refines: bool,
}

/// Looks for helpers that bring every point as near as `aim` says to where it is to come.
pub(super) fn search(
    stage: &Stage<'_>,
    group: &Group,
    views: &mut Views,
    aim: Aim,
    task: &Task,
) -> Result<Search, Cancelled> {
    let Aim {
        most,
        enough,
        care,
        refines,
        ..
    } = aim;
    let points: Vec<Vec<usize>> = group
        .meshes
        .iter()
        .map(|part| {
            let step = part.active.len().div_ceil(MOST_POINTS).max(1);
            (0..part.active.len()).step_by(step).collect()
        })
        .collect();
    let base = group.meshes.iter().zip(&points);
    let mut rows: Vec<Vec<Row>> = base
        .map(|(part, points)| {
            points
                .iter()
                .map(|&i| part.base[part.active[i] as usize].clone())
                .collect()
        })
        .collect();
    let mut search = Search {
        omegas: Vec::new(),
        seeds: Vec::new(),
        points,
        snapshots: Vec::new(),
    };
    search.snapshots.push(Snapshot {
        helpers: 0,
        rows: rows.clone(),
        matrices: views.matrices.clone(),
    });
    let Some(n_joints) = group.n_joints else {
        return Ok(search);
    };
    let seen: Vec<Vec<(usize, usize, usize)>> = group
        .meshes
        .iter()
        .map(|part| views.of_part(stage, group, part, MOST_VIEWS / 2))
        .collect();
    let mut errors: Vec<Vec<f64>> = Vec::new();
    let mut spent: Vec<Vec<bool>> = Vec::new();
    for (i, part) in group.meshes.iter().enumerate() {
        let looked = views.look(group, i, &seen[i], false, care, enough);
        let all = search.points[i].par_iter().zip(&rows[i]);
        errors.push(
            all.map(|(&a, row)| looked.error(part.active[a], row))
                .collect(),
        );
        spent.push(vec![false; rows[i].len()]);
    }
    let seeds = |search: &'_ Search| -> Vec<DVec3> {
        if refines {
            search.seeds.clone()
        } else {
            Vec::new()
        }
    };
    while search.omegas.len() < most {
        task.check()?;
        let first = search.omegas.len();
        for _ in 0..AT_A_TIME.min(most - first) {
            let Some((i, e)) = worst(
                group,
                &search,
                &errors,
                &spent,
                first,
                enough,
                refines.then_some(aim.gap),
            ) else {
                break;
            };
            spent[i][e] = true;
            let part = &group.meshes[i];
            let mut omega = part.omega[part.active[search.points[i][e]] as usize].clone();
            omega.retain(|r| r.1 >= 0.002);
            let omega = normalised(omega);
            let point = part.active[search.points[i][e]];
            views.add(stage, group, &omega, refines.then_some((i, point)));
            search.omegas.push(omega);
            search
                .seeds
                .push(part.geometry.positions[point as usize].as_dvec3());
        }
        if search.omegas.len() == first {
            break;
        }
        let fresh = &search.omegas[first..];
        for (i, part) in group.meshes.iter().enumerate() {
            let looked = views.look(group, i, &seen[i], false, care, enough);
            let better: Vec<Option<(Row, f64)>> = search.points[i]
                .par_iter()
                .zip(&errors[i])
                .map(|(&a, &error)| {
                    let point = part.active[a];
                    let own = &part.omega[point as usize];
                    if fresh.iter().all(|omega| distance(omega, own) > 1.4) {
                        return None;
                    }
                    let row = looked.refit(
                        point,
                        n_joints,
                        &search.omegas,
                        &seeds(&search),
                        &group.units,
                    );
                    let now = looked.error(point, &row);
                    (now < error).then_some((row, now))
                })
                .collect();
            for (e, better) in better.into_iter().enumerate() {
                if let Some((row, error)) = better {
                    rows[i][e] = row;
                    errors[i][e] = error;
                }
            }
        }
        if refines {
            refine(stage, group, views, &search, &rows, task)?;
            for (i, part) in group.meshes.iter().enumerate() {
                let looked = views.look(group, i, &seen[i], true, care, enough);
                let points = search.points[i].par_iter().zip(&mut rows[i]);
                let points = points.zip(&mut errors[i]);
                points.for_each(|((&a, row), error)| {
                    let point = part.active[a];
                    *error = looked.error(point, row);
                    if *error > 0.5 * enough {
                        let other = looked.refit(
                            point,
                            n_joints,
                            &search.omegas,
                            &seeds(&search),
                            &group.units,
                        );
                        let now = looked.error(point, &other);
                        if now < *error {
                            (*row, *error) = (other, now);
                        }
                    }
                });
            }
        }
        if STOPS.contains(&search.omegas.len()) {
            search.snapshots.push(Snapshot {
                helpers: search.omegas.len(),
                rows: rows.clone(),
                matrices: views.matrices.clone(),
            });
        }
    }
    let last = search.snapshots.last().map_or(0, |s| s.helpers);
    if search.omegas.len() > last {
        search.snapshots.push(Snapshot {
            helpers: search.omegas.len(),
            rows,
            matrices: views.matrices.clone(),
        });
    }
    Ok(search)
}

/// Fits the motions of the helpers in `views` to the points that follow them.
fn refine(
    stage: &Stage<'_>,
    group: &Group,
    views: &mut Views,
    search: &Search,
    rows: &[Vec<Row>],
    task: &Task,
) -> Result<(), Cancelled> {
    let of_part = |(i, part): (usize, &Part)| -> (usize, Vec<Pulled>) {
        let points = search.points[i].iter().zip(&rows[i]);
        let pulled = points.map(|(&a, row)| Pulled::by(part.active[a], row.clone()));
        (0, pulled.collect())
    };
    let points = group.meshes.iter().enumerate().map(of_part);
    Refiner::new(stage, group, &search.omegas, points).apply(views, task)
}

/// The worst point that is no helper yet, lies beyond `enough`, and is far from helpers `first` on.
fn worst(
    group: &Group,
    search: &Search,
    errors: &[Vec<f64>],
    spent: &[Vec<bool>],
    first: usize,
    enough: f64,
    spaced: Option<f64>,
) -> Option<(usize, usize)> {
    let mut found: Option<(f64, usize, usize)> = None;
    for (i, part) in group.meshes.iter().enumerate() {
        for (e, &error) in errors[i].iter().enumerate() {
            if spent[i][e] || error <= enough || found.is_some_and(|f| error <= f.0) {
                continue;
            }
            let own = &part.omega[part.active[search.points[i][e]] as usize];
            let point = part.active[search.points[i][e]];
            let place = part.geometry.positions[point as usize].as_dvec3();
            let far = |(h, omega): (usize, &Row)| {
                let least = if h >= first { SPACING } else { 0.02 };
                distance(omega, own) > least
                    || spaced.is_some_and(|gap| {
                        search.seeds[h].distance(place) > gap * if h >= first { 3.0 } else { 1.0 }
                    })
            };
            if own.len() > 1 && search.omegas.iter().enumerate().all(far) {
                found = Some((error, i, e));
            }
        }
    }
    found.map(|f| (f.1, f.2))
}

/// Helpers that points may follow.
#[derive(Clone, Copy)]
pub(super) struct Followed<'a> {
    /// Their weights over the joints.
    pub(super) omegas: &'a [Row],
    /// Where they were placed, bind space; empty where only weights tell which are near.
    pub(super) seeds: &'a [DVec3],
    pub(super) care: Care,
    /// Points nearer than this are near enough.
    pub(super) enough: f64,
}

/// Rows of `points` with these helpers, by part: fitted to the skinning, or to the whole stack where that leaves less to
/// displacements; as they were where neither brings a point nearer.
pub(super) fn final_rows(
    stage: &Stage<'_>,
    group: &Group,
    views: &Views,
    points: &[Vec<u32>],
    followed: Followed<'_>,
    task: &Task,
) -> Result<Vec<Vec<Row>>, Cancelled> {
    let Followed {
        omegas,
        seeds,
        care,
        enough,
    } = followed;
    let mut rows = Vec::new();
    for (i, part) in group.meshes.iter().enumerate() {
        task.check()?;
        let base = |p: u32| part.base[p as usize].clone();
        let Some(n_joints) = group.n_joints.filter(|_| !omegas.is_empty()) else {
            rows.push(points[i].iter().map(|&p| base(p)).collect());
            continue;
        };
        let seen = views.of_part(stage, group, part, MOST_VIEWS);
        let looked = |whole: bool| views.look(group, i, &seen, whole, care, enough);
        let (skinned, whole) = (looked(false), looked(true));
        let corrects = views
            .moments
            .iter()
            .any(|m| m.drawn.iter().any(|d| !d.uncorrected.is_empty()));
        let refit = |&p: &u32| {
            let mut best = base(p);
            let row = skinned.refit(p, n_joints, omegas, seeds, &group.units);
            if skinned.error(p, &row) < skinned.error(p, &best) {
                best = row;
            }
            if corrects {
                let row = whole.refit(p, n_joints, omegas, seeds, &group.units);
                if whole.error(p, &row) < whole.error(p, &best) {
                    best = row;
                }
            }
            best
        };
        let chunks = points[i].par_chunks(POINTS).map(|points| {
            task.check()?;
            Ok(points.iter().map(refit).collect())
        });
        let chunks: Vec<Vec<Row>> = chunks.collect::<Result<_, Cancelled>>()?;
        rows.push(chunks.concat());
    }
    Ok(rows)
}

/// What is left to a morph of a point: its matrix, and the way to its target.
pub(super) fn left_over(
    part: &Part,
    point: u32,
    row: &[(u16, f64)],
    matrices: &[DAffine3],
    drawn: &super::stage::DrawnMoment,
) -> (DMat3, DVec3) {
    let matrix = blended(row, matrices);
    let place = matrix.transform_point3(part.bind(point, drawn));
    (
        matrix.matrix3,
        drawn.target[point as usize].as_dvec3() - place,
    )
}
