//! Stamps of files: whether a file on disk still has the content that was read from it or written to it.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;
use std::time::SystemTime;
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

/// The bytes hashed at a time.
const PIECE_BYTES: usize = 1 << 18;

/// The state of a file: its size, its time of modification and the hash of its content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileStamp {
    len: u64,
    modified: Option<SystemTime>,
    /// xxh3-64.
    hash: u64,
}

impl FileStamp {
    /// The stamp of the file at `path`, whose content is read; `None` unless it is a regular file that can be read.
    pub fn of_file(path: &Path) -> Option<Self> {
        let (len, modified) = size_and_time(path)?;
        let hash = hash(path).ok()?;
        Some(Self {
            len,
            modified,
            hash,
        })
    }

    /// The stamp of the file at `path` from which `bytes` were just read, or to which they were just written.
    pub fn of_content(path: &Path, bytes: &[u8]) -> Option<Self> {
        Self::before_reading(path)(bytes)
    }

    /// Looks at the file at `path` before it is read: gives its stamp for what was then read from it. A change in between
    /// is noticed later.
    pub fn before_reading(path: &Path) -> impl FnOnce(&[u8]) -> Option<Self> + use<> {
        let found = size_and_time(path);
        move |bytes| {
            let (len, modified) = found?;
            Some(Self {
                len: bytes.len() as u64,
                // Something else wrote it in between: only the content counts.
                modified: modified.filter(|_| len == bytes.len() as u64),
                hash: xxh3_64(bytes),
            })
        }
    }

    /// Whether another content stands at `path` now. A file that is gone, or whose time alone changed, has not.
    pub fn has_changed(&self, path: &Path) -> bool {
        let Some((len, modified)) = size_and_time(path) else {
            return false;
        };
        let is_untouched = len == self.len && modified.is_some() && modified == self.modified;
        !is_untouched && (len != self.len || hash(path).is_ok_and(|hash| hash != self.hash))
    }
}

/// The size and the time of a regular file.
fn size_and_time(path: &Path) -> Option<(u64, Option<SystemTime>)> {
    let found = fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
    Some((found.len(), found.modified().ok()))
}

fn hash(path: &Path) -> io::Result<u64> {
    let mut file = File::open(path)?;
    let mut hash = Xxh3::new();
    let mut piece = vec![0; PIECE_BYTES];
    loop {
        match file.read(&mut piece)? {
            0 => return Ok(hash.digest()),
            n => hash.update(&piece[..n]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_another_content_is_a_change() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("arm.ron");
        assert_eq!(FileStamp::of_file(&path), None);
        fs::write(&path, "one").unwrap();
        let stamp = FileStamp::of_file(&path).unwrap();
        assert_eq!(FileStamp::of_content(&path, b"one"), Some(stamp.clone()));
        assert!(!stamp.has_changed(&path));
        let file = File::options().write(true).open(&path).unwrap();
        let later = SystemTime::now() + std::time::Duration::from_mins(1);
        file.set_modified(later).unwrap();
        assert!(!stamp.has_changed(&path), "touched, but the same");
        fs::write(&path, "two").unwrap();
        file.set_modified(later).unwrap();
        assert!(stamp.has_changed(&path), "of the same length");
        fs::remove_file(&path).unwrap();
        assert!(!stamp.has_changed(&path), "gone: nothing is lost by saving");
    }
}
