//! The senders of VMC packets at one port: the clock of each, and which of them moves a channel.
//!
//! A sender is a port of an address. Some programs open another port for each packet, message or frame: a port that was heard for a
//! moment only and is silent since is followed by the next new port of its address. Programs on one computer stay apart, as their
//! times differ, and as a program that keeps its port sends from it again.

use super::ports::Ports;
use crate::motion::live::{Delays, is_other_clock};
use std::collections::BTreeMap;
use std::net::SocketAddr;

/// The most senders at a time.
pub const MAX_SENDERS: usize = 4;
/// A sender that says nothing for this time gives its place and its channels to others, seconds.
const SILENT_SECS: f64 = 1.0;
/// A port that was heard for at most this time has sent one frame, seconds.
const MOMENT: f64 = 0.05;
/// One that has sent one frame and is silent for this time sends no other, seconds.
const ONCE_SECS: f64 = 0.25;
/// A time farther than this from that which a program would have by now is that of another program, seconds.
const SAME_CLOCK: f64 = 1.0;
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
    /// When it was heard first, seconds.
    since: f64,
    /// When its port was heard first and last, seconds.
    began: f64,
    heard: f64,
    /// The ports that it had before, if it changes them.
    ports: Ports,
}

impl Sender {
    fn new(address: Option<SocketAddr>, arrival: f64) -> Self {
        Self {
            address,
            since: arrival,
            began: arrival,
            ..Self::default()
        }
    }

    fn is_of_computer(&self, of: SocketAddr) -> bool {
        self.address.is_some_and(|own| own.ip() == of.ip())
    }

    /// The time that it would send now, seconds.
    fn expected(&self, arrival: f64) -> Option<f64> {
        let (last, arrived) = self.last?;
        Some(last + arrival - arrived)
    }

    /// How far the time of a packet is off what this program would send, seconds; `None` for a packet of another program. Without
    /// a time nothing is known.
    fn distance(&self, arrival: f64, time: Option<f64>) -> Option<f64> {
        let Some(time) = time else {
            return Some(0.0);
        };
        let Some(expected) = self.expected(arrival) else {
            // It has sent no times so far, and after a while it will not.
            let may_send = self.unstamped.is_none() || arrival - self.since <= SILENT_SECS;
            return may_send.then_some(SAME_CLOCK);
        };
        Some((time - expected).abs()).filter(|off| *off <= SAME_CLOCK)
    }

    /// Whether it is of this computer, and its port has sent one frame at most.
    fn is_moment(&self, of: SocketAddr) -> bool {
        self.is_of_computer(of) && self.heard - self.began <= MOMENT
    }

    /// Whether it has sent one frame and then nothing.
    fn is_over(&self, of: SocketAddr, arrival: f64) -> bool {
        self.is_moment(of) && arrival - self.heard > ONCE_SECS
    }

    /// Goes on at another port.
    fn change_port(&mut self, to: SocketAddr, arrival: f64) {
        if let Some(before) = self.address.replace(to) {
            self.ports.add(before.port(), [self.began, self.heard]);
        }
        self.began = arrival;
    }

    /// Whether the port at which it goes on is that of another program, as the time of a packet says.
    fn is_others(&self, of: SocketAddr, arrival: f64, time: Option<f64>) -> bool {
        let is_new = !self.ports.is_empty() && self.is_moment(of);
        is_new && self.distance(arrival, time).is_none()
    }

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
    /// The place of the sender of a packet, with the time in it; `None` if too many others are heard.
    pub(super) fn place(
        &mut self,
        arrival: f64,
        address: Option<SocketAddr>,
        time: Option<f64>,
    ) -> Option<usize> {
        self.arrival = arrival;
        let known = self.all.iter().position(|of| of.address == address);
        let known = known.filter(|&i| !address.is_some_and(|at| self.give_up(i, at, time)));
        let known = known.or_else(|| self.follow(arrival, address?, time));
        let place = known.or_else(|| {
            let new = Sender::new(address, arrival);
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
        if let (None, Some(place), Some(address)) = (known, place, address) {
            self.take_back(place, address);
        }
        match place {
            Some(place) => {
                let of = &mut self.all[place];
                if of.began == f64::NEG_INFINITY {
                    of.began = arrival;
                }
                of.heard = arrival;
            }
            None => self.refused = Some(arrival),
        }
        place
    }

    /// Lets a program go back to the port before, if that at which it goes on is that of another one. Returns whether it is.
    fn give_up(&mut self, place: usize, address: SocketAddr, time: Option<f64>) -> bool {
        let of = &mut self.all[place];
        if !of.is_others(address, self.arrival, time) {
            return false;
        }
        of.ports.add(address.port(), [of.began, of.heard]);
        // No port is that of the next packet.
        of.address = Some(SocketAddr::new(address.ip(), 0));
        true
    }

    /// The place of the program of which a new port is the next one.
    fn follow(&mut self, arrival: f64, address: SocketAddr, time: Option<f64>) -> Option<usize> {
        // A port that comes back is that of a program that keeps it.
        let mut all = self.all.iter().filter(|of| of.is_of_computer(address));
        if all.any(|of| of.ports.is_kept(address.port(), arrival)) {
            return None;
        }
        let of = |i: &usize| &self.all[*i];
        let fits = |i: &usize| of(i).distance(arrival, time).is_some();
        let is_next = |i: &usize| !of(i).ports.is_empty() && of(i).is_moment(address);
        // Of several the one whose time is nearest, else the one whose frame this may be.
        let nearest = |a: &usize, b: &usize| {
            let off = |i: &usize| of(i).distance(arrival, time).unwrap_or(f64::INFINITY);
            let by_time = off(a).total_cmp(&off(b));
            by_time.then(of(b).heard.total_cmp(&of(a).heard))
        };
        let known = (0..self.all.len()).filter(fits);
        let next = known.clone().filter(is_next).min_by(nearest);
        let place = next.or_else(|| {
            let over = known.filter(|i| of(i).is_over(address, arrival));
            over.min_by(|a, b| of(a).heard.total_cmp(&of(b).heard))
        })?;
        let time = time.or(self.all[place].expected(arrival));
        self.all[place].change_port(address, arrival);
        // Its other ports that took places.
        for other in (0..self.all.len()).filter(|&i| i != place) {
            let of = &mut self.all[other];
            if of.is_over(address, arrival) && of.distance(arrival, time).is_some() {
                of.heard = f64::NEG_INFINITY;
                of.began = f64::NEG_INFINITY;
                for (mover, _) in self.movers.values_mut().filter(|of| of.0 == other) {
                    *mover = place;
                }
            }
        }
        self.refused = None;
        Some(place)
    }

    /// Gives a program the channels that it moved while it was taken for another one of its address.
    fn take_back(&mut self, place: usize, address: SocketAddr) {
        for other in 0..self.all.len() {
            let of = &self.all[other];
            let known = of.ports.heard(address.port(), self.arrival);
            let Some([from, to]) = known.filter(|_| of.is_of_computer(address)) else {
                continue;
            };
            let movers = self.movers.values_mut();
            for (mover, at) in movers.filter(|of| of.0 == other) {
                if (from..=to).contains(at) {
                    *mover = place;
                }
            }
        }
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
