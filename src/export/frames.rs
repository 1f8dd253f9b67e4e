//! The report of a file of morph frames: the targets of each mesh, and findings.

use super::improvement::Improvement;
use super::plan::Plan;
use super::report::CorrectedMesh;
use crate::document::Document;
use crate::finding::{Finding, counted};
use crate::io::gltf_export::{Framed, WITHOUT_TANGENTS, WrittenFrames};

/// The number of morph targets that all common viewers show.
pub const FEW_TARGETS: usize = 64;
/// The number of morph targets above which Filament rejects a model.
const MANY: usize = 256;

/// The largest number of morph targets of a mesh.
pub(super) fn n_targets(framed: &Framed) -> usize {
    framed.values().map(|f| f.targets.len()).max().unwrap_or(0)
}

/// Inserts findings about omitted clips, and targets that players may reject, before all others.
pub(super) fn add_frame_findings(
    findings: &mut Vec<Finding>,
    plan: &Plan<'_>,
    framed: &Framed,
    written: &WrittenFrames,
) {
    let n_targets = n_targets(framed);
    // Chosen clips without motion.
    let n_still = plan.n_without_keys + plan.clips.clips.len() - written.clips.len();
    let mut first = Vec::new();
    if n_targets > FEW_TARGETS {
        let refuses = if n_targets > MANY {
            " Viewers based on Filament reject more than 256."
        } else {
            ""
        };
        first.push(Finding::warning(
            "frames",
            format!(
                "A mesh has {}; some viewers show no more than {FEW_TARGETS}.{refuses}",
                counted(n_targets, "morph target")
            ),
        ));
    }
    let left_out = [
        (plan.n_not_chosen, "not chosen, so not in the file."),
        (n_still, "not in the file, because nothing moves."),
    ];
    for (n, why) in left_out.into_iter().filter(|(n, _)| *n > 0) {
        first.push(Finding::info(
            "clips",
            format!("{} without frames: {why}", counted(n, "clip")),
        ));
    }
    if written.without_tangents {
        first.push(Finding::info("meshes", WITHOUT_TANGENTS));
    }
    if written.n_freed > 0 {
        first.push(Finding::info(
            "nodes",
            format!(
                "{} flat or mirrored in some frame: the meshes there have separate nodes.",
                counted(written.n_freed, "node")
            ),
        ));
    }
    findings.splice(0..0, first);
}

/// A warning about clips in which the error of morph frames is no smaller than that of plain linear skinning; `None` without any.
pub(super) fn skinning_finding(document: &Document, improvement: &Improvement) -> Option<Finding> {
    let worse = improvement.worse();
    let (&first, rest) = worse.split_first()?;
    let (before, after) = improvement.of_clip(first)?;
    let name = &document.clips().get(&first)?.name;
    let more = match rest.len() {
        0 => String::new(),
        n => format!(" The same is true of {}.", counted(n, "more clip")),
    };
    let message = format!(
        "Clip \"{name}\" has an error of {:.3} % of the diagonal as morph frames, and of {:.3} % without a correction: export it \
         with its skin.{more}",
        100.0 * after,
        100.0 * before,
    );
    Some(Finding::warning("correction", message))
}

/// The number of targets of each mesh.
pub(super) fn corrected_meshes(
    document: &Document,
    framed: &Framed,
    normals: bool,
) -> Vec<CorrectedMesh> {
    let meshes = framed.iter().filter_map(|(id, framed)| {
        let instance = document.instances().get(id)?;
        let item = document.meshes().get(&instance.mesh)?;
        let moved = framed.targets.iter().map(|target| {
            let pairs = target.positions.iter().zip(&framed.base.positions);
            pairs.filter(|(a, b)| a != b).count()
        });
        Some(CorrectedMesh {
            mesh: instance.mesh.0,
            name: item.geometry.name.clone(),
            reweighted: false,
            morph_targets: framed.targets.len(),
            displacements: moved.sum(),
            turned_normals: if normals {
                framed.targets.iter().map(|t| t.normals.len()).sum()
            } else {
                0
            },
        })
    });
    meshes.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::skeleton::Clip;
    use std::sync::Arc;

    #[test]
    fn a_clip_that_its_skin_shows_better_is_named() {
        let mut parts = crate::document::Parts::default();
        for (id, name) in (0..).zip(["Walk", "Run", "Rest"]) {
            let clip = Clip {
                name: name.to_owned(),
                ..Clip::default()
            };
            parts
                .clips
                .insert(crate::document::ClipId(id), Arc::new(clip));
        }
        let document = Document::new(parts).unwrap();
        let found = |clips: &[(f64, f64)]| {
            let improvement = Improvement::of_clips(0.001, clips);
            skinning_finding(&document, &improvement).map(|finding| finding.message)
        };
        assert_eq!(found(&[(0.02, 0.0009), (0.0005, 0.0008), (0.0, 0.0)]), None);
        let one = found(&[(0.02, 0.0009), (0.0015, 0.002)]).unwrap();
        assert!(one.contains("\"Run\" has an error of 0.200 %") && one.contains("0.150 % without"));
        assert!(!one.contains("more clip"), "{one}");
        let two = found(&[(0.02, 0.02), (0.01, f64::NAN)]).unwrap();
        assert!(
            two.contains("\"Walk\"") && two.contains("1 more clip."),
            "{two}"
        );
    }
}
