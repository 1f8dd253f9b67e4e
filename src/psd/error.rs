//! Why samples cannot be interpolated, and what to be warned of.

/// Why sets of samples cannot be interpolated.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PsdError {
    /// A set without driver joints.
    #[error("the set \"{set}\" has no driver bone")]
    NoDriver {
        /// The set.
        set: String,
    },
    /// A setting, a rotation or a displacement is not valid.
    #[error("the set \"{set}\": {what}")]
    Value {
        /// The set.
        set: String,
        /// What is wrong, with its number.
        what: String,
    },
    /// Two samples of one set have the same rotations of the drivers.
    #[error(
        "samples \"{a}\" and \"{b}\" have the same driver pose (distance {distance:.1e}): delete one of them, or use one \
         set with the driver bones of both"
    )]
    Duplicate {
        /// The first sample.
        a: String,
        /// The second sample.
        b: String,
        /// Their distance in the pose space.
        distance: f64,
    },
    /// A sample has the rotations of the bind pose, whose displacement is 0.
    #[error(
        "the sample \"{sample}\" is at the bind pose of its drivers (distance {distance:.1e}): correct the bind mesh \
         instead, or choose a driver type that measures the rotation"
    )]
    AtBind {
        /// The sample.
        sample: String,
        /// Its distance from bind in the pose space.
        distance: f64,
    },
    /// The samples of a set are too close to each other to be told apart.
    #[error(
        "the samples of the set \"{set}\" are too close to each other (condition {condition:.1e}): delete some of them, or \
         choose a smaller radius"
    )]
    Conditioning {
        /// The set.
        set: String,
        /// The condition number.
        condition: f64,
    },
    /// Thin plates need few hinges and enough poses.
    #[error(
        "the thin plate kernel of the set \"{set}\" needs at most 3 hinges as drivers, and more sample poses than hinges, \
         not all in one plane: choose the multiquadric kernel"
    )]
    ThinPlate {
        /// The set.
        set: String,
    },
    /// Two sets have a driver joint in common.
    #[error(
        "the sets \"{a}\" and \"{b}\" have a driver bone in common: a bone belongs to one set, and a sample at a combined \
         pose to the set with all its bones"
    )]
    SharedDriver {
        /// The first set.
        a: String,
        /// The second set.
        b: String,
    },
    /// Samples of different sets were taken in one pose.
    #[error(
        "samples of different sets have the same pose of all driver bones (condition {condition:.1e}): put them into one \
         set with the driver bones of both"
    )]
    Dependent {
        /// The condition number of the joint system.
        condition: f64,
    },
}

/// What still works, but not as it should.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PsdWarning {
    /// Two samples, or a sample and the bind pose, are less than 2 degrees apart.
    #[error("Samples \"{a}\" and \"{b}\" are only {distance:.1e} apart in the pose space.")]
    Close {
        /// The first sample.
        a: String,
        /// The second sample, or "bind".
        b: String,
        /// Their distance in the pose space.
        distance: f64,
    },
    /// The linear kernel is used instead of an ill-conditioned one.
    #[error(
        "The set \"{set}\" uses the linear kernel: its own is ill-conditioned (condition {condition:.1e}). Choose a \
         smaller radius."
    )]
    LinearInstead {
        /// The set.
        set: String,
        /// The condition number of its own kernel.
        condition: f64,
    },
    /// With smoothing the weights at the samples are not exact.
    #[error(
        "With its smoothing of {smoothing:.1e} the set \"{set}\" misses its samples by up to {error:.1e} of their \
         displacements."
    )]
    Inexact {
        /// The set.
        set: String,
        /// Its ridge.
        smoothing: f64,
        /// The largest |weight - 1| of a sample at its own pose, or |weight| at another's.
        error: f64,
    },
}
