//! The panels around the viewport, one per file.
//!
//! A panel reads the editor, changes only its own state (a filter, a brush slider) and returns the
//! [`crate::view::commands::Command`]s that the user requested.

mod bone_list;
mod clusters;
mod correctives;
mod curve_editor;
mod header;
mod hierarchy;
mod history;
mod individual;
mod influences;
mod layers;
mod list;
mod menu_bar;
mod motion;
mod operation;
mod pose;
mod pose_blend;
mod poses;
mod problems;
mod properties;
mod recording_align;
mod recording_binding;
mod recording_channels;
mod recording_contacts;
mod recording_moments;
mod recording_timing;
mod recordings;
mod rename;
mod rig_report;
mod status_bar;
mod textures;
mod time_field;
mod timeline;
mod tool_bar;
mod volume;

pub use clusters::ClustersPanel;
pub(super) use clusters::glyph_ui;
pub use correctives::CorrectivesPanel;
pub use header::header_ui;
pub use hierarchy::Hierarchy;
pub use history::history_ui;
pub use individual::IndividualPanel;
pub use influences::InfluencesPanel;
pub use layers::LayersPanel;
pub use list::paint_icon;
pub use menu_bar::{MenuChoice, item_ui, menu_bar_ui};
pub use motion::MotionPanel;
pub use operation::operation_ui;
pub use pose::pose_properties_ui;
pub use poses::PosesPanel;
pub use problems::{problems_title, problems_ui};
pub use properties::{
    brush_popover_ui, brush_ui, cluster_popover_ui, open_humanoid, properties_ui,
    sculpt_popover_ui, target_label,
};
pub use status_bar::{Status, status_bar_ui};
pub use timeline::Timeline;
pub use tool_bar::{TOOL_BAR_WIDTH, tool_bar_ui};
pub use volume::VolumePanel;
