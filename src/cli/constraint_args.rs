//! The value of `sinew rig --constraint`: TYPE, TYPE:TARGET or TYPE:TARGET:OPTIONS.

use crate::editor::constraints::{ConstraintKind, across, axis_of_bone, side_of};
use crate::skeleton::constraint::aim::Up;
use crate::skeleton::constraint::limit::Cone;
use crate::skeleton::constraint::{Constraint, CopiedAxes, EulerOrder, Rule, Space};
use crate::skeleton::{JointId, Skeleton};
use glam::DVec3;

/// The types, by their names on the command line.
const TYPES: [(&str, ConstraintKind); 9] = [
    ("copy-rotation", ConstraintKind::CopyRotation),
    ("copy-location", ConstraintKind::CopyLocation),
    ("copy-scale", ConstraintKind::CopyScale),
    ("damped-track", ConstraintKind::Aim),
    ("twist-share", ConstraintKind::TwistShare),
    ("limit-rotation", ConstraintKind::LimitRotation),
    ("limit-swing", ConstraintKind::LimitSwing),
    ("two-bone-ik", ConstraintKind::TwoBoneIk),
    ("ik", ConstraintKind::ChainIk),
];

/// A constraint for `joint`. `find`: the bone of a name, or why there is none. Fails with the end of a sentence.
pub(super) fn parse(
    text: &str,
    skeleton: &Skeleton,
    joint: JointId,
    find: impl Fn(&str) -> Result<JointId, String>,
) -> Result<Constraint, String> {
    let (name, rest) = text.split_once(':').unwrap_or((text, ""));
    let kind = TYPES.iter().find(|(known, _)| *known == name);
    let Some(&(_, kind)) = kind else {
        let names = TYPES.map(|(known, _)| known);
        return Err(format!("a type is {}", names.join(", ")));
    };
    let (target, options) = if kind.follows() {
        let (target, options) = target_and_options(rest, &find)?;
        (Some(target), options)
    } else {
        (None, rest.trim_start_matches(':'))
    };
    let along = axis_of_bone(skeleton, joint);
    let n_above = skeleton.ancestors(joint).count();
    let mut constraint = Constraint::new(kind.rule(target.unwrap_or(joint), along, n_above));
    for option in options.split(',').filter(|option| !option.is_empty()) {
        let (key, value) = option.split_once('=').unwrap_or((option, ""));
        let is_known =
            set(&mut constraint, (key, value), &find).map_err(|why| format!("{option}: {why}"))?;
        if !is_known {
            return Err(format!("{name} has no option “{key}”"));
        }
    }
    Ok(constraint)
}

/// The target and what comes after it: names of bones can have colons, too.
fn target_and_options<'a>(
    rest: &'a str,
    find: &impl Fn(&str) -> Result<JointId, String>,
) -> Result<(JointId, &'a str), String> {
    if rest.is_empty() {
        return Err("it needs a target, as TYPE:BONE".into());
    }
    if let Ok(target) = find(rest) {
        return Ok((target, ""));
    }
    let mut splits = rest.rmatch_indices(':').map(|(at, _)| rest.split_at(at));
    let found = splits.find_map(|(target, options)| Some((find(target).ok()?, &options[1..])));
    found.map_or_else(
        || {
            let target = rest.rsplit_once(':').map_or(rest, |(target, _)| target);
            Err(find(target).err().unwrap_or_default())
        },
        Ok,
    )
}

/// Sets an option; whether the constraint has it.
fn set(
    constraint: &mut Constraint,
    (key, value): (&str, &str),
    find: &impl Fn(&str) -> Result<JointId, String>,
) -> Result<bool, String> {
    match key {
        "influence" => constraint.influence = number(value)?,
        "muted" => constraint.is_muted = flag(value)?,
        _ => return set_rule(&mut constraint.rule, (key, value), find),
    }
    Ok(true)
}

fn set_rule(
    rule: &mut Rule,
    (key, value): (&str, &str),
    find: &impl Fn(&str) -> Result<JointId, String>,
) -> Result<bool, String> {
    match (rule, key) {
        (Rule::CopyRotation { axes, .. }, "axes") => axes.copied = letters(value)?,
        (
            Rule::CopyRotation {
                axes: CopiedAxes { inverted, .. },
                ..
            },
            "invert",
        ) => *inverted = letters(value)?,
        (Rule::CopyRotation { space, .. }, "world") if flag(value)? => *space = Space::World,
        (
            Rule::CopyRotation {
                keeps_offset,
                space,
                ..
            },
            "no-offset",
        ) if flag(value)? => {
            // Only the world's has one.
            (*keeps_offset, *space) = (false, Space::World);
        }
        (Rule::CopyLocation { keeps_offset, .. }, "no-offset") if flag(value)? => {
            *keeps_offset = false;
        }
        (Rule::CopyLocation { space, .. }, "local") if flag(value)? => *space = Space::Local,
        (
            Rule::LimitAngles { order, .. }
            | Rule::CopyRotation {
                axes: CopiedAxes { order, .. },
                ..
            },
            "order",
        ) => *order = euler_order(value)?,
        (Rule::CopyLocation { axes, .. } | Rule::CopyScale { axes, .. }, "axes") => {
            *axes = letters(value)?;
        }
        (Rule::Aim { axis: aim, up, .. }, "axis") => {
            *aim = axis(value)?;
            if let Some(up) = up {
                up.axis = across(up.axis, *aim).ok_or(NOT_ACROSS)?;
            }
        }
        (Rule::Aim { axis: aim, up, .. }, "up") => {
            *up = Some(Up {
                axis: across(axis(value)?, *aim).ok_or(NOT_ACROSS)?,
                direction: up.map_or(DVec3::Y, |up| up.direction),
            });
        }
        (Rule::Aim { up: Some(up), .. }, "up-direction") => up.direction = axis(value)?,
        (Rule::Aim { up: None, .. }, "up-direction") => return Err("it comes after up".into()),
        (Rule::TwistShare { axis: twist, .. }, "axis") => *twist = axis(value)?,
        (Rule::TwistShare { share, .. }, "factor") => *share = number(value)?,
        (Rule::TwistShare { centre, .. }, "centre" | "center") => *centre = degrees(value)?,
        (Rule::LimitAngles { ranges, .. }, "x" | "y" | "z") => {
            let index = ["x", "y", "z"].iter().position(|letter| *letter == key);
            ranges[index.unwrap_or(0)] = range(value)?;
        }
        (
            Rule::LimitCone(Cone {
                axis: cone, side, ..
            }),
            "axis",
        ) => {
            *cone = axis(value)?;
            *side = side_of(*cone);
        }
        (Rule::LimitCone(cone), "swing") => {
            let (a, b) = value.split_once('x').unwrap_or((value, value));
            cone.half_angles = [degrees(a)?, degrees(b)?];
        }
        (Rule::LimitCone(cone), "twist") => cone.twist = range(value)?,
        (Rule::ReachTwoBones { pole, .. }, "pole") => *pole = Some(find(value)?),
        (Rule::ReachTwoBones { softness, .. }, "softness") => *softness = number(value)?,
        (Rule::ReachChain { n_bones, .. }, "bones") => {
            let n = value.parse::<usize>();
            *n_bones = n.map_err(|_| "the number of bones is a whole number")?;
        }
        _ => return Ok(false),
    }
    Ok(true)
}

/// Why an up axis is refused.
const NOT_ACROSS: &str = "the up axis must not lie along the track axis";

fn flag(value: &str) -> Result<bool, String> {
    if value.is_empty() {
        Ok(true)
    } else {
        Err("it has no value".into())
    }
}

fn number(text: &str) -> Result<f64, String> {
    let number = text.trim().parse::<f64>().ok();
    number
        .filter(|number| number.is_finite())
        .ok_or_else(|| "it is a number".into())
}

/// An angle in degrees, as radians.
fn degrees(text: &str) -> Result<f64, String> {
    number(text)
        .map(f64::to_radians)
        .map_err(|_| "it is an angle in degrees".into())
}

/// "-10..20"
fn range(text: &str) -> Result<[f64; 2], String> {
    let why = || "write a range as MIN..MAX in degrees, such as -10..20".to_owned();
    let (low, high) = text.split_once("..").ok_or_else(why)?;
    match (degrees(low), degrees(high)) {
        (Ok(low), Ok(high)) => Ok([low, high]),
        _ => Err(why()),
    }
}

/// "xz"
fn letters(text: &str) -> Result<[bool; 3], String> {
    let mut axes = [false; 3];
    for letter in text.chars() {
        let index = "xyz".find(letter.to_ascii_lowercase());
        axes[index.ok_or("write the axes as letters, such as xz")?] = true;
    }
    Ok(axes)
}

/// "zyx"
fn euler_order(text: &str) -> Result<EulerOrder, String> {
    let mut all = EulerOrder::ALL.into_iter();
    let found = all.find(|order| order.letters().eq_ignore_ascii_case(text));
    found.ok_or_else(|| "write the order of the angles as letters, such as zyx".into())
}

/// "+y"
fn axis(text: &str) -> Result<DVec3, String> {
    let (sign, letter) = match text.strip_prefix('-') {
        Some(letter) => (-1.0, letter),
        None => (1.0, text.strip_prefix('+').unwrap_or(text)),
    };
    let axis = match letter.to_ascii_lowercase().as_str() {
        "x" => DVec3::X,
        "y" => DVec3::Y,
        "z" => DVec3::Z,
        _ => return Err("an axis is +x, -x, +y, -y, +z or -z".into()),
    };
    Ok(sign * axis)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Transform;
    use crate::skeleton::Joint;

    fn skeleton() -> Skeleton {
        let joint = |name: &str, parent: Option<u32>| {
            let rest = Transform {
                translation: DVec3::Y,
                ..Transform::IDENTITY
            };
            Joint::new(name, parent.map(JointId), rest)
        };
        let joints = vec![
            joint("rig:arm", None),
            joint("rig:fore", Some(0)),
            joint("rig:hand", Some(1)),
            joint("target", None),
        ];
        Skeleton::new(joints).unwrap()
    }

    fn read(text: &str) -> Result<Constraint, String> {
        let skeleton = skeleton();
        let find = |name: &str| {
            let found = skeleton.joint_named(name);
            found.ok_or_else(|| format!("there is no bone “{name}”"))
        };
        let made = parse(text, &skeleton, JointId(2), find)?;
        made.check(JointId(2), &skeleton)?;
        Ok(made)
    }

    #[test]
    fn types_targets_and_options_are_read() {
        let made = read("copy-rotation:rig:arm:axes=xz,invert=z,influence=.5,muted").unwrap();
        assert!((made.influence, made.is_muted) == (0.5, true));
        let Rule::CopyRotation { source, axes, .. } = made.rule else {
            panic!("{made:?}")
        };
        assert_eq!((source, axes.copied), (JointId(0), [true, false, true]));
        assert_eq!(axes.inverted, [false, false, true]);
        let made = read("damped-track:target:axis=-x,up=z,up-direction=-z").unwrap();
        let Rule::Aim {
            axis, up: Some(up), ..
        } = made.rule
        else {
            panic!("{made:?}")
        };
        assert_eq!(
            (axis, up.axis, up.direction),
            (-DVec3::X, DVec3::Z, -DVec3::Z)
        );
        let made = read("limit-rotation:x=-10..20,z=0..0").unwrap();
        let Rule::LimitAngles {
            ranges: [x, y, z], ..
        } = made.rule
        else {
            panic!("{made:?}")
        };
        assert_eq!(x.map(f64::to_degrees).map(f64::round), [-10.0, 20.0]);
        assert!(y[1] > 3.0 && z == [0.0; 2]);
        assert!(read("limit-swing::swing=30x45,twist=-20..35").is_ok());
        assert!(read("two-bone-ik:target:pole=rig:arm,softness=0.1").is_ok());
        assert!(read("ik:target:bones=2").is_ok());
        assert!(read("copy-scale:target:axes=y").is_ok());
        let made = read("limit-rotation:order=ZYX").unwrap();
        assert!(matches!(
            made.rule,
            Rule::LimitAngles {
                order: EulerOrder::Zyx,
                ..
            }
        ));
        let made = read("copy-rotation:target:axes=xz,order=yzx").unwrap();
        let Rule::CopyRotation { axes, .. } = made.rule else {
            panic!("{made:?}")
        };
        assert_eq!(axes.order, EulerOrder::Yzx);
        let made = read("copy-location:target:axes=y,local").unwrap();
        assert!(matches!(
            made.rule,
            Rule::CopyLocation {
                space: Space::Local,
                ..
            }
        ));
        for (text, why) in [
            ("glue:target", "a type is copy-rotation, "),
            ("copy-scale", "it needs a target"),
            ("copy-scale:nobody", "there is no bone “nobody”"),
            (
                "copy-scale:target:world",
                "copy-scale has no option “world”",
            ),
            (
                "copy-rotation:target:axes=w",
                "axes=w: write the axes as letters",
            ),
            (
                "damped-track:target:axis=y,up=y",
                "up=y: the up axis must not",
            ),
            ("limit-rotation:x=5", "x=5: write a range as MIN..MAX"),
            (
                "limit-rotation:order=xx",
                "order=xx: write the order of the angles",
            ),
            ("twist-share:rig:fore:factor=2", "out of its range"),
            ("ik:target:bones=9", "it bends 9 bones"),
            ("copy-location:rig:hand", "a bone cannot follow itself"),
        ] {
            let said = read(text).unwrap_err();
            assert!(said.contains(why), "{text}: {said}");
        }
    }
}
