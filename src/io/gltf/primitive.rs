//! Reads one primitive: its attributes, indices and morph targets as typed arrays.

use super::accessor::Elements;
use super::buffers::Data;
use super::draco::{self, Decoded};
use super::error::{Fault, counted};
use super::faces;
use super::findings::Findings;
use super::influences::{self, Set};
use super::json::At;
use super::material::UvMap;
use crate::document::PrimitiveSource;
use crate::finding::Finding;
use glam::{Vec2, Vec3};

/// The memory that welding and normals need per vertex, and per vertex of a morph target, bytes.
const WELD_BYTES: u64 = 128;
const MORPH_BYTES: u64 = 24;

/// The largest number of sets of four influences that are read; files have up to three.
const MAX_SETS: usize = 16;

/// The properties of the mesh and the model that a primitive depends on.
#[derive(Debug)]
pub(super) struct Context<'a> {
    /// Whether each joint-list entry is usable in all skins that draw the mesh; `None` if no skin draws it.
    pub(super) slots: Option<&'a [bool]>,
    /// The mesh's number of morph targets.
    pub(super) n_targets: usize,
    /// The texture mapping of each material.
    pub(super) uv_maps: &'a [UvMap],
}

/// The sources of attributes: the Draco bitstream first, then accessors.
struct Attributes<'a, 'd> {
    data: &'d Data<'a>,
    at: At<'a>,
    draco: Option<Decoded<'a>>,
}

impl Attributes<'_, '_> {
    /// The elements of an attribute; `None` if the primitive has none of that name.
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

    /// An attribute with one entry per vertex; faults become findings.
    fn per_vertex(
        &self,
        semantic: &str,
        n_vertices: usize,
        findings: &mut Findings,
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

/// Reads a primitive. Returns an error if it has no usable positions; lesser faults become findings.
pub(super) fn read(
    data: &Data<'_>,
    at: &At<'_>,
    context: &Context<'_>,
    findings: &mut Findings,
) -> Result<PrimitiveSource, Fault> {
    let attributes_at = at
        .object("attributes")?
        .ok_or_else(|| at.lacks("attributes"))?;
    let draco = match at.extension("KHR_draco_mesh_compression") {
        None => None,
        Some(extension) => match draco::decode(data, &extension) {
            Ok(decoded) => Some(decoded),
            // A file may also contain uncompressed accessors.
            Err(fault) if has_fallback(data, &attributes_at) => {
                findings.push(fault.warning("The uncompressed copy is used."));
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
        let mut findings = Findings::default();
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
        let colors = match attributes.per_vertex("COLOR_0", n_vertices, &mut findings) {
            Some(elements) => {
                let colors = if elements.width == 3 {
                    elements.floats(data, |[r, g, b]| encode_color([r, g, b, 1.0]))
                } else {
                    elements.floats(data, encode_color)
                };
                colors.unwrap_or_else(|fault| {
                    findings.push(fault.finding("It was left out."));
                    Vec::new()
                })
            }
            None => Vec::new(),
        };
        let triangles = faces::read(
            data,
            at,
            attributes.draco.as_ref().map(|draco| &*draco.triangles),
            n_vertices,
            &mut findings,
        );
        let n_targets = context.n_targets;
        let morphs = morphs(data, at, n_vertices, n_targets, &mut findings);
        // A primitive without normals ignores the targets' normals.
        let morph_normals = if normals.is_empty() {
            Vec::new()
        } else {
            morph_normals(data, at, n_vertices, n_targets, &mut findings)
        };
        Ok((
            normals,
            uvs,
            colors,
            triangles,
            (morphs, morph_normals),
            findings,
        ))
    };
    let skin = || -> Result<_, Fault> {
        let mut findings = Findings::default();
        let sets = skin_sets(&attributes, n_vertices, &mut findings);
        let rows = match context.slots {
            Some(slots) if !sets.is_empty() => {
                influences::rows(data, &sets, slots, &at.place, &mut findings)?
            }
            _ => Default::default(),
        };
        Ok((rows, findings))
    };
    let (rest, skin) = rayon::join(rest, skin);
    let (normals, uvs, colors, triangles, (morphs, morph_normals), rest_findings) = rest?;
    let ((influences, invalid), skin_findings) = skin?;
    findings.append(rest_findings);
    findings.append(skin_findings);
    Ok(PrimitiveSource {
        positions,
        normals,
        uvs,
        colors,
        influences,
        invalid,
        morphs,
        morph_normals,
        triangles,
        material: material.map(|m| m as u32),
    })
}

/// A linear colour as bytes: the square root of red, green and blue, which keeps the resolution of dark colours.
fn encode_color([r, g, b, a]: [f32; 4]) -> [u8; 4] {
    let byte = |x: f32| (x.clamp(0.0, 1.0) * 255.0).round() as u8;
    [byte(r.sqrt()), byte(g.sqrt()), byte(b.sqrt()), byte(a)]
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

/// Moves vertices without a finite position to the previous vertex, which avoids visible spikes.
fn clean_positions(
    mut positions: Vec<Vec3>,
    place: &str,
    findings: &mut Findings,
) -> Result<Vec<Vec3>, Fault> {
    let n_broken = positions.iter().filter(|p| !p.is_finite()).count();
    if n_broken == 0 {
        return Ok(positions);
    }
    let first_broken = positions.iter().position(|p| !p.is_finite()).unwrap_or(0);
    let Some(&first) = positions.iter().find(|p| p.is_finite()) else {
        return Err(Fault::new(
            place,
            format!("No position of {place} is finite."),
        ));
    };
    findings.push(Finding::error(
        place,
        format!(
            "The position of {} in {place} is not a finite number, the first being vertex {first_broken}; each was moved to the previous vertex.",
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

/// JOINTS_0 and WEIGHTS_0, JOINTS_1 and WEIGHTS_1, and so on, as far as they are consecutive.
fn skin_sets(
    attributes: &Attributes<'_, '_>,
    n_vertices: usize,
    findings: &mut Findings,
) -> Vec<Set> {
    let mut sets = Vec::new();
    for n in 0..MAX_SETS {
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
                    "JOINTS_{n} and WEIGHTS_{n} of {} should have 4 components per vertex; they were left out.",
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
    findings: &mut Findings,
) -> Vec<Vec<Vec3>> {
    let targets = at.items("targets").unwrap_or_default();
    (0..n_targets)
        .map(|t| {
            let target = &targets.at(t);
            if target.get("POSITION").is_none() {
                return Vec::new();
            }
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
                    findings
                        .push(fault.finding("The morph target does not affect this primitive."));
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
                                "{} has {} not finite and replaced by 0.",
                                target.place,
                                counted(n_broken, "displacement that is", "displacements that are")
                            ),
                        ));
                    }
                    deltas
                }
            }
        })
        .collect()
}

/// The normal displacements of each morph target, for the vertices whose normals change.
fn morph_normals(
    data: &Data<'_>,
    at: &At<'_>,
    n_vertices: usize,
    n_targets: usize,
    findings: &mut Findings,
) -> Vec<Vec<(u32, Vec3)>> {
    let targets = at.items("targets").unwrap_or_default();
    let of_target = |t: usize| -> Result<Vec<(u32, Vec3)>, Fault> {
        let target = &targets.at(t);
        if target.get("NORMAL").is_none() {
            return Ok(Vec::new());
        }
        let bytes = (n_vertices * size_of::<(u32, Vec3)>()) as u64;
        data.budget.charge(bytes, &target.place)?;
        let mut elements = data.accessor(target, "NORMAL")?;
        elements.shorten(n_vertices);
        let added = elements.floats(data, Vec3::from_array)?;
        let entries = (0..).zip(added);
        let entries: Vec<_> = entries
            .filter(|(_, n)| n.is_finite() && *n != Vec3::ZERO)
            .collect();
        data.budget.refund(bytes - size_of_val(&entries[..]) as u64);
        Ok(entries)
    };
    let mut found = Vec::with_capacity(n_targets);
    for t in 0..n_targets {
        found.push(of_target(t).unwrap_or_else(|fault| {
            findings.push(fault.warning("Sinew computes the normals from the surface instead."));
            Vec::new()
        }));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_broken_position_goes_where_its_neighbour_is() {
        let nan = Vec3::new(0.0, f32::NAN, 0.0);
        let mut findings = Findings::default();
        let cleaned =
            clean_positions(vec![nan, Vec3::X, nan, Vec3::Y], "POSITION", &mut findings).unwrap();
        assert_eq!(cleaned, [Vec3::X, Vec3::X, Vec3::X, Vec3::Y]);
        assert!(findings.into_list()[0].message.contains("2 vertices"));
        assert!(clean_positions(vec![nan], "POSITION", &mut Findings::default()).is_err());
    }
}
