//! Progress and cancellation of work that takes longer than a frame.

use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// The work stopped because its [`Task`] was cancelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cancelled")]
pub struct Cancelled;

/// The progress and the cancellation flag of a piece of work. Clones share both.
///
/// The work calls [`Task::step`] or [`Task::check`] at least every 50 ms.
#[derive(Clone, Debug, Default)]
pub struct Task {
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    cancelled: AtomicBool,
    /// The fraction done, in units of 1/65536.
    progress: AtomicU32,
    label: Mutex<String>,
}

impl Task {
    /// A task at 0 % with an empty label.
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether `other` is a clone of this task.
    pub fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared)
    }

    /// Requests cancellation; the work stops at its next [`Task::check`].
    pub fn cancel(&self) {
        self.shared.cancelled.store(true, Ordering::Relaxed);
    }

    /// Whether [`Task::cancel`] was called.
    pub fn is_cancelled(&self) -> bool {
        self.shared.cancelled.load(Ordering::Relaxed)
    }

    /// `Err(Cancelled)` once [`Task::cancel`] was called.
    pub fn check(&self) -> Result<(), Cancelled> {
        if self.is_cancelled() {
            Err(Cancelled)
        } else {
            Ok(())
        }
    }

    /// Sets the label and the fraction done, 0 - 1; `Err(Cancelled)` once [`Task::cancel`] was called.
    pub fn step(&self, label: &str, fraction: f32) -> Result<(), Cancelled> {
        self.shared.progress.store(
            (fraction.clamp(0.0, 1.0) * 65536.0) as u32,
            Ordering::Relaxed,
        );
        if let Ok(mut current) = self.shared.label.lock()
            && *current != label
        {
            label.clone_into(&mut current);
        }
        self.check()
    }

    /// The fraction done, 0 - 1.
    pub fn fraction(&self) -> f32 {
        self.shared.progress.load(Ordering::Relaxed) as f32 / 65536.0
    }

    /// The label of the current step, shown in the status bar.
    pub fn label(&self) -> String {
        self.shared
            .label
            .lock()
            .map(|label| label.clone())
            .unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cancelled_task_stops_at_its_next_step() {
        let task = Task::new();
        let watcher = task.clone();
        task.step("Reading", 0.25).unwrap();
        assert_eq!(
            (watcher.label().as_str(), watcher.fraction()),
            ("Reading", 0.25)
        );
        watcher.cancel();
        assert_eq!(task.step("Reading", 0.5), Err(Cancelled));
    }
}
