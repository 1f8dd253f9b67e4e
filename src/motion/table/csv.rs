//! Tables of comma, semicolon or tab separated values.

use super::cells::{Row, Rows, find_separator};
use super::columns::{Cells, Table};
use super::header::{Header, read_header};
use super::in_order::InOrder;
use super::number::{Cell, MAX_TIME, check_time, read_cell};
use crate::motion::fault::Fault;
use crate::motion::{Event, Note, Recording};
use crate::task::Task;
use std::borrow::Cow;

/// Rows between two checks for cancellation.
const SPAN: usize = 1 << 12;

/// What the comments of a file say.
struct Comments {
    rate: Option<f64>,
    order: [usize; 3],
    device: Option<String>,
    events: Vec<Event>,
}

/// Reads a recording from the text of a CSV file.
pub fn parse_csv(text: &str, task: &Task) -> Result<Recording, Fault> {
    let separator = find_separator(text);
    let decimal_comma = separator == ';';
    let mut comments = Comments {
        rate: None,
        order: [0, 1, 2],
        device: None,
        events: Vec::new(),
    };
    let mut recording = Recording::default();
    let mut header: Option<Header> = None;
    let (mut times, mut lines): (Vec<f64>, Vec<u32>) = (Vec::new(), Vec::new());
    let mut columns: Vec<Cells> = Vec::new();
    let mut rows = Rows::new(text, separator);
    let mut cells: Vec<Cow<'_, str>> = Vec::new();
    while let Some(row) = rows.next(&mut cells)? {
        let line = match row {
            Row::Comment { line } => {
                comments.read(line, &cells[0], &mut recording.notes)?;
                continue;
            }
            Row::Cells { line } => line,
        };
        let Some(header) = &header else {
            let read = read_header(line, &cells, decimal_comma)?;
            columns.resize_with(read.columns.len(), Cells::default);
            header = Some(read);
            continue;
        };
        if lines.len().is_multiple_of(SPAN) {
            let done = rows.n_read() as f32 / text.len() as f32;
            task.step("Reading channels", done)?;
        }
        let n_filled = cells.iter().rposition(|c| !c.trim().is_empty());
        let n_filled = n_filled.map_or(0, |last| last + 1);
        if n_filled > header.columns.len() {
            let (n, of) = (cells.len(), header.columns.len());
            let what = format!("the row has {n} cells, the header {of}");
            return Err(Fault::cell(line, of, what));
        }
        if cells.len() < header.n_named {
            let (n, of) = (cells.len(), header.columns.len());
            if rows.n_read() < text.len() {
                let what = format!("the row has {n} cells, the header {of}");
                return Err(Fault::cell(line, n, what));
            }
            // A recording that was stopped while it wrote.
            recording.notes.push(Note {
                line,
                text: format!("The last row is cut off ({n} of {of} cells); it is left out."),
            });
            break;
        }
        times.push(read_time(line, header, &cells, decimal_comma)?);
        lines.push(line as u32);
        for (i, cells_of_column) in columns.iter_mut().enumerate() {
            if i != header.time && i < header.n_named {
                let cell = cells.get(i).map_or("", |cell| cell.as_ref());
                cells_of_column.push(line, cell, decimal_comma);
            }
        }
    }
    task.check()?;
    let Some(header) = header else {
        return Err(Fault::whole("no header row: the file has only comments"));
    };
    if header.n_named < 2 && header.columns.len() < 2 {
        return Err(Fault::whole(
            "the only column is the time: there are no channels",
        ));
    }
    if times.is_empty() {
        return Err(Fault::whole("there are no rows after the header"));
    }
    scale_times(&header, comments.rate, &mut times)?;
    for (time, line) in times.iter().zip(&lines) {
        check_time(*time).map_err(|why| {
            let what = format!("{why}, which the header can name, as in time[ms]");
            Fault::cell(*line as usize, header.time, what)
        })?;
    }
    let rows = InOrder::new(times, &lines, &mut recording.notes);
    let table = Table {
        header: &header,
        cells: columns,
        lines: &lines,
        order: comments.order,
    };
    table.add_to(&mut recording, &rows)?;
    recording.times = rows.times;
    recording.rate = comments.rate;
    recording.device = comments.device;
    recording.events = comments.events;
    Ok(recording)
}

fn read_time(
    line: usize,
    header: &Header,
    cells: &[Cow<'_, str>],
    decimal_comma: bool,
) -> Result<f64, Fault> {
    let text = cells.get(header.time).map_or("", |cell| cell.as_ref());
    match read_cell(text, decimal_comma) {
        Cell::Number(time) => Ok(time),
        Cell::Word(word) => {
            let what = format!("\"{word}\" is not a time");
            Err(Fault::cell(line, header.time, what))
        }
        Cell::Missing => Err(Fault::cell(line, header.time, "the row has no time")),
    }
}

/// Times in seconds.
fn scale_times(header: &Header, rate: Option<f64>, times: &mut [f64]) -> Result<(), Fault> {
    let column = &header.columns[header.time];
    if header.in_frames {
        let Some(rate) = rate else {
            let what = format!(
                "the column \"{}\" counts frames, which needs a line \"# fps=\" with the frames per second",
                column.name
            );
            return Err(Fault::whole(what));
        };
        for time in times {
            *time /= rate;
        }
    } else if column.factor != 1.0 {
        // 1 / 1000 is not exact in binary, 1000 is: a division keeps the decimals of the file.
        let units = (1.0 / column.factor).round();
        for time in times {
            *time /= units;
        }
    }
    Ok(())
}

impl Comments {
    /// Reads one, without its `#`.
    fn read(&mut self, line: usize, text: &str, notes: &mut Vec<Note>) -> Result<(), Fault> {
        let Some((key, value)) = text.split_once(['=', ':']) else {
            return Ok(());
        };
        let value = value.trim();
        match key.trim().to_lowercase().as_str() {
            "fps" => {
                let rate = value.parse().ok();
                let rate = rate.filter(|rate| *rate > 0.0 && *rate <= 1e6);
                let what = || format!("\"{value}\" is not a number of frames per second");
                self.rate = Some(rate.ok_or_else(|| Fault::line(line, what()))?);
            }
            "order" => {
                let axes = |text: &str| {
                    let axes: Option<Vec<usize>> = text.chars().map(|c| "xyz".find(c)).collect();
                    <[usize; 3]>::try_from(axes?).ok()
                };
                let found = axes(&value.to_lowercase());
                let is_order = |a: &[usize; 3]| a[0] != a[1] && a[0] != a[2] && a[1] != a[2];
                let Some(order) = found.filter(is_order) else {
                    let what =
                        format!("\"{value}\" is not an order of the axes x, y and z, as in zxy");
                    return Err(Fault::line(line, what));
                };
                self.order = order;
            }
            "device" => self.device = Some(value.to_owned()),
            "event" => {
                let parts = value.rsplit_once(" at ");
                let event = parts.and_then(|(name, time)| {
                    let time: f64 = time.trim().trim_end_matches('s').trim().parse().ok()?;
                    Some(Event::new(name.trim(), time))
                });
                match event.filter(|event| event.time.abs() <= MAX_TIME) {
                    Some(event) => self.events.push(event),
                    None => notes.push(Note {
                        line,
                        text: format!(
                            "The event \"{value}\" names no time, as in \"clap at 1.5\"; it is left out."
                        ),
                    }),
                }
            }
            _ => {}
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::{DQuat, DVec3};

    fn read(text: &str) -> Recording {
        parse_csv(text, &Task::new()).unwrap_or_else(|fault| panic!("{fault}: {text}"))
    }

    fn why(text: &str) -> String {
        parse_csv(text, &Task::new()).unwrap_err().to_string()
    }

    #[test]
    fn a_table_becomes_channels_in_metres_radians_and_seconds() {
        let text = "# device: imu 3\n# fps=50\n# event: clap at 1.5\n# order=zxy\n\
            frame;w.x[mm];w.y;w.z;a.rx[deg];a.ry;a.rz;level[cm];phase\n\
            10;1,5;2;3;90;0;90;50;flex\n# event: no time\n\
            11;;2;3;0;0;0;nan;\n";
        let found = read(text);
        assert_eq!(found.times, [0.2, 0.22]);
        assert_eq!(
            (found.rate, found.device.as_deref()),
            (Some(50.0), Some("imu 3"))
        );
        assert_eq!(found.events[0].time, 1.5);
        assert_eq!(found.notes[0].line, 7);
        let places = &found.markers[0].values;
        assert!(places[0].abs_diff_eq(DVec3::new(0.0015, 0.002, 0.003), 1e-18));
        assert!(places[1].is_nan(), "one axis is missing");
        // First about z, then about the turned x.
        let turned = found.rotations[0].values[0];
        let half = std::f64::consts::FRAC_PI_2;
        let expected = DQuat::from_rotation_z(half) * DQuat::from_rotation_x(half);
        assert!(turned.abs_diff_eq(expected, 1e-15));
        assert_eq!(found.scalars[0].values[0], 0.5);
        assert!(found.scalars[0].values[1].is_nan());
        assert_eq!(found.label("phase", 0.3), Some("flex"), "held");
        assert_eq!(found.label("phase", 0.1), None);
        assert_eq!(found.n_channels(), 4);
    }

    #[test]
    fn rows_may_be_longer_by_nothing_and_the_last_one_may_be_cut_off() {
        let found = read("time,a,\n0,1,,,\n0.1,2,\n0.2");
        assert_eq!(found.scalars[0].values, [1.0, 2.0]);
        assert_eq!(
            found.notes[0].text,
            "The last row is cut off (1 of 3 cells); it is left out."
        );
        assert_eq!(
            why("time,a\n0\n0.1,2\n"),
            "line 2, column 2: the row has 1 cells, the header 2"
        );
        assert_eq!(
            why("time,a\n0,1,2\n"),
            "line 2, column 3: the row has 3 cells, the header 2"
        );
    }

    #[test]
    fn words_among_numbers_are_missing_up_to_half() {
        let found = read("time,a\n0,1\n1,x\n2,3\n3,y\n4,5\n");
        assert!(found.scalars[0].values[1].is_nan());
        assert_eq!(
            found.notes[0].text,
            "\"x\" in the column \"a\" is not a number, and 1 more cells: missing."
        );
        assert_eq!(
            why("time,b,a\n0,1,1\n1,1,up\n"),
            "line 3, column 3: \"up\" in the column \"a\" is not a number"
        );
        assert!(why("time,a.x,a.y,a.z\n0,up,1,1\n").starts_with("line 2, column 2: \"up\""));
    }

    #[test]
    fn stamps_count_from_1970_and_those_in_another_unit_are_named() {
        let found = read("time,a\n1700000000.5,1\n1700000001,2\n");
        assert_eq!(found.times, [1_700_000_000.5, 1_700_000_001.0]);
        let found = read("time[ms],a\n1700000000500,1\n1700000001000,2\n");
        assert_eq!(found.times[0], 1_700_000_000.5);
        assert_eq!(
            why("time,a\n0,1\n1700000000500,2\n"),
            "line 3, column 1: the time 1700000000500 s is more than 300 years: it may be in another unit, which the header can name, as in time[ms]"
        );
    }

    #[test]
    fn faults_of_the_whole_are_sentences() {
        for (text, said) in [
            ("# x\n", "no header row: the file has only comments"),
            (
                "time\n1\n",
                "the only column is the time: there are no channels",
            ),
            ("time,a\n", "there are no rows after the header"),
            ("time,a\n,1\n", "line 2, column 1: the row has no time"),
            (
                "# fps=0\ntime,a\n",
                "line 1: \"0\" is not a number of frames per second",
            ),
            (
                "# order=xxy\ntime,a\n",
                "line 1: \"xxy\" is not an order of the axes x, y and z, as in zxy",
            ),
        ] {
            assert_eq!(why(text), said);
        }
        let task = Task::new();
        task.cancel();
        assert_eq!(parse_csv("time,a\n0,1\n", &task), Err(Fault::Cancelled));
    }
}
