//! Pictures that panels ask for, drawn on the lane one after another.
//!
//! Invariant: a picture is drawn only after a panel asked for it; until the new one is ready the previous one is shown.

use crate::document::{Document, Image};
use crate::evaluate::JobHandle;
use crate::task::Cancelled;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// A picture being drawn; `None` where there is nothing to see.
pub(in crate::editor) type Drawing = JobHandle<Result<Option<Image>, Cancelled>>;

/// The pictures of subjects `T` by their keys.
pub(in crate::editor) struct PictureCache<K, T> {
    /// The document that the pictures show, and its revision.
    base: Option<(Document, u64)>,
    known: BTreeMap<K, (Arc<T>, Arc<Image>)>,
    wanted: BTreeSet<K>,
    job: Option<(K, Arc<T>, Drawing)>,
}

impl<K, T> Default for PictureCache<K, T> {
    fn default() -> Self {
        Self {
            base: None,
            known: BTreeMap::new(),
            wanted: BTreeSet::new(),
            job: None,
        }
    }
}

impl<K: Ord + Copy, T: Clone> PictureCache<K, T> {
    /// The picture of a key, if it is drawn already; asks for one that is up to date.
    pub(in crate::editor) fn picture(&mut self, key: K) -> Option<Arc<Image>> {
        self.wanted.insert(key);
        let known = self.known.get(&key);
        known.map(|(_, image)| image.clone())
    }

    /// Whether a picture is wanted and none is being drawn.
    pub(in crate::editor) fn can_start(&self) -> bool {
        self.job.is_none() && !self.wanted.is_empty()
    }

    /// Compares the document with that of the pictures, once for each revision; `outdated` tells, from the document before, which
    /// subjects look different.
    pub(in crate::editor) fn compare<F: Fn(&T) -> bool>(
        &mut self,
        document: &Document,
        revision: u64,
        outdated: impl FnOnce(Option<&Document>) -> F,
    ) {
        if self.base.as_ref().is_some_and(|base| base.1 == revision) {
            return;
        }
        let before = self.base.replace((document.clone(), revision));
        let is_outdated = outdated(before.as_ref().map(|(document, _)| document));
        for (subject, _) in self.known.values_mut() {
            if is_outdated(subject) {
                // The old picture stays on screen, but its subject is no longer the one it shows.
                *subject = Arc::new(T::clone(subject));
            }
        }
    }

    /// The next subject whose picture is wanted and not up to date. Pictures of keys without a subject are dropped.
    pub(in crate::editor) fn next(
        &mut self,
        subject: impl Fn(K) -> Option<Arc<T>>,
    ) -> Option<(K, Arc<T>)> {
        self.known.retain(|&key, _| subject(key).is_some());
        let wanted = std::mem::take(&mut self.wanted);
        wanted.into_iter().find_map(|key| {
            let subject = subject(key)?;
            let known = self.known.get(&key);
            let is_known = known.is_some_and(|(of, _)| Arc::ptr_eq(of, &subject));
            (!is_known).then_some((key, subject))
        })
    }

    /// Waits for the picture of a subject.
    pub(in crate::editor) fn start(&mut self, key: K, subject: Arc<T>, job: Drawing) {
        self.job = Some((key, subject, job));
    }

    /// Takes a picture that is drawn.
    pub(in crate::editor) fn take_drawn(&mut self) {
        let Some((key, subject, job)) = self.job.take_if(|(.., job)| job.has_ended()) else {
            return;
        };
        // Without a picture the row has none; it is not drawn again before the subject changes.
        let drawn = job.into_result().ok().and_then(Result::ok).flatten();
        let none = || Image {
            width: 0,
            height: 0,
            rgba: Vec::new(),
        };
        let image = Arc::new(drawn.unwrap_or_else(none));
        self.known.insert(key, (subject, image));
    }
}
