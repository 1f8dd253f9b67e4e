//! Bind normals: completed and merged.

use glam::Vec3;

/// Minimum cosine between normals of one point that are merged.
const SAME_NORMAL_COS: f32 = 0.999_99;

/// Maximum number of normals of a point that a further one is compared with.
const MAX_COMPARED: usize = 64;

/// Distinct normals of a mesh.
pub(crate) struct Merged {
    pub(crate) normal_of_vertex: Vec<u32>,
    pub(crate) normals: Vec<Vec3>,
    pub(crate) point_of_normal: Vec<u32>,
}

/// Unit normals of all vertices: the authored ones; where one is zero or not finite, the area-weighted normal of the
/// faces around its point.
pub(crate) fn complete(
    mut normals: Vec<Vec3>,
    positions: &[Vec3],
    point_of_vertex: &[u32],
    triangles: &[[u32; 3]],
) -> Vec<Vec3> {
    let usable = |n: Vec3| n.is_finite() && n.length_squared() > 1e-12;
    if !normals.iter().all(|&n| usable(n)) {
        let mut sums = vec![Vec3::ZERO; positions.len()];
        for t in triangles {
            let [a, b, c] = t.map(|v| point_of_vertex[v as usize] as usize);
            let area = (positions[b] - positions[a]).cross(positions[c] - positions[a]);
            for p in [a, b, c] {
                sums[p] += area;
            }
        }
        for (v, n) in normals.iter_mut().enumerate() {
            if !usable(*n) {
                *n = sums[point_of_vertex[v] as usize];
            }
        }
    }
    for n in &mut normals {
        *n = n.normalize_or(Vec3::Y);
    }
    normals
}

/// The fraction of the surface, by area, whose authored normals differ from the face's by more than 60 degrees, for the
/// better of both windings: near 0 for a sound mesh, also with hard edges. Faces without normals do not count.
pub(crate) fn wrong_normal_fraction(
    normals: &[Vec3],
    positions: &[Vec3],
    point_of_vertex: &[u32],
    triangles: &[[u32; 3]],
) -> f32 {
    let (mut all, mut bad) = (0.0, 0.0);
    for t in triangles {
        let [a, b, c] = t.map(|v| positions[point_of_vertex[v as usize] as usize]);
        let face = (b - a).cross(c - a);
        let mean: Vec3 = t.iter().map(|&v| normals[v as usize]).sum();
        let (area, length) = (face.length(), mean.length());
        if area > 0.0 && length > 0.0 && length.is_finite() {
            all += area;
            bad += if face.dot(mean).abs() < 0.5 * area * length {
                area
            } else {
                0.0
            };
        }
    }
    if all > 0.0 { bad / all } else { 0.0 }
}

/// Merges equal normals at each point; the result is sorted by point.
pub(crate) fn merge(n_points: usize, point_of_vertex: &[u32], vertex_normals: &[Vec3]) -> Merged {
    // Vertices by point: a counting sort keeps file order within a point.
    let mut starts = vec![0u32; n_points + 1];
    for &p in point_of_vertex {
        starts[p as usize + 1] += 1;
    }
    for p in 0..n_points {
        starts[p + 1] += starts[p];
    }
    let mut next = starts.clone();
    let mut by_point = vec![0u32; point_of_vertex.len()];
    for (v, &p) in point_of_vertex.iter().enumerate() {
        by_point[next[p as usize] as usize] = v as u32;
        next[p as usize] += 1;
    }
    let mut merged = Merged {
        normal_of_vertex: vec![0; point_of_vertex.len()],
        normals: Vec::with_capacity(n_points),
        point_of_normal: Vec::with_capacity(n_points),
    };
    for p in 0..n_points {
        let first = merged.normals.len();
        for &v in &by_point[starts[p] as usize..starts[p + 1] as usize] {
            let normal = vertex_normals[v as usize];
            // Only the latest ones: a point where thousands of hard edges meet must not take quadratic time.
            let first = first.max(merged.normals.len().saturating_sub(MAX_COMPARED));
            let same = merged.normals[first..]
                .iter()
                .position(|n| n.dot(normal) >= SAME_NORMAL_COS);
            let index = same.map_or(merged.normals.len(), |i| first + i);
            if same.is_none() {
                merged.normals.push(normal);
                merged.point_of_normal.push(p as u32);
            }
            merged.normal_of_vertex[v as usize] = index as u32;
        }
    }
    merged
}
