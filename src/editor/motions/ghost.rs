//! The skeleton of a motion, shown beside the character while it is adjusted.

use crate::editor::Editor;
use glam::Vec3;

impl Editor {
    /// Shows or hides the motion's own skeleton beside the character.
    pub fn show_motion_ghost(&mut self, shows: bool) {
        if let Some(adding) = &mut self.motions.adding {
            adding.shows_ghost = shows;
        }
    }

    /// The bones of the motion's own skeleton at the time on screen, each from its parent's head to its own, world; `None`
    /// unless it is shown.
    pub fn motion_ghost(&self) -> Option<Vec<[Vec3; 2]>> {
        let adding = self.motions.adding.as_ref()?;
        let result = adding.result.as_ref().filter(|_| adding.shows_ghost)?;
        let playback = &self.document.session().playback;
        let clip = self.clip_of_motion(adding);
        if clip.is_none() || playback.clip != clip {
            return None;
        }
        let places = result.ghost.at(playback.time_secs);
        let parents = result.ghost.parents.iter().zip(&places);
        let bones = parents.filter_map(|(parent, head)| Some([*places.get((*parent)?)?, *head]));
        Some(bones.collect())
    }
}
