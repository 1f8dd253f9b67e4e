//! Helper joints of a solution and their tracks.
//!
//! Where two joints rotate against each other, linear blending takes the chord of the arc; a helper joint that moves
//! by the dual quaternion blend of both lies on the arc. Its motion is stored relative to one of the joints, about the
//! pivot that moves least.

use crate::bake::problem::rows::WeightRow;
use crate::bake::problem::sampler::{Frame, FrameTime, Sampler};
use crate::math::dual_quaternion::quat_from_rotation;
use crate::math::{polar, transform::normalize_or_identity};
use crate::skeleton::JointId;
use glam::{DAffine3, DMat3, DQuat, DVec3};

/// The largest value of a normalised 16-bit integer, in which a glTF file stores rotations.
const SNORM16_MAX: f64 = 32767.0;

/// Tolerances of a helper's tracks.
pub(crate) struct TrackTolerance<'a> {
    /// Motion below this is no track, in units of the parent's space.
    pub(crate) still: f64,
    /// The largest distance of influenced points from the origin of the space that an inverse bind matrix leads to.
    pub(crate) reach: &'a dyn Fn(&DAffine3) -> f64,
}

/// A helper joint of one joint set.
#[derive(Clone)]
pub(crate) struct Helper {
    pub(crate) parent: JointId,
    /// The inverse bind matrix: bind -> helper space.
    pub(crate) inverse_bind: DAffine3,
    /// Local transform in the rest pose.
    pub(crate) rest: LocalTransform,
    /// Tracks by clip.
    pub(crate) tracks: Vec<Track>,
}

/// A local transform as a player composes it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct LocalTransform {
    pub(crate) rotation: DQuat,
    pub(crate) translation: DVec3,
    pub(crate) scale: DVec3,
}

/// The tracks of a helper in a clip; an empty one keeps the rest value.
#[derive(Clone, Default)]
pub(crate) struct Track {
    /// Whether values hold until the next keyframe (STEP).
    pub(crate) stepped: bool,
    pub(crate) rotation: Keys<DQuat>,
    pub(crate) translation: Keys<DVec3>,
    pub(crate) scale: Keys<DVec3>,
}

/// The keyframes of a track.
#[derive(Clone)]
pub(crate) struct Keys<T> {
    /// Ascending, seconds.
    pub(crate) times: Vec<f32>,
    /// One a time.
    pub(crate) values: Vec<T>,
}

impl<T> Default for Keys<T> {
    fn default() -> Self {
        Self {
            times: Vec::new(),
            values: Vec::new(),
        }
    }
}

impl<T: Copy> Keys<T> {
    /// The keyframes around a time and the fraction of the interval after the first; `None` without keyframes.
    fn around(&self, time: FrameTime) -> Option<(T, T, f64)> {
        let (_, k, share) = key_interval(&self.times, time)?;
        let from = *self.values.get(k)?;
        Some((from, self.values.get(k + 1).copied().unwrap_or(from), share))
    }
}

/// The slot of the joint that becomes the parent of a helper of weights `blend_weights`: of its two heaviest joints
/// the one nearer to the root.
pub(crate) fn parent_slot(
    sampler: &Sampler<'_>,
    joint_set: usize,
    blend_weights: &WeightRow,
) -> u16 {
    let mut heaviest = blend_weights.clone();
    heaviest.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    let skeleton = sampler.document.skeleton();
    let depth = |slot: u16| {
        let joint = sampler.joint_sets[joint_set].joints[usize::from(slot)];
        skeleton.ancestors(joint).count()
    };
    let two = heaviest.iter().take(2).map(|r| r.0);
    two.min_by_key(|&slot| depth(slot)).unwrap_or(0)
}

/// The motion of a helper relative to its parent in the parent's bind space: parent -> parent.
pub(crate) fn relative(
    sampler: &Sampler<'_>,
    joint_set: usize,
    parent: u16,
    frame: &Frame,
    blend_weights: &WeightRow,
) -> DAffine3 {
    let joint_set_of = &sampler.joint_sets[joint_set];
    let slot = usize::from(parent);
    let world = frame.world[joint_set_of.joints[slot].get()];
    let d = frame.joint_sets[joint_set].blend(blend_weights);
    let local = world.inverse() * d * joint_set_of.inverse_bind[slot].inverse();
    if local.is_finite() {
        local
    } else {
        DAffine3::IDENTITY
    }
}

impl Helper {
    /// A helper from its relative motions ([`relative`]): in the rest pose, and for each clip at its keyframes. `stepped`:
    /// the clips in which it holds its motion between them.
    pub(crate) fn new(
        sampler: &Sampler<'_>,
        joint_set: usize,
        parent: u16,
        rest: DAffine3,
        clips: &[Vec<DAffine3>],
        (keys, stepped): (&[Vec<f32>], &[bool]),
        regularisation: &TrackTolerance<'_>,
    ) -> Self {
        let joint_set_of = &sampler.joint_sets[joint_set];
        let slot = usize::from(parent);
        let pivot = pivot(clips.iter().flatten().chain([&rest]));
        let inverse_bind = DAffine3::from_translation(-pivot) * joint_set_of.inverse_bind[slot];
        let still = regularisation.still;
        let reach = (regularisation.reach)(&inverse_bind);
        let local = |motion: &DAffine3, axes: DQuat| {
            let (rotation, scale) = decomposed(motion.matrix3, axes);
            LocalTransform {
                rotation: quantised(rotation),
                translation: motion.transform_point3(pivot).as_vec3().as_dvec3(),
                scale: scale.as_vec3().as_dvec3(),
            }
        };
        let mut at_rest = local(&rest, DQuat::IDENTITY);
        // The middle of its range lies within tolerance of all of them.
        let positions = clips.iter().flatten().chain([&rest]);
        let positions = positions.map(|motion| motion.transform_point3(pivot));
        let (low, high) = positions
            .fold((DVec3::INFINITY, DVec3::NEG_INFINITY), |(low, high), p| {
                (low.min(p), high.max(p))
            });
        if (high - low).length() <= 2.0 * still {
            at_rest.translation = ((low + high) * 0.5).as_vec3().as_dvec3();
        }
        // Scale within the rounding of f32 matrices is none.
        if (at_rest.scale - DVec3::ONE).abs().max_element() < 1e-4 {
            at_rest.scale = DVec3::ONE;
        }
        let clips = clips.iter().zip(keys).zip(stepped);
        let tracks = clips.map(|((motions, times), &stepped)| {
            let axes = steady_axes(motions.iter().map(|motion| motion.matrix3), &rest.matrix3);
            let pairs = motions.iter().zip(axes);
            let locals: Vec<LocalTransform> = pairs.map(|(m, axes)| local(m, axes)).collect();
            let mut track = Track::new(times, &locals, &at_rest, still, reach);
            track.stepped = stepped;
            track
        });
        let tracks = tracks.collect();
        Self {
            parent: joint_set_of.joints[slot],
            inverse_bind,
            rest: at_rest,
            tracks,
        }
    }

    /// The skin matrix in a player at a time, bind -> world.
    pub(crate) fn matrix(&self, world: &[DAffine3], time: FrameTime) -> DAffine3 {
        let track = time.clip.and_then(|clip| self.tracks.get(clip));
        let local = track.map_or(self.rest, |track| track.at(time, &self.rest));
        world[self.parent.get()] * local.to_affine() * self.inverse_bind
    }
}

impl LocalTransform {
    /// Helper space -> parent space.
    pub(crate) fn to_affine(self) -> DAffine3 {
        DAffine3::from_scale_rotation_translation(self.scale, self.rotation, self.translation)
    }
}

impl Track {
    fn new(
        times: &[f32],
        locals: &[LocalTransform],
        rest: &LocalTransform,
        still: f64,
        reach: f64,
    ) -> Self {
        let mut track = Self::default();
        let rotates = |l: &LocalTransform| angle(l.rotation, rest.rotation) * reach > still;
        if locals.iter().any(rotates) {
            // Neighbouring keyframes in one hemisphere, as linear interpolation needs them.
            let mut last = rest.rotation;
            let values = locals.iter().map(|l| {
                last = if l.rotation.dot(last) < 0.0 {
                    -l.rotation
                } else {
                    l.rotation
                };
                last
            });
            track.rotation = Keys {
                values: values.collect(),
                times: times.to_vec(),
            };
        }
        if locals
            .iter()
            .any(|l| l.translation.distance(rest.translation) > still)
        {
            track.translation = Keys {
                values: locals.iter().map(|l| l.translation).collect(),
                times: times.to_vec(),
            };
        }
        if locals
            .iter()
            .any(|l| (l.scale - rest.scale).abs().max_element() * reach > still)
        {
            track.scale = Keys {
                values: locals.iter().map(|l| l.scale).collect(),
                times: times.to_vec(),
            };
        }
        track
    }

    /// The local transform in a player; `rest` where there are no keyframes.
    pub(crate) fn at(&self, time: FrameTime, rest: &LocalTransform) -> LocalTransform {
        let share_of = |share: f64| if self.stepped { 0.0 } else { share };
        let mut local = *rest;
        if let Some((from, to, share)) = self.rotation.around(time) {
            local.rotation = normalize_or_identity(from.slerp(to, share_of(share)));
        }
        if let Some((from, to, share)) = self.translation.around(time) {
            local.translation = from.lerp(to, share_of(share));
        }
        if let Some((from, to, share)) = self.scale.around(time) {
            local.scale = from.lerp(to, share_of(share));
        }
        local
    }
}

/// The angle between two rotations, radians.
pub(crate) fn angle(a: DQuat, b: DQuat) -> f64 {
    // Rounding to 16 bits leaves them not quite normalised.
    let dot = normalize_or_identity(a).dot(normalize_or_identity(b)).abs();
    2.0 * (2.0 * (1.0 - dot.min(1.0))).sqrt().min(1.6)
}

/// The clip, the keyframe at or before a time, and the fraction of the interval after it.
pub(crate) fn key_interval(times: &[f32], time: FrameTime) -> Option<(usize, usize, f64)> {
    let clip = time.clip?;
    let after = times.partition_point(|&t| f64::from(t) <= time.secs);
    let k = after.saturating_sub(1);
    let (Some(&from), Some(&to)) = (times.get(k), times.get(k + 1)) else {
        return (!times.is_empty()).then_some((clip, k, 0.0));
    };
    let (from, to) = (f64::from(from), f64::from(to));
    Some((clip, k, ((time.secs - from) / (to - from)).clamp(0.0, 1.0)))
}

/// The quaternion after rounding to 16 bits.
pub(crate) fn quantised(q: DQuat) -> DQuat {
    let short = |x: f64| f64::from(((x * SNORM16_MAX).round() / SNORM16_MAX) as f32);
    DQuat::from_xyzw(short(q.x), short(q.y), short(q.z), short(q.w))
}

/// The rotation and the scale along its axes of a matrix, for a player; shear is left out. `axes`: a half turn about one of
/// the axes, or the identity, which the rotation takes and the scale undoes with two reversed signs.
fn decomposed(matrix: DMat3, axes: DQuat) -> (DQuat, DVec3) {
    let (rotation, stretch) = polar(matrix);
    let scale = DVec3::new(stretch.x_axis.x, stretch.y_axis.y, stretch.z_axis.z);
    let turned = DMat3::from_quat(axes);
    let signs = DVec3::new(turned.x_axis.x, turned.y_axis.y, turned.z_axis.z);
    (quat_from_rotation(rotation) * axes, scale * signs)
}

/// The half turns for [`decomposed`] that keep the rotations along a track continuous.
///
/// Where a motion begins to mirror, its rotation jumps by a half turn ([`polar()`] keeps the reflection along x), which the
/// interpolation between keyframes would show. With the axes of the previous keyframe a scale passes through 0 instead. Motions
/// before the first mirrored one need no half turn.
fn steady_axes(motions: impl Iterator<Item = DMat3>, rest: &DMat3) -> Vec<DQuat> {
    let mut is_plain = rest.determinant() >= 0.0;
    let mut before = quat_from_rotation(polar(*rest).0);
    let axes = motions.map(|motion| {
        let mirrors = motion.determinant() < 0.0;
        let rotation = quat_from_rotation(polar(motion).0);
        let axes = if is_plain && !mirrors {
            DQuat::IDENTITY
        } else {
            nearest_axes(rotation.conjugate() * before)
        };
        is_plain = !mirrors && axes == DQuat::IDENTITY;
        before = rotation * axes;
        axes
    });
    axes.collect()
}

/// Of the identity and the half turns about the axes, the one nearest to a rotation.
fn nearest_axes(rotation: DQuat) -> DQuat {
    let half_turns = [[0, 0, 0, 1], [1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0]];
    let half_turns = half_turns.map(|q| DQuat::from_array(q.map(f64::from)));
    let near = |a: &DQuat| a.dot(rotation).abs();
    let nearest = half_turns.into_iter();
    let nearest = nearest.reduce(|a, b| if near(&b) > near(&a) { b } else { a });
    nearest.unwrap_or(DQuat::IDENTITY)
}

/// The pivot: the point of the parent's space with the least variance of position, `min sum |(A_t - mean A) c + b_t -
/// mean b|^2`.
fn pivot<'a>(motions: impl Iterator<Item = &'a DAffine3> + Clone) -> DVec3 {
    let n = motions.clone().count().max(1) as f64;
    let mut mean = DAffine3::from_mat3(DMat3::ZERO);
    for m in motions.clone() {
        mean.matrix3 += m.matrix3 * (1.0 / n);
        mean.translation += m.translation / n;
    }
    let (mut normal, mut right) = (DMat3::ZERO, DVec3::ZERO);
    for m in motions {
        let (a, b) = (m.matrix3 - mean.matrix3, m.translation - mean.translation);
        normal += a.transpose() * a;
        right -= a.transpose() * b;
    }
    // A ridge: along a fixed axis of rotation every point is a pivot; take the one nearest to the parent.
    let trace = normal.x_axis.x + normal.y_axis.y + normal.z_axis.z;
    normal += DMat3::from_diagonal(DVec3::splat(1e-5 * trace + 1e-12));
    let c = normal.inverse() * right;
    if c.is_finite() {
        c.as_vec3().as_dvec3()
    } else {
        DVec3::ZERO
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turn_about_a_point_finds_it() {
        let c = DVec3::new(0.5, 0.25, 0.0);
        let turn = |a: f64| {
            DAffine3::from_translation(c)
                * DAffine3::from_rotation_z(a)
                * DAffine3::from_translation(-c)
        };
        let motions: Vec<DAffine3> = (0..9).map(|i| turn(0.1 * f64::from(i))).collect();
        assert!(
            pivot(motions.iter()).abs_diff_eq(c, 1e-3),
            "{}",
            pivot(motions.iter())
        );
    }

    #[test]
    fn a_scale_passes_through_zero_without_a_turn() {
        // The helper's axes are not those of the scale.
        for direction in [DVec3::X, DVec3::Y, DVec3::Z, DVec3::new(0.1, 0.9, -0.2)] {
            let v = direction.normalize_or_zero();
            let along_v = DMat3::from_cols(v * v.x, v * v.y, v * v.z);
            let turn = |t: f64| DMat3::from_rotation_x(0.5 * t);
            let motion = |t: f64| turn(t) * (DMat3::IDENTITY - along_v * (2.0 * t));
            let times = [0.0, 0.2, 0.4, 0.6, 0.8, 1.0, 0.7, 0.3, 0.1];
            let motions = times.map(motion);
            let axes = steady_axes(motions.into_iter(), &DMat3::IDENTITY);
            let locals = motions.iter().zip(axes);
            let locals: Vec<_> = locals.map(|(m, axes)| decomposed(*m, axes)).collect();
            for (pair, times) in locals.windows(2).zip(times.windows(2)) {
                let [(a, _), (b, _)] = [pair[0], pair[1]];
                assert!(angle(a, b) < 1.3, "{v}: {} between {times:?}", angle(a, b));
            }
            if direction.max_element() == 1.0 {
                let of = |(rotation, scale): &(DQuat, DVec3)| {
                    DMat3::from_quat(*rotation) * DMat3::from_diagonal(*scale)
                };
                let matrices = locals.iter().map(of).zip(motions);
                assert!(matrices.clone().all(|(a, b)| a.abs_diff_eq(b, 1e-12)));
                let turns = locals.iter().zip(times);
                assert!(
                    turns
                        .clone()
                        .all(|((r, _), t)| angle(*r, quat_from_rotation(turn(t))) < 1e-6)
                );
            }
        }
    }

    #[test]
    fn moments_lie_between_keys() {
        let time = |secs| FrameTime {
            clip: Some(2),
            secs,
        };
        let times = [1.0, 2.0, 4.0];
        assert_eq!(key_interval(&times, time(0.0)), Some((2, 0, 0.0)));
        assert_eq!(key_interval(&times, time(3.0)), Some((2, 1, 0.5)));
        assert_eq!(key_interval(&times, time(9.0)), Some((2, 2, 0.0)));
        assert_eq!(key_interval(&[], time(9.0)), None);
    }
}
