//! Where a driver moves its clusters: a direction and a weight for each vertex.

use super::bind_point::{BindPoint, Bone, BoneAxis, BoneError};
use super::profile::Profile;
use crate::cluster::check::{direction, within};
use glam::{DQuat, DVec3};
use serde::{Deserialize, Serialize};

/// What a driver moves and where to.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SinkSettings {
    /// The direction, in bind space; it turns with the skin.
    pub direction: SinkDirection,
    /// How much each vertex moves.
    pub mask: SinkMask,
}

/// The direction of a driver's displacements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub enum SinkDirection {
    /// The normal of each vertex.
    #[default]
    Normal,
    /// Along the bone, from head to tail.
    BoneAxis,
    /// Away from the bone.
    Radial,
    /// One direction for all, object space, of any length.
    Fixed(DVec3),
}

/// How much each vertex of a driver moves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub enum SinkMask {
    /// The painted weight.
    #[default]
    Painted,
    /// The painted weight times a profile along the bone.
    AlongBone {
        /// The centre, in lengths of the bone from its head.
        centre: f64,
        /// The profile.
        profile: Profile,
    },
}

impl SinkDirection {
    /// The name of its kind in lists.
    pub fn label(self) -> &'static str {
        match self {
            Self::Normal => "Normal",
            Self::BoneAxis => "Bone axis",
            Self::Radial => "Radial",
            Self::Fixed(_) => "Fixed",
        }
    }

    /// A sentence about its kind, for tooltips.
    pub fn about(self) -> &'static str {
        match self {
            Self::Normal => "Along the normal of each vertex at bind.",
            Self::BoneAxis => "Along the bone, from its head to its tail.",
            Self::Radial => "Away from the bone.",
            Self::Fixed(_) => "In one direction of the bind shape, which turns with the skin.",
        }
    }
}

impl SinkSettings {
    /// Whether it needs a bone.
    pub fn needs_bone(&self) -> bool {
        matches!(
            self.direction,
            SinkDirection::BoneAxis | SinkDirection::Radial
        ) || matches!(self.mask, SinkMask::AlongBone { .. })
    }

    /// An error that names a value out of its range.
    pub fn check(&self) -> Result<(), String> {
        if let SinkDirection::Fixed(fixed) = self.direction {
            direction("the direction of the driver", fixed)?;
        }
        if let SinkMask::AlongBone { centre, profile } = self.mask {
            within("the centre of the driver's profile", centre, -2.0, 3.0)?;
            profile.check()?;
        }
        Ok(())
    }
}

/// The displacement of each vertex for an amount of 1, ready to be scaled and added.
#[derive(Clone, Debug, PartialEq)]
pub struct Sink {
    /// n_points, bind space.
    unit: Vec<DVec3>,
}

impl Sink {
    /// Of settings, the vertices at bind, and the bone, which some settings need.
    pub fn new(
        settings: &SinkSettings,
        bone: Option<Bone>,
        points: &[BindPoint],
    ) -> Result<Self, String> {
        settings.check()?;
        let axis = match bone {
            Some(bone) => Some(BoneAxis::new(bone)),
            None if settings.needs_bone() => {
                return Err("the direction or the profile of the driver needs a bone".into());
            }
            None => None,
        };
        let axis = axis.transpose().map_err(|e: BoneError| e.to_string())?;
        let unit: Vec<DVec3> = points
            .iter()
            .map(|p| {
                let along = match (settings.direction, &axis) {
                    (SinkDirection::BoneAxis, Some(axis)) => axis.along,
                    (SinkDirection::Radial, Some(axis)) => axis.radial(p.position),
                    (SinkDirection::Fixed(fixed), _) => fixed.try_normalize().unwrap_or(p.normal),
                    _ => p.normal,
                };
                let share = match (settings.mask, &axis) {
                    (SinkMask::AlongBone { centre, profile }, Some(axis)) => {
                        profile.at(axis.fraction(p.position) - centre)
                    }
                    _ => 1.0,
                };
                along * (p.mask * share)
            })
            .collect();
        match unit.iter().position(|u| !u.is_finite()) {
            Some(index) => Err(format!("vertex {index} of the driver is not finite")),
            None => Ok(Self { unit }),
        }
    }

    /// n_points: the displacement for an amount of 1, bind space.
    pub fn units(&self) -> &[DVec3] {
        &self.unit
    }

    /// The number of vertices.
    pub fn n_points(&self) -> usize {
        self.unit.len()
    }

    /// Adds the displacements for `amount` (metres), turned by the skin's rotation at each vertex (n_points, unit), to
    /// `out`.
    pub fn add(&self, amount: f64, rotations: &[DQuat], out: &mut [DVec3]) {
        for ((out, unit), rotation) in out.iter_mut().zip(&self.unit).zip(rotations) {
            *out += *rotation * (*unit * amount);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BONE: Bone = [DVec3::ZERO, DVec3::new(0.0, 0.0, 2.0)];

    fn point() -> BindPoint {
        BindPoint {
            position: DVec3::new(0.5, 0.0, 1.0),
            normal: DVec3::new(0.6, 0.8, 0.0),
            area: 1.0,
            mask: 0.5,
        }
    }

    #[test]
    fn each_direction_is_masked_and_turns_with_the_skin() {
        let turn = DQuat::from_rotation_y(0.7);
        for (direction, expected) in [
            (SinkDirection::Normal, DVec3::new(0.6, 0.8, 0.0)),
            (SinkDirection::BoneAxis, DVec3::Z),
            (SinkDirection::Radial, DVec3::X),
            (SinkDirection::Fixed(DVec3::Y * 9.0), DVec3::Y),
        ] {
            for (mask, share) in [
                (SinkMask::Painted, 0.5),
                (
                    SinkMask::AlongBone {
                        centre: 0.69,
                        profile: Profile::default(),
                    },
                    0.25,
                ),
            ] {
                let settings = SinkSettings { direction, mask };
                let sink = Sink::new(&settings, Some(BONE), &[point()]).unwrap();
                let mut out = [DVec3::ONE];
                sink.add(2.0, &[turn], &mut out);
                let expected = DVec3::ONE + turn * expected * (2.0 * share);
                assert!(out[0].abs_diff_eq(expected, 1e-15), "{settings:?}");
            }
        }
    }

    #[test]
    fn a_bone_is_asked_for_only_where_it_is_needed() {
        let with = |direction| SinkSettings {
            direction,
            mask: SinkMask::Painted,
        };
        let made = Sink::new(&with(SinkDirection::Normal), None, &[point()]);
        assert_eq!(made.unwrap().n_points(), 1);
        let why = Sink::new(&with(SinkDirection::Radial), None, &[point()]);
        assert_eq!(
            why.unwrap_err(),
            "the direction or the profile of the driver needs a bone"
        );
        let none = with(SinkDirection::Fixed(DVec3::ZERO));
        assert!(none.check().unwrap_err().ends_with("which is no direction"));
    }
}
