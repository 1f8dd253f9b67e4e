//! Why the rig cannot be changed as requested.

use crate::document::EditError;
use crate::skeleton::SkeletonError;

/// Why a change of the rig is refused; the document is unchanged.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum RigError {
    /// The joint does not exist, or was removed.
    #[error("There is no bone {0}.")]
    NoJoint(u32),
    /// A joint's own scale differs along its axes, so that rotated axes cannot represent it.
    #[error(
        "“{joint}” is stretched by up to {ratio:.2} : 1 in “{clip}”; its axes can only take quarter turns."
    )]
    StretchedInClip {
        /// The joint.
        joint: String,
        /// Largest by smallest scale.
        ratio: f64,
        /// The clip.
        clip: String,
    },
    /// The same in the rest pose or in the artist's pose.
    #[error(
        "“{joint}” is stretched by {ratio:.2} : 1 at rest; its axes can only take quarter turns."
    )]
    StretchedAtRest {
        /// The joint.
        joint: String,
        /// Largest by smallest scale.
        ratio: f64,
    },
    /// A joint's scale mirrors at some keyframes and not at others.
    #[error("“{joint}” changes its mirroring in “{clip}”; its axes cannot turn.")]
    MirrorsInClip {
        /// The joint.
        joint: String,
        /// The clip.
        clip: String,
    },
    /// The result would need shear, which translation, rotation and scale cannot represent.
    #[error(
        "“{joint}” would have a shear of {shear:.2e}, which no bone can hold: something above it is stretched unevenly. \
         “Nearest” drops the shear."
    )]
    Shear {
        /// The joint.
        joint: String,
        /// The largest off-diagonal entry of its stretch, relative to the norm of the matrix.
        shear: f64,
    },
    /// The new parent is a descendant of the joint.
    #[error("“{joint}” cannot hang from “{parent}”, which is the bone itself or below it.")]
    Below {
        /// The joint.
        joint: String,
        /// The requested parent.
        parent: String,
    },
    /// The skin's joints would be in two scenes.
    #[error("“{joint}” holds all bones of the skin “{skin}”; “{parent}” is in another scene.")]
    OtherScene {
        /// The joint.
        joint: String,
        /// The requested parent.
        parent: String,
        /// The skin.
        skin: String,
    },
    /// A locked joint's weights would change.
    #[error("“{0}” is locked: unlock it to change its weights.")]
    Locked(String),
    /// No joint can receive the weights of a removed joint.
    #[error("“{joint}” is the only bone of the skin “{skin}”: nothing could take its weights.")]
    NoHeir {
        /// The joint.
        joint: String,
        /// The skin.
        skin: String,
    },
    /// The chosen joint cannot receive the weights of a removed one.
    #[error("“{heir}” cannot take the weights of “{joint}”: the skin “{skin}” does not list it.")]
    NotInSkin {
        /// The joint to remove.
        joint: String,
        /// The chosen joint.
        heir: String,
        /// The skin.
        skin: String,
    },
    /// The two ends of a bone are not parent and child.
    #[error("“{child}” does not hang from “{joint}”: there is no bone between them.")]
    NoBone {
        /// The requested parent.
        joint: String,
        /// The child.
        child: String,
    },
    /// A skin has no free slot.
    #[error("The skin “{0}” has as many bones as a skin can have.")]
    SkinFull(String),
    /// Skins that draw the same mesh have the joint in different slots, or not all of them have it.
    #[error(
        "The weights of “{joint}” cannot pass on: the skin “{skin}”, which draws the same mesh, has another bone in its place."
    )]
    OtherSlot {
        /// The joint to remove.
        joint: String,
        /// The other skin.
        skin: String,
    },
    /// The scale of the artist's pose mirrors differently from the rest pose.
    #[error("“{0}” is mirrored in the pose and not at rest; its axes cannot turn.")]
    MirrorsInPose(String),
    /// A joint takes back its parent's scale, which a joint in between would bring back.
    #[error(
        "“{0}” takes back the scale of the bone above it: no bone can be inserted between the two."
    )]
    CompensatesScale(String),
    /// The transform of a parent cannot be inverted.
    #[error("“{joint}” has no size {place}, so that nothing can keep its place below it.")]
    Singular {
        /// The parent.
        joint: String,
        /// Where: "in “Walk”", "at rest" or "in the pose".
        place: String,
    },
    /// Engines drive helper joints by the joint.
    #[error(
        "“{joint}” is needed to drive the helper bone “{helper}” of the file, which would no longer follow."
    )]
    Drives {
        /// The joint to remove.
        joint: String,
        /// The helper joint.
        helper: String,
    },
    /// The result is not a forest.
    #[error("The bones cannot be changed so: {0}.")]
    Skeleton(#[from] SkeletonError),
    /// A number is out of its range.
    #[error("{0}")]
    Value(String),
    /// The result breaks an invariant of documents.
    #[error("The bones cannot be changed so: {0}.")]
    Edit(#[from] EditError),
}
