//! Live motion: received on a thread, shown on the character while everything else goes on, and recorded.
//!
//! Data flow: a [`Listener`] -> its packets, taken in each poll -> samples and the clock of their sender -> the pose at now less
//! the latency -> the session, which shows it instead of the clip. *Record* then *Stop* is one undo step: a recording of the
//! document.
//!
//! Invariant: a packet changes no document: only the pose on screen, and what is being recorded.
//! Invariant: nothing is received before the artist asks for it, and nothing but what this computer sends unless they say so.

mod bindings;
mod received;
mod recording;
mod settings;

pub use received::{LiveCounts, LiveMotion};
pub use settings::{LATENCIES, LiveKind, LiveSettings};

use super::Editor;
use crate::deform::Correctives;
use crate::document::{Document, HumanMap, MeshItem, Skin};
use crate::io::live::{Access, Listener};
use crate::mesh::Mesh;
use crate::motion::ChannelKind;
use crate::motion::bindings::{Binding, BoundTo};
use crate::rig::Character;
use crate::skeleton::{JointId, Pose};
use received::Calibrated;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The notice when another pose replaces live motion on screen.
const HIDDEN: &str =
    "Live motion is hidden; it is still received. Show on character (Motion panel) shows it again.";

/// The notice when a calibration is offered.
const OFFER: &str = "The streamed pose is far from a T-pose or A-pose. If the character looks wrong, calibrate it in the Motion panel.";

/// Live motion, and what wakes the window for it.
pub(super) struct Live {
    motion: Option<LiveMotion>,
    settings: LiveSettings,
    /// What channels move by hand.
    bindings: Vec<Binding>,
    /// By channel: the bone that it is bound to, whatever name it gets.
    bound_joints: BTreeMap<(String, Option<ChannelKind>), JointId>,
    /// Why listening failed.
    failure: Option<String>,
    /// What is moved.
    character: Option<LiveCharacter>,
    wake: Arc<dyn Fn() + Send + Sync>,
}

impl Live {
    /// Not listening. `wake` is called when a packet arrives.
    pub(super) fn new(wake: Arc<dyn Fn() + Send + Sync>) -> Self {
        Self {
            motion: None,
            settings: LiveSettings::default(),
            bindings: Vec::new(),
            bound_joints: BTreeMap::new(),
            failure: None,
            character: None,
            wake,
        }
    }

    /// Changes what live channels are bound to.
    pub(super) fn change_bindings(&mut self, change: impl Fn(&mut BoundTo)) {
        for binding in &mut self.bindings {
            change(&mut binding.to);
        }
    }

    /// For another model: shows nothing yet, and drops bindings and a recording under way.
    pub(super) fn forget_model(&mut self) {
        self.bindings.clear();
        self.bound_joints.clear();
        if let Some(live) = &mut self.motion {
            live.forget_model();
        }
    }
}

/// The character that live motion moves, with what it was made of.
struct LiveCharacter {
    character: Character,
    parts: Vec<Part>,
    skins: Vec<Arc<Skin>>,
    rest: Arc<Pose>,
    humans: Arc<HumanMap>,
}

/// A mesh with its corrective samples.
struct Part {
    mesh: Arc<Mesh>,
    correctives: Arc<Correctives>,
}

impl Part {
    fn is_of(&self, item: &MeshItem) -> bool {
        Arc::ptr_eq(&self.mesh, &item.geometry) && Arc::ptr_eq(&self.correctives, &item.correctives)
    }
}

impl LiveCharacter {
    fn of(document: &Document) -> Self {
        let parts = document.meshes().values().map(|item| Part {
            mesh: item.geometry.clone(),
            correctives: item.correctives.clone(),
        });
        Self {
            character: Character::of(document),
            parts: parts.collect(),
            skins: document.skins().values().cloned().collect(),
            rest: document.rest_pose().clone(),
            humans: document.human_map().clone(),
        }
    }

    fn has_bones_of(&self, document: &Document) -> bool {
        Arc::ptr_eq(self.character.skeleton(), document.skeleton())
    }

    /// Whether it is that of the document as it is: with its bones and their humanoid map, rest pose, skins, morph targets and
    /// corrective samples.
    fn is_of(&self, document: &Document) -> bool {
        let (meshes, skins) = (document.meshes(), document.skins());
        let mut parts = self.parts.iter().zip(meshes.values());
        let mut skinned = self.skins.iter().zip(skins.values());
        self.has_bones_of(document)
            && Arc::ptr_eq(&self.rest, document.rest_pose())
            && Arc::ptr_eq(&self.humans, document.human_map())
            && (self.parts.len(), self.skins.len()) == (meshes.len(), skins.len())
            && parts.all(|(part, item)| part.is_of(item))
            && skinned.all(|(known, skin)| Arc::ptr_eq(known, skin))
    }
}

impl Editor {
    /// The settings of live motion.
    pub fn live_settings(&self) -> &LiveSettings {
        &self.live.settings
    }

    /// Changes the settings of live motion. Protocol, port and who may send take effect at the next [`Editor::start_listening`].
    pub fn set_live_settings(&mut self, settings: LiveSettings) {
        let before = self.live.settings;
        let settings = settings.checked(&before);
        if settings != before {
            self.live.settings = settings;
            // What was said about a port need not be true of another.
            self.live.failure = None;
        }
    }

    /// Receives motion with the settings, until [`Editor::stop_listening`].
    pub fn start_listening(&mut self) {
        let settings = self.live.settings;
        self.listen_to(settings.kind, settings.port(), settings.access);
    }

    /// Receives motion at a port (0: a free one) of this computer, or with `all_interfaces` of the network, until
    /// [`Editor::stop_listening`].
    pub fn listen(&mut self, kind: LiveKind, port: u16, all_interfaces: bool) {
        let access = Access {
            all_interfaces,
            only: None,
        };
        self.listen_to(kind, port, access);
    }

    fn listen_to(&mut self, kind: LiveKind, port: u16, access: Access) {
        self.stop_listening();
        let wake = self.live.wake.clone();
        let wake = move || wake();
        let listener = match kind {
            LiveKind::Vmc => Listener::udp(port, access, wake),
            LiveKind::JsonLines => Listener::tcp(port, access, wake),
        };
        match listener {
            Ok(listener) => {
                self.live.failure = None;
                self.live.settings.is_shown = true;
                self.live.motion = Some(LiveMotion::new(listener, kind, access));
            }
            Err(why) => self.live.failure = Some(why.to_string()),
        }
    }

    /// Why listening failed, one sentence.
    pub fn listen_failure(&self) -> Option<&str> {
        self.live.failure.as_deref()
    }

    /// Stops listening. A recording under way is kept; the clip or the artist's pose is shown again.
    pub fn stop_listening(&mut self) {
        if self.live.motion.is_none() {
            return;
        }
        self.stop_recording();
        self.live.motion = None;
        self.problems.set_of_live(Vec::new());
        self.show_live(None);
    }

    /// The motion that is being received.
    pub fn live(&self) -> Option<&LiveMotion> {
        self.live.motion.as_ref()
    }

    /// Whether live motion is on screen.
    pub fn shows_live(&self) -> bool {
        self.document.session().live_pose.is_some()
    }

    /// Whether the next frame may differ without any event: values arrive, or lost ones fade.
    pub fn live_needs_frames(&self) -> bool {
        let latency = self.live_latency();
        self.live().is_some_and(|live| live.needs_frames(latency))
    }

    /// The delay before a frame is shown, seconds: that of the settings, or the sender's.
    pub fn live_latency(&self) -> f64 {
        let settings = &self.live.settings;
        let auto = self.live().filter(|_| settings.is_auto);
        auto.map_or(settings.latency, LiveMotion::auto_latency)
    }

    /// Hides live motion, because the artist asks for another pose. It is still received.
    pub(super) fn hide_live(&mut self) {
        if self.shows_live() {
            self.live.settings.is_shown = false;
            self.show_live(None);
            self.notify(HIDDEN);
        }
    }

    /// Calibrates: after `delay_secs`, in which the performer takes a T-pose, the sender's pose of one second is that T-pose.
    pub fn calibrate_live(&mut self, delay_secs: f64) {
        let Some(live) = &mut self.live.motion else {
            return;
        };
        if !live.begin_calibration(delay_secs) {
            self.notify("Nothing has been received yet. Start the sender, then calibrate.");
        }
    }

    /// Ends a calibration under way.
    pub fn cancel_live_calibration(&mut self) {
        if let Some(live) = &mut self.live.motion {
            live.cancel_calibration();
        }
    }

    /// Clears the calibration: the sender's rotations are used as sent.
    pub fn clear_live_calibration(&mut self) {
        if let Some(live) = &mut self.live.motion {
            live.clear_calibration();
        }
    }

    /// Declines the calibration that is offered.
    pub fn decline_live_calibration(&mut self) {
        if let Some(live) = &mut self.live.motion {
            live.decline_calibration();
        }
    }

    /// Offers a calibration where the body that arrives begins far from a T- or an A-pose.
    fn offer_calibration(&mut self) {
        let live = self.live.motion.as_mut();
        if live.is_some_and(LiveMotion::judge_start) {
            self.notify(OFFER);
        }
    }

    /// Reads the packets that have arrived, and shows the current pose. Returns whether there was something to do.
    pub(super) fn follow_live(&mut self) -> bool {
        let latency = self.live_latency();
        let Some(live) = &mut self.live.motion else {
            return false;
        };
        let came = live.take_packets(latency);
        live.follow_latency();
        let problem = live.problem();
        self.problems.set_of_live(problem.into_iter().collect());
        let Some(live) = &mut self.live.motion else {
            return false;
        };
        match live.end_calibration() {
            Some(Calibrated::Found) => {
                self.notify("Calibrated. The T-pose you held is now the reference pose.");
            }
            Some(Calibrated::NoBody) => {
                self.notify_error("No body moves the character, so nothing was calibrated.");
            }
            None => {}
        }
        self.offer_calibration();
        self.stop_long_recording();
        let changed = self.follow_live_pose();
        came || changed
    }

    /// Makes the character that live motion moves anew where the document has another one.
    fn follow_live_character(&mut self) {
        let known = self.live.character.take();
        let known = match known {
            Some(known) if known.is_of(&self.document) => {
                self.live.character = Some(known);
                return;
            }
            known => known,
        };
        let now = LiveCharacter::of(&self.document);
        if let Some(known) = known {
            // A corrective sample that was renamed stays bound.
            let (before, after) = (known.character.samples(), now.character.samples());
            for binding in &mut self.live.bindings {
                binding.to.rename_lost_sample(before, after);
            }
        }
        if let Some(live) = &mut self.live.motion {
            live.forget_character();
        }
        self.live.character = Some(now);
    }

    fn follow_live_pose(&mut self) -> bool {
        let known = self.live.character.as_ref();
        if known.is_none_or(|known| !known.has_bones_of(&self.document)) {
            self.follow_bound_bones();
        }
        let (settings, latency) = (self.live.settings, self.live_latency());
        if self.live.motion.is_none() || self.document.skeleton().is_empty() {
            return false;
        }
        self.follow_live_character();
        let document = &self.document;
        let (Some(live), Some(of)) = (&mut self.live.motion, &self.live.character) else {
            return false;
        };
        let mut pose = Pose::clone(document.rest_pose());
        live.bindings.set(&self.live.bindings);
        live.set_retarget(settings.retarget());
        let moves = live.pose(&of.character, latency, &mut pose);
        self.show_live((moves && settings.is_shown).then_some(pose))
    }

    /// Shows a pose instead of the clip, or the clip again. Returns whether that changes anything.
    fn show_live(&mut self, pose: Option<Pose>) -> bool {
        let session = self.document.session_mut();
        if session.live_pose.as_deref() == pose.as_ref() {
            return false;
        }
        // The clip that it is shown instead of stays where it is.
        session.playback.playing &= pose.is_none();
        session.live_pose = pose.map(Arc::new);
        self.evaluation.stale = true;
        true
    }
}
