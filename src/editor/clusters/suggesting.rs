//! Suggested control clusters: computed on the job lane, held until they are accepted or dropped.
//!
//! Invariant: suggestions change the document only when they are accepted, in one undo step.

use super::Editor;
use crate::document::Document;
use crate::editor::jobs::EditorJob;
use crate::evaluate::{JobError, JobHandle};
use crate::finding::counted;
use crate::suggest::{
    ClusterGoal, SuggestClustersError, SuggestedClusters, Training, TrainingPoses, suggest_clusters,
};
use crate::task::Task;

/// What clusters are suggested for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClusterTarget {
    /// The largest distance of a vertex from where the deformer stack has it, as a fraction of the model's diagonal.
    pub error: f64,
    /// The poses in which it is measured.
    pub poses: TrainingPoses,
}

impl Default for ClusterTarget {
    fn default() -> Self {
        Self {
            error: 0.005,
            poses: TrainingPoses::default(),
        }
    }
}

/// The suggested clusters, what they are for, and the computation under way.
#[derive(Default)]
pub(in crate::editor) struct ClusterSuggestions {
    target: ClusterTarget,
    found: Option<Found>,
    /// Why there are none.
    failure: Option<String>,
    job: Option<Running>,
}

struct Found {
    suggested: SuggestedClusters,
    /// The document that they were computed for.
    base: Document,
    /// The chosen round.
    round: usize,
}

struct Running {
    base: Document,
    job: JobHandle<Result<SuggestedClusters, SuggestClustersError>>,
}

impl ClusterSuggestions {
    /// Drops everything but the target, for another model.
    pub(in crate::editor) fn forget_model(&mut self) {
        if let Some(running) = &self.job {
            running.job.task().cancel();
        }
        *self = Self {
            target: self.target,
            ..Self::default()
        };
    }
}

impl Editor {
    /// What clusters are suggested for.
    pub fn cluster_target(&self) -> ClusterTarget {
        self.cluster_suggestions.target
    }

    /// Sets what clusters are suggested for; the next computation reads it.
    pub fn set_cluster_target(&mut self, target: ClusterTarget) {
        self.cluster_suggestions.target = target;
    }

    /// Starts to choose control clusters for the active object, on the job lane. They replace those held.
    pub fn suggest_clusters(&mut self) {
        let Some(mesh) = self.clustered_mesh() else {
            self.notify("Select an object first.");
            return;
        };
        self.finish_tool();
        self.cancel_suggesting_clusters();
        let (base, target) = (self.document.clone(), self.cluster_suggestions.target);
        let label = format!("Suggest clusters for {}", self.mesh_label(mesh));
        let document = base.clone();
        let kind = EditorJob::SuggestClusters;
        let job = self.lane.submit(kind, &label, move |task| {
            let training = Training::of(&document, target.poses);
            let goal = ClusterGoal::error(target.error);
            suggest_clusters(&document, mesh, goal, &training, task)
        });
        self.cluster_suggestions.failure = None;
        self.cluster_suggestions.job = Some(Running { base, job });
    }

    /// The progress of the computation of suggested clusters.
    pub fn suggesting_clusters(&self) -> Option<&Task> {
        let running = self.cluster_suggestions.job.as_ref()?;
        Some(running.job.task())
    }

    /// Cancels the computation of suggested clusters.
    pub fn cancel_suggesting_clusters(&mut self) {
        if let Some(running) = self.cluster_suggestions.job.take() {
            running.job.task().cancel();
        }
    }

    /// The suggested clusters of the active object, and the chosen round of them.
    pub fn suggested_clusters(&self) -> Option<(&SuggestedClusters, usize)> {
        let found = self.cluster_suggestions.found.as_ref()?;
        let is_own = self.clustered_mesh() == Some(found.suggested.mesh);
        is_own.then_some((&found.suggested, found.round))
    }

    /// Why the latest computation suggests no clusters.
    pub fn cluster_suggestion_failure(&self) -> Option<&str> {
        self.cluster_suggestions.failure.as_deref()
    }

    /// Chooses a round of the suggested clusters: fewer of them with a larger error, or more with a smaller one.
    pub fn choose_suggested_round(&mut self, round: usize) {
        if let Some(found) = &mut self.cluster_suggestions.found {
            found.round = round.min(found.suggested.rounds.len().saturating_sub(1));
        }
    }

    /// Drops the suggested clusters.
    pub fn drop_suggested_clusters(&mut self) {
        self.cluster_suggestions.forget_model();
    }

    /// Marks the clusters of the chosen round: one undo step. Returns whether it did.
    pub fn accept_suggested_clusters(&mut self) -> bool {
        self.finish_tool();
        let Some(found) = &self.cluster_suggestions.found else {
            return false;
        };
        let mesh = found.suggested.mesh;
        let clusters = |document: &Document| {
            let item = document.meshes().get(&mesh);
            item.map(|item| item.clusters.clone())
        };
        let is_same = clusters(&found.base) == clusters(&self.document)
            && found.base.bends_the_same(&self.document);
        if !is_same || self.clustered_mesh() != Some(mesh) {
            self.notify(
                "The model changed since these clusters were suggested. Suggest clusters again.",
            );
            return false;
        }
        let map = found.suggested.of_round(found.round);
        let group = found.suggested.group();
        let before = self.cluster_counts().iter().sum::<usize>();
        let is_marked = self.in_step("Accept suggested clusters", |editor| {
            let is_marked = editor.change_clusters("Accept suggested clusters", |_| Ok(map));
            if is_marked {
                let n = editor.cluster_counts().iter().sum::<usize>() - before;
                let label = format!("Accept {}", counted(n, "suggested cluster"));
                editor.history.name_step(label);
                editor
                    .document
                    .session_mut()
                    .active_groups
                    .insert(mesh, group);
            }
            is_marked
        });
        if is_marked {
            self.cluster_suggestions.found = None;
        } else {
            self.notify("The object has these clusters already.");
        }
        is_marked
    }

    /// Takes the clusters of a computation that has ended.
    pub(in crate::editor) fn take_suggested_clusters(&mut self) {
        let job = &mut self.cluster_suggestions.job;
        let Some(ended) = job.take_if(|running| running.job.has_ended()) else {
            return;
        };
        match ended.job.into_result() {
            Ok(Ok(suggested)) => {
                let round = suggested.rounds.len().saturating_sub(1);
                self.cluster_suggestions.found = Some(Found {
                    suggested,
                    base: ended.base,
                    round,
                });
            }
            Ok(Err(SuggestClustersError::Cancelled(_))) | Err(JobError::Cancelled) => {}
            Ok(Err(why)) => {
                self.cluster_suggestions.found = None;
                self.cluster_suggestions.failure = Some(why.to_string());
                self.notify(why.to_string());
            }
            Err(why @ JobError::Failed) => self.notify_error(why.to_string()),
        }
    }
}
