//! Checks before an export: what the file will change, and what it cannot represent exactly and why.

use super::clip_keys::{WrittenClips, has_keys};
use super::error::ExportError;
use super::invalid_weights::{mesh_place, of_invalid_weights};
use super::left_out;
use super::options::ExportOptions;
use super::plan::{NO_CLIP, NO_SKIN, is_chosen};
use super::suited::{is_quantized_by_source, of_lacking_joints, suited};
use crate::bake::frames::estimate_frames;
use crate::bake::{self, BakeMode, BakeOptions, Estimate};
use crate::deform::DeformStack;
use crate::document::{ClipId, Document, MeshId, MeshItem, SkinId};
use crate::finding::{Finding, Place, counted};
use crate::skeleton::{Clip, Interpolation, JointId};
use crate::task::Task;
use serde_json::Value;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Weights below this have no visible effect.
const FAINT: f32 = 1e-4;

/// The number of influences that every player reads.
const COMMON_INFLUENCES: usize = 4;

/// The number of joints per skin that the strictest common player accepts.
const COMMON_JOINTS: usize = 256;

/// The estimated result of the correction of an export with `options`; `None` without correction, if none is needed,
/// and if there are no clips to make frames of.
pub fn estimate(
    document: &Document,
    options: &ExportOptions,
    task: &Task,
) -> Result<Option<Estimate>, ExportError> {
    let Some(correct) = &options.correct else {
        return Ok(None);
    };
    correct
        .check()
        .map_err(|why| ExportError::Correction { why })?;
    let mut written = WrittenClips::of(document, task)?;
    if correct.mode == BakeMode::Frames {
        let clips = &mut written.clips;
        clips.retain(|id, clip| is_chosen(correct, *id) && has_keys(clip));
        return Ok(estimate_frames(document, clips, correct, task)?);
    }
    let correct = suited(document, correct);
    Ok(bake::estimate(document, &written.clips, &correct, task)?)
}

/// A skinned mesh that players show differently.
struct Affected<'a> {
    id: MeshId,
    item: &'a Arc<MeshItem>,
    /// The stack, without operations that have no effect.
    stack: DeformStack,
    n_blended: usize,
    n_over: usize,
    /// Whether bones that move it compensate for the scale of their parents.
    compensates: bool,
}

/// What an export with `options` will change, and what it cannot represent exactly and why; the most important first.
/// Reads weights, stacks and clips without evaluating anything.
pub fn preflight(document: &Document, options: &ExportOptions) -> Vec<Finding> {
    let affected = affected(document);
    let mut findings = Vec::new();
    match &options.correct {
        None => uncorrected(document, &affected, &mut findings),
        Some(correct) if affected.is_empty() && correct.mode != BakeMode::Frames => findings.push(Finding::info(
            "correction",
            "Every mesh deforms as in any player: no correction is needed, and none is written.",
        )),
        Some(correct) => {
            match correct.mode {
                BakeMode::Clips => of_clips(document, correct, &affected, &mut findings),
                BakeMode::Retarget => of_any_clip(document, &affected, &mut findings),
                BakeMode::Frames => of_frames(document, correct, &mut findings),
            }
            if correct.mode == BakeMode::Clips && correct.unipolar && correct.max_morphs == 1 {
                findings.push(Finding::warning(
                    "correction",
                    "Morph target weights within 0 - 1 require one additional target, so a limit of 1 allows none.",
                ));
            }
            if correct.mode != BakeMode::Frames {
                of_skins(document, correct, &affected, &mut findings);
                for mesh in &affected {
                    of_mesh(document, correct, mesh, &mut findings);
                }
                findings.extend(of_quantization(document, correct));
            }
        }
    }
    findings.extend(of_driven(document, options));
    of_cluster_samples(document, options, &mut findings);
    if options.meshopt {
        let message = "The data is compressed: programs that do not know EXT_meshopt_compression cannot open the file.";
        findings.push(Finding::info("file", message));
    }
    findings.extend(of_invalid_weights(document, options));
    findings.extend(left_out::of_correction(document, options));
    let correct = options.correct.as_ref();
    findings.extend(correct.and_then(|correct| of_lacking_joints(document, correct)));
    let previews = document.clips().values().filter(|clip| clip.preview);
    let n_previews = previews.count();
    if n_previews > 0 {
        let message = format!(
            "{} left out of the file.",
            is_or_are(n_previews, "preview clip")
        );
        findings.push(Finding::info("clips", message));
    }
    findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    findings
}

/// That morph targets are quantized, and why.
fn of_quantization(document: &Document, correct: &BakeOptions) -> Option<Finding> {
    let has_targets = correct.max_morphs > usize::from(correct.unipolar);
    if correct.mode != BakeMode::Clips || !has_targets {
        return None;
    }
    let message = if is_quantized_by_source(document, correct) {
        "Morph targets are quantized, because the model requires KHR_mesh_quantization."
    } else if correct.quantize {
        "Morph targets are quantized: programs that do not know KHR_mesh_quantization cannot open the file."
    } else {
        return None;
    };
    Some(Finding::info("correction", message))
}

/// Samples that move control clusters alone, which cannot become morph targets.
fn of_cluster_samples(document: &Document, options: &ExportOptions, findings: &mut Vec<Finding>) {
    let correct = options.correct.as_ref();
    let is_retarget = correct.is_some_and(|correct| correct.mode == BakeMode::Retarget);
    let as_targets = correct.is_none() && options.sample_targets;
    if !is_retarget && !as_targets {
        return;
    }
    for (&id, item) in document.meshes() {
        let sets = item.correctives.sets().iter();
        let left_out = sets.filter(|set| {
            let mut samples = set.samples.iter().filter(|sample| sample.acts());
            set.fault.is_none() && samples.any(|sample| set.needs_patches(sample, &item.clusters))
        });
        let names: Vec<String> = left_out.map(|set| format!("\"{}\"", set.name)).collect();
        if !names.is_empty() {
            let message = format!(
                "Samples that move control clusters alone are left out, in {}: a file does not have the patches that carry \
                 them to the other vertices.",
                listed(&names.iter().map(String::as_str).collect::<Vec<_>>())
            );
            findings.push(Finding::warning(mesh_place(id, item), message).at(Place::Mesh(id.0)));
        }
    }
}

/// What layers of control clusters do to meshes without a skin, which only frames can hold.
fn of_driven(document: &Document, options: &ExportOptions) -> Option<Finding> {
    let is_frames = |correct: &BakeOptions| correct.mode == BakeMode::Frames;
    let n = document.instances().values();
    let n = n.filter(|instance| document.is_driven(instance)).count();
    let is_left_out = n > 0 && !options.correct.as_ref().is_some_and(is_frames);
    is_left_out.then(|| {
        let message = format!(
            "The layers of control clusters move {} without a skin, which only morph frames can store. Choose Morph \
             frames.",
            counted(n, "object")
        );
        Finding::warning("control clusters", message)
    })
}

/// Whether players would show any mesh differently from its stack.
pub(super) fn needs_correction(document: &Document) -> bool {
    !affected(document).is_empty()
}

/// The skinned meshes that players would show differently.
fn affected(document: &Document) -> Vec<Affected<'_>> {
    let linear = DeformStack::lbs().as_applied();
    let skinned: BTreeSet<MeshId> = document
        .instances()
        .values()
        .filter(|instance| instance.skin.is_some())
        .map(|instance| instance.mesh)
        .collect();
    let compensating = with_compensating_bones(document);
    let meshes = document.meshes().iter().filter_map(|(&id, item)| {
        let stack = item.stack.as_applied();
        let samples = item.correctives.acts() || item.clusters.acts();
        let compensates = compensating.contains(&id);
        if stack == linear && !samples && !compensates || !skinned.contains(&id) {
            return None;
        }
        let (mut n_blended, mut n_over) = (0, 0);
        for row in item.influences.iter() {
            let n = row.iter().filter(|(_, weight)| *weight > FAINT).count();
            n_blended += usize::from(n > 1);
            n_over += usize::from(n > COMMON_INFLUENCES);
        }
        // Points with one influence are where linear blend skinning puts them, but smoothing, samples and
        // clusters still move them.
        let acts = n_blended > 0 || stack.smooth.acts() || samples || compensates;
        acts.then_some(Affected {
            id,
            item,
            stack,
            n_blended,
            n_over,
            compensates,
        })
    });
    meshes.collect()
}

fn uncorrected(document: &Document, affected: &[Affected<'_>], findings: &mut Vec<Finding>) {
    for mesh in affected.iter().filter(|mesh| !mesh.what().is_empty()) {
        findings.push(mesh.about(Finding::warning(
            mesh.place(),
            format!(
                "Players do not support its {}: they deform {} by linear blend skinning. A correction writes what you \
                 see.",
                mesh.what(),
                counted(mesh.n_blended, "blended vertex")
            ),
        )));
    }
    let n_rules = n_compensating(document);
    if n_rules > 0 {
        findings.push(Finding::warning(
            "joints",
            format!(
                "{} for the scale of the parent bone, which glTF cannot store: it will scale with its parent.",
                match n_rules {
                    1 => "1 bone compensates".to_owned(),
                    n => format!("{n} bones compensate"),
                }
            ),
        ));
    }
}

fn of_clips(
    document: &Document,
    correct: &BakeOptions,
    affected: &[Affected<'_>],
    findings: &mut Vec<Finding>,
) {
    let exported = document.clips().iter().filter(|(_, clip)| !clip.preview);
    let clips: Vec<(ClipId, &Arc<Clip>)> = exported
        .filter(|(_, clip)| has_keys(clip))
        .map(|(&id, clip)| (id, clip))
        .collect();
    if clips.is_empty() {
        findings.push(Finding::warning(
            "clips",
            "There is no clip to correct: linear blend skinning will deform the model. Make a clip, or choose \
             Retargetable.",
        ));
        return;
    }
    let chosen = |id: &ClipId| is_chosen(correct, *id);
    let n_chosen = clips.iter().filter(|(id, _)| chosen(id)).count();
    if n_chosen < clips.len() {
        findings.push(Finding::warning(
            "clips",
            format!(
                "{} not corrected: helper joints are animated there, morph targets are not, and the \
                 tolerance does not apply to them.",
                is_or_are(clips.len() - n_chosen, "clip")
            ),
        ));
    }
    // A clip that only steps is exact.
    let jumps = |clip: &Clip| {
        let channels = clip.channels.iter().filter(|c| c.times.len() > 1);
        let (steps, others): (Vec<_>, Vec<_>) =
            channels.partition(|c| c.interpolation == Interpolation::Step);
        !steps.is_empty() && !others.is_empty()
    };
    let n_jumping = clips
        .iter()
        .filter(|(id, clip)| chosen(id) && jumps(clip))
        .count();
    if n_jumping > 0 {
        findings.push(Finding::info(
            "clips",
            format!(
                "{} in steps: a corrected step takes {} ms.",
                match n_jumping {
                    1 => "1 clip animates bones".to_owned(),
                    n => format!("{n} clips animate bones"),
                },
                correct.mode.jump_ms()
            ),
        ));
    }
    let n_blended = affected.iter().map(|mesh| mesh.n_blended).sum();
    if affected.iter().any(|mesh| mesh.compensates) {
        let message = "Bones compensate for the scale of their parents, which glTF cannot store: the correction moves the \
                       vertices where the bones would.";
        findings.push(Finding::info("joints", message));
    }
    findings.push(Finding::info(
        "correction",
        format!(
            "Helper joints, new weights and morph targets correct the linear blend skinning of {} of {}, in {}.",
            counted(n_blended, "blended vertex"),
            match affected.len() {
                1 => "1 mesh".to_owned(),
                n => format!("{n} meshes"),
            },
            counted(n_chosen, "clip")
        ),
    ));
}

fn of_frames(document: &Document, correct: &BakeOptions, findings: &mut Vec<Finding>) {
    let exported = || document.clips().iter().filter(|(_, clip)| !clip.preview);
    let chosen = || exported().filter(|(id, _)| is_chosen(correct, **id));
    if !chosen().any(|(_, clip)| has_keys(clip)) {
        findings.push(Finding::error("clips", NO_CLIP));
    } else if document
        .instances()
        .values()
        .all(|i| i.skin.is_none() && !document.is_driven(i))
    {
        findings.push(Finding::error("correction", NO_SKIN));
    }
    findings.push(Finding::warning(
        "correction",
        "Skinned meshes become static ones with a morph target for each necessary frame: the file has no skin and only \
         the chosen clips, can be large, and some players show only a few of its targets.",
    ));
    let n_left_out = exported().count() - chosen().count();
    if n_left_out > 0 {
        let message = format!(
            "{} not chosen, so not in the file.",
            is_or_are(n_left_out, "clip")
        );
        findings.push(Finding::info("clips", message));
    }
}

fn of_any_clip(document: &Document, affected: &[Affected<'_>], findings: &mut Vec<Finding>) {
    for mesh in affected {
        let stack = &mesh.stack;
        let mut left = Vec::new();
        if stack.compensation.enabled {
            left.push("bulge compensation");
        }
        if stack.projection.enabled {
            left.push("bulge projection");
        }
        if stack.smooth.acts() {
            left.push("corrective smooth");
        }
        if mesh.item.clusters.acts() {
            let mut groups = mesh.item.clusters.groups().iter();
            let is_keyed = groups.any(|group| group.hand.clips().next().is_some());
            left.push(if is_keyed {
                "control clusters and their keyframes"
            } else {
                "control clusters"
            });
        }
        if mesh.item.correctives.acts() && mesh.item.correctives.is_weighted() {
            findings.push(mesh.about(Finding::warning(
                mesh.place(),
                "Its corrective samples become morph targets, which have one weight for all vertices: sets with \
                 Weighted PSD play without it.",
            )));
        }
        of_other_skins(document, mesh, findings);
        if !left.is_empty() {
            let message = format!(
                "Helper joints that any clip can drive reproduce its skinning, but not its {}.",
                listed(&left)
            );
            findings.push(mesh.about(Finding::warning(mesh.place(), message)));
        }
    }
    findings.push(Finding::info(
        "correction",
        "Helper joints depend on the other joints. They are animated in the clips of the file; for other clips an engine \
         has to drive them, using the driver block in the file's extras.",
    ));
}

/// Instances of a mesh with samples that have another skin than the first.
fn of_other_skins(document: &Document, mesh: &Affected<'_>, findings: &mut Vec<Finding>) {
    let instances = document.instances().values();
    let mut others = instances.filter(|i| i.mesh == mesh.id && i.skin.is_some());
    if mesh.item.correctives.acts() && others.any(|i| document.drivers_of(i).is_some()) {
        findings.push(mesh.about(Finding::warning(
            mesh.place(),
            "Several skins draw it, and the driver block in the file's extras names the bones of the first one: an engine \
             would correct the others by them. The clips of the file play each with its own bones.",
        )));
    }
}

fn of_skins(
    document: &Document,
    correct: &BakeOptions,
    affected: &[Affected<'_>],
    findings: &mut Vec<Finding>,
) {
    let meshes: BTreeSet<MeshId> = affected.iter().map(|mesh| mesh.id).collect();
    let drawn = || {
        let instances = document.instances().values();
        instances.filter(|instance| meshes.contains(&instance.mesh))
    };
    let skins: BTreeSet<_> = drawn().filter_map(|instance| instance.skin).collect();
    for skin in skins {
        let Some(n) = document.skins().get(&skin).map(|skin| skin.joints.len()) else {
            continue;
        };
        let place = format!("skins[{}]", skin.0);
        if n >= correct.max_joints {
            findings.push(Finding::warning(
                place,
                format!(
                    "It already has {}, and {} are allowed: there is no room for a helper joint, so only morph targets are used.",
                    counted(n, "joint"),
                    correct.max_joints
                ),
            ));
        } else if correct.max_joints > COMMON_JOINTS && n <= COMMON_JOINTS {
            findings.push(Finding::info(
                place,
                format!("It may get more than {COMMON_JOINTS} joints, which some players reject."),
            ));
        }
    }
    for mesh in affected {
        let of_mesh = drawn().filter(|instance| instance.mesh == mesh.id);
        let sizes: BTreeSet<usize> = of_mesh
            .filter_map(|instance| Some(document.skins().get(&instance.skin?)?.joints.len()))
            .collect();
        if sizes.len() > 1 {
            findings.push(mesh.about(Finding::warning(
                mesh.place(),
                "It is drawn with skins of different numbers of joints: no helper joint suits all, so only morph targets \
                 are used.",
            )));
        }
    }
}

fn of_mesh(
    document: &Document,
    correct: &BakeOptions,
    mesh: &Affected<'_>,
    findings: &mut Vec<Finding>,
) {
    if mesh.n_over > 0 {
        findings.push(mesh.about(Finding::info(
            mesh.place(),
            format!(
                "{} more than {COMMON_INFLUENCES} influences, which many players do not read: they are refitted to \
                 {COMMON_INFLUENCES}.",
                has_or_have(mesh.n_over, "vertex")
            ),
        )));
    }
    let n_own = mesh.item.geometry.morphs.len();
    let adds_targets =
        correct.mode == BakeMode::Clips && correct.max_morphs > usize::from(correct.unipolar);
    if n_own > 0 && adds_targets {
        findings.push(mesh.about(Finding::info(
            mesh.place(),
            format!(
                "It keeps its own morph targets ({n_own}); if targets are added, their weight channels are rewritten."
            ),
        )));
    }
    if is_compressed(document, mesh.id) {
        findings.push(mesh.about(Finding::info(
            mesh.place(),
            "It is compressed (Draco). If its weights change or it has an uncompressed copy, it is written uncompressed, \
             and the file grows.",
        )));
    }
}

impl Affected<'_> {
    fn place(&self) -> String {
        mesh_place(self.id, self.item)
    }

    fn about(&self, finding: Finding) -> Finding {
        finding.at(Place::Mesh(self.id.0))
    }

    /// The operations of its stack, as text.
    fn what(&self) -> String {
        let mut parts = Vec::new();
        let method = self.stack.method.label().to_lowercase();
        if self.stack.method.is_rigid() {
            parts.push(format!("{method} skinning"));
        }
        if self.stack.compensation.enabled {
            parts.push("bulge compensation".into());
        }
        if self.stack.projection.enabled {
            parts.push("bulge projection".into());
        }
        if self.stack.smooth.acts() {
            parts.push("corrective smooth".into());
        }
        if self.item.correctives.acts() {
            parts.push("corrective samples".into());
        }
        if self.item.clusters.acts() {
            parts.push("control clusters".into());
        }
        let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
        listed(&parts)
    }
}

/// The number of bones that compensate for the scale of their parents.
pub(super) fn n_compensating(document: &Document) -> usize {
    let joints = document.skeleton().joints().iter();
    joints.filter(|joint| joint.rule.compensates_scale).count()
}

/// The meshes with a skin of which a joint, or one above it, compensates for the scale of its parent.
fn with_compensating_bones(document: &Document) -> BTreeSet<MeshId> {
    if n_compensating(document) == 0 {
        return BTreeSet::new();
    }
    let skeleton = document.skeleton();
    let compensates = |&joint: &JointId| skeleton.joint(joint).rule.compensates_scale;
    let moves = |skin: &SkinId| {
        let joints = document.skins().get(skin).map(|skin| skin.joints.iter());
        let mut joints = joints.into_iter().flatten();
        joints
            .any(|&joint| compensates(&joint) || skeleton.ancestors(joint).any(|j| compensates(&j)))
    };
    let instances = document.instances().values();
    let moved = instances.filter(|instance| instance.skin.as_ref().is_some_and(moves));
    moved.map(|instance| instance.mesh).collect()
}

fn is_compressed(document: &Document, mesh: MeshId) -> bool {
    let Some(source) = document.source() else {
        return false;
    };
    let entry = source
        .json
        .get("meshes")
        .and_then(|list| list.get(document.mesh_of_file(mesh).0 as usize));
    let primitives = entry
        .and_then(|mesh| mesh.get("primitives"))
        .and_then(Value::as_array);
    primitives.into_iter().flatten().any(|primitive| {
        let extensions = primitive.get("extensions");
        extensions.is_some_and(|e| e.get("KHR_draco_mesh_compression").is_some())
    })
}

/// A list in a sentence: "a, b and c".
fn listed(parts: &[&str]) -> String {
    match parts {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [rest @ .., last] => format!("{} and {last}", rest.join(", ")),
    }
}

fn is_or_are(n: usize, noun: &str) -> String {
    format!("{} {}", counted(n, noun), if n == 1 { "is" } else { "are" })
}

fn has_or_have(n: usize, noun: &str) -> String {
    format!(
        "{} {}",
        counted(n, noun),
        if n == 1 { "has" } else { "have" }
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_read_as_sentences() {
        assert_eq!(listed(&["a"]), "a");
        assert_eq!(listed(&["a", "b", "c"]), "a, b and c");
    }
}
