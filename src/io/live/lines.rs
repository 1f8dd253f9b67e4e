//! Lines of senders over TCP, or of a reader.

use super::PATIENCE;
use super::queue::Queue;
use crate::motion::table::MAX_LINE_BYTES;
use std::io::{ErrorKind, Read};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// The most senders at a time.
const MAX_CONNECTIONS: usize = 4;
/// A sender that ends no line for this time is closed.
const MAX_SILENCE: Duration = Duration::from_secs(10);
/// The size of a read, bytes.
const CHUNK: usize = 16 << 10;

/// The senders that are connected.
pub(super) struct Connections;

impl Connections {
    /// Accepts senders, or only those of one address, and reads their lines until `ends`. Nothing is sent to them.
    pub(super) fn serve(
        socket: &TcpListener,
        only: Option<IpAddr>,
        queue: &Queue,
        ends: &AtomicBool,
    ) {
        let n_open = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            while !ends.load(Ordering::Relaxed) {
                let Ok((stream, address)) = socket.accept() else {
                    // Nobody wants to connect, or somebody gave up.
                    std::thread::sleep(PATIENCE);
                    continue;
                };
                if only.is_some_and(|only| only != address.ip()) {
                    queue.refuse();
                    continue;
                }
                // One too many is closed at once.
                if n_open.load(Ordering::Relaxed) >= MAX_CONNECTIONS || !is_ready(&stream) {
                    continue;
                }
                n_open.fetch_add(1, Ordering::Relaxed);
                let n_open = &n_open;
                let serve = move || {
                    let mut stream = stream;
                    let _ = read_lines(&mut stream, queue, ends, Some(address));
                    n_open.fetch_sub(1, Ordering::Relaxed);
                };
                let thread = std::thread::Builder::new().name("Live lines".into());
                if thread.spawn_scoped(scope, serve).is_err() {
                    n_open.fetch_sub(1, Ordering::Relaxed);
                }
            }
        });
    }
}

/// Whether a read times out, so that its thread can end.
fn is_ready(stream: &TcpStream) -> bool {
    stream.set_nonblocking(false).is_ok() && stream.set_read_timeout(Some(PATIENCE)).is_ok()
}

/// Reads lines without their ends until the reader ends, `ends` is set, or no line of a sender (`from`) ended within 10 s. A line
/// that is too long is cut one byte after the limit. Without a sender no line is lost: the reader waits until there is room.
pub(super) fn read_lines(
    reader: &mut impl Read,
    queue: &Queue,
    ends: &AtomicBool,
    from: Option<SocketAddr>,
) -> std::io::Result<()> {
    let mut chunk = vec![0; CHUNK];
    let mut line: Vec<u8> = Vec::new();
    let mut last_end = Instant::now();
    let push = |line: &[u8]| match from {
        Some(_) => queue.push(line, from),
        None => queue.push_waiting(line, PATIENCE, ends),
    };
    while !ends.load(Ordering::Relaxed) {
        if from.is_some() && last_end.elapsed() > MAX_SILENCE {
            return Ok(());
        }
        let n_bytes = match reader.read(&mut chunk) {
            Ok(n_bytes) => n_bytes,
            Err(why) if is_pause(why.kind()) => continue,
            Err(why) => return Err(why),
        };
        if n_bytes == 0 {
            // A last line may have no end.
            if !line.is_empty() {
                push(&line);
            }
            return Ok(());
        }
        for byte in &chunk[..n_bytes] {
            if *byte != b'\n' {
                if line.len() <= MAX_LINE_BYTES {
                    line.push(*byte);
                }
                continue;
            }
            if line.last() == Some(&b'\r') {
                line.pop();
            }
            push(&line);
            line.clear();
            last_end = Instant::now();
        }
    }
    Ok(())
}

/// Whether the read timed out.
fn is_pause(kind: ErrorKind) -> bool {
    matches!(
        kind,
        ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted
    )
}
