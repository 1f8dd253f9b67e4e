//! What an export says about invalid weights of the source.

use super::options::ExportOptions;
use crate::bake::{BakeMode, BakeOptions};
use crate::document::{Document, InvalidWeights, MeshId, MeshItem};
use crate::finding::{Finding, Fix, Place, counted};

/// A finding for each mesh with invalid weights in the source. Its fix is for the vertices without a valid weight: the
/// other weights of a vertex with a broken one are normalised already.
pub(super) fn of_invalid_weights(document: &Document, options: &ExportOptions) -> Vec<Finding> {
    let is_of_frames = |correct: &BakeOptions| correct.mode == BakeMode::Frames;
    if options.correct.as_ref().is_some_and(is_of_frames) {
        return Vec::new();
    }
    let then = if options.fix_weights {
        "The export writes valid weights."
    } else {
        "The export writes valid weights, but if nothing else changes, it copies the file with the invalid ones, unless \
         Fix invalid weights (`--fix-weights`) is on."
    };
    let meshes = document.meshes().iter();
    let invalid = meshes.filter(|(_, item)| !item.invalid.is_empty());
    let findings = invalid.map(|(&id, item)| {
        let to_fix = item.points_to_fix();
        let fix = (!to_fix.is_empty()).then_some(Fix::CopyNearest);
        let points = match fix {
            Some(_) => to_fix,
            None => item.invalid.points(),
        };
        let target = Place::Points {
            mesh: id.0,
            points: points.into(),
        };
        let message = format!("The source has {}. {then}", what(&item.invalid));
        let finding = Finding::warning(mesh_place(id, item), message);
        finding.at(target).fixed_by(fix)
    });
    findings.collect()
}

/// The faults and their numbers.
fn what(invalid: &InvalidWeights) -> String {
    let broken = (!invalid.broken.is_empty()).then(|| {
        format!(
            "weights that are negative, infinite, not a number or of no joint at {}",
            counted(invalid.broken.len(), "vertex")
        )
    });
    let missing = (!invalid.missing.is_empty()).then(|| {
        format!(
            "no valid weight above 0 at {}",
            counted(invalid.missing.len(), "vertex")
        )
    });
    let faults: Vec<String> = [broken, missing].into_iter().flatten().collect();
    faults.join(", and ")
}

/// The name of a mesh in findings.
pub(super) fn mesh_place(mesh: MeshId, item: &MeshItem) -> String {
    let name = &item.geometry.name;
    if name.is_empty() {
        format!("mesh {}", mesh.0)
    } else {
        format!("mesh {} \"{name}\"", mesh.0)
    }
}
