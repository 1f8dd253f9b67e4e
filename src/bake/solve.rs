//! The bake of one group: choose helpers and morphs by their bytes, solve the weights at all keys with the matrices that
//! a player has, and key where the played result strays between them.

use super::BakeOptions;
use super::basis::{Basis, Residuals, WeightSystem, displaced};
use super::greedy::{Search, Snapshot, Views, final_rows, left_over, search};
use super::group::{Group, Survey, times_of, with_helpers};
use super::helpers::{Helper, parent_slot, place, relative};
use super::retarget;
use super::rows::{Care, Row};
use super::stage::{Clips, Moment, Stage, Time, Wanted};
use super::times::SHORTEST;
use crate::task::{Cancelled, Task};
use glam::{DAffine3, DVec3};
use rayon::prelude::*;
use std::collections::BTreeMap;

/// Moments that helpers and displacements are found on.
const TELLING: usize = 72;
/// And at most, with the worst that turned up later.
const MOST_MOMENTS: usize = 120;
/// What is found on those may be off by this share of the tolerance: moments in between are worse.
const ENOUGH: f64 = 0.7;
/// Helpers looked for.
const MOST_HELPERS: usize = 64;
/// Choices that are worked out to the end.
const TRIES: usize = 3;
/// Rounds in which keys are added.
const KEY_ROUNDS: usize = 5;
/// Bytes that a helper takes in a file besides its keys: its node, its slot; and each of its tracks.
const HELPER_BYTES: f64 = 200.0;
const TRACK_BYTES: f64 = 300.0;
/// And a morph target, and an entry of one.
const MORPH_BYTES: f64 = 330.0;
const ENTRY_BYTES: f64 = 14.0;

/// Everything shared by the bakes of all groups.
pub(super) struct Job<'a> {
    pub(super) stage: &'a Stage<'a>,
    pub(super) clips: &'a Clips<'a>,
    /// By clip.
    pub(super) corrected: &'a [bool],
    /// The largest error, world.
    pub(super) tolerance: f64,
    pub(super) diagonal: f64,
    pub(super) options: &'a BakeOptions,
    pub(super) task: &'a Task,
}

/// What was found for a group.
pub(super) struct Solved {
    /// By unit of the group, then by helper.
    pub(super) helpers: Vec<Vec<Helper>>,
    /// By helper: the weights whose blend it follows.
    pub(super) omegas: Vec<Row>,
    /// By clip.
    pub(super) keys: Vec<Vec<f32>>,
    /// By mesh of the group.
    pub(super) meshes: Vec<SolvedMesh>,
    /// The largest error found, at keys and between them.
    pub(super) worst: f64,
    /// The factor from bind space to the world.
    pub(super) unit_scale: f64,
    bytes: f64,
}

/// What was found for a mesh.
pub(super) struct SolvedMesh {
    /// Of the active points.
    pub(super) rows: Vec<Row>,
    /// Displacements of the active points: n x k.
    pub(super) k: usize,
    pub(super) b: Vec<DVec3>,
    /// By instance, clip, key: k weights. Empty for clips that are not corrected.
    pub(super) weights: Vec<Vec<Vec<Vec<f64>>>>,
}

/// Helpers and morphs to try.
struct Choice {
    helpers: usize,
    morphs: Vec<usize>,
    bytes: f64,
    worst: f64,
}

impl Job<'_> {
    /// The bake of a group; `None` where nothing needs one.
    pub(super) fn solve(&self, group: &mut Group) -> Result<Option<Solved>, Cancelled> {
        let (clips, corrected) = (self.clips, self.corrected);
        self.task.step("Looking at the clips", 0.05)?;
        let survey = group.survey(
            self.stage,
            clips,
            corrected,
            self.tolerance,
            TELLING,
            self.task,
        )?;
        if !group.is_off() {
            return Ok(None);
        }
        let group: &Group = group;
        let mut times = survey.telling.clone();
        let rest = Time {
            clip: None,
            secs: 0.0,
        };
        times.push(rest);
        let mut views = Views::new(self.moments(group, &times)?, group);
        let care = Care {
            linear: 0.02 * self.diagonal / Self::unit_scale(&views, group),
            weights: 0.02 * self.diagonal,
        };
        self.task.step("Placing helper joints", 0.2)?;
        let room = self
            .options
            .max_joints
            .saturating_sub(group.n_joints.unwrap_or(usize::MAX));
        let most = room.min(retarget::most_helpers(self.options.mode, MOST_HELPERS));
        let found = search(
            self.stage,
            group,
            &mut views,
            most,
            ENOUGH * self.tolerance,
            care,
            self.task,
        )?;
        self.task.step("Weighing joints against morphs", 0.4)?;
        let choices = self.choices(group, &views, &found, &survey);
        let mut best: Option<Solved> = None;
        for (i, choice) in choices.iter().take(TRIES).enumerate() {
            self.task.step("Solving", 0.5 + 0.15 * i as f32)?;
            let solved = self.work_out(group, &mut views, &found, choice, &survey, care)?;
            let meets = |s: &Solved| s.worst <= self.tolerance;
            let better = best
                .as_ref()
                .is_none_or(|best| match (meets(best), meets(&solved)) {
                    (false, false) => solved.worst < best.worst,
                    (met, meets) => meets && (!met || solved.bytes < best.bytes),
                });
            if better {
                best = Some(solved);
            }
            if best.as_ref().is_some_and(meets) {
                break;
            }
        }
        Ok(best)
    }

    /// The smallest factor from bind space to the world, so that linear parts compare with 1.
    fn unit_scale(views: &Views, group: &Group) -> f64 {
        let units = views
            .moments
            .iter()
            .flat_map(|m| group.units.iter().map(|&u| m.units[u].unit_scale));
        let scale = units.fold(f64::INFINITY, f64::min);
        if scale.is_finite() && scale > 0.0 {
            scale
        } else {
            1.0
        }
    }

    /// Moments to place helpers by: these follow the skinning without what corrects it.
    fn moments(&self, group: &Group, times: &[Time]) -> Result<Vec<Moment>, Cancelled> {
        let uncorrected = group.meshes.iter().any(|part| {
            let item = self.stage.item(part.mesh);
            let stack = item.map(|item| item.stack.as_applied());
            stack.is_some_and(|s| s.corrects_bulges() || s.smooth.acts())
        });
        let drawn = group.drawn();
        let wanted = Wanted {
            uncorrected,
            ..Wanted::own(&drawn)
        };
        let keep = |_: usize, moment: Moment| moment;
        self.stage.map(self.clips, times, wanted, self.task, keep)
    }

    /// Helpers and morphs to try, the smallest that promise to meet the tolerance first.
    fn choices(
        &self,
        group: &Group,
        views: &Views,
        found: &Search,
        survey: &Survey,
    ) -> Vec<Choice> {
        let n_keys: usize = survey.keys.iter().map(Vec::len).sum();
        let n_moved = survey.keys.iter().filter(|keys| !keys.is_empty()).count();
        let per_helper = group.units.len() as f64
            * (HELPER_BYTES + 8.0 * n_keys as f64 + TRACK_BYTES * n_moved as f64);
        let mut choices: Vec<Choice> = found
            .snapshots
            .iter()
            .map(|snapshot| {
                let mut choice = Choice {
                    helpers: snapshot.helpers,
                    morphs: Vec::new(),
                    bytes: per_helper * snapshot.helpers as f64,
                    worst: 0.0,
                };
                for i in 0..group.meshes.len() {
                    let (k, bytes, worst) = self.estimate(group, views, found, snapshot, i, survey);
                    choice.morphs.push(k);
                    choice.bytes += bytes;
                    choice.worst = choice.worst.max(worst);
                }
                choice
            })
            .collect();
        let enough = 1.05 * ENOUGH * self.tolerance;
        choices.sort_by(|a, b| match (a.worst <= enough, b.worst <= enough) {
            (true, true) => a.bytes.total_cmp(&b.bytes),
            (false, false) => a.worst.total_cmp(&b.worst),
            (a, b) => b.cmp(&a),
        });
        choices
    }

    /// How many morphs a mesh needs with the helpers of a snapshot, what they take, and the error that they leave.
    fn estimate(
        &self,
        group: &Group,
        views: &Views,
        found: &Search,
        snapshot: &Snapshot,
        i: usize,
        survey: &Survey,
    ) -> (usize, f64, f64) {
        let part = &group.meshes[i];
        let seen = views.of_part(self.stage, group, part, 48);
        let seen: Vec<_> = seen
            .into_iter()
            .filter(|s| views.moments[s.0].time.clip.is_some())
            .collect();
        let points: Vec<(u32, &Row)> = found.points[i]
            .iter()
            .zip(&snapshot.rows[i])
            .map(|(&a, row)| (part.active[a], row))
            .collect();
        let worst_of = |(p, row): &(u32, &Row)| {
            let errors = seen.iter().map(|&(m, d, u)| {
                let drawn = &views.moments[m].drawn[d];
                left_over(part, *p, row, &views.matrices[m][u], drawn)
                    .1
                    .length_squared()
            });
            errors.fold(0.0, f64::max).sqrt()
        };
        let errors: Vec<f64> = points.par_iter().map(worst_of).collect();
        let enough = ENOUGH * self.tolerance;
        let mut order: Vec<usize> = (0..points.len()).collect();
        order.sort_by(|&a, &b| errors[b].total_cmp(&errors[a]).then(a.cmp(&b)));
        let Some(&first) = order.first() else {
            return (0, 0.0, 0.0);
        };
        if errors[first] <= enough {
            return (0, 0.0, errors[first]);
        }
        let most = self.most_morphs();
        if most == 0 {
            return (0, 0.0, errors[first]);
        }
        // The worst, and some of the others.
        let worst: Vec<usize> = order.iter().copied().take(250).collect();
        let others = order
            .iter()
            .copied()
            .skip(250)
            .step_by((order.len() / 150).max(1));
        let sample: Vec<(u32, &Row)> = worst.into_iter().chain(others).map(|o| points[o]).collect();
        let residuals = residuals(group, i, views, &seen, &sample);
        let bases = residuals.bases(1, most, enough);
        let Some(basis) = bases.iter().min_by(|a, b| a.worst.total_cmp(&b.worst)) else {
            return (0, 0.0, errors[first]);
        };
        let needed = errors.iter().filter(|e| **e > 0.5 * self.tolerance).count();
        let share = needed as f64 / points.len().max(1) as f64;
        let vertices = part.geometry.n_vertices() as f64 / part.geometry.n_points().max(1) as f64;
        let entries = share * part.active.len() as f64 * vertices * 0.7;
        let keys = times_of(&survey.keys, self.corrected).len() as f64;
        let n_clips = self.corrected.iter().filter(|c| **c).count() as f64;
        let k = basis.k as f64;
        let bytes = k * (entries * ENTRY_BYTES + MORPH_BYTES)
            + part.drawn.len() as f64 * (2.0 * (k + 1.0) * keys + TRACK_BYTES * n_clips);
        (basis.k, bytes, basis.worst)
    }

    /// Displacements besides the one that makes weights positive.
    fn most_morphs(&self) -> usize {
        let extra = usize::from(self.options.unipolar);
        self.options.max_morphs.saturating_sub(extra)
    }

    /// A choice worked out: rows, tracks, displacements, weights and keys.
    fn work_out(
        &self,
        group: &Group,
        views: &mut Views,
        found: &Search,
        choice: &Choice,
        survey: &Survey,
        care: Care,
    ) -> Result<Solved, Cancelled> {
        let omegas = &found.omegas[..choice.helpers];
        views.set(group, omegas);
        let rows = final_rows(self.stage, group, views, omegas, care, self.task)?;
        let mut baked = Played {
            job: self,
            group,
            omegas,
            parents: group
                .units
                .iter()
                .map(|&u| {
                    omegas
                        .iter()
                        .map(|o| parent_slot(self.stage, u, o))
                        .collect()
                })
                .collect(),
            keys: survey.keys.clone(),
            motions: survey
                .keys
                .iter()
                .map(|keys| vec![Vec::new(); keys.len()])
                .collect(),
            rest: Vec::new(),
            unit_scale: Self::unit_scale(views, group),
            helpers: Vec::new(),
            rows,
            bases: group.meshes.iter().map(|_| (0, Vec::new())).collect(),
            weights: BTreeMap::new(),
        };
        baked.follow()?;
        baked.hang(views);
        baked.find_bases(views, choice)?;
        let mut worst = baked.weigh(None)?;
        // Moments that the displacements do not know: with the worst of them they are found again.
        for _ in 0..3 {
            let mut missed: Vec<(f64, Time)> = worst
                .iter()
                .copied()
                .filter(|w| w.0 > self.tolerance * 0.9)
                .collect();
            if missed.is_empty()
                || views.moments.len() >= MOST_MOMENTS
                || baked.bases.iter().all(|b| b.0 == 0)
            {
                break;
            }
            missed.sort_by(|a, b| b.0.total_cmp(&a.0));
            missed.truncate(8);
            let known = |t: &Time| views.moments.iter().any(|m| m.time == *t);
            let fresh: Vec<Time> = missed
                .into_iter()
                .map(|m| m.1)
                .filter(|t| !known(t))
                .collect();
            if fresh.is_empty() {
                break;
            }
            let mut more = self.moments(group, &fresh)?;
            let mut add = Views::new(std::mem::take(&mut more), group);
            views.moments.append(&mut add.moments);
            views.matrices.append(&mut add.matrices);
            baked.hang(views);
            baked.find_bases(views, choice)?;
            let again = baked.weigh(None)?;
            worst = again;
        }
        let worst = baked.add_keys(&worst)?;
        let bytes = choice.bytes;
        Ok(baked.finish(worst, bytes))
    }
}

/// The residuals of `points` with their rows, in the views `seen`.
fn residuals(
    group: &Group,
    part: usize,
    views: &Views,
    seen: &[(usize, usize, usize)],
    points: &[(u32, &Row)],
) -> Residuals {
    let part = &group.meshes[part];
    let made: Vec<([f32; 9], [f32; 3])> = points
        .par_iter()
        .flat_map_iter(|(p, row)| {
            seen.iter().map(move |&(m, d, u)| {
                let drawn = &views.moments[m].drawn[d];
                let (a, r) = left_over(part, *p, row, &views.matrices[m][u], drawn);
                (
                    a.to_cols_array().map(|x| x as f32),
                    r.to_array().map(|x| x as f32),
                )
            })
        })
        .collect();
    let (a, r) = made.into_iter().unzip();
    Residuals {
        t: seen.len(),
        a,
        r,
    }
}

/// For each mesh, for each instance, its weights at a key; and the largest error there.
type AtKey = (Vec<Vec<Vec<f64>>>, f64);

/// A bake in the making, as a player will show it.
struct Played<'a, 'j> {
    job: &'a Job<'j>,
    group: &'a Group,
    omegas: &'a [Row],
    /// By unit of the group, then by helper.
    parents: Vec<Vec<u16>>,
    /// By clip.
    keys: Vec<Vec<f32>>,
    /// By clip, key, unit of the group and helper: the helper's motion relative to its parent.
    motions: Vec<Vec<Vec<Vec<DAffine3>>>>,
    rest: Vec<Vec<DAffine3>>,
    /// The factor from bind space to the world.
    unit_scale: f64,
    helpers: Vec<Vec<Helper>>,
    /// By mesh, of the active points.
    rows: Vec<Vec<Row>>,
    /// By mesh: k and n x k displacements.
    bases: Vec<(usize, Vec<DVec3>)>,
    /// By clip and bits of the key.
    weights: BTreeMap<(usize, u32), AtKey>,
}

impl Played<'_, '_> {
    /// Fills in the motions of the helpers at keys that have none yet.
    fn follow(&mut self) -> Result<(), Cancelled> {
        if self.omegas.is_empty() {
            return Ok(());
        }
        let mut missing = Vec::new();
        for (clip, keys) in self.motions.iter().enumerate() {
            for (k, motions) in keys.iter().enumerate() {
                if motions.is_empty() {
                    let secs = f64::from(self.keys[clip][k]);
                    missing.push((
                        clip,
                        k,
                        Time {
                            clip: Some(clip),
                            secs,
                        },
                    ));
                }
            }
        }
        let mut times: Vec<Time> = missing.iter().map(|m| m.2).collect();
        let with_rest = self.rest.is_empty();
        if with_rest {
            times.push(Time {
                clip: None,
                secs: 0.0,
            });
        }
        let drawn = self.group.drawn();
        let (stage, group) = (self.job.stage, self.group);
        let motions = |_: usize, moment: Moment| -> Vec<Vec<DAffine3>> {
            let units = group.units.iter().zip(&self.parents);
            let of = |(&u, parents): (&usize, &Vec<u16>)| {
                let helpers = self.omegas.iter().zip(parents);
                helpers
                    .map(|(omega, &parent)| relative(stage, u, parent, &moment, omega))
                    .collect()
            };
            units.map(of).collect()
        };
        let (clips, task) = (self.job.clips, self.job.task);
        let mut found = stage.map(clips, &times, Wanted::own(&drawn), task, motions)?;
        if with_rest {
            self.rest = found.pop().unwrap_or_default();
        }
        for ((clip, k, _), found) in missing.into_iter().zip(found) {
            self.motions[clip][k] = found;
        }
        Ok(())
    }

    /// Makes the tracks of the helpers from their motions, and the matrices of `views` those of a player.
    fn hang(&mut self, views: &mut Views) {
        self.make_tracks();
        for (moment, matrices) in views.moments.iter().zip(&mut views.matrices) {
            *matrices = self.matrices(moment);
        }
    }

    fn make_tracks(&mut self) {
        let stage = self.job.stage;
        let rest_world = stage
            .document
            .rest_pose()
            .world_matrices(&stage.player_skeleton);
        let units = self.group.units.iter().enumerate();
        self.helpers = units
            .map(|(i, &u)| {
                (0..self.omegas.len())
                    .map(|h| {
                        let parent = self.parents[i][h];
                        let joint = stage.units[u].joints[usize::from(parent)];
                        let clips: Vec<Vec<DAffine3>> = self
                            .motions
                            .iter()
                            .map(|keys| keys.iter().map(|key| key[i][h]).collect())
                            .collect();
                        // A tenth of the tolerance, in the parent's units.
                        let scale = rest_world[joint.get()]
                            .matrix3
                            .determinant()
                            .abs()
                            .cbrt()
                            .max(1e-9);
                        let still = 0.1 * self.job.tolerance / scale;
                        Helper::new(stage, u, parent, self.rest[i][h], &clips, still)
                    })
                    .collect()
            })
            .collect();
    }

    /// Matrices of joints and helpers as a player has them, by unit of the group.
    fn matrices(&self, moment: &Moment) -> Vec<Vec<DAffine3>> {
        let at = moment
            .time
            .clip
            .and_then(|clip| place(&self.keys[clip], moment.time));
        let units = self.group.units.iter().enumerate();
        units
            .map(|(i, &u)| {
                let helpers = self.helpers.get(i).map_or(&[][..], Vec::as_slice);
                let helpers: Vec<DAffine3> = helpers
                    .iter()
                    .map(|h| h.matrix(&moment.world, at))
                    .collect();
                with_helpers(&moment.units[u], &helpers)
            })
            .collect()
    }

    /// Finds the displacements of all meshes on `views`.
    fn find_bases(&mut self, views: &Views, choice: &Choice) -> Result<(), Cancelled> {
        let job = self.job;
        for (i, part) in self.group.meshes.iter().enumerate() {
            job.task.check()?;
            self.bases[i] = (0, Vec::new());
            let seen = views.of_part(job.stage, self.group, part, MOST_MOMENTS);
            let seen: Vec<_> = seen
                .into_iter()
                .filter(|s| views.moments[s.0].time.clip.is_some())
                .collect();
            let points: Vec<(u32, &Row)> = part.active.iter().copied().zip(&self.rows[i]).collect();
            let residuals = residuals(self.group, i, views, &seen, &points);
            let enough = ENOUGH * job.tolerance;
            if residuals.worst() <= enough || job.most_morphs() == 0 {
                continue;
            }
            let bases = residuals.bases(
                choice.morphs[i].saturating_sub(1),
                job.most_morphs(),
                enough,
            );
            let best = bases.into_iter().min_by(|a, b| a.worst.total_cmp(&b.worst));
            if let Some(basis) = best.filter(|b| b.worst < residuals.worst()) {
                let (k, b) = (basis.k, self.sparse(&residuals, basis));
                self.bases[i] = (k, b);
            }
        }
        Ok(())
    }

    /// The displacements without those that hardly move a point.
    fn sparse(&self, residuals: &Residuals, basis: Basis) -> Vec<DVec3> {
        let k = basis.k;
        let reach: Vec<f64> = (0..k)
            .map(|i| {
                basis
                    .w
                    .iter()
                    .skip(i)
                    .step_by(k)
                    .fold(0.0f64, |m, w| m.max(w.abs()))
            })
            .collect();
        let limit = basis.worst.max(0.85 * self.job.tolerance);
        for share in [0.55, 0.4, 0.25, 0.15, 0.08] {
            let least = share * self.job.tolerance / self.unit_scale;
            let mut b = basis.b.clone();
            for (b, reach) in b.iter_mut().zip(reach.iter().cycle()) {
                if b.length() * reach < least {
                    *b = DVec3::ZERO;
                }
            }
            if residuals.worst_with(k, &b, &basis.w) <= limit {
                return b;
            }
        }
        basis.b
    }

    /// Solves the weights at keys that have none, all of them anew without `only`; the errors of all keys.
    fn weigh(&mut self, only: Option<&[Time]>) -> Result<Vec<(f64, Time)>, Cancelled> {
        let all = times_of(&self.keys, self.job.corrected);
        let times: &[Time] = only.unwrap_or(&all);
        let solve = |_: usize, moment: Moment| self.weights_at(&moment);
        let drawn = self.group.drawn();
        let (clips, task) = (self.job.clips, self.job.task);
        let found = self
            .job
            .stage
            .map(clips, times, Wanted::own(&drawn), task, solve)?;
        for (time, found) in times.iter().zip(found) {
            if let Some(clip) = time.clip {
                self.weights
                    .insert((clip, (time.secs as f32).to_bits()), found);
            }
        }
        let errors = all
            .iter()
            .filter_map(|time| Some((self.solved(*time)?.1, *time)));
        Ok(errors.collect())
    }

    fn solved(&self, time: Time) -> Option<&AtKey> {
        self.weights
            .get(&(time.clip?, (time.secs as f32).to_bits()))
    }

    /// The best weights at one moment, by mesh and instance, and the largest error left.
    fn weights_at(&self, moment: &Moment) -> AtKey {
        let matrices = self.matrices(moment);
        let mut largest = 0.0f64;
        let mut meshes = Vec::new();
        for (i, part) in self.group.meshes.iter().enumerate() {
            let (k, b) = &self.bases[i];
            let mut instances = Vec::new();
            for &d in &part.drawn {
                let left = self.left(i, d, &matrices, moment);
                let (w, error) = best_weights(*k, b, &left);
                largest = largest.max(error);
                instances.push(w);
            }
            meshes.push(instances);
        }
        (meshes, largest)
    }

    /// What is left over of the active points of mesh `i` in instance `d`.
    fn left(
        &self,
        i: usize,
        d: usize,
        matrices: &[Vec<DAffine3>],
        moment: &Moment,
    ) -> Vec<(glam::DMat3, DVec3)> {
        let part = &self.group.meshes[i];
        let unit = self.job.stage.drawn[d].unit;
        let u = self
            .group
            .units
            .iter()
            .position(|&x| x == unit)
            .unwrap_or(0);
        let points = part.active.iter().zip(&self.rows[i]);
        points
            .map(|(&p, row)| left_over(part, p, row, &matrices[u], &moment.drawn[d]))
            .collect()
    }

    /// The largest error at a moment between keys.
    fn error_at(&self, moment: &Moment) -> f64 {
        let matrices = self.matrices(moment);
        let Some((clip, k, share)) = moment
            .time
            .clip
            .and_then(|clip| place(&self.keys[clip], moment.time))
        else {
            return 0.0;
        };
        let at = |k: usize| {
            let secs = f64::from(*self.keys[clip].get(k)?);
            self.solved(Time {
                clip: Some(clip),
                secs,
            })
        };
        let mut largest = 0.0f64;
        for (i, part) in self.group.meshes.iter().enumerate() {
            let (n, b) = &self.bases[i];
            for (instance, &d) in part.drawn.iter().enumerate() {
                let of = |k: usize| at(k).map(|s| &s.0[i][instance]);
                let (Some(from), Some(to)) = (of(k), of(k + 1).or(of(k))) else {
                    continue;
                };
                let w: Vec<f64> = from
                    .iter()
                    .zip(to)
                    .map(|(a, b)| a + (b - a) * share)
                    .collect();
                for (p, (a, r)) in self.left(i, d, &matrices, moment).into_iter().enumerate() {
                    let d = displaced(&b[p * n..(p + 1) * n], &w);
                    largest = largest.max((r - a * d).length());
                }
            }
        }
        largest
    }

    /// Adds keys in the middle of intervals in which the played result strays by more than the tolerance, and more
    /// than at their ends; the largest error after that.
    fn add_keys(&mut self, errors: &[(f64, Time)]) -> Result<f64, Cancelled> {
        let at_keys = errors.iter().map(|e| e.0).fold(0.0, f64::max);
        let mut between = 0.0f64;
        let mut intervals: Vec<(usize, f32, f32)> = Vec::new();
        for (clip, keys) in self.keys.iter().enumerate() {
            if self.job.corrected[clip] {
                intervals.extend(keys.windows(2).map(|pair| (clip, pair[0], pair[1])));
            }
        }
        let mut worst_of_new = 0.0f64;
        for round in 0..=KEY_ROUNDS {
            let shares = [0.3, 0.5, 0.7];
            let times: Vec<Time> = intervals
                .iter()
                .flat_map(|&(clip, from, to)| {
                    shares.map(|share| Time {
                        clip: Some(clip),
                        secs: f64::from(from) + share * (f64::from(to) - f64::from(from)),
                    })
                })
                .collect();
            let drawn = self.group.drawn();
            let (clips, task) = (self.job.clips, self.job.task);
            let look = |_: usize, moment: Moment| self.error_at(&moment);
            let found = self
                .job
                .stage
                .map(clips, &times, Wanted::own(&drawn), task, look)?;
            let mut next = Vec::new();
            let mut fresh = Vec::new();
            for (&(clip, from, to), errors) in intervals.iter().zip(found.chunks_exact(3)) {
                let error = errors.iter().copied().fold(0.0, f64::max);
                let end = |t: f32| {
                    let secs = f64::from(t);
                    self.solved(Time {
                        clip: Some(clip),
                        secs,
                    })
                    .map_or(0.0, |s| s.1)
                };
                let long = f64::from(to) - f64::from(from) >= 2.0 * SHORTEST;
                let strays =
                    error > 0.93 * self.job.tolerance && error > 1.02 * end(from).max(end(to));
                if strays && long && round < KEY_ROUNDS {
                    let middle = f32::midpoint(from, to);
                    fresh.push((clip, middle));
                    next.extend([(clip, from, middle), (clip, middle, to)]);
                } else if long || !strays {
                    // A jump takes as long as it takes.
                    between = between.max(error);
                }
            }
            if fresh.is_empty() {
                break;
            }
            for &(clip, time) in &fresh {
                let at = self.keys[clip].partition_point(|&t| t < time);
                self.keys[clip].insert(at, time);
                self.motions[clip].insert(at, Vec::new());
            }
            self.follow()?;
            self.make_tracks();
            let times: Vec<Time> = fresh
                .iter()
                .map(|&(clip, t)| Time {
                    clip: Some(clip),
                    secs: f64::from(t),
                })
                .collect();
            self.weigh(Some(&times))?;
            for &time in &times {
                worst_of_new = worst_of_new.max(self.solved(time).map_or(0.0, |s| s.1));
            }
            intervals = next;
        }
        Ok(at_keys.max(between).max(worst_of_new))
    }

    fn finish(self, worst: f64, bytes: f64) -> Solved {
        let mut meshes = Vec::new();
        for (i, (part, (k, b))) in self.group.meshes.iter().zip(&self.bases).enumerate() {
            let instances = (0..part.drawn.len()).map(|instance| {
                let clips = self.keys.iter().enumerate().map(|(clip, keys)| {
                    let at = |&t: &f32| {
                        let secs = f64::from(t);
                        let solved = self.solved(Time {
                            clip: Some(clip),
                            secs,
                        })?;
                        Some(solved.0[i][instance].clone())
                    };
                    keys.iter().map_while(at).collect()
                });
                clips.collect()
            });
            meshes.push(SolvedMesh {
                rows: self.rows[i].clone(),
                k: *k,
                b: b.clone(),
                weights: instances.collect(),
            });
        }
        Solved {
            helpers: self.helpers,
            omegas: self.omegas.to_vec(),
            keys: self.keys,
            meshes,
            worst,
            unit_scale: self.unit_scale,
            bytes,
        }
    }
}

/// The weights that leave the smallest largest error of a few rounds of least squares, and that error.
fn best_weights(k: usize, b: &[DVec3], left: &[(glam::DMat3, DVec3)]) -> (Vec<f64>, f64) {
    let mut w = vec![0.0; k];
    let errors = |w: &[f64]| -> Vec<f64> {
        let points = left.iter().enumerate();
        points
            .map(|(p, (a, r))| (*r - *a * displaced(&b[p * k..(p + 1) * k], w)).length())
            .collect()
    };
    let worst = |errors: &[f64]| errors.iter().copied().fold(0.0, f64::max);
    let mut now = errors(&w);
    let mut best = (w.clone(), worst(&now));
    if k == 0 {
        return best;
    }
    let mut om = vec![1.0; left.len()];
    for round in 0..4 {
        let mut system = WeightSystem::new(k);
        for (p, (a, r)) in left.iter().enumerate() {
            system.add(*a, &b[p * k..(p + 1) * k], *r, om[p]);
        }
        system.solve(&mut w);
        now = errors(&w);
        let error = worst(&now);
        // The plain solution is the one that runs smoothly from key to key: another one has to be worth it.
        if round == 0 || error < 0.97 * best.1 {
            best = (w.clone(), error);
        }
        let rms = (now.iter().map(|e| e * e).sum::<f64>() / now.len().max(1) as f64).sqrt();
        if rms <= 0.0 {
            break;
        }
        for (om, e) in om.iter_mut().zip(&now) {
            *om *= (e / rms).powf(0.7) + 0.3;
        }
    }
    best
}
