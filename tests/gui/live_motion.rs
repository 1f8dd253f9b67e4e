//! Live motion in the window: listened to over the loopback while weights are painted, recorded, keyed, calibrated, and its
//! recording retargeted to the character.

use crate::clusters::undo_label;
use crate::shared::shared_dir;
use crate::window::Window;
use egui::{Key, Modifiers, Role, ViewportId};
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use sinew::app::SinewApp;
use sinew::cluster::channel::RecordingId;
use sinew::editor::live::LiveMotion;
use sinew::motion::ChannelKind;
use sinew::motion::bindings::BoundTo;
use sinew::skeleton::JointId;
use sinew::view::commands::Command;
use sinew::view::frame::PanelKind;
use sinew::view::mode::Mode;
use std::io::Write as _;
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Replays a log of packets over the loopback at its own pace, again and again, until it is dropped.
struct Sender {
    ends: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Sender {
    fn new(log: Vec<(f64, Vec<u8>)>, port: u16) -> Self {
        let ends = Arc::new(AtomicBool::new(false));
        let theirs = ends.clone();
        let run = move || {
            let socket = UdpSocket::bind("127.0.0.1:0").expect("a socket");
            let start = log[0].0;
            while !theirs.load(Ordering::Relaxed) {
                let now = Instant::now();
                for (arrival, packet) in &log {
                    let due = Duration::from_secs_f64((arrival - start).max(0.0));
                    std::thread::sleep(due.saturating_sub(now.elapsed()));
                    if theirs.load(Ordering::Relaxed) {
                        return;
                    }
                    // Without a listener the system may say so; the next packet is sent all the same.
                    let _ = socket.send_to(packet, ("127.0.0.1", port));
                }
            }
        };
        Self {
            ends,
            thread: Some(std::thread::spawn(run)),
        }
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

/// Times of arrival and packets of the logged walk.
fn logged(test: &str) -> Option<Vec<(f64, Vec<u8>)>> {
    let log = shared_dir(test)?.join("motion/live/vmc_walk.vmclog");
    let bytes = std::fs::read(log).expect("the log");
    let mut rest = &bytes[..];
    let mut found = Vec::new();
    while let Some((arrival, after)) = rest.split_first_chunk::<8>() {
        let (length, after) = after.split_first_chunk::<4>().expect("a length");
        let (packet, next) = after.split_at(u32::from_le_bytes(*length) as usize);
        found.push((f64::from_le_bytes(*arrival), packet.to_vec()));
        rest = next;
    }
    Some(found)
}

impl Window {
    /// Clicks a widget without waiting for rest: while motion is received there is none.
    #[track_caller]
    fn press_live(&mut self, role: Role, label: &str) {
        self.harness.get_by_role_and_label(role, label).click();
        for _ in 0..3 {
            self.harness.step();
        }
    }

    /// Opens the Motion panel of the Animate workspace.
    fn open_motion(&mut self) {
        self.click(Role::Tab, "Animate");
        self.click(Role::Tab, "Motion");
    }

    fn set_port(&mut self, port: u16) {
        self.click(Role::SpinButton, "Port");
        self.write(&port.to_string());
        self.key(Modifiers::NONE, Key::Tab);
        assert_eq!(self.editor().live_settings().port(), port);
    }

    fn is_disabled(&self, role: Role, label: &str) -> bool {
        let node = self.harness.get_by_role_and_label(role, label);
        node.accesskit_node().is_disabled()
    }

    /// Whether no frame is asked for soon.
    fn rests(&self) -> bool {
        let windows = &self.harness.output().viewport_output;
        let delay = windows.get(&ViewportId::ROOT).map(|w| w.repaint_delay);
        delay.is_some_and(|delay| delay > Duration::from_secs(1))
    }
}

fn live(app: &SinewApp) -> &LiveMotion {
    app.editor().live().expect("it listens")
}

/// How far the pose on screen is from the one at rest, the sum of the angles of all bones.
fn turned(app: &SinewApp) -> f64 {
    let document = app.editor().document();
    let (shown, rest) = (document.shown_pose(), document.rest_pose());
    let pairs = shown.locals.iter().zip(&rest.locals);
    pairs
        .map(|(a, b)| a.rotation.angle_between(b.rotation))
        .sum()
}

#[test]
fn a_logged_walk_moves_the_character_and_is_recorded() {
    let Some(log) = logged("live motion in the window") else {
        return;
    };
    let mut window = Window::on("mannequin.glb");
    window.open_motion();
    assert!(window.says("Move the character live"));
    assert!(window.says("Live motion that you record is listed here."));
    window.picture("live-empty");
    let free = UdpSocket::bind("127.0.0.1:0").expect("a port");
    let port = free.local_addr().expect("its place").port();
    drop(free);
    window.set_port(port);
    assert!(window.says(&format!("to 127.0.0.1 and port {port}")));
    window.click(Role::Button, "Listen");
    assert!(window.says(&format!(
        "Listening at 127.0.0.1:{port}. Nothing has arrived yet."
    )));
    assert!(window.says("Live: VMC, waiting"));
    assert!(window.is_disabled(Role::SpinButton, "Port"));
    assert!(window.is_disabled(Role::CheckBox, "Only this computer"));
    // Nothing comes, so nothing is drawn.
    window.wait_until("rest", Window::rests);

    let sender = Sender::new(log, port);
    window.wait("the character moves", |app| turned(app) > 0.5);
    window.wait("the rate", |app| live(app).rate().is_some());
    let before = window.positions();
    window.wait_until("its skin moves", |window| window.positions() != before);
    // It stands.
    let height = |name: &str| {
        let skeleton = window.document().skeleton();
        let at = skeleton.joints().iter().position(|j| j.name == name);
        window.editor().world()[at.expect("the joint")]
            .translation
            .y
    };
    assert!(height("head") > height("hips") + 0.4);
    window.wait_until("the rate", |window| {
        window.says(" at 60 Hz.") && window.says("Live: VMC, 60 Hz")
    });
    window.press_live(Role::Button, "Record");
    // Weights are painted meanwhile.
    let joint = window.bones()[4];
    let editor = window.harness.state_mut().editor_mut();
    editor.select_joint(Some(joint));
    window.find_and_run(Command::SetMode(Mode::Paint));
    // The chest hardly moves, so it is hit however long a frame takes.
    let at = window.on_bone(joint);
    window.press(at);
    for i in 1..=8_u8 {
        window.move_to(at + egui::vec2(3.0 * f32::from(i), 2.0 * f32::from(i)));
    }
    window.release(at + egui::vec2(24.0, 16.0));
    window.wait("a stroke", |app| {
        app.editor().history().undo_label().is_some()
    });
    let painted = undo_label(&window);
    window.wait("a second is recorded", |app| {
        live(app).recorded_secs().is_some_and(|secs| secs > 1.0)
    });
    assert!(window.says(", recording "));
    assert!(window.app().editor().shows_live());
    window.picture("live-recording");
    let malformed = b"#bundle";
    let socket = UdpSocket::bind("127.0.0.1:0").expect("a socket");
    socket
        .send_to(malformed, ("127.0.0.1", port))
        .expect("it is sent");
    window.wait("a malformed packet", |app| {
        live(app).counts().malformed == 1
    });
    assert!(window.says("Last malformed: "));
    assert!(window.says("Malformed: 1"));
    window.press_live(Role::Button, "Stop recording");
    window.wait("the recording", |app| {
        !app.editor().document().recordings().is_empty()
    });
    assert_eq!(undo_label(&window), "Record motion · Take");
    assert!(window.says("Take, "));
    assert_eq!(live(window.app()).recorded_secs(), None);

    window.press_live(Role::Button, "Key pose");
    window.wait("a keyframe", |app| {
        let label = app.editor().history().undo_label();
        label.is_some_and(|label| label.starts_with("Insert keyframe"))
    });
    assert!(window.app().editor().shows_live(), "it goes on");

    // Three seconds to take the pose, one to hold it.
    window.press_live(Role::Button, "Calibrate");
    // However long a frame takes here, it is one of the two.
    assert!(window.says("Take a T-pose: ") || window.says("Hold the T-pose"));
    window.wait("a calibration", |app| live(app).is_calibrated());
    window.harness.step();
    window.press_live(Role::Button, "Clear calibration");
    assert!(!live(window.app()).is_calibrated());

    // The sender ends: the body relaxes, and no more frames are drawn.
    drop(sender);
    window.settle();
    window.wait_until("rest", Window::rests);
    assert!(window.says("Nothing is arriving."));
    window.picture("live-silent");

    // What is recorded becomes a clip, which is on screen instead of what is received.
    window.click(Role::Button, "Adjust motion");
    assert_eq!(undo_label(&window), "Add motion · Take");
    assert!(!window.editor().shows_live() && window.editor().live().is_some());
    window.picture("live-adjusted");
    window.click(Role::Button, "Apply");

    // Its lane is in the timeline, where moments are stamped.
    window.click(Role::Tab, "Timeline");
    assert!(window.says("Recording Take"));
    window.harness.state_mut().editor_mut().set_time(0.5);
    window.key(Modifiers::NONE, Key::M);
    assert_eq!(undo_label(&window), "Add stamp at 0.50 s · Take");
    window.harness.state_mut().editor_mut().set_time(1.0);
    window.settle();
    window.picture("live-lane");
    window.click(Role::Button, "Stamp at 0.50 s");
    assert_eq!(window.editor().playback().time_secs, 0.5);
    let flag = window
        .harness
        .get_by_role_and_label(Role::Button, "Stamp at 0.50 s");
    let at = flag.rect().center();
    window.right_click(at);
    window.click(Role::Button, "Delete stamp");
    assert_eq!(undo_label(&window), "Delete stamp Stamp · Take");
    window.find_and_run(Command::Undo);
    window.find_and_run(Command::Undo);
    window.settle();
    window.click(Role::Tab, "Motion");
    window.click(Role::Button, "Stop");
    assert!(window.editor().live().is_none());
    assert!(!window.says("Live: VMC"));
    for _ in 0..3 {
        window.find_and_run(Command::Undo);
        window.settle();
    }
    assert!(window.document().recordings().is_empty());
    assert_eq!(undo_label(&window), painted);
    window.find_and_run(Command::Redo);
    window.settle();
    assert!(window.document().recordings().contains_key(&RecordingId(0)));
}

/// Scrolls its panel to a widget.
fn in_sight(window: &mut Window, role: Role, label: &str) {
    window
        .harness
        .get_by_role_and_label(role, label)
        .scroll_to_me();
    window.harness.step();
    window.settle();
}

#[test]
fn a_port_in_use_is_said_and_lines_turn_bones_by_name() {
    let mut window = Window::on("arm.glb");
    window.open_motion();
    let taken = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = taken.local_addr().expect("its place").port();
    window.click(Role::ComboBox, "Protocol");
    window.click(Role::Button, "JSON lines (TCP)");
    window.set_port(port);
    assert!(window.says(&format!("connect to port {port}")));
    window.click(Role::Button, "Listen");
    assert!(window.says(&format!("Port {port} is in use")));
    assert!(window.editor().live().is_none());
    window.picture("live-port-in-use");
    drop(taken);
    // By its command, from another panel.
    window.click(Role::Tab, "Timeline");
    window.find_and_run(Command::ToggleListening);
    window.settle();
    assert!(window.app().dock().is_open(PanelKind::Motion));
    assert!(
        window.says("Nothing has arrived yet."),
        "its tab is in front"
    );
    let failure = window.editor().listen_failure();
    assert_eq!(failure, None);

    // Recording waits for the first line.
    window.click(Role::Button, "Record");
    assert!(window.says("recording 0.0 s"));
    let mut sender = TcpStream::connect(("127.0.0.1", port)).expect("it listens");
    let bone = window.bones()[1];
    let name = window.document().skeleton().joint(bone).name.clone();
    let rest = window.document().rest_pose().locals[bone.get()].rotation;
    let [x, y, z, w] = (rest * glam::DQuat::from_rotation_x(0.9)).to_array();
    for i in 0..40 {
        let t = f64::from(i) / 30.0;
        writeln!(
            sender,
            "{{\"t\": {t}, \"device\": \"imu\", \"rotation\": {{\"{name}\": [{x}, {y}, {z}, {w}]}}, \"scalar\": {{\"load\": 30}}}}"
        )
        .expect("it is sent");
    }
    writeln!(sender, "{{\"t\": NaN}}").expect("it is sent");
    window.wait("all lines", |app| live(app).counts().received == 41);
    assert_eq!(live(window.app()).counts().malformed, 1);
    window.wait("the bone turns", |app| {
        let shown = app.editor().document().shown_pose();
        let turn = shown.locals[bone.get()].rotation;
        (turn.angle_between(rest) - 0.9).abs() < 1e-3
    });
    assert!(window.says("Last malformed: "));

    // What arrives is bound by hand, which is no edit.
    window.settle();
    window.press_widget(Role::ListBoxOption, "load: scalar");
    window.pick("Bind to", "Display only");
    window.settle();
    let bound = window
        .editor()
        .live_binding_of(("load", ChannelKind::Scalar));
    assert_eq!(bound, Some(&BoundTo::Display));
    assert_eq!(window.editor().history().undo_label(), None);
    window
        .harness
        .get_by_role_and_label(Role::ListBoxOption, "load: Display only");
    // Bound to a bone it rotates that, and the other channel its own.
    let bound = window.bones()[0];
    window.select(bound);
    in_sight(&mut window, Role::ComboBox, "Bind to");
    window.pick("Bind to", "Hinge angle");
    window.settle();
    in_sight(&mut window, Role::ComboBox, "Bind to");
    window.picture("live-bound");
    for i in 40..80 {
        let t = f64::from(i) / 30.0;
        let line = format!(
            "{{\"t\": {t}, \"rotation\": {{\"{name}\": [{x}, {y}, {z}, {w}]}}, \"scalar\": {{\"load\": 30}}}}"
        );
        writeln!(sender, "{line}").expect("it is sent");
    }
    window.wait("both bones", |app| {
        let shown = app.editor().document().shown_pose();
        let rest = app.editor().document().rest_pose();
        let turned = |bone: JointId| {
            let [shown, rest] = [&shown, rest].map(|pose| pose.locals[bone.get()].rotation);
            shown.angle_between(rest)
        };
        let hinge = 30.0_f64.to_radians();
        (turned(bound) - hinge).abs() < 1e-3 && (turned(bone) - 0.9).abs() < 1e-3
    });

    // Posing goes on from what is shown, with undo.
    in_sight(&mut window, Role::CheckBox, "Show on character");
    window.click(Role::CheckBox, "Show on character");
    assert!(!window.editor().shows_live());
    window.click(Role::CheckBox, "Show on character");
    window.settle();

    // Closing the window does not lose what is being recorded.
    assert!(!window.close());
    assert!(
        window
            .editor()
            .live()
            .expect("it listens")
            .recorded_secs()
            .is_none()
    );
    assert_eq!(window.document().recordings().len(), 1);
    window.click(Role::Button, "Cancel");
    window.find_and_run(Command::ToggleListening);
    window.settle();
    assert!(window.editor().live().is_none());

    // The whole network is heard only where that is asked for, and it is said.
    in_sight(&mut window, Role::CheckBox, "Only this computer");
    window.click(Role::CheckBox, "Only this computer");
    window.click(Role::Button, "Listen");
    assert!(window.says("Anyone in your network can move this character."));
    assert!(window.says("anyone in your network can move this character"));
    window.picture("live-network");
    window.click(Role::Button, "Stop");
    window.click(Role::CheckBox, "Only this computer");
    assert!(!window.editor().live_settings().access.all_interfaces);
}
