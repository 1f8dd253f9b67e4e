//! Small pictures of deformed surfaces, rasterised on the CPU: thumbnails of corrective samples and of poses.

use crate::document::Image;
use crate::mesh::Mesh;
use glam::{Quat, Vec2, Vec3};

/// Samples of a pixel along a side.
const SAMPLES: usize = 2;

/// The angle by which the view deviates from the axis of the bend, radians: so that the fold is seen too.
const ASIDE: f32 = 0.45;

/// The angle from above at which the front of a model is seen, radians.
const ABOVE: f32 = 0.15;

/// What lies nearer to the camera than this, in radii from the centre, is cut away: other limbs.
const NEAREST: f32 = 1.5;

/// The colour of the skin, and of what a sample moves most; sRGB.
const SKIN: Vec3 = Vec3::new(0.74, 0.75, 0.78);
const MOVED: Vec3 = Vec3::new(0.93, 0.57, 0.22);

/// The light that reaches a face at a grazing angle.
const AMBIENT: f32 = 0.35;

/// A parallel view of a place on a surface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PictureView {
    /// The centre, world.
    pub centre: Vec3,
    /// The radius of the visible sphere, metres.
    pub radius: f32,
    /// The direction to the camera, unit.
    pub to_camera: Vec3,
    /// The direction to the top of the picture, unit, perpendicular to `to_camera`.
    pub up: Vec3,
}

impl PictureView {
    /// The view of some places of a surface along the axis of a bend, from outside of the model and a little from the
    /// side. `positions`: the whole surface. `None` without places.
    pub fn of_bend(
        places: impl Iterator<Item = Vec3> + Clone,
        axis: Vec3,
        positions: &[Vec3],
    ) -> Option<Self> {
        let bounds = |points: &mut dyn Iterator<Item = Vec3>| {
            points.fold(None, |known: Option<(Vec3, Vec3)>, p| {
                let (low, high) = known.unwrap_or((p, p));
                Some((low.min(p), high.max(p)))
            })
        };
        let (low, high) = bounds(&mut places.clone())?;
        let (all_low, all_high) = bounds(&mut positions.iter().copied())?;
        let centre = (low + high) * 0.5;
        let radius = places.map(|p| p.distance(centre)).fold(0.0, f32::max);
        let least = 1e-3 * all_low.distance(all_high);
        let axis = axis.normalize_or(Vec3::Z);
        let outside = (centre - (all_low + all_high) * 0.5).dot(axis);
        let axis = if outside < 0.0 { -axis } else { axis };
        let upright = if axis.y.abs() > 0.9 { Vec3::Z } else { Vec3::Y };
        let up = (upright - axis * upright.dot(axis)).normalize_or(Vec3::Y);
        let view = Self {
            centre,
            radius: 1.3 * radius.max(least),
            to_camera: Quat::from_axis_angle(up, ASIDE) * axis,
            up,
        };
        (view.centre.is_finite() && view.radius.is_finite()).then_some(view)
    }

    /// The view of some places from the front (glTF 2.0, 3.4: a model faces +Z) and a little from the side and from above.
    /// `None` without finite places.
    pub fn of_front(places: impl Iterator<Item = Vec3> + Clone) -> Option<Self> {
        let finite = places.filter(|p| p.is_finite());
        let bounds = finite.clone().fold(None, |known: Option<(Vec3, Vec3)>, p| {
            let (low, high) = known.unwrap_or((p, p));
            Some((low.min(p), high.max(p)))
        });
        let (low, high) = bounds?;
        let centre = (low + high) * 0.5;
        let radius = finite.map(|p| p.distance(centre)).fold(0.0, f32::max);
        let turn = Quat::from_rotation_y(ASIDE) * Quat::from_rotation_x(-ABOVE);
        Some(Self {
            centre,
            radius: radius.max(1e-6),
            to_camera: turn * Vec3::Z,
            up: turn * Vec3::Y,
        })
    }
}

/// A picture of several surfaces with a transparent background: each with its n_points positions, world.
pub fn surfaces_picture(
    surfaces: &[(&Mesh, &[Vec3])],
    view: &PictureView,
    [width, height]: [usize; 2],
) -> Image {
    let mut canvas = Canvas::new([width, height]);
    for (mesh, positions) in surfaces {
        canvas.draw_surface(mesh, positions, &[], view);
    }
    canvas.image()
}

/// A picture of a surface with a transparent background. `positions`: n_points, world; `moved`: points with a share, 0 - 1,
/// of the colour that marks what a sample moves.
pub fn skin_picture(
    mesh: &Mesh,
    positions: &[Vec3],
    moved: &[(u32, f32)],
    view: &PictureView,
    [width, height]: [usize; 2],
) -> Image {
    let mut canvas = Canvas::new([width, height]);
    canvas.draw_surface(mesh, positions, moved, view);
    canvas.image()
}

/// A picture being drawn: one cell a sample.
struct Canvas {
    width: usize,
    height: usize,
    /// The nearest so far.
    depths: Vec<f32>,
    colours: Vec<Vec3>,
}

impl Canvas {
    fn new([width, height]: [usize; 2]) -> Self {
        Self {
            width: width * SAMPLES,
            height: height * SAMPLES,
            depths: vec![f32::NEG_INFINITY; width * height * SAMPLES * SAMPLES],
            colours: vec![Vec3::ZERO; width * height * SAMPLES * SAMPLES],
        }
    }

    fn draw_surface(
        &mut self,
        mesh: &Mesh,
        positions: &[Vec3],
        moved: &[(u32, f32)],
        view: &PictureView,
    ) {
        let size = Vec2::new(self.width as f32, self.height as f32);
        let right = view.up.cross(view.to_camera);
        let scale = 0.5 * size.min_element() / view.radius;
        // x to the right and y down in samples, z towards the camera in radii.
        let place = |p: Vec3| {
            let from = p - view.centre;
            let at = Vec2::new(from.dot(right), -from.dot(view.up)) * scale + size * 0.5;
            at.extend(from.dot(view.to_camera) / view.radius)
        };
        let places: Vec<Vec3> = positions.iter().map(|&p| place(p)).collect();
        let mut marks = vec![0.0f32; positions.len()];
        for &(point, share) in moved {
            if let Some(mark) = marks.get_mut(point as usize) {
                *mark = share.clamp(0.0, 1.0);
            }
        }
        for corners in &mesh.topology().triangles {
            let corners = corners.map(|p| p as usize);
            let [a, b, c] = corners.map(|p| positions[p]);
            let normal = (b - a).cross(c - a).normalize_or_zero();
            let facing = normal.dot(view.to_camera).abs();
            let light = AMBIENT + (1.0 - AMBIENT) * facing;
            self.draw(corners.map(|p| places[p]), corners.map(|p| marks[p]), light);
        }
    }

    /// Draws a triangle of places, with a mark at each corner.
    fn draw(&mut self, [a, b, c]: [Vec3; 3], marks: [f32; 3], light: f32) {
        let (low, high) = (a.min(b).min(c), a.max(b).max(c));
        let first = (low.truncate() - 0.5).ceil().max(Vec2::ZERO);
        let limit = Vec2::new(self.width as f32, self.height as f32) - 1.0;
        let last = (high.truncate() - 0.5).floor().min(limit);
        // NaN fails too.
        let is_inside = first.x <= last.x && first.y <= last.y && high.z <= NEAREST;
        let (ab, ac) = ((b - a).truncate(), (c - a).truncate());
        let area = ab.perp_dot(ac);
        if !is_inside || area == 0.0 || !area.is_finite() {
            return;
        }
        for y in first.y as usize..=last.y as usize {
            for x in first.x as usize..=last.x as usize {
                let from_a = Vec2::new(x as f32 + 0.5, y as f32 + 0.5) - a.truncate();
                let v = from_a.perp_dot(ac) / area;
                let w = ab.perp_dot(from_a) / area;
                if v < 0.0 || w < 0.0 || v + w > 1.0 {
                    continue;
                }
                let weights = Vec3::new(1.0 - v - w, v, w);
                let depth = Vec3::new(a.z, b.z, c.z).dot(weights);
                let cell = y * self.width + x;
                if depth > self.depths[cell] {
                    let mark = Vec3::from(marks).dot(weights);
                    self.depths[cell] = depth;
                    self.colours[cell] = SKIN.lerp(MOVED, mark) * light;
                }
            }
        }
    }

    /// The mean of the samples of each pixel.
    fn image(&self) -> Image {
        let (width, height) = (self.width / SAMPLES, self.height / SAMPLES);
        let mut rgba = Vec::with_capacity(width * height * 4);
        for y in 0..height {
            for x in 0..width {
                let (mut sum, mut n) = (Vec3::ZERO, 0.0);
                for sample in 0..SAMPLES * SAMPLES {
                    let (sx, sy) = (sample % SAMPLES, sample / SAMPLES);
                    let cell = (y * SAMPLES + sy) * self.width + x * SAMPLES + sx;
                    if self.depths[cell] > f32::NEG_INFINITY {
                        sum += self.colours[cell];
                        n += 1.0;
                    }
                }
                let colour = if n > 0.0 { sum / n } else { sum };
                let alpha = n / (SAMPLES * SAMPLES) as f32;
                let pixel = colour.extend(alpha) * 255.0 + 0.5;
                rgba.extend(pixel.to_array().map(|channel| channel as u8));
            }
        }
        Image {
            width: width as u32,
            height: height as u32,
            rgba,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{SampleKind, sample};

    #[test]
    fn a_picture_shows_the_surface_and_marks_what_moves() {
        let mesh = sample(SampleKind::Cylinder, 300).mesh.build().mesh;
        let positions = mesh.positions.clone();
        let view = PictureView::of_bend(positions.iter().copied(), Vec3::Z, &positions).unwrap();
        let all: Vec<(u32, f32)> = (0..positions.len() as u32).map(|p| (p, 1.0)).collect();
        for (moved, is_marked) in [(&all[..0], false), (&all[..], true)] {
            let image = skin_picture(&mesh, &positions, moved, &view, [24, 18]);
            assert_eq!(image.rgba.len(), 24 * 18 * 4);
            let drawn: Vec<&[u8]> = image.rgba.chunks(4).filter(|p| p[3] == 255).collect();
            assert!(!drawn.is_empty() && drawn.len() < 24 * 18);
            assert!(
                drawn.iter().all(|p| (p[0] > p[2]) == is_marked),
                "{drawn:?}"
            );
        }
    }

    #[test]
    fn nothing_to_see_has_no_view() {
        assert_eq!(PictureView::of_bend(std::iter::empty(), Vec3::X, &[]), None);
        let nan = [Vec3::NAN];
        assert_eq!(PictureView::of_bend(nan.into_iter(), Vec3::X, &nan), None);
        assert_eq!(PictureView::of_front(nan.into_iter()), None);
        let view = PictureView::of_front([Vec3::NAN, Vec3::X, Vec3::NEG_X].into_iter()).unwrap();
        assert_eq!((view.centre, view.radius), (Vec3::ZERO, 1.0));
        assert!(view.to_camera.z > 0.8 && view.up.y > 0.8);
        assert!(view.to_camera.dot(view.up).abs() < 1e-6);
    }
}
