//! The options of a correction, adapted to its document: without helper joints where a skin would lack them, and
//! quantized where the source requires `KHR_mesh_quantization` already.

use crate::bake::{BakeMode, BakeOptions};
use crate::document::{Document, Instance};
use crate::finding::Finding;
use crate::io::gltf_export::QUANTIZATION;
use serde_json::Value;
use std::borrow::Cow;

/// The component type of floats (glTF 2.0, 3.6.2.2).
const FLOAT: u64 = 5126;

/// The options that the export uses.
pub(super) fn suited<'a>(document: &Document, correct: &'a BakeOptions) -> Cow<'a, BakeOptions> {
    let lacks_joints = lacks_joints(document, correct);
    let quantizes = is_quantized_by_source(document, correct);
    if !lacks_joints && !quantizes {
        return Cow::Borrowed(correct);
    }
    Cow::Owned(BakeOptions {
        max_joints: if lacks_joints { 0 } else { correct.max_joints },
        quantize: correct.quantize || quantizes,
        ..correct.clone()
    })
}

/// The finding of a correction that [`suited`] leaves without helper joints.
pub(super) fn of_lacking_joints(document: &Document, correct: &BakeOptions) -> Option<Finding> {
    lacks_joints(document, correct).then(|| {
        let message = "A node that Sinew shows as a bounding box has a skin that no instance of its mesh uses. That skin \
                       would lack the helper joints, so only morph targets are used.";
        Finding::warning("nodes", message)
    })
}

/// Whether the source requires `KHR_mesh_quantization`, and the displacements of its meshes can be quantized: a program that
/// opens it also reads quantized morph targets. Where positions are integers that are not normalised, displacements mostly
/// exceed 1 and stay floats.
pub fn requires_quantization(document: &Document) -> bool {
    document
        .source()
        .is_some_and(|source| is_required(&source.json) && has_unit_positions(&source.json))
}

fn is_required(json: &Value) -> bool {
    let required = json.get("extensionsRequired").and_then(Value::as_array);
    required.is_some_and(|names| names.iter().any(|name| name == QUANTIZATION))
}

/// Whether all positions of skinned primitives are floats or normalised integers.
fn has_unit_positions(json: &Value) -> bool {
    let accessors = list(json, "accessors");
    let primitives = list(json, "meshes")
        .iter()
        .map(|mesh| list(mesh, "primitives"));
    primitives.flatten().all(|primitive| {
        let attribute = |name: &str| primitive.get("attributes")?.get(name)?.as_u64();
        let position = attribute("POSITION").filter(|_| attribute("JOINTS_0").is_some());
        let accessor = position.and_then(|i| accessors.get(i as usize));
        accessor.is_none_or(|accessor| {
            accessor.get("componentType").and_then(Value::as_u64) == Some(FLOAT)
                || accessor.get("normalized") == Some(&Value::Bool(true))
        })
    })
}

fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    let list = value.get(key).and_then(Value::as_array);
    list.map_or(&[], Vec::as_slice)
}

/// Whether morph targets are quantized although the options do not say so.
pub(super) fn is_quantized_by_source(document: &Document, correct: &BakeOptions) -> bool {
    correct.mode == BakeMode::Clips && !correct.quantize && requires_quantization(document)
}

/// Whether a node draws a mesh with a skin that no instance of the mesh uses: JOINTS_n of the corrected mesh would exceed
/// the joints of that skin.
fn lacks_joints(document: &Document, correct: &BakeOptions) -> bool {
    let is_alone = |node: &Instance| {
        let mut instances = document.instances().values();
        node.skin.is_some() && !instances.any(|i| i.mesh == node.mesh && i.skin == node.skin)
    };
    // Files of frames have no skins.
    let has_joints = correct.mode != BakeMode::Frames && correct.max_joints > 0;
    has_joints && document.left_out().nodes.iter().any(is_alone)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn integer_positions_that_are_not_normalised_are_no_unit_positions() {
        let file = |position: Value, joints: bool| {
            let mut attributes = json!({"POSITION": 0});
            if joints {
                attributes["JOINTS_0"] = json!(0);
            }
            json!({"accessors": [position], "meshes": [{"primitives": [{"attributes": attributes}]}]})
        };
        let short = json!({"componentType": 5122});
        let normalised = json!({"componentType": 5122, "normalized": true});
        for (position, joints, expected) in [
            (json!({"componentType": FLOAT}), true, true),
            (normalised, true, true),
            (short.clone(), true, false),
            // Nothing is corrected without a skin.
            (short, false, true),
        ] {
            assert_eq!(has_unit_positions(&file(position, joints)), expected);
        }
    }
}
