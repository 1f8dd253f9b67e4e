//! A scan: points, and the faces between them where the scanner made some.

use super::error::{ScanError, check_finite};
use super::surface::SignedSurface;
use crate::twin::Unit;
use glam::DVec3;

/// The most points of a scan.
pub const MAX_POINTS: usize = 20_000_000;
/// The most triangles of a scan.
pub const MAX_TRIANGLES: usize = 40_000_000;

/// A scan of a person, metres.
#[derive(Clone, Debug)]
pub struct Scan(Shape);

#[derive(Clone, Debug)]
enum Shape {
    Faces(SignedSurface),
    Points {
        /// Finite; one or more.
        points: Vec<DVec3>,
        /// One a point, unit or zero; empty where the file does not tell.
        normals: Vec<DVec3>,
    },
}

impl Scan {
    /// A scan in `unit`. `normals`: one a point, or none; those of triangles are computed from them.
    ///
    /// Fails without points, with too many, and where a number is not finite or an index out of range.
    pub fn new(
        mut points: Vec<DVec3>,
        normals: Vec<DVec3>,
        triangles: Vec<[u32; 3]>,
        unit: Unit,
    ) -> Result<Self, ScanError> {
        if points.is_empty() {
            return Err(ScanError::of("the scan has no points"));
        }
        let limits = [
            (points.len(), MAX_POINTS, "points"),
            (triangles.len(), MAX_TRIANGLES, "triangles"),
        ];
        for (n, most, what) in limits {
            if n > most {
                return Err(ScanError::of(format!(
                    "the scan has {n} {what}, more than {most}: reduce it first"
                )));
            }
        }
        for p in &mut points {
            *p *= unit.metres();
        }
        if !triangles.is_empty() {
            let surface = SignedSurface::new(points, triangles, "the scan")?;
            return Ok(Self(Shape::Faces(surface)));
        }
        check_finite(&points, "the scan")?;
        let normals = if normals.len() == points.len() {
            normals.into_iter().map(DVec3::normalize_or_zero).collect()
        } else {
            Vec::new()
        };
        Ok(Self(Shape::Points { points, normals }))
    }

    /// The points.
    pub fn points(&self) -> &[DVec3] {
        match &self.0 {
            Shape::Faces(surface) => surface.points(),
            Shape::Points { points, .. } => points,
        }
    }

    /// The number of triangles.
    pub fn n_triangles(&self) -> usize {
        self.surface()
            .map_or(0, |surface| surface.triangles().len())
    }

    /// Its faces; `None`: it has only points.
    pub(super) fn surface(&self) -> Option<&SignedSurface> {
        match &self.0 {
            Shape::Faces(surface) => Some(surface),
            Shape::Points { .. } => None,
        }
    }

    /// The unit normal of a point, zero where it has none.
    pub(super) fn normal(&self, point: u32) -> DVec3 {
        let normals = match &self.0 {
            Shape::Faces(surface) => surface.normals(),
            Shape::Points { normals, .. } => normals,
        };
        normals.get(point as usize).copied().unwrap_or(DVec3::ZERO)
    }
}

/// The diagonal of the box around points.
pub(super) fn diagonal(points: &[DVec3]) -> f64 {
    let low = points.iter().fold(DVec3::INFINITY, |a, p| a.min(*p));
    let high = points.iter().fold(DVec3::NEG_INFINITY, |a, p| a.max(*p));
    (high - low).length()
}
