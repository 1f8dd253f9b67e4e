//! Temporary files of saves that were killed: found by their names, and removed by the next save into their folder.

use std::fs::{self, File};
use std::path::Path;

/// The beginning of the name of a temporary file.
pub(super) const PREFIX: &str = ".sinew-";
/// The end of that name.
pub(super) const SUFFIX: &str = ".tmp";
/// The number of random letters and digits between the two.
pub(super) const N_RANDOM: usize = 6;

/// Removes the temporary files in `folder` that no running save holds locked. Where the file system has no locks, all
/// stay.
pub(super) fn remove(folder: &Path) {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    for entry in entries.filter(|entry| entry.file_name().to_str().is_some_and(is_ours)) {
        // A link or a pipe of that name is none of ours.
        if !entry.file_type().is_ok_and(|kind| kind.is_file()) {
            continue;
        }
        let path = entry.path();
        if let Ok(file) = File::open(&path)
            && file.try_lock().is_ok()
        {
            // Locked until it is gone, so that its owner notices if it is just being created.
            let _ = fs::remove_file(&path);
        }
    }
}

fn is_ours(name: &str) -> bool {
    let middle = name
        .strip_prefix(PREFIX)
        .and_then(|n| n.strip_suffix(SUFFIX));
    middle.is_some_and(|m| m.len() == N_RANDOM && m.bytes().all(|b| b.is_ascii_alphanumeric()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_own_unlocked_files_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let others = [
            ".sinew-notes.tmp",
            "sinew-abcdef.tmp",
            ".sinew-abcdef.ron",
            ".sinew-ab_def.tmp",
        ];
        for name in others
            .iter()
            .chain(&[".sinew-aZ09bc.tmp", ".sinew-busy00.tmp"])
        {
            fs::write(at(name), "x").unwrap();
        }
        fs::create_dir(at(".sinew-folder.tmp")).unwrap();
        let busy = File::open(at(".sinew-busy00.tmp")).unwrap();
        busy.try_lock().unwrap();
        remove(folder.path());
        assert!(!at(".sinew-aZ09bc.tmp").exists());
        assert!(at(".sinew-busy00.tmp").exists() && at(".sinew-folder.tmp").exists());
        assert!(others.iter().all(|name| at(name).exists()));
        drop(busy);
        remove(folder.path());
        assert!(!at(".sinew-busy00.tmp").exists());
    }
}
