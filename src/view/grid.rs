//! The grid: on the ground; in an orthographic view along a horizontal axis, where the ground is a line, it faces the view behind
//! everything else.

use crate::math::camera::{Camera, View};
use glam::{Vec2, Vec3};

/// The parameters of the grid shader: decades of lines around the view.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Grid {
    /// The directions of its lines: two axes of the world.
    pub(crate) axes: [Vec3; 2],
    /// Whether it lies behind everything else.
    pub(crate) behind: bool,
    /// A crossing of the coarsest lines near the view; world, metres.
    pub(crate) origin: Vec3,
    /// Half the side of the square that is drawn around `origin`.
    pub(crate) extent: f32,
    /// The target in the plane, along both axes.
    pub(crate) centre: Vec2,
    /// Side of the finest cells, a power of ten.
    pub(crate) cell: f32,
    /// 0: the finest cells at full strength; towards 1 they blend into the next decade.
    pub(crate) blend: f32,
    /// The fade-out radius around `centre`.
    pub(crate) fade_radius: f32,
}

impl Grid {
    /// The grid for `camera`, the ground at a height: about ten to a hundred of its finest cells across the view, whatever the size of the
    /// model.
    pub(crate) fn new(camera: &Camera, ground: f32) -> Self {
        let view_height = 2.0 * camera.distance * (camera.fov_y * 0.5).tan();
        let decade = (view_height / 20.0).max(1e-9).log10();
        let cell = 10f32.powf(decade.floor());
        // The next-coarser lines repeat every 1000 cells: snapping to them keeps the pattern in place.
        let period = f64::from(cell) * 1000.0;
        let snap = |x: f32| ((f64::from(x) / period).round() * period) as f32;
        let fade_radius = camera.distance * 5.0;
        let target = camera.target;
        let across = match camera.axis_view() {
            Some(View::Front | View::Back) if camera.orthographic => Some(Vec3::X),
            Some(View::Left | View::Right) if camera.orthographic => Some(Vec3::Z),
            _ => None,
        };
        let (axes, depth) = match across {
            // Through the target: it is drawn as if it were at the far end.
            Some(across) => {
                let axis = across.cross(Vec3::Y);
                ([across, Vec3::Y], axis * target.dot(axis))
            }
            None => ([Vec3::X, Vec3::Z], Vec3::Y * ground),
        };
        let centre = Vec2::from(axes.map(|axis| target.dot(axis)));
        Self {
            axes,
            behind: across.is_some(),
            origin: axes[0] * snap(centre.x) + axes[1] * snap(centre.y) + depth,
            extent: fade_radius + (period * 0.75) as f32,
            centre,
            cell,
            blend: decade - decade.floor(),
            fade_radius,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(distance: f32) -> Grid {
        Grid::new(
            &Camera {
                distance,
                ..Camera::default()
            },
            0.0,
        )
    }

    #[test]
    fn a_hand_and_a_fox_both_get_a_sensible_grid() {
        // 2 cm and 180 units tall models, framed.
        assert_eq!(at(0.05).cell, 0.001);
        assert_eq!(at(5.0).cell, 0.1);
        assert_eq!(at(500.0).cell, 10.0);
    }

    #[test]
    fn the_pattern_stays_in_place_while_the_camera_pans() {
        let grid = Grid::new(
            &Camera {
                target: Vec3::new(123.4, 0.0, -777.7),
                ..Camera::default()
            },
            0.0,
        );
        let in_cells = grid.origin / (grid.cell * 1000.0);
        assert_eq!(in_cells, in_cells.round());
        assert!((grid.origin.x - 123.4).abs() <= grid.extent - grid.fade_radius);
    }

    #[test]
    fn an_orthographic_view_along_a_horizontal_axis_has_a_grid_that_faces_it() {
        let from = |view: View, orthographic: bool| {
            let camera = Camera::looking(view);
            Grid::new(
                &Camera {
                    orthographic,
                    target: Vec3::new(1.0, 2.0, 3.0),
                    ..camera
                },
                0.5,
            )
        };
        for (view, across) in [
            (View::Front, Vec3::X),
            (View::Back, Vec3::X),
            (View::Right, Vec3::Z),
            (View::Left, Vec3::Z),
        ] {
            let grid = from(view, true);
            assert!(grid.behind);
            assert_eq!(grid.axes, [across, Vec3::Y]);
            assert_eq!(
                grid.centre,
                Vec2::new(across.dot(Vec3::new(1.0, 2.0, 3.0)), 2.0)
            );
            assert!(!from(view, false).behind);
        }
        for view in [View::Top, View::Bottom, View::ThreeQuarter] {
            let grid = from(view, true);
            assert!(!grid.behind);
            assert_eq!(grid.axes, [Vec3::X, Vec3::Z]);
            assert_eq!(grid.origin.y, 0.5);
        }
    }
}
