//! `sinew body --scan`: how far a body is from a scan of the person.

use super::body_args::BodyArgs;
use super::load::Loaded;
use super::measuring::Places;
use super::{Failure, centres, scene};
use crate::document::Document;
use crate::evaluate::{Evaluator, PosedSurface};
use crate::finding::{counted, trimmed};
use crate::io::scan_file::read_scan;
use crate::task::Task;
use crate::twin::scan::{Accuracy, Distances, Scan};
use glam::DVec3;
use serde_json::{Value, json};
use std::io::Write;
use std::path::Path;

/// The comparison of a body with a scan.
pub(super) struct Compared {
    document: Document,
    posed: PosedSurface,
    n_faces: usize,
    accuracy: Accuracy,
}

/// Compares the document of `loaded`, in the pose of the flags, with the scan at `path`.
pub(super) fn compare(loaded: &Loaded, args: &BodyArgs, path: &Path) -> Result<Compared, Failure> {
    let task = Task::new();
    let scan: Scan = read_scan(path, args.scan_unit.into(), &task).map_err(Failure::input)?;
    let pose = scene::pose(loaded, &args.pose)?;
    let document = &loaded.document;
    let mut evaluator = Evaluator::for_positions();
    evaluator.set_cooks(centres::find([document]));
    evaluator.evaluate(document, pose.at());
    let posed = PosedSurface::of(document, &evaluator).map_err(Failure::input)?;
    let accuracy = Accuracy::new(&posed.surface, &scan, args.align.into(), &task);
    Ok(Compared {
        document: document.clone(),
        posed,
        n_faces: scan.n_triangles(),
        accuracy: accuracy.map_err(Failure::input)?,
    })
}

impl Compared {
    /// For `--json` and `--report`.
    pub(super) fn json(&self) -> Value {
        let found = &self.accuracy;
        let mut places = Places::default();
        let mut distances = |of: &Distances, point: u32, place: Option<DVec3>| {
            let mut value = json!(of);
            value["max_at"] = self.place_json(&mut places, point, place);
            value
        };
        let alignment = found.alignment.as_ref().map(|alignment| {
            json!({
                "start": alignment.start,
                "iterations": alignment.iterations,
                "converged": alignment.converged,
                "free": alignment.n_free,
                "matrix": alignment.motion.to_matrix().to_cols_array(),
                "degrees": alignment.motion.angle().to_degrees(),
            })
        });
        let body_at = found.body.max_at;
        json!({
            "points": found.scan.n,
            "faces": self.n_faces,
            "alignment": alignment,
            "trimmed": found.trimmed,
            "scan_to_body": distances(&found.scan, found.farthest_point, Some(found.farthest)),
            "kept_to_body": found.kept,
            "body_to_scan": distances(&found.body, body_at, self.posed.place(body_at)),
            "beyond_border": found.n_beyond,
            "warnings": found.warnings,
        })
    }

    /// The bone and the vertex of a point, as its file numbers it.
    fn place_json(&self, places: &mut Places, point: u32, place: Option<DVec3>) -> Value {
        let owner = self.posed.owner(point);
        let vertex = owner.and_then(|(id, point)| places.of(&self.document, id, point));
        json!({
            "bone": self.posed.bone(&self.document, point),
            "vertex": vertex,
            "place": place.map(|place| place.to_array()),
        })
    }

    /// As text.
    pub(super) fn print(&self, out: &mut dyn Write) -> std::io::Result<()> {
        let found = &self.accuracy;
        write!(
            out,
            "scan of {}, {}",
            counted(found.scan.n, "point"),
            counted(self.n_faces, "face")
        )?;
        match &found.alignment {
            None => writeln!(out, ", where its file says")?,
            Some(alignment) => {
                let step = counted(alignment.iterations, "iteration");
                let degrees = trimmed(alignment.motion.angle().to_degrees());
                writeln!(out, ", aligned in {step}, turned by {degrees}\u{b0}")?;
                let t = &found.trimmed;
                let limit = millimetres(t.limit);
                writeln!(
                    out,
                    "  left out of the alignment: {} farther than {limit}, {} at open edges, {} facing away",
                    t.far, t.border, t.facing
                )?;
            }
        }
        self.print_distances("scan to body", &found.scan, found.farthest_point, out)?;
        if let Some(kept) = &found.kept {
            writeln!(out, "  aligned points: {}", figures(kept))?;
        }
        self.print_distances("body to scan", &found.body, found.body.max_at, out)?;
        if found.n_beyond > 0 {
            let n = counted(found.n_beyond, "vertex");
            let are = if found.n_beyond == 1 { "is" } else { "are" };
            let edge = "nearest to an open edge of the scan";
            writeln!(out, "  {n} of the body {are} {edge}")?;
        }
        for warning in &found.warnings {
            writeln!(out, "  warning: {warning}")?;
        }
        Ok(())
    }

    fn print_distances(
        &self,
        label: &str,
        distances: &Distances,
        point: u32,
        out: &mut dyn Write,
    ) -> std::io::Result<()> {
        let bone = self.posed.bone(&self.document, point);
        let bone = bone.map_or_else(String::new, |bone| format!("{bone}, "));
        let owner = self.posed.owner(point);
        let vertex = owner.and_then(|(id, point)| Places::default().of(&self.document, id, point));
        let vertex = vertex.map_or_else(String::new, |vertex| vertex.to_string());
        writeln!(out, "{label}: {} at {bone}{vertex}", figures(distances))
    }
}

fn figures(of: &Distances) -> String {
    format!(
        "rms {}, mean {}, 95 % within {}, {} % within 5 mm, largest {}",
        millimetres(of.rms),
        millimetres(of.mean),
        millimetres(of.p95),
        trimmed((of.within_5mm * 1e4).round() / 1e2),
        millimetres(of.max)
    )
}

fn millimetres(metres: f64) -> String {
    format!("{} mm", trimmed((metres * 1e5).round() / 1e2))
}
