//! The animation of another skeleton, as read from a file.

use super::bvh::{Bvh, Positions, frame_rate_note, frame_time_note};
use super::recording::{Note, Recording, Track};
use super::rig::Rig;
use super::take::Take;
use crate::math::transform::normalize_or_identity;
use glam::{DQuat, DVec3};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

/// The animation of another skeleton.
#[derive(Clone, Debug)]
pub struct MotionSource {
    /// The name of the file without its ending, or of the clip.
    pub name: String,
    /// What was repaired or left out while reading.
    pub notes: Vec<Note>,
    content: Content,
    /// Whether the frame time of a BVH file is the number of frames per second.
    is_frame_rate: bool,
}

#[derive(Clone, Debug)]
enum Content {
    Bvh(Arc<Bvh>),
    Take(Arc<Take>),
}

impl MotionSource {
    /// A motion that is sampled at each frame.
    pub fn of_take(name: impl Into<String>, take: Take, notes: Vec<Note>) -> Self {
        Self {
            name: name.into(),
            notes,
            content: Content::Take(Arc::new(take)),
            is_frame_rate: false,
        }
    }

    /// Channels that move no body.
    pub fn without_body(name: impl Into<String>, notes: Vec<Note>) -> Self {
        let take = Take {
            rest: Rig::default(),
            times: Vec::new(),
            rotations: Vec::new(),
            places: Vec::new(),
        };
        Self::of_take(name, take, notes)
    }

    /// Whether it has a skeleton.
    pub fn has_body(&self) -> bool {
        match &self.content {
            Content::Bvh(_) => true,
            Content::Take(take) => !take.rest.is_empty(),
        }
    }

    /// The motion of a BVH file.
    pub fn of_bvh(name: impl Into<String>, mut bvh: Bvh) -> Self {
        Self {
            name: name.into(),
            notes: std::mem::take(&mut bvh.notes),
            content: Content::Bvh(Arc::new(bvh)),
            is_frame_rate: false,
        }
    }

    /// The motion. `positions` says what the position channels of a BVH file are.
    pub fn take(&self, positions: Positions) -> Cow<'_, Take> {
        match &self.content {
            Content::Bvh(bvh) => {
                let mut take = Take::of_bvh(bvh, positions);
                if self.is_frame_rate {
                    take.times = self.times();
                }
                Cow::Owned(take)
            }
            Content::Take(take) => Cow::Borrowed(take),
        }
    }

    /// The names of the joints of its skeleton.
    pub fn joint_names(&self) -> Vec<String> {
        match &self.content {
            Content::Bvh(bvh) => bvh.joints.iter().map(|joint| joint.name.clone()).collect(),
            Content::Take(take) => take.rest.names.clone(),
        }
    }

    /// Whether it is a BVH file, whose position channels have to be interpreted.
    pub fn is_bvh(&self) -> bool {
        matches!(self.content, Content::Bvh(_))
    }

    /// The frame time of its BVH file, seconds, where it is more than a second and may be a number of frames per second.
    pub fn odd_frame_time(&self) -> Option<f64> {
        match &self.content {
            Content::Bvh(bvh) => Some(bvh.frame_secs).filter(|secs| *secs > 1.0),
            Content::Take(_) => None,
        }
    }

    /// Whether the frame time of its BVH file is read as frames per second.
    pub fn is_frame_rate(&self) -> bool {
        self.is_frame_rate
    }

    /// The same motion with the frame time of its BVH file read as frames per second, or as seconds; `None` where it is no number of
    /// frames per second.
    pub fn with_frame_rate(&self, is_frame_rate: bool) -> Option<Self> {
        let secs = self.odd_frame_time()?;
        let texts = [frame_time_note(secs), frame_rate_note(secs)];
        let [after, before] = if is_frame_rate {
            [&texts[1], &texts[0]]
        } else {
            [&texts[0], &texts[1]]
        };
        let mut next = self.clone();
        next.is_frame_rate = is_frame_rate;
        for note in next.notes.iter_mut().filter(|note| note.text == *before) {
            note.text.clone_from(after);
        }
        Some(next)
    }

    /// The times of its frames, seconds.
    pub fn times(&self) -> Vec<f64> {
        match &self.content {
            Content::Bvh(bvh) => {
                let secs = if self.is_frame_rate {
                    1.0 / bvh.frame_secs
                } else {
                    bvh.frame_secs
                };
                (0..bvh.n_frames).map(|f| f as f64 * secs).collect()
            }
            Content::Take(take) => take.times.clone(),
        }
    }

    /// Its joints as channels, with what was repaired.
    pub fn recording(&self) -> Recording {
        Recording {
            notes: self.notes.clone(),
            ..self.take(Positions::Auto).recording()
        }
    }
}

impl Take {
    /// The joints as channels: of each that has a name of its own its rotation in its parent, and its place in the world. The
    /// second joint of a name is left out, as channels go by name.
    pub fn recording(&self) -> Recording {
        let n = self.rest.len();
        let mut seen = BTreeSet::new();
        let mut recording = Recording {
            times: self.times.clone(),
            ..Recording::default()
        };
        for (j, name) in self.rest.names.iter().enumerate() {
            if name.is_empty() || !seen.insert(name) {
                continue;
            }
            let parent = self.rest.parents[j];
            let own = |frame: usize| {
                let world = self.rotations[frame * n + j];
                let above = parent.map_or(DQuat::IDENTITY, |p| self.rotations[frame * n + p]);
                normalize_or_identity(above.conjugate() * world)
            };
            let frames = 0..self.n_frames();
            let places = frames.clone().map(|f| self.places[f * n + j]);
            let places: Vec<DVec3> = places.collect();
            recording.markers.push(Track {
                name: name.clone(),
                values: places,
            });
            recording.rotations.push(Track {
                name: name.clone(),
                values: frames.map(own).collect(),
            });
        }
        recording
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joints_become_channels_by_name() {
        let turn = DQuat::from_rotation_z(0.4);
        let take = Take {
            rest: Rig {
                names: ["hip", "knee", "knee", ""].map(str::to_owned).to_vec(),
                parents: vec![None, Some(0), Some(0), Some(1)],
                is_bone: vec![true; 4],
                rotations: vec![DQuat::IDENTITY; 4],
                places: vec![DVec3::ZERO; 4],
                ..Rig::default()
            },
            times: vec![0.0, 0.5],
            rotations: [vec![DQuat::IDENTITY; 4], vec![turn; 4]].concat(),
            places: [vec![DVec3::ZERO; 4], vec![DVec3::Y; 4]].concat(),
        };
        let source = MotionSource::of_take("walk", take, vec![Note::new(3, "odd")]);
        let found = source.recording();
        assert_eq!(found.times, [0.0, 0.5]);
        let names: Vec<&str> = found.rotations.iter().map(|t| t.name.as_str()).collect();
        assert_eq!(names, ["hip", "knee"]);
        assert!(found.rotations[0].values[1].abs_diff_eq(turn, 1e-12));
        assert!(found.rotations[1].values[1].abs_diff_eq(DQuat::IDENTITY, 1e-12));
        assert_eq!(found.markers[1].values, [DVec3::ZERO, DVec3::Y]);
        assert_eq!(found.notes.len(), 1);
    }
}
