//! The kinds of operations, and their default settings.

use super::{Editor, Scope, ScopeBones};
use crate::skeleton::JointId;
use crate::weights::automatic::Automatic;
use crate::weights::operation::{Flood, Levels, Mirroring, Operation, PasteBy};

/// A kind of operation, without settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperationKind {
    /// Scales the weights of each point to sum to 1.
    Normalise,
    /// Limits the number of influences.
    Limit,
    /// Removes small weights.
    Prune,
    /// Rounds weights to multiples of a step.
    Quantise,
    /// Averages weights with the neighbours'.
    Smooth,
    /// Replaces outliers by the average of their neighbours.
    Hammer,
    /// Sets one value.
    Flood,
    /// Replaces w by 1 - w.
    Invert,
    /// Applies levels and gamma.
    Levels,
    /// Moves weight from one bone to another.
    Move,
    /// Merges the selected bones' weights into the active bone.
    Merge,
    /// Swaps the weights of two bones.
    Swap,
    /// Mirrors weights from one side to the other.
    Mirror,
    /// Swaps the weights of both sides.
    Flip,
    /// Pastes copied rows, by vertex index or by position.
    Paste(PasteBy),
    /// Computes weights from the bones and the surface.
    Automatic,
    /// Transfers weights from another model.
    Transfer,
    /// Imports weights from a weights file.
    Import,
}

impl OperationKind {
    /// The scope of the first use: the active bone where artists shape the weights of one bone, otherwise all.
    pub(super) fn usual_scope(self) -> Scope {
        let bones = match self {
            Self::Smooth | Self::Prune | Self::Quantise | Self::Levels => ScopeBones::Active,
            _ => ScopeBones::Unlocked,
        };
        Scope {
            bones,
            ..Scope::default()
        }
    }

    /// The default settings for the first use, or the reason that it cannot begin.
    pub(super) fn usual(self, editor: &Editor) -> Result<Operation, String> {
        let session = editor.document().session();
        let active = || {
            session.active_joint.ok_or_else(|| {
                "No bone is active. Click a bone in the viewport or in the hierarchy first."
                    .to_owned()
            })
        };
        Ok(match self {
            Self::Normalise => Operation::Normalise,
            Self::Limit => Operation::Limit {
                most: session.brush.max_influences,
            },
            Self::Prune => Operation::Prune { below: 0.01 },
            Self::Quantise => Operation::Quantise { steps: 100 },
            Self::Smooth => Operation::Smooth {
                iterations: 5,
                strength: 0.5,
            },
            Self::Hammer => Operation::Hammer,
            Self::Flood => Operation::Flood {
                joint: active()?,
                value: session.brush.weight,
                how: Flood::Replace,
            },
            Self::Invert => Operation::Invert { joint: active()? },
            Self::Levels => Operation::Levels(Levels {
                joint: Some(active()?),
                ..Levels::default()
            }),
            Self::Move => {
                let from = active()?;
                Operation::Move {
                    from,
                    to: other_bone(editor, from)?,
                    share: 1.0,
                }
            }
            Self::Merge => {
                let to = active()?;
                let selected = session.selected_joints.iter().copied();
                let from: Vec<JointId> = selected.filter(|&j| j != to).collect();
                if from.is_empty() {
                    return Err(
                        "Select the bones to merge, then the bone that gets their weights.".into(),
                    );
                }
                Operation::Merge { from, to }
            }
            Self::Swap => {
                let a = active()?;
                Operation::Swap {
                    a,
                    b: other_bone(editor, a)?,
                }
            }
            Self::Mirror => Operation::Mirror(mirroring(editor)),
            Self::Flip => Operation::Flip(mirroring(editor)),
            Self::Paste(by) => Operation::Paste {
                copied: editor
                    .operations
                    .copied
                    .clone()
                    .ok_or("No weights are copied. Copy weights first.")?,
                by,
            },
            Self::Automatic => Operation::Automatic(Automatic::Heat),
            Self::Transfer | Self::Import => {
                return Err("Choose a file first.".into());
            }
        })
    }

    /// `operation` with the active bone as its subject, or the reason that it cannot begin.
    pub(super) fn about_active(
        self,
        operation: Operation,
        editor: &Editor,
    ) -> Result<Operation, String> {
        Ok(match operation {
            Operation::Flood { value, how, .. } => match self.usual(editor)? {
                Operation::Flood { joint, .. } => Operation::Flood { joint, value, how },
                other => other,
            },
            Operation::Levels(levels) => match self.usual(editor)? {
                Operation::Levels(fresh) => Operation::Levels(Levels {
                    joint: levels.joint.and(fresh.joint),
                    ..levels
                }),
                other => other,
            },
            Operation::Move { share, .. } => match self.usual(editor)? {
                Operation::Move { from, to, .. } => Operation::Move { from, to, share },
                other => other,
            },
            // Operations without other settings, and pasted rows, begin with their defaults.
            Operation::Invert { .. }
            | Operation::Merge { .. }
            | Operation::Swap { .. }
            | Operation::Paste { .. } => self.usual(editor)?,
            operation => operation,
        })
    }
}

/// The other bone of a pair: a selected one, otherwise the parent.
fn other_bone(editor: &Editor, active: JointId) -> Result<JointId, String> {
    let document = editor.document();
    let selected = document.session().selected_joints.iter().copied();
    let is_bone = document.bone_mask();
    let parent = document.skeleton().joint(active).parent;
    let child = || {
        let mut below = document.skeleton().children(active).iter().copied();
        below.find(|j| is_bone[j.get()])
    };
    let mut others = selected.filter(|&j| j != active && is_bone[j.get()]);
    others
        .next()
        .or_else(|| parent.filter(|p| is_bone[p.get()]))
        .or_else(child)
        .ok_or_else(|| {
            format!(
                "\"{}\" is the only bone. There is no other bone to take the weight.",
                document.skeleton().label(active)
            )
        })
}

/// From left to right of the mesh, whichever axis that is.
fn mirroring(editor: &Editor) -> Mirroring {
    Mirroring {
        axis: editor.side_axis(),
        ..Mirroring::default()
    }
}
