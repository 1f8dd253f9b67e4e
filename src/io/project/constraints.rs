//! Constraints of joints <-> the project format.

use super::ProjectError;
use super::constraint_entries::{
    ConstraintEntry, ConstraintsEntry, KeptConstraint, RuleOfConstraint, UpEntry,
};
use super::joints::{self, JointKey, Joints};
use super::migrate::from_ron;
use crate::document::{Document, UnplacedConstraint};
use crate::finding::Finding;
use crate::skeleton::constraint::aim::Up;
use crate::skeleton::constraint::limit::Cone;
use crate::skeleton::constraint::{Constraint, CopiedAxes, Rule, Space};
use crate::skeleton::{JointId, Skeleton};
use glam::DVec3;
use std::collections::BTreeSet;

/// The joints whose list of constraints is not the source's, and constraints that wait for a joint which can have them.
pub(super) fn collect(document: &Document) -> Result<Vec<ConstraintsEntry>, ProjectError> {
    let (now, before) = (document.constraints(), document.source_constraints());
    let joints: BTreeSet<JointId> = now.keys().chain(before.keys()).copied().collect();
    let changed = joints
        .into_iter()
        .filter(|joint| document.skeleton().is_live(*joint) && now.get(joint) != before.get(joint));
    let mut entries: Vec<ConstraintsEntry> = changed.map(|j| entry_of(document, j)).collect();
    for kept in document.unplaced_constraints().iter() {
        let kept: KeptConstraint = from_ron(&kept.entry)?;
        let is_of = |entry: &ConstraintsEntry| entry.joint == kept.joint && entry.name == kept.name;
        let known = entries.iter().position(is_of);
        let index = known.unwrap_or_else(|| {
            let has_key = |joint: &JointId| {
                joints::key(document, *joint) == kept.joint
                    && joints::name(document, *joint) == kept.name
            };
            let mut joints = document.skeleton().live_joints();
            let entry = joints.find(has_key).map(|joint| entry_of(document, joint));
            entries.push(entry.unwrap_or_else(|| ConstraintsEntry {
                joint: kept.joint,
                name: kept.name.clone(),
                list: Vec::new(),
            }));
            entries.len() - 1
        });
        let list = &mut entries[index].list;
        list.insert(kept.position.min(list.len()), kept.constraint);
    }
    Ok(entries)
}

fn entry_of(document: &Document, joint: JointId) -> ConstraintsEntry {
    ConstraintsEntry {
        joint: joints::key(document, joint),
        name: joints::name(document, joint),
        list: (document.constraints_of(joint).iter())
            .map(|constraint| ConstraintEntry {
                rule: written(document, &constraint.rule),
                influence: constraint.influence,
                muted: constraint.is_muted,
                keyed_as: constraint.keyed_as,
            })
            .collect(),
    }
}

fn written(document: &Document, rule: &Rule) -> RuleOfConstraint {
    let reference = |joint: JointId| joints::reference(document, joint);
    match *rule {
        Rule::CopyRotation {
            source,
            space,
            keeps_offset,
            axes,
        } => RuleOfConstraint::CopyRotation {
            source: reference(source),
            world: space == Space::World,
            keep_offset: keeps_offset,
            axes: axes.copied.into(),
            inverted: axes.inverted.into(),
            order: axes.order.into(),
        },
        Rule::CopyLocation {
            source,
            keeps_offset,
            axes,
            space,
        } => RuleOfConstraint::CopyLocation {
            source: reference(source),
            keep_offset: keeps_offset,
            axes: axes.into(),
            local: space == Space::Local,
        },
        Rule::CopyScale { source, axes } => RuleOfConstraint::CopyScale {
            source: reference(source),
            axes: axes.into(),
        },
        Rule::Aim { target, axis, up } => RuleOfConstraint::Aim {
            target: reference(target),
            axis: axis.into(),
            up: up.map(|up| UpEntry {
                axis: up.axis.into(),
                direction: up.direction.into(),
            }),
        },
        Rule::TwistShare {
            source,
            axis,
            share,
            centre,
        } => RuleOfConstraint::TwistShare {
            source: reference(source),
            axis: axis.into(),
            share,
            centre,
        },
        Rule::LimitAngles {
            ranges: [x, y, z],
            order,
        } => RuleOfConstraint::LimitRotation {
            x: x.into(),
            y: y.into(),
            z: z.into(),
            order: order.into(),
        },
        Rule::LimitCone(cone) => RuleOfConstraint::LimitSwingAndTwist {
            axis: cone.axis.into(),
            side: cone.side.into(),
            half_angles: cone.half_angles.into(),
            twist: cone.twist.into(),
        },
        Rule::ReachTwoBones {
            target,
            pole,
            softness,
        } => RuleOfConstraint::TwoBoneIk {
            target: reference(target),
            pole: pole.map(reference),
            softness,
        },
        Rule::ReachChain { target, n_bones } => RuleOfConstraint::ChainIk {
            target: reference(target),
            bones: n_bones as u32,
        },
    }
}

/// The constraints of `entry` in this model, for a joint of its skeleton. Those that the joint cannot have, or that follow a
/// joint which the model does not have, come second.
pub(super) fn restore(
    entry: &ConstraintsEntry,
    (joint, key, skeleton): (JointId, JointKey, &Skeleton),
    joints: &mut Joints,
    findings: &mut Vec<Finding>,
) -> Result<(Vec<Constraint>, Vec<UnplacedConstraint>), ProjectError> {
    let (mut list, mut unplaced) = (Vec::new(), Vec::new());
    for (position, constraint) in entry.list.iter().enumerate() {
        let made = read(&constraint.rule, joints, findings).and_then(|rule| {
            let made = Constraint {
                rule,
                influence: constraint.influence,
                is_muted: constraint.muted,
                keyed_as: constraint.keyed_as,
            };
            made.check(joint, skeleton).map(|()| made)
        });
        match made {
            Ok(made) => list.push(made),
            Err(why) => {
                unplaced.push(kept(entry, key, position, (Some(joint), why))?);
            }
        }
    }
    Ok((list, unplaced))
}

/// All constraints of an entry, to be saved again. `why`: the end of a sentence.
pub(super) fn all_kept(
    entry: &ConstraintsEntry,
    why: &str,
) -> Result<Vec<UnplacedConstraint>, ProjectError> {
    let all = 0..entry.list.len();
    all.map(|position| kept(entry, entry.joint, position, (None, why.to_owned())))
        .collect()
}

/// A constraint of an entry, to be saved again for the joint with a key.
fn kept(
    entry: &ConstraintsEntry,
    key: JointKey,
    position: usize,
    (joint, why): (Option<JointId>, String),
) -> Result<UnplacedConstraint, ProjectError> {
    let constraint = &entry.list[position];
    let kept = KeptConstraint {
        joint: key,
        name: entry.name.clone(),
        position,
        constraint: constraint.clone(),
    };
    let text = ron::to_string(&kept).map_err(|error| ProjectError::Damaged {
        place: place(entry),
        why: error.to_string(),
    })?;
    Ok(UnplacedConstraint {
        rule: constraint.rule.label(),
        bone: entry.name.clone(),
        joint,
        why,
        entry: text.into(),
    })
}

/// The place of an entry in messages.
pub(super) fn place(entry: &ConstraintsEntry) -> String {
    format!("constraints of bone {} \"{}\"", entry.joint, entry.name)
}

/// The rule of an entry. Fails with the end of a sentence where the model has no joint that it follows.
fn read(
    rule: &RuleOfConstraint,
    joints: &mut Joints,
    findings: &mut Vec<Finding>,
) -> Result<Rule, String> {
    let mut find = |joint| joints.find_named_joint(joint, findings);
    let vector = |v: (f64, f64, f64)| DVec3::from(v);
    Ok(match rule {
        RuleOfConstraint::CopyRotation {
            source,
            world,
            keep_offset,
            axes,
            inverted,
            order,
        } => Rule::CopyRotation {
            source: find(source)?,
            space: if *world { Space::World } else { Space::Local },
            keeps_offset: *keep_offset,
            axes: CopiedAxes {
                copied: (*axes).into(),
                inverted: (*inverted).into(),
                order: (*order).into(),
            },
        },
        RuleOfConstraint::CopyLocation {
            source,
            keep_offset,
            axes,
            local,
        } => Rule::CopyLocation {
            source: find(source)?,
            keeps_offset: *keep_offset,
            axes: (*axes).into(),
            space: if *local { Space::Local } else { Space::World },
        },
        RuleOfConstraint::CopyScale { source, axes } => Rule::CopyScale {
            source: find(source)?,
            axes: (*axes).into(),
        },
        RuleOfConstraint::Aim { target, axis, up } => Rule::Aim {
            target: find(target)?,
            axis: vector(*axis),
            up: up.as_ref().map(|up| Up {
                axis: vector(up.axis),
                direction: vector(up.direction),
            }),
        },
        RuleOfConstraint::TwistShare {
            source,
            axis,
            share,
            centre,
        } => Rule::TwistShare {
            source: find(source)?,
            axis: vector(*axis),
            share: *share,
            centre: *centre,
        },
        RuleOfConstraint::LimitRotation { x, y, z, order } => Rule::LimitAngles {
            ranges: [*x, *y, *z].map(Into::into),
            order: (*order).into(),
        },
        RuleOfConstraint::LimitSwingAndTwist {
            axis,
            side,
            half_angles,
            twist,
        } => Rule::LimitCone(Cone {
            axis: vector(*axis),
            side: vector(*side),
            half_angles: (*half_angles).into(),
            twist: (*twist).into(),
        }),
        RuleOfConstraint::TwoBoneIk {
            target,
            pole,
            softness,
        } => Rule::ReachTwoBones {
            target: find(target)?,
            pole: match pole {
                Some(pole) => Some(find(pole)?),
                None => None,
            },
            softness: *softness,
        },
        RuleOfConstraint::ChainIk { target, bones } => Rule::ReachChain {
            target: find(target)?,
            n_bones: *bones as usize,
        },
    })
}
