//! Points by primitive and vertex, as text.

use super::types::is_zero;
use serde::{Deserialize, Serialize};

/// Points of one primitive by their lowest vertices, counted within the primitive, ascending.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PrimitivePoints {
    /// The primitive; omitted where it is the first.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(super) p: u32,
    pub(super) v: Vec<u32>,
}
