//! Moving, rotating and scaling bones: one state machine for gizmo drags and for the keys G, R and S.
//!
//! The way of the data: [`Transforming::begin`] with the shown pose -> pointer positions, axis keys and typed numbers ->
//! [`Transforming::apply`], which writes the posed joints into a copy of the pose. Each joint turns about its own head.

use super::typed::TypedNumber;
use super::{Handle, Screen};
use crate::document::session::{PoseSpace, TransformKind};
use crate::math::Transform;
use crate::skeleton::orientation::{orientation, turn_in_space};
use crate::skeleton::{JointIndex, Pose, Skeleton};
use glam::{DAffine3, DMat3, DQuat, DVec3, Vec2, Vec3};
use std::collections::BTreeSet;
use std::f64::consts::{PI, TAU};

/// An axis of a space.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Axis {
    /// Red.
    X,
    /// Green.
    Y,
    /// Blue.
    Z,
}

/// What is left free.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Constraint {
    /// In the plane of the view, about the view's axis, or all axes alike.
    Free,
    /// A turn as of a ball under the hand (of rotations only).
    Trackball,
    /// One axis.
    Axis(Axis),
    /// All but one axis.
    Plane(Axis),
}

/// How finely the pointer works.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Finesse {
    /// Ctrl: in steps.
    pub snap: bool,
    /// Shift: a tenth.
    pub precise: bool,
}

/// Degrees of a snapped step.
const SNAP_DEGREES: f64 = 5.0;
/// Factor of a snapped step.
const SNAP_SCALE: f64 = 0.1;
/// What Shift makes of each pixel.
const PRECISE: f64 = 0.1;
/// Turn of the trackball for one pixel, radians.
const TRACKBALL_PER_PX: f64 = 0.01;
/// A scale never comes closer to nothing.
const LEAST_SCALE: f64 = 1e-3;
/// Below this (cosine) a ring is seen from its edge and is pulled along its tangent.
const EDGE_ON: f32 = 0.2;

impl Axis {
    /// All three.
    pub const ALL: [Self; 3] = [Self::X, Self::Y, Self::Z];

    /// Its index.
    pub fn index(self) -> usize {
        self as usize
    }

    /// The letter of the axis.
    pub fn letter(self) -> &'static str {
        ["X", "Y", "Z"][self.index()]
    }

    /// Its direction.
    pub fn unit(self) -> DVec3 {
        [DVec3::X, DVec3::Y, DVec3::Z][self.index()]
    }

    /// The letters of the two others.
    pub fn others(self) -> &'static str {
        ["YZ", "XZ", "XY"][self.index()]
    }
}

impl TransformKind {
    /// The verb.
    pub fn verb(self) -> &'static str {
        match self {
            Self::Move => "Move",
            Self::Rotate => "Rotate",
            Self::Scale => "Scale",
        }
    }
}

impl PoseSpace {
    /// As it is read: "local".
    pub fn word(self) -> &'static str {
        match self {
            Self::Local => "local",
            Self::World => "world",
            Self::Parent => "parent",
        }
    }
}

/// A joint that is being transformed, as it was at the start.
#[derive(Clone, Debug)]
struct Subject {
    joint: JointIndex,
    start: Transform,
    /// How its own space lies in the world, orthonormal.
    own: DMat3,
    /// How its parent's space lies in the world: orthonormal, and as it is.
    parent: DMat3,
    parent_linear: DMat3,
}

/// How pointer positions become an angle.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Turning {
    /// The angle about the pivot as seen.
    Screen,
    /// The angle in the plane of a ring.
    Ring { axis: Vec3, zero: Vec3 },
    /// The way along the tangent where a ring seen from its edge was grabbed, in radii.
    Tangent { along_px: Vec2, radius_px: f32 },
}

/// A transform under way.
#[derive(Clone, Debug)]
pub struct Transforming {
    kind: TransformKind,
    constraint: Constraint,
    space: PoseSpace,
    /// The space that the artist has set: the first press of an axis key means it.
    set_space: PoseSpace,
    subjects: Vec<Subject>,
    /// Which subject the screen is measured at.
    active: usize,
    n_selected: usize,
    pivot: Vec3,
    turning: Turning,
    start_px: Vec2,
    last_px: Vec2,
    /// The pointer as it would be if Shift had not slowed it down.
    virtual_px: Vec2,
    turned: f64,
    snap: bool,
    precise: bool,
    typed: TypedNumber,
    screen: Screen,
}

impl Transforming {
    /// Starts on the joints of `selected` that have no selected ancestor; `None` where there is none.
    ///
    /// `world`: n_joints, of `pose`. `at_px`: where the pointer is. The free transform in `space`'s axes; a gizmo's handle
    /// is given with [`Transforming::grab`].
    pub fn begin(
        skeleton: &Skeleton,
        pose: &Pose,
        world: &[DAffine3],
        selected: &BTreeSet<JointIndex>,
        active: Option<JointIndex>,
        (kind, space): (TransformKind, PoseSpace),
        (screen, at_px): (Screen, Vec2),
    ) -> Option<Self> {
        let subjects: Vec<Subject> = topmost(skeleton, selected)
            .map(|joint| {
                let parent_linear = skeleton
                    .joint(joint)
                    .parent
                    .map_or(DMat3::IDENTITY, |p| world[p.get()].matrix3);
                Subject {
                    joint,
                    start: pose.locals[joint.get()],
                    own: orientation(world[joint.get()].matrix3),
                    parent: orientation(parent_linear),
                    parent_linear,
                }
            })
            .collect();
        // The active joint may hang below a selected one: then the one it moves with.
        let carries = |s: &Subject| {
            active.is_some_and(|a| a == s.joint || skeleton.ancestors(a).any(|j| j == s.joint))
        };
        let active = subjects.iter().position(carries).unwrap_or(0);
        let pivot = world[subjects.get(active)?.joint.get()]
            .translation
            .as_vec3();
        Some(Self {
            kind,
            constraint: Constraint::Free,
            space,
            set_space: space,
            subjects,
            active,
            n_selected: selected.len(),
            pivot,
            turning: Turning::Screen,
            start_px: at_px,
            last_px: at_px,
            virtual_px: at_px,
            turned: 0.0,
            snap: false,
            precise: false,
            typed: TypedNumber::default(),
            screen,
        })
    }

    /// Constrains it as a gizmo's handle does that was grabbed where the transform began.
    pub fn grab(&mut self, handle: Handle) {
        self.kind = handle.kind;
        self.constraint = handle.constraint;
        let (TransformKind::Rotate, Constraint::Axis(axis)) = (self.kind, self.constraint) else {
            return;
        };
        let axis = self.turn_axis(axis).as_vec3();
        let to_eye = self.screen.toward_eye(self.pivot);
        if axis.dot(to_eye).abs() < EDGE_ON {
            let centre = self.screen.project(self.pivot).unwrap_or(self.start_px);
            // The near side of the ring moves along axis x (to the eye).
            let tangent = axis.cross(to_eye) * self.screen.metres_per_px(self.pivot) * 10.0;
            let ahead = self.screen.project(self.pivot + tangent).unwrap_or(centre);
            self.turning = Turning::Tangent {
                along_px: (ahead - centre).normalize_or(Vec2::X),
                radius_px: super::gizmo::RADIUS_PX,
            };
        } else if let Some(zero) = self.on_plane(self.start_px, axis) {
            self.turning = Turning::Ring { axis, zero };
        }
    }

    /// What it does.
    pub fn kind(&self) -> TransformKind {
        self.kind
    }

    /// What is left free.
    pub fn constraint(&self) -> Constraint {
        self.constraint
    }

    /// The space that its axes are those of.
    pub fn space(&self) -> PoseSpace {
        self.space
    }

    /// The joints that it changes.
    pub fn joints(&self) -> impl Iterator<Item = JointIndex> + '_ {
        self.subjects.iter().map(|s| s.joint)
    }

    /// Where its axes meet on the screen: the head of the active joint at the start, world.
    pub fn pivot(&self) -> Vec3 {
        self.pivot
    }

    /// The directions of its axes, world, as at the start.
    pub fn axes(&self) -> [Vec3; 3] {
        let map = self.space_of(&self.subjects[self.active]);
        Axis::ALL.map(|axis| (map * axis.unit()).as_vec3())
    }

    /// What the undo step is called: "Rotate LeftForeArm", "Rotate 3 bones".
    pub fn label(&self, skeleton: &Skeleton) -> String {
        step_label(
            self.kind.verb(),
            skeleton,
            self.n_selected,
            self.subjects[0].joint,
        )
    }

    /// Follows the pointer.
    pub fn pointer(&mut self, at_px: Vec2, finesse: Finesse) {
        let factor = if finesse.precise { PRECISE } else { 1.0 };
        let delta = at_px - self.last_px;
        self.virtual_px += delta * factor as f32;
        self.turned += self.angle_between(self.last_px, at_px) * factor;
        self.last_px = at_px;
        self.snap = finesse.snap;
        self.precise = finesse.precise;
    }

    /// An axis key; `plane` with Shift. Pressed again it means the other space, a third time none.
    pub fn press_axis(&mut self, axis: Axis, plane: bool) {
        let constraint = if plane && self.kind != TransformKind::Rotate {
            Constraint::Plane(axis)
        } else {
            Constraint::Axis(axis)
        };
        self.release_ring();
        let other = match self.set_space {
            PoseSpace::World => PoseSpace::Local,
            PoseSpace::Local | PoseSpace::Parent => PoseSpace::World,
        };
        if self.constraint != constraint {
            self.constraint = constraint;
            self.space = self.set_space;
        } else if self.space == self.set_space {
            self.space = other;
        } else {
            self.constraint = Constraint::Free;
            self.space = self.set_space;
        }
    }

    /// The key of a kind while it runs: another kind starts over, R again turns as a ball.
    pub fn press_kind(&mut self, kind: TransformKind) {
        if kind == self.kind {
            self.constraint = match self.constraint {
                Constraint::Free if kind == TransformKind::Rotate => Constraint::Trackball,
                Constraint::Trackball => Constraint::Free,
                same => same,
            };
        } else {
            self.kind = kind;
            self.typed = TypedNumber::default();
            self.start_px = self.last_px;
            self.virtual_px = self.last_px;
            self.turned = 0.0;
            self.turning = Turning::Screen;
            if self.constraint == Constraint::Trackball
                || (kind == TransformKind::Rotate
                    && matches!(self.constraint, Constraint::Plane(_)))
            {
                self.constraint = Constraint::Free;
            }
        }
    }

    /// A character of a number; whether it is one.
    pub fn type_char(&mut self, c: char) -> bool {
        self.typed.push(c)
    }

    /// Takes the last character of the number back.
    pub fn backspace(&mut self) {
        self.typed.backspace();
    }

    /// Writes the transformed joints into `pose`, whose other joints are as at the start.
    pub fn apply(&self, pose: &mut Pose) {
        for subject in &self.subjects {
            pose.locals[subject.joint.get()] = self.transformed(subject);
        }
    }

    /// What is happening, to read near the pointer: "Rotate X (local) 45.0°".
    pub fn readout(&self) -> String {
        let typed = self.typed.text();
        let what = match self.constraint {
            Constraint::Free | Constraint::Trackball if typed.is_some() && self.is_move() => {
                format!(" X ({})", self.space.word())
            }
            Constraint::Free => String::new(),
            Constraint::Trackball => " freely".into(),
            Constraint::Axis(axis) => format!(" {} ({})", axis.letter(), self.space.word()),
            Constraint::Plane(axis) => format!(" {} ({})", axis.others(), self.space.word()),
        };
        let verb = self.kind.verb();
        match (self.kind, typed) {
            (TransformKind::Rotate, Some(text)) => format!("{verb}{what} {text}°"),
            (TransformKind::Move, Some(text)) => format!("{verb}{what} {text} m"),
            (TransformKind::Scale, Some(text)) => format!("{verb}{what} {text}"),
            (TransformKind::Rotate, None) if self.constraint == Constraint::Trackball => {
                format!("{verb}{what}")
            }
            (TransformKind::Rotate, None) => {
                format!("{verb}{what} {:.1}°", tidy(self.angle().to_degrees(), 0.05))
            }
            (TransformKind::Move, None) => {
                let way = self.way(&self.subjects[self.active]);
                let length = match self.constraint {
                    Constraint::Axis(axis) => {
                        (self.space_of(&self.subjects[self.active]) * axis.unit()).dot(way)
                    }
                    _ => way.length(),
                };
                format!("{verb}{what} {:.3} m", tidy(length, 5e-4))
            }
            (TransformKind::Scale, None) => format!("{verb}{what} {:.2}", self.factor()),
        }
    }

    fn is_move(&self) -> bool {
        self.kind == TransformKind::Move
    }

    /// From the axes of the transform to the world, for one joint; orthonormal.
    fn space_of(&self, subject: &Subject) -> DMat3 {
        match self.space {
            PoseSpace::Local => subject.own,
            PoseSpace::Parent => subject.parent,
            PoseSpace::World => DMat3::IDENTITY,
        }
    }

    /// The world axis that the active joint turns about for a positive angle: in a mirrored space the opposite one.
    fn turn_axis(&self, axis: Axis) -> DVec3 {
        let map = self.space_of(&self.subjects[self.active]);
        map * axis.unit() * map.determinant().signum()
    }

    /// Signed turn of the pointer between two places, radians.
    fn angle_between(&self, from_px: Vec2, to_px: Vec2) -> f64 {
        match self.turning {
            Turning::Screen => {
                let Some(centre) = self.screen.project(self.pivot) else {
                    return 0.0;
                };
                let (a, b) = ((from_px - centre).as_dvec2(), (to_px - centre).as_dvec2());
                if a.length() < 1.0 || b.length() < 1.0 {
                    return 0.0;
                }
                // y points down: counter-clockwise as seen is positive.
                wrapped(-a.perp_dot(b).atan2(a.dot(b)))
            }
            Turning::Ring { axis, zero } => {
                let angle = |px| {
                    let at = self.on_plane(px, axis)?;
                    let (x, y) = (zero - self.pivot, axis.cross(zero - self.pivot));
                    let at = at - self.pivot;
                    Some(f64::from(at.dot(y)).atan2(f64::from(at.dot(x))))
                };
                match (angle(from_px), angle(to_px)) {
                    (Some(a), Some(b)) => wrapped(b - a),
                    _ => 0.0,
                }
            }
            Turning::Tangent {
                along_px,
                radius_px,
            } => f64::from((to_px - from_px).dot(along_px) / radius_px),
        }
    }

    /// Where the pointer meets the plane through the pivot across `normal`.
    fn on_plane(&self, px: Vec2, normal: Vec3) -> Option<Vec3> {
        let ray = self.screen.ray(px);
        let slope = ray.direction.dot(normal);
        let along = (self.pivot - ray.origin).dot(normal) / slope;
        let at = ray.origin + ray.direction * along;
        (slope.abs() > 1e-4 && along > 0.0 && at.is_finite()).then_some(at)
    }

    /// Goes on from a ring as seen on the screen.
    fn release_ring(&mut self) {
        if self.turning != Turning::Screen {
            self.turned *= self.facing();
            self.turning = Turning::Screen;
        }
    }

    /// +1 where the axis of the turn points to the eye, else -1.
    fn facing(&self) -> f64 {
        match self.constraint {
            Constraint::Axis(axis) | Constraint::Plane(axis) => {
                let to_eye = self.screen.toward_eye(self.pivot).as_dvec3();
                if self.turn_axis(axis).dot(to_eye) < 0.0 {
                    -1.0
                } else {
                    1.0
                }
            }
            _ => 1.0,
        }
    }

    /// The angle of the rotation, radians.
    fn angle(&self) -> f64 {
        if let Some(degrees) = self.typed.value() {
            return degrees.to_radians();
        }
        let turned = match self.turning {
            Turning::Screen => self.turned * self.facing(),
            _ => self.turned,
        };
        if self.snap {
            snapped(turned.to_degrees(), self.step(SNAP_DEGREES)).to_radians()
        } else {
            turned
        }
    }

    /// The factor of the scale.
    fn factor(&self) -> f64 {
        let factor = match (self.typed.value(), self.constraint) {
            (Some(typed), _) => typed,
            (None, Constraint::Axis(axis)) if self.is_on_axis(axis) => {
                let radius = super::gizmo::RADIUS_PX * self.screen.metres_per_px(self.pivot);
                let axis = self.space_of(&self.subjects[self.active]) * axis.unit();
                1.0 + self.along_axis(axis) / f64::from(radius)
            }
            _ => {
                let centre = self.screen.project(self.pivot).unwrap_or(self.start_px);
                let before = self.start_px.distance(centre);
                let least = 8.0;
                if before < least {
                    // Grabbed in the middle: to the right is larger.
                    let along = self.virtual_px.x - self.start_px.x;
                    f64::from(1.0 + along / super::gizmo::RADIUS_PX)
                } else {
                    f64::from(self.virtual_px.distance(centre) / before)
                }
            }
        };
        let factor = if self.snap && self.typed.value().is_none() {
            snapped(factor, self.step(SNAP_SCALE))
        } else {
            factor
        };
        if self.typed.value().is_some() && factor.abs() >= LEAST_SCALE {
            return factor;
        }
        factor.max(LEAST_SCALE)
    }

    /// Whether the pointer began on the side of an axis, as on a handle of it.
    fn is_on_axis(&self, axis: Axis) -> bool {
        let axis = (self.space_of(&self.subjects[self.active]) * axis.unit()).as_vec3();
        let to_eye = self.screen.toward_eye(self.pivot);
        let tip =
            self.pivot + axis * self.screen.metres_per_px(self.pivot) * super::gizmo::RADIUS_PX;
        let tip = self.screen.project(tip);
        axis.dot(to_eye).abs() < 0.98 && tip.is_some_and(|tip| tip.distance(self.start_px) < 16.0)
    }

    /// How far the pointer went along the line through the pivot, metres.
    fn along_axis(&self, axis: DVec3) -> f64 {
        let axis_f = axis.as_vec3();
        let at = |px: Vec2| {
            // The place of the line that is nearest to the ray.
            let ray = self.screen.ray(px);
            let slope = axis_f.dot(ray.direction);
            let from = ray.origin - self.pivot;
            let across = 1.0 - slope * slope;
            (across > 2.5e-3)
                .then(|| f64::from((axis_f.dot(from) - slope * ray.direction.dot(from)) / across))
        };
        match (at(self.start_px), at(self.virtual_px)) {
            (Some(a), Some(b)) => b - a,
            // The line points at the eye: up is away.
            _ => {
                let up = self.start_px.y - self.virtual_px.y;
                let to_eye = self.screen.toward_eye(self.pivot);
                f64::from(-up * self.screen.metres_per_px(self.pivot) * axis_f.dot(to_eye).signum())
            }
        }
    }

    /// The way of a move in the world, for one joint, metres.
    fn way(&self, subject: &Subject) -> DVec3 {
        let map = self.space_of(subject);
        let typed = self.typed.value();
        let step = self.step(self.move_step());
        let snap = |v: f64| {
            if self.snap { snapped(v, step) } else { v }
        };
        // Measured at the active joint; each goes the same way along its own axes.
        let measured = self.space_of(&self.subjects[self.active]);
        match (self.constraint, typed) {
            (Constraint::Axis(axis), typed) => {
                let along = typed.unwrap_or_else(|| snap(self.along_axis(measured * axis.unit())));
                map * axis.unit() * along
            }
            (Constraint::Plane(axis), Some(typed)) => {
                let first = Axis::ALL[usize::from(axis == Axis::X)];
                map * first.unit() * typed
            }
            (_, Some(typed)) => map * DVec3::X * typed,
            (Constraint::Plane(axis), None) => {
                let normal = (measured * axis.unit()).as_vec3();
                let facing = normal.dot(self.screen.toward_eye(self.pivot)).abs();
                let pair = if facing > 0.05 {
                    self.on_plane(self.start_px, normal)
                        .zip(self.on_plane(self.virtual_px, normal))
                } else {
                    None
                };
                let way = pair.map_or_else(|| self.in_view(), |(a, b)| (b - a).as_dvec3());
                let mut inside = measured.transpose() * way;
                inside[axis.index()] = 0.0;
                map * DVec3::new(snap(inside.x), snap(inside.y), snap(inside.z))
            }
            (Constraint::Free | Constraint::Trackball, None) => {
                let way = self.in_view();
                DVec3::new(snap(way.x), snap(way.y), snap(way.z))
            }
        }
    }

    /// The pointer's way in the plane of the view at the depth of the pivot, metres.
    fn in_view(&self) -> DVec3 {
        let delta = (self.virtual_px - self.start_px) * self.screen.metres_per_px(self.pivot);
        let camera = &self.screen.camera;
        (camera.right() * delta.x - camera.up() * delta.y).as_dvec3()
    }

    /// A tenth of the power of ten that the view is high.
    fn move_step(&self) -> f64 {
        let height = f64::from(self.screen.metres_per_px(self.pivot) * self.screen.size_px.y);
        0.1 * 10f64.powf(height.max(1e-9).log10().floor())
    }

    fn step(&self, step: f64) -> f64 {
        if self.precise { step * PRECISE } else { step }
    }

    fn transformed(&self, subject: &Subject) -> Transform {
        let mut local = subject.start;
        match self.kind {
            TransformKind::Rotate => local.rotation = self.rotated(subject),
            TransformKind::Move => {
                let way = self.way(subject);
                if way != DVec3::ZERO {
                    let linear = subject.parent_linear;
                    let inside = if linear.determinant().abs() > 1e-30 {
                        linear.inverse() * way
                    } else {
                        subject.parent.transpose() * way
                    };
                    local.translation += inside;
                }
            }
            TransformKind::Scale => {
                let scale = self.scale(subject);
                if scale != DVec3::ONE {
                    local.stretch *= DMat3::from_diagonal(scale);
                }
            }
        }
        if local.is_finite() {
            local
        } else {
            subject.start
        }
    }

    fn rotated(&self, subject: &Subject) -> DQuat {
        let start = subject.start.rotation;
        let in_world = |turn: DQuat| turn_in_space(subject.parent, turn) * start;
        match self.constraint {
            Constraint::Axis(axis) | Constraint::Plane(axis) => {
                let angle = self.angle();
                if angle == 0.0 {
                    return start;
                }
                let turn = DQuat::from_axis_angle(axis.unit(), angle);
                match self.space {
                    PoseSpace::Local => start * turn,
                    PoseSpace::Parent => turn * start,
                    PoseSpace::World => in_world(turn),
                }
            }
            Constraint::Free => {
                let angle = self.angle();
                if angle == 0.0 {
                    return start;
                }
                let axis = self.screen.toward_eye(self.pivot).as_dvec3();
                in_world(DQuat::from_axis_angle(axis.normalize_or(DVec3::Z), angle))
            }
            Constraint::Trackball => {
                let delta = (self.virtual_px - self.start_px).as_dvec2() * TRACKBALL_PER_PX;
                let camera = &self.screen.camera;
                let about = camera.up().as_dvec3() * delta.x + camera.right().as_dvec3() * delta.y;
                if about == DVec3::ZERO {
                    return start;
                }
                in_world(DQuat::from_scaled_axis(about))
            }
        }
    }

    /// The factors along the joint's own axes.
    fn scale(&self, subject: &Subject) -> DVec3 {
        let factor = self.factor();
        let along = |axis: Axis, wanted: f64| {
            if self.space == PoseSpace::Local {
                let mut scale = DVec3::ONE;
                scale[axis.index()] = wanted;
                return scale;
            }
            // Without shear: what of each own axis lies along the wanted one.
            let share = subject.own.transpose() * (self.space_of(subject) * axis.unit());
            DVec3::ONE + share * share * (wanted - 1.0)
        };
        match self.constraint {
            Constraint::Free | Constraint::Trackball => DVec3::splat(factor),
            Constraint::Axis(axis) => along(axis, factor),
            Constraint::Plane(axis) => Axis::ALL
                .into_iter()
                .filter(|&a| a != axis)
                .map(|a| along(a, factor))
                .fold(DVec3::ONE, |all, one| all * one),
        }
    }
}

/// The joints of `selected` without a selected ancestor, ascending: children follow their parents.
pub fn topmost<'a>(
    skeleton: &'a Skeleton,
    selected: &'a BTreeSet<JointIndex>,
) -> impl Iterator<Item = JointIndex> + 'a {
    let inside = selected.iter().filter(|j| j.get() < skeleton.len());
    inside
        .filter(|&&joint| !skeleton.ancestors(joint).any(|a| selected.contains(&a)))
        .copied()
}

/// The name of an undo step over some joints: "Rotate LeftForeArm", "Rotate 3 bones".
pub fn step_label(verb: &str, skeleton: &Skeleton, n_joints: usize, first: JointIndex) -> String {
    if n_joints == 1 {
        format!("{verb} {}", skeleton.label(first))
    } else {
        format!("{verb} {n_joints} bones")
    }
}

fn wrapped(angle: f64) -> f64 {
    (angle + PI).rem_euclid(TAU) - PI
}

fn snapped(value: f64, step: f64) -> f64 {
    (value / step).round() * step
}

/// Without the minus of a number that reads as zero.
fn tidy(value: f64, least: f64) -> f64 {
    if value.abs() < least { 0.0 } else { value }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Camera;
    use crate::math::camera::View;
    use crate::skeleton::Joint;

    const SIZE: Vec2 = Vec2::new(800.0, 600.0);

    /// Three joints in a row along y, the second turned by a third about an odd axis, the last scaled.
    fn chain() -> (Skeleton, Pose) {
        let joint = |parent: Option<u32>, translation, rotation, scale| Joint {
            name: format!("Bone{}", parent.map_or(0, |p| p + 1)),
            parent: parent.map(JointIndex),
            rest: Transform::from_trs(translation, rotation, scale),
            source_node: None,
        };
        let odd = DQuat::from_xyzw(0.5, 0.5, 0.5, 0.5);
        let skeleton = Skeleton::new(vec![
            joint(None, DVec3::ZERO, DQuat::IDENTITY, DVec3::ONE),
            joint(Some(0), DVec3::Y, odd, DVec3::ONE),
            joint(Some(1), DVec3::X, DQuat::IDENTITY, DVec3::splat(2.0)),
        ])
        .unwrap();
        let pose = Pose::rest(&skeleton);
        (skeleton, pose)
    }

    fn begin(kind: TransformKind, space: PoseSpace, joints: &[u32], at: Vec2) -> Transforming {
        let (skeleton, pose) = chain();
        let world = pose.world_matrices(&skeleton);
        let screen = Screen::new(Camera::looking(View::Front), SIZE);
        let selected = joints.iter().map(|&j| JointIndex(j)).collect();
        Transforming::begin(
            &skeleton,
            &pose,
            &world,
            &selected,
            None,
            (kind, space),
            (screen, at),
        )
        .unwrap()
    }

    fn applied(tool: &Transforming) -> Pose {
        let (_, mut pose) = chain();
        tool.apply(&mut pose);
        pose
    }

    fn typed(tool: &mut Transforming, text: &str) {
        for c in text.chars() {
            assert!(tool.type_char(c));
        }
    }

    #[test]
    fn a_typed_rotation_is_exact_in_each_space() {
        let (_, rest) = chain();
        let before = rest.locals[1].rotation;
        let quarter = DQuat::from_axis_angle(DVec3::X, 90f64.to_radians());
        for (space, expected) in [
            (PoseSpace::Local, before * quarter),
            (PoseSpace::Parent, quarter * before),
            // The parent is not turned.
            (PoseSpace::World, quarter * before),
        ] {
            let mut tool = begin(TransformKind::Rotate, space, &[1], Vec2::ZERO);
            tool.press_axis(Axis::X, false);
            typed(&mut tool, "90");
            assert_eq!(applied(&tool).locals[1].rotation, expected, "{space:?}");
            assert_eq!(tool.readout(), format!("Rotate X ({}) 90°", space.word()));
        }
    }

    #[test]
    fn axis_keys_go_round_between_the_set_space_the_other_and_none() {
        let mut tool = begin(TransformKind::Rotate, PoseSpace::Local, &[1], Vec2::ZERO);
        let mut pressed = |axis| {
            tool.press_axis(axis, false);
            (tool.constraint(), tool.space())
        };
        let x = Constraint::Axis(Axis::X);
        assert_eq!(pressed(Axis::X), (x, PoseSpace::Local));
        assert_eq!(pressed(Axis::X), (x, PoseSpace::World));
        assert_eq!(pressed(Axis::X), (Constraint::Free, PoseSpace::Local));
        let y = Constraint::Axis(Axis::Y);
        assert_eq!(pressed(Axis::Y), (y, PoseSpace::Local));
        assert_eq!(pressed(Axis::X), (x, PoseSpace::Local));
    }

    #[test]
    fn children_of_selected_joints_only_follow() {
        let mut tool = begin(TransformKind::Rotate, PoseSpace::Local, &[0, 2], Vec2::ZERO);
        tool.press_axis(Axis::Z, false);
        typed(&mut tool, "10");
        let (skeleton, rest) = chain();
        let pose = applied(&tool);
        assert_ne!(pose.locals[0], rest.locals[0]);
        assert_eq!(pose.locals[2], rest.locals[2]);
        assert_eq!(tool.label(&skeleton), "Rotate 2 bones");
    }

    #[test]
    fn a_typed_move_is_in_metres_of_the_world_under_any_parent() {
        let (skeleton, _) = chain();
        let place = |pose: &Pose| pose.world_matrices(&skeleton)[2].translation;
        let (_, rest) = chain();
        for (space, axis, expected) in [
            (PoseSpace::World, Axis::Y, DVec3::Y),
            // The second joint's turn takes x to y, y to z and z to x.
            (PoseSpace::Local, Axis::X, DVec3::Y),
            (PoseSpace::Parent, Axis::Z, DVec3::X),
        ] {
            let mut tool = begin(TransformKind::Move, space, &[2], Vec2::ZERO);
            tool.press_axis(axis, false);
            typed(&mut tool, "-.25");
            let way = place(&applied(&tool)) - place(&rest);
            assert!(way.abs_diff_eq(expected * -0.25, 1e-12), "{space:?}: {way}");
        }
    }

    #[test]
    fn scale_keeps_clear_of_shear_and_of_nothing() {
        let mut tool = begin(TransformKind::Scale, PoseSpace::World, &[1], Vec2::ZERO);
        tool.press_axis(Axis::Y, false);
        typed(&mut tool, "3");
        // The world's y is the joint's x.
        let scale = applied(&tool).locals[1].scale();
        assert!(
            scale.abs_diff_eq(DVec3::new(3.0, 1.0, 1.0), 1e-12),
            "{scale}"
        );
        tool.backspace();
        typed(&mut tool, "0");
        assert!(applied(&tool).locals[1].stretch.determinant() > 0.0);
        let mut tool = begin(TransformKind::Scale, PoseSpace::Local, &[1], Vec2::ZERO);
        tool.press_axis(Axis::Z, true);
        typed(&mut tool, "2");
        assert_eq!(applied(&tool).locals[1].scale(), DVec3::new(2.0, 2.0, 1.0));
    }

    #[test]
    fn the_pointer_turns_about_the_eye_and_in_steps_or_tenths() {
        // The first joint is seen in the middle.
        let middle = SIZE * 0.5;
        let turn = |finesse: Finesse, axis: Option<Axis>| {
            let at = middle + Vec2::new(100.0, 0.0);
            let mut tool = begin(TransformKind::Rotate, PoseSpace::World, &[0], at);
            if let Some(axis) = axis {
                tool.press_axis(axis, false);
            }
            for degrees in 1..=33 {
                let angle = (degrees as f32).to_radians();
                // Counter-clockwise as seen.
                let at = Vec2::new(angle.cos(), -angle.sin()) * 100.0;
                tool.pointer(middle + at, finesse);
            }
            let (axis, angle) = applied(&tool).locals[0].rotation.to_axis_angle();
            (axis * angle.to_degrees(), tool.readout())
        };
        let plain = Finesse::default();
        let snap = Finesse {
            snap: true,
            ..plain
        };
        let precise = Finesse {
            precise: true,
            ..plain
        };
        let (free, text) = turn(plain, None);
        assert!(free.abs_diff_eq(DVec3::Z * 33.0, 1e-3), "{free}");
        assert_eq!(text, "Rotate 33.0°");
        let (snapped, _) = turn(snap, Some(Axis::Z));
        assert!(snapped.abs_diff_eq(DVec3::Z * 35.0, 1e-9), "{snapped}");
        let (tenth, text) = turn(precise, Some(Axis::Z));
        assert!(tenth.abs_diff_eq(DVec3::Z * 3.3, 1e-3), "{tenth}");
        assert_eq!(text, "Rotate Z (world) 3.3°");
    }

    #[test]
    fn a_ring_seen_from_its_edge_follows_its_tangent() {
        // Seen from the front, the near side of the ring about y goes right for a positive turn.
        let middle = SIZE * 0.5;
        let mut tool = begin(TransformKind::Rotate, PoseSpace::World, &[0], middle);
        tool.grab(Handle {
            kind: TransformKind::Rotate,
            constraint: Constraint::Axis(Axis::Y),
        });
        tool.pointer(middle + Vec2::new(45.0, 0.0), Finesse::default());
        let turn = applied(&tool).locals[0].rotation.to_scaled_axis();
        assert!(turn.abs_diff_eq(DVec3::Y * 0.5, 1e-5), "{turn}");
    }

    #[test]
    fn what_is_moved_freely_stays_under_the_pointer() {
        let (skeleton, rest) = chain();
        let world = rest.world_matrices(&skeleton);
        let screen = Screen::new(Camera::looking(View::ThreeQuarter), SIZE);
        let selected = BTreeSet::from([JointIndex(2)]);
        let start = screen.project(world[2].translation.as_vec3()).unwrap();
        let kind = (TransformKind::Move, PoseSpace::Local);
        let mut tool = Transforming::begin(
            &skeleton,
            &rest,
            &world,
            &selected,
            None,
            kind,
            (screen, start),
        )
        .unwrap();
        let to = start + Vec2::new(37.0, -21.0);
        tool.pointer(to, Finesse::default());
        let mut pose = rest.clone();
        tool.apply(&mut pose);
        let at = pose.world_matrices(&skeleton)[2].translation.as_vec3();
        let seen = screen.project(at).unwrap();
        assert!(seen.distance(to) < 0.1, "{seen} {to}");
        // Along an axis it stays on the axis.
        tool.press_axis(Axis::X, false);
        tool.press_axis(Axis::X, false);
        tool.apply(&mut pose);
        let way = pose.world_matrices(&skeleton)[2].translation - world[2].translation;
        assert!(
            way.x.abs() > 0.01 && way.y.abs().max(way.z.abs()) < 1e-12,
            "{way}"
        );
    }
}
