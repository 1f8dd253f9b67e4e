//! Recorded data as layers of groups of clusters: gauges and markers, with and without a skeleton, in files and exports.

use crate::cli::{done, fails, text};
use crate::gltf_builder::Gltf;
use crate::npy::read_npy;
use glam::{DQuat, DVec3, Vec3};
use serde_json::{Value, json};
use sinew::cluster::channel::{
    AxisMap, Binding, BindingKind, Ends, Played, RecordingId, RecordingItem, Sampling,
    ScalarDirection,
};
use sinew::cluster::fade::Fade;
use sinew::cluster::{
    Base, ClusterGroup, ClusterMap, ColourBy, DataLayer, Fit, PatchSettings, Readings,
    SurfaceDisplay,
};
use sinew::document::checks::ModelChecks;
use sinew::document::{
    ClipId, ClustersEdit, Document, Edit, EditError, History, InstanceId, MeshId, checks,
};
use sinew::evaluate::Evaluator;
use sinew::io::channels::parse_csv;
use sinew::io::import_bytes;
use sinew::math::Worse;
use sinew::skeleton::Moment;
use sinew::task::Task;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const MESH: MeshId = MeshId(0);
/// Vertices of a side of the grid.
const SIDE: usize = 9;
/// The corners and the middle of the grid.
const GAUGES: [u32; 5] = [0, 8, 72, 80, 40];
const RECORDING: RecordingId = RecordingId(0);

/// A grid of 4 by 4 metres in the plane y = 0, with a clip of 4 s in which its node stands still.
pub(crate) fn grid() -> Gltf {
    let mut gltf = Gltf::new(json!({
        "nodes": [{"name": "Water", "mesh": 0}], "scene": 0, "scenes": [{"nodes": [0]}]
    }));
    let places = (0..SIDE * SIDE).flat_map(|i| {
        let at = |k: usize| k as f32 * 0.5 - 2.0;
        [at(i % SIDE), 0.0, at(i / SIDE)]
    });
    let positions = gltf.f32s("VEC3", &places.collect::<Vec<f32>>());
    let up: Vec<f32> = (0..SIDE * SIDE).flat_map(|_| [0.0, 1.0, 0.0]).collect();
    let normals = gltf.f32s("VEC3", &up);
    let at = |x: usize, z: usize| (z * SIDE + x) as u16;
    let cells = (0..SIDE - 1).flat_map(|z| (0..SIDE - 1).map(move |x| (x, z)));
    let triangles = cells.flat_map(|(x, z)| {
        let [a, b, c, d] = [at(x, z), at(x + 1, z), at(x, z + 1), at(x + 1, z + 1)];
        [a, c, b, b, c, d]
    });
    let triangles = gltf.u16s("SCALAR", &triangles.collect::<Vec<u16>>());
    gltf.push(
        "meshes",
        json!({"name": "Water", "primitives": [{
            "attributes": {"POSITION": positions, "NORMAL": normals}, "indices": triangles
        }]}),
    );
    let times = gltf.f32s("SCALAR", &[0.0, 4.0]);
    let still = gltf.f32s("VEC3", &[0.0; 6]);
    gltf.push(
        "animations",
        json!({"name": "Record", "channels": [
            {"sampler": 0, "target": {"node": 0, "path": "translation"}}
        ], "samplers": [{"input": times, "output": still}]}),
    );
    gltf
}

const LEVELS: &str = "# levels of five gauges\n\
    t[s];a[m];b[m];c[m];d[m];e[m]\n\
    0;1,0;1,0;1,0;1,0;1,0\n\
    2;1,2;1,4;1,0;0,8;1,1\n\
    4;1,1;1,0;1,2;1,0;1,0\n";

/// The level above rest of each gauge after 1 s and after 3 s.
const AT_1: [f64; 5] = [0.1, 0.2, 0.0, -0.1, 0.05];
const AT_3: [f64; 5] = [0.15, 0.2, 0.1, -0.1, 0.05];

fn layers() -> Value {
    let names = ["a", "b", "c", "d", "e"];
    let bindings = names.iter().zip(GAUGES).map(|(channel, vertex)| {
        json!({"channel": channel, "kind": "scalar", "vertices": [vertex],
            "reference": 1.0, "direction": [0, 1, 0]})
    });
    json!({
        "recordings": [{"name": "Levels", "file": "levels.csv"}],
        "groups": [{"mesh": "Water", "name": "Gauges", "base": "fixed", "vertices": GAUGES,
            "data": [{"name": "Levels", "recording": "Levels", "max_gap": 10.0,
                "bindings": bindings.collect::<Vec<_>>()}]}]
    })
}

pub(crate) struct Water {
    folder: tempfile::TempDir,
}

impl Water {
    /// The grid, the levels and the layers in a folder.
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let water = Self { folder };
        std::fs::write(water.join("water.glb"), grid().glb()).unwrap();
        std::fs::write(water.join("levels.csv"), LEVELS).unwrap();
        std::fs::write(water.join("layers.json"), layers().to_string()).unwrap();
        water
    }

    pub(crate) fn join(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes the project; what the command prints as JSON.
    pub(crate) fn project(&self) -> (PathBuf, Value) {
        let [model, layers, out] =
            ["water.glb", "layers.json", "water.ron"].map(|name| self.join(name));
        let said = done(&[
            "clusters",
            text(&model),
            "--layers",
            text(&layers),
            "--out",
            text(&out),
            "--json",
        ]);
        (out, serde_json::from_str(&said).unwrap())
    }

    /// Positions after `time` seconds of the clip.
    pub(crate) fn skin(&self, file: &Path, time: &str) -> Vec<Vec3> {
        let out = self.join("skin.npy");
        let clip = ["--clip", "0", "--time", time];
        done(&[&["skin", text(file), "--out", text(&out)], &clip[..]].concat());
        let positions = read_npy(&out).1;
        let positions = positions.chunks(3);
        positions
            .map(|p| DVec3::new(p[0], p[1], p[2]).as_vec3())
            .collect()
    }
}

fn assert_levels(shape: &[Vec3], expected: [f64; 5], tolerance: f64) {
    for (vertex, level) in GAUGES.into_iter().zip(expected) {
        let found = f64::from(shape[vertex as usize].y);
        assert!(
            (found - level).abs() <= tolerance,
            "{vertex}: {found}, not {level}"
        );
    }
}

#[test]
fn a_water_surface_without_a_skeleton_follows_its_gauges_and_is_exported() {
    let water = Water::new();
    let (project, report) = water.project();
    assert_eq!(
        report["recordings"][0]["scalars"],
        json!(["a", "b", "c", "d", "e"])
    );
    assert_eq!(report["recordings"][0]["seconds"], json!([0.0, 4.0]));
    let group = &report["meshes"][0]["groups"][0];
    assert_eq!(
        (&group["base"], &group["clusters"]),
        (&json!("fixed"), &json!(5))
    );
    assert_eq!(group["data"][0]["bindings"][1]["kind"], "scalar");
    assert_eq!(report["findings"], Value::Null);

    let rest = water.skin(&project, "0");
    assert!(rest.iter().all(|p| p.y.abs() < 1e-6), "{rest:?}");
    let shape = water.skin(&project, "1");
    assert_levels(&shape, AT_1, 1e-6);
    assert_levels(&water.skin(&project, "3"), AT_3, 1e-6);
    // Between the gauges the patches lie between their levels, about.
    assert!(
        shape.iter().all(|p| (-0.2..0.3).contains(&p.y)),
        "{shape:?}"
    );
    assert!(shape.iter().filter(|p| p.y.abs() > 1e-3).count() > 50);

    // Frames: any player shows it, between the samples too.
    let out = water.join("frames.glb");
    done(&[
        "export",
        text(&project),
        "--out",
        text(&out),
        "--correct",
        "frames",
    ]);
    for time in ["0", "0.7", "1", "2", "3", "3.6", "4"] {
        let (own, read) = (water.skin(&project, time), water.skin(&out, time));
        let pairs = own.iter().zip(&read);
        let worst = pairs.map(|(a, b)| a.distance(*b)).fold(0.0, f32::worse);
        assert!(worst <= 1e-3 * 5.66, "{time} s: {worst}");
    }
    // One moment of it as a static mesh.
    let still = water.join("still.obj");
    let moment = ["--still", "--clip", "0", "--time", "1"];
    done(
        &[
            &["export", text(&project), "--out", text(&still)],
            &moment[..],
        ]
        .concat(),
    );
    let obj = std::fs::read_to_string(&still).unwrap();
    let ys = obj
        .lines()
        .filter_map(|line| line.strip_prefix("v ")?.split(' ').nth(1));
    let ys: Vec<f32> = ys.map(|y| y.parse().unwrap()).collect();
    let highest = |ys: &mut dyn Iterator<Item = f32>| ys.fold(f32::MIN, f32::max);
    let (a, b) = (
        highest(&mut ys.into_iter()),
        highest(&mut shape.iter().map(|p| p.y)),
    );
    assert!((a - b).abs() < 1e-5, "{a} and {b}");
    // Without frames the file would not move: the export says so.
    let plain = water.join("plain.glb");
    let said = done(&["export", text(&project), "--out", text(&plain)]);
    assert!(said.contains("which only morph frames can store"), "{said}");
    done(&["measure", text(&project), "--clip", "0", "--rate", "2"]);
}

#[test]
fn a_recording_that_is_gone_or_changed_is_said_and_can_be_given_again() {
    let water = Water::new();
    let (project, _) = water.project();
    let saved = std::fs::read_to_string(&project).unwrap();
    assert!(saved.contains("path: \"levels.csv\""), "{saved}");
    let (levels, moved) = (water.join("levels.csv"), water.join("moved.csv"));
    std::fs::rename(&levels, &moved).unwrap();
    let said = done(&["check", text(&project)]);
    assert!(
        said.contains("recording \"Levels\"") && said.contains("cannot be read"),
        "{said}"
    );
    let rest = water.skin(&project, "1");
    assert!(rest.iter().all(|p| p.y.abs() < 1e-6), "{rest:?}");
    // Given again under its name it is found again.
    let again = json!({"recordings": [{"name": "Levels", "file": "moved.csv"}]});
    let path = water.join("again.json");
    std::fs::write(&path, again.to_string()).unwrap();
    let out = water.join("again.ron");
    done(&[
        "clusters",
        text(&project),
        "--layers",
        text(&path),
        "--out",
        text(&out),
    ]);
    assert_levels(&water.skin(&out, "1"), AT_1, 1e-6);
    // Changed: what it holds now is used, and that is said.
    std::fs::write(&levels, LEVELS.replace("1,4", "1,8")).unwrap();
    let said = done(&["check", text(&project)]);
    assert!(
        said.contains("has changed since the project was saved"),
        "{said}"
    );
    let mut expected = AT_1;
    expected[1] = 0.4;
    assert_levels(&water.skin(&project, "1"), expected, 1e-6);
    // A broken cell names its line and column, and nothing is written.
    std::fs::write(&levels, LEVELS.replace("\n2;", "\nzero;")).unwrap();
    let broken = water.join("broken.ron");
    let layers = water.join("layers.json");
    let model = water.join("water.glb");
    let args = [
        "clusters",
        text(&model),
        "--layers",
        text(&layers),
        "--out",
        text(&broken),
    ];
    let said = fails(&args, 1);
    assert!(said.contains("levels.csv, line 4"), "{said}");
    assert!(!broken.exists());
}

#[test]
fn layers_that_are_wrong_are_refused_by_name() {
    let water = Water::new();
    let refused = |change: &dyn Fn(&mut Value)| {
        let mut layers = layers();
        change(&mut layers);
        let path = water.join("wrong.json");
        std::fs::write(&path, layers.to_string()).unwrap();
        let (model, out) = (water.join("water.glb"), water.join("wrong.ron"));
        let args = [
            "clusters",
            text(&model),
            "--layers",
            text(&path),
            "--out",
            text(&out),
        ];
        let said = fails(&args, 1);
        assert!(!out.exists());
        said
    };
    let said = refused(&|layers| layers["groups"][0]["colour"] = json!(1));
    assert!(said.contains("unknown field `colour`"), "{said}");
    let said = refused(&|layers| layers["groups"][0]["base"] = json!("magic"));
    assert!(
        said.contains("\"magic\" is not one of stack, lbs, dqs, fixed, hand, lattice, cage, data"),
        "{said}"
    );
    let said = refused(&|layers| layers["groups"][0]["data"][0]["recording"] = json!("Tide"));
    assert!(said.contains("there is no recording \"Tide\""), "{said}");
    let bound = |layers: &mut Value, key: &str, value: Value| {
        layers["groups"][0]["data"][0]["bindings"][0][key] = value;
    };
    let said = refused(&|layers| bound(layers, "vertices", json!([81])));
    assert!(
        said.contains("\"a\": primitive 0 has no vertex 81; it has 81"),
        "{said}"
    );
    let said = refused(&|layers| bound(layers, "kind", json!("around")));
    assert!(
        said.contains("kind \"around\" is not one of delta, absolute, scalar"),
        "{said}"
    );
    let said = refused(&|layers| {
        bound(layers, "kind", json!("absolute"));
        let binding = layers["groups"][0]["data"][0]["bindings"][0]
            .as_object_mut()
            .unwrap();
        binding.remove("reference");
        binding.remove("direction");
    });
    assert!(
        said.contains("needs Driven by Data in the group \"Gauges\""),
        "{said}"
    );
}

/// The grid as a document.
fn plain() -> Document {
    let imported = import_bytes(grid().glb(), None, None, &Task::new());
    Document::new(imported.unwrap().parts).unwrap()
}

/// The grid as a document with a recording.
fn recorded(csv: &str) -> Document {
    let mut document = plain();
    let content = Ok(Arc::new(parse_csv(csv, &Task::new()).unwrap()));
    let item = RecordingItem::new("Record", "/data/record.csv", 7, content);
    let recording = Some(Arc::new(item));
    let mut add = Edit::Recording {
        id: RECORDING,
        recording,
    };
    document.apply(&mut add).unwrap();
    document
}

fn layer(bindings: Vec<Binding>) -> DataLayer {
    DataLayer {
        name: "Data".into(),
        played: Played::from_start(RECORDING),
        fit: Fit::Rigid,
        reference: None,
        fade: Fade::default(),
        bindings,
        muted: false,
    }
}

fn map(base: Base, points: &[u32], data: DataLayer) -> ClusterMap {
    let group = ClusterGroup {
        base,
        data: vec![data],
        ..ClusterGroup::new("Data", 0)
    };
    let points = points.iter().map(|&point| (point, 0)).collect();
    ClusterMap::new(vec![Arc::new(group)], points, PatchSettings::default()).unwrap()
}

fn with(document: &Document, map: ClusterMap) -> Document {
    let mut document = document.clone();
    let edit = ClustersEdit::new(&document, MESH, Arc::new(map));
    document.apply(&mut Edit::Clusters(edit)).unwrap();
    document
}

fn shape(document: &Document, secs: f64) -> Vec<Vec3> {
    let mut evaluator = Evaluator::default();
    let moment = Moment::of(ClipId(0), secs);
    evaluator.evaluate(document, document.rest_pose().at(moment));
    evaluator.plan(InstanceId(0)).unwrap().positions().to_vec()
}

/// Markers at these places, turned by an angle a second about y and lifted by 0.1 a second, in millimetres with Z up.
fn markers(places: &[DVec3]) -> String {
    let mut csv = String::from("time");
    for i in 0..places.len() {
        write!(csv, ",m{i}.x[mm],m{i}.y[mm],m{i}.z[mm]").unwrap();
    }
    for k in 0..=10 {
        let t = f64::from(k) * 0.1;
        write!(csv, "\n{t}").unwrap();
        for place in places {
            let p = (DQuat::from_rotation_y(0.3 * t) * *place + DVec3::Y * 0.1 * t) * 1000.0;
            write!(csv, ",{},{},{}", p.x, -p.z, p.y).unwrap();
        }
    }
    csv + "\n"
}

#[test]
fn markers_carry_a_surface_rigidly_by_their_places_and_by_their_displacements() {
    let plain = plain();
    let bind = plain.meshes()[&MESH].geometry.positions.clone();
    let bound = [0u32, 8, 72, 80];
    let places = bound.map(|point| bind[point as usize].as_dvec3());
    // The recording stands elsewhere, turned and away from the model: the fit takes it there.
    let turn = DQuat::from_rotation_y(1.1);
    let away = places.map(|place| turn * place + DVec3::new(7.0, -2.0, 3.0));
    let document = recorded(&markers(&places));
    let elsewhere = recorded(&markers(&away));
    let bindings = |kind| -> Vec<Binding> {
        let all = (0..4).map(|i| Binding {
            kind,
            axes: AxisMap::Z_UP,
            ..Binding::new(format!("m{i}"), vec![bound[i]])
        });
        all.collect()
    };
    let absolute = |document: &Document, fit| {
        let data = DataLayer {
            fit,
            ..layer(bindings(BindingKind::Absolute))
        };
        with(document, map(Base::Data, &bound, data))
    };
    let expected = |secs: f64| -> Vec<DVec3> {
        let motion =
            |p: &Vec3| DQuat::from_rotation_y(0.3 * secs) * p.as_dvec3() + DVec3::Y * 0.1 * secs;
        bind.iter().map(motion).collect()
    };
    let assert_rigid = |document: &Document, what: &str, secs: f64| {
        let found = shape(document, secs);
        let pairs = found.iter().zip(expected(secs));
        let worst = pairs
            .map(|(a, b)| a.as_dvec3().distance(b))
            .fold(0.0, f64::worse);
        assert!(worst < 2e-6, "{what} at {secs} s: {worst}");
    };
    for secs in [0.0, 0.5, 1.0] {
        // The places themselves, with every vertex of the surface.
        assert_rigid(&absolute(&document, Fit::None), "places", secs);
        assert_rigid(&absolute(&document, Fit::Rigid), "fitted", secs);
        assert_rigid(&absolute(&document, Fit::Similarity), "scaled", secs);
    }
    // Turned data turns about its own centre: the middle of the model moves as the data's does.
    let fitted = absolute(&elsewhere, Fit::Rigid);
    assert_rigid(&fitted, "elsewhere", 0.0);
    // By displacement, on the rest pose of the model.
    let delta = map(Base::Fixed, &bound, layer(bindings(BindingKind::Delta)));
    let delta = with(&document, delta);
    for secs in [0.0, 0.5, 1.0] {
        assert_rigid(&delta, "displacements", secs);
    }
    // An anchor that the layout needs follows its clusters.
    let three = map(
        Base::Data,
        &bound[..3],
        layer(bindings(BindingKind::Absolute)[..3].to_vec()),
    );
    assert_rigid(&with(&document, three), "three markers", 1.0);
}

/// One gauge at the middle of the grid, on its normal.
fn gauge(csv: &str, sampling: Sampling, start: f64) -> Document {
    let binding = Binding {
        kind: BindingKind::Scalar {
            reference: 1.0,
            direction: ScalarDirection::Normal,
        },
        scale: 0.1,
        ..Binding::new("level", vec![40])
    };
    let played = Played {
        recording: RECORDING,
        start,
        sampling,
    };
    let data = DataLayer {
        played,
        ..layer(vec![binding])
    };
    with(&recorded(csv), map(Base::Fixed, &GAUGES, data))
}

fn level(document: &Document, secs: f64) -> f64 {
    f64::from(shape(document, secs)[40].y)
}

#[test]
fn a_lost_channel_is_held_fades_and_returns_the_same_whether_played_or_scrubbed() {
    // 10 Hz to 1 s, a gap to 4 s.
    let mut csv = String::from("time,level\n");
    for k in (0..=10).chain(40..=50) {
        writeln!(csv, "{},{}", f64::from(k) * 0.1, 3.0).unwrap();
    }
    let document = gauge(&csv, Sampling::default(), 0.0);
    for (secs, expected) in [
        (0.5, 0.2),
        (1.0, 0.2),
        (1.2, 0.2),
        (1.25, 0.2),
        // Half of the fade, and after it.
        (1.5, 0.1),
        (1.75, 0.0),
        (3.0, 0.0),
        (4.0, 0.0),
        // Half of the return.
        (4.05, 0.1),
        (4.1, 0.2),
        (9.0, 0.2),
    ] {
        let found = level(&document, secs);
        assert!(
            (found - expected).abs() < 1e-6,
            "{secs} s: {found}, not {expected}"
        );
    }
    // To the bit, in any order of moments.
    let mut evaluator = Evaluator::default();
    for secs in [4.05, 1.5, 0.2, 1.5, 3.0, 1.6, 4.05] {
        let at = document.rest_pose().at(Moment::of(ClipId(0), secs));
        evaluator.evaluate(&document, at);
        let known = evaluator.plan(InstanceId(0)).unwrap().positions();
        assert_eq!(known, shape(&document, secs), "{secs}");
    }
    let found = checks::of_layers(&document);
    assert_eq!(found.len(), 1);
    let said = found[0].to_string();
    assert!(
        said.contains("has 1 gap longer than 0.400 s, the first from 1 to 4 s"),
        "{said}"
    );
}

#[test]
fn a_recording_starts_in_the_clip_and_repeats_where_it_should() {
    // Unix time: the recording begins at its first sample.
    let csv = "time,level\n1700000000,1\n1700000001,3\n1700000002,1\n";
    let sampling = Sampling {
        max_gap: Some(5.0),
        ..Sampling::default()
    };
    let document = gauge(csv, sampling, 1.5);
    let expect = |document: &Document, of: &[(f64, f64)]| {
        for &(secs, expected) in of {
            let found = level(document, secs);
            assert!(
                (found - expected).abs() < 1e-6,
                "{secs} s: {found}, not {expected}"
            );
        }
    };
    expect(
        &document,
        &[
            (0.0, 0.0),
            (1.5, 0.0),
            (2.0, 0.1),
            (2.5, 0.2),
            (3.0, 0.1),
            (9.0, 0.0),
        ],
    );
    let ends = Ends::Loop;
    let document = gauge(csv, Sampling { ends, ..sampling }, 0.0);
    expect(
        &document,
        &[(0.5, 0.1), (1.0, 0.2), (3.0, 0.2), (4.5, 0.1), (7.0, 0.2)],
    );
}

#[test]
fn recordings_are_undone_and_kept_while_they_are_read() {
    let csv = "time,level\n0,1\n0.5,\n1,3\n";
    let mut document = plain();
    let plain = document.clone();
    let loaded = gauge(csv, Sampling::default(), 0.0);
    let recording = loaded.recordings().get(&RECORDING).cloned();
    let clusters = loaded.meshes()[&MESH].clusters.clone();
    let mut history = History::default();
    history.begin(&document, "Add data");
    let add = Edit::Recording {
        id: RECORDING,
        recording: recording.clone(),
    };
    history.apply(&mut document, add, "Add data").unwrap();
    let edit = Edit::Clusters(ClustersEdit::new(&document, MESH, clusters.clone()));
    history.apply(&mut document, edit, "Add data").unwrap();
    history.commit(&document);
    let driven = document.clone();
    assert!(!driven.same_content(&plain));
    history.undo(&mut document).unwrap();
    assert!(document.same_content(&plain) && document.recordings().is_empty());
    // Without the recording its layers are refused.
    let mut edit = Edit::Clusters(ClustersEdit::new(&document, MESH, clusters));
    let why = document.apply(&mut edit).unwrap_err();
    assert_eq!(why, EditError::NoRecording(RECORDING));
    history.redo(&mut document).unwrap();
    assert!(document.same_content(&driven));
    assert_eq!(shape(&document, 0.7), shape(&driven, 0.7));
    let mut remove = Edit::Recording {
        id: RECORDING,
        recording: None,
    };
    let why = document.apply(&mut remove).unwrap_err().to_string();
    assert!(
        why.contains("layers of the cluster group \"Data\" read \"Record\""),
        "{why}"
    );
    assert!(document.same_content(&driven));
    // No output may replace the file.
    let outputs = sinew::io::Outputs::of(&driven);
    assert!(outputs.check(Path::new("/data/record.csv")).is_err());
    assert!(outputs.check(Path::new("/data/other.csv")).is_ok());
    // Two places for one vertex contradict each other.
    let both = ["a", "b"].map(|name| Binding {
        kind: BindingKind::Absolute,
        ..Binding::new(name, vec![40])
    });
    let group = ClusterGroup {
        base: Base::Data,
        data: vec![layer(both.to_vec())],
        ..ClusterGroup::new("Data", 0)
    };
    let made = ClusterMap::new(
        vec![Arc::new(group)],
        vec![(40, 0)],
        PatchSettings::default(),
    );
    let why = made.unwrap_err().to_string();
    assert!(
        why.contains("vertex 40 has two bindings of the kind Position, of \"a\" and \"b\""),
        "{why}"
    );
}

#[test]
fn a_marker_that_jumps_is_warned_of() {
    let water = Water::new();
    let csv = LEVELS.replace("0,8", "99,8");
    std::fs::write(water.join("levels.csv"), csv).unwrap();
    let (project, report) = water.project();
    let said = report["findings"].to_string();
    assert!(
        said.contains("channel \\\"d\\\" jumps 2 times, first by 98.800 m at 2 s"),
        "{said}"
    );
    let said = done(&["check", text(&project)]);
    assert!(said.contains("were two markers swapped?"), "{said}");
}

/// The checks that the window lists find jumps too, and measure them as large as the fit makes them.
#[test]
fn jumps_are_measured_in_the_world_and_listed_in_the_window() {
    let bound = [0u32, 8, 72, 80];
    let bind = plain().meshes()[&MESH].geometry.positions.clone();
    let places = bound.map(|point| bind[point as usize].as_dvec3());
    let jumps = |csv: &str, fit: Fit| {
        let document = recorded(csv);
        let all = (0..4).map(|i| Binding {
            kind: BindingKind::Delta,
            axes: AxisMap::Z_UP,
            ..Binding::new(format!("m{i}"), vec![bound[i]])
        });
        let data = DataLayer {
            fit,
            ..layer(all.collect())
        };
        let document = with(&document, map(Base::Fixed, &bound, data));
        let report = ModelChecks::default().run(&document, &Task::new()).unwrap();
        let found = report.findings.iter().map(ToString::to_string);
        found.filter(|said| said.contains("swapped")).count()
    };
    let csv = markers(&places);
    let last = csv.lines().last().unwrap();
    let mut cells: Vec<&str> = last.split(',').collect();
    cells[1] = "99000";
    let lost = csv.replace(last, &cells.join(","));
    assert_eq!(jumps(&csv, Fit::Rigid), 0);
    assert_eq!(jumps(&lost, Fit::Rigid), 1);
    // In centimetres that the file calls millimetres each step is a hundred times as long, and the fit shrinks it.
    let large = markers(&places.map(|place| place * 300.0));
    assert!(jumps(&large, Fit::None) > 0);
    assert_eq!(jumps(&large, Fit::Similarity), 0);
}

/// A quantity in degrees is read, shown and coloured in degrees, as its label says.
#[test]
fn an_angle_colours_a_surface_in_degrees() {
    let document = recorded("t,knee[deg]\n0,0\n1,90\n");
    let scalar = BindingKind::Scalar {
        reference: 0.0,
        direction: ScalarDirection::Fixed(DVec3::Y),
    };
    let binding = Binding {
        kind: scalar,
        ..Binding::new("knee", vec![0])
    };
    let colour = |range| SurfaceDisplay {
        colour: Some(ColourBy {
            recording: RECORDING,
            quantity: String::new(),
            range,
        }),
        shore: false,
    };
    let map = map(Base::Fixed, &[0], layer(vec![binding]));
    let read = |range| {
        let map = map.clone().with_display(colour(range)).unwrap();
        Readings::new(&map, document.recordings()).unwrap()
    };
    let readings = read(None);
    assert!(readings.label().contains('°'), "{}", readings.label());
    assert_eq!(readings.range(), [0.0, 100.0]);
    let [(point, value)] = readings.at(Moment::of(ClipId(0), 1.0))[..] else {
        panic!("one gauge");
    };
    assert!(point == 0 && (value - 90.0).abs() < 1e-9, "{value}");
    // A range is stored as the recording has it, in radians.
    let stated = read(Some([0.0, std::f64::consts::PI])).range();
    assert!((stated[1] - 180.0).abs() < 1e-9, "{stated:?}");
}

/// Markers that do not fit their vertices at the reference time are a problem.
#[test]
fn markers_that_do_not_fit_are_warned_of() {
    let bind = plain().meshes()[&MESH].geometry.positions.clone();
    let place = |point: u32| bind[point as usize].as_dvec3();
    let problem = |bound: [u32; 4], places: [DVec3; 4]| {
        let all = (0..4).map(|i| Binding {
            kind: BindingKind::Delta,
            axes: AxisMap::Z_UP,
            ..Binding::new(format!("m{i}"), vec![bound[i]])
        });
        let map = map(Base::Fixed, &bound, layer(all.collect()));
        let document = with(&recorded(&markers(&places)), map);
        let found = checks::of_layers(&document);
        let said: Vec<String> = found.iter().map(ToString::to_string).collect();
        said.join("; ")
    };
    let at = |x: f32, z: f32| {
        let found = bind.iter().position(|p| p.x == x && p.z == z);
        found.unwrap() as u32
    };
    let square = [at(-2.0, -2.0), at(2.0, -2.0), at(-2.0, 2.0), at(2.0, 2.0)];
    let places = square.map(place);
    assert_eq!(problem(square, places), "");
    let line = [-2.0, -1.0, 1.0, 2.0].map(|x| at(x, 0.5));
    let said = problem(line, line.map(place));
    assert!(said.contains("lie on a line"), "{said}");
    let [a, b, c, _] = places;
    let said = problem(square, [a, b, c, DVec3::ZERO]);
    assert!(said.contains("are the right vertices bound?"), "{said}");
}

#[test]
fn a_part_of_a_rotation_that_jumps_is_warned_of() {
    let water = Water::new();
    let csv = "t[s];knee.qw;knee.qx;knee.qy;knee.qz\n0;1,0;0,0;0,0;0,0\n2;0,0;1,0;0,0;0,0\n";
    std::fs::write(water.join("levels.csv"), csv).unwrap();
    let mut layers = layers();
    layers["groups"][0]["data"][0]["bindings"] = json!([
        {"channel": "knee.twist_x", "kind": "scalar", "vertices": [GAUGES[0]], "scale": 10.0}
    ]);
    std::fs::write(water.join("layers.json"), layers.to_string()).unwrap();
    let (_, report) = water.project();
    let said = report["findings"].to_string();
    let expected = "channel \\\"knee.twist_x\\\" jumps 1 time, first by 31.416 m at 2 s";
    assert!(said.contains(expected), "{said}");
}
