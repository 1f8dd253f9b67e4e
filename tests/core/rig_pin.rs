//! A bone held in place over a range of a clip: keyframes of its limb, nothing else.

use crate::cli::{asset, done as cli};
use crate::export_models::reopen;
use crate::rig_operations::{END, MIDDLE, ROOT, moving_tube};
use crate::rig_tools::{done, refused, unchanged};
use glam::{DAffine3, DMat3, DVec3};
use sinew::document::rig::Pin;
use sinew::document::rig::measure::diagonal;
use sinew::document::{ClipId, ConstraintsEdit, Document, Edit};
use sinew::export::{ExportOptions, export};
use sinew::rig::Operation;
use sinew::skeleton::constraint::{Constraint, CopiedAxes, Rule, Space};
use sinew::skeleton::joint_limits::JointLimits;
use sinew::skeleton::orientation::{orientation, world_of};
use sinew::skeleton::{Channel, Clip, Interpolation, JointId, Property, RigidInterpolation};
use sinew::task::Task;
use std::sync::Arc;

const CLIP: ClipId = ClipId(7);

fn pin(range: [f64; 2], at: f64) -> Pin {
    Pin {
        joint: END,
        clip: CLIP,
        range,
        at,
        place: None,
        ease: 0.1,
    }
}

/// Where a joint is in the clip, and its axes.
fn at(document: &Document, joint: JointId, time: f64) -> (DVec3, DMat3) {
    let pose = document.pose_of_clip(&document.clips()[&CLIP], time);
    let world = world_of(document.skeleton(), &pose, joint);
    (world.translation, orientation(world.matrix3))
}

fn with_clip(document: &mut Document, change: impl FnOnce(&mut Clip)) {
    let mut clip = Clip::clone(&document.clips()[&CLIP]);
    change(&mut clip);
    let clip = Some(Arc::new(clip));
    document.apply(&mut Edit::Clip { id: CLIP, clip }).unwrap();
}

/// The end stays where it was at `when`, from `from` to `to`; before and after, all move as they did, to `around`.
fn assert_held(
    before: &Document,
    after: &Document,
    [from, to]: [f64; 2],
    (when, around): (f64, f64),
) {
    let (place, axes) = at(before, END, when);
    let size = diagonal(before);
    for k in 0..=50 {
        let time = from + (to - from) * f64::from(k) / 50.0;
        let (now, turned) = at(after, END, time);
        let off = now.distance(place);
        assert!(off < 1e-3 * size, "{time}: {off}");
        let turned = (turned - axes).abs_diff_eq(DMat3::ZERO, 5e-3);
        assert!(turned, "{time}");
    }
    for k in 0..=100 {
        let time = f64::from(k) / 100.0;
        // A step has a keyframe on both sides now.
        let is_step = (time - 0.4).abs() < 3e-3;
        if !is_step && (time < from - 0.1 - 1e-6 || time > to + 0.1 + 1e-6) {
            for joint in [ROOT, MIDDLE, END] {
                let (was, now) = (at(before, joint, time), at(after, joint, time));
                assert!(was.0.distance(now.0) < around, "{joint:?} at {time}");
                assert!(was.1.abs_diff_eq(now.1, around), "{joint:?} at {time}");
            }
        }
    }
}

#[test]
fn a_bone_stays_in_place_and_its_limb_bends() {
    let before = moving_tube();
    let far = at(&before, END, 0.2).0.distance(at(&before, END, 0.6).0);
    assert!(far > 0.3, "it moves: {far}");
    let mut after = before.clone();
    let (made, report) = done(&mut after, &Operation::Pin(pin([0.2, 0.6], 0.3)));
    assert_held(&before, &after, [0.2, 0.6], (0.3, 1e-5));
    assert_eq!(made.notes[0], "“end” stays in place from 0.20 s to 0.60 s.");
    assert!(report.counts.keys_added > 0);
    // It comes in and leaves smoothly: half way it is half way.
    let half = at(&after, END, 0.15).0;
    let [was, place] = [at(&before, END, 0.15).0, at(&before, END, 0.3).0];
    assert!(half.distance(was.lerp(place, 0.5)) < 1e-2);
    // Where it does not move, there is nothing to do.
    let mut still = before.clone();
    with_clip(&mut still, |clip| {
        for channel in &mut clip.channels {
            let first = channel.key(0).repeat(channel.times.len());
            channel.values = first.into();
        }
    });
    let note = unchanged(&still, &Operation::Pin(pin([0.25, 0.55], 0.3)));
    assert!(note.contains("already stays in its place"), "{note}");
}

#[test]
fn other_interpolations_keep_what_they_do_around_the_range() {
    for kind in [Interpolation::Step, Interpolation::CubicSpline] {
        let mut before = moving_tube();
        with_clip(&mut before, |clip| {
            for channel in &mut clip.channels {
                if channel.joint == MIDDLE || channel.joint == END {
                    *channel = in_kind(channel, kind);
                }
            }
        });
        let mut after = before.clone();
        done(&mut after, &Operation::Pin(pin([0.55, 0.75], 0.6)));
        // Splines become lines, within the tolerance of keyframes.
        assert_held(&before, &after, [0.55, 0.75], (0.6, 1e-3));
    }
}

/// The same keyframes in another interpolation, tangents 0.
fn in_kind(channel: &Channel, kind: Interpolation) -> Channel {
    let values = if kind == Interpolation::CubicSpline {
        let width = channel.width();
        let keys = channel.values.chunks(width);
        keys.flat_map(|key| [vec![0.0; width], key.to_vec(), vec![0.0; width]].concat())
            .collect()
    } else {
        channel.values.clone()
    };
    Channel {
        interpolation: kind,
        values,
        ..channel.clone()
    }
}

/// Limits leave clips as they are: where the clip exceeds them nothing jumps as the hold begins and ends.
#[test]
fn a_pose_beyond_its_limits_goes_over_smoothly() {
    let mut before = moving_tube();
    // The clip bends it by up to 1.1.
    let limits = JointLimits([[-0.2, 0.2], [-0.2, 0.2], [0.0, 0.3]]);
    let joint = MIDDLE;
    let limits = Some(limits);
    done(&mut before, &Operation::Limit { joint, limits });
    let mut after = before.clone();
    done(&mut after, &Operation::Pin(pin([0.4, 0.6], 0.5)));
    assert_held(&before, &after, [0.4, 0.6], (0.5, 1e-3));
    let rotation = |time: f64| {
        let pose = after.pose_of_clip(&after.clips()[&CLIP], time);
        pose.locals[MIDDLE.get()].rotation
    };
    for k in 0..400 {
        let time = 0.25 + f64::from(k) * 1e-3;
        let turned = rotation(time).angle_between(rotation(time + 1e-3));
        assert!(turned < 0.02, "{time}: {turned}");
    }
}

#[test]
fn a_bone_is_held_at_a_place_of_the_world() {
    let before = moving_tube();
    let (there, axes) = at(&before, END, 0.3);
    let place = there - DVec3::new(0.1, 0.05, 0.0);
    let request = Pin {
        place: Some(DAffine3::from_mat3_translation(axes, place)),
        ..pin([0.25, 0.5], 0.3)
    };
    let mut after = before.clone();
    done(&mut after, &Operation::Pin(request));
    for time in [0.25, 0.3, 0.5] {
        let off = at(&after, END, time).0.distance(place);
        assert!(off < 1e-3 * diagonal(&before), "{time}: {off}");
    }
    let nowhere = Pin {
        place: Some(DAffine3::from_translation(DVec3::NAN)),
        ..request
    };
    let why = refused(&before, &Operation::Pin(nowhere));
    assert_eq!(why, "“end” cannot be pinned: its place is not finite.");
}

/// METHODS-rigging 4, *Pin*: out of reach by more than 1 % of the limb's length it lets go, and the frame is said.
#[test]
fn a_bone_lets_go_where_its_place_is_out_of_reach() {
    let mut before = moving_tube();
    with_clip(&mut before, |clip| {
        clip.channels.push(Channel {
            joint: ROOT,
            property: Property::Translation,
            interpolation: Interpolation::Linear,
            times: [0.0, 1.0].into(),
            values: [-2.0, 0.0, 0.0, -6.0, 0.0, 0.0].into(),
        });
    });
    let mut after = before.clone();
    let (made, _) = done(&mut after, &Operation::Pin(pin([0.0, 1.0], 0.3)));
    let held = made.notes[0].as_str();
    let said = made
        .notes
        .iter()
        .find(|note| note.contains("The pin on “end” ends at frame "));
    let said = said.unwrap_or_else(|| panic!("{:?}", made.notes));
    assert!(said.contains("% of the limb length"), "{said}");
    assert!(!held.contains("to 1.00 s"), "{held}");
    let end: f64 = held
        .split(" to ")
        .nth(1)
        .unwrap()
        .split(' ')
        .next()
        .unwrap()
        .parse()
        .unwrap();
    let place = at(&before, END, 0.3).0;
    assert!(at(&after, END, end - 0.02).0.distance(place) < 0.04);
    let far = at(&after, END, 1.0).0;
    assert!(
        far.distance(at(&before, END, 1.0).0) < 1e-5,
        "it moves on as before"
    );
    // Where it cannot be at all, there is nothing to hold.
    let why = refused(&before, &Operation::Pin(pin([0.95, 1.0], 0.0)));
    assert!(
        why.starts_with("“end” cannot be pinned: at 0.95 s the limb is "),
        "{why}"
    );
}

/// Without a blend the place is reached at once; a clip that starts later is held in its own times.
#[test]
fn a_pin_without_a_blend_holds_in_a_late_clip() {
    let mut before = moving_tube();
    with_clip(&mut before, |clip| {
        for channel in &mut clip.channels {
            channel.times = channel.times.iter().map(|t| t + 5.0).collect();
        }
    });
    let request = Pin {
        ease: 0.0,
        ..pin([5.2, 5.6], 5.3)
    };
    let mut after = before.clone();
    let (made, _) = done(&mut after, &Operation::Pin(request));
    assert_eq!(made.notes[0], "“end” stays in place from 5.20 s to 5.60 s.");
    let place = at(&before, END, 5.3).0;
    let size = diagonal(&before);
    for k in 0..=40 {
        let time = 5.2 + 0.01 * f64::from(k);
        assert!(
            at(&after, END, time).0.distance(place) < 1e-3 * size,
            "{time}"
        );
    }
    // No keyframe is added farther from the range than its shortest step.
    for time in [5.0, 5.1, 5.19, 5.61, 5.7, 6.0] {
        for joint in [ROOT, MIDDLE, END] {
            let (was, now) = (at(&before, joint, time), at(&after, joint, time));
            assert!(was.0.distance(now.0) < 1e-5 * size, "{joint:?} at {time}");
            assert!(was.1.abs_diff_eq(now.1, 1e-5), "{joint:?} at {time}");
        }
    }
}

/// A place that it only passes is not held.
#[test]
fn a_pin_has_a_duration() {
    let mut before = moving_tube();
    with_clip(&mut before, |clip| {
        clip.channels.push(Channel {
            joint: ROOT,
            property: Property::Translation,
            interpolation: Interpolation::Linear,
            times: [0.0, 0.5, 1.0].into(),
            values: [-100.0, 0.0, 0.0, -2.0, 0.0, 0.0, -100.0, 0.0, 0.0].into(),
        });
    });
    let why = refused(&before, &Operation::Pin(pin([0.2, 0.8], 0.5)));
    let expected = "“end” cannot be pinned: it only reaches its place at 0.50 s.";
    assert_eq!(why, expected);
}

#[test]
fn what_cannot_be_pinned_says_why() {
    let mut document = moving_tube();
    let operation = |request: Pin| Operation::Pin(request);
    let of = |joint: JointId| Pin {
        joint,
        ..pin([0.2, 0.6], 0.2)
    };
    assert_eq!(
        refused(&document, &operation(of(MIDDLE))),
        "“middle” cannot be pinned: it needs two bones above it."
    );
    let why = refused(&document, &operation(pin([2.0, 3.0], 2.0)));
    assert!(why.contains("overlap the clip (0.00 - 1.00 s)"), "{why}");
    let (range, nan) = ([0.2, 0.6], f64::NAN);
    for wrong in [
        pin([nan, 0.6], 0.3),
        pin([0.2, f64::INFINITY], 0.3),
        pin(range, nan),
        Pin {
            ease: nan,
            ..pin(range, 0.3)
        },
    ] {
        let why = refused(&document, &operation(wrong));
        assert_eq!(why, "The times of a pin must be finite numbers.");
    }
    let none = Pin {
        clip: ClipId(99),
        ..of(END)
    };
    assert_eq!(refused(&document, &operation(none)), "Show a clip first.");
    let mut screwed = document.clone();
    with_clip(&mut screwed, |clip| {
        clip.rigid_interpolation = RigidInterpolation::Screw;
    });
    assert!(refused(&screwed, &operation(of(END))).contains("screw interpolation"));
    let rule = Rule::CopyRotation {
        source: ROOT,
        space: Space::Local,
        keeps_offset: true,
        axes: CopiedAxes::ALL,
    };
    let list = vec![Constraint::new(rule)];
    let joint = MIDDLE;
    let mut edit = Edit::Constraints(ConstraintsEdit { joint, list });
    document.apply(&mut edit).unwrap();
    assert_eq!(
        refused(&document, &operation(of(END))),
        "“middle” follows its constraints, not keyframes: mute or bake them first."
    );
}

#[test]
fn the_command_line_pins_and_writes_the_clip() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("pinned.glb");
    let (file, out) = (asset("arm"), out.to_str().unwrap());
    let open = |path: &str| {
        sinew::io::open_any(path.as_ref(), &Task::new())
            .unwrap()
            .document
    };
    let before = open(&file);
    let skin = before.skins().values().next().unwrap();
    let end = *skin.joints.last().unwrap();
    let name = before.skeleton().joint(end).name.clone();
    let clip = before.clips().values().next().unwrap();
    let to = clip.end_secs();
    let range = format!("0.2..{:.2},at=0.3,ease=0.05", 0.6 * to);
    let said = cli(&["rig", &file, "--pin", &name, "0", &range, "--out", out]);
    assert!(said.contains("stays in place from 0.20 s"), "{said}");
    let after = open(out);
    let place = |d: &Document, time: f64| {
        let pose = d.pose_of_clip(d.clips().values().next().unwrap(), time);
        world_of(d.skeleton(), &pose, end).translation
    };
    let wanted = place(&before, 0.3);
    for time in [0.2, 0.25, 0.3, 0.31] {
        let off = place(&after, time).distance(wanted);
        assert!(off < 1e-3 * diagonal(&before), "{time}: {off}");
    }
    let options = ExportOptions::default();
    let again = reopen(&export(&after, &options, &Task::new()).unwrap());
    assert!(place(&again, 0.25).distance(wanted) < 1e-3 * diagonal(&before));
}
