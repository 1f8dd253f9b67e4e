//! Integration tests of the window: real widgets on a real, windowless GL context.

#[path = "gui/figure.rs"]
mod figure;
#[path = "gui/paint_callback.rs"]
mod paint_callback;
#[path = "gui/pixels.rs"]
mod pixels;
