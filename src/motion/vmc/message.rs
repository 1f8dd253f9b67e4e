//! The messages of the protocol.

use super::body::BONES;
use glam::{DQuat, DVec3};
use rosc::{OscMessage, OscPacket, OscType};

/// The longest name, bytes.
const MAX_NAME_BYTES: usize = 64;
/// The largest time, seconds: about 30 years.
const MAX_TIME: f64 = 1e9;
/// Places farther out than this are malformed, metres.
const MAX_PLACE: f64 = 1e4;
/// How far the length of a rotation may be off 1.
const ROTATION_LENGTH: f64 = 1e-2;

/// What a message says, in the axes of glTF.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Message {
    /// Whether the model is loaded, and whether the body is tracked.
    Ok { is_tracked: bool },
    /// The sender's time, seconds.
    Time(f64),
    /// The avatar's root.
    Root(DVec3, DQuat),
    /// A bone in its parent.
    Bone(&'static str, DVec3, DQuat),
    /// The value of a blend shape, until it is applied.
    Blend(String, f64),
    /// Applies the values.
    Apply,
    /// A device.
    Tracker(String, DVec3, DQuat),
}

/// Why a message has no effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NoEffect {
    /// It is not one of those that are read.
    Ignored,
    /// It is not as the protocol has it.
    Malformed(&'static str),
}

/// The messages of a decoded packet, in order.
pub(super) fn messages(packet: OscPacket) -> Vec<OscMessage> {
    let (mut open, mut found) = (vec![packet], Vec::new());
    while let Some(packet) = open.pop() {
        match packet {
            OscPacket::Message(message) => found.push(message),
            OscPacket::Bundle(bundle) => open.extend(bundle.content.into_iter().rev()),
        }
    }
    found
}

/// Reads a message.
pub(super) fn read(message: &OscMessage) -> Result<Message, NoEffect> {
    let args = &message.args[..];
    let short = NoEffect::Malformed("a message has too few arguments, or others");
    let float = |i: usize| match args.get(i) {
        Some(OscType::Float(value)) => Ok(f64::from(*value)),
        _ => Err(short),
    };
    let name = |i: usize| match args.get(i) {
        Some(OscType::String(name)) if name.len() <= MAX_NAME_BYTES => Ok(name.as_str()),
        Some(OscType::String(_)) => Err(NoEffect::Malformed("a name is longer than 64 bytes")),
        _ => Err(short),
    };
    let transform = || {
        let place = DVec3::new(-float(1)?, float(2)?, float(3)?);
        let rotation = DQuat::from_xyzw(float(4)?, -float(5)?, -float(6)?, float(7)?);
        if !(place.is_finite() && place.abs().max_element() <= MAX_PLACE) {
            return Err(NoEffect::Malformed("a position is not within 10 km"));
        }
        let length = rotation.length();
        // NaN is no length either.
        if (length - 1.0).abs() <= ROTATION_LENGTH {
            Ok((place, rotation * (1.0 / length)))
        } else {
            Err(NoEffect::Malformed("a rotation does not have length 1"))
        }
    };
    match message.addr.as_str() {
        "/VMC/Ext/OK" => match (args.first(), args.get(3)) {
            (Some(OscType::Int(_)), tracking) => Ok(Message::Ok {
                is_tracked: !matches!(tracking, Some(OscType::Int(0))),
            }),
            _ => Err(short),
        },
        "/VMC/Ext/T" => match float(0)? {
            // NaN is no time either.
            time if time.abs() <= MAX_TIME => Ok(Message::Time(time)),
            _ => Err(NoEffect::Malformed("a time is not within 30 years")),
        },
        "/VMC/Ext/Root/Pos" => {
            name(0)?;
            let (place, rotation) = transform()?;
            Ok(Message::Root(place, rotation))
        }
        "/VMC/Ext/Bone/Pos" => {
            let name = name(0)?;
            let (place, rotation) = transform()?;
            let bone = BONES
                .iter()
                .find(|bone| bone.name.eq_ignore_ascii_case(name));
            let bone = bone.ok_or(NoEffect::Ignored)?;
            Ok(Message::Bone(bone.name, place, rotation))
        }
        "/VMC/Ext/Blend/Val" => {
            let (name, value) = (name(0)?, float(1)?);
            if value.is_finite() {
                Ok(Message::Blend(of_vrm1(name).to_owned(), value))
            } else {
                Err(NoEffect::Malformed("a blend value is not finite"))
            }
        }
        "/VMC/Ext/Blend/Apply" => Ok(Message::Apply),
        "/VMC/Ext/Hmd/Pos"
        | "/VMC/Ext/Con/Pos"
        | "/VMC/Ext/Tra/Pos"
        | "/VMC/Ext/Hmd/Pos/Local"
        | "/VMC/Ext/Con/Pos/Local"
        | "/VMC/Ext/Tra/Pos/Local" => {
            let name = name(0)?.to_owned();
            let (place, rotation) = transform()?;
            Ok(Message::Tracker(name, place, rotation))
        }
        _ => Err(NoEffect::Ignored),
    }
}

/// The name in VRM 1 of a blend shape of VRM 0.
pub(crate) fn of_vrm1(name: &str) -> &str {
    match name {
        "Joy" => "happy",
        "Angry" => "angry",
        "Sorrow" => "sad",
        "Fun" => "relaxed",
        "A" => "aa",
        "I" => "ih",
        "U" => "ou",
        "E" => "ee",
        "O" => "oh",
        "Blink_L" => "blinkLeft",
        "Blink_R" => "blinkRight",
        name => name,
    }
}
