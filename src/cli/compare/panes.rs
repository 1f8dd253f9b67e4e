//! The pictures of a comparison: each stack in the same frames, from the same cameras.

use super::Report;
use super::gather::Series;
use super::page::Legend;
use crate::cli::Failure;
use crate::cli::args::{CompareArgs, Show};
use crate::cli::heat::{HeatMaps, comparison};
use crate::cli::picture::{camera_of, scene_meshes, shading_of};
use crate::deform::diagnostics::radius;
use crate::document::{Image, InstanceId};
use crate::evaluate::Gauge;
use crate::math::Camera;
use crate::view::heat_map::HeatScale;
use crate::view::scene::{Scene, ViewOptions, frame_bounds};
use crate::view::{Offscreen, Theme};
use glam::Vec3;
use std::collections::BTreeMap;

/// All pictures of a report.
pub(crate) struct Panes {
    pub(crate) rows: Vec<Row>,
    /// Of a heat map.
    pub(crate) legend: Option<Legend>,
}

/// One row of pictures, one for each stack.
pub(crate) struct Row {
    /// Its contents and time.
    pub(crate) title: String,
    pub(crate) moment: usize,
    /// One for each stack, for the dark and the light theme.
    pub(crate) pictures: Vec<[Image; 2]>,
}

/// Smallest and largest size of a close-up, as fractions of the model's diagonal.
const CLOSE: [f64; 2] = [0.05, 0.5];

/// Stacks that differ by less than this fraction of the diagonal get no close-up.
const ALIKE: f64 = 1e-3;

/// Refuses what a comparison cannot show.
pub(crate) fn check(args: &CompareArgs) -> Result<(), Failure> {
    match args.show {
        Show::Weights(_) => Err(Failure::Usage(
            "compare shows the model's form; give --show textured, shaded, form, wire or a heat map."
                .into(),
        )),
        _ => Ok(()),
    }
}

/// The pictures of all stacks in the report's frames: the whole model, and the position where the stacks differ most.
pub(crate) fn draw(report: &Report<'_>) -> Result<Panes, Failure> {
    let (args, series) = (report.args, &report.series);
    let mut studio = Studio {
        offscreen: Offscreen::new().map_err(Failure::input)?,
        gauges: series.iter().map(|_| Gauge::default()).collect(),
        generation: 0,
        scale: None,
    };
    for gauge in &mut studio.gauges {
        gauge.set_cooks(&report.cooks);
    }
    let mut rows = Vec::new();
    for &moment in &report.wanted {
        let at = report.moments[moment]
            .time_secs
            .map_or_else(|| "The pose".to_owned(), |t| format!("{t:.2} s"));
        let posed = report.moments[moment].posed.at();
        for (gauge, stack) in studio.gauges.iter_mut().zip(series) {
            // Differences compare with the first stack.
            let comparison = comparison(&args.show, || series[0].document.clone());
            gauge.evaluate(&stack.document, posed, &comparison);
        }
        let whole = studio.whole(args, series);
        rows.push(Row {
            title: at.clone(),
            moment,
            pictures: studio.draw(args, series, &whole)?,
        });
        if let Some(close) = studio.close_up(series, &whole) {
            rows.push(Row {
                title: format!("{at}, where the stacks differ most"),
                moment,
                pictures: studio.draw(args, series, &close)?,
            });
        }
    }
    Ok(Panes {
        rows,
        legend: studio.scale.map(|scale| Legend {
            title: scale.title(),
            stops: scale
                .stops()
                .iter()
                .map(|stop| stop.map(|c| (c * 255.0).round() as u8))
                .collect(),
            ticks: scale.ticks(),
        }),
    })
}

struct Studio {
    offscreen: Offscreen,
    /// One for each stack, in the frame that is drawn.
    gauges: Vec<Gauge>,
    generation: u64,
    /// Of the heat maps drawn.
    scale: Option<HeatScale>,
}

impl Studio {
    /// A camera that frames everything that any stack shows.
    fn whole(&self, args: &CompareArgs, series: &[Series]) -> Camera {
        let mut camera = camera_of(args.view);
        let mut positions: Vec<Vec3> = Vec::new();
        for (gauge, series) in self.gauges.iter().zip(series) {
            for &id in series.document.instances().keys() {
                let plan = gauge.evaluator().plan(id);
                positions.extend(plan.iter().flat_map(|p| p.positions()));
            }
            positions.extend(series.document.left_out().boxes.iter().flatten());
        }
        if let Some((centre, radius)) = frame_bounds(&positions) {
            let (width, height) = args.size;
            camera.frame_in(centre, radius, width as f32 / height as f32);
        }
        camera
    }

    /// A camera on the point that a stack moves farthest from its position under the first stack, across its bone.
    fn close_up(&self, series: &[Series], whole: &Camera) -> Option<Camera> {
        let first = &series.first()?.document;
        let mut worst: Option<(f32, InstanceId, u32)> = None;
        for &id in first.instances().keys() {
            let here = self.gauges[0].evaluator().plan(id)?.positions();
            for gauge in &self.gauges[1..] {
                let there = gauge.evaluator().plan(id)?.positions();
                for (point, (a, b)) in here.iter().zip(there).enumerate() {
                    let apart = a.distance(*b);
                    if worst.is_none_or(|w| apart > w.0) {
                        worst = Some((apart, id, point as u32));
                    }
                }
            }
        }
        let (apart, id, point) = worst?;
        let shape = self.gauges[0].shape(first, id)?;
        let diagonal = shape.diagonal();
        if f64::from(apart) < ALIKE * diagonal {
            return None;
        }
        let radius = 2.5 * radius(&shape, point)?;
        let radius = radius.clamp(CLOSE[0] * diagonal, CLOSE[1] * diagonal);
        let mut strongest: Option<(u16, f32)> = None;
        for (joint, weight) in shape.influences.row(point).iter() {
            if weight > strongest.map_or(0.0, |s| s.1) {
                strongest = Some((joint, weight));
            }
        }
        let bone = shape.segments.of(strongest?.0).first()?;
        let along = bone.posed[1] - bone.posed[0];
        let normals = shape.mesh.topology().normals_of_point(point);
        let normal = normals
            .clone()
            .filter_map(|n| shape.normals.get(n as usize))
            .sum::<Vec3>();
        let mut camera = *whole;
        // Perpendicular to both: the outline then shows the bulge.
        if let Some(side) = along.as_vec3().cross(normal).try_normalize() {
            let side = if side.dot(whole.backward()) < 0.0 {
                -side
            } else {
                side
            };
            camera.yaw = side.x.atan2(side.z);
            camera.pitch = side.y.clamp(-1.0, 1.0).asin().clamp(-1.3, 1.3);
        }
        camera.frame(shape.posed[point as usize], radius as f32);
        Some(camera)
    }

    fn draw(
        &mut self,
        args: &CompareArgs,
        series: &[Series],
        camera: &Camera,
    ) -> Result<Vec<[Image; 2]>, Failure> {
        let (width, height) = args.size;
        let no_weights = BTreeMap::new();
        let mut pictures = Vec::with_capacity(series.len());
        for (gauge, series) in self.gauges.iter().zip(series) {
            self.generation += 1;
            let mut meshes = scene_meshes(
                &series.document,
                gauge.evaluator(),
                &no_weights,
                self.generation,
            );
            let heat_maps = HeatMaps::of(&args.show, gauge, &series.document);
            self.scale = heat_maps.as_ref().map(HeatMaps::scale);
            let mut heat = ViewOptions::default();
            if let Some(heat_maps) = &heat_maps {
                heat_maps.show(&mut meshes, &mut heat);
            }
            let mut draw = |theme| {
                let options = ViewOptions {
                    shading: shading_of(&args.show),
                    theme,
                    show_grid: false,
                    show_bones: false,
                    ..heat
                };
                let scene = Scene {
                    camera,
                    meshes: meshes.clone(),
                    bones: &[],
                    boxes: &series.document.left_out().boxes,
                    ground: 0.0,
                    options: &options,
                };
                let drawn = self.offscreen.render(&scene, width, height);
                drawn.map_err(Failure::input)
            };
            pictures.push([draw(Theme::Dark)?, draw(Theme::Light)?]);
        }
        Ok(pictures)
    }
}
