//! How a channel moves its clusters.

use super::axis_map::AxisMap;
use super::similarity::Similarity;
use crate::cluster::check::{direction, within};
use glam::DVec3;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A channel and the clusters that it moves.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Binding {
    /// The name of the marker or scalar channel.
    pub channel: String,
    /// The vertices that it moves, ascending.
    pub clusters: Vec<u32>,
    /// How.
    pub kind: BindingKind,
    /// A factor of the data; of a scalar, metres per unit.
    pub scale: f64,
    /// The axes of the data in the scene; not used by a scalar.
    pub axes: AxisMap,
    /// Added to the data after scale and axes, metres; not used by a scalar.
    pub offset: DVec3,
}

/// What a channel's value is to its clusters.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum BindingKind {
    /// Their place: `Q m(t) + o`, with the similarity of the fit at the reference time.
    Absolute,
    /// Their displacement: `Q (m(t) - m(t_ref))`, added to the skin. A marker may lie off the skin.
    Delta,
    /// The length of their displacement along a direction: `scale (y - reference)`, as of a water gauge.
    Scalar {
        /// The value that displaces nothing, in the channel's unit.
        reference: f64,
        /// The direction.
        direction: ScalarDirection,
    },
}

/// The direction of the displacement by a scalar.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub enum ScalarDirection {
    /// The normal of each vertex, posed.
    #[default]
    Normal,
    /// One direction for all, world space, of any length.
    Fixed(DVec3),
}

impl BindingKind {
    /// Its name in lists.
    pub fn label(self) -> &'static str {
        match self {
            Self::Absolute => "Position",
            Self::Delta => "Displacement",
            Self::Scalar { .. } => "Scalar",
        }
    }

    /// A sentence about it, for tooltips.
    pub fn about(self) -> &'static str {
        match self {
            Self::Absolute => {
                "The marker is the position of its vertex. The group's base must be Data."
            }
            Self::Delta => {
                "The vertices move as the marker has moved since the reference time, added to what moves them already."
            }
            Self::Scalar { .. } => {
                "The vertices move along a direction by the value of the channel, as the water at a gauge does."
            }
        }
    }

    /// Its name on the command line.
    pub fn key(self) -> &'static str {
        match self {
            Self::Absolute => "absolute",
            Self::Delta => "delta",
            Self::Scalar { .. } => "scalar",
        }
    }
}

impl Binding {
    /// One by displacement, with the data as it is.
    pub fn new(channel: impl Into<String>, clusters: Vec<u32>) -> Self {
        Self {
            channel: channel.into(),
            clusters,
            kind: BindingKind::Delta,
            scale: 1.0,
            axes: AxisMap::SAME,
            offset: DVec3::ZERO,
        }
    }

    /// An error that names what is not valid.
    pub fn check(&self) -> Result<(), String> {
        let name = &self.channel;
        if name.is_empty() {
            return Err("a binding has no channel".into());
        }
        if self.clusters.windows(2).any(|w| w[0] >= w[1]) {
            return Err(format!(
                "the vertices of the binding of \"{name}\" are not in ascending order"
            ));
        }
        within(&format!("the scale of \"{name}\""), self.scale, -1e6, 1e6)?;
        self.axes.check()?;
        for (axis, value) in ["x", "y", "z"].iter().zip(self.offset.to_array()) {
            within(
                &format!("{axis} of the offset of \"{name}\""),
                value,
                -1e6,
                1e6,
            )?;
        }
        match self.kind {
            BindingKind::Absolute if self.clusters.len() > 1 => Err(format!(
                "the binding of \"{name}\" puts {} vertices at one place: the kind Position moves one vertex; \
                 choose Displacement to move several",
                self.clusters.len()
            )),
            BindingKind::Absolute | BindingKind::Delta => Ok(()),
            BindingKind::Scalar {
                reference,
                direction: along,
            } => {
                within(
                    &format!("the reference of \"{name}\""),
                    reference,
                    -1e9,
                    1e9,
                )?;
                match along {
                    ScalarDirection::Normal => Ok(()),
                    ScalarDirection::Fixed(fixed) => {
                        direction(&format!("the direction of \"{name}\""), fixed)
                    }
                }
            }
        }
    }

    /// A value of the marker in the axes and the unit of the scene.
    pub fn marker(&self, data: DVec3) -> DVec3 {
        self.axes.apply(data) * self.scale + self.offset
    }

    /// The place of an absolute cluster for a value of the marker.
    pub fn place(&self, fit: &Similarity, data: DVec3) -> DVec3 {
        fit.point(self.marker(data))
    }

    /// The displacement of delta clusters for a value of the marker and the one at the reference time.
    pub fn displacement(&self, fit: &Similarity, data: DVec3, reference: DVec3) -> DVec3 {
        fit.vector(self.axes.apply(data - reference) * self.scale)
    }

    /// The displacement of a scalar cluster with this posed normal (unit) for a value of the channel; zero for another
    /// kind of binding.
    pub fn scalar_displacement(&self, value: f64, normal: DVec3) -> DVec3 {
        let BindingKind::Scalar {
            reference,
            direction,
        } = self.kind
        else {
            return DVec3::ZERO;
        };
        let along = match direction {
            ScalarDirection::Normal => normal,
            ScalarDirection::Fixed(fixed) => fixed.normalize_or_zero(),
        };
        along * (self.scale * (value - reference))
    }
}

/// Why bindings are refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BindingError {
    /// What is not valid in one.
    #[error("{0}")]
    Invalid(String),
    /// Two absolute bindings put a vertex somewhere.
    #[error(
        "vertex {vertex} has two bindings of the kind Position, of \"{first}\" and \"{second}\""
    )]
    TwoPlaces {
        /// The point of the vertex.
        vertex: u32,
        /// The channel of the first.
        first: String,
        /// The channel of the second.
        second: String,
    },
}

/// An error that names what is not valid in a binding, or a vertex that two absolute bindings put somewhere.
pub fn check_bindings<'a>(
    bindings: impl IntoIterator<Item = &'a Binding>,
) -> Result<(), BindingError> {
    let mut owners: BTreeMap<u32, &str> = BTreeMap::new();
    for binding in bindings {
        binding.check().map_err(BindingError::Invalid)?;
        if binding.kind != BindingKind::Absolute {
            continue;
        }
        for vertex in &binding.clusters {
            if let Some(other) = owners.insert(*vertex, &binding.channel) {
                return Err(BindingError::TwoPlaces {
                    vertex: *vertex,
                    first: other.to_owned(),
                    second: binding.channel.clone(),
                });
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::channel::SignedAxis;
    use glam::{DMat3, DQuat};

    fn gauge(reference: f64) -> Binding {
        Binding {
            kind: BindingKind::Scalar {
                reference,
                direction: ScalarDirection::Fixed(DVec3::Y * 4.0),
            },
            scale: 0.01,
            ..Binding::new("gauge", vec![1, 2])
        }
    }

    #[test]
    fn each_kind_moves_its_clusters() {
        let fit = Similarity {
            scale: 2.0,
            rotation: DMat3::from_quat(DQuat::from_rotation_z(std::f64::consts::FRAC_PI_2)),
            translation: DVec3::Z,
        };
        let marker = Binding {
            axes: AxisMap::Z_UP,
            scale: 0.001,
            offset: DVec3::X,
            ..Binding::new("wrist", vec![4])
        };
        let data = DVec3::new(1000.0, 0.0, 500.0);
        assert!(
            marker
                .marker(data)
                .abs_diff_eq(DVec3::new(2.0, 0.5, 0.0), 1e-15)
        );
        let place = marker.place(&fit, data);
        assert!(
            place.abs_diff_eq(DVec3::new(-1.0, 4.0, 1.0), 1e-15),
            "{place}"
        );
        let moved = marker.displacement(&fit, data, DVec3::new(0.0, 0.0, 500.0));
        assert!(moved.abs_diff_eq(DVec3::Y * 2.0, 1e-15), "{moved}");
        let risen = gauge(300.0).scalar_displacement(350.0, DVec3::X);
        assert!(risen.abs_diff_eq(DVec3::Y * 0.5, 1e-15), "{risen}");
        assert_eq!(marker.scalar_displacement(1.0, DVec3::X), DVec3::ZERO);
    }

    #[test]
    fn faults_name_the_channel() {
        let absolute = |name: &str, clusters: &[u32]| Binding {
            kind: BindingKind::Absolute,
            ..Binding::new(name, clusters.to_vec())
        };
        let both = [absolute("a", &[7]), gauge(0.0), absolute("b", &[7])];
        assert_eq!(
            check_bindings(&both).unwrap_err().to_string(),
            "vertex 7 has two bindings of the kind Position, of \"a\" and \"b\""
        );
        assert_eq!(check_bindings(&both[..2]), Ok(()));
        assert!(
            absolute("a", &[1, 2])
                .check()
                .unwrap_err()
                .contains("puts 2 vertices at one place")
        );
        assert!(
            Binding::new("a", vec![2, 2])
                .check()
                .unwrap_err()
                .contains("ascending order")
        );
        assert_eq!(
            Binding::new("", vec![]).check().unwrap_err(),
            "a binding has no channel"
        );
        let flat = Binding {
            axes: AxisMap([SignedAxis::PlusX; 3]),
            ..Binding::new("a", vec![])
        };
        assert_eq!(
            flat.check().unwrap_err(),
            "the axis map (X, X, X) uses X twice"
        );
        let endless = Binding {
            offset: DVec3::new(0.0, f64::NAN, 0.0),
            ..Binding::new("a", vec![])
        };
        assert_eq!(
            endless.check().unwrap_err(),
            "y of the offset of \"a\" is NaN, which is not -1000000 - 1000000"
        );
    }
}
