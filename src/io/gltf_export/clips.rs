//! Writes changed, added and removed clips as animations.
//!
//! A changed clip is patched channel by channel: unchanged channels keep their samplers and accessors, and so do
//! channels that Sinew does not read (pointers of extensions, targets without a node).

use super::error::GltfWriteError;
use super::helper_joints::Storage;
use super::json::{each, entry_mut, index, place};
use super::keys::{Keys, fit};
use super::nodes::{AddedNodes, make_animatable, node_of};
use super::patch::{NewAccessor, Patch};
use super::report::ExportReport;
use crate::bake::Baked;
use crate::document::{ClipId, Document, RepairedKeys, Repairs};
use crate::finding::Finding;
use crate::io::gltf_json::{ComponentType, channel as channel_object, path_of, value};
use crate::skeleton::{Channel, Clip, Interpolation, Property};
use crate::task::Task;
use ::gltf::json::accessor::Type;
use bytes::Bytes;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

/// Writes all changes of clips and those that are in `repairs`; `clips` are the clips of the file, which may also animate
/// `added` nodes.
pub(super) fn patch_clips(
    document: &Document,
    baked: Option<&Baked>,
    added: &AddedNodes,
    (clips, repairs): (&BTreeMap<ClipId, Arc<Clip>>, &Repairs),
    patch: &mut Patch,
    report: &mut ExportReport,
    task: &Task,
) -> Result<(), GltfWriteError> {
    let before = document.source_clips();
    let mut jobs = Vec::new();
    let mut gone: Vec<usize> = before
        .keys()
        .filter(|id| !clips.contains_key(id))
        .map(|id| id.0 as usize)
        .collect();
    for (id, clip) in clips {
        task.check()?;
        let source = before.get(id);
        let repaired = repairs.channels.get(id);
        if source.is_some_and(|source| source == clip) && repaired.is_none() {
            report.clips.push(*id);
            continue;
        }
        if let Some(repaired) = repaired {
            report.repaired(&clip.name, repaired.len());
        }
        let source = source.map(|source| (*id, source.as_ref()));
        let animation = prepare(
            (document, baked, added),
            clip,
            (source, repairs),
            patch,
            report,
            &mut jobs,
        )?;
        match animation {
            Some(_) => {
                report.n_clips_written += 1;
                report.clips.push(*id);
            }
            None => report.findings.push(Finding::warning(
                format!("clip \"{}\"", clip.name),
                "It has no keyframes, which glTF does not allow: it is not in the file.",
            )),
        }
        if let (None, Some((id, _))) = (animation, source) {
            gone.push(id.0 as usize);
        }
    }
    for &i in &gone {
        let animation = patch
            .json
            .get("animations")
            .and_then(|list| list.get(i))
            .cloned();
        for sampler in animation
            .iter()
            .flat_map(|animation| each(animation, "samplers"))
        {
            patch.release(index(sampler.get("input")));
            patch.release(index(sampler.get("output")));
        }
    }
    let n_jobs = jobs.len();
    for (done, job) in jobs.into_iter().enumerate() {
        task.step("Writing clips", done as f32 / n_jobs as f32)?;
        job.write(patch);
    }
    remove(&mut patch.json, gone.clone());
    report.n_clips_removed += gone.len();
    Ok(())
}

/// Removes animations; an empty array is invalid, so it is removed, too.
fn remove(json: &mut Value, mut gone: Vec<usize>) {
    gone.sort_unstable();
    let Some(root) = json.as_object_mut() else {
        return;
    };
    let Some(Value::Array(animations)) = root.get_mut("animations") else {
        return;
    };
    for &i in gone
        .iter()
        .rev()
        .filter(|&&i| i < animations.len())
        .collect::<Vec<_>>()
    {
        animations.remove(i);
    }
    if animations.is_empty() {
        root.shift_remove("animations");
    }
}

/// A sampler whose data is written after all old data is released.
struct Job {
    animation: usize,
    sampler: usize,
    /// The accessors in the source.
    old_input: Option<usize>,
    old_output: Option<usize>,
    /// Whether the times are unchanged, so that their accessor stays.
    keep_times: bool,
    keys: Keys,
    storage: Storage,
}

/// The node and the property that a channel animates.
type Target = (usize, Property);

/// The channels of a clip by target; the last of duplicates.
#[derive(Default)]
struct Targets<'a> {
    list: Vec<(Target, &'a Channel)>,
    at: HashMap<Target, usize>,
}

impl<'a> Targets<'a> {
    fn of(document: &Document, added: &AddedNodes, clip: &'a Clip) -> Self {
        let is_weights = |channel: &Channel| channel.property == Property::MorphWeights;
        Self::with(document, added, clip, |channel| {
            let node = added.meshes.get(&channel.joint).copied();
            node.filter(|_| is_weights(channel))
        })
    }

    /// The targets in the source.
    fn before(document: &Document, added: &AddedNodes, clip: &'a Clip) -> Self {
        Self::with(document, added, clip, |_| None)
    }

    fn with(
        document: &Document,
        added: &AddedNodes,
        clip: &'a Clip,
        moved: impl Fn(&Channel) -> Option<usize>,
    ) -> Self {
        let mut targets = Self::default();
        for channel in clip.channels.iter().filter(|c| c.property.is_of_gltf()) {
            let node = moved(channel).or_else(|| added.joints.get(&channel.joint).copied());
            let node = node.unwrap_or_else(|| node_of(document, channel.joint));
            let target = (node, channel.property);
            let next = targets.list.len();
            let at = *targets.at.entry(target).or_insert(next);
            if at == next {
                targets.list.push((target, channel));
            } else {
                targets.list[at].1 = channel;
            }
        }
        targets
    }

    fn get(&self, target: Target) -> Option<&'a Channel> {
        self.at.get(&target).map(|&i| self.list[i].1)
    }
}

/// Makes the channels of an animation those of `clip`; returns its index, or `None` if no channel is left.
fn prepare(
    (document, baked, added): (&Document, Option<&Baked>, &AddedNodes),
    clip: &Clip,
    (source, repairs): (Option<(ClipId, &Clip)>, &Repairs),
    patch: &mut Patch,
    report: &mut ExportReport,
    jobs: &mut Vec<Job>,
) -> Result<Option<usize>, GltfWriteError> {
    let wanted = Targets::of(document, added, clip);
    let before = source.map_or_else(Targets::default, |(_, source)| {
        Targets::before(document, added, source)
    });
    let (at, mut animation) = match source {
        None => (each(&patch.json, "animations").count(), Map::new()),
        Some((id, _)) => {
            let i = id.0 as usize;
            let entry = entry_mut(&mut patch.json, "animations", i);
            (
                i,
                entry
                    .cloned()
                    .ok_or(GltfWriteError::AnimationMissing { animation: i })?,
            )
        }
    };
    if source.is_none_or(|(_, source)| source.name != clip.name) {
        if clip.name.is_empty() {
            animation.shift_remove("name");
        } else {
            animation.insert("name".into(), clip.name.as_str().into());
        }
    }
    if source.is_none_or(|(_, source)| source.pose_names != clip.pose_names) {
        set_pose_names(&mut animation, &clip.pose_names);
    }
    let mut channels = take_list(&mut animation, "channels");
    let mut samplers = take_list(&mut animation, "samplers");
    let old_references = references(&samplers);
    let was_used = used_samplers(&channels, samplers.len());
    channels.retain(|channel| {
        target_of(channel).is_none_or(|t| wanted.get(t).is_some() || before.get(t).is_none())
    });
    // glTF allows one channel a target; of several that could be read, the last was.
    let is_repaired = |target: Target| {
        let source = source.zip(before.get(target));
        source.is_some_and(|((id, _), old)| {
            let repaired = repairs.of_channel(id, old.joint, old.property);
            repaired.is_some()
        })
    };
    keep_last(&mut channels, is_repaired);
    let found: HashMap<Target, usize> = channels
        .iter()
        .enumerate()
        .filter_map(|(c, channel)| Some((target_of(channel)?, c)))
        .collect();

    let first_job = jobs.len();
    for &(target, channel) in &wanted.list {
        let old = before.get(target);
        let repaired = source
            .zip(old)
            .and_then(|((id, _), old)| repairs.of_channel(id, old.joint, old.property));
        if old == Some(channel) && repaired.is_none() {
            continue;
        }
        let label = document.skeleton().label(channel.joint);
        let named = format!("clip \"{}\", bone \"{label}\"", clip.name);
        let Some(keys) = fit(channel, &named, &mut report.findings) else {
            continue;
        };
        let (node, property) = target;
        let Some(path) = path_of(property) else {
            continue;
        };
        let rest = document.rest_pose().locals.get(channel.joint.get());
        if property != Property::MorphWeights
            && rest.is_some_and(|rest| !make_animatable(&mut patch.json, node, rest))
        {
            report.findings.push(Finding::warning(
                named,
                "Its rest transform has shear, and players do not animate such a bone.",
            ));
        }
        let sampler = if let Some(&c) = found.get(&target) {
            own_sampler(&mut channels, c, &mut samplers)
        } else {
            samplers.push(json!({}));
            channels.push(value(&channel_object(samplers.len() - 1, node, path)));
            samplers.len() - 1
        };
        let Some(Value::Object(entry)) = samplers.get_mut(sampler) else {
            continue;
        };
        let old_input = index(entry.get("input"));
        let keep_times = repaired != Some(RepairedKeys::Keys)
            && old_input.is_some()
            && old.is_some_and(|old| old.times[..] == keys.times[..]);
        if !keep_times {
            entry.shift_remove("input");
        }
        let old_output = index(entry.shift_remove("output").as_ref());
        set_interpolation(entry, keys.interpolation);
        jobs.push(Job {
            animation: at,
            sampler,
            old_input,
            old_output,
            keep_times,
            keys,
            storage: Storage::of(document, baked, channel),
        });
    }
    let kept = drop_unused(&mut channels, &mut samplers, &was_used);
    for job in &mut jobs[first_job..] {
        job.sampler = kept.get(job.sampler).copied().unwrap_or(job.sampler);
    }
    let new_references = references(&samplers);
    for (&accessor, &n) in &old_references {
        for _ in new_references.get(&accessor).copied().unwrap_or(0)..n {
            patch.release(Some(accessor));
        }
    }
    for (&accessor, &n) in &new_references {
        for _ in old_references.get(&accessor).copied().unwrap_or(0)..n {
            patch.retain(accessor);
        }
    }
    let is_empty = channels.is_empty();
    if is_empty && source.is_none() {
        return Ok(None);
    }
    animation.insert("channels".into(), channels.into());
    animation.insert("samplers".into(), samplers.into());
    place(&mut patch.json, "animations", Some(at), animation);
    Ok((!is_empty).then_some(at))
}

/// Writes the names of the poses of a clip of poses as `extras.poses`; what else is in the extras stays.
fn set_pose_names(animation: &mut Map<String, Value>, names: &[(f32, String)]) {
    let list: Vec<Value> = names
        .iter()
        .map(|(time, name)| json!({"time": time, "name": name}))
        .collect();
    match animation.get_mut("extras").and_then(Value::as_object_mut) {
        Some(extras) if list.is_empty() => {
            extras.shift_remove("poses");
        }
        Some(extras) => {
            extras.insert("poses".into(), list.into());
        }
        None if list.is_empty() => {}
        None => {
            animation.insert("extras".into(), json!({"poses": list}));
        }
    }
}

/// Removes all channels of a target but the last one, of targets for which `applies`: an unreadable channel is none.
fn keep_last(channels: &mut Vec<Value>, applies: impl Fn(Target) -> bool) {
    let mut seen = HashSet::new();
    let mut is_kept = |target| seen.insert(target) || !applies(target);
    let mut kept: Vec<bool> = channels
        .iter()
        .rev()
        .map(|channel| target_of(channel).is_none_or(&mut is_kept))
        .collect();
    channels.retain(|_| kept.pop().unwrap_or(true));
}

impl Job {
    fn write(self, patch: &mut Patch) {
        let n_keys = self.keys.times.len();
        let input = (!self.keep_times).then(|| {
            let bound = |t: Option<&f32>| vec![f64::from(t.copied().unwrap_or(0.0)).to_bits()];
            patch.put_shared(NewAccessor {
                replaces: self.old_input,
                component: ComponentType::F32,
                kind: Type::Scalar,
                normalized: false,
                count: n_keys,
                bytes: Bytes::copy_from_slice(bytemuck::cast_slice(&self.keys.times)),
                target: None,
                bounds: Some((
                    bound(self.keys.times.first()),
                    bound(self.keys.times.last()),
                )),
            })
        });
        let (kind, width) = match self.keys.property {
            Property::Translation | Property::Scale => (Type::Vec3, 3),
            Property::Rotation => (Type::Vec4, 4),
            Property::MorphWeights | Property::Influence(_) => (Type::Scalar, 1),
        };
        let (component, normalized, bytes) = self.storage.encode(&self.keys.values);
        let output = patch.put_shared(NewAccessor {
            replaces: self.old_output,
            component,
            kind,
            normalized,
            count: self.keys.values.len() / width,
            bytes,
            target: None,
            bounds: None,
        });
        let sampler = entry_mut(&mut patch.json, "animations", self.animation)
            .and_then(|animation| animation.get_mut("samplers")?.get_mut(self.sampler))
            .and_then(Value::as_object_mut);
        if let Some(sampler) = sampler {
            if let Some(input) = input {
                sampler.insert("input".into(), input.into());
            }
            sampler.insert("output".into(), output.into());
        }
    }
}

/// Takes the array `key` out of `entry`; empty if it is not an array.
fn take_list(entry: &mut Map<String, Value>, key: &str) -> Vec<Value> {
    match entry.get_mut(key) {
        Some(Value::Array(items)) => std::mem::take(items),
        _ => Vec::new(),
    }
}

/// The target of a channel in the file; `None` for channels that Sinew does not read.
fn target_of(channel: &Value) -> Option<Target> {
    let target = channel.get("target")?;
    let path = target.get("path")?.as_str()?;
    let property = [
        Property::Translation,
        Property::Rotation,
        Property::Scale,
        Property::MorphWeights,
    ]
    .into_iter()
    .find(|property| property.gltf_path() == path)?;
    Some((index(target.get("node"))?, property))
}

/// The number of references from the samplers to each accessor.
fn references(samplers: &[Value]) -> BTreeMap<usize, usize> {
    let mut counts = BTreeMap::new();
    for sampler in samplers {
        for key in ["input", "output"] {
            if let Some(accessor) = index(sampler.get(key)) {
                *counts.entry(accessor).or_default() += 1;
            }
        }
    }
    counts
}

fn used_samplers(channels: &[Value], n_samplers: usize) -> Vec<bool> {
    let mut used = vec![false; n_samplers];
    for channel in channels {
        if let Some(flag) = index(channel.get("sampler")).and_then(|s| used.get_mut(s)) {
            *flag = true;
        }
    }
    used
}

/// The sampler of channel `c`: its own, or a copy if other channels use it, too.
fn own_sampler(channels: &mut [Value], c: usize, samplers: &mut Vec<Value>) -> usize {
    let sampler = index(channels[c].get("sampler"));
    let n_users = channels
        .iter()
        .filter(|channel| index(channel.get("sampler")) == sampler)
        .count();
    let entry = sampler.and_then(|s| samplers.get(s));
    if let (Some(s), Some(Value::Object(_)), 1) = (sampler, entry, n_users) {
        return s;
    }
    let copy = entry
        .filter(|e| e.is_object())
        .cloned()
        .unwrap_or_else(|| json!({}));
    samplers.push(copy);
    if let Some(channel) = channels[c].as_object_mut() {
        channel.insert("sampler".into(), (samplers.len() - 1).into());
    }
    samplers.len() - 1
}

/// Removes samplers whose last channel was removed; returns the new index of each sampler.
fn drop_unused(channels: &mut [Value], samplers: &mut Vec<Value>, was_used: &[bool]) -> Vec<usize> {
    let used = used_samplers(channels, samplers.len());
    let keep = |s: usize| used[s] || was_used.get(s) == Some(&false);
    let mut new_index = Vec::with_capacity(samplers.len());
    let mut next = 0;
    for s in 0..samplers.len() {
        new_index.push(next);
        next += usize::from(keep(s));
    }
    let mut s = 0;
    samplers.retain(|_| {
        s += 1;
        keep(s - 1)
    });
    for channel in channels {
        let moved = index(channel.get("sampler")).and_then(|s| Some((s, *new_index.get(s)?)));
        if let (Some((old, new)), Some(channel)) = (moved, channel.as_object_mut())
            && old != new
        {
            channel.insert("sampler".into(), new.into());
        }
    }
    new_index
}

fn set_interpolation(sampler: &mut Map<String, Value>, interpolation: Interpolation) {
    let word = match interpolation {
        Interpolation::Step => "STEP",
        Interpolation::Linear => "LINEAR",
        Interpolation::CubicSpline => "CUBICSPLINE",
    };
    // LINEAR is the default of an absent member.
    if interpolation != Interpolation::Linear || sampler.contains_key("interpolation") {
        sampler.insert("interpolation".into(), word.into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shared_sampler_is_copied_and_an_orphan_dropped() {
        let mut channels = vec![
            json!({"sampler": 1}),
            json!({"sampler": 1}),
            json!({"sampler": 2}),
        ];
        let mut samplers = vec![
            json!({"input": 9}),
            json!({"input": 3}),
            json!({"input": 4}),
        ];
        let was_used = used_samplers(&channels, 3);
        assert_eq!(own_sampler(&mut channels, 2, &mut samplers), 2);
        assert_eq!(own_sampler(&mut channels, 0, &mut samplers), 3);
        assert_eq!(samplers[3], json!({"input": 3}));
        channels.remove(1);
        // Sampler 0 was already unused in the source: it stays.
        assert_eq!(
            drop_unused(&mut channels, &mut samplers, &was_used),
            [0, 1, 1, 2]
        );
        assert_eq!(channels, [json!({"sampler": 2}), json!({"sampler": 1})]);
        assert_eq!(samplers.len(), 3);
    }

    #[test]
    fn channels_of_extensions_have_no_target_here() {
        let pointer = json!({"target": {"path": "pointer", "extensions": {}}});
        assert_eq!(target_of(&pointer), None);
        let plain = json!({"target": {"node": 3, "path": "weights"}});
        assert_eq!(target_of(&plain), Some((3, Property::MorphWeights)));
    }
}
