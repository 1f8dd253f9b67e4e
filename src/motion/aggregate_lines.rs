//! A table of recordings as one recording: what it writes as JSON lines.

use super::aggregate::{Aggregate, AggregateChannel, CHECKED_ROWS, writing};
use super::recording::{LabelTrack, Recording, ScalarTrack, Track};
use super::table::write_json_lines;
use crate::task::{Cancelled, Task};
use glam::{DQuat, DVec3};
use std::collections::BTreeSet;
use std::io::Write;
use std::path::Path;

impl Aggregate {
    /// The table as one recording on the common clock: channels have the names of the columns, and no value where they are not
    /// valid.
    pub fn recording(&self) -> Recording {
        let mut made = Recording {
            times: self.times.clone(),
            rate: Some(self.rate),
            ..Recording::default()
        };
        for channel in &self.channels {
            let name = channel.name.clone();
            if !channel.words.is_empty() || channel.values.is_empty() {
                made.labels.push(label(channel));
                continue;
            }
            match channel.components.len() {
                3 => {
                    let values = rows::<3>(channel, [f64::NAN; 3]);
                    let values = values.into_iter().map(DVec3::from_array).collect();
                    made.markers.push(Track { name, values });
                }
                4 => {
                    let values = rows::<4>(channel, [0.0; 4]);
                    let values = values.into_iter().map(DQuat::from_array).collect();
                    if channel.is_world {
                        made.world_rotations.insert(name.clone());
                    }
                    made.rotations.push(Track { name, values });
                }
                _ => {
                    let values = rows::<1>(channel, [f64::NAN]);
                    made.scalars.push(ScalarTrack {
                        name,
                        unit: channel.unit.clone(),
                        values: values.into_iter().map(|[value]| value).collect(),
                    });
                }
            }
        }
        made
    }

    /// The bytes of a file of this name: JSON lines for .jsonl, else CSV.
    pub fn to_bytes(&self, path: &Path, task: &Task) -> Result<Vec<u8>, Cancelled> {
        let extension = path.extension();
        if extension.is_some_and(|e| e.eq_ignore_ascii_case("jsonl")) {
            self.to_json_lines(task)
        } else {
            self.to_csv(task).map(String::into_bytes)
        }
    }

    /// As JSON lines, which [`super::table::parse_json_lines`] reads back: a line for each time with the values that are valid.
    pub fn to_json_lines(&self, task: &Task) -> Result<Vec<u8>, Cancelled> {
        let mut out = TextOut {
            bytes: Vec::new(),
            task,
            n_written: 0,
            n_rows: self.times.len(),
        };
        // Nothing else can fail in memory.
        write_json_lines(&self.recording(), &mut out).map_err(|_| Cancelled)?;
        Ok(out.bytes)
    }
}

/// Lines in memory; writing one fails once the task is cancelled.
struct TextOut<'a> {
    bytes: Vec<u8>,
    task: &'a Task,
    n_written: usize,
    n_rows: usize,
}

impl Write for TextOut<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        if bytes == b"\n" {
            if self.n_written.is_multiple_of(CHECKED_ROWS) {
                let step = writing(self.n_written, self.n_rows, self.task);
                step.map_err(std::io::Error::other)?;
            }
            self.n_written += 1;
        }
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// The values of a channel row by row, `missing` where they are not valid.
fn rows<const N: usize>(channel: &AggregateChannel, missing: [f64; N]) -> Vec<[f64; N]> {
    let rows = channel.values.chunks_exact(N).zip(&channel.valid);
    let row = |(values, valid): (&[f64], &bool)| match <[f64; N]>::try_from(values) {
        Ok(values) if *valid => values,
        _ => missing,
    };
    rows.map(row).collect()
}

fn label(channel: &AggregateChannel) -> LabelTrack {
    let words: BTreeSet<&String> = channel.words.iter().flatten().collect();
    let words: Vec<String> = words.into_iter().cloned().collect();
    let index = |word: &Option<String>| {
        let at = words.binary_search(word.as_ref()?).ok()?;
        Some(at as u32)
    };
    let said = channel.words.iter().zip(&channel.valid);
    let values = said
        .map(|(word, valid)| index(word).filter(|_| *valid))
        .collect();
    LabelTrack {
        name: channel.name.clone(),
        values,
        words,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::motion::aggregate::Stream;
    use crate::motion::align::ClockMap;
    use crate::motion::table::{parse_csv, parse_json_lines};
    use crate::task::Task;

    #[test]
    fn rotations_in_the_world_stay_in_the_world() {
        let line = |t: f64| {
            format!(
                "{{\"t\":{t},\"rotation\":{{\"tracker\":[0,0,0.6,0.8],\"arm\":[0,0,0,1]}},\"space\":\"world\"}}\n"
            )
        };
        let mut recording = parse_json_lines(&(line(0.0) + &line(1.0)), &Task::new()).unwrap();
        recording.world_rotations = ["tracker".to_owned()].into();
        let stream = Stream {
            name: "vive",
            recording: &recording,
            clock: ClockMap::SAME,
        };
        let times = vec![0.0, 1.0];
        let task = Task::new();
        let at_rest = |_: &str| DQuat::IDENTITY;
        let made = Aggregate::new(&[stream], times, 1.0, |_| true, at_rest, &task).unwrap();
        let text = String::from_utf8(made.to_json_lines(&task).unwrap()).unwrap();
        let read = parse_json_lines(&text, &Task::new()).unwrap();
        assert_eq!(
            read.world_rotations.iter().collect::<Vec<_>>(),
            ["vive.tracker"],
            "{text}"
        );
    }

    #[test]
    fn a_table_reads_back_from_lines_as_from_csv() {
        let csv = "t,wrist.x[m],wrist.y[m],wrist.z[m],arm.qx,arm.qy,arm.qz,arm.qw,emg,phase\n\
                   0,0.1,0.2,0.3,0,0,0.6,0.8,4,rest\n0.5,0.2,0.2,0.3,0,0,0,1,5,flex\n1,0.3,0.2,0.3,0,0,0,1,6,flex\n";
        let recording = parse_csv(csv, &Task::new()).unwrap();
        let stream = Stream {
            name: "imu",
            recording: &recording,
            clock: ClockMap { a: 1.0, b: 0.25 },
        };
        // The first row lies before the first sample.
        let times = vec![0.0, 0.25, 0.75, 1.25];
        let (at, task) = (times.clone(), Task::new());
        let at_rest = |_: &str| DQuat::IDENTITY;
        let made = Aggregate::new(&[stream], at, 2.0, |_| true, at_rest, &task).unwrap();
        let text = String::from_utf8(made.to_json_lines(&task).unwrap()).unwrap();
        let read = parse_json_lines(&text, &Task::new()).unwrap();
        assert_eq!(read.times, times);
        assert_eq!(read.n_channels(), 4);
        assert_eq!(read.markers[0].name, "imu.wrist");
        assert!(read.markers[0].values[0].is_nan());
        assert_eq!(read.markers[0].values[1], DVec3::new(0.1, 0.2, 0.3));
        assert!(
            read.rotations[0].values[1].dot(DQuat::from_xyzw(0.0, 0.0, 0.6, 0.8)) > 1.0 - 1e-12
        );
        assert!(read.scalars[0].values[0].is_nan() && read.scalars[0].values[3] == 6.0);
        assert_eq!(read.label("imu.phase", 0.8), Some("flex"));
        // The same numbers as the CSV table has.
        let again = parse_csv(&made.to_csv(&task).unwrap(), &task).unwrap();
        let emg = |of: &Recording| {
            let mut tracks = of.scalars.iter();
            tracks.find(|track| track.name == "imu.emg").unwrap().values[3]
        };
        assert_eq!(emg(&again), emg(&read));
    }
}
