//! Version 1 of the format. It has no painted maps and no rules of joints, and a stack is only a skinning method.

// Everything else is as in version 2.
use super::v2::{ClipEntry, JointPose, MeshPoints, MeshWeights, ModelRef, Named, Renamed, Session};

use super::joints::JointRef;
use super::stack::{self, ScaleMode};
use super::v2;
use serde::Deserialize;

/// A project of version 1.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Project {
    version: u32,
    app: String,
    model: ModelRef,
    #[serde(default)]
    recovers: Option<String>,
    #[serde(default)]
    unsaved_steps: Option<u64>,
    #[serde(default)]
    weights: Vec<MeshWeights>,
    #[serde(default)]
    stacks: Vec<StackEntry>,
    #[serde(default)]
    pose: Vec<JointPose>,
    #[serde(default)]
    renamed: Vec<Renamed>,
    #[serde(default)]
    locked: Vec<JointRef>,
    #[serde(default)]
    clips: Vec<ClipEntry>,
    #[serde(default)]
    removed_clips: Vec<Named>,
    #[serde(default)]
    points: Vec<MeshPoints>,
    #[serde(default)]
    session: Option<Session>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StackEntry {
    meshes: Vec<Named>,
    stack: Stack,
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Stack {
    method: SkinningMethod,
    scale: ScaleMode,
}

#[derive(Default, Deserialize)]
enum SkinningMethod {
    Lbs,
    #[default]
    Dqs,
}

impl From<Project> for v2::Project {
    fn from(old: Project) -> Self {
        Self {
            version: old.version,
            app: old.app,
            model: old.model,
            recovers: old.recovers,
            unsaved_steps: old.unsaved_steps,
            weights: old.weights,
            stacks: old.stacks.into_iter().map(Into::into).collect(),
            masks: Vec::new(),
            pose: old.pose,
            renamed: old.renamed,
            rules: Vec::new(),
            locked: old.locked,
            clips: old.clips,
            removed_clips: old.removed_clips,
            points: old.points,
            session: old.session,
        }
    }
}

impl From<StackEntry> for v2::StackEntry {
    fn from(StackEntry { meshes, stack }: StackEntry) -> Self {
        Self {
            meshes,
            // Version 1 had no corrections: they are off.
            stack: stack::Stack {
                method: match stack.method {
                    SkinningMethod::Lbs => stack::SkinningMethod::Lbs,
                    SkinningMethod::Dqs => stack::SkinningMethod::Dqs,
                },
                scale: stack.scale,
                ..stack::Stack::default()
            },
            had_other_sign: false,
        }
    }
}
