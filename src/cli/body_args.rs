//! The arguments of `sinew body`.

use crate::twin::Sides;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// `sinew body`
#[derive(Debug, Args)]
#[allow(clippy::struct_excessive_bools)] // independent flags
pub struct BodyArgs {
    /// Model (.gltf, .glb, .obj) or project (.ron): the template.
    pub file: PathBuf,
    /// Print the lengths and girths of the template, and its height.
    #[arg(long, conflicts_with_all = ["measure", "out", "report"])]
    pub template: bool,
    /// Measurements of a person, .csv or .json, which the manual describes; default: those of the project.
    #[arg(long, value_name = "M.csv")]
    pub measure: Option<PathBuf>,
    /// Whether hips, spine and neck are lengthened until the body has the measured height, where lengths are measured too.
    #[arg(
        long,
        value_enum,
        value_name = "on|off",
        default_value = "on",
        default_missing_value = "on",
        num_args = 0..=1
    )]
    pub fit_height: OnOff,
    /// What the side without a measurement gets: that of the other side, or nothing.
    #[arg(long, value_enum, default_value = "both")]
    pub sides: SidesArg,
    /// Give bones next to measured ones the mean factor of those.
    #[arg(long)]
    pub neighbours: bool,
    /// With several girths on a bone, vary the factor along it in place of their mean.
    #[arg(long)]
    pub taper: bool,
    /// Where to write the individual: .glb or .gltf, or .ron for a project of the template with the measurements.
    #[arg(long, short)]
    pub out: Option<PathBuf>,
    /// The file for the report, as JSON.
    #[arg(long, value_name = "R.json")]
    pub report: Option<PathBuf>,
    /// Print the template's measures, or the report, as JSON.
    #[arg(long)]
    pub json: bool,
}

/// `--fit-height`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum OnOff {
    /// Yes.
    On,
    /// No.
    Off,
}

/// `--sides`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SidesArg {
    /// That of the side that was measured.
    Both,
    /// Nothing: it keeps the template's size.
    Own,
}

impl From<SidesArg> for Sides {
    fn from(sides: SidesArg) -> Self {
        match sides {
            SidesArg::Both => Self::Both,
            SidesArg::Own => Self::Own,
        }
    }
}
