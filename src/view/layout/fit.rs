//! Side panels keep their size when the window changes; the viewport takes the rest.

use crate::view::frame::PanelKind;
use egui::Vec2;
use egui_tiles::{Container, LinearDir, Tile, TileId, Tree};

/// Height of a tab bar, points.
pub(super) const TAB_BAR: f32 = 24.0;
/// Gap between panels, where they are resized, points.
pub(super) const GAP: f32 = 2.0;
/// A smaller part is new: the docking library gave it a proportion instead of a size.
const SMALLEST: f32 = 40.0;
/// Minimum size of the part with the viewport, points.
const VIEWPORT_KEEPS: f32 = 200.0;

/// Converts the proportions of `tree` to points that add up to `size`.
pub(super) fn fit(tree: &mut Tree<PanelKind>, size: Vec2) {
    if let Some(root) = tree.root() {
        fit_tile(tree, root, size);
    }
}

fn fit_tile(tree: &mut Tree<PanelKind>, id: TileId, size: Vec2) {
    let children: Vec<TileId> = match tree.tiles.get(id) {
        Some(Tile::Container(container)) => container.children().copied().collect(),
        _ => return,
    };
    let shown: Vec<TileId> = children
        .iter()
        .copied()
        .filter(|&child| tree.is_visible_in_layout(child))
        .collect();
    let is_view: Vec<bool> = shown.iter().map(|&c| holds_viewport(tree, c)).collect();
    let Some(Tile::Container(Container::Linear(linear))) = tree.tiles.get_mut(id) else {
        let inner = size - Vec2::new(0.0, TAB_BAR);
        for child in children {
            fit_tile(tree, child, inner);
        }
        return;
    };
    let along = match linear.dir {
        LinearDir::Horizontal => size.x,
        LinearDir::Vertical => size.y,
    };
    let dir = linear.dir;
    let along = along - GAP * (shown.len().max(1) - 1) as f32;
    if along <= 0.0 || shown.is_empty() {
        return;
    }
    let equal = along / shown.len() as f32;
    let wanted: Vec<f32> = shown.iter().map(|&c| linear.shares[c]).collect();
    // The proportions of a new container are equal and small; a new part among sized ones gets an equal part.
    let wanted = wanted.iter().map(|&w| if w < SMALLEST { equal } else { w });
    let sizes = share_out(&wanted.collect::<Vec<_>>(), &is_view, along);
    for (&child, &points) in shown.iter().zip(&sizes) {
        linear.shares.set_share(child, points);
    }
    for (child, points) in shown.into_iter().zip(sizes) {
        let inner = match dir {
            LinearDir::Horizontal => Vec2::new(points, size.y),
            LinearDir::Vertical => Vec2::new(size.x, points),
        };
        fit_tile(tree, child, inner);
    }
}

/// Sizes that add up to `along`: parts beside the viewport get what they want while the viewport keeps its minimum;
/// without a viewport all scale proportionally.
fn share_out(wanted: &[f32], is_view: &[bool], along: f32) -> Vec<f32> {
    let Some(view) = is_view.iter().position(|v| *v) else {
        let sum: f32 = wanted.iter().sum();
        return wanted.iter().map(|w| w * along / sum).collect();
    };
    let others: f32 = wanted.iter().sum::<f32>() - wanted[view];
    let keeps = VIEWPORT_KEEPS.min(along * 0.5);
    let scale = ((along - keeps) / others.max(1.0)).min(1.0);
    let mut sizes: Vec<f32> = wanted.iter().map(|w| w * scale).collect();
    sizes[view] = along - others * scale;
    sizes
}

/// Whether a tile is or contains the viewport.
pub(super) fn holds_viewport(tree: &Tree<PanelKind>, id: TileId) -> bool {
    match tree.tiles.get(id) {
        Some(Tile::Pane(panel)) => *panel == PanelKind::Viewport,
        Some(Tile::Container(container)) => container.children().any(|&c| holds_viewport(tree, c)),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_viewport_takes_what_is_left_and_keeps_enough() {
        assert_eq!(
            share_out(&[900.0, 280.0], &[true, false], 2000.0),
            [1720.0, 280.0]
        );
        assert_eq!(
            share_out(&[900.0, 280.0], &[true, false], 600.0),
            [320.0, 280.0]
        );
        let small = share_out(&[900.0, 280.0], &[true, false], 400.0);
        assert_eq!(small, [200.0, 200.0]);
        assert_eq!(
            share_out(&[100.0, 300.0], &[false, false], 800.0),
            [200.0, 600.0]
        );
    }
}
