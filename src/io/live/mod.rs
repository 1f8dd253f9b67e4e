//! Live motion over the network: UDP packets, or lines over TCP or from a reader, received on threads of their own.
//!
//! Data flow: a socket -> [`Listener`] (bounded in number, size and rate) -> packets with their times of arrival, for
//! [`crate::motion::vmc`] and [`crate::motion::live`].
//!
//! Invariant: only this computer may send unless the user says otherwise, and Sinew never sends anything.
//! Invariant: memory stays bounded under any load: the oldest packets are dropped and counted.

mod lines;
mod queue;

use crate::motion::vmc::MAX_PACKET_BYTES;
use crossbeam_channel::{Receiver, bounded};
use lines::{Connections, read_lines};
use queue::{QUEUE, Queue};
use std::io::{ErrorKind, Read};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

pub use queue::Packet;

/// The port at which VMC performers send.
pub const VMC_PORT: u16 = 39539;
/// The port at which JSON lines are received.
pub const JSON_PORT: u16 = 39541;
/// How often a thread checks whether it should end.
const PATIENCE: Duration = Duration::from_millis(50);

/// Who may send.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Access {
    /// Whether other computers of the network may send.
    pub all_interfaces: bool,
    /// The address of the only computer that is heard; `None` for any.
    pub only: Option<Ipv4Addr>,
}

impl Access {
    /// An error where the computer that is to be heard cannot reach this one.
    fn check(self) -> Result<(), LiveError> {
        match self.only {
            Some(only) if !self.all_interfaces && !only.is_loopback() => {
                Err(LiveError::Unreachable(only))
            }
            _ => Ok(()),
        }
    }

    fn ip(self) -> Option<IpAddr> {
        self.only.map(IpAddr::V4)
    }
}

/// Why listening fails.
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
    /// Only this computer is heard, and the sender is another.
    #[error(
        "Only this computer is heard, so nothing of {0} would arrive. Listen on all network interfaces, or choose another sender address."
    )]
    Unreachable(Ipv4Addr),
}

/// Receives packets on a thread until it is dropped.
#[derive(Debug)]
pub struct Listener {
    /// `None` for a reader.
    address: Option<SocketAddr>,
    packets: Receiver<Packet>,
    queue: Arc<Queue>,
    ends: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
    start: Instant,
}

impl Listener {
    /// Listens for UDP packets at a port (0: a free one) from those who may send. `wake` is called from the thread when one came.
    pub fn udp(
        port: u16,
        access: Access,
        wake: impl Fn() + Send + Sync + 'static,
    ) -> Result<Self, LiveError> {
        access.check()?;
        let fault = |source| LiveError::of(port, source);
        let socket = UdpSocket::bind((host(access), port)).map_err(fault)?;
        socket.set_read_timeout(Some(PATIENCE)).map_err(fault)?;
        let address = socket.local_addr().map_err(fault)?;
        let only = access.ip();
        let run = move |queue: &Queue, ends: &AtomicBool| receive(&socket, only, queue, ends);
        Self::spawn(Some(address), wake, run).map_err(fault)
    }

    /// Listens for lines over TCP, of at most four senders.
    pub fn tcp(
        port: u16,
        access: Access,
        wake: impl Fn() + Send + Sync + 'static,
    ) -> Result<Self, LiveError> {
        access.check()?;
        let fault = |source| LiveError::of(port, source);
        let socket = TcpListener::bind((host(access), port)).map_err(fault)?;
        socket.set_nonblocking(true).map_err(fault)?;
        let address = socket.local_addr().map_err(fault)?;
        let only = access.ip();
        let run = move |queue: &Queue, ends: &AtomicBool| {
            Connections::serve(&socket, only, queue, ends);
        };
        Self::spawn(Some(address), wake, run).map_err(fault)
    }

    /// Takes the lines of a reader, as the standard input, until it ends.
    pub fn of_reader(
        mut reader: impl Read + Send + 'static,
        wake: impl Fn() + Send + Sync + 'static,
    ) -> Result<Self, LiveError> {
        let run = move |queue: &Queue, ends: &AtomicBool| {
            let _ = read_lines(&mut reader, queue, ends, None);
            // Who waits for the next line learns that there is none.
            queue.end();
        };
        let mut listener =
            Self::spawn(None, wake, run).map_err(|source| LiveError::of(0, source))?;
        // A reader cannot be interrupted: its thread ends with it.
        listener.thread = None;
        Ok(listener)
    }

    fn spawn(
        address: Option<SocketAddr>,
        wake: impl Fn() + Send + Sync + 'static,
        run: impl FnOnce(&Queue, &AtomicBool) + Send + 'static,
    ) -> std::io::Result<Self> {
        let (send, packets) = bounded(QUEUE);
        let queue = Arc::new(Queue::new(send, packets.clone(), Box::new(wake)));
        let ends = Arc::new(AtomicBool::new(false));
        let (their_queue, their_ends) = (queue.clone(), ends.clone());
        let thread = std::thread::Builder::new()
            .name("Live motion".into())
            .spawn(move || run(&their_queue, &their_ends))?;
        Ok(Self {
            address,
            packets,
            start: queue.start(),
            queue,
            ends,
            thread: Some(thread),
        })
    }

    /// Where it listens; `None` for a reader.
    pub fn address(&self) -> Option<SocketAddr> {
        self.address
    }

    /// The next packet within a time; `None` if none comes.
    pub fn next_within(&self, wait: Duration) -> Option<Packet> {
        self.packets.recv_timeout(wait).ok()
    }

    /// The number of packets that were dropped because too many arrived.
    pub fn n_dropped(&self) -> usize {
        self.queue.n_dropped()
    }

    /// The number of packets and connections that were refused because they did not come from the chosen sender address.
    pub fn n_others(&self) -> usize {
        self.queue.n_others()
    }

    /// Whether the reader has ended and all its lines were taken.
    pub fn has_ended(&self) -> bool {
        self.queue.has_ended() && self.packets.is_empty()
    }

    /// The seconds since it began, in which packets have their times of arrival.
    pub fn now(&self) -> f64 {
        self.start.elapsed().as_secs_f64()
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

fn host(access: Access) -> Ipv4Addr {
    if access.all_interfaces {
        Ipv4Addr::UNSPECIFIED
    } else {
        Ipv4Addr::LOCALHOST
    }
}

impl LiveError {
    fn of(port: u16, source: std::io::Error) -> Self {
        match source.kind() {
            ErrorKind::AddrInUse => Self::InUse(port),
            _ => Self::Refused { port, source },
        }
    }
}

fn receive(socket: &UdpSocket, only: Option<IpAddr>, queue: &Queue, ends: &AtomicBool) {
    // One byte more: a packet that fills it is too long, and counted as malformed by who takes it.
    let mut buffer = vec![0; MAX_PACKET_BYTES + 1];
    while !ends.load(Ordering::Relaxed) {
        // Else nothing came, or what was sent elsewhere did not arrive there.
        let Ok((n_bytes, from)) = socket.recv_from(&mut buffer) else {
            continue;
        };
        if only.is_some_and(|only| only != from.ip()) {
            queue.refuse();
        } else {
            queue.push(&buffer[..n_bytes], Some(from));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sender(to: &Listener) -> UdpSocket {
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        socket.connect(to.address().unwrap()).unwrap();
        socket
    }

    #[test]
    fn packets_arrive_in_order_with_their_times() {
        let listener = Listener::udp(0, Access::default(), || {}).unwrap();
        assert!(listener.address().unwrap().ip().is_loopback());
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
        let listener = Listener::udp(0, Access::default(), || {}).unwrap();
        let port = listener.address().unwrap().port();
        let why = Listener::udp(port, Access::default(), || {})
            .unwrap_err()
            .to_string();
        assert!(why.contains(&format!("Port {port} is in use")), "{why}");
        drop(listener);
        assert!(
            Listener::udp(port, Access::default(), || {}).is_ok(),
            "dropped listeners give it back"
        );
    }

    #[test]
    fn lines_of_four_senders_arrive_and_a_fifth_is_not_heard() {
        use std::io::Write;
        use std::net::TcpStream;
        let listener = Listener::tcp(0, Access::default(), || {}).unwrap();
        let address = listener.address().unwrap();
        let next = || listener.next_within(Duration::from_secs(10)).unwrap().bytes;
        let mut senders: Vec<TcpStream> = Vec::new();
        for i in 0..4 {
            let mut sender = TcpStream::connect(address).unwrap();
            // A line may come in parts, with either end.
            write!(sender, "{{\"t\": ").unwrap();
            sender.flush().unwrap();
            write!(sender, "{i}}}\r\n").unwrap();
            assert_eq!(next(), format!("{{\"t\": {i}}}").as_bytes());
            senders.push(sender);
        }
        let mut fifth = TcpStream::connect(address).unwrap();
        let mut end = [0];
        fifth
            .set_read_timeout(Some(Duration::from_secs(10)))
            .unwrap();
        assert!(!matches!(fifth.read(&mut end), Ok(1..)), "closed");
        // A line that is too long is told once, without its content.
        let long = "x".repeat(200_000);
        writeln!(senders[0], "{long}").unwrap();
        writeln!(senders[0], "after").unwrap();
        assert_eq!(next().len(), crate::motion::table::MAX_LINE_BYTES + 1);
        assert_eq!(next(), b"after");
        drop(senders.pop());
        let mut again = None;
        for _ in 0..200 {
            let mut sender = TcpStream::connect(address).unwrap();
            if writeln!(sender, "again").is_ok()
                && let Some(packet) = listener.next_within(Duration::from_millis(100))
            {
                again = Some(packet.bytes);
                break;
            }
        }
        assert_eq!(again.as_deref(), Some(&b"again"[..]), "a place became free");
    }

    #[test]
    fn only_the_chosen_sender_is_heard() {
        let access = |all_interfaces, last| Access {
            all_interfaces,
            only: Some(Ipv4Addr::new(127, 0, 0, last)),
        };
        let listener = Listener::udp(0, access(false, 2), || {}).unwrap();
        let other = sender(&listener);
        let chosen = UdpSocket::bind((Ipv4Addr::new(127, 0, 0, 2), 0));
        // Some systems have one loopback address only.
        let Ok(chosen) = chosen else {
            return;
        };
        other.send(&[1]).unwrap();
        chosen.send_to(&[2], listener.address().unwrap()).unwrap();
        let packet = listener.next_within(Duration::from_secs(10)).unwrap();
        assert_eq!((&packet.bytes[..], listener.n_others()), (&[2][..], 1));
        assert_eq!(packet.from, Some(chosen.local_addr().unwrap()));
        let far = Access {
            only: Some(Ipv4Addr::new(192, 168, 1, 20)),
            ..Access::default()
        };
        let why = Listener::tcp(0, far, || {}).unwrap_err().to_string();
        assert!(
            why.contains("nothing of 192.168.1.20 would arrive"),
            "{why}"
        );
        let lines = Listener::tcp(0, access(false, 3), || {}).unwrap();
        let _refused = std::net::TcpStream::connect(lines.address().unwrap()).unwrap();
        for _ in 0..1000 {
            if lines.n_others() == 1 {
                return;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        panic!("a connection of another is refused");
    }

    #[test]
    fn a_reader_waits_for_room_and_loses_nothing() {
        let n = 20_000;
        let lines: Vec<String> = (0..n).map(|i| i.to_string()).collect();
        let text = lines.join("\n") + "\n";
        let listener = Listener::of_reader(std::io::Cursor::new(text), || {}).unwrap();
        // Long enough for the queue to fill.
        std::thread::sleep(Duration::from_millis(100));
        let mut next = 0;
        while !listener.has_ended() {
            if let Some(packet) = listener.next_within(Duration::from_millis(20)) {
                assert_eq!(packet.bytes, next.to_string().as_bytes());
                next += 1;
            }
        }
        assert_eq!((next, listener.n_dropped()), (n, 0));
        // One that nobody takes ends with the listener.
        let endless = Listener::of_reader(std::io::repeat(b'\n'), || {}).unwrap();
        drop(endless);
    }

    #[test]
    fn a_reader_gives_its_lines_until_it_ends() {
        let listener = Listener::of_reader(&b"one\n\ntwo"[..], || {}).unwrap();
        let mut lines = Vec::new();
        while !listener.has_ended() {
            if let Some(packet) = listener.next_within(Duration::from_millis(20)) {
                lines.push(String::from_utf8(packet.bytes).unwrap());
            }
        }
        assert_eq!(lines, ["one", "", "two"]);
        assert_eq!(listener.address(), None);
    }
}
