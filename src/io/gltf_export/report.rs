//! The report of a written file, with findings for the artist.

use crate::document::{ClipId, InstanceId, MeshId};
use crate::finding::{Finding, counted};
use std::collections::BTreeMap;

/// What an export did; the findings are for the artist.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ExportReport {
    /// Everything that is not as on screen or not as in the source.
    pub findings: Vec<Finding>,
    /// Whether the files are the source's, byte for byte.
    pub verbatim: bool,
    /// Primitives whose weights were written anew.
    pub n_primitives_rewritten: usize,
    /// Points, over all meshes, that had more influences than were written.
    pub n_points_reduced: usize,
    /// The largest weight that a reduced point lost, as a fraction of its sum.
    pub largest_weight_lost: f32,
    /// Clips of the document that the file holds, in its order: those without keys too where it keeps their animations
    /// for what Sinew does not read of them.
    pub clips: Vec<ClipId>,
    /// What draws each instance of the document in the file, where nodes are not those of the source.
    pub instances: Option<BTreeMap<InstanceId, InstanceId>>,
    /// Clips written anew or added.
    pub n_clips_written: usize,
    /// Clips taken out.
    pub n_clips_removed: usize,
    /// Keys added so that other players follow bones along screws.
    pub n_keys_added: usize,
    /// Clips that these keys are in.
    pub n_clips_densified: usize,
    /// Preview clips that are not in the file.
    pub n_clips_left_out: usize,
    /// Bytes appended to the source's data.
    pub n_bytes_added: usize,
}

impl ExportReport {
    /// What the artist should read once the file is there: the first finding, keys that were added, clips left out. Empty
    /// where there is nothing to say.
    pub fn closing(&self) -> String {
        // Those of clips come last, one each, and are counted here.
        let n_others = self.findings.len() - self.n_clips_densified - self.n_clips_left_out;
        let first = self.findings[..n_others].first();
        let first = first.map(|finding| finding.message.clone());
        let added = (self.n_keys_added > 0).then(|| {
            format!(
                "{} added to {}, so that any player follows the screws.",
                counted(self.n_keys_added, "key"),
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
                if n_points == 1 {
                    "1 point has".to_owned()
                } else {
                    format!("{n_points} points have")
                },
                largest_lost
            ),
        ));
    }

    pub(super) fn pinned(&mut self, mesh: MeshId, name: &str, n_points: usize) {
        self.findings.push(Finding::warning(
            mesh_place(mesh, name),
            format!(
                "{} no weight, which the format does not allow; the skin's first bone moves it in the file.",
                if n_points == 1 {
                    "1 point has".to_owned()
                } else {
                    format!("{n_points} points have")
                }
            ),
        ));
    }

    pub(super) fn uncompressed(&mut self, mesh: MeshId, primitive: usize, how: &str, what: &str) {
        self.findings.push(Finding::info(
            format!("meshes[{}].primitives[{primitive}]", mesh.0),
            format!("Its {what} were compressed ({how}) and are written uncompressed, since they were edited."),
        ));
    }
}

fn mesh_place(mesh: MeshId, name: &str) -> String {
    if name.is_empty() {
        format!("mesh {}", mesh.0)
    } else {
        format!("mesh {} \"{name}\"", mesh.0)
    }
}
