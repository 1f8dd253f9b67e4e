//! Vertices as a file has them -> welded points in spatial order.

use super::invalid_weights::{InvalidRows, InvalidWeights};
use crate::finding::{Finding, Fix};
use crate::mesh::{Mesh, Morph, Primitive, normals};
use crate::skinning::{Influences, RowRef, Rows};
use glam::{Vec2, Vec3};
use rayon::prelude::*;
use std::collections::HashMap;

/// Fraction of the surface with authored normals that lie along the surface, above which all normals are discarded.
const MAX_WRONG_NORMALS: f32 = 0.4;

/// How many different points at one position a vertex is compared with. Further vertices become points of their own, so
/// that a file whose positions are all equal does not take quadratic time.
const CROWD: usize = 64;

/// Per-vertex arrays of one primitive. Every non-empty array has one entry per vertex.
#[derive(Clone, Debug, Default)]
pub struct PrimitiveSource {
    /// n_vertices, finite, mesh space.
    pub positions: Vec<Vec3>,
    /// n_vertices unit normals; empty: derived from the faces.
    pub normals: Vec<Vec3>,
    /// n_vertices texture coordinates; empty where the file has none.
    pub uvs: Vec<Vec2>,
    /// n_vertices colours in the form of [`Mesh::colors`]; empty where the file has none.
    pub colors: Vec<[u8; 4]>,
    /// n_vertices rows (skin joint index, weight), cleaned: finite, > 0, joints distinct, sum 1; empty without a skin.
    pub influences: Rows,
    /// Vertices whose weights in the file were not valid.
    pub invalid: InvalidRows,
    /// For each morph target, n_vertices displacements.
    pub morphs: Vec<Vec<Vec3>>,
    /// For each morph target, the vertices whose normals it changes, ascending, and the displacement of the normal; may
    /// be shorter than `morphs`.
    pub morph_normals: Vec<Vec<(u32, Vec3)>>,
    /// Triangles of this primitive's own vertices, each below n_vertices.
    pub triangles: Vec<[u32; 3]>,
    /// Index into the document's materials.
    pub material: Option<u32>,
}

/// A mesh as a file has it: what importers and generators fill.
#[derive(Clone, Debug, Default)]
pub struct MeshSource {
    /// A label.
    pub name: String,
    /// In file order.
    pub primitives: Vec<PrimitiveSource>,
    /// One name per morph target, possibly empty; the length is the number of targets.
    pub morph_names: Vec<String>,
}

/// The result of [`MeshSource::build`].
#[derive(Debug)]
pub struct BuiltMesh {
    /// The geometry.
    pub mesh: Mesh,
    /// One row per point; empty rows without a skin.
    pub influences: Influences,
    /// Weights of the file that were not valid.
    pub invalid: InvalidWeights,
    /// Seams whose sides carry different weights.
    pub findings: Vec<Finding>,
}

impl MeshSource {
    /// Welds vertices of equal bind position, equal influences and equal morph displacements into points, puts the
    /// points in spatial order (Morton code), and merges equal normals.
    ///
    /// Vertices that coincide but carry different weights stay apart and are reported.
    pub fn build(mut self) -> BuiltMesh {
        let mut morph_normals = self.take_morph_normals();
        let invalid = self.take_invalid_rows();
        let n_vertices: usize = self.primitives.iter().map(|p| p.positions.len()).sum();
        let vertices = Vertices::gather(&self);
        let (point_of_vertex, representatives, split_seams, weights_differ) = weld(&vertices);
        let (point_of_vertex, representatives) =
            order_in_space(&vertices.positions, &point_of_vertex, &representatives);

        let positions: Vec<Vec3> = representatives
            .iter()
            .map(|&v| vertices.positions[v as usize])
            .collect();
        let influences = Influences::from_rows(representatives.iter().map(|&v| vertices.row(v)));
        let morphs = (0..self.morph_names.len())
            .map(|m| Morph {
                name: self.morph_names[m].clone(),
                deltas: representatives
                    .iter()
                    .map(|&v| vertices.morphs[m][v as usize])
                    .collect(),
                normals: std::mem::take(&mut morph_normals[m]),
            })
            .collect();

        let mut primitives = Vec::with_capacity(self.primitives.len());
        let mut triangles = Vec::new();
        let mut uvs = Vec::new();
        let mut colors = Vec::new();
        let any_colors = self.primitives.iter().any(|p| !p.colors.is_empty());
        let any_uvs = self.primitives.iter().any(|p| !p.uvs.is_empty());
        let mut first_vertex = 0u32;
        for p in &self.primitives {
            let n = p.positions.len() as u32;
            let first_triangle = triangles.len() as u32;
            triangles.extend(p.triangles.iter().map(|t| t.map(|v| v + first_vertex)));
            if any_uvs {
                uvs.extend_from_slice(&p.uvs);
                uvs.resize((first_vertex + n) as usize, Vec2::ZERO);
            }
            if any_colors {
                colors.extend_from_slice(&p.colors);
                colors.resize((first_vertex + n) as usize, [255; 4]);
            }
            primitives.push(Primitive {
                vertices: first_vertex..first_vertex + n,
                triangles: first_triangle..triangles.len() as u32,
                material: p.material,
                has_normals: !p.normals.is_empty(),
            });
            first_vertex += n;
        }
        debug_assert_eq!(first_vertex as usize, n_vertices);

        let mut findings = Vec::new();
        let mut authored = vertices.normals;
        if normals::wrong_normal_fraction(&authored, &positions, &point_of_vertex, &triangles)
            > MAX_WRONG_NORMALS
        {
            authored.fill(Vec3::ZERO);
            for primitive in &mut primitives {
                primitive.has_normals = false;
            }
            findings.push(Finding::warning(
                format!("mesh \"{}\"", self.name),
                "Its normals are tangent to the surface, not perpendicular to it; it is shown with normals computed \
                 from its faces. Exports keep the file's normals.",
            ));
        }
        let vertex_normals = normals::complete(authored, &positions, &point_of_vertex, &triangles);
        let merged = normals::merge(positions.len(), &point_of_vertex, &vertex_normals);

        if split_seams > 0 {
            let places = if split_seams == 1 {
                "1 position has".to_owned()
            } else {
                format!("{split_seams} positions have")
            };
            let finding = Finding::warning(
                format!("mesh \"{}\"", self.name),
                format!(
                    "{places} vertices with different weights or morphs at one position; they stay separate, and gaps \
                     may open when posed."
                ),
            );
            findings.push(finding.fixed_by(weights_differ.then_some(Fix::Weld)));
        }
        BuiltMesh {
            invalid: InvalidWeights::gather(&invalid, &point_of_vertex),
            mesh: Mesh {
                name: self.name,
                primitives,
                positions,
                point_of_vertex,
                normal_of_vertex: merged.normal_of_vertex,
                normals: merged.normals,
                point_of_normal: merged.point_of_normal,
                uvs,
                colors,
                triangles,
                inside_out: Vec::new(),
                morphs,
                topology: std::sync::OnceLock::new(),
                rings: std::sync::OnceLock::new(),
                normal_fans: std::sync::OnceLock::new(),
            },
            influences,
            findings,
        }
    }
}

impl MeshSource {
    /// The displacements of normals of each morph target, by vertex of the mesh.
    fn take_morph_normals(&mut self) -> Vec<Vec<(u32, Vec3)>> {
        let mut all = vec![Vec::new(); self.morph_names.len()];
        let mut first = 0;
        for primitive in &mut self.primitives {
            for (all, own) in all.iter_mut().zip(&mut primitive.morph_normals) {
                all.extend(std::mem::take(own).into_iter().map(|(v, n)| (first + v, n)));
            }
            first += primitive.positions.len() as u32;
        }
        all
    }

    /// The invalid rows of each primitive, with its first vertex.
    fn take_invalid_rows(&mut self) -> Vec<(u32, InvalidRows)> {
        let mut first = 0;
        let primitives = self.primitives.iter_mut().map(|primitive| {
            let rows = (first, std::mem::take(&mut primitive.invalid));
            first += primitive.positions.len() as u32;
            rows
        });
        primitives.collect()
    }
}

/// The arrays of all primitives, concatenated.
struct Vertices<'a> {
    positions: Vec<Vec3>,
    /// Zero where the file has no normals.
    normals: Vec<Vec3>,
    morphs: Vec<Vec<Vec3>>,
    /// (first vertex, rows) of each primitive.
    rows: Vec<(u32, &'a Rows)>,
}

impl<'a> Vertices<'a> {
    fn gather(source: &'a MeshSource) -> Self {
        let n: usize = source.primitives.iter().map(|p| p.positions.len()).sum();
        let mut all = Self {
            positions: Vec::with_capacity(n),
            normals: Vec::with_capacity(n),
            morphs: vec![Vec::with_capacity(n); source.morph_names.len()],
            rows: Vec::with_capacity(source.primitives.len()),
        };
        for p in &source.primitives {
            all.rows.push((all.positions.len() as u32, &p.influences));
            all.positions.extend_from_slice(&p.positions);
            let end = all.positions.len();
            all.normals.extend_from_slice(&p.normals);
            all.normals.resize(end, Vec3::ZERO);
            for (m, morph) in all.morphs.iter_mut().enumerate() {
                morph.extend_from_slice(p.morphs.get(m).map_or(&[][..], Vec::as_slice));
                morph.resize(end, Vec3::ZERO);
            }
        }
        all
    }

    fn row(&self, vertex: u32) -> RowRef<'_> {
        let (first, rows) = self.rows[self.rows.partition_point(|&(first, _)| first <= vertex) - 1];
        if rows.is_empty() {
            RowRef {
                joints: &[],
                weights: &[],
            }
        } else {
            rows.row((vertex - first) as usize)
        }
    }

    fn same_point(&self, a: u32, b: u32) -> bool {
        self.row(a) == self.row(b) && self.morphs.iter().all(|m| m[a as usize] == m[b as usize])
    }
}

/// The point of each vertex (numbered by first vertex), a vertex of each point, how many positions hold several points,
/// and whether any of them do because their weights differ.
fn weld(vertices: &Vertices<'_>) -> (Vec<u32>, Vec<u32>, usize, bool) {
    let mut point_of_vertex = Vec::with_capacity(vertices.positions.len());
    let mut representatives: Vec<u32> = Vec::new();
    // Position bits -> first point at that position; further points at the same position are chained.
    let mut first_at: HashMap<[u32; 3], u32> = HashMap::with_capacity(vertices.positions.len());
    let mut next_at: Vec<u32> = Vec::new();
    let mut split_seams = 0;
    let mut weights_differ = false;
    for (v, position) in vertices.positions.iter().enumerate() {
        let v = v as u32;
        // Adding zero maps -0 and 0 to one key.
        let key = (*position + Vec3::ZERO).to_array().map(f32::to_bits);
        let new_point = representatives.len() as u32;
        let first = *first_at.entry(key).or_insert(new_point);
        let mut point = first;
        let mut n_tried = 0;
        while point != new_point && !vertices.same_point(representatives[point as usize], v) {
            n_tried += 1;
            if n_tried == CROWD {
                point = new_point;
                break;
            }
            let next = next_at[point as usize];
            if next == u32::MAX {
                split_seams += usize::from(point == first);
                weights_differ |= vertices.row(representatives[first as usize]) != vertices.row(v);
                next_at[point as usize] = new_point;
            }
            point = if next == u32::MAX { new_point } else { next };
        }
        if point == new_point {
            representatives.push(v);
            next_at.push(u32::MAX);
        }
        point_of_vertex.push(point);
    }
    (
        point_of_vertex,
        representatives,
        split_seams,
        weights_differ,
    )
}

/// Renumbers points along a Morton curve; ties keep file order.
fn order_in_space(
    positions: &[Vec3],
    point_of_vertex: &[u32],
    representatives: &[u32],
) -> (Vec<u32>, Vec<u32>) {
    let (low, high) = positions
        .iter()
        .fold((Vec3::INFINITY, Vec3::NEG_INFINITY), |(low, high), &p| {
            (low.min(p), high.max(p))
        });
    let scale = (high - low).max_element().max(f32::MIN_POSITIVE);
    let mut order: Vec<(u64, u32)> = representatives
        .par_iter()
        .enumerate()
        .map(|(point, &v)| {
            let unit = (positions[v as usize] - low) / scale;
            let code = |x: f32| spread_bits((f64::from(x) * f64::from((1u32 << 21) - 1)) as u64);
            (
                code(unit.x) | code(unit.y) << 1 | code(unit.z) << 2,
                point as u32,
            )
        })
        .collect();
    order.par_sort_unstable();
    let mut new_of_old = vec![0u32; order.len()];
    for (new, &(_, old)) in order.iter().enumerate() {
        new_of_old[old as usize] = new as u32;
    }
    (
        point_of_vertex
            .par_iter()
            .map(|&p| new_of_old[p as usize])
            .collect(),
        order
            .iter()
            .map(|&(_, old)| representatives[old as usize])
            .collect(),
    )
}

/// Puts two zero bits between the low 21 bits of `x`.
fn spread_bits(x: u64) -> u64 {
    let x = x & 0x001f_ffff;
    let x = (x | x << 32) & 0x001f_0000_0000_ffff;
    let x = (x | x << 16) & 0x001f_0000_ff00_00ff;
    let x = (x | x << 8) & 0x100f_00f0_0f00_f00f;
    let x = (x | x << 4) & 0x10c3_0c30_c30c_30c3;
    (x | x << 2) & 0x1249_2492_4924_9249
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quad(weights: [f32; 4]) -> MeshSource {
        // Two triangles with a UV seam along the diagonal: vertices 1/3 and 2/5 coincide.
        let positions = vec![
            Vec3::ZERO,
            Vec3::X,
            Vec3::Y,
            Vec3::X,
            Vec3::new(1., 1., 0.),
            Vec3::new(-0., 1., 0.),
        ];
        MeshSource {
            name: "quad".into(),
            primitives: vec![PrimitiveSource {
                normals: vec![Vec3::Z; 6],
                uvs: (0..6).map(|i| Vec2::splat(i as f32)).collect(),
                influences: [
                    weights[0], weights[1], weights[2], weights[3], 0.5, weights[2],
                ]
                .into_iter()
                .map(|w| vec![(0, w), (1, 1.0 - w)])
                .collect(),
                triangles: vec![[0, 1, 2], [3, 4, 5]],
                positions,
                ..Default::default()
            }],
            morph_names: Vec::new(),
        }
    }

    #[test]
    fn a_uv_seam_is_welded() {
        let built = quad([0.1, 0.2, 0.3, 0.2]).build();
        assert_eq!(
            (
                built.mesh.n_points(),
                built.mesh.n_vertices(),
                built.mesh.normals.len()
            ),
            (4, 6, 4)
        );
        let p = &built.mesh.point_of_vertex;
        assert_eq!((p[1], p[2]), (p[3], p[5]));
        assert_eq!(built.mesh.positions[p[4] as usize], Vec3::new(1., 1., 0.));
        assert_eq!(built.influences.row(p[2]).weights, [0.3, 0.7]);
        assert!(built.findings.is_empty());
        assert_eq!(built.mesh.topology().neighbours(p[0]).len(), 2);
        assert_eq!(built.mesh.topology().neighbours(p[1]).len(), 3);
    }

    #[test]
    fn a_seam_with_different_weights_stays_apart_and_is_reported() {
        let built = quad([0.1, 0.2, 0.3, 0.9]).build();
        assert_eq!(built.mesh.n_points(), 5);
        assert_eq!(built.findings.len(), 1);
        assert!(
            built.findings[0]
                .message
                .starts_with("1 position has vertices")
        );
    }

    #[test]
    fn a_hundred_thousand_different_points_at_one_position_take_no_time() {
        let n = 100_000;
        let built = MeshSource {
            primitives: vec![PrimitiveSource {
                positions: vec![Vec3::ONE; n],
                influences: (0..n)
                    .map(|i| i as f32 / n as f32)
                    .map(|w| vec![(0, w), (1, 1.0 - w)])
                    .collect(),
                ..Default::default()
            }],
            ..Default::default()
        }
        .build();
        assert_eq!(built.mesh.n_points(), n);
        // A walk over the topology reaches all of them.
        let topology = built.mesh.topology();
        let around = std::iter::successors(topology.next_coincident(0), |&p| {
            topology.next_coincident(p)
        });
        assert_eq!(around.take_while(|&p| p != 0).count(), n - 1);
        assert!(
            built.findings[0]
                .message
                .starts_with("1 position has vertices")
        );
    }

    #[test]
    fn normals_along_the_surface_are_discarded() {
        let mut source = quad([0.1, 0.2, 0.3, 0.2]);
        source.primitives[0].normals = vec![Vec3::Y; 6];
        let built = source.build();
        assert!(
            built.mesh.normals.iter().all(|n| n.z.abs() > 0.99),
            "{:?}",
            built.mesh.normals
        );
        assert_eq!(built.findings.len(), 1);
        // Flipped normals are not wrong: mirrored parts have them.
        let mut source = quad([0.1, 0.2, 0.3, 0.2]);
        source.primitives[0].normals = vec![Vec3::NEG_Z; 6];
        assert!(source.build().findings.is_empty());
    }

    #[test]
    fn points_close_in_space_are_close_in_memory() {
        let positions: Vec<Vec3> = (0..4096u32)
            .map(|i| Vec3::new((i * 2731 % 64) as f32, (i * 2731 / 64 % 64) as f32, 0.0))
            .collect();
        let n = positions.len();
        let built = MeshSource {
            name: String::new(),
            primitives: vec![PrimitiveSource {
                positions,
                ..Default::default()
            }],
            morph_names: Vec::new(),
        }
        .build();
        assert_eq!(built.mesh.n_points(), n);
        let first_chunk = &built.mesh.positions[..1024];
        let high = first_chunk.iter().fold(Vec3::ZERO, |a, &b| a.max(b));
        assert!(
            high.max_element() < 32.0,
            "the first quarter of the points is a quarter of the plane: {high}"
        );
    }
}
