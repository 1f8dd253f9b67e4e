//! What is shown of a surface besides its shape.

use super::channel::RecordingId;

/// What is shown of a surface besides its shape.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SurfaceDisplay {
    /// What colours it.
    pub colour: Option<ColourBy>,
    /// Whether the line is drawn where it meets the other meshes, and the area above them counted: the wet / dry line of a
    /// water surface.
    pub shore: bool,
}

/// A recorded quantity that colours a surface.
#[derive(Clone, Debug, PartialEq)]
pub struct ColourBy {
    /// Where it is recorded.
    pub recording: RecordingId,
    /// The name of a [`Quantity`](super::Quantity).
    pub quantity: String,
    /// The values at both ends of the colours; `None`: those of the whole recording.
    pub range: Option<[f64; 2]>,
}

impl SurfaceDisplay {
    /// Whether nothing is shown besides the shape.
    pub fn is_empty(&self) -> bool {
        self.colour.is_none() && !self.shore
    }

    /// An error that names what is not valid.
    pub fn check(&self) -> Result<(), String> {
        match self.colour.as_ref().and_then(|colour| colour.range) {
            Some([low, high]) if !(low.is_finite() && high.is_finite() && low < high) => Err(
                format!("the range of its colours is {low} to {high}, which does not ascend"),
            ),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_that_does_not_ascend_is_refused() {
        let of = |range| SurfaceDisplay {
            colour: Some(ColourBy {
                recording: RecordingId(0),
                quantity: "salt".into(),
                range,
            }),
            shore: false,
        };
        assert!(of(None).check().is_ok() && of(Some([0.0, 1.0])).check().is_ok());
        for range in [
            [1.0, 1.0],
            [2.0, 1.0],
            [f64::NAN, 1.0],
            [0.0, f64::INFINITY],
        ] {
            assert!(of(Some(range)).check().is_err(), "{range:?}");
        }
    }
}
