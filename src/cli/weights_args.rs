//! The arguments of `sinew weights`: operations in the order of the command line.

use super::steps::{self, Flag};
use clap::{ArgMatches, Args, Command, FromArgMatches};
use std::path::PathBuf;

/// `sinew weights`
#[derive(Debug, Args)]
pub struct WeightsArgs {
    /// Model (.gltf, .glb, .obj) or project (.ron).
    pub file: PathBuf,
    /// The file to write: a model (.glb, .gltf) or a project (.ron). Without it only the report is printed.
    #[arg(long, short)]
    pub out: Option<PathBuf>,
    /// Machine-readable report.
    #[arg(long)]
    pub json: bool,
    /// Change these meshes only, by name.
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    pub mesh: Vec<String>,
    /// Change the weights of these bones only; others change only to keep the sums at 1.
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    pub bones: Vec<String>,
    /// Lock the weights of these bones.
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    pub lock: Vec<String>,
    /// Include files that the model references outside its folder in a model that is written.
    #[arg(long)]
    pub include_outside: bool,
    /// Maximum number of influences of a changed vertex; default: 4. A model is written with the same number, up to 8;
    /// without this flag with 4, or with 8 if a vertex has more.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=32))]
    pub max_influences: Option<u8>,
    /// Number of cells along the longest side, for --auto voxel (default: 128) and biharmonic (default: 32).
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(8..=512))]
    pub resolution: Option<u32>,
    /// Falloff of --auto voxel: 0 reaches far, 1 stays near the closest bone.
    #[arg(long, value_name = "X", default_value = "0.3")]
    pub falloff: f32,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub steps: Steps,
}

/// The operations, in the order given.
#[derive(Clone, Debug, Default)]
pub struct Steps(pub Vec<Step>);

/// One requested operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The flag without its dashes.
    pub flag: &'static str,
    /// Its value; empty if it has none.
    pub value: String,
}

/// Flag, name of its value (empty: none), help.
const FLAGS: [Flag; 17] = [
    ("normalize", "", "Scale each vertex's weights to a sum of 1"),
    ("limit", "N", "Keep the N largest influences of each vertex"),
    ("prune", "X", "Remove weights below X"),
    ("quantize", "N", "Round weights to N steps"),
    (
        "smooth",
        "N[=STRENGTH]",
        "Average weights with those of the neighbours, N iterations",
    ),
    (
        "hammer",
        "",
        "Replace weights that differ strongly from those of their surroundings",
    ),
    ("flood", "BONE=X", "Set a bone's weight to X everywhere"),
    ("invert", "BONE", "Replace a bone's weights w with 1 - w"),
    (
        "levels",
        "BONE=LOW=HIGH[=GAMMA]",
        "Remap a bone's weights from LOW..HIGH to 0..1",
    ),
    (
        "move",
        "A=B[=SHARE]",
        "Move A's weights, or a fraction of them, to B",
    ),
    ("merge", "A,B=C", "Move all weights of A and B to C"),
    ("swap", "A=B", "Swap the weights of two bones"),
    (
        "mirror",
        "+x|-x|+y|-y|+z|-z",
        "Copy the weights of this side of the bind pose to the other side",
    ),
    ("flip", "x|y|z", "Swap the weights of both sides"),
    (
        "auto",
        "heat|voxel|biharmonic|rigid",
        "Compute weights from the bones and the surface",
    ),
    (
        "transfer",
        "FILE",
        "Copy weights from the closest surface of another model",
    ),
    (
        "import",
        "FILE",
        "Read weights from a weights file; see also --import-merge",
    ),
];

/// Flags of the command line alone.
const MORE: [Flag; 2] = [
    (
        "import-merge",
        "FILE",
        "The same, for the bones in the file only; the other bones share the rest",
    ),
    (
        "export-weights",
        "FILE",
        "Write a weights file of the weights at this step",
    ),
];

fn flags() -> impl Iterator<Item = &'static Flag> {
    FLAGS.iter().chain(&MORE)
}

impl Args for Steps {
    fn augment_args(command: Command) -> Command {
        steps::augment(command, flags(), |flag| match flag {
            "normalize" => Some("normalise"),
            "quantize" => Some("quantise"),
            _ => None,
        })
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for Steps {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let steps = steps::found(matches, flags()).into_iter();
        let steps = steps.map(|(flag, values)| Step {
            flag,
            value: values.concat(),
        });
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
        weights: WeightsArgs,
    }

    #[test]
    fn operations_keep_the_order_of_the_line() {
        let line = "weights a.glb --smooth 5 --normalise --limit 4 --mirror -x --smooth 2=0.3 --normalize -o b.glb";
        let line = Line::try_parse_from(line.split(' ')).unwrap();
        let steps = line.weights.steps.0;
        let words: Vec<String> = steps
            .iter()
            .map(|s| format!("{} {}", s.flag, s.value))
            .collect();
        assert_eq!(
            words,
            [
                "smooth 5",
                "normalize ",
                "limit 4",
                "mirror -x",
                "smooth 2=0.3",
                "normalize "
            ]
        );
    }
}
