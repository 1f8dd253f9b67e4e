//! Which dots of a mesh are control clusters: one buffer for each group, in its colour and glyph.

use super::gpu_mesh::is_same;
use super::scene::PointMarks;
use crate::cluster::{ClusterMap, Glyph};
use crate::mesh::PointSet;
use std::sync::Arc;
use three_d::{Context, ElementBuffer};

/// The dots of one group.
pub(super) struct GroupDots {
    /// sRGB, 0 - 1.
    pub(super) colour: [f32; 3],
    pub(super) glyph: i32,
    pub(super) elements: ElementBuffer<u32>,
}

/// The dots of all shown groups, and the selected ones of them. The sources are kept alive, so that equal addresses mean
/// equal clusters.
#[derive(Default)]
pub(super) struct ClusterDots {
    map: Option<Arc<ClusterMap>>,
    alone: Option<u16>,
    hidden: Option<Arc<PointSet>>,
    selected: Option<Arc<PointSet>>,
    pub(super) groups: Vec<GroupDots>,
    pub(super) selected_elements: Option<ElementBuffer<u32>>,
}

impl ClusterDots {
    /// Uploads the clusters that `marks` shows, if they changed.
    pub(super) fn update(
        &mut self,
        context: &Context,
        marks: &PointMarks<'_>,
        first_vertex: &[u32],
        staging: &mut Vec<u32>,
    ) {
        let is_known = is_same(self.map.as_ref(), marks.clusters)
            && self.alone == marks.alone
            && is_same(self.hidden.as_ref(), marks.hidden)
            && is_same(self.selected.as_ref(), marks.selected);
        if is_known {
            return;
        }
        self.map = marks.clusters.cloned();
        self.alone = marks.alone;
        self.hidden = marks.hidden.cloned();
        self.selected = marks.selected.cloned();
        self.groups.clear();
        self.selected_elements = None;
        let Some(map) = &self.map else { return };
        let is_hidden = |p: u32| marks.hidden.is_some_and(|set| set.contains(p));
        let is_shown = |group: u16| marks.alone.is_none_or(|alone| alone == group);
        let shown = map.clusters().iter();
        let shown = shown.filter(|c| is_shown(c.1) && !is_hidden(c.0));
        let vertex = |point: u32| first_vertex.get(point as usize).copied();
        for (index, group) in map.groups().iter().enumerate() {
            let own = shown.clone().filter(|c| usize::from(c.1) == index);
            staging.clear();
            staging.extend(own.filter_map(|c| vertex(c.0)));
            if staging.is_empty() {
                continue;
            }
            let mut elements = ElementBuffer::new(context);
            elements.fill(staging);
            self.groups.push(GroupDots {
                colour: group.colour.map(|c| f32::from(c) / 255.0),
                glyph: number(group.glyph),
                elements,
            });
        }
        let is_selected = |p: u32| marks.selected.is_some_and(|set| set.contains(p));
        staging.clear();
        staging.extend(
            shown
                .filter(|c| is_selected(c.0))
                .filter_map(|c| vertex(c.0)),
        );
        if !staging.is_empty() {
            let mut elements = ElementBuffer::new(context);
            elements.fill(staging);
            self.selected_elements = Some(elements);
        }
    }
}

/// The number of a glyph in the shader.
fn number(glyph: Glyph) -> i32 {
    match glyph {
        Glyph::Circle => 0,
        Glyph::Square => 1,
        Glyph::Diamond => 2,
        Glyph::Triangle => 3,
        Glyph::Cross => 4,
        Glyph::Star => 5,
    }
}
