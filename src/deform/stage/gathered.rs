//! Stages 2 to 5 of points that are gathered from a mesh, or lie beside its points: probes around corners, and the points
//! that later stages read where others are left out.

use super::changed::Changed;
use super::posed_skin::Changes;
use super::run::{ProbeSkin, Run, Stage};
use super::skinning_pass::SkinningPass;
use crate::deform::{DeformInput, DeformStack, MaskKind, Masks, SkinningMethod};
use crate::skinning::{CHUNK, Centres, CookedChunk, RowRef, Rows, SkinInput};
use glam::Vec3;
use std::ops::Range;
use std::sync::{Arc, Weak};

/// Maps that stages 3 to 5 read.
const MASKS: [MaskKind; 3] = [
    MaskKind::Blend,
    MaskKind::Compensation,
    MaskKind::Projection,
];

/// Where gathered points take from the mesh what moves them.
pub(super) trait Gather {
    /// The point of the mesh whose painted values a gathered point has.
    fn point(&self, gathered: usize) -> u32;
    /// The chunks of the mesh whose influences some gathered points read, ascending.
    fn chunks_read(&self, gathered: Range<usize>) -> Vec<usize>;
    /// The influences of some gathered points.
    fn rows(&self, gathered: Range<usize>, input: &DeformInput<'_>) -> Rows;
    /// The centres of rotation of all gathered points.
    fn centres(&self, centres: &Centres) -> Vec<Vec3>;
}

/// Gathered points with caches of their own.
#[derive(Default)]
pub(super) struct Gathered {
    /// Bind positions, mesh space.
    bind: Vec<Vec3>,
    rows: Vec<Arc<Rows>>,
    /// One a chunk of gathered points: the chunks of the mesh whose influences it reads, ascending.
    reads: Vec<Vec<usize>>,
    chunks: Vec<Arc<CookedChunk>>,
    changes: Changes,
    /// Whether influences may have changed since they were cooked.
    has_run: bool,
    /// The painted maps of the mesh, and the same of the gathered points.
    masks: [Masks; 2],
    /// The centres of rotation of the mesh, and the same of the gathered points.
    centres: Option<(Weak<Centres>, Arc<Centres>)>,
    pass: SkinningPass,
}

impl Gathered {
    /// Points that lie at `bind`, mesh space.
    pub(super) fn new(bind: Vec<Vec3>, gather: &impl Gather, input: &DeformInput<'_>) -> Self {
        let chunks = chunks(bind.len());
        let rows: Vec<Arc<Rows>> = chunks
            .clone()
            .map(|chunk| Arc::new(gather.rows(chunk, input)))
            .collect();
        let order = input.cooked.order();
        let cooked = rows.iter();
        Self {
            chunks: cooked
                .map(|rows| Arc::new(CookedChunk::cook(rows, order)))
                .collect(),
            reads: chunks.map(|chunk| gather.chunks_read(chunk)).collect(),
            rows,
            bind,
            ..Self::default()
        }
    }

    /// Their bind positions, mesh space, to be changed: the next run is then one of new points.
    pub(super) fn bind_mut(&mut self) -> &mut [Vec3] {
        &mut self.bind
    }

    /// Their places after the latest run, world space.
    pub(super) fn shape(&self) -> &[Vec3] {
        self.pass.shape()
    }

    /// A chunk of them with their influences in the pose of a run; `None` beyond them.
    pub(super) fn skin_input<'a>(&'a self, run: &Run<'a>, chunk: usize) -> Option<SkinInput<'a>> {
        let bind = self.bind.chunks(CHUNK).nth(chunk)?;
        SkinInput::new(bind, self.chunks.get(chunk)?, run.skin.palette()).ok()
    }

    /// Brings their influences to those of the mesh, without deforming them.
    pub(super) fn follow(&mut self, run: &Run<'_>, gather: &impl Gather) {
        let of_mesh = run.skin.changes();
        self.changes.chunks.clear();
        // Before the first run their influences are those of their making.
        if self.has_run && !of_mesh.chunks.is_empty() {
            self.recook(&of_mesh.chunks, gather, run.input);
        }
        self.has_run = true;
    }

    /// Deforms them by stages 2 to 5 of `stack`. `is_new`: for the first time, or at other bind positions. Returns which of
    /// them may have moved.
    pub(super) fn run(
        &mut self,
        run: &Run<'_>,
        stack: &DeformStack,
        gather: &impl Gather,
        is_new: bool,
    ) -> Changed {
        self.follow(run, gather);
        let of_mesh = run.skin.changes();
        self.changes.palette = of_mesh.palette;
        self.changes.inflated_bones = of_mesh.inflated_bones;
        self.take_masks(run.input.masks, gather);
        self.take_centres(run.input, stack, gather);
        let input = DeformInput {
            stack,
            masks: &self.masks[1],
            centres: self.centres.as_ref().map(|(_, own)| own),
            ..*run.input
        };
        let inner = Run {
            input: &input,
            bind: run.bind,
            skin: run.skin,
            probe: Some(ProbeSkin {
                chunks: &self.chunks,
                changes: &self.changes,
            }),
            skips_free: false,
        };
        let changed = if is_new {
            Changed::All
        } else {
            Changed::Nothing
        };
        self.pass.run(&inner, &self.bind, changed)
    }

    /// Cooks the chunks again that read changed chunks of the mesh and have other influences now.
    fn recook(&mut self, changed: &[usize], gather: &impl Gather, input: &DeformInput<'_>) {
        for (chunk, range) in chunks(self.bind.len()).enumerate() {
            let reads = &self.reads[chunk];
            if !changed.iter().any(|c| reads.binary_search(c).is_ok()) {
                continue;
            }
            let rows = gather.rows(range, input);
            if !rows.same_bits(&self.rows[chunk]) {
                self.chunks[chunk] = Arc::new(CookedChunk::cook(&rows, input.cooked.order()));
                self.rows[chunk] = Arc::new(rows);
                self.changes.chunks.push(chunk);
            }
        }
    }

    /// Takes over the values of the painted maps.
    fn take_masks(&mut self, masks: &Masks, gather: &impl Gather) {
        let [known, own] = &mut self.masks;
        if known == masks {
            return;
        }
        known.clone_from(masks);
        *own = Masks::default();
        for kind in MASKS {
            let (mut points, mut values) = (Vec::new(), Vec::new());
            for i in 0..self.bind.len() {
                let value = masks.value(kind, gather.point(i));
                if value.to_bits() != MaskKind::UNPAINTED.to_bits() {
                    points.push(i as u32);
                    values.push(value);
                }
            }
            if !points.is_empty() {
                own.swap(kind, &points, &mut values);
            }
        }
    }

    /// Takes over the centres of rotation, where the stack reads them.
    fn take_centres(&mut self, input: &DeformInput<'_>, stack: &DeformStack, gather: &impl Gather) {
        let reads = stack.method == SkinningMethod::CentresOfRotation;
        let centres = input.centres.filter(|c| reads && c.fit(input.geometry));
        let Some(centres) = centres else {
            self.centres = None;
            return;
        };
        let is_known = |(known, _): &(Weak<Centres>, Arc<Centres>)| {
            std::ptr::eq(known.as_ptr(), Arc::as_ptr(centres))
        };
        if !self.centres.as_ref().is_some_and(is_known) {
            let own = Centres::given(input.geometry, &gather.centres(centres));
            self.centres = Some((Arc::downgrade(centres), Arc::new(own)));
        }
    }
}

/// Gathered points that are points of the mesh.
pub(super) struct Points<'a>(pub(super) &'a [u32]);

impl Gather for Points<'_> {
    fn point(&self, gathered: usize) -> u32 {
        self.0[gathered]
    }

    fn chunks_read(&self, gathered: Range<usize>) -> Vec<usize> {
        let points = self.0[gathered].iter();
        let mut chunks: Vec<usize> = points.map(|&point| point as usize / CHUNK).collect();
        chunks.sort_unstable();
        chunks.dedup();
        chunks
    }

    fn rows(&self, gathered: Range<usize>, input: &DeformInput<'_>) -> Rows {
        let mut rows = Rows::with_capacity(gathered.len());
        for &point in &self.0[gathered] {
            let row = input.cooked.rows(point as usize / CHUNK);
            let row = row.map(|rows| rows.row(point as usize % CHUNK));
            rows.push_pairs(row.into_iter().flat_map(RowRef::iter));
        }
        rows
    }

    fn centres(&self, centres: &Centres) -> Vec<Vec3> {
        self.0.iter().map(|&p| centre_of(centres, p)).collect()
    }
}

/// The centre of rotation of a point of the mesh.
pub(super) fn centre_of(centres: &Centres, point: u32) -> Vec3 {
    let chunk = centres.chunk(point as usize / CHUNK);
    let centre = chunk.and_then(|chunk| chunk.get(point as usize % CHUNK));
    centre.copied().unwrap_or(Vec3::ZERO)
}

/// The chunks of some points.
fn chunks(n_points: usize) -> impl Iterator<Item = Range<usize>> + Clone {
    (0..n_points.div_ceil(CHUNK)).map(move |c| c * CHUNK..n_points.min((c + 1) * CHUNK))
}
