//! Integration tests of the core and the command line: one binary, so that they link once.

use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};
use std::alloc::System;

/// Counts, for the tests of what allocates.
#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

#[path = "core/animating.rs"]
mod animating;
#[path = "core/automatic_weights.rs"]
mod automatic_weights;
#[path = "core/bake.rs"]
mod bake;
#[path = "core/bake_beside.rs"]
mod bake_beside;
#[path = "core/bake_sources.rs"]
mod bake_sources;
#[path = "core/between_keys.rs"]
mod between_keys;
#[path = "core/bounds.rs"]
mod bounds;
#[path = "core/brushes.rs"]
mod brushes;
#[path = "core/centres.rs"]
mod centres;
#[path = "core/channels.rs"]
mod channels;
#[path = "core/checks.rs"]
mod checks;
#[path = "core/cli.rs"]
mod cli;
#[path = "core/cli_clusters.rs"]
mod cli_clusters;
#[path = "core/cli_motion.rs"]
mod cli_motion;
#[path = "core/cli_psd.rs"]
mod cli_psd;
#[path = "core/cli_rig.rs"]
mod cli_rig;
#[path = "core/cli_weights.rs"]
mod cli_weights;
#[path = "core/clip_edit.rs"]
mod clip_edit;
#[path = "core/cluster_choice.rs"]
mod cluster_choice;
#[path = "core/cluster_correctives.rs"]
mod cluster_correctives;
#[path = "core/cluster_data.rs"]
mod cluster_data;
#[path = "core/cluster_drivers.rs"]
mod cluster_drivers;
#[path = "core/cluster_frames.rs"]
mod cluster_frames;
#[path = "core/cluster_layers.rs"]
mod cluster_layers;
#[path = "core/cluster_layout.rs"]
mod cluster_layout;
#[path = "core/cluster_limb.rs"]
mod cluster_limb;
#[path = "core/cluster_patches.rs"]
mod cluster_patches;
#[path = "core/cluster_shapes.rs"]
mod cluster_shapes;
#[path = "core/cluster_suggested.rs"]
mod cluster_suggested;
#[path = "core/cluster_tables.rs"]
mod cluster_tables;
#[path = "core/clustered.rs"]
mod clustered;
#[path = "core/clusters.rs"]
mod clusters;
#[path = "core/clusters_data.rs"]
mod clusters_data;
#[path = "core/clusters_drivers.rs"]
mod clusters_drivers;
#[path = "core/clusters_editor.rs"]
mod clusters_editor;
#[path = "core/clusters_everywhere.rs"]
mod clusters_everywhere;
#[path = "core/clusters_hand.rs"]
mod clusters_hand;
#[path = "core/clusters_hand_editor.rs"]
mod clusters_hand_editor;
#[path = "core/clusters_lattice.rs"]
mod clusters_lattice;
#[path = "core/clusters_left_out.rs"]
mod clusters_left_out;
#[path = "core/compensating_joints.rs"]
mod compensating_joints;
#[path = "core/constraint_editing.rs"]
mod constraint_editing;
#[path = "core/constraint_keys.rs"]
mod constraint_keys;
#[path = "core/constraint_mirroring.rs"]
mod constraint_mirroring;
#[path = "core/constraint_projects.rs"]
mod constraint_projects;
#[path = "core/constraints.rs"]
mod constraints;
#[path = "core/control_clusters_arm.rs"]
mod control_clusters_arm;
#[path = "core/corrections.rs"]
mod corrections;
#[path = "core/corrective_jobs.rs"]
mod corrective_jobs;
#[path = "core/correctives.rs"]
mod correctives;
#[path = "core/correctives_clusters.rs"]
mod correctives_clusters;
#[path = "core/correctives_editor.rs"]
mod correctives_editor;
#[path = "core/correctives_everywhere.rs"]
mod correctives_everywhere;
#[path = "core/correctives_mirror.rs"]
mod correctives_mirror;
#[path = "core/correctives_problems.rs"]
mod correctives_problems;
#[path = "core/correctives_stale.rs"]
mod correctives_stale;
#[path = "core/documentation.rs"]
mod documentation;
#[path = "core/documents.rs"]
mod documents;
#[path = "core/drawn_often.rs"]
mod drawn_often;
#[path = "core/drawn_often_corrected.rs"]
mod drawn_often_corrected;
#[path = "core/editing.rs"]
mod editing;
#[path = "core/export.rs"]
mod export;
#[path = "core/export_bytes.rs"]
mod export_bytes;
#[path = "core/export_models.rs"]
mod export_models;
#[path = "core/exporting.rs"]
mod exporting;
#[path = "core/extreme_sources.rs"]
mod extreme_sources;
#[path = "bench/figures.rs"]
mod figures;
#[path = "core/gltf_builder.rs"]
mod gltf_builder;
#[path = "core/heat_maps.rs"]
mod heat_maps;
#[path = "core/humanoid.rs"]
mod humanoid;
#[path = "core/import_graph.rs"]
mod import_graph;
#[path = "core/import_models.rs"]
mod import_models;
#[path = "core/import_traps.rs"]
mod import_traps;
#[path = "core/independent_reader.rs"]
mod independent_reader;
#[path = "core/individual_editor.rs"]
mod individual_editor;
#[path = "core/influence_keys.rs"]
mod influence_keys;
#[path = "core/influence_table.rs"]
mod influence_table;
#[path = "core/inputs.rs"]
mod inputs;
#[path = "core/invalid_weights.rs"]
mod invalid_weights;
#[path = "core/joint_limits.rs"]
mod joint_limits;
#[path = "core/layering.rs"]
mod layering;
#[path = "core/layers.rs"]
mod layers;
#[path = "core/lengths.rs"]
mod lengths;
#[path = "core/live_edits.rs"]
mod live_edits;
#[path = "core/live_motion.rs"]
mod live_motion;
#[path = "core/live_rest.rs"]
mod live_rest;
#[path = "core/live_stretch.rs"]
mod live_stretch;
#[path = "core/logical_parents.rs"]
mod logical_parents;
#[path = "core/malformed.rs"]
mod malformed;
#[path = "core/maps.rs"]
mod maps;
#[path = "core/metrics.rs"]
mod metrics;
#[path = "core/mirrored_joints.rs"]
mod mirrored_joints;
#[path = "core/models.rs"]
mod models;
#[path = "core/motion_align.rs"]
mod motion_align;
#[path = "core/motion_bvh.rs"]
mod motion_bvh;
#[path = "core/motion_by_name.rs"]
mod motion_by_name;
#[path = "core/motion_chains.rs"]
mod motion_chains;
#[path = "core/motion_editor.rs"]
mod motion_editor;
#[path = "core/motion_fingers.rs"]
mod motion_fingers;
#[path = "core/motion_inputs.rs"]
mod motion_inputs;
#[path = "core/motion_mappings.rs"]
mod motion_mappings;
#[path = "core/motion_recordings.rs"]
mod motion_recordings;
#[path = "core/motion_retarget.rs"]
mod motion_retarget;
#[path = "core/motion_streams.rs"]
mod motion_streams;
#[path = "core/motion_target.rs"]
mod motion_target;
#[path = "core/motion_times.rs"]
mod motion_times;
#[path = "core/motion_vmc.rs"]
mod motion_vmc;
#[path = "core/mutations.rs"]
mod mutations;
#[path = "core/node_constraints.rs"]
mod node_constraints;
#[path = "core/normals.rs"]
mod normals;
#[path = "core/npy.rs"]
mod npy;
#[path = "core/obj_models.rs"]
mod obj_models;
#[path = "core/operating.rs"]
mod operating;
#[path = "core/oracle.rs"]
mod oracle;
#[path = "core/outputs.rs"]
mod outputs;
#[path = "core/plain_playback.rs"]
mod plain_playback;
#[path = "core/polynomial_fit.rs"]
mod polynomial_fit;
#[path = "core/pose_library.rs"]
mod pose_library;
#[path = "core/pose_space.rs"]
mod pose_space;
#[path = "core/posing.rs"]
mod posing;
#[path = "core/preflight.rs"]
mod preflight;
#[path = "core/project.rs"]
mod project;
#[path = "core/project_files.rs"]
mod project_files;
#[path = "core/project_joints.rs"]
mod project_joints;
#[path = "core/range_of_motion.rs"]
mod range_of_motion;
#[path = "core/recording_clock.rs"]
mod recording_clock;
#[path = "reference/mod.rs"]
mod reference;
#[path = "core/retarget.rs"]
mod retarget;
#[path = "core/retarget_properties.rs"]
mod retarget_properties;
#[path = "core/retarget_samples.rs"]
mod retarget_samples;
#[path = "core/rig_apply_pose.rs"]
mod rig_apply_pose;
#[path = "core/rig_bind.rs"]
mod rig_bind;
#[path = "core/rig_draw.rs"]
mod rig_draw;
#[path = "core/rig_drivers.rs"]
mod rig_drivers;
#[path = "core/rig_files.rs"]
mod rig_files;
#[path = "core/rig_keys.rs"]
mod rig_keys;
#[path = "core/rig_models.rs"]
mod rig_models;
#[path = "core/rig_operations.rs"]
mod rig_operations;
#[path = "core/rig_pin.rs"]
mod rig_pin;
#[path = "core/rig_refusals.rs"]
mod rig_refusals;
#[path = "core/rig_symmetrize.rs"]
mod rig_symmetrize;
#[path = "core/rig_tools.rs"]
mod rig_tools;
#[path = "core/rig_unbind.rs"]
mod rig_unbind;
#[path = "core/rigging.rs"]
mod rigging;
#[path = "core/rigid_interpolation.rs"]
mod rigid_interpolation;
#[path = "core/samples.rs"]
mod samples;
#[path = "core/scans.rs"]
mod scans;
#[path = "core/sculpt.rs"]
mod sculpt;
#[path = "core/seed_000.rs"]
mod seed_000;
#[path = "core/seed_001.rs"]
mod seed_001;
#[path = "core/seed_003.rs"]
mod seed_003;
#[path = "core/seed_004.rs"]
mod seed_004;
#[path = "core/seed_centres.rs"]
mod seed_centres;
#[path = "core/seed_papers.rs"]
mod seed_papers;
#[path = "core/seed_quality.rs"]
mod seed_quality;
#[path = "core/seed_tables.rs"]
mod seed_tables;
#[path = "core/selecting.rs"]
mod selecting;
#[path = "core/shading.rs"]
mod shading;
#[path = "core/shared.rs"]
mod shared;
#[path = "core/side_files.rs"]
mod side_files;
#[path = "core/skinning.rs"]
mod skinning;
#[path = "core/skins.rs"]
mod skins;
#[path = "core/smaller_exports.rs"]
mod smaller_exports;
#[path = "core/smoothing.rs"]
mod smoothing;
#[path = "core/source_layouts.rs"]
mod source_layouts;
#[path = "core/stack_models.rs"]
mod stack_models;
#[path = "core/stack_promises.rs"]
mod stack_promises;
#[path = "core/stack_quality.rs"]
mod stack_quality;
#[path = "core/stack_random.rs"]
mod stack_random;
#[path = "core/stacks.rs"]
mod stacks;
#[path = "core/stage_keys.rs"]
mod stage_keys;
#[path = "core/still.rs"]
mod still;
#[path = "core/suggest.rs"]
mod suggest;
#[path = "core/suggest_sweeps.rs"]
mod suggest_sweeps;
#[path = "core/tapes.rs"]
mod tapes;
#[path = "core/true_exports.rs"]
mod true_exports;
#[path = "core/twin.rs"]
mod twin;
#[path = "core/two_windows.rs"]
mod two_windows;
#[path = "core/unusual_sources.rs"]
mod unusual_sources;
#[path = "core/views.rs"]
mod views;
#[path = "core/water_surface.rs"]
mod water_surface;
#[path = "core/weight_documents.rs"]
mod weight_documents;
#[path = "core/weight_operations.rs"]
mod weight_operations;
#[path = "core/weight_views.rs"]
mod weight_views;
