//! How live motion is received.

use crate::io::live::{Access, JSON_PORT, VMC_PORT};
use crate::motion::retarget::{RetargetOptions, RootMotion};

/// The range of the latency, seconds.
pub const LATENCIES: std::ops::RangeInclusive<f64> = 0.02..=0.2;
/// The default latency: one packet in fifty is late at 60 frames a second.
pub(super) const LATENCY: f64 = 0.06;

/// The protocol of a sender.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LiveKind {
    /// The Virtual Motion Capture protocol over UDP.
    #[default]
    Vmc,
    /// JSON lines over TCP.
    JsonLines,
}

impl LiveKind {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Vmc, Self::JsonLines];

    /// Its name in lists.
    pub fn label(self) -> &'static str {
        match self {
            Self::Vmc => "VMC (UDP)",
            Self::JsonLines => "JSON lines (TCP)",
        }
    }

    /// Its name in the status bar.
    pub fn short_label(self) -> &'static str {
        match self {
            Self::Vmc => "VMC",
            Self::JsonLines => "JSON lines",
        }
    }
}

/// The settings of live motion. They are not saved: after every start only this computer may send.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LiveSettings {
    /// The protocol of the sender.
    pub kind: LiveKind,
    /// The port of VMC, and that of JSON lines; 0 is any free one.
    pub ports: [u16; 2],
    /// Who may send.
    pub access: Access,
    /// The delay before a frame is shown, seconds.
    pub latency: f64,
    /// Whether the latency is that of the sender instead.
    pub is_auto: bool,
    /// Whether the character shows live motion.
    pub is_shown: bool,
    /// Which joint travels; of a recording too.
    pub root: RootMotion,
    /// Whether bones stretch as those of the sender; of a recording too.
    pub keeps_stretch: bool,
}

impl Default for LiveSettings {
    fn default() -> Self {
        Self {
            kind: LiveKind::default(),
            ports: [VMC_PORT, JSON_PORT],
            access: Access::default(),
            latency: LATENCY,
            is_auto: false,
            is_shown: true,
            root: RootMotion::default(),
            keeps_stretch: false,
        }
    }
}

impl LiveSettings {
    /// The port of the kind.
    pub fn port(&self) -> u16 {
        match self.kind {
            LiveKind::Vmc => self.ports[0],
            LiveKind::JsonLines => self.ports[1],
        }
    }

    /// Sets the port of the kind.
    pub fn set_port(&mut self, port: u16) {
        match self.kind {
            LiveKind::Vmc => self.ports[0] = port,
            LiveKind::JsonLines => self.ports[1] = port,
        }
    }

    /// How a body is retargeted.
    pub(super) fn retarget(&self) -> RetargetOptions {
        RetargetOptions {
            root: self.root,
            keeps_stretch: self.keeps_stretch,
            ..RetargetOptions::default()
        }
    }

    /// With the latency clamped to its range; NaN changes nothing.
    pub(super) fn checked(self, before: &Self) -> Self {
        let latency = if self.latency.is_finite() {
            self.latency.clamp(*LATENCIES.start(), *LATENCIES.end())
        } else {
            before.latency
        };
        Self { latency, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_keeps_its_port_and_the_latency_its_range() {
        let before = LiveSettings::default();
        let mut settings = before;
        assert_eq!(
            (settings.port(), settings.access),
            (VMC_PORT, Access::default())
        );
        settings.kind = LiveKind::JsonLines;
        settings.set_port(4000);
        assert_eq!(settings.port(), 4000);
        settings.kind = LiveKind::Vmc;
        assert_eq!(settings.port(), VMC_PORT);
        for (latency, expected) in [(5.0, 0.2), (0.0, 0.02), (0.1, 0.1), (f64::NAN, LATENCY)] {
            settings.latency = latency;
            assert_eq!(settings.checked(&before).latency, expected);
        }
    }
}
