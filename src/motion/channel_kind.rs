//! The kinds of channels. A name is that of one channel of each kind: a tracker has a position and a rotation.

use serde::{Deserialize, Serialize};

/// What the values of a channel are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum ChannelKind {
    /// Positions of a marker.
    Marker,
    /// Rotations.
    Rotation,
    /// Numbers.
    Scalar,
    /// Texts.
    Text,
}

impl ChannelKind {
    /// All of them, in the order of a recording.
    pub const ALL: [Self; 4] = [Self::Marker, Self::Rotation, Self::Scalar, Self::Text];

    /// Its word in lists.
    pub fn label(self) -> &'static str {
        match self {
            Self::Marker => "marker",
            Self::Rotation => "rotation",
            Self::Scalar => "scalar",
            Self::Text => "text",
        }
    }
}
