//! Recordings of one elbow by two devices: broken files, clocks, gaps, the aggregate.

use crate::shared::shared_dir;
use glam::DQuat;
use serde_json::Value;
use sinew::io::channels::read_recording;
use sinew::math::Worse;
use sinew::motion::aggregate::{Aggregate, Stream, frame_times};
use sinew::motion::align::{ClockEvent, ClockMap, Peak, find_peaks, fit_clock};
use sinew::motion::fade::Fade;
use sinew::motion::{Channel, Ends, Recording, Sampling};
use sinew::task::Task;
use std::f64::consts::TAU;
use std::path::{Path, PathBuf};

fn folder(test: &str) -> Option<PathBuf> {
    Some(shared_dir(test)?.join("motion"))
}

fn recording(path: &Path) -> Recording {
    read_recording(path, &Task::new()).unwrap_or_else(|why| panic!("{why}"))
}

/// The flexion of the elbow, degrees, at a common time.
pub(crate) fn elbow(t: f64) -> f64 {
    60.0 + 50.0 * (TAU * 0.4 * t).sin() + 8.0 * (TAU * 1.7 * t).sin()
}

#[test]
fn broken_tables_are_refused_or_noted() {
    let Some(folder) = folder("broken CSV files") else {
        return;
    };
    for (name, said) in [
        ("no_header", "line 1: no header row"),
        ("no_time", "no time column: time, t or frame"),
        ("axis_missing", "marker \"a\" has no z"),
        ("quaternion_missing", "rotation \"j\" has no qw"),
        ("duplicate_column", "two columns are called \"a\""),
        ("row_long", "the row has 3 cells, the header 2"),
        ("word", "\"up\" in the column \"a\" is not a number"),
        ("time_word", "\"zero\" is not a time"),
        ("frame_without_fps", "needs a line \"# fps=\""),
        ("unknown_unit", "unknown unit \"ft\" (m, cm, mm)"),
        ("quotes_open", "line 2, column 2: a quote is not closed"),
        ("only_header", "no rows after the header"),
        ("utf16", "this is UTF-16"),
    ] {
        let path = folder.join("malformed").join(name).with_extension("csv");
        let why = read_recording(&path, &Task::new()).unwrap_err().to_string();
        assert!(why.contains(said), "{name}: {why}");
    }
    for (name, line, said) in [
        ("quaternion_zero", 2, "\"j\" has the length 0: missing"),
        ("quaternion_long", 2, "\"j\" has the length 1.05: missing"),
        (
            "backwards",
            4,
            "The time goes back by 0.1 s; the rows were sorted",
        ),
    ] {
        let path = folder.join("malformed").join(name).with_extension("csv");
        let found = recording(&path);
        assert_eq!(found.notes[0].line, line, "{name}");
        assert!(found.notes[0].text.contains(said), "{:?}", found.notes);
    }
}

/// The clock of a device from its two claps, at their samples or between them, and its errors at 0, 15 and 30 s against the true one, ms.
fn clock(
    recording: &Recording,
    channel: &str,
    [a, b]: [f64; 2],
    time: impl Fn(&Peak) -> f64,
) -> (ClockMap, [f64; 3]) {
    let scalar = recording
        .scalars
        .iter()
        .find(|s| s.name == channel)
        .unwrap();
    let peaks = find_peaks(&recording.times, &scalar.values);
    assert_eq!(peaks.len(), 2, "{peaks:?}");
    let events: Vec<ClockEvent> = peaks
        .iter()
        .zip([1.0, 29.0])
        .map(|(device, common)| ClockEvent {
            name: "clap".into(),
            device: time(device),
            common,
        })
        .collect();
    let steps: Vec<f64> = recording.times.windows(2).map(|w| w[1] - w[0]).collect();
    let fit = fit_clock(&events, steps[steps.len() / 2] * 0.5).unwrap();
    let off = |t: f64| {
        // The device's time of the common time t, by its true clock.
        let device = (t - b) / a;
        (fit.map.common(device) - t) * 1e3
    };
    (fit.map, [0.0, 15.0, 30.0].map(off))
}

#[test]
fn claps_give_the_clocks_within_their_samples() {
    let Some(folder) = folder("clocks") else {
        return;
    };
    let truth: Value =
        serde_json::from_slice(&std::fs::read(folder.join("streams/truth.json")).unwrap()).unwrap();
    let of = |device: &str| ["a", "b"].map(|key| truth[device][key].as_f64().unwrap());
    let imu = recording(&folder.join("streams/imu_forearm.csv"));
    let (map, off) = clock(&imu, "accel", of("imu"), |peak| peak.sample);
    println!("imu: {:.1} ppm, {off:.2?} ms", map.drift());
    assert!((map.drift() - 196.3).abs() < 0.5, "{}", map.drift());
    // The claps lie between samples of 10 ms.
    assert!(off.iter().all(|off| off.abs() < 0.35), "{off:?}");
    // A parabola finds them there: the true drift is 200 ppm.
    let (map, off) = clock(&imu, "accel", of("imu"), |peak| peak.time);
    println!("refined: {:.1} ppm, {off:.2?} ms", map.drift());
    assert!((map.drift() - 201.6).abs() < 0.5, "{}", map.drift());
    assert!(off.iter().all(|off| off.abs() < 0.15), "{off:?}");
    let camera = recording(&folder.join("streams/camera_wrist.csv"));
    let (map, off) = clock(&camera, "clap", of("camera"), |peak| peak.time);
    println!("camera: {:.1} ppm, {off:.2?} ms", map.drift());
    assert!((map.drift() + 540.6).abs() < 1.0, "{}", map.drift());
    for (found, expected) in off.iter().zip([-1.2, 1.7, 4.5]) {
        assert!((found - expected).abs() < 0.1, "{off:?}");
    }
}

#[test]
fn a_recording_is_resampled_within_its_noise_and_its_gap_is_invalid() {
    let Some(folder) = folder("resampling") else {
        return;
    };
    let imu = recording(&folder.join("streams/imu_forearm.csv"));
    let clock = ClockMap::new(1.0 / 1.0002, 0.35).unwrap();
    let times = frame_times(0.5, 29.5, 60.0);
    let stream = Stream {
        name: "imu",
        recording: &imu,
        clock,
    };
    let made = Aggregate::new(
        &[stream],
        times,
        60.0,
        |name| name.ends_with("forearm"),
        |_| DQuat::IDENTITY,
        &Task::new(),
    )
    .unwrap();
    let channel = &made.channels[0];
    let invalid = channel.valid.iter().filter(|valid| !**valid).count();
    assert_eq!(invalid, 42);
    let (mut worst, mut squares, mut n) = (0.0_f64, 0.0, 0.0);
    for (i, q) in channel.values.chunks(4).enumerate() {
        if !channel.valid[i] {
            continue;
        }
        let truth = DQuat::from_rotation_x(elbow(made.times[i]).to_radians());
        let dot = DQuat::from_slice(q).dot(truth).abs().clamp(0.0, 1.0);
        let off = 2.0 * dot.acos().to_degrees();
        worst = worst.worse(off);
        squares += off * off;
        n += 1.0;
    }
    let rms = f64::sqrt(squares / n);
    println!("imu at 60 Hz: max {worst:.4}, rms {rms:.4} degrees");
    assert!(worst < 0.095 && rms < 0.02, "{worst} {rms}");
}

#[test]
fn a_lost_rotation_relaxes_and_returns_without_a_jump() {
    let Some(folder) = folder("gaps") else {
        return;
    };
    let imu = recording(&folder.join("streams/imu_forearm.csv"));
    let sampling = Sampling {
        ends: Ends::Invalid,
        ..Sampling::default()
    };
    let channel = imu.rotation("forearm", sampling).unwrap().unwrap();
    let fade = Fade::default();
    let clean: Vec<f64> = (0..3000).map(|i| elbow(f64::from(i) * 0.01)).collect();
    let largest = clean
        .windows(2)
        .map(|w| (w[1] - w[0]).abs())
        .fold(0.0, f64::max);
    let mut last = channel.shown(0.5, &fade).value;
    let mut worst = 0.0_f64;
    for i in 0..2850 {
        let now = channel.shown(0.5 + f64::from(i) * 0.01, &fade).value;
        worst = worst.worse(2.0 * now.dot(last).abs().clamp(0.0, 1.0).acos().to_degrees());
        last = now;
    }
    println!("largest step {worst:.3}, of the signal {largest:.3} degrees in 10 ms");
    // The return eases over 0.1 s from rest: the steepest of it is 1.875 times the mean.
    assert!(worst <= 118.0 * 1.875 * 0.1, "{worst}");
}

#[test]
fn slerp_keeps_to_its_bound_at_every_rate() {
    // h^2 w2 / 8, with w2 the largest second derivative of the angle.
    for (rate, measured, bound) in [
        (25.0, 0.2434, 0.2457),
        (50.0, 0.0601, 0.0614),
        (100.0, 0.0136, 0.0154),
    ] {
        let times: Vec<f64> = (0..=(30.0 * rate) as usize)
            .map(|i| i as f64 / rate)
            .collect();
        let sign = |i: usize| if i.is_multiple_of(3) { -1.0 } else { 1.0 };
        let values: Vec<DQuat> = times
            .iter()
            .enumerate()
            .map(|(i, t)| DQuat::from_rotation_x(elbow(*t).to_radians()) * sign(i))
            .collect();
        let channel = Channel::new(&times, &values, Sampling::default()).unwrap();
        let mut worst = 0.0_f64;
        for k in 0..30_000 {
            let t = f64::from(k) * 1e-3;
            let truth = DQuat::from_rotation_x(elbow(t).to_radians());
            let found = channel.at(t).unwrap();
            let apart = (found * found.dot(truth).signum() - truth).length();
            worst = worst.worse(2.0 * apart.to_degrees());
        }
        println!("{rate} Hz: {worst:.4} degrees, at most {bound}");
        assert!(worst <= bound && worst > 0.85 * measured, "{rate}: {worst}");
    }
}

/// Shuffled rows are sorted rows; the identity clock gives samples back to the bit.
#[test]
fn rows_in_any_order_are_one_recording() {
    let rows: Vec<String> = (0..50)
        .map(|i| format!("{},{}", 0.01 * f64::from(i), i * i))
        .collect();
    let text = |rows: &[String]| format!("time,a\n{}\n", rows.join("\n"));
    let read = |text: &str| sinew::io::channels::parse_csv(text, &Task::new()).unwrap();
    let sorted = read(&text(&rows));
    let shuffled: Vec<String> = (0..50).map(|i| rows[i * 17 % 50].clone()).collect();
    let found = read(&text(&shuffled));
    assert_eq!(
        (&found.times, &found.scalars),
        (&sorted.times, &sorted.scalars)
    );
    let stream = Stream {
        name: "s",
        recording: &sorted,
        clock: ClockMap::SAME,
    };
    let made = Aggregate::new(
        &[stream],
        sorted.times.clone(),
        100.0,
        |_| true,
        |_| DQuat::IDENTITY,
        &Task::new(),
    )
    .unwrap();
    assert_eq!(made.channels[0].values, sorted.scalars[0].values);
}
