//! Reads `VRMC_node_constraint` 1.0: each of its three kinds becomes a constraint of its node's joint.
//!
//! What cannot be read stays in the file as it is, with a finding. Source: the VRM Consortium's specification.

use super::buffers::Data;
use super::error::Fault;
use super::findings::Findings;
use super::json::At;
use super::nodes::joint_of_node;
use crate::io::node_constraint::{AIM_AXES, KINDS, NAME, ROLL_AXES, VERSION};
use crate::skeleton::Skeleton;
use crate::skeleton::constraint::{Constraint, Constraints, CopiedAxes, Rule, Space};

/// The consequence of a constraint that cannot be read.
const KEPT: &str = "It does not act; the file keeps it as it is.";

/// The constraints of all nodes.
pub(super) fn read_all(
    data: &Data<'_>,
    skeleton: &Skeleton,
    findings: &mut Findings,
) -> Constraints {
    let mut constraints = Constraints::new();
    for node in 0..data.len("nodes") {
        let Some(at) = data.at("nodes", node).extension(NAME) else {
            continue;
        };
        match read(&at, node, data.len("nodes"), skeleton) {
            Ok(constraint) => {
                constraints.insert(joint_of_node(node), vec![constraint]);
            }
            Err(fault) => findings.push(fault.warning(KEPT)),
        }
    }
    constraints
}

fn read(
    at: &At<'_>,
    node: usize,
    n_nodes: usize,
    skeleton: &Skeleton,
) -> Result<Constraint, Fault> {
    let version = at.text("specVersion").unwrap_or_default();
    if version != VERSION {
        let why = format!("The version of the constraint is \"{version}\", not \"{VERSION}\".");
        return Err(Fault::new(&at.place, why));
    }
    let at = at
        .object("constraint")?
        .ok_or_else(|| at.lacks("constraint"))?;
    let found: Vec<&str> = KINDS
        .into_iter()
        .filter(|kind| at.get(kind).is_some())
        .collect();
    let [kind] = found[..] else {
        let why = format!(
            "It has {} kinds of constraint; exactly one of {} is allowed.",
            found.len(),
            KINDS.join(", ")
        );
        return Err(Fault::new(&at.place, why));
    };
    let at = at.object(kind)?.ok_or_else(|| at.lacks(kind))?;
    let source = at.required_index("source", "nodes", n_nodes)?;
    let weight = at.number("weight")?.unwrap_or(1.0);
    if !(0.0..=1.0).contains(&weight) {
        let why = format!("Its weight is {weight}, not 0 - 1.");
        return Err(Fault::new(&at.place, why));
    }
    let (joint, source) = (joint_of_node(node), joint_of_node(source));
    let axis = |key: &str, names: &[(&str, glam::DVec3)]| {
        let name = at.text(key).ok_or_else(|| at.lacks(key))?;
        let known = names.iter().find(|(known, _)| *known == name);
        known
            .map(|(_, axis)| *axis)
            .ok_or_else(|| Fault::new(at.path(key), format!("\"{name}\" is not an axis.")))
    };
    let (rule, influence) = match kind {
        "roll" => {
            if skeleton.joint(joint).parent == Some(source) {
                let why = "A roll that follows the node's own parent is not supported.";
                return Err(Fault::new(&at.place, why));
            }
            let rule = Rule::TwistShare {
                source,
                axis: axis("rollAxis", &ROLL_AXES)?,
                share: weight,
                centre: 0.0,
            };
            (rule, 1.0)
        }
        "aim" => {
            let rule = Rule::Aim {
                target: source,
                axis: axis("aimAxis", &AIM_AXES)?,
                up: None,
            };
            (rule, weight)
        }
        _ => {
            let rule = Rule::CopyRotation {
                source,
                space: Space::Local,
                keeps_offset: true,
                axes: CopiedAxes::ALL,
            };
            (rule, weight)
        }
    };
    let constraint = Constraint {
        influence,
        ..Constraint::new(rule)
    };
    let checked = constraint.check(joint, skeleton);
    checked.map_err(|why| Fault::new(&at.place, format!("It is not valid: {why}.")))?;
    Ok(constraint)
}
