//! Writes the inputs that fuzzing starts from: `corpus/TARGET/...` in the current folder.

#[path = "../../core/inputs.rs"]
#[allow(dead_code, reason = "the targets use the rest")]
mod inputs;

#[path = "../../core/motion_inputs.rs"]
#[allow(dead_code, reason = "the targets use the rest")]
mod motion_inputs;

use inputs::Originals;
use std::path::Path;

fn main() -> std::io::Result<()> {
    let originals = Originals::new();
    let write = |target: &str, name: &str, bytes: &[u8], choice: Option<u8>| {
        let folder = Path::new("corpus").join(target);
        std::fs::create_dir_all(&folder)?;
        let mut bytes = bytes.to_vec();
        bytes.extend(choice);
        std::fs::write(folder.join(name), bytes)
    };
    for (i, model) in originals.models.iter().enumerate() {
        for export in [0, 1, 2, 7] {
            write("gltf", &format!("{i}-{export}"), model, Some(export))?;
        }
    }
    write("project", "arm", originals.project.as_bytes(), Some(3))?;
    write("weights", "arm", &originals.weights, None)?;
    write("pose", "arm", originals.pose.as_bytes(), None)?;
    write("obj", "cube", originals.obj[0].as_bytes(), None)?;
    write("bvh", "walker", motion_inputs::BVH.as_bytes(), None)?;
    write("csv", "gauges", motion_inputs::CSV.as_bytes(), None)?;
    write(
        "json_lines",
        "band",
        motion_inputs::JSON_LINES.as_bytes(),
        None,
    )?;
    write("packets", "root", &motion_inputs::packets(), None)
}
