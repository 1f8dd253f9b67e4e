//! Reads animations as clips.

use super::buffers::Data;
use super::error::{Fault, ImportError, counted};
use super::findings::Findings;
use super::json::{At, List};
use super::nodes::joint_of_node;
use crate::document::repairs::is_unit;
use crate::document::{ClipId, RepairedKeys, Repairs};
use crate::finding::Finding;
use crate::skeleton::{Channel, Clip, Interpolation, JointId, Property};
use crate::task::Task;
use serde_json::Value;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

/// A longer list is not read as names of poses.
const MAX_POSE_NAMES: usize = 4096;

/// The memory of a channel besides its keyframes, bytes.
const CHANNEL_BYTES: u64 = 160;

/// The times and values of a channel, and what was repaired in them.
type Keys = (Arc<[f32]>, Arc<[f32]>, Option<RepairedKeys>);

/// Input accessor, output accessor, number of components per keyframe, and whether these are a rotation.
type KeySource = (usize, usize, (usize, bool));

/// The number of components per element, and all components of all elements.
type Numbers = (usize, Arc<[f32]>);

/// Decoded and validated data: many channels share their times, some their values.
#[derive(Default)]
struct Cache {
    decoded: HashMap<usize, Result<Numbers, Fault>>,
    keys: HashMap<KeySource, Result<Keys, Fault>>,
    /// Time accessors whose problems were reported.
    reported: HashSet<usize>,
}

/// Reads all animations; clip id = animation index. `n_targets` is each node's number of morph targets; `repairs` gets what
/// was repaired.
pub(super) fn read_all(
    data: &Data<'_>,
    n_targets: &[usize],
    task: &Task,
    repairs: &mut Repairs,
    findings: &mut Findings,
) -> Result<BTreeMap<ClipId, Arc<Clip>>, ImportError> {
    let n_clips = data.len("animations");
    let mut cache = Cache::default();
    let mut clips = BTreeMap::new();
    for i in 0..n_clips {
        task.step("Reading clips", 0.7 + 0.1 * i as f32 / n_clips as f32)?;
        let at = data.at("animations", i);
        let name = at.name(findings);
        let (channels, repaired) = channels(data, &at, n_targets, &mut cache, findings);
        let clip = Clip {
            name,
            channels,
            pose_names: pose_names(&at),
            ..Clip::default()
        };
        let id = ClipId(i as u32);
        clips.insert(id, Arc::new(clip));
        if !repaired.is_empty() {
            repairs.channels.insert(id, repaired);
        }
    }
    Ok(clips)
}

/// The names of the poses in a clip of poses: `extras.poses`, which Sinew writes. Other data under that name is none.
fn pose_names(at: &At<'_>) -> Vec<(f32, String)> {
    let Some(list) = at.value.pointer("/extras/poses").and_then(Value::as_array) else {
        return Vec::new();
    };
    let named = list.iter().filter_map(|entry| {
        let time = entry.get("time")?.as_f64()? as f32;
        let name = entry.get("name")?.as_str()?;
        time.is_finite().then(|| (time, name.to_owned()))
    });
    let mut names: Vec<(f32, String)> = named.take(MAX_POSE_NAMES).collect();
    names.sort_by(|a, b| a.0.total_cmp(&b.0));
    names
}

/// What was repaired in each channel of a clip.
type Repaired = HashMap<(JointId, Property), RepairedKeys>;

fn channels(
    data: &Data<'_>,
    at: &At<'_>,
    n_targets: &[usize],
    cache: &mut Cache,
    findings: &mut Findings,
) -> (Vec<Channel>, Repaired) {
    let lists = at
        .items("channels")
        .and_then(|channels| Ok((channels, at.items("samplers")?)));
    let (list, samplers) = match lists {
        Ok(lists) => lists,
        Err(fault) => {
            findings.push(fault.finding("The clip is empty."));
            return (Vec::new(), Repaired::new());
        }
    };
    let mut channels: Vec<Channel> = Vec::with_capacity(list.len());
    let mut repaired = Repaired::new();
    let mut left_out = 0;
    let mut index_of: HashMap<(JointId, Property), usize> = HashMap::new();
    for channel_at in list.iter() {
        let read = channel(data, &channel_at, &samplers, n_targets, cache, findings);
        let (channel, how) = match read {
            Ok(Some(read)) => read,
            Ok(None) => continue,
            Err(fault) => {
                if left_out == 0 {
                    findings.push(fault.finding("The channel was left out."));
                }
                left_out += 1;
                continue;
            }
        };
        let key = (channel.joint, channel.property);
        match how {
            Some(how) => repaired.insert(key, how),
            None => repaired.remove(&key),
        };
        if let Some(&earlier) = index_of.get(&key) {
            findings.push(Finding::warning(
                &channel_at.place,
                format!(
                    "{} animates the {} of node {} again; the last channel is used.",
                    channel_at.place,
                    channel.property.gltf_path(),
                    channel.joint.0
                ),
            ));
            channels[earlier] = channel;
            repaired.entry(key).or_insert(RepairedKeys::Duplicates);
        } else {
            index_of.insert(key, channels.len());
            channels.push(channel);
        }
    }
    // A truncated file loses hundreds of channels for one reason.
    if left_out > 1 {
        findings.push(Finding::error(
            &at.place,
            format!(
                "{} of the {} channels of {} were left out, the others for similar reasons.",
                left_out,
                list.len(),
                at.place
            ),
        ));
    }
    (channels, repaired)
}

/// Reads one channel, with what was repaired in it; `None` if it animates nothing that Sinew reads.
fn channel(
    data: &Data<'_>,
    at: &At<'_>,
    samplers: &List<'_>,
    n_targets: &[usize],
    cache: &mut Cache,
    findings: &mut Findings,
) -> Result<Option<(Channel, Option<RepairedKeys>)>, Fault> {
    let target = at.object("target")?.ok_or_else(|| at.lacks("target"))?;
    let property = match target.text("path") {
        Some("translation") => Property::Translation,
        Some("rotation") => Property::Rotation,
        Some("scale") => Property::Scale,
        Some("weights") => Property::MorphWeights,
        other => {
            let path = other.unwrap_or("nothing");
            findings.push(Finding::info(
                &at.place,
                format!("{} animates \"{path}\", which is not supported.", at.place),
            ));
            return Ok(None);
        }
    };
    // A channel without a node belongs to an extension (glTF 2.0, 3.11).
    let Some(node) = target.index("node", "nodes", n_targets.len())? else {
        return Ok(None);
    };
    let width = property.width(n_targets[node]);
    if width == 0 {
        return Err(Fault::new(
            target.path("path"),
            format!(
                "{} animates the morph targets of node {node}, which has none.",
                at.place
            ),
        ));
    }
    if property != Property::MorphWeights && data.at("nodes", node).get("matrix").is_some() {
        findings.push(Finding::warning(
            &at.place,
            format!(
                "{} animates node {node}, which has a matrix; the matrix was decomposed.",
                at.place
            ),
        ));
    }
    let sampler = &samplers.at(at.required_index("sampler", "samplers", samplers.len())?);
    let interpolation = match sampler.text("interpolation") {
        None | Some("LINEAR") => Interpolation::Linear,
        Some("STEP") => Interpolation::Step,
        Some("CUBICSPLINE") => Interpolation::CubicSpline,
        Some(other) => {
            findings.push(Finding::warning(
                sampler.path("interpolation"),
                format!(
                    "{} is \"{other}\", which does not exist; LINEAR is used.",
                    sampler.path("interpolation")
                ),
            ));
            Interpolation::Linear
        }
    };
    data.budget.charge(CHANNEL_BYTES, &at.place)?;
    let per_key = width
        * if interpolation == Interpolation::CubicSpline {
            3
        } else {
            1
        };
    let components = if property == Property::MorphWeights {
        1
    } else {
        width
    };
    let rotates = property == Property::Rotation && interpolation != Interpolation::CubicSpline;
    let layout = (components, per_key, rotates);
    let (times, values, repaired) = cache.keys(data, sampler, layout, findings)?;
    let channel = Channel {
        joint: joint_of_node(node),
        property,
        interpolation,
        times,
        values,
    };
    Ok(Some((channel, repaired)))
}

impl Cache {
    /// The keyframes of a sampler: `components` components per output element, `per_key` per keyframe; `rotates`: whether
    /// these are quaternions that players do not normalise.
    fn keys(
        &mut self,
        data: &Data<'_>,
        sampler: &At<'_>,
        (components, per_key, rotates): (usize, usize, bool),
        findings: &mut Findings,
    ) -> Result<Keys, Fault> {
        let (input, times) = self.decode(data, sampler, "input", 1)?;
        let (output, values) = self.decode(data, sampler, "output", components)?;
        let report = self.reported.insert(input);
        self.keys
            .entry((input, output, (per_key, rotates)))
            .or_insert_with(|| {
                let all = (times, values);
                let mut keys = keys(data, sampler, all, per_key, report, findings)?;
                if rotates && keys.2.is_none() && !keys.1.chunks(4).all(is_unit) {
                    keys.2 = Some(RepairedKeys::Lengths);
                }
                Ok(keys)
            })
            .clone()
    }

    /// The components of the accessor at `sampler.key`, which must have `width` components per element.
    fn decode(
        &mut self,
        data: &Data<'_>,
        sampler: &At<'_>,
        key: &str,
        width: usize,
    ) -> Result<(usize, Arc<[f32]>), Fault> {
        let index = sampler.required_index(key, "accessors", data.len("accessors"))?;
        let decoded = self.decoded.entry(index).or_insert_with(|| {
            let elements = data.accessor_at(index, None)?;
            Ok((elements.width, elements.flat_floats(data)?.into()))
        });
        let (found, numbers) = decoded.clone()?;
        if found != width {
            return Err(Fault::new(
                sampler.path(key),
                format!(
                    "{} has {found} components per element, but {width} are required.",
                    sampler.path(key)
                ),
            ));
        }
        Ok((index, numbers))
    }
}

/// Validates the keyframes: valid ones are unchanged, so that the arrays stay shared; otherwise they are sorted, and
/// those that are not finite are dropped.
fn keys(
    data: &Data<'_>,
    sampler: &At<'_>,
    (times, values): (Arc<[f32]>, Arc<[f32]>),
    per_key: usize,
    report: bool,
    findings: &mut Findings,
) -> Result<Keys, Fault> {
    let place = &sampler.place;
    let n_keys = times.len().min(values.len() / per_key);
    if n_keys == 0 {
        return Err(Fault::new(
            place,
            format!(
                "{place} has {} and {} for them, which gives no keyframe.",
                counted(times.len(), "time", "times"),
                counted(values.len(), "number", "numbers")
            ),
        ));
    }
    if values.len() != times.len() * per_key {
        findings.push(Finding::error(
            place,
            format!(
                "{place} has {} for {} of {per_key}; the surplus was left out.",
                counted(values.len(), "number", "numbers"),
                counted(times.len(), "keyframe", "keyframes")
            ),
        ));
    }
    if report && times.iter().any(|&t| t < 0.0) {
        findings.push(Finding::warning(
            sampler.path("input"),
            format!("{} has keyframes before time 0.", sampler.path("input")),
        ));
    }
    let is_finite = |k: &usize| {
        times[*k].is_finite()
            && values[k * per_key..(k + 1) * per_key]
                .iter()
                .all(|v| v.is_finite())
    };
    let all_finite = (0..n_keys).all(|k| is_finite(&k));
    let sorted = times[..n_keys].is_sorted();
    if all_finite && sorted && n_keys == times.len() && values.len() == n_keys * per_key {
        return Ok((times, values, None));
    }
    let mut order: Vec<usize> = (0..n_keys).filter(is_finite).collect();
    if order.len() < n_keys {
        findings.push(Finding::error(
            place,
            format!(
                "{place} has {} not finite and left out.",
                counted(
                    n_keys - order.len(),
                    "keyframe that is",
                    "keyframes that are"
                )
            ),
        ));
    }
    if order.is_empty() {
        return Err(Fault::new(
            place,
            format!("No keyframe of {place} is finite."),
        ));
    }
    if !order.is_sorted_by(|&a, &b| times[a] <= times[b]) {
        if report {
            findings.push(Finding::error(
                sampler.path("input"),
                format!("The keyframe times of {place} do not ascend; the keyframes were sorted."),
            ));
        }
        order.sort_by(|&a, &b| times[a].total_cmp(&times[b]));
    }
    data.budget
        .charge(4 * (order.len() * (per_key + 1)) as u64, place)?;
    let sorted_times = order.iter().map(|&k| times[k]).collect();
    let sorted_values = order
        .iter()
        .flat_map(|&k| &values[k * per_key..(k + 1) * per_key])
        .copied()
        .collect();
    Ok((sorted_times, sorted_values, Some(RepairedKeys::Keys)))
}
