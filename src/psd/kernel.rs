//! Radial basis functions.

/// A radial basis function of the distance between two poses, and the polynomial tail that goes with it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Kernel {
    /// `-sqrt(r^2 + c^2)` with a constant tail, c = 0.2 times the mean distance of neighbours: smooth, and the weights
    /// sum to 1 with that of the bind pose.
    #[default]
    MultiQuadric,
    /// `-r` with a constant tail: never overshoots, with a velocity jump at each sample.
    Linear,
    /// `exp(-r^2 / 2 sigma^2)`, sigma = the mean distance of neighbours: local, with an inverted corrective on the far
    /// side of bind.
    Gaussian,
    /// `1 / sqrt(1 + (r / sigma)^2)`, sigma = the mean distance of neighbours.
    InverseMultiQuadric,
    /// `r^2 ln r` with a linear tail, for at most three hinges.
    ThinPlate,
}

/// The polynomial that is added to the sum of radial basis functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tail {
    /// None.
    None,
    /// A constant.
    Constant,
    /// A constant and one coefficient for each hinge.
    Linear,
}

impl Tail {
    /// Its name in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Constant => "constant",
            Self::Linear => "linear",
        }
    }
}

impl Kernel {
    /// All of them, in the order of lists.
    pub const ALL: [Self; 5] = [
        Self::MultiQuadric,
        Self::Linear,
        Self::Gaussian,
        Self::InverseMultiQuadric,
        Self::ThinPlate,
    ];

    /// Its name in files and reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::MultiQuadric => "multiquadric",
            Self::Linear => "linear",
            Self::Gaussian => "gaussian",
            Self::InverseMultiQuadric => "inverse multiquadric",
            Self::ThinPlate => "thin plate",
        }
    }

    /// Its shape parameter, c or sigma, for poses whose neighbours are `nearest` apart on average; `factor` is the
    /// user's. 0 where it has none.
    pub fn shape(self, nearest: f64, factor: f64) -> f64 {
        match self {
            Self::MultiQuadric => 0.2 * nearest * factor,
            Self::Gaussian | Self::InverseMultiQuadric => nearest * factor,
            Self::Linear | Self::ThinPlate => 0.0,
        }
    }

    /// Its value at the squared distance `r2`, with a shape parameter of [`Kernel::shape`].
    pub fn value(self, r2: f64, shape: f64) -> f64 {
        match self {
            Self::MultiQuadric => -(r2 + shape * shape).sqrt(),
            Self::Linear => -r2.sqrt(),
            Self::Gaussian => (-r2 / (2.0 * shape * shape)).exp(),
            Self::InverseMultiQuadric => 1.0 / (1.0 + r2 / (shape * shape)).sqrt(),
            Self::ThinPlate if r2 > 0.0 => 0.5 * r2 * r2.ln(),
            Self::ThinPlate => 0.0,
        }
    }

    /// The polynomial that goes with it.
    pub fn tail(self) -> Tail {
        match self {
            Self::MultiQuadric | Self::Linear => Tail::Constant,
            Self::Gaussian | Self::InverseMultiQuadric => Tail::None,
            Self::ThinPlate => Tail::Linear,
        }
    }
}
