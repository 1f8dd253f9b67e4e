//! Integration tests of the window: real widgets on a real, windowless GL context.

#[path = "gui/app.rs"]
mod app;
#[path = "gui/clusters.rs"]
mod clusters;
#[path = "gui/clusters_data.rs"]
mod clusters_data;
#[path = "gui/clusters_drivers.rs"]
mod clusters_drivers;
#[path = "gui/clusters_hand.rs"]
mod clusters_hand;
#[path = "gui/clusters_lattice.rs"]
mod clusters_lattice;
#[path = "gui/commands.rs"]
mod commands;
#[path = "gui/comparing.rs"]
mod comparing;
#[path = "gui/constraints.rs"]
mod constraints;
#[path = "gui/correctives.rs"]
mod correctives;
#[path = "gui/deformation.rs"]
mod deformation;
#[path = "gui/dropped.rs"]
mod dropped;
#[path = "gui/exporting.rs"]
mod exporting;
#[path = "gui/figure.rs"]
mod figure;
#[path = "gui/frame.rs"]
mod frame;
#[path = "gui/gallery.rs"]
mod gallery;
#[path = "gui/golden.rs"]
mod golden;
#[path = "gui/heat_maps.rs"]
mod heat_maps;
#[path = "gui/individual.rs"]
mod individual;
#[path = "gui/influences.rs"]
mod influences;
#[path = "gui/layers.rs"]
mod layers;
#[path = "gui/licences.rs"]
mod licences;
#[path = "gui/live_motion.rs"]
mod live_motion;
#[path = "gui/looks.rs"]
mod looks;
#[path = "gui/maps.rs"]
mod maps;
#[path = "gui/motion.rs"]
mod motion;
#[path = "gui/motions.rs"]
mod motions;
#[path = "gui/names.rs"]
mod names;
#[path = "gui/operating.rs"]
mod operating;
#[path = "gui/overlays.rs"]
mod overlays;
#[path = "gui/paint_callback.rs"]
mod paint_callback;
#[path = "gui/painting.rs"]
mod painting;
#[path = "gui/panels.rs"]
mod panels;
#[path = "gui/pixels.rs"]
mod pixels;
#[path = "gui/popovers.rs"]
mod popovers;
#[path = "gui/poses.rs"]
mod poses;
#[path = "gui/posing.rs"]
mod posing;
#[path = "gui/renderer.rs"]
mod renderer;
#[path = "gui/rigging.rs"]
mod rigging;
#[path = "gui/selecting.rs"]
mod selecting;
#[path = "core/shared.rs"]
mod shared;
#[path = "gui/sheets.rs"]
mod sheets;
#[path = "gui/timeline.rs"]
mod timeline;
#[path = "gui/views.rs"]
mod views;
#[path = "gui/water_surface.rs"]
mod water_surface;
#[path = "gui/weight_views.rs"]
mod weight_views;
#[path = "gui/window.rs"]
mod window;
