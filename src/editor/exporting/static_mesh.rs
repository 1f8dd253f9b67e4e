//! Saving the current frame as a static mesh: one step, since the result does not depend on how a player deforms it.

use super::Editor;
use crate::bake::static_shapes::StaticPose;
use crate::editor::files::{FileJob, file_name};
use crate::editor::jobs::EditorJob;
use crate::export::{ExportReport, export_static_mesh_to_file};
use std::path::{Path, PathBuf};

/// A saved static mesh.
#[derive(Clone, Debug)]
pub struct SavedStaticMesh {
    path: PathBuf,
    frame_label: String,
    report: ExportReport,
}

impl SavedStaticMesh {
    pub(super) fn new(path: PathBuf, frame_label: String, report: ExportReport) -> Self {
        Self {
            path,
            frame_label,
            report,
        }
    }

    /// The file name.
    pub fn name(&self) -> String {
        file_name(&self.path)
    }

    /// A description of the frame it holds.
    pub fn frame_label(&self) -> &str {
        &self.frame_label
    }

    /// The report of the export.
    pub fn report(&self) -> &ExportReport {
        &self.report
    }

    /// The notice shown once it is saved.
    pub(super) fn notice(&self) -> String {
        let text = format!("Exported {}: {}.", self.name(), self.frame_label);
        let text = format!("{text} {}", self.report.closing());
        text.trim_end().to_owned()
    }
}

impl Editor {
    /// A description of the frame on screen, without a full stop.
    pub fn shown_frame_label(&self) -> String {
        let playback = self.playback();
        match self.shown_clip() {
            _ if self.document().skeleton().is_empty() => "the model".to_owned(),
            Some(_) if playback.unkeyed => "the pose on screen (not keyed)".to_owned(),
            Some((_, clip)) => {
                let frame = self.frame();
                let decimals = usize::from((frame - frame.round()).abs() > 0.01);
                format!(
                    "\"{}\" at {:.3} s (frame {frame:.decimals$})",
                    clip.name, playback.time_secs
                )
            }
            None if self.document().posed() == *self.document().rest_pose() => {
                "the rest pose".to_owned()
            }
            None => "your own pose".to_owned(),
        }
    }

    /// Saves the current frame as a static mesh to `path`, in the background; later changes are not included.
    pub fn save_static_mesh(&mut self, path: &Path) {
        if !self.can_start_file_job() {
            return;
        }
        self.finish_tool();
        let (document, target) = (self.shown_body(), path.to_owned());
        let mut outputs = self.outputs();
        let frame_label = self.shown_frame_label();
        let include_outside = self.exporting.settings.include_outside;
        let label = format!("Exporting {}", file_name(path));
        let job = self
            .lane
            .submit(EditorJob::WriteExport, &label, move |task| {
                // Without a clip, the file holds the document's pose.
                export_static_mesh_to_file(
                    &document,
                    &target,
                    &StaticPose::default(),
                    include_outside,
                    &mut outputs,
                    task,
                )
            });
        self.job = Some(FileJob::Export {
            path: path.to_owned(),
            frame_label: Some(frame_label),
            job,
        });
    }
}
