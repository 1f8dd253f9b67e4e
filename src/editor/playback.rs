//! Playback: the clip, the current time and its advance.

use super::Editor;
use crate::document::ClipId;
use crate::document::session::Playback;
use crate::skeleton::Clip;
use crate::skeleton::clip_keys::FRAME_RATES;

/// The range of the playback speed.
pub const SPEEDS: std::ops::RangeInclusive<f64> = 0.1..=4.0;
/// The longest time step of one window frame, seconds: a delay does not skip motion.
const MAX_STEP_SECS: f64 = 0.25;
/// The distance, in frames, within which a time counts as a frame.
const SAME_FRAME: f64 = 1e-3;

/// The latest time that can be set, seconds: one day.
const LATEST_SECS: f64 = 86_400.0;

impl Editor {
    /// Shows a clip from its start, or the document's pose. Resets the loop range to the clip. A clip hides live motion.
    pub fn show_clip(&mut self, clip: Option<ClipId>) {
        if clip.is_some() {
            self.hide_live();
        }
        let start = clip
            .and_then(|id| self.document.clip_span(id))
            .map(|(start, _)| start);
        let playback = self.playback_mut();
        playback.clip = clip.filter(|_| start.is_some());
        playback.time_secs = start.unwrap_or(0.0);
        playback.playing &= start.is_some();
        playback.range = None;
        playback.unkeyed = false;
        self.evaluation.stale = true;
    }

    /// The clip on screen.
    pub fn shown_clip(&self) -> Option<(ClipId, &Clip)> {
        let id = self.playback().clip?;
        Some((id, self.document.clips().get(&id)?))
    }

    /// The clip, the time and the playback settings.
    pub fn playback(&self) -> &Playback {
        &self.document.session().playback
    }

    pub(super) fn playback_mut(&mut self) -> &mut Playback {
        &mut self.document.session_mut().playback
    }

    /// Sets the time in the clip; an unkeyed pose is replaced by the clip's.
    pub fn set_time(&mut self, time_secs: f64) {
        if !time_secs.is_finite() {
            return;
        }
        let playback = self.playback_mut();
        playback.time_secs = time_secs.clamp(0.0, LATEST_SECS);
        playback.unkeyed = false;
        self.evaluation.stale = true;
    }

    /// The time of the frame nearest to `time_secs`.
    pub fn at_frame(&self, time_secs: f64) -> f64 {
        let fps = f64::from(self.playback().fps.max(1));
        (time_secs * fps).round() / fps
    }

    /// The time in frames; the first is 0.
    pub fn frame(&self) -> f64 {
        self.playback().time_secs * f64::from(self.playback().fps.max(1))
    }

    /// Steps to the next frame (`by` = 1), the previous one (-1), or further. Stops playback.
    pub fn step_frames(&mut self, by: i32) {
        let fps = f64::from(self.playback().fps.max(1));
        let frame = self.frame();
        // From a time between two frames, the first step leads to the adjacent frame.
        let from = match by.signum() {
            1 => (frame + SAME_FRAME).floor(),
            _ => (frame - SAME_FRAME).ceil(),
        };
        self.pause();
        self.set_time((from + f64::from(by)) / fps);
    }

    /// Jumps to the start of the play range.
    pub fn jump_to_start(&mut self) {
        if let Some((start, _)) = self.play_range() {
            self.set_time(start);
        }
    }

    /// Jumps to the end of the play range and pauses.
    pub fn jump_to_end(&mut self) {
        if let Some((_, end)) = self.play_range() {
            self.pause();
            self.set_time(end);
        }
    }

    /// Sets the frame rate, frames per second.
    pub fn set_fps(&mut self, fps: u32) {
        if FRAME_RATES.contains(&fps) {
            self.playback_mut().fps = fps;
        }
    }

    /// Sets the playback speed, clamped to [`SPEEDS`].
    pub fn set_speed(&mut self, speed: f64) {
        if speed.is_finite() {
            self.playback_mut().speed = speed.clamp(*SPEEDS.start(), *SPEEDS.end());
        }
    }

    /// Sets whether playback loops or stops at the end.
    pub fn set_looping(&mut self, looping: bool) {
        self.playback_mut().looping = looping;
    }

    /// Sets the play range, seconds, at least one frame long; `None` for the whole clip.
    pub fn set_play_range(&mut self, range: Option<(f64, f64)>) {
        let frame = 1.0 / f64::from(self.playback().fps.max(1));
        self.playback_mut().range = range
            .filter(|(start, end)| start.is_finite() && end.is_finite())
            .map(|(start, end)| {
                let start = start.max(0.0);
                (start, end.max(start + frame))
            });
    }

    /// Starts the play range at the current time.
    pub fn loop_from_here(&mut self) {
        let now = self.playback().time_secs;
        if let Some((_, end)) = self.play_range() {
            self.set_play_range(Some((now, end)));
        }
    }

    /// Ends the play range at the current time.
    pub fn loop_to_here(&mut self) {
        let (now, frame) = (
            self.playback().time_secs,
            1.0 / f64::from(self.playback().fps.max(1)),
        );
        if let Some((start, _)) = self.play_range() {
            self.set_play_range(Some((start.min(now - frame), now)));
        }
    }

    /// The play range, seconds: the loop range, otherwise the clip on screen.
    pub fn play_range(&self) -> Option<(f64, f64)> {
        let clip = self.clip_range()?;
        Some(self.playback().range.unwrap_or(clip))
    }

    /// Start and end of the clip on screen, seconds.
    pub fn clip_range(&self) -> Option<(f64, f64)> {
        self.document.clip_span(self.playback().clip?)
    }

    /// Shows the document's pose instead of the clip's until it is keyed or the time changes. Pauses.
    pub fn show_unkeyed_pose(&mut self) {
        let over_clip = self.shown_clip().is_some();
        let playback = self.playback_mut();
        playback.unkeyed = over_clip;
        playback.playing = false;
        self.evaluation.stale = true;
    }

    /// Starts playback, or pauses it at the nearest frame; without a clip on screen, shows the first one.
    pub fn toggle_play(&mut self) {
        if self.is_playing() {
            self.pause();
            // Keyframes are inserted at whole frames.
            self.playback_mut().time_secs = self.at_frame(self.playback().time_secs);
            self.evaluation.stale = true;
            return;
        }
        if self.document.session().shows_rest {
            self.notify("Edit bones mode shows the rest pose. Choose another mode to play a clip.");
            return;
        }
        self.hide_live();
        if self.shown_clip().is_none() {
            let first = self.document.clips().keys().next().copied();
            self.show_clip(first);
        }
        let Some((start, end)) = self.play_range().filter(|(start, end)| end > start) else {
            return;
        };
        let playback = self.playback_mut();
        playback.playing = true;
        playback.unkeyed = false;
        if !(start..end).contains(&playback.time_secs) {
            playback.time_secs = start;
        }
        self.evaluation.stale = true;
    }

    /// Pauses playback.
    pub fn pause(&mut self) {
        self.playback_mut().playing = false;
    }

    /// Whether playback runs.
    pub fn is_playing(&self) -> bool {
        self.playback().playing
    }

    /// Advances the time during playback; an edited pose pauses it, so that it stays on screen.
    pub(super) fn advance_playback(&mut self, dt_secs: f64) {
        let playback = *self.playback();
        if !playback.playing {
            return;
        }
        let Some((start, end)) = self.play_range().filter(|_| !playback.unkeyed) else {
            self.pause();
            return;
        };
        let mut time = playback.time_secs + dt_secs.clamp(0.0, MAX_STEP_SECS) * playback.speed;
        let mut playing = true;
        if time < start {
            time = start;
        } else if time > end {
            if playback.looping && end > start {
                time = start + (time - start) % (end - start);
            } else {
                time = end;
                playing = false;
            }
        }
        let session = self.playback_mut();
        session.time_secs = time;
        session.playing = playing;
        self.evaluation.stale = true;
    }
}
