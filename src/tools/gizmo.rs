//! The handles of the gizmo: their shapes on the screen, and picking.
//!
//! Everything is in logical pixels of the viewport; the size on the screen is the same at any distance, and at most a
//! third of a small pane.

use super::{Axis, Constraint, Screen};
use crate::document::session::TransformKind;
use glam::{Vec2, Vec3};
use std::f32::consts::TAU;

/// Greatest radius of the axis rings, and length of the arrows.
const RADIUS_PX: f32 = 90.0;
/// The largest share of a pane's shorter side that the gizmo takes.
const LARGEST_SHARE: f32 = 1.0 / 3.0;
/// Radius of the ring in the plane of the view, relative to the axis rings.
const VIEW_RING_RADIUS: f32 = 1.2;
/// Radius of the trackball, relative to the axis rings.
const TRACKBALL_RADIUS: f32 = 0.85;
/// Maximum distance of the pointer from a line to grab it, pixels.
pub const REACH_PX: f32 = 7.0;
/// Radius of the centre handle.
const CENTRE_PX: f32 = 11.0;
/// Half width of the boxes of the scale gizmo, and radius of an arrow's head.
const HEAD_PX: f32 = 6.0;
/// Length of an arrow's head.
const HEAD_LENGTH_PX: f32 = 16.0;
/// The squares of two axes, relative to the arrows: from and to.
const SQUARE: (f32, f32) = (0.28, 0.50);
/// Number of segments of a ring.
const PIECES: usize = 96;
/// Minimum length of an arrow on the screen: shorter ones point at the camera and are hidden.
const MIN_LENGTH_PX: f32 = 18.0;
/// Minimum cosine between a square's normal and the view: flatter ones are hidden.
const FLATTEST: f32 = 0.15;

/// Radius of the axis rings and length of the arrows in a pane, pixels.
pub fn radius_px(screen: &Screen) -> f32 {
    let most = screen.size_px.min_element() * LARGEST_SHARE * 0.5 / VIEW_RING_RADIUS;
    RADIUS_PX.min(most)
}

/// A part of the gizmo that can be dragged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Handle {
    /// The transform of a drag.
    pub kind: TransformKind,
    /// Its constraint.
    pub constraint: Constraint,
}

impl Handle {
    /// Its name: "Rotate X", "Move XY", "Rotate freely".
    pub fn label(self) -> String {
        let verb = self.kind.verb();
        match (self.constraint, self.kind) {
            (Constraint::Axis(axis), _) => format!("{verb} {}", axis.letter()),
            (Constraint::Plane(axis), _) => format!("{verb} {}", axis.others()),
            (Constraint::Trackball, _) => format!("{verb} freely"),
            (Constraint::Free, TransformKind::Scale) => format!("{verb} all axes"),
            (Constraint::Free, _) => format!("{verb} in the view"),
        }
    }

    /// The axis of its colour; `None`: the colour of the overlay.
    pub fn axis(self) -> Option<Axis> {
        match self.constraint {
            Constraint::Axis(axis) | Constraint::Plane(axis) => Some(axis),
            Constraint::Free | Constraint::Trackball => None,
        }
    }
}

/// A line of a handle.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// Its corners.
    pub points: Vec<Vec2>,
    /// Whether it is on the near side: the far half of a ring is drawn faintly and not grabbed.
    pub front: bool,
}

/// The shape of a handle.
#[derive(Clone, Debug, PartialEq)]
pub struct Shape {
    /// The handle.
    pub handle: Handle,
    /// Its lines.
    pub lines: Vec<Line>,
    /// Its filled convex part: an arrow's head, a box, a square.
    pub fill: Vec<Vec2>,
    /// The position of its letter, beyond its end.
    pub tip: Vec2,
}

/// The gizmo at a position.
#[derive(Clone, Debug, PartialEq)]
pub struct Gizmo {
    centre_px: Vec2,
    radius_px: f32,
    shapes: Vec<Shape>,
    kind: TransformKind,
}

impl Gizmo {
    /// The handles of `kind` at `centre` (world) along `axes` (world, unit). `None` behind the camera.
    pub fn new(
        kind: TransformKind,
        centre: Vec3,
        axes: [Vec3; 3],
        screen: &Screen,
    ) -> Option<Self> {
        let radius_px = radius_px(screen);
        let builder = Builder {
            centre,
            centre_px: screen.project(centre)?,
            radius: radius_px * screen.metres_per_px(centre),
            radius_px,
            to_eye: screen.toward_eye(centre),
            axes,
            screen,
            kind,
        };
        let shapes = match kind {
            TransformKind::Rotate => builder.rings(),
            TransformKind::Move => builder.arrows(),
            TransformKind::Scale => builder.boxes(),
        };
        Some(Self {
            centre_px: builder.centre_px,
            radius_px,
            shapes,
            kind,
        })
    }

    /// Its centre on the screen.
    pub fn centre_px(&self) -> Vec2 {
        self.centre_px
    }

    /// Radius of the trackball inside the rings, pixels.
    pub fn ball_px(&self) -> f32 {
        self.radius_px * TRACKBALL_RADIUS
    }

    /// Its handles, in the order of drawing.
    pub fn shapes(&self) -> &[Shape] {
        &self.shapes
    }

    /// The handle under a position of the viewport.
    pub fn hit(&self, at: Vec2) -> Option<Handle> {
        let distance = |shape: &Shape| {
            if !shape.fill.is_empty() && inside(&shape.fill, at) {
                // Arrows have precedence over the squares that they touch.
                let behind = matches!(shape.handle.constraint, Constraint::Plane(_));
                return if behind { 2.0 } else { 0.0 };
            }
            let lines = shape.lines.iter().filter(|line| line.front);
            let lines = lines.flat_map(|line| line.points.windows(2));
            lines
                .map(|ends| from_segment(at, ends[0], ends[1]))
                .fold(f32::INFINITY, f32::min)
        };
        let nearest = self
            .shapes
            .iter()
            .map(|shape| (distance(shape), shape.handle))
            .filter(|(distance, _)| *distance <= REACH_PX)
            .min_by(|a, b| a.0.total_cmp(&b.0))
            .map(|(_, handle)| handle);
        let inner =
            self.kind == TransformKind::Rotate && at.distance(self.centre_px) <= self.ball_px();
        nearest.or_else(|| {
            inner.then_some(Handle {
                kind: self.kind,
                constraint: Constraint::Trackball,
            })
        })
    }
}

struct Builder<'a> {
    centre: Vec3,
    centre_px: Vec2,
    /// The radius of the rings, metres.
    radius: f32,
    /// The same, pixels.
    radius_px: f32,
    to_eye: Vec3,
    axes: [Vec3; 3],
    screen: &'a Screen,
    kind: TransformKind,
}

impl Builder<'_> {
    fn handle(&self, constraint: Constraint) -> Handle {
        Handle {
            kind: self.kind,
            constraint,
        }
    }

    /// A position relative to the centre, in radii.
    fn px(&self, offset: Vec3) -> Vec2 {
        let at = self.centre + offset * self.radius;
        self.screen.project(at).unwrap_or(self.centre_px)
    }

    fn rings(&self) -> Vec<Shape> {
        let mut shapes: Vec<Shape> = Axis::ALL.into_iter().map(|axis| self.ring(axis)).collect();
        let circle = |radius: f32| -> Vec<Vec2> {
            (0..=PIECES)
                .map(|i| Vec2::from_angle(TAU * i as f32 / PIECES as f32))
                .map(|direction| self.centre_px + direction * radius)
                .collect()
        };
        shapes.push(Shape {
            handle: self.handle(Constraint::Free),
            lines: vec![Line {
                points: circle(self.radius_px * VIEW_RING_RADIUS),
                front: true,
            }],
            fill: Vec::new(),
            tip: self.centre_px + Vec2::new(0.0, -self.radius_px * VIEW_RING_RADIUS),
        });
        shapes
    }

    /// A ring about an axis, in a near and a far half.
    fn ring(&self, axis: Axis) -> Shape {
        let (x, y) = (
            self.axes[(axis.index() + 1) % 3],
            self.axes[(axis.index() + 2) % 3],
        );
        let offset = |angle: f32| x * angle.cos() + y * angle.sin();
        // A ring seen face-on has no far half.
        let is_front = |offset: Vec3| offset.dot(self.to_eye) > -0.04;
        let mut lines: Vec<Line> = Vec::new();
        for i in 0..PIECES {
            let (a, b) = (i as f32, (i + 1) as f32);
            let step = TAU / PIECES as f32;
            let front = is_front(offset((a + 0.5) * step));
            let (a, b) = (self.px(offset(a * step)), self.px(offset(b * step)));
            match lines.last_mut() {
                Some(line) if line.front == front => line.points.push(b),
                _ => lines.push(Line {
                    points: vec![a, b],
                    front,
                }),
            }
        }
        // The letter is beside a diagonal of the near half: no other ring crosses there.
        let diagonals = [0.125, 0.375, 0.625, 0.875].map(|turn| offset(turn * TAU));
        let tip = diagonals
            .into_iter()
            .filter(|&d| is_front(d))
            .map(|d| self.px(d))
            .max_by(|a, b| {
                let from = |p: &Vec2| p.distance(self.centre_px);
                from(a).total_cmp(&from(b))
            })
            .unwrap_or(self.centre_px);
        let outward = (tip - self.centre_px).normalize_or(Vec2::NEG_Y);
        Shape {
            handle: self.handle(Constraint::Axis(axis)),
            lines,
            fill: Vec::new(),
            tip: tip - outward * 12.0,
        }
    }

    /// The end of an axis on the screen; `None` where it points at the camera.
    fn end(&self, axis: Axis) -> Option<Vec2> {
        let end = self.px(self.axes[axis.index()]);
        (end.distance(self.centre_px) >= MIN_LENGTH_PX).then_some(end)
    }

    fn arrows(&self) -> Vec<Shape> {
        let mut shapes = self.squares();
        for (axis, end) in self.by_depth() {
            let along = (end - self.centre_px).normalize_or(Vec2::X);
            let across = along.perp() * HEAD_PX;
            let neck = end - along * HEAD_LENGTH_PX;
            shapes.push(Shape {
                handle: self.handle(Constraint::Axis(axis)),
                lines: vec![Line {
                    points: vec![self.centre_px + along * CENTRE_PX, end],
                    front: true,
                }],
                fill: vec![neck + across, end, neck - across],
                tip: end + along * 10.0,
            });
        }
        shapes.push(self.middle(circle_of(self.centre_px, CENTRE_PX)));
        shapes
    }

    fn boxes(&self) -> Vec<Shape> {
        let mut shapes = self.squares();
        let square = |at: Vec2, half: f32| {
            [(-1., -1.), (1., -1.), (1., 1.), (-1., 1.)]
                .map(|(x, y)| at + Vec2::new(x, y) * half)
                .to_vec()
        };
        for (axis, end) in self.by_depth() {
            let along = (end - self.centre_px).normalize_or(Vec2::X);
            shapes.push(Shape {
                handle: self.handle(Constraint::Axis(axis)),
                lines: vec![Line {
                    points: vec![self.centre_px + along * CENTRE_PX, end],
                    front: true,
                }],
                fill: square(end, HEAD_PX),
                tip: end + along * 14.0,
            });
        }
        shapes.push(self.middle(square(self.centre_px, HEAD_PX + 2.0)));
        shapes
    }

    /// The axes with a length on the screen, the farthest first.
    fn by_depth(&self) -> Vec<(Axis, Vec2)> {
        let mut ends: Vec<(Axis, Vec2)> = Axis::ALL
            .into_iter()
            .filter_map(|axis| Some((axis, self.end(axis)?)))
            .collect();
        ends.sort_by(|a, b| {
            let depth = |axis: Axis| self.axes[axis.index()].dot(self.to_eye);
            depth(a.0).total_cmp(&depth(b.0))
        });
        ends
    }

    /// The squares that move along two axes.
    fn squares(&self) -> Vec<Shape> {
        let seen = Axis::ALL
            .into_iter()
            .filter(|a| self.axes[a.index()].dot(self.to_eye).abs() > FLATTEST);
        let square = |axis: Axis| {
            let (x, y) = (
                self.axes[(axis.index() + 1) % 3],
                self.axes[(axis.index() + 2) % 3],
            );
            let (from, to) = SQUARE;
            let fill = [(from, from), (to, from), (to, to), (from, to)]
                .map(|(a, b)| self.px(x * a + y * b))
                .to_vec();
            let middle = fill.iter().sum::<Vec2>() / 4.0;
            let closed = [fill.as_slice(), &fill[..1]].concat();
            Shape {
                handle: self.handle(Constraint::Plane(axis)),
                lines: vec![Line {
                    points: closed,
                    front: true,
                }],
                fill,
                tip: middle,
            }
        };
        seen.map(square).collect()
    }

    fn middle(&self, fill: Vec<Vec2>) -> Shape {
        let closed = [fill.as_slice(), &fill[..1]].concat();
        Shape {
            handle: self.handle(Constraint::Free),
            lines: vec![Line {
                points: closed,
                front: true,
            }],
            fill,
            tip: self.centre_px,
        }
    }
}

fn circle_of(centre: Vec2, radius: f32) -> Vec<Vec2> {
    (0..24)
        .map(|i| centre + Vec2::from_angle(TAU * i as f32 / 24.0) * radius)
        .collect()
}

/// Whether `at` lies in a convex polygon, however it is wound.
fn inside(polygon: &[Vec2], at: Vec2) -> bool {
    let n = polygon.len();
    let sides = (0..n).map(|i| {
        let (a, b) = (polygon[i], polygon[(i + 1) % n]);
        (b - a).perp_dot(at - a)
    });
    let (low, high) = sides.fold((0f32, 0f32), |(low, high), s| (low.min(s), high.max(s)));
    low >= 0.0 || high <= 0.0
}

fn from_segment(at: Vec2, a: Vec2, b: Vec2) -> f32 {
    let along = b - a;
    let t = (at - a).dot(along) / along.length_squared().max(1e-12);
    at.distance(a + along * t.clamp(0.0, 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Camera;
    use crate::math::camera::View;

    const AXES: [Vec3; 3] = [Vec3::X, Vec3::Y, Vec3::Z];
    const MIDDLE: Vec2 = Vec2::new(400.0, 360.0);

    fn gizmo(kind: TransformKind, view: View, distance: f32) -> Gizmo {
        let mut camera = Camera::looking(view);
        camera.distance = distance;
        let screen = Screen::new(camera, MIDDLE * 2.0);
        Gizmo::new(kind, Vec3::ZERO, AXES, &screen).unwrap()
    }

    fn hit(gizmo: &Gizmo, x: f32, y: f32) -> Option<Constraint> {
        gizmo.hit(MIDDLE + Vec2::new(x, y)).map(|h| h.constraint)
    }

    #[test]
    fn the_size_on_the_screen_is_the_same_at_any_distance() {
        for distance in [0.5, 5.0, 50.0] {
            let gizmo = gizmo(TransformKind::Rotate, View::Front, distance);
            let z = &gizmo.shapes()[2];
            assert!(z.lines.iter().all(|line| line.front));
            for p in z.lines.iter().flat_map(|line| &line.points) {
                assert!((p.distance(MIDDLE) - RADIUS_PX).abs() < 0.5);
            }
        }
    }

    #[test]
    fn the_gizmo_takes_at_most_a_third_of_a_small_pane() {
        let screen = Screen::new(Camera::looking(View::Front), Vec2::new(300.0, 500.0));
        for kind in [
            TransformKind::Move,
            TransformKind::Rotate,
            TransformKind::Scale,
        ] {
            let gizmo = Gizmo::new(kind, Vec3::ZERO, AXES, &screen).unwrap();
            let lines = gizmo.shapes().iter().flat_map(|shape| &shape.lines);
            let ends = lines.flat_map(|line| &line.points);
            let furthest = ends.map(|p| p.distance(gizmo.centre_px()));
            assert!(furthest.fold(0.0, f32::max) <= 50.01, "{kind:?}");
        }
    }

    #[test]
    fn rings_are_hit_on_their_near_half_and_the_ball_inside() {
        let gizmo = gizmo(TransformKind::Rotate, View::ThreeQuarter, 5.0);
        let near_and_far = |shape: &Shape| {
            let middle = |front: bool| {
                let line = shape.lines.iter().filter(|l| l.front == front);
                let line = line.max_by_key(|l| l.points.len()).unwrap();
                line.points[line.points.len() / 2]
            };
            (middle(true), middle(false))
        };
        for shape in &gizmo.shapes()[..3] {
            let (near, far) = near_and_far(shape);
            assert_eq!(gizmo.hit(near), Some(shape.handle), "{:?}", shape.handle);
            assert_ne!(gizmo.hit(far), Some(shape.handle));
        }
        let ring = RADIUS_PX * VIEW_RING_RADIUS;
        assert_eq!(hit(&gizmo, 0.0, ring + 5.0), Some(Constraint::Free));
        assert_eq!(hit(&gizmo, 0.0, ring + 9.0), None);
        assert_eq!(hit(&gizmo, 6.0, 4.0), Some(Constraint::Trackball));
    }

    #[test]
    fn arrows_and_squares_of_the_move_gizmo_are_hit_where_they_are_visible() {
        let gizmo = gizmo(TransformKind::Move, View::Front, 5.0);
        assert_eq!(hit(&gizmo, 60.0, 5.0), Some(Constraint::Axis(Axis::X)));
        assert_eq!(hit(&gizmo, -3.0, -85.0), Some(Constraint::Axis(Axis::Y)));
        assert_eq!(hit(&gizmo, 35.0, -35.0), Some(Constraint::Plane(Axis::Z)));
        assert_eq!(hit(&gizmo, 2.0, -3.0), Some(Constraint::Free));
        assert_eq!(hit(&gizmo, -50.0, 50.0), None);
        // The arrow that points at the camera is not there.
        let z = Constraint::Axis(Axis::Z);
        assert!(gizmo.shapes().iter().all(|s| s.handle.constraint != z));
    }

    #[test]
    fn boxes_of_the_scale_gizmo_are_hit_at_the_ends() {
        let gizmo = gizmo(TransformKind::Scale, View::Front, 5.0);
        assert_eq!(hit(&gizmo, 94.0, 4.0), Some(Constraint::Axis(Axis::X)));
        assert_eq!(hit(&gizmo, 5.0, 5.0), Some(Constraint::Free));
        assert_eq!(hit(&gizmo, 0.0, 60.0), None);
    }

    #[test]
    fn each_handle_of_a_gizmo_has_its_own_name() {
        for kind in [
            TransformKind::Move,
            TransformKind::Rotate,
            TransformKind::Scale,
        ] {
            let gizmo = gizmo(kind, View::ThreeQuarter, 5.0);
            let mut names: Vec<String> = gizmo.shapes().iter().map(|s| s.handle.label()).collect();
            let n = names.len();
            names.sort();
            names.dedup();
            assert_eq!(names.len(), n, "{names:?}");
        }
    }
}
