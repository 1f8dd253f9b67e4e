//! A rule on the other side of a symmetric skeleton.

use super::kind::Rule;
use super::limit::Cone;
use crate::skeleton::JointId;
use glam::{DMat3, DVec3};

/// Axes nearer than this to mirrored ones are mirrored: 5 degrees.
const SAME_AXES: f64 = 0.0872;
/// Two axes nearer than this are the same.
const SAME_AXIS: f64 = 1e-9;

/// The two sides of a skeleton, for a joint whose world transform on the other side is M W F.
pub struct OtherSide<'a> {
    /// M, of world directions.
    pub reflection: DMat3,
    /// F, of the joint's own axes: diag(-1, 1, 1) or -I.
    pub axes: DMat3,
    /// The counterpart of a joint, or a joint of the middle itself, with the F of its axes at rest; `None` where it has none.
    pub counterpart: &'a dyn Fn(JointId) -> Option<(JointId, DMat3)>,
}

impl Rule {
    /// The rule that does on the other side what this one does on its own: it makes the mirrored pose of the mirrored pose.
    ///
    /// `None` where a joint that it follows has no counterpart, and where it copies from axes that are mirrored another way.
    /// A rotation about v is one about det(F) F v there, so that a twist and angles about flipped axes change their signs.
    pub fn mirrored(&self, side: &OtherSide<'_>) -> Option<Self> {
        let f = side.axes;
        let other = |joint: JointId| {
            let (joint, axes) = (side.counterpart)(joint)?;
            let is = |sign: f64| near(axes, f * sign);
            (!self.copies_axes() || is(1.0) || is(-1.0)).then_some(joint)
        };
        Some(match *self {
            Self::CopyRotation {
                source,
                space,
                keeps_offset,
                axes,
            } => Self::CopyRotation {
                source: other(source)?,
                space,
                keeps_offset,
                axes,
            },
            Self::CopyLocation {
                source,
                keeps_offset,
                axes,
                space,
            } => Self::CopyLocation {
                source: other(source)?,
                keeps_offset,
                axes,
                space,
            },
            Self::CopyScale { source, axes } => Self::CopyScale {
                source: other(source)?,
                axes,
            },
            Self::Aim { target, axis, up } => Self::Aim {
                target: other(target)?,
                axis: f * axis,
                up: up.map(|up| super::aim::Up {
                    axis: f * up.axis,
                    direction: side.reflection * up.direction,
                }),
            },
            Self::TwistShare {
                source,
                axis,
                share,
                centre,
            } => {
                let (axis, sign) = twist_axis(f, axis);
                Self::TwistShare {
                    source: other(source)?,
                    axis,
                    share,
                    centre: sign * centre,
                }
            }
            Self::LimitAngles { ranges, order } => Self::LimitAngles {
                ranges: std::array::from_fn(|i| {
                    let about = DVec3::AXES[i];
                    signed(ranges[i], turn(f, about).dot(about))
                }),
                order,
            },
            Self::LimitCone(cone) => {
                let (axis, sign) = twist_axis(f, cone.axis);
                Self::LimitCone(Cone {
                    axis,
                    side: f * cone.side,
                    half_angles: cone.half_angles,
                    twist: signed(cone.twist, sign),
                })
            }
            Self::ReachTwoBones {
                target,
                pole,
                softness,
            } => Self::ReachTwoBones {
                target: other(target)?,
                pole: match pole {
                    Some(pole) => Some(other(pole)?),
                    None => None,
                },
                softness,
            },
            Self::ReachChain { target, n_bones } => Self::ReachChain {
                target: other(target)?,
                n_bones,
            },
        })
    }
}

/// The axis and angle of a rotation on the other side.
fn turn(f: DMat3, about: DVec3) -> DVec3 {
    f.determinant() * (f * about)
}

/// The axis of a twist on the other side, and 1, or -1 where the twist about it has the opposite sign: the same axis where
/// that is possible.
fn twist_axis(f: DMat3, axis: DVec3) -> (DVec3, f64) {
    let there = turn(f, axis);
    if there.distance(axis) > SAME_AXIS {
        (-there, -1.0)
    } else {
        (there, 1.0)
    }
}

fn signed([low, high]: [f64; 2], sign: f64) -> [f64; 2] {
    if sign < 0.0 {
        [-high, -low]
    } else {
        [low, high]
    }
}

fn near(a: DMat3, b: DMat3) -> bool {
    let off = a - b;
    let columns = [off.x_axis, off.y_axis, off.z_axis];
    columns
        .into_iter()
        .all(|column| column.length() < SAME_AXES)
}
