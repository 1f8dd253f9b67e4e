//! A body against a scan of the person: reading scans, aligning them, signed distances.

use crate::cli::{asset, done, fails, text};
use crate::malformed::Random;
use crate::shared::shared_dir;
use glam::{DQuat, DVec3};
use serde_json::Value;
use sinew::evaluate::{Evaluator, PosedSurface};
use sinew::io::open_any;
use sinew::io::scan_file::read_scan;
use sinew::math::Worse;
use sinew::skeleton::Moment;
use sinew::task::Task;
use sinew::twin::Unit;
use sinew::twin::scan::{Accuracy, Align, Rigid, Scan, SignedSurface, Start};
use std::fmt::Write;
use std::path::Path;

/// A number from 0 to 1.
fn unit(random: &mut Random) -> f64 {
    random.below(1 << 24) as f64 / f64::from(1 << 24)
}

/// The surface of a model at rest.
fn body_of(path: &Path) -> SignedSurface {
    let document = open_any(path, &Task::new()).unwrap().document;
    let mut evaluator = Evaluator::for_positions();
    let pose = document.rest_pose().clone();
    evaluator.evaluate(&document, pose.at(Moment::default()));
    PosedSurface::of(&document, &evaluator).unwrap().surface
}

/// `n` places spread over a surface by area, each moved along the normal of its face by up to `noise`, evenly spread.
fn sampled(surface: &SignedSurface, n: usize, noise: f64) -> Vec<DVec3> {
    let corners = |t: &[u32; 3]| t.map(|p| surface.points()[p as usize]);
    let mut sums = vec![0.0];
    for t in surface.triangles() {
        let [a, b, c] = corners(t);
        sums.push(sums[sums.len() - 1] + (b - a).cross(c - a).length());
    }
    let mut random = Random(11);
    let total = sums[sums.len() - 1];
    let place = |_| {
        let at = unit(&mut random) * total;
        let t = sums
            .partition_point(|sum| *sum <= at)
            .clamp(1, sums.len() - 1)
            - 1;
        let [a, b, c] = corners(&surface.triangles()[t]);
        let (u, v) = (unit(&mut random), unit(&mut random));
        let (u, v) = if u + v > 1.0 {
            (1.0 - u, 1.0 - v)
        } else {
            (u, v)
        };
        let normal = (b - a).cross(c - a).normalize_or_zero();
        a + (b - a) * u + (c - a) * v + normal * (noise * (2.0 * unit(&mut random) - 1.0))
    };
    (0..n).map(place).collect()
}

/// A large turn and a long way.
fn away() -> Rigid {
    let axis = DVec3::new(0.3, -1.0, 0.6).normalize_or_zero();
    Rigid {
        rotation: DQuat::from_axis_angle(axis, 2.4),
        translation: DVec3::new(-3.0, 0.7, 12.0),
    }
}

fn moved(points: &[DVec3], by: &Rigid) -> Vec<DVec3> {
    points.iter().map(|p| by.apply(*p)).collect()
}

fn cloud(points: Vec<DVec3>) -> Scan {
    Scan::new(points, Vec::new(), Vec::new(), Unit::Metre).unwrap()
}

fn compare(body: &SignedSurface, scan: &Scan, how: Align) -> Accuracy {
    Accuracy::new(body, scan, how, &Task::new()).unwrap()
}

/// How far the alignment leaves points from where they were before `by` moved them, metres.
fn off(accuracy: &Accuracy, points: &[DVec3], by: &Rigid) -> f64 {
    let back = accuracy.alignment.as_ref().unwrap().motion;
    let off = points.iter().map(|p| back.apply(by.apply(*p)).distance(*p));
    off.fold(0.0, f64::worse)
}

/// The models that are scanned.
const MODELS: [&str; 3] = ["mannequiny", "cesium_man", "kaykit_knight"];

/// What was found on the first of them with noise, evenly spread over 1 mm to both sides, millimetres: the root mean square of the
/// distances, and how far the farthest point is from its place.
const FOUND: [f64; 2] = [0.5572, 0.0945];

#[test]
fn a_scan_that_was_moved_comes_back() {
    let Some(shared) = shared_dir("scans of models") else {
        return;
    };
    for model in MODELS {
        let path = shared
            .join("models")
            .join(model)
            .join(format!("{model}.glb"));
        let body = body_of(&path);
        let exact = sampled(&body, 2_000, 0.0);
        let found = compare(&body, &cloud(moved(&exact, &away())), Align::Icp);
        assert!(found.alignment.as_ref().unwrap().converged, "{model}");
        let far = off(&found, &exact, &away());
        assert!(far < 1e-9 && found.scan.max.abs() < 1e-9, "{model}: {far}");
        assert_eq!(
            (found.trimmed.n(), found.scan.within_5mm),
            (0, 1.0),
            "{model}"
        );

        let noisy = sampled(&body, 2_000, 1e-3);
        let found = compare(&body, &cloud(moved(&noisy, &away())), Align::Icp);
        let far = off(&found, &noisy, &away());
        let (found_rms, far) = (found.scan.rms * 1e3, far * 1e3);
        println!("{model}: rms {found_rms} mm, off {far} mm");
        // The noise is along normals: no more of it can be left than there was, and little less.
        let noise = 1.0 / 3f64.sqrt();
        assert!(
            (0.85 * noise..noise).contains(&found_rms) && far < 0.25,
            "{model}"
        );
        if model == MODELS[0] {
            let off = [(found_rms - FOUND[0]).abs(), (far - FOUND[1]).abs()];
            assert!(off[0] < 2e-4 && off[1] < 2e-3, "{off:?}");
        }
    }
}

#[test]
fn what_is_not_of_the_body_is_trimmed() {
    let body = body_of(Path::new(&asset("mannequin")));
    let points = sampled(&body, 1_500, 5e-4);
    let mut all = points.clone();
    // The floor that the person stands on, and a post.
    for i in 0..25 {
        for k in 0..24 {
            let at = |j: i32| f64::from(j - 12) * 0.08;
            all.push(DVec3::new(at(i), -0.05, at(k)));
        }
    }
    all.extend((0..100).map(|i| DVec3::new(0.9, 0.02 * f64::from(i), 0.3)));
    let found = compare(&body, &cloud(moved(&all, &away())), Align::Icp);
    let far = off(&found, &points, &away());
    assert!(far < 1e-3, "{far}");
    let (kept, trimmed) = (found.kept.unwrap(), found.trimmed);
    assert!(trimmed.far >= 650 && trimmed.facing == 0, "{trimmed:?}");
    assert!(kept.n >= 1_000 && kept.rms < 5e-4, "{kept:?}");
    // The summary over all hides nothing.
    assert!(found.scan.max > 0.3 && found.scan.rms > 0.1);
    assert_eq!(found.scan.n, all.len());
}

/// A sphere of triangles whose corners have this radius.
fn sphere(radius: f64, centre: DVec3) -> (Vec<DVec3>, Vec<[u32; 3]>) {
    let (rows, columns) = (24_u32, 32_u32);
    let mut points = vec![DVec3::Y];
    for row in 1..rows {
        for column in 0..columns {
            let (a, b) = (
                std::f64::consts::PI * f64::from(row) / f64::from(rows),
                std::f64::consts::TAU * f64::from(column) / f64::from(columns),
            );
            points.push(DVec3::new(a.sin() * b.cos(), a.cos(), -a.sin() * b.sin()));
        }
    }
    points.push(-DVec3::Y);
    let at = |row: u32, column: u32| match row {
        0 => 0,
        row if row == rows => (rows - 1) * columns + 1,
        row => 1 + (row - 1) * columns + column % columns,
    };
    let mut triangles = Vec::new();
    for row in 0..rows {
        for column in 0..columns {
            let [a, b] = [at(row, column), at(row, column + 1)];
            let [c, d] = [at(row + 1, column), at(row + 1, column + 1)];
            triangles.push([a, c, d]);
            triangles.push([a, d, b]);
        }
    }
    triangles.retain(|[a, b, c]| a != b && b != c && c != a);
    let points = points.iter().map(|p| centre + *p * radius).collect();
    (points, triangles)
}

#[test]
fn an_offset_sphere_gives_its_offset() {
    let (points, triangles) = sphere(1.0, DVec3::ZERO);
    let body = SignedSurface::new(points, triangles, "the body").unwrap();
    let scan = |radius: f64, with_faces: bool, unit: Unit| {
        let (points, triangles) = sphere(radius / unit.metres(), DVec3::ZERO);
        let triangles = if with_faces { triangles } else { Vec::new() };
        Scan::new(points, Vec::new(), triangles, unit).unwrap()
    };
    for unit in [Unit::Metre, Unit::Centimetre, Unit::Millimetre] {
        let found = compare(&body, &scan(1.004, false, unit), Align::None);
        for of in [&found.scan, &found.body] {
            for value in [of.rms, of.mean, of.p95, of.max] {
                assert!((value - 0.004).abs() < 1e-14, "{unit:?} {of:?}");
            }
            assert_eq!((of.within_5mm, of.failed), (1.0, 0));
        }
        assert!(found.alignment.is_none() && found.warnings.is_empty());
    }
    // Smaller: inside, and beyond 5 mm. Between its corners the sphere's faces are nearer.
    let found = compare(&body, &scan(0.99, true, Unit::Metre), Align::None);
    assert!((found.body.mean + 0.01).abs() < 1e-14 && found.body.within_5mm == 0.0);
    assert!(found.scan.max < -0.004 && found.scan.max >= -0.01);
    // Aligned, a sphere comes to the middle, and may turn.
    let (points, triangles) = sphere(1.004, DVec3::new(0.1, 0.2, -0.3));
    let scan = Scan::new(points, Vec::new(), triangles, Unit::Metre).unwrap();
    let found = compare(&body, &scan, Align::Icp);
    assert!((found.scan.mean - 0.004).abs() < 2e-4, "{:?}", found.scan);
    // A wrong unit is told.
    let (points, _) = sphere(100.4, DVec3::ZERO);
    let found = compare(&body, &cloud(points), Align::None);
    assert_eq!(
        found.warnings,
        ["The scan is 100.4 times as large as the body: check its unit."]
    );
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let body = body_of(Path::new(&asset("arm")));
    let scan = cloud(moved(&sampled(&body, 3_000, 1e-3), &away()));
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        let found = pool
            .build()
            .unwrap()
            .install(|| compare(&body, &scan, Align::Icp));
        let alignment = found.alignment.unwrap();
        assert_ne!(alignment.start, Start::Given);
        let matrix = alignment.motion.to_matrix().to_cols_array();
        let all = matrix.iter().chain(&found.of_scan).chain(&found.of_body);
        all.map(|x| x.to_bits()).collect::<Vec<u64>>()
    };
    assert!(run(1) == run(2));
}

#[test]
fn the_work_can_be_cancelled() {
    let (points, triangles) = sphere(1.0, DVec3::ZERO);
    let body = SignedSurface::new(points.clone(), triangles, "the body").unwrap();
    let task = Task::new();
    task.cancel();
    let why = Accuracy::new(&body, &cloud(points), Align::Icp, &task).unwrap_err();
    assert_eq!(why.to_string(), "cancelled");
}

/// The forms of a scan file.
const FORMS: [&str; 4] = ["obj", "ascii", "little", "big"];

/// A file of points with normals and triangles.
fn file_of(form: &str, points: &[DVec3], triangles: &[[u32; 3]]) -> Vec<u8> {
    let mut words = String::new();
    if form == "obj" {
        for p in points {
            writeln!(words, "v {} {} {}", p.x as f32, p.y as f32, p.z as f32).unwrap();
        }
        for [a, b, c] in triangles {
            writeln!(words, "f {} {} {}", a + 1, b + 1, c + 1).unwrap();
        }
        return words.into_bytes();
    }
    let name = match form {
        "ascii" => "ascii",
        "little" => "binary_little_endian",
        _ => "binary_big_endian",
    };
    write!(
        words,
        "ply\nformat {name} 1.0\ncomment a scan\nobj_info of nobody\nelement vertex {}\nproperty float x\nproperty float y\nproperty float z\nproperty uchar red\nproperty double quality\nelement camera 1\nproperty int id\nproperty list ushort short sizes\nelement face {}\nproperty list uchar uint vertex_indices\nproperty uchar flags\nend_header\n",
        points.len(),
        triangles.len()
    )
    .unwrap();
    let mut bytes = words.into_bytes();
    let is_text = form == "ascii";
    let mut push = |little: &[u8], text: String, ends: bool| {
        if is_text {
            bytes.extend(text.as_bytes());
            bytes.push(if ends { b'\n' } else { b' ' });
        } else if form == "big" {
            bytes.extend(little.iter().rev());
        } else {
            bytes.extend(little);
        }
    };
    for p in points {
        for x in p.as_vec3().to_array() {
            push(&x.to_le_bytes(), x.to_string(), false);
        }
        push(&[200], "200".into(), false);
        push(&0.25f64.to_le_bytes(), "0.25".into(), true);
    }
    push(&7i32.to_le_bytes(), "7".into(), false);
    push(&2u16.to_le_bytes(), "2".into(), false);
    push(&(-5i16).to_le_bytes(), "-5".into(), false);
    push(&6i16.to_le_bytes(), "6".into(), true);
    for t in triangles {
        push(&[3], "3".into(), false);
        for p in t {
            push(&p.to_le_bytes(), p.to_string(), false);
        }
        push(&[1], "1".into(), true);
    }
    bytes
}

fn name_of(form: &str) -> String {
    if form == "obj" {
        "scan.obj".into()
    } else {
        format!("{form}.PLY")
    }
}

#[test]
fn every_form_of_a_file_is_the_same_scan() {
    let folder = tempfile::tempdir().unwrap();
    let (points, triangles) = sphere(17.0, DVec3::new(1.0, 2.0, 3.0));
    for form in FORMS {
        for (triangles, n) in [(&triangles[..], triangles.len()), (&[], 0)] {
            let path = folder.path().join(name_of(form));
            std::fs::write(&path, file_of(form, &points, triangles)).unwrap();
            let scan = read_scan(&path, Unit::Centimetre, &Task::new()).unwrap();
            assert_eq!(scan.n_triangles(), n, "{form}");
            // Text is read with all its digits.
            let is_same = |(a, b): (&DVec3, &DVec3)| a.distance(*b * 0.01) < 1e-7;
            assert_eq!(scan.points().len(), points.len(), "{form}");
            assert!(scan.points().iter().zip(&points).all(is_same), "{form}");
        }
    }
}

#[test]
fn broken_files_are_refused_in_a_sentence() {
    let folder = tempfile::tempdir().unwrap();
    let say = |name: &str, content: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, content).unwrap();
        let why = read_scan(&path, Unit::Metre, &Task::new())
            .unwrap_err()
            .to_string();
        why.replace(folder.path().to_str().unwrap(), "")
    };
    let head = "ply\nformat ascii 1.0\nelement vertex 1\nproperty int x\nproperty int y\n";
    for (name, content, wanted) in [
        (
            "a.stl",
            "",
            "/a.stl is not a scan that Sinew reads: .obj or .ply.",
        ),
        (
            "a.ply",
            "",
            "The PLY file /a.ply cannot be read: the file is empty.",
        ),
        (
            "b.ply",
            "ply\nformat x 1.0\n",
            "The PLY file /b.ply cannot be read: line 2: unknown format \"x\".",
        ),
        (
            "c.ply",
            &format!("{head}end_header\n1 2\n"),
            "The PLY file /c.ply cannot be read: a vertex needs x, y and z.",
        ),
        (
            "d.ply",
            "ply\nformat ascii 1.0\nend_header\n",
            "The PLY file /d.ply cannot be read: the file has no vertices.",
        ),
        (
            "e.obj",
            "v 1 2\n",
            "/e.obj: The OBJ file cannot be read at line 1: a vertex (v) needs three finite numbers.",
        ),
        ("f.obj", "# nothing\n", "/f.obj: The scan has no points."),
        (
            "g.obj",
            "v 0 0 0\nv 0 0 0\nv 0 0 0\nf 1 2 3\n",
            "/g.obj: The scan has no faces.",
        ),
    ] {
        assert_eq!(say(name, content), wanted);
    }
    let missing = read_scan(&folder.path().join("no.ply"), Unit::Metre, &Task::new()).unwrap_err();
    assert!(
        missing.to_string().contains("no.ply cannot be read: "),
        "{missing}"
    );
    let body = body_of(Path::new(&asset("arm")));
    let few = cloud(vec![DVec3::X, DVec3::Y, DVec3::Z]);
    let why = Accuracy::new(&body, &few, Align::Icp, &Task::new()).unwrap_err();
    assert!(
        why.to_string().contains("too few different points"),
        "{why}"
    );
    assert_eq!(compare(&body, &few, Align::None).scan.n, 3);
    let same = cloud(vec![DVec3::X; 100]);
    assert!(Accuracy::new(&body, &same, Align::Icp, &Task::new()).is_err());
}

#[test]
fn mutated_scans_give_distances_or_a_sentence() {
    let folder = tempfile::tempdir().unwrap();
    let (points, triangles) = sphere(1.0, DVec3::ZERO);
    let body = SignedSurface::new(points, triangles, "the body").unwrap();
    // A small one, so that mutations hit everything.
    let points: Vec<DVec3> = (0..7)
        .map(|i| DVec3::new(0.3 * f64::from(i), 0.1, 0.5))
        .collect();
    let points: Vec<DVec3> = points.iter().map(|p| *p + DVec3::Y * p.x * p.x).collect();
    let triangles = [[0, 1, 2], [2, 3, 4], [4, 5, 6], [6, 0, 3]];
    let mut random = Random(5);
    let (mut n_read, mut n_aligned) = (0, 0);
    for case in 0..3000 {
        let form = FORMS[case % FORMS.len()];
        let mut bytes = file_of(form, &points, &triangles);
        for _ in 0..=random.below(4) {
            let at = random.below(bytes.len().max(1));
            match random.below(6) {
                _ if bytes.is_empty() => {}
                0 => bytes.truncate(at),
                1 => bytes.insert(at, random.below(256) as u8),
                2 => {
                    bytes.remove(at);
                }
                3 => bytes[at] = b"0123456789-.en \n"[random.below(16)],
                4 => {
                    let end = (at + 30).min(bytes.len());
                    bytes.extend_from_within(at..end);
                }
                _ => bytes[at] = random.below(256) as u8,
            }
        }
        let path = folder.path().join(name_of(form));
        std::fs::write(&path, &bytes).unwrap();
        let scan = match read_scan(&path, Unit::Metre, &Task::new()) {
            Ok(scan) => scan,
            Err(why) => {
                let why = why.to_string();
                assert!(why.ends_with('.') && why.len() > 20, "{case}: {why}");
                continue;
            }
        };
        n_read += 1;
        assert!(scan.points().iter().all(|p| p.is_finite()), "{case}");
        let how = if n_read % 8 == 0 {
            Align::Icp
        } else {
            Align::None
        };
        match Accuracy::new(&body, &scan, how, &Task::new()) {
            Ok(found) => {
                n_aligned += usize::from(found.alignment.is_some());
                let failed = found.of_scan.iter().filter(|d| !d.is_finite()).count();
                assert_eq!(found.scan.failed, failed, "{case}");
                assert!(failed == 0 || found.scan.rms.is_nan() || found.scan.rms.is_infinite());
            }
            Err(why) => assert!(why.to_string().ends_with('.'), "{case}: {why}"),
        }
    }
    println!("{n_read} read, {n_aligned} aligned");
    assert!(n_read > 300 && n_aligned > 20, "{n_read} {n_aligned}");
}

#[test]
fn the_command_line_compares_an_individual_with_a_scan() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let arm = asset("arm");
    let (table, model, scan) = (at("m.csv"), at("person.glb"), at("scan.obj"));
    std::fs::write(&table, "kind,bone,value\nlength,forearm,0.31\n").unwrap();
    let (table, model, scan) = (text(&table), text(&model), text(&scan));
    done(&["body", &arm, "--measure", table, "--out", model]);
    done(&["export", model, "--still", "--out", scan]);
    // The same in centimetres, turned onto its back.
    let file = std::fs::read_to_string(scan).unwrap();
    let turned = file.lines().map(|line| match line.strip_prefix("v ") {
        Some(place) => {
            let p: Vec<f64> = place.split(' ').map(|x| x.parse().unwrap()).collect();
            format!(
                "v {} {} {}\n",
                p[0] * 100.0 + 40.0,
                p[2] * 100.0,
                -p[1] * 100.0
            )
        }
        None => format!("{line}\n"),
    });
    std::fs::write(scan, turned.collect::<String>()).unwrap();

    let args = [
        "body",
        &arm,
        "--measure",
        table,
        "--scan",
        scan,
        "--scan-unit",
        "cm",
    ];
    let json = |more: &[&str]| -> Value {
        let all: Vec<&str> = args.iter().copied().chain(more.iter().copied()).collect();
        serde_json::from_str(&done(&all)).unwrap()
    };
    let found = json(&["--json"]);
    assert_eq!(found["rows"].as_array().unwrap().len(), 1);
    let of = &found["scan"];
    assert!(
        (of["alignment"]["degrees"].as_f64().unwrap() - 90.0).abs() < 1e-3,
        "{of}"
    );
    for key in ["scan_to_body", "body_to_scan", "kept_to_body"] {
        assert!(of[key]["rms"].as_f64().unwrap() < 1e-5, "{key}: {of}");
        assert_eq!(of[key]["within_5mm"], 1.0, "{key}");
    }
    let place = &of["scan_to_body"]["max_at"];
    assert!(
        place["bone"].is_string() && place["vertex"]["vertex"].is_u64(),
        "{of}"
    );
    assert_eq!(place["place"].as_array().unwrap().len(), 3);
    // Without the alignment it lies elsewhere; the template has a shorter forearm.
    let lies = json(&["--json", "--align", "none"]);
    assert!(lies["scan"]["alignment"].is_null() && lies["scan"]["kept_to_body"].is_null());
    assert!(lies["scan"]["scan_to_body"]["rms"].as_f64().unwrap() > 0.1);
    let report = at("r.json");
    let said = done(&[
        "body",
        &arm,
        "--scan",
        scan,
        "--scan-unit",
        "cm",
        "--report",
        text(&report),
    ]);
    assert!(
        said.contains("scan to body: rms ") && said.contains("body to scan: rms "),
        "{said}"
    );
    assert!(said.contains("left out of the alignment: "), "{said}");
    let template: Value = serde_json::from_slice(&std::fs::read(&report).unwrap()).unwrap();
    assert!(
        template["scan"]["scan_to_body"]["max"]
            .as_f64()
            .unwrap()
            .abs()
            > 1e-3
    );

    let why = fails(&["body", &arm, "--measure", table, "--scan-unit", "cm"], 2);
    assert!(why.contains("--scan"), "{why}");
    let why = fails(&["body", &arm, "--measure", table, "--pose", "p.json"], 2);
    assert!(why.contains("need --scan"), "{why}");
    let why = fails(&["body", &arm, "--measure", table, "--scan", table], 1);
    assert!(why.contains("is not a scan that Sinew reads"), "{why}");
    let why = fails(&["body", &arm, "--scan", scan, "--report", scan], 1);
    assert!(why.contains("is the scan. Choose another name"), "{why}");
}
