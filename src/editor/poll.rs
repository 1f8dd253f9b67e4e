//! The editor's work in each frame: it takes results and starts the work that depends on them.
//!
//! Invariant: the order of [`STEPS`] does not affect the editor's final state. A step reads state, never the outcome of
//! another step in the same poll, and runs again as long as it has something to do.

use super::Editor;
use crate::document::Session;
use crate::evaluate::{Evaluated, Request};

/// The requests to the worker and their results.
pub(super) struct Evaluation {
    pub(super) posted: u64,
    pub(super) received: u64,
    /// The newest request whose result is on screen.
    shown: u64,
    /// The first request of the current model; results of earlier ones are dropped.
    first_valid: u64,
    /// Whether the document or the pose changed since the last request.
    pub(super) stale: bool,
    /// Whether the next request discards the worker's caches.
    reset: bool,
    /// Whether the last poll had nothing to do.
    is_settled: bool,
    /// The state that the last poll reacted to.
    polled: Polled,
    pub(super) skin_secs: f64,
}

/// What the steps of a poll react to without a request to the lane or the worker.
#[derive(Default)]
struct Polled {
    session: Session,
    revision: u64,
    is_in_step: bool,
}

impl Default for Evaluation {
    fn default() -> Self {
        Self {
            posted: 0,
            received: 0,
            shown: 0,
            first_valid: 0,
            stale: false,
            reset: false,
            is_settled: true,
            polled: Polled::default(),
            skin_secs: 0.0,
        }
    }
}

impl Evaluation {
    /// Resets the state for another model.
    pub(super) fn start_document(&mut self) {
        self.stale = true;
        self.reset = true;
        self.first_valid = self.posted + 1;
    }

    /// The number of requests, and of the newest one whose result is on screen.
    pub(super) fn requests(&self) -> [u64; 2] {
        [self.posted, self.shown]
    }

    /// Whether the screen shows the current document.
    pub(super) fn is_current(&self) -> bool {
        !self.stale && self.received == self.posted
    }
}

/// One step of a poll; returns whether there was something to do.
type Step = fn(&mut Editor) -> bool;

const STEPS: [Step; 27] = [
    Editor::go_on_with_stroke,
    Editor::take_ended_jobs,
    Editor::take_evaluated,
    Editor::fit_index,
    Editor::follow_edits_of_operation,
    Editor::follow_edits_of_rig,
    Editor::follow_edits_of_motion,
    Editor::follow_live,
    Editor::follow_individual,
    Editor::report_layers,
    Editor::frame_new_model,
    Editor::frame_worst_of_export,
    Editor::find_weighted_joints,
    Editor::start_centres,
    Editor::start_layout,
    Editor::start_fix_that_waits,
    Editor::start_mirror_table,
    Editor::start_picture,
    Editor::start_pose_picture,
    Editor::follow_hidden,
    Editor::post,
    Editor::start_checks,
    Editor::find_sparse_clusters,
    Editor::watch_recordings,
    Editor::start_summary,
    Editor::start_autosave,
    Editor::report_dropped_steps,
];

impl Editor {
    /// Advances playback by `dt_secs`, takes results, starts dependent work and posts the newest snapshot. Call it once
    /// a frame. Returns whether there was something to do: another poll may then find more.
    pub fn poll(&mut self, dt_secs: f64) -> bool {
        self.advance_playback(dt_secs);
        self.take_steps(&STEPS)
    }

    fn take_steps(&mut self, steps: &[Step]) -> bool {
        let mut did_something = false;
        for step in steps {
            did_something |= step(self);
        }
        self.evaluation.is_settled = !did_something;
        if !self.was_polled() {
            self.evaluation.polled = Polled {
                session: self.document.session().clone(),
                revision: self.history.revision(),
                is_in_step: self.is_in_step(),
            };
        }
        did_something
    }

    /// Whether the last poll reacted to the current session, edits and steps.
    fn was_polled(&self) -> bool {
        let polled = &self.evaluation.polled;
        polled.revision == self.history.revision()
            && polled.is_in_step == self.is_in_step()
            && polled.session == *self.document.session()
    }

    /// Whether all requested work is done and on screen: nothing is left for the lane, the worker or the next poll. Also
    /// correct directly after a change that the next poll reacts to.
    pub fn is_idle(&self) -> bool {
        self.evaluation.is_settled
            && self.was_polled()
            && self.evaluation.is_current()
            && self.lane.is_idle()
            && !self.is_ending_stroke()
            && !self.wants_checks()
            && !self.wants_other_net()
            && !self.has_waiting_fixes()
            && !self.exporting.wants_frame()
    }

    fn go_on_with_stroke(&mut self) -> bool {
        let is_ending = self.is_ending_stroke();
        self.end_stroke(false);
        is_ending
    }

    fn take_evaluated(&mut self) -> bool {
        let mut took = false;
        while let Some(result) = self.worker.try_result() {
            took = true;
            self.show_evaluated(result);
        }
        took
    }

    fn show_evaluated(&mut self, mut result: Evaluated) {
        self.evaluation.received = result.generation;
        if result.generation < self.evaluation.first_valid {
            return;
        }
        self.evaluation.skin_secs = result.secs;
        if let Some(failure) = result.failure {
            self.notify_error(failure);
            return;
        }
        self.evaluation.shown = result.generation;
        self.picture_serial += 1;
        self.views.take(&mut result, &self.document, &self.worker);
        self.heat_maps.take(std::mem::take(&mut result.heat));
        self.surfaces.take(std::mem::take(&mut result.surfaces));
        let edges = std::mem::take(&mut result.edges);
        self.clustering.net.take(result.net.take(), edges);
        self.world = result.world;
        self.settle_moved_joints(result.generation);
        let instances = self.document.instances();
        self.views.retain(|id| instances.contains_key(&id));
    }

    /// Frames a newly opened model once it is on screen.
    fn frame_new_model(&mut self) -> bool {
        let evaluation = &self.evaluation;
        let is_shown = evaluation.is_current() && evaluation.shown == evaluation.posted;
        let frames = is_shown && std::mem::take(&mut self.frame_when_shown);
        if frames {
            self.frame_all();
        }
        frames
    }

    fn find_weighted_joints(&mut self) -> bool {
        let finds = self.weighted_stale && !self.is_painting();
        if finds {
            self.weighted_stale = false;
            self.weighted = self.weighted_joints.update(&self.document);
            self.picture_serial += 1;
        }
        finds
    }

    /// Posts a snapshot if something changed since the last one.
    fn post(&mut self) -> bool {
        if !self.evaluation.stale && !self.wants_other_net() {
            return false;
        }
        self.evaluation.stale = false;
        self.evaluation.posted += 1;
        let heat_map = self.heat_request();
        self.remember_bed();
        let (net, edges) = self.ask_for_net();
        let document = self.shown_body();
        let bodies = self.bodies_in_views();
        let cooks = self.cooks_of(self.shown_choice());
        self.worker.post(Request {
            generation: self.evaluation.posted,
            pose: document.shown_pose(),
            moment: document.shown_moment(),
            document,
            views: self.views.requests(),
            centres: cooks.centres,
            layouts: cooks.layouts,
            bodies,
            exported: self.exporting.model().cloned(),
            heat_map,
            net,
            edges,
            reset: std::mem::take(&mut self.evaluation.reset),
        });
        true
    }

    /// Reports that the oldest undo steps were dropped, once for each time.
    fn report_dropped_steps(&mut self) -> bool {
        let n = self.history.n_dropped();
        let is_new = n > self.n_dropped_reported;
        if is_new {
            self.n_dropped_reported = n;
            self.notify(format!(
                "The history is full. The {n} oldest steps can no longer be undone."
            ));
        }
        is_new
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::deform::SkinningMethod;
    use crate::deform::diagnostics::Metric;
    use crate::editor::influence_table::SortOrder;
    use crate::editor::{OpenRequest, OperationKind};
    use crate::math::Axis;
    use crate::skeleton::JointId;
    use std::fmt::Write as _;
    use std::path::Path;
    use std::time::{Duration, Instant};

    /// An editor whose polls take the steps in a given order.
    struct EditorSession {
        editor: Editor,
        steps: Vec<Step>,
        notices: Vec<String>,
    }

    impl EditorSession {
        fn new(steps: Vec<Step>) -> Self {
            Self {
                editor: Editor::new(None, || {}).unwrap(),
                steps,
                notices: Vec::new(),
            }
        }

        fn settle(&mut self) {
            let deadline = Instant::now() + Duration::from_mins(10);
            loop {
                self.editor.take_steps(&self.steps);
                while let Some(notice) = self.editor.take_notice() {
                    self.notices.push(notice.text);
                }
                if self.editor.is_idle() {
                    return;
                }
                assert!(Instant::now() < deadline, "it does not come to rest");
                std::thread::sleep(Duration::from_millis(1));
            }
        }
    }

    /// The final state of a session with each kind of job, as text.
    fn outcome(steps: Vec<Step>, folder: &Path) -> String {
        let mut s = EditorSession::new(steps);
        s.editor.open(OpenRequest::Sample("arm".into()));
        s.settle();
        // Work that does not change the document may run at the same time.
        s.editor.set_method(SkinningMethod::CentresOfRotation);
        s.editor.select_joint(Some(JointId(1)));
        s.editor.select_moved_points();
        s.editor.select_mirrored();
        s.editor.brush_mut().symmetry = Some(Axis::X);
        s.editor.show_heat_map(Some(Metric::Bulge));
        s.editor.measure_volume();
        s.editor.measure_diagonal();
        assert!(s.editor.ask_for_influences(SortOrder::default()));
        s.settle();
        s.editor.add_layer();
        let layer = s.editor.active_layer().unwrap();
        s.editor.mirror_layer(layer, Some((Axis::X, true)));
        s.settle();
        s.editor.begin_operation(OperationKind::Smooth);
        s.settle();
        s.editor.undo();
        s.editor.redo();
        let clip = *s.editor.document().clips().keys().next().unwrap();
        let bake = &mut s.editor.export_settings_mut().bake;
        (bake.tolerance, bake.max_joints, bake.clips) = (0.05, 1, vec![clip]);
        let model = folder.join("arm.glb");
        s.editor.advise_export(&model);
        s.settle();
        s.editor.save_export(&model);
        s.editor.save_as(&folder.join("arm.ron"));
        s.settle();
        assert!(s.editor.show_worst_of_export());
        s.settle();

        let e = &s.editor;
        s.notices.sort();
        let mut text = s.notices.join("\n");
        let project = std::fs::read_to_string(folder.join("arm.ron")).unwrap();
        let camera = e.document().session().camera;
        let _ = writeln!(text, "\n{project}\n{camera:?}");
        let _ = writeln!(text, "{:?}", std::fs::read(&model).unwrap());
        let _ = writeln!(
            text,
            "{:?} {:?}",
            e.findings(),
            e.exporting().advice().findings()
        );
        let _ = writeln!(text, "{:?}", e.exporting().advice().estimate());
        let _ = writeln!(text, "{:?} {:?}", e.rest_diagonal(), e.volume_study());
        let _ = writeln!(text, "{:?} {:?}", e.influence_table(), e.weighted);
        for (instance, shown) in e.displayed() {
            let map = e.heat_map_in(crate::evaluate::ViewId::OWN, *instance);
            let map = map.map(|map| map.values.clone());
            let _ = writeln!(text, "{:?} {:?} {map:?}", shown.positions, shown.normals);
            let mesh = e.document().instances()[instance].mesh;
            let _ = writeln!(text, "{:?}", e.n_without_mirror_image(mesh));
        }
        let history = e.history();
        let _ = writeln!(text, "{} {}", history.n_undo(), history.is_modified());
        text
    }

    #[test]
    fn steps_in_any_order_lead_to_the_same_state() {
        let folder = tempfile::tempdir().unwrap();
        let as_written = outcome(STEPS.to_vec(), folder.path());
        assert!(as_written.contains("Exported arm.glb") && as_written.contains("Saved arm.ron"));
        let mut order = STEPS.to_vec();
        order.reverse();
        let mut random = 1_u32;
        for round in 0..5 {
            let found = outcome(order.clone(), folder.path());
            if found != as_written {
                let mut lines = found.lines().zip(as_written.lines());
                let (a, b) = lines.find(|(a, b)| a != b).unwrap();
                panic!("order {round}:\n{a:.2000}\nas written:\n{b:.2000}");
            }
            for i in (1..order.len()).rev() {
                random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                order.swap(i, (random >> 16) as usize % (i + 1));
            }
        }
    }

    #[test]
    fn what_was_asked_for_is_not_done_before_a_poll_has_seen_it() {
        let mut s = EditorSession::new(STEPS.to_vec());
        s.editor.open(OpenRequest::Sample("arm".into()));
        assert!(!s.editor.is_idle());
        s.settle();
        let path = Path::new("arm.glb");
        s.editor.advise_export(path);
        assert!(!s.editor.is_idle());
        s.settle();
        // A change of the session that the next poll reacts to.
        s.editor.brush_mut().symmetry = Some(Axis::X);
        assert!(!s.editor.is_idle());
        s.settle();
        let mesh = *s.editor.document().meshes().keys().next().unwrap();
        assert!(s.editor.n_without_mirror_image(mesh).is_some());
        // The end of a step, which mirror tables, centres and fixes wait for.
        s.editor.begin_step("Drag a slider");
        s.settle();
        s.editor.end_step();
        assert!(!s.editor.is_idle());
        s.settle();
        let estimate = *s.editor.exporting().advice().estimate().unwrap();
        // A newer request replaces the one under way.
        for tolerance in [0.05, 0.04, 0.1] {
            s.editor.export_settings_mut().bake.tolerance = tolerance;
            s.editor.advise_export(path);
            s.editor.take_steps(&STEPS);
            assert!(!s.editor.is_idle());
        }
        s.settle();
        assert!(!s.editor.exporting().advice().is_estimating());
        assert_ne!(s.editor.exporting().advice().estimate(), Some(&estimate));
    }
}
