//! A Wavefront OBJ file as a scan.

use super::text::read;
use crate::io::gltf::ImportError;
use crate::io::polygon::triangulated;
use crate::task::Task;
use glam::DVec3;

/// The vertices of a file in its own unit, and its faces as triangles; a file may have only vertices.
///
/// Fails at a line of a vertex or a face that is not valid, or when `task` is cancelled.
pub(in crate::io) fn obj_points(
    bytes: &[u8],
    task: &Task,
) -> Result<(Vec<DVec3>, Vec<[u32; 3]>), ImportError> {
    let file = read(bytes, task)?;
    let points: Vec<DVec3> = file.positions.iter().map(|p| p.as_dvec3()).collect();
    let corners: Vec<u32> = file.corners.iter().map(|corner| corner.point).collect();
    let ends = file.faces.iter().map(|face| face.end);
    let triangles = triangulated(&points, &corners, ends, task)?;
    Ok((points, triangles))
}
