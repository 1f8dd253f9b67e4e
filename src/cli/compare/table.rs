//! The numbers of all stacks, a row each, for page and sheet.

use super::gather::{Series, Worst};
use super::girths::Girth;
use super::made::Made;
use crate::deform::diagnostics::Metric;
use crate::finding::trimmed;

/// The largest number of girths in the table; the numbers have all of them.
const MOST_GIRTHS: usize = 6;

/// The head of a column.
pub(crate) struct Column {
    pub(crate) label: String,
    pub(crate) unit: &'static str,
    pub(crate) about: &'static str,
}

/// One number.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Cell {
    pub(crate) text: String,
    /// Whether it is the best of its column and stacks differ.
    pub(crate) best: bool,
    /// 0; 1 from the metric's first threshold on, 2 from its second.
    pub(crate) alarm: u8,
}

/// Columns, and the cells of each stack.
pub(crate) fn table(series: &[Series]) -> (Vec<Column>, Vec<Vec<Cell>>) {
    let first = series.first().map_or("", |s| s.name.as_str());
    let mut columns = Vec::new();
    let mut by_column: Vec<Vec<Cell>> = Vec::new();
    let mut metric = |label: &str, metric: Metric, value: fn(&Worst) -> f32| {
        let values: Vec<Option<f32>> = series.iter().map(|s| s.worst(metric).map(value)).collect();
        if values.iter().all(Option::is_none) {
            return;
        }
        columns.push(Column {
            label: label.to_owned(),
            unit: metric.shown().2,
            about: metric.description(),
        });
        let alarm = |v: f32| {
            let thresholds = metric.thresholds().into_iter().flatten();
            thresholds.filter(|&t| v >= t).count() as u8
        };
        let sizes = values.iter().map(|v| v.map(f32::abs)).collect::<Vec<_>>();
        // A difference from one of the stacks has no best value.
        let ranked = !matches!(metric, Metric::Difference | Metric::Discontinuity);
        by_column.push(cells(&sizes, ranked, |i| {
            values[i].map_or(("-".into(), 0), |v| (metric.number(v), alarm(v)))
        }));
    };
    metric("Bulge, largest", Metric::Bulge, |w| w.max.value);
    metric("Bulge, 99th percentile", Metric::Bulge, |w| w.p99);
    metric("Pinch, largest", Metric::Bulge, |w| w.min.value);
    metric("Bulge, RMS", Metric::Bulge, |w| w.rms);
    metric("Discontinuity", Metric::Discontinuity, |w| w.max.value);
    metric("Crease", Metric::Crease, |w| w.max.value);
    metric("Edge strain, RMS", Metric::EdgeStrain, |w| w.rms);
    metric("Area change, RMS", Metric::AreaChange, |w| w.rms);
    metric("Normal error, 99th percentile", Metric::NormalError, |w| {
        w.p99
    });
    let from_first = format!("Difference from {first}, largest");
    metric(&from_first, Metric::Difference, |w| w.max.value);

    columns.push(Column {
        label: "Folded faces".into(),
        unit: "faces",
        about: "The largest number of faces that are flipped in one pose.",
    });
    let folded: Vec<Option<f32>> = series
        .iter()
        .map(|s| Some(s.most_folded_faces as f32))
        .collect();
    by_column.push(cells(&folded, true, |i| {
        (series[i].most_folded_faces.to_string(), 0)
    }));
    columns.push(Column {
        label: "Volume".into(),
        unit: "% min … max",
        about: "The change of the volume that the closed parts of the model enclose.",
    });
    let spans: Vec<Option<f32>> = series
        .iter()
        .map(|s| {
            let span = s.volume?;
            Some(span.min_change.abs().max(span.max_change.abs()) as f32)
        })
        .collect();
    by_column.push(cells(&spans, true, |i| match series[i].volume {
        None => ("open".into(), 0),
        Some(span) => (
            format!(
                "{} … {}",
                signed_percent(span.min_change),
                signed_percent(span.max_change)
            ),
            0,
        ),
    }));
    girths(series, &mut columns, &mut by_column);
    made(series, &mut columns, &mut by_column);
    let rows = (0..series.len())
        .map(|i| by_column.iter().map(|c| c[i].clone()).collect())
        .collect();
    (columns, rows)
}

/// A fraction in percent with two decimals and its sign, which what is rounded to zero does not have; "not finite" for what
/// cannot be measured.
fn signed_percent(fraction: f64) -> String {
    let percent = 100.0 * fraction;
    if !percent.is_finite() {
        "not finite".into()
    } else if percent.abs() < 0.005 {
        "0.00".into()
    } else {
        format!("{percent:+.2}")
    }
}

/// The largest changes of the person's girths over all frames, of those that change most.
fn girths(series: &[Series], columns: &mut Vec<Column>, by_column: &mut Vec<Vec<Cell>>) {
    let first = series.first().and_then(|s| s.moments.first());
    let all: Vec<&Girth> = first.iter().flat_map(|m| &m.girths).collect();
    let change = |s: &Series, i: usize| {
        let changes = s.moments.iter().map(|m| m.girths.get(i)?.change());
        let changes: Option<Vec<f64>> = changes.collect();
        let larger = |a: f64, b: f64| if b.abs() > a.abs() { b } else { a };
        changes?.into_iter().reduce(larger)
    };
    let most = |i: usize| {
        let known = series.iter().filter_map(|s| change(s, i));
        known.fold(0.0, |most: f64, c| most.max(c.abs()))
    };
    let mut shown: Vec<usize> = (0..all.len()).collect();
    shown.sort_by(|&a, &b| most(b).total_cmp(&most(a)));
    shown.truncate(MOST_GIRTHS);
    shown.sort_unstable();
    for i in shown {
        let girth = all[i];
        columns.push(Column {
            label: format!("Girth of {} at {} %", girth.bone, trimmed(100.0 * girth.at)),
            unit: "%",
            about: "The largest change of this girth from the rest pose, along the same curve on the skin.",
        });
        let changes: Vec<Option<f64>> = series.iter().map(|s| change(s, i)).collect();
        let sizes = changes.iter().map(|c| c.map(|c| c.abs() as f32));
        let sizes: Vec<Option<f32>> = sizes.collect();
        by_column.push(cells(&sizes, true, |k| match changes[k] {
            Some(change) => (signed_percent(change), 0),
            None => ("-".into(), 0),
        }));
    }
}

/// What the artist had to make for each stack, where any stack needs something.
fn made(series: &[Series], columns: &mut Vec<Column>, by_column: &mut Vec<Vec<Cell>>) {
    let mut column = |label: &str, unit, about, value: fn(&Made) -> usize| {
        if series.iter().all(|s| value(&s.made) == 0) {
            return;
        }
        columns.push(Column {
            label: label.to_owned(),
            unit,
            about,
        });
        let sizes: Vec<Option<f32>> = series.iter().map(|_| None).collect();
        let text = |i: usize| (value(&series[i].made).to_string(), 0);
        by_column.push(cells(&sizes, false, text));
    };
    column(
        "Sculpted",
        "vertices",
        "Vertices that corrective samples move, once for each sample.",
        |made| made.sculpted_vertices,
    );
    column("Marked", "vertices", "Control clusters.", |made| {
        made.marked_vertices
    });
    column(
        "Muscles",
        "",
        "Muscles that displace control clusters.",
        |made| made.muscles,
    );
    column(
        "Stored",
        "bytes",
        "Uncompressed: 16 for each sculpted vertex and each driver rotation of a sample, 6 for each control cluster, 80 for \
         each muscle.",
        |made| made.bytes,
    );
}

/// The cells of a column; if `ranked` and values differ as written, the smallest magnitude is the best.
fn cells(sizes: &[Option<f32>], ranked: bool, text: impl Fn(usize) -> (String, u8)) -> Vec<Cell> {
    let texts: Vec<(String, u8)> = (0..sizes.len()).map(text).collect();
    let least = sizes
        .iter()
        .flatten()
        .copied()
        .fold(f32::INFINITY, f32::min);
    let best = sizes.iter().position(|s| *s == Some(least));
    let alike = texts
        .iter()
        .all(|t| Some(&t.0) == texts.first().map(|t| &t.0));
    texts
        .iter()
        .map(|(text, alarm)| Cell {
            best: ranked && !alike && best.is_some_and(|b| texts[b].0 == *text),
            text: text.clone(),
            alarm: *alarm,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_rounded_to_zero_has_no_sign() {
        assert_eq!(signed_percent(-1e-8), "0.00");
        assert_eq!(signed_percent(-5.1e-5), "-0.01");
        assert_eq!(signed_percent(0.0421), "+4.21");
        assert_eq!(signed_percent(f64::INFINITY), "not finite");
    }

    #[test]
    fn the_best_is_the_smallest_that_is_written_so() {
        let texts = ["+1.0", "-", "+0.5", "+0.5"];
        let found = cells(&[Some(1.0), None, Some(0.54), Some(0.51)], true, |i| {
            (texts[i].into(), 0)
        });
        let best: Vec<bool> = found.iter().map(|c| c.best).collect();
        assert_eq!(best, [false, false, true, true]);
        let alike = cells(&[Some(1.0), Some(1.0)], true, |_| ("1".into(), 0));
        assert!(alike.iter().all(|c| !c.best));
    }
}
