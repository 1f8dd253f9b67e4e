//! Why the rig cannot be changed as requested.

use crate::document::EditError;
use crate::psd::PsdError;
use crate::skeleton::SkeletonError;

/// Why a change of the rig is refused; the document is unchanged.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum RigError {
    /// The joint does not exist, or was removed.
    #[error("There is no bone {0}.")]
    NoJoint(u32),
    /// A joint's own scale differs along its axes, so that rotated axes cannot represent it.
    #[error(
        "“{joint}” has a non-uniform scale of up to {ratio:.2} : 1 in “{clip}”; its axes can only rotate by quarter turns."
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
        "“{joint}” has a non-uniform scale of {ratio:.2} : 1 in the rest pose; its axes can only rotate by quarter turns."
    )]
    StretchedAtRest {
        /// The joint.
        joint: String,
        /// Largest by smallest scale.
        ratio: f64,
    },
    /// A joint's scale mirrors at some keyframes and not at others.
    #[error(
        "“{joint}” is mirrored at only some keyframes of “{clip}”; its axes can only rotate by quarter turns."
    )]
    MirrorsInClip {
        /// The joint.
        joint: String,
        /// The clip.
        clip: String,
    },
    /// The result would need shear, which translation, rotation and scale cannot represent.
    #[error(
        "“{joint}” would have a shear of {shear:.2e}, which no bone can represent: an ancestor has a non-uniform scale. \
         “Nearest” drops the shear."
    )]
    Shear {
        /// The joint.
        joint: String,
        /// The largest off-diagonal entry of its stretch, relative to the norm of the matrix.
        shear: f64,
    },
    /// The new parent is a descendant of the joint.
    #[error(
        "“{joint}” cannot be a child of “{parent}”, which is the bone itself or one of its descendants."
    )]
    Below {
        /// The joint.
        joint: String,
        /// The requested parent.
        parent: String,
    },
    /// The skin's joints would be in two scenes.
    #[error(
        "“{joint}” is the root of all bones of the skin “{skin}”; “{parent}” is in another scene."
    )]
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
    #[error(
        "No ancestor or child of “{joint}” is a bone of the skin “{skin}”: no other bone can receive its weights."
    )]
    NoRecipient {
        /// The joint.
        joint: String,
        /// The skin.
        skin: String,
    },
    /// The chosen joint cannot receive the weights of a removed one.
    #[error(
        "“{recipient}” cannot receive the weights of “{joint}”: the skin “{skin}” does not list it."
    )]
    NotInSkin {
        /// The joint to remove.
        joint: String,
        /// The chosen joint.
        recipient: String,
        /// The skin.
        skin: String,
    },
    /// The two ends of a bone are not parent and child.
    #[error("“{child}” is not a child of “{joint}”: there is no bone between them.")]
    NoBone {
        /// The requested parent.
        joint: String,
        /// The child.
        child: String,
    },
    /// A skin has no free slot.
    #[error("The skin “{0}” has the largest possible number of bones.")]
    SkinFull(String),
    /// Skins that draw the same mesh have the joint in different slots, or not all of them have it.
    #[error(
        "The weights of “{joint}” cannot be redistributed: the skin “{skin}”, which deforms the same mesh, lists another bone in its place."
    )]
    OtherSlot {
        /// The joint to remove.
        joint: String,
        /// The other skin.
        skin: String,
    },
    /// The scale of the artist's pose mirrors differently from the rest pose.
    #[error(
        "“{0}” is mirrored only in the pose or only in the rest pose; its axes can only rotate by quarter turns."
    )]
    MirrorsInPose(String),
    /// A child does not inherit the scale of its parent, which an inserted joint would pass on to it.
    #[error(
        "“{0}” does not inherit the scale of its parent: no bone can be inserted between the two."
    )]
    CompensatesScale(String),
    /// The world transform of a joint is singular or not finite.
    #[error(
        "The scale of “{joint}” is 0 {place}: neither a child nor the mesh can keep its position."
    )]
    Singular {
        /// The joint.
        joint: String,
        /// "in “Walk”", "in the rest pose" or "in the pose".
        place: String,
    },
    /// The driver block of the source needs the joint.
    #[error("“{joint}” drives the helper bone “{helper}” of the file.")]
    Drives {
        /// The joint to remove.
        joint: String,
        /// The helper joint.
        helper: String,
    },
    /// Morph targets of the source follow the joint.
    #[error("“{joint}” drives the morph targets of the corrective samples “{set}” of the file.")]
    DrivesTargets {
        /// The joint to remove.
        joint: String,
        /// The set of samples.
        set: String,
    },
    /// Corrective samples are driven by the joint, or by another relative to it.
    #[error(
        "“{driver}” drives the corrective samples “{set}”, and “{joint}” is that bone or the one that it rotates against: \
         delete the samples first, or give them another driver."
    )]
    DrivesSamples {
        /// The joint to remove.
        joint: String,
        /// The set of samples.
        set: String,
        /// The driver joint.
        driver: String,
    },
    /// The joint to remove holds a muscle of control clusters.
    #[error(
        "The muscle “{muscle}” of control clusters is attached to “{joint}”: remove the muscle first."
    )]
    HoldsMuscle {
        /// The joint to remove.
        joint: String,
        /// The muscle.
        muscle: String,
    },
    /// Another joint's constraint needs the joint.
    #[error("“{follower}” follows or bends “{joint}” ({rule}): remove that constraint first.")]
    Followed {
        /// The joint to remove.
        joint: String,
        /// The joint that has the constraint.
        follower: String,
        /// Its name.
        rule: &'static str,
    },
    /// A constraint copies axis by axis between joints whose axes would turn apart.
    #[error(
        "“{joint}” copies the axes of “{other}” ({rule}): orient both bones alike, or remove that constraint first."
    )]
    CopiesAxes {
        /// The joint that has the constraint.
        joint: String,
        /// The joint that it follows.
        other: String,
        /// Its name.
        rule: &'static str,
    },
    /// A constraint limits angles about axes that would turn, or copies about them.
    #[error(
        "“{joint}” has a constraint about its own axes ({rule}): remove that constraint first, and add it again about the new axes."
    )]
    LimitsAxes {
        /// The joint.
        joint: String,
        /// The name of the constraint.
        rule: &'static str,
    },
    /// A constraint would do something else about a new rest pose.
    #[error(
        "{rule} of “{joint}” is relative to the rest pose, and would change every clip: mute or remove it first."
    )]
    RelativeToRest {
        /// The joint that has the constraint.
        joint: String,
        /// Its name.
        rule: &'static str,
    },
    /// Joint and child are in the same place.
    #[error("“{joint}” and “{child}” are in the same place: a bone without length has no twist.")]
    NoLength {
        /// The joint.
        joint: String,
        /// Its child.
        child: String,
    },
    /// A joint without a parent.
    #[error("“{0}” has no parent: a half joint lies between two bones.")]
    NoParent(String),
    /// A joint without children.
    #[error("“{0}” has no child: there is no bone to divide.")]
    NoChild(String),
    /// A joint in the middle.
    #[error(
        "“{0}” has no side in its name and no counterpart: choose a bone of the left or the right side."
    )]
    NoSide(String),
    /// A scale that mirrors, is 0 or shears.
    #[error("The scale of “{0}” mirrors, is 0 or shears: it cannot be frozen.")]
    FreezeMirrored(String),
    /// A joint rotates below one with a non-uniform scale.
    #[error(
        "“{joint}” has a non-uniform scale and “{below}” below it rotates: freezing the scale would need shear."
    )]
    FreezeTurns {
        /// The joint.
        joint: String,
        /// One below it that rotates.
        below: String,
    },
    /// A joint below does not inherit scale.
    #[error(
        "“{below}” below “{joint}” does not inherit the scale of its parent: the scale cannot be frozen."
    )]
    FreezeCompensates {
        /// The joint.
        joint: String,
        /// One below it.
        below: String,
    },
    /// The joints of a skin place the mesh differently at rest.
    #[error(
        "In the rest pose, the bones of the skin “{skin}” disagree on the place of the mesh by {percent:.2} % of its \
         size: new weights would deform it."
    )]
    Spread {
        /// The skin.
        skin: String,
        /// The largest distance, percent of the mesh's diagonal.
        percent: f64,
    },
    /// Corrective samples cannot follow.
    #[error("The corrective samples cannot follow the bones: {0}.")]
    Samples(#[from] PsdError),
    /// The result is not a forest.
    #[error("The bones cannot be changed: {0}.")]
    Skeleton(#[from] SkeletonError),
    /// A number is out of its range.
    #[error("{0}")]
    Value(String),
    /// There is nothing to do; the sentence says why.
    #[error("Nothing changes: {0}.")]
    Unchanged(String),
    /// The result breaks an invariant of documents.
    #[error("The bones cannot be changed: {0}.")]
    Edit(#[from] EditError),
}
