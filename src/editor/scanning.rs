//! The comparison of the body on screen with a scan of the person.
//!
//! Data flow: [`Editor::compare_with_scan`] -> the scan is read, aligned and measured on the lane against the body in its pose -> a
//! [`ScanComparison`]: figures, and the distances that the heat map [`Metric::ScanDistance`] shows.
//!
//! Invariant: the comparison keeps what it was made of; where the body or its pose is another one now, it says so.

use super::Editor;
use super::files::file_name;
use super::heat_maps::HeatMap;
use super::jobs::EditorJob;
use crate::deform::BodyChoice;
use crate::deform::diagnostics::{Metric, Summary};
use crate::document::{Document, InstanceId};
use crate::evaluate::{Evaluator, HeatFigures, JobError, JobHandle, PosedSurface, SlowCooks};
use crate::finding::Place;
use crate::io::scan_file::{ScanFileError, read_scan};
use crate::skeleton::{Moment, Pose};
use crate::task::Task;
use crate::twin::Unit;
use crate::twin::scan::{Accuracy, Align, Scan, ScanError};
use glam::DVec3;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The message after a cancelled comparison.
pub const SCAN_CANCELLED: &str = "Cancelled. Nothing was compared.";

/// How a scan is compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ScanOptions {
    /// The unit of the scan; it is never scaled to fit.
    pub unit: Unit,
    /// How it is laid on the body.
    pub align: Align,
}

/// A place of the body.
#[derive(Clone, Debug, PartialEq)]
pub struct ScanPlace {
    /// The bone that it follows most; empty without one.
    pub bone: String,
    /// What [`Editor::go_to_place`] selects.
    pub target: Option<Place>,
    /// It, world space, metres.
    pub at: DVec3,
}

/// How far the body is from a scan.
#[derive(Clone, Debug)]
pub struct ScanComparison {
    /// The file of the scan.
    pub path: PathBuf,
    /// How it was compared.
    pub options: ScanOptions,
    /// The body that was compared.
    pub body: BodyChoice,
    /// The number of faces of the scan; 0: it has only points.
    pub n_faces: usize,
    /// The figures. The distances themselves are in the heat map, and no longer here.
    pub accuracy: Accuracy,
    /// The point of the body nearest to the largest distance of the scan.
    pub scan_at: ScanPlace,
    /// The point of the body with the largest distance.
    pub body_at: ScanPlace,
    /// Increases with each comparison.
    pub serial: u64,
    distances: BTreeMap<InstanceId, HeatMap>,
    figures: HeatFigures,
    subject: Subject,
}

/// The body that was compared.
#[derive(Clone, Debug, PartialEq)]
struct Subject {
    revision: u64,
    body: u64,
    /// The template's, which that of the individual follows from.
    pose: Arc<Pose>,
    moment: Moment,
    hidden: BTreeSet<InstanceId>,
}

/// What a job finds.
struct Found {
    n_faces: usize,
    accuracy: Accuracy,
    scan_at: ScanPlace,
    body_at: ScanPlace,
    distances: Vec<(InstanceId, Vec<f32>)>,
    figures: HeatFigures,
}

/// A comparison under way.
struct Comparing {
    path: PathBuf,
    options: ScanOptions,
    body: BodyChoice,
    subject: Subject,
    job: JobHandle<Result<Found, ScanFileError>>,
}

/// The comparison that is shown, and the one under way.
#[derive(Default)]
pub(super) struct Scanning {
    options: ScanOptions,
    comparing: Option<Comparing>,
    shown: Option<ScanComparison>,
    failure: Option<String>,
    serial: u64,
}

impl Scanning {
    /// Drops what belongs to the previous model.
    pub(super) fn forget_model(&mut self) {
        if let Some(comparing) = self.comparing.take() {
            comparing.job.task().cancel();
        }
        self.shown = None;
        self.failure = None;
    }

    /// The distances of an instance.
    pub(super) fn distances(&self, instance: InstanceId) -> Option<&HeatMap> {
        self.shown.as_ref()?.distances.get(&instance)
    }

    /// The summary of the distances.
    pub(super) fn figures(&self) -> Option<&HeatFigures> {
        self.shown.as_ref().map(|shown| &shown.figures)
    }
}

impl Editor {
    /// How the next scan is compared.
    pub fn scan_options(&self) -> ScanOptions {
        self.scanning.options
    }

    /// Sets how the next scan is compared.
    pub fn set_scan_options(&mut self, options: ScanOptions) {
        self.scanning.options = options;
    }

    /// Compares the template or the individual, whichever is shown, in its pose and without hidden meshes, with a scan (.obj, .ply), in the background. Restarts a comparison under way.
    pub fn compare_with_scan(&mut self, path: &Path) {
        self.cancel_scan();
        self.scanning.comparing = None;
        self.scanning.failure = None;
        let options = self.scanning.options;
        let document = self.shown_body();
        let (pose, moment) = (document.shown_pose(), document.shown_moment());
        let subject = self.scan_subject();
        let body = self.shown_choice();
        let cooks = self.cooks_of(body);
        let theirs = path.to_owned();
        let work = move |task: &Task| {
            task.step("Reading the scan", 0.0)?;
            let scan = read_scan(&theirs, options.unit, task)?;
            let found = compare(
                &document,
                (&pose, moment),
                &cooks,
                &scan,
                options.align,
                task,
            );
            found.map_err(|why| match why {
                ScanError::Cancelled(cancelled) => ScanFileError::Cancelled(cancelled),
                why @ ScanError::Unusable(_) => ScanFileError::Scan { path: theirs, why },
            })
        };
        let label = format!("Comparing with {}", file_name(path));
        let job = self.lane.submit(EditorJob::CompareScan, &label, work);
        self.scanning.comparing = Some(Comparing {
            path: path.to_owned(),
            options,
            body,
            subject,
            job,
        });
    }

    /// Compares with the same scan again, with the present options.
    pub fn compare_again(&mut self) {
        if let Some(path) = self.scanning.shown.as_ref().map(|shown| shown.path.clone()) {
            self.compare_with_scan(&path);
        }
    }

    /// Cancels the comparison under way; the previous one stays.
    pub fn cancel_scan(&mut self) {
        if let Some(comparing) = &self.scanning.comparing {
            comparing.job.task().cancel();
        }
    }

    /// The progress of the comparison under way.
    pub fn comparing_scan(&self) -> Option<&Task> {
        let comparing = self.scanning.comparing.as_ref()?;
        Some(comparing.job.task())
    }

    /// The latest comparison with a scan.
    pub fn scan_comparison(&self) -> Option<&ScanComparison> {
        self.scanning.shown.as_ref()
    }

    /// Why the last scan could not be compared: a sentence.
    pub fn scan_failure(&self) -> Option<&str> {
        self.scanning.failure.as_deref()
    }

    /// Whether the document, the pose, what is hidden or the options are others than those of the comparison.
    pub fn is_scan_stale(&self) -> bool {
        let shown = self.scanning.shown.as_ref();
        shown.is_some_and(|shown| {
            shown.options != self.scanning.options || shown.subject != self.scan_subject()
        })
    }

    /// Whether the distances are of another state of the body that was compared, whatever body is on screen.
    pub(super) fn are_distances_old(&self) -> bool {
        let shown = self.scanning.shown.as_ref();
        shown.is_some_and(|shown| {
            let now = Subject {
                body: self.key_of_body(shown.body),
                ..self.scan_subject()
            };
            shown.subject != now
        })
    }

    /// Forgets the comparison.
    pub fn forget_scan(&mut self) {
        self.cancel_scan();
        self.scanning.comparing = None;
        self.scanning.shown = None;
        self.scanning.failure = None;
        self.picture_serial += 1;
    }

    fn scan_subject(&self) -> Subject {
        let document = &self.document;
        Subject {
            revision: self.history.revision(),
            body: self.body_key(),
            pose: document.shown_pose(),
            moment: document.shown_moment(),
            hidden: document.session().hidden_instances.clone(),
        }
    }

    /// Takes a comparison that ended.
    pub(super) fn take_scan(&mut self) {
        let comparing = &mut self.scanning.comparing;
        let Some(comparing) = comparing.take_if(|comparing| comparing.job.has_ended()) else {
            return;
        };
        let Comparing {
            path,
            options,
            body,
            subject,
            job,
        } = comparing;
        let failure = match job.into_result() {
            Ok(Ok(found)) => {
                let generations = &mut self.heat_maps;
                let distances = found.distances.into_iter();
                let distances = distances.map(|(id, values)| (id, generations.map_of(values)));
                let distances = distances.collect();
                self.scanning.serial += 1;
                self.scanning.shown = Some(ScanComparison {
                    path,
                    options,
                    body,
                    n_faces: found.n_faces,
                    accuracy: found.accuracy,
                    scan_at: found.scan_at,
                    body_at: found.body_at,
                    serial: self.scanning.serial,
                    distances,
                    figures: found.figures,
                    subject,
                });
                self.scanning.failure = None;
                self.picture_serial += 1;
                return;
            }
            Ok(Err(ScanFileError::Cancelled(_))) | Err(JobError::Cancelled) => {
                SCAN_CANCELLED.to_owned()
            }
            Ok(Err(why)) => why.to_string(),
            Err(error @ JobError::Failed) => error.to_string(),
        };
        self.scanning.failure = Some(failure);
    }
}

/// Compares a document in a pose with a scan.
fn compare(
    document: &Document,
    (pose, moment): (&Pose, Moment),
    cooks: &SlowCooks,
    scan: &Scan,
    align: Align,
    task: &Task,
) -> Result<Found, ScanError> {
    let mut evaluator = Evaluator::for_positions();
    evaluator.set_cooks(SlowCooks::of(document, cooks, task)?);
    evaluator.evaluate(document, pose.at(moment));
    task.check()?;
    let hidden = &document.session().hidden_instances;
    let posed = PosedSurface::without(document, &evaluator, hidden)?;
    let mut accuracy = Accuracy::new(&posed.surface, scan, align, task)?;
    let of_body = std::mem::take(&mut accuracy.of_body);
    accuracy.of_scan = Vec::new();
    let values: Vec<f32> = of_body.iter().map(|d| *d as f32).collect();
    let summary = Summary::of(&values);
    let distances = posed.split(&of_body);
    let distances = distances.map(|(id, values)| (id, values.iter().map(|d| *d as f32).collect()));
    let place = |point: u32, at: DVec3| {
        let owner = posed.owner(point);
        let mesh = owner
            .and_then(|(id, _)| document.instances().get(&id))
            .map(|i| i.mesh);
        ScanPlace {
            bone: posed.bone(document, point).unwrap_or_default(),
            target: owner.zip(mesh).map(|((_, point), mesh)| Place::Points {
                mesh: mesh.0,
                points: [point].into(),
            }),
            at,
        }
    };
    let body_at = accuracy.body.max_at;
    Ok(Found {
        n_faces: scan.n_triangles(),
        scan_at: place(accuracy.farthest_point, accuracy.farthest),
        body_at: place(body_at, posed.place(body_at).unwrap_or(DVec3::NAN)),
        distances: distances.collect(),
        figures: HeatFigures {
            metric: Metric::ScanDistance,
            summary,
            worst: summary.worst().and_then(|point| posed.owner(point)),
        },
        accuracy,
    })
}
