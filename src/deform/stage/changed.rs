//! What stages tell the next one.

/// What changed in a shape since the latest run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::deform) enum Changed {
    /// No point.
    Nothing,
    /// These points, ascending.
    Points(Vec<u32>),
    /// Every point may have.
    All,
}

impl Changed {
    /// These points, ascending.
    pub(super) fn points(points: Vec<u32>) -> Self {
        if points.is_empty() {
            Self::Nothing
        } else {
            Self::Points(points)
        }
    }
}
