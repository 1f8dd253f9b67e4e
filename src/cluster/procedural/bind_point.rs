//! Vertices of clusters at bind, and their places along and around a bone.

use glam::DVec3;

/// A bone at bind: head and tail, object space, metres.
pub type Bone = [DVec3; 2];

/// A vertex of a cluster at bind, object space, metres.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BindPoint {
    /// Its position.
    pub position: DVec3,
    /// Its normal, unit; zero for a vertex without faces.
    pub normal: DVec3,
    /// The area of the surface that it stands for.
    pub area: f64,
    /// The painted weight, 0 - 1.
    pub mask: f64,
}

/// A bone that gives no axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BoneError {
    /// Head and tail coincide, or are not finite.
    #[error("the bone has no length")]
    NoLength,
}

/// The axis of a bone, and where points lie in relation to it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct BoneAxis {
    head: DVec3,
    /// Unit, from head to tail.
    pub(super) along: DVec3,
    length: f64,
}

impl BoneAxis {
    /// Of a bone with a length.
    pub(super) fn new([head, tail]: Bone) -> Result<Self, BoneError> {
        let along = (tail - head).try_normalize().ok_or(BoneError::NoLength)?;
        let length = (tail - head).length();
        if !head.is_finite() || !length.is_finite() {
            return Err(BoneError::NoLength);
        }
        Ok(Self {
            head,
            along,
            length,
        })
    }

    /// The fraction of the bone's length at which a point lies: 0 at the head, 1 at the tail.
    pub(super) fn fraction(&self, point: DVec3) -> f64 {
        (point - self.head).dot(self.along) / self.length
    }

    /// The vector from the axis to a point.
    pub(super) fn offset(&self, point: DVec3) -> DVec3 {
        let from_head = point - self.head;
        from_head - self.along * from_head.dot(self.along)
    }

    /// The unit vector from the axis to a point; zero on the axis.
    pub(super) fn radial(&self, point: DVec3) -> DVec3 {
        let offset = self.offset(point);
        if offset.length() > 1e-9 * self.length {
            offset.normalize_or_zero()
        } else {
            DVec3::ZERO
        }
    }
}

/// The radius of a limb at bind: the median distance from the bone of those `points` that lie beside it; `None` if there
/// are none.
pub fn limb_radius(
    bone: Bone,
    points: impl IntoIterator<Item = DVec3>,
) -> Result<Option<f64>, BoneError> {
    let axis = BoneAxis::new(bone)?;
    let beside = points
        .into_iter()
        .filter(|p| (0.0..=1.0).contains(&axis.fraction(*p)));
    let mut distances: Vec<f64> = beside.map(|p| axis.offset(p).length()).collect();
    distances.sort_by(f64::total_cmp);
    Ok(distances.get(distances.len() / 2).copied())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_radius_is_that_of_the_points_beside_the_bone() {
        let bone = [DVec3::ZERO, DVec3::Z * 2.0];
        let ring = |z: f64, r: f64| [DVec3::new(r, 0.0, z), DVec3::new(0.0, -r, z)];
        let points = [ring(0.1, 0.5), ring(1.0, 0.5), ring(-1.0, 3.0)].concat();
        assert_eq!(limb_radius(bone, points), Ok(Some(0.5)));
        assert_eq!(limb_radius(bone, ring(3.0, 1.0)), Ok(None));
        let none = limb_radius([DVec3::ONE; 2], []);
        assert_eq!(none.unwrap_err().to_string(), "the bone has no length");
    }
}
