//! Recorded channels as text: CSV (also TSV), TRC, the tab-separated marker format of biomechanics, and JSON lines.
//!
//! Data flow: a text -> `csv` (`cells`, `header`, `columns`) or `trc` -> `in_order` (rows by time) -> a
//! [`super::Recording`]; or `json_lines` -> a [`super::Recording`].
//!
//! # CSV
//!
//! The first line that is neither blank nor a comment is the header; the separator is `,`, `;` or a tab. Units stand in
//! brackets, as in `time[ms]`; positions become metres, angles radians, times seconds.
//!
//! | column | holds |
//! |---|---|
//! | `time`, `t` | seconds, or `[ms]`, `[us]`; `[frame]` needs `# fps=` |
//! | `frame` | frame numbers; needs `# fps=` |
//! | `NAME.x`, `.y`, `.z` | the position of a marker: metres, or `[cm]`, `[mm]` |
//! | `NAME.qx`, `.qy`, `.qz`, `.qw` | the rotation of a joint in its parent's space |
//! | `NAME.rx`, `.ry`, `.rz` | the same as intrinsic Euler angles, `[deg]` or `[rad]`, in the order of `# order=` (xyz) |
//! | any other | a scalar; labels if all its cells are words |
//!
//! Comments begin with `#`; `# device: NAME` and `# event: NAME at SECONDS` are kept. In a `;` file numbers may have a
//! decimal comma. Empty cells and `nan` are missing values.
//!
//! Invariant: every fault is a sentence with its line, and its column where it has one.

mod cells;
mod columns;
mod csv;
mod header;
mod in_order;
mod json_lines;
mod json_lines_out;
mod number;
mod trc;

pub(crate) use cells::{Row, Rows, find_separator};
pub use csv::parse_csv;
pub(in crate::motion) use json_lines::JsonLine;
pub(crate) use json_lines::parse_kept_json_lines;
pub use json_lines::{MAX_LINE_BYTES, parse_json_lines};
pub use json_lines_out::write_json_lines;
pub(in crate::motion) use number::MAX_PLACE;
pub(crate) use number::{Cell, read_cell};
pub use trc::parse_trc;
