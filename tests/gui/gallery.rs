//! The gallery of the manual: every line makes its picture.

use std::path::Path;
use std::process::Command;

/// The arguments of a line, which quotes names with spaces.
fn arguments(line: &str) -> Vec<String> {
    let parts = line.split('"').enumerate();
    parts
        .flat_map(|(i, part)| -> Vec<String> {
            if i % 2 == 1 {
                vec![part.to_owned()]
            } else {
                part.split_whitespace().map(str::to_owned).collect()
            }
        })
        .collect()
}

#[test]
fn every_line_of_the_gallery_makes_its_picture() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = std::fs::read_to_string(root.join("assets/manual/gallery.md")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let mut n_lines = 0;
    for line in page.lines().filter_map(|l| l.strip_prefix("sinew ")) {
        let mut arguments = arguments(line);
        let out = arguments.last_mut().unwrap();
        let name = out.strip_prefix("assets/gallery/").unwrap().to_owned();
        assert!(page.contains(&format!("](../gallery/{name})")), "{name}");
        let shown = image::image_dimensions(root.join(&*out)).unwrap();
        let made = folder.path().join(&name);
        *out = made.to_str().unwrap().to_owned();
        let program = Command::new(env!("CARGO_BIN_EXE_sinew"))
            .current_dir(root)
            .args(&arguments)
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&program.stderr);
        assert!(program.status.success(), "{line}: {said}");
        assert_eq!(image::image_dimensions(&made).unwrap(), shown, "{name}");
        n_lines += 1;
    }
    assert_eq!(n_lines, 9);
}
