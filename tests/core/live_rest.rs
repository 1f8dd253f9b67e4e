//! Where a sender of JSON lines says that the bones of its body are at rest.

use crate::editing::EditorHarness;
use crate::live_motion::{BONES, character, received, until};
use glam::DVec3;
use serde_json::{Map, Value, json};
use sinew::cluster::channel::RecordingId;
use sinew::editor::live::LiveKind;
use sinew::motion::vmc::Body;
use std::io::Write;
use std::net::TcpStream;
use std::time::Duration;

const SHIN: &str = "LeftLowerLeg";

#[test]
fn a_recording_that_is_sent_again_stretches_from_its_rest() {
    let mut h = character();
    h.editor.listen(LiveKind::JsonLines, 0, false);
    let mut settings = *h.editor.live_settings();
    settings.keeps_stretch = true;
    h.editor.set_live_settings(settings);
    let address = h.editor.live().unwrap().address().unwrap();
    let mut sender = TcpStream::connect(address).unwrap();
    let body = Body::new(|name| BONES.contains(&name), |_| None).unwrap();
    // The left leg is stretched from the first line on.
    let places = |longer: f64| -> Map<String, Value> {
        let place = |bone: usize| {
            let name = body.name(bone);
            let place: DVec3 = body.offsets[bone] * if name == SHIN { longer } else { 1.0 };
            (name.to_owned(), json!(place.to_array()))
        };
        (0..body.bones.len()).map(place).collect()
    };
    let turns = (0..body.bones.len()).map(|bone| (body.name(bone).to_owned(), json!([0, 0, 0, 1])));
    let turns: Map<String, Value> = turns.collect();
    for i in 0..60 {
        let mut line =
            json!({"t": f64::from(i) / 30.0, "rotation": turns, "position": places(1.2)});
        if i == 0 {
            line["rest"] = Value::Object(places(1.0));
            line["rest"]["Spine"] = Value::Null;
        }
        writeln!(sender, "{line}").unwrap();
        if i == 30 {
            until(&mut h, "the first lines", |h| received(h) == 31);
            h.editor.record_live();
        }
    }
    until(&mut h, "all lines", |h| received(h) == 60);
    let joint = h.joint("shin.L") as usize;
    until(&mut h, "the stretch", |h| {
        let document = h.editor.document();
        let [shown, rest] = [&document.shown_pose(), document.rest_pose()]
            .map(|pose| pose.locals[joint].translation.length());
        (shown / rest - 1.2).abs() < 1e-5
    });
    assert_eq!(h.editor.live().unwrap().counts().malformed, 0);
    assert!(h.editor.stop_recording());
    h.settle();
    let item = h.editor.document().recordings()[&RecordingId(0)].clone();
    let rest = &item.recording().unwrap().rest_places;
    let known = places(1.0);
    assert_eq!(json!(rest[SHIN].to_array()), known[SHIN]);
}

#[test]
fn a_body_that_comes_after_a_pause_has_bones_of_its_own() {
    let mut h = character();
    h.editor.listen(LiveKind::JsonLines, 0, false);
    let address = h.editor.live().unwrap().address().unwrap();
    let mut sender = TcpStream::connect(address).unwrap();
    let mut n = 0_u32;
    let mut more = |h: &mut EditorHarness, shin: f64| {
        for _ in 0..30 {
            let body = Body::new(|name| BONES.contains(&name), |_| None).unwrap();
            let turns =
                (0..body.bones.len()).map(|bone| (body.name(bone).to_owned(), json!([0, 0, 0, 1])));
            let turns: Map<String, Value> = turns.collect();
            let places = json!({SHIN: [0.0, -shin, 0.0]});
            let line = json!({"t": f64::from(n) / 30.0, "rotation": turns, "position": places});
            writeln!(sender, "{line}").unwrap();
            n += 1;
        }
        let all = n as usize;
        until(h, "lines", |h| received(h) == all);
    };
    let rest = |h: &mut EditorHarness, id: u32| {
        assert!(h.editor.stop_recording());
        h.settle();
        let item = h.editor.document().recordings()[&RecordingId(id)].clone();
        item.recording().unwrap().rest_places[SHIN].y
    };
    more(&mut h, 0.4);
    h.editor.record_live();
    // A bone that stretches, while its sender goes on.
    more(&mut h, 0.5);
    assert_eq!(rest(&mut h, 0), -0.4);
    std::thread::sleep(Duration::from_millis(2_100));
    more(&mut h, 0.5);
    h.editor.record_live();
    more(&mut h, 0.5);
    assert_eq!(rest(&mut h, 1), -0.5);
}
