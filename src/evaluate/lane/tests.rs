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
