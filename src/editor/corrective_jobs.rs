//! Commands that make corrective samples from other shapes, mirror them, or capture them again: one job on the lane and
//! one undo step each.

use super::files::{SampleResult, SnapshotRevision};
use super::jobs::EditorJob;
use super::{Editor, FileJob};
use crate::correctives::{self, NewSample, Retargeted, sculpt};
use crate::deform::{Captured, DeformStack};
use crate::document::{Document, Edit, MeshId, SculptTarget};
use crate::evaluate::JobError;
use crate::evaluate::gauge::with_stacks;
use crate::finding::counted;
use crate::psd::PsdError;
use crate::relax::RelaxSettings;
use crate::skeleton::{JointId, PoseAt};
use crate::suggest::push_skin_out;
use crate::task::Task;
use crate::weights::operation::{Mirroring, OperationError};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// A change of the corrective samples that deforms the model.
#[derive(Clone, Debug, PartialEq)]
pub enum SampleTask {
    /// Adds a sample at the pose on screen: a mesh file with the vertices of the model, sculpted in that pose.
    ImportSculpt(PathBuf),
    /// Adds a sample at the pose on screen: the shape that another deformer stack has there.
    FromStack(DeformStack),
    /// Adds a sample at the pose on screen: the shape that corrective smoothing gives the object's own stack there.
    FromSmooth,
    /// Adds a sample at the pose on screen: what a morph target, by name, adds there.
    FromMorph(String),
    /// Pushes the skin out of itself in the pose on screen, around the driver bones of the active sample.
    PushOut,
    /// Copies the samples of one side of the body to the other: of the side of the active set.
    Mirror,
    /// Exchanges the samples of the two sides.
    Flip,
    /// Captures samples of another deformer stack or other weights again: the sculpted shapes stay.
    Retarget(Stale),
    /// Accepts the displacements of samples of another deformer stack or other weights.
    Keep(Stale),
    /// Leaves the samples of the active set only the displacements of control clusters.
    Reduce,
}

/// Samples of another deformer stack, or captured before the weights of their vertices changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stale {
    /// All of the model.
    All,
    /// One of a mesh, by its index among all samples of the mesh.
    One(MeshId, usize),
}

impl SampleTask {
    /// The label of its undo step.
    pub fn label(&self) -> &'static str {
        match self {
            Self::ImportSculpt(_) => "Import sculpt",
            Self::FromStack(_) => "Sample from stack",
            Self::FromSmooth => "Sample from corrective smooth",
            Self::FromMorph(_) => "Sample from morph target",
            Self::PushOut => "Push out of itself",
            Self::Mirror => "Mirror samples",
            Self::Flip => "Flip samples",
            Self::Retarget(Stale::All) => "Re-target samples",
            Self::Retarget(Stale::One(..)) => "Re-target sample",
            Self::Keep(Stale::All) => "Keep displacements of samples",
            Self::Keep(Stale::One(..)) => "Keep displacements of sample",
            Self::Reduce => "Reduce samples to clusters",
        }
    }
}

impl Editor {
    /// Starts a task on the corrective samples: one undo step once it is computed.
    pub fn change_samples(&mut self, what: SampleTask) {
        if !self.can_start_file_job() {
            return;
        }
        self.finish_tool();
        let (document, pose) = (self.document.clone(), self.document.shown_pose());
        let moment = self.document.shown_moment();
        let selected: BTreeSet<JointId> = self.joints_to_pose().into_iter().collect();
        let label = what.label();
        let job = self.lane.submit(EditorJob::Fix, label, move |task| {
            let context = Context {
                document: &document,
                at: pose.at(moment),
                selected: &selected,
                task,
            };
            run(&context, &what)
        });
        self.job = Some(FileJob::Samples {
            label,
            revision: SnapshotRevision::ButForPoses(self.history.revision_but_for_poses()),
            job,
        });
    }

    /// Whether some sample was captured on another deformer stack or over other weights than its mesh has.
    pub fn has_stale_samples(&self) -> bool {
        let mut meshes = self.document.meshes().keys();
        meshes.any(|&mesh| !correctives::stale(&self.document, mesh).is_empty())
    }

    /// What clusters kept of the samples that were reduced to them, a line for each; `None` once something else was done.
    pub fn reduced_samples(&self) -> Option<&str> {
        let is_last = self.history.undo_label() == Some(SampleTask::Reduce.label());
        self.correcting.reduced.as_deref().filter(|_| is_last)
    }

    /// Whether the document has corrective samples.
    pub fn has_samples(&self) -> bool {
        let mut meshes = self.document.meshes().values();
        meshes.any(|item| !item.correctives.samples().is_empty())
    }

    /// Applies the edits of a task; nothing where the document changed since.
    pub(super) fn finish_samples(
        &mut self,
        label: &'static str,
        revision: SnapshotRevision,
        is_cancelled: bool,
        result: Result<SampleResult, JobError>,
    ) {
        let cancelled = || format!("{label} was cancelled. Nothing changed.");
        match result {
            Err(error @ JobError::Failed) => self.notify_error(error.to_string()),
            Err(JobError::Cancelled) => self.notify(cancelled()),
            Ok(_) if is_cancelled => self.notify(cancelled()),
            Ok(_) if !revision.holds(&self.history) => {
                self.notify("The model changed in the meantime. Nothing was done.");
            }
            Ok(Err(why)) => self.notify_error(why),
            Ok(Ok((edits, message))) => {
                if !edits.is_empty() {
                    self.begin_step(label);
                    for edit in edits {
                        if let Err(error) = self.apply(edit, label) {
                            self.notify_error(error.to_string());
                        }
                    }
                    self.end_step();
                }
                if label == SampleTask::Reduce.label() {
                    self.correcting.reduced = Some(message.clone());
                }
                self.notify(message.replace('\n', " "));
            }
        }
    }
}

/// What a task starts from.
struct Context<'a> {
    document: &'a Document,
    /// The pose on screen.
    at: PoseAt<'a>,
    /// The selected bones.
    selected: &'a BTreeSet<JointId>,
    task: &'a Task,
}

fn run(context: &Context<'_>, what: &SampleTask) -> SampleResult {
    let &Context {
        document, at, task, ..
    } = context;
    match what {
        SampleTask::ImportSculpt(path) => {
            let captured = sculpt::of_file(document, at, path, task)?;
            add(context, captured)
        }
        SampleTask::FromStack(stack) => {
            let fuller = with_stacks(document, |_| stack.clone()).without_correctives();
            each_skinned(document, "The other stack", |mesh| {
                sculpt::of_stack(document, mesh, at, &fuller, task)
            })
            .and_then(|captured| add(context, captured))
        }
        SampleTask::FromSmooth => {
            let smooth = |own: &DeformStack| {
                let mut stack = own.clone();
                stack.smooth.enabled = true;
                stack
            };
            let fuller = with_stacks(document, smooth).without_correctives();
            each_skinned(document, "The smoothed skin", |mesh| {
                sculpt::of_stack(document, mesh, at, &fuller, task)
            })
            .and_then(|captured| add(context, captured))
        }
        SampleTask::FromMorph(name) => {
            let place = format!("The morph target \"{name}\"");
            each_skinned(document, &place, |mesh| {
                let morphs = &document.meshes()[&mesh].geometry.morphs;
                let target = morphs.iter().position(|morph| morph.name == *name);
                let target = target.ok_or(sculpt::SculptError::NoMesh)?;
                sculpt::of_morph_target(document, mesh, at, target, task)
            })
            .and_then(|captured| add(context, captured))
        }
        SampleTask::PushOut => push_out(document, at, task),
        SampleTask::Mirror | SampleTask::Flip => mirror(document, *what == SampleTask::Flip, task),
        SampleTask::Retarget(which) => settle_stale(document, *which, true, task),
        SampleTask::Keep(which) => settle_stale(document, *which, false, task),
        SampleTask::Reduce => reduce(document, task),
    }
}

/// What each skinned mesh captures; an error of `place` where none captures anything.
fn each_skinned(
    document: &Document,
    place: &str,
    capture: impl Fn(MeshId) -> Result<Captured, sculpt::SculptError>,
) -> Result<BTreeMap<MeshId, Captured>, String> {
    let mut found = BTreeMap::new();
    let mut why_not = sculpt::SculptError::NoMesh;
    let skinned = document.meshes().keys();
    for &mesh in skinned.filter(|id| document.skin_of_mesh(**id).is_some()) {
        match capture(mesh) {
            Ok(captured) => {
                found.insert(mesh, captured);
            }
            // Another mesh says more.
            Err(sculpt::SculptError::NoMesh) => {}
            Err(why) => why_not = why,
        }
    }
    if found.is_empty() {
        return Err(format!("{place} {why_not}."));
    }
    Ok(found)
}

/// Adds samples driven by the posed bones that move their vertices: the selected ones of them, else all.
fn add(context: &Context<'_>, captured: BTreeMap<MeshId, Captured>) -> SampleResult {
    let (document, pose) = (context.document, context.at.pose);
    let (mut edits, mut lines) = (Vec::new(), Vec::new());
    for (mesh, captured) in captured {
        let posed = correctives::posed_drivers(document, mesh, &captured, pose)?;
        let new = NewSample {
            drivers: posed.intersection(context.selected).copied().collect(),
            ..NewSample::default()
        };
        let added = correctives::add_sample(document, mesh, &captured, pose, &new)?;
        edits.push(added.edit);
        lines.push(added.message);
    }
    Ok((edits, lines.join(" ")))
}

fn push_out(document: &Document, at: PoseAt<'_>, task: &Task) -> SampleResult {
    let mesh = document.session().active_mesh;
    let instance = mesh.and_then(|mesh| correctives::skinned_instance(document, mesh));
    let instance = instance.ok_or("Select an object with a skin first.")?;
    let target = SculptTarget::find(document, instance)?;
    let settings = RelaxSettings::default();
    let pushed = push_skin_out(document, &target, at, &settings, task);
    let pushed = pushed.map_err(|why| why.to_string())?;
    let message = format!(
        "Pushed apart: {} crossing triangles to {}.",
        pushed.n_before, pushed.n_after
    );
    Ok((vec![Edit::Correctives(pushed.edit)], message))
}

fn mirror(document: &Document, flips: bool, task: &Task) -> SampleResult {
    let active = document.session().active_mesh;
    let axis = document.session().brush.symmetry;
    let axis = axis.or_else(|| document.side_axis(active?));
    let mut across = Mirroring {
        axis: axis.unwrap_or_default(),
        ..Mirroring::default()
    };
    let active = active.and_then(|mesh| Some((mesh, document.active_set(mesh)?)));
    let side = active
        .and_then(|(mesh, set)| correctives::is_on_positive_side(document, mesh, set, across));
    across.from_positive = side.unwrap_or(across.from_positive);
    let (mut edits, mut lines) = (Vec::new(), Vec::new());
    for (&mesh, item) in document.meshes() {
        let n = item.correctives.samples().len();
        if n == 0 {
            continue;
        }
        let mirrored = correctives::mirror(document, mesh, &(0..n).collect(), across, flips, task);
        let mirrored = mirrored.map_err(|why| match why {
            OperationError::Refused(why) => why,
            OperationError::Cancelled(why) => why.to_string(),
        })?;
        lines.push(mirrored.summary());
        edits.extend(mirrored.edit);
    }
    if lines.is_empty() {
        return Err("There are no corrective samples to mirror.".into());
    }
    Ok((edits, lines.join(" ")))
}

fn reduce(document: &Document, task: &Task) -> SampleResult {
    let mesh = document.session().active_mesh;
    let mesh = mesh.ok_or("Select an object first.")?;
    let set = document.active_set(mesh);
    let set = set.ok_or("The object has no corrective samples.")?;
    let made = correctives::reduce(document, mesh, set, task).map_err(|why| why.to_string())?;
    let (changed, reduced) = made;
    let lines: Vec<String> = reduced.iter().map(ToString::to_string).collect();
    let edit = correctives::edit_of(document, mesh, changed);
    Ok((vec![edit], lines.join("\n")))
}

fn settle_stale(document: &Document, which: Stale, retargets: bool, task: &Task) -> SampleResult {
    let (mut edits, mut n_kept, mut retargeted) = (Vec::new(), 0, Retargeted::default());
    let mut any = false;
    for &mesh in document.meshes().keys() {
        let mut stale = correctives::stale(document, mesh);
        if let Stale::One(of, sample) = which {
            stale.retain(|&index| (mesh, index) == (of, sample));
        }
        if stale.is_empty() {
            continue;
        }
        any = true;
        let refused = |why: PsdError| format!("Nothing changed: {why}.");
        if retargets {
            let made = correctives::retarget(document, mesh, &stale, task);
            let made = made.map_err(|why| why.to_string())?.map_err(refused)?;
            edits.extend(retargeted.add(made));
        } else {
            n_kept += stale.len();
            let made = correctives::keep(document, mesh, &stale).map_err(refused)?;
            edits.push(correctives::edit_of(document, mesh, made));
        }
    }
    if !any {
        let what = match which {
            Stale::All => "Every sample",
            Stale::One(..) => "The sample",
        };
        return Err(format!(
            "{what} fits the current deformer stack and weights."
        ));
    }
    Ok((
        edits,
        if retargets {
            retargeted.summary()
        } else {
            format!("{} kept as they are.", counted(n_kept, "sample"))
        },
    ))
}
