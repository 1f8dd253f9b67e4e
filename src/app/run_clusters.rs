//! Runs the commands on control clusters.

use super::SinewApp;
use crate::editor::SampleTask;
use crate::view::commands::Command;
use crate::view::frame::PanelKind;

impl SinewApp {
    /// Runs a command on the control clusters of the active object.
    pub(super) fn run_on_clusters(&mut self, command: Command) {
        let active = self.editor.active_group();
        let needs_group = matches!(
            command,
            Command::SelectGroup
                | Command::IsolateGroup
                | Command::RenameGroup
                | Command::DeleteGroup
        );
        if needs_group && active.is_none() {
            self.editor
                .tell("There are no groups. Add one in the Clusters panel first.");
            return;
        }
        match command {
            Command::MarkBrush => self.editor.set_moves_clusters(false),
            Command::MarkSelected => self.editor.mark_selected(),
            Command::UnmarkSelected => self.editor.unmark_selected(),
            Command::UnmarkAll => self.editor.unmark_all(),
            Command::GrowGroup => self.editor.grow_group(),
            Command::ShrinkGroup => self.editor.shrink_group(),
            Command::AddMuscle => {
                self.open_panel(PanelKind::Clusters);
                self.editor.add_muscle();
            }
            Command::AddDriver => {
                self.open_panel(PanelKind::Clusters);
                self.editor.add_driver();
            }
            Command::SuggestClusters => {
                self.open_panel(PanelKind::Clusters);
                self.editor.suggest_clusters();
            }
            Command::ReduceSamples => self.editor.change_samples(SampleTask::Reduce),
            Command::PromoteAnchors => self.editor.promote_anchors(),
            Command::AssignGroup(group) => self.editor.assign_group(group),
            Command::SelectGroup => {
                if let Some(group) = active {
                    self.editor.select_group(group);
                }
            }
            Command::IsolateGroup => {
                let alone = self.editor.isolated_group().is_some();
                self.editor.isolate_group(active.filter(|_| !alone));
            }
            Command::AddGroup(preset) => {
                self.open_panel(PanelKind::Clusters);
                self.editor.add_group(preset);
            }
            Command::RenameGroup => {
                self.open_panel(PanelKind::Clusters);
                self.clusters.start_renaming(&self.editor);
            }
            Command::DeleteGroup => {
                if let Some(group) = active {
                    self.editor.delete_group(group);
                }
            }
            _ => {}
        }
    }
}
