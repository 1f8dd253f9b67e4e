//! Files of measurements of a person.

use super::read::{MAX_SMALL_BYTES, read_file};
use crate::motion::fault::Fault;
use crate::motion::text::decode;
use crate::twin::Measurement;
use crate::twin::table::parse_measurements;
use std::path::{Path, PathBuf};

/// Why a file of measurements cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum MeasurementsError {
    /// It cannot be read.
    #[error("{} cannot be read: {source}.", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// Its text is not a table of measurements.
    #[error("{}: {fault}.", path.display())]
    Text {
        /// The file.
        path: PathBuf,
        /// What and where.
        fault: Fault,
    },
}

/// Reads a table of measurements, CSV or JSON.
pub fn read_measurements(path: &Path) -> Result<Vec<Measurement>, MeasurementsError> {
    let bytes = read_file(path, MAX_SMALL_BYTES).map_err(|source| MeasurementsError::Io {
        path: path.into(),
        source,
    })?;
    let rows = decode(bytes).and_then(|text| parse_measurements(&text));
    rows.map_err(|fault| MeasurementsError::Text {
        path: path.into(),
        fault,
    })
}
