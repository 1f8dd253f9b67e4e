//! TRC: markers as tab-separated values, from motion capture and biomechanics (OpenSim, Vicon, Cortex).
//!
//! ```text
//! PathFileType  4  (X/Y/Z)  walk.trc
//! DataRate  CameraRate  NumFrames  NumMarkers  Units  ...
//! 100       100         2          1           mm     ...
//! Frame#  Time  wrist
//!               X1     Y1     Z1
//!
//! 1       0.00  12.5   830.0  40.1
//! 2       0.01  12.9   830.4  39.8
//! ```
//!
//! A marker with a blank coordinate is missing in that row.

use super::cells::MAX_CELLS;
use super::in_order::InOrder;
use super::number::{Cell, check_time, read_cell};
use crate::motion::fault::Fault;
use crate::motion::{Note, Recording, Track};
use crate::task::Task;
use glam::DVec3;
use std::collections::BTreeSet;

/// Rows between two checks for cancellation.
const SPAN: usize = 1 << 12;
/// So many positions may always be blank.
const MIN_VALUES: usize = 1 << 20;
/// The columns before the first marker: frame and time.
const FIRST: usize = 2;
/// Units and their factors to metres.
const UNITS: [(&str, f64); 3] = [("m", 1.0), ("cm", 100.0), ("mm", 1000.0)];

/// The numbers of the head that are used.
struct Head {
    rate: Option<f64>,
    /// Units in a metre.
    per_metre: f64,
    n_frames: Option<f64>,
    n_markers: Option<f64>,
}

/// Reads a recording from the text of a TRC file.
pub fn parse_trc(text: &str, task: &Task) -> Result<Recording, Fault> {
    let mut lines = text.lines().enumerate().map(|(i, line)| (i + 1, line));
    let mut next = |what: &str| {
        let ends = || Fault::whole(format!("the file ends before {what}"));
        lines.next().ok_or_else(ends)
    };
    let (line, first) = next("the line \"PathFileType\"")?;
    if cells(first).next() != Some("PathFileType") {
        return Err(Fault::cell(line, 0, "\"PathFileType\" expected"));
    }
    let (line, names) = next("the line \"DataRate\"")?;
    let (_, values) = next("the values of the head")?;
    let head = read_head(line, names, values)?;
    let (line, names) = next("the line \"Frame#\"")?;
    let mut markers = read_names(line, names)?;
    let (line, axes) = next("the line \"X1\"")?;
    let is_axis = |cell: &str| cell.is_empty() || cell.starts_with(['X', 'Y', 'Z', 'x', 'y', 'z']);
    if let Some(column) = cells(axes).position(|cell| !is_axis(cell)) {
        return Err(Fault::cell(line, column, "X1, Y1, Z1 ... expected"));
    }
    let mut recording = Recording {
        rate: head.rate,
        ..Recording::default()
    };
    let mut note = |line: usize, text: String| recording.notes.push(Note { line, text });
    if let Some(n) = head.n_markers.filter(|n| *n != markers.len() as f64) {
        note(
            3,
            format!(
                "NumMarkers is {n}; the file names {} markers.",
                markers.len()
            ),
        );
    }
    let (mut times, mut rows): (Vec<f64>, Vec<u32>) = (Vec::new(), Vec::new());
    let mut partial: Option<(usize, usize)> = None;
    for (line, row) in lines {
        if row.trim().is_empty() {
            continue;
        }
        if times.len().is_multiple_of(SPAN) {
            let done = (row.as_ptr() as usize).saturating_sub(text.as_ptr() as usize);
            task.step("Reading channels", done as f32 / text.len() as f32)?;
        }
        // Short rows leave out blanks; rows of nothing else would take memory without end.
        let n_values = (times.len() + 1).saturating_mul(markers.len());
        if n_values > MIN_VALUES + text.len() / 2 {
            let what = format!(
                "the rows up to here are almost blank for {} markers",
                markers.len()
            );
            return Err(Fault::line(line, what));
        }
        times.push(read_row(
            line,
            row,
            head.per_metre,
            &mut markers,
            &mut partial,
        )?);
        rows.push(line as u32);
    }
    task.check()?;
    if times.is_empty() {
        return Err(Fault::whole("there are no rows after the head"));
    }
    if let Some(n) = head.n_frames.filter(|n| *n != times.len() as f64) {
        note(
            3,
            format!("NumFrames is {n}; the file has {} rows.", times.len()),
        );
    }
    if let Some((line, marker)) = partial {
        let name = &markers[marker].name;
        note(
            line,
            format!("A coordinate of the marker \"{name}\" is blank: the marker is missing there."),
        );
    }
    for (time, row) in times.iter().zip(&rows) {
        check_time(*time).map_err(|why| Fault::line(*row as usize, why))?;
    }
    let order = InOrder::new(times, &rows, &mut recording.notes);
    for marker in markers {
        recording.markers.push(Track {
            name: marker.name,
            values: order.apply(marker.values),
        });
    }
    recording.times = order.times;
    Ok(recording)
}

/// The cells of a line, without blanks around them.
fn cells(line: &str) -> impl Iterator<Item = &str> {
    line.split('\t').map(str::trim)
}

fn read_head(line: usize, names: &str, values: &str) -> Result<Head, Fault> {
    let values: Vec<&str> = cells(values).collect();
    let find = |name: &str| {
        let column = cells(names).position(|cell| cell.eq_ignore_ascii_case(name))?;
        let value = values.get(column).copied().unwrap_or_default();
        Some((column, value)).filter(|(_, value)| !value.is_empty())
    };
    let number = |name: &str| {
        let Some((column, value)) = find(name) else {
            return Ok(None);
        };
        match read_cell(value, false) {
            Cell::Number(number) if number >= 0.0 => Ok(Some(number)),
            _ => {
                let what = format!("{name} is \"{value}\", which is not a number of 0 or more");
                Err(Fault::cell(line + 1, column, what))
            }
        }
    };
    let Some((column, unit)) = find("Units") else {
        return Err(Fault::line(
            line,
            "no \"Units\" with a value in the line below",
        ));
    };
    let known = UNITS
        .iter()
        .find(|(known, _)| known.eq_ignore_ascii_case(unit));
    let Some((_, per_metre)) = known else {
        let what = format!("Units is \"{unit}\", which is not m, cm or mm");
        return Err(Fault::cell(line + 1, column, what));
    };
    Ok(Head {
        rate: number("DataRate")?.filter(|rate| *rate > 0.0),
        per_metre: *per_metre,
        n_frames: number("NumFrames")?,
        n_markers: number("NumMarkers")?,
    })
}

/// The markers of the line of names: one name, then two blank cells.
fn read_names(line: usize, names: &str) -> Result<Vec<Track<DVec3>>, Fault> {
    let mut all = cells(names);
    let begins = |cell: Option<&str>, name: &str| {
        cell.is_some_and(|cell| cell.to_lowercase().starts_with(name))
    };
    if !begins(all.next(), "frame") {
        return Err(Fault::cell(line, 0, "\"Frame#\" expected"));
    }
    if !begins(all.next(), "time") {
        return Err(Fault::cell(line, 1, "\"Time\" expected"));
    }
    let mut markers: Vec<Track<DVec3>> = Vec::new();
    let mut known = BTreeSet::new();
    for (i, name) in all.enumerate() {
        let column = FIRST + i;
        if name.is_empty() {
            continue;
        }
        if column >= MAX_CELLS {
            return Err(Fault::cell(
                line,
                column,
                format!("more than {MAX_CELLS} cells"),
            ));
        }
        if i != 3 * markers.len() {
            let expected = FIRST + 3 * markers.len() + 1;
            let what = format!(
                "the name \"{name}\" belongs in column {expected}: each marker has three columns"
            );
            return Err(Fault::cell(line, column, what));
        }
        if !known.insert(name) {
            let what = format!("two markers are called \"{name}\"");
            return Err(Fault::cell(line, column, what));
        }
        markers.push(Track {
            name: name.to_owned(),
            values: Vec::new(),
        });
    }
    if markers.is_empty() {
        return Err(Fault::line(line, "no marker is named"));
    }
    Ok(markers)
}

/// Reads the coordinates of a row; returns its time. `partial` is the first line and marker with a blank coordinate
/// beside others.
fn read_row(
    line: usize,
    row: &str,
    per_metre: f64,
    markers: &mut [Track<DVec3>],
    partial: &mut Option<(usize, usize)>,
) -> Result<f64, Fault> {
    let mut all = cells(row).enumerate();
    // The number of the frame says nothing that the time does not.
    all.next();
    let time = match all.next().map(|(_, cell)| read_cell(cell, false)) {
        Some(Cell::Number(time)) => time,
        Some(Cell::Word(word)) => {
            return Err(Fault::cell(line, 1, format!("\"{word}\" is not a time")));
        }
        Some(Cell::Missing) | None => return Err(Fault::cell(line, 1, "the row has no time")),
    };
    let mut number = |last: usize| match all.next() {
        None => Ok(f64::NAN),
        Some((column, cell)) => match read_cell(cell, false) {
            Cell::Number(number) => Ok(number / per_metre),
            Cell::Missing => Ok(f64::NAN),
            Cell::Word(word) => {
                let what = if column < last {
                    format!("\"{word}\" is not a number")
                } else {
                    format!("\"{word}\" stands after the last marker")
                };
                Err(Fault::cell(line, column, what))
            }
        },
    };
    let n_cells = FIRST + 3 * markers.len();
    for (i, marker) in markers.iter_mut().enumerate() {
        let place = DVec3::new(number(n_cells)?, number(n_cells)?, number(n_cells)?);
        let is_blank = place.to_array().iter().all(|v| v.is_nan());
        if !place.is_finite() && !is_blank && partial.is_none() {
            *partial = Some((line, i));
        }
        marker
            .values
            .push(if place.is_finite() { place } else { DVec3::NAN });
    }
    for (column, cell) in all {
        if !cell.is_empty() {
            let what = format!("\"{cell}\" stands after the last marker");
            return Err(Fault::cell(line, column, what));
        }
    }
    Ok(time)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "PathFileType\t4\t(X/Y/Z)\ta.trc\n\
        DataRate\tCameraRate\tNumFrames\tNumMarkers\tUnits\tOrigDataRate\n\
        100\t100\t3\t2\tmm\t100\n\
        Frame#\tTime\twrist\t\t\telbow\t\t\n\
        \t\tX1\tY1\tZ1\tX2\tY2\tZ2\t\n\n";

    fn why(text: &str) -> String {
        parse_trc(text, &Task::new()).unwrap_err().to_string()
    }

    #[test]
    fn markers_are_read_in_metres_and_blanks_are_missing() {
        let text = format!(
            "{HEAD}1\t0.00\t1\t2\t3\t4\t5\t6\t\r\n2\t0.01\t\t\t\t4\t5\t6\r\n3\t0.02\t1\t2\t3\t4\t\t6\r\n4\t0.03\t1\t2\t3\n"
        );
        let found = parse_trc(&text, &Task::new()).unwrap();
        assert_eq!((found.rate, found.times.len()), (Some(100.0), 4));
        let [wrist, elbow] = &found.markers[..] else {
            panic!("{:?}", found.markers)
        };
        assert_eq!(
            (wrist.name.as_str(), elbow.name.as_str()),
            ("wrist", "elbow")
        );
        assert_eq!(wrist.values[0], DVec3::new(0.001, 0.002, 0.003));
        assert_eq!((wrist.n_valid(), elbow.n_valid()), (3, 2));
        let notes: Vec<_> = found
            .notes
            .iter()
            .map(|n| (n.line, n.text.as_str()))
            .collect();
        assert_eq!(
            notes,
            [
                (3, "NumFrames is 3; the file has 4 rows."),
                (
                    9,
                    "A coordinate of the marker \"elbow\" is blank: the marker is missing there."
                ),
            ]
        );
    }

    #[test]
    fn faults_name_line_and_column() {
        let with = |from: &str, to: &str| why(&HEAD.replacen(from, to, 1));
        assert_eq!(why(HEAD), "there are no rows after the head");
        assert_eq!(
            with("PathFileType", "Path"),
            "line 1, column 1: \"PathFileType\" expected"
        );
        assert_eq!(
            with("\tmm\t", "\tft\t"),
            "line 3, column 5: Units is \"ft\", which is not m, cm or mm"
        );
        assert_eq!(
            with("Units", "Unit"),
            "line 2: no \"Units\" with a value in the line below"
        );
        assert!(with("\t3\t2", "\tx\t2").starts_with("line 3, column 3: NumFrames is \"x\""));
        assert_eq!(
            with("Frame#", "Fr"),
            "line 4, column 1: \"Frame#\" expected"
        );
        assert_eq!(with("Time", "Zeit"), "line 4, column 2: \"Time\" expected");
        assert_eq!(
            with("elbow", "wrist"),
            "line 4, column 6: two markers are called \"wrist\""
        );
        assert_eq!(
            with("\t\t\telbow", "\t\telbow"),
            "line 4, column 5: the name \"elbow\" belongs in column 6: each marker has three columns"
        );
        assert_eq!(with("X1", "1"), "line 5, column 3: X1, Y1, Z1 ... expected");
        let row = |row: &str| why(&format!("{HEAD}1\t0\t1\t2\t3\t4\t5\t6\n{row}\n"));
        assert_eq!(
            row("2\tsoon\t1"),
            "line 8, column 2: \"soon\" is not a time"
        );
        assert_eq!(row("2"), "line 8, column 2: the row has no time");
        assert_eq!(
            row("2\t1\t1\tup\t3"),
            "line 8, column 4: \"up\" is not a number"
        );
        assert_eq!(
            row("2\t1\t1\t2\t3\t4\t5\t6\t7"),
            "line 8, column 9: \"7\" stands after the last marker"
        );
        assert_eq!(
            why("PathFileType\n"),
            "the file ends before the line \"DataRate\""
        );
    }
}
