//! Export of a static mesh: one frame of the model, as glTF or Wavefront OBJ depending on the file extension.

use super::error::ExportError;
use super::left_out::{Omission, of_left_out};
use super::options::{ExportOptions, Exported};
use super::read_back::{document_of, drawn_in, read_parts};
use super::refusals::{refuse_cut_short, refuse_outside};
use super::save::{is_free_beside, save_files};
use crate::bake::frames::place_points;
use crate::bake::static_shapes::{StaticPose, StaticShape, static_shapes};
use crate::document::{Document, InstanceId};
use crate::finding::Finding;
use crate::io::gltf_export::{
    Destination, ExportReport, GltfFormat, files_of_model, for_file, write_shapes,
};
use crate::io::obj::{files_of_obj, write_obj};
use crate::io::{Outputs, is_obj};
use crate::math::Worse;
use crate::task::Task;
use glam::Vec3;
use std::collections::BTreeMap;
use std::path::Path;

/// The largest distance attributed to rounding, as a fraction of the diagonal.
const ROUNDING: f64 = 1e-6;

/// Exports a frame of `document` to `path`, whose extension determines the format, with the files it needs beside it;
/// each file is written and renamed in one step, the model last.
pub fn export_static_mesh_to_file(
    document: &Document,
    path: &Path,
    pose: &StaticPose,
    include_outside: bool,
    outputs: &mut Outputs,
    task: &Task,
) -> Result<ExportReport, ExportError> {
    outputs.check(path)?;
    let stem = path.file_stem().map(|stem| stem.to_string_lossy());
    let name = stem.unwrap_or_default().into_owned();
    let (exported, owned) = if is_obj(path) {
        let exported = export_obj(document, pose, &name, task)?;
        (exported, files_of_obj(path))
    } else {
        let unknown = || ExportError::Extension { path: path.into() };
        let options = ExportOptions {
            format: GltfFormat::of_path(path).ok_or_else(unknown)?,
            name,
            include_outside,
            ..ExportOptions::default()
        };
        let owned = files_of_model(path);
        let is_free = is_free_beside(path, &owned);
        let exported = static_mesh_beside(document, pose, &options, &is_free, task)?;
        (exported, owned.clone())
    };
    save_files(document, path, &exported, &owned, outputs, task)?;
    Ok(exported.report)
}

/// Exports a frame of the document's model to memory; of `options`, only the format and the name apply.
pub fn export_static_mesh(
    document: &Document,
    pose: &StaticPose,
    options: &ExportOptions,
    task: &Task,
) -> Result<Exported, ExportError> {
    static_mesh_beside(document, pose, options, &|_| true, task)
}

/// Exports a frame of the document as OBJ to memory: `name`.obj, `name`.mtl if there are materials, and the images they
/// use.
pub fn export_obj(
    document: &Document,
    pose: &StaticPose,
    name: &str,
    task: &Task,
) -> Result<Exported, ExportError> {
    let moment = pose.moment(document);
    let pose = pose.pose(document).ok_or(ExportError::NoClip)?;
    let shapes = static_shapes(document, pose.at(moment), task)?;
    let mut written = write_obj(document, &shapes, name, task)?;
    let findings = &mut written.report.findings;
    findings.extend(of_left_out(document, Omission::Written));
    Ok(Exported::uncorrected(written))
}

fn static_mesh_beside(
    document: &Document,
    pose: &StaticPose,
    options: &ExportOptions,
    is_free: &dyn Fn(&str) -> bool,
    task: &Task,
) -> Result<Exported, ExportError> {
    let document = &*for_file(document);
    let moment = pose.moment(document);
    let pose = pose.pose(document).ok_or(ExportError::NoClip)?;
    let shapes = static_shapes(document, pose.at(moment), task)?;
    refuse_outside(document, options)?;
    refuse_cut_short(document)?;
    let destination = Destination::new(document, options.format, &options.name, is_free)
        .including_outside(options.include_outside);
    let mut written = write_shapes(document, &pose, &shapes, &destination, task)?;
    task.step("Reading the file back", 0.95)?;
    let drawn = drawn_in(document, &written.report);
    let read = document_of(read_parts(&written.files, &drawn, task)?)?;
    let there = written.report.instances.take().unwrap_or_default();
    let there = |id| there.get(&id).copied();
    check(document, &shapes, &read, &there, &mut written.report);
    let findings = &mut written.report.findings;
    findings.extend(of_left_out(document, Omission::Posed));
    Ok(Exported::uncorrected(written))
}

/// Adds a finding for each mesh whose positions in `read`, the file read back, differ from `shapes`.
fn check(
    document: &Document,
    shapes: &BTreeMap<InstanceId, StaticShape>,
    read: &Document,
    there: &dyn Fn(InstanceId) -> Option<InstanceId>,
    report: &mut ExportReport,
) {
    let points = || shapes.values().flat_map(|shape| &shape.positions);
    let low = points().fold(Vec3::INFINITY, |a, p| a.min(*p));
    let high = points().fold(Vec3::NEG_INFINITY, |a, p| a.max(*p));
    let diagonal = f64::from((high - low).length());
    let pose = read.rest_pose();
    let world = pose.world_matrices(read.skeleton());
    for (&id, shape) in shapes {
        let drawn = document.instances().get(&id);
        let Some(item) = drawn.and_then(|i| document.meshes().get(&i.mesh)) else {
            continue;
        };
        let name = &item.geometry.name;
        let at = format!("mesh \"{name}\"");
        let meant = &item.geometry.point_of_vertex;
        let found = there(id).and_then(|id| place_points(read, id, &pose.morph_weights, &world));
        let Some((points, of_vertex)) = found.filter(|(_, of)| of.len() == meant.len()) else {
            let message = "The file as read back does not have all of its vertices.";
            report.findings.push(Finding::warning(at, message));
            continue;
        };
        let distances = meant.iter().zip(of_vertex).map(|(&p, &q)| {
            let place = points.get(q as usize).copied().unwrap_or(Vec3::NAN);
            f64::from(shape.positions[p as usize].distance(place))
        });
        let off = distances.fold(0.0, f64::worse);
        if off > ROUNDING * diagonal {
            let percent = 100.0 * off / diagonal;
            report.findings.push(Finding::warning(
                at,
                format!(
                    "The file as read back differs by up to {off:.3e} m ({percent:.5} % of the diagonal)."
                ),
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn a_file_that_shows_something_else_is_not_passed_over() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/arm.glb");
        let imported = crate::io::import_file(&path, &Task::new()).unwrap();
        let document = Document::new(imported.parts).unwrap();
        let (&id, clip) = document.clips().iter().next().unwrap();
        let posed = StaticPose {
            clip: Some(id),
            time: f64::from(clip.end_secs()) * 0.4,
        };
        let shapes = |pose: &StaticPose| {
            let (at, moment) = (pose.pose(&document).unwrap(), pose.moment(&document));
            static_shapes(&document, at.at(moment), &Task::new()).unwrap()
        };
        let options = ExportOptions::default();
        let exported = export_static_mesh(&document, &posed, &options, &Task::new()).unwrap();
        let glb = exported.files[0].1.clone();
        let read = crate::io::import_bytes(glb, None, None, &Task::new()).unwrap();
        let read = Document::new(read.parts).unwrap();
        let only = *read.instances().keys().next().unwrap();
        let findings = |pose: &StaticPose, there: Option<InstanceId>| {
            let mut report = ExportReport::default();
            check(&document, &shapes(pose), &read, &|_| there, &mut report);
            report.findings
        };
        assert!(findings(&posed, Some(only)).is_empty());
        let off = findings(&StaticPose::default(), Some(only));
        assert!(off.len() == 1 && off[0].message.contains("of the diagonal)"));
        let gone = findings(&posed, None);
        assert!(gone.len() == 1 && gone[0].message.contains("does not have all"));
    }
}
