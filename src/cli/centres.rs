//! Centres of rotation, found before anything is drawn or measured.

use crate::document::Document;
use crate::evaluate::{CentreMap, ViewRequest, has_centres, meshes_about_centres};
use crate::skinning::Centres;
use crate::task::Task;
use std::io::Write;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

/// Work shorter than this says nothing.
const PATIENCE: Duration = Duration::from_secs(1);

/// The centres of all meshes that one of the documents, which differ in their stacks alone, moves about them. What takes
/// longer than a second says how far it is on stderr.
pub(crate) fn find<'a>(documents: impl IntoIterator<Item = &'a Document>) -> CentreMap {
    let mut known = CentreMap::new();
    for document in documents {
        for mesh in meshes_about_centres(document, &[ViewRequest::own()]) {
            let Some(item) = document.meshes().get(&mesh) else {
                continue;
            };
            if has_centres(document, &known, mesh) {
                continue;
            }
            let found = with_progress(&item.geometry.name, |task| {
                Centres::compute(&item.geometry, &item.influences, task)
            });
            // Nobody cancels it.
            if let Ok(centres) = found {
                known.insert(mesh, Arc::new(centres));
            }
        }
    }
    known
}

/// Runs `work`, and each second says how far it is.
fn with_progress<T>(name: &str, work: impl FnOnce(&Task) -> T) -> T {
    let task = Task::new();
    let (done, ended) = channel::<()>();
    std::thread::scope(|scope| {
        let watched = task.clone();
        scope.spawn(move || {
            while ended.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
                let percent = 100.0 * watched.fraction();
                let _ = writeln!(
                    std::io::stderr(),
                    "sinew: finding centres of rotation of \"{name}\": {percent:.0} %"
                );
            }
        });
        let result = work(&task);
        // Ends the watch; so would a panic, which drops it.
        drop(done);
        result
    })
}
