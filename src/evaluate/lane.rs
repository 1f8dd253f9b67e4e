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

use crate::task::Task;
use std::cmp::Reverse;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
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

/// A job that waits, runs or has ended, as its owner holds it. Dropping it does not stop the job.
pub struct JobHandle<T> {
    label: String,
    writes: bool,
    task: Task,
    has_started: Arc<AtomicBool>,
    result: Arc<Mutex<Option<Result<T, JobError>>>>,
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
        let handle = JobHandle {
            label: label.to_owned(),
            writes: kind.writes(),
            task: task.clone(),
            has_started: Arc::default(),
            result: Arc::default(),
        };
        let promise = Promise {
            task: task.clone(),
            has_started: handle.has_started.clone(),
            result: handle.result.clone(),
        };
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

/// The result that a handle waits for; dropped without one, it says why there is none.
struct Promise<T> {
    task: Task,
    has_started: Arc<AtomicBool>,
    result: Arc<Mutex<Option<Result<T, JobError>>>>,
}

impl<T> Promise<T> {
    fn keep(self, work: impl FnOnce(&Task) -> T) {
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

fn lock<T>(
    result: &Mutex<Option<Result<T, JobError>>>,
) -> MutexGuard<'_, Option<Result<T, JobError>>> {
    result.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task::Cancelled;
    use std::sync::mpsc::{Receiver, Sender, channel};
    use std::time::{Duration, Instant};

    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    enum Kind {
        Centres,
        Bake,
        Weights,
        Table,
        Save,
        Autosave,
    }

    impl JobKind for Kind {
        fn priority(self) -> Priority {
            match self {
                Self::Centres => Priority::Background,
                Self::Bake => Priority::Long,
                Self::Weights => Priority::Normal,
                Self::Table | Self::Save | Self::Autosave => Priority::Quick,
            }
        }

        fn must_follow(self, earlier: Self) -> bool {
            self == earlier || self.writes() && earlier.writes()
        }

        fn replaces_waiting(self) -> bool {
            self == Self::Table
        }

        fn writes(self) -> bool {
            matches!(self, Self::Save | Self::Autosave)
        }
    }

    fn lane() -> Lane<Kind> {
        Lane::spawn(|| {}).unwrap()
    }

    /// A job that runs until its gate is opened, and says when it begins.
    fn gated(lane: &Lane<Kind>, kind: Kind) -> (JobHandle<()>, Sender<()>, Receiver<()>) {
        let (open, gate) = channel();
        let (begins, begun) = channel();
        let job = lane.submit(kind, "gated", move |_| {
            // Either may be gone: nobody waits for the beginning, or the gate stays open.
            let _ = begins.send(());
            let _ = gate.recv();
        });
        (job, open, begun)
    }

    fn result<T>(job: JobHandle<T>) -> Result<T, JobError> {
        let deadline = Instant::now() + Duration::from_secs(30);
        while !job.has_ended() {
            assert!(Instant::now() < deadline, "the job does not end");
            std::thread::sleep(Duration::from_millis(1));
        }
        job.into_result()
    }

    /// The kinds of all jobs in the order in which they ended, once none is left.
    fn ended(lane: &Lane<Kind>) -> Vec<Kind> {
        let deadline = Instant::now() + Duration::from_secs(30);
        let mut kinds = Vec::new();
        while !lane.is_idle() {
            assert!(Instant::now() < deadline, "the lane does not come to rest");
            kinds.extend(lane.next_ended(|_| true));
        }
        kinds
    }

    #[test]
    fn a_quick_job_ends_while_longer_ones_run_and_wait() {
        let lane = lane();
        let (bake, end_bake, begun) = gated(&lane, Kind::Bake);
        begun.recv().unwrap();
        let (weights, end_weights, begun) = gated(&lane, Kind::Weights);
        begun.recv().unwrap();
        let second_bake = lane.submit(Kind::Bake, "second", |_| 2);
        for kind in [Kind::Table, Kind::Save, Kind::Table, Kind::Autosave] {
            assert_eq!(result(lane.submit(kind, "quick", |_| 1)), Ok(1));
        }
        assert!(!bake.has_ended() && !weights.has_ended() && !second_bake.has_ended());
        end_bake.send(()).unwrap();
        assert_eq!(result(second_bake), Ok(2), "it waited for the bake alone");
        assert!(!weights.has_ended());
        end_weights.send(()).unwrap();
        assert_eq!((result(bake), result(weights)), (Ok(()), Ok(())));
    }

    #[test]
    fn the_most_urgent_waiting_job_runs_first() {
        let lane = lane();
        let gates = [Kind::Centres, Kind::Bake, Kind::Weights, Kind::Table].map(|kind| {
            let (_, open, begun) = gated(&lane, kind);
            begun.recv().unwrap();
            open
        });
        // All threads are taken; these wait.
        let (say, order) = channel();
        for kind in [Kind::Centres, Kind::Weights, Kind::Save] {
            let say = say.clone();
            lane.submit(kind, "waits", move |_| say.send(kind).unwrap());
        }
        // The thread of background jobs comes free, and takes all three.
        gates[0].send(()).unwrap();
        let first: Vec<Kind> = (0..2).map(|_| order.recv().unwrap()).collect();
        assert_eq!(first, [Kind::Save, Kind::Centres], "weights follow weights");
        gates[2].send(()).unwrap();
        assert_eq!(order.recv(), Ok(Kind::Weights));
        for gate in [&gates[1], &gates[3]] {
            gate.send(()).unwrap();
        }
        ended(&lane);
    }

    #[test]
    fn saves_and_autosaves_run_in_the_order_in_which_they_were_asked_for() {
        let lane = lane();
        let (say, order) = channel();
        let kinds = [Kind::Save, Kind::Autosave];
        for (n, kind) in kinds.into_iter().cycle().take(20).enumerate() {
            let say = say.clone();
            lane.submit(kind, "write", move |_| {
                std::thread::sleep(Duration::from_millis((n % 3) as u64));
                say.send(n).unwrap();
            });
        }
        drop(say);
        assert!(order.iter().eq(0..20));
    }

    #[test]
    fn cancel_reaches_a_waiting_and_a_running_job() {
        let lane = lane();
        let (begins, begun) = channel();
        let work = move |task: &Task| -> Result<(), Cancelled> {
            begins.send(()).unwrap();
            loop {
                task.check()?;
                std::thread::yield_now();
            }
        };
        let running = lane.submit(Kind::Bake, "runs", work);
        let waiting: JobHandle<()> = lane.submit(Kind::Bake, "waits", |_| panic!("it started"));
        begun.recv().unwrap();
        assert_eq!(waiting.task().label(), "Waiting");
        assert!(running.has_started() && !waiting.has_started());
        waiting.task().cancel();
        assert_eq!(lane.next_ended(|_| true), Some(Kind::Bake));
        assert_eq!(result(waiting), Err(JobError::Cancelled));
        assert!(!running.has_ended());
        running.task().cancel();
        assert_eq!(result(running), Err(JobError::Cancelled));
    }

    #[test]
    fn of_a_job_that_is_cancelled_too_late_nothing_is_kept_unless_it_writes() {
        for kind in [Kind::Bake, Kind::Save] {
            let lane = lane();
            let (begins, begun) = channel();
            let (open, gate) = channel::<()>();
            let job = lane.submit(kind, "does not look", move |_| {
                begins.send(()).unwrap();
                gate.recv().unwrap();
            });
            begun.recv().unwrap();
            job.task().cancel();
            open.send(()).unwrap();
            let expected = if kind.writes() {
                Ok(())
            } else {
                Err(JobError::Cancelled)
            };
            assert_eq!(result(job), expected);
            // The same once it has ended, until the result is taken.
            let job = lane.submit(kind, "quick", |_| ());
            while !job.has_ended() {
                std::thread::yield_now();
            }
            job.task().cancel();
            assert_eq!(job.into_result(), expected);
        }
    }

    #[test]
    fn a_job_that_has_ended_is_not_listed_though_nobody_has_taken_it() {
        let lane = lane();
        assert_eq!(result(lane.submit(Kind::Save, "save", |_| ())), Ok(()));
        let deadline = Instant::now() + Duration::from_secs(30);
        while !lane.jobs().is_empty() {
            assert!(Instant::now() < deadline, "it is still listed");
        }
        assert!(!lane.is_idle());
    }

    #[test]
    fn a_newer_job_replaces_a_waiting_one_of_its_kind() {
        let lane = lane();
        let (first, open, begun) = gated(&lane, Kind::Table);
        begun.recv().unwrap();
        let replaced = lane.submit(Kind::Table, "second", |_| 2);
        let kept = lane.submit(Kind::Table, "third", |_| 3);
        open.send(()).unwrap();
        assert_eq!(result(replaced), Err(JobError::Cancelled));
        assert_eq!((result(first), result(kept)), (Ok(()), Ok(3)));
    }

    #[test]
    fn a_panic_ends_only_its_own_job() {
        let lane = lane();
        let first: JobHandle<()> = lane.submit(Kind::Save, "first", |_| panic!("on purpose"));
        let second = lane.submit(Kind::Save, "second", |task| task.step("Writing", 1.0));
        assert_eq!(result(first), Err(JobError::Failed));
        assert_eq!(result(second), Ok(Ok(())));
    }

    #[test]
    fn ended_jobs_are_named_once_and_in_order_and_may_be_left_for_later() {
        let lane = lane();
        let kinds = [Kind::Save, Kind::Autosave, Kind::Save];
        let jobs = kinds.map(|kind| lane.submit(kind, "write", |_| ()));
        for job in jobs {
            assert_eq!(result(job), Ok(()));
        }
        let later = |kind: Kind| kind != Kind::Save;
        assert_eq!(lane.next_ended(later), Some(Kind::Autosave));
        assert_eq!(lane.next_ended(later), None);
        assert!(!lane.is_idle(), "two are left");
        assert_eq!(ended(&lane), [Kind::Save, Kind::Save]);
    }

    #[test]
    fn a_lane_that_goes_ends_what_waits_in_it() {
        let (say, order) = channel();
        let lane = lane();
        for n in 0..5 {
            let say = say.clone();
            lane.submit(Kind::Save, "save", move |_| say.send(n).unwrap());
        }
        let cancelled: JobHandle<()> = lane.submit(Kind::Save, "no", |_| panic!("it started"));
        cancelled.task().cancel();
        drop((lane, say));
        assert!(order.iter().eq(0..5));
    }
}
