//! Writing a file so that a crash leaves either the old one or the new one.

use std::io::Write;
use std::path::{Path, PathBuf};

/// Why a file could not be written; the one that was there before, if any, is as it was.
#[derive(Debug, thiserror::Error)]
#[error("\"{}\" could not be written: {source}.", path.display())]
pub struct WriteError {
    /// The file.
    pub path: PathBuf,
    /// What the system said.
    pub source: std::io::Error,
}

/// Writes `bytes` to `path`: a temporary file in the same folder, flushed to the disk, takes the name in one step.
pub fn write_atomically(path: &Path, bytes: &[u8]) -> Result<(), WriteError> {
    write(path, bytes).map_err(|source| WriteError {
        path: path.to_owned(),
        source,
    })
}

fn write(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let mut builder = tempfile::Builder::new();
    builder.prefix(".sinew-");
    // A temporary file is private to the user by default; a saved model is not, unless the old one was.
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let permissions = std::fs::metadata(path).map_or_else(
            |_| std::fs::Permissions::from_mode(0o666),
            |old| old.permissions(),
        );
        builder.permissions(permissions);
    }
    let mut file = builder.tempfile_in(folder)?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    file.persist(path).map_err(|error| error.error)?;
    // The new name is durable only once the folder is. Not every system can flush one; the file itself is safe.
    #[cfg(unix)]
    let _ = std::fs::File::open(folder).and_then(|folder| folder.sync_all());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_and_nothing_else_is_left() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model.glb");
        write_atomically(&path, b"old").unwrap();
        write_atomically(&path, b"new").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"new");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_missing_folder_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("none/model.glb");
        let error = write_atomically(&path, b"").unwrap_err().to_string();
        assert!(
            error.contains("model.glb\" could not be written"),
            "{error}"
        );
    }
}
