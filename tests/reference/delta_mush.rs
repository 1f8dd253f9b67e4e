//! Delta mush (corrective smooth): the bind shape's details on the smoothed posed shape.

use glam::DVec3;

/// Who stands beside whom, ascending.
pub(crate) fn neighbours(n_points: usize, triangles: &[[usize; 3]]) -> Vec<Vec<usize>> {
    let mut around = vec![Vec::new(); n_points];
    for t in triangles {
        for k in 0..3 {
            around[t[k]].extend([t[(k + 1) % 3], t[(k + 2) % 3]]);
        }
    }
    for list in &mut around {
        list.sort_unstable();
        list.dedup();
    }
    around
}

/// `iterations` times a step `lambda` of the way to the mean of the neighbours.
pub(crate) fn smooth(
    positions: &[DVec3],
    around: &[Vec<usize>],
    lambda: f64,
    iterations: usize,
) -> Vec<DVec3> {
    let mut now = positions.to_vec();
    for _ in 0..iterations {
        now = now
            .iter()
            .zip(around)
            .map(|(&p, list)| {
                if list.is_empty() {
                    return p;
                }
                let mean = list.iter().map(|&n| now[n]).sum::<DVec3>() / list.len() as f64;
                p.lerp(mean, lambda)
            })
            .collect();
    }
    now
}

/// Area-weighted normals, unit.
pub(crate) fn normals(positions: &[DVec3], triangles: &[[usize; 3]]) -> Vec<DVec3> {
    let mut sums = vec![DVec3::ZERO; positions.len()];
    for t in triangles {
        let [a, b, c] = t.map(|v| positions[v]);
        for &v in t {
            sums[v] += (b - a).cross(c - a);
        }
    }
    sums.into_iter().map(DVec3::normalize_or_zero).collect()
}

/// Tangent, normal and their cross product at every point; the tangent points to the first neighbour.
fn frames(positions: &[DVec3], triangles: &[[usize; 3]], around: &[Vec<usize>]) -> Vec<[DVec3; 3]> {
    normals(positions, triangles)
        .into_iter()
        .enumerate()
        .map(|(v, n)| {
            let edge = positions[around[v][0]] - positions[v];
            let tangent = (edge - n * n.dot(edge)).normalize_or_zero();
            [tangent, n, tangent.cross(n)]
        })
        .collect()
}

/// The posed points smoothed, with the details that smoothing takes from the bind shape put back.
pub(crate) fn delta_mush(
    bind: &[DVec3],
    posed: &[DVec3],
    triangles: &[[usize; 3]],
    around: &[Vec<usize>],
    iterations: usize,
) -> Vec<DVec3> {
    let smooth_bind = smooth(bind, around, 0.5, iterations);
    let smooth_posed = smooth(posed, around, 0.5, iterations);
    let from = frames(&smooth_bind, triangles, around);
    let to = frames(&smooth_posed, triangles, around);
    (0..bind.len())
        .map(|v| {
            let delta = bind[v] - smooth_bind[v];
            let turned: DVec3 = (0..3).map(|k| to[v][k] * from[v][k].dot(delta)).sum();
            smooth_posed[v] + turned
        })
        .collect()
}
