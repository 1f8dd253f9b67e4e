//! Crease: the change of the deformation gradient between neighbouring faces.

use super::{ShapeView, for_each, larger};
use glam::{DMat3, DVec3};
use rayon::prelude::*;

/// `max |J_f - J_g|` (Frobenius) over pairs of faces that share an edge at the point, J the deformation gradient of a
/// face; NaN where no two faces meet, infinite where one of them has a corner without a finite position.
pub(super) fn values(shape: &ShapeView<'_>, buffer: Vec<f32>) -> Vec<f32> {
    let triangles = shape.triangles();
    // f32, and NaN for none, infinity for a broken one: a whole mesh of them is large.
    let gradients: Vec<[f32; 9]> = triangles
        .par_iter()
        .with_min_len(1024)
        .map(|t| {
            let corners = t.map(|p| p as usize);
            if !shape.is_posed(*t) {
                return [f32::INFINITY; 9];
            }
            gradient(
                corners.map(|p| shape.at_rest(p)),
                corners.map(|p| shape.in_pose(p)),
            )
            .map_or([f32::NAN; 9], |j| j.as_mat3().to_cols_array())
        })
        .collect();
    let topology = shape.mesh.topology();
    for_each(buffer, shape.n_points(), |point| {
        if triangles.is_empty() {
            return f64::NAN;
        }
        let faces = topology.faces(point as u32);
        let mut worst = f64::NAN;
        for (i, &f) in faces.iter().enumerate() {
            let here = gradients[f as usize];
            if here[0].is_nan() {
                continue;
            }
            for &g in faces[..i]
                .iter()
                .filter(|&&g| share_edge(triangles, f, g, point as u32))
            {
                let there = gradients[g as usize];
                if !there[0].is_nan() {
                    let step = here
                        .iter()
                        .zip(there)
                        .map(|(a, b)| f64::from(a - b).powi(2));
                    worst = larger(worst, step.sum::<f64>().sqrt());
                }
            }
        }
        worst
    })
}

/// Whether two faces at `point` have another corner in common.
fn share_edge(triangles: &[[u32; 3]], f: u32, g: u32, point: u32) -> bool {
    let others = triangles[g as usize];
    triangles[f as usize]
        .iter()
        .any(|&p| p != point && others.contains(&p))
}

/// The deformation gradient `[e1', e2', u'] [e1, e2, u]^-1` with unit normals u; `None` of a face without area in
/// either shape.
fn gradient(rest: [DVec3; 3], posed: [DVec3; 3]) -> Option<DMat3> {
    let frame = |[a, b, c]: [DVec3; 3]| {
        let (e1, e2) = (b - a, c - a);
        let normal = e1.cross(e2).try_normalize()?;
        Some(DMat3::from_cols(e1, e2, normal))
    };
    let (rest, posed) = (frame(rest)?, frame(posed)?);
    Some(posed * rest.inverse()).filter(DMat3::is_finite)
}

#[cfg(test)]
mod tests {
    use super::super::shape::tests::Tube;
    use super::*;

    #[test]
    fn a_rigid_motion_has_no_crease_and_a_kink_the_size_of_its_turn() {
        let mut tube = Tube::new();
        let turn = glam::Quat::from_rotation_z(0.4);
        for p in &mut tube.posed {
            *p = turn * *p;
        }
        assert!(values(&tube.view(), Vec::new()).iter().all(|v| *v < 1e-6));

        // Half of the tube turns about its own axis: the faces between shear, the rest is rigid.
        let mut tube = Tube::new();
        for p in tube.posed.iter_mut().filter(|p| p.x > 0.1) {
            *p = glam::Quat::from_rotation_x(0.4) * *p;
        }
        let found = values(&tube.view(), Vec::new());
        assert!(found[Tube::middle()] > 0.3, "{found:?}");
        let far = tube.mesh.positions.iter().position(|p| p.x < -0.9).unwrap();
        assert!(found[far] < 1e-5);
    }
}
