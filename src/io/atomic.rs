//! Atomic file replacement: after a crash, the file has either its old or its new content.

use super::leftovers;
use crate::task::{Cancelled, Task};
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Component, Path, PathBuf};
use tempfile::NamedTempFile;

/// The reason that a file could not be written; an existing file is unchanged.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WriteError {
    /// The work was cancelled.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
    /// It would replace an input of the work.
    #[error("\"{}\" is {what}. Choose another name to keep the original.", path.display())]
    IsInput {
        /// The path.
        path: PathBuf,
        /// What the file is: "the model itself".
        what: &'static str,
    },
    /// Two outputs have the same path.
    #[error("\"{}\" would be written twice. Choose another name for one of the two.", path.display())]
    WrittenTwice {
        /// The path.
        path: PathBuf,
    },
    /// The file system reported an error.
    #[error("\"{}\" cannot be written: {what}.", path.display())]
    Refused {
        /// The path.
        path: PathBuf,
        /// The reason: "the disk is full".
        what: String,
    },
}

impl WriteError {
    /// The error for `path` with its reason.
    pub(crate) fn of(path: &Path, error: &io::Error) -> Self {
        Self::Refused {
            path: path.to_owned(),
            what: reason(error),
        }
    }
}

/// Replaces the content of `path` with `bytes` in one step. Only for the program's own files: paths chosen by the user
/// go through [`super::Outputs`].
pub(crate) fn write_atomically(path: &Path, bytes: &[u8]) -> Result<(), WriteError> {
    replace(path, bytes, &mut Disk, &Task::new())
}

/// The steps of a replacement, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// A temporary file exists in the same folder.
    Created,
    /// It is still empty, and has the permissions of the old file.
    Permitted,
    /// It has the complete content.
    Written,
    /// Its content is synced to disk.
    Synced,
    /// It has the old file's name.
    Renamed,
    /// The rename is synced to disk.
    FolderSynced,
}

/// The file system, or a test that makes it fail.
pub(super) trait WriteSteps {
    /// Writes a piece of the temporary file.
    fn write(&mut self, file: &mut File, piece: &[u8]) -> io::Result<()> {
        file.write_all(piece)
    }

    /// Called after each step; an error stops the replacement.
    fn reached(&mut self, _step: Step) -> io::Result<()> {
        Ok(())
    }
}

/// The real file system.
pub(super) struct Disk;

impl WriteSteps for Disk {}

/// The size of the pieces between which a write can be cancelled, bytes.
const PIECE_BYTES: usize = 1 << 20;

/// Replaces the content of `path` with `bytes`: until the rename it has the old content, afterwards all of `bytes`.
///
/// Symbolic links are followed, an existing file's permissions are kept, a write-protected file is an error.
pub(super) fn replace(
    path: &Path,
    bytes: &[u8],
    steps: &mut impl WriteSteps,
    task: &Task,
) -> Result<(), WriteError> {
    Staged::new(path, bytes, steps, task)?.publish(steps)
}

/// The new content of a file, complete and synced in a temporary file beside it. Dropped, it leaves nothing behind.
#[derive(Debug)]
pub(super) struct Staged {
    /// As in errors.
    path: PathBuf,
    /// With symbolic links resolved.
    file: PathBuf,
    folder: PathBuf,
    temporary: NamedTempFile,
}

impl Staged {
    /// Writes `bytes` beside the file at `path`, which stays as it is.
    pub(super) fn new(
        path: &Path,
        bytes: &[u8],
        steps: &mut impl WriteSteps,
        task: &Task,
    ) -> Result<Self, WriteError> {
        let file = real_path(path);
        let permissions = permissions_of(&file).map_err(|what| WriteError::Refused {
            path: path.to_owned(),
            what: what.to_owned(),
        })?;
        let folder = match file.parent() {
            Some(folder) if folder != Path::new("") => folder.to_owned(),
            _ => PathBuf::from("."),
        };
        leftovers::remove(&folder);
        let mut create = || -> io::Result<NamedTempFile> {
            let temporary = new_file(&folder)?;
            steps.reached(Step::Created)?;
            if let Some(permissions) = &permissions {
                temporary.as_file().set_permissions(permissions.clone())?;
            }
            steps.reached(Step::Permitted)?;
            Ok(temporary)
        };
        let mut temporary = create().map_err(|error| WriteError::of(path, &error))?;
        for piece in bytes.chunks(PIECE_BYTES) {
            task.check()?;
            steps
                .write(temporary.as_file_mut(), piece)
                .map_err(|error| WriteError::of(path, &error))?;
        }
        let mut sync = || -> io::Result<()> {
            steps.reached(Step::Written)?;
            temporary.as_file().sync_all()?;
            steps.reached(Step::Synced)
        };
        sync().map_err(|error| WriteError::of(path, &error))?;
        Ok(Self {
            path: path.to_owned(),
            file,
            folder,
            temporary,
        })
    }

    /// The file that gets the content, with symbolic links resolved.
    pub(super) fn file(&self) -> &Path {
        &self.file
    }

    /// Gives the content the name of the file.
    pub(super) fn publish(self, steps: &mut impl WriteSteps) -> Result<(), WriteError> {
        let Self {
            path,
            file,
            folder,
            temporary,
        } = self;
        let publish = || -> io::Result<()> {
            temporary.persist(&file).map_err(|error| error.error)?;
            steps.reached(Step::Renamed)?;
            sync_folder(&folder)?;
            steps.reached(Step::FolderSynced)
        };
        publish().map_err(|error| WriteError::of(&path, &error))
    }
}

/// The permissions of an existing file, or the reason why it cannot be replaced.
pub(super) fn permissions_of(file: &Path) -> Result<Option<fs::Permissions>, &'static str> {
    match fs::metadata(file) {
        Ok(there) if there.is_dir() => Err("it is a folder"),
        // The rename would turn a device or a pipe into a file.
        Ok(there) if !there.is_file() => Err("it is not a regular file"),
        Ok(there) if there.permissions().readonly() => Err("the file is write-protected"),
        Ok(there) => Ok(Some(there.permissions())),
        Err(_) => Ok(None),
    }
}

/// The largest number of symbolic links followed, which ends cycles.
const MOST_LINKS: usize = 40;

/// The absolute path of the file with symbolic links resolved, even if the file or its folders do not exist yet.
pub(super) fn real_path(path: &Path) -> PathBuf {
    let mut path = path.to_owned();
    for _ in 0..MOST_LINKS {
        if let Ok(real) = path.canonicalize() {
            return real;
        }
        match fs::read_link(&path) {
            Ok(to) => path = path.parent().map_or_else(|| to.clone(), |p| p.join(&to)),
            Err(_) => break,
        }
    }
    for there in path.ancestors() {
        let folder = if there == Path::new("") {
            Path::new(".")
        } else {
            there
        };
        if let Ok(mut real) = folder.canonicalize() {
            let missing = path.strip_prefix(there).unwrap_or(Path::new(""));
            for part in missing.components() {
                match part {
                    Component::Normal(name) => real.push(name),
                    // A missing folder is not a symbolic link, so ".." removes it.
                    Component::ParentDir => {
                        real.pop();
                    }
                    _ => {}
                }
            }
            return real;
        }
    }
    path
}

/// A temporary file with the default permissions for new files of the user, locked while it is open: a save by another
/// program leaves it alone.
fn new_file(folder: &Path) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder
        .prefix(leftovers::PREFIX)
        .suffix(leftovers::SUFFIX)
        .rand_bytes(leftovers::N_RANDOM);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    loop {
        let temporary = builder.tempfile_in(folder)?;
        let is_locked = temporary.as_file().try_lock();
        let is_swept = matches!(is_locked, Err(fs::TryLockError::WouldBlock));
        // Another save may have taken it for a leftover between its creation and its lock.
        if !is_swept && temporary.path().exists() {
            return Ok(temporary);
        }
    }
}

#[cfg(unix)]
fn sync_folder(folder: &Path) -> io::Result<()> {
    match File::open(folder)?.sync_all() {
        // Some network file systems do not support this; the file content is safe.
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported
            ) =>
        {
            Ok(())
        }
        result => result,
    }
}

/// Other systems sync the name with the rename.
#[cfg(not(unix))]
fn sync_folder(_folder: &Path) -> io::Result<()> {
    Ok(())
}

/// The reason of an error, as the end of a sentence.
pub(super) fn reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::PermissionDenied => "permission denied".into(),
        io::ErrorKind::NotFound => "no such file or folder".into(),
        io::ErrorKind::StorageFull => "the disk is full".into(),
        io::ErrorKind::QuotaExceeded => "your disk quota is exceeded".into(),
        io::ErrorKind::ReadOnlyFilesystem => "the disk is write-protected".into(),
        io::ErrorKind::IsADirectory => "it is a folder".into(),
        _ => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Stops after a step, or in the middle of the write.
    struct StopsAt {
        step: Option<Step>,
        bytes_left: usize,
    }

    impl WriteSteps for StopsAt {
        fn write(&mut self, file: &mut File, piece: &[u8]) -> io::Result<()> {
            let n = piece.len().min(self.bytes_left);
            file.write_all(&piece[..n])?;
            self.bytes_left -= n;
            if n < piece.len() {
                return Err(io::ErrorKind::StorageFull.into());
            }
            Ok(())
        }

        fn reached(&mut self, step: Step) -> io::Result<()> {
            if self.step == Some(step) {
                return Err(io::Error::other("stopped"));
            }
            Ok(())
        }
    }

    fn save(path: &Path, bytes: &[u8]) -> Result<(), WriteError> {
        replace(path, bytes, &mut Disk, &Task::new())
    }

    #[test]
    fn wherever_a_save_stops_the_file_is_whole() {
        let new = vec![b'n'; 3 * PIECE_BYTES + 5];
        let steps = [
            Step::Created,
            Step::Permitted,
            Step::Written,
            Step::Synced,
            Step::Renamed,
            Step::FolderSynced,
        ];
        let partial = [0, 1, PIECE_BYTES, 2 * PIECE_BYTES + 7, new.len() - 1];
        let stops = steps
            .map(|step| (Some(step), usize::MAX))
            .into_iter()
            .chain(partial.map(|bytes_left| (None, bytes_left)));
        for (step, bytes_left) in stops {
            for old in [None, Some(&b"old"[..])] {
                let folder = tempfile::tempdir().unwrap();
                let path = folder.path().join("arm.ron");
                if let Some(old) = old {
                    fs::write(&path, old).unwrap();
                }
                let result = replace(&path, &new, &mut StopsAt { step, bytes_left }, &Task::new());
                assert!(result.is_err());
                let renamed = matches!(step, Some(Step::Renamed | Step::FolderSynced));
                let expected = if renamed { Some(new.as_slice()) } else { old };
                assert_eq!(
                    fs::read(&path).ok().as_deref(),
                    expected,
                    "{step:?} {bytes_left}"
                );
                // The remains of a killed save do not affect the next one, which removes them.
                fs::write(folder.path().join(".sinew-left00.tmp"), "half").unwrap();
                save(&path, b"next").unwrap();
                assert_eq!(fs::read(&path).unwrap(), b"next");
                assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
            }
        }
    }

    #[test]
    fn a_full_disk_is_said_in_one_sentence_and_leaves_nothing_behind() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("arm.ron");
        let mut full = StopsAt {
            step: None,
            bytes_left: 1,
        };
        let error = replace(&path, b"abc", &mut full, &Task::new()).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!(
                "\"{}\" cannot be written: the disk is full.",
                path.display()
            )
        );
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_cancelled_save_keeps_the_old_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("arm.ron");
        save(&path, b"old").unwrap();
        let task = Task::new();
        task.cancel();
        let error = replace(&path, b"new", &mut Disk, &task).unwrap_err();
        assert!(matches!(error, WriteError::Cancelled(_)));
        assert_eq!(fs::read(&path).unwrap(), b"old");
    }

    #[test]
    fn a_save_under_way_is_not_swept_by_another() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let slow = Staged::new(&path("slow.ron"), b"slow", &mut Disk, &Task::new()).unwrap();
        save(&path("fast.ron"), b"fast").unwrap();
        slow.publish(&mut Disk).unwrap();
        assert_eq!(fs::read(path("slow.ron")).unwrap(), b"slow");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    }

    #[cfg(unix)]
    #[test]
    fn devices_are_not_replaced() {
        let error = save(Path::new("/dev/null"), b"x").unwrap_err().to_string();
        assert!(error.ends_with("it is not a regular file."), "{error}");
    }

    #[test]
    fn folders_and_missing_folders_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let error = save(folder.path(), b"x").unwrap_err().to_string();
        assert!(error.ends_with("it is a folder."), "{error}");
        let error = save(&folder.path().join("none/arm.ron"), b"x").unwrap_err();
        let error = error.to_string();
        assert!(error.ends_with("no such file or folder."), "{error}");
    }

    #[cfg(unix)]
    #[test]
    fn permissions_and_links_stay_and_write_protection_is_respected() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let (path, link) = (
            folder.path().join("arm.ron"),
            folder.path().join("link.ron"),
        );
        std::os::unix::fs::symlink("arm.ron", &link).unwrap();
        save(&link, b"through a link to nothing").unwrap();
        let mode = |p: &Path| fs::metadata(p).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&path) & 0o600, 0o600);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        save(&link, b"new").unwrap();
        assert_eq!(
            (mode(&path), fs::read(&path).unwrap()),
            (0o640, b"new".to_vec())
        );
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        fs::set_permissions(&path, fs::Permissions::from_mode(0o440)).unwrap();
        let error = save(&path, b"newer").unwrap_err().to_string();
        assert!(error.ends_with("write-protected."), "{error}");
    }
}
