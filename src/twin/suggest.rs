//! The next row of a table: what was not measured yet, with the template's value.

use super::measurement::{Kind, MeasuredSide, Measurement, Unit};
use super::template::girth_at;
use super::{Body, FitOptions, plan::Plan};
use crate::motion::roles::{Part, Side};
use crate::skeleton::JointId;

/// The parts of a body that are measured first.
const PARTS: [Part; 4] = [Part::Upperarm, Part::Forearm, Part::Thigh, Part::Shin];

/// A row of a kind that a table can take besides its own, with the template's value in centimetres; `None` where everything is
/// measured.
pub fn next_row(body: &Body, rows: &[Measurement], kind: Kind) -> Option<Measurement> {
    let fits = |row: &Measurement| {
        let mut all = rows.to_vec();
        all.push(row.clone());
        let options = FitOptions::default();
        // What the others lack is theirs: only a clash with the new row counts.
        match Plan::new(body, &all, &options) {
            Ok(_) => true,
            Err(super::TwinError::Row { row, .. }) => row < rows.len(),
            Err(_) => false,
        }
    };
    candidates(body, kind).find(fits)
}

fn candidates(body: &Body, kind: Kind) -> impl Iterator<Item = Measurement> + '_ {
    let row = move |bone: String, side: Option<MeasuredSide>, metres: f64| Measurement {
        kind,
        bone,
        at: if kind == Kind::Girth { 0.5 } else { 0.0 },
        side,
        // Whole tenths of a millimetre.
        value: (metres * 1e4).round() / 1e2,
        unit: Unit::Centimetre,
        ..Measurement::default()
    };
    let height = (kind == Kind::Height).then(|| row(String::new(), None, body.height()));
    let size = move |joint: JointId| match kind {
        Kind::Height => None,
        Kind::Length => Some(body.line(joint).length()),
        Kind::Girth => girth_at(body, joint, 0.5),
    };
    let parts = PARTS.into_iter().filter_map(move |part| {
        let joint = body.roles().get(part, Side::Left)?;
        body.roles().get(part, Side::Right)?;
        let metres = size(JointId(joint as u32))?;
        Some(row(part.label().into(), Some(MeasuredSide::Both), metres))
    });
    let bones = body.bones().filter_map(move |joint| {
        let name = &body.skeleton().joint(joint).name;
        let metres = size(joint).filter(|metres| *metres > 1e-4)?;
        (!name.is_empty()).then(|| row(name.clone(), None, metres))
    });
    let others = (kind != Kind::Height).then(|| parts.chain(bones));
    height.into_iter().chain(others.into_iter().flatten())
}
