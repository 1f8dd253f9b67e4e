//! Files of scans of a person: OBJ and PLY.

use super::gltf::ImportError;
use super::obj::obj_points;
use super::ply::{PlyFault, PlyPoints, read_ply};
use super::read::{MAX_MODEL_BYTES, read_file};
use crate::task::{Cancelled, Task};
use crate::twin::Unit;
use crate::twin::scan::{Scan, ScanError};
use std::path::{Path, PathBuf};

/// Why a scan cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ScanFileError {
    /// It was cancelled.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
    /// It has another format.
    #[error("{} is not a scan that Sinew reads: .obj or .ply.", .0.display())]
    Format(PathBuf),
    /// It cannot be read.
    #[error("{} cannot be read: {source}.", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// It is no valid OBJ file.
    #[error("{}: {why}", path.display())]
    Obj {
        /// The file.
        path: PathBuf,
        /// What and where.
        why: ImportError,
    },
    /// It is no valid PLY file.
    #[error("The PLY file {} cannot be read: {fault}.", path.display())]
    Ply {
        /// The file.
        path: PathBuf,
        /// What and where.
        fault: PlyFault,
    },
    /// Its points are not usable.
    #[error("{}: {why}", path.display())]
    Scan {
        /// The file.
        path: PathBuf,
        /// What.
        why: ScanError,
    },
}

/// Reads a scan whose numbers are in `unit`.
///
/// Fails where the file is not valid, or when `task` is cancelled.
pub fn read_scan(path: &Path, unit: Unit, task: &Task) -> Result<Scan, ScanFileError> {
    let extension = path.extension().unwrap_or_default().to_string_lossy();
    let is_obj = extension.eq_ignore_ascii_case("obj");
    if !is_obj && !extension.eq_ignore_ascii_case("ply") {
        return Err(ScanFileError::Format(path.into()));
    }
    let bytes = read_file(path, MAX_MODEL_BYTES).map_err(|source| ScanFileError::Io {
        path: path.into(),
        source,
    })?;
    let file = if is_obj {
        let file = obj_points(&bytes, task).map_err(|why| match why {
            ImportError::Cancelled => ScanFileError::Cancelled(Cancelled),
            why => ScanFileError::Obj {
                path: path.into(),
                why,
            },
        });
        let (points, triangles) = file?;
        PlyPoints {
            points,
            triangles,
            normals: Vec::new(),
        }
    } else {
        read_ply(&bytes, task).map_err(|fault| match fault {
            PlyFault::Cancelled => ScanFileError::Cancelled(Cancelled),
            fault => ScanFileError::Ply {
                path: path.into(),
                fault,
            },
        })?
    };
    drop(bytes);
    let scan = Scan::new(file.points, file.normals, file.triangles, unit);
    scan.map_err(|why| match why {
        ScanError::Cancelled(cancelled) => ScanFileError::Cancelled(cancelled),
        why @ ScanError::Unusable(_) => ScanFileError::Scan {
            path: path.into(),
            why,
        },
    })
}
