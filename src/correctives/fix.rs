//! The fixes of findings about corrective samples.

use super::{edit_of, keep, retarget};
use crate::deform::Correctives;
use crate::deform::correctives::SampleSet;
use crate::document::fixes::Fixed;
use crate::document::{Document, MeshId};
use crate::finding::{SampleFix, counted};
use crate::psd::Kernel;
use crate::task::{Cancelled, Task};
use std::collections::BTreeSet;
use std::sync::Arc;

/// The result of applying a fix to samples of a mesh, or to the set that `which` lists. The edit is not applied.
pub fn fix(
    document: &Document,
    mesh: MeshId,
    which: &[u32],
    fix: SampleFix,
    task: &Task,
) -> Result<Fixed, Cancelled> {
    let correctives = document.meshes().get(&mesh).map(|item| &item.correctives);
    let Some(correctives) = correctives else {
        return Ok(nothing(fix, "The mesh does not exist any more."));
    };
    let which: BTreeSet<usize> = which.iter().map(|&index| index as usize).collect();
    let is_of_set = matches!(fix, SampleFix::DeleteSet | SampleFix::UseLinear);
    let n_known = if is_of_set {
        correctives.sets().len()
    } else {
        correctives.samples().len()
    };
    if which.last().is_none_or(|&last| last >= n_known) {
        return Ok(nothing(fix, "The samples do not exist any more."));
    }
    let n = which.len();
    let (made, done) = match fix {
        SampleFix::Retarget => {
            let made = retarget(document, mesh, &which, task)?;
            return Ok(match made {
                Ok(made) => Fixed {
                    message: made.summary(),
                    edit: made.edit,
                    label: label(fix),
                },
                Err(why) => nothing(fix, &format!("Nothing changed: {why}.")),
            });
        }
        SampleFix::Keep => (keep(document, mesh, &which), "kept as they are"),
        SampleFix::Delete => (
            correctives
                .map_samples(|index, sample| (!which.contains(&index)).then(|| sample.clone())),
            "deleted",
        ),
        SampleFix::DeleteSet => {
            let sets = correctives.sets().iter().enumerate();
            let sets = sets.filter(|(index, _)| !which.contains(index));
            let sets = sets.map(|(_, set)| set.clone()).collect();
            (Correctives::new(sets), "deleted")
        }
        SampleFix::UseLinear => {
            let sets = correctives.sets().iter().enumerate();
            let sets = sets.map(|(index, set)| {
                if !which.contains(&index) {
                    return set.clone();
                }
                let mut set = SampleSet::clone(set);
                set.kernel = Kernel::Linear;
                Arc::new(set)
            });
            (Correctives::new(sets.collect()), "with the linear kernel")
        }
    };
    Ok(match made {
        Ok(made) => Fixed {
            edit: Some(edit_of(document, mesh, made)),
            label: label(fix),
            message: format!(
                "{} {done}.",
                counted(n, if is_of_set { "set" } else { "sample" })
            ),
        },
        Err(why) => nothing(fix, &format!("Nothing changed: {why}.")),
    })
}

fn nothing(fix: SampleFix, message: &str) -> Fixed {
    Fixed {
        edit: None,
        label: label(fix),
        message: message.into(),
    }
}

/// The label of the undo step.
fn label(fix: SampleFix) -> &'static str {
    match fix {
        SampleFix::Retarget => "Re-target samples",
        SampleFix::Keep => "Keep displacements of samples",
        SampleFix::Delete => "Delete samples",
        SampleFix::DeleteSet => "Delete sample set",
        SampleFix::UseLinear => "Use linear kernel",
    }
}
