//! Motions of helper joints by Gauss-Newton, where corrections move the skin off the blends.
//!
//! A helper starts as the dual quaternion blend of its codebook row. For one frame, the deviations d of all helpers
//! (rotation, translation) and the weights w of the displacements B minimise `sum_p |r_p - sum_h w_ph J_hp d_h - A_p
//! B_p w|^2 + sum_h ridge m_h |d_h|^2`, where m_h is the sum of the squared weights of the points of helper h. The
//! ridge keeps a deviation that no point determines at 0 and the motion smooth over time. It is the
//! bone-transformation step of smooth skinning decomposition (Le and Deng 2012) with fixed joints and a given starting
//! motion.

use super::envelope::Envelope;
use super::helper_tracks::{parent_slot, relative};
use super::motion_moments::{DOF, Field, FitPoint, InstancePoints, Moments, Observed};
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
    /// Their centroid, bind space of the meshes.
    origin: DVec3,
    /// The same in the parent's bind space.
    centre: DVec3,
    /// Their root mean square distance from it.
    reach: f64,
    /// The sum of their squared weights.
    mass: f64,
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
        let equations = points.iter().flatten().map(|fit_point| {
            let slots = fit_point.row.iter().map(|r| usize::from(r.0));
            slots.filter_map(|slot| slot.checked_sub(n_joints))
        });
        let envelope = Envelope::new(&parents, DOF, equations);
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
        let origins: Vec<DVec3> = supports.iter().map(|s| s.origin).collect();
        let mut moments = Moments::new(&self.envelope, self.n_joints, &origins, n_border);
        for iteration in 0..ITERATIONS {
            let helpers = estimates.iter().zip(&parents).zip(supports);
            let helpers = helpers.map(|((estimate, parent), support)| {
                parent.world * estimate.motion(support.centre) * parent.bind
            });
            let helpers: Vec<DAffine3> = helpers.collect();
            let matrices = frame.joint_sets[u].with_helpers(&helpers);
            for instance in &drawn {
                let (part, first) = (&self.group.meshes[instance.part], instance.first);
                let of_instance = &frame.instances[instance.d];
                let points = self.points[instance.part].iter();
                let points = points.map(|fit_point| Observed {
                    fit_point,
                    position: part.bind(fit_point.point, of_instance),
                    target: of_instance.target[fit_point.point as usize].as_dvec3(),
                });
                let points = InstancePoints {
                    points,
                    w: &w[first..first + self.k[instance.part]],
                    first,
                };
                moments.add(points, &matrices, iteration == 0);
            }
            let fields = estimates.iter().zip(&parents).zip(supports);
            let fields =
                fields.map(|((estimate, parent), support)| estimate.fields(parent, support));
            let fields: Vec<[Field; DOF]> = fields.collect();
            moments.take_right(&fields, &mut system);
            if iteration == 0 {
                moments.add_matrix(&fields, &mut system);
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
                Some((position, of_slot.1 * of_slot.1))
            });
            follows.collect()
        };
        let following: Vec<(DVec3, f64)> = group.meshes.iter().zip(points).flat_map(of).collect();
        Self::of(parent, bind, &following)
    }

    /// The support of points at these bind positions, each with its squared weight; `bind`: to the parent's bind space.
    fn of(parent: u16, bind: DAffine3, following: &[(DVec3, f64)]) -> Self {
        let mass: f64 = following.iter().map(|f| f.1).sum();
        let origin = following.iter().map(|f| f.0 * f.1).sum::<DVec3>() / mass;
        let centre = bind.transform_point3(origin);
        let spread = following.iter().map(|f| {
            let offset = bind.transform_vector3(f.0 - origin);
            offset.length_squared() * f.1
        });
        let reach = (spread.sum::<f64>() / mass).sqrt();
        // Where all points are in one place the helper keeps its blend.
        let known = centre.is_finite() && reach > 0.0;
        Self {
            parent,
            origin: if known { origin } else { DVec3::ZERO },
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

    /// The velocity fields of its degrees of freedom about the origin of the helper, in metres of the world per metre of the
    /// unknown.
    fn fields(&self, parent: &ParentFrame, support: &HelperSupport) -> [Field; DOF] {
        let axes = parent.world.matrix3 * self.rotation;
        let shift = 1.0 / parent.scale;
        let rotation_scale = shift / support.reach;
        // Positions relative to the centre, stretched: the translation is the rounding of the centre.
        let linear = self.stretch * parent.bind.matrix3;
        let origin = parent.bind.transform_point3(support.origin);
        let translation = self.stretch * (origin - support.centre);
        let of_rotation = |cross: DMat3| field(cross * linear, cross * translation, rotation_scale);
        let of_translation = |axis: DVec3| field(DMat3::ZERO, axis, shift);
        let [x, y, z] = [axes.x_axis, axes.y_axis, axes.z_axis];
        [
            // `axes` times the cross product matrix of each axis of rotation.
            of_rotation(DMat3::from_cols(DVec3::ZERO, z, -y)),
            of_rotation(DMat3::from_cols(-z, DVec3::ZERO, x)),
            of_rotation(DMat3::from_cols(y, -x, DVec3::ZERO)),
            of_translation(x),
            of_translation(y),
            of_translation(z),
        ]
    }

    fn motion(&self, centre: DVec3) -> DAffine3 {
        let matrix3 = self.rotation * self.stretch;
        DAffine3 {
            matrix3,
            translation: self.position - matrix3 * centre,
        }
    }
}

/// The field of a linear part and a translation, scaled.
fn field(linear: DMat3, translation: DVec3, scale: f64) -> Field {
    [0, 1, 2].map(|i| {
        let row = linear.row(i);
        [row.x, row.y, row.z, translation[i]].map(|x| x * scale)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rounding leaves such points a spread above 0; about a far origin the products of their moments would cancel.
    #[test]
    fn points_nearly_in_one_place_leave_a_system_with_a_solution() {
        let number = |i: usize| 2.0 * (12.9898 * i as f64).sin();
        let parent = ParentFrame {
            world: DAffine3::IDENTITY,
            bind: DAffine3::IDENTITY,
            scale: 1.0,
            blend: DAffine3::IDENTITY,
        };
        let envelope = Envelope::new(&[0], DOF, std::iter::once(std::iter::once(0)));
        for n in 0..300 {
            let position = DVec3::new(number(3 * n), number(3 * n + 1), number(3 * n + 2));
            let position = position.as_vec3().as_dvec3();
            let points = [0.31, 0.57].map(|weight| FitPoint::by(0, vec![(0, weight)]));
            let following: Vec<(DVec3, f64)> = points
                .iter()
                .map(|p| (position, p.row[0].1.powi(2)))
                .collect();
            let support = HelperSupport::of(0, parent.bind, &following);
            if support.mass == 0.0 {
                continue;
            }
            let estimate = MotionEstimate::new(&DAffine3::IDENTITY, support.centre);
            let fields = [estimate.fields(&parent, &support)];
            let origins = [support.origin];
            let mut moments = Moments::new(&envelope, 0, &origins, 0);
            let observed = points.iter().map(|fit_point| Observed {
                fit_point,
                position,
                target: position + DVec3::X,
            });
            let points = InstancePoints {
                points: observed,
                w: &[],
                first: 0,
            };
            moments.add(points, &[DAffine3::IDENTITY], true);
            let mut system = envelope.system(0);
            moments.take_right(&fields, &mut system);
            moments.add_matrix(&fields, &mut system);
            for i in 0..DOF {
                system.hold(0, i, RIDGE * support.mass, 0.0);
            }
            assert!(system.solve().is_some(), "{position}");
        }
    }

    /// The velocity fields are the derivatives of the motion by its unknowns.
    #[test]
    fn fields_are_derivatives_of_motions() {
        let of = |axis: DVec3, angle: f64, scale: f64, translation: DVec3| {
            let rotation = DQuat::from_axis_angle(axis, angle);
            DAffine3::from_scale_rotation_translation(DVec3::splat(scale), rotation, translation)
        };
        let parent = ParentFrame {
            world: of(DVec3::X, 0.7, 2.0, DVec3::new(0.5, 0.1, -1.0)),
            bind: of(DVec3::Y, -0.4, 0.8, DVec3::new(0.0, 0.3, 0.6)),
            scale: 2.0,
            blend: DAffine3::IDENTITY,
        };
        let support = HelperSupport {
            parent: 0,
            origin: DVec3::new(0.3, 0.1, -0.5),
            centre: DVec3::new(0.1, -0.4, 0.2),
            reach: 0.3,
            mass: 1.0,
        };
        let mut stretched = of(DVec3::Z, 0.9, 1.0, DVec3::new(-0.2, 0.4, 0.1));
        stretched.matrix3 *= DMat3::from_diagonal(DVec3::new(1.2, 0.9, 1.1));
        let estimate = || MotionEstimate::new(&stretched, support.centre);
        let place = |estimate: &MotionEstimate, p: DVec3| {
            let matrix = parent.world * estimate.motion(support.centre) * parent.bind;
            matrix.transform_point3(p)
        };
        let fields = estimate().fields(&parent, &support);
        let p = DVec3::new(0.7, -0.2, 0.4);
        for (i, field) in fields.iter().enumerate() {
            let mut unknowns = [0.0; DOF];
            unknowns[i] = 1e-5;
            let mut moved = estimate();
            moved.step(&unknowns, parent.scale, support.reach);
            let difference = (place(&moved, p) - place(&estimate(), p)) / 1e-5;
            let row = |row: &[f64; 4]| DVec3::from_slice(row).dot(p - support.origin) + row[3];
            let velocity = DVec3::new(row(&field[0]), row(&field[1]), row(&field[2]));
            assert!(
                velocity.distance(difference) < 1e-4,
                "{i}: {velocity} {difference}"
            );
        }
    }
}
