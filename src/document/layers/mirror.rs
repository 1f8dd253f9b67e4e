//! Mirroring as an effect: a layer shows one of its sides on the other one too.

use crate::math::Axis;
use crate::mesh::{Mesh, PointSet, Symmetry};
use crate::skinning::RowRef;
use std::cmp::Ordering;

/// Which side of a layer is shown on both, with everything that decides what that looks like: it does not change when
/// bones are renamed.
#[derive(Clone, Debug, PartialEq)]
pub struct MirrorEffect {
    axis: Axis,
    centre: f32,
    from_positive: bool,
    tolerance: f32,
    joints: MirrorJoints,
    /// n_points: the point whose row is shown; the point itself on the side that is shown, on the middle line and where
    /// the other side has none.
    sources: Vec<u32>,
    /// (source, point) of every point that shows another one's row, ascending.
    images: Vec<(u32, u32)>,
    /// Points of the covered side for which the other side has none.
    unmatched: PointSet,
}

/// What joints become in the mirror.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MirrorJoints {
    /// n_skin_joints: who takes the weight of a joint on the other side, by its index in the influences; a joint of the
    /// middle does itself.
    pub heirs: Vec<u16>,
    /// Those that have no partner, ascending.
    pub unpaired: Vec<u16>,
}

impl MirrorEffect {
    /// The effect across `symmetry`'s plane, from the positive side or from the negative one.
    ///
    /// `tolerance` is what the symmetry was found with, as a fraction of the diagonal of the bounds ([`Self::metres`]).
    pub fn new(
        mesh: &Mesh,
        symmetry: &Symmetry,
        from_positive: bool,
        tolerance: f32,
        joints: MirrorJoints,
    ) -> Self {
        let axis = symmetry.axis();
        let across = |point: u32| mesh.positions[point as usize][axis.index()] - symmetry.centre();
        // Of a pair the one further to the positive side is of that side.
        let is_given = |point: u32, partner: Option<u32>| {
            let there = partner.map_or(0.0, across);
            let is_positive = match across(point).total_cmp(&there) {
                Ordering::Equal => partner.is_none_or(|partner| point < partner),
                order => order.is_gt(),
            };
            is_positive == from_positive
        };
        let mut unmatched = PointSet::default();
        let mut sources: Vec<u32> = (0..mesh.n_points() as u32).collect();
        let mut images = Vec::new();
        for point in 0..mesh.n_points() as u32 {
            let partner = symmetry.partner(point);
            if partner == Some(point) || is_given(point, partner) {
                continue;
            }
            // What a point without a partner takes must not itself be covered.
            let source = symmetry.source(point).filter(|&source| {
                let other = symmetry.partner(source);
                partner.is_some() || (other != Some(source) && is_given(source, other))
            });
            match source {
                Some(source) => {
                    sources[point as usize] = source;
                    images.push((source, point));
                }
                None => {
                    unmatched.insert(point);
                }
            }
        }
        images.sort_unstable();
        Self {
            axis,
            centre: symmetry.centre(),
            from_positive,
            tolerance,
            joints,
            sources,
            images,
            unmatched,
        }
    }

    /// A tolerance of a fraction of the diagonal of the bounds of `mesh`, metres.
    pub fn metres(mesh: &Mesh, tolerance: f32) -> f32 {
        let mut places = mesh.positions.iter().copied().filter(|p| p.is_finite());
        let Some(first) = places.next() else {
            return 0.0;
        };
        let (low, high) = places.fold((first, first), |(low, high), p| (low.min(p), high.max(p)));
        (high - low).length() * tolerance
    }

    /// The axis across the plane, in bind pose.
    pub fn axis(&self) -> Axis {
        self.axis
    }

    /// That coordinate of the plane, metres.
    pub fn centre(&self) -> f32 {
        self.centre
    }

    /// Whether the positive side is shown on the negative one, or the other way.
    pub fn from_positive(&self) -> bool {
        self.from_positive
    }

    /// What the symmetry was found with, as a fraction of the diagonal of the bounds.
    pub fn tolerance(&self) -> f32 {
        self.tolerance
    }

    /// What joints become on the other side.
    pub fn joints(&self) -> &MirrorJoints {
        &self.joints
    }

    /// How many points the mesh has.
    pub fn n_points(&self) -> usize {
        self.sources.len()
    }

    /// The point whose row a point shows.
    pub fn source(&self, point: u32) -> u32 {
        self.sources.get(point as usize).copied().unwrap_or(point)
    }

    /// (point, image) of each other point that shows the row of `point`.
    pub fn images(&self, point: u32) -> &[(u32, u32)] {
        let start = self.images.partition_point(|&(source, _)| source < point);
        let n = self.images[start..].partition_point(|&(source, _)| source == point);
        &self.images[start..start + n]
    }

    /// Points of the covered side for which the other side has none: they show their own rows.
    pub fn unmatched(&self) -> &PointSet {
        &self.unmatched
    }

    /// Writes the mirror image of `row` to `joints` and `weights`.
    pub(super) fn mirrored(&self, row: RowRef<'_>, joints: &mut Vec<u16>, weights: &mut Vec<f32>) {
        joints.clear();
        weights.clear();
        for (joint, weight) in row.iter() {
            let heir = self.joints.heirs.get(usize::from(joint)).copied();
            let joint = heir.unwrap_or(joint);
            // One without a partner hands its weight on.
            match joints.iter().position(|&j| j == joint) {
                Some(i) => weights[i] += weight,
                None => {
                    joints.push(joint);
                    weights.push(weight);
                }
            }
        }
    }
}
