//! The bones of the humanoid map that are set by hand.

use crate::motion::roles::HumanBone;
use crate::skeleton::JointId;
use std::collections::BTreeMap;

/// The bones of the humanoid map that are set by hand; `None`: the body has no such bone.
pub type HumanMap = BTreeMap<HumanBone, Option<JointId>>;
