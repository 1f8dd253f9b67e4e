//! The clock of a recording acts wherever the recording is read: data, drivers and colour follow its offset and its drift.

use crate::cluster_data::grid;
use glam::DQuat;
use sinew::cluster::channel::{
    Binding, BindingKind, Played, RecordingId, RecordingItem, ScalarDirection,
};
use sinew::cluster::fade::Fade;
use sinew::cluster::procedural::{
    DriverInput, DriverSettings, Normalisation, SinkDirection, SinkMask, SinkSettings,
};
use sinew::cluster::{
    Base, ClusterGroup, ClusterMap, ColourBy, DataLayer, DriverLayer, Fit, PatchSettings, Readings,
    SurfaceDisplay,
};
use sinew::deform::{DriverReader, PoseInputs};
use sinew::document::{ClipId, ClustersEdit, Document, Edit, InstanceId, MeshId};
use sinew::evaluate::Evaluator;
use sinew::io::channels::parse_csv;
use sinew::io::import_bytes;
use sinew::motion::align::ClockMap;
use sinew::motion::statistics::numbers;
use sinew::skeleton::Moment;
use sinew::task::Task;
use std::fmt::Write as _;
use std::sync::Arc;

const MESH: MeshId = MeshId(0);
const RECORDING: RecordingId = RecordingId(0);
/// The middle of the grid.
const MIDDLE: u32 = 40;

/// A level that never repeats, at 100 Hz for 10 s from a time of the device.
fn item(first: f64, clock: ClockMap) -> RecordingItem {
    let mut csv = String::from("time,level\n");
    for k in 0..=1000 {
        let t = f64::from(k) * 0.01;
        let level = 1.0 + 0.1 * t + 0.5 * (2.0 * t).sin();
        writeln!(csv, "{},{level}", first + t).unwrap();
    }
    let content = Ok(Arc::new(parse_csv(&csv, &Task::new()).unwrap()));
    RecordingItem {
        clock,
        ..RecordingItem::new("Record", "/data/record.csv", 7, content)
    }
}

fn set(document: &mut Document, item: RecordingItem) {
    let recording = Some(Arc::new(item));
    let mut edit = Edit::Recording {
        id: RECORDING,
        recording,
    };
    document.apply(&mut edit).unwrap();
}

/// The grid, whose middle the level moves and colours.
fn document(item: RecordingItem, start: f64) -> Document {
    let imported = import_bytes(grid().glb(), None, None, &Task::new());
    let mut document = Document::new(imported.unwrap().parts).unwrap();
    set(&mut document, item);
    let binding = Binding {
        kind: BindingKind::Scalar {
            reference: 0.0,
            direction: ScalarDirection::Normal,
        },
        ..Binding::new("level", vec![MIDDLE])
    };
    let data = DataLayer {
        name: "Data".into(),
        played: Played {
            start,
            ..Played::from_start(RECORDING)
        },
        fit: Fit::Rigid,
        reference: None,
        fade: Fade::default(),
        bindings: vec![binding],
        muted: false,
    };
    let group = ClusterGroup {
        base: Base::Fixed,
        data: vec![data],
        ..ClusterGroup::new("Data", 0)
    };
    let points = [0, 8, 72, 80, MIDDLE].map(|point| (point, 0));
    let map = ClusterMap::new(
        vec![Arc::new(group)],
        points.to_vec(),
        PatchSettings::default(),
    );
    let colour = ColourBy {
        recording: RECORDING,
        quantity: String::new(),
        range: None,
    };
    let display = SurfaceDisplay {
        colour: Some(colour),
        shore: false,
    };
    let map = map.unwrap().with_display(display).unwrap();
    let edit = ClustersEdit::new(&document, MESH, Arc::new(map));
    document.apply(&mut Edit::Clusters(edit)).unwrap();
    document
}

fn moment(secs: f64) -> Moment {
    Moment::of(ClipId(0), secs)
}

/// How high the middle of the grid is.
fn height(evaluator: &mut Evaluator, document: &Document, secs: f64) -> f32 {
    evaluator.evaluate(document, document.rest_pose().at(moment(secs)));
    let plan = evaluator.plan(InstanceId(0)).unwrap();
    plan.positions()[MIDDLE as usize].y
}

/// What the amount of a driver is that reads the level, and what it reads.
fn driven(document: &Document, start: f64, secs: f64) -> (f64, f64) {
    let settings = DriverSettings {
        input: DriverInput::Channel {
            name: "level".into(),
        },
        from: 0.0,
        to: 3.0,
        mode: Normalisation::Clamp,
        curve: None,
        gain: 0.2,
        fade: Fade::default(),
        sink: SinkSettings {
            direction: SinkDirection::Normal,
            mask: SinkMask::Painted,
        },
    };
    let played = Played {
        start,
        ..Played::from_start(RECORDING)
    };
    let layer = DriverLayer {
        name: "Driver".into(),
        settings,
        played: Some(played),
        bone: None,
        weights: Vec::new(),
        muted: false,
    };
    let reader = DriverReader::new(&layer, Some(document.recordings())).unwrap();
    let pose = document.rest_pose();
    let world = pose.world_matrices(document.skeleton());
    let inputs = PoseInputs {
        skeleton: document.skeleton(),
        rest_world: &world,
        locals: &pose.locals,
        world: &world,
        positions: &[],
        moment: moment(secs),
    };
    (reader.amount(&inputs), reader.input(&inputs).unwrap())
}

/// The value that colours the middle.
fn colour(document: &Document, secs: f64) -> f64 {
    let map = &document.meshes()[&MESH].clusters;
    let readings = Readings::new(map, document.recordings()).unwrap();
    readings.at(moment(secs))[0].1
}

#[test]
fn an_offset_and_a_drift_move_data_drivers_and_colour() {
    let mut evaluator = Evaluator::default();
    for first in [0.0, 0.25, 1.7e9] {
        let plain = document(item(first, ClockMap::SAME), 0.0);
        let own = item(first, ClockMap::SAME).first_clock();
        // One evaluator: it must notice that only the clock changes.
        let mut other = plain.clone();
        for by in [1.0, -0.5] {
            let clock = ClockMap {
                b: own.b + by,
                ..own
            };
            for secs in [1.3, 2.6, 4.1] {
                let before = height(&mut evaluator, &other, secs);
                set(&mut other, item(first, clock));
                let known = height(&mut Evaluator::default(), &plain, secs - by);
                let found = height(&mut evaluator, &other, secs);
                assert!(
                    (found - known).abs() < 1e-6,
                    "{first} {secs}: {found} {known}"
                );
                assert!((found - before).abs() > 1e-3);
                let (amount, _) = driven(&other, 0.0, secs);
                let (known, _) = driven(&plain, 0.0, secs - by);
                assert!((amount - known).abs() < 1e-6, "{amount} {known}");
                let (found, known) = (colour(&other, secs), colour(&plain, secs - by));
                assert!((found - known).abs() < 1e-6, "{found} {known}");
                set(&mut other, item(first, ClockMap::SAME));
            }
        }
    }
    // 1 % about the device's time 0.
    let plain = document(item(0.0, ClockMap::SAME), 0.0);
    let slow = document(item(0.0, ClockMap { a: 1.01, b: 0.0 }), 0.0);
    for secs in [1.3, 5.0, 9.9] {
        let (amount, _) = driven(&slow, 0.0, secs);
        let (known, _) = driven(&plain, 0.0, secs / 1.01);
        assert!((amount - known).abs() < 1e-12, "{amount} {known}");
        let found = height(&mut evaluator, &slow, secs);
        let known = height(&mut evaluator, &plain, secs / 1.01);
        assert!((found - known).abs() < 1e-6, "{found} {known}");
        assert!((colour(&slow, secs) - colour(&plain, secs / 1.01)).abs() < 1e-12);
    }
}

#[test]
fn a_layer_that_is_added_shows_what_the_list_shows() {
    for (first, clock) in [
        (0.0, ClockMap { a: 1.01, b: 0.7 }),
        (0.25, ClockMap::SAME),
        (0.25, ClockMap { a: 0.999, b: -0.2 }),
        (
            41_505.0,
            ClockMap {
                a: 1.0,
                b: -41_505.0,
            },
        ),
        (
            41_505.0,
            ClockMap {
                a: 1.0005,
                b: -41_505.0,
            },
        ),
    ] {
        let item = item(first, clock);
        let start = Played::on_lane(RECORDING, &item).start;
        let of = item.recording().unwrap();
        let listed = numbers(of, item.clock, |_| true, |_| DQuat::IDENTITY).unwrap();
        let [from, to] = item.span().unwrap();
        let document = document(item.clone(), start);
        for part in [0.1, 0.4, 0.77] {
            let secs = from + part * (to - from);
            let known = listed[0].channel.at(secs).unwrap();
            let (_, found) = driven(&document, start, secs);
            assert!(
                (found - known).abs() < 1e-8,
                "{first} {clock:?}: {found} {known}"
            );
            assert!((colour(&document, secs) - known).abs() < 1e-8);
        }
    }
}

#[test]
fn a_layer_keeps_its_distance_from_the_lane_where_it_reads_another_recording() {
    let mut document = document(item(0.25, ClockMap::SAME), 0.0);
    let other = RecordingId(1);
    let late = RecordingItem {
        name: "Other".into(),
        path: "/data/other.csv".into(),
        ..item(4.5, ClockMap { a: 1.0, b: 2.0 })
    };
    let mut edit = Edit::Recording {
        id: other,
        recording: Some(Arc::new(late)),
    };
    document.apply(&mut edit).unwrap();
    let played = Played {
        start: 1.0,
        ..Played::from_start(RECORDING)
    };
    let recordings = document.recordings();
    assert_eq!(played.of(RECORDING, recordings), played);
    let next = played.of(other, recordings);
    assert_eq!((next.recording, next.start), (other, 5.25));
    assert_eq!(next.of(RECORDING, recordings), played);
}

#[test]
fn without_a_change_of_the_clock_starts_mean_what_they_did_to_the_bit() {
    for first in [0.0, 0.1, -7.3, 1.7e9] {
        let same = item(first, ClockMap::SAME);
        let own = item(first, same.first_clock());
        for (start, secs) in [(0.0, 0.3), (0.1, 0.7), (-2.7, 3.3)] {
            let played = Played {
                start,
                ..Played::from_start(RECORDING)
            };
            let expected: f64 = first + (secs - start);
            for item in [&same, &own] {
                let time = played.time(item, moment(secs));
                assert_eq!(time.to_bits(), expected.to_bits(), "{first} {start} {secs}");
            }
            // The times at which samples bend the baked course are found the other way round.
            let moved = item(
                first,
                ClockMap {
                    a: 1.01,
                    b: own.clock.b + 0.4,
                },
            );
            let back = played.in_clip(&moved, played.time(&moved, moment(secs)));
            assert!((back - secs).abs() < 1e-6, "{back} {secs}");
        }
    }
}
