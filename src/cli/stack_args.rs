//! The deformer stack from flags.

use super::Failure;
use crate::deform::{DeformStack, Polynomial, ScaleMode, SkinningMethod, TwistDamping, Variant};
use clap::{Args, ValueEnum};

/// The deformer stack. Default: the project's stack, else two-phase dual quaternion skinning, compensation and blended
/// projection. `--method` alone means that method without corrections; `--bulge` adds corrections.
#[derive(Clone, Debug, Default, PartialEq, Args)]
#[command(
    next_help_heading = "Deformer stack (default: the project's, else two-phase DQS with both corrections)"
)]
pub struct StackArgs {
    /// The skinning method; alone it means that method without corrections.
    #[arg(long, value_enum)]
    pub method: Option<MethodArg>,
    /// Corrections after skinning.
    #[arg(long, value_enum)]
    pub bulge: Option<BulgeArg>,
    /// Whether the corrections have the errors of their papers repaired, or are as published.
    #[arg(long, value_enum)]
    pub variant: Option<VariantArg>,
    /// Strength of the corrections, 0 - 2; projection takes at most 1.
    #[arg(long, value_name = "S", value_parser = between(0.0, 2.0))]
    pub strength: Option<f32>,
    /// How rigid skinning methods treat scale and shear.
    #[arg(long, value_enum)]
    pub scale: Option<ScaleArg>,
    /// The polynomial of the compensation: manual, original, or its first two coefficients.
    #[arg(long, value_name = "manual|original|C1,C2", value_parser = polynomial)]
    pub polynomial: Option<Polynomial>,
    /// How compensation treats the twist of a joint.
    #[arg(long, value_enum)]
    pub twist: Option<TwistArg>,
    /// Stop compensation at the bisecting plane of two bones, so that it cannot fold the surface.
    #[arg(long, value_enum)]
    pub fold_guard: Option<SwitchArg>,
    /// Fade compensation out where three bones influence a vertex.
    #[arg(long, value_enum)]
    pub third_bone_fade: Option<SwitchArg>,
    /// Scale compensation by the width of the weights' falloff relative to the limb's radius.
    #[arg(long, value_enum)]
    pub auto_strength: Option<SwitchArg>,
    /// Compensate between sibling bones: bones of which neither is an ancestor of the other.
    #[arg(long, value_enum)]
    pub siblings: Option<SwitchArg>,
    /// Exponent of the skin weights in the projection, 1 - 8.
    #[arg(long, value_name = "P", value_parser = between(1.0, 8.0))]
    pub power: Option<f32>,
    /// Fade projection out between sibling bones.
    #[arg(long, value_enum)]
    pub sibling_fade: Option<SwitchArg>,
    /// DQS factor of `--method blend`: 0 is LBS, 1 is DQS.
    #[arg(long, value_name = "SHARE", value_parser = between(0.0, 1.0))]
    pub blend: Option<f32>,
    /// Number of iterations of corrective smoothing, 0 - 100; it runs after everything else.
    #[arg(long, value_name = "TIMES", value_parser = clap::value_parser!(u32).range(0..=100))]
    pub smooth: Option<u32>,
}

/// `--method`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum MethodArg {
    /// Linear blend skinning, as other viewers draw it.
    Lbs,
    /// Dual quaternion skinning.
    Dqs,
    /// Optimised centres of rotation.
    Cor,
    /// A blend of linear and dual quaternion skinning, by the painted map.
    Blend,
}

/// `--bulge`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum BulgeArg {
    /// No correction.
    None,
    /// Move the skin back along the bisector of the bones.
    Compensation,
    /// Move the skin back to its bind distance from the bones.
    Projection,
    /// Compensation, then projection.
    Both,
}

/// `--variant`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum VariantArg {
    /// With the errors of the papers repaired.
    Default,
    /// As published; the compensation by its paper's text (eqs 10 - 13).
    Published,
    /// As published; the compensation by its paper's Algorithm 1, to the letter.
    #[value(name = "algorithm-1")]
    Algorithm1,
}

/// `--scale`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ScaleArg {
    /// Blend scale and shear first, then rigid motions: exact for vertices of one bone.
    TwoPhase,
    /// Ignore scale and shear.
    Drop,
}

/// `--twist`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TwistArg {
    /// Remove the component of the offset along the rotation's axis.
    Axis,
    /// Shorten the offset by the sine of its angle to the axis.
    Sine,
    /// Compensate twist like bend.
    Off,
}

/// `on` or `off`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SwitchArg {
    /// Yes.
    On,
    /// No.
    Off,
}

impl From<MethodArg> for SkinningMethod {
    fn from(value: MethodArg) -> Self {
        match value {
            MethodArg::Lbs => Self::Lbs,
            MethodArg::Dqs => Self::Dqs,
            MethodArg::Cor => Self::CentresOfRotation,
            MethodArg::Blend => Self::Blend,
        }
    }
}

impl From<ScaleArg> for ScaleMode {
    fn from(value: ScaleArg) -> Self {
        match value {
            ScaleArg::TwoPhase => Self::TwoPhase,
            ScaleArg::Drop => Self::Drop,
        }
    }
}

impl From<VariantArg> for Variant {
    fn from(value: VariantArg) -> Self {
        match value {
            VariantArg::Default => Self::Corrected,
            VariantArg::Published => Self::Published,
            VariantArg::Algorithm1 => Self::Algorithm1,
        }
    }
}

impl From<TwistArg> for TwistDamping {
    fn from(value: TwistArg) -> Self {
        match value {
            TwistArg::Axis => Self::Axis,
            TwistArg::Sine => Self::Sine,
            TwistArg::Off => Self::Off,
        }
    }
}

impl From<SwitchArg> for bool {
    fn from(value: SwitchArg) -> Self {
        value == SwitchArg::On
    }
}

impl StackArgs {
    /// Whether no stack flag was given.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The stack of the flags over the mesh's own; fails for a flag that no stage of the stack reads.
    pub(crate) fn over(&self, current: &DeformStack) -> Result<DeformStack, Failure> {
        let mut stack = match self.method {
            Some(method) => DeformStack::bare(method.into()),
            None => current.clone(),
        };
        if let Some(bulge) = self.bulge {
            stack.compensation.enabled = matches!(bulge, BulgeArg::Compensation | BulgeArg::Both);
            stack.projection.enabled = matches!(bulge, BulgeArg::Projection | BulgeArg::Both);
        }
        self.check(&stack)?;
        let set = |slot: &mut bool, switch: Option<SwitchArg>| {
            if let Some(switch) = switch {
                *slot = switch.into();
            }
        };
        let c = &mut stack.compensation;
        set(&mut c.fold_guard, self.fold_guard);
        set(&mut c.third_bone_fade, self.third_bone_fade);
        set(&mut c.auto_strength, self.auto_strength);
        set(&mut c.siblings, self.siblings);
        set(&mut stack.projection.sibling_fade, self.sibling_fade);
        c.polynomial = self.polynomial.unwrap_or(c.polynomial);
        c.twist = self.twist.map_or(c.twist, Into::into);
        if let Some(variant) = self.variant {
            c.variant = variant.into();
            stack.projection.variant = variant.into();
        }
        if let Some(strength) = self.strength {
            c.strength = strength;
            stack.projection.strength = strength.min(1.0);
        }
        stack.projection.power = self.power.unwrap_or(stack.projection.power);
        stack.scale = self.scale.map_or(stack.scale, Into::into);
        stack.blend = self.blend.unwrap_or(stack.blend);
        if let Some(times) = self.smooth {
            stack.smooth.enabled = times > 0;
            stack.smooth.iterations = times.max(1);
        }
        Ok(stack)
    }

    /// Refuses a flag that no stage reads.
    fn check(&self, stack: &DeformStack) -> Result<(), Failure> {
        let compensates = stack.compensation.enabled;
        let projects = stack.projection.enabled;
        let idle = [
            (
                "--variant",
                self.variant.is_some() && !compensates && !projects,
                "--bulge compensation, projection or both",
            ),
            (
                "--strength",
                self.strength.is_some() && !compensates && !projects,
                "--bulge compensation, projection or both",
            ),
            (
                "--polynomial",
                self.polynomial.is_some() && !compensates,
                "--bulge compensation or both",
            ),
            (
                "--twist",
                self.twist.is_some() && !compensates,
                "--bulge compensation or both",
            ),
            (
                "--fold-guard",
                self.fold_guard.is_some() && !compensates,
                "--bulge compensation or both",
            ),
            (
                "--third-bone-fade",
                self.third_bone_fade.is_some() && !compensates,
                "--bulge compensation or both",
            ),
            (
                "--auto-strength",
                self.auto_strength.is_some() && !compensates,
                "--bulge compensation or both",
            ),
            (
                "--siblings",
                self.siblings.is_some() && !compensates,
                "--bulge compensation or both",
            ),
            (
                "--power",
                self.power.is_some() && !projects,
                "--bulge projection or both",
            ),
            (
                "--sibling-fade",
                self.sibling_fade.is_some() && !projects,
                "--bulge projection or both",
            ),
            (
                "--blend",
                self.blend.is_some() && stack.method != SkinningMethod::Blend,
                "--method blend",
            ),
        ];
        match idle.iter().find(|(_, idle, _)| *idle) {
            Some((flag, _, needs)) => Err(Failure::Usage(format!("{flag} needs {needs}."))),
            None => Ok(()),
        }
    }
}

pub(super) fn between(
    low: f32,
    high: f32,
) -> impl Fn(&str) -> Result<f32, String> + Clone + Send + Sync {
    move |text| match text.parse::<f32>() {
        Ok(value) if (low..=high).contains(&value) => Ok(value),
        _ => Err(format!("give a number from {low} to {high}")),
    }
}

pub(super) fn polynomial(text: &str) -> Result<Polynomial, String> {
    let number = |text: &str| text.trim().parse().ok().filter(|c: &f32| c.is_finite());
    match text {
        "manual" => Ok(Polynomial::Manual),
        "original" => Ok(Polynomial::Original),
        _ => text
            .split_once(',')
            .and_then(|(c1, c2)| {
                Some(Polynomial::Custom {
                    c1: number(c1)?,
                    c2: number(c2)?,
                })
            })
            .ok_or_else(|| {
                "give manual, original, or two coefficients such as 2.2,-8.1 (the third follows)"
                    .into()
            }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flags(args: &[&str]) -> StackArgs {
        #[derive(clap::Parser)]
        struct Only {
            #[command(flatten)]
            stack: StackArgs,
        }
        use clap::Parser as _;
        Only::try_parse_from(std::iter::once("x").chain(args.iter().copied()))
            .unwrap()
            .stack
    }

    fn over_default(args: &[&str]) -> DeformStack {
        flags(args).over(&DeformStack::default()).unwrap()
    }

    #[test]
    fn a_method_alone_is_bare_and_a_correction_goes_on_top() {
        assert_eq!(over_default(&[]), DeformStack::default());
        assert_eq!(over_default(&["--method", "dqs"]), DeformStack::dqs());
        let both = over_default(&["--method", "dqs", "--bulge", "both"]);
        assert_eq!(both.as_applied(), DeformStack::default().as_applied());
        let off = over_default(&["--bulge", "none"]);
        assert_eq!(off.as_applied(), DeformStack::dqs());
        let published = over_default(&["--bulge", "projection", "--variant", "published"]);
        assert!(published.projection.variant == Variant::Published);
        assert!(!published.compensation.enabled);
        let strong = over_default(&["--strength", "1.5", "--polynomial", "2,-7"]);
        assert_eq!(
            (strong.compensation.strength, strong.projection.strength),
            (1.5, 1.0)
        );
        let custom = Polynomial::Custom { c1: 2.0, c2: -7.0 };
        assert_eq!(strong.compensation.polynomial, custom);
    }

    #[test]
    fn a_flag_that_nothing_reads_is_refused() {
        for args in [
            &["--method", "lbs", "--strength", "0.5"][..],
            &["--bulge", "projection", "--twist", "sine"],
            &["--bulge", "compensation", "--power", "3"],
            &["--blend", "0.5"],
        ] {
            let Err(Failure::Usage(text)) = flags(args).over(&DeformStack::default()) else {
                panic!("{args:?}")
            };
            assert!(text.contains(" needs --"), "{text}");
        }
    }
}
