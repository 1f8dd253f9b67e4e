//! Joints that change their distance from their parents.

use super::Mapping;
use super::moved::{How, Moved};
use crate::motion::roles::Part;
use crate::motion::take::Take;

/// A change of length above this share of it is stretch; below it may be the rounding of f32 far from the origin.
const KEPT: f64 = 1e-4;
/// One that is worth a warning.
const NOTICED: f64 = 0.01;

/// The parent of a joint of the source that changes its distance from it by more than this share, and that distance at rest.
fn stretch_of(take: &Take, joint: usize, least: f64) -> Option<(usize, f64)> {
    let parent = take.rest.parents[joint]?;
    let rest = take.places(None);
    let length = rest[joint].distance(rest[parent]);
    let is_stretched = (0..take.n_frames()).any(|frame| {
        let places = take.places(Some(frame));
        (places[joint].distance(places[parent]) - length).abs() > least * length
    });
    is_stretched.then_some((parent, length))
}

/// The joints of the target whose pairs are stretched, with `may_stretch` all whose pairs can be, except what carries the others.
/// Pairs are one to one: spines and chains of other numbers of joints are not stretched.
pub(super) fn stretches(
    take: &Take,
    mapping: &Mapping,
    may_stretch: bool,
    is_carried: impl Fn(usize) -> bool,
) -> Vec<Moved> {
    let roles = mapping.roles.iter();
    let roles = roles.filter(|(role, _)| role.part != Part::Hips);
    let pairs = roles.map(|(_, pair)| *pair);
    let pairs = pairs.chain(mapping.fingers.values().copied());
    let pairs = pairs.chain(mapping.named.iter().copied());
    let spine = &mapping.spine;
    let lists = mapping.chains.iter().chain(std::iter::once(spine));
    let even = lists.filter(|[ours, theirs]| ours.len() == theirs.len());
    let of_lists = even.flat_map(|[ours, theirs]| ours.iter().zip(theirs));
    let pairs = pairs.chain(of_lists.map(|(s, t)| [*s, *t]));
    let root = mapping.carrier().map(|[_, root]| root);
    let pairs = pairs.filter(|[_, t]| root != Some(*t) && !is_carried(*t));
    let moved = pairs.filter_map(|[joint, t]| {
        let least = if may_stretch { -1.0 } else { KEPT };
        let (parent, length) = stretch_of(take, joint, least)?;
        // Joints in one place have no length to be a share of.
        let how = How::Stretch {
            joint,
            parent,
            length,
        };
        (length > 0.0).then_some(Moved { joint: t, how })
    });
    moved.collect()
}

/// A warning about joints that change their distance from their parents: a skeleton keeps its lengths.
pub(super) fn stretched(take: &Take) -> Option<String> {
    let is_stretched = |&joint: &usize| stretch_of(take, joint, NOTICED).is_some();
    let n = (0..take.rest.len()).filter(is_stretched).count();
    match n {
        0 => None,
        1 => Some(
            "A bone of the motion stretches. The stretch is dropped; Keep stretch (--stretch keep) keeps it."
                .into(),
        ),
        n => Some(format!(
            "{n} bones of the motion stretch. The stretch is dropped; Keep stretch (--stretch keep) keeps it."
        )),
    }
}
