//! CSV: a header with the names of the columns, then a row a measurement.

use super::MAX_ROWS;
use super::fields::{FIELDS, blank, finish, set};
use crate::motion::fault::Fault;
use crate::motion::table::{Row, Rows, find_separator};
use crate::twin::{Kind, Measurement};
use std::borrow::Cow;
use std::fmt::Write;

pub(super) fn parse(text: &str) -> Result<Vec<Measurement>, Fault> {
    if text.trim().is_empty() {
        return Err(Fault::whole("the file is empty"));
    }
    let separator = find_separator(text);
    let decimal_comma = separator == ';';
    let mut rows = Rows::new(text, separator);
    let mut cells: Vec<Cow<'_, str>> = Vec::new();
    let mut header: Option<Vec<String>> = None;
    let mut made = Vec::new();
    while let Some(row) = rows.next(&mut cells)? {
        let Row::Cells { line } = row else {
            continue;
        };
        let Some(header) = &header else {
            header = Some(read_header(line, &cells)?);
            continue;
        };
        if cells.len() > header.len() {
            let what = format!(
                "the row has {} cells, the header {}",
                cells.len(),
                header.len()
            );
            return Err(Fault::line(line, what));
        }
        if made.len() == MAX_ROWS {
            return Err(Fault::line(line, format!("more than {MAX_ROWS} rows")));
        }
        let (mut row, mut has_kind) = (blank(), false);
        for (column, (field, cell)) in header.iter().zip(&cells).enumerate() {
            set(&mut row, field, cell, decimal_comma)
                .map_err(|what| Fault::cell(line, column, what))?;
            has_kind |= field == "kind" && !cell.trim().is_empty();
        }
        let row = finish(row, has_kind).map_err(|what| Fault::line(line, what))?;
        made.push(row);
    }
    if header.is_none() {
        return Err(Fault::whole("no header row: the file has only comments"));
    }
    Ok(made)
}

fn read_header(line: usize, cells: &[Cow<'_, str>]) -> Result<Vec<String>, Fault> {
    let names: Vec<String> = cells
        .iter()
        .map(|cell| cell.trim().to_lowercase())
        .collect();
    for (column, name) in names.iter().enumerate() {
        if !name.is_empty() && !FIELDS.contains(&name.as_str()) {
            let what = format!("unknown column \"{name}\": use {}", FIELDS.join(", "));
            return Err(Fault::cell(line, column, what));
        }
        if !name.is_empty() && names[..column].contains(name) {
            return Err(Fault::cell(line, column, format!("two columns \"{name}\"")));
        }
    }
    for needed in ["kind", "value"] {
        if !names.iter().any(|name| name == needed) {
            return Err(Fault::line(line, format!("no column \"{needed}\"")));
        }
    }
    Ok(names)
}

pub(super) fn write(rows: &[Measurement]) -> String {
    let mut text = FIELDS.join(",");
    text.push('\n');
    for row in rows {
        let at = if row.kind == Kind::Girth {
            row.at.to_string()
        } else {
            String::new()
        };
        let _ = writeln!(
            text,
            "{},{},{},{},{at},{},{},{}",
            quoted(&row.id),
            row.kind.label(),
            quoted(&row.bone),
            quoted(&row.to),
            row.side.map_or("", crate::twin::MeasuredSide::label),
            row.value,
            row.unit.label()
        );
    }
    text
}

fn quoted(text: &str) -> String {
    let is_plain = !text.contains([',', '"', '\n', '\r', ';', '\t']) && !text.starts_with('#');
    if is_plain && text.trim() == text {
        text.to_owned()
    } else {
        format!("\"{}\"", text.replace('"', "\"\""))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::twin::{MeasuredSide, Unit};

    #[test]
    fn rows_are_read_and_written() {
        let text = "# taken on Monday\nid,kind,bone,to,at,side,value,unit\n\
                    tall,height,,,,,170,cm\n\
                    \"arm, whole\",length,upperarm,forearm,,l,22.5,in\n\
                    ,girth,l.thigh,,,,0.55,\n";
        let rows = parse(text).unwrap();
        assert_eq!(rows.len(), 3);
        assert_eq!(
            (rows[0].kind, rows[0].unit),
            (Kind::Height, Unit::Centimetre)
        );
        assert_eq!(rows[1].side, Some(MeasuredSide::Left));
        assert_eq!((rows[1].to.as_str(), rows[1].value), ("forearm", 22.5));
        assert_eq!((rows[2].at, rows[2].unit), (0.5, Unit::Metre));
        assert_eq!(parse(&write(&rows)).unwrap(), rows);
        let semicolons = "kind;bone;value;unit\nlength;thigh;0,42;m\n";
        assert_eq!(parse(semicolons).unwrap()[0].value, 0.42);
    }

    #[test]
    fn a_fault_names_its_line() {
        for (text, said) in [
            ("", "the file is empty"),
            ("# only\n", "no header row: the file has only comments"),
            ("kind,bone\n", "line 1: no column \"value\""),
            (
                "kind,value,size\n",
                "line 1, column 3: unknown column \"size\": use id, kind, bone, to, at, side, value, unit",
            ),
            (
                "kind,value,kind\n",
                "line 1, column 3: two columns \"kind\"",
            ),
            (
                "kind,value\nlength,1,2\n",
                "line 2: the row has 3 cells, the header 2",
            ),
            (
                "kind,value\nwidth,1\n",
                "line 2, column 1: unknown kind \"width\": use height, length, girth",
            ),
            (
                "kind,value\nheight,tall\n",
                "line 2, column 2: \"tall\" is not a number",
            ),
            ("kind,value\nheight,\n", "line 2: the value is missing"),
            (
                "kind,value\n,1.7\n",
                "line 2: the kind is missing: height, length or girth",
            ),
            (
                "kind,value\nheight,-1\n",
                "line 2: the value -1 is not a number above 0",
            ),
            (
                "kind,value\nheight,0\n",
                "line 2: the value 0 is not a number above 0",
            ),
            ("kind,value\nlength,1\n", "line 2: a length needs a bone"),
            (
                "kind,bone,value,unit\nlength,thigh,1,ft\n",
                "line 2, column 4: unknown unit \"ft\": use m, cm, mm, in",
            ),
            (
                "kind,bone,value,side\nlength,thigh,1,up\n",
                "line 2, column 4: unknown side \"up\": use l, r, both",
            ),
            (
                "kind,bone,value,at\ngirth,thigh,1,1.5\n",
                "line 2: a girth is measured at 0 - 1 of its bone, not at 1.5",
            ),
            (
                "kind,value\n\"height,1\n",
                "line 2, column 1: a quote is not closed",
            ),
        ] {
            assert_eq!(parse(text).unwrap_err().to_string(), said, "{text:?}");
        }
    }
}
