//! Small skins for the tests of the kernels, and the way from rows of f64 to posed points.

use crate::reference::Row;
use glam::{DAffine3, DVec3, Vec3};
use sinew::math::Transform;
use sinew::skeleton::{Joint, JointId, JointRule, Pose, Skeleton};
use sinew::skinning::{
    CHUNK, CookedChunk, Influences, Rows, SkinBind, SkinInput, SkinPalette, Stretch,
};

/// A skeleton whose rest pose has these world transforms, parents by index.
pub(crate) fn skeleton(parents: &[Option<u32>], rest: &[Transform]) -> Skeleton {
    let joints = parents
        .iter()
        .zip(rest)
        .map(|(parent, rest)| Joint {
            name: String::new(),
            parent: parent.map(JointId),
            rest: *rest,
            source_node: None,
            content_of: None,
            removed: false,
            rule: JointRule::default(),
        })
        .collect();
    Skeleton::new(joints).unwrap()
}

/// All joints of a skeleton bound where they rest.
pub(crate) fn bind_all(skeleton: &Skeleton) -> SkinBind {
    let world = Pose::rest(skeleton).world_matrices(skeleton);
    let inverse_bind: Vec<DAffine3> = world.iter().map(DAffine3::inverse).collect();
    let joints: Vec<JointId> = (0..skeleton.len() as u32).map(JointId).collect();
    SkinBind::new(
        skeleton,
        &joints,
        &inverse_bind,
        &vec![true; joints.len()],
        &world,
    )
}

/// A palette whose skin matrices are these, on joints that rest at the origin, each under the one before.
pub(crate) fn palette_of(skin_matrices: &[DAffine3]) -> SkinPalette {
    let parents: Vec<Option<u32>> = (0..skin_matrices.len() as u32)
        .map(|j| j.checked_sub(1))
        .collect();
    let skeleton = skeleton(&parents, &vec![Transform::IDENTITY; parents.len()]);
    let mut palette = SkinPalette::default();
    bind_all(&skeleton).pose(skin_matrices, Stretch::Inflate, &mut palette);
    palette
}

/// Rows of f64 as the library stores them.
pub(crate) fn influences(rows: &[Row]) -> Influences {
    let rows: Rows = rows
        .iter()
        .map(|row| row.iter().map(|&(j, w)| (j as u16, w as f32)).collect())
        .collect();
    Influences::from_rows(rows.iter())
}

/// All chunks, cooked with ranks in order of index.
pub(crate) fn cook(influences: &Influences) -> Vec<CookedChunk> {
    let ranks: Vec<u32> = (0..=u32::from(u16::MAX)).collect();
    influences
        .chunks()
        .iter()
        .map(|rows| CookedChunk::cook(rows, &ranks))
        .collect()
}

/// Every point through a kernel, chunk by chunk.
pub(crate) fn skin(
    positions: &[Vec3],
    chunks: &[CookedChunk],
    palette: &SkinPalette,
    kernel: impl Fn(&SkinInput<'_>, &mut [Vec3]),
) -> Vec<Vec3> {
    let mut out = vec![Vec3::ZERO; positions.len()];
    for ((positions, chunk), out) in positions
        .chunks(CHUNK)
        .zip(chunks)
        .zip(out.chunks_mut(CHUNK))
    {
        kernel(&SkinInput::new(positions, chunk, palette).unwrap(), out);
    }
    out
}

pub(crate) fn to_f32(positions: &[DVec3]) -> Vec<Vec3> {
    positions.iter().map(|p| p.as_vec3()).collect()
}

/// Asserts that f32 points are the expected ones to 4e-7 (1 + largest coordinate).
pub(crate) fn assert_close(what: &str, actual: &[Vec3], expected: &[DVec3]) {
    assert_eq!(actual.len(), expected.len(), "{what}");
    let largest = expected
        .iter()
        .fold(0.0f64, |m, p| m.max(p.abs().max_element()));
    let tolerance = 4e-7 * (1.0 + largest);
    let worst = actual
        .iter()
        .zip(expected)
        .map(|(a, e)| (a.as_dvec3() - *e).abs().max_element())
        .fold(
            0.0,
            |m, v| if v.is_nan() { f64::MAX } else { f64::max(m, v) },
        );
    assert!(worst <= tolerance, "{what}: {worst:e} > {tolerance:e}");
}
