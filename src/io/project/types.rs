//! Types of the format that mirror a type of the document: one table per type, which gives both conversions.
//!
//! A variant or field that is added to the document's type does not compile until it is listed here. A name in a file
//! that no table lists is refused when the file is read (see [`super::migrate`]).

use crate::{deform, math, motion, psd, skeleton};

/// Enums of the format, each with the document's enum that has the same variants.
macro_rules! enums {
    ($($(#[$attribute:meta])* $name:ident = $live:ty { $($(#[$of_variant:meta])* $variant:ident),+ $(,)? })+) => {$(
        #[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
        $(#[$attribute])*
        pub(super) enum $name {
            $($(#[$of_variant])* $variant),+
        }

        impl From<$live> for $name {
            fn from(live: $live) -> Self {
                match live {
                    $(<$live>::$variant => Self::$variant),+
                }
            }
        }

        impl From<$name> for $live {
            fn from(value: $name) -> Self {
                match value {
                    $($name::$variant => <$live>::$variant),+
                }
            }
        }
    )+};
}

/// Structs of the format, each with the document's struct that has the same fields.
macro_rules! structs {
    ($($(#[$attribute:meta])* $name:ident = $live:path { $($(#[$of_field:meta])* $field:ident: $type:ty),+ $(,)? })+) => {$(
        #[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
        $(#[$attribute])*
        #[serde(deny_unknown_fields)]
        pub(super) struct $name {
            $($(#[$of_field])* pub(super) $field: $type),+
        }

        impl From<$live> for $name {
            fn from(live: $live) -> Self {
                let $live { $($field),+ } = live;
                Self { $($field: $field.into()),+ }
            }
        }

        impl From<$name> for $live {
            fn from(record: $name) -> Self {
                let $name { $($field),+ } = record;
                Self { $($field: $field.into()),+ }
            }
        }
    )+};
}

pub(super) use {enums, structs};

enums! {
    /// An axis of space.
    #[derive(Default)]
    Axis = math::Axis { #[default] X, Y, Z }

    /// The painted map of a part of the stack.
    PaintedMap = deform::MaskKind { Blend, Compensation, Projection, Smooth }

    /// The radial basis function of corrective samples.
    #[derive(Default)]
    Kernel = psd::Kernel { #[default] MultiQuadric, Linear, Gaussian, InverseMultiQuadric, ThinPlate }

    /// How the transforms of joints are interpolated between keyframes.
    #[derive(Default)]
    RigidInterpolation = skeleton::RigidInterpolation { #[default] Components, Screw, ScrewDlb }

    /// What the position channels of a BVH file are.
    #[derive(Default)]
    MotionPositions = motion::bvh::Positions { #[default] Auto, Replace, Add }

    /// How much of the root motion of a motion is kept.
    #[derive(Default)]
    MotionTravel = motion::retarget::Travel { #[default] Full, InPlace, Vertical }

    /// How the joints of a skeleton get their roles in a body.
    #[derive(Default)]
    RoleSearch = motion::retarget::RoleSearch { #[default] Auto, Names, Structure }

    /// The order of Euler angles, the first rotation first.
    #[derive(Default)]
    EulerOrder = skeleton::constraint::EulerOrder { #[default] Xyz, Xzy, Yxz, Yzx, Zxy, Zyx }

    /// The interpolation of a channel.
    Interpolation = skeleton::Interpolation { Step, Linear, CubicSpline }
}

/// What a channel animates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(super) enum Property {
    Translation,
    Rotation,
    Scale,
    MorphWeights,
    /// The influence of a constraint, by its number.
    Influence(u16),
}

impl From<skeleton::Property> for Property {
    fn from(live: skeleton::Property) -> Self {
        match live {
            skeleton::Property::Translation => Self::Translation,
            skeleton::Property::Rotation => Self::Rotation,
            skeleton::Property::Scale => Self::Scale,
            skeleton::Property::MorphWeights => Self::MorphWeights,
            skeleton::Property::Influence(number) => Self::Influence(number),
        }
    }
}

impl From<Property> for skeleton::Property {
    fn from(value: Property) -> Self {
        match value {
            Property::Translation => Self::Translation,
            Property::Rotation => Self::Rotation,
            Property::Scale => Self::Scale,
            Property::MorphWeights => Self::MorphWeights,
            Property::Influence(number) => Self::Influence(number),
        }
    }
}

/// Whether a field can be omitted because it has its type's default.
pub(super) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// The number that an omitted factor is.
pub(super) fn whole() -> f32 {
    1.0
}

/// Whether a factor is 1, so that it can be omitted.
#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "the signature that serde expects"
)]
pub(super) fn is_whole(opacity: &f32) -> bool {
    opacity.to_bits() == 1f32.to_bits()
}

/// Whether a number is 0, so that it can be omitted.
#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "the signature that serde expects"
)]
pub(super) fn is_zero(n: &u32) -> bool {
    *n == 0
}

/// Whether every number in `value` is finite, whatever fields it has.
pub(super) fn all_finite(value: &impl serde::Serialize) -> bool {
    fn finite(value: &ron::Value) -> bool {
        match value {
            ron::Value::Number(number) => number.into_f64().is_finite(),
            ron::Value::Option(inner) => inner.as_deref().is_none_or(finite),
            ron::Value::Seq(values) => values.iter().all(finite),
            ron::Value::Map(map) => map.iter().all(|(_, value)| finite(value)),
            _ => true,
        }
    }
    ron::to_string(value)
        .ok()
        .and_then(|text| text.parse::<ron::Value>().ok())
        .is_some_and(|value| finite(&value))
}
