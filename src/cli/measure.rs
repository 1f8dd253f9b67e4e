//! `sinew measure`: every metric of a pose, a time or a whole clip.

use super::args::MeasureArgs;
use super::measuring::{Measured, Measurer, Places, Sample, VertexPlace, moments};
use super::{Failure, centres, load, scene};
use crate::deform::DeformStack;
use crate::deform::diagnostics::{Folds, Metric, Summary, Volume};
use crate::document::{Document, InstanceId};
use crate::finding::counted;
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::Write;
use std::process::ExitCode;

#[derive(Serialize)]
struct Report {
    file: String,
    /// The body, individual or what-if; absent for the template.
    #[serde(skip_serializing_if = "Option::is_none")]
    body: Option<&'static str>,
    /// The stack that the difference compares with.
    against: String,
    clip: Option<String>,
    times: Vec<f64>,
    instances: Vec<InstanceReport>,
}

#[derive(Serialize)]
struct InstanceReport {
    node: u32,
    name: String,
    mesh: String,
    skinned: bool,
    points: usize,
    faces: usize,
    stack: std::sync::Arc<DeformStack>,
    /// Whether the mesh is closed; otherwise volumes are those of its closed parts, if any.
    closed: bool,
    /// The worst over all times.
    metrics: Vec<MetricReport>,
    folds: WorstFolds,
    volume: VolumeWorst,
    frames: Vec<Frame>,
}

#[derive(Serialize)]
struct MetricReport {
    metric: &'static str,
    unit: &'static str,
    max: Extreme,
    min: Extreme,
    p99: f32,
    p01: f32,
    rms: f32,
}

/// A value, `null` where it is not finite, with its time and vertex.
#[derive(Clone, Serialize)]
struct Extreme {
    value: f32,
    #[serde(skip_serializing_if = "Option::is_none")]
    time: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    vertex: Option<VertexPlace>,
}

#[derive(Serialize)]
struct WorstFolds {
    #[serde(flatten)]
    folds: Folds,
    #[serde(skip_serializing_if = "Option::is_none")]
    time: Option<f64>,
    /// How far a point lies beyond the bisecting plane of its two bones, metres.
    deepest_past_bisector: Option<Extreme>,
}

/// The largest decrease and increase of volume.
#[derive(Serialize)]
struct VolumeWorst {
    /// `null`: open, or not finite.
    change: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    time: Option<f64>,
    /// Each closed or open part by its first vertex.
    parts: Vec<PartReport>,
    /// Approximate: faces are split among bones by weight.
    bones_approximate: Vec<BoneReport>,
}

#[derive(Serialize)]
struct PartReport {
    first_vertex: Option<VertexPlace>,
    faces: usize,
    rest_m3: Option<f64>,
    change: Option<f64>,
}

#[derive(Serialize)]
struct BoneReport {
    bone: String,
    rest_m3: f64,
    change: Option<f64>,
}

#[derive(Serialize)]
struct Frame {
    #[serde(skip_serializing_if = "Option::is_none")]
    time: Option<f64>,
    metrics: BTreeMap<&'static str, FrameMetric>,
    folded_faces: usize,
    volume_change: Option<f64>,
}

#[derive(Serialize)]
struct FrameMetric {
    max: f32,
    min: f32,
    p99: f32,
    p01: f32,
    rms: f32,
}

pub(crate) fn run(args: &MeasureArgs, out: &mut dyn Write) -> Result<ExitCode, Failure> {
    let mut loaded = load::load(&args.file)?;
    let body = args.body.apply(&mut loaded.document)?;
    // The stack to compare with may be the project's own: copied before the flags change it.
    let own = loaded.document.clone();
    scene::apply_stack(&mut loaded.document, &args.stack)?;
    let moments = moments(&loaded, &args.pose, args.rate)?;
    let document = &loaded.document;
    if document.instances().is_empty() {
        return Err(Failure::Input(format!(
            "{} has no mesh in its scene.",
            args.file.display()
        )));
    }
    let cooks = centres::find([document, &args.against.document(&own)]);
    let mut measurer = Measurer::new(&own, &args.against, &cooks);
    let mut samples: BTreeMap<InstanceId, Vec<Sample>> = BTreeMap::new();
    for moment in &moments {
        for (id, sample) in measurer.sample(document, moment.posed.at()) {
            samples.entry(id).or_default().push(sample);
        }
    }
    let mut places = Places::default();
    let report = Report {
        file: args.file.display().to_string(),
        body: body.name,
        against: args.against.name.clone(),
        clip: args.pose.clip.clone(),
        times: moments.iter().filter_map(|m| m.time_secs).collect(),
        instances: samples
            .iter()
            .map(|(&id, samples)| instance_report(document, id, &moments, samples, &mut places))
            .collect(),
    };
    if args.json {
        serde_json::to_writer_pretty(&mut *out, &report).map_err(Failure::input)?;
        writeln!(out)?;
    } else {
        print(&report, out)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn instance_report(
    document: &Document,
    id: InstanceId,
    moments: &[Measured],
    samples: &[Sample],
    places: &mut Places,
) -> InstanceReport {
    let instance = &document.instances()[&id];
    let mesh = &document.meshes()[&instance.mesh].geometry;
    let skeleton = document.skeleton();
    let time = |i: usize| moments.get(i).and_then(|m| m.time_secs);
    let metrics = Metric::ALL.into_iter().filter_map(|metric| {
        let of = |s: &Sample| s.metrics.iter().find(|(m, _)| *m == metric).map(|m| m.1);
        let all: Vec<Summary> = samples.iter().filter_map(of).collect();
        if all.iter().all(|s| s.n == 0) {
            return None;
        }
        let by = |better: fn(f32, f32) -> bool, value: fn(&Summary) -> f32| {
            (0..all.len())
                .reduce(|best, next| {
                    if better(value(&all[next]), value(&all[best])) {
                        next
                    } else {
                        best
                    }
                })
                .unwrap_or(0)
        };
        let (high, low) = (by(|a, b| a > b, |s| s.max), by(|a, b| a < b, |s| s.min));
        let mut extreme = |i: usize, value: f32, point: Option<u32>| Extreme {
            value,
            time: time(i),
            vertex: point.and_then(|p| places.of(document, id, p)),
        };
        let fold = |value: fn(&Summary) -> f32, pick: fn(f32, f32) -> f32| {
            all.iter().map(value).reduce(pick).unwrap_or(0.0)
        };
        Some(MetricReport {
            metric: metric.key(),
            unit: metric.unit(),
            max: extreme(high, all[high].max, all[high].max_point),
            min: extreme(low, all[low].min, all[low].min_point),
            p99: fold(|s| s.p99, f32::max),
            p01: fold(|s| s.p01, f32::min),
            rms: fold(|s| s.rms, f32::max),
        })
    });
    let metrics: Vec<MetricReport> = metrics.collect();
    let most = |value: &dyn Fn(&Sample) -> f64| {
        (0..samples.len())
            .reduce(|best, next| {
                if value(&samples[next]) > value(&samples[best]) {
                    next
                } else {
                    best
                }
            })
            .unwrap_or(0)
    };
    let folded = most(&|s| s.folds.faces as f64);
    let deep = most(&|s| s.folds.deepest);
    let deepest_past_bisector = samples[deep].folds.deepest_point.map(|point| Extreme {
        value: samples[deep].folds.deepest as f32,
        time: time(deep),
        vertex: places.of(document, id, point),
    });
    let change = |s: &Sample| s.volume.closed_parts.change();
    let swollen = most(&|s| change(s).map_or(0.0, f64::abs));
    let volume = &samples[swollen].volume;
    let joints = instance.skin.and_then(|s| document.skins().get(&s));
    InstanceReport {
        node: id.0,
        name: skeleton.label(instance.joint),
        mesh: mesh.name.clone(),
        skinned: instance.skin.is_some(),
        points: mesh.n_points(),
        faces: mesh.triangles.len(),
        stack: document.meshes()[&instance.mesh].stack.clone(),
        closed: volume.is_closed,
        metrics,
        folds: WorstFolds {
            folds: samples[folded].folds,
            time: time(folded),
            deepest_past_bisector,
        },
        volume: VolumeWorst {
            change: change(&samples[swollen]),
            time: time(swollen),
            parts: volume
                .parts
                .iter()
                .map(|part| PartReport {
                    first_vertex: places.of(document, id, part.first_point),
                    faces: part.n_faces,
                    rest_m3: match part.volume {
                        Volume::Open => None,
                        Volume::Closed { rest, .. } => Some(rest),
                    },
                    change: part.volume.change(),
                })
                .collect(),
            bones_approximate: volume
                .joints
                .iter()
                .map(|share| BoneReport {
                    bone: joints
                        .and_then(|s| s.joints.get(share.joint as usize))
                        .map_or_else(String::new, |&j| skeleton.label(j)),
                    rest_m3: share.rest,
                    change: share.change,
                })
                .collect(),
        },
        frames: samples
            .iter()
            .enumerate()
            .map(|(i, sample)| Frame {
                time: time(i),
                metrics: sample
                    .metrics
                    .iter()
                    .filter(|(_, s)| s.n > 0)
                    .map(|(metric, s)| {
                        let values = FrameMetric {
                            max: s.max,
                            min: s.min,
                            p99: s.p99,
                            p01: s.p01,
                            rms: s.rms,
                        };
                        (metric.key(), values)
                    })
                    .collect(),
                folded_faces: sample.folds.faces,
                volume_change: change(sample),
            })
            .collect(),
    }
}

fn print(report: &Report, out: &mut dyn Write) -> std::io::Result<()> {
    write!(out, "{}", report.file)?;
    if let Some(body) = report.body {
        write!(out, ", {body}")?;
    }
    match (&report.clip, &report.times[..]) {
        (Some(clip), [first, .., last]) => writeln!(
            out,
            ", clip {clip}, {first:.3} - {last:.3} s in {} poses: the worst of all",
            report.times.len()
        )?,
        (Some(clip), [time]) => writeln!(out, ", clip {clip} at {time:.3} s")?,
        _ => writeln!(out)?,
    }
    for instance in &report.instances {
        writeln!(
            out,
            "\n\"{}\" (node {}), {}, {}",
            instance.name,
            instance.node,
            counted(instance.points, "vertex"),
            counted(instance.faces, "face")
        )?;
        print_metrics(instance, &report.against, out)?;
        print_volume(&instance.volume, instance.closed, out)?;
    }
    Ok(())
}

fn print_metrics(
    instance: &InstanceReport,
    against: &str,
    out: &mut dyn Write,
) -> std::io::Result<()> {
    let at = |extreme: &Extreme| {
        let time = extreme.time.map(|t| format!("at {t:.3} s, "));
        let vertex = extreme.vertex.as_ref().map(ToString::to_string);
        format!("{}{}", time.unwrap_or_default(), vertex.unwrap_or_default())
    };
    writeln!(
        out,
        "  {:<22} {:>16} {:>16} {:>16}  where",
        "", "largest", "99th percentile", "RMS"
    )?;
    let mut line = |label: &str, worst: String, p99: String, rms: String, place: String| {
        writeln!(
            out,
            "  {label:<22} {worst:>16} {p99:>16} {rms:>16}  {place}"
        )
    };
    for row in &instance.metrics {
        let Some(metric) = Metric::of_key(row.metric) else {
            continue;
        };
        let label = match metric {
            Metric::Difference => format!("Difference from {against}"),
            _ => metric.label().to_owned(),
        };
        if metric == Metric::FoldOver {
            continue;
        }
        let format = |v: f32| metric.format(v);
        line(
            &label,
            format(row.max.value),
            format(row.p99),
            format(row.rms),
            at(&row.max),
        )?;
        if metric.range(1.0).is_diverging() {
            line(
                "",
                format(row.min.value),
                format(row.p01),
                String::new(),
                at(&row.min),
            )?;
        }
    }
    let folds = &instance.folds.folds;
    let time = instance.folds.time.filter(|_| folds.faces > 0);
    line(
        "Folded faces",
        folds.faces.to_string(),
        String::new(),
        format!("{:.2} % of area", 100.0 * folds.area_share),
        time.map_or_else(String::new, |t| format!("at {t:.3} s")),
    )?;
    if let Some(deepest) = &instance.folds.deepest_past_bisector {
        line(
            "Beyond the bisector",
            Metric::Difference.format(deepest.value),
            String::new(),
            String::new(),
            at(deepest),
        )?;
    }
    Ok(())
}

fn print_volume(volume: &VolumeWorst, closed: bool, out: &mut dyn Write) -> std::io::Result<()> {
    let percent = |change: f64| {
        if change.is_finite() {
            format!("{:+.2} %", 100.0 * change)
        } else {
            "not finite".to_owned()
        }
    };
    let Some(change) = volume.change else {
        return writeln!(out, "  {:<22} {:>16}", "Volume", "open");
    };
    let n_closed = volume.parts.iter().filter(|p| p.change.is_some()).count();
    let scope = if closed {
        String::new()
    } else {
        format!(
            "  of {n_closed} closed parts; {} are open",
            volume.parts.len() - n_closed
        )
    };
    let time = volume
        .time
        .map_or_else(String::new, |t| format!("  at {t:.3} s"));
    writeln!(
        out,
        "  {:<22} {:>16}{time}{scope}",
        "Volume",
        percent(change)
    )?;
    let bones: Vec<_> = volume
        .bones_approximate
        .iter()
        .filter_map(|b| Some((b.bone.as_str(), b.change?)))
        .collect();
    if !bones.is_empty() {
        writeln!(out, "  Volume by bone, approximate:")?;
    }
    for (bone, change) in bones {
        writeln!(out, "    {bone:<20} {:>16}", percent(change))?;
    }
    Ok(())
}
