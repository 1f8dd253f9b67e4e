//! The rows of the volume table: the results for each object and bone.

use crate::document::InstanceId;
use crate::editor::Editor;
use crate::evaluate::volumes::{Closure, VolumeStudy, VolumeTrack};
use crate::skeleton::JointId;

/// The object or bone that is measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Subject {
    /// All closed parts.
    #[default]
    All,
    /// An object.
    Object(InstanceId),
    /// A bone's portion of an object.
    Joint(InstanceId, JointId),
}

/// One row of the table.
pub(super) struct Row {
    pub(super) subject: Subject,
    pub(super) name: String,
    /// "open", or empty.
    pub(super) remark: &'static str,
    pub(super) rest: String,
    pub(super) now: String,
    pub(super) worst: String,
    /// The time of the worst value, in words.
    pub(super) worst_about: String,
    /// One value per sampled time; NaN where undefined.
    pub(super) changes: Vec<f32>,
    /// One value per sampled time.
    pub(super) bulges: Vec<f32>,
}

/// The rows: objects in node order, each followed by its bones.
pub(super) fn of(study: &VolumeStudy, editor: &Editor) -> Vec<Row> {
    let document = editor.document();
    let now = study.moment(document.session().playback.time_secs);
    let row = |subject, name: String, remark, track: &VolumeTrack, bulges: &[f32]| {
        let value = |moment: usize| track.changes.get(moment).copied().unwrap_or(f32::NAN);
        let worst = track.worst();
        Row {
            subject,
            name,
            remark,
            rest: volume(track.rest),
            now: percent(value(now)),
            worst: percent(worst.map_or(f32::NAN, |w| w.1)),
            worst_about: worst
                .and_then(|w| study.times_secs.get(w.0))
                .map_or_else(String::new, |time| format!("At {time:.2} s.")),
            changes: track.changes.clone(),
            bulges: bulges.to_vec(),
        }
    };
    let mut rows = Vec::new();
    if study.instances.len() != 1 {
        rows.push(row(
            Subject::All,
            "All closed parts".to_owned(),
            if study.whole.rest > 0.0 { "" } else { "open" },
            &study.whole,
            &study.bulges,
        ));
    }
    for (&id, of) in &study.instances {
        let Some(instance) = document.instances().get(&id) else {
            continue;
        };
        let remark = match of.closure {
            Closure::Open => "open",
            Closure::Partly => "partly open",
            Closure::Closed => "",
        };
        let name = document.skeleton().label(instance.joint);
        rows.push(row(
            Subject::Object(id),
            name,
            remark,
            &of.whole,
            &of.bulges,
        ));
        for (&joint, track) in &of.joints {
            if track.worst().is_none() || !document.skeleton().is_live(joint) {
                continue;
            }
            let name = document.skeleton().label(joint);
            let subject = Subject::Joint(id, joint);
            rows.push(row(subject, name, "", track, &of.bulges));
        }
    }
    rows
}

/// A signed percentage: "+1.23 %"; "-" where undefined, "not finite" where it cannot be measured.
pub(super) fn percent(share: f32) -> String {
    if share.is_nan() {
        return "-".to_owned();
    }
    if share.is_infinite() {
        return "not finite".to_owned();
    }
    let value = share * 100.0;
    if value.abs() < 0.005 {
        "0.00 %".to_owned()
    } else {
        format!("{value:+.2} %")
    }
}

/// Cubic metres with a suitable unit.
pub(super) fn volume(cubic_metres: f64) -> String {
    let v = cubic_metres.abs();
    match v {
        v if v >= 10.0 => format!("{cubic_metres:.1} m³"),
        v if v >= 1e-3 => format!("{:.2} l", cubic_metres * 1e3),
        v if v >= 1e-6 => format!("{:.1} cm³", cubic_metres * 1e6),
        v if v > 0.0 => format!("{:.2} mm³", cubic_metres * 1e9),
        _ => "-".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_units_that_fit() {
        assert_eq!(volume(31.4), "31.4 m³");
        assert_eq!(volume(0.0701), "70.10 l");
        assert_eq!(volume(0.000_312), "312.0 cm³");
        assert_eq!(volume(2e-9), "2.00 mm³");
        assert_eq!(volume(0.0), "-");
        assert_eq!(percent(-0.0123), "-1.23 %");
        assert_eq!(percent(0.000_01), "0.00 %");
        assert_eq!(percent(f32::NAN), "-");
        assert_eq!(percent(f32::INFINITY), "not finite");
    }
}
