//! What a frame of the window costs on its thread, and how long a pose takes from the pointer to the picture.
//!
//! `cargo bench --features gui-test --bench frames` prints p50 and p99; compare rows of one run only. The window is real,
//! its GL context is windowless.

use egui::{Key, Modifiers, PointerButton, Vec2};
use sinew::document::PaneLayout;
use sinew::io::gltf_build;
use sinew::sample::{SampleKind, sample};
use sinew::view::commands::Command;
use sinew::view::mode::Mode;
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use std::alloc::System;
use std::time::{Duration, Instant};
use window::Window;

#[path = "../gui/renderer.rs"]
#[allow(dead_code, reason = "shared with the tests")]
mod renderer;
#[path = "../gui/window.rs"]
#[allow(dead_code, reason = "shared with the tests")]
mod window;

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

const N_POINTS: usize = 100_000;
const N_FRAMES: usize = 300;

fn main() {
    let folder = tempfile::tempdir().expect("a folder for the model");
    let path = folder.path().join("mannequin.glb");
    let model = sample(SampleKind::Mannequin, N_POINTS);
    std::fs::write(&path, gltf_build::to_glb(&model)).expect("the model is written");
    let mut window = Window::on(path.to_str().expect("a plain path"));
    let n: usize = window.positions().len();
    println!("mannequin, {n} points, 1366 x 768; {N_FRAMES} frames a row");
    window.picture("bench");

    frames("idle", &mut window, |_, _| {});
    let centre = window.viewport().center();
    window.move_to(centre);
    window.button(centre, PointerButton::Middle, true, Modifiers::NONE);
    frames("orbiting", &mut window, |window, i| {
        let at = centre + Vec2::angled(i as f32 * 0.1) * 60.0;
        window.harness.hover_at(at);
    });
    window.button(centre, PointerButton::Middle, false, Modifiers::NONE);
    // Playing is never at rest: the keys are pressed without waiting for it.
    window.harness.key_press(Key::Space);
    frames("playing", &mut window, |_, _| {});
    window.harness.key_press(Key::Space);
    window.settle();
    pose_drag("pose drag, one pane", &mut window);
    for (layout, name) in [
        (PaneLayout::Two, "two panes"),
        (PaneLayout::Four, "four panes"),
        (PaneLayout::Wipe, "wipe"),
    ] {
        window.find_and_run(Command::UsePanes(layout));
        window.settle();
        window.picture("bench-panes");
        frames(&format!("idle, {name}"), &mut window, |_, _| {});
        pose_drag(&format!("pose drag, {name}"), &mut window);
    }
}

/// Times `N_FRAMES` frames of the interface: without the 3D draw, and the draw after it.
fn frames(name: &str, window: &mut Window, mut before: impl FnMut(&mut Window, usize)) {
    for i in 0..20 {
        before(window, i);
        window.harness.step();
    }
    let pictures = window.app().n_pictures();
    let region = Region::new(ALLOCATOR);
    let (mut interface, mut drawing) = (Vec::new(), Vec::new());
    let mut allocations = 0;
    for i in 0..N_FRAMES {
        before(window, i);
        let before_frame = region.change().allocations;
        let start = Instant::now();
        window.harness.step();
        interface.push(start.elapsed());
        allocations += region.change().allocations - before_frame;
        // The tests' renderer reads the picture back, which a window does not; so only some frames are drawn.
        if i % 10 == 0 {
            let start = Instant::now();
            window.harness.render().expect("a picture");
            drawing.push(start.elapsed());
        }
    }
    let drawn = window.app().n_pictures() - pictures;
    row(&format!("{name}: interface"), interface);
    row(&format!("{name}: drawing and reading back"), drawing);
    println!(
        "{:42} {:10} allocations a frame, {drawn} of {} pictures drawn anew",
        "",
        allocations / N_FRAMES,
        N_FRAMES.div_ceil(10)
    );
}

/// From a pointer event to the new positions on the interface's thread, with the skinning in between.
fn pose_drag(name: &str, window: &mut Window) {
    let joints = window.bones();
    window.select(joints[joints.len() / 2]);
    window.choose("Window", "Pose mode");
    assert_eq!(window.app().viewport().mode, Mode::Pose);
    let centre = match window.app().viewport().layout(window.editor()) {
        PaneLayout::One => window.viewport().center(),
        _ => window.pane(0).center() - Vec2::new(40.0, 0.0),
    };
    window.move_to(centre + Vec2::new(120.0, 0.0));
    window.key(Modifiers::NONE, Key::R);
    let mut latencies = Vec::new();
    for i in 0..100 {
        let at = centre + Vec2::angled((i + 1) as f32 * 0.05) * 120.0;
        let serial = window.editor().picture_serial();
        window.harness.hover_at(at);
        let start = Instant::now();
        window.harness.step();
        while window.editor().picture_serial() == serial {
            // A window does not draw frames in the meantime: the worker wakes it.
            std::thread::sleep(Duration::from_micros(20));
            window.harness.state_mut().editor_mut().poll(0.0);
            assert!(start.elapsed() < Duration::from_secs(10), "no picture");
        }
        latencies.push(start.elapsed());
    }
    window.key(Modifiers::NONE, Key::Escape);
    window.settle();
    row(&format!("{name}: pointer to new positions"), latencies);
}

fn row(name: &str, mut times: Vec<Duration>) {
    times.sort();
    let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize].as_secs_f64() * 1e3;
    println!("{name:42} p50 {:8.3} ms   p99 {:8.3} ms", at(0.5), at(0.99));
}
