//! Visibility of points: a depth buffer rasterised on the CPU, one cell for each logical pixel.
//!
//! Rasterised once for a view, then queried for every point: rays for a million points would take a second, this takes
//! a few hundredths. Details smaller than a cell are not resolved: a point occluded by less than a pixel is visible.

use super::{ScreenView, SurfaceView};
use glam::{Vec2, Vec3};
use rayon::prelude::*;
use std::sync::atomic::{AtomicU32, Ordering};

/// Maximum number of cells: larger screens get larger cells.
const MAX_CELLS: f32 = 1_500_000.0;
/// Triangles that one task rasterises.
const TRIANGLES_PER_TASK: usize = 4096;
/// Tolerance at a triangle's rim, relative to its size.
const EDGE_TOLERANCE: f32 = 1e-5;

/// The depth of the nearest surface in each cell of the screen.
pub struct DepthBuffer {
    width: usize,
    height: usize,
    /// Number of cells for each logical pixel, along a side.
    scale: f32,
    /// Bits of the depth, 0 near - 1 far: non-negative floats order as their bits, so the smallest of any order of
    /// drawing is the same, whatever the number of threads.
    cells: Vec<AtomicU32>,
}

impl DepthBuffer {
    /// The depth of `surfaces`, without what is hidden.
    pub fn new<'a, 'b: 'a>(
        view: &ScreenView,
        surfaces: impl IntoIterator<Item = &'a SurfaceView<'b>>,
    ) -> Self {
        let size = view.size_px();
        let scale = (MAX_CELLS / (size.x * size.y)).sqrt().min(1.0);
        let (width, height) = (
            ((size.x * scale).ceil() as usize).max(1),
            ((size.y * scale).ceil() as usize).max(1),
        );
        let far = 1.0f32.to_bits();
        let buffer = Self {
            width,
            height,
            scale,
            cells: (0..width * height).map(|_| AtomicU32::new(far)).collect(),
        };
        for surface in surfaces {
            buffer.draw(view, surface);
        }
        buffer
    }
    /// Whether `point` of `surface` is visible: it faces the camera and a cell around it has nothing nearer; or it
    /// faces away (the inside of a cape, a flipped part) and a cell around it has just its surface, not the background.
    pub(super) fn sees(&self, view: &ScreenView, surface: &SurfaceView<'_>, point: u32) -> bool {
        let position = surface.positions[point as usize];
        // Half a cell on a slope of 45 degrees, each way.
        let slack = view.metres_per_pixel(position) / self.scale;
        let Some(at) = view.project_nearer(position, slack) else {
            return false;
        };
        let nearest = at.z.max(0.0).to_bits();
        let farthest = if surface.faces(point, view.view_direction(position)) {
            u32::MAX
        } else {
            view.project_nearer(position, -4.0 * slack)
                .map_or(u32::MAX, |at| at.z.max(0.0).to_bits())
        };
        let corner = (at.truncate() * self.scale - 0.5).floor();
        let is_free = |dx: f32, dy: f32| {
            let (x, y) = (corner.x + dx, corner.y + dy);
            let inside = x >= 0.0 && y >= 0.0 && x < self.width as f32 && y < self.height as f32;
            inside && {
                let cell = &self.cells[y as usize * self.width + x as usize];
                (nearest..=farthest).contains(&cell.load(Ordering::Relaxed))
            }
        };
        is_free(0.0, 0.0) || is_free(1.0, 0.0) || is_free(0.0, 1.0) || is_free(1.0, 1.0)
    }

    fn draw(&self, view: &ScreenView, surface: &SurfaceView<'_>) {
        let places: Vec<Vec3> = surface
            .positions
            .par_iter()
            .with_min_len(TRIANGLES_PER_TASK)
            .map(|&p| {
                view.project(p).map_or(Vec3::NAN, |at| {
                    Vec3::new(at.x * self.scale, at.y * self.scale, at.z)
                })
            })
            .collect();
        surface
            .mesh
            .topology()
            .triangles
            .par_iter()
            .with_min_len(TRIANGLES_PER_TASK)
            .for_each(|&corners| {
                if surface.shows(corners) {
                    self.draw_triangle(corners.map(|p| places[p as usize]));
                }
            });
    }

    /// The cells whose centre is in the triangle; triangles that reach behind the camera are skipped.
    fn draw_triangle(&self, [a, b, c]: [Vec3; 3]) {
        let (low, high) = (a.min(b).min(c), a.max(b).max(c));
        let first_x = (low.x - 0.5).ceil().max(0.0);
        let first_y = (low.y - 0.5).ceil().max(0.0);
        let last_x = (high.x - 0.5).floor().min(self.width as f32 - 1.0);
        let last_y = (high.y - 0.5).floor().min(self.height as f32 - 1.0);
        // Most triangles of a dense mesh contain no cell centre. NaN fails too.
        if !(first_x <= last_x && first_y <= last_y) || (a + b + c).is_nan() {
            return;
        }
        let (ab, ac) = ((b - a).truncate(), (c - a).truncate());
        let area = ab.perp_dot(ac);
        if area == 0.0 {
            return;
        }
        let inverse = 1.0 / area;
        for y in first_y as usize..=last_y as usize {
            for x in first_x as usize..=last_x as usize {
                let from_a = Vec2::new(x as f32 + 0.5, y as f32 + 0.5) - a.truncate();
                let v = from_a.perp_dot(ac) * inverse;
                let w = ab.perp_dot(from_a) * inverse;
                // A little more, so that no crack opens between neighbours.
                if v < -EDGE_TOLERANCE || w < -EDGE_TOLERANCE || v + w > 1.0 + EDGE_TOLERANCE {
                    continue;
                }
                let depth = a.z + (b.z - a.z) * v + (c.z - a.z) * w;
                let bits = depth.max(0.0).to_bits();
                let cell = &self.cells[y * self.width + x];
                if bits < cell.load(Ordering::Relaxed) {
                    cell.fetch_min(bits, Ordering::Relaxed);
                }
            }
        }
    }
}
