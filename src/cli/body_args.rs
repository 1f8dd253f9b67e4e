//! The arguments of `sinew body`.

use super::pose_args::PoseArgs;
use crate::twin::scan::Align;
use crate::twin::{Sides, Unit};
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// `sinew body`
#[derive(Debug, Args)]
#[allow(clippy::struct_excessive_bools)] // independent flags
pub struct BodyArgs {
    /// Model (.gltf, .glb, .obj) or project (.ron): the template.
    pub file: PathBuf,
    /// Print the lengths and girths of the template, and its height.
    #[arg(long, conflicts_with_all = ["measure", "out", "report", "scan", "scan_unit", "align"])]
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
    /// Turn faces that the fit flips back, by corrective smoothing.
    #[arg(long)]
    pub smooth_flipped: bool,
    /// A scan of the person, .obj or .ply: report how far the body is from it, in the pose that is given.
    #[arg(long, value_name = "S.ply")]
    pub scan: Option<PathBuf>,
    /// The unit of the scan; it is never scaled to fit.
    #[arg(
        long,
        value_enum,
        value_name = "m|cm|mm",
        default_value = "m",
        requires = "scan"
    )]
    pub scan_unit: ScanUnit,
    /// How the scan is laid on the body: by iterative closest points, or where its file says.
    #[arg(
        long,
        value_enum,
        value_name = "icp|none",
        default_value = "icp",
        requires = "scan"
    )]
    pub align: AlignArg,
    /// The pose that the scan shows.
    #[command(flatten)]
    pub pose: PoseArgs,
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

/// `--scan-unit`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ScanUnit {
    /// Metres.
    M,
    /// Centimetres.
    Cm,
    /// Millimetres.
    Mm,
}

impl From<ScanUnit> for Unit {
    fn from(unit: ScanUnit) -> Self {
        match unit {
            ScanUnit::M => Self::Metre,
            ScanUnit::Cm => Self::Centimetre,
            ScanUnit::Mm => Self::Millimetre,
        }
    }
}

/// `--align`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum AlignArg {
    /// The trimmed iterative closest point algorithm.
    Icp,
    /// It lies where its file says.
    None,
}

impl From<AlignArg> for Align {
    fn from(align: AlignArg) -> Self {
        match align {
            AlignArg::Icp => Self::Icp,
            AlignArg::None => Self::None,
        }
    }
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
