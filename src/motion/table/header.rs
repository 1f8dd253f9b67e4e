//! The header of a CSV file: what each column holds.

use super::number::{Cell, read_cell};
use crate::motion::fault::Fault;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// What a column holds.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Column {
    /// As in the header, without the unit.
    pub(super) name: String,
    /// As in the header; empty for none.
    pub(super) unit: String,
    /// The factor to metres, radians or seconds.
    pub(super) factor: f64,
    /// What it is a part of.
    pub(super) role: Role,
}

/// What a column is a part of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// The time.
    Time,
    /// A component of a group: a marker or a rotation.
    Part {
        /// The index of the group.
        group: usize,
        /// Which of its components.
        component: usize,
    },
    /// A scalar, or labels.
    Single,
    /// A column without a name.
    Unnamed,
}

/// Columns that make one channel.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Group {
    /// The name of the marker or joint.
    pub(super) name: String,
    /// What the columns are.
    pub(super) kind: GroupKind,
    /// Their columns, by component.
    pub(super) columns: Vec<usize>,
}

/// The kinds of channels with several columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum GroupKind {
    /// A marker: x, y, z.
    Position,
    /// A rotation: qx, qy, qz, qw.
    Quaternion,
    /// A rotation: rx, ry, rz.
    Euler,
}

/// The columns of a table.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Header {
    /// In the order of the file.
    pub(super) columns: Vec<Column>,
    /// In the order of their first columns.
    pub(super) groups: Vec<Group>,
    /// The column of the time.
    pub(super) time: usize,
    /// Whether the time counts frames.
    pub(super) in_frames: bool,
    /// The last column with a name, and 1.
    pub(super) n_named: usize,
}

const LENGTHS: [(&str, f64); 3] = [("m", 1.0), ("cm", 0.01), ("mm", 0.001)];
const ANGLES: [(&str, f64); 3] = [
    ("rad", 1.0),
    ("deg", std::f64::consts::PI / 180.0),
    ("°", std::f64::consts::PI / 180.0),
];
const TIMES: [(&str, f64); 4] = [("s", 1.0), ("ms", 1e-3), ("us", 1e-6), ("µs", 1e-6)];

impl GroupKind {
    /// The endings of its columns.
    fn suffixes(self) -> &'static [&'static str] {
        match self {
            Self::Position => &["x", "y", "z"],
            Self::Quaternion => &["qx", "qy", "qz", "qw"],
            Self::Euler => &["rx", "ry", "rz"],
        }
    }

    fn word(self) -> &'static str {
        match self {
            Self::Position => "marker",
            Self::Quaternion | Self::Euler => "rotation",
        }
    }
}

/// Reads the cells of the header at `line`.
pub(super) fn read_header(
    line: usize,
    cells: &[Cow<'_, str>],
    comma: bool,
) -> Result<Header, Fault> {
    let named = |cell: &&Cow<'_, str>| !cell.trim().is_empty();
    let is_word = |cell: &Cow<'_, str>| matches!(read_cell(cell, comma), Cell::Word(_));
    if !cells.iter().filter(named).any(is_word) {
        let what = "no header row: the first row names the time and the channels";
        return Err(Fault::line(line, what));
    }
    let mut columns: Vec<Column> = cells.iter().map(|cell| column(cell)).collect();
    let mut known = BTreeMap::new();
    for (i, column) in columns.iter().enumerate() {
        if column.role != Role::Unnamed && known.insert(column.name.clone(), i).is_some() {
            let what = format!("two columns are called \"{}\"", column.name);
            return Err(Fault::cell(line, i, what));
        }
    }
    let find = |name: &str| {
        columns
            .iter()
            .position(|c| c.name.eq_ignore_ascii_case(name))
    };
    let Some(time) = ["time", "t", "frame"].into_iter().find_map(find) else {
        return Err(Fault::line(line, "no time column: time, t or frame"));
    };
    let in_frames = read_time_unit(line, time, &mut columns[time])?;
    let groups = find_groups(line, &mut columns)?;
    for (i, column) in columns.iter_mut().enumerate() {
        if column.role == Role::Single {
            let known = LENGTHS.iter().chain(&ANGLES).chain(&TIMES);
            let mut known = known.filter(|(unit, _)| *unit == column.unit);
            column.factor = known.next().map_or(1.0, |(_, factor)| *factor);
        }
        if let Role::Part { group, .. } = column.role {
            read_part_unit(line, i, groups[group].kind, column)?;
        }
    }
    for group in &groups {
        share_unit(line, group, &mut columns)?;
    }
    let n_named = columns.iter().rposition(|c| c.role != Role::Unnamed);
    Ok(Header {
        columns,
        groups,
        time,
        in_frames,
        n_named: n_named.map_or(0, |last| last + 1),
    })
}

/// The name and the unit of a cell like `wrist.x[mm]`.
fn column(cell: &str) -> Column {
    let cell = cell.trim();
    let split = cell
        .strip_suffix(']')
        .and_then(|rest| rest.rsplit_once('['));
    let (name, unit) = split.unwrap_or((cell, ""));
    Column {
        name: name.trim().to_owned(),
        unit: unit.trim().to_owned(),
        factor: 1.0,
        role: if cell.is_empty() {
            Role::Unnamed
        } else {
            Role::Single
        },
    }
}

/// Reads the unit of the time; returns whether it counts frames.
fn read_time_unit(line: usize, index: usize, column: &mut Column) -> Result<bool, Fault> {
    column.role = Role::Time;
    let is_frame = column.unit == "frame";
    let counts = column.name.eq_ignore_ascii_case("frame");
    if is_frame || (counts && column.unit.is_empty()) {
        return Ok(true);
    }
    let unit = if column.unit.is_empty() {
        "s"
    } else {
        &column.unit
    };
    let known = TIMES.iter().find(|(known, _)| *known == unit);
    let Some((_, factor)) = known.filter(|_| !counts) else {
        return Err(unknown_unit(line, index, column, "s, ms, us, frame"));
    };
    column.factor = *factor;
    Ok(false)
}

fn unknown_unit(line: usize, index: usize, column: &Column, list: &str) -> Fault {
    let Column { name, unit, .. } = column;
    Fault::cell(
        line,
        index,
        format!("the column \"{name}\" has the unknown unit \"{unit}\" ({list})"),
    )
}

/// Puts the columns of markers and rotations together.
fn find_groups(line: usize, columns: &mut [Column]) -> Result<Vec<Group>, Fault> {
    let kinds = [GroupKind::Position, GroupKind::Quaternion, GroupKind::Euler];
    let mut groups: Vec<Group> = Vec::new();
    let mut known: BTreeMap<(String, GroupKind), usize> = BTreeMap::new();
    for (i, column) in columns.iter_mut().enumerate() {
        let Some((name, suffix)) = column.name.rsplit_once('.') else {
            continue;
        };
        if column.role != Role::Single || name.is_empty() {
            continue;
        }
        let found = kinds.into_iter().find_map(|kind| {
            let suffixes = kind.suffixes().iter();
            let mut suffixes = suffixes.enumerate();
            let found = suffixes.find(|(_, s)| s.eq_ignore_ascii_case(suffix));
            found.map(|(component, _)| (kind, component))
        });
        let Some((kind, component)) = found else {
            continue;
        };
        let group = *known.entry((name.to_owned(), kind)).or_insert_with(|| {
            groups.push(Group {
                name: name.to_owned(),
                kind,
                columns: vec![usize::MAX; kind.suffixes().len()],
            });
            groups.len() - 1
        });
        // Column names are unique, but not their cases.
        let place = &mut groups[group].columns[component];
        if *place != usize::MAX {
            let what = format!("{} \"{name}\" has two columns for {suffix}", kind.word());
            return Err(Fault::cell(line, i, what));
        }
        *place = i;
        column.role = Role::Part { group, component };
    }
    for group in &groups {
        let word = group.kind.word();
        let lost = group.columns.iter().position(|&i| i == usize::MAX);
        if let Some(lost) = lost {
            let suffix = group.kind.suffixes()[lost];
            let what = format!("{word} \"{}\" has no {suffix}", group.name);
            return Err(Fault::line(line, what));
        }
    }
    Ok(groups)
}

/// Reads the unit of a component, if it has one.
fn read_part_unit(
    line: usize,
    i: usize,
    kind: GroupKind,
    column: &mut Column,
) -> Result<(), Fault> {
    let (units, list): (&[(&str, f64)], _) = match kind {
        GroupKind::Position => (&LENGTHS, "m, cm, mm"),
        GroupKind::Euler => (&ANGLES, "deg, rad"),
        GroupKind::Quaternion => (&[], "a quaternion has none"),
    };
    if column.unit.is_empty() {
        return Ok(());
    }
    let Some((_, factor)) = units.iter().find(|(unit, _)| *unit == column.unit) else {
        return Err(unknown_unit(line, i, column, list));
    };
    column.factor = *factor;
    Ok(())
}

/// Gives the components without a unit that of the first one that has any: some files write it once.
fn share_unit(line: usize, group: &Group, columns: &mut [Column]) -> Result<(), Fault> {
    let with = |&&i: &&usize| !columns[i].unit.is_empty();
    match group.columns.iter().find(with) {
        Some(&first) => {
            let (unit, factor) = (columns[first].unit.clone(), columns[first].factor);
            for &i in &group.columns {
                if columns[i].unit.is_empty() {
                    columns[i].unit.clone_from(&unit);
                    columns[i].factor = factor;
                }
            }
            Ok(())
        }
        None if group.kind == GroupKind::Euler => {
            let what = format!(
                "the angles of rotation \"{}\" need a unit: [deg] or [rad]",
                group.name
            );
            Err(Fault::cell(line, group.columns[0], what))
        }
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(text: &str) -> Result<Header, String> {
        let cells: Vec<Cow<'_, str>> = text.split(',').map(Cow::Borrowed).collect();
        read_header(1, &cells, false).map_err(|fault| fault.to_string())
    }

    #[test]
    fn columns_are_told_apart_by_their_names() {
        let found =
            header("emg[mV], Time[ms],a.x[mm],a.y,a.z,j.QW,j.qx,j.qy,j.qz,level[cm],").unwrap();
        assert_eq!((found.time, found.in_frames, found.n_named), (1, false, 10));
        let factors: Vec<f64> = found.columns.iter().map(|c| c.factor).collect();
        assert_eq!(
            factors,
            [1.0, 1e-3, 1e-3, 1e-3, 1e-3, 1.0, 1.0, 1.0, 1.0, 0.01, 1.0]
        );
        assert_eq!(found.groups[0].columns, [2, 3, 4]);
        assert_eq!(found.groups[1].columns, [6, 7, 8, 5]);
        assert_eq!(found.columns[0].unit, "mV");
        assert!(header("frame,a").unwrap().in_frames);
        assert!(header("time[frame],a").unwrap().in_frames);
        // A file with both keeps the frame as a scalar.
        let both = header("frame,time,a").unwrap();
        assert_eq!((both.time, both.columns[0].role), (1, Role::Single));
    }

    #[test]
    fn faults_name_the_column() {
        for (text, said) in [
            (
                "0.0,1,2",
                "line 1: no header row: the first row names the time and the channels",
            ),
            ("a.x,a.y,a.z", "line 1: no time column: time, t or frame"),
            (
                "time,a,b,a",
                "line 1, column 4: two columns are called \"a\"",
            ),
            ("time,a.x,a.y", "line 1: marker \"a\" has no z"),
            ("time,j.qx,j.qy,j.qz", "line 1: rotation \"j\" has no qw"),
            (
                "time,a.x,a.y,a.z,a.X",
                "line 1, column 5: marker \"a\" has two columns for X",
            ),
            (
                "time,a.x[ft],a.y,a.z",
                "line 1, column 2: the column \"a.x\" has the unknown unit \"ft\" (m, cm, mm)",
            ),
            (
                "time[h],a",
                "line 1, column 1: the column \"time\" has the unknown unit \"h\" (s, ms, us, frame)",
            ),
            (
                "time,j.rx,j.ry,j.rz",
                "line 1, column 2: the angles of rotation \"j\" need a unit: [deg] or [rad]",
            ),
        ] {
            assert_eq!(header(text).unwrap_err(), said);
        }
    }
}
