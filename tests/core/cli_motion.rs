//! `sinew motion`: files of motion, tables of several recordings, motions on characters.

use crate::cli::{asset, done, fails, text};
use crate::npy::read_npy;
use crate::shared::shared_dir;
use rosc::{OscMessage, OscPacket, OscType};
use serde_json::{Value, json};
use sinew::math::Worse;
use std::io::BufRead as _;
use std::path::{Path, PathBuf};

fn folder(test: &str) -> Option<PathBuf> {
    Some(shared_dir(test)?.join("motion"))
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    files
}

#[test]
fn every_file_of_motion_is_described_or_refused_in_a_sentence() {
    let Some(folder) = folder("sinew motion info") else {
        return;
    };
    let read = ["bvh", "odd", "streams", "live"]
        .iter()
        .flat_map(|name| files(&folder.join(name)));
    for path in read.filter(|path| path.is_file() && path.extension().is_some_and(|e| e != "json"))
    {
        let found: Value =
            serde_json::from_str(&done(&["motion", "info", text(&path), "--json"])).unwrap();
        assert!(found["notes"].is_array(), "{found}");
        assert!(done(&["motion", "info", text(&path)]).lines().count() >= 2);
    }
    let noted = [
        "frames_huge.bvh",
        "quaternion_zero.csv",
        "quaternion_long.csv",
        "backwards.csv",
    ];
    for path in files(&folder.join("malformed")) {
        let name = path.file_name().unwrap().to_str().unwrap();
        if noted.contains(&name) {
            let said = done(&["motion", "info", text(&path)]);
            assert!(
                said.lines().any(|line| line.starts_with("  line ")),
                "{said}"
            );
        } else {
            let why = fails(&["motion", "info", text(&path)], 1);
            assert_eq!(why.lines().count(), 1, "{why}");
            assert!(why.starts_with("sinew: ") && why.contains(name), "{why}");
        }
    }
    let why = fails(&["motion", "info", &asset("arm")], 1);
    assert!(
        why.contains("is not a motion file that Sinew reads"),
        "{why}"
    );
}

#[test]
fn places_are_those_of_independent_readers() {
    let Some(folder) = folder("sinew motion --places") else {
        return;
    };
    let out = tempfile::tempdir().unwrap();
    let to = out.path().join("p.npy");
    let bvh = folder.join("bvh/fair_dab.bvh");
    let frames = "0,1,113,226,338";
    done(&["motion", text(&bvh), "--places", frames, "--out", text(&to)]);
    let (shape, found) = read_npy(&to);
    let (oracle_shape, expected) = read_npy(&folder.join("oracle/fair_dab/positions.npy"));
    assert_eq!(shape, oracle_shape);
    let worst = found
        .iter()
        .zip(&expected)
        .map(|(a, b)| (a - b).abs())
        .fold(0.0, f64::worse);
    assert!(worst < 1e-9 * 56.7, "{worst}");
    let why = fails(
        &["motion", text(&bvh), "--places", "339", "--out", text(&to)],
        2,
    );
    assert!(why.contains("339 frames, counted from 0"), "{why}");
    fails(
        &["motion", text(&bvh), "--places", "0", "--out", text(&bvh)],
        2,
    );
    let csv = folder.join("streams/imu_forearm.csv");
    let why = fails(
        &["motion", text(&csv), "--places", "0", "--out", text(&to)],
        2,
    );
    assert!(why.contains("needs a BVH file"), "{why}");
    fails(&["motion", text(&bvh)], 2);
}

#[test]
fn recordings_are_asked_on_the_common_clock() {
    let folder = tempfile::tempdir().unwrap();
    let csv = folder.path().join("arm.csv");
    let rows =
        "# event: clap at 0.5\ntime,emg[mV],elbow[deg],phase\n0,0,10,rest\n1,40,90,flex\n2,0,10,\n";
    std::fs::write(&csv, rows).unwrap();
    let ask = |more: &[&str]| {
        let line = [
            "motion",
            "--stream",
            text(&csv),
            "--clock",
            "1,10",
            "--query",
        ];
        let answer = done(&[&line, more].concat());
        serde_json::from_str::<Value>(&answer).unwrap()
    };
    let all = ask(&["--above", "30", "--at", "10.5,99"]);
    assert_eq!(all["range"], json!([10.0, 12.0]));
    assert_eq!(
        all["events"],
        json!([{"stream": "arm", "name": "clap", "t": 10.5}])
    );
    let emg = &all["channels"][0];
    assert_eq!(
        (&emg["name"], &emg["unit"]),
        (&json!("arm.emg"), &json!("mV"))
    );
    assert_eq!(emg["max"], json!({"t": 11.0, "value": 40.0}));
    assert_eq!(emg["mean"], json!(20.0));
    let at = json!([{"t": 10.5, "value": 20.0}, {"t": 99.0, "value": null}]);
    assert_eq!(emg["at"], at);
    assert_eq!(emg["above"]["stretches"], json!([[10.75, 11.25]]));
    let elbow = &all["channels"][1];
    let mean = elbow["mean"].as_f64().unwrap();
    assert!(
        (mean - 50.0).abs() < 1e-9,
        "degrees, as in the file: {mean}"
    );
    let phase = &all["channels"][2];
    assert_eq!(phase["at"][0], json!({"t": 10.5, "word": "rest"}));
    assert_eq!(phase["words"][1], json!({"t": 11.0, "word": "flex"}));
    let part = ask(&["--channels", "arm.emg", "--range", "10,10.5"]);
    assert_eq!(part["channels"].as_array().unwrap().len(), 1);
    assert_eq!(
        part["channels"][0]["max"],
        json!({"t": 10.5, "value": 20.0})
    );
    let line = [
        "motion",
        "--stream",
        text(&csv),
        "--query",
        "--channels",
        "arm.x",
    ];
    let why = fails(&line, 2);
    assert!(why.contains("there is no such channel"), "{why}");
    fails(&["motion", "--stream", text(&csv)], 2);
}

#[test]
fn times_are_made_regular_or_refused() {
    let folder = tempfile::tempdir().unwrap();
    let csv = folder.path().join("load.csv");
    let rows = |last: f64| {
        let times = (0..100).map(|i| match i {
            99 => last,
            i => 0.01 * f64::from(i) + if i % 2 == 0 { 2e-3 } else { 0.0 },
        });
        let rows: Vec<String> = times.map(|t| format!("{t},{t}\n")).collect();
        std::fs::write(&csv, format!("time,load\n{}", rows.concat())).unwrap();
    };
    rows(0.99);
    let line = [
        "motion",
        "--stream",
        text(&csv),
        "--times",
        "regular",
        "--query",
    ];
    let ask = |line: &[&str]| serde_json::from_str::<Value>(&done(line)).unwrap();
    let regular = ask(&[&line[..], &["--at", "0.495"]].concat());
    let recorded = ask(&[&line[..3], &["--query", "--at", "0.495"]].concat());
    let at = |found: &Value| found["channels"][0]["at"][0]["value"].as_f64().unwrap();
    assert!((at(&recorded) - 0.495).abs() < 1e-9, "{recorded}");
    // The line through the times begins at 1.0297 ms with a step of 9.9994 ms: at 0.495 s it is between the samples 49 and 50.
    assert!((at(&regular) - 0.4948).abs() < 1e-6, "{regular}");
    let first = |found: &Value| found["range"][0].as_f64().unwrap();
    assert!((first(&recorded) - 0.002).abs() < 1e-9, "{recorded}");
    assert!((first(&regular) - 1.0297e-3).abs() < 1e-6, "{regular}");
    rows(0.999);
    let why = fails(&line, 1);
    assert!(
        why.contains("the sample at 0.999 s is 7.") && why.contains("half a step"),
        "{why}"
    );
    let table = folder.path().join("table.csv");
    let line = [
        "motion",
        "--stream",
        text(&csv),
        "--times",
        "often",
        "--table",
        text(&table),
    ];
    assert!(fails(&line, 2).contains("give recorded or regular"));
}

#[test]
fn a_frame_time_is_read_as_frames_per_second() {
    let folder = tempfile::tempdir().unwrap();
    let walker = std::fs::read_to_string("tests/data/walker.bvh").unwrap();
    let at = walker.find("Frame Time:").unwrap();
    let end = at + walker[at..].find('\n').unwrap();
    let bvh = folder.path().join("walker.bvh");
    let (from, to) = (folder.path().join("r.json"), folder.path().join("out.glb"));
    let secs = |time: &str, more: &[&str]| {
        std::fs::write(
            &bvh,
            format!("{}Frame Time: {time}{}", &walker[..at], &walker[end..]),
        )
        .unwrap();
        let line = [
            "motion",
            "assets/mannequin.glb",
            "--bvh",
            text(&bvh),
            "--out",
            text(&to),
            "--report",
            text(&from),
        ];
        let said = done(&[&line[..], more].concat());
        let report: Value = serde_json::from_str(&std::fs::read_to_string(&from).unwrap()).unwrap();
        (said, report["feet"]["contacts"].clone())
    };
    let (said, fixed) = secs("30", &["--frame-time", "fps"]);
    assert!(
        said.contains("The frame time, 30, is read as frames per second."),
        "{said}"
    );
    assert_eq!(fixed, secs(&format!("{}", 1.0 / 30.0), &[]).1);
    let line = [
        "motion",
        "assets/mannequin.glb",
        "--bvh",
        text(&bvh),
        "--out",
        text(&to),
        "--frame-time",
        "fps",
    ];
    let why = fails(&line, 1);
    assert!(
        why.contains("only a BVH file with a frame time of more than a second"),
        "{why}"
    );
}

#[test]
fn streams_are_aligned_and_written_as_a_table_that_reads_back() {
    let Some(folder) = folder("sinew motion --table") else {
        return;
    };
    let out = tempfile::tempdir().unwrap();
    let to = out.path().join("table.csv");
    let (imu, camera) = (
        folder.join("streams/imu_forearm.csv"),
        folder.join("streams/camera_wrist.csv"),
    );
    let line = [
        "motion",
        "--stream",
        text(&imu),
        "--event",
        "clap=0.6499@1",
        "--event",
        "end=28.6554@29",
        "--stream",
        text(&camera),
        "--clock",
        "1.00035012254289,-41520",
        "--rate",
        "60",
        "--table",
        text(&to),
    ];
    let said = done(&line);
    assert!(said.contains("drift 196.4 ± 179 ppm"), "{said}");
    // One event keeps a drift that is typed.
    let mut one = vec!["motion", "--stream", text(&imu), "--clock", "0.9998"];
    one.extend(["--event", "clap=0.6499@1", "--query"]);
    let said_of_one: Value = serde_json::from_str(&done(&one)).unwrap();
    let clock = &said_of_one["streams"][0];
    assert_eq!(clock["a"], 0.9998);
    assert!((clock["b"].as_f64().unwrap() - (1.0 - 0.9998 * 0.6499)).abs() < 1e-12);
    one.extend(["--event", "end=28.6554@29"]);
    assert!(fails(&one, 2).contains("has no offset: give A,B, or one --event"));
    assert!(
        said.contains("imu_forearm.forearm: no value in 42 rows"),
        "{said}"
    );
    let info: Value =
        serde_json::from_str(&done(&["motion", "info", text(&to), "--json"])).unwrap();
    assert_eq!(info["rate"], 60.0);
    let names: Vec<&str> = info["channels"]
        .as_array()
        .unwrap()
        .iter()
        .map(|c| c["name"].as_str().unwrap())
        .collect();
    for name in [
        "imu_forearm.forearm",
        "camera_wrist.wrist",
        "camera_wrist.phase",
        "camera_wrist.wrist.valid",
    ] {
        assert!(names.contains(&name), "{names:?}");
    }
    let rows = |args: &[&str]| {
        let mut line = line.to_vec();
        line.extend(args);
        done(&line);
        std::fs::read_to_string(&to)
            .unwrap()
            .lines()
            .filter(|l| !l.starts_with('#'))
            .count()
            - 1
    };
    assert_eq!(rows(&["--range", "2,3"]), 61);
    let valid = rows(&[
        "--channels",
        "imu_forearm.forearm",
        "--range",
        "6.5,9",
        "--valid",
    ]);
    // The gap is 0.71 s.
    assert!((151 - 43..=151 - 42).contains(&valid), "{valid}");
    let mut wrong = line.to_vec();
    wrong.extend(["--channels", "imu.x"]);
    let why = fails(&wrong, 2);
    assert!(
        why.contains("there is no such channel; there are camera_wrist.clap"),
        "{why}"
    );
    let apart = [
        "motion",
        "--stream",
        text(&imu),
        "--stream",
        text(&camera),
        "--table",
        text(&to),
    ];
    assert!(fails(&apart, 1).contains("no time in common"));
    let over = ["motion", "--stream", text(&imu), "--table", text(&imu)];
    assert!(fails(&over, 1).contains("a recording"));
}

#[test]
fn a_motion_becomes_a_clip_of_a_character() {
    let Some(folder) = folder("sinew motion --bvh") else {
        return;
    };
    let out = tempfile::tempdir().unwrap();
    let at = |name: &str| out.path().join(name);
    let (glb, ron, report) = (at("walk.glb"), at("walk.ron"), at("r.json"));
    let bvh = folder.join("bvh/cmu_12_01_walk.bvh");
    let mannequin = asset("mannequin");
    let said = done(&[
        "motion",
        &mannequin,
        "--bvh",
        text(&bvh),
        "--out",
        text(&glb),
        "--report",
        text(&report),
    ]);
    assert!(said.contains("contacts of the feet locked"), "{said}");
    let report: Value = serde_json::from_slice(&std::fs::read(&report).unwrap()).unwrap();
    assert_eq!(report["reference"], "zero pose");
    assert!(report["keys"]["worst"].as_f64().unwrap() <= 1e-3);
    assert!(report["feet"]["slide_after"][0].as_f64() < report["feet"]["slide_before"][0].as_f64());
    let clips = |path: &Path| -> Vec<String> {
        let info: Value = serde_json::from_str(&done(&["info", text(path), "--json"])).unwrap();
        let clips = info["clips"].as_array().unwrap();
        clips
            .iter()
            .map(|clip| clip["name"].as_str().unwrap().to_owned())
            .collect()
    };
    let before = clips(Path::new(&mannequin));
    assert_eq!(
        clips(&glb),
        [before.clone(), vec!["cmu_12_01_walk".to_owned()]].concat()
    );
    // A second time it gets a name of its own; a clip of a model is a motion as well.
    done(&[
        "motion",
        text(&glb),
        "--from",
        text(&glb),
        "--clip",
        "cmu_12_01_walk",
        "--feet",
        "free",
        "--out",
        text(&ron),
    ]);
    assert!(clips(&ron).contains(&"cmu_12_01_walk 2".to_owned()));
    let log = folder.join("live/vmc_walk.vmclog");
    let said = done(&[
        "motion",
        &mannequin,
        "--replay",
        text(&log),
        "--out",
        text(&glb),
    ]);
    assert!(said.contains("clip \"vmc_walk\""), "{said}");
    let map = at("map.ron");
    std::fs::write(
        &map,
        "(roles: {\"l.toe\": (\"\", \"\"), \"l.knee\": (\"a\", \"b\")})",
    )
    .unwrap();
    let line = [
        "motion",
        &mannequin,
        "--bvh",
        text(&bvh),
        "--map",
        text(&map),
        "--out",
        text(&glb),
    ];
    assert!(fails(&line, 1).contains("\"l.knee\" is not a role"));
    std::fs::write(&map, "(roles: {\"l.toe\": (\"\", \"\")})").unwrap();
    done(&line);
    let arm = asset("arm");
    let why = fails(
        &["motion", &arm, "--bvh", text(&bvh), "--out", text(&glb)],
        1,
    );
    assert!(why.starts_with("sinew: The character: no "), "{why}");
    let over = [
        "motion",
        &mannequin,
        "--bvh",
        text(&bvh),
        "--out",
        text(&bvh),
    ];
    fails(&over, 2);
    fails(&["motion", &mannequin, "--bvh", text(&bvh)], 2);
}

/// An OSC message of the protocol: a bone with a position and a rotation, or a time.
fn packet(address: &str, name: Option<&str>, values: &[f32]) -> Vec<u8> {
    let name = name.map(|name| OscType::String(name.into()));
    let values = values.iter().map(|v| OscType::Float(*v));
    let message = OscMessage {
        addr: address.into(),
        args: name.into_iter().chain(values).collect(),
    };
    rosc::encoder::encode(&OscPacket::Message(message)).unwrap()
}

#[test]
fn lines_of_the_standard_input_are_recorded_until_it_ends() {
    use std::io::Write;
    let folder = tempfile::tempdir().unwrap();
    let take = folder.path().join("take.jsonl");
    let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_sinew"))
        .args([
            "motion",
            "--listen",
            "json:-",
            "--seconds",
            "600",
            "--record",
        ])
        .arg(&take)
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let rest = r#""rest": {"LeftHand": [0.25, 0, 0]}"#;
    let places = r#""position": {"LeftHand": [0.5, 0, 0], "LeftLowerArm": [0.75, 0, 0]}"#;
    let scalar = r#""scalar": {"emg": 1.5}"#;
    writeln!(input, "{{\"t\": 7, {rest}, {places}, {scalar}}}").unwrap();
    writeln!(
        input,
        "{{\"t\": 7.5, \"scalar\": {{\"emg\": 2.5}}}}\nno line"
    )
    .unwrap();
    drop(input);
    let said = String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap();
    assert!(
        said.starts_with("Listening on the standard input for 600 s\n"),
        "{said}"
    );
    assert!(said.contains("3 lines, 1 malformed (the last: "), "{said}");
    let lines = std::fs::read_to_string(&take).unwrap();
    assert_eq!(lines.lines().count(), 2, "{lines}");
    // As the sender says, and else as it is first.
    let first: Value = serde_json::from_str(lines.lines().next().unwrap()).unwrap();
    assert_eq!(
        first["rest"],
        serde_json::json!({"LeftHand": [0.25, 0.0, 0.0], "LeftLowerArm": [0.75, 0.0, 0.0]})
    );
    for wrong in ["json:", "json:x", "vmc:", "vmc:-", "tcp"] {
        let why = fails(&["motion", "--listen", wrong, "--record", "a.jsonl"], 2);
        assert!(why.contains("json:-"), "{wrong}: {why}");
    }
}

#[test]
fn live_motion_is_recorded_and_reads_back() {
    let folder = tempfile::tempdir().unwrap();
    let take = folder.path().join("take.jsonl");
    let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_sinew"))
        .args(["motion", "--listen", "vmc:0", "--seconds", "4", "--record"])
        .arg(&take)
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = std::io::BufReader::new(child.stdout.take().unwrap()).lines();
    let first = lines.next().unwrap().unwrap();
    let address = first
        .strip_prefix("Listening on ")
        .and_then(|rest| rest.split(' ').next())
        .unwrap();
    assert!(address.starts_with("127.0.0.1:"), "{first}");
    let socket = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.connect(address).unwrap();
    for i in 0..5_u8 {
        let time = 100.0 + 0.1 * f32::from(i);
        socket.send(&packet("/VMC/Ext/T", None, &[time])).unwrap();
        let half = 0.1 * f32::from(i);
        let pose = [0.1, 0.9, 0.3, half.sin(), 0.0, 0.0, half.cos()];
        let hips = packet("/VMC/Ext/Bone/Pos", Some("Hips"), &pose);
        socket.send(&hips).unwrap();
    }
    socket.send(b"not a packet").unwrap();
    let said: Vec<String> = lines.map(Result::unwrap).collect();
    assert!(child.wait().unwrap().success());
    assert!(
        said[0].starts_with("11 packets, 10 messages, 1 malformed (the last: "),
        "{said:?}"
    );
    assert!(said[1].starts_with("2 channels, 0.4 s. Wrote "), "{said:?}");
    assert!(said[2].starts_with("delay: median "), "{said:?}");
    assert!(done(&["motion", "info", text(&take)]).contains("  delay: median "));
    let found: Value =
        serde_json::from_str(&done(&["motion", "info", text(&take), "--json"])).unwrap();
    assert_eq!(found["notes"].as_array().map(Vec::len), Some(0), "{found}");
    let lines = std::fs::read_to_string(&take).unwrap();
    let last: Value = serde_json::from_str(lines.lines().last().unwrap()).unwrap();
    assert!(
        last["arrival"].as_f64().is_some_and(|at| at > 0.0),
        "{last}"
    );
    // Unity's left hand is at -X: x is mirrored.
    let of = |key: &str, i: usize| last[key]["Hips"][i].as_f64().unwrap();
    assert!((of("position", 0) + 0.1).abs() < 1e-6 && (of("position", 1) - 0.9).abs() < 1e-6);
    assert!(
        (of("rotation", 0) - f64::from(0.4_f32.sin())).abs() < 1e-6,
        "{last}"
    );

    let taken = socket.local_addr().unwrap().port();
    let port = format!("vmc:{taken}");
    let why = fails(&["motion", "--listen", &port, "--record", text(&take)], 1);
    assert!(why.contains(&format!("Port {taken} is in use")), "{why}");
    let args = [
        "motion",
        "--listen",
        "vmc:0",
        "--seconds",
        "0.1",
        "--record",
    ];
    let none = folder.path().join("none.jsonl");
    let why = fails(&[&args[..], &[text(&none)]].concat(), 1);
    assert!(
        why.contains("No motion was received") && !none.exists(),
        "{why}"
    );
    let far = [text(&none), "--sender", "192.168.1.20"];
    let why = fails(&[&args[..], &far].concat(), 1);
    assert!(
        why.contains("nothing of 192.168.1.20 would arrive"),
        "{why}"
    );
    assert!(fails(&["motion", "--listen", "osc", "--record", "a.jsonl"], 2).contains("vmc:PORT"));
    assert!(fails(&["motion", "--listen", "vmc"], 2).contains("--record"));
}
