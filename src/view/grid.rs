//! Position and spacing of the ground grid.

use crate::math::camera::Camera;
use glam::{Vec2, Vec3};

/// The parameters of the grid shader: decades of lines around the view.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Grid {
    /// A crossing of the coarsest lines near the view; world, metres.
    pub(crate) origin: Vec3,
    /// Half the side of the square that is drawn around `origin`.
    pub(crate) extent: f32,
    /// The ground position under the target, x and z.
    pub(crate) centre: Vec2,
    /// Side of the finest cells, a power of ten.
    pub(crate) cell: f32,
    /// 0: the finest cells at full strength; towards 1 they blend into the next decade.
    pub(crate) blend: f32,
    /// The fade-out radius around `centre`.
    pub(crate) fade_radius: f32,
}

impl Grid {
    /// The grid for `camera`: about ten to a hundred of its finest cells across the view, whatever the size of the
    /// model.
    pub(crate) fn under(camera: &Camera, ground: f32) -> Self {
        let view_height = 2.0 * camera.distance * (camera.fov_y * 0.5).tan();
        let decade = (view_height / 20.0).max(1e-9).log10();
        let cell = 10f32.powf(decade.floor());
        // The next-coarser lines repeat every 1000 cells: snapping to them keeps the pattern in place.
        let period = f64::from(cell) * 1000.0;
        let snap = |x: f32| ((f64::from(x) / period).round() * period) as f32;
        let fade_radius = camera.distance * 5.0;
        Self {
            origin: Vec3::new(snap(camera.target.x), ground, snap(camera.target.z)),
            extent: fade_radius + (period * 0.75) as f32,
            centre: Vec2::new(camera.target.x, camera.target.z),
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
        Grid::under(
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
        let grid = Grid::under(
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
}
