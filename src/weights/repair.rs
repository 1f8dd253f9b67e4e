//! Repairs rows: sums, numbers of influences, sides of a seam.

use crate::skinning::RowRef;

/// Tolerance of the sum of weights.
pub const SUM_TOLERANCE: f32 = 1e-3;

fn is_locked(locked: &[bool], joint: u16) -> bool {
    locked.get(usize::from(joint)).copied().unwrap_or(false)
}

/// Writes to `out` the row with its unlocked weights scaled so that the sum is 1; `false` where that changes nothing.
///
/// `locked`: n_skin_joints (missing entries are unlocked). Where locked weights alone reach 1, or no unlocked joint has
/// weight, the row stays.
pub fn normalise(row: RowRef<'_>, locked: &[bool], out: &mut Vec<(u16, f32)>) -> bool {
    out.clear();
    out.extend(row.iter());
    rescale(out, locked) && !out.iter().copied().eq(row.iter())
}

/// Writes to `out` the row without its smallest unlocked influences beyond `most`, its sum kept at 1; `false` where
/// that changes nothing. Locked ones stay even above the limit.
pub fn limit(row: RowRef<'_>, most: usize, locked: &[bool], out: &mut Vec<(u16, f32)>) -> bool {
    out.clear();
    out.extend(row.iter());
    let most = most.max(1);
    while out.len() > most {
        let smallest = out
            .iter()
            .enumerate()
            .filter(|(_, (joint, _))| !is_locked(locked, *joint))
            .min_by(|(_, (_, a)), (_, (_, b))| a.total_cmp(b))
            .map(|(i, _)| i);
        match smallest {
            Some(i) => out.remove(i),
            None => break,
        };
    }
    if out.len() == row.len() {
        return false;
    }
    // Where every remaining joint is locked, the sum cannot be kept and the row stays the same.
    rescale(out, locked)
}

/// Writes to `out`, one for each of `rows`, their mean; locked joints keep the weight that each row has. `false` where
/// that changes nothing.
pub fn weld(rows: &[RowRef<'_>], locked: &[bool], out: &mut Vec<Vec<(u16, f32)>>) -> bool {
    out.clear();
    let mut average: Vec<(u16, f32)> = Vec::new();
    for (joint, weight) in rows.iter().copied().flat_map(RowRef::iter) {
        if is_locked(locked, joint) {
            continue;
        }
        match average.iter_mut().find(|(j, _)| *j == joint) {
            Some((_, sum)) => *sum += weight,
            None => average.push((joint, weight)),
        }
    }
    let mut changed = false;
    for row in rows {
        let kept = row.iter().filter(|&(j, _)| is_locked(locked, j));
        let mut new: Vec<(u16, f32)> = kept.chain(average.iter().copied()).collect();
        let differs = rescale(&mut new, locked)
            && new
                .iter()
                .any(|&(j, w)| (w - row.weight_of(j)).abs() > 1e-6);
        if !differs {
            // A row that equals the mean keeps every bit and its order.
            new = row.iter().collect();
        }
        changed |= differs;
        out.push(new);
    }
    changed
}

/// The difference of two rows: the sum of the absolute differences of their weights, 0 - 2 for rows of sum 1.
pub fn difference(a: RowRef<'_>, b: RowRef<'_>) -> f32 {
    let of_a: f32 = a.iter().map(|(j, w)| (w - b.weight_of(j)).abs()).sum();
    let only_b = b.iter().filter(|(j, _)| !a.joints.contains(j));
    of_a + only_b.map(|(_, w)| w).sum::<f32>()
}

/// Scales the unlocked weights so that the sum is 1; `false` where no unlocked joint can take the rest.
fn rescale(row: &mut [(u16, f32)], locked: &[bool]) -> bool {
    let (mut free, mut kept) = (0.0, 0.0);
    for &(joint, weight) in row.iter() {
        *(if is_locked(locked, joint) {
            &mut kept
        } else {
            &mut free
        }) += f64::from(weight);
    }
    if free <= 0.0 || kept >= 1.0 {
        return false;
    }
    let scale = (1.0 - kept) / free;
    for (joint, weight) in row.iter_mut() {
        if !is_locked(locked, *joint) {
            *weight = (f64::from(*weight) * scale) as f32;
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::skinning::Rows;

    fn rows(rows: &[&[(u16, f32)]]) -> Rows {
        rows.iter().map(|row| row.to_vec()).collect()
    }

    #[test]
    fn normalising_scales_what_is_not_locked() {
        let rows = rows(&[&[(0, 0.5), (1, 0.25), (2, 0.75)]]);
        let mut out = Vec::new();
        assert!(normalise(rows.row(0), &[true], &mut out));
        assert_eq!(out, [(0, 0.5), (1, 0.125), (2, 0.375)]);
        assert!(!normalise(rows.row(0), &[true; 3], &mut out));
        assert!(!normalise(rows.row(0), &[false, true, true], &mut out));
    }

    #[test]
    fn a_sum_of_one_and_an_empty_row_stay() {
        let rows = rows(&[&[(0, 0.5), (1, 0.5)], &[], &[(0, 0.0)]]);
        let mut out = Vec::new();
        for i in 0..3 {
            assert!(!normalise(rows.row(i), &[], &mut out));
        }
    }

    #[test]
    fn the_smallest_go_but_locked_ones_stay() {
        let rows = rows(&[&[(0, 0.5), (1, 0.125), (2, 0.125), (3, 0.25)]]);
        let mut out = Vec::new();
        assert!(limit(rows.row(0), 2, &[false, true], &mut out));
        assert_eq!(out, [(0, 0.875), (1, 0.125)]);
        assert!(!limit(rows.row(0), 4, &[], &mut out));
        assert!(!limit(rows.row(0), 2, &[true; 4], &mut out));
    }

    #[test]
    fn the_sides_of_a_seam_become_equal_but_for_locked_joints() {
        let rows = rows(&[&[(0, 1.0)], &[(0, 0.5), (1, 0.5)]]);
        let sides = [rows.row(0), rows.row(1)];
        let mut out = Vec::new();
        assert!(weld(&sides, &[], &mut out));
        assert_eq!(
            out,
            [vec![(0, 0.75), (1, 0.25)], vec![(0, 0.75), (1, 0.25)]]
        );
        assert!(
            !weld(&sides, &[false, true], &mut out),
            "all that is left is locked"
        );
        assert_eq!(out, [vec![(0, 1.0)], vec![(0, 0.5), (1, 0.5)]]);
        assert!((difference(sides[0], sides[1]) - 1.0).abs() < 1e-6);
    }
}
