//! Moving, rotating and scaling bones and vertices: one state machine for gizmo drags and for the keys G, R and S.
//!
//! Data flow: [`Transforming::begin`] with the shown pose -> pointer positions, axis keys and typed numbers ->
//! [`Transforming::apply`], which writes the posed joints into a copy of the pose. Each joint rotates about its own
//! head. [`Transforming::of_points`] instead yields one map of the world, [`Transforming::point_map`].

mod measure;
mod point_map;

use super::typed::TypedNumber;
use super::{Axis, Constraint, Handle, Screen};
use crate::document::session::{PoseSpace, TransformKind};
use crate::finding::counted;
use crate::math::Transform;
use crate::skeleton::orientation::{orientation, parent_world_of};
use crate::skeleton::{JointId, Pose, Skeleton};
use glam::{DAffine3, DMat3, Vec2, Vec3};
use measure::{EDGE_ON, PRECISE, tidy};
pub use point_map::PointMap;
use std::collections::BTreeSet;

/// The precision of the pointer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PointerPrecision {
    /// Ctrl: in steps.
    pub snap: bool,
    /// Shift: a tenth.
    pub precise: bool,
}

impl TransformKind {
    /// The verb in labels.
    pub fn verb(self) -> &'static str {
        match self {
            Self::Move => "Move",
            Self::Rotate => "Rotate",
            Self::Scale => "Scale",
        }
    }
}

impl PoseSpace {
    /// Its name within labels: "local".
    pub fn word(self) -> &'static str {
        match self {
            Self::Local => "local",
            Self::World => "global",
            Self::Parent => "parent",
        }
    }
}

/// A transformed joint, or the pivot of transformed points, with its state at the start.
#[derive(Clone, Debug)]
struct Subject {
    /// `None` for points.
    joint: Option<JointId>,
    start: Transform,
    /// The orientation of its own space in the world, orthonormal.
    own: DMat3,
    /// The linear map of its parent's space to the world: orthonormal, and with scale.
    parent: DMat3,
    parent_linear: DMat3,
}

/// How pointer positions are converted to an angle.
#[derive(Clone, Copy, Debug, PartialEq)]
enum AngleSource {
    /// The angle about the pivot on the screen.
    Screen,
    /// The angle in the plane of a ring.
    Ring { axis: Vec3, zero: Vec3 },
    /// The displacement along the tangent where an edge-on ring was grabbed, in radii.
    Tangent { along_px: Vec2, radius_px: f32 },
}

/// A transform in progress.
#[derive(Clone, Debug)]
pub struct Transforming {
    kind: TransformKind,
    constraint: Constraint,
    space: PoseSpace,
    /// The transform orientation of the settings: the first press of an axis key uses it.
    set_space: PoseSpace,
    subjects: Vec<Subject>,
    /// The subject at which the screen is measured.
    active: usize,
    n_selected: usize,
    pivot: Vec3,
    turning: AngleSource,
    start_px: Vec2,
    last_px: Vec2,
    /// The pointer with the slow movement of Shift applied.
    virtual_px: Vec2,
    turned: f64,
    snap: bool,
    precise: bool,
    typed: TypedNumber,
    screen: Screen,
    /// What the readout calls it.
    named: Option<&'static str>,
}

impl Transforming {
    /// Starts on the joints of `selected` that have no selected ancestor; `None` if there is none.
    ///
    /// `world`: n_joints, of `pose`. `at_px`: the position of the pointer. Starts unconstrained, in the axes of
    /// `space`; [`Transforming::grab`] constrains it to a handle of the gizmo.
    pub fn begin(
        skeleton: &Skeleton,
        pose: &Pose,
        world: &[DAffine3],
        selected: &BTreeSet<JointId>,
        active: Option<JointId>,
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
                    joint: Some(joint),
                    start: pose.locals[joint.get()],
                    own: orientation(world[joint.get()].matrix3),
                    parent: orientation(parent_world_of(skeleton, pose, joint).matrix3),
                    parent_linear,
                }
            })
            .collect();
        // The active joint may be a descendant of a selected one: then that one.
        let carries = |s: &Subject| {
            let mut path = active
                .into_iter()
                .chain(active.into_iter().flat_map(|a| skeleton.ancestors(a)));
            path.any(|joint| s.joint == Some(joint))
        };
        let active = subjects.iter().position(carries).unwrap_or(0);
        let pivot = world[subjects.get(active)?.joint?.get()].translation;
        let subjects = (subjects, active, selected.len());
        Some(Self::on(
            subjects,
            pivot.as_vec3(),
            (kind, space),
            (screen, at_px),
        ))
    }

    /// Starts on `n_points` points about `pivot`, world. `normal`: the direction of the local z axis, unit.
    pub fn of_points(
        n_points: usize,
        (pivot, normal): (Vec3, Vec3),
        (kind, space): (TransformKind, PoseSpace),
        (screen, at_px): (Screen, Vec2),
    ) -> Self {
        let subject = Subject {
            joint: None,
            start: Transform::IDENTITY,
            own: point_map::frame(normal),
            parent: DMat3::IDENTITY,
            parent_linear: DMat3::IDENTITY,
        };
        let subjects = (vec![subject], 0, n_points);
        Self::on(subjects, pivot, (kind, space), (screen, at_px))
    }

    /// The directions of the axes of [`Transforming::of_points`] in an orientation, world.
    pub fn axes_of_points(space: PoseSpace, normal: Vec3) -> [Vec3; 3] {
        let map = match space {
            PoseSpace::Local => point_map::frame(normal),
            PoseSpace::World | PoseSpace::Parent => DMat3::IDENTITY,
        };
        Axis::ALL.map(|axis| (map * axis.unit()).as_vec3())
    }

    fn on(
        (subjects, active, n_selected): (Vec<Subject>, usize, usize),
        pivot: Vec3,
        (kind, space): (TransformKind, PoseSpace),
        (screen, at_px): (Screen, Vec2),
    ) -> Self {
        Self {
            kind,
            constraint: Constraint::Free,
            space,
            set_space: space,
            subjects,
            active,
            n_selected,
            pivot,
            turning: AngleSource::Screen,
            start_px: at_px,
            last_px: at_px,
            virtual_px: at_px,
            turned: 0.0,
            snap: false,
            precise: false,
            typed: TypedNumber::default(),
            screen,
            named: None,
        }
    }

    /// The transform, called `verb` in its readout instead of its kind and axis.
    #[must_use]
    pub fn called(mut self, verb: &'static str) -> Self {
        self.named = Some(verb);
        self
    }

    /// Constrains it to the gizmo's handle that was grabbed at the start.
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
            // The near side of the ring moves along the cross product of axis and view direction.
            let tangent = axis.cross(to_eye) * self.screen.metres_per_px(self.pivot) * 10.0;
            let ahead = self.screen.project(self.pivot + tangent).unwrap_or(centre);
            self.turning = AngleSource::Tangent {
                along_px: (ahead - centre).normalize_or(Vec2::X),
                radius_px: super::gizmo::radius_px(&self.screen),
            };
        } else if let Some(zero) = self.on_plane(self.start_px, axis) {
            self.turning = AngleSource::Ring { axis, zero };
        }
    }

    /// Its kind.
    pub fn kind(&self) -> TransformKind {
        self.kind
    }

    /// The constraint.
    pub fn constraint(&self) -> Constraint {
        self.constraint
    }

    /// The transform orientation.
    pub fn space(&self) -> PoseSpace {
        self.space
    }

    /// The joints that it changes.
    pub fn joints(&self) -> impl Iterator<Item = JointId> + '_ {
        self.subjects.iter().filter_map(|s| s.joint)
    }

    /// The pivot: the head of the active joint at the start, or that of the points, world.
    pub fn pivot(&self) -> Vec3 {
        self.pivot
    }

    /// The directions of its axes at the start, world.
    pub fn axes(&self) -> [Vec3; 3] {
        let map = self.space_of(&self.subjects[self.active]);
        Axis::ALL.map(|axis| (map * axis.unit()).as_vec3())
    }

    /// The name of the undo step: "Rotate LeftForeArm", "Rotate 3 bones", "Move 12 vertices".
    pub fn label(&self, skeleton: &Skeleton) -> String {
        let verb = self.kind.verb();
        match self.subjects[0].joint {
            Some(joint) => step_label(verb, skeleton, self.n_selected, joint),
            None => format!("{verb} {}", counted(self.n_selected, "vertex")),
        }
    }

    /// Follows the pointer.
    pub fn pointer(&mut self, at_px: Vec2, precision: PointerPrecision) {
        let factor = if precision.precise { PRECISE } else { 1.0 };
        let delta = at_px - self.last_px;
        self.virtual_px += delta * factor as f32;
        self.turned += self.angle_between(self.last_px, at_px) * factor;
        self.last_px = at_px;
        self.snap = precision.snap;
        self.precise = precision.precise;
    }

    /// An axis key; `plane` with Shift. Pressed again it uses the other orientation, a third time no constraint.
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

    /// The key of a transform kind during the transform: another kind restarts it, R again selects the trackball.
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
            self.turning = AngleSource::Screen;
            if self.constraint == Constraint::Trackball
                || (kind == TransformKind::Rotate
                    && matches!(self.constraint, Constraint::Plane(_)))
            {
                self.constraint = Constraint::Free;
            }
        }
    }

    /// Adds a character of a number; returns whether it is part of one.
    pub fn type_char(&mut self, c: char) -> bool {
        self.typed.push(c)
    }

    /// Removes the last character of the number.
    pub fn backspace(&mut self) {
        self.typed.backspace();
    }

    /// Writes the transformed joints into `pose`, whose other joints are as at the start.
    pub fn apply(&self, pose: &mut Pose) {
        for subject in &self.subjects {
            if let Some(joint) = subject.joint {
                pose.locals[joint.get()] = self.transformed(subject);
            }
        }
    }

    /// The readout near the pointer: "Rotate X (local) 45.0°".
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
        let what = if self.named.is_some() {
            String::new()
        } else {
            what
        };
        let verb = self.named.unwrap_or(self.kind.verb());
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
                let translation = self.translation(&self.subjects[self.active]);
                let length = match self.constraint {
                    Constraint::Axis(axis) => {
                        (self.space_of(&self.subjects[self.active]) * axis.unit()).dot(translation)
                    }
                    _ => translation.length(),
                };
                format!("{verb}{what} {:.3} m", tidy(length, 5e-4))
            }
            (TransformKind::Scale, None) => format!("{verb}{what} {:.2}", self.factor()),
        }
    }
}

/// The joints of `selected` without a selected ancestor, ascending: children follow their parents.
pub fn topmost<'a>(
    skeleton: &'a Skeleton,
    selected: &'a BTreeSet<JointId>,
) -> impl Iterator<Item = JointId> + 'a {
    let inside = selected.iter().filter(|&&j| skeleton.is_live(j));
    inside
        .filter(|&&joint| !skeleton.ancestors(joint).any(|a| selected.contains(&a)))
        .copied()
}

/// The name of an undo step over some joints: "Rotate LeftForeArm", "Rotate 3 bones".
pub fn step_label(verb: &str, skeleton: &Skeleton, n_joints: usize, first: JointId) -> String {
    if n_joints == 1 {
        format!("{verb} {}", skeleton.label(first))
    } else {
        format!("{verb} {n_joints} bones")
    }
}

#[cfg(test)]
mod tests;
