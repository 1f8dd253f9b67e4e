//! Values per point that are all cleared at once.

/// A value for some of the points of a mesh: as fast as an array, and cleared in constant time, so that the cost of a
/// dab depends only on the points that it reaches.
#[derive(Clone, Debug, Default)]
pub struct Stamped<T> {
    /// n_points: the generation in which the value was set, and the value.
    cells: Vec<(u32, T)>,
    now: u32,
}

impl<T: Copy + Default> Stamped<T> {
    /// Clears all values and resizes for `n_points`.
    pub fn start(&mut self, n_points: usize) {
        if self.cells.len() != n_points || self.now == u32::MAX {
            self.cells.clear();
            self.cells.resize(n_points, (0, T::default()));
            self.now = 0;
        }
        self.now += 1;
    }

    /// The value of a point, if it has one.
    #[inline]
    pub fn get(&self, point: u32) -> Option<T> {
        let (stamp, value) = *self.cells.get(point as usize)?;
        (stamp == self.now).then_some(value)
    }

    /// Sets the value of a point.
    #[inline]
    pub fn set(&mut self, point: u32, value: T) {
        if let Some(cell) = self.cells.get_mut(point as usize) {
            *cell = (self.now, value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_last_until_the_next_start() {
        let mut values = Stamped::<u32>::default();
        assert_eq!(values.get(0), None);
        values.start(3);
        values.set(2, 7);
        values.set(99, 7);
        assert_eq!(
            (values.get(1), values.get(2), values.get(99)),
            (None, Some(7), None)
        );
        values.start(3);
        assert_eq!(values.get(2), None);
        values.set(2, 8);
        values.start(4);
        assert_eq!(values.get(2), None);
    }
}
