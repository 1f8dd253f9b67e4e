//! The error of a written file: linear blend skinning of one document compared with the deformer stacks of another.

use crate::bake::compared_times::ComparedTimes;
use crate::bake::comparison::{
    Compared, Comparison, FrameErrors, Measured, Player, compare_at, compare_closely,
};
pub use crate::bake::played_file::Shown;
use crate::bake::played_file::{PlayedFile, ShownFrame};
use crate::bake::problem::sampler::{
    Clips, Frame, FrameTime, InstanceFrame, SampleRequest, Sampler, StackChoice,
};
use crate::document::{ClipId, Document};
use crate::task::{Cancelled, Task};

/// Compares `seen`, deformed by its own stacks, with `shown`, deformed by linear blend skinning: at all keyframes of
/// the clips `chosen` (empty: all) and just before each step, in the middle between them, at other times, and around the
/// largest errors. Both must hold the same vertices in the same instances. Jumps between the keyframes of `shown` are
/// measured apart.
pub fn compare(
    seen: &Document,
    shown: Shown<'_>,
    chosen: &[ClipId],
    task: &Task,
) -> Result<Comparison, Cancelled> {
    let compare = |player: &Comparer<'_, '_>| player.compare_closely(chosen, task);
    Ok(compare_both(seen, shown, None, compare, task)?.found)
}

/// [`compare`], and the errors of `plain`, a file without correction, at the same times; its peaks are not followed.
pub fn compare_with_plain(
    seen: &Document,
    shown: Shown<'_>,
    plain: Shown<'_>,
    chosen: &[ClipId],
    task: &Task,
) -> Result<(Comparison, Comparison), Cancelled> {
    let compare = |player: &Comparer<'_, '_>| player.compare_closely(chosen, task);
    let Compared { found, plain, .. } = compare_both(seen, shown, Some(plain), compare, task)?;
    let plain = plain.unwrap_or_else(|| Comparison::unknown(found.diagonal));
    Ok((found, plain))
}

/// [`compare`] for an uncorrected file alone, without following peaks.
pub fn compare_uncorrected(
    seen: &Document,
    shown: Shown<'_>,
    task: &Task,
) -> Result<Comparison, Cancelled> {
    let what = "Measuring the error without correction";
    let compare = |player: &Comparer<'_, '_>| compare_at(player, &player.times_of(&[]), what, task);
    Ok(compare_both(seen, shown, None, compare, task)?.found)
}

/// Compares a file, and the one without correction, with `compare`. The error is infinite if the clips of the file do not match.
fn compare_both(
    seen: &Document,
    shown: Shown<'_>,
    plain: Option<Shown<'_>>,
    compare: impl Fn(&Comparer<'_, '_>) -> Result<Compared, Cancelled>,
    task: &Task,
) -> Result<Compared, Cancelled> {
    let sampler = Sampler::new(seen, task)?;
    let own = Clips::new(seen, shown.clips);
    let Some(file) = PlayedFile::new(&sampler, &own, shown, task)? else {
        return Ok(Compared::unknown(sampler.diagonal()));
    };
    let plain = match plain {
        Some(plain) => PlayedFile::new(&sampler, &own, plain, task)?,
        None => None,
    };
    let player = Comparer::new((&sampler, &own), file, plain);
    let mut compared = compare(&player)?;
    compared.found.set_rounding(&sampler);
    if let Some(plain) = &mut compared.plain {
        plain.set_rounding(&sampler);
    }
    Ok(compared)
}

/// A document beside a file of it, and beside one without correction.
struct Comparer<'s, 'a> {
    seen: (&'s Sampler<'a>, &'s Clips<'s>),
    diagonal: f64,
    file: PlayedFile<'s>,
    plain: Option<PlayedFile<'s>>,
}

impl<'s, 'a> Comparer<'s, 'a> {
    fn new(
        seen: (&'s Sampler<'a>, &'s Clips<'s>),
        file: PlayedFile<'s>,
        plain: Option<PlayedFile<'s>>,
    ) -> Self {
        Self {
            seen,
            diagonal: seen.0.diagonal(),
            file,
            plain,
        }
    }

    /// The `chosen` clips with the times of the file.
    fn times_of(&self, chosen: &[ClipId]) -> Vec<(usize, ComparedTimes)> {
        let ids = self.seen.1.ids.iter().enumerate();
        let ids = ids.filter(|(_, id)| chosen.is_empty() || chosen.contains(id));
        ids.map(|(i, _)| (i, ComparedTimes::of(&[self.file.clip(i)])))
            .collect()
    }

    fn compare_closely(&self, chosen: &[ClipId], task: &Task) -> Result<Compared, Cancelled> {
        compare_closely(self, &self.times_of(chosen), task)
    }

    fn errors(&self, file: &PlayedFile<'_>, shown: &ShownFrame, frame: &Frame) -> FrameErrors {
        let seen = |d: usize| {
            let InstanceFrame {
                target, normals, ..
            } = &frame.instances[d];
            (target.as_slice(), normals.as_slice())
        };
        file.errors(shown, seen, self.diagonal)
    }
}

impl Player for Comparer<'_, '_> {
    fn seen(&self) -> (&Sampler<'_>, &Clips<'_>) {
        self.seen
    }

    fn diagonal(&self) -> f64 {
        self.diagonal
    }

    fn has_plain(&self) -> bool {
        self.plain.is_some()
    }

    fn measure_with(
        &self,
        with_plain: bool,
        times: &[FrameTime],
        task: &Task,
    ) -> Result<Vec<Measured>, Cancelled> {
        let shown = self.file.show(times, task)?;
        let plain = self.plain.as_ref().filter(|_| with_plain);
        let plain = plain.map(|file| Ok((file, file.show(times, task)?)));
        let plain = plain.transpose()?;
        let wanted = SampleRequest {
            normals: true,
            ..SampleRequest::all(StackChoice::Own)
        };
        let (sampler, clips) = self.seen;
        sampler.sample(clips, times, wanted, task, |i, frame| Measured {
            file: self.errors(&self.file, &shown[i], &frame),
            plain: (plain.as_ref()).map(|(file, shown)| self.errors(file, &shown[i], &frame)),
        })
    }
}
