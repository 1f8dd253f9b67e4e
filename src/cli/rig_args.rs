//! The arguments of `sinew rig`: operations in the order of the command line.

use super::pose_args::PoseArgs;
use super::steps::{self, Flag};
use clap::{ArgMatches, Args, Command, FromArgMatches};
use std::path::PathBuf;

/// `sinew rig`
#[derive(Debug, Args)]
#[command(
    after_help = "A bone is given by its name or, as #NODE, by the number of its node in the file. Of several bones with one \
                        name, NAME.001 is the second one, NAME.002 the third, also where an operation before has made it; bones \
                        of a skin come before other nodes."
)]
pub struct RigArgs {
    /// Model (.gltf, .glb, .obj) or project (.ron).
    pub file: PathBuf,
    /// The file to write: a model (.glb, .gltf) or a project (.ron). Without it only the report is printed.
    #[arg(long, short)]
    pub out: Option<PathBuf>,
    /// Machine-readable report.
    #[arg(long)]
    pub json: bool,
    /// Include files that the model references outside its folder in a model that is written.
    #[arg(long)]
    pub include_outside: bool,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub steps: RigSteps,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub pose: PoseArgs,
}

/// The operations, in the order given.
#[derive(Clone, Debug, Default)]
pub struct RigSteps(pub Vec<RigStep>);

/// One requested operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RigStep {
    /// The flag without its dashes.
    pub flag: &'static str,
    /// Its values.
    pub values: Vec<String>,
}

impl RigStep {
    /// The operation as on the command line.
    pub fn line(&self) -> String {
        let words = self.values.iter().filter(|value| !value.is_empty());
        let words = words.map(|value| format!(" {value}"));
        format!("--{}{}", self.flag, words.collect::<String>())
    }
}

const FLAGS: [Flag; 23] = [
    (
        "insert",
        "BONE N",
        "Subdivide a bone with N new ones; no pose changes",
    ),
    (
        "move",
        "BONE X,Y,Z",
        "Move the head of a bone by a world-space offset in metres; its children keep their positions",
    ),
    (
        "intent",
        "pivot|motion|children",
        "What the preceding --move does to clips: rotate about the new pivot (default), keep every motion, or rotate \
         about it while the children keep their motions",
    ),
    (
        "orient",
        "BONE AIM,SIDE",
        "Rotate the axes of a bone: AIM along it, SIDE along the normal of its bend, as +y,+z; every clip keeps its motion",
    ),
    (
        "reparent",
        "BONE PARENT",
        "Change the parent of a bone; every clip keeps its motion",
    ),
    (
        "remove",
        "BONE",
        "Remove a bone; its weights go to its parent or along the bone, whichever changes the clips less",
    ),
    (
        "symmetrize",
        "BONE",
        "Mirror a bone and all below it to the other side; missing bones are created",
    ),
    (
        "twist",
        "BONE N",
        "Add N twist bones (1 - 6) that share a twist along the bone",
    ),
    (
        "half",
        "BONE",
        "Add a half joint at the head of a bone: a helper bone that takes half of its rotation",
    ),
    (
        "freeze-scale",
        "BONE",
        "Apply the scale of a bone: it becomes 1, and nothing changes size",
    ),
    ("rename", "BONE NAME", "Rename a bone"),
    (
        "centre",
        "BONE",
        "Move the head of a bone into the middle of the limb around it; its children keep their positions",
    ),
    (
        "constraint",
        "BONE TYPE[:TARGET[:OPTIONS]]",
        "Add a constraint to a bone, after those that it has: copy-rotation, copy-location, copy-scale, damped-track, \
         twist-share, two-bone-ik or ik with a target, limit-rotation or limit-swing without; options are separated by \
         commas, as copy-rotation:forearm:axes=x,influence=0.5",
    ),
    (
        "template",
        "humanoid|quadruped|chain|hand",
        "Add a skeleton to a model without bones, fitted to it: y is up, people and animals face along z or x",
    ),
    (
        "bind",
        "heat|voxel|biharmonic|rigid",
        "Bind the meshes to their bones, with new weights; a mesh without a skin gets one",
    ),
    (
        "pose-as-rest",
        "",
        "Make the pose the rest pose (a project's, or that of the pose flags); clips stay",
    ),
    (
        "apply-pose",
        "",
        "Make the pose the bind pose: the meshes get the shape that they have in it, by linear blend skinning; clips stay",
    ),
    (
        "unbind",
        "",
        "Detach every mesh from its bones; it keeps its shape and place, and a project keeps its weights",
    ),
    (
        "bind-kept",
        "",
        "Bind unbound meshes again, with the weights that they had",
    ),
    (
        "infer-parents",
        "",
        "Infer the parent of each bone along its limb in a flat rig, where all bones are children of one node (hand tracking)",
    ),
    (
        "limits",
        "BONE X,Y,Z|none",
        "Set the rotation limits of a bone from its rest pose: for each of its axes LOW:HIGH in degrees, or free",
    ),
    (
        "logical-parent",
        "BONE PARENT|none",
        "Set the parent of a bone along its limb; the hierarchy of the file does not change",
    ),
    (
        "pin",
        "BONE CLIP FROM..TO[,at=S][,ease=S]",
        "Keep a bone, such as a foot, in place over a range of a clip (by number or name), seconds: where it is at the time \
         `at` (FROM), with keyframes of its limb; `ease`: the time to its place and back (0.1)",
    ),
];

impl Args for RigSteps {
    fn augment_args(command: Command) -> Command {
        steps::augment(command, FLAGS.iter(), |flag| match flag {
            "symmetrize" => Some("symmetrise"),
            "centre" => Some("center"),
            _ => None,
        })
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for RigSteps {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let steps = steps::found(matches, FLAGS.iter()).into_iter();
        let steps = steps.map(|(flag, values)| RigStep { flag, values });
        Ok(Self(steps.collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        rig: RigArgs,
    }

    #[test]
    fn operations_keep_their_order_and_their_values() {
        let line = "rig a.glb --remove b --insert a 2 --move c -0.1,0,2 --intent motion --pose-as-rest \
                    --orient d -y,+z --insert #4 1 -o b.glb";
        let line = Line::try_parse_from(line.split_whitespace()).unwrap();
        let lines: Vec<String> = line.rig.steps.0.iter().map(RigStep::line).collect();
        assert_eq!(
            lines,
            [
                "--remove b",
                "--insert a 2",
                "--move c -0.1,0,2",
                "--intent motion",
                "--pose-as-rest",
                "--orient d -y,+z",
                "--insert #4 1"
            ]
        );
    }
}
