//! The settings of a muscle: its bone, its shape around and along it, and how it grows with the bend.

use super::ClustersPanel;
use super::flexion::flexion_ui;
use crate::cluster::MuscleLayer;
use crate::cluster::procedural::{
    CurveSettings, EnvelopeShape, MuscleDirection, MuscleSettings, Profile,
};
use crate::editor::Editor;
use crate::editor::clusters::MuscleSite;
use crate::view::panels::correctives::fields::{Number, named_ui, pick_ui};
use egui::Ui;
use glam::{DQuat, DVec3};

/// The widths of the two fields of a row, points.
const HALF: f32 = 72.0;

/// The place of the origin and the insertion of a new spindle, in lengths of the bone from the joint.
const SPINDLE: [f64; 2] = [0.9, 0.15];

const PROFILES: [(bool, &str, &str); 2] = [
    (
        false,
        "Cosine",
        "cos\u{b2}: full in the centre and exactly 0 from the reach on.",
    ),
    (
        true,
        "Gaussian",
        "Gaussian: the reach is its standard deviation.",
    ),
];

const DIRECTIONS: [(MuscleDirection, &str, &str); 2] = [
    (
        MuscleDirection::Normal,
        "Normal",
        "Clusters move along their normals at bind.",
    ),
    (
        MuscleDirection::Radial,
        "Radial",
        "Clusters move straight away from the bone.",
    ),
];

/// A course of the strength.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Course {
    Smootherstep,
    Curve,
    Spindle,
}

const COURSES: [(Course, &str, &str); 3] = [
    (
        Course::Smootherstep,
        "Smootherstep",
        "An even rise from the start to the end of the angle range.",
    ),
    (
        Course::Curve,
        "Curve",
        "Your own curve over the angle range: monotone cubic, so that it never overshoots its points.",
    ),
    (
        Course::Spindle,
        "Spindle",
        "A muscle of constant volume between its origin and its insertion: it thickens as it shortens. The amount is \
         then the radius of the muscle.",
    ),
];

impl ClustersPanel {
    /// Draws the settings of a muscle.
    pub(super) fn muscle_ui(
        &mut self,
        ui: &mut Ui,
        editor: &mut Editor,
        index: usize,
        muscle: &MuscleLayer,
    ) {
        bone_ui(ui, editor, index, muscle);
        let settings = &muscle.settings;
        self.amount_ui(ui, editor, index, settings);
        self.along_ui(ui, editor, index, settings);
        self.around_ui(ui, editor, index, settings);
        self.course_ui(ui, editor, index, settings);
        self.strength_ui(ui, editor, muscle);
        let mut keeps = settings.preserve_volume;
        let about = "The other clusters beside the bone sink, so that the volume of the limb stays the same to first order.";
        let response = ui.checkbox(&mut keeps, "Preserve volume");
        if response.on_hover_text(about).changed() {
            editor.set_muscle(index, "Preserve volume", |s| s.preserve_volume = keeps);
        }
    }

    fn number_ui(
        &mut self,
        ui: &mut Ui,
        editor: &mut Editor,
        number: &Number<'_>,
        shown: f64,
    ) -> Option<f64> {
        number.show_step_ui(ui, &mut self.is_dragging, editor, shown)
    }

    fn amount_ui(&mut self, ui: &mut Ui, editor: &mut Editor, index: usize, s: &MuscleSettings) {
        let about = "How far the muscle bulges at full strength: in metres, and as a part of the radius of the limb at \
                     bind. Below 0 it caves in.";
        let radius = editor.muscle_site().map(|site| site.radius);
        named_ui(ui, "Amount", about, |ui| {
            ui.spacing_mut().interact_size.x = HALF;
            let step = radius.unwrap_or(1.0) * 0.002;
            let metres = Number {
                label: "Amount",
                range: -1e6..=1e6,
                speed: step,
                decimals: decimals(radius),
                suffix: " m",
                about,
                step: "Amount of muscle",
            };
            let mut wanted = self.number_ui(ui, editor, &metres, s.amplitude);
            if let Some(radius) = radius {
                let percent = Number {
                    label: "Amount of the radius",
                    range: -1000.0..=1000.0,
                    speed: 0.25,
                    decimals: 1,
                    suffix: " %",
                    ..metres
                };
                let shown = 100.0 * s.amplitude / radius;
                let percent = self.number_ui(ui, editor, &percent, shown);
                wanted = wanted.or(percent.map(|percent| percent / 100.0 * radius));
            }
            if let Some(amplitude) = wanted {
                editor.set_muscle(index, "Amount of muscle", |s| s.amplitude = amplitude);
            }
        });
    }

    fn along_ui(&mut self, ui: &mut Ui, editor: &mut Editor, index: usize, s: &MuscleSettings) {
        let about = "The shape of the bulge along the bone.";
        named_ui(ui, "Profile", about, |ui| {
            let width = ui.available_width();
            let is_bell = matches!(s.profile, Profile::Gaussian { .. });
            let (response, chosen) = pick_ui(ui, "Profile", width, is_bell, &PROFILES);
            response.on_hover_text(about);
            if let Some(is_bell) = chosen {
                let plain = if is_bell {
                    Profile::Gaussian { sigma: 1.0 }
                } else {
                    Profile::Cosine { half_width: 1.0 }
                };
                editor.set_muscle(index, "Profile of muscle", |s| {
                    s.profile = plain.with_reach(s.profile.reach());
                });
            }
        });
        let about = "The place of the largest bulge along the bone, and how far it reaches to both sides, in parts of \
                     the bone's length. Drag the handles in the viewport.";
        named_ui(ui, "Position, falloff", about, |ui| {
            ui.spacing_mut().interact_size.x = HALF;
            let place = Number {
                label: "Position",
                range: -200.0..=300.0,
                speed: 0.25,
                decimals: 1,
                suffix: " %",
                about: "The position of the largest bulge: 0 % is the head of the bone, 100 % its tail.",
                step: "Place of muscle",
            };
            if let Some(percent) = self.number_ui(ui, editor, &place, 100.0 * s.centre) {
                editor.set_muscle(index, place.step, |s| s.centre = percent / 100.0);
            }
            let length = Number {
                label: "Reach",
                range: 1.0..=1000.0,
                about: "How far the bulge reaches along the bone, in both directions.",
                step: "Reach of muscle",
                ..place
            };
            if let Some(percent) = self.number_ui(ui, editor, &length, 100.0 * s.profile.reach()) {
                editor.set_muscle(index, length.step, |s| {
                    s.profile = s.profile.with_reach(percent / 100.0);
                });
            }
        });
    }

    fn around_ui(&mut self, ui: &mut Ui, editor: &mut Editor, index: usize, s: &MuscleSettings) {
        let about = "The side of the bone on which the muscle lies: the angle around the bone from the side to which \
                     the limb is modelled bent.";
        named_ui(ui, "Flexor side", about, |ui| {
            ui.spacing_mut().interact_size.x = HALF;
            if let Some((along, zero)) = editor.muscle_turn_axes() {
                let angle = Number {
                    label: "Flexor side",
                    range: -180.0..=180.0,
                    speed: 1.0,
                    decimals: 1,
                    suffix: "\u{b0}",
                    about,
                    step: "Side of muscle",
                };
                let shown = angle_around(s.side, along, zero).to_degrees();
                if let Some(degrees) = self.number_ui(ui, editor, &angle, shown) {
                    let side = DQuat::from_axis_angle(along, degrees.to_radians()) * zero;
                    editor.set_muscle(index, angle.step, |s| s.side = side);
                }
            }
            let about = "Use the direction in which the joint bends in this pose; in the rest pose, that of the clips.";
            if ui.button("From bend").on_hover_text(about).clicked() {
                editor.turn_muscle_to_bend(index);
            }
        });
        flexion_ui(ui, editor, index, s);
        let about = "How narrow the muscle is around the bone: the exponent of the cosine of the angle from the flexor \
                     side. 0 is all round.";
        named_ui(ui, "Falloff exponent", about, |ui| {
            ui.spacing_mut().interact_size.x = HALF;
            let power = Number {
                label: "Falloff exponent",
                range: 0.0..=16.0,
                speed: 0.02,
                decimals: 2,
                suffix: "",
                about,
                step: "Falloff of muscle",
            };
            if let Some(power) = self.number_ui(ui, editor, &power, s.power) {
                editor.set_muscle(index, "Falloff of muscle", |s| s.power = power);
            }
        });
        let about = "The direction in which the clusters move.";
        named_ui(ui, "Direction", about, |ui| {
            let width = ui.available_width();
            let (_, chosen) = pick_ui(ui, "Direction", width, s.direction, &DIRECTIONS);
            if let Some(direction) = chosen {
                editor.set_muscle(index, "Direction of muscle", |s| s.direction = direction);
            }
        });
    }

    fn course_ui(&mut self, ui: &mut Ui, editor: &mut Editor, index: usize, s: &MuscleSettings) {
        let shown = match s.envelope.shape {
            EnvelopeShape::Smootherstep => Course::Smootherstep,
            EnvelopeShape::Curve(_) => Course::Curve,
            EnvelopeShape::Spindle { .. } => Course::Spindle,
        };
        let about = "How the strength grows with the bend of the joint.";
        named_ui(ui, "Envelope", about, |ui| {
            let width = ui.available_width();
            let (response, chosen) = pick_ui(ui, "Envelope", width, shown, &COURSES);
            response.on_hover_text(about);
            if let Some(course) = chosen {
                let length = editor.muscle_site().map_or(1.0, MuscleSite::length);
                let shape = match course {
                    Course::Smootherstep => EnvelopeShape::Smootherstep,
                    Course::Curve => EnvelopeShape::Curve(CurveSettings::default()),
                    Course::Spindle => EnvelopeShape::Spindle {
                        origin: SPINDLE[0] * length,
                        insertion: SPINDLE[1] * length,
                    },
                };
                editor.set_muscle(index, "Envelope of muscle", |s| s.envelope.shape = shape);
            }
        });
        if let EnvelopeShape::Spindle { origin, insertion } = s.envelope.shape {
            self.spindle_ui(ui, editor, index, [origin, insertion]);
            return;
        }
        let about = "The bend of the joint from the rest pose at which the muscle begins to bulge, and at which it is \
                     full.";
        named_ui(ui, "Angle range", about, |ui| {
            ui.spacing_mut().interact_size.x = HALF;
            let start = Number {
                label: "Start angle",
                range: 0.0..=180.0,
                speed: 0.5,
                decimals: 1,
                suffix: "\u{b0}",
                about: "The bend at which the muscle begins to bulge.",
                step: "Angles of muscle",
            };
            let degrees = [s.envelope.start, s.envelope.end].map(f64::to_degrees);
            if let Some(degrees) = self.number_ui(ui, editor, &start, degrees[0]) {
                let most = s.envelope.end - 0.5f64.to_radians();
                editor.set_muscle(index, start.step, |s| {
                    s.envelope.start = degrees.to_radians().min(most).max(0.0);
                });
            }
            let end = Number {
                label: "End angle",
                about: "The bend at which the bulge is largest.",
                ..start
            };
            if let Some(degrees) = self.number_ui(ui, editor, &end, degrees[1]) {
                let least = s.envelope.start + 0.5f64.to_radians();
                editor.set_muscle(index, end.step, |s| {
                    s.envelope.end = degrees.to_radians().max(least);
                });
            }
        });
    }

    fn spindle_ui(&mut self, ui: &mut Ui, editor: &mut Editor, index: usize, ends: [f64; 2]) {
        let length = editor.muscle_site().map(MuscleSite::length);
        let fields = [
            (
                "Origin",
                "The distance of the muscle's origin, above the joint, from it.",
            ),
            (
                "Insertion",
                "The distance of the muscle's insertion, below the joint, from it.",
            ),
        ];
        for (i, (name, about)) in fields.into_iter().enumerate() {
            named_ui(ui, name, about, |ui| {
                ui.spacing_mut().interact_size.x = HALF;
                let distance = Number {
                    label: name,
                    range: 1e-6..=1e6,
                    speed: length.unwrap_or(1.0) * 0.005,
                    decimals: decimals(length),
                    suffix: " m",
                    about,
                    step: "Spindle of muscle",
                };
                if let Some(metres) = self.number_ui(ui, editor, &distance, ends[i]) {
                    let mut ends = ends;
                    ends[i] = metres;
                    let [origin, insertion] = ends;
                    let shape = EnvelopeShape::Spindle { origin, insertion };
                    editor.set_muscle(index, distance.step, |s| s.envelope.shape = shape);
                }
            });
        }
    }
}

/// Draws the bone of a muscle.
fn bone_ui(ui: &mut Ui, editor: &mut Editor, index: usize, muscle: &MuscleLayer) {
    let about =
        "The bone beside which the muscle lies. It bulges as the joint at the bone's tail bends.";
    named_ui(ui, "Bone", about, |ui| {
        let own = [muscle.upper, muscle.lower];
        let mut bones = editor.muscle_bones();
        if !bones.contains(&own) {
            bones.insert(0, own);
        }
        let labels: Vec<String> = bones.iter().map(|b| editor.muscle_bone_label(*b)).collect();
        let choices = bones.iter().zip(&labels);
        let choices: Vec<_> = choices
            .map(|(bone, label)| (*bone, label.as_str(), about))
            .collect();
        let width = (ui.available_width() - 72.0).max(40.0);
        let (response, chosen) = pick_ui(ui, "Bone", width, own, &choices);
        response.on_hover_text(about);
        if let Some(bone) = chosen {
            editor.set_muscle_bone(index, bone);
        }
        let selected = editor.selected_muscle_bone();
        let button = ui.add_enabled(selected.is_some(), egui::Button::new("Selected"));
        button.widget_info(|| {
            egui::WidgetInfo::labeled(
                egui::Role::Button,
                selected.is_some(),
                "Use the selected bone",
            )
        });
        let about = "Put the muscle on the selected bone, or between the two selected joints.";
        let button = button.on_hover_text(about).on_disabled_hover_text(about);
        if let Some(bone) = selected.filter(|_| button.clicked()) {
            editor.set_muscle_bone(index, bone);
        }
    });
}

/// The angle of `side` around the unit `along` from the unit `zero` across it, radians.
fn angle_around(side: DVec3, along: DVec3, zero: DVec3) -> f64 {
    along.cross(zero).dot(side).atan2(zero.dot(side))
}

/// Decimals of a length beside a limb of this size, so that a thousandth of it shows.
fn decimals(size: Option<f64>) -> usize {
    let size = size.filter(|s| *s > 0.0).unwrap_or(1.0);
    (3.0 - size.log10()).clamp(1.0, 6.0) as usize
}
