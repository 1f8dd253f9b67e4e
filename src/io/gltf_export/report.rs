//! What an export did besides writing what the artist sees, in plain words.

use super::verify::{CorrectionReport, LACKS_CLIP};
use crate::bake::Jump;
use crate::document::{ClipId, Document, InstanceId, MeshId};
use crate::finding::{Finding, counted, trimmed};
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
    /// What correction came to, where it was asked for.
    pub correction: Option<CorrectionReport>,
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

    /// Keeps what correction came to; a miss is said first of all.
    pub(super) fn tell_correction(&mut self, correction: CorrectionReport) {
        if let Some(whole) = &correction.whole_stack {
            let message = format!(
                "Helper joints follow the skinning; what the stack does after it (bulges, smoothing) is not in the file. \
                 Against the whole stack the file is at most {:.4} % of the diagonal off.",
                whole.max_percent
            );
            self.findings
                .insert(0, Finding::info("correction", message));
        }
        let most = correction.tolerance_percent;
        let tolerance = trimmed(most);
        if let Some(driven) = &correction.driven
            && driven.max_percent > most
        {
            let message = format!(
                "The tolerance of {tolerance} % is missed in poses that no clip of the file has, each bone turned up to 110 \
                 degrees: at most {:.4} % of the diagonal off, against {:.3} % without correction.",
                driven.max_percent,
                driven.before_max_percent.unwrap_or(0.0)
            );
            self.findings
                .insert(0, Finding::warning("correction", message));
        }
        if correction.lacks_clip {
            self.findings
                .insert(0, Finding::warning("correction", LACKS_CLIP));
        }
        if correction.max_percent > most {
            let at = correction.worst.as_ref().map_or_else(String::new, |worst| {
                format!(
                    " (clip \"{}\" at {:.3} s, vertex {})",
                    worst.clip, worst.time, worst.vertex
                )
            });
            let message = format!(
                "The tolerance of {tolerance} % is missed: at most {:.4} % of the diagonal off{at}.",
                correction.max_percent
            );
            self.findings
                .insert(0, Finding::warning("correction", message));
        }
        self.correction = Some(correction);
    }

    /// Says where the skin itself jumps, clip by clip.
    pub(super) fn tell_jumps(&mut self, document: &Document, jumps: &[Jump]) {
        for of_clip in jumps.chunk_by(|a, b| a.clip == b.clip) {
            let [first, rest @ ..] = of_clip else {
                continue;
            };
            let clip = document.clips().get(&first.clip);
            let name = clip.map_or("", |clip| clip.name.as_str());
            let label = |joint| document.skeleton().label(joint);
            let more = match rest.len() {
                0 => String::new(),
                1 => " It does so once more.".to_owned(),
                n => format!(" It does so {n} times more."),
            };
            self.findings.push(Finding::warning(
                format!("clip \"{name}\""),
                format!(
                    "The skin jumps at {:.3} s: {} and {} turn by 180 degrees against each other there, and dual quaternions \
                     go the other way round. The file jumps with it, within two thousandths of a second.{more}",
                    first.time,
                    label(first.joints.0),
                    label(first.joints.1),
                ),
            ));
        }
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
