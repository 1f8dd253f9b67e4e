//! What a report says of the normals of a corrected file.

use crate::bake::{BakeMode, BakeOptions, NORMALS_SHARE};
use crate::finding::Finding;

/// Normals that became worse by more than this are reported, degrees.
const WORSE_DEGREES: f64 = 0.1;

/// Normals that differ by more than this at the 99th percentile get a finding, degrees: shading begins to look different.
const SEEN_DEGREES: f64 = 2.0;

/// The least number of morph targets that change only normals.
const LEAST_MORE_TARGETS: usize = 2;

/// The finding about normals that became worse, or that visibly differ: their 99th percentiles `[before, now]`, degrees.
///
/// `is_unchanged`: the correction leaves normals as they are. The corrected file is measured at more moments, so that even
/// then the percentiles differ.
pub(super) fn normals_finding(
    [before, now]: [f64; 2],
    is_unchanged: bool,
    hint: &str,
) -> Option<Finding> {
    let (is_worse, is_seen) = (now > before + WORSE_DEGREES, now > SEEN_DEGREES);
    if is_worse && !is_unchanged {
        let message = format!(
            "The correction makes normals at joints worse: {now:.1} instead of {before:.1} degrees off at the 99th percentile. \
             They follow the helper joints and new weights, which are fitted to positions.{hint}"
        );
        return Some(Finding::warning("correction", message));
    }
    if !(is_seen || is_worse) {
        return None;
    }
    let message = if is_unchanged {
        format!(
            "Normals at joints differ by {now:.1} degrees at the 99th percentile: the correction does not change them.{hint}"
        )
    } else {
        format!(
            "Normals at joints differ by {now:.1} degrees at the 99th percentile, without correction by {before:.1}.{hint}"
        )
    };
    Some(Finding::info("correction", message))
}

/// Names the options that would let morph targets correct normals further, as a sentence after a space; empty if no option
/// would.
pub(super) fn normals_hint(options: &BakeOptions, morph_targets: usize) -> &'static str {
    let has_room = morph_targets + LEAST_MORE_TARGETS <= options.max_morphs;
    match (options.mode, options.normals, has_room) {
        (BakeMode::Retarget, ..) => {
            " Morph targets of the mode For these clips (`--correct clips`) can correct them."
        }
        (BakeMode::Clips, true, true) if options.normals_share < *NORMALS_SHARE.end() => {
            " A larger Normals share (`--normals-share`) may reduce that."
        }
        (_, true, true) => "",
        (_, true, false) => " More morph targets (`--max-morphs`) can correct them.",
        (_, false, true) => {
            " Morph targets with normals (without `--no-normals`) can correct them."
        }
        (_, false, false) => {
            " More morph targets (`--max-morphs`) with normals (without `--no-normals`) can correct them."
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::Severity;

    #[test]
    fn normals_are_worse_only_where_something_changes_them() {
        let found = |is_unchanged: bool, now: f64, options: &BakeOptions| {
            normals_finding([58.5, now], is_unchanged, normals_hint(options, 0))
        };
        let all = BakeOptions::default();
        let none = BakeOptions {
            normals: false,
            ..BakeOptions::default()
        };
        let worse = found(false, 64.1, &all).unwrap();
        assert_eq!(worse.severity, Severity::Warning);
        assert!(
            worse.message.contains("fitted to positions. A larger"),
            "{worse}"
        );
        // Only the moments at which they are measured differ.
        let same = found(true, 61.2, &none).unwrap();
        assert_eq!(same.severity, Severity::Info);
        let said = "61.2 degrees at the 99th percentile: the correction does not change them. Morph targets with normals (without";
        assert!(same.message.contains(said), "{same}");
        let better = found(false, 10.2, &all).unwrap();
        assert_eq!(better.severity, Severity::Info);
        assert!(
            better
                .message
                .contains("by 58.5. A larger Normals share (`--normals-share`)"),
            "{better}"
        );
        let frames = BakeOptions {
            mode: BakeMode::Frames,
            ..all.clone()
        };
        let most = BakeOptions {
            normals_share: 1.0,
            ..all.clone()
        };
        for options in [frames, most] {
            let better = found(false, 10.2, &options).unwrap();
            assert!(better.message.ends_with("by 58.5."), "{better}");
        }
        assert_eq!(found(false, 1.6, &all), None);
    }
}
