//! The project file: the user's edits of a model, in text that is readable and that git can diff.
//!
//! Data flow: [`to_project`] compares a document with its source -> [`Project`] -> RON -> [`save`] replaces the file
//! atomically. [`open`] reads the text -> converts old versions -> imports the model that the project refers to ->
//! [`apply_project`] applies it as edits. [`Autosaves`] saves the same data in a folder of its own.
//!
//! `v1` to `v11` are the versions of the format; each holds the types that differ from the next version, and the
//! conversion to it. Each of the other modules converts one part between the newest version and the document.
//!
//! A project stores only differences from the source. Points are identified by (mesh, primitive, lowest vertex index
//! within the primitive), joints by the node of the source or, if they are new, by a number of their own; the name is
//! stored beside the number as a check.
//!
//! Invariant: saving and opening again gives the same document and session, bit for bit, over the same source.
//! Invariant: at every moment the path has either the complete old or the complete new file.
//! Invariant: no file makes Sinew panic, or allocate out of proportion to the file and its model.
//! Invariant: what cannot be applied is a finding; nothing is dropped silently. A field or a value that the file's
//! version does not have is an error that names it.
//! Invariant: only the types of this folder are serialised; the types of the document are not.

mod apply;
mod apply_bones;
mod apply_clusters;
mod autosave;
mod block;
mod brush;
mod clips;
mod cluster_entries;
mod clusters;
mod collect;
mod constraint_entries;
mod constraints;
mod controls;
mod correctives;
mod driven;
mod error;
mod file;
mod found_copies;
mod humanoid;
mod individual;
mod individual_entry;
mod joints;
mod kept_weights;
mod keys;
mod layers;
mod masks;
mod mesh_copies;
mod migrate;
mod motions;
mod moved_blocks;
mod muscles;
mod names;
mod paths;
mod points;
mod points_of_primitives;
mod recording_entries;
mod recordings;
mod rig;
mod rows;
mod rules;
mod sample_entries;
mod session;
mod shapes;
mod stack;
mod transforms;
mod types;
mod unplaced;
mod v1;
mod v10;
mod v11;
mod v2;
mod v3;
mod v4;
mod v5;
mod v6;
mod v7;
mod v8;
mod v9;

pub use apply::apply_project;
pub use autosave::{Autosaves, Recoverable};
pub use collect::to_project;
pub use error::ProjectError;
pub use file::{
    ModelSource, Opened, Stamps, open, open_text, open_with_source, save, save_unless_changed,
};
pub use migrate::{parse, to_text};
pub use v11::{ModelRef, Project};
