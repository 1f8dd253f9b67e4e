//! How a bone scales: along its direction and across it.

use glam::{DMat3, DVec3};

/// The scale of one bone about its head.
#[derive(Clone, Debug, PartialEq)]
pub struct BoneFactor {
    /// The direction of the bone at rest, unit, world space; zero for a bone without length.
    pub axis: DVec3,
    /// Its length at rest, metres.
    pub length: f64,
    /// The factor along it.
    pub along: f64,
    /// Factors across it, by place (0 - 1) ascending; between places linear, beyond them constant.
    pub across: Vec<(f64, f64)>,
}

impl BoneFactor {
    /// The same factor in all directions.
    pub fn uniform(factor: f64) -> Self {
        Self {
            axis: DVec3::ZERO,
            length: 0.0,
            along: factor,
            across: vec![(0.5, factor)],
        }
    }

    /// Whether it changes nothing.
    pub fn is_identity(&self) -> bool {
        self.along == 1.0 && self.across.iter().all(|(_, factor)| *factor == 1.0)
    }

    /// The factor across the bone at a place of it, 0 - 1.
    pub fn across_at(&self, s: f64) -> f64 {
        match &self.across[..] {
            [] => self.along,
            [(_, only)] => *only,
            several => {
                let next = several.iter().position(|(at, _)| *at > s);
                match next {
                    Some(0) => several[0].1,
                    None => several[several.len() - 1].1,
                    Some(i) => {
                        let ((a, from), (b, to)) = (several[i - 1], several[i]);
                        from + (to - from) * ((s - a) / (b - a))
                    }
                }
            }
        }
    }

    /// `S way`, for a way from the head of the bone.
    pub fn apply(&self, way: DVec3) -> DVec3 {
        let out = way.dot(self.axis);
        let across = self.across_for(out);
        way * across + self.axis * (out * (self.along - across))
    }

    /// `S v` for a displacement `v` at `way` from the head.
    pub fn apply_vector(&self, way: DVec3, v: DVec3) -> DVec3 {
        let across = self.across_for(way.dot(self.axis));
        v * across + self.axis * (v.dot(self.axis) * (self.along - across))
    }

    /// S at `way` from the head.
    pub fn matrix(&self, way: DVec3) -> DMat3 {
        let u = self.axis;
        let across = self.across_for(way.dot(u));
        let outer = DMat3::from_cols(u * u.x, u * u.y, u * u.z);
        DMat3::from_diagonal(DVec3::splat(across)) + outer * (self.along - across)
    }

    fn across_for(&self, out: f64) -> f64 {
        if self.across.len() == 1 {
            return self.across[0].1;
        }
        let s = if self.length > 0.0 {
            out / self.length
        } else {
            0.0
        };
        self.across_at(s)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_scales_along_and_across() {
        let factor = BoneFactor {
            axis: DVec3::Y,
            length: 2.0,
            along: 3.0,
            across: vec![(0.25, 1.0), (0.75, 2.0)],
        };
        assert_eq!(factor.across_at(0.0), 1.0);
        assert_eq!(factor.across_at(0.5), 1.5);
        assert_eq!(factor.across_at(1.0), 2.0);
        let way = DVec3::new(1.0, 1.0, 0.0);
        assert_eq!(factor.apply(way), DVec3::new(1.5, 3.0, 0.0));
        assert_eq!(factor.matrix(way) * way, factor.apply(way));
        assert_eq!(factor.apply_vector(way, way), factor.apply(way));
        assert!(BoneFactor::uniform(1.0).is_identity());
        assert_eq!(BoneFactor::uniform(2.0).apply(way), way * 2.0);
    }
}
