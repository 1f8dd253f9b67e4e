//! Where the test models live, and the rule for tests that need them.

use std::path::{Path, PathBuf};

/// The folder of shared test data: `SINEW_SHARED`, else `../shared` beside the repository.
///
/// `None`, with a line saying that the test was skipped, where there is none; with `SINEW_REQUIRE_SHARED=1` that is a
/// failure instead.
pub(crate) fn shared_dir(test: &str) -> Option<PathBuf> {
    let path = std::env::var_os("SINEW_SHARED").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared"),
        PathBuf::from,
    );
    if path.is_dir() {
        return Some(path);
    }
    assert!(
        std::env::var("SINEW_REQUIRE_SHARED").as_deref() != Ok("1"),
        "{test} needs the shared test data, and {} does not exist",
        path.display()
    );
    println!("skipped: {test} needs the shared test data (set SINEW_SHARED)");
    None
}
