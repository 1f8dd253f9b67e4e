//! The picture that `sinew compare` writes: it needs the window's fonts, so the core's tests cannot draw it.

use crate::window::asset;
use std::path::Path;
use std::process::{Command, Output};

/// Runs `line` in `folder`.
fn sinew(folder: &Path, line: &str) -> Output {
    Command::new(env!("CARGO_BIN_EXE_sinew"))
        .current_dir(folder)
        .args(line.split(' '))
        .output()
        .unwrap()
}

/// A folder with a model, the buffer beside it, a project of it and a pose.
fn place() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::copy(asset("arm.glb"), folder.path().join("arm.glb")).unwrap();
    for line in [
        "export arm.glb --out in.gltf",
        "weights in.gltf --smooth 1 --out p.ron",
    ] {
        let made = sinew(folder.path(), line);
        assert!(made.status.success(), "{line}: {made:?}");
    }
    std::fs::write(folder.path().join("pose.json"), "{\"nodes\": []}").unwrap();
    folder
}

#[test]
fn a_comparison_is_drawn_as_one_picture() {
    let folder = place();
    let line = "compare in.gltf --methods lbs,dqs --size 32x24 --out sheet.png";
    let done = sinew(folder.path(), line);
    assert!(done.status.success(), "{done:?}");
    let sheet = image::open(folder.path().join("sheet.png")).unwrap();
    // Two pictures side by side, and the table.
    assert!(
        sheet.width() > 2 * 32 && sheet.height() > 24,
        "{:?}",
        (sheet.width(), sheet.height())
    );
}

#[cfg(unix)]
#[test]
fn no_picture_of_a_comparison_replaces_what_it_shows() {
    let folder = place();
    let at = |name: &str| folder.path().join(name);
    let names = ["in.gltf", "in.bin", "pose.json", "p.ron"];
    let files = || names.map(|name| std::fs::read(at(name)).unwrap());
    let before = files();
    for (shown, inputs) in [("in.gltf", &names[..3]), ("p.ron", &names[..])] {
        for &input in inputs {
            for is_hard in [true, false] {
                let link = at("to.png");
                if is_hard {
                    std::fs::hard_link(at(input), &link).unwrap();
                } else {
                    std::os::unix::fs::symlink(input, &link).unwrap();
                }
                let line = format!(
                    "compare {shown} --pose pose.json --methods lbs,dqs --size 32x24 --out to.png"
                );
                let refused = sinew(folder.path(), &line);
                let why = String::from_utf8_lossy(&refused.stderr);
                assert_eq!(refused.status.code(), Some(1), "{shown}, {input}: {why}");
                assert!(
                    why.contains("Choose another name"),
                    "{shown}, {input}: {why}"
                );
                assert!(files() == before, "{shown}: {input} changed");
                std::fs::remove_file(&link).unwrap();
            }
        }
    }
}
