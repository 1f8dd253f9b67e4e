//! Files in and out.

pub mod project;
