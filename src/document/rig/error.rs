//! Why the joints cannot be changed as asked.

use crate::document::EditError;

/// Why a change of the joints is refused; the document is unchanged.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum RigError {
    /// The joint does not exist, or was removed.
    #[error("There is no bone {0}.")]
    NoJoint(u32),
    /// A joint's own scale differs along its axes, so that turned axes cannot hold it.
    #[error(
        "“{joint}” is stretched by up to {ratio:.2} : 1 in “{clip}”; its axes can only take quarter turns."
    )]
    StretchedInClip {
        /// The joint.
        joint: String,
        /// Largest by smallest scale.
        ratio: f64,
        /// Where it is.
        clip: String,
    },
    /// The same at rest or in the pose.
    #[error(
        "“{joint}” is stretched by {ratio:.2} : 1 at rest; its axes can only take quarter turns."
    )]
    StretchedAtRest {
        /// The joint.
        joint: String,
        /// Largest by smallest scale.
        ratio: f64,
    },
    /// A joint mirrors at some keys and not at others.
    #[error("“{joint}” changes its mirroring in “{clip}”; its axes cannot turn.")]
    MirrorsInClip {
        /// The joint.
        joint: String,
        /// Where it does.
        clip: String,
    },
    /// A transform would need shear, which translation, rotation and scale cannot hold.
    #[error(
        "“{joint}” would have a shear of {shear:.2e}, which no bone can hold: something above it is stretched unevenly. \
         “Nearest” drops the shear."
    )]
    Shear {
        /// The joint.
        joint: String,
        /// The largest off-diagonal entry of its stretch, by the size of the matrix.
        shear: f64,
    },
    /// The new parent hangs from the joint itself.
    #[error("“{joint}” cannot hang from “{parent}”, which is the bone itself or below it.")]
    Below {
        /// The joint.
        joint: String,
        /// The parent asked for.
        parent: String,
    },
    /// The skin's joints would be in two trees.
    #[error("“{joint}” holds all bones of the skin “{skin}”; “{parent}” is in another scene.")]
    OtherScene {
        /// The joint.
        joint: String,
        /// The parent asked for.
        parent: String,
        /// The skin.
        skin: String,
    },
    /// A locked joint's weights would change.
    #[error("“{0}” is locked: unlock it to change its weights.")]
    Locked(String),
    /// Nothing can take the weights of a removed joint.
    #[error("“{joint}” is the only bone of the skin “{skin}”: nothing could take its weights.")]
    NoHeir {
        /// The joint.
        joint: String,
        /// The skin.
        skin: String,
    },
    /// The chosen joint cannot take the weights of a removed one.
    #[error("“{heir}” cannot take the weights of “{joint}”: the skin “{skin}” does not list it.")]
    NotInSkin {
        /// The joint to be removed.
        joint: String,
        /// The joint chosen.
        heir: String,
        /// The skin.
        skin: String,
    },
    /// The two ends of a bone are not parent and child.
    #[error("“{child}” does not hang from “{joint}”: there is no bone between them.")]
    NoBone {
        /// The parent asked for.
        joint: String,
        /// The child.
        child: String,
    },
    /// A skin has no free slot.
    #[error("The skin “{0}” has as many bones as a skin can have.")]
    SkinFull(String),
    /// A number is out of its range.
    #[error("{0}")]
    Value(String),
    /// The result breaks an invariant of documents.
    #[error("The bones cannot be changed so: {0}.")]
    Edit(#[from] EditError),
}
