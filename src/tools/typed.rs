//! A number typed during a drag.

/// Digits as they come: "45", "-12.5".
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TypedNumber {
    digits: String,
    negative: bool,
}

impl TypedNumber {
    /// Adds a character; returns whether it is part of a number. A minus changes the sign at any position.
    pub fn push(&mut self, c: char) -> bool {
        const MAX_CHARS: usize = 12;
        match c {
            '-' => self.negative = !self.negative,
            '0'..='9' => {
                if self.digits.len() < MAX_CHARS {
                    self.digits.push(c);
                }
            }
            '.' | ',' => {
                if !self.digits.contains('.') {
                    self.digits.push('.');
                }
            }
            _ => return false,
        }
        true
    }

    /// Removes the last character; the sign is removed last.
    pub fn backspace(&mut self) {
        if self.digits.pop().is_none() {
            self.negative = false;
        }
    }

    /// The text as typed; `None` if nothing is.
    pub fn text(&self) -> Option<String> {
        let sign = if self.negative { "-" } else { "" };
        (self.negative || !self.digits.is_empty()).then(|| format!("{sign}{}", self.digits))
    }

    /// The number; a sign or a decimal point alone is 0. `None` if nothing is typed.
    pub fn value(&self) -> Option<f64> {
        self.text()?;
        let value: f64 = self.digits.parse().unwrap_or(0.0);
        Some(if self.negative { -value } else { value })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(keys: &str) -> TypedNumber {
        let mut number = TypedNumber::default();
        for c in keys.chars() {
            if c == '<' {
                number.backspace();
            } else {
                number.push(c);
            }
        }
        number
    }

    #[test]
    fn numbers_are_what_was_typed() {
        for (keys, text, value) in [
            ("45", "45", 45.0),
            ("-12.5", "-12.5", -12.5),
            ("12,5-", "-12.5", -12.5),
            ("--7", "7", 7.0),
            (".5", ".5", 0.5),
            ("1..2", "1.2", 1.2),
            ("45<", "4", 4.0),
            ("-", "-", 0.0),
        ] {
            assert_eq!(typed(keys).text().as_deref(), Some(text));
            assert_eq!(typed(keys).value(), Some(value), "{keys}");
        }
        for keys in ["", "4<", "-4<<", "x"] {
            assert_eq!(typed(keys).value(), None, "{keys}");
        }
    }
}
