//! How long a live frame takes from the end of its jitter buffer to new positions on screen, and what a flood of packets costs
//! the window.
//!
//! `cargo bench --features gui-test --bench live [-- POINTS]` prints p50 and p99; compare rows of one run only. The window is
//! real, its GL context is windowless; a thread sends VMC packets over the loopback.

use rosc::{OscBundle, OscMessage, OscPacket, OscTime, OscType};
use sinew::editor::live::{LiveKind, LiveMotion};
use sinew::io::gltf_build;
use sinew::sample::{SampleKind, sample};
use std::net::UdpSocket;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use window::Window;

#[path = "../gui/renderer.rs"]
#[allow(dead_code, reason = "shared with the tests")]
mod renderer;
#[path = "../gui/window.rs"]
#[allow(dead_code, reason = "shared with the tests")]
mod window;

const N_POINTS: usize = 100_000;
const N_FRAMES: usize = 300;
const RATE: f64 = 60.0;
/// Packets a second of the flood.
const FLOOD: f64 = 100_000.0;

fn main() {
    let n = std::env::args().skip(1).find_map(|arg| arg.parse().ok());
    let folder = tempfile::tempdir().expect("a folder for the model");
    let path = folder.path().join("mannequin.glb");
    let model = sample(SampleKind::Mannequin, n.unwrap_or(N_POINTS));
    std::fs::write(&path, gltf_build::to_glb(&model)).expect("the model is written");
    let mut window = Window::on(path.to_str().expect("a plain path"));
    println!(
        "mannequin, {} points, 1366 x 768; {N_FRAMES} frames a row",
        window.positions().len()
    );
    window.picture("bench");
    let editor = window.harness.state_mut().editor_mut();
    editor.listen(LiveKind::Vmc, 0, false);
    let port = editor.live().and_then(LiveMotion::address);
    let port = port.expect("it listens").port();

    let start = Instant::now();
    let performer = Sender::new(port, start, RATE);
    window.wait("the character moves", |app| app.editor().shows_live());
    live_frames("60 packets a second", &mut window);
    let flood = Sender::new(port, start, FLOOD);
    std::thread::sleep(Duration::from_secs(1));
    let counts = |window: &Window| window.editor().live().expect("it listens").counts();
    let (before, sent, begun, memory) = (counts(&window), flood.n_sent(), Instant::now(), rss_mb());
    live_frames("and a flood", &mut window);
    let secs = begun.elapsed().as_secs_f64();
    let after = counts(&window);
    println!(
        "{:.0} packets a second sent; of them {} received, {} dropped, {} malformed in {secs:.1} s; memory {memory:.0} MB before, {:.0} MB after",
        (flood.n_sent() - sent) as f64 / secs,
        after.received - before.received,
        after.dropped - before.dropped,
        after.malformed - before.malformed,
        rss_mb()
    );
    drop((flood, performer));
}

/// Times `N_FRAMES` frames: the interface's, and until the positions of the pose that it took, or of a later one, are on
/// screen.
fn live_frames(name: &str, window: &mut Window) {
    let (mut interface, mut pictures) = (Vec::new(), Vec::new());
    for i in 0..N_FRAMES + 20 {
        let start = Instant::now();
        window.harness.step();
        let stepped = start.elapsed();
        let [asked, _] = window.editor().requests();
        while window.editor().requests()[1] < asked {
            // A window does not draw frames in the meantime: the worker wakes it.
            std::thread::sleep(Duration::from_millis(1));
            window.harness.state_mut().editor_mut().poll(0.0);
            assert!(start.elapsed() < Duration::from_secs(10), "no picture");
        }
        if i >= 20 {
            interface.push(stepped);
            pictures.push(start.elapsed());
        }
        std::thread::sleep(Duration::from_secs_f64(1.0 / RATE).saturating_sub(start.elapsed()));
    }
    row(&format!("{name}: interface"), interface);
    row(&format!("{name}: pose to new positions"), pictures);
}

/// Sends a performer who swings the arms.
struct Sender {
    ends: Arc<AtomicBool>,
    n_sent: Arc<AtomicUsize>,
    thread: Option<JoinHandle<()>>,
}

impl Sender {
    /// `start`: of the performer's clock; `rate`: packets a second.
    fn new(port: u16, start: Instant, rate: f64) -> Self {
        let (ends, n_sent) = (Arc::default(), Arc::default());
        let (theirs, n): (Arc<AtomicBool>, Arc<AtomicUsize>) =
            (Arc::clone(&ends), Arc::clone(&n_sent));
        let run = move || {
            let socket = UdpSocket::bind("127.0.0.1:0").expect("a socket");
            let begun = Instant::now();
            while !theirs.load(Ordering::Relaxed) {
                let due = (begun.elapsed().as_secs_f64() * rate) as usize;
                let packet = packet(start.elapsed().as_secs_f64());
                while n.load(Ordering::Relaxed) <= due {
                    let _ = socket.send_to(&packet, ("127.0.0.1", port));
                    n.fetch_add(1, Ordering::Relaxed);
                }
                std::thread::sleep(Duration::from_micros(200));
            }
        };
        Self {
            ends,
            n_sent,
            thread: Some(std::thread::spawn(run)),
        }
    }

    fn n_sent(&self) -> usize {
        self.n_sent.load(Ordering::Relaxed)
    }
}

impl Drop for Sender {
    fn drop(&mut self) {
        self.ends.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// A frame of the Virtual Motion Capture protocol.
fn packet(secs: f64) -> Vec<u8> {
    let message = |addr: &str, args: Vec<OscType>| {
        OscPacket::Message(OscMessage {
            addr: addr.into(),
            args,
        })
    };
    let mut content = vec![
        message("/VMC/Ext/OK", vec![OscType::Int(1)]),
        message("/VMC/Ext/T", vec![OscType::Float(secs as f32)]),
    ];
    let half = 0.4 * (secs * 5.0).sin() as f32;
    for bone in [
        "Hips",
        "Spine",
        "Chest",
        "Neck",
        "Head",
        "LeftUpperArm",
        "LeftLowerArm",
        "LeftHand",
        "RightUpperArm",
        "RightLowerArm",
        "RightHand",
        "LeftUpperLeg",
        "LeftLowerLeg",
        "LeftFoot",
        "RightUpperLeg",
        "RightLowerLeg",
        "RightFoot",
    ] {
        let height = if bone == "Hips" { 0.9 } else { 0.0 };
        let mut args = vec![OscType::String(bone.into())];
        let numbers = [0.0, height, 0.0, 0.0, 0.0, half.sin(), half.cos()];
        args.extend(numbers.map(OscType::Float));
        content.push(message("/VMC/Ext/Bone/Pos", args));
    }
    let bundle = OscBundle {
        timetag: OscTime::from((0, 1)),
        content,
    };
    rosc::encoder::encode(&OscPacket::Bundle(bundle)).expect("a packet")
}

/// Resident memory, megabytes; 0 where the system does not say.
fn rss_mb() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kb = line.and_then(|line| line.split_whitespace().next()?.parse::<f64>().ok());
    kb.unwrap_or(0.0) / 1e3
}

fn row(name: &str, mut times: Vec<Duration>) {
    times.sort();
    let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize].as_secs_f64() * 1e3;
    println!("{name:42} p50 {:8.3} ms   p99 {:8.3} ms", at(0.5), at(0.99));
}
