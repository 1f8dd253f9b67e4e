//! Mappings of the bones of motions: saved, loaded, and remembered for each skeleton.

use super::{AddingMotion, Editor};
use crate::editor::files::file_name;
use crate::finding::counted;
use crate::io::mapping_file::{RememberedMappings, read_mapping, write_mapping};
use crate::motion::roles::RoleMap;
use std::path::Path;

/// What a file is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MappingFile {
    /// To write the mapping on screen.
    Save,
    /// To read another one.
    Load,
}

impl AddingMotion {
    /// The mapping by names: what is chosen by hand, and without chains all that is matched too.
    pub fn mapping(&self) -> RoleMap {
        let mut map = self.settings().by_hand.clone();
        map.chains.retain(|chain| {
            let has_name = |names: &[String]| names.iter().any(|name| !name.is_empty());
            has_name(&chain.motion) && has_name(&chain.character)
        });
        if !map.chains.is_empty() {
            return map;
        }
        for pair in self.pairs().into_iter().chain(self.finger_pairs()) {
            if let [Some(ours), Some(theirs)] = pair.bones {
                map.roles.entry(pair.of.label()).or_insert((ours, theirs));
            }
        }
        let [ours, theirs] = self.spines();
        if map.spine.is_none() && !ours.is_empty() && !theirs.is_empty() {
            map.spine = Some((ours, theirs));
        }
        map
    }
}

impl Editor {
    /// Remembers mappings from now on in a folder.
    pub fn remember_mappings(&mut self, remembered: RememberedMappings) {
        self.motions.remembered = remembered;
    }

    /// Asks for the file of a mapping.
    pub fn ask_for_mapping_file(&mut self, what: MappingFile) {
        self.motions.asked = Some(what);
    }

    /// The purpose of the file dialog that was asked for; once.
    pub fn take_asked_mapping_file(&mut self) -> Option<MappingFile> {
        let asked = self.motions.asked.take();
        asked.filter(|_| self.motions.adding.is_some())
    }

    /// Writes the mapping of the motion that is adjusted.
    pub fn save_mapping(&mut self, path: &Path) {
        let Some(map) = self.adding_motion().map(AddingMotion::mapping) else {
            return;
        };
        let mut outputs = self.outputs();
        let written = outputs.claim(path).map_err(|why| why.to_string());
        match written.and_then(|output| write_mapping(&map, output)) {
            Ok(()) => self.notify(format!("Saved {}.", file_name(path))),
            Err(why) => {
                let why = why.trim_end_matches('.');
                self.notify_error(format!("The mapping was not saved: {why}."));
            }
        }
    }

    /// Retargets the motion that is adjusted by the mapping of a file.
    pub fn load_mapping(&mut self, path: &Path) {
        let Some(mut settings) = self.adding_motion().map(|a| a.settings().clone()) else {
            return;
        };
        match read_mapping(path) {
            Ok(map) => {
                let n = map.n_pairs();
                let adding = self.motions.adding.as_ref();
                let found = adding.and_then(|adding| Some((adding, adding.found.as_ref()?)));
                settings.by_hand = match found {
                    Some((adding, found)) => {
                        map.for_names(&found.names, &adding.character.rig.names)
                    }
                    None => map,
                };
                let n_left_out = n - settings.by_hand.n_pairs();
                self.set_motion_settings(settings);
                if n_left_out > 0 {
                    let of = counted(n, "pair");
                    self.notify(format!(
                        "{n_left_out} of {of} are left out: the motion or the character has no bones of their names."
                    ));
                }
            }
            Err(why) => {
                let why = why.trim_end_matches('.');
                self.notify_error(format!("{} is no mapping: {why}.", file_name(path)));
            }
        }
    }

    /// Remembers the mapping by hand of a motion that is on the character.
    pub(super) fn remember_mapping(&mut self) {
        let Some(adding) = &mut self.motions.adding else {
            return;
        };
        if adding.remembered == adding.settings.by_hand {
            return;
        }
        adding.remembered = adding.settings.by_hand.clone();
        let Some(names) = adding.found.as_ref().map(|found| &found.names) else {
            return;
        };
        let map = &adding.settings.by_hand;
        if let Err(why) = self.motions.remembered.remember(names, map) {
            let why = why.trim_end_matches('.');
            self.notify_error(format!("The mapping is not remembered: {why}."));
        }
    }
}
