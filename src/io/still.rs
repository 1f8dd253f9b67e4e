//! A moment of a document as a file: glTF or Wavefront OBJ by its ending.

use super::Outputs;
use super::gltf_export::{
    Container, ExportError, ExportOptions, ExportReport, export_still_beside, files_of_model,
    write_over,
};
use super::obj::{export_obj, files_of_obj};
use crate::bake::still::Still;
use crate::document::Document;
use crate::task::Task;
use std::path::Path;

/// Whether a path ends in .obj.
pub fn is_obj(path: &Path) -> bool {
    let ending = path.extension().and_then(|ending| ending.to_str());
    ending.is_some_and(|ending| ending.eq_ignore_ascii_case("obj"))
}

/// Writes a moment of `document` to `path`, whose ending names the format, and beside it the files it needs; each takes
/// its name in one step, the model last.
pub fn export_still_to_file(
    document: &Document,
    path: &Path,
    still: &Still,
    outputs: &mut Outputs,
    task: &Task,
) -> Result<ExportReport, ExportError> {
    let stem = path.file_stem().map(|stem| stem.to_string_lossy());
    let name = stem.unwrap_or_default().into_owned();
    let folder = path.parent().unwrap_or(Path::new(""));
    let (exported, owned) = if is_obj(path) {
        (
            export_obj(document, still, &name, task)?,
            files_of_obj(path),
        )
    } else {
        let container = Container::of_path(path);
        let options = ExportOptions {
            container: container.ok_or_else(|| ExportError::Extension { path: path.into() })?,
            name,
            ..ExportOptions::default()
        };
        let owned = files_of_model(path);
        let is_free = |name: &str| owned.contains(name) || !folder.join(name).exists();
        let exported = export_still_beside(document, still, &options, &is_free, task)?;
        (exported, owned)
    };
    write_over(document, path, &exported, &owned, outputs, task)?;
    Ok(exported.report)
}
