//! Paths in a project file: relative to its folder, with `/`.

use std::path::{Component, Path, PathBuf};

/// `path` with links of its folders resolved; a link in its last part is kept.
pub(super) fn real(path: &Path) -> PathBuf {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    match (absolute.parent(), absolute.file_name()) {
        (Some(folder), Some(name)) => match folder.canonicalize() {
            Ok(folder) => folder.join(name),
            Err(_) => absolute,
        },
        _ => absolute,
    }
}

/// The folder that a project file's paths are relative to; a link to the file is resolved.
pub(super) fn folder_of(project: &Path) -> PathBuf {
    let file = project.canonicalize().unwrap_or_else(|_| real(project));
    file.parent().map_or_else(PathBuf::new, Path::to_owned)
}

/// The relative path from `folder` to `file`, as text; the absolute path where there is none (another drive).
pub(super) fn relative(folder: &Path, file: &Path) -> String {
    let file = real(file);
    let from: Vec<Component<'_>> = folder.components().collect();
    let to: Vec<Component<'_>> = file.components().collect();
    let n_shared = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
    let shares_root =
        matches!(to.get(n_shared.wrapping_sub(1)), Some(c) if !matches!(c, Component::Prefix(_)));
    if !shares_root {
        return text(&file);
    }
    let up = from[n_shared..].iter().map(|_| Component::ParentDir);
    let way: PathBuf = up.chain(to[n_shared..].iter().copied()).collect();
    text(&way)
}

/// The file at `text` in a project file in `folder`.
pub(super) fn resolve(folder: &Path, text: &str) -> PathBuf {
    real(&folder.join(text))
}

/// A path as text with `/` separators. Characters that are not Unicode become replacement characters.
pub(super) fn text(path: &Path) -> String {
    let text = path.to_string_lossy();
    if std::path::MAIN_SEPARATOR != '\\' {
        return text.into_owned();
    }
    // Windows: canonical paths of a drive begin with a prefix that only works with backslashes.
    let plain = match text.strip_prefix(r"\\?\") {
        Some(drive) if !drive.starts_with("UNC") => drive,
        _ => &text,
    };
    plain.replace('\\', "/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_beside_above_and_below_the_project_is_found_again() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for name in ["projects/deep", "assets"] {
            std::fs::create_dir_all(root.join(name)).unwrap();
        }
        for (file, expected) in [
            ("projects/arm.glb", "arm.glb"),
            ("assets/arm 1.glb", "../assets/arm 1.glb"),
            ("projects/deep/arm.glb", "deep/arm.glb"),
        ] {
            let text = relative(&root.join("projects"), &root.join(file));
            assert_eq!(text, expected);
            assert_eq!(resolve(&root.join("projects"), &text), root.join(file));
        }
    }

    #[cfg(unix)]
    #[test]
    fn links_are_followed_to_folders_but_not_to_the_model() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        std::fs::create_dir_all(root.join("a/b")).unwrap();
        std::fs::write(root.join("a/v3.glb"), "").unwrap();
        std::os::unix::fs::symlink(root.join("a/b"), root.join("link")).unwrap();
        std::os::unix::fs::symlink(root.join("a/v3.glb"), root.join("a/arm.glb")).unwrap();
        let text = relative(
            &folder_of(&root.join("link/arm.ron")),
            &root.join("a/arm.glb"),
        );
        assert_eq!(text, "../arm.glb");
    }
}
