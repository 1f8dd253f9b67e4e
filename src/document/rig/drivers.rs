//! Joints that engines need to drive helper joints of the source.

use super::RigError;
use crate::document::Document;
use crate::skeleton::JointId;
use serde_json::Value;

/// Refuses to remove a joint that the driver block of the source names (root `extras`, manual: "Driving helper joints").
pub(super) fn check_drivers(document: &Document, joint: JointId) -> Result<(), RigError> {
    let skeleton = &document.skeleton;
    let json = document.source.as_ref().map(|source| &source.json);
    let block = json.and_then(|json| json.get("extras")?.get("sinew_skin"));
    let (Some(block), Some(node)) = (block, skeleton.joint(joint).source_node) else {
        return Ok(());
    };
    let is_node = |value: Option<&Value>| value.and_then(Value::as_u64) == Some(u64::from(node));
    let helpers = list(block, "helpers");
    let named = helpers.iter().find(|helper| {
        let joints = helper.get("dlb").map(|dlb| list(dlb, "joints"));
        let joints = joints.unwrap_or_default();
        is_node(helper.get("node"))
            || is_node(helper.get("parent"))
            || joints.iter().any(|joint| is_node(Some(joint)))
    });
    let skins = list(block, "skins");
    let skin = skins.iter().find(|skin| {
        let frames = [list(skin, "above"), list(skin, "follows")].concat();
        let names = |frame: &Value| is_node(frame.get("node")) || is_node(frame.get("after"));
        frames.iter().any(names)
    });
    let of_skin = || {
        let skin = skin?.get("skin")?;
        helpers.iter().find(|h| list(h, "skins").contains(skin))
    };
    let Some(helper) = named.or_else(of_skin) else {
        return check_samples(document, joint, block, is_node);
    };
    let helper = helper.get("node").and_then(Value::as_u64);
    let helper = helper.and_then(|node| skeleton.joint_of_node(u32::try_from(node).ok()?));
    Err(RigError::Drives {
        joint: skeleton.label(joint),
        helper: helper.map_or_else(String::new, |helper| skeleton.label(helper)),
    })
}

/// Refuses to remove a joint that drives corrective samples of the source.
fn check_samples(
    document: &Document,
    joint: JointId,
    block: &Value,
    is_node: impl Fn(Option<&Value>) -> bool,
) -> Result<(), RigError> {
    let sets = list(block, "psd")
        .into_iter()
        .flat_map(|entry| list(&entry, "sets"));
    for set in sets {
        let mut drivers = list(&set, "drivers").into_iter();
        if drivers.any(|driver| is_node(driver.get("node")) || is_node(driver.get("relativeTo"))) {
            return Err(RigError::DrivesTargets {
                joint: document.skeleton.label(joint),
                set: set["name"].as_str().unwrap_or_default().to_owned(),
            });
        }
    }
    Ok(())
}

fn list(value: &Value, key: &str) -> Vec<Value> {
    let list = value.get(key).and_then(Value::as_array);
    list.cloned().unwrap_or_default()
}
