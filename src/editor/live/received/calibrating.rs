//! Calibrating a live body: the countdown, the result, clearing it, and the offer where a body begins far from a T-pose.

use super::{Calibrated, LiveMotion, Offer};
use crate::editor::live::settings::LiveKind;
use crate::motion::live::{Calibration, FAR_DEGREES};
use glam::DVec3;
use std::collections::BTreeMap;

/// The duration of a calibration, seconds.
const CALIBRATION_SECS: f64 = 1.0;
/// The first part of the motion that tells how the body stands, seconds.
const FIRST_SECS: f64 = 0.5;

impl LiveMotion {
    /// The calibration.
    pub(in crate::editor::live) fn calibration(&self) -> &Calibration {
        &self.calibration
    }

    /// Where the bones of the body are in their parents at rest, calibrated, metres.
    pub(in crate::editor::live) fn rest_places(&self) -> BTreeMap<String, DVec3> {
        self.calibration.rest_places(&self.origin)
    }

    /// How far the body was from a T- or an A-pose when it began to move, degrees, where that is far and no calibration was made
    /// since; `None` otherwise.
    pub fn calibration_offer(&self) -> Option<f64> {
        match self.offer {
            Offer::Made(degrees) if self.calibrating.is_none() => Some(degrees),
            _ => None,
        }
    }

    /// Offers no calibration any more.
    pub(in crate::editor::live) fn decline_calibration(&mut self) {
        self.offer = Offer::Over;
    }

    /// Looks at the first half second of a body. Returns whether a calibration is offered now for the first time.
    pub(in crate::editor::live) fn judge_start(&mut self) -> bool {
        let is_vmc = self.kind == LiveKind::Vmc;
        let (Some(first), Some(newest)) = (self.first, self.clock.newest()) else {
            return false;
        };
        // What moves no body cannot be calibrated.
        if !self.has_body() {
            return false;
        }
        if !is_vmc || self.offer != Offer::Waits || newest - first < FIRST_SECS {
            return false;
        }
        let pose = Calibration::of(self.samples(), first);
        let Some(degrees) = pose.and_then(|pose| pose.degrees_off()) else {
            // No body yet: it may follow.
            self.first = Some(newest);
            return false;
        };
        let is_far = Some(degrees).filter(|degrees| *degrees > FAR_DEGREES);
        self.offer = is_far.map_or(Offer::Over, Offer::Made);
        is_far.is_some()
    }

    /// Starts a calibration after some seconds of the sender. Returns whether there is anything to calibrate.
    pub(in crate::editor::live) fn begin_calibration(&mut self, delay_secs: f64) -> bool {
        self.calibrating = self.clock.newest().map(|newest| newest + delay_secs);
        self.calibrating.is_some()
    }

    /// Ends a calibration under way.
    pub(in crate::editor::live) fn cancel_calibration(&mut self) {
        self.calibrating = None;
    }

    /// Clears the calibration.
    pub(in crate::editor::live) fn clear_calibration(&mut self) {
        if let Some(newest) = self.clock.newest() {
            self.origin.forget_bones(newest);
        }
        self.set_calibration(Calibration::default());
    }

    fn set_calibration(&mut self, calibration: Calibration) {
        self.bindings.forget_calibrated(&self.calibration);
        self.bindings.forget_calibrated(&calibration);
        self.calibration = calibration;
        self.made_for = None;
    }

    /// Ends the calibration once its second is over.
    pub(in crate::editor::live) fn end_calibration(&mut self) -> Option<Calibrated> {
        let since = self.calibrating?;
        if self.clock.newest()? - since < CALIBRATION_SECS {
            return None;
        }
        self.calibrating = None;
        // Rotations that follow their names, and bound ones, are not calibrated.
        let found = Calibration::of(self.samples(), since).filter(|_| self.has_body());
        let Some(found) = found else {
            return Some(Calibrated::NoBody);
        };
        self.offer = Offer::Over;
        self.set_calibration(found);
        Some(Calibrated::Found)
    }
}
