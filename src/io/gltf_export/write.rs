//! Writes the source model with changed weights, clips and names, and with baked data.

use super::allocator::Policy;
use super::destination::{Destination, Written};
use super::error::GltfWriteError;
use super::nodes::AddedNodes;
use super::package::{Package, Packed};
use super::referenced::add_referenced;
use super::report::ExportReport;
use super::slots::FileSlots;
use super::{
    clips, drivers, helper_joints, joints, node_constraints, nodes, reshaped, shared_meshes,
    weights, widen,
};
use crate::bake::{BakeMode, BakeOptions, Baked};
use crate::document::{ClipId, Document, Repairs};
use crate::skeleton::Clip;
use crate::task::Task;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What baked data of a file is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BakedUse {
    /// Players show the result of the stacks with linear blend skinning.
    Correction,
    /// Morph targets of samples, for programs that drive them: nothing is corrected.
    SampleTargets,
}

/// The changes for a file that are not part of the document.
pub struct Changes<'a> {
    /// The clips of the file, in order.
    pub clips: &'a BTreeMap<ClipId, Arc<Clip>>,
    /// Baked helper joints, weights and morph targets, and the bake options.
    pub baked: Option<(&'a Baked, &'a BakeOptions)>,
    /// What the baked data is for.
    pub baked_use: BakedUse,
    /// The maximum number of influences per point in rewritten primitives, 1 - 8.
    pub influences: usize,
    /// Writes the current pose as the rest pose of the file.
    pub write_pose_as_rest: bool,
    /// Writes what was repaired on reading, too.
    pub repair: bool,
    /// Writes constraints as `VRMC_node_constraint` even where the source has none.
    pub node_constraints: bool,
}

/// Copies the source's files byte for byte; `clips`: the clips of the document.
pub fn copy_source(
    document: &Document,
    clips: &BTreeMap<ClipId, Arc<Clip>>,
    destination: &Destination<'_>,
) -> Result<Written, GltfWriteError> {
    let source = document.source().ok_or(GltfWriteError::NoSource)?;
    let mut report = ExportReport {
        verbatim: true,
        is_converted: source.converted_from.is_some(),
        clips: clips.keys().copied().collect(),
        ..ExportReport::default()
    };
    let name = destination.format.file_name(&destination.name);
    let mut files = vec![(name, source.bytes.clone())];
    let outside = destination.include_outside;
    add_referenced(source, &source.json, outside, &mut files, &mut report)?;
    report.copied_invalid(document);
    Ok(Written { files, report })
}

/// Writes the document's model with `changes`.
pub fn write_model(
    document: &Document,
    changes: &Changes<'_>,
    destination: &Destination<'_>,
    task: &Task,
) -> Result<Written, GltfWriteError> {
    let source = document.source().ok_or(GltfWriteError::NoSource)?;
    let mut report = ExportReport::default();
    let mut package = Package::new(source, destination, &mut report.findings);
    package.copy_meshes(document, &mut report.findings)?;
    // An edit without baked data keeps all bytes of the source, which makes files easy to compare.
    let mut patch = package.patch(match changes.baked {
        Some(_) => Policy::Reuse,
        None => Policy::Append,
    });
    let limit = changes.influences.clamp(1, 8);
    let baked = changes.baked.map(|(baked, _)| baked);
    let slots = FileSlots::new(document);
    let none = Repairs::default();
    let repairs = if changes.repair {
        &source.repairs
    } else {
        &none
    };
    let skins = (&slots, &repairs.skins);
    joints::patch_joints(document, skins, baked, &mut patch, &mut report);
    weights::patch_weights(
        document,
        baked,
        &slots,
        limit,
        &mut patch,
        &mut report,
        task,
    )?;
    reshaped::patch_points(document, &mut patch, &mut report)?;
    let mut added = AddedNodes::default();
    if let Some((baked, options)) = changes.baked {
        let (patch, report) = (&mut patch, &mut report);
        if changes.baked_use == BakedUse::Correction {
            crate::io::gltf::mark_baked(&mut patch.json);
        }
        added = helper_joints::patch_corrections(
            document, baked, &slots, options, patch, report, task,
        )?;
        if options.mode == BakeMode::Retarget {
            drivers::patch_drivers(document, baked, &added, options, patch, report);
        }
    }
    let clips = match baked {
        Some(baked) => widen::widened_clips(document, baked, changes.clips, &patch.json),
        None => Cow::Borrowed(changes.clips),
    };
    clips::patch_clips(
        document,
        baked,
        &added,
        (&clips, repairs),
        &mut patch,
        &mut report,
        task,
    )?;
    nodes::patch_names(document, &mut patch.json);
    report.repaired_at_rest(repairs.skins.len(), repairs.rotations.len());
    nodes::patch_rotations(document, &repairs.rotations, &mut patch.json);
    if changes.write_pose_as_rest {
        nodes::patch_rest(document, &mut patch.json, &mut report);
    }
    if let Some(baked) = baked {
        shared_meshes::copy_for_each_node(baked, &mut patch, &mut report);
    }
    let all = changes.node_constraints;
    node_constraints::patch_constraints(document, all, &mut patch, &mut report);
    task.step("Writing the model", 0.9)?;
    let patched = patch.finish();
    report.n_bytes_added = patched.n_bytes_added;
    let Packed { mut files, json } = package.finish(patched, destination.meshopt)?;
    let outside = destination.include_outside;
    add_referenced(source, &json, outside, &mut files, &mut report)?;
    Ok(Written { files, report })
}
