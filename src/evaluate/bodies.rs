//! The bodies that views ask for.

use super::SlowCooks;
use crate::deform::BodyChoice;
use crate::document::Document;
use std::collections::BTreeMap;

/// The bodies that views ask for ([`crate::deform::StackChoice::Body`]).
pub type BodyMap = BTreeMap<BodyChoice, ShownBody>;

/// A body that a view asks for.
#[derive(Clone, Debug)]
pub struct ShownBody {
    /// The document with it.
    pub document: Document,
    /// What is known of its meshes. `None`: the evaluator computes what it needs.
    pub cooks: Option<SlowCooks>,
}
