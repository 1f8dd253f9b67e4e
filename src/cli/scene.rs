//! The deformer stack and the pose that the flags request.

use super::Failure;
use super::args::PoseArgs;
use super::load::Loaded;
use super::stack_args::StackArgs;
use crate::deform::DeformStack;
use crate::document::{ClipId, Document, Edit};
use crate::io::pose_file::read_pose;
use crate::skeleton::{Clip, JointId, Moment, Pose, PoseAt};
use std::sync::Arc;

/// Applies the stack flags to every mesh of the document; without flags every mesh keeps its stack.
pub(crate) fn apply_stack(document: &mut Document, args: &StackArgs) -> Result<(), Failure> {
    if args.is_empty() {
        return Ok(());
    }
    set_stacks(document, |current| args.over(current))
}

/// Replaces the stack of every mesh; the new one may depend on the old.
pub(crate) fn set_stacks(
    document: &mut Document,
    stack: impl Fn(&DeformStack) -> Result<DeformStack, Failure>,
) -> Result<(), Failure> {
    let meshes: Vec<_> = document
        .meshes()
        .iter()
        .map(|(&id, item)| (id, item.stack.clone()))
        .collect();
    for (mesh, current) in meshes {
        document
            .apply(&mut Edit::Stack {
                mesh,
                stack: Arc::new(stack(&current)?),
            })
            .map_err(Failure::input)?;
    }
    Ok(())
}

/// A pose and its time.
pub(crate) struct Posed {
    pub(crate) pose: Arc<Pose>,
    pub(crate) moment: Moment,
}

impl Posed {
    /// What the deformer stack is evaluated at.
    pub(crate) fn at(&self) -> PoseAt<'_> {
        self.pose.at(self.moment)
    }
}

/// The requested pose: a clip at a time, a pose file over the rest pose, the project's own, or the file's rest pose.
pub(crate) fn pose(loaded: &Loaded, args: &PoseArgs) -> Result<Posed, Failure> {
    let document = &loaded.document;
    if let Some(wanted) = &args.clip {
        let (id, clip) = find_clip_id(document, wanted)?;
        let time_secs = args.time.unwrap_or_else(|| f64::from(clip.start_secs()));
        if !time_secs.is_finite() {
            return Err(Failure::Usage(format!("--time {time_secs} is not a time.")));
        }
        return Ok(Posed {
            pose: Arc::new(document.pose_of_clip(clip, time_secs)),
            moment: Moment::of(id, time_secs),
        });
    }
    let pose = match &args.pose {
        Some(path) => {
            // A pose of the project's library, unless there is a file of this name.
            let named = path.to_str().filter(|_| !path.exists());
            let named = named.and_then(|name| document.pose_named(name));
            let pose = match named.and_then(|id| document.poses().get(&id)) {
                Some(pose) => pose.posed_over(document.rest_pose(), |_| true),
                None => read_pose(document, path).map_err(Failure::input)?,
            };
            document.constrained(Arc::new(pose))
        }
        None if loaded.is_project => {
            return Ok(Posed {
                pose: document.shown_pose(),
                moment: document.shown_moment(),
            });
        }
        None => document.rest_pose().clone(),
    };
    Ok(Posed {
        pose,
        moment: Moment::default(),
    })
}

/// A joint by name or by the number of its node.
pub(crate) fn find_joint(document: &Document, wanted: &str) -> Option<JointId> {
    let skeleton = document.skeleton();
    let named = named_joints(document, wanted).first().copied();
    let by_number = || {
        let joint = skeleton.joint_of_node(wanted.parse().ok()?)?;
        skeleton.is_live(joint).then_some(joint)
    };
    named.or_else(by_number)
}

/// The joints of a name, ascending: the bones, or, where there is none, all. Files keep the nodes of removed joints,
/// with their names.
pub(crate) fn named_joints(document: &Document, wanted: &str) -> Vec<JointId> {
    let skeleton = document.skeleton();
    let is_bone = document.bone_mask();
    let named = skeleton
        .live_joints()
        .filter(|&j| skeleton.label(j) == wanted);
    let mut named: Vec<JointId> = named.collect();
    named.sort_unstable();
    if named.iter().any(|j| is_bone[j.get()]) {
        named.retain(|j| is_bone[j.get()]);
    }
    named
}

/// A clip by number or name.
pub(crate) fn find_clip<'a>(
    document: &'a Document,
    wanted: &str,
) -> Result<&'a Arc<Clip>, Failure> {
    find_clip_id(document, wanted).map(|(_, clip)| clip)
}

/// A clip and its id by number or name.
pub(crate) fn find_clip_id<'a>(
    document: &'a Document,
    wanted: &str,
) -> Result<(ClipId, &'a Arc<Clip>), Failure> {
    let clips = || document.clips().iter().map(|(id, clip)| (*id, clip));
    let by_number = wanted.parse().ok().and_then(|k: usize| clips().nth(k));
    let by_name = || clips().find(|(_, c)| c.name == wanted);
    by_number.or_else(by_name).ok_or_else(|| {
        let names: Vec<_> = document
            .clips()
            .values()
            .map(|c| format!("\"{}\"", c.name))
            .collect();
        let known = if names.is_empty() {
            "it has no clips".to_owned()
        } else {
            format!("it has {}", names.join(", "))
        };
        Failure::Usage(format!("The model has no clip \"{wanted}\"; {known}."))
    })
}
