//! A queue of packets, bounded in number and rate.

use crossbeam_channel::{Receiver, SendTimeoutError, Sender, TrySendError};
use std::net::SocketAddr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// The queue of packets.
pub(super) const QUEUE: usize = 1024;
/// The most packets a second.
const MOST_PER_SEC: usize = 5000;

/// A packet, and when it arrived, seconds since the listener began.
#[derive(Clone, Debug, PartialEq)]
pub struct Packet {
    /// Seconds.
    pub arrival: f64,
    /// Its content.
    pub bytes: Vec<u8>,
    /// The sender; `None` for a reader.
    pub from: Option<SocketAddr>,
}

/// The threads' end of the queue.
pub(super) struct Queue {
    start: Instant,
    send: Sender<Packet>,
    /// To drop the oldest packet where it is full.
    oldest: Receiver<Packet>,
    n_dropped: AtomicUsize,
    /// Packets and connections of others than the one that is heard.
    n_others: AtomicUsize,
    has_ended: AtomicBool,
    /// The current second, and the number of packets in it.
    rate: Mutex<(u64, usize)>,
    wake: Box<dyn Fn() + Send + Sync>,
}

impl std::fmt::Debug for Queue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Queue")
            .field("n_dropped", &self.n_dropped)
            .finish_non_exhaustive()
    }
}

impl Queue {
    pub(super) fn new(
        send: Sender<Packet>,
        oldest: Receiver<Packet>,
        wake: Box<dyn Fn() + Send + Sync>,
    ) -> Self {
        Self {
            start: Instant::now(),
            send,
            oldest,
            n_dropped: AtomicUsize::new(0),
            n_others: AtomicUsize::new(0),
            has_ended: AtomicBool::new(false),
            rate: Mutex::new((0, 0)),
            wake,
        }
    }

    pub(super) fn start(&self) -> Instant {
        self.start
    }

    pub(super) fn n_dropped(&self) -> usize {
        self.n_dropped.load(Ordering::Relaxed)
    }

    pub(super) fn n_others(&self) -> usize {
        self.n_others.load(Ordering::Relaxed)
    }

    /// Counts a packet or connection of another than the one that is heard.
    pub(super) fn refuse(&self) {
        self.n_others.fetch_add(1, Ordering::Relaxed);
    }

    /// Marks the end of the packets.
    pub(super) fn end(&self) {
        self.has_ended.store(true, Ordering::Release);
        (self.wake)();
    }

    pub(super) fn has_ended(&self) -> bool {
        self.has_ended.load(Ordering::Acquire)
    }

    /// Adds a packet that arrives now, unless this second is full; drops the oldest packet where there is no room.
    pub(super) fn push(&self, bytes: &[u8], from: Option<SocketAddr>) {
        let arrival = self.start.elapsed();
        let is_too_much = self.rate.lock().is_ok_and(|mut rate| {
            if rate.0 != arrival.as_secs() {
                *rate = (arrival.as_secs(), 0);
            }
            rate.1 += 1;
            rate.1 > MOST_PER_SEC
        });
        if is_too_much {
            self.n_dropped.fetch_add(1, Ordering::Relaxed);
            return;
        }
        self.put(Packet {
            arrival: arrival.as_secs_f64(),
            bytes: bytes.to_vec(),
            from,
        });
        (self.wake)();
    }

    /// Adds a packet as soon as there is room, unless `ends` is set before: of a reader, which waits meanwhile, none is dropped.
    pub(super) fn push_waiting(&self, bytes: &[u8], patience: Duration, ends: &AtomicBool) {
        let mut packet = Packet {
            arrival: self.start.elapsed().as_secs_f64(),
            bytes: bytes.to_vec(),
            from: None,
        };
        while let Err(SendTimeoutError::Timeout(again)) = self.send.send_timeout(packet, patience) {
            if ends.load(Ordering::Relaxed) {
                return;
            }
            packet = again;
        }
        (self.wake)();
    }

    fn put(&self, packet: Packet) {
        let Err(TrySendError::Full(packet)) = self.send.try_send(packet) else {
            return;
        };
        let is_dropped = self.oldest.try_recv().is_ok();
        let is_lost = self.send.try_send(packet).is_err();
        let n = usize::from(is_dropped) + usize::from(is_lost);
        self.n_dropped.fetch_add(n, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crossbeam_channel::bounded;

    #[test]
    fn a_full_queue_drops_its_oldest_and_counts_them() {
        let (send, packets) = bounded(QUEUE);
        let queue = Queue::new(send, packets.clone(), Box::new(|| {}));
        for i in 0..QUEUE + 10 {
            queue.put(Packet {
                arrival: i as f64,
                bytes: Vec::new(),
                from: None,
            });
        }
        assert_eq!(queue.n_dropped(), 10);
        assert_eq!(packets.recv().unwrap().arrival, 10.0);
    }

    #[test]
    fn a_flood_is_dropped_and_counted() {
        let (send, packets) = bounded(QUEUE);
        let queue = Queue::new(send, packets.clone(), Box::new(|| {}));
        for _ in 0..20_000 {
            queue.push(b"x", None);
        }
        assert_eq!(packets.len(), QUEUE);
        assert_eq!(queue.n_dropped(), 20_000 - QUEUE);
    }
}
