//! Jumps of recorded data: markers that were swapped.

use glam::DVec3;

/// The distance that a cluster may move in one frame, in lengths of the coarse edges around it.
const MAX_EDGES: f64 = 2.0;

/// A step that is too long for one frame.
#[derive(Clone, Debug, PartialEq)]
pub struct Jump {
    /// The frame of its end.
    pub frame: usize,
    /// How far the cluster moves, metres.
    pub distance: f64,
    /// The longest plausible distance, metres.
    pub limit: f64,
}

impl Jump {
    /// A warning about the channel of this name at `rate` frames a second.
    pub fn sentence(&self, channel: &str, rate: f64) -> String {
        format!(
            "The channel \"{channel}\" jumps by {:.3} m at {:.3} s, more than {:.3} m: were two markers swapped?",
            self.distance,
            self.frame as f64 / rate,
            self.limit
        )
    }
}

/// The steps between two neighbouring frames by which data moves a cluster more than two lengths of its coarse edges
/// (`edge`, metres). A frame without a value is no step.
pub fn find_jumps(frames: impl IntoIterator<Item = Option<DVec3>>, edge: f64) -> Vec<Jump> {
    let limit = MAX_EDGES * edge;
    let mut jumps = Vec::new();
    let mut last: Option<DVec3> = None;
    for (frame, place) in frames.into_iter().enumerate() {
        if let (Some(from), Some(to)) = (last, place) {
            let distance = from.distance(to);
            if distance > limit {
                jumps.push(Jump {
                    frame,
                    distance,
                    limit,
                });
            }
        }
        last = place;
    }
    jumps
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_long_steps_between_neighbouring_frames_count() {
        let x = |x: f64| Some(DVec3::X * x);
        let frames = [x(0.0), x(0.2), x(0.41), x(0.2), None, x(5.0)];
        let jumps = find_jumps(frames, 0.1);
        let found: Vec<usize> = jumps.iter().map(|j| j.frame).collect();
        assert_eq!(found, [2, 3]);
        assert_eq!(
            jumps[0].sentence("wrist", 60.0),
            "The channel \"wrist\" jumps by 0.210 m at 0.033 s, more than 0.200 m: were two markers swapped?"
        );
    }
}
