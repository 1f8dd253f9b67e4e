//! The `sinew` program.

fn main() {}
