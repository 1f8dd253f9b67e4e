//! Measurements of a person, and how a body takes them.

/// What is measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// From the floor to the crown.
    Height,
    /// Of a bone, or of a chain of bones.
    #[default]
    Length,
    /// Round a bone, normal to it.
    Girth,
}

/// The side of a body that a row is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MeasuredSide {
    /// The body's left.
    Left,
    /// The body's right.
    Right,
    /// Both sides have the value.
    Both,
}

/// The unit of a value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Unit {
    /// Metres.
    #[default]
    Metre,
    /// Centimetres.
    Centimetre,
    /// Millimetres.
    Millimetre,
    /// Inches.
    Inch,
}

/// One row of the table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Measurement {
    /// A label; may be empty.
    pub id: String,
    /// What is measured.
    pub kind: Kind,
    /// The name of a joint, or a role such as `thigh` or `l.thigh`; empty for the height.
    pub bone: String,
    /// The last bone of a chain that begins with `bone`; empty for one bone.
    pub to: String,
    /// Where on the bone a girth is measured: 0 at its head, 1 at its tail.
    pub at: f64,
    /// `None`: the side of the bone itself, both for a role that has two.
    pub side: Option<MeasuredSide>,
    /// In `unit`.
    pub value: f64,
    /// The unit of `value`.
    pub unit: Unit,
}

/// The measurements of the other side where only one was taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sides {
    /// Those of the side that was measured.
    #[default]
    Both,
    /// None: it keeps the template's.
    Own,
}

/// What becomes of faces that a fit flips.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FlippedFaces {
    /// They stay flipped, and are counted.
    #[default]
    Keep,
    /// Corrective smoothing turns them back.
    Smooth,
}

/// How a table is fitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FitOptions {
    /// Hips, spine and neck are lengthened until the body has its height, since measured legs change it.
    pub fit_height: bool,
    /// What the side without a measurement gets.
    pub sides: Sides,
    /// Bones between measured ones get the mean factor of those; otherwise they keep the template's proportions.
    pub neighbours: bool,
    /// Several girths on one bone vary the factor along it; otherwise the bone gets their mean factor.
    pub taper: bool,
    /// What becomes of faces that flip.
    pub flipped: FlippedFaces,
}

impl Default for FitOptions {
    fn default() -> Self {
        Self {
            fit_height: true,
            sides: Sides::Both,
            neighbours: false,
            taper: false,
            flipped: FlippedFaces::Keep,
        }
    }
}

impl Kind {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Height, Self::Length, Self::Girth];

    /// Its name in tables.
    pub fn label(self) -> &'static str {
        match self {
            Self::Height => "height",
            Self::Length => "length",
            Self::Girth => "girth",
        }
    }
}

impl MeasuredSide {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Left, Self::Right, Self::Both];

    /// Its name in tables.
    pub fn label(self) -> &'static str {
        match self {
            Self::Left => "l",
            Self::Right => "r",
            Self::Both => "both",
        }
    }
}

impl Unit {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Metre, Self::Centimetre, Self::Millimetre, Self::Inch];

    /// Its name in tables.
    pub fn label(self) -> &'static str {
        match self {
            Self::Metre => "m",
            Self::Centimetre => "cm",
            Self::Millimetre => "mm",
            Self::Inch => "in",
        }
    }

    /// Metres of one unit.
    pub fn metres(self) -> f64 {
        match self {
            Self::Metre => 1.0,
            Self::Centimetre => 0.01,
            Self::Millimetre => 0.001,
            Self::Inch => 0.0254,
        }
    }
}

impl Measurement {
    /// The value in metres.
    pub fn metres(&self) -> f64 {
        self.value * self.unit.metres()
    }

    /// What is wrong with the row itself, without a body: the end of a sentence.
    pub fn check(&self) -> Result<(), String> {
        let is_valid = self.value > 0.0 && self.value.is_finite();
        if !is_valid {
            return Err(format!("the value {} is not a number above 0", self.value));
        }
        let has_bone = !self.bone.trim().is_empty();
        match self.kind {
            Kind::Height if has_bone || !self.to.trim().is_empty() => {
                Err("a height has no bone".into())
            }
            Kind::Length | Kind::Girth if !has_bone => {
                Err(format!("a {} needs a bone", self.kind.label()))
            }
            Kind::Girth if !self.to.trim().is_empty() => {
                Err("a girth is of one bone, not of a chain".into())
            }
            Kind::Girth if !(0.0..=1.0).contains(&self.at) => Err(format!(
                "a girth is measured at 0 - 1 of its bone, not at {}",
                self.at
            )),
            _ => Ok(()),
        }
    }

    /// What a sentence calls it: the row from 1, and its label.
    pub fn place(&self, row: usize) -> String {
        if self.id.is_empty() {
            format!("row {}", row + 1)
        } else {
            format!("row {} (\"{}\")", row + 1, self.id)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_checked_without_a_body() {
        let row = Measurement {
            kind: Kind::Girth,
            bone: "thigh".into(),
            at: 0.5,
            value: 55.0,
            unit: Unit::Centimetre,
            ..Measurement::default()
        };
        assert_eq!(row.check(), Ok(()));
        assert!((row.metres() - 0.55).abs() < 1e-15);
        for value in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            let bad = Measurement {
                value,
                ..row.clone()
            };
            assert!(bad.check().unwrap_err().contains("not a number above 0"));
        }
        for at in [-0.1, 1.1, f64::NAN] {
            let bad = Measurement { at, ..row.clone() };
            assert!(bad.check().unwrap_err().contains("at 0 - 1"));
        }
        let no_bone = Measurement {
            bone: String::new(),
            ..row.clone()
        };
        assert_eq!(no_bone.check().unwrap_err(), "a girth needs a bone");
        let height = Measurement {
            kind: Kind::Height,
            ..row
        };
        assert_eq!(height.check().unwrap_err(), "a height has no bone");
    }
}
