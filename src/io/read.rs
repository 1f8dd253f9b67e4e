//! Reading files whole. Anything but a regular file is refused before it is opened, since a pipe or a device may be
//! endless or wait for a writer; and no more is read than the kind of file can need.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

/// The largest model, buffer, weights file or mesh: what the lengths of a .glb can say.
pub(crate) const MAX_MODEL_BYTES: u64 = u32::MAX as u64;
/// The largest pose or settings file.
pub(crate) const MAX_SMALL_BYTES: u64 = 64 << 20;

/// The content of the regular file at `path`; an error if it has more than `most` bytes.
pub(crate) fn read_file(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let found = fs::metadata(path)?;
    if found.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    if !found.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    let mut bytes = Vec::with_capacity(usize::try_from(found.len().min(most)).unwrap_or(0));
    File::open(path)?.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        return Err(io::Error::other(format!(
            "it has more than {} MiB",
            most >> 20
        )));
    }
    Ok(bytes)
}

/// The same as text.
pub(crate) fn read_text(path: &Path, most: u64) -> io::Result<String> {
    String::from_utf8(read_file(path, most)?).map_err(|_| io::Error::other("it is not text"))
}

/// The text of a settings file.
pub(crate) fn read_small_text(path: &Path) -> io::Result<String> {
    read_text(path, MAX_SMALL_BYTES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_read_up_to_their_limit() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.json");
        fs::write(&path, "12345").unwrap();
        assert_eq!(read_file(&path, 5).unwrap(), b"12345");
        assert_eq!(read_text(&path, 5).unwrap(), "12345");
        let why = read_file(&path, 4).unwrap_err().to_string();
        assert_eq!(why, "it has more than 0 MiB");
        assert!(read_file(folder.path(), 5).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn devices_are_refused_before_they_are_read() {
        for device in ["/dev/zero", "/dev/null"] {
            let why = read_file(Path::new(device), 5).unwrap_err().to_string();
            assert_eq!(why, "it is not a regular file");
        }
    }
}
