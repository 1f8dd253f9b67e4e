//! Recorded channels: the published numbers of sampling and fitting, and files that are broken.
//!
//! Sources: Fritsch & Butland 1984 (PCHIP), Kabsch 1978 and Umeyama 1991 (fit of two point sets).

use crate::shared::shared_dir;
use glam::{DMat3, DQuat, DVec3};
use proptest::prelude::*;
use sinew::cluster::channel::{
    Channel, Ends, Interpolation, Recording, Sampling, find_jumps, fit_similarity,
};
use sinew::cluster::fade::Fade;
use sinew::io::channels::{MAX_FILE_BYTES, parse_csv, parse_trc, read_recording};
use sinew::math::Worse;
use sinew::task::Task;
use std::f64::consts::TAU;
use std::fmt::Write as _;

fn sampling(interpolation: Interpolation) -> Sampling {
    Sampling {
        interpolation,
        ..Sampling::default()
    }
}

/// A sine of 1 Hz over 20 s, with steps that are off by up to a tenth of a step at each end.
fn sine(rate: f64) -> (Vec<f64>, Vec<f64>) {
    let mut state: u64 = 1;
    let mut jitter = || {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        ((state >> 33) as f64 / (1u64 << 31) as f64 * 2.0 - 1.0) * 0.1
    };
    let n = (20.0 * rate) as usize;
    let times: Vec<f64> = (0..=n).map(|i| (i as f64 + jitter()) / rate).collect();
    let values = times.iter().map(|t| (TAU * t).sin()).collect();
    (times, values)
}

#[test]
fn a_sine_resampled_to_60_hz_is_as_exact_as_published() {
    use Interpolation::{Hold, Linear, Pchip};
    for (rate, expected) in [
        (10.0, [(Linear, 0.067), (Hold, 0.63), (Pchip, 0.065)]),
        (30.0, [(Linear, 0.0071), (Hold, 0.23), (Pchip, 0.0068)]),
        (100.0, [(Linear, 0.0006), (Hold, 0.07), (Pchip, 0.00006)]),
    ] {
        let (times, values) = sine(rate);
        let longest = times.windows(2).map(|w| w[1] - w[0]).fold(0.0, f64::worse);
        for (interpolation, published) in expected {
            let made = Sampling {
                // At 10 Hz a step may exceed the least limit.
                max_gap: Some(0.5),
                ..sampling(interpolation)
            };
            let channel = Channel::new(&times, &values, made).unwrap();
            let frames = (60..60 * 19).map(|frame| f64::from(frame) / 60.0);
            let errors = frames.map(|t| (channel.at(t).unwrap() - (TAU * t).sin()).abs());
            let worst = errors.fold(0.0, f64::worse);
            println!("{rate} Hz {interpolation:?}: {worst:.6}");
            // Another draw of the jitter.
            assert!(
                (worst / published - 1.0).abs() < 0.1,
                "{rate} {interpolation:?}: {worst}"
            );
            if interpolation == Linear {
                let bound = (longest * TAU).powi(2) / 8.0;
                assert!(worst <= bound, "{rate}: {worst} {bound}");
            }
        }
    }
}

#[test]
fn a_gap_of_one_second_is_60_invalid_frames() {
    let times: Vec<f64> = (0..1000).map(|i| f64::from(i) * 0.01).collect();
    let mut values: Vec<f64> = times.iter().map(|t| (TAU * t).sin()).collect();
    for (t, v) in times.iter().zip(&mut values) {
        if (3.0..4.0).contains(t) {
            *v = f64::NAN;
        }
    }
    for interpolation in Interpolation::ALL {
        let made = Sampling {
            max_gap: Some(0.1),
            ..sampling(interpolation)
        };
        let channel = Channel::new(&times, &values, made).unwrap();
        let frames = (0..600).map(|frame| f64::from(frame) / 60.0);
        let invalid = frames.filter(|t| channel.at(*t).is_none()).count();
        assert!((58..=62).contains(&invalid), "{interpolation:?}: {invalid}");
        let gaps: Vec<_> = channel.gaps().collect();
        assert_eq!(gaps, [[times[299], times[400]]]);
        // It is held, fades, and stays within what was there.
        let fade = Fade::default();
        let last = values[299];
        assert_eq!(channel.shown(3.2, &fade).value, last);
        assert_eq!(channel.shown(3.9, &fade).value, 0.0);
        assert!(!channel.shown(3.2, &fade).valid && channel.shown(4.0, &fade).valid);
    }
    // The default limit for 100 Hz is 0.1 s.
    let channel = Channel::new(&times, &values, Sampling::default()).unwrap();
    assert!((channel.max_gap() - 0.1).abs() < 1e-12);
}

fn read_shared(name: &str) -> Option<Recording> {
    let path = shared_dir(name)?.join("motion/streams").join(name);
    Some(read_recording(&path, &Task::new()).unwrap_or_else(|error| panic!("{error}")))
}

/// The motion of both shared recordings, degrees of flexion.
fn elbow(t: f64) -> f64 {
    60.0 + 50.0 * (TAU * 0.4 * t).sin() + 8.0 * (TAU * 1.7 * t).sin()
}

#[test]
fn a_forearm_sensor_resampled_to_60_hz_is_as_exact_as_published() {
    let Some(recording) = read_shared("imu_forearm.csv") else {
        return;
    };
    assert_eq!(
        recording.device.as_deref(),
        Some("imu; the clap shows in accel")
    );
    assert_eq!(recording.scalars[0].unit, "m/s^2");
    let channel = recording.rotation("forearm", Sampling::default());
    let channel = channel.unwrap().unwrap();
    // The true clock: 200 ppm fast, started at 0.35 s.
    let device = |t: f64| (t - 0.35) / 0.9998000399920016;
    let (mut worst, mut squares, mut valid, mut invalid): (f64, f64, u32, u32) = (0.0, 0.0, 0, 0);
    for frame in 30..=1770 {
        let t = f64::from(frame) / 60.0;
        let Some(found) = channel.at(device(t)) else {
            invalid += 1;
            continue;
        };
        let expected = DQuat::from_rotation_x(elbow(t).to_radians());
        let off = found.dot(expected).abs().min(1.0);
        let off = 2.0 * off.acos().to_degrees();
        worst = worst.worse(off);
        squares += off * off;
        valid += 1;
    }
    let rms = (squares / f64::from(valid)).sqrt();
    println!("max {worst:.4} rms {rms:.4} invalid {invalid}");
    assert_eq!(invalid, 42);
    // Published: 0.0863 and 0.0184. The worst frame depends on where the frames fall into the 14 missing rows, which leave
    // steps of 20 ms: 0.061 by the bound h^2 w'' / 8, and up to 0.042 by the noise of the stamps.
    assert!((worst - 0.0863).abs() < 0.008, "{worst}");
    assert!((rms - 0.0184).abs() < 0.001, "{rms}");
}

#[test]
fn a_camera_file_with_semicolons_and_decimal_commas_gives_the_wrist() {
    let Some(recording) = read_shared("camera_wrist.csv") else {
        return;
    };
    let notes: Vec<&str> = recording.notes.iter().map(|n| n.text.as_str()).collect();
    println!("{notes:?}");
    assert_eq!(notes.len(), 2, "{notes:?}");
    assert!(notes[0].starts_with("The time goes back by 0.01"));
    assert!(notes[1].contains("s; the last one is kept"));
    assert_eq!(recording.label("phase", recording.times[0]), Some("flex"));
    let channel = recording
        .marker("wrist", Sampling::default())
        .unwrap()
        .unwrap();
    let device = |t: f64| (t + 41520.0) / 1.00035012254289;
    let mut worst: f64 = 0.0;
    let mut invalid = 0;
    for frame in 60..1740 {
        let t = f64::from(frame) / 60.0;
        let Some(found) = channel.at(device(t)) else {
            invalid += 1;
            continue;
        };
        let a = elbow(t).to_radians();
        let expected = DVec3::new(0.02, 1.1 - 0.26 * a.cos(), 0.05 + 0.26 * a.sin());
        worst = worst.worse(found.distance(expected));
    }
    println!("max {worst:.5} m, invalid {invalid}");
    // Lost for 60 ms, which is bridged, and for 1 s.
    assert!((58..=62).contains(&invalid), "{invalid}");
    assert!(worst < 0.002, "{worst}");
}

/// What each broken file of the shared set must say, or note.
const BROKEN: [(&str, &str); 13] = [
    ("no_header", "line 1: no header row"),
    ("no_time", "no time column: time, t or frame"),
    ("axis_missing", "marker \"a\" has no z"),
    ("quaternion_missing", "rotation \"j\" has no qw"),
    (
        "duplicate_column",
        "line 1, column 3: two columns are called \"a\"",
    ),
    (
        "row_long",
        "line 3, column 3: the row has 3 cells, the header 2",
    ),
    (
        "word",
        "line 3, column 2: \"up\" in the column \"a\" is not a number",
    ),
    ("time_word", "line 2, column 1: \"zero\" is not a time"),
    ("frame_without_fps", "needs a line \"# fps=\""),
    ("unknown_unit", "unknown unit \"ft\" (m, cm, mm)"),
    ("quotes_open", "line 2, column 2: a quote is not closed"),
    ("only_header", "there are no rows after the header"),
    ("utf16", "this is UTF-16"),
];

#[test]
fn broken_files_are_refused_in_a_sentence_with_its_place() {
    let Some(shared) = shared_dir("broken channels") else {
        return;
    };
    let folder = shared.join("motion/malformed");
    let mut n_files = 0;
    for (name, said) in BROKEN {
        let path = folder.join(format!("{name}.csv"));
        let error = read_recording(&path, &Task::new()).unwrap_err().to_string();
        assert!(error.contains(said), "{error}");
        assert!(error.starts_with(path.to_str().unwrap()), "{error}");
        n_files += 1;
    }
    let read = |name: &str| read_recording(&folder.join(name), &Task::new()).unwrap();
    let back = read("backwards.csv");
    assert_eq!(back.times, [0.0, 0.1, 0.2, 0.3]);
    assert_eq!(back.scalars[0].values, [1.0, 3.0, 2.0, 4.0]);
    assert_eq!((back.notes[0].line, back.notes.len()), (4, 1));
    assert!(
        back.notes[0]
            .text
            .starts_with("The time goes back by 0.1 s")
    );
    for (name, length) in [
        ("quaternion_zero.csv", "0"),
        ("quaternion_long.csv", "1.05"),
    ] {
        let found = read(name);
        assert_eq!(found.rotations[0].n_valid(), 1);
        let note = &found.notes[0];
        let said = format!("The rotation \"j\" has the length {length}: missing.");
        assert_eq!((note.line, note.text.as_str()), (2, said.as_str()));
    }
    let files = std::fs::read_dir(&folder).unwrap().filter_map(Result::ok);
    let tables = files.filter(|f| f.path().extension().is_some_and(|e| e == "csv"));
    assert_eq!(tables.count(), n_files + 3, "a file is not tested");
}

#[test]
fn a_file_of_a_gigabyte_is_refused_by_its_size() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["big.csv", "big.trc"] {
        let path = folder.path().join(name);
        // Sparse: it takes no space on the disk.
        std::fs::File::create(&path)
            .unwrap()
            .set_len(1 << 30)
            .unwrap();
        let begun = std::time::Instant::now();
        let error = read_recording(&path, &Task::new()).unwrap_err().to_string();
        let limit = MAX_FILE_BYTES >> 20;
        assert!(
            error.contains(&format!("is larger than {limit} MiB")),
            "{error}"
        );
        assert!(begun.elapsed().as_millis() < 100, "it was read");
    }
    let missing = read_recording(&folder.path().join("none.csv"), &Task::new());
    assert!(
        missing
            .unwrap_err()
            .to_string()
            .contains("none.csv cannot be read")
    );
    let no_file = read_recording(folder.path(), &Task::new()).unwrap_err();
    assert!(
        no_file.to_string().ends_with("cannot be read: not a file"),
        "{no_file}"
    );
}

#[test]
fn a_trc_file_is_known_by_its_name_and_says_where_it_is_broken() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("Walk.TRC");
    let text = "PathFileType\t4\t(X/Y/Z)\twalk.trc\nDataRate\tNumFrames\tNumMarkers\tUnits\n\
        100\t2\t1\tcm\nFrame#\tTime\twrist\n\t\tX1\tY1\tZ1\n1\t0\t10\t20\t30\n2\t0.01\t10\t2o\t30\n";
    std::fs::write(&path, text).unwrap();
    let error = read_recording(&path, &Task::new()).unwrap_err().to_string();
    let expected = format!(
        "{}, line 7, column 4: \"2o\" is not a number",
        path.display()
    );
    assert_eq!(error, expected);
    std::fs::write(&path, text.replace("2o", "21")).unwrap();
    let found = read_recording(&path, &Task::new()).unwrap();
    assert_eq!(found.markers[0].values[1], DVec3::new(0.1, 0.21, 0.3));
    assert_eq!(found.notes, []);
}

/// Rows that leave their blanks out must not take memory that the file does not have.
#[test]
fn a_small_file_cannot_ask_for_much_memory() {
    let mut text = "PathFileType\nDataRate\tUnits\n100\tm\nFrame#\tTime".to_owned();
    for i in 0..5000 {
        let _ = write!(text, "\tm{i}\t\t");
    }
    text += "\n\t\n";
    for i in 0..100_000 {
        let _ = writeln!(text, "1\t{i}");
    }
    let error = parse_trc(&text, &Task::new()).unwrap_err().to_string();
    assert!(
        error.ends_with("are almost blank for 5000 markers"),
        "{error}"
    );
}

#[test]
fn swapped_markers_are_found() {
    let path = |offset: f64| (0..120).map(move |i| DVec3::new(offset, 0.002 * f64::from(i), 0.0));
    let mut places: Vec<Option<DVec3>> = path(0.0).map(Some).collect();
    assert_eq!(find_jumps(places.clone(), 0.05), []);
    for (place, other) in places[40..60].iter_mut().zip(path(0.2).skip(40)) {
        *place = Some(other);
    }
    let frames: Vec<usize> = find_jumps(places, 0.05)
        .iter()
        .map(|jump| jump.frame)
        .collect();
    assert_eq!(frames, [40, 60]);
}

#[test]
fn a_settings_value_survives_a_file() {
    let made = Sampling {
        interpolation: Interpolation::Pchip,
        ends: Ends::Loop,
        max_gap: Some(0.2),
    };
    let text = ron::to_string(&made).unwrap();
    assert_eq!(ron::from_str::<Sampling>(&text).unwrap(), made);
}

fn place() -> impl Strategy<Value = DVec3> {
    prop::array::uniform3(-3.0f64..3.0).prop_map(DVec3::from_array)
}

fn rotation() -> impl Strategy<Value = DQuat> {
    (place(), 0.0f64..3.1).prop_map(|(axis, angle)| {
        DQuat::from_axis_angle(axis.try_normalize().unwrap_or(DVec3::X), angle)
    })
}

/// Four points far from a line, and more.
fn cloud() -> impl Strategy<Value = Vec<DVec3>> {
    prop::collection::vec(place(), 0..8).prop_map(|mut points| {
        points.extend([DVec3::ZERO, DVec3::X * 2.0, DVec3::Y, DVec3::Z * 0.7]);
        points
    })
}

proptest! {
    #[test]
    fn the_fit_of_a_rigid_or_similar_motion_is_exact(
        points in cloud(), turn in rotation(), shift in place(), scale in 0.05f64..20.0,
    ) {
        for (with_scale, scale) in [(false, 1.0), (true, scale)] {
            let pairs: Vec<_> = points.iter().map(|p| [*p, turn * *p * scale + shift]).collect();
            let fit = fit_similarity(&pairs, with_scale).unwrap();
            prop_assert!(fit.has_rotation && !fit.is_mirrored);
            prop_assert!(fit.map.rotation.abs_diff_eq(DMat3::from_quat(turn), 1e-12));
            prop_assert!((fit.map.scale / scale - 1.0).abs() < 1e-12);
            prop_assert!(fit.rms < 1e-12 * (1.0 + scale), "{}", fit.rms);
            for [from, to] in pairs {
                prop_assert!(fit.map.point(from).distance(to) < 1e-11 * (1.0 + scale));
            }
        }
    }

    #[test]
    fn mirrored_markers_get_a_proper_rotation_and_are_noticed(
        points in cloud(), turn in rotation(), shift in place(),
    ) {
        let mirrored = |p: DVec3| turn * DVec3::new(-p.x, p.y, p.z) + shift;
        let pairs: Vec<_> = points.iter().map(|p| [*p, mirrored(*p)]).collect();
        let fit = fit_similarity(&pairs, true).unwrap();
        let rotation = fit.map.rotation;
        prop_assert!((rotation.determinant() - 1.0).abs() < 1e-12);
        prop_assert!((rotation * rotation.transpose()).abs_diff_eq(DMat3::IDENTITY, 1e-12));
        prop_assert!(fit.is_mirrored && fit.rms > 1e-3 && fit.map.scale > 0.0);
        // No rotation nearby fits better.
        let cost = |rotation: DMat3| {
            let n = pairs.len() as f64;
            let centre = |k: usize| pairs.iter().map(|pair| pair[k]).sum::<DVec3>() / n;
            let (from, to) = (centre(0), centre(1));
            pairs.iter().map(|[a, b]| (rotation * (*a - from) - (*b - to)).length_squared()).sum::<f64>()
        };
        let best = cost(rotation);
        for axis in DVec3::AXES {
            for angle in [0.02, -0.02] {
                let other = DMat3::from_axis_angle(axis, angle) * rotation;
                prop_assert!(cost(other) >= best - 1e-9);
            }
        }
    }

    #[test]
    fn pchip_is_monotone_and_stays_between_its_samples(
        steps in prop::collection::vec((0.001f64..0.2, -1.0f64..1.0), 2..30),
        rises in any::<bool>(),
    ) {
        let (mut times, mut values) = (vec![0.0], vec![0.0]);
        for (dt, dv) in steps {
            times.push(times[times.len() - 1] + dt);
            values.push(values[values.len() - 1] + if rises { dv.abs() } else { dv });
        }
        let made = Sampling { max_gap: Some(1.0), ..sampling(Interpolation::Pchip) };
        let channel = Channel::new(&times, &values, made).unwrap();
        let end = times[times.len() - 1];
        let mut last = f64::NEG_INFINITY;
        for k in 0..=300 {
            let t = end * f64::from(k) / 300.0;
            let value = channel.at(t).unwrap();
            let i = times.partition_point(|x| *x <= t).clamp(1, times.len() - 1);
            let (a, b) = (values[i - 1], values[i]);
            prop_assert!(value >= a.min(b) - 1e-12 && value <= a.max(b) + 1e-12);
            prop_assert!(!rises || value >= last - 1e-12);
            last = value;
        }
    }

    #[test]
    fn no_text_makes_the_readers_panic(
        cells in prop::collection::vec(
            prop::sample::select(vec![
                "time", "t", "frame", "a.x", "a.y", "a.z[mm]", "j.qw", "1", "-2.5e3", "nan", "up", "\"", ",", ";", "\t",
                "\n", "\r\n", "#", "# fps=60\n", "[", "]", "é", "PathFileType", "Units", "mm", "Frame#", "Time", "X1", ".",
            ]),
            0..60,
        ),
    ) {
        let text: String = cells.concat();
        let task = Task::new();
        for head in ["", "time,a.x,a.y,a.z,b\n", "PathFileType\nDataRate\tUnits\n60\tmm\nFrame#\tTime\ta\n\tX\n"] {
            let text = format!("{head}{text}");
            for parsed in [parse_csv(&text, &task), parse_trc(&text, &task)] {
                match parsed {
                    Ok(recording) => {
                        let n = recording.times.len();
                        prop_assert!(n > 0 && recording.times.windows(2).all(|w| w[0] < w[1]));
                        prop_assert!(recording.markers.iter().all(|m| m.values.len() == n));
                        prop_assert!(recording.scalars.iter().all(|s| s.values.len() == n));
                        prop_assert!(recording.labels.iter().all(|l| l.values.len() == n));
                    }
                    Err(fault) => prop_assert!(!fault.to_string().is_empty()),
                }
            }
        }
    }
}

#[test]
fn a_long_table_is_read_cell_by_cell() {
    let mut text = "time,a.x,a.y,a.z,b\n".to_owned();
    for i in 0..50_000 {
        let _ = writeln!(text, "{},1,2,{},5", f64::from(i) * 0.01, i);
    }
    let found = parse_csv(&text, &Task::new()).unwrap();
    assert_eq!(found.times.len(), 50_000);
    assert_eq!(found.markers[0].values[49_999].z, 49_999.0);
    let cancelled = Task::new();
    cancelled.cancel();
    assert!(parse_csv(&text, &cancelled).is_err());
}
