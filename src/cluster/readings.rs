//! What recordings say about a surface besides its shape: a quantity at the clusters that they move, such as a
//! concentration, which colours the patches between them.
//!
//! A scalar is named after its place and its quantity, as in `inlet.salt[g/l]`; the place is that of the vertices to which
//! another channel of the same place is bound, as `inlet.level` or the marker `inlet`.

use super::channel::{Binding, Channel, Played, Recording, RecordingId, RecordingItem, Recordings};
use super::map::ClusterMap;
use crate::skeleton::Moment;
use std::collections::BTreeSet;
use std::sync::Arc;

/// A quantity that is recorded at the places of clusters.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Quantity {
    /// Where it is recorded.
    pub recording: RecordingId,
    /// Its name: what follows the place in the names of its channels; empty for channels that are named after their places
    /// alone.
    pub name: String,
    /// The unit in which it is shown; empty for none.
    pub unit: String,
}

impl Quantity {
    /// Its name in lists, with its unit.
    pub fn label(&self) -> String {
        let name = if self.name.is_empty() {
            "Recorded values"
        } else {
            &self.name
        };
        if self.unit.is_empty() {
            name.to_owned()
        } else {
            format!("{name}, {}", self.unit)
        }
    }

    /// Of all the quantities that are recorded at the clusters of a map.
    pub fn all_of(map: &ClusterMap, recordings: &Recordings) -> BTreeSet<Self> {
        let mut found = BTreeSet::new();
        for (id, (_, recording), binding, _) in bindings(map, recordings) {
            let place = place(&binding.channel);
            for track in &recording.scalars {
                let name = if track.name == binding.channel && place == binding.channel {
                    ""
                } else if let Some(name) = quantity_at(&track.name, place) {
                    name
                } else {
                    continue;
                };
                found.insert(Self {
                    recording: id,
                    name: name.to_owned(),
                    unit: recording.shown_unit(&track.name).0.to_owned(),
                });
            }
        }
        found
    }
}

/// A quantity at the clusters of a map, ready to be read at any moment.
#[derive(Clone, Debug)]
pub struct Readings {
    gauges: Vec<Gauge>,
    /// Its name and unit.
    label: String,
    /// The values at both ends of the colours, ascending.
    range: [f64; 2],
    /// The number by which values of the recording are divided for the unit in which they are shown.
    size: f64,
}

#[derive(Clone, Debug)]
struct Gauge {
    item: Arc<RecordingItem>,
    played: Played,
    channel: Channel<f64>,
    points: Vec<u32>,
}

impl Readings {
    /// The quantity that colours the surface of a map; `None` where there is none, or no cluster has it.
    pub fn new(map: &ClusterMap, recordings: &Recordings) -> Option<Self> {
        let colour = map.display().colour.as_ref()?;
        let (mut gauges, mut unit, mut size) = (Vec::new(), String::new(), 1.0);
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for (id, (item, recording), binding, played) in bindings(map, recordings) {
            if id != colour.recording {
                continue;
            }
            let mut name = place(&binding.channel).to_owned();
            if !colour.quantity.is_empty() {
                name = format!("{name}.{}", colour.quantity);
            }
            let Some(track) = recording.scalars.iter().find(|track| track.name == name) else {
                continue;
            };
            let Ok(channel) = Channel::new(&recording.times, &track.values, played.sampling) else {
                continue;
            };
            let (shown, by) = recording.shown_unit(&name);
            shown.clone_into(&mut unit);
            size = by;
            for value in track.values.iter().filter(|value| value.is_finite()) {
                (low, high) = (low.min(*value), high.max(*value));
            }
            gauges.push(Gauge {
                item: item.clone(),
                played,
                channel,
                points: binding.clusters.clone(),
            });
        }
        let quantity = Quantity {
            recording: colour.recording,
            name: colour.quantity.clone(),
            unit,
        };
        let range = match colour.range {
            Some(range) => range.map(|end| end / size),
            None => rounded(low / size, high / size),
        };
        (!gauges.is_empty() && range[0] < range[1]).then(|| Self {
            gauges,
            label: quantity.label(),
            range,
            size,
        })
    }

    /// Its name and unit.
    pub fn label(&self) -> &str {
        &self.label
    }

    /// The number by which values of the recording, as in [`super::ColourBy::range`], are divided for the unit in which they are
    /// shown.
    pub fn size(&self) -> f64 {
        self.size
    }

    /// The values at both ends of the colours, ascending, in the unit in which they are shown.
    pub fn range(&self) -> [f64; 2] {
        self.range
    }

    /// The points of clusters with a value at a moment, in the unit in which it is shown.
    pub fn at(&self, moment: Moment) -> Vec<(u32, f64)> {
        let mut found = Vec::new();
        for gauge in &self.gauges {
            let time = gauge.played.time(&gauge.item, moment);
            if let Some(value) = gauge.channel.at(time) {
                let shown = value / self.size;
                found.extend(gauge.points.iter().map(|&point| (point, shown)));
            }
        }
        found
    }
}

/// A recording of a document and its content.
type Read<'a> = (&'a Arc<RecordingItem>, &'a Recording);

/// The bindings of the data of a map that acts, with their recordings.
fn bindings<'a>(
    map: &'a ClusterMap,
    recordings: &'a Recordings,
) -> impl Iterator<Item = (RecordingId, Read<'a>, &'a Binding, Played)> {
    let acting = map.data().filter(|(_, data)| !data.muted);
    acting.flat_map(move |(_, data)| {
        let id = data.played.recording;
        let item = recordings.get(&id);
        let recording = item.and_then(|item| Some((item, item.recording()?)));
        let bindings = recording.into_iter().flat_map(|recording| {
            let bindings = data.bindings.iter();
            bindings.map(move |binding| (recording, binding))
        });
        bindings.map(move |(recording, binding)| (id, recording, binding, data.played))
    })
}

/// The place in the name of a channel: what stands before its last dot.
fn place(channel: &str) -> &str {
    channel.rsplit_once('.').map_or(channel, |parts| parts.0)
}

/// The quantity of a channel of this place.
fn quantity_at<'a>(channel: &'a str, place: &str) -> Option<&'a str> {
    let (of, quantity) = channel.rsplit_once('.')?;
    (of == place && !quantity.is_empty()).then_some(quantity)
}

/// The range of some values with round ends.
fn rounded(low: f64, high: f64) -> [f64; 2] {
    let span = high - low;
    if !span.is_finite() || span < 0.0 {
        return [0.0, 0.0];
    }
    if span == 0.0 {
        return [low - 0.5, low + 0.5];
    }
    let power = 10f64.powf((span / 4.0).log10().floor());
    let steps = [1.0, 2.0, 2.5, 5.0, 10.0].map(|step| step * power);
    let step = steps.into_iter().find(|step| *step >= span / 4.0);
    let step = step.unwrap_or(10.0 * power);
    [(low / step).floor() * step, (high / step).ceil() * step]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ends_of_the_colours_are_round() {
        assert_eq!(rounded(2.3, 29.8), [0.0, 30.0]);
        let [low, high] = rounded(-0.42, 0.38);
        assert!((low + 0.6).abs() < 1e-9 && (high - 0.4).abs() < 1e-9);
        assert_eq!(rounded(3.0, 3.0), [2.5, 3.5]);
        assert_eq!(rounded(f64::INFINITY, f64::NEG_INFINITY), [0.0, 0.0]);
    }

    #[test]
    fn channels_of_one_place_are_told_by_their_names() {
        assert_eq!(place("inlet.level"), "inlet");
        assert_eq!(place("inlet"), "inlet");
        assert_eq!(quantity_at("inlet.salt", "inlet"), Some("salt"));
        assert_eq!(quantity_at("outlet.salt", "inlet"), None);
        assert_eq!(quantity_at("inlet.", "inlet"), None);
    }
}
