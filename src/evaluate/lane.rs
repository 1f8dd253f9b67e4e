//! The lane for long jobs: first in, first out, with progress and cancel.

use crate::task::Task;
use crossbeam_channel::{Receiver, Sender, TryRecvError, bounded, unbounded};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread::JoinHandle;

/// A thread that runs jobs one after the other.
pub struct Lane {
    jobs: Option<Sender<Box<dyn FnOnce() + Send>>>,
    thread: Option<JoinHandle<()>>,
    wake: Arc<dyn Fn() + Send + Sync>,
}

/// A job that waits, runs or has ended.
pub struct Job<T> {
    /// What the artist reads: "Open Fox.glb".
    pub label: String,
    /// Its progress; cancel it here.
    pub task: Task,
    result: Receiver<T>,
}

/// Why a job has no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum JobError {
    /// It is not ready yet.
    #[error("not ready")]
    NotReady,
    /// It panicked.
    #[error("the job failed unexpectedly; nothing was changed")]
    Failed,
}

impl Lane {
    /// Starts the thread. `wake` is called when a job ends, from the thread.
    pub fn spawn(wake: impl Fn() + Send + Sync + 'static) -> std::io::Result<Self> {
        let (jobs, queue) = unbounded::<Box<dyn FnOnce() + Send>>();
        let thread = std::thread::Builder::new()
            .name("jobs".into())
            .spawn(move || {
                for job in queue {
                    // A panic drops the job's sender, which its owner sees as a failure.
                    let _ = catch_unwind(AssertUnwindSafe(job));
                }
            })?;
        Ok(Self {
            jobs: Some(jobs),
            thread: Some(thread),
            wake: Arc::new(wake),
        })
    }

    /// Queues `work`; it reports to the task it is given.
    pub fn submit<T: Send + 'static>(
        &self,
        label: &str,
        work: impl FnOnce(&Task) -> T + Send + 'static,
    ) -> Job<T> {
        let task = Task::new();
        let (send, result) = bounded(1);
        let (theirs, wake) = (task.clone(), self.wake.clone());
        if let Some(jobs) = &self.jobs {
            // Fails only when the thread is gone; the owner sees that as a failed job.
            let _ = jobs.send(Box::new(move || {
                // Dropped in reverse: the result (or its absence, after a panic) is there when the owner wakes.
                let _wake = WakeOnDrop(wake);
                let send = send;
                let _ = send.send(work(&theirs));
            }));
        }
        Job {
            label: label.to_owned(),
            task,
            result,
        }
    }
}

/// Wakes the owner however the job ends.
struct WakeOnDrop(Arc<dyn Fn() + Send + Sync>);

impl Drop for WakeOnDrop {
    fn drop(&mut self) {
        (self.0)();
    }
}

impl Drop for Lane {
    fn drop(&mut self) {
        // Closing the queue ends the thread after the jobs in it.
        self.jobs = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl<T> Job<T> {
    /// The result, once.
    pub fn try_result(&self) -> Result<T, JobError> {
        self.result.try_recv().map_err(|e| match e {
            TryRecvError::Empty => JobError::NotReady,
            TryRecvError::Disconnected => JobError::Failed,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn jobs_run_in_order_and_a_panic_ends_only_its_own() {
        let lane = Lane::spawn(|| {}).unwrap();
        let first = lane.submit("first", |task| task.step("Counting", 1.0).map(|()| 1));
        let second: Job<()> = lane.submit("second", |_| panic!("on purpose"));
        let third = lane.submit("third", |_| 3);
        assert_eq!(third.result.recv_timeout(Duration::from_secs(10)), Ok(3));
        assert_eq!(first.try_result(), Ok(Ok(1)));
        assert_eq!(second.try_result(), Err(JobError::Failed));
    }
}
