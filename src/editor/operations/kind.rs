//! The operations as menus have them, and the settings each begins with.

use super::Editor;
use crate::skeleton::JointId;
use crate::weights::automatic::Automatic;
use crate::weights::operation::{Flood, Levels, Mirroring, Operation, PasteBy};

/// An operation before its settings are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperationKind {
    /// Sums become 1.
    Normalise,
    /// At most so many influences.
    Limit,
    /// Small weights go.
    Prune,
    /// Weights as steps.
    Quantise,
    /// Averages.
    Smooth,
    /// What stands out goes.
    Hammer,
    /// One value.
    Flood,
    /// 1 - w.
    Invert,
    /// Stretched and bent.
    Levels,
    /// From one bone to another.
    Move,
    /// The selected bones into the active one.
    Merge,
    /// Two bones exchanged.
    Swap,
    /// One side to the other.
    Mirror,
    /// Both sides exchanged.
    Flip,
    /// Copied rows, point by point or by place.
    Paste(PasteBy),
    /// From the bones and the surface.
    Automatic,
    /// From another model.
    Transfer,
    /// From a weights file.
    Import,
}

impl OperationKind {
    /// The settings it begins with when it was never used, or why it cannot begin.
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
            Self::Mirror => Operation::Mirror(Mirroring::default()),
            Self::Flip => Operation::Flip(Mirroring::default()),
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

    /// `operation` with the active bone as the one that it is about, or why it cannot begin.
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
            // Those without further settings, and pasted rows: as if it were the first time.
            Operation::Invert { .. }
            | Operation::Merge { .. }
            | Operation::Swap { .. }
            | Operation::Paste { .. } => self.usual(editor)?,
            operation => operation,
        })
    }
}

/// The other bone of a pair: a selected one, or else the parent.
fn other_bone(editor: &Editor, active: JointId) -> Result<JointId, String> {
    let document = editor.document();
    let selected = document.session().selected_joints.iter().copied();
    let is_bone = document.skin_joint_mask();
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
