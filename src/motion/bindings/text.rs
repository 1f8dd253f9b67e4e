//! Bindings as text: `CHANNEL=hinge:BONE,x,2,-10`.

use super::{Binding, BoundTo, HingeAxis, Linear};
use std::str::FromStr;

/// The forms of a binding.
const FORMS: &str = "give CHANNEL=rotation:BONE, world:BONE, hinge:BONE[,x|y|z][,GAIN[,OFFSET]], move:BONE[,GAIN], \
                     morph:TARGET[,GAIN[,OFFSET]], sample:SAMPLE[,GAIN[,OFFSET]] or none";

impl FromStr for Binding {
    type Err = String;

    /// A binding of `CHANNEL=KIND:NAME`, with an axis and numbers after commas; an error lists the forms.
    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || FORMS.to_owned();
        let (channel, to) = text.split_once('=').ok_or_else(wrong)?;
        if channel.is_empty() {
            return Err(wrong());
        }
        let channel = channel.to_owned();
        if to == "none" {
            return Ok(Self {
                channel,
                displayed: None,
                to: BoundTo::Display,
            });
        }
        let (kind, rest) = to.split_once(':').ok_or_else(wrong)?;
        let most = match kind {
            "rotation" | "world" => 0,
            "move" => 1,
            "hinge" | "morph" | "sample" => 2,
            _ => return Err(wrong()),
        };
        // Names may hold commas: what is no number, nor an axis before them, is theirs.
        let (mut name, mut numbers) = (rest, Vec::new());
        while numbers.len() < most
            && let Some((before, last)) = name.rsplit_once(',')
            && let Ok(number) = last.trim().parse::<f64>()
        {
            if !number.is_finite() {
                return Err(format!("{last} is no number of a binding"));
            }
            numbers.insert(0, number);
            name = before;
        }
        let mut axis = HingeAxis::Limits;
        if kind == "hinge"
            && let Some((before, last)) = name.rsplit_once(',')
            && let Some(found) = axis_of(last.trim())
        {
            axis = found;
            name = before;
        }
        if name.is_empty() {
            return Err(wrong());
        }
        let name = name.to_owned();
        let gain = numbers.first().copied().unwrap_or(1.0);
        let scale = Linear {
            gain,
            offset: numbers.get(1).copied().unwrap_or(0.0),
        };
        let to = match kind {
            "hinge" => BoundTo::Hinge {
                joint: name,
                axis,
                scale,
            },
            "move" => BoundTo::Translation {
                joint: name,
                gain,
                from: None,
            },
            "morph" => BoundTo::Morph {
                target: name,
                scale,
            },
            "sample" => BoundTo::Sample {
                sample: name,
                scale,
            },
            kind => BoundTo::Rotation {
                joint: name,
                in_world: kind == "world",
            },
        };
        Ok(Self {
            channel,
            displayed: None,
            to,
        })
    }
}

fn axis_of(text: &str) -> Option<HingeAxis> {
    match text {
        "x" => Some(HingeAxis::X),
        "y" => Some(HingeAxis::Y),
        "z" => Some(HingeAxis::Z),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bindings_are_read_from_text() {
        let read = |text: &str| text.parse::<Binding>();
        let to = |text: &str| read(text).unwrap().to;
        let scale = |gain: f64, offset: f64| Linear { gain, offset };
        assert_eq!(read("emg=none").unwrap().channel, "emg");
        assert_eq!(to("emg=none"), BoundTo::Display);
        let joint = || "forearm.L".to_owned();
        assert_eq!(
            to("imu=world:forearm.L"),
            BoundTo::Rotation {
                joint: joint(),
                in_world: true
            }
        );
        let hinge = |axis, scale| BoundTo::Hinge {
            joint: joint(),
            axis,
            scale,
        };
        assert_eq!(
            to("knee=hinge:forearm.L"),
            hinge(HingeAxis::Limits, Linear::default())
        );
        assert_eq!(
            to("knee=hinge:forearm.L,x,-2,10"),
            hinge(HingeAxis::X, scale(-2.0, 10.0))
        );
        assert_eq!(
            to("knee=hinge:forearm.L,0.5"),
            hinge(HingeAxis::Limits, scale(0.5, 0.0))
        );
        assert_eq!(
            to("m=move:a,b,2"),
            BoundTo::Translation {
                joint: "a,b".into(),
                gain: 2.0,
                from: None
            }
        );
        assert_eq!(
            to("emg=morph:bulge,0.01,-0.1"),
            BoundTo::Morph {
                target: "bulge".into(),
                scale: scale(0.01, -0.1)
            }
        );
        for wrong in [
            "emg",
            "=none",
            "emg=",
            "emg=bend:a",
            "emg=hinge:",
            "emg=hinge",
        ] {
            assert_eq!(read(wrong).unwrap_err(), FORMS, "{wrong}");
        }
        assert!(read("emg=morph:a,inf").unwrap_err().contains("inf"));
    }
}
