//! The bake of one group: choose helpers and morphs by their bytes, solve the weights at all keys with the matrices that
//! a player has, and key where the played result strays between them.

use super::alternate::Turns;
use super::angles::compared_normals;
use super::basis::Residuals;
use super::flips::Flip;
use super::greedy::{Aim, Search, Snapshot, Views, left_over, search};
use super::group::{Group, Part, Survey, times_of};
use super::helpers::Helper;
use super::played::Played;
use super::retarget;
use super::rows::{Care, Row};
use super::stage::{Clips, Moment, Stage, Time, Wanted};
use super::{BakeMode, BakeOptions};
use crate::task::{Cancelled, Task};
use glam::{DAffine3, DVec3};
use rayon::prelude::*;

/// And at most, with the worst that turned up later.
pub(super) const MOST_MOMENTS: usize = 140;
/// What is found on those may be off by this share of the tolerance: moments in between are worse.
pub(super) const ENOUGH: f64 = 0.7;
/// What is found at keys and between them is to leave some of the tolerance to moments that were not looked at.
const SAFE: f64 = 0.96;
/// Choices that are worked out to the end.
const TRIES: usize = 5;
/// A choice is not tried after others where a few moments stray by so many tolerances.
const HOPELESS: f64 = 1.3;
/// Nor do more moments help where it is off by so many tolerances after some of them.
const FAR: f64 = 1.4;
/// Nor is it worked out to the end where the moments it was found on are off by this share of the tolerance.
const HOPELESS_TURNS: f64 = 0.93;
/// Times that what strayed joins the moments that displacements are found on, and how many each time.
const MORE_ROUNDS: usize = 4;
const MORE_MOMENTS: usize = 12;
/// Helpers that follow corrections lie at least this share of the diagonal apart where their weights are alike.
const GAP: f64 = 0.03;
/// What is found before motions, weights and displacements take turns may be off by so much more where they do.
const TURNS: f64 = 1.9;
/// Keys of helpers that tell less than this share of the tolerance are left out; tried in turn.
const THIN: [f64; 3] = [0.15, 0.05, 0.0];
/// Bytes that a helper takes in a file besides its keys: its node, its slot; and each of its tracks.
const HELPER_BYTES: f64 = 160.0;
const TRACK_BYTES: f64 = 180.0;
/// Keys that stay of those of a helper.
const THINNED: f64 = 0.7;
/// And a morph target, and an entry of one; as much again where it turns normals.
const MORPH_BYTES: f64 = 330.0;
const ENTRY_BYTES: f64 = 14.0;

/// How much is looked at before helpers and morphs are chosen.
pub(super) struct Effort {
    /// Most moments of the clips.
    pub(super) moments: usize,
    /// Moments that helpers and displacements are found on.
    pub(super) telling: usize,
    /// Helpers looked for.
    pub(super) helpers: usize,
}

impl Effort {
    /// What a bake takes.
    const WHOLE: Self = Self {
        moments: usize::MAX,
        telling: 84,
        helpers: 96,
    };
}

/// What helpers and morphs are chosen by.
pub(super) struct Prepared {
    pub(super) survey: Survey,
    pub(super) views: Views,
    pub(super) care: Care,
    pub(super) found: Search,
}

/// What all choices for a group share.
#[derive(Clone, Copy)]
struct Grounds<'a> {
    survey: &'a Survey,
    found: &'a Search,
    care: Care,
}

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
    pub(super) bytes: f64,
    /// Where the skin itself jumps.
    pub(super) flips: Vec<Flip>,
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
pub(super) struct Choice {
    snapshot: usize,
    pub(super) helpers: usize,
    pub(super) morphs: Vec<usize>,
    pub(super) bytes: f64,
    pub(super) worst: f64,
}

impl Job<'_> {
    /// The bake of a group; `None` where nothing needs one.
    pub(super) fn solve(&self, group: &mut Group) -> Result<Option<Solved>, Cancelled> {
        let Some(prepared) = self.prepare(group, &Effort::WHOLE)? else {
            return Ok(None);
        };
        let Prepared {
            survey,
            mut views,
            care,
            found,
        } = prepared;
        let group: &Group = group;
        self.task.step("Weighing joints against morphs", 0.4)?;
        let choices = self.choices(group, &views, &found, &survey)?;
        let grounds = Grounds {
            survey: &survey,
            found: &found,
            care,
        };
        let mut best: Option<Solved> = None;
        let mut given_up: Option<(f64, &Choice)> = None;
        let mut least = 0;
        let mut tries = 0;
        for choice in &choices {
            // What is far off on a few moments will not be near on all; and a few helpers more change little.
            if choice.helpers < least
                || tries >= TRIES
                || best.is_some() && choice.worst > HOPELESS * self.promise(group)
            {
                continue;
            }
            tries += 1;
            self.task.step("Solving", 0.4 + 0.1 * tries as f32)?;
            match self.work_out(group, &mut views, choice, grounds, true)? {
                Ok(solved) => best = Some(self.better(best, solved)),
                Err(worst) if given_up.is_none_or(|other| worst < other.0) => {
                    given_up = Some((worst, choice));
                }
                Err(_) => {}
            }
            if best.as_ref().is_some_and(|best| self.meets(best)) {
                return Ok(best);
            }
            if self.refines(group) && choice.helpers > 0 {
                least = choice.helpers + choice.helpers.div_ceil(4);
            }
        }
        if let Some((_, choice)) = given_up.filter(|_| best.is_none())
            && let Ok(solved) = self.work_out(group, &mut views, choice, grounds, false)?
        {
            best = Some(solved);
        }
        Ok(best)
    }

    fn meets(&self, solved: &Solved) -> bool {
        solved.worst <= SAFE * self.tolerance
    }

    /// The one that meets the tolerance in fewer bytes, or is nearer to it.
    fn better(&self, best: Option<Solved>, solved: Solved) -> Solved {
        match best {
            Some(best) => {
                let better = match (self.meets(&best), self.meets(&solved)) {
                    (false, false) => solved.worst < best.worst,
                    (met, meets) => meets && (!met || solved.bytes < best.bytes),
                };
                if better { solved } else { best }
            }
            None => solved,
        }
    }

    /// What helpers and morphs are chosen by; `None` where no point is off.
    pub(super) fn prepare(
        &self,
        group: &mut Group,
        effort: &Effort,
    ) -> Result<Option<Prepared>, Cancelled> {
        self.task.step("Looking at the clips", 0.05)?;
        let survey = group.survey(
            self.stage,
            self.clips,
            self.corrected,
            self.tolerance,
            effort,
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
        // Where helpers follow corrections, linear parts are not those of the blends and count for less.
        let care_for = if self.refines(group) { 0.006 } else { 0.02 };
        let care = Care {
            linear: care_for * self.diagonal / Self::unit_scale(&views, group),
            weights: care_for * self.diagonal,
        };
        self.task.step("Placing helper joints", 0.2)?;
        let room = self
            .options
            .max_joints
            .saturating_sub(group.n_joints.unwrap_or(usize::MAX));
        let aim = Aim {
            most: room.min(retarget::most_helpers(self.options.mode, effort.helpers)),
            enough: ENOUGH * self.tolerance,
            care,
            gap: GAP * self.diagonal / Self::unit_scale(&views, group),
            refines: self.refines(group),
        };
        let found = search(self.stage, group, &mut views, aim, self.task)?;
        Ok(Some(Prepared {
            survey,
            views,
            care,
            found,
        }))
    }

    /// The smallest factor from bind space to the world, so that linear parts compare with 1.
    pub(super) fn unit_scale(views: &Views, group: &Group) -> f64 {
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

    /// Whether any stack does more than skin.
    fn corrects(&self, group: &Group) -> bool {
        group.meshes.iter().any(|part| {
            let item = self.stage.item(part.mesh);
            let stack = item.map(|item| item.stack.as_applied());
            stack.is_some_and(|s| s.corrects_bulges() || s.smooth.acts())
        })
    }

    /// Whether helpers leave their blends to follow corrections: no engine could drive them by new clips then.
    pub(super) fn refines(&self, group: &Group) -> bool {
        self.options.mode == BakeMode::Clips && self.corrects(group)
    }

    /// Moments to place helpers by: these follow the skinning without what corrects it.
    fn moments(&self, group: &Group, times: &[Time]) -> Result<Vec<Moment>, Cancelled> {
        let drawn = group.drawn();
        let wanted = Wanted {
            uncorrected: self.corrects(group) && !self.refines(group),
            ..Wanted::own(&drawn)
        };
        let keep = |_: usize, moment: Moment| moment;
        self.stage.map(self.clips, times, wanted, self.task, keep)
    }

    /// Helpers and morphs to try, the smallest that promise to meet the tolerance first.
    pub(super) fn choices(
        &self,
        group: &Group,
        views: &Views,
        found: &Search,
        survey: &Survey,
    ) -> Result<Vec<Choice>, Cancelled> {
        let n_keys: usize = survey.keys.iter().map(Vec::len).sum();
        let n_moved = survey.keys.iter().filter(|keys| !keys.is_empty()).count();
        // Turns take 8 bytes a key, shifts 12.
        let (tracks, key_bytes) = if self.refines(group) {
            (2.0, 20.0)
        } else {
            (1.0, 8.0)
        };
        let per_helper = group.units.len() as f64
            * (HELPER_BYTES
                + THINNED * key_bytes * n_keys as f64
                + tracks * TRACK_BYTES * n_moved as f64);
        let mut choices: Vec<Choice> = found
            .snapshots
            .iter()
            .enumerate()
            .map(|(i, snapshot)| {
                let mut choice = Choice {
                    snapshot: i,
                    helpers: snapshot.helpers,
                    morphs: Vec::new(),
                    bytes: per_helper * snapshot.helpers as f64,
                    worst: 0.0,
                };
                for i in 0..group.meshes.len() {
                    let (k, bytes, worst) =
                        self.estimate(group, views, found, snapshot, i, survey)?;
                    choice.morphs.push(k);
                    choice.bytes += bytes;
                    choice.worst = choice.worst.max(worst);
                }
                Ok(choice)
            })
            .collect::<Result<_, Cancelled>>()?;
        let enough = self.promise(group);
        choices.sort_by(|a, b| match (a.worst <= enough, b.worst <= enough) {
            (true, true) => a.bytes.total_cmp(&b.bytes),
            (false, false) => a.worst.total_cmp(&b.worst),
            (a, b) => b.cmp(&a),
        });
        Ok(choices)
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
    ) -> Result<(usize, f64, f64), Cancelled> {
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
                left_over(part, *p, row, &snapshot.matrices[m][u], drawn)
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
            return Ok((0, 0.0, 0.0));
        };
        if errors[first] <= enough {
            return Ok((0, 0.0, errors[first]));
        }
        let most = self.most_morphs();
        if most == 0 {
            return Ok((0, 0.0, errors[first]));
        }
        // The worst, and some of the others.
        let worst: Vec<usize> = order.iter().copied().take(250).collect();
        let others = order
            .iter()
            .copied()
            .skip(250)
            .step_by((order.len() / 150).max(1));
        let sample: Vec<(u32, &Row)> = worst.into_iter().chain(others).map(|o| points[o]).collect();
        let residuals = residuals(part, &views.moments, &snapshot.matrices, &seen, &sample);
        let bases = residuals.bases(1, most, enough, self.task)?;
        let Some(basis) = bases.iter().min_by(|a, b| a.worst.total_cmp(&b.worst)) else {
            return Ok((0, 0.0, errors[first]));
        };
        let needed = errors.iter().filter(|e| **e > 0.5 * self.tolerance).count();
        let share = needed as f64 / points.len().max(1) as f64;
        let vertices = part.geometry.n_vertices() as f64 / part.geometry.n_points().max(1) as f64;
        let entries = share * part.active.len() as f64 * vertices * 0.7;
        let keys = times_of(&survey.keys, self.corrected).len() as f64;
        let n_clips = self.corrected.iter().filter(|c| **c).count() as f64;
        let k = basis.k as f64;
        let item = self.stage.item(part.mesh).filter(|_| self.options.normals);
        let turns =
            item.is_some_and(|item| !compared_normals(&part.geometry, &item.influences).is_empty());
        let entry_bytes = if turns {
            2.0 * ENTRY_BYTES
        } else {
            ENTRY_BYTES
        };
        let bytes = k * (entries * entry_bytes + MORPH_BYTES)
            + part.drawn.len() as f64 * (2.0 * (k + 1.0) * keys + TRACK_BYTES * n_clips);
        Ok((basis.k, bytes, basis.worst))
    }

    /// Helpers and displacements that are off by at most this on a few moments are tried by their size.
    fn promise(&self, group: &Group) -> f64 {
        1.05f64.max(self.turns(group)) * ENOUGH * self.tolerance
    }

    /// By how much turns of motions, weights and displacements make less of what is off.
    pub(super) fn turns(&self, group: &Group) -> f64 {
        if self.refines(group) { TURNS } else { 1.0 }
    }

    /// Points whose weights leave less than this need no better ones.
    pub(super) fn fit(&self) -> f64 {
        0.3 * self.tolerance
    }

    /// Displacements besides the one that makes weights positive.
    pub(super) fn most_morphs(&self) -> usize {
        let extra = usize::from(self.options.unipolar);
        self.options.max_morphs.saturating_sub(extra)
    }

    /// A choice worked out: rows, tracks, displacements, weights and keys; or how far it is off on the moments it was
    /// found on, where that leaves no hope and it `may_give_up`.
    fn work_out(
        &self,
        group: &Group,
        views: &mut Views,
        choice: &Choice,
        grounds: Grounds<'_>,
        may_give_up: bool,
    ) -> Result<Result<Solved, f64>, Cancelled> {
        let Grounds {
            survey,
            found,
            care,
        } = grounds;
        let omegas = &found.omegas[..choice.helpers];
        views.restore(&found.snapshots[choice.snapshot]);
        let seeds = &found.seeds[..choice.helpers];
        let turns = Turns::new(self, group, omegas, seeds, choice, care);
        let taken = turns.take(views, None)?;
        // What strays on the moments it was found on strays more on all of them.
        if may_give_up && taken.worst > HOPELESS_TURNS * self.tolerance {
            return Ok(Err(taken.worst));
        }
        let unit_scale = Self::unit_scale(views, group);
        let mut baked = Played::new(self, group, omegas, survey, taken, unit_scale);
        baked.follow()?;
        baked.hang(views);
        baked.find_bases(views, choice)?;
        let mut best = (f64::INFINITY, baked.clone());
        // Moments that the displacements do not know, at keys and between them: with the worst of them they are found
        // again.
        for round in 0..=MORE_ROUNDS {
            let at_keys = baked.weigh(None)?;
            let (worst, between) = baked.add_keys(&at_keys)?;
            if worst < best.0 {
                best = (worst, baked.clone());
            }
            let mut missed: Vec<(f64, Time)> = at_keys.into_iter().chain(between).collect();
            missed.retain(|m| m.0 > self.tolerance * 0.9);
            if worst <= SAFE * self.tolerance
                || missed.is_empty()
                || round > 0 && worst > FAR * self.tolerance
                || views.moments.len() >= MOST_MOMENTS
                || round == MORE_ROUNDS
            {
                break;
            }
            missed.sort_by(|a, b| b.0.total_cmp(&a.0));
            missed.truncate(MORE_MOMENTS);
            let known = |t: &Time| views.moments.iter().any(|m| m.time == *t);
            let fresh = missed.into_iter().map(|m| m.1);
            let fresh: Vec<Time> = fresh.filter(|t| !known(t)).collect();
            if fresh.is_empty() {
                break;
            }
            let mut add = Views::new(self.moments(group, &fresh)?, group);
            views.moments.append(&mut add.moments);
            views.matrices.append(&mut add.matrices);
            views.weights.append(&mut add.weights);
            // More turns, with what was found so far.
            if let Some(rows) = baked.refined_rows() {
                baked.renew(turns.take(views, Some(rows))?);
                baked.follow()?;
            }
            baked.hang(views);
            baked.find_bases(views, choice)?;
        }
        let (mut worst, mut baked) = best;
        if !omegas.is_empty() {
            for share in THIN {
                let thin = baked.thin(share)?;
                if thin <= (1.01 * worst).max(SAFE * self.tolerance) {
                    worst = thin;
                    break;
                }
            }
        }
        let bytes = choice.bytes;
        Ok(Ok(baked.finish(worst, bytes, survey.flips.clone())))
    }
}

/// The residuals of `points` with their rows, in the views `seen` of these moments and their matrices.
pub(super) fn residuals(
    part: &Part,
    moments: &[Moment],
    matrices: &[Vec<Vec<DAffine3>>],
    seen: &[(usize, usize, usize)],
    points: &[(u32, &Row)],
) -> Residuals {
    let t = seen.len();
    let mut a = vec![[0.0f32; 9]; t * points.len()];
    let mut r = vec![[0.0f32; 3]; t * points.len()];
    let rows = a.par_chunks_mut(t.max(1)).zip(r.par_chunks_mut(t.max(1)));
    rows.zip(points).for_each(|((a, r), (p, row))| {
        for ((a, r), &(m, d, u)) in a.iter_mut().zip(r).zip(seen) {
            let (matrix, rest) = left_over(part, *p, row, &matrices[m][u], &moments[m].drawn[d]);
            *a = matrix.to_cols_array().map(|x| x as f32);
            *r = rest.to_array().map(|x| x as f32);
        }
    });
    Residuals { t, a, r }
}
