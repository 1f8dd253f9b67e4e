//! Weights of the source that players cannot show.

/// Invalid weights of a mesh in its source. The document has valid ones in their place; the bytes of the source stay
/// until an export rewrites the primitives.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InvalidWeights {
    /// Primitives with such a vertex, ascending.
    pub primitives: Vec<u32>,
    /// Points with a weight that is negative, infinite, not a number or of a joint that the skin does not have,
    /// ascending. The document has their other weights, normalised.
    pub broken: Vec<u32>,
    /// Points without a valid weight above 0, ascending. In the document they follow their first joint.
    pub missing: Vec<u32>,
}

/// The same by vertex of a primitive, ascending.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InvalidRows {
    /// See [`InvalidWeights::broken`].
    pub broken: Vec<u32>,
    /// See [`InvalidWeights::missing`].
    pub missing: Vec<u32>,
}

impl InvalidWeights {
    /// The invalid weights of a mesh from those of its primitives, each with its first vertex.
    pub(super) fn gather(primitives: &[(u32, InvalidRows)], point_of_vertex: &[u32]) -> Self {
        let is_invalid = |rows: &InvalidRows| !rows.broken.is_empty() || !rows.missing.is_empty();
        let invalid = primitives.iter().enumerate();
        let invalid = invalid.filter(|(_, (_, rows))| is_invalid(rows));
        let mut found = Self {
            primitives: invalid.map(|(p, _)| p as u32).collect(),
            ..Self::default()
        };
        if found.primitives.is_empty() {
            return found;
        }
        let n_points = point_of_vertex.iter().max().map_or(0, |&p| p as usize + 1);
        let mut broken = vec![false; n_points];
        // Vertices of each point, and those without a valid weight.
        let mut n_vertices = vec![0u32; n_points];
        let mut n_missing = vec![0u32; n_points];
        for &point in point_of_vertex {
            n_vertices[point as usize] += 1;
        }
        for (first, rows) in primitives {
            let point = |&v: &u32| point_of_vertex[(first + v) as usize] as usize;
            rows.broken.iter().map(point).for_each(|p| broken[p] = true);
            rows.missing
                .iter()
                .map(point)
                .for_each(|p| n_missing[p] += 1);
        }
        let points = 0..n_points as u32;
        let is_broken = |&p: &u32| broken[p as usize];
        found.broken = points.clone().filter(is_broken).collect();
        let is_missing =
            |&p: &u32| n_missing[p as usize] > 0 && n_missing[p as usize] == n_vertices[p as usize];
        found.missing = points.filter(is_missing).collect();
        found
    }

    /// Whether all weights are valid.
    pub fn is_empty(&self) -> bool {
        self.primitives.is_empty()
    }

    /// Points with a broken weight or without a valid one, ascending.
    pub fn points(&self) -> Vec<u32> {
        let mut points = [self.broken.as_slice(), &self.missing].concat();
        points.sort_unstable();
        points.dedup();
        points
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_point_misses_weights_where_all_its_vertices_do() {
        let rows = |broken: &[u32], missing: &[u32]| InvalidRows {
            broken: broken.to_vec(),
            missing: missing.to_vec(),
        };
        let point_of_vertex = [0, 1, 1, 2, 3];
        let primitives = [
            (0, InvalidRows::default()),
            (1, rows(&[0, 2], &[0])),
            (4, rows(&[], &[0])),
        ];
        let found = InvalidWeights::gather(&primitives, &point_of_vertex);
        assert_eq!(found.primitives, [1, 2]);
        assert_eq!(
            (&found.broken[..], &found.missing[..]),
            (&[1, 2][..], &[3][..])
        );
        assert_eq!(found.points(), [1, 2, 3]);
        let none = InvalidWeights::gather(&primitives[..1], &point_of_vertex);
        assert!(none.is_empty());
    }
}
