//! The guard of all writers: no output may replace an input, or another output, of the same work.
//!
//! [`Outputs::protect`] registers the inputs; [`Outputs::claim`] checks a path and returns the [`Output`] that may be
//! written. Two paths are the same file if they resolve to the same real path (with symbolic links resolved, even if
//! the file does not exist yet) or are hard links of one file.

use super::atomic::{Disk, Staged, WriteError, permissions_of, real_path, write_atomically};
use crate::document::Document;
use crate::task::Task;
use percent_encoding::percent_decode_str;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// The name of the user's own project in errors.
const PROJECT: &str = "the project itself";

/// The inputs and outputs of a work.
#[derive(Clone, Debug, Default)]
pub struct Outputs {
    /// The inputs, and their names in errors.
    inputs: Vec<(File, &'static str)>,
    claimed: Vec<File>,
}

/// A path that may be written: neither an input nor another output.
#[derive(Debug)]
pub struct Output {
    path: PathBuf,
}

impl Output {
    /// The path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Replaces the content of the file with `bytes` in one step.
    pub fn write(self, bytes: &[u8]) -> Result<(), WriteError> {
        write_atomically(&self.path, bytes)
    }

    /// Writes `bytes` beside the file, which [`StagedOutput::publish`] replaces with them.
    pub fn stage(self, bytes: &[u8], task: &Task) -> Result<StagedOutput, WriteError> {
        let staged = Staged::new(&self.path, bytes, &mut Disk, task)?;
        Ok(StagedOutput { staged })
    }
}

/// An output whose content is complete on disk, but does not have its name yet. Dropped, it leaves nothing behind.
#[derive(Debug)]
pub struct StagedOutput {
    staged: Staged,
}

impl StagedOutput {
    /// The file that gets the content, with symbolic links resolved.
    pub fn file(&self) -> &Path {
        self.staged.file()
    }

    /// Gives the content its name.
    pub fn publish(self) -> Result<(), WriteError> {
        self.staged.publish(&mut Disk)
    }
}

impl Outputs {
    /// Protects the model that `document` was imported from, every file that it references, and the recordings of the
    /// document.
    pub fn of(document: &Document) -> Self {
        let mut outputs = Self::default();
        outputs.protect_model(document, "the model itself");
        outputs
    }

    /// Protects a file. `what`: its name in "... is the pose file. Choose another name".
    pub fn protect(&mut self, path: &Path, what: &'static str) {
        self.inputs.push((File::at(path), what));
    }

    /// Protects the model that `document` was imported from, called `what` in errors, every file that it references, and
    /// the recordings of the document.
    pub fn protect_model(&mut self, document: &Document, what: &'static str) {
        for recording in document.recordings().values() {
            self.protect(&recording.path, "a recording");
        }
        let Some((source, path)) = document
            .source()
            .and_then(|source| Some((source, source.path.as_deref()?)))
        else {
            return;
        };
        self.protect(path, what);
        let folder = path.parent().unwrap_or(Path::new(""));
        let mut uris = Vec::new();
        collect_uris(&source.json, &mut uris);
        for uri in uris {
            let name = percent_decode_str(uri).decode_utf8_lossy();
            self.protect(&folder.join(&*name), "a file of the model");
            if name.contains('\\') {
                let name = name.replace('\\', "/");
                self.protect(&folder.join(name), "a file of the model");
            }
        }
    }

    /// Protects the document's project, which only the project itself may replace.
    pub fn protect_project(&mut self, path: &Path) {
        self.protect(path, PROJECT);
    }

    /// Returns an error if `path` is an input, an output claimed before, a folder, a device, a pipe or a write-protected file,
    /// or if a part of its folder is a file. Also for a check before long work.
    pub fn check(&self, path: &Path) -> Result<(), WriteError> {
        let file = File::at(path);
        if let Some((_, what)) = self.inputs.iter().find(|(input, _)| input.is(&file)) {
            return Err(WriteError::IsInput {
                path: path.to_owned(),
                what,
            });
        }
        self.check_claimed(path, &file)?;
        check_replaceable(path)
    }

    /// Checks `path` and reserves it for the returned output.
    pub fn claim(&mut self, path: &Path) -> Result<Output, WriteError> {
        self.check(path)?;
        self.claimed.push(File::at(path));
        Ok(Output {
            path: path.to_owned(),
        })
    }

    /// [`Outputs::claim`] for saving the project, which may replace itself.
    pub fn claim_project(&mut self, path: &Path) -> Result<Output, WriteError> {
        let others = Self {
            inputs: self
                .inputs
                .iter()
                .filter(|i| i.1 != PROJECT)
                .cloned()
                .collect(),
            claimed: self.claimed.clone(),
        };
        others.check(path)?;
        self.claimed.push(File::at(path));
        Ok(Output {
            path: path.to_owned(),
        })
    }

    /// Reserves a file that already has the required content, and may be an input, without writing it.
    pub fn keep(&mut self, path: &Path) -> Result<(), WriteError> {
        let file = File::at(path);
        self.check_claimed(path, &file)?;
        self.claimed.push(file);
        Ok(())
    }

    fn check_claimed(&self, path: &Path, file: &File) -> Result<(), WriteError> {
        if self.claimed.iter().any(|claimed| claimed.is(file)) {
            return Err(WriteError::WrittenTwice {
                path: path.to_owned(),
            });
        }
        Ok(())
    }
}

/// Returns an error if what is at `path` cannot be replaced by a file, or if a part of its folder is no folder.
fn check_replaceable(path: &Path) -> Result<(), WriteError> {
    let refused = |what: String| WriteError::Refused {
        path: path.to_owned(),
        what,
    };
    permissions_of(path).map_err(|why| refused(why.into()))?;
    let parents = path.ancestors().skip(1);
    let mut there = parents.filter_map(|parent| Some((parent, std::fs::metadata(parent).ok()?)));
    match there.next() {
        Some((parent, there)) if !there.is_dir() => {
            Err(refused(format!("\"{}\" is not a folder", parent.display())))
        }
        _ => Ok(()),
    }
}

/// A file, independent of the path that leads to it.
#[derive(Clone, Debug)]
struct File {
    path: PathBuf,
    /// The device and inode numbers, equal for hard links; `None` if the file does not exist yet or the system has no
    /// such numbers.
    inode: Option<(u64, u64)>,
}

impl File {
    fn at(path: &Path) -> Self {
        Self {
            path: real_path(path),
            inode: inode(path),
        }
    }

    fn is(&self, other: &Self) -> bool {
        self.path == other.path || (self.inode.is_some() && self.inode == other.inode)
    }
}

#[cfg(unix)]
fn inode(path: &Path) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    let found = std::fs::metadata(path).ok()?;
    Some((found.dev(), found.ino()))
}

#[cfg(not(unix))]
fn inode(_path: &Path) -> Option<(u64, u64)> {
    None
}

/// Collects every string under a key `uri` that references a file, also in extensions and extras: data that Sinew does
/// not read is protected, too.
fn collect_uris<'a>(value: &'a Value, found: &mut Vec<&'a str>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| collect_uris(item, found)),
        Value::Object(map) => {
            for (key, item) in map {
                match item {
                    Value::String(uri) if key == "uri" => {
                        let is_data = uri
                            .get(..5)
                            .is_some_and(|s| s.eq_ignore_ascii_case("data:"));
                        if !is_data && !uri.is_empty() && !uri.contains('\0') {
                            found.push(uri);
                        }
                    }
                    _ => collect_uris(item, found),
                }
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_the_same_by_any_path() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("in.glb"), "model").unwrap();
        std::fs::create_dir(at("sub")).unwrap();
        let mut outputs = Outputs::default();
        outputs.protect(&at("in.glb"), "the model itself");
        let mut same = vec![at("in.glb"), at("sub/../in.glb"), at("./in.glb")];
        #[cfg(unix)]
        {
            std::fs::hard_link(at("in.glb"), at("hard.glb")).unwrap();
            std::os::unix::fs::symlink("in.glb", at("soft.glb")).unwrap();
            std::os::unix::fs::symlink("../soft.glb", at("sub/softer.glb")).unwrap();
            same.extend([at("hard.glb"), at("soft.glb"), at("sub/softer.glb")]);
        }
        for path in same {
            let why = outputs.claim(&path).unwrap_err().to_string();
            assert!(why.contains("is the model itself"), "{why}");
        }
        outputs.claim(&at("sub/in.glb")).unwrap();
    }

    #[test]
    fn outputs_that_are_not_there_yet_are_told_apart() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let mut outputs = Outputs::default();
        let first = outputs.claim(&at("new/deep/out.glb")).unwrap();
        for path in ["new/deep/out.glb", "new/deep/../deep/./out.glb"] {
            let why = outputs.claim(&at(path)).unwrap_err().to_string();
            assert!(why.contains("written twice"), "{why}");
        }
        assert!(outputs.keep(&at("new/deep/out.glb")).is_err());
        outputs.claim(&at("new/out.glb")).unwrap();
        assert_eq!(first.path(), at("new/deep/out.glb"));
        #[cfg(unix)]
        {
            // Links to a file that does not exist yet.
            std::os::unix::fs::symlink("later.json", at("a.json")).unwrap();
            std::os::unix::fs::symlink("a.json", at("b.json")).unwrap();
            outputs.claim(&at("b.json")).unwrap();
            assert!(outputs.claim(&at("later.json")).is_err());
            assert!(outputs.claim(&at("a.json")).is_err());
        }
    }

    #[test]
    fn what_no_file_can_replace_is_refused_before_the_work() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("file"), "model").unwrap();
        std::fs::create_dir(at("sub")).unwrap();
        let mut outputs = Outputs::default();
        let mut why = |name: &str| outputs.claim(&at(name)).unwrap_err().to_string();
        assert!(why("sub").ends_with("it is a folder."));
        for below in ["file/x.json", "file/deep/x.json"] {
            let expected = format!("\"{}\" is not a folder.", at("file").display());
            assert!(why(below).ends_with(&expected), "{}", why(below));
        }
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink("/dev/null", at("device")).unwrap();
            assert!(why("device").ends_with("it is not a regular file."));
        }
        outputs.claim(&at("sub/deep/x.json")).unwrap();
        outputs.claim(&at("file")).unwrap();
    }

    #[test]
    fn everything_a_model_refers_to_is_found() {
        let json = serde_json::json!({
            "buffers": [{"uri": "a%20b.bin"}, {"uri": "data:,"}],
            "images": [{"uri": "../c.png"}, {"extensions": {"X": {"uri": "d"}}, "extras": {"uri": "e"}}]
        });
        let mut found = Vec::new();
        collect_uris(&json, &mut found);
        assert_eq!(found, ["a%20b.bin", "../c.png", "d", "e"]);
    }
}
