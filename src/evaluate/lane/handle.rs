//! A job on the lane as its owner holds it, and the promise of its result.

use crate::task::Task;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A job that waits, runs or has ended, as its owner holds it. Dropping it does not stop the job.
pub struct JobHandle<T> {
    label: String,
    writes: bool,
    task: Task,
    has_started: Arc<AtomicBool>,
    result: Arc<Mutex<Option<Result<T, JobError>>>>,
}

/// Why a job has no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum JobError {
    /// It was cancelled, or replaced before it started.
    #[error("The job was cancelled.")]
    Cancelled,
    /// It panicked.
    #[error("The job failed unexpectedly. The open model did not change.")]
    Failed,
}

impl<T> JobHandle<T> {
    /// What the artist reads.
    pub fn label(&self) -> &str {
        &self.label
    }

    /// Its progress; cancel it here.
    pub fn task(&self) -> &Task {
        &self.task
    }

    /// Whether it no longer waits: it runs or has ended.
    pub fn has_started(&self) -> bool {
        self.has_started.load(Ordering::Relaxed) || self.has_ended()
    }

    /// Whether there is a result, or the reason why there is none.
    pub fn has_ended(&self) -> bool {
        lock(&self.result).is_some()
    }

    /// The result of a job that [has ended](Self::has_ended). A cancelled job has none, unless it writes files.
    pub fn into_result(self) -> Result<T, JobError> {
        let result = lock(&self.result).take().unwrap_or(Err(JobError::Failed));
        if result.is_ok() && self.task.is_cancelled() && !self.writes {
            return Err(JobError::Cancelled);
        }
        result
    }
}

/// The two ends of a job that waits: its handle, and the promise of its result.
pub(super) fn job<T>(label: &str, writes: bool, task: &Task) -> (JobHandle<T>, Promise<T>) {
    let handle = JobHandle {
        label: label.to_owned(),
        writes,
        task: task.clone(),
        has_started: Arc::default(),
        result: Arc::default(),
    };
    let promise = Promise {
        task: task.clone(),
        has_started: handle.has_started.clone(),
        result: handle.result.clone(),
    };
    (handle, promise)
}

/// The result that a handle waits for; dropped without one, it says why there is none.
pub(super) struct Promise<T> {
    task: Task,
    has_started: Arc<AtomicBool>,
    result: Arc<Mutex<Option<Result<T, JobError>>>>,
}

impl<T> Promise<T> {
    /// Runs `work` and keeps its result.
    pub(super) fn keep(self, work: impl FnOnce(&Task) -> T) {
        self.has_started.store(true, Ordering::Relaxed);
        // Cancelled just now: `work` sees that itself.
        let _ = self.task.step("", 0.0);
        let value = work(&self.task);
        *lock(&self.result) = Some(Ok(value));
    }
}

impl<T> Drop for Promise<T> {
    fn drop(&mut self) {
        let why = if self.has_started.load(Ordering::Relaxed) {
            JobError::Failed
        } else {
            JobError::Cancelled
        };
        lock(&self.result).get_or_insert(Err(why));
    }
}

fn lock<T>(
    result: &Mutex<Option<Result<T, JobError>>>,
) -> MutexGuard<'_, Option<Result<T, JobError>>> {
    result.lock().unwrap_or_else(PoisonError::into_inner)
}
