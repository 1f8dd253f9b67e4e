//! The connected components of a surface.

/// The island of each point: points joined by edges, or by lying at one bind position (a seam whose sides carry
/// different weights), have one number. Islands are numbered by their lowest point, from 0.
pub(super) fn components(
    triangles: &[[u32; 3]],
    coincident: impl Iterator<Item = (u32, u32)>,
    n_points: usize,
) -> Vec<u32> {
    let mut parent: Vec<u32> = (0..n_points as u32).collect();
    for &[a, b, c] in triangles {
        join(&mut parent, a, b);
        join(&mut parent, a, c);
    }
    for (point, twin) in coincident {
        join(&mut parent, point, twin);
    }
    let mut n = 0;
    let mut label = vec![0; n_points];
    for point in 0..n_points as u32 {
        let root = find(&mut parent, point);
        // A root is the lowest point of its island: its number is set before any other point needs it.
        if root == point {
            label[point as usize] = n;
            n += 1;
        } else {
            label[point as usize] = label[root as usize];
        }
    }
    label
}

fn find(parent: &mut [u32], mut point: u32) -> u32 {
    while parent[point as usize] != point {
        let above = parent[parent[point as usize] as usize];
        parent[point as usize] = above;
        point = above;
    }
    point
}

fn join(parent: &mut [u32], a: u32, b: u32) {
    let (a, b) = (find(parent, a), find(parent, b));
    parent[a.max(b) as usize] = a.min(b);
}
