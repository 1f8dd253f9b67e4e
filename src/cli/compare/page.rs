//! The report as one self-contained HTML file: no script, no network.

use super::chart::Chart;
use super::gather::{Place, Series};
use super::svg::{DASHES, svg};
use super::table::{Cell, table};
use crate::deform::diagnostics::Metric;
use std::fmt::Write;

/// A row of pictures: for each stack a PNG file for the dark and one for the light theme.
pub(crate) struct PictureRow {
    pub(crate) title: String,
    pub(crate) moment: usize,
    pub(crate) pictures: Vec<[Vec<u8>; 2]>,
}

/// The legend of a heat map.
pub(crate) struct Legend {
    /// The metric and its unit.
    pub(crate) title: String,
    /// Evenly spaced from the lower end, sRGB.
    pub(crate) stops: Vec<[u8; 3]>,
    /// The positions of the labels, 0 - 1, and their text.
    pub(crate) ticks: Vec<(f32, String)>,
}

/// The contents of the page.
pub(crate) struct Page<'a> {
    pub(crate) model: &'a str,
    /// The pose, time or clip, as text.
    pub(crate) scope: &'a str,
    pub(crate) series: &'a [Series],
    pub(crate) charts: &'a [Chart],
    pub(crate) pictures: &'a [PictureRow],
    pub(crate) legend: Option<&'a Legend>,
    /// Why there are no pictures.
    pub(crate) no_pictures: Option<&'a str>,
    pub(crate) size: (u32, u32),
}

/// Escapes text for an element or an attribute.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            // Control characters have no place in HTML.
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

impl Page<'_> {
    /// The HTML.
    pub(crate) fn html(&self) -> String {
        let mut out = String::with_capacity(1 << 20);
        let _ = write!(
            out,
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" \
             content=\"width=device-width, initial-scale=1\">\n<meta name=\"color-scheme\" content=\"light dark\">\n\
             <title>{} · deformer stacks compared</title>\n<style>\n{STYLE}",
            escape(self.model)
        );
        let _ = write!(
            out,
            ".panes{{grid-template-columns:repeat({},minmax(0,1fr))}}\n</style>\n</head>\n<body>\n<main>\n",
            self.series.len().clamp(1, 6)
        );
        let _ = writeln!(
            out,
            "<header><h1>{}</h1><p>{}</p></header>",
            escape(self.model),
            escape(self.scope)
        );
        self.write_numbers(&mut out);
        self.write_pictures(&mut out);
        self.write_charts(&mut out);
        self.write_places(&mut out);
        Self::write_words(&mut out);
        out.push_str("</main>\n</body>\n</html>\n");
        out
    }

    fn write_numbers(&self, out: &mut String) {
        let (columns, rows) = table(self.series);
        out.push_str("<section><h2>Numbers</h2>\n<div class=\"wide\"><table>\n<thead><tr><th scope=\"col\">Stack</th>");
        for column in &columns {
            let _ = write!(
                out,
                "<th scope=\"col\" title=\"{}\">{}<small>{}</small></th>",
                escape(column.about),
                escape(&column.label),
                escape(column.unit)
            );
        }
        out.push_str("</tr></thead>\n<tbody>\n");
        for (k, (series, cells)) in self.series.iter().zip(&rows).enumerate() {
            let _ = write!(
                out,
                "<tr><th scope=\"row\">{}{}</th>",
                key(k),
                escape(&series.name)
            );
            for Cell { text, best, alarm } in cells {
                let class = match (alarm, best) {
                    (2, _) => " class=\"bad\"",
                    (1, _) => " class=\"warn\"",
                    (_, true) => " class=\"best\"",
                    _ => "",
                };
                let mark = match alarm {
                    2 => " ▲▲",
                    1 => " ▲",
                    _ => "",
                };
                let _ = write!(out, "<td{class}>{}{mark}</td>", escape(text));
            }
            out.push_str("</tr>\n");
        }
        out.push_str(
            "</tbody></table></div>\n<p class=\"note\">The worst over all poses. Bold: the best of its column. ▲ from 2: \
             the surface begins to tear; ▲▲ from 4: it is torn. \u{201c}open\u{201d}: no part of the model encloses a \
             volume.</p></section>\n",
        );
    }

    fn write_pictures(&self, out: &mut String) {
        out.push_str("<section><h2>Side by side</h2>\n");
        if let Some(reason) = self.no_pictures {
            let _ = writeln!(out, "<p class=\"note\">{}</p></section>", escape(reason));
            return;
        }
        if let Some(legend) = self.legend {
            write_legend(out, legend);
        }
        let (width, height) = self.size;
        for row in self.pictures {
            let _ = write!(
                out,
                "<h3>{}</h3>\n<div class=\"panes\">",
                escape(&row.title)
            );
            for (k, (series, [dark, light])) in self.series.iter().zip(&row.pictures).enumerate() {
                let name = escape(&series.name);
                let _ = write!(
                    out,
                    "<figure><picture><source media=\"(prefers-color-scheme: dark)\" srcset=\"{}\"><img src=\"{}\" \
                     width=\"{width}\" height=\"{height}\" alt=\"{name}, {}\"></picture><figcaption>{}{name}{}\
                     </figcaption></figure>",
                    data_uri(dark),
                    data_uri(light),
                    escape(&row.title),
                    key(k),
                    figures(series, row.moment)
                );
            }
            out.push_str("</div>\n");
        }
        out.push_str("</section>\n");
    }

    fn write_charts(&self, out: &mut String) {
        if self.charts.is_empty() {
            return;
        }
        out.push_str("<section><h2>Over the clip</h2>\n<div class=\"charts\">\n");
        for chart in self.charts {
            let stacks: Vec<&str> = chart.lines.iter().map(|l| l.label.as_str()).collect();
            let about = format!("{} over time of {}", chart.title, stacks.join(", "));
            let _ = writeln!(out, "<figure>{}</figure>", svg(chart, &about));
        }
        out.push_str(
            "</div>\n<p class=\"note\">Vertical lines: the frames of the pictures.</p></section>\n",
        );
    }

    fn write_places(&self, out: &mut String) {
        out.push_str(
            "<section><h2>Where it is worst</h2>\n<div class=\"wide\"><table class=\"places\">\n<thead><tr>\
             <th scope=\"col\">Stack</th><th scope=\"col\">Bulge</th><th scope=\"col\">Pinch</th>\
             <th scope=\"col\">Discontinuity</th></tr></thead>\n<tbody>\n",
        );
        for (k, series) in self.series.iter().enumerate() {
            let _ = write!(
                out,
                "<tr><th scope=\"row\">{}{}</th>",
                key(k),
                escape(&series.name)
            );
            let bulge = series.worst(Metric::Bulge);
            let jump = series.worst(Metric::Discontinuity);
            place_cell(out, Metric::Bulge, bulge.map(|w| &w.max));
            place_cell(out, Metric::Bulge, bulge.map(|w| &w.min));
            place_cell(out, Metric::Discontinuity, jump.map(|w| &w.max));
            out.push_str("</tr>\n");
        }
        out.push_str(
            "</tbody></table></div>\n<p class=\"note\">Vertices are numbered as in the file.</p></section>\n",
        );
    }

    fn write_words(out: &mut String) {
        out.push_str("<section><h2>What the numbers mean</h2>\n<dl>\n");
        for metric in Metric::ALL {
            let _ = writeln!(
                out,
                "<dt>{}</dt><dd>{}</dd>",
                metric.label(),
                escape(metric.description())
            );
        }
        let _ = writeln!(
            out,
            "<dt>Volume</dt><dd>The change of what closed parts of the model enclose.</dd>\n</dl>\n<p \
             class=\"note\">The numbers of every pose: numbers.json beside this file. Made with Sinew {}.</p></section>",
            env!("CARGO_PKG_VERSION")
        );
    }
}

/// The colour bar with its numbers.
fn write_legend(out: &mut String, legend: &Legend) {
    let colours: Vec<String> = legend
        .stops
        .iter()
        .map(|[r, g, b]| format!("rgb({r},{g},{b})"))
        .collect();
    let _ = write!(
        out,
        "<div class=\"legend\"><b>{}</b><span class=\"bar\" style=\"background:linear-gradient(to right,{})\">",
        escape(&legend.title),
        colours.join(",")
    );
    for (place, label) in &legend.ticks {
        let _ = write!(
            out,
            "<i style=\"left:{:.2}%\">{}</i>",
            100.0 * place,
            escape(label)
        );
    }
    out.push_str("</span></div>\n");
}

/// The numbers of a stack in the frame of a picture.
fn figures(series: &Series, moment: usize) -> String {
    let Some(bulge) = series.at(moment, Metric::Bulge) else {
        return String::new();
    };
    format!(
        "<small>bulge {}, pinch {}</small>",
        escape(&Metric::Bulge.format(bulge.max)),
        escape(&Metric::Bulge.format(bulge.min))
    )
}

fn place_cell(out: &mut String, metric: Metric, place: Option<&Place>) {
    let Some(place) = place else {
        out.push_str("<td>-</td>");
        return;
    };
    let time = place.time.map(|t| format!("{t:.3} s"));
    let vertex = place.vertex.as_ref().map(ToString::to_string);
    let place_words: Vec<String> = time.into_iter().chain(vertex).collect();
    let _ = write!(
        out,
        "<td>{}<small>{}</small></td>",
        escape(&metric.format(place.value)),
        escape(&place_words.join(", "))
    );
}

/// The colour and dashes of a stack, as plots draw it.
fn key(k: usize) -> String {
    let dashes: Vec<String> = DASHES[k % DASHES.len()]
        .iter()
        .map(f32::to_string)
        .collect();
    format!(
        "<svg class=\"key\" viewBox=\"0 0 24 8\" aria-hidden=\"true\"><polyline class=\"s{}\" stroke-width=\"2\" \
         stroke-dasharray=\"{}\" points=\"0,4 24,4\"/></svg>",
        k % DASHES.len(),
        if dashes.is_empty() {
            "none".to_owned()
        } else {
            dashes.join(" ")
        }
    )
}

fn data_uri(png: &[u8]) -> String {
    use base64::Engine as _;
    let text = base64::engine::general_purpose::STANDARD.encode(png);
    format!("data:image/png;base64,{text}")
}

/// The styles. Dashes tell the stacks apart where colours do not.
const STYLE: &str = r"
:root{--page:#fbfbfc;--panel:#f1f2f4;--line:#d3d6da;--text:#1e2023;--dim:#53575d;--amber:#824d00;--red:#ae1d2b;
--c0:#2462b8;--c1:#b0383f;--c2:#2f7a36;--c3:#7446b0;--c4:#00757a;--c5:#8a5a00;--c6:#55595f;--c7:#a8327e}
@media(prefers-color-scheme:dark){:root{--page:#242629;--panel:#2b2d30;--line:#3c3f44;--text:#d6d8db;--dim:#9da1a7;
--amber:#e8a33d;--red:#f07c84;--c0:#6ea8f0;--c1:#ee7f86;--c2:#86c46a;--c3:#b89af0;--c4:#4fc4c4;--c5:#d3b06a;--c6:#aeb2b8;
--c7:#e58ac4}}
*{box-sizing:border-box}
body{margin:0;background:var(--page);color:var(--text);font:13px/1.5 system-ui,'Segoe UI',Ubuntu,Cantarell,sans-serif;
font-variant-numeric:tabular-nums}
main{max-width:1320px;margin:0 auto;padding:24px 24px 48px}
h1{font-size:20px;font-weight:600;margin:0}
header p{margin:2px 0 0;color:var(--dim)}
h2{font-size:15px;font-weight:600;margin:32px 0 8px}
h3{font-size:13px;font-weight:600;margin:16px 0 6px;color:var(--dim)}
.note,dd{color:var(--dim)}
.note{margin:8px 0 0}
.wide{overflow-x:auto;border:1px solid var(--line);border-radius:6px}
table{border-collapse:collapse;width:100%;background:var(--panel)}
th,td{padding:6px 10px;text-align:right;white-space:nowrap;border-bottom:1px solid var(--line);font-weight:400}
tbody tr:last-child th,tbody tr:last-child td{border-bottom:0}
thead th{color:var(--dim);vertical-align:bottom;line-height:1.25;white-space:normal}
th small,td small{display:block;font-size:11px;color:var(--dim)}
th:first-child{text-align:left}
.places th,.places td{text-align:left}
tbody th{font-weight:600}
td.best{font-weight:700}
td.warn{color:var(--amber)}
td.bad{color:var(--red)}
.key{width:24px;height:8px;margin-right:8px;vertical-align:middle}
.panes{display:grid;gap:12px}
figure{margin:0}
.panes figure{border:1px solid var(--line);border-radius:6px;overflow:hidden;background:var(--panel)}
.panes img{display:block;width:100%;height:auto}
figcaption{padding:5px 10px 6px;font-weight:600}
figcaption small{display:block;font-size:11px;font-weight:400;color:var(--dim)}
.legend{display:flex;align-items:center;gap:16px;margin:4px 0 28px}
.bar{position:relative;flex:0 1 420px;height:12px;border-radius:3px}
.bar i{position:absolute;top:14px;transform:translateX(-50%);font-style:normal;font-size:11px;color:var(--dim)}
.charts{display:grid;grid-template-columns:repeat(auto-fit,minmax(480px,1fr));gap:12px}
.charts figure{border:1px solid var(--line);border-radius:6px;background:var(--panel);padding:8px 12px}
.charts svg{display:block;width:100%;height:auto}
svg polyline{fill:none;stroke-linejoin:round;stroke-linecap:butt}
svg text{font-family:inherit}
.text{fill:var(--text)}.dim{fill:var(--dim)}
polyline.dim{stroke:var(--dim)}.grid{stroke:var(--line)}.amber{stroke:var(--amber)}.red{stroke:var(--red)}
polyline.s0{stroke:var(--c0)}polyline.s1{stroke:var(--c1)}polyline.s2{stroke:var(--c2)}polyline.s3{stroke:var(--c3)}
polyline.s4{stroke:var(--c4)}polyline.s5{stroke:var(--c5)}polyline.s6{stroke:var(--c6)}polyline.s7{stroke:var(--c7)}
text.s0{fill:var(--c0)}text.s1{fill:var(--c1)}text.s2{fill:var(--c2)}text.s3{fill:var(--c3)}
text.s4{fill:var(--c4)}text.s5{fill:var(--c5)}text.s6{fill:var(--c6)}text.s7{fill:var(--c7)}
dl{display:grid;grid-template-columns:max-content 1fr;gap:4px 16px;margin:0}
dt{font-weight:600}
dd{margin:0;max-width:90ch}
@media print{figure,section{break-inside:avoid}}
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_from_files_cannot_become_markup() {
        assert_eq!(
            escape("<b onclick='x'>\"&\u{7}</b>"),
            "&lt;b onclick=&#39;x&#39;&gt;&quot;&amp; &lt;/b&gt;"
        );
    }

    #[test]
    fn a_page_without_stacks_or_pictures_is_whole() {
        let page = Page {
            model: "m<odel>.glb",
            scope: "rest",
            series: &[],
            charts: &[],
            pictures: &[],
            legend: None,
            no_pictures: Some("This build draws no pictures."),
            size: (8, 8),
        };
        let html = page.html();
        assert!(html.starts_with("<!doctype html>") && html.ends_with("</html>\n"));
        assert!(html.contains("m&lt;odel&gt;.glb") && html.contains("draws no pictures"));
        for outside in ["http://", "https://", "<script", "@import", "url("] {
            assert!(!html.contains(outside), "{outside}");
        }
    }
}
