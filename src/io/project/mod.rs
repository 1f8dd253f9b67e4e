//! The project file: what the artist made of a model, in text that a person can read and git can diff.
//!
//! The way of the data: [`to_project`] compares a document with its source -> [`Project`] -> RON -> [`save`] replaces
//! the file in one step. [`open`] reads the text -> migrates old versions -> imports the model that the project names
//! -> [`apply_project`] makes edits of it. [`Autosaves`] does the same beside the artist's own files.
//!
//! A project holds only what differs from the source. Points are named by (mesh, primitive, lowest vertex index within
//! the primitive), joints by node index; every index has its name beside it as a check.
//!
//! Invariant: saving and opening again gives the same document and session, bit for bit, over the same source.
//! Invariant: at every moment the path holds the whole old or the whole new file.
//! Invariant: nothing in a file makes Sinew panic, or allocate out of proportion to the file and its model.
//! Invariant: what could not be applied is a finding; nothing is dropped silently.

mod apply;
mod autosave;
mod block;
mod clips;
mod collect;
mod error;
mod file;
mod format;
mod keys;
mod layers;
mod masks;
mod migrate;
mod names;
mod paths;
mod points;
mod rows;
mod rules;

pub use apply::apply_project;
pub use autosave::{Autosaves, Recoverable};
pub use collect::to_project;
pub use error::ProjectError;
pub use file::{ModelSource, Opened, open, open_with_source, save};
pub use format::{ModelRef, Project};
pub use migrate::{VERSION, parse, to_text};
