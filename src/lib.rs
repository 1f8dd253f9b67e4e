//! Sinew: an editor in which artists make rigged characters bend well.
//!
//! # The way of the data
//!
//! A model file -> [`io`] (our own bounds-checked reader) -> [`document::Document`] -> a clone of it, and a pose ->
//! [`evaluate`] on a worker thread: cook what changed ([`deform`]), deform ([`skinning`]), carry normals ([`mesh`]) ->
//! [`editor::Editor`], which holds what is on screen -> `view` draws. The artist's pointer goes the other way: `view` ->
//! [`editor`] -> [`tools`], which pick on the deformed surface and ask for [`document::Edit`]s -> [`document::History`]
//! applies them. Saves and exports ([`io::project`], [`mod@export`]) read a clone on a second thread.
//!
//! # The house
//!
//! A folder may use only what lies below it; `tests/core/layering.rs` checks it.
//!
//! | layer | what it knows |
//! |---|---|
//! | `main` | arguments -> the window or a subcommand |
//! | `app`, [`cli`] | eframe shell and dialogs; info, skin, render, export, check, bench, sample |
//! | `view` | egui panels, the three-d viewport, offscreen pictures: the only place that knows OpenGL |
//! | [`editor`] | the app without pixels: commands, poll, what is displayed |
//! | [`mod@export`] | plan, bake, write, read back once, verify, report |
//! | [`tools`], [`evaluate`], [`io`] | pointer tools; worker and job lane; glTF, projects, autosave |
//! | [`bake`], [`sample`] | stacks as linear skinning and morph targets; generated models |
//! | [`document`] | the document, its edits and history, the session, invariants |
//! | [`deform`] | the deformer stack: what is cooked, and its run |
//! | [`weights`] | operations on influences |
//! | [`skinning`] | influences, palettes, the kernels |
//! | [`mesh`], [`skeleton`] | points, vertices, topology, normals, rays; joints, poses, clips, bones |
//! | [`math`] | transforms, dual quaternions, polar decomposition, camera |
//! | [`task`], [`finding`] | progress and cancel; a problem with its place |
//!
//! # Words
//!
//! A *joint* is a transform node; a *bone* the segment from it to a child. A *point* is a welded position: what is
//! painted and deformed. A *vertex* is what glTF stores and the GPU draws; several share a point along seams.
//! Right-handed, Y up, metres, radians in data, degrees on screen, column vectors, quaternions (x, y, z, w).
//!
//! # Invariants of the whole
//!
//! **Invariant:** the core (everything but `app` and `view`) compiles without a GUI and knows no screen.
//!
//! **Invariant:** only an [`document::Edit`] changes a document, and every edit can be undone to the same bits.
//!
//! **Invariant:** an incremental evaluation gives the bits of a full one, for any number of threads.
//!
//! **Invariant:** nothing that a user's file holds can make the program panic; broken input is a sentence that names
//! the fault and its place.
//!
//! **Invariant:** `unsafe` is denied except in three documented modules: `skinning::simd`, `view::gl` and
//! `view::offscreen`.

#[cfg(feature = "gui")]
pub mod app;
pub mod bake;
pub mod cli;
pub mod deform;
pub mod document;
pub mod editor;
pub mod evaluate;
pub mod export;
pub mod finding;
pub mod io;
pub mod math;
pub mod mesh;
pub mod sample;
pub mod skeleton;
pub mod skinning;
pub mod task;
pub mod tools;
#[cfg(feature = "render")]
pub mod view;
pub mod weights;
