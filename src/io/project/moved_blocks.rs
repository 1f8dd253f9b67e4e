//! Displacements of points <-> blocks.
//!
//! A block holds, in ascending order of vertex: u32 steps to the next vertex, then x, y and z as f32; all as byte planes.

use super::block;
use super::keys::{self, Key};
use super::sample_entries::MovedBlock;
use glam::Vec3;

/// The displacements of points as a block.
pub(super) fn encode(keys: &[Key], value: impl Fn(&Key) -> Vec3) -> Result<MovedBlock, String> {
    let mut bytes = Vec::with_capacity(16 * keys.len());
    block::push_planes(&mut bytes, keys::steps(keys).map(u32::to_le_bytes));
    for axis in 0..3 {
        let values = keys.iter().map(|key| value(key)[axis].to_le_bytes());
        block::push_planes(&mut bytes, values);
    }
    Ok(MovedBlock {
        primitive: keys.first().map_or(0, |key| key.primitive),
        n_points: keys.len() as u32,
        data: block::to_text(&bytes)?,
    })
}

/// (vertex, displacement) of each point of a block.
pub(super) fn decode(block: &MovedBlock) -> Result<Vec<(u32, Vec3)>, String> {
    let n = block.n_points as usize;
    let bytes = block::from_text(&block.data, 16 * n)?;
    let mut rest = bytes.as_slice();
    let short = || "its encoded data is too short".to_owned();
    let steps = block::take_planes::<4>(&mut rest, n).ok_or_else(short)?;
    let x = block::take_planes::<4>(&mut rest, n).ok_or_else(short)?;
    let y = block::take_planes::<4>(&mut rest, n).ok_or_else(short)?;
    let z = block::take_planes::<4>(&mut rest, n).ok_or_else(short)?;
    let mut vertex = 0u32;
    let moved = steps.zip(x).zip(y.zip(z)).map(|((step, x), (y, z))| {
        vertex = vertex.wrapping_add(u32::from_le_bytes(step));
        (vertex, Vec3::from([x, y, z].map(f32::from_le_bytes)))
    });
    Ok(moved.collect())
}
