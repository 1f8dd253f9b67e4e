//! Locks of files between running programs. The system releases them when the program ends, also when it is killed.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::Path;
use std::time::Duration;

/// Tries to lock before it is believed that somebody else holds a lock: whoever asks [`is_held_elsewhere`] holds it for
/// a moment.
const N_TRIES: usize = 20;
/// The pause between two tries.
const PAUSE: Duration = Duration::from_millis(2);

/// The lock of a file, held until this value is dropped.
#[derive(Debug)]
pub(super) struct FileLock {
    _file: File,
}

impl FileLock {
    /// Locks the file at `path`, which is made if it does not exist. `None` if another program, or another lock of this
    /// one, holds it; an error where the file cannot be made or is no regular file, or the file system has no locks.
    pub(super) fn acquire(path: &Path) -> io::Result<Option<Self>> {
        // A pipe would wait for a reader.
        if fs::metadata(path).is_ok_and(|found| !found.is_file()) {
            return Err(io::Error::other("it is not a regular file"));
        }
        let file = File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(path)?;
        for _ in 0..N_TRIES {
            match file.try_lock() {
                Ok(()) => return Ok(Some(Self { _file: file })),
                Err(TryLockError::WouldBlock) => std::thread::sleep(PAUSE),
                Err(TryLockError::Error(error)) => return Err(error),
            }
        }
        Ok(None)
    }
}

/// Whether another program, or another lock of this one, holds the lock of the file at `path`.
pub(super) fn is_held_elsewhere(path: &Path) -> bool {
    // A pipe would wait for a writer.
    fs::metadata(path).is_ok_and(|found| found.is_file())
        && File::open(path).is_ok_and(|f| matches!(f.try_lock(), Err(TryLockError::WouldBlock)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_is_seen_while_it_lives_and_not_afterwards() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("arm.lock");
        assert!(!is_held_elsewhere(&path));
        let held = FileLock::acquire(&path).unwrap().unwrap();
        assert!(is_held_elsewhere(&path));
        assert!(FileLock::acquire(&path).unwrap().is_none());
        drop(held);
        assert!(!is_held_elsewhere(&path));
        assert!(FileLock::acquire(&path).unwrap().is_some());
    }

    #[cfg(unix)]
    #[test]
    fn a_pipe_is_no_lock_and_is_not_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("arm.lock");
        let made = std::process::Command::new("mkfifo").arg(&path).status();
        assert!(made.unwrap().success());
        let (done, end) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            let is_held = is_held_elsewhere(&path);
            let _ = done.send((is_held, FileLock::acquire(&path).is_err()));
        });
        let found = end.recv_timeout(Duration::from_mins(1));
        assert_eq!(found, Ok((false, true)));
    }
}
