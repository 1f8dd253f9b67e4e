//! What is baked together: meshes and skins that hang together, as they are before anything is baked.

use super::flips::{self, Flip};
use super::rows::{INFLUENCES, Row, blended, limited, normalised};
use super::solve::Effort;
use super::stage::{Clips, DrawnMoment, Moment, Stage, Time, UnitMoment, Wanted};
use super::times::key_times;
use crate::document::MeshId;
use crate::mesh::Mesh;
use crate::task::{Cancelled, Task};
use glam::{DAffine3, DVec3, Vec3};
use rayon::prelude::*;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// Points off by less than this share of the tolerance are left as they are.
const IDLE: f64 = 0.4;

/// Points whose errors tell moments apart.
const WITNESSES: usize = 150;

/// Meshes and units that hang together: they share helper joints.
pub(super) struct Group {
    pub(super) units: Vec<usize>,
    /// All of these units' skins list this many joints; `None`: they differ, and no helper joint can have one slot in
    /// all of them.
    pub(super) n_joints: Option<usize>,
    pub(super) meshes: Vec<Part>,
}

/// One mesh of a group.
pub(super) struct Part {
    pub(super) mesh: MeshId,
    pub(super) geometry: Arc<Mesh>,
    /// Its instances.
    pub(super) drawn: Vec<usize>,
    /// n_points, as the artist has them, summing to 1.
    pub(super) omega: Vec<Row>,
    /// n_points, as a file without correction has them.
    pub(super) base: Vec<Row>,
    /// Points that need correction.
    pub(super) active: Vec<u32>,
    /// How far those are off without one, world.
    pub(super) off: Vec<f32>,
}

/// Keys and moments of a group, found by looking at all of them once.
pub(super) struct Survey {
    /// By clip.
    pub(super) keys: Vec<Vec<f32>>,
    /// The moments that differ most from each other in what linear skinning leaves over, most telling first.
    pub(super) telling: Vec<Time>,
    /// Where the skin itself jumps, keyed on both sides.
    pub(super) flips: Vec<Flip>,
}

impl Part {
    /// The bind place of a point with the source's morph targets.
    pub(super) fn bind(&self, point: u32, drawn: &DrawnMoment) -> DVec3 {
        let p = point as usize;
        let mut place = self.geometry.positions[p];
        for (morph, &weight) in self.geometry.morphs.iter().zip(&drawn.morph_weights) {
            if weight != 0.0 {
                place += morph.deltas[p] * weight;
            }
        }
        place.as_dvec3()
    }

    /// How far a file without correction is off.
    fn error(&self, point: u32, drawn: &DrawnMoment, unit: &UnitMoment) -> Vec3 {
        let matrix = blended(&self.base[point as usize], &unit.matrices);
        let place = matrix.transform_point3(self.bind(point, drawn));
        (drawn.target[point as usize].as_dvec3() - place).as_vec3()
    }

    /// Points that tell moments apart.
    fn witnesses(&self, most: usize) -> Vec<u32> {
        let blended = (0..self.omega.len() as u32).filter(|&p| self.omega[p as usize].len() > 1);
        let blended: Vec<u32> = blended.collect();
        let step = blended.len().div_ceil(most.max(1)).max(1);
        blended.into_iter().step_by(step).collect()
    }
}

impl Group {
    /// The groups of everything that is drawn with skins.
    pub(super) fn all(stage: &Stage<'_>) -> Vec<Self> {
        let mut of_unit: Vec<usize> = (0..stage.units.len()).collect();
        // Units that draw one mesh share their helpers' slots.
        for a in &stage.drawn {
            for b in &stage.drawn {
                let (from, to) = (of_unit[a.unit], of_unit[b.unit]);
                if a.mesh == b.mesh && from != to {
                    let (low, high) = (from.min(to), from.max(to));
                    of_unit
                        .iter_mut()
                        .filter(|u| **u == high)
                        .for_each(|u| *u = low);
                }
            }
        }
        let names: BTreeSet<usize> = of_unit.iter().copied().collect();
        let groups = names.into_iter().map(|name| {
            let units: Vec<usize> = (0..of_unit.len()).filter(|&u| of_unit[u] == name).collect();
            let mut sizes = units.iter().map(|&u| stage.units[u].joints.len());
            let first = sizes.next();
            let n_joints = first.filter(|n| sizes.all(|size| size == *n));
            let drawn = stage.drawn.iter().enumerate();
            let drawn = drawn.filter(|(_, d)| units.contains(&d.unit));
            let drawn: Vec<(usize, MeshId)> = drawn.map(|(i, d)| (i, d.mesh)).collect();
            let meshes: BTreeSet<MeshId> = drawn.iter().map(|d| d.1).collect();
            let parts = meshes.into_iter().filter_map(|mesh| {
                let item = stage.item(mesh)?;
                let own = drawn.iter().filter(|d| d.1 == mesh).map(|d| d.0);
                let row = |row: crate::skinning::RowRef<'_>| -> Row {
                    row.iter()
                        .map(|(j, w)| (j, f64::from(w)))
                        .filter(|r| r.1 > 0.0)
                        .collect()
                };
                let omega: Vec<Row> = item.influences.iter().map(|r| normalised(row(r))).collect();
                // What has no weights follows the first joint in a file.
                let omega: Vec<Row> = omega
                    .into_iter()
                    .map(|row| if row.is_empty() { vec![(0, 1.0)] } else { row })
                    .collect();
                Some(Part {
                    mesh,
                    geometry: item.geometry.clone(),
                    drawn: own.collect(),
                    base: omega.iter().map(of_file).collect(),
                    omega,
                    active: Vec::new(),
                    off: Vec::new(),
                })
            });
            let meshes = parts.collect();
            Self {
                units,
                n_joints,
                meshes,
            }
        });
        groups.collect()
    }

    /// All instances of the group.
    pub(super) fn drawn(&self) -> Vec<usize> {
        self.meshes
            .iter()
            .flat_map(|part| part.drawn.iter().copied())
            .collect()
    }

    /// Joints that move the group: those of its skins, what is above them, and the nodes with morph weights.
    fn movers(&self, stage: &Stage<'_>) -> BTreeSet<u32> {
        let skeleton = stage.document.skeleton();
        let joints = self
            .units
            .iter()
            .flat_map(|&u| stage.units[u].joints.iter());
        let nodes = self.drawn().into_iter().map(|d| stage.drawn[d].node);
        let mut movers = BTreeSet::new();
        for &joint in joints {
            movers.extend(skeleton.ancestors(joint).chain([joint]).map(|j| j.0));
        }
        movers.extend(nodes.map(|j| j.0));
        movers
    }

    /// Looks at all keys of the `corrected` clips: which points need correction at all, and when.
    pub(super) fn survey(
        &mut self,
        stage: &Stage<'_>,
        clips: &Clips<'_>,
        corrected: &[bool],
        tolerance: f64,
        effort: &Effort,
        task: &Task,
    ) -> Result<Survey, Cancelled> {
        let movers = self.movers(stage);
        let rest = stage.document.rest_pose();
        let keys = clips
            .played
            .iter()
            .map(|clip| key_times(clip, rest, &movers));
        let mut keys: Vec<Vec<f32>> = keys.collect();
        let times = times_of(&keys, corrected);
        let step = times.len().div_ceil(effort.moments).max(1);
        let times: Vec<Time> = times.into_iter().step_by(step).collect();
        let worst: Vec<Vec<AtomicU32>> = self
            .meshes
            .iter()
            .map(|part| part.base.iter().map(|_| AtomicU32::new(0)).collect())
            .collect();
        let n_parts = self.meshes.len();
        let witnesses: Vec<Vec<u32>> = self
            .meshes
            .iter()
            .map(|part| part.witnesses(WITNESSES / n_parts.max(1)))
            .collect();
        let chosen = self.drawn();
        // Where moments are left out, what happens between them cannot be told.
        let pairs = if step == 1 {
            flips::pairs(stage, self)
        } else {
            Vec::new()
        };
        let look = |_: usize, moment: Moment| {
            let mut signature: Vec<Vec3> = Vec::new();
            for ((part, worst), witnesses) in self.meshes.iter().zip(&worst).zip(&witnesses) {
                for &d in &part.drawn {
                    let unit = &moment.units[stage.drawn[d].unit];
                    let drawn = &moment.drawn[d];
                    let error = |p: u32| part.error(p, drawn, unit);
                    let lengths = worst.par_iter().enumerate().with_min_len(2048);
                    lengths.for_each(|(p, worst)| {
                        // Bits of floats that are not negative stand in the order of the floats.
                        let length = error(p as u32).length();
                        worst.fetch_max(length.max(0.0).to_bits(), Ordering::Relaxed);
                    });
                    signature.extend(witnesses.iter().map(|&p| error(p)));
                }
            }
            (signature, flips::turned(&pairs, &moment))
        };
        let looked = stage.map(clips, &times, Wanted::own(&chosen), task, look)?;
        let (signatures, turned): (Vec<_>, Vec<_>) = looked.into_iter().unzip();
        for (part, worst) in self.meshes.iter_mut().zip(&worst) {
            for (p, bits) in worst.iter().enumerate() {
                let off = f32::from_bits(bits.load(Ordering::Relaxed));
                if f64::from(off) > IDLE * tolerance {
                    part.active.push(p as u32);
                    part.off.push(off);
                }
            }
        }
        let order = farthest(&signatures, effort.telling);
        let telling = order.into_iter().map(|i| times[i]).collect();
        let flips = if self.is_off() {
            flips::find(stage, clips, &chosen, &pairs, &times, &turned, task)?
        } else {
            Vec::new()
        };
        for flip in &flips {
            flips::key_both_sides(&mut keys[flip.clip], flip.time);
        }
        Ok(Survey {
            keys,
            telling,
            flips,
        })
    }

    /// The active points, by part, `most` of them at most, spread evenly.
    pub(super) fn active(&self, most: usize) -> Vec<Vec<u32>> {
        let n: usize = self.meshes.iter().map(|part| part.active.len()).sum();
        let step = n.div_ceil(most.max(1)).max(1);
        let parts = self.meshes.iter();
        let few = parts.map(|part| part.active.iter().copied().step_by(step).collect());
        few.collect()
    }

    /// What the `all` of the active points have, by part, for some `points` of them.
    pub(super) fn of_points<T: Clone>(&self, all: &[Vec<T>], points: &[Vec<u32>]) -> Vec<Vec<T>> {
        let parts = self.meshes.iter().zip(all).zip(points);
        let few = parts.map(|((part, all), points)| {
            let places = points
                .iter()
                .filter_map(|p| part.active.binary_search(p).ok());
            places.map(|a| all[a].clone()).collect()
        });
        few.collect()
    }

    /// Whether any point needs correction.
    pub(super) fn is_off(&self) -> bool {
        self.meshes.iter().any(|part| !part.active.is_empty())
    }
}

/// The row that a file without correction has for one of the artist's; the same bits where it may have all of it, so
/// that what does not change is seen not to.
fn of_file(row: &Row) -> Row {
    if row.len() > INFLUENCES {
        limited(row.clone())
    } else {
        row.clone()
    }
}

/// All keys of the chosen clips.
pub(super) fn times_of(keys: &[Vec<f32>], chosen: &[bool]) -> Vec<Time> {
    let clips = keys
        .iter()
        .zip(chosen)
        .enumerate()
        .filter(|(_, (_, c))| **c);
    let times = clips.flat_map(|(clip, (keys, _))| {
        keys.iter().map(move |&t| Time {
            clip: Some(clip),
            secs: f64::from(t),
        })
    });
    times.collect()
}

/// Indices of at most `most` signatures, each the farthest from those before it; the first is the longest.
fn farthest(signatures: &[Vec<Vec3>], most: usize) -> Vec<usize> {
    let square = |a: &[Vec3], b: Option<&[Vec3]>| -> f32 {
        let of = |i: usize| b.map_or(Vec3::ZERO, |b| b[i]);
        a.iter()
            .enumerate()
            .map(|(i, a)| a.distance_squared(of(i)))
            .sum()
    };
    let mut gap: Vec<f32> = signatures.iter().map(|s| square(s, None)).collect();
    let mut chosen = Vec::new();
    while chosen.len() < most.min(signatures.len()) {
        let next = (0..gap.len()).reduce(|a, b| if gap[b] > gap[a] { b } else { a });
        let Some(next) = next.filter(|&i| gap[i] > 0.0) else {
            break;
        };
        chosen.push(next);
        gap.par_iter_mut().zip(signatures).for_each(|(gap, s)| {
            *gap = gap.min(square(s, Some(&signatures[next])));
        });
        gap[next] = 0.0;
    }
    chosen
}

/// Matrices of a unit's joints and then of helpers.
pub(super) fn with_helpers(unit: &UnitMoment, helpers: &[DAffine3]) -> Vec<DAffine3> {
    unit.matrices.iter().chain(helpers).copied().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_farthest_come_first() {
        let at = |x: f32| vec![Vec3::new(x, 0.0, 0.0)];
        let signatures = [at(1.0), at(1.1), at(5.0), at(3.0), at(0.0)];
        assert_eq!(farthest(&signatures, 3), [2, 3, 1]);
        assert_eq!(farthest(&signatures[4..], 3), Vec::<usize>::new());
    }
}
