//! Keys of cooked data: what it was computed from.

use std::sync::Arc;

/// A shared value that is compared by identity.
///
/// It keeps the value alive, so that no other can take its address.
#[derive(Debug)]
pub(in crate::deform) struct Identity<T>(Option<Arc<T>>);

impl<T> Identity<T> {
    /// The identity of a value, or of none.
    pub(in crate::deform) fn of(value: Option<&Arc<T>>) -> Self {
        Self(value.cloned())
    }

    /// Whether this is the identity of `value`: as `==`, but takes no reference.
    pub(in crate::deform) fn is(&self, value: Option<&Arc<T>>) -> bool {
        match (&self.0, value) {
            (Some(a), Some(b)) => Arc::ptr_eq(a, b),
            (None, None) => true,
            _ => false,
        }
    }

    /// The value.
    pub(in crate::deform) fn value(&self) -> Option<&Arc<T>> {
        self.0.as_ref()
    }
}

impl<T> Default for Identity<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<T> PartialEq for Identity<T> {
    fn eq(&self, other: &Self) -> bool {
        self.is(other.0.as_ref())
    }
}

/// The key of the latest run, and the buffers of the one before: a steady run allocates nothing.
#[derive(Debug, Default)]
pub(in crate::deform) struct LastKey<K> {
    known: Option<K>,
    spare: K,
}

impl<K: Default + PartialEq> LastKey<K> {
    /// Takes the key that `make` builds in the buffers of an old one. Returns whether it differs from the one before;
    /// the first always does.
    pub(in crate::deform) fn replace(&mut self, make: impl FnOnce(K) -> K) -> bool {
        let key = make(std::mem::take(&mut self.spare));
        let is_known = self.known.as_ref() == Some(&key);
        self.spare = self.known.replace(key).unwrap_or_default();
        !is_known
    }

    /// The key of the latest run.
    pub(in crate::deform) fn known(&self) -> Option<&K> {
        self.known.as_ref()
    }
}

/// A vector with other items in the memory of an old one.
pub(in crate::deform) fn refill<T>(mut old: Vec<T>, items: impl IntoIterator<Item = T>) -> Vec<T> {
    old.clear();
    old.extend(items);
    old
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_equal_value_elsewhere_is_another_identity() {
        let (a, b) = (Arc::new(1), Arc::new(1));
        assert!(Identity::of(Some(&a)) == Identity::of(Some(&a.clone())));
        assert!(Identity::of(Some(&a)) != Identity::of(Some(&b)));
        assert!(Identity::of(Some(&a)) != Identity::default());
        assert!(Identity::<u32>::default().is(None));
    }

    #[test]
    fn a_key_changes_with_its_content_and_keeps_its_memory() {
        let mut key = LastKey::<Vec<u32>>::default();
        let mut run = |items: [u32; 2]| key.replace(|old| refill(old, items));
        assert_eq!([run([1, 2]), run([1, 2]), run([1, 3])], [true, false, true]);
        let memory = [key.known.as_ref().unwrap(), &key.spare].map(Vec::as_ptr);
        key.replace(|old| refill(old, [7, 8]));
        assert!(memory.contains(&key.known().unwrap().as_ptr()));
    }
}
