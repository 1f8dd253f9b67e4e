//! The shared characters that motions are put on.

use sinew::io::open_any;
use sinew::skeleton::Skeleton;
use sinew::task::Task;
use std::path::Path;

/// The skeleton of a shared model, and which of its joints move a skin.
pub(crate) fn target(shared: &Path, name: &str) -> (Skeleton, Vec<bool>) {
    let path = shared.join("models").join(name).join(format!("{name}.glb"));
    let document = open_any(&path, &Task::new()).unwrap().document;
    let skeleton = document.skeleton().as_ref().clone();
    let mut is_bone = vec![false; skeleton.len()];
    for skin in document.skins().values() {
        skin.joints
            .iter()
            .for_each(|joint| is_bone[joint.get()] = true);
    }
    (skeleton, is_bone)
}
