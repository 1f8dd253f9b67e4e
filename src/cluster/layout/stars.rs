//! The faces of each vertex, as short lists that change.

/// Faces of a vertex that lie beside their number; with that, one cache line.
const FEW: usize = 15;

/// The star of a vertex: the slots of its faces.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Star {
    n_faces: u32,
    /// The slots; of more than [`FEW`] the first number is the place of their list in [`Stars::many`].
    few: [u32; FEW],
}

/// The stars of all vertices. Decimation walks over the mesh in the order of areas, in which nearly every star is far from the
/// last: each is one line of memory.
pub(super) struct Stars {
    of_vertex: Vec<Star>,
    many: Vec<Vec<u32>>,
    /// Lists of [`Stars::many`] that no star uses.
    unused: Vec<u32>,
}

impl Stars {
    /// `n_vertices` without faces.
    pub(super) fn new(n_vertices: usize) -> Self {
        let none = Star {
            n_faces: 0,
            few: [0; FEW],
        };
        Self {
            of_vertex: vec![none; n_vertices],
            many: Vec::new(),
            unused: Vec::new(),
        }
    }

    /// The slots of a vertex's faces.
    pub(super) fn of(&self, vertex: u32) -> &[u32] {
        let star = &self.of_vertex[vertex as usize];
        match star.few.get(..star.n_faces as usize) {
            Some(few) => few,
            None => &self.many[star.few[0] as usize],
        }
    }

    /// Adds a face at the end.
    pub(super) fn push(&mut self, vertex: u32, slot: u32) {
        let star = &mut self.of_vertex[vertex as usize];
        let n = star.n_faces as usize;
        star.n_faces += 1;
        if n < FEW {
            star.few[n] = slot;
            return;
        }
        if n == FEW {
            let list = self.unused.pop().unwrap_or_else(|| {
                self.many.push(Vec::new());
                self.many.len() as u32 - 1
            });
            self.many[list as usize].extend(star.few);
            star.few[0] = list;
        }
        self.many[star.few[0] as usize].push(slot);
    }

    /// Removes a face if it is there; the last takes its place.
    pub(super) fn remove(&mut self, vertex: u32, slot: u32) {
        let Some(i) = self.of(vertex).iter().position(|&face| face == slot) else {
            return;
        };
        let star = &mut self.of_vertex[vertex as usize];
        star.n_faces -= 1;
        let n = star.n_faces as usize;
        if n < FEW {
            star.few[i] = star.few[n];
            return;
        }
        let list = star.few[0];
        let slots = &mut self.many[list as usize];
        slots.swap_remove(i);
        if n == FEW {
            star.few.copy_from_slice(slots);
            slots.clear();
            self.unused.push(list);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_are_lists_however_many_faces_there_are() {
        let noise = |i: u32| i.wrapping_mul(0x9E37_79B9) >> 8;
        let mut stars = Stars::new(3);
        let mut lists = [const { Vec::new() }; 3];
        for i in 0..4000 {
            let vertex = noise(i) % 3;
            let list: &mut Vec<u32> = &mut lists[vertex as usize];
            // Mostly growing, then mostly shrinking, past the length that fits, back and forth.
            let grows = noise(i + 9) % 10 < if i / 100 % 2 == 0 { 7 } else { 3 };
            if grows {
                list.push(i);
                stars.push(vertex, i);
            } else if !list.is_empty() {
                let slot = list[noise(i + 5) as usize % list.len()];
                let at = list.iter().position(|&s| s == slot).unwrap();
                list.swap_remove(at);
                stars.remove(vertex, slot);
                stars.remove(vertex, u32::MAX);
            }
            for (vertex, list) in (0..).zip(&lists) {
                assert_eq!(stars.of(vertex), &list[..]);
            }
        }
        assert!(stars.many.len() <= 3);
    }
}
