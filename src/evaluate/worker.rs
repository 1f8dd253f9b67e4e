//! The evaluation thread.

use super::control_net::{ControlNetShape, control_net};
use super::heat_map::{HeatMapRequest, HeatMapper, HeatUpdate, views_for};
use super::surface_data::{SurfaceData, SurfaceDataFinder};
use super::{
    BodyMap, CentreMap, Evaluator, ExportedModel, LayoutMap, MOST_PATCHES, NetEdges, ViewId,
    ViewRequest, net_edges,
};
use crate::deform::Moved;
use crate::document::{Document, InstanceId};
use crate::skeleton::{Moment, Pose};
use crossbeam_channel::{Receiver, Sender, unbounded};
use glam::{DAffine3, Vec3};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Instant;

/// An evaluation to run.
pub struct Request {
    /// Grows with each request; comes back in the result.
    pub generation: u64,
    /// The snapshot.
    pub document: Document,
    /// The pose to show it in.
    pub pose: Arc<Pose>,
    /// The time of the pose.
    pub moment: Moment,
    /// The views to evaluate, each once; the results of others are freed.
    pub views: Vec<ViewRequest>,
    /// The centres of rotation that are known; the worker computes none.
    pub centres: CentreMap,
    /// The patch layouts that are known; the worker computes none.
    pub layouts: LayoutMap,
    /// The bodies that views ask for.
    pub bodies: BodyMap,
    /// The latest export, to show it as a player does.
    pub exported: Option<Arc<ExportedModel>>,
    /// The heat map to compute.
    pub heat_map: Option<HeatMapRequest>,
    /// The instance whose control net to find.
    pub net: Option<InstanceId>,
    /// The instances whose patches are measured along their edges.
    pub edges: Vec<InstanceId>,
    /// Drop all caches: the first request after another model was opened.
    pub reset: bool,
}

/// The result of a request.
#[derive(Debug)]
pub struct Evaluated {
    /// The request's.
    pub generation: u64,
    /// n_joints world transforms of the pose.
    pub world: Vec<DAffine3>,
    /// The same of each view that shows another body.
    pub worlds: Vec<(ViewId, Vec<DAffine3>)>,
    /// The views that were evaluated.
    pub views: Vec<ViewId>,
    /// Instances that moved.
    pub updates: Vec<Updated>,
    /// Their heat maps.
    pub heat: HeatUpdate,
    /// What is shown of surfaces besides their shapes: all of it.
    pub surfaces: Vec<SurfaceData>,
    /// The control net that was asked for.
    pub net: Option<ControlNetShape>,
    /// The edges that were asked for.
    pub edges: Vec<NetEdges>,
    /// The time of the evaluation without heat maps, seconds.
    pub secs: f64,
    /// A sentence for the artist if it failed; then nothing moved.
    pub failure: Option<String>,
}

/// The changes of one instance in one view.
#[derive(Debug)]
pub struct Updated {
    /// The view.
    pub view: ViewId,
    /// The instance.
    pub instance: InstanceId,
    /// Its new shape.
    pub update: InstanceUpdate,
}

/// New positions and normals of one instance.
#[derive(Debug)]
pub enum InstanceUpdate {
    /// All of them.
    Full {
        /// n_points, world.
        positions: Vec<Vec3>,
        /// n_normals, world, unit.
        normals: Vec<Vec3>,
    },
    /// Those that changed.
    Sparse {
        /// Points, ascending, and their positions.
        points: Vec<(u32, Vec3)>,
        /// Entries of the mesh's normals, ascending, and their directions.
        normals: Vec<(u32, Vec3)>,
    },
}

/// A thread with a mailbox for one request.
pub struct Worker {
    mailbox: Arc<Mailbox>,
    results: Receiver<Evaluated>,
    spare: Sender<Vec<Vec3>>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Mailbox {
    slot: Mutex<Slot>,
    filled: Condvar,
}

#[derive(Default)]
struct Slot {
    request: Option<Request>,
    closed: bool,
}

impl Worker {
    /// Starts the thread. `wake` is called after each result, from the thread: it should ask for a repaint.
    pub fn spawn(wake: impl Fn() + Send + 'static) -> std::io::Result<Self> {
        let mailbox = Arc::<Mailbox>::default();
        let (send, results) = unbounded();
        let (spare, spares) = unbounded();
        let theirs = mailbox.clone();
        let thread = std::thread::Builder::new()
            .name("evaluate".into())
            .spawn(move || {
                let mut state = State {
                    evaluator: Evaluator::for_shapes(),
                    heat: HeatMapper::default(),
                    surfaces: SurfaceDataFinder::default(),
                    spares,
                };
                while let Some(request) = theirs.take() {
                    if send.send(state.answer(&request)).is_err() {
                        return;
                    }
                    wake();
                }
            })?;
        Ok(Self {
            mailbox,
            results,
            spare,
            thread: Some(thread),
        })
    }

    /// Posts a request; one that still waits is replaced.
    pub fn post(&self, mut request: Request) {
        let mut slot = lock(&self.mailbox.slot);
        if let Some(replaced) = slot.request.take() {
            request.reset |= replaced.reset;
        }
        slot.request = Some(request);
        self.mailbox.filled.notify_one();
    }

    /// The next result, if one is ready.
    pub fn try_result(&self) -> Option<Evaluated> {
        self.results.try_recv().ok()
    }

    /// Waits for the next result; `None` after `timeout` or when the thread is gone.
    pub fn wait_result(&self, timeout: std::time::Duration) -> Option<Evaluated> {
        self.results.recv_timeout(timeout).ok()
    }

    /// Hands a buffer of a [`InstanceUpdate::Full`] back for another result.
    pub fn recycle(&self, buffer: Vec<Vec3>) {
        // Fails only when the thread is gone; then the buffer is simply freed.
        let _ = self.spare.send(buffer);
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        lock(&self.mailbox.slot).closed = true;
        self.mailbox.filled.notify_one();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Mailbox {
    /// Waits for a request; `None` once the mailbox is closed.
    fn take(&self) -> Option<Request> {
        let mut slot = lock(&self.slot);
        loop {
            if slot.closed {
                return None;
            }
            if let Some(request) = slot.request.take() {
                return Some(request);
            }
            slot = self
                .filled
                .wait(slot)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// A slot is replaced as a whole, so a panic elsewhere leaves it sound.
fn lock(slot: &Mutex<Slot>) -> std::sync::MutexGuard<'_, Slot> {
    slot.lock().unwrap_or_else(PoisonError::into_inner)
}

struct State {
    evaluator: Evaluator,
    heat: HeatMapper,
    surfaces: SurfaceDataFinder,
    spares: Receiver<Vec<Vec3>>,
}

impl State {
    fn answer(&mut self, request: &Request) -> Evaluated {
        let start = Instant::now();
        if request.reset {
            self.forget();
        }
        let mut secs = 0.0;
        let answer = self.guarded(|state| {
            state.evaluator.set_centres(request.centres.clone());
            state.evaluator.set_layouts(request.layouts.clone());
            state.evaluator.set_exported(request.exported.as_ref());
            state.evaluator.set_bodies(&request.bodies);
            let (document, at) = (&request.document, request.pose.at(request.moment));
            let heat_map = request.heat_map.as_ref();
            let views = heat_map.map(|heat_map| views_for(heat_map, &request.views));
            let views = views.as_ref().unwrap_or(&request.views);
            let moved = state.evaluator.evaluate_views(document, at, views);
            secs = start.elapsed().as_secs_f64();
            let (evaluator, shown) = (&state.evaluator, &request.views);
            let heat = state
                .heat
                .update(evaluator, document, heat_map, shown, &moved);
            let surfaces = state.surfaces.find(evaluator, document, request.moment);
            let net = request.net.and_then(|id| control_net(evaluator, id));
            let edges = edges(evaluator, request);
            let updates = moved.into_iter();
            // Views to compare with are not shown.
            let updates = updates.filter(|(view, ..)| shown.iter().any(|r| r.view == *view));
            let updates = updates.filter_map(|(view, instance, moved)| {
                Some(Updated {
                    view,
                    instance,
                    update: state.update(view, instance, moved)?,
                })
            });
            (updates.collect(), heat, surfaces, net, edges)
        });
        let failure = answer.is_none().then(|| {
            "The deformation failed, and the view still shows the previous one. Undo the last step.".to_owned()
        });
        let (updates, heat, surfaces, net, edges): (Vec<_>, _, _, _, _) =
            answer.unwrap_or_default();
        Evaluated {
            generation: request.generation,
            world: self.evaluator.world().to_vec(),
            worlds: self.worlds(&request.views),
            views: request.views.iter().map(|v| v.view).collect(),
            updates,
            heat,
            surfaces,
            net,
            edges,
            secs,
            failure,
        }
    }

    /// World transforms of the joints of each view that shows another body.
    fn worlds(&self, views: &[ViewRequest]) -> Vec<(ViewId, Vec<DAffine3>)> {
        let others = views.iter().filter(|view| view.body().is_some());
        let world = |view: &ViewRequest| (view.view, self.evaluator.world_in(view).to_vec());
        others.map(world).collect()
    }

    /// The result of `work`; `None` if it panicked. The evaluator is then reset, and the next result is a full one.
    fn guarded<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> Option<T> {
        let result = catch_unwind(AssertUnwindSafe(|| work(self)));
        if result.is_err() {
            self.forget();
        }
        result.ok()
    }

    fn forget(&mut self) {
        self.evaluator = Evaluator::for_shapes();
        self.heat = HeatMapper::default();
    }

    fn update(&self, view: ViewId, id: InstanceId, moved: Moved) -> Option<InstanceUpdate> {
        let (positions, normals) = self.evaluator.posed_in(view, id)?;
        match moved {
            Moved::Nothing => None,
            Moved::Some {
                points,
                normals: turned,
            } if points.len() * 2 < positions.len() => Some(InstanceUpdate::Sparse {
                points: points.iter().map(|&p| (p, positions[p as usize])).collect(),
                normals: turned.iter().map(|&n| (n, normals[n as usize])).collect(),
            }),
            Moved::Some { .. } | Moved::All => Some(InstanceUpdate::Full {
                positions: self.copy(positions),
                normals: self.copy(normals),
            }),
        }
    }

    fn copy(&self, values: &[Vec3]) -> Vec<Vec3> {
        let mut buffer = self.spares.try_recv().unwrap_or_default();
        buffer.clear();
        buffer.extend_from_slice(values);
        buffer
    }
}

/// The edges of the patches that a request asks for.
fn edges(evaluator: &Evaluator, request: &Request) -> Vec<NetEdges> {
    let of_instance = |&instance: &InstanceId| {
        let mesh = request.document.instances().get(&instance)?.mesh;
        let layout = request.layouts.get(&mesh)?.clone();
        let few = layout.layout().triangles.len() <= MOST_PATCHES;
        let edges = few.then(|| net_edges(evaluator, &layout, instance));
        Some(NetEdges {
            instance,
            layout,
            edges: edges.unwrap_or_default(),
        })
    };
    request.edges.iter().filter_map(of_instance).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_ends_its_request_and_the_next_one_starts_afresh() {
        let mut state = State {
            evaluator: Evaluator::for_shapes(),
            heat: HeatMapper::default(),
            surfaces: SurfaceDataFinder::default(),
            spares: unbounded().1,
        };
        let (document, pose) = (Document::default(), Pose::default());
        state.evaluator.evaluate(&document, &pose);
        assert_eq!(state.guarded(|_| -> () { panic!("on purpose") }), None);
        let request = Request {
            generation: 7,
            document,
            pose: Arc::new(pose),
            moment: Moment::default(),
            views: vec![ViewRequest::own()],
            centres: CentreMap::new(),
            layouts: LayoutMap::new(),
            bodies: BodyMap::new(),
            exported: None,
            heat_map: None,
            net: None,
            edges: Vec::new(),
            reset: false,
        };
        let answer = state.answer(&request);
        assert_eq!((answer.generation, answer.failure), (7, None));
    }
}
