//! What a sample was captured over: the weights and painted maps of the points that it moves.
//!
//! The shape F and the rotation R below stage 7 follow them, so a sample whose points have other ones now no longer gives
//! its sculpt. Smoothing reads neighbours as well; those do not count.

use crate::deform::mask::{MaskKind, Masks};
use crate::deform::stack::DeformStack;
use crate::psd::Displacements;
use crate::skinning::{Influences, RowRef};
use std::sync::Arc;
use xxhash_rust::xxh3::Xxh3;

/// Weights and values of maps are compared in these steps: rounding is no change.
const STEPS: f32 = 65536.0;

/// The weights and painted maps of a mesh at one moment. It shares their chunks with the document.
#[derive(Clone, Debug)]
pub struct SkinBase {
    influences: Influences,
    /// One for each joint of the skin: a number that is the joint's in every session.
    joints: Vec<u64>,
    masks: Masks,
}

/// What a sample was captured over.
#[derive(Clone, Debug, Default)]
pub enum CapturedOver {
    /// Not known, as for a mesh without weights: it counts as what is there.
    #[default]
    Unknown,
    /// This.
    Known(Arc<SkinBase>),
    /// An older project does not tell: what was there when it was opened.
    Assumed(Arc<SkinBase>),
    /// Something of this checksum, in an earlier session.
    Checksum(u64),
}

/// Why a sample no longer gives its sculpt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Staleness {
    /// The mesh has another deformer stack than the sample was captured on.
    Stack,
    /// The weights or painted maps of its points changed; the old ones are known.
    Weights,
    /// The weights or painted maps of its points changed, and the old ones are not known: the sculpted shape cannot be
    /// computed.
    WeightsLost,
}

impl CapturedOver {
    /// The weights and maps, where they are at hand.
    pub fn base(&self) -> Option<&Arc<SkinBase>> {
        match self {
            Self::Known(base) | Self::Assumed(base) => Some(base),
            Self::Unknown | Self::Checksum(_) => None,
        }
    }

    /// Whether it is the same record.
    pub fn is(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Unknown, Self::Unknown) => true,
            (Self::Known(a), Self::Known(b)) | (Self::Assumed(a), Self::Assumed(b)) => {
                Arc::ptr_eq(a, b)
            }
            (Self::Checksum(a), Self::Checksum(b)) => a == b,
            _ => false,
        }
    }
}

impl Staleness {
    /// The end of a sentence that begins "it was captured".
    pub fn reason(self) -> &'static str {
        match self {
            Self::Stack => "on another deformer stack",
            Self::Weights | Self::WeightsLost => "before the skin weights or painted maps changed",
        }
    }
}

impl SkinBase {
    /// The state of a mesh. `joints`: one for each joint of its skin, a number that is the joint's in every session.
    pub fn new(influences: Influences, joints: Vec<u64>, masks: Masks) -> Self {
        Self {
            influences,
            joints,
            masks,
        }
    }

    /// The weights.
    pub fn influences(&self) -> &Influences {
        &self.influences
    }

    /// The painted maps.
    pub fn masks(&self) -> &Masks {
        &self.masks
    }

    /// Whether the joints of its weights have the same slots in `other`, which may have more.
    pub fn has_joints_of(&self, other: &Self) -> bool {
        other.joints.starts_with(&self.joints)
    }

    /// Whether it shares all weights and maps with a mesh: nothing changed since.
    pub fn shares(&self, influences: &Influences, masks: &Masks) -> bool {
        let (own, theirs) = (self.influences.chunks(), influences.chunks());
        own.len() == theirs.len()
            && own.iter().zip(theirs).all(|(a, b)| Arc::ptr_eq(a, b))
            && self.masks == *masks
    }

    /// The checksum of what a stack reads of the points that have a displacement.
    pub fn checksum(&self, stack: &DeformStack, displacements: &Displacements) -> u64 {
        let maps = maps_of(stack);
        let mut hash = Xxh3::new();
        for (point, _) in displacements.iter() {
            hash.update(&self.of_point(&maps, point).to_le_bytes());
        }
        hash.digest()
    }

    /// Whether a stack reads the same of all points that have a displacement.
    pub fn agrees(&self, other: &Self, stack: &DeformStack, displacements: &Displacements) -> bool {
        let (maps, same_joints) = (maps_of(stack), self.has_joints_of(other));
        let chunks =
            (0..displacements.n_chunks()).filter_map(|c| Some((c, displacements.chunk(c)?)));
        let is_shared = |c: usize| {
            let rows = self
                .influences
                .chunks()
                .get(c)
                .zip(other.influences.chunks().get(c));
            let mut pairs = maps
                .iter()
                .map(|&map| (self.masks.chunk(map, c), other.masks.chunk(map, c)));
            same_joints
                && rows.is_some_and(|(a, b)| Arc::ptr_eq(a, b))
                && pairs.all(|pair| match pair {
                    (Some(a), Some(b)) => Arc::ptr_eq(a, b),
                    (a, b) => a.is_none() && b.is_none(),
                })
        };
        let mut changed = chunks.filter(|(c, _)| !is_shared(*c));
        changed.all(|(c, chunk)| {
            let mut points = chunk
                .iter()
                .map(|(i, _)| (c * crate::skinning::CHUNK + i) as u32);
            points.all(|point| {
                let (a, b) = (self.read_at(&maps, point), other.read_at(&maps, point));
                is_near(&a, &b) && is_near(&b, &a)
            })
        })
    }

    /// A number for what is read of a point; the order of its influences does not count.
    fn of_point(&self, maps: &[MaskKind], point: u32) -> u64 {
        let read = self.read_at(maps, point).into_iter();
        let steps = read.map(|(what, value)| (what, (value * STEPS).round() as u64));
        steps
            .filter(|(_, steps)| *steps > 0)
            .fold(0, |sum, (what, steps)| sum.wrapping_add(mixed(what, steps)))
    }

    /// The weights and the values of maps at a point, each with a number that says of what.
    fn read_at(&self, maps: &[MaskKind], point: u32) -> Vec<(u64, f32)> {
        let is_known = (point as usize) < self.influences.len();
        let row = is_known.then(|| self.influences.row(point));
        let weights = row
            .into_iter()
            .flat_map(RowRef::iter)
            .map(|(slot, weight)| {
                let joint = self.joints.get(usize::from(slot));
                let joint = joint.copied().unwrap_or(u64::from(slot) | NO_JOINT);
                (joint, weight)
            });
        let values = maps
            .iter()
            .map(|&map| (NO_JOINT << 1 | map as u64, self.masks.value(map, point)));
        weights.chain(values).collect()
    }
}

/// Whether every value is nearly the same in `other`, or nearly 0 where that has none.
fn is_near(values: &[(u64, f32)], other: &[(u64, f32)]) -> bool {
    values.iter().all(|&(what, value)| {
        let same = other.iter().filter(|other| other.0 == what);
        let theirs: f32 = same.map(|other| other.1).sum();
        (value - theirs).abs() <= 1.0 / STEPS
    })
}

/// Marks what is no joint of a file.
const NO_JOINT: u64 = 1 << 40;

/// The painted maps that a stack reads.
fn maps_of(stack: &DeformStack) -> Vec<MaskKind> {
    let all = MaskKind::ALL.into_iter();
    all.filter(|&map| stack.reads_mask(map)).collect()
}

/// A pair of numbers as one whose bits are all over the place (the finaliser of SplitMix64).
fn mixed(a: u64, b: u64) -> u64 {
    let mut z = a.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(b);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::deform::SkinningMethod;
    use crate::skinning::Rows;
    use glam::Vec3;

    fn base(rows: Vec<Vec<(u16, f32)>>, joints: &[u64]) -> SkinBase {
        let rows: Rows = rows.into_iter().collect();
        SkinBase::new(
            Influences::from_rows(rows.iter()),
            joints.to_vec(),
            Masks::default(),
        )
    }

    #[test]
    fn only_the_weights_of_moved_points_count_whatever_their_order() {
        let moved = Displacements::new(vec![(1, Vec3::X), (2, Vec3::X)]);
        let of = |rows, joints: &[u64]| base(rows, joints).checksum(&DeformStack::dqs(), &moved);
        let row = || vec![(0, 0.25), (1, 0.75)];
        let before = base(vec![row(), row(), row()], &[7, 9]);
        let sum = before.checksum(&DeformStack::dqs(), &moved);
        for (rows, joints, is_same) in [
            (vec![vec![(0, 1.0)], row(), row()], [7, 9], true),
            (vec![row(), vec![(1, 0.75), (0, 0.25)], row()], [7, 9], true),
            (
                vec![row(), row(), vec![(1, 0.25), (0, 0.75)]],
                [9, 7],
                false,
            ),
            (vec![vec![(1, 0.25), (0, 0.75)]; 3], [9, 7], true),
            (
                vec![row(), vec![(0, 0.25 + 1e-7), (1, 0.75), (2, 0.0)], row()],
                [7, 9],
                true,
            ),
            (
                vec![row(), row(), vec![(0, 0.26), (1, 0.74)]],
                [7, 9],
                false,
            ),
            (vec![row(), row()], [7, 9], false),
        ] {
            let now = base(rows.clone(), &joints);
            assert_eq!(of(rows.clone(), &joints) == sum, is_same, "{rows:?}");
            assert_eq!(
                before.agrees(&now, &DeformStack::dqs(), &moved),
                is_same,
                "{rows:?}"
            );
        }
    }

    #[test]
    fn a_painted_map_counts_where_the_stack_reads_it() {
        let moved = Displacements::new(vec![(0, Vec3::X)]);
        let before = base(vec![vec![(0, 1.0)]; 2], &[0]);
        let blend = DeformStack::bare(SkinningMethod::Blend);
        let painted = |point: u32| {
            let mut now = before.clone();
            now.masks.swap(MaskKind::Blend, &[point], &mut [0.5]);
            now
        };
        let agrees = |point, stack| before.agrees(&painted(point), stack, &moved);
        assert!(!agrees(0, &blend));
        assert!(agrees(1, &blend) && agrees(0, &DeformStack::dqs()));
        let sums = [
            before.checksum(&blend, &moved),
            painted(0).checksum(&blend, &moved),
        ];
        assert_ne!(sums[0], sums[1]);
    }
}
