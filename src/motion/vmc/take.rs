//! The animated body of channels that are named after Unity's humanoid bones.

use super::body::BONES;
use super::root::{ROOT, Root, root_fade};
use crate::motion::aggregate::frame_times;
use crate::motion::channel_kind::ChannelKind;
use crate::motion::fade::Fade;
use crate::motion::recording::{Recording, Track};
use crate::motion::rig::Rig;
use crate::motion::sampling::Sampling;
use crate::motion::series::Channel;
use crate::motion::signal::Signal;
use crate::motion::take::{MAX_FRAMES, Take};
use glam::{DQuat, DVec3};

/// The place of the hips among [`BONES`].
const HIPS: usize = 0;
/// A bone whose place changes by less than this share of its distance at rest does not move: the rounding of f32.
const MOVED: f64 = 1e-4;
/// Frames a second of a take.
const RATE: f64 = 60.0;

/// The bones of a body that are known, parents first, and how they hang together.
#[derive(Clone, Debug, PartialEq)]
pub struct Body {
    /// Indices into [`BONES`].
    pub bones: Vec<usize>,
    /// n_bones: the next one above that is known.
    pub parents: Vec<Option<usize>>,
    /// n_bones: where each is in that one at rest, metres.
    pub offsets: Vec<DVec3>,
    /// n_bones: whether the sender says where it is.
    pub is_said: Vec<bool>,
}

impl Body {
    /// The bones that are known; `place` gives where the sender has one in its parent, `None` or 0 where it does not say: there
    /// it is as in an average adult. `None` without a bone.
    pub fn new(
        is_known: impl Fn(&str) -> bool,
        place: impl Fn(&str) -> Option<DVec3>,
    ) -> Option<Self> {
        let all = 0..BONES.len();
        let bones: Vec<usize> = all.filter(|&b| is_known(BONES[b].name)).collect();
        if bones.is_empty() {
            return None;
        }
        let index = |name: &str| bones.iter().position(|&b| BONES[b].name == name);
        let parent = |b: usize| {
            let mut above = BONES[b].parent;
            loop {
                if let Some(found) = index(above) {
                    return Some(found);
                }
                above = BONES.iter().find(|bone| bone.name == above)?.parent;
            }
        };
        let offset = |b: usize| {
            let said = place(BONES[b].name).unwrap_or_default();
            if said != DVec3::ZERO {
                return said;
            }
            let mut offset = DVec3::from_array(BONES[b].offset);
            let mut above = BONES[b].parent;
            while let Some(parent) = BONES.iter().position(|b| b.name == above) {
                if bones.contains(&parent) {
                    break;
                }
                offset += DVec3::from_array(BONES[parent].offset);
                above = BONES[parent].parent;
            }
            offset
        };
        Some(Self {
            parents: bones.iter().map(|&b| parent(b)).collect(),
            offsets: bones.iter().map(|&b| offset(b)).collect(),
            is_said: bones
                .iter()
                .map(|&b| place(BONES[b].name).is_some_and(|said| said != DVec3::ZERO))
                .collect(),
            bones,
        })
    }

    /// The name of a bone.
    pub fn name(&self, bone: usize) -> &'static str {
        BONES[self.bones[bone]].name
    }

    /// Whether a bone may change its distance from the one above: the sender says where it is.
    pub fn may_stretch(&self, bone: usize) -> bool {
        self.is_said[bone] && self.parents[bone].is_some()
    }

    /// World rotations and places; `rotation` gives that of a bone in its parent, `place` where it is there, `None`: as at rest.
    pub fn world(
        &self,
        rotation: impl Fn(usize) -> DQuat,
        place: impl Fn(usize) -> Option<DVec3>,
    ) -> (Vec<DQuat>, Vec<DVec3>) {
        let n = self.bones.len();
        let (mut rotations, mut places) = (Vec::with_capacity(n), Vec::with_capacity(n));
        for i in 0..n {
            let offset = place(i).unwrap_or(self.offsets[i]);
            let (turned, place): (DQuat, DVec3) = match self.parents[i] {
                Some(above) => {
                    let turned: DQuat = rotations[above];
                    (turned * rotation(i), places[above] + turned * offset)
                }
                None => (rotation(i), offset),
            };
            rotations.push(turned);
            places.push(place);
        }
        (rotations, places)
    }

    /// In a T-pose.
    pub fn rest(&self) -> Rig {
        let (rotations, places) = self.world(|_| DQuat::IDENTITY, |_| None);
        Rig {
            names: (0..self.bones.len())
                .map(|b| self.name(b).to_owned())
                .collect(),
            parents: self.parents.clone(),
            is_bone: vec![true; self.bones.len()],
            rotations,
            places,
            ..Rig::default()
        }
    }
}

/// Why the body of a recording would have too many frames, which a time in a wrong unit makes; `None`: it has not.
pub fn length_fault(recording: &Recording) -> Option<String> {
    let span = recording.times.last()? - recording.times.first()?;
    // NaN is too long as well.
    let fits = span * RATE <= MAX_FRAMES as f64;
    (!fits).then(|| {
        format!(
            "the recording lasts {span:.0} s, longer than the {:.0} s that a motion can have: is the unit of its times right?",
            MAX_FRAMES as f64 / RATE
        )
    })
}

/// Whether a rotation of a recording is one of the body that [`take_of_body`] finds, or of what carries it.
pub fn is_of_body(recording: &Recording, (name, kind): (&str, ChannelKind)) -> bool {
    let is_there = || recording.rotations.iter().any(|track| track.name == name);
    let is_world = recording.world_rotations.contains(name);
    is_body_channel((name, kind), is_there, is_world)
}

/// Whether a channel is that of a humanoid bone or of what carries it: a rotation in the parent's space, or the position beside
/// it. `has_rotation`: whether there is a rotation of its name; `is_world`: whether that is one of the world.
pub fn is_body_channel(
    (name, kind): (&str, ChannelKind),
    has_rotation: impl Fn() -> bool,
    is_world: bool,
) -> bool {
    let is_bone = || name == ROOT || is_body_bone(name, is_world);
    match kind {
        ChannelKind::Rotation | ChannelKind::Marker => is_bone() && has_rotation(),
        ChannelKind::Scalar | ChannelKind::Text => false,
    }
}

/// Whether a rotation of a name is that of a humanoid bone, in its parent's space.
pub fn is_body_bone(rotation: &str, is_world: bool) -> bool {
    !is_world && BONES.iter().any(|bone| bone.name == rotation)
}

/// The motion of the body, 60 frames a second from 0: gaps interpolated, and in long ones held and faded to a T-pose.
/// A bone of unknown length gets that of an average adult. A [`ROOT`] carries it from where it is first. `None` unless a rotation
/// is named after a humanoid bone, and where there is a [`length_fault`].
pub fn take_of_body(recording: &Recording) -> Option<Take> {
    let rotation = |name: &str| {
        let mut tracks = recording.rotations.iter();
        let is_local = !recording.world_rotations.contains(name);
        tracks.find(|track| track.name == name).filter(|_| is_local)
    };
    let places = |name: &str| recording.markers.iter().find(|track| track.name == name);
    let first_place = |track: &Track<DVec3>| track.values.iter().copied().find(DVec3::is_valid);
    let rest_place = |name: &str| {
        // The hips travel from where they are first, which may be 0.
        if name == BONES[HIPS].name {
            return places(name).and_then(first_place);
        }
        // Senders have 0 until their model is loaded.
        let is_said = |place: &DVec3| place.is_valid() && *place != DVec3::ZERO;
        let said = recording.rest_places.get(name).copied();
        let first = || places(name)?.values.iter().copied().find(is_said);
        said.filter(is_said).or_else(first)
    };
    let body = Body::new(|name| rotation(name).is_some(), rest_place)?;
    if length_fault(recording).is_some() {
        return None;
    }
    let first = *recording.times.first()?;
    let times: Vec<f64> = recording.times.iter().map(|t| t - first).collect();
    let frames = frame_times(0.0, *times.last()?, RATE);
    let fade = Fade::default();
    let of_bone = |bone: usize| {
        let track = rotation(body.name(bone));
        track.map_or_else(Vec::new, |track| {
            shown(&frames, &times, &track.values, &fade)
        })
    };
    let sampled: Vec<Vec<DQuat>> = (0..body.bones.len()).map(of_bone).collect();
    // The hips travel; another bone that changes its place stretches the one above.
    let of_place = |bone: usize| -> Option<Vec<DVec3>> {
        let track = places(body.name(bone))?;
        let rest = if body.bones[bone] == HIPS {
            first_place(track).unwrap_or(DVec3::ZERO)
        } else if body.may_stretch(bone) && is_moved(track, body.offsets[bone]) {
            body.offsets[bone]
        } else {
            return None;
        };
        let moved: Vec<DVec3> = track.values.iter().map(|p| *p - rest).collect();
        let moved = shown(&frames, &times, &moved, &fade);
        Some(moved.into_iter().map(|by| rest + by).collect())
    };
    let moved: Vec<Option<Vec<DVec3>>> = (0..body.bones.len()).map(of_place).collect();
    let root = root_motion(recording, &frames, &times);
    let mut take = Take {
        rest: body.rest(),
        rotations: Vec::with_capacity(frames.len() * body.bones.len()),
        places: Vec::with_capacity(frames.len() * body.bones.len()),
        times: frames,
    };
    for frame in 0..take.n_frames() {
        let place = |bone: usize| moved[bone].as_ref().map(|places| places[frame]);
        let (mut rotations, mut places) = body.world(|bone| sampled[bone][frame], place);
        if let Some(root) = root.get(frame) {
            root.carry(&mut rotations, &mut places);
        }
        take.rotations.extend(rotations);
        take.places.extend(places);
    }
    Some(take)
}

/// Whether a bone leaves its place at rest.
fn is_moved(track: &Track<DVec3>, rest: DVec3) -> bool {
    let mut places = track.values.iter().filter(|place| place.is_valid());
    places.any(|place| place.distance(rest) > MOVED * rest.length())
}

/// How the root has moved since its first sample, held in gaps: a body that is lost relaxes where it is. Empty without a root.
fn root_motion(recording: &Recording, frames: &[f64], times: &[f64]) -> Vec<Root> {
    fn held<V: Signal>(track: &Track<V>, frames: &[f64], times: &[f64]) -> Option<Vec<V>> {
        let channel = Channel::new(times, &track.values, Sampling::default()).ok()?;
        let fade = root_fade();
        let shown = frames.iter().map(|t| channel.shown(*t, &fade).value);
        Some(shown.collect()).filter(|_| !channel.times().is_empty())
    }
    let rotation = recording.rotations.iter().find(|t| t.name == ROOT);
    let place = recording.markers.iter().find(|t| t.name == ROOT);
    let rotations = rotation.and_then(|track| held(track, frames, times));
    let places = place.and_then(|track| held(track, frames, times));
    if rotations.is_none() && places.is_none() {
        return Vec::new();
    }
    let at = |i: usize| Root {
        rotation: rotations.as_ref().map_or(DQuat::IDENTITY, |q| q[i]),
        place: places.as_ref().map_or(DVec3::ZERO, |p| p[i]),
    };
    (0..frames.len()).map(|i| at(i).since(at(0))).collect()
}

/// What samples show at some times.
fn shown<V: Signal>(frames: &[f64], times: &[f64], values: &[V], fade: &Fade) -> Vec<V> {
    match Channel::new(times, values, Sampling::default()) {
        Ok(channel) => frames
            .iter()
            .map(|t| channel.shown(*t, fade).value)
            .collect(),
        Err(_) => vec![V::REST; frames.len()],
    }
}
