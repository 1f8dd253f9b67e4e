//! A hierarchy of boxes around triangles or points, refitted as they move.

use glam::DVec3;

/// The most items in a leaf.
const LEAF: usize = 4;

/// More levels than a tree has: each halves its items.
const DEEPEST: usize = 40;

/// A bounding volume hierarchy in double precision: built once, refitted.
#[derive(Clone, Debug, Default)]
pub(crate) struct BoxTree {
    nodes: Vec<Node>,
    /// Items in the order of the leaves.
    items: Vec<u32>,
}

/// A node; parents come before their children.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Node {
    bounds: Bounds,
    /// Its items in [`BoxTree::items`].
    first: u32,
    n: u32,
    /// Its second child, the first comes next to it; 0: it is a leaf.
    second: u32,
}

/// A box.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    pub(crate) low: DVec3,
    pub(crate) high: DVec3,
}

impl Bounds {
    /// The box around points.
    pub(crate) fn around(points: impl IntoIterator<Item = DVec3>) -> Self {
        let nothing = Self {
            low: DVec3::INFINITY,
            high: DVec3::NEG_INFINITY,
        };
        let points = points.into_iter();
        points.fold(nothing, |b, p| Self {
            low: b.low.min(p),
            high: b.high.max(p),
        })
    }

    pub(crate) fn join(self, other: Self) -> Self {
        Self {
            low: self.low.min(other.low),
            high: self.high.max(other.high),
        }
    }

    /// The least value of the dot product of `v` with a vector in the box, rounded as the products of single ones are.
    pub(crate) fn least_dot(&self, v: DVec3) -> f64 {
        let least = (v * self.low).min(v * self.high);
        least.x + least.y + least.z
    }

    fn distance_squared(&self, p: DVec3) -> f64 {
        (p.clamp(self.low, self.high)).distance_squared(p)
    }

    fn overlaps(&self, other: &Self) -> bool {
        self.low.cmple(other.high).all() && other.low.cmple(self.high).all()
    }
}

impl BoxTree {
    /// The hierarchy of `n` items with these boxes.
    pub(crate) fn new(n: usize, bounds: impl Fn(u32) -> Bounds) -> Self {
        let mut tree = Self {
            nodes: Vec::with_capacity(n),
            items: (0..n as u32).collect(),
        };
        if n > 0 {
            let boxes: Vec<Bounds> = (0..n as u32).map(&bounds).collect();
            tree.build(&boxes, 0, n);
        }
        tree
    }

    fn build(&mut self, boxes: &[Bounds], first: usize, end: usize) {
        let items = &mut self.items[first..end];
        let own = items.iter().map(|&i| boxes[i as usize]);
        let bounds = own.reduce(Bounds::join).unwrap_or(Bounds {
            low: DVec3::ZERO,
            high: DVec3::ZERO,
        });
        let index = self.nodes.len();
        self.nodes.push(Node {
            bounds,
            first: first as u32,
            n: (end - first) as u32,
            second: 0,
        });
        if end - first <= LEAF {
            return;
        }
        let middle = |i: u32| boxes[i as usize].low + boxes[i as usize].high;
        let middles = Bounds::around(items.iter().map(|&i| middle(i)));
        let axis = (middles.high - middles.low).max_position();
        let half = items.len() / 2;
        items.select_nth_unstable_by(half, |&a, &b| {
            let (x, y) = (middle(a)[axis], middle(b)[axis]);
            x.total_cmp(&y).then(a.cmp(&b))
        });
        self.build(boxes, first, first + half);
        self.nodes[index].second = self.nodes.len() as u32;
        self.build(boxes, first + half, end);
    }

    /// Fits the boxes to new bounds of the same items.
    pub(crate) fn refit(&mut self, bounds: impl Fn(u32) -> Bounds) {
        for index in (0..self.nodes.len()).rev() {
            let node = self.nodes[index];
            let fitted = if node.second == 0 {
                self.leaf(&node)
                    .iter()
                    .map(|&i| bounds(i))
                    .reduce(Bounds::join)
            } else {
                let (a, b) = (&self.nodes[index + 1], &self.nodes[node.second as usize]);
                Some(a.bounds.join(b.bounds))
            };
            self.nodes[index].bounds = fitted.unwrap_or(node.bounds);
        }
    }

    fn leaf(&self, node: &Node) -> &[u32] {
        &self.items[node.first as usize..(node.first + node.n) as usize]
    }

    /// One for each node: the sum over the items below it, for [`BoxTree::visit_sums`] and [`BoxTree::nearest_where`]: `of`
    /// an item, and `join` of two sums.
    pub(crate) fn sums<T: Copy>(&self, of: impl Fn(u32) -> T, join: impl Fn(T, T) -> T) -> Vec<T> {
        let mut sums: Vec<Option<T>> = vec![None; self.nodes.len()];
        for index in (0..self.nodes.len()).rev() {
            let node = self.nodes[index];
            sums[index] = if node.second == 0 {
                self.leaf(&node).iter().map(|&i| of(i)).reduce(&join)
            } else {
                match (sums[index + 1], sums[node.second as usize]) {
                    (Some(a), Some(b)) => Some(join(a, b)),
                    (a, b) => a.or(b),
                }
            };
        }
        sums.into_iter().flatten().collect()
    }

    /// Descends from the root: `far` takes a node by its sum and its box and returns whether it is done; the items of
    /// leaves that are not are given to `near`.
    pub(crate) fn visit_sums<T>(
        &self,
        sums: &[T],
        mut far: impl FnMut(&T, &Bounds) -> bool,
        mut near: impl FnMut(u32),
    ) {
        let mut stack = vec![0u32];
        while let Some(index) = stack.pop() {
            let Some(node) = self.nodes.get(index as usize) else {
                continue;
            };
            if far(&sums[index as usize], &node.bounds) {
                continue;
            }
            if node.second == 0 {
                self.leaf(node).iter().for_each(|&i| near(i));
            } else {
                stack.extend([node.second, index + 1]);
            }
        }
    }

    /// The item with the least squared distance from `p`, at most `reach` squared; of equals the lowest. `measure`: the
    /// squared distance of an item, `None` where it does not count.
    pub(crate) fn nearest(
        &self,
        p: DVec3,
        reach: f64,
        measure: impl FnMut(u32, f64) -> Option<f64>,
    ) -> Option<u32> {
        self.nearest_where(p, reach, |_| true, measure)
    }

    /// As [`BoxTree::nearest`], without the items below the nodes (by number) that `may_hold` excludes.
    pub(crate) fn nearest_where(
        &self,
        p: DVec3,
        reach: f64,
        may_hold: impl Fn(usize) -> bool,
        mut measure: impl FnMut(u32, f64) -> Option<f64>,
    ) -> Option<u32> {
        let mut best = reach * reach;
        let mut found: Option<u32> = None;
        let root = self.nodes.first()?;
        let mut waiting = [(0.0, 0u32); DEEPEST];
        waiting[0] = (root.bounds.distance_squared(p), 0);
        let mut n = 1;
        while n > 0 {
            n -= 1;
            let (distance, index) = waiting[n];
            if distance > best || !may_hold(index as usize) {
                continue;
            }
            let node = &self.nodes[index as usize];
            if node.second != 0 {
                let child = |i: u32| (self.nodes[i as usize].bounds.distance_squared(p), i);
                let (a, b) = (child(index + 1), child(node.second));
                // The nearer one is taken first.
                let nearer_first = a.0 <= b.0;
                (waiting[n], waiting[n + 1]) = if nearer_first { (b, a) } else { (a, b) };
                n += 2;
                continue;
            }
            for &item in self.leaf(node) {
                let Some(distance) = measure(item, best) else {
                    continue;
                };
                let wins =
                    distance < best || distance == best && found.is_none_or(|known| item < known);
                if wins {
                    best = distance;
                    found = Some(item);
                }
            }
        }
        found
    }

    /// The items whose boxes overlap another box.
    pub(crate) fn overlapping(&self, other: &Bounds, mut found: impl FnMut(u32)) {
        let mut stack = vec![0u32];
        while let Some(index) = stack.pop() {
            let Some(node) = self.nodes.get(index as usize) else {
                continue;
            };
            if !node.bounds.overlaps(other) {
                continue;
            }
            if node.second == 0 {
                self.leaf(node).iter().for_each(|&i| found(i));
            } else {
                stack.extend([node.second, index + 1]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_finds_what_a_look_at_every_item_finds() {
        let place = |i: u32| DVec3::new(f64::from(i % 7), f64::from(i % 11), f64::from(i / 9));
        let moved = |i: u32| place(i * 3 % 100) + DVec3::X;
        let mut tree = BoxTree::new(100, |i| Bounds::around([place(i)]));
        tree.refit(|i| Bounds::around([moved(i)]));
        for k in 0..50 {
            let p = place(k) * 0.9 + DVec3::splat(0.3);
            let found = tree.nearest(p, 3.0, |i, _| {
                (i % 2 == 0).then(|| moved(i).distance_squared(p))
            });
            let all = (0..100)
                .filter(|i| i % 2 == 0)
                .map(|i| (moved(i).distance_squared(p), i));
            let best = all.filter(|(d, _)| *d <= 9.0);
            let best = best.min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            assert_eq!(found, best.map(|(_, i)| i));
        }
        let sums = tree.sums(|_| 1, |a, b| a + b);
        assert_eq!(sums[0], 100);
        let mut n = 0;
        tree.visit_sums(&sums, |_, _| false, |_| n += 1);
        assert_eq!(n, 100);
        let mut within = Vec::new();
        let wanted = Bounds::around([DVec3::splat(2.0), DVec3::splat(4.0)]);
        tree.overlapping(&wanted, |i| {
            if Bounds::around([moved(i)]).overlaps(&wanted) {
                within.push(i);
            }
        });
        within.sort_unstable();
        let expected = (0..100).filter(|&i| Bounds::around([moved(i)]).overlaps(&wanted));
        assert_eq!(within, expected.collect::<Vec<_>>());
    }
}
