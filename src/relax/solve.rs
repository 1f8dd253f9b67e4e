//! The relaxation itself: local rotations and a global solve in turn, with contacts, outline and volume.

use super::coarse::Coarse;
use super::contact::{Contact, Contacts};
use super::energy::{fit_rotations, right_hand_side};
use super::neighbourhood::Neighbourhood;
use super::outline::Outline;
use super::posed::Posed;
use super::region::Region;
use super::settings::RelaxSettings;
use crate::math::sparse::{Factor, FactorError, Symmetric};
use crate::task::Task;
use glam::{DMat3, DQuat, DVec3};

/// It stops when no point moves by more than this in an iteration, in radii.
const STILL: f64 = 5e-4;

/// Or when points move by less than this (root mean square, in radii), and nothing crossed at the last checks.
const NEARLY_STILL: (f64, usize) = (1e-4, 3);

/// It looks for contacts at every such iteration.
const CONTACT_PERIOD: usize = 2;

/// The most iterations after a coarse start, and with a wider gap.
const SHORT: usize = 50;

/// How often the gap is doubled where triangles still cross.
const WIDER_GAPS: usize = 2;

/// Points that move by less than this have no displacement, in radii.
const NEGLIGIBLE: f64 = 1e-4;

/// Where a relaxation starts.
#[derive(Clone, Copy, Debug, Default)]
pub enum Start<'a> {
    /// At the skinned shape, even where it passes deep through itself.
    #[default]
    Skinned,
    /// At the displacements of the points of the coarser surface, ascending, each with its own in the frame of bind.
    Coarse(&'a Coarse, &'a [(u32, DVec3)]),
    /// At the displacements of a pose nearby: points, ascending, each with its own in the frame of bind.
    Near(&'a [(u32, DVec3)]),
}

/// A relaxed pose.
#[derive(Clone, Debug, Default)]
pub struct Relaxed {
    /// n_points, world, metres.
    pub positions: Vec<DVec3>,
    /// The points that moved, ascending, with their displacement `d = R^T (x - s)` in the frame of bind, metres.
    pub displacements: Vec<(u32, DVec3)>,
    /// Iterations that it took.
    pub iterations: usize,
    /// Contacts found in the last search.
    pub n_contacts: usize,
}

/// The relaxed surface of a pose.
///
/// Minimises `sum_ij w_ij |x_i - x_j - R_i (p_i - p_j)|^2 + alpha r^2 sum_ij w_ij |R_i - R_j|^2 +
/// D sum_i (zeta |x_i - s_i|^2 + kappa m_i |n . (x_i - y_i)|^2) + k D sum_contacts |...|^2` over the free points and the rotations, with the volume
/// within its slack: as-rigid-as-possible surface modelling (Sorkine & Alexa 2007) with smoothed rotations (Levi & Gotsman
/// 2015). Where triangles still cross at the end, it goes on with twice the gap, at most twice: contacts hold points in
/// front of triangles, and two long edges of a coarse fold pass through each other between their points. The shape with
/// the fewest crossings is kept. Fails when it is cancelled.
pub fn relax(
    around: &Neighbourhood,
    region: &Region,
    posed: &Posed,
    settings: &RelaxSettings,
    start: Start<'_>,
    task: &Task,
) -> Result<Relaxed, FactorError> {
    let Some(&first) = region.free.first() else {
        return Ok(Relaxed {
            positions: posed.skinned.clone(),
            ..Relaxed::default()
        });
    };
    // Numbers around the origin keep their digits.
    let origin = posed.skinned[first as usize];
    let at_origin = |places: &[DVec3]| places.iter().map(|p| *p - origin).collect::<Vec<_>>();
    let (skinned, shape) = (at_origin(&posed.skinned), at_origin(&posed.outline));
    let mut from = skinned.clone();
    let mut displace = |p: u32, d: DVec3| from[p as usize] += posed.rotations[p as usize] * d;
    match start {
        Start::Skinned => {}
        Start::Coarse(coarse, displacements) => {
            let carried = coarse.carried(displacements);
            for (&p, d) in region.free.iter().zip(carried) {
                displace(p, d);
            }
        }
        Start::Near(displacements) => {
            let free = displacements.iter().filter(|(p, _)| region.is_free(*p));
            free.for_each(|&(p, d)| displace(p, d));
        }
    }
    let iterations = match start {
        Start::Skinned | Start::Near(_) => settings.iterations,
        Start::Coarse(..) => settings.iterations.min(SHORT),
    };
    let solver = Solver {
        around,
        region,
        settings: *settings,
        task,
    };
    let outline = Outline::new(around, region, &shape);
    let rotations = posed.rotations.iter();
    let mut rotations: Vec<DMat3> = rotations.map(|q| DMat3::from_quat(*q)).collect();
    let mut relaxed = solver.run(&skinned, &outline, from, &mut rotations, iterations)?;
    if settings.widens {
        relaxed = solver.part_edges(&skinned, &outline, relaxed, &mut rotations)?;
    }
    relaxed.displacements = displacements(
        around,
        region,
        &skinned,
        &relaxed.positions,
        &posed.rotations,
    );
    for place in &mut relaxed.positions {
        *place += origin;
    }
    Ok(relaxed)
}

impl Relaxed {
    /// One for each free point: its displacement in the frame of bind, negligible or not.
    pub fn of_free(&self, region: &Region, posed: &Posed) -> Vec<DVec3> {
        let of_point = |&p: &u32| {
            let p = p as usize;
            posed.rotations[p].conjugate() * (self.positions[p] - posed.skinned[p])
        };
        region.free.iter().map(of_point).collect()
    }
}

/// What all iterations of a pose share.
struct Solver<'a> {
    around: &'a Neighbourhood,
    region: &'a Region,
    settings: RelaxSettings,
    task: &'a Task,
}

impl Solver<'_> {
    /// The shape of `relaxed`, or with wider gaps one with fewer crossings.
    fn part_edges(
        &self,
        skinned: &[DVec3],
        outline: &Outline<'_>,
        mut relaxed: Relaxed,
        rotations: &mut [DMat3],
    ) -> Result<Relaxed, FactorError> {
        let mut left = self.free_crossings(&relaxed.positions);
        let mut settings = self.settings;
        for _ in 0..WIDER_GAPS {
            // What does not touch does not part.
            if left == 0 || relaxed.n_contacts == 0 {
                break;
            }
            settings.gap *= 2.0;
            let wider = Solver { settings, ..*self };
            let from = relaxed.positions.clone();
            let parted = wider.run(skinned, outline, from, rotations, SHORT)?;
            let still = self.free_crossings(&parted.positions);
            let iterations = relaxed.iterations + parted.iterations;
            if still < left {
                (left, relaxed) = (still, parted);
            }
            relaxed.iterations = iterations;
        }
        Ok(relaxed)
    }

    /// The number of crossings in which a triangle can move.
    fn free_crossings(&self, x: &[DVec3]) -> usize {
        let Self { around, region, .. } = *self;
        let triangles = &around.surface.triangles;
        let moves = |t: u32| triangles[t as usize].iter().any(|&p| region.is_free(p));
        let pairs = around.crossings(&region.near_triangles, x).into_iter();
        pairs.filter(|&(a, b)| moves(a) || moves(b)).count()
    }

    fn run(
        &self,
        skinned: &[DVec3],
        outline: &Outline<'_>,
        start: Vec<DVec3>,
        rotations: &mut [DMat3],
        iterations: usize,
    ) -> Result<Relaxed, FactorError> {
        let Self {
            around,
            region,
            ref settings,
            task,
        } = *self;
        let scale = region.scale;
        let mut system = region.laplacian.clone();
        let own = outline.strengths.iter();
        let own = own.map(|m| (settings.pull + settings.outline * m) * scale);
        system.add_diagonal(&own.collect::<Vec<_>>());
        let plain = Factor::new(system.clone(), task)?;
        let mut touching: Option<Factor> = None;

        let mut x = start;
        let mut contacts = Contacts::new(around, region, settings, &x);
        let mut found: Vec<Contact> = Vec::new();
        let (mut fitted, mut b) = (Vec::new(), Vec::new());
        let (mut targets, mut nearest) = (Vec::new(), Vec::new());
        let mut n_without_crossing = 0;
        let mut done = iterations;
        for iteration in 0..iterations {
            task.check()?;
            fit_rotations(
                around,
                region,
                settings.stiffness,
                &x,
                rotations,
                &mut fitted,
            );
            for (&p, rotation) in region.rotating.iter().zip(&fitted) {
                rotations[p as usize] = *rotation;
            }
            right_hand_side(around, region, &x, rotations, &mut b);
            let normals = around.surface.normals(&x);
            outline.targets(region, &x, &normals, &mut nearest, &mut targets);
            for (i, &p) in region.free.iter().enumerate() {
                let keeps = settings.outline * outline.strengths[i];
                b[i] += (skinned[p as usize] * settings.pull + targets[i] * keeps) * scale;
            }
            if iteration % CONTACT_PERIOD == 0 {
                task.check()?;
                found = contacts.find(&x, &normals);
                touching = match &found[..] {
                    [] => None,
                    found => {
                        let strength = settings.contact * scale;
                        let system = with_contacts(&system, region, found, strength);
                        Some(Factor::new(system, task)?)
                    }
                };
            }
            add_contacts(
                region,
                &found,
                settings.contact * scale,
                &x,
                |p| x[p as usize],
                &mut b,
            );
            let factor = touching.as_ref().unwrap_or(&plain);
            let mut next = x.clone();
            for (&p, place) in region.free.iter().zip(solve_places(factor, &b)) {
                next[p as usize] = place;
            }
            self.correct_volume(factor, &mut next);

            let steps = region
                .free
                .iter()
                .map(|&p| x[p as usize].distance_squared(next[p as usize]));
            let (largest, sum) = steps.fold((0.0f64, 0.0), |(m, sum), s| (m.max(s), sum + s));
            x = next;
            let rms = (sum / region.free.len() as f64).sqrt();
            let (nearly, n_checks) = NEARLY_STILL;
            if rms < nearly * around.radius && iteration % CONTACT_PERIOD == 0 {
                let crossings = around.crossings(&region.near_triangles, &x);
                n_without_crossing = if crossings.is_empty() {
                    n_without_crossing + 1
                } else {
                    0
                };
            }
            if iteration > 3
                && (largest.sqrt() < STILL * around.radius || n_without_crossing >= n_checks)
            {
                done = iteration + 1;
                break;
            }
        }
        Ok(Relaxed {
            positions: x,
            displacements: Vec::new(),
            iterations: done,
            n_contacts: found.len(),
        })
    }

    /// Moves the free points of `x` along `A^-1 grad V` until the volume is within its slack.
    fn correct_volume(&self, factor: &Factor, x: &mut [DVec3]) {
        let Self {
            region,
            ref settings,
            ..
        } = *self;
        let closed = &region.closed;
        let wanted = {
            let now = closed.volume(x) / region.bind_volume;
            let (low, high) = (
                settings.volume - settings.volume_slack,
                settings.volume + settings.volume_slack,
            );
            if !(now < low || now > high) {
                return;
            }
            now.clamp(low, high) * region.bind_volume
        };
        let mut gradient = vec![DVec3::ZERO; x.len()];
        closed.gradient(x, &mut gradient);
        let of_free = |gradient: &[DVec3]| {
            region
                .free
                .iter()
                .map(|&p| gradient[p as usize])
                .collect::<Vec<_>>()
        };
        let direction = solve_places(factor, &of_free(&gradient));
        for round in 0..VOLUME_STEPS {
            if round > 0 {
                closed.gradient(x, &mut gradient);
            }
            let slope: f64 = of_free(&gradient)
                .iter()
                .zip(&direction)
                .map(|(g, z)| g.dot(*z))
                .sum();
            let step = (wanted - closed.volume(x)) / slope;
            if !step.is_finite() {
                return;
            }
            for (&p, z) in region.free.iter().zip(&direction) {
                x[p as usize] += *z * step;
            }
        }
    }
}

/// Newton steps along one direction; the volume is a cubic there.
const VOLUME_STEPS: usize = 3;

/// `A + k C^T C`.
pub(super) fn with_contacts(
    system: &Symmetric,
    region: &Region,
    contacts: &[Contact],
    strength: f64,
) -> Symmetric {
    let mut diagonal = vec![0.0; region.free.len()];
    let mut edges = Vec::new();
    for contact in contacts {
        let free = contact.free(region);
        for (k, (i, a)) in free.clone().enumerate() {
            diagonal[i as usize] += strength * a * a;
            for (j, b) in free.clone().skip(k + 1) {
                edges.push((i, j, strength * a * b));
            }
        }
    }
    system.plus(&Symmetric::new(&diagonal, edges))
}

/// Adds `k C^T (C v + delta n)` to the right-hand side, v the unknowns (of the free points) at `x`.
pub(super) fn add_contacts(
    region: &Region,
    contacts: &[Contact],
    strength: f64,
    x: &[DVec3],
    unknown: impl Fn(u32) -> DVec3,
    b: &mut [DVec3],
) {
    for contact in contacts {
        let of_free = |p: u32| {
            if region.is_free(p) {
                unknown(p)
            } else {
                DVec3::ZERO
            }
        };
        let target = contact.sum(of_free) + contact.direction * contact.missing(x);
        for (i, weight) in contact.free(region) {
            b[i as usize] += target * (strength * weight);
        }
    }
}

/// Solves for places: x, y and z of a right-hand side.
pub(super) fn solve_places(factor: &Factor, b: &[DVec3]) -> Vec<DVec3> {
    let n = b.len();
    let mut columns = vec![0.0; 3 * n];
    for (i, b) in b.iter().enumerate() {
        (columns[i], columns[n + i], columns[2 * n + i]) = (b.x, b.y, b.z);
    }
    factor.solve(&mut columns);
    (0..n)
        .map(|i| DVec3::new(columns[i], columns[n + i], columns[2 * n + i]))
        .collect()
}

/// The displacements of the free points, without negligible ones.
fn displacements(
    around: &Neighbourhood,
    region: &Region,
    skinned: &[DVec3],
    x: &[DVec3],
    rotations: &[DQuat],
) -> Vec<(u32, DVec3)> {
    let moved = region.free.iter().map(|&p| {
        let i = p as usize;
        (p, rotations[i].conjugate() * (x[i] - skinned[i]))
    });
    moved
        .filter(|(_, d)| d.length() >= NEGLIGIBLE * around.radius)
        .collect()
}
