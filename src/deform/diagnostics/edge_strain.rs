//! Edge strain: the relative change of the length of edges.

use super::{ShapeView, for_each};

/// Edges shorter than this share of the diagonal of the model are left out: positions do not resolve their strain.
const MIN_EDGE: f64 = 1e-6;

/// `|e'| / |e| - 1`, of the edges at a point the value of largest magnitude; NaN without edges, infinite where one has an
/// end without a finite position.
pub(super) fn values(shape: &ShapeView<'_>, buffer: Vec<f32>) -> Vec<f32> {
    let least = MIN_EDGE * shape.diagonal();
    for_each(buffer, shape.n_points(), |point| {
        let (p, q) = (shape.at_rest(point), shape.in_pose(point));
        let mut worst = f64::NAN;
        for &other in shape.neighbours(point) {
            let rest = p.distance(shape.at_rest(other as usize));
            if rest > least {
                let length = q.distance(shape.in_pose(other as usize));
                if !length.is_finite() {
                    return f64::INFINITY;
                }
                let strain = length / rest - 1.0;
                // Also true while there is none.
                if worst.is_nan() || strain.abs() > worst.abs() {
                    worst = strain;
                }
            }
        }
        worst
    })
}

#[cfg(test)]
mod tests {
    use super::super::shape::tests::Tube;
    use super::*;

    #[test]
    fn a_stretched_tube_strains_its_longest_edges() {
        let mut tube = Tube::new();
        for p in &mut tube.posed {
            p.x *= 1.5;
        }
        // Every point has an edge along x.
        let values = values(&tube.view(), Vec::new());
        assert!(values.iter().all(|v| (v - 0.5).abs() < 1e-6), "{values:?}");
    }

    #[test]
    fn edges_without_length_have_no_strain() {
        let mut tube = Tube::new();
        tube.inflated.fill(glam::Vec3::ONE);
        assert!(values(&tube.view(), Vec::new()).iter().all(|v| v.is_nan()));
    }
}
