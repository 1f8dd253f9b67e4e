//! The skeleton of a motion beside the character.

use super::reference::{left_of, thighs};
use super::target::Retarget;
use super::travel::hip_middle;
use glam::{DVec3, Vec3};

/// How far beside the character it stands, in heights of the character.
const BESIDE: f64 = 0.75;

/// The skeleton of a motion, as large as the character, on the way that the character takes and to its left.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ghost {
    /// n_joints; `None` for a root.
    pub parents: Vec<Option<usize>>,
    /// n_frames, seconds, ascending.
    pub times: Vec<f64>,
    /// n_frames x n_joints: world places, metres.
    pub places: Vec<Vec3>,
}

impl Ghost {
    /// n_joints: the world places at a time, linear between frames; those of the first or last frame outside. Empty without
    /// frames.
    pub fn at(&self, secs: f64) -> Vec<Vec3> {
        let n = self.parents.len();
        let next = self.times.partition_point(|time| *time <= secs);
        let frame = |f: usize| self.places.get(f * n..(f + 1) * n).unwrap_or_default();
        let Some(last) = self.times.len().checked_sub(1) else {
            return Vec::new();
        };
        if next == 0 || next > last {
            return frame(next.min(last)).to_vec();
        }
        let (from, to) = (self.times[next - 1], self.times[next]);
        let share = ((secs - from) / (to - from)) as f32;
        let pairs = frame(next - 1).iter().zip(frame(next));
        pairs.map(|(a, b)| a.lerp(*b, share)).collect()
    }
}

impl Retarget<'_> {
    /// The skeleton of the motion beside the character.
    pub fn ghost(&self) -> Ghost {
        let (take, mapping) = (self.take(), self.mapping());
        let left = thighs(mapping, 1).and_then(|thighs| left_of(self.rest_places(), thighs));
        let aside = left.unwrap_or(DVec3::X) * BESIDE * self.height();
        let scale = self.report.scale;
        let mut places = Vec::with_capacity(take.places.len());
        for frame in 0..take.n_frames() {
            let own = take.places(Some(frame));
            let middle = hip_middle(own, mapping, 0).unwrap_or_default();
            let of =
                |place: &DVec3| (self.on_way(frame, (*place - middle) * scale) + aside).as_vec3();
            places.extend(own.iter().map(of));
        }
        Ghost {
            parents: take.rest.parents.clone(),
            times: take.times.clone(),
            places,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_linear_between_frames_and_held_outside() {
        let ghost = Ghost {
            parents: vec![None],
            times: vec![1.0, 2.0],
            places: vec![Vec3::ZERO, Vec3::X],
        };
        for (secs, x) in [(0.0, 0.0), (1.0, 0.0), (1.25, 0.25), (2.0, 1.0), (9.0, 1.0)] {
            assert_eq!(ghost.at(secs), [Vec3::X * x], "{secs}");
        }
        assert!(Ghost::default().at(1.0).is_empty());
    }
}
