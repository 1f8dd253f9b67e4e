//! How corners are displaced in a pose.

use super::bases::adds;
use super::cooked::Cooked;
use crate::cluster::{Base, CornerFrame, CornerRow, Interpolation};
use crate::deform::stage::run::Run;
use glam::{DMat3, DVec3, Vec3};

/// What the corners have in a pose.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Mode {
    /// Their bases alone move them.
    #[default]
    Based,
    /// Later stages and layers displace them, and tilt them where they are coupled.
    Displaced,
    /// As [`Mode::Displaced`], in frames: those of interpolations that read more than tangents, and of positions alone.
    Framed,
}

/// The corners in a pose.
#[derive(Clone, Copy)]
pub(super) struct Posed<'a> {
    pub(super) run: &'a Run<'a>,
    pub(super) cooked: &'a Cooked,
    /// The shape of the stages before, n_points.
    pub(super) before: &'a [Vec3],
    /// One a corner: as their bases move them.
    pub(super) base: &'a [CornerRow],
}

impl Mode {
    pub(super) fn of(run: &Run<'_>, cooked: &Cooked) -> Self {
        let settings = run.input.clusters.map(|clusters| clusters.map.settings());
        let kind = settings.map(|settings| settings.interpolation);
        if kind != Some(Interpolation::TransportedBezier) || takes_positions(run, cooked) {
            Self::Framed
        } else if displaces(run, cooked) {
            Self::Displaced
        } else {
            Self::Based
        }
    }
}

impl Posed<'_> {
    /// A corner as its base moves it.
    pub(super) fn based(&self, corner: u32) -> CornerFrame {
        let on = (&self.cooked.corners, &self.cooked.patches);
        let row = &self.base[corner as usize];
        self.cooked
            .bases
            .frame(self.run, on, self.before, row, corner)
    }

    /// What later stages and layers add to a corner, world, metres.
    pub(super) fn added(&self, corner: u32) -> DVec3 {
        let follows = self.cooked.bases.of(corner) == Base::Stack && self.run.input.skin.is_some();
        let later = if follows && adds(self.run.input) {
            self.place(corner) - self.base[corner as usize].position().as_dvec3()
        } else {
            DVec3::ZERO
        };
        later + self.layered(corner)
    }

    /// What the layers add to a corner, world, metres.
    fn layered(&self, corner: u32) -> DVec3 {
        let layers = &self.cooked.layers;
        if !layers.moves(corner) {
            return DVec3::ZERO;
        }
        let plane = &self.cooked.patches.net().planes[corner as usize];
        layers.displacement(corner, &self.based(corner), plane)
    }

    /// Where the stages before have a corner.
    fn place(&self, corner: u32) -> DVec3 {
        let (point, _) = self.cooked.corners.points[corner as usize];
        self.before[point as usize].as_dvec3()
    }

    /// The gradient of `added`, one a corner, at a corner; zero where displacements tilt none.
    fn gradient(&self, corner: u32, added: &[DVec3]) -> DMat3 {
        if self.tilts() {
            self.cooked.patches.net().rings.gradient(corner, added)
        } else {
            DMat3::ZERO
        }
    }

    /// The frame of a corner: as its base moves it, with what is added to all of them.
    pub(super) fn frame(&self, corner: u32, added: &[DVec3]) -> CornerFrame {
        self.frame_with(corner, added[corner as usize], self.gradient(corner, added))
    }

    fn frame_with(&self, corner: u32, added: DVec3, gradient: DMat3) -> CornerFrame {
        let plane = &self.cooked.patches.net().planes[corner as usize];
        let mut frame = self.based(corner).displaced(plane, added, gradient);
        if self.cooked.bases.of(corner) == Base::Stack {
            // To the bit where the stages before have it.
            frame.position = self.place(corner) + self.layered(corner);
        }
        frame
    }

    /// As [`Posed::frame`], as the kernel reads it.
    pub(super) fn row(&self, corner: u32, added: &[DVec3]) -> CornerRow {
        let (own, gradient) = (added[corner as usize], self.gradient(corner, added));
        if own == DVec3::ZERO && gradient == DMat3::ZERO {
            return self.base[corner as usize];
        }
        let frame = self.frame_with(corner, own, gradient);
        self.cooked.patches.row_with_tangents(corner, &frame)
    }

    /// Whether displacements tilt the corners around them.
    pub(super) fn tilts(&self) -> bool {
        let settings = self
            .run
            .input
            .clusters
            .map(|clusters| clusters.map.settings());
        let couples = settings.is_some_and(|settings| settings.couples_normals);
        couples && displaces(self.run, self.cooked)
    }
}

/// Whether later stages or layers displace corners.
fn displaces(run: &Run<'_>, cooked: &Cooked) -> bool {
    adds(run.input) || cooked.layers.act()
}

/// Whether the frames of the corners follow from their positions alone: where that is chosen, and where layers move clusters
/// without a skin, which has no tangents.
pub(super) fn takes_positions(run: &Run<'_>, cooked: &Cooked) -> bool {
    let settings = run.input.clusters.map(|clusters| clusters.map.settings());
    settings.is_some_and(|settings| settings.positions_only)
        || run.input.skin.is_none() && cooked.layers.act()
}
