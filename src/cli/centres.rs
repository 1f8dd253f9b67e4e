//! Centres of rotation and patch layouts, computed before anything is drawn or measured.

use crate::cluster::MeshLayout;
use crate::document::Document;
use crate::evaluate::{
    SlowCooks, ViewRequest, has_centres, has_layout, meshes_about_centres, meshes_with_clusters,
};
use crate::skinning::Centres;
use crate::task::Task;
use std::io::Write;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

/// Computations shorter than this report no progress.
const PATIENCE: Duration = Duration::from_secs(1);

/// The centres and layouts of all meshes for which one of the documents uses them; the documents differ only in their
/// stacks, samples and clusters. A computation longer than a second reports its progress on stderr.
pub(crate) fn find<'a>(documents: impl IntoIterator<Item = &'a Document>) -> SlowCooks {
    let SlowCooks {
        centres: mut known,
        mut layouts,
    } = SlowCooks::default();
    for document in documents {
        for mesh in meshes_with_clusters(document, &[ViewRequest::own()]) {
            let Some(item) = document.meshes().get(&mesh) else {
                continue;
            };
            if has_layout(document, &layouts, mesh) {
                continue;
            }
            let name = &item.geometry.name;
            let found = with_progress("laying out the patches", name, |task| {
                MeshLayout::compute(&item.geometry, &item.clusters, task)
            });
            if let Ok(layout) = found {
                layouts.insert(mesh, Arc::new(layout));
            }
        }
        for mesh in meshes_about_centres(document, &[ViewRequest::own()]) {
            let Some(item) = document.meshes().get(&mesh) else {
                continue;
            };
            if has_centres(document, &known, mesh) {
                continue;
            }
            let found = with_progress("finding centres of rotation", &item.geometry.name, |task| {
                Centres::compute(&item.geometry, &item.influences, task)
            });
            // It is never cancelled.
            if let Ok(centres) = found {
                known.insert(mesh, Arc::new(centres));
            }
        }
    }
    SlowCooks {
        centres: known,
        layouts,
    }
}

/// Runs `work` and reports its progress each second.
pub(super) fn with_progress<T>(what: &str, name: &str, work: impl FnOnce(&Task) -> T) -> T {
    let task = Task::new();
    let (done, ended) = channel::<()>();
    std::thread::scope(|scope| {
        let watched = task.clone();
        scope.spawn(move || {
            while ended.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
                let percent = 100.0 * watched.fraction();
                let _ = writeln!(
                    std::io::stderr(),
                    "sinew: {what} of \"{name}\": {percent:.0} %"
                );
            }
        });
        let result = work(&task);
        // Ends the progress reports; a panic, which drops the sender, would end them too.
        drop(done);
        result
    })
}
