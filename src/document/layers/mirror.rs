//! The mirror effect: a layer shows the rows of one side on the other side too.

use crate::math::Axis;
use crate::mesh::{Mesh, PointSet, Symmetry};
use crate::skinning::RowRef;
use std::cmp::Ordering;

/// Which side of a layer is shown on both sides, with all data that the result depends on, so that renaming bones does
/// not change it.
#[derive(Clone, Debug, PartialEq)]
pub struct MirrorEffect {
    axis: Axis,
    centre: f32,
    from_positive: bool,
    tolerance: f32,
    joints: MirrorJoints,
    /// n_points: the point whose row is shown; the point itself on the source side, on the middle line, and where the
    /// other side has no counterpart.
    sources: Vec<u32>,
    /// (source, point) of every point that shows another point's row, ascending.
    images: Vec<(u32, u32)>,
    /// Points of the covered side without a counterpart.
    unmatched: PointSet,
}

/// The joints after mirroring.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MirrorJoints {
    /// n_skin_joints: the joint that receives the weight of a joint on the other side, by its index in the influences;
    /// a joint of the middle receives its own.
    pub recipients: Vec<u16>,
    /// Joints without a counterpart, ascending.
    pub unpaired: Vec<u16>,
}

impl MirrorEffect {
    /// The effect across the plane of `symmetry`, with the positive or the negative side as its source.
    ///
    /// `tolerance` is that of the symmetry, as a fraction of the diagonal of the bounds ([`Self::metres`]).
    pub fn new(
        mesh: &Mesh,
        symmetry: &Symmetry,
        from_positive: bool,
        tolerance: f32,
        joints: MirrorJoints,
    ) -> Self {
        let axis = symmetry.axis();
        let across = |point: u32| mesh.positions[point as usize][axis.index()] - symmetry.centre();
        // Of a pair, the point further to the positive side is on that side.
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
            // The source of a point without a counterpart must not itself be covered.
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

    /// A tolerance, as a fraction of the diagonal of the bounds of `mesh`, in metres.
    pub fn metres(mesh: &Mesh, tolerance: f32) -> f32 {
        let mut places = mesh.positions.iter().copied().filter(|p| p.is_finite());
        let Some(first) = places.next() else {
            return 0.0;
        };
        let (low, high) = places.fold((first, first), |(low, high), p| (low.min(p), high.max(p)));
        (high - low).length() * tolerance
    }

    /// The normal of the plane, in the bind pose.
    pub fn axis(&self) -> Axis {
        self.axis
    }

    /// The coordinate of the plane along that axis, metres.
    pub fn centre(&self) -> f32 {
        self.centre
    }

    /// Whether the positive side is the source.
    pub fn from_positive(&self) -> bool {
        self.from_positive
    }

    /// The tolerance of the symmetry, as a fraction of the diagonal of the bounds.
    pub fn tolerance(&self) -> f32 {
        self.tolerance
    }

    /// The joints after mirroring.
    pub fn joints(&self) -> &MirrorJoints {
        &self.joints
    }

    /// The number of points of the mesh.
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

    /// Points of the covered side without a counterpart: they show their own rows.
    pub fn unmatched(&self) -> &PointSet {
        &self.unmatched
    }

    /// Writes the mirror image of `row` to `joints` and `weights`.
    pub(super) fn mirrored(&self, row: RowRef<'_>, joints: &mut Vec<u16>, weights: &mut Vec<f32>) {
        joints.clear();
        weights.clear();
        for (joint, weight) in row.iter() {
            let recipient = self.joints.recipients.get(usize::from(joint)).copied();
            let joint = recipient.unwrap_or(joint);
            // A joint without a counterpart passes its weight on.
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
