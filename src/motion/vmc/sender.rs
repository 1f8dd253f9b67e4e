//! The senders of VMC packets at one port: the clock of each, and which of them moves a channel.

use crate::motion::live::{Delays, is_other_clock};
use std::collections::BTreeMap;
use std::net::SocketAddr;

/// The most senders at a time.
pub const MAX_SENDERS: usize = 4;
/// A sender that says nothing for this time gives its place and its channels to others, seconds.
const SILENT_SECS: f64 = 1.0;
/// Packets without a time that arrive within this are one frame, seconds.
const SAME_FRAME: f64 = 2e-3;

/// What is known of one sender.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Sender {
    address: Option<SocketAddr>,
    /// Values that were not applied yet.
    pub(super) pending: BTreeMap<String, f64>,
    /// Whether it loses track of the body.
    pub(super) is_lost: bool,
    /// Its last time and its arrival, seconds.
    last: Option<(f64, f64)>,
    /// Added to its times since it restarted, seconds.
    offset: f64,
    /// The time of its last frame without a time of its own, seconds.
    unstamped: Option<f64>,
    delays: Delays,
    /// When it was heard last, seconds.
    heard: f64,
}

impl Sender {
    /// The time of a packet's values: that in the packet or before it, else its arrival.
    fn time(&mut self, arrival: f64, time: Option<f64>) -> f64 {
        let Some(time) = time else {
            if let Some((last, _)) = self.last {
                return last + self.offset;
            }
            let same = self
                .unstamped
                .filter(|at| (0.0..SAME_FRAME).contains(&(arrival - at)));
            return *self.unstamped.insert(same.unwrap_or(arrival));
        };
        match self.last {
            Some((last, arrived)) => {
                let passed = (arrival - arrived).max(0.0);
                if is_other_clock(time - last, passed) {
                    // It began anew: its time goes on as the packets arrive.
                    self.offset += last - time + passed;
                }
            }
            // It sends times only now.
            None if self.unstamped.is_some() => self.offset = arrival - time,
            None => {}
        }
        self.last = Some((time, arrival));
        time + self.offset
    }
}

/// The senders, on the clock of the one that was heard first.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Senders {
    all: Vec<Sender>,
    /// The sender whose clock is that of all; another may have its place when it is silent.
    first: Option<usize>,
    /// Added to the times of that clock to give arrivals, seconds.
    first_delay: f64,
    /// By channel: the place of the sender that moves it, and when it did last, seconds.
    movers: BTreeMap<String, (usize, f64)>,
    /// When a packet of one too many was left out, seconds.
    refused: Option<f64>,
    /// When the newest packet arrived, seconds.
    arrival: f64,
}

impl Senders {
    /// The place of the sender of a packet; `None` if too many others are heard.
    pub(super) fn place(&mut self, arrival: f64, address: Option<SocketAddr>) -> Option<usize> {
        self.arrival = arrival;
        let known = self.all.iter().position(|of| of.address == address);
        let place = known.or_else(|| {
            let new = Sender {
                address,
                ..Sender::default()
            };
            if self.all.len() < MAX_SENDERS {
                self.all.push(new);
                return Some(self.all.len() - 1);
            }
            let silent = (0..self.all.len()).filter(|&i| arrival - self.all[i].heard > SILENT_SECS);
            let heard = |i: &usize| self.all[*i].heard;
            let longest = silent.min_by(|a, b| heard(a).total_cmp(&heard(b)))?;
            self.all[longest] = new;
            // The clock of all goes on without it.
            if self.first == Some(longest) {
                self.first = Some(usize::MAX);
            }
            self.movers.retain(|_, (place, _)| *place != longest);
            Some(longest)
        });
        match place {
            Some(place) => self.all[place].heard = arrival,
            None => self.refused = Some(arrival),
        }
        place
    }

    pub(super) fn get(&mut self, place: usize) -> &mut Sender {
        &mut self.all[place]
    }

    /// The time of a packet's values on the clock of all, seconds.
    pub(super) fn time(&mut self, place: usize, arrival: f64, time: Option<f64>) -> f64 {
        let sender = &mut self.all[place];
        let own = sender.time(arrival, time);
        let delay = sender.delays.add(arrival, own);
        if *self.first.get_or_insert(place) == place {
            self.first_delay = delay;
            own
        } else {
            own + delay - self.first_delay
        }
    }

    /// Whether a sender moves a channel: another one did not within the last second.
    pub(super) fn moves(&mut self, place: usize, channel: &str, arrival: f64, most: usize) -> bool {
        let n_channels = self.movers.len();
        match self.movers.get_mut(channel) {
            Some((mover, at)) if *mover == place || arrival - *at > SILENT_SECS => {
                (*mover, *at) = (place, arrival);
                true
            }
            Some(_) => false,
            None => {
                if n_channels < most {
                    self.movers.insert(channel.to_owned(), (place, arrival));
                }
                true
            }
        }
    }

    fn heard_now(&self) -> impl Iterator<Item = &Sender> {
        let now = self.arrival;
        self.all
            .iter()
            .filter(move |of| now - of.heard <= SILENT_SECS)
    }

    /// The number of those that were heard within the last second.
    pub(super) fn n_heard(&self) -> usize {
        self.heard_now().count()
    }

    /// Whether all of those have lost track of the body.
    pub(super) fn has_lost(&self) -> bool {
        let mut heard = self.heard_now().peekable();
        heard.peek().is_some() && heard.all(|of| of.is_lost)
    }

    /// Whether one too many was left out within the last second.
    pub(super) fn has_too_many(&self) -> bool {
        self.refused
            .is_some_and(|at| self.arrival - at <= SILENT_SECS)
    }
}
