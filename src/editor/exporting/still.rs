//! Saving the moment on screen as a mesh: one step, since nothing of it depends on how a player moves it.

use super::Editor;
use crate::bake::still::Still;
use crate::editor::files::{FileJob, file_name};
use crate::editor::jobs::EditorJob;
use crate::export::{ExportReport, export_still_to_file};
use std::path::{Path, PathBuf};

/// A still that was saved.
#[derive(Clone, Debug)]
pub struct SavedStill {
    path: PathBuf,
    moment: String,
    report: ExportReport,
}

impl SavedStill {
    pub(super) fn new(path: PathBuf, moment: String, report: ExportReport) -> Self {
        Self {
            path,
            moment,
            report,
        }
    }

    /// The name of its file.
    pub fn name(&self) -> String {
        file_name(&self.path)
    }

    /// Which moment it holds, in words.
    pub fn moment(&self) -> &str {
        &self.moment
    }

    /// What writing it found.
    pub fn report(&self) -> &ExportReport {
        &self.report
    }

    /// What the artist reads once it is there.
    pub(super) fn notice(&self) -> String {
        let text = format!("Exported {}: {}.", self.name(), self.moment);
        let text = format!("{text} {}", self.report.closing());
        text.trim_end().to_owned()
    }
}

impl Editor {
    /// The moment that a still would hold, in words without a full stop.
    pub fn moment_on_screen(&self) -> String {
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
            None if self.document().pose() == self.document().rest_pose() => {
                "the rest pose".to_owned()
            }
            None => "your own pose".to_owned(),
        }
    }

    /// Saves the moment on screen as a mesh to `path`, in the background; what moves on meanwhile is not in it.
    pub fn save_still(&mut self, path: &Path) {
        if !self.can_start_file_job() {
            return;
        }
        self.finish_tool();
        let (document, target) = (self.document.clone(), path.to_owned());
        let mut outputs = self.outputs();
        let moment = self.moment_on_screen();
        let label = format!("Exporting {}", file_name(path));
        let job = self
            .lane
            .submit(EditorJob::WriteExport, &label, move |task| {
                // Without a clip it is the pose that the document shows.
                export_still_to_file(&document, &target, &Still::default(), &mut outputs, task)
            });
        self.job = Some(FileJob::Export {
            path: path.to_owned(),
            moment: Some(moment),
            job,
        });
    }
}
