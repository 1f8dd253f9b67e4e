//! The words of a joint's name.

use super::Side;

/// Words in front of a name that say only whose skeleton it is.
const PREFIXES: [&str; 14] = [
    "mixamorig",
    "bip",
    "def",
    "org",
    "b",
    "skeleton",
    "rig",
    "cc",
    "base",
    "j",
    "armature",
    "valve",
    "biped",
    "bn",
];
/// Joints with one of these words have no role.
const SKIPPED: [&str; 12] = [
    "end", "nub", "tip", "ik", "pole", "target", "ctrl", "control", "socket", "slot", "roll",
    "twist",
];

/// What a name says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Words {
    /// The side.
    pub(super) side: Side,
    /// The rest in lower case, without separators and numbers.
    pub(super) base: String,
    /// Its last number.
    pub(super) number: Option<u32>,
}

/// What a name says; `None` if its joint has no role.
pub(super) fn words(name: &str) -> Option<Words> {
    if name.starts_with("__") {
        return None;
    }
    let tokens = tokens(name);
    let mut first = 0;
    while first + 1 < tokens.len()
        && (PREFIXES.contains(&tokens[first].as_str()) || (first > 0 && is_number(&tokens[first])))
    {
        first += 1;
    }
    let tokens = &tokens[first..];
    if tokens.iter().any(|token| SKIPPED.contains(&token.as_str())) {
        return None;
    }
    let mut side = Side::Middle;
    let mut base = String::new();
    let mut number = None;
    for token in tokens {
        match token.as_str() {
            "l" | "left" if side == Side::Middle => side = Side::Left,
            "r" | "right" if side == Side::Middle => side = Side::Right,
            // The middle, in VRM's `J_Bip_C_Hips`.
            "c" => {}
            digits if is_number(digits) => number = digits.parse().ok(),
            word => base.push_str(word),
        }
    }
    (base != "hipjoint").then_some(Words { side, base, number })
}

fn is_number(token: &str) -> bool {
    token.bytes().all(|b| b.is_ascii_digit())
}

/// The words and numbers of a name in lower case: split at separators, at humps of camel case and around numbers.
fn tokens(name: &str) -> Vec<String> {
    #[derive(PartialEq, Clone, Copy)]
    enum Kind {
        Break,
        Upper,
        Lower,
        Digit,
    }
    let kind = |c: char| match c {
        c if c.is_numeric() => Kind::Digit,
        c if c.is_uppercase() => Kind::Upper,
        c if c.is_alphabetic() => Kind::Lower,
        _ => Kind::Break,
    };
    let chars: Vec<char> = name.chars().collect();
    let mut tokens: Vec<String> = Vec::new();
    for (i, &c) in chars.iter().enumerate() {
        let this = kind(c);
        if this == Kind::Break {
            continue;
        }
        let before = i.checked_sub(1).map(|i| kind(chars[i]));
        let after = chars.get(i + 1).map(|c| kind(*c));
        let begins = match (before, this) {
            (Some(Kind::Digit), Kind::Digit) | (Some(Kind::Lower | Kind::Upper), Kind::Lower) => {
                false
            }
            // "LThumb" is L and Thumb, "IK" one word.
            (Some(Kind::Upper), Kind::Upper) => after == Some(Kind::Lower),
            _ => true,
        };
        if begins {
            tokens.push(String::new());
        }
        if let Some(token) = tokens.last_mut() {
            token.extend(c.to_lowercase());
        }
    }
    tokens
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_many_tools_say_the_same() {
        use Side::{Left, Middle, Right};
        for (name, side, base) in [
            ("mixamorig:LeftArm", Left, "arm"),
            ("Bip01 R UpperArm", Right, "upperarm"),
            ("DEF-upper_arm.L", Left, "upperarm"),
            ("J_Bip_L_UpperArm", Left, "upperarm"),
            ("J_Bip_C_Hips", Middle, "hips"),
            ("CC_Base_L_Thigh", Left, "thigh"),
            ("leftUpperLeg", Left, "upperleg"),
            ("upperarm01.R", Right, "upperarm"),
            ("toe1-1.L", Left, "toe"),
            ("RThumb", Right, "thumb"),
            ("UpLeg_L", Left, "upleg"),
            ("spine.003", Middle, "spine"),
            ("LeftToeBase", Left, "toebase"),
        ] {
            let found = words(name).unwrap();
            assert_eq!((found.side, found.base.as_str()), (side, base), "{name}");
        }
        for name in [
            "__Jaw",
            "LHipJoint",
            "kneeIK.l",
            "control-toe-roll.l",
            "LeftHandEnd",
            "hand_twist_l",
        ] {
            assert_eq!(words(name), None, "{name}");
        }
    }
}
