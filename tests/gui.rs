//! Integration tests of the window: real widgets on a real, windowless GL context.
