//! The senders of VMC packets at one port: the clock of each, and which of them moves a channel.

use crate::motion::live::{Delays, is_other_clock};
use std::collections::{BTreeMap, VecDeque};
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
    /// The last addresses before, of a program that opens a port for each packet.
    before: VecDeque<SocketAddr>,
    /// Packets from this address.
    n_packets: usize,
    /// Values that were not applied yet.
    pub(super) pending: BTreeMap<String, f64>,
    /// Whether it loses track of the body.
    pub(super) is_lost: bool,
    /// Its last time and its arrival, seconds.
    last: Option<(f64, f64)>,
    /// Added to its time, after it began anew.
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
        let known = known.or_else(|| self.takes_over(address?));
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
            Some(place) => {
                self.all[place].heard = arrival;
                self.all[place].n_packets += 1;
            }
            None => self.refused = Some(arrival),
        }
        place
    }

    /// The place of a program that has sent one packet from another port of the same computer: it may open a port for each. One
    /// whose address is heard again has a place of its own.
    fn takes_over(&mut self, address: SocketAddr) -> Option<usize> {
        if self.all.iter().any(|of| of.before.contains(&address)) {
            return None;
        }
        let place = self.all.iter().position(|of| {
            of.n_packets == 1 && of.address.is_some_and(|known| known.ip() == address.ip())
        })?;
        let sender = &mut self.all[place];
        sender.before.extend(sender.address.replace(address));
        if sender.before.len() > 2 * MAX_SENDERS {
            sender.before.pop_front();
        }
        sender.n_packets = 0;
        Some(place)
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

#[cfg(test)]
mod tests {
    use super::*;

    fn address(ip: u8, port: u16) -> SocketAddr {
        SocketAddr::from(([127, 0, 0, ip], port))
    }

    #[test]
    fn a_port_for_each_packet_is_one_sender() {
        let mut senders = Senders::default();
        for i in 0..50 {
            let place = senders.place(f64::from(i) * 0.01, Some(address(1, 4000 + i as u16)));
            assert_eq!(place, Some(0));
        }
        assert_eq!(senders.n_heard(), 1);
    }

    #[test]
    fn programs_of_one_computer_that_begin_together_stay_apart() {
        let mut senders = Senders::default();
        let mut places = Vec::new();
        for i in 0..5 {
            for port in [1, 2, 3] {
                let arrival = f64::from(i) * 0.1 + f64::from(port) * 0.01;
                places.push(senders.place(arrival, Some(address(1, port))).unwrap());
            }
        }
        let last = &places[places.len() - 6..];
        assert_eq!(last[..3], last[3..], "each has its place: {places:?}");
        let mut apart = last[..3].to_vec();
        apart.sort_unstable();
        apart.dedup();
        assert_eq!(apart.len(), 3, "{places:?}");
    }
}
