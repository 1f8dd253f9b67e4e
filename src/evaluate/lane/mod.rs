//! The lane of jobs that take longer than a frame: by priority, with progress, cancel and typed handles.
//!
//! Data flow: [`Lane::submit`] queues work under a [`JobKind`] -> a thread takes the waiting job of the highest priority,
//! the earliest first -> the result lies in the [`JobHandle`], and [`Lane::next_ended`] names the kind.
//!
//! Each [`Priority`] has one thread, which takes jobs of that priority and above. So a save never waits for a bake of
//! minutes, an export never for background work, and the lane needs no more threads than there are priorities.
//! The alternative, long jobs that pause at their checkpoints, would deadlock: a bake checks its task on threads of the
//! rayon pool, and the next job needs these threads.
//!
//! Invariant: a job waits only for jobs of its own priority or above, and for earlier ones that it must follow
//! ([`JobKind::must_follow`]).
//! Invariant: a panic ends its own job only.
//! Invariant: a job that is cancelled while it waits never starts.
//! Invariant: a cancelled job has no result, even if it completed, unless it writes files ([`JobKind::writes`]).

mod handle;

pub use handle::{JobError, JobHandle};

use crate::task::Task;
use std::cmp::Reverse;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

/// How urgent a job is; the most urgent last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Priority {
    /// May take minutes, started by the editor itself: estimates, centres of rotation.
    Background,
    /// May take minutes, started by the artist: exports, automatic weights, volume studies.
    Long,
    /// Takes seconds: opening a model.
    Normal,
    /// Takes less than a second, or must not be lost: checks, tables, saves.
    Quick,
}

impl Priority {
    /// All of them; each has a thread.
    const ALL: [Self; 4] = [Self::Background, Self::Long, Self::Normal, Self::Quick];
}

/// What a job is, as far as the lane has to know.
pub trait JobKind: Copy + PartialEq + Send + 'static {
    /// How urgent jobs of this kind are.
    fn priority(self) -> Priority;

    /// Whether a job of this kind starts only after those of kind `earlier` that were submitted before it have ended.
    fn must_follow(self, earlier: Self) -> bool {
        self == earlier
    }

    /// Whether a new job of this kind replaces one that still waits.
    fn replaces_waiting(self) -> bool;

    /// Whether it writes files: its result is then kept even if it was cancelled, because it says which files were
    /// written. The results of other cancelled jobs are dropped.
    fn writes(self) -> bool;
}

/// One queue of jobs, and a thread for each [`Priority`].
pub struct Lane<K: JobKind> {
    shared: Arc<Shared<K>>,
    threads: Vec<JoinHandle<()>>,
}

/// A job as the lane shows it.
#[derive(Clone, Debug)]
pub struct JobStatus<K> {
    /// What it is.
    pub kind: K,
    /// What the artist reads: "Opening Fox.glb".
    pub label: String,
    /// Its progress; cancel it here.
    pub task: Task,
}

struct Shared<K> {
    queue: Mutex<Queue<K>>,
    changed: Condvar,
    wake: Box<dyn Fn() + Send + Sync>,
}

struct Queue<K> {
    waiting: VecDeque<Waiting<K>>,
    running: Vec<JobStatus<K>>,
    /// In the order in which they ended, until their owner takes the result.
    ended: VecDeque<JobStatus<K>>,
    is_closed: bool,
}

struct Waiting<K> {
    status: JobStatus<K>,
    work: Box<dyn FnOnce() + Send>,
}

impl<K: JobKind> Lane<K> {
    /// Starts the threads. `wake` is called when a job ends, from a thread.
    pub fn spawn(wake: impl Fn() + Send + Sync + 'static) -> std::io::Result<Self> {
        let shared = Arc::new(Shared {
            queue: Mutex::new(Queue {
                waiting: VecDeque::new(),
                running: Vec::new(),
                ended: VecDeque::new(),
                is_closed: false,
            }),
            changed: Condvar::new(),
            wake: Box::new(wake),
        });
        // Made first: threads that did start end with it should another one fail.
        let mut lane = Self {
            shared,
            threads: Vec::new(),
        };
        for least in Priority::ALL {
            let shared = lane.shared.clone();
            let thread = std::thread::Builder::new()
                .name(format!("{least:?} jobs"))
                .spawn(move || shared.run(least))?;
            lane.threads.push(thread);
        }
        Ok(lane)
    }

    /// Queues `work`, which reports to the task it is given. `label` is what the artist reads.
    pub fn submit<T: Send + 'static>(
        &self,
        kind: K,
        label: &str,
        work: impl FnOnce(&Task) -> T + Send + 'static,
    ) -> JobHandle<T> {
        let task = Task::new();
        // Nobody has cancelled it yet.
        let _ = task.step("Waiting", 0.0);
        let (handle, promise) = handle::job(label, kind.writes(), &task);
        let status = JobStatus {
            kind,
            label: label.to_owned(),
            task,
        };
        let mut queue = self.shared.lock();
        if kind.replaces_waiting() {
            let waiting = queue.waiting.iter().map(|job| &job.status);
            for replaced in waiting.filter(|status| status.kind == kind) {
                replaced.task.cancel();
            }
        }
        let work = Box::new(move || promise.keep(work));
        queue.waiting.push_back(Waiting { status, work });
        self.shared.changed.notify_all();
        handle
    }

    /// The kind of the job that ended first among those that `is_wanted` accepts; each is named once.
    pub fn next_ended(&self, is_wanted: impl FnMut(K) -> bool) -> Option<K> {
        let mut queue = self.shared.lock();
        queue.drop_cancelled();
        let mut kinds = queue.ended.iter().map(|status| status.kind);
        let at = kinds.position(is_wanted)?;
        queue.ended.remove(at).map(|status| status.kind)
    }

    /// The jobs that run, then those that wait; the earliest first.
    pub fn jobs(&self) -> Vec<JobStatus<K>> {
        let queue = self.shared.lock();
        let waiting = queue.waiting.iter().map(|job| &job.status);
        queue.running.iter().chain(waiting).cloned().collect()
    }

    /// Whether nothing waits or runs, and each ended job was named.
    pub fn is_idle(&self) -> bool {
        let queue = self.shared.lock();
        queue.waiting.is_empty() && queue.running.is_empty() && queue.ended.is_empty()
    }
}

impl<K: JobKind> Drop for Lane<K> {
    /// Waits for every job that was not cancelled.
    fn drop(&mut self) {
        self.shared.lock().is_closed = true;
        self.shared.changed.notify_all();
        for thread in self.threads.drain(..) {
            // A thread ends by a panic only if `wake` panics.
            let _ = thread.join();
        }
    }
}

impl<K: JobKind> Shared<K> {
    /// A queue is sound between any two of its changes, so a panic elsewhere does no harm.
    fn lock(&self) -> MutexGuard<'_, Queue<K>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs jobs of priority `least` and above until the lane is closed and empty.
    fn run(&self, least: Priority) {
        let mut queue = self.lock();
        loop {
            let Some(Waiting { status, work }) = queue.next(least) else {
                if queue.is_closed && queue.waiting.is_empty() {
                    return;
                }
                queue = self
                    .changed
                    .wait(queue)
                    .unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            let task = status.task.clone();
            queue.running.push(status);
            drop(queue);
            // A panic drops the promise, which its owner sees as a failure.
            let _ = catch_unwind(AssertUnwindSafe(work));
            queue = self.lock();
            if let Some(at) = queue.running.iter().position(|s| s.task.is_same(&task)) {
                let ended = queue.running.swap_remove(at);
                queue.ended.push_back(ended);
            }
            // Others may have waited for this one.
            self.changed.notify_all();
            drop(queue);
            (self.wake)();
            queue = self.lock();
        }
    }
}

impl<K: JobKind> Queue<K> {
    /// Takes the job out that a thread of priority `least` should run now.
    fn next(&mut self, least: Priority) -> Option<Waiting<K>> {
        self.drop_cancelled();
        let may_start = |at: usize, kind: K| {
            let earlier = self.waiting.range(..at).map(|job| &job.status);
            let mut before = self.running.iter().chain(earlier);
            !before.any(|status| kind.must_follow(status.kind))
        };
        let kinds = self.waiting.iter().map(|job| job.status.kind).enumerate();
        let ready = kinds.filter(|&(at, kind)| kind.priority() >= least && may_start(at, kind));
        // The first of the most urgent ones.
        let next = ready.min_by_key(|&(at, kind)| (Reverse(kind.priority()), at));
        self.waiting.remove(next?.0)
    }

    /// Ends the waiting jobs that were cancelled or replaced.
    fn drop_cancelled(&mut self) {
        let ended = &mut self.ended;
        self.waiting.retain(|job| {
            let stays = !job.status.task.is_cancelled();
            if !stays {
                ended.push_back(job.status.clone());
            }
            stays
        });
    }
}

#[cfg(test)]
mod tests;
