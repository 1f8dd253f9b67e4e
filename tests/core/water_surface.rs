//! The sample project of a gauge surface without a skeleton: levels, the wet / dry line, and salt as colour.

use crate::editing::EditorHarness;
use glam::{DVec3, Vec3};
use sinew::cluster::channel::{
    AxisMap, Binding, BindingKind, Played, RecordingId, RecordingItem, ScalarDirection,
};
use sinew::cluster::fade::Fade;
use sinew::cluster::{
    Base, ClusterGroup, ClusterMap, ColourBy, DataLayer, Fit, PatchSettings, Quantity,
    SurfaceDisplay,
};
use sinew::document::{
    ClipId, ClustersEdit, Document, Edit, EditError, History, InstanceId, MeshId,
};
use sinew::editor::OpenRequest;
use sinew::evaluate::{Evaluator, SurfaceData, SurfaceDataFinder};
use sinew::io::channels::read_item;
use sinew::io::project::{save, to_project, to_text};
use sinew::io::{open_any, open_sample};
use sinew::sample::reservoir::{gauges, recording};
use sinew::skeleton::Moment;
use sinew::task::Task;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const RECORDING: RecordingId = RecordingId(0);

fn in_projects(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("projects")
        .join(name)
}

fn mesh(document: &Document, name: &str) -> MeshId {
    let mut meshes = document.meshes().iter();
    *meshes
        .find(|(_, item)| item.geometry.name == name)
        .unwrap()
        .0
}

fn instance(document: &Document, name: &str) -> InstanceId {
    let mesh = mesh(document, name);
    let mut instances = document.instances().iter();
    *instances.find(|(_, own)| own.mesh == mesh).unwrap().0
}

fn clip(document: &Document) -> ClipId {
    *document.clips().keys().next().unwrap()
}

/// The points of the gauges by their names.
fn points(document: &Document) -> Vec<(&'static str, u32)> {
    let item = &document.meshes()[&mesh(document, "Water")];
    let points = &item.geometry.point_of_vertex;
    gauges()
        .into_iter()
        .map(|(name, vertex)| (name, points[vertex as usize]))
        .collect()
}

fn colour(quantity: &str, range: Option<[f64; 2]>) -> SurfaceDisplay {
    SurfaceDisplay {
        colour: Some(ColourBy {
            recording: RECORDING,
            quantity: quantity.to_owned(),
            range,
        }),
        shore: true,
    }
}

/// The project as it is made.
fn made() -> Document {
    let task = Task::new();
    let mut document = open_sample("reservoir", &task).unwrap().document;
    let file = in_projects("reservoir-gauges.csv");
    let item = read_item("Gauges".into(), &file, 0, &task).unwrap();
    assert!(item.content.is_ok(), "{:?}", item.content);
    let id = RECORDING;
    let item = Some(Arc::new(item));
    document
        .apply(&mut Edit::Recording {
            id,
            recording: item,
        })
        .unwrap();
    let gauges = points(&document);
    let bindings = gauges.iter().map(|&(name, point)| Binding {
        channel: format!("{name}.level"),
        clusters: vec![point],
        kind: BindingKind::Scalar {
            reference: 0.0,
            direction: ScalarDirection::Fixed(DVec3::Y),
        },
        scale: 1.0,
        axes: AxisMap::default(),
        offset: DVec3::ZERO,
    });
    let group = ClusterGroup {
        base: Base::Fixed,
        data: vec![DataLayer {
            name: "Levels".into(),
            played: Played::from_start(RECORDING),
            fit: Fit::default(),
            reference: None,
            fade: Fade::default(),
            bindings: bindings.collect(),
            muted: false,
        }],
        ..ClusterGroup::new("Gauges", 2)
    };
    let clusters = gauges.iter().map(|&(_, point)| (point, 0)).collect();
    let map = ClusterMap::new(vec![Arc::new(group)], clusters, PatchSettings::default());
    let map = map.unwrap().with_display(colour("salt", None)).unwrap();
    let water = mesh(&document, "Water");
    apply(&mut document, map);

    let record = clip(&document);
    let session = document.session_mut();
    (session.playback.clip, session.playback.time_secs) = (Some(record), 9.0);
    session.active_mesh = Some(water);
    let camera = &mut session.camera;
    (camera.target, camera.distance) = (Vec3::new(0.0, -1.0, 0.0), 62.0);
    (camera.yaw, camera.pitch) = (0.45, 0.62);
    document
}

fn apply(document: &mut Document, map: ClusterMap) {
    let edit = ClustersEdit::new(document, mesh(document, "Water"), Arc::new(map));
    document.apply(&mut Edit::Clusters(edit)).unwrap();
}

fn opened() -> Document {
    let opened = open_any(&in_projects("water-surface.ron"), &Task::new()).unwrap();
    assert_eq!(opened.findings, []);
    opened.document
}

/// The surface and what is shown of it after some seconds of the recording.
fn at(document: &Document, secs: f64) -> (Vec<Vec3>, SurfaceData) {
    let moment = Moment::of(clip(document), secs);
    let mut evaluator = Evaluator::for_shapes();
    evaluator.evaluate(document, document.rest_pose().at(moment));
    let found = SurfaceDataFinder::default().find(&evaluator, document, moment);
    let water = instance(document, "Water");
    let data = found.into_iter().find(|data| data.instance == water);
    let shape = evaluator.plan(water).unwrap().positions().to_vec();
    (shape, data.unwrap())
}

fn number(text: &str, row: usize, column: &str) -> f32 {
    let mut lines = text.lines().filter(|line| !line.starts_with('#'));
    let mut header = lines.next().unwrap().split(',');
    let at = header.position(|name| name.starts_with(column)).unwrap();
    lines
        .nth(row)
        .unwrap()
        .split(',')
        .nth(at)
        .unwrap()
        .parse()
        .unwrap()
}

/// When the reservoir or this file changes: `SINEW_UPDATE_PROJECTS=1` writes both files again; look before they go in.
#[test]
fn the_project_is_made_of_the_reservoir_and_its_recording() {
    let file = in_projects("reservoir-gauges.csv");
    let writes = std::env::var("SINEW_UPDATE_PROJECTS").as_deref() == Ok("1");
    if writes {
        std::fs::write(&file, recording()).unwrap();
    }
    assert_eq!(std::fs::read_to_string(&file).unwrap(), recording());
    let made = made();
    let path = in_projects("water-surface.ron");
    if writes {
        save(&made, &path, &Task::new()).unwrap();
    }
    let opened = opened();
    let water = mesh(&made, "Water");
    let clusters = |document: &Document| document.meshes()[&water].clusters.clone();
    assert!(clusters(&made) == clusters(&opened));
    // The file beside the project is named without a folder.
    let text = to_text(&to_project(&opened, Some(&path)).unwrap()).unwrap();
    assert!(text.contains("path: \"reservoir-gauges.csv\""));

    // From the binary alone: no file is read, and a project saved elsewhere still finds its recording.
    let sample = open_sample("water-surface", &Task::new()).unwrap();
    assert!(sample.is_project && sample.project.is_none());
    assert_eq!(sample.findings, []);
    assert!(clusters(&sample.document) == clusters(&made));
    let folder = tempfile::tempdir().unwrap();
    let elsewhere = folder.path().join("mine.ron");
    save(&sample.document, &elsewhere, &Task::new()).unwrap();
    let again = open_any(&elsewhere, &Task::new()).unwrap();
    assert_eq!(again.findings, []);
    let recorded = |document: &Document| document.recordings()[&RECORDING].content.clone();
    assert_eq!(recorded(&again.document), recorded(&made));
}

#[test]
fn gauges_place_the_water_to_the_millimetre_and_patches_lie_between() {
    let document = opened();
    assert!(document.instances().values().all(|own| own.skin.is_none()));
    let text = recording();
    for row in [0, 17, 36, 60, 96] {
        let (shape, data) = at(&document, 0.25 * row as f64);
        let colours = data.colours.unwrap();
        for (name, point) in points(&document) {
            let p = point as usize;
            let level = number(&text, row, &format!("{name}.level"));
            assert!((shape[p].y - level).abs() < 1e-6, "{name} {}", shape[p].y);
            let salt = number(&text, row, &format!("{name}.salt"));
            assert!((colours.values[p] - salt).abs() < 1e-5, "{name}");
        }
        let (low, high) = ends(points(&document).iter().map(|(_, p)| shape[*p as usize].y));
        for p in &shape {
            // Anchors at the rim follow the tilt of the gauges near them.
            assert!(p.y > low - 0.3 && p.y < high + 0.3, "{p}");
        }
    }
}

fn ends(values: impl Iterator<Item = f32>) -> (f32, f32) {
    values.fold((f32::INFINITY, f32::NEG_INFINITY), |(low, high), v| {
        (low.min(v), high.max(v))
    })
}

#[test]
fn salt_colours_the_patches_smoothly_and_not_beyond_its_gauges() {
    let document = opened();
    let (_, data) = at(&document, 9.0);
    let colours = data.colours.unwrap();
    assert_eq!(&*colours.label, "salt, g/l");
    assert_eq!(colours.range, [0.0, 30.0]);
    let of_gauges = points(&document)
        .into_iter()
        .map(|(_, p)| colours.values[p as usize]);
    let (low, high) = ends(of_gauges);
    assert!(high > 2.0 * low, "a plume: {low} - {high}");
    let item = &document.meshes()[&mesh(&document, "Water")];
    for value in colours.values.iter() {
        assert!((low..=high).contains(value), "{value}");
    }
    // No jump from a vertex to the next.
    for triangle in &item.geometry.topology().triangles {
        let [a, b, c] = triangle.map(|p| colours.values[p as usize]);
        let apart = (a - b).abs().max((b - c).abs()).max((c - a).abs());
        assert!(apart < 0.25 * (high - low), "{apart} of {}", high - low);
    }
}

#[test]
fn the_wet_area_shrinks_as_the_reservoir_is_drawn_down() {
    let document = opened();
    let areas: Vec<f64> = [0.0, 6.0, 12.0, 18.0, 24.0]
        .map(|secs| {
            let shore = at(&document, secs).1.shore.unwrap();
            assert!(shore.lines.len() > 100 && shore.wet_area < shore.area);
            shore.wet_area
        })
        .into();
    println!("{areas:.1?} m2");
    assert!(areas[1] < areas[0] && areas[2] < areas[1], "{areas:?}");
    assert!(areas[3] > areas[2] && areas[4] > areas[3], "{areas:?}");
    // Both ends of every piece lie on the bed.
    let (_, data) = at(&document, 12.0);
    let bed = &document.meshes()[&mesh(&document, "Bed")].geometry;
    let corners = |t: &[u32; 3]| t.map(|p| bed.positions[p as usize]);
    let faces = bed.topology().triangles.iter().map(corners);
    let bed = sinew::mesh::shore::HeightField::new(faces.collect());
    for end in data.shore.unwrap().lines.iter().flatten() {
        let over = f64::from(end.y) - bed.at(*end).unwrap();
        assert!(over.abs() < 0.05, "{over}");
    }
}

#[test]
fn a_layer_without_its_recording_is_kept_until_it_is_deleted() {
    let mut h = EditorHarness::on(OpenRequest::Path(in_projects("water-surface.ron")));
    let folder = tempfile::tempdir().unwrap();
    let project = folder.path().join("water.ron");
    h.editor.save_as(&project);
    h.settle();
    let saved = std::fs::read_to_string(&project).unwrap();
    let start = saved.find("title: \"Levels\"").expect("the data");
    let lost = saved[start..].replacen("recording: 0", "recording: 9", 1);
    assert_ne!(lost, saved[start..]);
    std::fs::write(&project, [&saved[..start], &lost].concat()).unwrap();

    let mut h = EditorHarness::on(OpenRequest::Path(project));
    let water = mesh(h.editor.document(), "Water");
    h.editor.choose_group(0);
    let kept = h.editor.kept_layers().to_vec();
    assert_eq!((kept.len(), kept[0].name.as_str()), (1, "Levels"));
    assert_eq!(kept[0].recording, Some(RecordingId(9)));
    let reader = |h: &EditorHarness| h.editor.document().reader_of(RecordingId(9));
    assert_eq!(
        reader(&h),
        Some((water, 0)),
        "it may not be given to another"
    );
    h.editor.delete_kept_layer(0);
    h.settle();
    assert_eq!((h.editor.kept_layers(), reader(&h)), (&[][..], None));
    h.editor.undo();
    h.settle();
    assert_eq!(h.editor.kept_layers(), kept);
}

#[test]
fn hiding_the_bed_takes_the_line_away() {
    let mut h = EditorHarness::on(OpenRequest::Path(in_projects("water-surface.ron")));
    let document = h.editor.document();
    let (water, bed) = (instance(document, "Water"), instance(document, "Bed"));
    let area = |h: &EditorHarness| {
        let shown = h.editor.surface_data(water).unwrap();
        shown.shore.as_ref().unwrap().area
    };
    let known = area(&h);
    assert!(known > 100.0);
    h.editor.set_instance_hidden(bed, true);
    h.settle();
    assert_eq!(area(&h), 0.0);
    h.editor.set_instance_hidden(bed, false);
    h.settle();
    assert_eq!(area(&h), known);
}

#[test]
fn quantities_are_offered_undone_and_kept() {
    let mut document = opened();
    let water = mesh(&document, "Water");
    let map = document.meshes()[&water].clusters.clone();
    let offered = Quantity::all_of(&map, document.recordings());
    let labels: Vec<String> = offered.iter().map(Quantity::label).collect();
    assert_eq!(labels, ["level, m", "salt, g/l"]);

    let mut history = History::default();
    let before = document.clone();
    let level = ClusterMap::clone(&map)
        .with_display(colour("level", Some([-2.0, 0.5])))
        .unwrap();
    let edit = ClustersEdit::new(&document, water, Arc::new(level));
    history
        .apply(&mut document, Edit::Clusters(edit), "Colour by level")
        .unwrap();
    let colours = at(&document, 12.0).1.colours.unwrap();
    assert_eq!((&*colours.label, colours.range), ("level, m", [-2.0, 0.5]));
    // Other changes of the clusters keep it; a project keeps it too.
    let kept = document.meshes()[&water]
        .clusters
        .with_points(&[3], Some(0));
    assert_eq!(kept.display(), document.meshes()[&water].clusters.display());
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("level.ron");
    save(&document, &path, &Task::new()).unwrap();
    let again = open_any(&path, &Task::new()).unwrap().document;
    assert!(again.meshes()[&water].clusters == document.meshes()[&water].clusters);
    history.undo(&mut document).unwrap();
    assert!(document.same_content(&before));

    // A quantity that nobody records shows nothing; the recording of one that is shown cannot go.
    let none = ClusterMap::clone(&map)
        .with_display(colour("heat", None))
        .unwrap();
    apply(&mut document, none);
    assert!(at(&document, 1.0).1.colours.is_none());
    let bare = ClusterMap::new(Vec::new(), Vec::new(), PatchSettings::default()).unwrap();
    apply(
        &mut document,
        bare.with_display(colour("salt", None)).unwrap(),
    );
    let recording: Option<Arc<RecordingItem>> = None;
    let gone = document.apply(&mut Edit::Recording {
        id: RECORDING,
        recording,
    });
    assert!(
        matches!(gone, Err(EditError::RecordingColours { .. })),
        "{gone:?}"
    );
}
