//! The document: everything the user can edit, and the only way to edit it.
//!
//! Data flow: an importer or a generator fills [`MeshSource`]s, which are welded into meshes, and [`Parts`] ->
//! [`Document::new`] -> [`Edit`]s through [`History`] -> clones for the worker, saves and exports.
//!
//! Invariant: fields are private to this folder; only [`Edit`] changes a document (the [`Session`] is not part of its
//! content).
//! Invariant: an edit swaps: applied twice it restores the document bit for bit; on `Err` nothing changed.
//! Invariant: cloning is cheap: all large data is behind an `Arc`.

mod bind_bones;
pub mod brush;
pub mod checks;
mod cluster_groups;
mod clusters_edit;
pub mod compare;
pub mod constraint_keys;
pub mod constraints;
mod control_points;
mod correctives_edit;
mod data_fit;
pub mod deformation;
mod dirty;
pub mod edit;
mod edit_error;
pub mod fixes;
pub mod history;
mod human_map;
mod humanoid;
pub mod ids;
mod individual;
mod influence_edit;
mod invalid_weights;
pub mod invariants;
pub mod joint_colour;
mod kept_weights;
pub mod layers;
mod mask_edit;
mod mask_of;
mod mesh_copies;
pub mod mesh_source;
mod model;
mod paint_target;
mod painting;
pub mod parts;
mod pose_library;
mod recordings;
mod renamed_bone;
pub mod repairs;
mod rest_places;
pub mod rig;
mod sample_base;
mod sculpt_kind;
mod sculpt_target;
pub mod session;
pub mod source;
pub mod subject;
pub mod transfer_source;
mod unplaced_constraints;
pub mod validity;
mod weighted;

pub use clusters_edit::ClustersEdit;
pub use compare::{Compare, PaneLayout};
pub use constraint_keys::ConstraintKeys;
pub use constraints::ConstraintsEdit;
pub use control_points::ControlFrame;
pub use correctives_edit::CorrectivesEdit;
pub use data_fit::FitResidual;
pub use deformation::{CookedInstance, PosedDocument, SkinnedMesh};
pub use dirty::Dirty;
pub use edit::Edit;
pub use edit_error::EditError;
pub use history::History;
pub use human_map::HumanMap;
pub use ids::{ClipId, InstanceId, LayerId, MeshId, PoseId, SkinId};
pub use individual::{
    Individual, IndividualEdit, IndividualShape, Individualised, MAX_GAIN_FACTOR, MAX_VARIATIONS,
    Person, Variation,
};
pub use influence_edit::InfluenceEdit;
pub use invalid_weights::{InvalidRows, InvalidWeights};
pub use kept_weights::{KeptOfMeshes, KeptWeights};
pub use layers::{Layer, LayerStack, LayersEdit};
pub use mask_edit::MaskEdit;
pub use mask_of::MaskOf;
pub use mesh_source::{BuiltMesh, MeshSource, PrimitiveSource};
pub use model::{Document, InvalidParts};
pub use parts::{Image, Instance, LeftOut, Material, MeshItem, Parts, Skin};
pub use repairs::{RepairedKeys, Repairs};
pub use sculpt_target::{SculptFactors, SculptTarget};
pub use session::Session;
pub use source::{Source, SourceKind};
pub use unplaced_constraints::UnplacedConstraint;
pub use weighted::WeightedJoints;
