//! Mappings of bones as files: those that an artist saves, and those that are remembered for the skeletons of motions.

use super::atomic::write_atomically;
use super::{Output, read_small_text};
use crate::motion::roles::RoleMap;
use std::path::{Path, PathBuf};
use xxhash_rust::xxh3::Xxh3;

/// Reads a mapping. An error is a sentence without its end, after the name of the file.
pub fn read_mapping(path: &Path) -> Result<RoleMap, String> {
    let text = read_small_text(path).map_err(|why| why.to_string())?;
    ron::from_str(&text).map_err(|why| why.to_string())
}

/// Writes a mapping.
pub fn write_mapping(map: &RoleMap, output: Output) -> Result<(), String> {
    let text = text_of(map)?;
    output.write(text.as_bytes()).map_err(|why| why.to_string())
}

fn text_of(map: &RoleMap) -> Result<String, String> {
    let pretty = ron::ser::PrettyConfig::default().depth_limit(2);
    let text = ron::ser::to_string_pretty(map, pretty).map_err(|why| why.to_string())?;
    Ok(text + "\n")
}

/// The folder in which mappings are remembered, one file for each skeleton; without one nothing is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RememberedMappings {
    folder: Option<PathBuf>,
}

impl RememberedMappings {
    /// Those of a folder, which need not exist.
    pub fn in_folder(folder: Option<PathBuf>) -> Self {
        Self { folder }
    }

    fn path(&self, names: &[String]) -> Option<PathBuf> {
        let mut hash = Xxh3::new();
        for name in names {
            hash.update(name.as_bytes());
            hash.update(&[0]);
        }
        let file = format!("{:016x}.ron", hash.digest());
        Some(self.folder.as_ref()?.join(file))
    }

    /// The mapping for a skeleton of these joint names; `None` if there is none that can be read.
    pub fn recall(&self, names: &[String]) -> Option<RoleMap> {
        read_mapping(&self.path(names)?).ok()
    }

    /// Remembers a mapping for a skeleton; one that says nothing is forgotten.
    pub fn remember(&self, names: &[String], map: &RoleMap) -> Result<(), String> {
        let Some(path) = self.path(names) else {
            return Ok(());
        };
        if *map == RoleMap::default() {
            return match std::fs::remove_file(&path) {
                Err(why) if why.kind() != std::io::ErrorKind::NotFound => Err(why.to_string()),
                _ => Ok(()),
            };
        }
        if self.recall(names).as_ref() == Some(map) {
            return Ok(());
        }
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(|why| why.to_string())?;
        }
        write_atomically(&path, text_of(map)?.as_bytes()).map_err(|why| why.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn mappings_are_remembered_for_each_skeleton() {
        let folder = tempfile::tempdir().unwrap();
        let all = RememberedMappings::in_folder(Some(folder.path().join("mappings")));
        let (a, b) = (names(&["Hips", "Leg"]), names(&["HipsLeg"]));
        let mut map = RoleMap::default();
        map.roles
            .insert("hips".into(), ("Hips".into(), "pelvis".into()));
        assert_eq!(all.recall(&a), None);
        all.remember(&a, &map).unwrap();
        assert_eq!(all.recall(&a), Some(map.clone()));
        assert_eq!(all.recall(&b), None);
        map.twists.insert("l.hand".into(), 5.0);
        all.remember(&a, &map).unwrap();
        assert_eq!(all.recall(&a), Some(map));
        all.remember(&a, &RoleMap::default()).unwrap();
        assert_eq!(all.recall(&a), None);
        // Nowhere.
        let none = RememberedMappings::default();
        none.remember(&b, &RoleMap::default()).unwrap();
        assert_eq!(none.recall(&b), None);
    }
}
