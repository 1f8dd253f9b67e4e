//! The byte budget of normal deltas, and the choice of those that are written.

use super::normal_fit::{Pursuit, Step, n_above, score};
use crate::bake::normal_angles::compared_normals;
use crate::bake::problem::Problem;
use crate::bake::problem::group::GroupMesh;
use crate::bake::solve::prices::ENTRY_BYTES;

/// The 99th percentile of angles to reach, degrees: below 2 degrees shading is not visibly different.
pub(super) const GOAL_DEGREES: f32 = 1.6;
/// At most this fraction of the angles may exceed the goal.
const GOAL_SHARE: f64 = 0.009;
/// Deltas may take up to `MOST` times their share of the source (`BakeOptions::normals_share`) as long as the whole
/// correction takes at most `GROWTH` times the share.
const GROWTH: f64 = 1.2;
const MOST: f64 = 1.6;
/// Deltas may also take this many times the share of the bytes of the rest of the correction.
const OF_OTHERS: f64 = 2.0;
/// Deltas may always take the share of this many bytes, quantized or not.
const LEAST_SOURCE: f64 = 160e3;

/// The byte budget of a mesh's normal deltas.
pub(super) struct Budget<'a> {
    /// By normal: the number of vertices that share it.
    pub(super) vertices: &'a [u32],
    pub(super) bytes: f64,
    /// The size of one vertex's delta, bytes.
    pub(super) of_entry: f64,
}

/// The bytes that the deltas of the normals of a mesh may take beside `others` of its correction.
pub(crate) fn bytes_of_normals(problem: &Problem<'_>, part: &GroupMesh, others: f64) -> f64 {
    let item = problem.sampler.item(part.mesh);
    let item = item.filter(|_| problem.options.normals && problem.most_morphs() > 0);
    item.map_or(0.0, |item| {
        let normals = compared_normals(&part.geometry, &item.influences);
        bytes_for(problem, part, normals.len(), others)
    })
}

/// The bytes for the deltas of a mesh beside `others` of its correction: its part of those of the file by its compared
/// normals. Rigid meshes need none.
pub(super) fn bytes_for(
    problem: &Problem<'_>,
    part: &GroupMesh,
    n_normals: usize,
    others: f64,
) -> f64 {
    let document = problem.sampler.document;
    let source = document.source();
    let bytes = source.map_or(0, |source| {
        let buffers: usize = source.buffers.iter().map(bytes::Bytes::len).sum();
        buffers.max(source.bytes.len())
    });
    let all = *problem.n_normals.get_or_init(|| {
        let meshes = document.meshes().values();
        let all = meshes.map(|item| compared_normals(&item.geometry, &item.influences).len());
        all.sum()
    });
    let part_of_file = n_normals as f64 / all.max(1) as f64;
    let entry = problem.normal_entry_bytes() / ENTRY_BYTES;
    let others = others + part.set_bytes.kept;
    let share = problem.options.normals_share;
    share_of_source(share, part_of_file * bytes as f64, others, entry)
        .max(share * part_of_file * LEAST_SOURCE)
}

/// The bytes for deltas that may take a `share` of the source, given the bytes of the source, those of the rest of the
/// correction, and the size of an entry as a fraction of that of floats: quantised deltas may take less, for the same number
/// of entries.
fn share_of_source(share: f64, source: f64, others: f64, entry: f64) -> f64 {
    let left = (GROWTH * share * source - others).min(MOST * share * source * entry);
    left.max(share * source * entry)
        .max(OF_OTHERS * share * others)
}

/// The step of each normal's pursuit that is written, if any: those that lower the score the most for their bytes, as many
/// as reach the goal and as the budget allows. Angles and entries are those before fits are improved, so the result may be
/// somewhat better than the goal.
pub(super) fn select_steps(
    normals: &[u32],
    pursuits: &[Pursuit],
    budget: &Budget<'_>,
) -> Vec<Option<usize>> {
    let vertices = |i: usize| f64::from(budget.vertices[normals[i] as usize]);
    let of_pursuit = |(i, pursuit): (usize, &Pursuit)| -> Vec<Upgrade> {
        let upgrades = upgrades_of(pursuit, vertices(i));
        let upgrades = upgrades.map(|(step, gain)| Upgrade { i, step, gain });
        upgrades.collect()
    };
    let upgrades = pursuits.iter().enumerate().flat_map(of_pursuit);
    let mut upgrades: Vec<Upgrade> = upgrades.collect();
    let by_normal = |a: &Upgrade, b: &Upgrade| (normals[a.i], a.step).cmp(&(normals[b.i], b.step));
    upgrades.sort_by(|a, b| b.gain.total_cmp(&a.gain).then_with(|| by_normal(a, b)));
    let all: usize = pursuits.iter().map(|p| p.before.len()).sum();
    let before = pursuits.iter().map(|p| n_above(&p.before, GOAL_DEGREES));
    let before: Vec<usize> = before.collect();
    let mut left_above: usize = before.iter().sum();
    let mut left = budget.bytes;
    let mut chosen: Vec<Option<usize>> = vec![None; pursuits.len()];
    for Upgrade { i, step, .. } in upgrades {
        if left_above as f64 <= GOAL_SHARE * all as f64 {
            break;
        }
        let of = |step: usize| pursuits[i].steps[step];
        let (n, n_before) = chosen[i].map_or((0, before[i]), |s| (of(s).n, of(s).n_above));
        let bytes = budget.of_entry * vertices(i) * (of(step).n - n) as f64;
        if bytes <= left {
            left -= bytes;
            chosen[i] = Some(step);
            left_above = left_above - n_before + of(step).n_above;
        }
    }
    chosen
}

/// A step of a normal's pursuit.
struct Upgrade {
    /// The index of the normal.
    i: usize,
    step: usize,
    /// The decrease of the score per added entry.
    gain: f64,
}

/// The steps on the lower convex hull of scores over entries, each with the decrease of the score per added entry.
fn upgrades_of(pursuit: &Pursuit, n_vertices: f64) -> impl Iterator<Item = (usize, f64)> {
    let mut at = (0, score(&pursuit.before), 0, f64::INFINITY);
    std::iter::from_fn(move || {
        let (n, score, first, last) = at;
        let rest = pursuit.steps.iter().enumerate().skip(first);
        let gain = |s: &Step| (score - s.score) / (n_vertices * (s.n - n) as f64);
        let gains = rest.map(|(step, s)| (step, gain(s)));
        // Of equals the last.
        let (step, gain) = gains.max_by(|a, b| a.1.total_cmp(&b.1))?;
        // Rounding must not change the order.
        let gain = gain.min(last);
        let s = pursuit.steps[step];
        at = (s.n, s.score, step + 1, gain);
        Some((step, gain))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deltas_may_take_more_where_the_rest_takes_little() {
        let of = |others: f64, entry: f64| share_of_source(0.1, 1000.0, others, entry).round();
        // A tenth of the source, or what is left of 120 bytes, up to 160.
        let few = [300.0, 10.0, -30.0, -900.0].map(|others| of(others, 1.0));
        assert_eq!(few, [100.0, 110.0, 150.0, 160.0]);
        // Entries of half the size: half of a tenth, or half of 160.
        let small = [150.0, 60.0, -900.0].map(|others| of(others, 0.5));
        assert_eq!(small, [50.0, 60.0, 80.0]);
        // A fifth of the rest.
        assert_eq!(of(800.0, 1.0), 160.0);
        // All are proportional to the share.
        assert_eq!(share_of_source(0.2, 1000.0, 300.0, 1.0), 200.0);
        assert_eq!(share_of_source(0.2, 1000.0, 10.0, 1.0), 230.0);
    }

    /// A normal with angles `before` at four moments whose steps leave these angles with one, two, ... weights.
    fn pursuit(before: f32, after: &[f32]) -> Pursuit {
        let step = |(i, &angle): (usize, &f32)| Step {
            n: i + 1,
            score: score(&[angle; 4]),
            n_above: n_above(&[angle; 4], GOAL_DEGREES),
        };
        Pursuit {
            steps: after.iter().enumerate().map(step).collect(),
            before: vec![before; 4],
            ..Pursuit::default()
        }
    }

    #[test]
    fn entries_go_where_they_lower_the_score_the_most() {
        let select = |pursuits: &[Pursuit], n_entries: f64, vertices: &[u32]| {
            let budget = Budget {
                vertices,
                bytes: n_entries * ENTRY_BYTES,
                of_entry: ENTRY_BYTES,
            };
            select_steps(&[0, 1], pursuits, &budget)
        };
        // The first weight of each normal tells more than a second one of either.
        let two = [pursuit(18.0, &[6.0, 5.0]), pursuit(12.0, &[5.0, 3.0])];
        assert_eq!(select(&two, 1.0, &[1, 1]), [Some(0), None]);
        assert_eq!(select(&two, 2.0, &[1, 1]), [Some(0), Some(0)]);
        assert_eq!(select(&two, 3.0, &[1, 1]), [Some(0), Some(1)]);
        assert_eq!(select(&two, 9.0, &[1, 1]), [Some(1), Some(1)]);
        // A normal of many vertices costs an entry for each.
        assert_eq!(select(&two, 3.0, &[4, 1]), [None, Some(1)]);
        // A second weight that tells comes with a first that does not.
        let late = [pursuit(18.0, &[17.0, 2.0]), pursuit(12.0, &[5.0, 3.0])];
        assert_eq!(select(&late, 2.0, &[1, 1]), [Some(1), None]);
        // An upgrade that is too dear is skipped, a cheaper one of another normal is not.
        let dear = [pursuit(18.0, &[1.0]), pursuit(12.0, &[11.0])];
        assert_eq!(select(&dear, 3.0, &[4, 1]), [None, Some(0)]);
        // Nothing is spent beyond the goal.
        let near = [pursuit(18.0, &[1.0, 0.5]), pursuit(1.0, &[0.5])];
        assert_eq!(select(&near, 9.0, &[1, 1]), [Some(0), None]);
        // NaN is beyond it.
        let unknown = [pursuit(1.0, &[0.5]), pursuit(f32::NAN, &[0.5])];
        assert_eq!(select(&unknown, 9.0, &[1, 1]), [None, Some(0)]);
    }

    #[test]
    fn a_few_angles_may_stay_above_the_goal() {
        let few = |n: usize| {
            let mut before = vec![1.0; 1000];
            before[..n].fill(9.0);
            let step = Step {
                n: 1,
                score: 1000.0,
                n_above: 0,
            };
            let budget = Budget {
                vertices: &[1],
                bytes: 1e3,
                of_entry: ENTRY_BYTES,
            };
            let pursuit = Pursuit {
                steps: vec![step],
                before,
                ..Pursuit::default()
            };
            select_steps(&[0], &[pursuit], &budget)
        };
        assert_eq!((few(9), few(10)), (vec![None], vec![Some(0)]));
    }

    #[test]
    fn rounding_does_not_change_the_order_of_upgrades() {
        // Three scores on a line: without a limit, the second gain is the larger one by rounding.
        let scores = [432.736_813_187_753_06, 163.740_649_956_992_43];
        let steps = [2, 5].into_iter().zip(scores);
        let steps = steps.map(|(n, score)| Step {
            n,
            score,
            n_above: 0,
        });
        let pursuit = Pursuit {
            steps: steps.collect(),
            before: vec![12.37; 4],
            ..Pursuit::default()
        };
        let gains: Vec<f64> = upgrades_of(&pursuit, 3.0).map(|(_, gain)| gain).collect();
        assert_eq!(gains.len(), 2);
        assert!(gains[0] >= gains[1], "{gains:?}");
    }
}
