//! Displacements of control points, still or with keyframes in clips: of clusters moved by hand, of the points of a lattice or
//! a cage.
//!
//! Invariant: displacements are finite, ascend by control, and name no control that has none; keyframes ascend in time.

use crate::skeleton::clip_edit::SAME_KEY_SECS;
use crate::skeleton::{ClipId, Moment};
use glam::{DVec3, Vec3};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Displacements by control, ascending; other controls have none.
pub type Offsets = Arc<[(u32, Vec3)]>;

/// The displacements of all controls at a time of a clip.
#[derive(Clone, Debug, PartialEq)]
pub struct ControlKey {
    /// Seconds, not negative.
    pub secs: f32,
    /// Metres; of lattices and cages the units of the mesh.
    pub offsets: Offsets,
}

/// Why displacements and keyframes are no [`ControlMotion`].
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum MotionError {
    /// A displacement is not finite.
    #[error("the displacement of control {0} is not finite")]
    NotFinite(u32),
    /// A control has two displacements.
    #[error("control {0} has two displacements at one time")]
    Twice(u32),
    /// The time of a keyframe is not finite or negative.
    #[error("a keyframe of clip {} is at {secs} s", .clip.0)]
    Time {
        /// The clip.
        clip: ClipId,
        /// The time.
        secs: f32,
    },
    /// Keyframes do not ascend in time.
    #[error("the keyframes of clip {} do not ascend at {secs} s", .clip.0)]
    Order {
        /// The clip.
        clip: ClipId,
        /// The time of the later one in the list.
        secs: f32,
    },
}

/// Where controls are: displacements outside of clips, and keyframes in the clips that animate them.
///
/// A clip without keyframes shows the displacements outside of clips. Copies share what they do not change.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ControlMotion {
    still: Offsets,
    clips: BTreeMap<ClipId, Arc<[ControlKey]>>,
}

impl ControlMotion {
    /// Of displacements in any order, outside of clips, and keyframes by clip. Fails where one is not finite or has no time
    /// of its own.
    pub fn new(
        still: Vec<(u32, Vec3)>,
        clips: impl IntoIterator<Item = (ClipId, Vec<(f32, Vec<(u32, Vec3)>)>)>,
    ) -> Result<Self, MotionError> {
        let mut motion = Self {
            still: checked(still)?,
            clips: BTreeMap::new(),
        };
        for (clip, keys) in clips {
            let mut made: Vec<ControlKey> = Vec::with_capacity(keys.len());
            for (secs, offsets) in keys {
                if !(secs.is_finite() && secs >= 0.0) {
                    return Err(MotionError::Time { clip, secs });
                }
                if made.last().is_some_and(|last| last.secs >= secs) {
                    return Err(MotionError::Order { clip, secs });
                }
                let offsets = checked(offsets)?;
                made.push(ControlKey { secs, offsets });
            }
            motion.set_keys(clip, made);
        }
        Ok(motion)
    }

    /// Whether nothing is ever displaced.
    pub fn is_empty(&self) -> bool {
        self.still.is_empty() && self.clips.is_empty()
    }

    /// The displacements outside of clips.
    pub fn still(&self) -> &Offsets {
        &self.still
    }

    /// The clips with keyframes, ascending, and these, ascending in time.
    pub fn clips(&self) -> impl Iterator<Item = (ClipId, &[ControlKey])> {
        self.clips.iter().map(|(&clip, keys)| (clip, &keys[..]))
    }

    /// The keyframes of a clip, ascending in time; empty without.
    pub fn keys(&self, clip: ClipId) -> &[ControlKey] {
        self.clips.get(&clip).map_or(&[], |keys| &keys[..])
    }

    /// The index of the keyframe of a clip nearest to a time, within `reach` seconds.
    pub fn key_near(&self, clip: ClipId, secs: f32, reach: f32) -> Option<usize> {
        let keys = self.keys(clip).iter().map(|key| (key.secs - secs).abs());
        let near = keys.enumerate().filter(|(_, apart)| *apart <= reach);
        let nearest = near.min_by(|a, b| a.1.total_cmp(&b.1));
        nearest.map(|(index, _)| index)
    }

    /// Writes the displacements at a moment into `out`, ascending by control, metres; without a clip, or in one without
    /// keyframes, those outside of clips.
    ///
    /// Linear between keyframes, as glTF's `LINEAR` (glTF 2.0, appendix C); constant before the first and after the last.
    pub fn at(&self, moment: Moment, out: &mut Vec<(u32, DVec3)>) {
        out.clear();
        let keys = moment.clip.map_or(&[][..], |clip| self.keys(clip));
        let copy = |offsets: &Offsets, out: &mut Vec<(u32, DVec3)>| {
            out.extend(offsets.iter().map(|&(c, d)| (c, d.as_dvec3())));
        };
        let after = keys.partition_point(|key| f64::from(key.secs) <= moment.secs);
        if keys.is_empty() {
            return copy(&self.still, out);
        }
        let Some(next) = keys.get(after) else {
            return copy(&keys[keys.len() - 1].offsets, out);
        };
        let Some(last) = after.checked_sub(1).map(|last| &keys[last]) else {
            return copy(&next.offsets, out);
        };
        let (from, to) = (f64::from(last.secs), f64::from(next.secs));
        let u = ((moment.secs - from) / (to - from)).clamp(0.0, 1.0);
        let (mut a, mut b) = (
            last.offsets.iter().peekable(),
            next.offsets.iter().peekable(),
        );
        loop {
            let [first, second] = [a.peek(), b.peek()].map(|o| o.map(|o| o.0));
            let Some(control) = first.into_iter().chain(second).min() else {
                break;
            };
            let take = |of: &mut std::iter::Peekable<std::slice::Iter<'_, (u32, Vec3)>>| {
                let found = of.next_if(|o| o.0 == control);
                found.map_or(DVec3::ZERO, |o| o.1.as_dvec3())
            };
            let (start, end) = (take(&mut a), take(&mut b));
            out.push((control, start + (end - start) * u));
        }
    }

    /// The displacements at a moment as a keyframe has them; see [`ControlMotion::at`].
    pub fn offsets_at(&self, moment: Moment) -> Vec<(u32, Vec3)> {
        let mut found = Vec::new();
        self.at(moment, &mut found);
        found.into_iter().map(|(c, d)| (c, d.as_vec3())).collect()
    }

    /// With other displacements outside of clips, in any order.
    pub fn with_still(&self, still: Vec<(u32, Vec3)>) -> Result<Self, MotionError> {
        Ok(Self {
            still: checked(still)?,
            clips: self.clips.clone(),
        })
    }

    /// With a keyframe of a clip, in place of one at the same time.
    pub fn with_key(
        &self,
        clip: ClipId,
        secs: f32,
        offsets: Vec<(u32, Vec3)>,
    ) -> Result<Self, MotionError> {
        if !(secs.is_finite() && secs >= 0.0) {
            return Err(MotionError::Time { clip, secs });
        }
        let offsets = checked(offsets)?;
        let mut keys = self.keys(clip).to_vec();
        match self.key_near(clip, secs, SAME_KEY_SECS) {
            Some(same) => keys[same].offsets = offsets,
            None => {
                let at = keys.partition_point(|key| key.secs < secs);
                keys.insert(at, ControlKey { secs, offsets });
            }
        }
        Ok(self.with_keys(clip, keys))
    }

    /// Without the keyframe of a clip at a time; without the last one, the clip shows the displacements outside of clips.
    #[must_use]
    pub fn without_key(&self, clip: ClipId, secs: f32) -> Self {
        let Some(at) = self.key_near(clip, secs, SAME_KEY_SECS) else {
            return self.clone();
        };
        let mut keys = self.keys(clip).to_vec();
        keys.remove(at);
        self.with_keys(clip, keys)
    }

    /// With the keyframe of a clip moved to another time, not before 0, in place of one that is there.
    #[must_use]
    pub fn with_moved_key(&self, clip: ClipId, from: f32, to: f32) -> Self {
        let found = self.key_near(clip, from, SAME_KEY_SECS);
        let Some(at) = found.filter(|_| to.is_finite()) else {
            return self.clone();
        };
        let to = to.max(0.0);
        let mut keys = self.keys(clip).to_vec();
        let mut moved = keys.remove(at);
        keys.retain(|key| (key.secs - to).abs() > SAME_KEY_SECS);
        moved.secs = to;
        let at = keys.partition_point(|key| key.secs < to);
        keys.insert(at, moved);
        self.with_keys(clip, keys)
    }

    /// With these keyframes for a clip; none: without the clip.
    #[must_use]
    pub fn with_keys(&self, clip: ClipId, keys: Vec<ControlKey>) -> Self {
        let mut motion = self.clone();
        motion.set_keys(clip, keys);
        motion
    }

    /// Without the displacements of some controls.
    #[must_use]
    pub fn without_controls(&self, is_gone: impl Fn(u32) -> bool) -> Self {
        let rest = |offsets: &Offsets| -> Offsets {
            if offsets.iter().any(|offset| is_gone(offset.0)) {
                let kept = offsets.iter().filter(|offset| !is_gone(offset.0));
                kept.copied().collect()
            } else {
                offsets.clone()
            }
        };
        let keyed = self.clips.iter().map(|(&clip, keys)| {
            let keys = keys.iter().map(|key| ControlKey {
                secs: key.secs,
                offsets: rest(&key.offsets),
            });
            (clip, keys.collect())
        });
        Self {
            still: rest(&self.still),
            clips: keyed.collect(),
        }
    }

    /// With the displacements that another motion has for some controls, in place of its own: still ones, and keyframes at the
    /// times of both in clips that either animates.
    #[must_use]
    pub fn with_controls_of(&self, other: &Self, takes: impl Fn(u32) -> bool) -> Self {
        let merged = |own: Vec<(u32, Vec3)>, theirs: Vec<(u32, Vec3)>| -> Offsets {
            let own = own.into_iter().filter(|offset| !takes(offset.0));
            let theirs = theirs.into_iter().filter(|offset| takes(offset.0));
            let mut all: Vec<(u32, Vec3)> = own.chain(theirs).collect();
            all.sort_unstable_by_key(|offset| offset.0);
            all.into()
        };
        let mut motion = Self {
            still: merged(self.still.to_vec(), other.still.to_vec()),
            clips: self.clips.clone(),
        };
        // Another clip has nothing of those to take.
        let displaces = |keys: &[ControlKey]| {
            let mut offsets = keys.iter().flat_map(|key| key.offsets.iter());
            offsets.any(|offset| takes(offset.0))
        };
        let theirs = other.clips.iter().filter(|(_, keys)| displaces(keys));
        let clips: BTreeSet<_> = self
            .clips
            .keys()
            .chain(theirs.map(|entry| entry.0))
            .collect();
        for clip in clips {
            let keys = [self, other].map(|of| of.keys(*clip));
            let mut times: Vec<f32> = keys.into_iter().flatten().map(|key| key.secs).collect();
            times.sort_by(f32::total_cmp);
            times.dedup_by(|later, earlier| *later - *earlier <= SAME_KEY_SECS);
            let made = times.into_iter().map(|secs| {
                let [own, theirs] =
                    [self, other].map(|of| of.offsets_at(Moment::of(*clip, f64::from(secs))));
                let offsets = merged(own, theirs);
                ControlKey { secs, offsets }
            });
            motion.set_keys(*clip, made.collect());
        }
        motion
    }

    /// The controls that it displaces at some time.
    pub fn displaced(&self) -> BTreeSet<u32> {
        let keyed = self.clips.values().flat_map(|keys| keys.iter());
        let all = keyed.map(|key| &key.offsets).chain([&self.still]);
        let controls = all.flat_map(|offsets| offsets.iter().map(|offset| offset.0));
        controls.collect()
    }

    /// With the displacements of each time changed, in any order.
    pub fn mapped(
        &self,
        change: impl Fn(&Offsets) -> Vec<(u32, Vec3)>,
    ) -> Result<Self, MotionError> {
        let mut motion = Self {
            still: checked(change(&self.still))?,
            clips: BTreeMap::new(),
        };
        for (clip, keys) in self.clips() {
            let keys = keys.iter().map(|key| {
                let offsets = checked(change(&key.offsets))?;
                Ok(ControlKey {
                    secs: key.secs,
                    offsets,
                })
            });
            motion.set_keys(clip, keys.collect::<Result<_, MotionError>>()?);
        }
        Ok(motion)
    }

    /// The largest control; `None` without displacements.
    pub fn last_control(&self) -> Option<u32> {
        let keyed = self.clips.values().flat_map(|keys| keys.iter());
        let all = keyed.map(|key| &key.offsets).chain([&self.still]);
        all.filter_map(|offsets| Some(offsets.last()?.0)).max()
    }

    /// Bytes that it does not share with another.
    pub fn bytes_beside(&self, other: &Self) -> usize {
        let size = |offsets: &Offsets| offsets.len() * size_of::<(u32, Vec3)>();
        let still = if Arc::ptr_eq(&self.still, &other.still) {
            0
        } else {
            size(&self.still)
        };
        let clips = self.clips.iter().map(|(clip, keys)| {
            let known = other.clips.get(clip);
            if known.is_some_and(|known| Arc::ptr_eq(known, keys)) {
                return 0;
            }
            let is_shared = |key: &&ControlKey| {
                let mut known = known.into_iter().flat_map(|known| known.iter());
                known.any(|known| Arc::ptr_eq(&known.offsets, &key.offsets))
            };
            let own = keys.iter().filter(|key| !is_shared(key));
            size_of::<ControlKey>() * keys.len() + own.map(|key| size(&key.offsets)).sum::<usize>()
        });
        still + clips.sum::<usize>()
    }

    fn set_keys(&mut self, clip: ClipId, keys: Vec<ControlKey>) {
        if keys.is_empty() {
            self.clips.remove(&clip);
        } else {
            self.clips.insert(clip, keys.into());
        }
    }
}

/// Displacements by control, ascending, without zeros.
fn checked(mut offsets: Vec<(u32, Vec3)>) -> Result<Offsets, MotionError> {
    offsets.sort_by_key(|offset| offset.0);
    if let Some(pair) = offsets.windows(2).find(|pair| pair[0].0 == pair[1].0) {
        return Err(MotionError::Twice(pair[0].0));
    }
    if let Some(broken) = offsets.iter().find(|offset| !offset.1.is_finite()) {
        return Err(MotionError::NotFinite(broken.0));
    }
    offsets.retain(|offset| offset.1 != Vec3::ZERO);
    Ok(offsets.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLIP: ClipId = ClipId(7);

    fn keyed() -> ControlMotion {
        let at = |x: f32| vec![(4, Vec3::X * x)];
        let keys = vec![
            (1.0, at(1.0)),
            (3.0, vec![(2, Vec3::Y), (4, Vec3::X * 3.0)]),
        ];
        ControlMotion::new(at(0.5), [(CLIP, keys)]).unwrap()
    }

    #[test]
    fn displacements_are_linear_between_keyframes_and_constant_beyond() {
        let motion = keyed();
        let mut out = Vec::new();
        let mut at = |clip, secs| {
            motion.at(Moment { clip, secs }, &mut out);
            out.clone()
        };
        assert_eq!(at(None, 2.0), [(4, DVec3::X * 0.5)]);
        assert_eq!(at(Some(ClipId(6)), 2.0), [(4, DVec3::X * 0.5)]);
        assert_eq!(at(Some(CLIP), 0.0), [(4, DVec3::X)]);
        assert_eq!(at(Some(CLIP), 1.0), [(2, DVec3::ZERO), (4, DVec3::X)]);
        assert_eq!(
            at(Some(CLIP), 1.5),
            [(2, DVec3::Y * 0.25), (4, DVec3::X * 1.5)]
        );
        assert_eq!(at(Some(CLIP), 3.0), [(2, DVec3::Y), (4, DVec3::X * 3.0)]);
        assert_eq!(at(Some(CLIP), 9.0), [(2, DVec3::Y), (4, DVec3::X * 3.0)]);
    }

    #[test]
    fn keyframes_are_set_moved_and_deleted_and_share_the_others() {
        let motion = keyed();
        let more = motion.with_key(CLIP, 2.0, vec![(9, Vec3::Z)]).unwrap();
        let times = |motion: &ControlMotion| -> Vec<f32> {
            motion.keys(CLIP).iter().map(|key| key.secs).collect()
        };
        assert_eq!(times(&more), [1.0, 2.0, 3.0]);
        assert_eq!(more.last_control(), Some(9));
        assert!(Arc::ptr_eq(
            &more.keys(CLIP)[2].offsets,
            &motion.keys(CLIP)[1].offsets
        ));
        let own = 3 * size_of::<ControlKey>() + size_of::<(u32, Vec3)>();
        assert_eq!(more.bytes_beside(&motion), own);
        assert_eq!(motion.bytes_beside(&motion.clone()), 0);
        let again = more.with_key(CLIP, 2.0, Vec::new()).unwrap();
        assert!(times(&again) == [1.0, 2.0, 3.0] && again.keys(CLIP)[1].offsets.is_empty());
        assert_eq!(times(&more.with_moved_key(CLIP, 1.0, 2.5)), [2.0, 2.5, 3.0]);
        assert_eq!(times(&more.with_moved_key(CLIP, 1.0, 3.0)), [2.0, 3.0]);
        assert_eq!(
            times(&more.with_moved_key(CLIP, 3.0, -1.0)),
            [0.0, 1.0, 2.0]
        );
        assert_eq!(more.with_moved_key(CLIP, 1.7, 2.5), more);
        let left = more.without_key(CLIP, 1.0).without_key(CLIP, 2.0);
        assert_eq!(times(&left), [3.0]);
        let fewer = motion.without_controls(|control| control == 4);
        assert_eq!(fewer.keys(CLIP)[1].offsets[..], [(2, Vec3::Y)]);
        assert!(fewer.still().is_empty() && times(&fewer) == [1.0, 3.0]);
        let none = left.without_key(CLIP, 3.0);
        assert!(none.clips().next().is_none());
        assert_eq!(none.offsets_at(Moment::of(CLIP, 3.0)), [(4, Vec3::X * 0.5)]);
    }

    #[test]
    fn faults_are_named() {
        let of = |offsets| ControlMotion::new(offsets, []).map(|_| ());
        assert_eq!(of(vec![(3, Vec3::NAN)]), Err(MotionError::NotFinite(3)));
        assert_eq!(
            of(vec![(3, Vec3::X), (3, Vec3::Y)]),
            Err(MotionError::Twice(3))
        );
        let keys = |times: &[f32]| {
            let keys = times.iter().map(|&secs| (secs, vec![(1, Vec3::X)]));
            ControlMotion::new(Vec::new(), [(ClipId(2), keys.collect())]).map(|_| ())
        };
        let negative = keys(&[-1.0]).unwrap_err().to_string();
        assert_eq!(negative, "a keyframe of clip 2 is at -1 s");
        assert!(keys(&[f32::NAN]).is_err());
        let order = keys(&[1.0, 1.0]).unwrap_err().to_string();
        assert_eq!(order, "the keyframes of clip 2 do not ascend at 1 s");
        assert!(ControlMotion::default().is_empty());
    }
}
