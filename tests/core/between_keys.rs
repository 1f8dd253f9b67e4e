//! The error of corrected files between keyframes and on both sides of steps, measured apart from the export's own check.

use crate::bake::{corrected, with_stack};
use crate::bake_sources::{add_morphs, bend, channel, clip, tube, turn};
use crate::export_models::reopen;
use crate::gltf_builder::Gltf;
use glam::Vec3;
use sinew::bake::static_shapes::{StaticPose, static_shapes};
use sinew::bake::{BakeMode, BakeOptions};
use sinew::deform::DeformStack;
use sinew::document::{ClipId, Document};
use sinew::export::{CorrectionReport, Exported};
use sinew::io::import_bytes;
use sinew::math::Worse;
use sinew::skeleton::{Channel, Interpolation};
use sinew::task::Task;

const CLIP: ClipId = ClipId(0);
/// The rate of a clip with a STEP keyframe in every frame, Hz.
const RATE: f32 = 30.0;

/// A document of a tube with its corrected file.
pub(crate) struct Corrected {
    pub(crate) document: Document,
    pub(crate) exported: Exported,
    pub(crate) report: CorrectionReport,
    /// The file read again, deformed as players do.
    pub(crate) read: Document,
}

impl Corrected {
    pub(crate) fn new(gltf: Gltf, stack: &DeformStack) -> Self {
        Self::with(gltf, stack, BakeOptions::default())
    }

    /// As morph frames.
    fn framed(gltf: Gltf, stack: &DeformStack) -> Self {
        let options = BakeOptions {
            mode: BakeMode::Frames,
            ..BakeOptions::default()
        };
        Self::with(gltf, stack, options)
    }

    fn with(gltf: Gltf, stack: &DeformStack, options: BakeOptions) -> Self {
        let imported = import_bytes(gltf.glb(), None, None, &Task::new()).unwrap();
        let document = with_stack(Document::new(imported.parts).unwrap(), stack);
        let (exported, report) = corrected(&document, options);
        println!("{}", report.summary());
        Self {
            read: with_stack(reopen(&exported), &DeformStack::lbs()),
            document,
            exported,
            report,
        }
    }

    /// The largest distance of a vertex in the file from the same vertex of the document, percent of the diagonal.
    pub(crate) fn error_at(&self, time: f64) -> f64 {
        self.error_in(CLIP, time)
    }

    /// As [`Self::error_at`], for any clip.
    pub(crate) fn error_in(&self, clip: ClipId, time: f64) -> f64 {
        let still = StaticPose {
            clip: Some(clip),
            time,
        };
        let vertices = |document: &Document| -> Vec<Vec3> {
            let pose = still.pose(document).unwrap();
            let shapes = static_shapes(document, &pose, &Task::new()).unwrap();
            let of_instances = shapes.iter().flat_map(|(id, shape)| {
                let mesh = &document.meshes()[&document.instances()[id].mesh].geometry;
                let points = mesh.point_of_vertex.iter();
                points.map(|&p| shape.positions[p as usize])
            });
            of_instances.collect()
        };
        let (seen, shown) = (vertices(&self.document), vertices(&self.read));
        assert_eq!(seen.len(), shown.len());
        let distances = seen.iter().zip(&shown).map(|(a, b)| a.distance(*b));
        100.0 * f64::from(distances.fold(0.0, f32::worse)) / self.report.diagonal
    }

    /// The largest error at `n` even times of the clip that lie in no jump of the file.
    pub(crate) fn largest(&self, n: usize) -> f64 {
        let clip = &self.document.clips()[&CLIP];
        let (start, end) = (f64::from(clip.start_secs()), f64::from(clip.end_secs()));
        let times = (0..n).map(|i| start + (end - start) * i as f64 / (n - 1) as f64);
        let jumps = self.jumps();
        let times = times.filter(|t| jumps.iter().all(|(from, to)| t <= from || t >= to));
        let errors: Vec<(f64, f64)> = times.map(|t| (self.error_at(t), t)).collect();
        let largest = errors.iter().map(|e| e.0).fold(0.0, f64::worse);
        let at = errors.iter().find(|e| e.0 >= largest);
        println!(
            "{at:?}, said {} in {} moments",
            self.report.max_percent, self.report.moments
        );
        largest
    }

    /// The intervals in which linear tracks of the file pass from one side of a jump to the other.
    pub(crate) fn jumps(&self) -> Vec<(f64, f64)> {
        let channels = self.read.clips()[&CLIP].channels.iter();
        let linear = channels.filter(|c| c.interpolation == Interpolation::Linear);
        let mut keys: Vec<f32> = linear.flat_map(|c| c.times.iter().copied()).collect();
        keys.sort_by(f32::total_cmp);
        keys.dedup();
        let pairs = keys.windows(2);
        let pairs = pairs.map(|pair| (f64::from(pair[0]), f64::from(pair[1])));
        pairs.filter(|(from, to)| to - from < 0.0026).collect()
    }

    /// Channels that the source does not have.
    fn new_channels(&self) -> Vec<&Channel> {
        let own = &self.document.clips()[&CLIP].channels;
        let all = self.read.clips()[&CLIP].channels.iter();
        all.filter(|channel| !own.contains(channel)).collect()
    }
}

/// A tube whose second joint bends and turns back within a second, a STEP keyframe a frame.
fn stepped() -> Gltf {
    let mut gltf = tube(2);
    let clip = clip(&mut gltf, "Stepped");
    let n = RATE as usize;
    let times: Vec<f32> = (0..=n).map(|i| i as f32 / RATE).collect();
    let degrees = times
        .iter()
        .map(|t| 110.0 * (std::f32::consts::PI * t).sin());
    let degrees: Vec<f32> = degrees.collect();
    turn(&mut gltf, clip, 2, "STEP", &times, &degrees);
    // As exporters write it: what does not move has a track all the same.
    channel(
        &mut gltf,
        clip,
        2,
        "scale",
        "LINEAR",
        &[0.0, 1.0],
        &[1.0; 6],
    );
    gltf
}

#[test]
fn a_clip_of_steps_is_exact_on_both_sides_of_each() {
    for stack in [DeformStack::dqs(), DeformStack::default()] {
        let made = Corrected::new(stepped(), &stack);
        let new = made.new_channels();
        assert!(!new.is_empty());
        assert!(new.iter().all(|c| c.interpolation == Interpolation::Step));
        let report = &made.report;
        assert!(
            report.met && report.jump_max_percent <= report.max_percent,
            "{report:?}"
        );
        // A millisecond before each step, where linear tracks would be half way.
        let mut largest = made.largest(241);
        for i in 1..=RATE as usize {
            largest = largest.worse(made.error_at(f64::from(i as f32 / RATE) - 0.001));
        }
        assert!(
            largest <= 1.001 * report.max_percent,
            "{largest} %: {report:?}"
        );
    }
}

#[test]
fn a_step_among_moving_tracks_is_measured_apart() {
    let mut gltf = stepped();
    let scales = [[1.0; 3], [1.0, 1.05, 1.0]].concat();
    channel(&mut gltf, 0, 1, "scale", "LINEAR", &[0.0, 1.0], &scales);
    let stack = DeformStack::dqs();
    for made in [
        Corrected::new(gltf.clone(), &stack),
        Corrected::framed(gltf, &stack),
    ] {
        let report = &made.report;
        assert!(
            report.met && report.jump_max_percent > report.tolerance_percent,
            "{report:?}"
        );
        let told = made.exported.report.findings.iter();
        let took = format!("takes up to {} ms", report.mode.jump_ms());
        let told: Vec<_> = told.filter(|f| f.message.contains(&took)).collect();
        let said = format!("{:.4} %", report.jump_max_percent);
        assert!(
            told.len() == 1 && told[0].message.contains(&said),
            "{told:?}"
        );
        let steps = (1..=RATE as usize).map(|i| f64::from(i as f32 / RATE));
        for step in steps {
            // Half way, and in the last moment before the step.
            for early in [1e-3, 1e-7] {
                let within = made.error_at(step - early);
                assert!(
                    within <= report.jump_max_percent + 1e-4,
                    "{within} % {early} s before {step}"
                );
            }
            let outside = made.error_at(step - 1.25e-3 * report.mode.jump_ms());
            assert!(outside <= report.tolerance_percent, "{outside} % at {step}");
        }
    }
}

/// A tube whose second joint moves by `far`, metres, and back along X, from each of some times to the next. Within each
/// segment it is `off(i)` * u^2 (1 - u) beside the line along Y, and `along` * u (1 - u) (1 - 2 u) before it along X, where u
/// is the share of the segment.
fn beside_lines(times: &[f32], far: f32, off: impl Fn(usize) -> f32, along: f32) -> Gltf {
    let mut gltf = tube(2);
    let clip = clip(&mut gltf, "Lines");
    let n = times.len() - 1;
    let mut values = Vec::new();
    for i in 0..=n {
        // The out-tangent or in-tangent of a segment.
        let tangent = |segment: usize, off: f32| {
            let secs = times[segment + 1] - times[segment];
            let by = if segment.is_multiple_of(2) { far } else { -far };
            [(by + along) / secs, -off / secs, 0.0]
        };
        let before = i.checked_sub(1).map(|s| tangent(s, off(s)));
        let after = (i < n).then(|| tangent(i, 0.0));
        let place = [if i.is_multiple_of(2) { 0.0 } else { far }, 1.0, 0.0];
        values.extend([before.unwrap_or_default(), place, after.unwrap_or_default()].concat());
    }
    channel(
        &mut gltf,
        clip,
        2,
        "translation",
        "CUBICSPLINE",
        times,
        &values,
    );
    gltf
}

/// At the keyframes and in the middle between them everything lies on one line: only the check sees what is beside it.
#[test]
fn what_the_check_finds_between_frames_becomes_frames() {
    let made = Corrected::framed(
        beside_lines(&[0.0, 1.0], 0.2, |_| 0.0, 0.065),
        &DeformStack::dqs(),
    );
    let report = &made.report;
    assert!(report.met && report.morph_targets > 1, "{report:?}");
    let (largest, said) = (made.largest(481), report.max_percent);
    assert!(largest <= report.tolerance_percent, "{largest} %");
    assert!(largest <= 1.01 * said, "{largest} % instead of {said} %");
}

/// Where the skin jumps, as two of its joints pass 180 degrees, frames narrow the jump down to two milliseconds.
#[test]
fn frames_narrow_jumps_of_the_skin_down() {
    let mut gltf = tube(3);
    let clip = bend(&mut gltf, "Linear", "LINEAR");
    let (times, degrees) = ([0.0, 0.13, 0.61, 1.0], [0.0, -70.0, 95.0, 10.0]);
    turn(&mut gltf, clip, 3, "LINEAR", &times, &degrees);
    let made = Corrected::framed(gltf, &DeformStack::dqs());
    let report = &made.report;
    assert!(
        report.met && report.jump_max_percent > report.tolerance_percent,
        "{report:?}"
    );
    let (largest, said) = (made.largest(960), report.max_percent);
    assert!(largest <= 1.05 * said, "{largest} % instead of {said} %");
}

/// Two pairs of joints pass 180 degrees within two milliseconds, and one does in the last moment of the clip.
#[test]
fn jumps_close_to_each_other_and_to_the_end_are_followed() {
    let mut gltf = tube(4);
    let clip = clip(&mut gltf, "Far");
    let times = [0.0, 1.0];
    // Past 180 degrees at 0.5 and 0.5012, and 0.05 ms before the end.
    for (joint, from, to) in [
        (2, 100.0, 260.0),
        (3, -99.808, -259.808),
        (4, 30.0, 180.0075),
    ] {
        turn(&mut gltf, clip, joint, "LINEAR", &times, &[from, to]);
    }
    let made = Corrected::new(gltf, &DeformStack::dqs());
    let report = &made.report;
    assert!(report.met && report.jump_max_percent > 1.0, "{report:?}");
    let jumps = made.jumps().into_iter();
    let jumps: Vec<_> = jumps.filter(|(from, to)| to - from < 0.0003).collect();
    for time in [0.5, 0.5012, 0.99995] {
        let is_there = jumps.iter().any(|(from, to)| (*from..*to).contains(&time));
        assert!(is_there, "{time}: {jumps:?}");
    }
    for time in [0.4995, 0.4998, 0.5002, 0.501, 0.5014, 0.502, 0.9998, 1.0] {
        let off = made.error_at(time);
        assert!(off <= report.tolerance_percent, "{off} % at {time} s");
    }
}

/// Adds a spline of quaternions, each with both its tangents.
fn turning(gltf: &mut Gltf, clip: usize, joint: usize, times: &[f32], values: &[f32]) {
    channel(gltf, clip, joint, "rotation", "CUBICSPLINE", times, values);
}

#[test]
fn the_error_between_the_times_of_the_check_is_hardly_larger() {
    let spline = || {
        let mut gltf = tube(3);
        let clip = bend(&mut gltf, "Spline", "CUBICSPLINE");
        let values = [0.0, 3.0, -2.0].map(|w: f32| {
            let (s, c) = (0.4 * w).sin_cos();
            [[0.0, 0.0, w, 0.0], [s, 0.0, 0.0, c], [0.0, 0.0, -w, 0.0]].concat()
        });
        let times = [0.0, 0.45, 1.0];
        turning(&mut gltf, clip, 3, &times, &values.concat());
        gltf
    };
    let linear = || {
        let mut gltf = tube(3);
        let clip = bend(&mut gltf, "Linear", "LINEAR");
        turn(
            &mut gltf,
            clip,
            3,
            "LINEAR",
            &[0.0, 0.13, 0.61, 1.0],
            &[0.0, -70.0, 95.0, 10.0],
        );
        gltf
    };
    for gltf in [spline(), linear()] {
        for stack in [DeformStack::dqs(), DeformStack::default()] {
            let made = Corrected::new(gltf.clone(), &stack);
            let largest = made.largest(480);
            let said = made.report.max_percent;
            assert!(largest <= 1.05 * said, "{largest} % instead of {said} %");
        }
    }
}

/// A turn by 360 degrees jumps at 180, where the shape of linear blend skinning collapses: morph targets have to grow without
/// bound next to it.
#[test]
fn a_jump_is_followed_on_both_sides() {
    let spin = || {
        let mut gltf = tube(3);
        let clip = clip(&mut gltf, "Spin");
        let n = RATE as usize;
        let times: Vec<f32> = (0..=n).map(|i| i as f32 / RATE).collect();
        let degrees: Vec<f32> = times.iter().map(|t| 360.0 * t).collect();
        turn(&mut gltf, clip, 2, "LINEAR", &times, &degrees);
        gltf
    };
    // Towards the negative of a similar quaternion a spline passes close to 0, and makes most of a turn within milliseconds.
    let spline = || {
        let mut gltf = tube(3);
        let clip = clip(&mut gltf, "Spline");
        let values = [(0.1f32, 1.0), (0.2, -1.0), (0.2, -1.0)].map(|(half, sign)| {
            let (s, c) = half.sin_cos();
            [[0.0; 4], [sign * s, 0.0, 0.0, sign * c], [0.0; 4]].concat()
        });
        let times = [0.0, 0.7, 1.0];
        turning(&mut gltf, clip, 2, &times, &values.concat());
        gltf
    };
    let (whole, dqs) = (DeformStack::default(), DeformStack::dqs());
    for (gltf, stack, what) in [(spin(), whole, "spin"), (spline(), dqs, "spline")] {
        let made = Corrected::new(gltf, &stack);
        let report = &made.report;
        let told = made.exported.report.findings.iter();
        let jumps = told.filter(|f| f.message.contains("The skin jumps"));
        assert!(jumps.count() > 0, "{what}");
        // Both miss the tolerance by little. Without helper joints beside the jump it was many percent.
        let (largest, said) = (made.largest(480), report.max_percent);
        assert!(said <= 2.0 * report.tolerance_percent, "{what}: {said} %");
        assert!(
            largest <= 1.05 * said,
            "{what}: {largest} % instead of {said} %"
        );
    }
}

/// The baked track of a mesh holds the source's weights, too: a spline with long curved segments gets more keyframes.
#[test]
fn splines_of_own_morph_targets_play_between_their_keyframes() {
    let mut gltf = tube(2);
    add_morphs(&mut gltf, true);
    let clip = bend(&mut gltf, "Spline", "LINEAR");
    // In-tangent, value and out-tangent of two targets at each of two keyframes.
    let values = [
        [0.0, 0.0, 0.0, 0.0, 6.0, -4.0],
        [6.0, 5.0, 0.3, 0.8, 0.0, 0.0],
    ];
    let values = values.concat();
    channel(
        &mut gltf,
        clip,
        0,
        "weights",
        "CUBICSPLINE",
        &[0.0, 1.0],
        &values,
    );
    let corrected = Corrected::new(gltf, &DeformStack::dqs());
    assert!(corrected.report.max_percent <= 0.1);
    assert!(corrected.largest(61) <= 0.1);
}

/// Players leave a primitive without weights where it is, and so does Sinew: no correction may move it.
#[test]
fn a_primitive_without_weights_stays_where_it_is() {
    let mut gltf = tube(2);
    bend(&mut gltf, "Bend", "LINEAR");
    let primitives = gltf.json["meshes"][0]["primitives"].as_array_mut().unwrap();
    let mut other = primitives[0].clone();
    for attribute in ["JOINTS_0", "WEIGHTS_0"] {
        other["attributes"]
            .as_object_mut()
            .unwrap()
            .remove(attribute);
    }
    primitives.push(other);
    let corrected = Corrected::new(gltf, &DeformStack::dqs());
    assert!(corrected.report.max_percent <= 0.1);
    assert!(corrected.largest(31) <= 0.1);
}
