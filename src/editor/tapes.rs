//! The girths of the table that is edited, as tapes on the body on screen.

use super::Editor;
use crate::deform::BodyChoice;
use crate::document::Person;
use crate::evaluate::ViewId;
use crate::skeleton::JointId;
use glam::{DVec3, Vec3};

/// A girth on the body in a view.
#[derive(Clone, Debug, PartialEq)]
pub struct ShownTape {
    /// The row of the table, from 0.
    pub row: usize,
    /// The bone: a row for both sides has two tapes.
    pub joint: JointId,
    /// The label of the row, else the bone.
    pub name: String,
    /// Where on the bone: 0 at its head, 1 at its tail.
    pub at: f64,
    /// Its length in the pose on screen, in the unit of the row: `26.0 cm`.
    pub length: String,
    /// Its corners, world space, metres; the last one leads to the first.
    pub curve: Vec<Vec3>,
    /// Head and tail of the bone in the pose on screen, metres.
    pub bone: [DVec3; 2],
}

impl Editor {
    /// Shows tapes in this frame of the window and the next.
    pub fn ask_for_tapes(&mut self, frame: u64) {
        self.individuals.tapes_asked = Some(frame);
    }

    /// The tapes of the edited table in a view, if they were asked for in this frame or the one before. Empty on a body that has
    /// other measurements.
    pub fn tapes_in(&self, view: ViewId, frame: u64) -> Vec<ShownTape> {
        let asked = self.individuals.tapes_asked;
        if asked.is_none_or(|asked| frame > asked + 1) {
            return Vec::new();
        }
        let person = self.edited_person();
        let body = self.views.requests().into_iter().find(|r| r.view == view);
        let body = body.map_or_else(|| self.shown_choice(), |of| self.body_of_view(&of));
        let is_of_another = match body {
            BodyChoice::Template => false,
            BodyChoice::Individual => person != Person::Individual,
            BodyChoice::WhatIf => person != Person::WhatIf,
        };
        let (Some(table), Some(shape)) = (self.document.person(person), self.shape_of(person))
        else {
            return Vec::new();
        };
        if is_of_another || shape.rows != table.rows || !shape.can_show(&self.document) {
            return Vec::new();
        }
        let displayed = self.displayed_in(view);
        let of_body = self.views.world_of_body(view);
        let world = of_body.unwrap_or_else(|| self.world());
        let shown = shape.tapes.iter().filter_map(|(mesh, tape)| {
            let mut instances = self.document.instances().iter();
            let (instance, _) = instances.find(|(_, item)| item.mesh == *mesh)?;
            let positions = &displayed.get(instance)?.positions;
            let row = table.rows.get(tape.row)?;
            let world = world.get(tape.joint.get())?;
            let at = |p: u32| {
                positions
                    .get(p as usize)
                    .map_or(DVec3::NAN, |p| p.as_dvec3())
            };
            let metres = tape.length(at)?;
            let curve = tape.places(at).into_iter().map(DVec3::as_vec3);
            let name = if row.id.is_empty() {
                self.document.skeleton().label(tape.joint)
            } else {
                row.id.clone()
            };
            let value = metres / row.unit.metres();
            let digits = if row.unit.metres() >= 1.0 { 3 } else { 1 };
            Some(ShownTape {
                row: tape.row,
                joint: tape.joint,
                name,
                at: tape.at,
                length: format!("{value:.digits$} {}", row.unit.label()),
                curve: curve.collect(),
                bone: [world.translation, world.transform_point3(tape.tail)],
            })
        });
        shown.collect()
    }

    /// Measures a girth elsewhere on its bone, 0 - 1; the value of the row stays. One undo step.
    pub fn move_tape(&mut self, row: usize, at: f64) {
        let Some(table) = self.measurements().cloned() else {
            return;
        };
        let mut rows = table.rows.clone();
        if let Some(row) = rows.get_mut(row) {
            row.at = at.clamp(0.0, 1.0);
            self.measure(rows, table.options, "Move tape");
        }
    }
}
