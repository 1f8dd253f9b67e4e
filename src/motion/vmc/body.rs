//! The bones of Unity's human body.

/// A bone: its name, its parent, and where an average adult of 1.7 m has it in its parent in a T-pose, metres.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HumanBone {
    /// As in `HumanBodyBones`.
    pub name: &'static str,
    /// The bone above; empty for the hips.
    pub parent: &'static str,
    /// x to the left, y up, z to the front.
    pub offset: [f64; 3],
}

const fn bone(name: &'static str, parent: &'static str, x: f64, y: f64, z: f64) -> HumanBone {
    HumanBone {
        name,
        parent,
        offset: [x, y, z],
    }
}

/// All of them, parents first. Senders may leave out any; a child then follows the next one above.
pub const BONES: [HumanBone; 55] = [
    bone("Hips", "", 0.0, 0.95, 0.0),
    bone("Spine", "Hips", 0.0, 0.1, 0.0),
    bone("Chest", "Spine", 0.0, 0.13, 0.0),
    bone("UpperChest", "Chest", 0.0, 0.12, 0.0),
    bone("Neck", "UpperChest", 0.0, 0.14, 0.0),
    bone("Head", "Neck", 0.0, 0.1, 0.0),
    bone("Jaw", "Head", 0.0, 0.02, 0.03),
    bone("LeftEye", "Head", 0.03, 0.07, 0.07),
    bone("RightEye", "Head", -0.03, 0.07, 0.07),
    bone("LeftShoulder", "UpperChest", 0.03, 0.1, 0.0),
    bone("LeftUpperArm", "LeftShoulder", 0.13, 0.0, 0.0),
    bone("LeftLowerArm", "LeftUpperArm", 0.27, 0.0, 0.0),
    bone("LeftHand", "LeftLowerArm", 0.25, 0.0, 0.0),
    bone("RightShoulder", "UpperChest", -0.03, 0.1, 0.0),
    bone("RightUpperArm", "RightShoulder", -0.13, 0.0, 0.0),
    bone("RightLowerArm", "RightUpperArm", -0.27, 0.0, 0.0),
    bone("RightHand", "RightLowerArm", -0.25, 0.0, 0.0),
    bone("LeftUpperLeg", "Hips", 0.09, -0.04, 0.0),
    bone("LeftLowerLeg", "LeftUpperLeg", 0.0, -0.42, 0.0),
    bone("LeftFoot", "LeftLowerLeg", 0.0, -0.41, 0.0),
    bone("LeftToes", "LeftFoot", 0.0, -0.06, 0.13),
    bone("RightUpperLeg", "Hips", -0.09, -0.04, 0.0),
    bone("RightLowerLeg", "RightUpperLeg", 0.0, -0.42, 0.0),
    bone("RightFoot", "RightLowerLeg", 0.0, -0.41, 0.0),
    bone("RightToes", "RightFoot", 0.0, -0.06, 0.13),
    bone("LeftThumbProximal", "LeftHand", 0.02, -0.01, 0.03),
    bone(
        "LeftThumbIntermediate",
        "LeftThumbProximal",
        0.03,
        0.0,
        0.02,
    ),
    bone("LeftThumbDistal", "LeftThumbIntermediate", 0.03, 0.0, 0.01),
    bone("LeftIndexProximal", "LeftHand", 0.09, 0.0, 0.025),
    bone("LeftIndexIntermediate", "LeftIndexProximal", 0.04, 0.0, 0.0),
    bone("LeftIndexDistal", "LeftIndexIntermediate", 0.025, 0.0, 0.0),
    bone("LeftMiddleProximal", "LeftHand", 0.09, 0.0, 0.0),
    bone(
        "LeftMiddleIntermediate",
        "LeftMiddleProximal",
        0.045,
        0.0,
        0.0,
    ),
    bone("LeftMiddleDistal", "LeftMiddleIntermediate", 0.03, 0.0, 0.0),
    bone("LeftRingProximal", "LeftHand", 0.085, 0.0, -0.02),
    bone("LeftRingIntermediate", "LeftRingProximal", 0.04, 0.0, 0.0),
    bone("LeftRingDistal", "LeftRingIntermediate", 0.025, 0.0, 0.0),
    bone("LeftLittleProximal", "LeftHand", 0.08, 0.0, -0.04),
    bone(
        "LeftLittleIntermediate",
        "LeftLittleProximal",
        0.03,
        0.0,
        0.0,
    ),
    bone("LeftLittleDistal", "LeftLittleIntermediate", 0.02, 0.0, 0.0),
    bone("RightThumbProximal", "RightHand", -0.02, -0.01, 0.03),
    bone(
        "RightThumbIntermediate",
        "RightThumbProximal",
        -0.03,
        0.0,
        0.02,
    ),
    bone(
        "RightThumbDistal",
        "RightThumbIntermediate",
        -0.03,
        0.0,
        0.01,
    ),
    bone("RightIndexProximal", "RightHand", -0.09, 0.0, 0.025),
    bone(
        "RightIndexIntermediate",
        "RightIndexProximal",
        -0.04,
        0.0,
        0.0,
    ),
    bone(
        "RightIndexDistal",
        "RightIndexIntermediate",
        -0.025,
        0.0,
        0.0,
    ),
    bone("RightMiddleProximal", "RightHand", -0.09, 0.0, 0.0),
    bone(
        "RightMiddleIntermediate",
        "RightMiddleProximal",
        -0.045,
        0.0,
        0.0,
    ),
    bone(
        "RightMiddleDistal",
        "RightMiddleIntermediate",
        -0.03,
        0.0,
        0.0,
    ),
    bone("RightRingProximal", "RightHand", -0.085, 0.0, -0.02),
    bone(
        "RightRingIntermediate",
        "RightRingProximal",
        -0.04,
        0.0,
        0.0,
    ),
    bone("RightRingDistal", "RightRingIntermediate", -0.025, 0.0, 0.0),
    bone("RightLittleProximal", "RightHand", -0.08, 0.0, -0.04),
    bone(
        "RightLittleIntermediate",
        "RightLittleProximal",
        -0.03,
        0.0,
        0.0,
    ),
    bone(
        "RightLittleDistal",
        "RightLittleIntermediate",
        -0.02,
        0.0,
        0.0,
    ),
];
