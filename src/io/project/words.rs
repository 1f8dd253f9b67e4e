//! How the format names the choices of the live types: one table a type, which gives both conversions.
//!
//! A choice that a live type gains does not compile until it has a name here. A name that a file has and no table knows
//! is refused when the file is read (see [`super::migrate`]).

use crate::{deform, math, skeleton};

/// Enums of the format, each with the live enum that has the same variants.
macro_rules! words {
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
            fn from(word: $name) -> Self {
                match word {
                    $($name::$variant => <$live>::$variant),+
                }
            }
        }
    )+};
}

/// Structs of the format, each with the live struct that has the same fields.
macro_rules! records {
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

pub(super) use {records, words};

words! {
    /// An axis of space.
    #[derive(Default)]
    Axis = math::Axis { #[default] X, Y, Z }

    /// The painted map of a part of the stack.
    PaintedMap = deform::MaskKind { Blend, Compensation, Projection, Smooth }

    /// How bones move between keys.
    #[derive(Default)]
    InBetweens = skeleton::InBetweens { #[default] Components, Screw, ScrewDlb }

    /// What a channel animates.
    Property = skeleton::Property { Translation, Rotation, Scale, MorphWeights }

    /// The interpolation of a channel.
    Interpolation = skeleton::Interpolation { Step, Linear, CubicSpline }
}

/// Whether a field can be left out because it has its type's default.
pub(super) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
