//! The parameters of the relaxation.

/// Parameters of [`super::relax`]. Lengths are in radii of the joint.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RelaxSettings {
    /// Stiffness: how alike the rotations of neighbours are (alpha), >= 0.
    pub stiffness: f64,
    /// How strongly stretched skin keeps the outline (kappa), >= 0.
    pub outline: f64,
    /// How strongly each point is pulled to where skinning puts it (zeta), > 0.
    pub pull: f64,
    /// The volume to keep, as a fraction of that at bind.
    pub volume: f64,
    /// How far the volume may be off, as a fraction of that at bind, >= 0.
    pub volume_slack: f64,
    /// The gap between surfaces that touch, in radii, >= 0.
    pub gap: f64,
    /// How strongly surfaces that touch are held apart, > 0.
    pub contact: f64,
    /// How far a point looks for a surface that it touches, in radii.
    pub contact_reach: f64,
    /// Whether a point behind a surface touches it only where it is inside of its shell. Without this test a convex ridge
    /// passes for a fold that went through itself.
    pub inside_test: bool,
    /// Whether it goes on with wider gaps where triangles still cross at the end.
    pub widens: bool,
    /// The largest number of iterations.
    pub iterations: usize,
}

impl Default for RelaxSettings {
    fn default() -> Self {
        Self {
            stiffness: 0.03,
            outline: 0.1,
            pull: 0.001,
            volume: 1.0,
            volume_slack: 0.02,
            gap: 0.03,
            contact: 10.0,
            contact_reach: 0.3,
            inside_test: true,
            widens: true,
            iterations: 100,
        }
    }
}
