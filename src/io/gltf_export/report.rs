//! The report of a written file, with its findings.

use crate::document::{ClipId, Document, InstanceId, MeshId};
use crate::finding::{Finding, counted};
use std::collections::BTreeMap;

/// The report of an export.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ExportReport {
    /// Everything that differs from the screen or from the source.
    pub findings: Vec<Finding>,
    /// Whether the files are the source's, byte for byte, since nothing was edited.
    pub verbatim: bool,
    /// Whether the source was converted to glTF: the files are then those of the conversion.
    pub is_converted: bool,
    /// The number of primitives with rewritten weights.
    pub n_primitives_rewritten: usize,
    /// The number of points, over all meshes, with more influences than were written.
    pub n_points_reduced: usize,
    /// The largest weight that such a point lost, as a fraction of its sum.
    pub largest_weight_lost: f32,
    /// The document's clips in the file, in the document's order, including clips without keyframes if the file keeps
    /// their animations because of data that Sinew does not read.
    pub clips: Vec<ClipId>,
    /// The instance in the file for each instance of the document; `None` if the nodes are those of the source.
    pub instances: Option<BTreeMap<InstanceId, InstanceId>>,
    /// The number of clips rewritten or added.
    pub n_clips_written: usize,
    /// The number of clips removed.
    pub n_clips_removed: usize,
    /// The number of keyframes added, so that other players reproduce screw interpolation.
    pub n_keys_added: usize,
    /// The number of clips with such keyframes.
    pub n_clips_densified: usize,
    /// The number of preview clips left out.
    pub n_clips_left_out: usize,
    /// The number of bytes appended to the source's data.
    pub n_bytes_added: usize,
}

impl ExportReport {
    /// The text of the notice after the export: the first finding, added keyframes, omitted clips. Empty without any.
    pub fn closing(&self) -> String {
        // The findings about clips come last, one each, and are only counted here.
        let n_others = self.findings.len() - self.n_clips_densified - self.n_clips_left_out;
        let first = self.findings[..n_others].first();
        let first = first.map(|finding| finding.message.clone());
        let added = (self.n_keys_added > 0).then(|| {
            format!(
                "{} added to {}, so that any player reproduces the screw interpolation.",
                counted(self.n_keys_added, "keyframe"),
                counted(self.n_clips_densified, "clip")
            )
        });
        let left_out = (self.n_clips_left_out > 0).then(|| {
            format!(
                "{} left out.",
                counted(self.n_clips_left_out, "preview clip")
            )
        });
        let sentences: Vec<String> = [first, added, left_out].into_iter().flatten().collect();
        sentences.join(" ")
    }

    pub(super) fn reduced(
        &mut self,
        mesh: MeshId,
        name: &str,
        n_points: usize,
        limit: usize,
        largest_lost: f32,
    ) {
        self.n_points_reduced += n_points;
        self.largest_weight_lost = self.largest_weight_lost.max(largest_lost);
        self.findings.push(Finding::warning(
            mesh_place(mesh, name),
            format!(
                "{} more than {limit} influences; the largest {limit} were written and scaled to sum to 1. The \
                 largest weight lost is {:.4}.",
                vertices_have(n_points),
                largest_lost
            ),
        ));
    }

    /// Adds a finding for each mesh whose invalid weights a copy of the source keeps.
    pub(super) fn copied_invalid(&mut self, document: &Document) {
        for (&mesh, item) in document.meshes() {
            let n = item.invalid.points().len();
            if n > 0 {
                self.findings.push(Finding::warning(
                    mesh_place(mesh, &item.geometry.name),
                    format!(
                        "{} invalid weights in the source. Nothing was changed, so the file is a copy that keeps them. \
                         Export with Fix invalid weights (--fix-weights) to write valid ones.",
                        vertices_have(n)
                    ),
                ));
            }
        }
    }

    /// Adds a finding for a clip of whose channels `n` have keyframes that were repaired on reading.
    pub(super) fn repaired(&mut self, clip: &str, n: usize) {
        let channels = counted(n, "channel");
        self.findings.push(Finding::info(
            format!("clip \"{clip}\""),
            format!(
                "The source has keyframes that are not finite, not in order or not of unit length, or several channels for \
                 one target, in {channels}. The file has them as they were repaired on opening."
            ),
        ));
    }

    /// Adds findings for `skins` and `joints` whose matrices and rotations at rest were repaired on reading.
    pub(super) fn repaired_at_rest(&mut self, skins: usize, joints: usize) {
        let skins = (
            skins,
            "skin",
            "inverse bind matrices that are missing, not finite or not affine",
        );
        let joints = (
            joints,
            "bone",
            "rotations at rest that are not of unit length",
        );
        for (n, noun, what) in [skins, joints].into_iter().filter(|(n, ..)| *n > 0) {
            let message = format!(
                "The source has {what} in {}. The file has them as they were repaired on opening.",
                counted(n, noun)
            );
            self.findings.push(Finding::info("nodes", message));
        }
    }

    pub(super) fn pinned(&mut self, mesh: MeshId, name: &str, n_points: usize) {
        self.findings.push(Finding::warning(
            mesh_place(mesh, name),
            format!(
                "{} no weight, which the format does not allow; it is assigned to the skin's first bone in the file.",
                vertices_have(n_points)
            ),
        ));
    }

    pub(super) fn uncompressed(&mut self, mesh: MeshId, primitive: usize, how: &str, what: &str) {
        self.findings.push(Finding::info(
            format!("meshes[{}].primitives[{primitive}]", mesh.0),
            format!("Its {what} were compressed ({how}) and are written uncompressed, because they were edited."),
        ));
    }
}

fn vertices_have(n: usize) -> String {
    let have = if n == 1 { "has" } else { "have" };
    format!("{} {have}", counted(n, "vertex"))
}

fn mesh_place(mesh: MeshId, name: &str) -> String {
    if name.is_empty() {
        format!("mesh {}", mesh.0)
    } else {
        format!("mesh {} \"{name}\"", mesh.0)
    }
}
