//! Bindings: what channels of a recording move, chosen by hand.
//!
//! Data flow: [`Binding`]s of a recording, typed or parsed from `CHANNEL=rotation:BONE` -> [`bind`] makes a recording whose channels
//! have the names of what they move, and the displacements of joints -> [`super::by_name`] and [`Bound::bake_moves`] make keyframes.
//!
//! Invariant: a channel without a binding does what it did before; what a binding moves, no channel of its name moves.

mod bound;
mod hinges;
mod sample_names;
mod text;

pub(in crate::motion) use bound::HELD;
pub use bound::{BindTarget, Bound, bind, bind_those_that_fit};
pub use sample_names::{SamplePose, find_sample, names_of_samples, renamed_sample};

use super::channel_kind::ChannelKind;
use serde::{Deserialize, Serialize};

/// What a channel moves.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Binding {
    /// The name of the channel.
    pub channel: String,
    /// Of which channel of this name only the values are shown; `None`: of all. What moves something says so itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub displayed: Option<ChannelKind>,
    /// What it moves.
    pub to: BoundTo,
}

impl Binding {
    /// Of a channel.
    pub fn new(channel: &str, kind: ChannelKind, to: BoundTo) -> Self {
        Self {
            channel: channel.to_owned(),
            displayed: (to == BoundTo::Display).then_some(kind),
            to,
        }
    }

    /// Of which channel of its name it is; `None`: of all.
    pub fn kind(&self) -> Option<ChannelKind> {
        match self.to {
            BoundTo::Display => self.displayed,
            BoundTo::Rotation { .. } => Some(ChannelKind::Rotation),
            BoundTo::Translation { .. } => Some(ChannelKind::Marker),
            BoundTo::Hinge { .. } | BoundTo::Morph { .. } | BoundTo::Sample { .. } => {
                Some(ChannelKind::Scalar)
            }
        }
    }

    /// Its channel: the rotation, where it is of all channels of its name.
    pub fn shown_channel(&self) -> (&str, ChannelKind) {
        (&self.channel, self.kind().unwrap_or(ChannelKind::Rotation))
    }

    /// Whether it is one of this channel.
    pub fn is_of(&self, channel: &str, kind: ChannelKind) -> bool {
        self.channel == channel && self.kind().is_none_or(|of| of == kind)
    }
}

/// What a channel is bound to; `None`: it moves what has its name.
pub fn binding_of<'a>(
    bindings: &'a [Binding],
    (channel, kind): (&str, ChannelKind),
) -> Option<&'a BoundTo> {
    let found = bindings.iter().find(|binding| binding.is_of(channel, kind));
    found.map(|binding| &binding.to)
}

/// Binds a channel, in the place of its binding; `None`: it moves what has its name again.
pub fn set_binding(
    bindings: &mut Vec<Binding>,
    (channel, kind): (&str, ChannelKind),
    to: Option<BoundTo>,
) {
    let place = bindings.iter().position(|of| of.is_of(channel, kind));
    // The others of its name stay as they are, shown only.
    let is_of_all = |of: &Binding| of.channel == channel && of.kind().is_none();
    let others = ChannelKind::ALL.into_iter().filter(|of| *of != kind);
    let others = others.filter(|_| bindings.iter().any(is_of_all));
    let others: Vec<ChannelKind> = others.collect();
    bindings.retain(|of| !of.is_of(channel, kind));
    let others = others.into_iter();
    bindings.extend(others.map(|kind| Binding::new(channel, kind, BoundTo::Display)));
    if let Some(to) = to {
        let at = place.unwrap_or(bindings.len()).min(bindings.len());
        bindings.insert(at, Binding::new(channel, kind, to));
    }
}

/// What a channel is bound to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum BoundTo {
    /// Nothing: its values are only shown.
    Display,
    /// A rotation is that of a joint.
    Rotation {
        /// The name of the joint.
        joint: String,
        /// Whether it is that in the world; otherwise in the parent's space.
        in_world: bool,
    },
    /// A number is the angle of a joint from rest about one of its axes. Several numbers of one joint rotate it in their order.
    Hinge {
        /// The name of the joint.
        joint: String,
        /// The axis.
        axis: HingeAxis,
        /// How the number becomes degrees.
        scale: Linear,
    },
    /// A place displaces a joint, in the world's axes, from rest: by how far it is from its first value.
    Translation {
        /// The name of the joint.
        joint: String,
        /// The factor of the displacement.
        gain: f64,
        /// From where it counts instead, metres: of live motion the place at which it was bound.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        from: Option<[f64; 3]>,
    },
    /// A number is the weight of a morph target.
    Morph {
        /// The name of the target.
        target: String,
        /// How the number becomes a weight.
        scale: Linear,
    },
    /// A number is the weight of a corrective sample: its joints rotate from rest (0) to the pose at which it was sculpted (1),
    /// where it acts in full.
    Sample {
        /// The name of the sample.
        sample: String,
        /// How the number becomes a weight, which is held within 0 - 1.
        scale: Linear,
    },
}

/// The axis of a hinge, in the joint's own space at rest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum HingeAxis {
    /// The only one about which the joint's rotation limits let it rotate.
    #[default]
    Limits,
    /// x.
    X,
    /// y.
    Y,
    /// z.
    Z,
}

/// `gain v + offset` of a number v in the unit in which it is shown.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Linear {
    /// The factor.
    pub gain: f64,
    /// What is added.
    pub offset: f64,
}

impl Default for Linear {
    fn default() -> Self {
        Self {
            gain: 1.0,
            offset: 0.0,
        }
    }
}

impl Linear {
    /// What a number becomes.
    pub fn of(self, value: f64) -> f64 {
        self.gain * value + self.offset
    }
}

impl HingeAxis {
    /// All of them, in the order of lists.
    pub const ALL: [Self; 4] = [Self::Limits, Self::X, Self::Y, Self::Z];

    /// Its name in lists.
    pub fn label(self) -> &'static str {
        match self {
            Self::Limits => "Of rotation limits",
            Self::X => "X",
            Self::Y => "Y",
            Self::Z => "Z",
        }
    }

    /// A sentence about it, for tooltips.
    pub fn about(self) -> &'static str {
        match self {
            Self::Limits => {
                "The only axis about which the rotation limits of the bone let it rotate."
            }
            Self::X => "The local X axis of the bone in the rest pose.",
            Self::Y => "The local Y axis of the bone in the rest pose.",
            Self::Z => "The local Z axis of the bone in the rest pose.",
        }
    }
}

impl BoundTo {
    /// The name of the joint that it moves; `None` for another target.
    pub fn joint(&self) -> Option<&str> {
        match self {
            Self::Rotation { joint, .. }
            | Self::Hinge { joint, .. }
            | Self::Translation { joint, .. } => Some(joint),
            Self::Display | Self::Morph { .. } | Self::Sample { .. } => None,
        }
    }

    /// Gives the joint that it moves another name.
    pub fn rename_joint(&mut self, from: &str, to: &str) {
        if let Self::Rotation { joint, .. }
        | Self::Hinge { joint, .. }
        | Self::Translation { joint, .. } = self
            && joint == from
        {
            to.clone_into(joint);
        }
    }

    /// Gives the corrective sample that it moves the name that it has after a renaming, see [`renamed_sample`].
    pub fn rename_sample(&mut self, before: &[SamplePose], after: &[SamplePose]) {
        if let Self::Sample { sample, .. } = self
            && let Some(name) = renamed_sample(sample, before, after)
        {
            name.clone_into(sample);
        }
    }

    /// As [`Self::rename_sample`], but only where no sample has its name any more.
    pub fn rename_lost_sample(&mut self, before: &[SamplePose], after: &[SamplePose]) {
        if let Self::Sample { sample, .. } = self
            && find_sample(after, sample).is_none()
        {
            self.rename_sample(before, after);
        }
    }

    /// How a number becomes an angle or a weight; `None` where no number is bound.
    pub fn scale(&self) -> Option<Linear> {
        match self {
            Self::Hinge { scale, .. } | Self::Morph { scale, .. } | Self::Sample { scale, .. } => {
                Some(*scale)
            }
            Self::Display | Self::Rotation { .. } | Self::Translation { .. } => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shown_only_stays_so_where_another_channel_of_its_name_is_bound() {
        let mut bindings = vec!["hand=none".parse::<Binding>().unwrap()];
        let to = "hand=move:body".parse::<Binding>().unwrap().to;
        set_binding(
            &mut bindings,
            ("hand", ChannelKind::Marker),
            Some(to.clone()),
        );
        let bound = |bindings: &[Binding], kind| binding_of(bindings, ("hand", kind)).cloned();
        assert_eq!(bound(&bindings, ChannelKind::Marker), Some(to));
        assert_eq!(
            bound(&bindings, ChannelKind::Rotation),
            Some(BoundTo::Display)
        );
        set_binding(&mut bindings, ("hand", ChannelKind::Rotation), None);
        assert_eq!(bound(&bindings, ChannelKind::Rotation), None);
        assert!(bound(&bindings, ChannelKind::Marker).is_some());
        assert_eq!(
            bound(&bindings, ChannelKind::Scalar),
            Some(BoundTo::Display)
        );
    }
}
