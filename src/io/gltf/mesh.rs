//! Reads meshes: all primitives in parallel, then welded.

use super::buffers::Data;
use super::error::{Fault, ImportError};
use super::findings::Findings;
use super::json::{At, List};
use super::material::UvMap;
use super::primitive::{self, Context};
use crate::deform::{DeformStack, Masks};
use crate::document::{MeshId, MeshItem};
use crate::document::{MeshSource, PrimitiveSource};
use crate::finding::{Finding, Place};
use crate::skinning::RowRef;
use crate::task::Task;
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The largest number of morph targets of a mesh; face rigs have a few hundred.
const MAX_TARGETS: usize = 65_536;

/// The memory of a primitive besides its arrays, including its findings, bytes.
const PRIMITIVE_BYTES: u64 = 768;

/// The readable meshes, and the faults of the others.
#[derive(Debug, Default)]
pub(super) struct Meshes {
    pub(super) items: BTreeMap<MeshId, Arc<MeshItem>>,
    /// For each mesh, whether each joint-list entry has a weight; all false for a mesh without weights.
    pub(super) used: Vec<Vec<bool>>,
    /// The first fault of each primitive that was left out.
    pub(super) faults: Vec<Fault>,
}

/// How nodes draw a mesh.
#[derive(Clone, Debug, Default)]
pub(super) struct Drawing {
    /// Whether each joint-list entry is usable in all skins that draw the mesh; `None` if no skin draws it.
    pub(super) slots: Option<Vec<bool>>,
}

/// Reads and welds all meshes. An unreadable primitive keeps its index without vertices; a mesh without any readable
/// primitive is left out.
pub(super) fn read_all(
    data: &Data<'_>,
    drawings: &[Drawing],
    uv_maps: &[UvMap],
    task: &Task,
    findings: &mut Findings,
) -> Result<Meshes, ImportError> {
    let n_meshes = data.len("meshes");
    let done = AtomicUsize::new(0);
    let read: Vec<_> = (0..n_meshes)
        .into_par_iter()
        .map(|m| -> Result<_, ImportError> {
            let at = data.at("meshes", m);
            let drawing = drawings.get(m).cloned().unwrap_or_default();
            let mesh = read_mesh(data, &at, &drawing, uv_maps, task)?;
            let done = done.fetch_add(1, Ordering::Relaxed) + 1;
            task.step("Reading meshes", 0.1 + 0.6 * done as f32 / n_meshes as f32)?;
            Ok(mesh)
        })
        .collect::<Result<_, _>>()?;
    let mut meshes = Meshes::default();
    for (m, one) in read.into_iter().enumerate() {
        findings.append(one.findings.about(&Place::Mesh(m as u32)));
        meshes.faults.extend(one.faults);
        meshes.used.push(one.used);
        if let Some(item) = one.item {
            meshes.items.insert(MeshId(m as u32), Arc::new(item));
        }
    }
    Ok(meshes)
}

/// The mesh's number of morph targets: the largest of its primitives.
pub(super) fn n_targets(at: &At<'_>) -> usize {
    let primitives = at.items("primitives").unwrap_or_default();
    let counts = primitives
        .iter()
        .map(|p| p.items("targets").map_or(0, |targets| targets.len()));
    counts.max().unwrap_or(0).min(MAX_TARGETS)
}

/// The numbers of `weights`, one per morph target; `None` if `at` has none or they are unusable.
pub(super) fn morph_weights(
    at: &At<'_>,
    n_targets: usize,
    findings: &mut Findings,
) -> Option<Vec<f32>> {
    match at.numbers("weights") {
        Ok(weights) => {
            let weights = weights?;
            if weights.len() != n_targets {
                findings.push(Finding::warning(
                    at.path("weights"),
                    format!(
                        "{} has {} weights for {n_targets} morph targets; missing ones are 0.",
                        at.path("weights"),
                        weights.len()
                    ),
                ));
            }
            let mut weights: Vec<f32> = weights
                .into_iter()
                .map(|w| w as f32)
                .map(|w| if w.is_finite() { w } else { 0.0 })
                .collect();
            weights.resize(n_targets, 0.0);
            Some(weights)
        }
        Err(fault) => {
            findings.push(fault.warning("The morph targets start at 0."));
            None
        }
    }
}

struct ReadMesh {
    item: Option<MeshItem>,
    /// Whether each joint-list entry has a weight.
    used: Vec<bool>,
    findings: Findings,
    faults: Vec<Fault>,
}

fn read_mesh(
    data: &Data<'_>,
    at: &At<'_>,
    drawing: &Drawing,
    uv_maps: &[UvMap],
    task: &Task,
) -> Result<ReadMesh, ImportError> {
    let mut out = ReadMesh {
        item: None,
        used: Vec::new(),
        findings: Findings::default(),
        faults: Vec::new(),
    };
    let primitives = match at.items("primitives") {
        Ok(primitives) if !primitives.is_empty() => primitives,
        other => {
            let fault = other.err().unwrap_or_else(|| at.lacks("primitives"));
            out.findings.push(fault.finding("The mesh was left out."));
            out.faults.push(fault);
            return Ok(out);
        }
    };
    let list_bytes = PRIMITIVE_BYTES * primitives.len() as u64;
    if let Err(fault) = data.budget.charge(list_bytes, &at.place) {
        out.findings.push(fault.finding("The mesh was left out."));
        out.faults.push(fault);
        return Ok(out);
    }
    report_weights(&primitives, at, drawing, &mut out.findings);
    let context = Context {
        slots: drawing.slots.as_deref(),
        n_targets: n_targets(at),
        uv_maps,
    };
    let read: Vec<_> = (0..primitives.len())
        .into_par_iter()
        .map(|p| -> Result<_, ImportError> {
            task.check()?;
            let primitive = primitives.at(p);
            let mut findings = Findings::default();
            let source = primitive::read(data, &primitive, &context, &mut findings);
            Ok((source, findings))
        })
        .collect::<Result<_, _>>()?;
    let mut sources = Vec::with_capacity(read.len());
    for (source, findings) in read {
        out.findings.append(findings);
        sources.push(match source {
            Ok(source) => source,
            Err(fault) => {
                out.findings
                    .push(fault.finding("The primitive was left out."));
                out.faults.push(fault);
                PrimitiveSource::default()
            }
        });
    }
    if sources.iter().all(|s| s.positions.is_empty()) {
        return Ok(out);
    }
    task.check()?;
    let morph_weights = morph_weights(at, context.n_targets, &mut out.findings)
        .unwrap_or_else(|| vec![0.0; context.n_targets]);
    let built = MeshSource {
        name: at.name(&mut out.findings),
        primitives: sources,
        morph_names: morph_names(at, context.n_targets),
    }
    .build();
    for finding in built.findings {
        out.findings.push(finding);
    }
    let mut used = vec![false; drawing.slots.as_ref().map_or(0, Vec::len)];
    for (joint, _) in built.influences.iter().flat_map(RowRef::iter) {
        used[usize::from(joint)] = true;
    }
    out.used = used;
    out.item = Some(MeshItem {
        geometry: Arc::new(built.mesh),
        source_influences: built.influences.clone(),
        invalid: Arc::new(built.invalid),
        influences: built.influences,
        stack: Arc::new(DeformStack::default()),
        layers: crate::document::LayerStack::default(),
        masks: Masks::default(),
        correctives: Arc::default(),
        clusters: Arc::default(),
        morph_weights,
    });
    Ok(out)
}

fn report_weights(primitives: &List<'_>, at: &At<'_>, drawing: &Drawing, findings: &mut Findings) {
    let n_with = primitives.iter().filter(primitive::has_weights).count();
    if drawing.slots.is_none() && n_with > 0 {
        findings.push(Finding::info(
            &at.place,
            format!(
                "{} has weights, but no skin draws it; the weights are not shown.",
                at.place
            ),
        ));
    }
    if drawing.slots.is_some() && n_with > 0 && n_with < primitives.len() {
        findings.push(Finding::warning(
            &at.place,
            format!(
                "{} of the {} primitives of {} have no weights, although a skin draws it.",
                primitives.len() - n_with,
                primitives.len(),
                at.place
            ),
        ));
    }
}

/// The names of the morph targets: `extras.targetNames`, as Blender and most other exporters write them.
fn morph_names(at: &At<'_>, n_targets: usize) -> Vec<String> {
    let names = at
        .get("extras")
        .and_then(|extras| extras.items("targetNames").ok())
        .unwrap_or_default();
    (0..n_targets)
        .map(|t| names.at(t).value.as_str().unwrap_or_default().to_owned())
        .collect()
}
