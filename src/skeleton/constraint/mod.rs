//! Constraints: rules by which a joint follows others, evaluated after the clip.
//!
//! Data flow: [`Constraints`] of a skeleton -> [`Order`] (each after all that it needs; a cycle is refused by name) ->
//! [`Evaluator::apply`] on a pose. The rules themselves are functions of their own: [`swing_twist`], [`mod@aim`],
//! [`limit`], [`reach`].
//!
//! Invariant: a pure function of transforms, so that scrubbing, playing and baking agree bit for bit.

mod act;
pub mod aim;
mod apply;
mod axes;
mod bake;
mod bend;
mod cycles;
pub mod euler;
mod evaluate;
mod graph;
mod keys;
mod kind;
pub mod limit;
mod mirrored;
mod order;
pub mod reach;
pub mod swing_twist;

pub use act::ChangedPart;
pub use axes::CopiedAxes;
pub use bake::{BakedKeys, bake, hold_until, keys_at, set_channels};
pub use cycles::{Closing, Cycle};
pub use euler::EulerOrder;
pub use evaluate::Evaluator;
pub use keys::BakeTolerance;
pub use kind::{Constraint, Constraints, MOST_SOFTNESS, Rule, Space};
pub use mirrored::OtherSide;
pub use order::Order;
pub use swing_twist::{swing, twist, twist_angle};

#[cfg(test)]
mod tests {
    use crate::skeleton::slerp::slerp_shortest;
    use glam::DQuat;

    #[test]
    fn half_of_a_rotation_is_the_published_one() {
        let (rest, now) = (
            DQuat::from_rotation_z(20f64.to_radians()),
            DQuat::from_rotation_y(130f64.to_radians()),
        );
        let half = slerp_shortest(rest, now, 0.5);
        let expected = [0.0, 0.5385161907, 0.1031794678, 0.8362740638];
        assert!(
            half.abs_diff_eq(DQuat::from_array(expected), 1e-9),
            "{half}"
        );
    }
}
