//! The triangles of a primitive of any mode.

use super::buffers::Data;
use super::error::{Fault, counted};
use super::findings::Findings;
use super::json::At;
use crate::finding::Finding;

/// The triangles of a primitive of any mode; those with an invalid vertex index are dropped.
pub(super) fn read(
    data: &Data<'_>,
    at: &At<'_>,
    compressed: Option<&[[u32; 3]]>,
    n_vertices: usize,
    findings: &mut Findings,
) -> Vec<[u32; 3]> {
    let n = n_vertices as u32;
    let mode = match at.count("mode") {
        Ok(mode) => mode.unwrap_or(4),
        Err(fault) => {
            findings.push(fault.warning("It is read as triangles."));
            4
        }
    };
    let triangles = if let Some(triangles) = compressed {
        triangles.to_vec()
    } else {
        if mode < 4 {
            let what = if mode == 0 { "points" } else { "lines" };
            findings.push(Finding::info(
                &at.place,
                format!(
                    "{} is made of {what}; its vertices are kept, but nothing is drawn.",
                    at.place
                ),
            ));
            return Vec::new();
        }
        let corners = match corners(data, at, n) {
            Ok(corners) => corners,
            Err(fault) => {
                findings.push(fault.finding("The primitive has vertices, but no triangles."));
                return Vec::new();
            }
        };
        assemble(mode, &corners, at, findings)
    };
    let Some(&bad) = triangles.iter().find(|t| t.iter().any(|&i| i >= n)) else {
        return triangles;
    };
    let before = triangles.len();
    let kept: Vec<_> = triangles
        .into_iter()
        .filter(|t| t.iter().all(|&i| i < n))
        .collect();
    findings.push(Finding::error(
        at.path("indices"),
        format!(
            "{} references vertex {}, but there are only {n_vertices}; {} left out.",
            at.path("indices"),
            bad.iter().max().unwrap_or(&0),
            counted(before - kept.len(), "triangle was", "triangles were")
        ),
    ));
    kept
}

/// The vertex of each corner: the primitive's indices, or its vertices in order.
fn corners(data: &Data<'_>, at: &At<'_>, n_vertices: u32) -> Result<Vec<u32>, Fault> {
    if at.get("indices").is_none() {
        data.budget.charge(16 * u64::from(n_vertices), &at.place)?;
        return Ok((0..n_vertices).collect());
    }
    let elements = data.accessor(at, "indices")?;
    // Only the triangles; the corners are charged as they are read.
    let n_bytes = (elements.count as u64).saturating_mul(12);
    data.budget.charge(n_bytes, &at.place)?;
    elements.integers::<1, _>(data, |[i]| i)
}

/// Assembles corners to triangles (glTF 2.0, 3.7.2.1). Strips and fans drop triangles with two equal corners, which
/// only join their parts.
fn assemble(mode: u64, corners: &[u32], at: &At<'_>, findings: &mut Findings) -> Vec<[u32; 3]> {
    let has_area = |&[a, b, c]: &[u32; 3]| a != b && b != c && c != a;
    match mode {
        5 => corners
            .windows(3)
            .enumerate()
            .map(|(i, w)| {
                if i % 2 == 0 {
                    [w[0], w[1], w[2]]
                } else {
                    [w[0], w[2], w[1]]
                }
            })
            .filter(has_area)
            .collect(),
        6 => corners
            .first()
            .into_iter()
            .flat_map(|&hub| corners[1..].windows(2).map(move |w| [w[0], w[1], hub]))
            .filter(has_area)
            .collect(),
        mode => {
            if mode != 4 {
                findings.push(Finding::warning(
                    at.path("mode"),
                    format!(
                        "{} is {mode}, which does not exist; it is read as triangles.",
                        at.path("mode")
                    ),
                ));
            }
            let (triangles, rest) = corners.as_chunks::<3>();
            if !rest.is_empty() {
                findings.push(Finding::warning(
                    &at.place,
                    format!(
                        "{} has {}, which is not a multiple of 3; the last were left out.",
                        at.place,
                        counted(corners.len(), "corner", "corners")
                    ),
                ));
            }
            triangles.to_vec()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    #[test]
    fn strips_and_fans_keep_their_winding() {
        let at = At::new(&Value::Null, "meshes[0].primitives[0]");
        let mut findings = Findings::default();
        // glTF 2.0: strip p_i = {v_i, v_(i + 1 + i % 2), v_(i + 2 - i % 2)}, fan p_i = {v_(i + 1), v_(i + 2), v_0}.
        assert_eq!(
            assemble(5, &[0, 1, 2, 3, 3, 4], &at, &mut findings),
            [[0, 1, 2], [1, 3, 2]]
        );
        assert_eq!(
            assemble(6, &[9, 1, 2, 3], &at, &mut findings),
            [[1, 2, 9], [2, 3, 9]]
        );
        assert!(assemble(5, &[0, 1], &at, &mut findings).is_empty());
        assert!(assemble(6, &[], &at, &mut findings).is_empty());
        assert!(findings.into_list().is_empty());
        let mut findings = Findings::default();
        assert_eq!(assemble(4, &[0, 1, 2, 3], &at, &mut findings), [[0, 1, 2]]);
        assert_eq!(findings.into_list().len(), 1);
    }
}
