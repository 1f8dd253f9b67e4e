//! Muscles: vertices beside a bone bulge as the next joint bends.

use super::bind_point::{BindPoint, Bone, BoneAxis, BoneError};
use super::envelope::{Envelope, EnvelopeSettings};
use super::profile::Profile;
use crate::cluster::check::{direction, within};
use glam::{DQuat, DVec3};
use serde::{Deserialize, Serialize};

/// The fraction of the limb's radius that a muscle bulges by default.
const DEFAULT_BULGE: f64 = 0.15;

/// Below this fraction of the area beside the bone nothing can give the volume back.
const NO_AREA: f64 = 1e-9;

/// A muscle: `d = A P(s) max(0, rho . beta)^p E(theta) n` at a vertex, with s its place along the upper bone, rho its
/// direction from the bone, and theta the bend of the joint from bind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MuscleSettings {
    /// A, metres; below 0 the muscle caves in.
    pub amplitude: f64,
    /// s0, the place of the largest bulge, in lengths of the upper bone from its head.
    pub centre: f64,
    /// P.
    pub profile: Profile,
    /// p: how narrow the muscle is around the bone; 0 is all round.
    pub power: f64,
    /// beta, the side of the bone on which the muscle lies (the flexor's), object space at bind.
    pub side: DVec3,
    /// The side to which the joint flexes, object space at bind: a bend to it counts as positive, one away from it as negative.
    /// `None`: any bend counts.
    pub flexion: Option<DVec3>,
    /// E.
    pub envelope: EnvelopeSettings,
    /// n.
    pub direction: MuscleDirection,
    /// Whether the other vertices beside the bone sink, so that the volume stays the same to first order.
    pub preserve_volume: bool,
}

/// Where the vertices of a muscle move.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum MuscleDirection {
    /// Along the normal at bind.
    #[default]
    Normal,
    /// Away from the bone.
    Radial,
}

/// Why a muscle cannot be evaluated.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum MuscleError {
    /// A setting is out of its range.
    #[error("{0}")]
    Settings(String),
    /// The upper bone gives no axis.
    #[error(transparent)]
    Bone(#[from] BoneError),
    /// The side points along the bone.
    #[error("the side of the muscle points along its bone: choose a direction across it")]
    SideAlongBone,
    /// A vertex is not finite.
    #[error("vertex {index} of the muscle is not finite")]
    Point {
        /// Its index among the given ones.
        index: usize,
    },
    /// No vertex can give the volume back.
    #[error("no vertex of the muscle lies beside its bone, so that the volume cannot be kept")]
    NoVolume,
}

impl MuscleSettings {
    /// The defaults for a limb of this radius (metres) that bends towards `side`.
    pub fn for_limb(radius: f64, side: DVec3) -> Self {
        Self {
            amplitude: DEFAULT_BULGE * radius,
            centre: 0.55,
            profile: Profile::default(),
            power: 1.5,
            side,
            flexion: None,
            envelope: EnvelopeSettings::default(),
            direction: MuscleDirection::default(),
            preserve_volume: false,
        }
    }

    /// An error that names a value out of its range.
    pub fn check(&self) -> Result<(), String> {
        within("the amplitude of the muscle", self.amplitude, -1e6, 1e6)?;
        within("the centre of the muscle", self.centre, -2.0, 3.0)?;
        self.profile.check()?;
        within("the power of the muscle", self.power, 0.0, 16.0)?;
        direction("the side of the muscle", self.side)?;
        if let Some(flexion) = self.flexion {
            direction("the side to which the joint of the muscle flexes", flexion)?;
        }
        self.envelope.check()
    }
}

/// A muscle on its vertices, ready to be evaluated.
#[derive(Clone, Debug, PartialEq)]
pub struct Muscle {
    envelope: Envelope,
    /// n_points: the displacement at E = 1, bind space, metres.
    full: Vec<DVec3>,
}

impl Muscle {
    /// Of settings, the upper bone and the vertices at bind.
    pub fn new(
        settings: &MuscleSettings,
        upper: Bone,
        points: &[BindPoint],
    ) -> Result<Self, MuscleError> {
        settings.check().map_err(MuscleError::Settings)?;
        let envelope = Envelope::new(&settings.envelope).map_err(MuscleError::Settings)?;
        let axis = BoneAxis::new(upper)?;
        let side = settings.side.try_normalize().unwrap_or(DVec3::ZERO);
        let across = side - axis.along * side.dot(axis.along);
        if across.length() < 1e-6 {
            return Err(MuscleError::SideAlongBone);
        }
        let beta = across.normalize_or_zero();
        let numbers = |p: &BindPoint| p.position + p.normal + DVec3::new(p.area, p.mask, 0.0);
        if let Some(index) = points.iter().position(|p| !numbers(p).is_finite()) {
            return Err(MuscleError::Point { index });
        }
        let directions: Vec<DVec3> = points
            .iter()
            .map(|p| match settings.direction {
                MuscleDirection::Normal => p.normal,
                MuscleDirection::Radial => axis.radial(p.position),
            })
            .collect();
        let mut sizes: Vec<f64> = points
            .iter()
            .map(|p| {
                let facing = axis.radial(p.position).dot(beta).max(0.0);
                let place = axis.fraction(p.position) - settings.centre;
                let shape = settings.profile.at(place) * facing.powf(settings.power);
                settings.amplitude * p.mask * shape
            })
            .collect();
        if settings.preserve_volume {
            give_back(&axis, points, &directions, &mut sizes)?;
        }
        let full = directions.iter().zip(&sizes).map(|(n, size)| *n * *size);
        Ok(Self {
            envelope,
            full: full.collect(),
        })
    }

    /// The number of vertices.
    pub fn n_points(&self) -> usize {
        self.full.len()
    }

    /// n_points: the displacement at E = 1, bind space, metres.
    pub fn full(&self) -> &[DVec3] {
        &self.full
    }

    /// E: the fraction of the displacements that shows at `angle` from bind, radians; 0 for NaN.
    pub fn strength(&self, angle: f64) -> f64 {
        let strength = self.envelope.at(angle);
        if strength.is_finite() { strength } else { 0.0 }
    }

    /// Writes the displacements (n_points, bind space, metres) at `angle` from bind, radians.
    pub fn displacements(&self, angle: f64, out: &mut [DVec3]) {
        let strength = self.strength(angle);
        for (out, full) in out.iter_mut().zip(&self.full) {
            *out = *full * strength;
        }
    }

    /// Adds the displacements at `angle`, turned by the skin's rotation at each vertex (n_points, unit), to `out`.
    pub fn add(&self, angle: f64, rotations: &[DQuat], out: &mut [DVec3]) {
        let strength = self.strength(angle);
        for ((out, full), rotation) in out.iter_mut().zip(&self.full).zip(rotations) {
            *out += *rotation * (*full * strength);
        }
    }
}

/// Sinks the vertices beside the bone so that the signed sizes, weighted by the area that each moves, sum to 0.
fn give_back(
    axis: &BoneAxis,
    points: &[BindPoint],
    directions: &[DVec3],
    sizes: &mut [f64],
) -> Result<(), MuscleError> {
    let middle = Profile::Cosine { half_width: 0.5 };
    let shares: Vec<f64> = points
        .iter()
        .map(|p| p.mask * middle.at(axis.fraction(p.position) - 0.5))
        .collect();
    // What a unit of size adds to the volume: the area across the direction of movement.
    let areas: Vec<f64> = points
        .iter()
        .zip(directions)
        .map(|(p, n)| p.area * p.normal.dot(*n))
        .collect();
    let sum = |of: &[f64]| areas.iter().zip(of).map(|(a, x)| a * x).sum::<f64>();
    let total: f64 = areas.iter().map(|a| a.abs()).sum();
    let share = sum(&shares);
    if share <= NO_AREA * total {
        return Err(MuscleError::NoVolume);
    }
    let excess = sum(sizes) / share;
    for (size, share) in sizes.iter_mut().zip(&shares) {
        *size -= share * excess;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const BONE: Bone = [DVec3::ZERO, DVec3::new(0.0, 0.0, 2.0)];

    fn point(x: f64, y: f64, s: f64) -> BindPoint {
        BindPoint {
            position: DVec3::new(x, y, 2.0 * s),
            normal: DVec3::new(x, y, 0.0).normalize_or_zero(),
            area: 0.01,
            mask: 1.0,
        }
    }

    #[test]
    fn the_bulge_is_where_the_formula_puts_it() {
        let settings = MuscleSettings::for_limb(0.5, DVec3::new(0.0, 3.0, 1.0));
        let points = [
            point(0.0, 0.5, 0.55),
            point(0.3, 0.4, 0.55),
            point(0.0, 0.5, 0.55 + 0.19),
            point(0.0, -0.5, 0.55),
            point(0.0, 0.0, 0.55),
            point(0.0, 0.5, 0.95),
        ];
        let muscle = Muscle::new(&settings, BONE, &points).unwrap();
        let mut out = [DVec3::ZERO; 6];
        muscle.displacements(60f64.to_radians(), &mut out);
        let a = 0.075 * 0.5;
        let expected = [a, a * 0.8f64.powf(1.5), a * 0.5, 0.0, 0.0, 0.0];
        for ((out, expected), p) in out.iter().zip(expected).zip(&points) {
            assert!(out.abs_diff_eq(p.normal * expected, 1e-15), "{p:?}: {out}");
        }
        let turn = DQuat::from_rotation_z(1.0);
        let mut posed = [DVec3::ONE; 6];
        muscle.add(60f64.to_radians(), &[turn; 6], &mut posed);
        for (posed, out) in posed.iter().zip(out) {
            assert!(posed.abs_diff_eq(DVec3::ONE + turn * out, 1e-15));
        }
    }

    #[test]
    fn what_cannot_be_is_refused_in_a_sentence() {
        let settings = MuscleSettings::for_limb(0.5, DVec3::Y);
        let why = |settings: &MuscleSettings, bone, points: &[BindPoint]| {
            Muscle::new(settings, bone, points).unwrap_err().to_string()
        };
        let along = MuscleSettings {
            side: DVec3::Z,
            ..settings.clone()
        };
        assert!(why(&along, BONE, &[]).contains("points along its bone"));
        assert_eq!(why(&settings, [DVec3::X; 2], &[]), "the bone has no length");
        let broken = BindPoint {
            area: f64::NAN,
            ..point(0.0, 0.5, 0.5)
        };
        assert_eq!(
            why(&settings, BONE, &[point(0.0, 0.5, 0.5), broken]),
            "vertex 1 of the muscle is not finite"
        );
        let preserving = MuscleSettings {
            preserve_volume: true,
            ..settings.clone()
        };
        assert!(why(&preserving, BONE, &[point(0.0, 0.5, 4.0)]).starts_with("no vertex"));
        let strong = MuscleSettings {
            power: 17.0,
            ..settings
        };
        assert_eq!(
            why(&strong, BONE, &[]),
            "the power of the muscle is 17, which is not 0 - 16"
        );
    }
}
