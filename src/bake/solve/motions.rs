//! Motions of helper joints by Gauss-Newton, where corrections move the skin off the blends.
//!
//! A helper starts as the dual quaternion blend of its codebook row. For one frame, the deviations d of all helpers
//! (rotation, translation) and the weights w of the displacements B minimise `sum_p |r_p - sum_h w_ph J_hp d_h - A_p
//! B_p w|^2 + sum_h ridge m_h |d_h|^2`, where m_h is the sum of the squared weights of the points of helper h. The
//! ridge keeps a deviation that no point determines at 0 and the motion smooth over time. It is the
//! bone-transformation step of smooth skinning decomposition (Le and Deng 2012) with fixed joints and a given starting
//! motion.

use super::displacements::displacement;
use super::envelope::Envelope;
use super::helper_tracks::{parent_slot, relative};
use super::training::TrainingSet;
use crate::bake::problem::group::{Group, GroupMesh};
use crate::bake::problem::rows::WeightRow;
use crate::bake::problem::sampler::{Frame, Sampler};
use crate::math::dual_quaternion::quat_from_rotation;
use crate::math::polar;
use crate::task::{Cancelled, Task};
use glam::{DAffine3, DMat3, DQuat, DVec3};
use rayon::prelude::*;

/// The ridge, as a fraction of a helper's mass (no unit): 3 % of the pull of its points, enough to keep tracks smooth.
const RIDGE: f64 = 0.03;
/// Gauss-Newton iterations, the second with the matrix of the first one; deviations are small rotations, for which two
/// suffice.
const ITERATIONS: usize = 2;
/// Degrees of freedom of a deviation: rotation and translation. Scale would need a track of its own and gains little.
const DOF: usize = 6;
/// Points of a mesh in the fit; it bounds the time of large meshes.
const MAX_POINTS: usize = 4000;

/// Solves for the motions of helpers together with the weights of displacements.
pub(crate) struct MotionSolver<'a> {
    sampler: &'a Sampler<'a>,
    group: &'a Group,
    codebook: Vec<WeightRow>,
    n_joints: usize,
    /// By joint set of the group, then by helper.
    supports: Vec<Vec<HelperSupport>>,
    /// By mesh: the number of displacements.
    k: Vec<usize>,
    /// By mesh.
    points: Vec<Vec<FitPoint>>,
    envelope: Envelope,
}

/// The points that a helper influences.
struct HelperSupport {
    parent: u16,
    /// Their centroid, in the parent's bind space.
    centre: DVec3,
    /// Their root mean square distance from it.
    reach: f64,
    /// The sum of their squared weights.
    mass: f64,
}

/// A point of the fit.
pub(crate) struct FitPoint {
    pub(crate) point: u32,
    pub(crate) row: WeightRow,
    /// Its displacements, bind space.
    pub(crate) b: Vec<DVec3>,
    /// Its IRLS weight.
    pub(crate) irls: f64,
}

/// The solution of a joint set at a frame.
pub(crate) struct MotionFit {
    /// Motions of the helpers relative to their parents.
    pub(crate) motions: Vec<DAffine3>,
    /// Weights of the displacements, by instance of the sampler.
    pub(crate) weights: Vec<(usize, Vec<f64>)>,
}

/// The motion of a helper during the iterations.
struct MotionEstimate {
    rotation: DMat3,
    /// The stretch of the blend; it stays.
    stretch: DMat3,
    position: DVec3,
    deviation: [f64; DOF],
}

/// The parent of a helper at a frame.
struct ParentFrame {
    world: DAffine3,
    bind: DAffine3,
    scale: f64,
    /// The relative motion of the dual quaternion blend.
    blend: DAffine3,
}

/// An instance of the joint set and its first unknown in the border.
struct WeightBlock {
    part: usize,
    d: usize,
    first: usize,
}

impl FitPoint {
    /// A point without displacements, of IRLS weight 1.
    pub(crate) fn by(point: u32, row: WeightRow) -> Self {
        Self {
            point,
            row,
            b: Vec::new(),
            irls: 1.0,
        }
    }
}

impl<'a> MotionSolver<'a> {
    /// The solver for helpers of these codebook rows; `points`: by mesh, the number of displacements and the points.
    pub(crate) fn new(
        sampler: &'a Sampler<'a>,
        group: &'a Group,
        codebook: &[WeightRow],
        points: impl Iterator<Item = (usize, Vec<FitPoint>)>,
    ) -> Self {
        let n_joints = group.n_joints.unwrap_or(0);
        let mut k = Vec::new();
        let points = points.map(|(n, mut all)| {
            k.push(n);
            let is_helper = |r: &(u16, f64)| usize::from(r.0) >= n_joints;
            let moves = |b: &DVec3| *b != DVec3::ZERO;
            all.retain(|p| p.row.iter().any(is_helper) || p.b.iter().any(moves));
            let step = all.len().div_ceil(MAX_POINTS).max(1);
            all.into_iter().step_by(step).collect()
        });
        let points: Vec<Vec<FitPoint>> = points.collect();
        let supports = group.joint_sets.iter().map(|&u| {
            let helpers = codebook.iter().enumerate();
            let support = |(h, blend_weights): (usize, &WeightRow)| {
                let parent = parent_slot(sampler, u, blend_weights);
                let bind = sampler.joint_sets[u].inverse_bind[usize::from(parent)];
                HelperSupport::new(group, &points, n_joints + h, parent, bind)
            };
            helpers.map(support).collect()
        });
        let supports: Vec<Vec<HelperSupport>> = supports.collect();
        let parents: Vec<u16> = supports.first().map_or_else(Vec::new, |supports| {
            supports.iter().map(|s| s.parent).collect()
        });
        let mut envelope = Envelope::new(&parents, DOF);
        for fit_point in points.iter().flatten() {
            let slots = fit_point.row.iter().map(|r| usize::from(r.0));
            envelope.join(slots.filter_map(|slot| slot.checked_sub(n_joints)));
        }
        Self {
            sampler,
            group,
            codebook: codebook.to_vec(),
            n_joints,
            supports,
            k,
            points,
            envelope,
        }
    }

    /// Solves for the motions of the helpers of the group's `i`-th joint set at a frame, and the weights of
    /// displacements.
    pub(crate) fn fit(&self, frame: &Frame, i: usize) -> MotionFit {
        let u = self.group.joint_sets[i];
        let joint_set = &self.sampler.joint_sets[u];
        let supports = &self.supports[i];
        let (drawn, n_border) = self.instances(u);
        let mut parents: Vec<ParentFrame> = Vec::with_capacity(supports.len());
        for (support, blend_weights) in supports.iter().zip(&self.codebook) {
            let slot = usize::from(support.parent);
            let world = frame.world[joint_set.joints[slot].get()];
            parents.push(ParentFrame {
                world,
                bind: joint_set.inverse_bind[slot],
                scale: world.matrix3.determinant().abs().cbrt().max(1e-12),
                blend: relative(self.sampler, u, support.parent, frame, blend_weights),
            });
        }
        let of_blend = |(parents, support): (&ParentFrame, &HelperSupport)| {
            MotionEstimate::new(&parents.blend, support.centre)
        };
        let mut estimates: Vec<MotionEstimate> =
            parents.iter().zip(supports).map(of_blend).collect();
        let mut w = vec![0.0; n_border];
        // The chord method (Ortega and Rheinboldt 1970, 7.1): the matrix of the first iteration serves all; later ones compute
        // only the gradient.
        let mut system = self.envelope.system(n_border);
        for _ in 0..ITERATIONS {
            let axes = parents.iter().zip(&estimates);
            let axes: Vec<DMat3> = axes.map(|(h, b)| h.world.matrix3 * b.rotation).collect();
            let linears = axes.iter().zip(&estimates).zip(&parents);
            let linears = linears.map(|((axes, b), h)| *axes * b.stretch * h.bind.matrix3);
            let linears: Vec<DMat3> = linears.collect();
            for instance in &drawn {
                let part = &self.group.meshes[instance.part];
                let k = self.k[instance.part];
                let w = &w[instance.first..instance.first + k];
                let of_instance = &frame.instances[instance.d];
                let mut border = vec![DVec3::ZERO; k];
                for fit_point in &self.points[instance.part] {
                    let position =
                        part.bind(fit_point.point, of_instance) + displacement(&fit_point.b, w);
                    let mut left = of_instance.target[fit_point.point as usize].as_dvec3();
                    let mut n = 0;
                    let mut columns =
                        [(0, [DVec3::ZERO; DOF]); crate::bake::problem::rows::MAX_INFLUENCES];
                    let count = fit_point.irls.sqrt();
                    let mut linear = DMat3::ZERO;
                    for &(slot, weight) in &fit_point.row {
                        let slot = usize::from(slot);
                        let Some(h) = slot.checked_sub(self.n_joints) else {
                            let matrix = frame.joint_sets[u].matrices[slot];
                            left -= matrix.transform_point3(position) * weight;
                            linear += matrix.matrix3 * weight;
                            continue;
                        };
                        let (estimates, parents) = (&estimates[h], &parents[h]);
                        let from = parents.bind.transform_point3(position) - supports[h].centre;
                        let at = estimates.stretch * from;
                        let turned = estimates.rotation * at + estimates.position;
                        left -= parents.world.transform_point3(turned) * weight;
                        linear += linears[h] * weight;
                        let shift = weight * count / parents.scale;
                        let rotation_scale = shift / supports[h].reach;
                        let axes = &axes[h];
                        columns[n] = (
                            h,
                            [
                                (axes.z_axis * at.y - axes.y_axis * at.z) * rotation_scale,
                                (axes.x_axis * at.z - axes.z_axis * at.x) * rotation_scale,
                                (axes.y_axis * at.x - axes.x_axis * at.y) * rotation_scale,
                                axes.x_axis * shift,
                                axes.y_axis * shift,
                                axes.z_axis * shift,
                            ],
                        );
                        n += 1;
                    }
                    for (border, b) in border.iter_mut().zip(&fit_point.b) {
                        *border = linear * *b * count;
                    }
                    system.add_bordered(&columns[..n], instance.first, &border, left * count);
                }
            }
            for (h, (support, estimates)) in supports.iter().zip(&estimates).enumerate() {
                for (i, d) in estimates.deviation.iter().enumerate() {
                    system.hold(h, i, RIDGE * support.mass + 1e-12, *d);
                }
            }
            system.hold_border(1e-9);
            let Some(step) = system.solve() else {
                break;
            };
            let of_helpers = step.chunks_exact(DOF).zip(&parents).zip(supports);
            for (estimates, ((step, parents), support)) in estimates.iter_mut().zip(of_helpers) {
                estimates.step(step, parents.scale, support.reach);
            }
            let of_border = &step[DOF * estimates.len()..];
            w.iter_mut().zip(of_border).for_each(|(w, step)| *w += step);
        }
        let motions = estimates.iter().zip(supports).zip(&parents);
        let motions = motions.map(|((estimates, support), parents)| {
            let motion = estimates.motion(support.centre);
            if motion.is_finite() && support.mass > 0.0 {
                motion
            } else {
                parents.blend
            }
        });
        MotionFit {
            motions: motions.collect(),
            weights: drawn
                .iter()
                .map(|drawn| {
                    let k = self.k[drawn.part];
                    (drawn.d, w[drawn.first..drawn.first + k].to_vec())
                })
                .collect(),
        }
    }

    /// The instances of a joint set, and the number of their weights.
    fn instances(&self, u: usize) -> (Vec<WeightBlock>, usize) {
        let mut n = 0;
        let mut all = Vec::new();
        for (part, mesh) in self.group.meshes.iter().enumerate() {
            for &d in mesh
                .instances
                .iter()
                .filter(|&&d| self.sampler.instances[d].joint_set == u)
            {
                let first = n;
                n += self.k[part];
                all.push(WeightBlock { part, d, first });
            }
        }
        (all, n)
    }

    /// Writes the motions and weights of all frames into `training`.
    pub(crate) fn apply(&self, training: &mut TrainingSet, task: &Task) -> Result<(), Cancelled> {
        let all = training
            .frames
            .par_iter()
            .zip(&mut training.matrices)
            .zip(&mut training.weights);
        all.try_for_each(|((frame, matrices), weights)| {
            task.check()?;
            weights.resize(frame.instances.len(), Vec::new());
            for (i, (&u, matrices)) in self.group.joint_sets.iter().zip(matrices).enumerate() {
                let joint_set = &self.sampler.joint_sets[u];
                matrices.truncate(joint_set.joints.len());
                let fitted = self.fit(frame, i);
                let helpers = fitted.motions.iter().zip(&self.supports[i]);
                matrices.extend(helpers.map(|(motion, support)| {
                    let slot = usize::from(support.parent);
                    let world = frame.world[joint_set.joints[slot].get()];
                    world * *motion * joint_set.inverse_bind[slot]
                }));
                for (d, w) in fitted.weights {
                    weights[d] = w;
                }
            }
            Ok(())
        })
    }
}

impl HelperSupport {
    fn new(
        group: &Group,
        points: &[Vec<FitPoint>],
        slot: usize,
        parent: u16,
        bind: DAffine3,
    ) -> Self {
        let of = |(part, points): (&'_ GroupMesh, &'_ Vec<FitPoint>)| -> Vec<(DVec3, f64)> {
            let follows = points.iter().filter_map(|fit_point| {
                let of_slot = fit_point.row.iter().find(|r| usize::from(r.0) == slot)?;
                let position = part.geometry.positions[fit_point.point as usize].as_dvec3();
                Some((bind.transform_point3(position), of_slot.1 * of_slot.1))
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

impl MotionEstimate {
    fn new(blend: &DAffine3, centre: DVec3) -> Self {
        let (rotation, stretch) = polar(blend.matrix3);
        Self {
            rotation,
            // glTF joints have no shear: only the diagonal of the stretch stays.
            stretch: DMat3::from_diagonal(DVec3::new(
                stretch.x_axis.x,
                stretch.y_axis.y,
                stretch.z_axis.z,
            )),
            position: blend.transform_point3(centre),
            deviation: [0.0; DOF],
        }
    }

    /// Applies a Gauss-Newton step, given in metres of the world.
    fn step(&mut self, step: &[f64], scale: f64, reach: f64) {
        for (d, s) in self.deviation.iter_mut().zip(step) {
            *d += s;
        }
        let rotation = DVec3::from_slice(step) / (scale * reach);
        self.position += self.rotation * (DVec3::from_slice(&step[3..]) / scale);
        let turned = DMat3::from_quat(DQuat::from_scaled_axis(rotation.clamp_length_max(1.0)));
        self.rotation = DMat3::from_quat(quat_from_rotation(self.rotation * turned));
    }

    fn motion(&self, centre: DVec3) -> DAffine3 {
        let matrix3 = self.rotation * self.stretch;
        DAffine3 {
            matrix3,
            translation: self.position - matrix3 * centre,
        }
    }
}
