//! Where the hips go.

use super::{Mapping, RetargetError, chain};
use crate::motion::percentile::percentile;
use crate::motion::rig::Rig;
use crate::motion::roles::{Part, Role, SIDES};
use crate::motion::take::Take;
use glam::DVec3;

/// The share of the frames that may be below the floor.
const LOW: f64 = 0.02;
/// Half of the time over which the mean of the travel is taken away, seconds.
const SWAY_SECS: f64 = 0.5;

/// The size of the target's steps against the source's.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Scale {
    /// As the lengths of the legs.
    #[default]
    Leg,
    /// As the heights of the hips over the feet.
    Hip,
    /// A number.
    Fixed(f64),
}

/// How much of the root motion to keep.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Travel {
    /// All of it.
    #[default]
    Full,
    /// Only the sway about where the hips are on average over a second.
    InPlace,
    /// Only up and down.
    Vertical,
}

/// Heights and lengths of the two bodies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Heights {
    /// The target's size over the source's.
    pub(super) scale: f64,
    /// The source's floor, in its units.
    pub(super) floor: f64,
    /// The height of the source's ankles over it.
    pub(super) ankle: f64,
    /// The height of the target's floor, metres.
    pub(super) target_floor: f64,
    /// The height of its ankles over it.
    pub(super) target_ankle: f64,
    /// The mean lengths of the legs.
    pub(super) legs: [f64; 2],
}

impl Heights {
    /// The middle between the target's hip joints: `rest` moved along the floor by as much as the source's `moved`, at the
    /// height of the source's `height`.
    pub(super) fn place(&self, rest: DVec3, moved: DVec3, height: f64) -> DVec3 {
        let ground = self.target_floor + self.target_ankle;
        let up = ground + self.scale * (height - self.floor - self.ankle);
        DVec3::new(
            rest.x + moved.x * self.scale,
            up,
            rest.z + moved.z * self.scale,
        )
    }
}

/// The mean length of thigh and shin over both sides.
fn leg(places: &[DVec3], mapping: &Mapping, of: usize) -> f64 {
    let length = |side| {
        let joint = |part| {
            mapping
                .roles
                .get(&Role::of(part, side))
                .map(|pair| places[pair[of]])
        };
        let (thigh, shin, foot) = (joint(Part::Thigh)?, joint(Part::Shin)?, joint(Part::Foot)?);
        Some(thigh.distance(shin) + shin.distance(foot))
    };
    let lengths: Vec<f64> = SIDES.into_iter().filter_map(length).collect();
    lengths.iter().sum::<f64>() / lengths.len().max(1) as f64
}

/// The joints of the feet that are mapped: ankles, and with the toes.
fn feet(mapping: &Mapping, of: usize) -> [Vec<usize>; 2] {
    let joints = |parts: &[Part]| {
        let roles = SIDES
            .iter()
            .flat_map(|side| parts.iter().map(|part| Role::of(*part, *side)));
        roles
            .filter_map(|role| Some(mapping.roles.get(&role)?[of]))
            .collect()
    };
    [joints(&[Part::Foot]), joints(&[Part::Foot, Part::Toe])]
}

fn lowest(places: &[DVec3], joints: &[usize]) -> f64 {
    joints
        .iter()
        .map(|joint| places[*joint].y)
        .fold(f64::INFINITY, f64::min)
}

/// The heights of a motion (+Y up) and of the target at rest.
pub(super) fn heights(
    take: &Take,
    target: &Rig,
    mapping: &Mapping,
    reference: Option<usize>,
    wanted: Scale,
) -> Result<Heights, RetargetError> {
    if let Some(root) = mapping.root {
        return heights_of_chains(take, target, mapping, root, reference, wanted);
    }
    let [ankles, with_toes] = feet(mapping, 0);
    let over_time = |joints: &[usize]| {
        let frames = 0..take.n_frames();
        percentile(
            frames
                .map(|f| lowest(take.places(Some(f)), joints))
                .collect(),
            LOW,
        )
    };
    let floor = over_time(&with_toes);
    let [target_ankles, target_feet] = feet(mapping, 1);
    let target_floor = lowest(&target.places, &target_feet);
    let legs = [
        leg(take.places(None), mapping, 0),
        leg(&target.places, mapping, 1),
    ];
    let scale = match wanted {
        Scale::Fixed(scale) => scale,
        Scale::Leg => legs[1] / legs[0],
        Scale::Hip => {
            let height = |places: &[DVec3], of: usize| {
                let feet = feet(mapping, of);
                hip_middle(places, mapping, of).map(|m| m.y - lowest(places, &feet[1]))
            };
            let ours = height(take.places(reference), 0).unwrap_or(0.0);
            height(&target.places, 1).unwrap_or(0.0) / ours
        }
    };
    let is_fixed = wanted == Scale::Fixed(scale);
    let is_usable = scale.is_finite() && scale > 0.0;
    if !(is_fixed || is_usable) {
        let whose = if legs[0] > 0.0 {
            "the character"
        } else {
            "the motion"
        };
        return Err(RetargetError::NoLegs(whose));
    }
    if !(scale.is_finite() && scale > 0.0) {
        return Err(RetargetError::Scale(scale));
    }
    Ok(Heights {
        scale,
        floor,
        ankle: over_time(&ankles) - floor,
        target_floor,
        target_ankle: lowest(&target.places, &target_ankles) - target_floor,
        legs,
    })
}

/// The same of chains alone: the root rises from its place at rest as that of the motion does from its place at the reference.
fn heights_of_chains(
    take: &Take,
    target: &Rig,
    mapping: &Mapping,
    [ours, theirs]: [usize; 2],
    reference: Option<usize>,
    wanted: Scale,
) -> Result<Heights, RetargetError> {
    let legs = [
        chain::size(&take.rest, mapping, 0),
        chain::size(target, mapping, 1),
    ];
    let at_reference = take.places(reference);
    let scale = match wanted {
        Scale::Fixed(scale) => scale,
        Scale::Leg => legs[1] / legs[0],
        Scale::Hip => {
            chain::height(&target.places, mapping, 1) / chain::height(at_reference, mapping, 0)
        }
    };
    if !(scale.is_finite() && scale > 0.0) {
        return Err(match wanted {
            Scale::Fixed(scale) => RetargetError::Scale(scale),
            Scale::Leg | Scale::Hip => RetargetError::NoChains,
        });
    }
    let frames = 0..take.n_frames();
    let heights: Vec<f64> = frames.map(|f| take.places(Some(f))[ours].y).collect();
    let (low, high) = heights
        .iter()
        .fold((f64::MAX, f64::MIN), |(l, h), y| (l.min(*y), h.max(*y)));
    let own = at_reference[ours].y;
    // A zero pose far from all of the motion, as of files whose root is at the origin there, says nothing of its height.
    let near = 0.5 * legs[0];
    let from = if own < low - near || own > high + near {
        percentile(heights, 0.5)
    } else {
        own
    };
    Ok(Heights {
        scale,
        floor: from,
        ankle: 0.0,
        target_floor: target.places[theirs].y,
        target_ankle: 0.0,
        legs,
    })
}

/// The middle between the hip joints; of chains alone the place of their root.
pub(super) fn hip_middle(places: &[DVec3], mapping: &Mapping, of: usize) -> Option<DVec3> {
    if let Some(root) = mapping.root {
        return Some(places[root[of]]);
    }
    let [left, right] = super::reference::thighs(mapping, of)?;
    Some((places[left] + places[right]) * 0.5)
}

/// The middle between the target's hip joints at each frame. `rest`: the same at rest; `middles`: those of the source.
pub(super) fn middles(
    heights: &Heights,
    travel: Travel,
    rest: DVec3,
    middles: &[DVec3],
    times: &[f64],
) -> Vec<DVec3> {
    let Some(first) = middles.first() else {
        return Vec::new();
    };
    let flat = |m: DVec3| DVec3::new(m.x, 0.0, m.z);
    let mut out = Vec::with_capacity(middles.len());
    for (i, m) in middles.iter().enumerate() {
        let moved = match travel {
            Travel::Full => flat(*m - *first),
            Travel::Vertical => DVec3::ZERO,
            Travel::InPlace => {
                let from = times.partition_point(|t| *t < times[i] - SWAY_SECS);
                let to = times.partition_point(|t| *t <= times[i] + SWAY_SECS);
                let mean = middles[from..to].iter().sum::<DVec3>() / (to - from) as f64;
                flat(*m - mean)
            }
        };
        out.push(heights.place(rest, moved, m.y));
    }
    out
}
