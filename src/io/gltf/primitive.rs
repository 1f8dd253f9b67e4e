//! One primitive: its attributes, indices and morph targets as typed arrays.

use super::accessor::Elements;
use super::buffers::Data;
use super::draco::{self, Decoded};
use super::error::{Fault, counted};
use super::influences::{self, Set};
use super::json::At;
use super::material::UvMap;
use crate::finding::Finding;
use crate::mesh::PrimitiveSource;
use glam::{Vec2, Vec3};

/// Memory that welding and normals take for a vertex, and for a vertex of a morph target, bytes.
const WELD_BYTES: u64 = 128;
const MORPH_BYTES: u64 = 24;

/// What a primitive needs to know of its mesh and model.
#[derive(Debug)]
pub(super) struct Context<'a> {
    /// Which joint-list entries are usable in all skins that draw the mesh; `None`: no skin draws it.
    pub(super) slots: Option<&'a [bool]>,
    /// The mesh's number of morph targets.
    pub(super) n_targets: usize,
    /// Where each material's picture takes its coordinates from.
    pub(super) uv_maps: &'a [UvMap],
}

/// Where attributes come from: accessors, and before them the Draco stream.
struct Attributes<'a, 'd> {
    data: &'d Data<'a>,
    at: At<'a>,
    draco: Option<Decoded<'a>>,
}

impl Attributes<'_, '_> {
    /// The elements of an attribute; `None` where the primitive has none of that name.
    fn get(&self, semantic: &str) -> Option<Result<Elements, Fault>> {
        let n_accessors = self.data.len("accessors");
        let index = match self.at.index(semantic, "accessors", n_accessors) {
            Ok(index) => index?,
            Err(fault) => return Some(Err(fault)),
        };
        let normalized = self.data.at("accessors", index).flag("normalized");
        let base = self
            .draco
            .as_ref()
            .and_then(|draco| draco.attribute(self.data, semantic, normalized))
            .transpose();
        Some(base.and_then(|base| self.data.accessor_at(index, base)))
    }

    /// An attribute with one entry a vertex; what is wrong with it becomes a finding.
    fn per_vertex(
        &self,
        semantic: &str,
        n_vertices: usize,
        findings: &mut Vec<Finding>,
    ) -> Option<Elements> {
        let elements = self.get(semantic)?.and_then(|elements| {
            if elements.count < n_vertices {
                return Err(Fault::new(
                    self.at.path(semantic),
                    format!(
                        "{} has {} entries for {n_vertices} vertices.",
                        self.at.path(semantic),
                        elements.count
                    ),
                ));
            }
            Ok(elements)
        });
        match elements {
            Ok(mut elements) => {
                elements.shorten(n_vertices);
                Some(elements)
            }
            Err(fault) => {
                findings.push(fault.finding("It was left out."));
                None
            }
        }
    }
}

/// Reads a primitive. Fails where it has no usable positions; lesser faults become findings.
pub(super) fn read(
    data: &Data<'_>,
    at: &At<'_>,
    context: &Context<'_>,
    findings: &mut Vec<Finding>,
) -> Result<PrimitiveSource, Fault> {
    let Some(attributes_at) = at.get("attributes") else {
        return Err(at.lacks("attributes"));
    };
    let draco = match at.extension("KHR_draco_mesh_compression") {
        None => None,
        Some(extension) => match draco::decode(data, &extension) {
            Ok(decoded) => Some(decoded),
            // A file may carry uncompressed accessors too.
            Err(fault) if has_fallback(data, &attributes_at) => {
                findings.push(fault.warning("The uncompressed copy was taken."));
                None
            }
            Err(fault) => return Err(fault),
        },
    };
    let attributes = Attributes {
        data,
        at: attributes_at,
        draco,
    };
    let positions = match attributes.get("POSITION") {
        None => return Err(attributes.at.lacks("POSITION")),
        Some(elements) => elements?,
    };
    let n_vertices = positions.count;
    let per_vertex = WELD_BYTES + MORPH_BYTES * context.n_targets as u64;
    data.budget
        .charge((n_vertices as u64).saturating_mul(per_vertex), &at.place)?;
    let positions = clean_positions(
        positions.floats(data, Vec3::from_array)?,
        &attributes.at.path("POSITION"),
        findings,
    )?;
    let material = match at.index("material", "materials", context.uv_maps.len()) {
        Ok(material) => material,
        Err(fault) => {
            findings.push(fault.warning("The default material is shown."));
            None
        }
    };
    let uv_map = material.map_or_else(UvMap::default, |m| context.uv_maps[m]);
    let rest = || -> Result<_, Fault> {
        let mut findings = Vec::new();
        let normals = match attributes.per_vertex("NORMAL", n_vertices, &mut findings) {
            Some(elements) => elements.floats(data, |n| finite_or_zero(Vec3::from_array(n)))?,
            None => Vec::new(),
        };
        let semantic = format!("TEXCOORD_{}", uv_map.set);
        let uvs = match attributes.per_vertex(&semantic, n_vertices, &mut findings) {
            Some(elements) => elements.floats(data, |[u, v]| {
                let uv = uv_map.apply(Vec2::new(u, v));
                if uv.is_finite() { uv } else { Vec2::ZERO }
            })?,
            None => Vec::new(),
        };
        let triangles = triangles(&attributes, at, n_vertices, &mut findings);
        let morphs = morphs(data, at, n_vertices, context.n_targets, &mut findings);
        Ok((normals, uvs, triangles, morphs, findings))
    };
    let skin = || -> Result<_, Fault> {
        let mut findings = Vec::new();
        let sets = skin_sets(&attributes, n_vertices, &mut findings);
        let rows = match context.slots {
            Some(slots) if !sets.is_empty() => {
                influences::rows(data, &sets, slots, &at.place, &mut findings)?
            }
            _ => crate::skinning::Rows::default(),
        };
        Ok((rows, findings))
    };
    let (rest, skin) = rayon::join(rest, skin);
    let (normals, uvs, triangles, morphs, rest_findings) = rest?;
    let (influences, skin_findings) = skin?;
    findings.extend(rest_findings);
    findings.extend(skin_findings);
    Ok(PrimitiveSource {
        positions,
        normals,
        uvs,
        influences,
        morphs,
        triangles,
        material: material.map(|m| m as u32),
    })
}

/// Whether the primitive has JOINTS_0 and WEIGHTS_0.
pub(super) fn has_weights(at: &At<'_>) -> bool {
    at.get("attributes")
        .is_some_and(|a| a.get("JOINTS_0").is_some() && a.get("WEIGHTS_0").is_some())
}

fn has_fallback(data: &Data<'_>, attributes: &At<'_>) -> bool {
    let position = attributes.index("POSITION", "accessors", data.len("accessors"));
    matches!(position, Ok(Some(i)) if data.at("accessors", i).get("bufferView").is_some())
}

fn finite_or_zero(v: Vec3) -> Vec3 {
    if v.is_finite() { v } else { Vec3::ZERO }
}

/// Puts vertices whose position is not a number where the vertex before them is: visible, and no spike.
fn clean_positions(
    mut positions: Vec<Vec3>,
    place: &str,
    findings: &mut Vec<Finding>,
) -> Result<Vec<Vec3>, Fault> {
    let n_broken = positions.iter().filter(|p| !p.is_finite()).count();
    if n_broken == 0 {
        return Ok(positions);
    }
    let first_broken = positions.iter().position(|p| !p.is_finite()).unwrap_or(0);
    let Some(&first) = positions.iter().find(|p| p.is_finite()) else {
        return Err(Fault::new(
            place,
            format!("No position of {place} is a finite number."),
        ));
    };
    findings.push(Finding::error(
        place,
        format!(
            "The position of {} in {place} is not a finite number, the first being vertex {first_broken}; each was put where the vertex before it is.",
            counted(n_broken, "vertex", "vertices")
        ),
    ));
    let mut last = first;
    for position in &mut positions {
        if position.is_finite() {
            last = *position;
        } else {
            *position = last;
        }
    }
    Ok(positions)
}

/// JOINTS_0 and WEIGHTS_0, JOINTS_1 and WEIGHTS_1 ... as far as they go.
fn skin_sets(
    attributes: &Attributes<'_, '_>,
    n_vertices: usize,
    findings: &mut Vec<Finding>,
) -> Vec<Set> {
    let mut sets = Vec::new();
    for n in 0.. {
        let (joints, weights) = (format!("JOINTS_{n}"), format!("WEIGHTS_{n}"));
        match (attributes.at.get(&joints), attributes.at.get(&weights)) {
            (Some(_), Some(_)) => {}
            (None, None) => break,
            (joints_at, _) => {
                let (has, lacks) = if joints_at.is_some() {
                    (joints, weights)
                } else {
                    (weights, joints)
                };
                findings.push(Finding::warning(
                    attributes.at.path(&has),
                    format!(
                        "{} has {has} but no {lacks}; it was left out.",
                        attributes.at.place
                    ),
                ));
                break;
            }
        }
        let joints = attributes.per_vertex(&joints, n_vertices, findings);
        let weights = attributes.per_vertex(&weights, n_vertices, findings);
        let (Some(joints), Some(weights)) = (joints, weights) else {
            continue;
        };
        if joints.width < 4 || weights.width < 4 {
            findings.push(Finding::error(
                attributes.at.path(&format!("JOINTS_{n}")),
                format!(
                    "JOINTS_{n} and WEIGHTS_{n} of {} should have 4 numbers a vertex; they were left out.",
                    attributes.at.place
                ),
            ));
            continue;
        }
        sets.push(Set { joints, weights });
    }
    sets
}

/// The displacements of each morph target; empty for one that this primitive lacks.
fn morphs(
    data: &Data<'_>,
    at: &At<'_>,
    n_vertices: usize,
    n_targets: usize,
    findings: &mut Vec<Finding>,
) -> Vec<Vec<Vec3>> {
    let targets = at.items("targets").unwrap_or_default();
    (0..n_targets)
        .map(|t| {
            let Some(target) = targets.get(t).filter(|t| t.get("POSITION").is_some()) else {
                return Vec::new();
            };
            let deltas = data.accessor(target, "POSITION").and_then(|mut elements| {
                if elements.count < n_vertices {
                    return Err(Fault::new(
                        &target.place,
                        format!(
                            "{} has {} displacements for {n_vertices} vertices.",
                            target.path("POSITION"),
                            elements.count
                        ),
                    ));
                }
                elements.shorten(n_vertices);
                elements.floats(data, Vec3::from_array)
            });
            match deltas {
                Err(fault) => {
                    findings.push(fault.finding("The morph target does not move this part."));
                    Vec::new()
                }
                Ok(mut deltas) => {
                    let mut n_broken = 0;
                    for delta in deltas.iter_mut().filter(|d| !d.is_finite()) {
                        *delta = Vec3::ZERO;
                        n_broken += 1;
                    }
                    if n_broken > 0 {
                        findings.push(Finding::error(
                            &target.place,
                            format!(
                                "{} of {} not finite and taken as zero.",
                                counted(n_broken, "displacement is", "displacements are"),
                                target.place
                            ),
                        ));
                    }
                    deltas
                }
            }
        })
        .collect()
}

/// The primitive's triangles, whatever its mode; those that name a vertex it does not have are left out.
fn triangles(
    attributes: &Attributes<'_, '_>,
    at: &At<'_>,
    n_vertices: usize,
    findings: &mut Vec<Finding>,
) -> Vec<[u32; 3]> {
    let data = attributes.data;
    let n = n_vertices as u32;
    let mode = match at.count("mode") {
        Ok(mode) => mode.unwrap_or(4),
        Err(fault) => {
            findings.push(fault.warning("It was read as a list of triangles."));
            4
        }
    };
    let triangles = if let Some(draco) = &attributes.draco {
        draco.triangles.clone()
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
        let n_corners = if at.get("indices").is_some() {
            0
        } else {
            n_vertices as u64
        };
        let corners = data
            .budget
            .charge(n_corners.saturating_mul(16), &at.place)
            .and_then(|()| match at.get("indices") {
                None => Ok((0..n).collect::<Vec<u32>>()),
                Some(_) => {
                    let elements = data.accessor(at, "indices")?;
                    data.budget.charge(12 * elements.count as u64, &at.place)?;
                    elements.integers::<1, _>(data, |[i]| i)
                }
            });
        let corners = match corners {
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
            "{} names vertex {}, but there are only {n_vertices}; {} left out.",
            at.path("indices"),
            bad.iter().max().unwrap_or(&0),
            counted(before - kept.len(), "triangle was", "triangles were")
        ),
    ));
    kept
}

/// Corners -> triangles (glTF 2.0, 3.7.2.1). Strips and fans leave out triangles of two equal corners, which only
/// join their parts.
fn assemble(mode: u64, corners: &[u32], at: &At<'_>, findings: &mut Vec<Finding>) -> Vec<[u32; 3]> {
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
                        "{} is {mode}, which does not exist; it was read as triangles.",
                        at.path("mode")
                    ),
                ));
            }
            let (triangles, rest) = corners.as_chunks::<3>();
            if !rest.is_empty() {
                findings.push(Finding::warning(
                    &at.place,
                    format!(
                        "{} has {}, which is no multiple of 3; the last were left out.",
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
        let mut findings = Vec::new();
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
        assert!(findings.is_empty());
        assert_eq!(assemble(4, &[0, 1, 2, 3], &at, &mut findings), [[0, 1, 2]]);
        assert_eq!(findings.len(), 1);
    }

    #[test]
    fn a_broken_position_goes_where_its_neighbour_is() {
        let nan = Vec3::new(0.0, f32::NAN, 0.0);
        let mut findings = Vec::new();
        let cleaned =
            clean_positions(vec![nan, Vec3::X, nan, Vec3::Y], "POSITION", &mut findings).unwrap();
        assert_eq!(cleaned, [Vec3::X, Vec3::X, Vec3::X, Vec3::Y]);
        assert!(findings[0].message.contains("2 vertices"));
        assert!(clean_positions(vec![nan], "POSITION", &mut findings).is_err());
    }
}
