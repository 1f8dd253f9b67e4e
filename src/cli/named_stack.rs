//! Deformer stacks by name, as `--methods` takes them: a method, then its parts and settings, each after a `+`.

use super::Failure;
use super::stack_args::{
    ScaleArg, StackArgs, SwitchArg, TwistArg, VariantArg, between, polynomial,
};
use crate::deform::{BulgeProjection, Compensation, DeformStack, SkinningMethod};
use crate::document::Document;
use crate::evaluate::gauge::with_stacks;
use clap::ValueEnum;

/// A stack by name, as in `--methods`.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedStack {
    /// The name as typed.
    pub name: String,
    /// The stack; `None`: the project's own for each mesh.
    pub stack: Option<DeformStack>,
    /// Whether corrective samples are applied.
    pub samples: bool,
    /// Whether control clusters are applied.
    pub clusters: bool,
}

/// The names of [`NamedStack`].
pub(crate) const STACK_NAMES: &str = "lbs, dqs, cor, blend, default, project, psd, ccm, and a method with \
                                      +compensation, +projection, +both, +published, +smooth, +psd or +ccm; settings \
                                      follow as +drop, +compensation=0.7 or +twist=off";

impl NamedStack {
    /// The document with this stack on every mesh, without corrective samples and control clusters unless they are part of
    /// it.
    pub(crate) fn document(&self, own: &Document) -> Document {
        let mut document = with_stacks(own, |current| self.over(current));
        if !self.samples {
            document = document.without_correctives();
        }
        if !self.clusters {
            document = document.without_clusters();
        }
        document
    }

    /// The stack of a mesh whose own is `current`.
    fn over(&self, current: &DeformStack) -> DeformStack {
        self.stack.clone().unwrap_or_else(|| current.clone())
    }
}

impl std::str::FromStr for NamedStack {
    type Err = String;

    /// `lbs`, `dqs`, `cor`, `blend`, `default`, `project`; corrections are added with `+`: `dqs+compensation`, with a
    /// strength as `dqs+compensation=0.7`. Settings follow as they are called on the command line: `+drop`, `+twist=off`,
    /// `+third-bone-fade=off`, `+polynomial=original`, `+variant=algorithm-1`. `psd` and `ccm` are the project's own stack
    /// with its samples, without and with its control clusters.
    fn from_str(name: &str) -> Result<Self, String> {
        let unknown = || format!("\"{name}\" is not a stack; use {STACK_NAMES}");
        let mut words = name.split('+').map(str::trim);
        let mut stack = match words.next() {
            Some("lbs") => DeformStack::lbs(),
            Some("dqs") => DeformStack::dqs(),
            Some("cor") => DeformStack::bare(SkinningMethod::CentresOfRotation),
            Some("blend") => DeformStack::bare(SkinningMethod::Blend),
            Some("default") => DeformStack::default(),
            Some(own @ ("project" | "psd" | "ccm")) if !name.contains('+') => {
                return Ok(Self {
                    name: name.to_owned(),
                    stack: None,
                    samples: true,
                    clusters: own != "psd",
                });
            }
            _ => return Err(unknown()),
        };
        let (mut samples, mut clusters) = (false, false);
        let mut settings = StackArgs::default();
        for word in words {
            let (word, value) = match word.split_once('=') {
                Some((word, value)) => (word, Some(value)),
                None => (word, None),
            };
            let wrong = |why: String| format!("\"{name}\": {word}: {why}");
            let strength = |most: f32| match value {
                Some(text) => between(0.0, most)(text).map_err(wrong),
                None => Ok(1.0),
            };
            match (word, value) {
                ("compensation", _) => {
                    stack.compensation = Compensation {
                        strength: strength(2.0)?,
                        ..Compensation::default()
                    };
                }
                ("projection", _) => {
                    stack.projection = BulgeProjection {
                        strength: strength(1.0)?,
                        ..BulgeProjection::default()
                    };
                }
                ("both", _) => {
                    let strength = strength(2.0)?;
                    stack.compensation = Compensation {
                        strength,
                        ..Compensation::default()
                    };
                    stack.projection = BulgeProjection {
                        strength: strength.min(1.0),
                        ..BulgeProjection::default()
                    };
                }
                ("smooth", None) => stack.smooth.enabled = true,
                ("published", None) => settings.variant = Some(VariantArg::Published),
                ("psd", None) => samples = true,
                ("ccm", None) => clusters = true,
                ("drop", None) => settings.scale = Some(ScaleArg::Drop),
                (_, Some(value)) => set(&mut settings, word, value)
                    .ok_or_else(unknown)?
                    .map_err(wrong)?,
                _ => return Err(unknown()),
            }
        }
        let stack = settings.over(&stack).map_err(|failure| match failure {
            Failure::Usage(why) | Failure::Input(why) => format!("\"{name}\": {why}"),
            Failure::PipeClosed => unknown(),
        })?;
        Ok(Self {
            name: name.to_owned(),
            stack: Some(stack),
            samples,
            clusters,
        })
    }
}

/// Sets a flag of the stack by its name; `None`: there is no such flag.
fn set(settings: &mut StackArgs, word: &str, value: &str) -> Option<Result<(), String>> {
    fn one_of<T: ValueEnum>(slot: &mut Option<T>, value: &str) -> Result<(), String> {
        let found = T::from_str(value, true);
        let known = T::value_variants().iter();
        let names = known.filter_map(|v| Some(v.to_possible_value()?.get_name().to_owned()));
        let names: Vec<String> = names.collect();
        *slot = Some(found.map_err(|_| format!("takes {}", names.join(", ")))?);
        Ok(())
    }
    fn number(slot: &mut Option<f32>, value: &str, low: f32, high: f32) -> Result<(), String> {
        *slot = Some(between(low, high)(value)?);
        Ok(())
    }
    let switch = |slot: &mut Option<SwitchArg>| one_of(slot, value);
    Some(match word {
        "twist" => one_of::<TwistArg>(&mut settings.twist, value),
        "scale" => one_of::<ScaleArg>(&mut settings.scale, value),
        "variant" => one_of::<VariantArg>(&mut settings.variant, value),
        "fold-guard" => switch(&mut settings.fold_guard),
        "third-bone-fade" => switch(&mut settings.third_bone_fade),
        "auto-strength" => switch(&mut settings.auto_strength),
        "siblings" => switch(&mut settings.siblings),
        "sibling-fade" => switch(&mut settings.sibling_fade),
        "power" => number(&mut settings.power, value, 1.0, 8.0),
        "blend" => number(&mut settings.blend, value, 0.0, 1.0),
        // A comma separates the stacks of a list.
        "polynomial" => polynomial(&value.replace(':', ",")).map(|found| {
            settings.polynomial = Some(found);
        }),
        "smooth" => match value.parse() {
            Ok(times @ 0..=100) => {
                settings.smooth = Some(times);
                Ok(())
            }
            _ => Err("takes a number of iterations from 0 to 100".to_owned()),
        },
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::deform::{Polynomial, ScaleMode, TwistDamping, Variant};

    #[test]
    fn names_say_what_the_presets_are() {
        use crate::deform::StackPreset;
        for (name, preset) in [
            ("lbs", StackPreset::Lbs),
            ("dqs", StackPreset::Dqs),
            ("dqs+compensation", StackPreset::Compensation),
            ("dqs+projection", StackPreset::Projection),
            ("cor", StackPreset::CentresOfRotation),
            ("default", StackPreset::Default),
            ("dqs+both", StackPreset::Default),
        ] {
            let named: NamedStack = name.parse().unwrap();
            let applied = named.stack.map(|s| s.as_applied());
            assert_eq!(applied, Some(preset.stack().as_applied()), "{name}");
        }
        assert_eq!("project".parse::<NamedStack>().unwrap().stack, None);
        let samples = |name: &str| name.parse::<NamedStack>().unwrap().samples;
        assert!(samples("lbs+psd") && samples("project") && !samples("lbs"));
        let clusters = |name: &str| name.parse::<NamedStack>().unwrap().clusters;
        assert!(clusters("ccm") && clusters("dqs+ccm") && clusters("project"));
        assert!(samples("psd") && samples("ccm") && !clusters("psd") && !clusters("dqs"));
        for wrong in [
            "",
            "magic",
            "ccm+both",
            "dqs+magic",
            "project+both",
            "dqs+published",
        ] {
            assert!(wrong.parse::<NamedStack>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_name_may_have_every_setting_of_a_stack() {
        let stack = |name: &str| name.parse::<NamedStack>().unwrap().stack.unwrap();
        let strengths = stack("dqs+compensation=0.7+projection=0.5");
        assert_eq!(
            (
                strengths.compensation.strength,
                strengths.projection.strength
            ),
            (0.7, 0.5)
        );
        assert_eq!(stack("dqs+drop").scale, ScaleMode::Drop);
        let published = stack("dqs+compensation+polynomial=original+twist=off+third-bone-fade=off");
        let it = &published.compensation;
        assert_eq!(
            (it.polynomial, it.twist, it.third_bone_fade),
            (Polynomial::Original, TwistDamping::Off, false)
        );
        let literal = stack("dqs+compensation+variant=algorithm-1");
        assert_eq!(literal.compensation.variant, Variant::Algorithm1);
        let own = stack("dqs+compensation+polynomial=2.2:-8.1");
        let custom = Polynomial::Custom { c1: 2.2, c2: -8.1 };
        assert_eq!(own.compensation.polynomial, custom);
        assert_eq!(stack("lbs+smooth=12").smooth.iterations, 12);
        assert_eq!(stack("dqs+projection+power=4").projection.power, 4.0);
        for (wrong, why) in [
            ("dqs+compensation=3", "from 0 to 2"),
            ("dqs+projection=1.5", "from 0 to 1"),
            ("dqs+twist=off", "needs"),
            ("dqs+compensation+twist=half", "axis, sine, off"),
            ("dqs+compensation+magic=1", "is not a stack"),
            ("dqs+smooth=1000", "iterations"),
        ] {
            let error = wrong.parse::<NamedStack>().unwrap_err();
            assert!(error.contains(why) && error.contains(wrong), "{error}");
        }
    }
}
