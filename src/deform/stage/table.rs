//! The table of stages: which there are, and in which order they run.

use super::changed::Changed;
use super::clusters::ClusterStage;
use super::corrective_smooth::SmoothStage;
use super::node_motion::NodeStage;
use super::pose_space_stage::PoseSpaceStage;
use super::run::{Run, Stage};
use super::skinning_pass::SkinningPass;
use super::sparse_skinning::SparseSkinning;
use crate::cluster::{CornerFrame, Patches};
use glam::Vec3;
use std::borrow::Cow;

/// The stages that make shapes, in order.
pub(in crate::deform) struct Stages {
    table: Vec<Line>,
}

/// A stage, and its key and cache while it acts.
struct Line {
    acts: fn(&Run<'_>) -> bool,
    make: fn() -> Box<dyn Stage>,
    stage: Option<Box<dyn Stage>>,
}

impl Line {
    fn of<S: Stage + Default + 'static>() -> Self {
        Self {
            acts: S::acts,
            make: || Box::new(S::default()),
            stage: None,
        }
    }
}

/// Lines of the table before [`PoseSpaceStage`].
const STAGES_BEFORE_SAMPLES: usize = 4;

impl Default for Stages {
    fn default() -> Self {
        Self {
            table: vec![
                Line::of::<NodeStage>(),
                Line::of::<SparseSkinning>(),
                Line::of::<SkinningPass>(),
                Line::of::<SmoothStage>(),
                Line::of::<PoseSpaceStage>(),
                Line::of::<ClusterStage>(),
            ],
        }
    }
}

impl Stages {
    /// Brings the shapes of all stages up to date. Returns what changed in the last one.
    pub(in crate::deform) fn run(&mut self, run: &Run<'_>) -> Changed {
        let mut before = run.bind.shape();
        let mut changed = run.bind.changed();
        for line in &mut self.table {
            if !(line.acts)(run) {
                if line.stage.take().is_some() {
                    changed = Changed::All;
                }
                continue;
            }
            if line.stage.is_none() {
                changed = Changed::All;
            }
            let stage = line.stage.get_or_insert_with(line.make);
            changed = stage.run(run, before, changed);
            before = stage.shape();
        }
        changed
    }

    /// The shape of the last stage that acts; empty before the first run.
    pub(in crate::deform) fn shape(&self) -> &[Vec3] {
        last_of(&self.table).map_or(&[], |stage| stage.shape())
    }

    /// The patches between control clusters in the latest run.
    pub(in crate::deform) fn patches(&self) -> Option<(&Patches, Cow<'_, [CornerFrame]>)> {
        let mut acting = self.table.iter().filter_map(|line| line.stage.as_ref());
        acting.find_map(|stage| stage.patches())
    }

    /// The values that those known at some clusters make on the patches between them.
    pub(in crate::deform) fn scalars(&self, known: &[(u32, f64)]) -> Option<Vec<f32>> {
        let mut acting = self.table.iter().filter_map(|line| line.stage.as_ref());
        acting.find_map(|stage| stage.scalars(known))
    }

    /// The shape before stage 7, on which samples are sculpted; empty before the first run.
    pub(in crate::deform) fn base_shape(&self) -> Cow<'_, [Vec3]> {
        last_of(self.before_samples()).map_or(Cow::Borrowed(&[]), |stage| stage.base_shape())
    }

    /// A point of [`Stages::base_shape`]; `None` beyond the last one.
    pub(in crate::deform) fn base_position(&self, point: usize) -> Option<Vec3> {
        last_of(self.before_samples())?.base_position(point)
    }

    fn before_samples(&self) -> &[Line] {
        self.table.get(..STAGES_BEFORE_SAMPLES).unwrap_or_default()
    }
}

/// The last stage that acts.
fn last_of(table: &[Line]) -> Option<&dyn Stage> {
    let mut acting = table.iter().rev();
    acting.find_map(|line| line.stage.as_deref())
}
