//! `sinew compare`: deformer stacks side by side.
//!
//! Data flow: each stack in each frame -> the numbers of [`gather`] -> [`chart`]s, a [`table`] and pictures (`panes`)
//! -> one [`page`] or, with the window's fonts, one sheet (`sheet`).
//!
//! Invariant: the page is self-contained; names from a file never become markup.

mod chart;
mod gather;
mod girths;
mod made;
mod page;
#[cfg(feature = "render")]
mod panes;
#[cfg(feature = "gui")]
mod sheet;
mod svg;
mod table;

use super::args::CompareArgs;
use super::measuring::{Measured, moments};
use super::{Failure, centres, load, scene};
use crate::deform::diagnostics::{Metric, Summary};
use crate::document::Document;
use crate::evaluate::SlowCooks;
use crate::io::Output;
use chart::{Chart, Line};
use gather::{Series, even_moments, gather, picture_moments};
use page::{Legend, Page, PictureRow};
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

/// The message of a build that cannot make a sheet.
const NO_FONTS: &str = "This build has no fonts for a picture (it was built without the feature `gui`); give --out a folder.";

/// Everything that a report shows, except its pictures.
struct Report<'a> {
    args: &'a CompareArgs,
    /// The file's name.
    model: String,
    /// The pose, time or clip, as text.
    scope: String,
    #[cfg_attr(
        not(feature = "render"),
        expect(dead_code, reason = "only pictures need them")
    )]
    moments: Vec<Measured>,
    series: Vec<Series>,
    charts: Vec<Chart>,
    /// The frames of the pictures.
    #[cfg_attr(
        not(feature = "render"),
        expect(dead_code, reason = "only pictures need them")
    )]
    wanted: Vec<usize>,
    #[cfg_attr(
        not(feature = "render"),
        expect(dead_code, reason = "only pictures need them")
    )]
    cooks: SlowCooks,
}

pub(crate) fn run(args: &CompareArgs, out: &mut dyn Write) -> Result<ExitCode, Failure> {
    let is_sheet = wants_sheet(&args.out)?;
    let mut loaded = load::load(&args.file)?;
    let body = args.body.apply(&mut loaded.document)?;
    let outputs = if is_sheet {
        vec![loaded.claim(&args.out, &args.pose)?]
    } else {
        let names = ["numbers.json", "index.html"].map(|name| args.out.join(name));
        let outputs = names.iter().map(|path| loaded.claim(path, &args.pose));
        outputs.collect::<Result<_, _>>()?
    };
    let document = &loaded.document;
    if document.instances().is_empty() {
        return Err(Failure::Input(format!(
            "{} has no mesh in its scene.",
            args.file.display()
        )));
    }
    #[cfg(feature = "render")]
    panes::check(args)?;
    let moments = moments(&loaded, &args.pose, args.rate)?;
    let stacks = args.methods.iter().map(|stack| stack.document(document));
    let cooks = centres::find(&stacks.collect::<Vec<_>>());
    let series = gather(document, &args.methods, &moments, &cooks, &body);
    let n = usize::from(args.moments);
    let wanted = if args.even {
        even_moments(moments.len(), n)
    } else {
        picture_moments(&series, moments.len(), n)
    };
    let report = Report {
        args,
        model: args.file.file_name().map_or_else(
            || args.file.display().to_string(),
            |name| name.to_string_lossy().into_owned(),
        ),
        scope: match body.name {
            Some(name) => format!("{}, {name}", scope(document, args, &moments)?),
            None => scope(document, args, &moments)?,
        },
        charts: charts(&series, &moments, &wanted),
        moments,
        series,
        wanted,
        cooks,
    };
    if is_sheet {
        write_sheet(&report, outputs)?;
        writeln!(out, "{}", args.out.display())?;
    } else {
        write_folder(&report, outputs, out)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// `outputs`: the numbers and the page.
fn write_folder(
    report: &Report<'_>,
    outputs: Vec<Output>,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let args = report.args;
    let (pictures, legend, no_pictures) = pictures(report)?;
    let page = Page {
        model: &report.model,
        scope: &report.scope,
        series: &report.series,
        charts: &report.charts,
        pictures: &pictures,
        legend: legend.as_ref(),
        no_pictures,
        #[cfg(feature = "render")]
        size: args.size,
        #[cfg(not(feature = "render"))]
        size: (0, 0),
    };
    std::fs::create_dir_all(&args.out)
        .map_err(|e| Failure::Input(format!("{} cannot be made: {e}.", args.out.display())))?;
    let numbers = serde_json::to_vec_pretty(&report.series).map_err(Failure::input)?;
    for (output, bytes) in outputs.into_iter().zip([&numbers, page.html().as_bytes()]) {
        output.write(bytes).map_err(Failure::input)?;
    }
    if let Some(reason) = no_pictures {
        writeln!(out, "{reason}")?;
    }
    writeln!(out, "{}", args.out.join("index.html").display())?;
    Ok(())
}

/// Whether `--out` names a picture; a folder must not be a file.
fn wants_sheet(path: &Path) -> Result<bool, Failure> {
    let extension = path.extension().and_then(|e| e.to_str());
    if extension.is_some_and(|e| e.eq_ignore_ascii_case("png")) {
        return if cfg!(feature = "gui") {
            Ok(true)
        } else {
            Err(Failure::Usage(NO_FONTS.into()))
        };
    }
    if path.is_file() {
        return Err(Failure::Usage(format!(
            "--out {} is a file; give a folder, or a name that ends in .png.",
            path.display()
        )));
    }
    Ok(false)
}

/// A description of the measured poses.
fn scope(document: &Document, args: &CompareArgs, moments: &[Measured]) -> Result<String, Failure> {
    let Some(wanted) = &args.pose.clip else {
        return Ok(match &args.pose.pose {
            Some(pose) => format!("Pose {}", pose.display()),
            None => "The model in its pose".into(),
        });
    };
    let clip = scene::find_clip(document, wanted)?;
    // Many files leave their only clip without a name.
    let clip = match clip.name.as_str() {
        "" => wanted.clone(),
        name => format!("\u{201c}{name}\u{201d}"),
    };
    let time = |m: &Measured| m.time_secs.unwrap_or_default();
    Ok(match moments {
        [first, .., last] => format!(
            "Clip {clip}, {:.2} - {:.2} s in {} poses",
            time(first),
            time(last),
            moments.len()
        ),
        _ => format!("Clip {clip} at {:.3} s", moments.first().map_or(0.0, time)),
    })
}

/// The charts over a clip; empty for a single pose.
fn charts(series: &[Series], moments: &[Measured], wanted: &[usize]) -> Vec<Chart> {
    let times: Vec<f64> = moments.iter().filter_map(|m| m.time_secs).collect();
    if times.len() < 2 {
        return Vec::new();
    }
    let chart = |title: &str,
                 shown: (f32, &'static str),
                 thresholds: Option<[f32; 2]>,
                 value: &dyn Fn(&Series, usize) -> Option<f32>| Chart {
        title: title.to_owned(),
        shown,
        times: times.clone(),
        lines: series
            .iter()
            .map(|s| Line {
                label: s.name.clone(),
                // What is not finite is a gap in the line.
                values: (0..times.len())
                    .map(|i| value(s, i).filter(|v| v.is_finite()))
                    .collect(),
            })
            .collect(),
        thresholds,
        marks: wanted
            .iter()
            .filter_map(|&i| moments[i].time_secs)
            .collect(),
    };
    let of = |metric: Metric, value: fn(&Summary) -> f32| {
        move |s: &Series, i: usize| s.at(i, metric).map(value)
    };
    let percent = (100.0, " %");
    let charts = [
        chart(
            "Bulge, largest",
            percent,
            None,
            &of(Metric::Bulge, |s| s.max),
        ),
        chart(
            "Bulge, 99th percentile",
            percent,
            None,
            &of(Metric::Bulge, |s| s.p99),
        ),
        chart("Volume", percent, None, &|s: &Series, i: usize| {
            Some(s.moments.get(i)?.volume_change? as f32)
        }),
        chart(
            "Discontinuity of the corrections",
            (1.0, ""),
            Metric::Discontinuity.thresholds(),
            &of(Metric::Discontinuity, |s| s.max),
        ),
    ];
    // A rigid model has no bulge to plot; the volume chart of an open model says that it is open.
    charts
        .into_iter()
        .filter(|c| c.has_values() || c.title == "Volume")
        .collect()
}

/// The pictures, the legend of a heat map, and why there are no pictures.
type Pictures = (Vec<PictureRow>, Option<Legend>, Option<&'static str>);

#[cfg(feature = "render")]
fn pictures(report: &Report<'_>) -> Result<Pictures, Failure> {
    let panes = panes::draw(report)?;
    let mut rows = Vec::new();
    for row in panes.rows {
        let pictures = row
            .pictures
            .iter()
            .map(|[dark, light]| Ok([super::picture::png(dark)?, super::picture::png(light)?]));
        rows.push(PictureRow {
            pictures: pictures.collect::<Result<_, Failure>>()?,
            title: row.title,
            moment: row.moment,
        });
    }
    Ok((rows, panes.legend, None))
}

#[cfg(not(feature = "render"))]
#[expect(
    clippy::unnecessary_wraps,
    reason = "drawing can fail where there is drawing"
)]
fn pictures(_report: &Report<'_>) -> Result<Pictures, Failure> {
    let reason = "This build draws no pictures (it was made without the feature `render`): the report has the plots \
                  and the tables.";
    Ok((Vec::new(), None, Some(reason)))
}

#[cfg(feature = "gui")]
fn write_sheet(report: &Report<'_>, outputs: Vec<Output>) -> Result<(), Failure> {
    let panes = panes::draw(report)?;
    let image = sheet::Sheet {
        model: &report.model,
        scope: &report.scope,
        series: &report.series,
        charts: &report.charts,
        rows: &panes.rows,
        legend: panes.legend.as_ref(),
    }
    .draw();
    let png = super::picture::png(&image)?;
    let mut outputs = outputs.into_iter();
    outputs.try_for_each(|output| output.write(&png).map_err(Failure::input))
}

#[cfg(not(feature = "gui"))]
fn write_sheet(_report: &Report<'_>, _outputs: Vec<Output>) -> Result<(), Failure> {
    // `wants_sheet` refused it before.
    Err(Failure::Usage(NO_FONTS.into()))
}
