//! Live motion over the network: UDP packets, received on a thread of their own.
//!
//! Data flow: a socket -> [`Listener`] (bounded in number, size and rate) -> packets with their times of arrival, for
//! [`crate::motion::vmc`].
//!
//! Invariant: only this computer is heard unless the user says otherwise, and nothing is ever sent.
//! Invariant: memory stays bounded whatever comes: the oldest packets are dropped and counted.

use crate::motion::vmc::MAX_PACKET_BYTES;
use crossbeam_channel::{Receiver, Sender, TrySendError, bounded};
use std::io::ErrorKind;
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// The port at which VMC performers send.
pub const VMC_PORT: u16 = 39539;
/// Packets that wait to be taken.
const QUEUE: usize = 1024;
/// The most packets that are taken in a second.
const MOST_PER_SEC: usize = 5000;
/// How often the thread looks whether it shall end.
const PATIENCE: Duration = Duration::from_millis(50);

/// A packet, and when it arrived, seconds since the listener began.
#[derive(Clone, Debug, PartialEq)]
pub struct Packet {
    /// Seconds.
    pub arrival: f64,
    /// Its content.
    pub bytes: Vec<u8>,
}

/// Why nothing can be received.
#[derive(Debug, thiserror::Error)]
pub enum LiveError {
    /// Another program has the port.
    #[error("Port {0} is in use, perhaps by another receiver. Choose another port.")]
    InUse(u16),
    /// The system refuses.
    #[error("Port {port} cannot be opened: {source}.")]
    Refused {
        /// The port.
        port: u16,
        /// Why.
        source: std::io::Error,
    },
}

/// Receives packets on a thread until it is dropped.
#[derive(Debug)]
pub struct Listener {
    address: SocketAddr,
    packets: Receiver<Packet>,
    n_dropped: Arc<AtomicUsize>,
    ends: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Listener {
    /// Listens at a port (0: a free one) of this computer, or with `all_interfaces` of the network.
    pub fn new(port: u16, all_interfaces: bool) -> Result<Self, LiveError> {
        let host = if all_interfaces {
            Ipv4Addr::UNSPECIFIED
        } else {
            Ipv4Addr::LOCALHOST
        };
        let fault = |source: std::io::Error| match source.kind() {
            ErrorKind::AddrInUse => LiveError::InUse(port),
            _ => LiveError::Refused { port, source },
        };
        let socket = UdpSocket::bind((host, port)).map_err(fault)?;
        socket.set_read_timeout(Some(PATIENCE)).map_err(fault)?;
        let address = socket.local_addr().map_err(fault)?;
        let (send, packets) = bounded(QUEUE);
        let (n_dropped, ends) = (
            Arc::new(AtomicUsize::new(0)),
            Arc::new(AtomicBool::new(false)),
        );
        let queue = Queue {
            send,
            oldest: packets.clone(),
            n_dropped: n_dropped.clone(),
        };
        let theirs = ends.clone();
        let thread = std::thread::Builder::new()
            .name("Live motion".into())
            .spawn(move || queue.receive(&socket, &theirs))
            .map_err(fault)?;
        Ok(Self {
            address,
            packets,
            n_dropped,
            ends,
            thread: Some(thread),
        })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The next packet within a time; `None` if none comes.
    pub fn next_within(&self, wait: Duration) -> Option<Packet> {
        self.packets.recv_timeout(wait).ok()
    }

    /// How many packets were dropped because too many came.
    pub fn n_dropped(&self) -> usize {
        self.n_dropped.load(Ordering::Relaxed)
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.ends.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // A panic of the thread was reported where it happened.
            let _ = thread.join();
        }
    }
}

/// The thread's end of the queue.
struct Queue {
    send: Sender<Packet>,
    /// To drop the oldest packet where it is full.
    oldest: Receiver<Packet>,
    n_dropped: Arc<AtomicUsize>,
}

impl Queue {
    fn receive(&self, socket: &UdpSocket, ends: &AtomicBool) {
        let start = Instant::now();
        // One byte more: a packet that fills it is too long, and counted as malformed by who takes it.
        let mut buffer = vec![0; MAX_PACKET_BYTES + 1];
        let (mut second, mut n_in_second) = (0, 0);
        while !ends.load(Ordering::Relaxed) {
            // Else nothing came, or what was sent elsewhere did not arrive there.
            let Ok(n_bytes) = socket.recv(&mut buffer) else {
                continue;
            };
            let arrival = start.elapsed();
            if second != arrival.as_secs() {
                (second, n_in_second) = (arrival.as_secs(), 0);
            }
            n_in_second += 1;
            if n_in_second > MOST_PER_SEC {
                self.n_dropped.fetch_add(1, Ordering::Relaxed);
                continue;
            }
            self.push(Packet {
                arrival: arrival.as_secs_f64(),
                bytes: buffer[..n_bytes].to_vec(),
            });
        }
    }

    fn push(&self, packet: Packet) {
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

    fn sender(to: &Listener) -> UdpSocket {
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        socket.connect(to.address()).unwrap();
        socket
    }

    #[test]
    fn packets_arrive_in_order_with_their_times() {
        let listener = Listener::new(0, false).unwrap();
        assert!(listener.address().ip().is_loopback());
        let socket = sender(&listener);
        for i in 0..3_u8 {
            socket.send(&[i]).unwrap();
        }
        let wait = Duration::from_secs(10);
        let packets = [(); 3].map(|()| listener.next_within(wait).unwrap());
        assert_eq!(packets.each_ref().map(|packet| packet.bytes[0]), [0, 1, 2]);
        assert!(packets[0].arrival <= packets[2].arrival);
        assert_eq!(listener.n_dropped(), 0);
    }

    #[test]
    fn a_taken_port_is_named() {
        let listener = Listener::new(0, false).unwrap();
        let port = listener.address().port();
        let why = Listener::new(port, false).unwrap_err().to_string();
        assert!(why.contains(&format!("Port {port} is in use")), "{why}");
        drop(listener);
        assert!(
            Listener::new(port, false).is_ok(),
            "dropped listeners give it back"
        );
    }

    #[test]
    fn a_full_queue_drops_its_oldest_and_counts_them() {
        let (send, packets) = bounded(QUEUE);
        let queue = Queue {
            send,
            oldest: packets.clone(),
            n_dropped: Arc::default(),
        };
        for i in 0..QUEUE + 10 {
            queue.push(Packet {
                arrival: i as f64,
                bytes: Vec::new(),
            });
        }
        assert_eq!(queue.n_dropped.load(Ordering::Relaxed), 10);
        assert_eq!(packets.recv().unwrap().arrival, 10.0);
    }
}
