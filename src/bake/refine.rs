//! Motions of helper joints, fitted to what the skin does where corrections move it.
//!
//! A helper begins as the dual quaternion blend of its weights. Corrections push skin off that way; what they do to the
//! points that follow a helper is often a small turn, shift and stretch, which its own track holds. For one moment,
//! `min sum_p |r_p - sum_h w_ph J_hp d_h|^2 + sum_h ridge m_h |d_h|^2` over the deviations d of all helpers at once
//! (turn, stretch, shift), m the mass of its points; a few rounds of Gauss and Newton. The ridge keeps what no point asks
//! for at the blend, and so the answer smooth in time. Source: skinning decomposition (Le and Deng 2012), with the
//! joints and the blend given.

use super::envelope::Envelope;
use super::greedy::Views;
use super::group::{Group, Part};
use super::helpers::{parent_slot, relative};
use super::rows::Row;
use super::stage::{Moment, Stage};
use crate::math::dual_quaternion::quat_from_rotation;
use crate::math::polar;
use crate::task::{Cancelled, Task};
use glam::{DAffine3, DMat3, DQuat, DVec3};
use rayon::prelude::*;

/// What a helper's deviation costs beside what its points are off.
const RIDGE: f64 = 1e-3;
/// And its stretch, which takes a track of its own.
const STRETCH_RIDGE: f64 = 4e-3;
/// Rounds of Gauss and Newton.
const ROUNDS: usize = 2;
/// Turn, stretch, shift.
const FREE: usize = 9;
/// A helper stretches by at most this.
const MOST_STRETCH: f64 = 3.0;
/// Points of a part that motions are fitted to.
const MOST_POINTS: usize = 2000;

/// Fits the motions of helpers to the points that follow them.
pub(super) struct Refiner<'a> {
    stage: &'a Stage<'a>,
    group: &'a Group,
    omegas: Vec<Row>,
    n_joints: usize,
    /// By unit of the group, then by helper.
    seats: Vec<Vec<Seat>>,
    /// By part.
    points: Vec<Vec<Pulled>>,
    envelope: Envelope,
}

/// Where a helper's deviation turns and stretches about.
struct Seat {
    parent: u16,
    /// The middle of its points, the parent's bind space.
    centre: DVec3,
    /// How far they are from it.
    reach: f64,
    /// The sum of their squared weights.
    mass: f64,
}

/// A point, and the row that pulls it.
struct Pulled {
    point: u32,
    row: Row,
}

/// A helper in the making.
struct Bent {
    rotation: DMat3,
    stretch: DVec3,
    place: DVec3,
    deviation: [f64; FREE],
}

impl<'a> Refiner<'a> {
    /// For helpers of weights `omegas`; `rows`: by part, points and their rows.
    pub(super) fn new(
        stage: &'a Stage<'a>,
        group: &'a Group,
        omegas: &[Row],
        rows: impl Iterator<Item = Vec<(u32, Row)>>,
    ) -> Self {
        let n_joints = group.n_joints.unwrap_or(0);
        let points = rows.map(|rows| {
            let pulled = rows.into_iter().filter(|(_, row)| {
                let is_helper = |r: &(u16, f64)| usize::from(r.0) >= n_joints;
                row.iter().any(is_helper)
            });
            let all: Vec<Pulled> = pulled.map(|(point, row)| Pulled { point, row }).collect();
            let step = all.len().div_ceil(MOST_POINTS).max(1);
            all.into_iter().step_by(step).collect()
        });
        let points: Vec<Vec<Pulled>> = points.collect();
        let seats = group.units.iter().map(|&u| {
            let helpers = omegas.iter().enumerate();
            let seat = |(h, omega): (usize, &Row)| {
                let parent = parent_slot(stage, u, omega);
                let bind = stage.units[u].inverse_bind[usize::from(parent)];
                Seat::new(group, &points, n_joints + h, parent, bind)
            };
            helpers.map(seat).collect()
        });
        let seats: Vec<Vec<Seat>> = seats.collect();
        let parents: Vec<u16> = seats
            .first()
            .map_or_else(Vec::new, |seats| seats.iter().map(|s| s.parent).collect());
        let mut envelope = Envelope::new(&parents, FREE);
        for pulled in points.iter().flatten() {
            let slots = pulled.row.iter().map(|r| usize::from(r.0));
            envelope.join(slots.filter_map(|slot| slot.checked_sub(n_joints)));
        }
        Self {
            stage,
            group,
            omegas: omegas.to_vec(),
            n_joints,
            seats,
            points,
            envelope,
        }
    }

    /// The motions of the helpers of the group's `i`-th unit at a moment, each relative to its parent.
    pub(super) fn motions(&self, moment: &Moment, i: usize) -> Vec<DAffine3> {
        let u = self.group.units[i];
        let unit = &self.stage.units[u];
        let seats = &self.seats[i];
        let blends: Vec<DAffine3> = seats
            .iter()
            .zip(&self.omegas)
            .map(|(seat, omega)| relative(self.stage, u, seat.parent, moment, omega))
            .collect();
        let mut bent: Vec<Bent> = seats
            .iter()
            .zip(&blends)
            .map(|(seat, blend)| Bent::new(blend, seat.centre))
            .collect();
        let worlds: Vec<DAffine3> = seats
            .iter()
            .map(|seat| moment.world[unit.joints[usize::from(seat.parent)].get()])
            .collect();
        let binds: Vec<DAffine3> = seats
            .iter()
            .map(|seat| unit.inverse_bind[usize::from(seat.parent)])
            .collect();
        let scales: Vec<f64> = worlds
            .iter()
            .map(|w| w.matrix3.determinant().abs().cbrt().max(1e-12))
            .collect();
        for _ in 0..ROUNDS {
            let mut system = self.envelope.system();
            let axes: Vec<DMat3> = worlds
                .iter()
                .zip(&bent)
                .map(|(world, bent)| world.matrix3 * bent.rotation)
                .collect();
            for (part, points) in self.group.meshes.iter().zip(&self.points) {
                let drawn = part
                    .drawn
                    .iter()
                    .filter(|&&d| self.stage.drawn[d].unit == u);
                for &d in drawn {
                    let drawn = &moment.drawn[d];
                    for pulled in points {
                        let place = part.bind(pulled.point, drawn);
                        let mut left = drawn.target[pulled.point as usize].as_dvec3();
                        let mut n = 0;
                        let mut columns = [(0, [DVec3::ZERO; FREE]); super::rows::INFLUENCES];
                        for &(slot, weight) in &pulled.row {
                            let slot = usize::from(slot);
                            let Some(h) = slot.checked_sub(self.n_joints) else {
                                let matrix = moment.units[u].matrices[slot];
                                left -= matrix.transform_point3(place) * weight;
                                continue;
                            };
                            let from = binds[h].transform_point3(place) - seats[h].centre;
                            let bent = &bent[h];
                            let stretched = bent.stretch * from;
                            let at =
                                worlds[h].transform_point3(bent.rotation * stretched + bent.place);
                            left -= at * weight;
                            let (shift, turn) =
                                (weight / scales[h], weight / (scales[h] * seats[h].reach));
                            let axes = &axes[h];
                            let column = &mut columns[n];
                            column.0 = h;
                            let c = &mut column.1;
                            c[0] = axes.y_axis * -stretched.z + axes.z_axis * stretched.y;
                            c[1] = axes.x_axis * stretched.z + axes.z_axis * -stretched.x;
                            c[2] = axes.x_axis * -stretched.y + axes.y_axis * stretched.x;
                            for axis in 0..3 {
                                c[axis] *= turn;
                                c[3 + axis] = axes.col(axis) * (from[axis] * turn);
                                c[6 + axis] = axes.col(axis) * shift;
                            }
                            n += 1;
                        }
                        system.add(&columns[..n], left);
                    }
                }
            }
            for (h, (seat, bent)) in seats.iter().zip(&bent).enumerate() {
                for (i, d) in bent.deviation.iter().enumerate() {
                    let share = if (3..6).contains(&i) {
                        STRETCH_RIDGE
                    } else {
                        RIDGE
                    };
                    let ridge = share * seat.mass + 1e-12;
                    system.hold(h, i, ridge, *d);
                }
            }
            let Some(step) = system.solve() else {
                break;
            };
            for (h, (bent, step)) in bent.iter_mut().zip(step.chunks_exact(FREE)).enumerate() {
                bent.step(step, scales[h], seats[h].reach);
            }
        }
        let motions = bent.iter().zip(seats).zip(&blends);
        motions
            .map(|((bent, seat), blend)| {
                let motion = bent.motion(seat.centre);
                if motion.is_finite() && seat.mass > 0.0 {
                    motion
                } else {
                    *blend
                }
            })
            .collect()
    }

    /// Gives the helpers in `views` their motions.
    pub(super) fn apply(&self, views: &mut Views, task: &Task) -> Result<(), Cancelled> {
        let moments = views.moments.par_iter().zip(&mut views.matrices);
        moments.try_for_each(|(moment, matrices)| {
            task.check()?;
            for (i, (&u, matrices)) in self.group.units.iter().zip(matrices).enumerate() {
                let unit = &self.stage.units[u];
                matrices.truncate(unit.joints.len());
                let motions = self.motions(moment, i);
                matrices.extend(motions.iter().zip(&self.seats[i]).map(|(motion, seat)| {
                    let slot = usize::from(seat.parent);
                    let world = moment.world[unit.joints[slot].get()];
                    world * *motion * unit.inverse_bind[slot]
                }));
            }
            Ok(())
        })
    }
}

impl Seat {
    fn new(
        group: &Group,
        points: &[Vec<Pulled>],
        slot: usize,
        parent: u16,
        bind: DAffine3,
    ) -> Self {
        let of = |(part, points): (&'_ Part, &'_ Vec<Pulled>)| -> Vec<(DVec3, f64)> {
            let follows = points.iter().filter_map(|pulled| {
                let of_slot = pulled.row.iter().find(|r| usize::from(r.0) == slot)?;
                let place = part.geometry.positions[pulled.point as usize].as_dvec3();
                Some((bind.transform_point3(place), of_slot.1 * of_slot.1))
            });
            follows.collect()
        };
        let following: Vec<(DVec3, f64)> = group.meshes.iter().zip(points).flat_map(of).collect();
        let mass: f64 = following.iter().map(|f| f.1).sum();
        let centre = following.iter().map(|f| f.0 * f.1).sum::<DVec3>() / mass;
        let spread: f64 = following
            .iter()
            .map(|f| f.0.distance_squared(centre) * f.1)
            .sum();
        let reach = (spread / mass).sqrt();
        let known = centre.is_finite() && reach > 0.0;
        Self {
            parent,
            centre: if known { centre } else { DVec3::ZERO },
            reach: if known { reach } else { 1.0 },
            mass: if known { mass } else { 0.0 },
        }
    }
}

impl Bent {
    fn new(blend: &DAffine3, centre: DVec3) -> Self {
        let (rotation, stretch) = polar(blend.matrix3);
        Self {
            rotation,
            stretch: DVec3::new(stretch.x_axis.x, stretch.y_axis.y, stretch.z_axis.z),
            place: blend.transform_point3(centre),
            deviation: [0.0; FREE],
        }
    }

    /// A step of Gauss and Newton in metres of the world.
    fn step(&mut self, step: &[f64], scale: f64, reach: f64) {
        for (d, s) in self.deviation.iter_mut().zip(step) {
            *d += s;
        }
        let (turn, stretch) = (DVec3::from_slice(step), DVec3::from_slice(&step[3..]));
        let (turn, stretch) = (turn / (scale * reach), stretch / (scale * reach));
        self.place += self.rotation * (DVec3::from_slice(&step[6..]) / scale);
        let turned = DMat3::from_quat(DQuat::from_scaled_axis(turn.clamp_length_max(1.0)));
        self.rotation = DMat3::from_quat(quat_from_rotation(self.rotation * turned));
        self.stretch = (self.stretch + stretch)
            .clamp(DVec3::splat(1.0 / MOST_STRETCH), DVec3::splat(MOST_STRETCH));
    }

    fn motion(&self, centre: DVec3) -> DAffine3 {
        let matrix3 = self.rotation * DMat3::from_diagonal(self.stretch);
        DAffine3 {
            matrix3,
            translation: self.place - matrix3 * centre,
        }
    }
}
