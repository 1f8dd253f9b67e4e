//! Arguments of retargeting: what travels, stretches and twists.

use crate::motion::retarget::RootMotion;
use clap::ValueEnum;

/// `--root`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum RootArg {
    /// The hips travel.
    Hips,
    /// The root joint of the skeleton takes the travel along the floor and the heading.
    Root,
}

impl From<RootArg> for RootMotion {
    fn from(value: RootArg) -> Self {
        match value {
            RootArg::Hips => Self::Hips,
            RootArg::Root => Self::Root,
        }
    }
}

/// `--stretch`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum StretchArg {
    /// Bones keep their lengths.
    Drop,
    /// Bones stretch as the bones of the motion do.
    Keep,
}

/// `--twist`
pub(super) fn parse_twist(text: &str) -> Result<(String, f64), String> {
    let (role, degrees) = text
        .split_once('=')
        .ok_or("a role and degrees, as in l.forearm=20")?;
    let degrees: f64 = degrees
        .parse()
        .map_err(|_| format!("\"{degrees}\" is not a number of degrees"))?;
    if degrees.is_nan() || degrees.abs() > 180.0 {
        return Err(format!("{degrees} is not between -180 and 180 degrees"));
    }
    Ok((role.to_owned(), degrees))
}
