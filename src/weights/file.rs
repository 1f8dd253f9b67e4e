//! The contents of a weights file: bones by name, points by bind position.

use crate::skinning::Rows;
use glam::Vec3;

/// The content of a weights file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WeightsFile {
    /// One entry for each mesh.
    pub meshes: Vec<WeightsOfMesh>,
}

/// The weights of one mesh.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WeightsOfMesh {
    /// Its name.
    pub name: String,
    /// Names of the bones that rows index.
    pub bones: Vec<String>,
    /// n_points bind positions, mesh space, metres.
    pub positions: Vec<Vec3>,
    /// n_points rows.
    pub rows: Rows,
}

/// Its numbers are finite. `Eq` lets an `Arc` compare by pointer first.
impl Eq for WeightsFile {}

impl WeightsFile {
    /// The entry for the mesh with points at `positions`: the one with its name, or the only one; of several with the
    /// name the one whose points are nearest to those of the same index. A message about such a choice comes with it.
    pub fn of_mesh(
        &self,
        name: &str,
        positions: &[Vec3],
    ) -> Option<(&WeightsOfMesh, Option<String>)> {
        let named = || self.meshes.iter().filter(|mesh| mesh.name == name);
        let n_named = named().count();
        if n_named == 0 {
            return match &self.meshes[..] {
                [only] => Some((only, None)),
                _ => None,
            };
        }
        let mut ranked: Vec<(f32, &WeightsOfMesh)> = named()
            .map(|mesh| (mesh.distance(positions), mesh))
            .collect();
        ranked.sort_by(|a, b| a.0.total_cmp(&b.0));
        let (distance, best) = *ranked.first()?;
        let is_alike = |other: &&(f32, &WeightsOfMesh)| {
            other.0 == distance && (other.1.rows != best.rows || other.1.bones != best.bones)
        };
        let note = (n_named > 1).then(|| {
            if ranked.iter().any(|other| is_alike(&other)) {
                format!(
                    "{n_named} meshes of the file are called \"{name}\" and have the same positions: used the first."
                )
            } else {
                format!(
                    "{n_named} meshes of the file are called \"{name}\": used the one whose vertices lie nearest."
                )
            }
        });
        Some((best, note))
    }
}

impl WeightsOfMesh {
    /// The largest distance between points of the same index, metres; above [`OTHER_MESH`] for another number of
    /// points, ordered by the distance of the bounds.
    fn distance(&self, positions: &[Vec3]) -> f32 {
        if self.positions.len() == positions.len() {
            let pairs = self.positions.iter().zip(positions);
            return pairs.map(|(a, b)| a.distance(*b)).fold(0.0, f32::max);
        }
        let bounds = |points: &[Vec3]| {
            let start = (Vec3::INFINITY, Vec3::NEG_INFINITY);
            points
                .iter()
                .fold(start, |(low, high), &p| (low.min(p), high.max(p)))
        };
        let (a, b) = (bounds(&self.positions), bounds(positions));
        let apart = a.0.distance(b.0) + a.1.distance(b.1);
        if apart.is_finite() {
            OTHER_MESH * (1.0 + apart)
        } else {
            f32::INFINITY
        }
    }
}

/// Farther than any mesh of the same points.
const OTHER_MESH: f32 = 1e12;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_meshes_with_one_name_the_one_at_that_position_is_used() {
        let of = |x: f32, weight: f32| WeightsOfMesh {
            name: String::new(),
            bones: vec!["a".into()],
            positions: vec![Vec3::X * x, Vec3::X * (x + 1.0)],
            rows: [vec![(0, weight)], vec![(0, weight)]].into_iter().collect(),
        };
        let file = WeightsFile {
            meshes: vec![of(0.0, 0.25), of(5.0, 0.5), of(5.0, 0.75)],
        };
        let taken = |x: f32| {
            file.of_mesh("", &[Vec3::X * x, Vec3::X * (x + 1.0)])
                .unwrap()
        };
        assert_eq!(taken(0.0).0, &file.meshes[0]);
        assert!(taken(0.0).1.unwrap().contains("lie nearest"));
        assert_eq!(taken(5.0).0, &file.meshes[1]);
        assert!(taken(5.0).1.unwrap().contains("the same positions"));
        // Other points: the bounds decide.
        assert_eq!(
            file.of_mesh("", &[Vec3::X * 5.0]).unwrap().0,
            &file.meshes[1]
        );
        assert_eq!(file.of_mesh("b", &[]), None);
    }
}
