//! The frames of a BVH file.

use crate::motion::fault::Fault;
use crate::motion::recording::Note;
use crate::motion::table::{Cell, read_cell};
use crate::motion::text::Lines;
use crate::task::Task;

/// Frame time where the file says 0, seconds.
const DEFAULT_SECS: f64 = 1.0 / 30.0;
/// Rows between two checks for cancellation.
const SPAN: usize = 1 << 10;

/// The frames.
pub(super) struct Rows {
    /// Seconds, above 0.
    pub(super) frame_secs: f64,
    /// n_frames x n_channels; NaN is missing.
    pub(super) values: Vec<f64>,
}

/// Reads all that follows on `MOTION`.
pub(super) fn read(
    lines: &mut Lines<'_>,
    n_channels: usize,
    notes: &mut Vec<Note>,
    task: &Task,
) -> Result<Rows, Fault> {
    let (frames_line, text) = value_of(lines, "Frames:")?;
    let said: u64 = text.parse().map_err(|_| {
        let what = format!("\"{text}\" is not a number of frames");
        Fault::line(frames_line, what)
    })?;
    let frame_secs = frame_time(lines, notes)?;
    let mut values = Vec::new();
    let (mut n_missing, mut first_missing) = (0, 0);
    // The numbers of a frame that is not whole yet, and the line on which it begins.
    let (mut n_open, mut open_line, mut n_first) = (0, 0, 0);
    let mut wrapped = None;
    let (n_bytes, mut n_lines) = (lines.n_left().max(1), 0_usize);
    while let Some((line, row)) = lines.next_filled() {
        n_lines += 1;
        if n_lines.is_multiple_of(SPAN) {
            task.step(
                "Reading motion",
                1.0 - lines.n_left() as f32 / n_bytes as f32,
            )?;
        }
        let start = values.len();
        for word in row.split_ascii_whitespace() {
            values.push(match word.parse::<f64>() {
                Ok(number) if number.is_finite() => number,
                _ => match read_cell(word, true) {
                    Cell::Number(number) => number,
                    Cell::Missing => {
                        if n_missing == 0 {
                            first_missing = line;
                        }
                        n_missing += 1;
                        f64::NAN
                    }
                    Cell::Word(word) => {
                        let what = format!("\"{word}\" is not a number");
                        return Err(Fault::line(line, what));
                    }
                },
            });
        }
        let n = values.len() - start;
        if n_open == 0 && n == n_channels {
            continue;
        }
        if n_open == 0 {
            (open_line, n_first) = (line, n);
        }
        n_open += n;
        // Frames may share a line, but each begins a line of its own or follows on a whole one.
        let is_whole = n_channels > 0 && n_open.is_multiple_of(n_channels);
        if is_whole && (n_open == n_channels || n_open == n) {
            wrapped = wrapped.or(Some(open_line));
            n_open = 0;
        } else if n_open > n_channels {
            return Err(row_length(open_line, n_first, n_channels));
        }
    }
    task.check()?;
    if let Some(line) = wrapped {
        notes.push(Note::new(line, "Frames are wrapped over lines."));
    }
    if n_open > 0 {
        values.truncate(values.len() - n_open);
        notes.push(Note::new(
            open_line,
            format!(
                "The last frame is cut off ({n_open} of {n_channels} numbers); it is left out."
            ),
        ));
    }
    if n_missing > 0 {
        notes.push(Note::new(
            first_missing,
            match n_missing {
                1 => "One value is not a number: missing.".to_owned(),
                n => format!("{n} values are not numbers: missing."),
            },
        ));
    }
    let found = values.len().checked_div(n_channels).unwrap_or(0);
    if said != found as u64 {
        notes.push(Note::new(
            frames_line,
            format!("Frames says {said}, found {found}."),
        ));
    }
    if found == 0 {
        notes.push(Note::new(
            frames_line,
            "There are no frames, only a rest pose.",
        ));
    }
    Ok(Rows { frame_secs, values })
}

fn row_length(line: usize, n: usize, n_channels: usize) -> Fault {
    let what = format!("a frame has {n} numbers, the channels need {n_channels}");
    Fault::line(line, what)
}

/// The text after a key of one or two words that ends with a colon.
fn value_of<'a>(lines: &mut Lines<'a>, key: &str) -> Result<(usize, &'a str), Fault> {
    let Some((line, text)) = lines.next_filled() else {
        let what = format!("\"{key}\" expected, the file ends");
        return Err(Fault::line(lines.line(), what));
    };
    let wanted = key.trim_end_matches(':').split(' ');
    let found = text.split_once(':').filter(|(found, _)| {
        let mut words = found.split_whitespace();
        let same = wanted
            .clone()
            .all(|w| words.next().is_some_and(|f| f.eq_ignore_ascii_case(w)));
        same && words.next().is_none()
    });
    match found {
        Some((_, value)) => Ok((line, value.trim())),
        None => {
            let what = format!("\"{key}\" expected, found \"{text}\"");
            Err(Fault::line(line, what))
        }
    }
}

/// The note about a frame time of more than a second.
pub fn frame_time_note(secs: f64) -> String {
    format!("The frame time is {secs} s, more than a second: frames per second meant?")
}

/// The note about such a frame time that is read as frames per second.
pub fn frame_rate_note(secs: f64) -> String {
    format!("The frame time, {secs}, is read as frames per second.")
}

/// Reads the frame time, seconds.
fn frame_time(lines: &mut Lines<'_>, notes: &mut Vec<Note>) -> Result<f64, Fault> {
    let (line, text) = value_of(lines, "Frame Time:")?;
    let secs = match read_cell(text, true) {
        Cell::Number(secs) if secs >= 0.0 => secs,
        Cell::Number(_) | Cell::Missing => {
            let what = format!("\"{text}\" is not a frame time");
            return Err(Fault::line(line, what));
        }
        Cell::Word(word) => {
            let what = format!("\"{word}\" is not a number (Frame Time)");
            return Err(Fault::line(line, what));
        }
    };
    if secs == 0.0 {
        notes.push(Note::new(line, "The frame time is 0: 1/30 s assumed."));
        return Ok(DEFAULT_SECS);
    }
    if secs > 1.0 {
        notes.push(Note::new(line, frame_time_note(secs)));
    }
    Ok(secs)
}
