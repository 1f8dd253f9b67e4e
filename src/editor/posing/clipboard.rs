//! Copying poses: between sides, and between models by the names of bones.

use super::Editor;
use crate::skeleton::mirror::PosedJoint;
use crate::skeleton::{JointId, Pose, Skeleton};
use glam::DMat3;
use std::collections::HashMap;

/// A copied pose; it outlives the model it was copied from.
pub(super) struct PoseCopy {
    joints: Vec<CopiedJoint>,
}

struct CopiedJoint {
    joint: JointId,
    name: String,
    posed: PosedJoint,
}

impl Editor {
    /// Copies the pose of the selected bones, or of all where none is selected. How many there are.
    pub fn copy_pose(&mut self) -> usize {
        self.finish_tool();
        let chosen = self.joints_to_pose();
        let pose = self.document.shown_pose();
        let rest = self.document.rest_pose();
        let mirror = self.mirror();
        let skeleton = self.document.skeleton();
        let joints: Vec<CopiedJoint> = skeleton
            .live_joints()
            .filter(|joint| chosen.is_empty() || chosen.contains(joint))
            .map(|joint| CopiedJoint {
                joint,
                name: skeleton.joint(joint).name.clone(),
                posed: PosedJoint {
                    local: pose.locals[joint.get()],
                    rest: rest.locals[joint.get()],
                    spaces: mirror.rest_spaces(joint),
                },
            })
            .collect();
        let n = joints.len();
        if n > 0 {
            self.notify(format!("Copied the pose of {}.", bones(n)));
            self.posing.copied = Some(PoseCopy { joints });
        }
        n
    }

    /// Whether there is a pose to paste.
    pub fn has_copied_pose(&self) -> bool {
        self.posing.copied.is_some()
    }

    /// Gives bones of the same names the copied pose; `flipped`: those of the other side, as seen in a mirror. One undo
    /// step. How many bones were found.
    pub fn paste_pose(&mut self, flipped: bool) -> usize {
        self.finish_tool();
        let start = self.document.shown_pose();
        let Some(pasted) = self.pasted(&start, flipped) else {
            self.notify("No pose is copied. Copy one with Ctrl+C.");
            return 0;
        };
        let Pasted {
            pose,
            n_found,
            n_missing,
        } = pasted;
        let label = if flipped {
            "Paste pose flipped"
        } else {
            "Paste pose"
        };
        let missing = match n_missing {
            0 => String::new(),
            1 => "; 1 has no counterpart here".into(),
            n => format!("; {n} have no counterpart here"),
        };
        self.pose_at_once(pose, label);
        self.notify(format!("{label}: {}{missing}.", bones(n_found)));
        n_found
    }

    /// `start` with the copied pose, as [`Editor::paste_pose`] gives it; `None` where none is copied.
    pub(super) fn pasted(&self, start: &Pose, flipped: bool) -> Option<Pasted> {
        let copied = self.posing.copied.as_ref()?;
        let rest = self.document.rest_pose();
        let mirror = self.mirror();
        let mut next = start.clone();
        let names = Names::new(self.document.skeleton());
        let (mut n_found, mut n_missing) = (0, 0);
        for copy in &copied.joints {
            let found = names.find(self.document.skeleton(), copy);
            let found = found.and_then(|j| if flipped { mirror.partner(j) } else { Some(j) });
            let Some(joint) = found else {
                n_missing += 1;
                continue;
            };
            n_found += 1;
            let (rest, spaces) = (&rest.locals[joint.get()], mirror.rest_spaces(joint));
            let same = !flipped && copy.posed.rest == *rest && copy.posed.spaces == spaces;
            next.locals[joint.get()] = if same {
                copy.posed.local
            } else {
                let map = if flipped {
                    mirror.reflection()
                } else {
                    DMat3::IDENTITY
                };
                copy.posed.carried_to(rest, spaces, map)
            };
        }
        Some(Pasted {
            pose: next,
            n_found,
            n_missing,
        })
    }
}

/// A pose with the copied one in it.
pub(super) struct Pasted {
    pub(super) pose: Pose,
    /// Bones of the copy that were found.
    n_found: usize,
    n_missing: usize,
}

fn bones(n: usize) -> String {
    if n == 1 {
        "1 bone".into()
    } else {
        format!("{n} bones")
    }
}

/// The joints of a model by what they are called.
struct Names {
    exact: HashMap<String, JointId>,
    /// Lower case, without what stands before a colon.
    loose: HashMap<String, JointId>,
}

impl Names {
    fn new(skeleton: &Skeleton) -> Self {
        let (mut exact, mut loose) = (HashMap::new(), HashMap::new());
        for joint in skeleton.live_joints() {
            let name = &skeleton.joint(joint).name;
            exact.entry(name.clone()).or_insert(joint);
            loose.entry(loosely(name)).or_insert(joint);
        }
        Self { exact, loose }
    }

    /// The joint of this model that a copied one means: of several with its name the one at its index.
    fn find(&self, skeleton: &Skeleton, copy: &CopiedJoint) -> Option<JointId> {
        let here = skeleton
            .is_live(copy.joint)
            .then(|| skeleton.joint(copy.joint));
        if here.is_some_and(|joint| joint.name == copy.name) {
            return Some(copy.joint);
        }
        if copy.name.is_empty() {
            return None;
        }
        let exact = self.exact.get(&copy.name);
        exact
            .or_else(|| self.loose.get(&loosely(&copy.name)))
            .copied()
    }
}

fn loosely(name: &str) -> String {
    let own = name.rsplit(':').next().unwrap_or(name);
    own.to_lowercase()
}
