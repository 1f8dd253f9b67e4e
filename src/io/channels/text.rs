//! The text of a file, bounded.

use super::error::{ChannelFileError, MAX_FILE_BYTES};
use crate::motion::text::decode;
use std::fs::File;
use std::io::{Error, ErrorKind, Read as _};
use std::path::Path;

/// The text of a file of at most [`MAX_FILE_BYTES`], without its byte order mark. A larger one is refused by its size.
pub(super) fn read(path: &Path) -> Result<String, ChannelFileError> {
    decode(read_bytes(path)?).map_err(|fault| ChannelFileError::of(path, fault))
}

/// The bytes of such a file.
pub(super) fn read_bytes(path: &Path) -> Result<Vec<u8>, ChannelFileError> {
    let failed = |source| ChannelFileError::Io {
        path: path.to_owned(),
        source,
    };
    let too_large = || ChannelFileError::TooLarge {
        path: path.to_owned(),
    };
    // A pipe would block for ever.
    let found = std::fs::metadata(path).map_err(failed)?;
    if !found.is_file() {
        return Err(failed(Error::new(ErrorKind::InvalidInput, "not a file")));
    }
    if found.len() > MAX_FILE_BYTES {
        return Err(too_large());
    }
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(failed)?;
    // It may grow while it is read.
    file.take(MAX_FILE_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(failed)?;
    if bytes.len() as u64 > MAX_FILE_BYTES {
        return Err(too_large());
    }
    Ok(bytes)
}
