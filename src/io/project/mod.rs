//! The project file: what the artist made of a model, in text that a person can read and git can diff.
//!
//! Data flow: [`to_project`] compares a document with its source -> [`Project`] -> RON -> [`save`] replaces the file in
//! one step. [`open`] reads the text -> upgrades old versions -> imports the model that the project names ->
//! [`apply_project`] makes edits of it. [`Autosaves`] does the same beside the artist's own files.
//!
//! `v1` to `v4` are the versions of the format; a version has what differs from the next one, and the step to it. The
//! other modules convert between the newest version and the document, each one part of it.
//!
//! A project holds only what differs from the source. Points are named by (mesh, primitive, lowest vertex index within
//! the primitive), joints by the node of the source or, if they are new, by a number of their own; the name stands
//! beside the number as a check.
//!
//! Invariant: saving and opening again gives the same document and session, bit for bit, over the same source.
//! Invariant: at every moment the path holds the whole old or the whole new file.
//! Invariant: nothing in a file makes Sinew panic, or allocate out of proportion to the file and its model.
//! Invariant: what cannot be applied is a finding; nothing is dropped silently. A field or a value that
//! the file's version does not have is an error that names it.
//! Invariant: only the types of this folder are read and written; no live type is.

mod apply;
mod autosave;
mod block;
mod brush;
mod clips;
mod collect;
mod error;
mod file;
mod joints;
mod keys;
mod layers;
mod masks;
mod migrate;
mod names;
mod paths;
mod points;
mod rig;
mod rows;
mod rules;
mod session;
mod stack;
mod transforms;
mod types;
mod v1;
mod v2;
mod v3;
mod v4;

pub use apply::apply_project;
pub use autosave::{Autosaves, Recoverable};
pub use collect::to_project;
pub use error::ProjectError;
pub use file::{ModelSource, Opened, open, open_with_source, save};
pub use migrate::{parse, to_text};
pub use v4::{ModelRef, Project};
