//! Draws wireframe boxes from one vertex buffer.

use super::gl;
use crate::math::bounding_box::{Corners, EDGES};
use glam::Vec3;
use three_d::{Context, ElementBuffer, Program, RenderStates, VertexBuffer, Viewport};

/// The buffers of the boxes drawn last.
pub(crate) struct BoxLines {
    corners: VertexBuffer<[f32; 3]>,
    edges: ElementBuffer<u32>,
    shown: Vec<Corners>,
}

impl BoxLines {
    pub(crate) fn new(context: &Context) -> Self {
        Self {
            corners: VertexBuffer::new(context),
            edges: ElementBuffer::new(context),
            shown: Vec::new(),
        }
    }

    /// Draws the boxes of both lists with `program`, the line program; the caller sets its uniforms.
    pub(crate) fn draw(
        &mut self,
        context: &Context,
        program: &Program,
        states: RenderStates,
        viewport: Viewport,
        lists: [&[Corners]; 2],
    ) {
        let boxes = || lists.into_iter().flatten();
        let n_boxes: usize = lists.iter().map(|list| list.len()).sum();
        if n_boxes == 0 {
            return;
        }
        if !self.shown.iter().eq(boxes()) {
            let corners = boxes().flatten().map(Vec3::to_array);
            self.corners.fill(&corners.collect::<Vec<_>>());
            if self.shown.len() != n_boxes {
                let starts = (0..n_boxes as u32).map(|i| 8 * i);
                let edges =
                    starts.flat_map(|start| EDGES.as_flattened().iter().map(move |i| start + i));
                self.edges.fill(&edges.collect::<Vec<_>>());
            }
            self.shown.clear();
            self.shown.extend(boxes());
        }
        program.use_vertex_attribute("position", &self.corners);
        gl::draw_lines(context, program, states, viewport, &self.edges);
    }
}
