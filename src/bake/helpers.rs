//! Helper joints: each goes the way of a point between joints.
//!
//! Where two joints pull a point apart, linear blending cuts the corner; a joint that moves as dual quaternion skinning
//! moves a point of these weights is half-way round it. Its motion is a track relative to one of the joints.

use super::rows::Row;
use super::stage::{Moment, Stage, Time};
use crate::math::{polar, transform::normalize_or_identity};
use crate::skeleton::JointIndex;
use glam::{DAffine3, DMat3, DQuat, DVec3};

/// The steps of a rotation that a file stores in 16 bits a number.
const STEPS: f64 = 32767.0;

/// A helper joint of one unit: where it hangs, and how it moves.
#[derive(Clone)]
pub(super) struct Helper {
    pub(super) parent: JointIndex,
    /// Bind -> the helper's space.
    pub(super) inverse_bind: DAffine3,
    /// Relative to the parent without a clip.
    pub(super) rest: Local,
    /// By clip.
    pub(super) tracks: Vec<Track>,
}

/// A local transform as a player has it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Local {
    pub(super) rotation: DQuat,
    pub(super) translation: DVec3,
    pub(super) scale: DVec3,
}

/// How a helper moves in a clip: one entry a key; what is empty stays as at rest.
#[derive(Clone, Default)]
pub(super) struct Track {
    pub(super) rotation: Vec<DQuat>,
    pub(super) translation: Vec<DVec3>,
    pub(super) scale: Vec<DVec3>,
}

/// The joint that a helper of weights `omega` hangs from: of its two heaviest joints the one nearer to the root, and
/// its slot.
pub(super) fn parent_slot(stage: &Stage<'_>, unit: usize, omega: &Row) -> u16 {
    let mut heaviest = omega.clone();
    heaviest.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    let skeleton = stage.document.skeleton();
    let depth = |slot: u16| {
        let joint = stage.units[unit].joints[usize::from(slot)];
        skeleton.ancestors(joint).count()
    };
    let two = heaviest.iter().take(2).map(|r| r.0);
    two.min_by_key(|&slot| depth(slot)).unwrap_or(0)
}

/// The motion of a helper relative to its parent, from the parent's bind place: parent <- parent.
pub(super) fn relative(
    stage: &Stage<'_>,
    unit: usize,
    parent: u16,
    moment: &Moment,
    omega: &Row,
) -> DAffine3 {
    let unit_of = &stage.units[unit];
    let slot = usize::from(parent);
    let world = moment.world[unit_of.joints[slot].get()];
    let d = moment.units[unit].blend(omega);
    let local = world.inverse() * d * unit_of.inverse_bind[slot].inverse();
    if local.is_finite() {
        local
    } else {
        DAffine3::IDENTITY
    }
}

impl Helper {
    /// A helper from its motions relative to the parent ([`relative`]): at rest, and for each clip at its keys.
    ///
    /// `still`: how far it may be off in the parent's units before its place takes a track.
    pub(super) fn new(
        stage: &Stage<'_>,
        unit: usize,
        parent: u16,
        rest: DAffine3,
        clips: &[Vec<DAffine3>],
        still: f64,
    ) -> Self {
        let unit_of = &stage.units[unit];
        let slot = usize::from(parent);
        let pivot = pivot(clips.iter().flatten().chain([&rest]));
        let inverse_bind = DAffine3::from_translation(-pivot) * unit_of.inverse_bind[slot];
        let local = |motion: &DAffine3| {
            let (rotation, stretch) = polar(motion.matrix3);
            Local {
                rotation: stored(crate::math::dual_quaternion::quat_from_rotation(rotation)),
                translation: motion.transform_point3(pivot).as_vec3().as_dvec3(),
                scale: DVec3::new(stretch.x_axis.x, stretch.y_axis.y, stretch.z_axis.z)
                    .as_vec3()
                    .as_dvec3(),
            }
        };
        let mut at_rest = local(&rest);
        // In the middle of all its places it needs a track least often.
        let places = clips.iter().flatten().chain([&rest]);
        let places = places.map(|motion| motion.transform_point3(pivot));
        let (low, high) = places.fold((DVec3::INFINITY, DVec3::NEG_INFINITY), |(low, high), p| {
            (low.min(p), high.max(p))
        });
        if (high - low).length() <= 2.0 * still {
            at_rest.translation = ((low + high) * 0.5).as_vec3().as_dvec3();
        }
        // Without scale but for rounding there is none.
        if (at_rest.scale - DVec3::ONE).abs().max_element() < 1e-4 {
            at_rest.scale = DVec3::ONE;
        }
        let tracks = clips.iter().map(|motions| {
            let locals: Vec<Local> = motions.iter().map(local).collect();
            Track::new(&locals, &at_rest, still)
        });
        let tracks = tracks.collect();
        Self {
            parent: unit_of.joints[slot],
            inverse_bind,
            rest: at_rest,
            tracks,
        }
    }

    /// Where a player has it, bind -> world, `share` of the way from key `k` to the next.
    pub(super) fn matrix(&self, world: &[DAffine3], at: Option<(usize, usize, f64)>) -> DAffine3 {
        let mut local = self.rest;
        if let Some((clip, k, share)) = at
            && let Some(track) = self.tracks.get(clip)
        {
            if let Some(&from) = track.rotation.get(k) {
                let to = track.rotation.get(k + 1).copied().unwrap_or(from);
                local.rotation = normalize_or_identity(from.slerp(to, share));
            }
            let between = |keys: &[DVec3], rest: DVec3| match keys.get(k) {
                Some(&from) => from.lerp(keys.get(k + 1).copied().unwrap_or(from), share),
                None => rest,
            };
            local.translation = between(&track.translation, local.translation);
            local.scale = between(&track.scale, local.scale);
        }
        let affine = DAffine3::from_scale_rotation_translation(
            local.scale,
            local.rotation,
            local.translation,
        );
        world[self.parent.get()] * affine * self.inverse_bind
    }
}

impl Track {
    fn new(locals: &[Local], rest: &Local, still: f64) -> Self {
        let mut track = Self::default();
        // Numbers of 16 bits leave lengths a little off 1, by as much as half a degree changes this.
        let unit = normalize_or_identity;
        let turns = |l: &Local| unit(l.rotation).dot(unit(rest.rotation)).abs() < 1.0 - 1e-9;
        if locals.iter().any(turns) {
            // One hemisphere from key to key.
            let mut last = rest.rotation;
            track.rotation = locals
                .iter()
                .map(|l| {
                    last = if l.rotation.dot(last) < 0.0 {
                        -l.rotation
                    } else {
                        l.rotation
                    };
                    last
                })
                .collect();
        }
        if locals
            .iter()
            .any(|l| l.translation.distance(rest.translation) > still)
        {
            track.translation = locals.iter().map(|l| l.translation).collect();
        }
        if locals
            .iter()
            .any(|l| (l.scale - rest.scale).abs().max_element() > 4e-4)
        {
            track.scale = locals.iter().map(|l| l.scale).collect();
        }
        track
    }
}

/// Where a key is: its clip, the key at or before the moment, and the share of the way to the next.
pub(super) fn place(times: &[f32], time: Time) -> Option<(usize, usize, f64)> {
    let clip = time.clip?;
    let after = times.partition_point(|&t| f64::from(t) <= time.secs);
    let k = after.saturating_sub(1);
    let (Some(&from), Some(&to)) = (times.get(k), times.get(k + 1)) else {
        return (!times.is_empty()).then_some((clip, k, 0.0));
    };
    let (from, to) = (f64::from(from), f64::from(to));
    Some((clip, k, ((time.secs - from) / (to - from)).clamp(0.0, 1.0)))
}

/// The quaternion that a file gives back.
fn stored(q: DQuat) -> DQuat {
    let short = |x: f64| f64::from(((x * STEPS).round() / STEPS) as f32);
    DQuat::from_xyzw(short(q.x), short(q.y), short(q.z), short(q.w))
}

/// The point of the parent's space that the motions move least: `min sum |(A_t - mean A) c + b_t - mean b|^2`.
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
    // Along an axis that it only turns about, any place will do: the one next to the parent.
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
    fn moments_lie_between_keys() {
        let time = |secs| Time {
            clip: Some(2),
            secs,
        };
        let times = [1.0, 2.0, 4.0];
        assert_eq!(place(&times, time(0.0)), Some((2, 0, 0.0)));
        assert_eq!(place(&times, time(3.0)), Some((2, 1, 0.5)));
        assert_eq!(place(&times, time(9.0)), Some((2, 2, 0.0)));
        assert_eq!(place(&[], time(9.0)), None);
    }
}
