//! The rows that a stroke changed.

/// Influences: joint and weight.
pub(super) type Row = Vec<(u16, f32)>;

/// The present rows of the slots that changed, in one allocation: a gradient may change a million.
#[derive(Debug, Default)]
pub(super) struct ChangedRows {
    spans: Vec<Span>,
    entries: Row,
}

/// The location of a slot's row.
#[derive(Clone, Copy, Debug, Default)]
struct Span {
    first: usize,
    room: usize,
    /// `None` if the slot did not change.
    len: Option<usize>,
}

impl ChangedRows {
    pub(super) fn len(&self) -> usize {
        self.spans.len()
    }

    /// Adds a slot that did not change.
    pub(super) fn push(&mut self) {
        self.spans.push(Span::default());
    }

    pub(super) fn get(&self, slot: usize) -> Option<&[(u16, f32)]> {
        let span = self.spans[slot];
        Some(&self.entries[span.first..][..span.len?])
    }

    pub(super) fn set(&mut self, slot: usize, row: &[(u16, f32)]) {
        let span = &mut self.spans[slot];
        if row.len() > span.room {
            (span.first, span.room) = (self.entries.len(), row.len().next_multiple_of(4));
            self.entries.resize(span.first + span.room, (0, 0.0));
        }
        self.entries[span.first..][..row.len()].copy_from_slice(row);
        span.len = Some(row.len());
    }

    pub(super) fn clear(&mut self, slot: usize) {
        self.spans[slot].len = None;
    }
}
