//! Files whose correction is baked in: Sinew wrote helper joints and morph targets that play it with linear blend skinning.

use super::findings::Findings;
use crate::deform::DeformStack;
use crate::document::{MeshId, MeshItem};
use crate::finding::Finding;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The name of the mark in the extras of the asset.
const BAKED: &str = "sinew_baked";

/// Marks the file as having a baked correction. Extras that are not an object are left alone; the file then has no mark.
pub(in crate::io) fn mark(json: &mut Value) {
    let Some(asset) = json.get_mut("asset").and_then(Value::as_object_mut) else {
        return;
    };
    let extras = asset.entry("extras").or_insert_with(|| json!({}));
    if let Some(extras) = extras.as_object_mut() {
        extras.insert(BAKED.to_owned(), Value::Bool(true));
    }
}

/// Gives the meshes of a marked file linear blend skinning: another method would correct them a second time.
pub(super) fn use_lbs(
    json: &Value,
    meshes: &mut BTreeMap<MeshId, Arc<MeshItem>>,
    is_skinned: bool,
    findings: &mut Findings,
) {
    let mark = json.get("asset").and_then(|asset| asset.get("extras"));
    let mark = mark.and_then(|extras| extras.get(BAKED));
    if mark != Some(&Value::Bool(true)) || !is_skinned {
        return;
    }
    let stack = Arc::new(DeformStack::lbs());
    for item in meshes.values_mut() {
        Arc::make_mut(item).stack = stack.clone();
    }
    findings.push(Finding::info(
        "asset.extras",
        "Sinew exported this file with its correction baked in, so its meshes use linear blend skinning. Another skinning \
         method would correct them a second time; to change the correction, open the project it was exported from.",
    ));
}
