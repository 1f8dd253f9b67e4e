//! Sentences about settings that are out of their range.

/// `Err` with the name, the value and its range unless `low <= value <= high`; NaN is outside.
pub(crate) fn within(what: &str, value: f64, low: f64, high: f64) -> Result<(), String> {
    if (low..=high).contains(&value) {
        Ok(())
    } else {
        Err(format!("{what} is {value}, which is not {low} - {high}"))
    }
}

/// `Err` with the name unless all three numbers are finite and at least one is not 0.
pub(crate) fn direction(what: &str, value: glam::DVec3) -> Result<(), String> {
    if value.try_normalize().is_some() {
        Ok(())
    } else {
        Err(format!(
            "{what} is ({}, {}, {}), which is no direction",
            value.x, value.y, value.z
        ))
    }
}
