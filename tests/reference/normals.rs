//! Normals of deformed points: what the faces around them turn and stretch them to.

use glam::{DMat3, DVec3};

/// The cofactor matrix: `det(m)` times the inverse transpose, also where there is none.
pub(crate) fn cofactor(m: DMat3) -> DMat3 {
    let [a, b, c] = [m.x_axis, m.y_axis, m.z_axis];
    DMat3::from_cols(b.cross(c), c.cross(a), a.cross(b))
}

/// The linear map of a face from rest to posed, unit normal to unit normal.
pub(crate) fn face_map(rest: [DVec3; 3], posed: [DVec3; 3]) -> DMat3 {
    let columns = |[a, b, c]: [DVec3; 3]| {
        let (e1, e2) = (b - a, c - a);
        DMat3::from_cols(e1, e2, e1.cross(e2).normalize_or_zero())
    };
    columns(posed) * columns(rest).inverse()
}

/// `normalize(sum A_f cof(J_f) n)` over the faces at each point.
pub(crate) fn transport(
    rest: &[DVec3],
    posed: &[DVec3],
    triangles: &[[usize; 3]],
    bind_normals: &[DVec3],
) -> Vec<DVec3> {
    let mut sums = vec![DVec3::ZERO; rest.len()];
    for t in triangles {
        let [a, b, c] = t.map(|v| rest[v]);
        let area = 0.5 * (b - a).cross(c - a).length();
        if area < 1e-12 {
            continue;
        }
        let turn = cofactor(face_map([a, b, c], t.map(|v| posed[v])));
        for &v in t {
            sums[v] += turn * bind_normals[v] * area;
        }
    }
    sums.into_iter().map(DVec3::normalize_or_zero).collect()
}
