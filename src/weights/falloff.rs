//! The falloff of a brush from its centre to its rim.

use super::curve::Curve;

/// The shape of a brush's effect over the distance from its centre.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Falloff {
    /// 1 - 3 x^2 + 2 x^3.
    #[default]
    Smooth,
    /// 1 - x.
    Linear,
    /// (1 - x)^2.
    Sharp,
    /// sqrt(1 - x).
    Root,
    /// 1.
    Constant,
    /// A custom curve.
    Custom,
}

impl Falloff {
    /// All shapes, in the order menus show them.
    pub const ALL: [Self; 6] = [
        Self::Smooth,
        Self::Linear,
        Self::Sharp,
        Self::Root,
        Self::Constant,
        Self::Custom,
    ];

    /// The effect at `x`, the distance as a fraction of the radius: 1 in the centre, 0 outside. `own` is the curve of
    /// [`Falloff::Custom`], which may be anything inside.
    pub fn at(self, x: f32, own: &Curve) -> f32 {
        if !(0.0..=1.0).contains(&x) {
            return 0.0;
        }
        match self {
            Self::Custom => own.at(x),
            _ => self.shape(x),
        }
    }

    /// The falloff at `x`, 0 - 1; linear for [`Falloff::Custom`].
    pub(super) fn shape(self, x: f32) -> f32 {
        match self {
            Self::Smooth => 1.0 - x * x * (3.0 - 2.0 * x),
            Self::Linear | Self::Custom => 1.0 - x,
            Self::Sharp => (1.0 - x) * (1.0 - x),
            Self::Root => (1.0 - x).sqrt(),
            Self::Constant => 1.0,
        }
    }

    /// Its name in menus.
    pub fn label(self) -> &'static str {
        match self {
            Self::Smooth => "Smooth",
            Self::Linear => "Linear",
            Self::Sharp => "Sharp",
            Self::Root => "Root",
            Self::Constant => "Constant",
            Self::Custom => "Custom",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shape_is_full_in_the_centre_and_nothing_outside() {
        let own = Curve::default();
        for falloff in Falloff::ALL {
            assert_eq!(
                (falloff.at(0.0, &own), falloff.at(1.01, &own)),
                (1.0, 0.0),
                "{falloff:?}"
            );
        }
        assert_eq!(Falloff::Smooth.at(0.5, &own), 0.5);
    }
}
