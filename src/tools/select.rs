//! Selection by click, box, circle and lasso: pointer events -> regions of the screen.

use super::PointerKind;
use super::region::{Loop, Region};
use glam::Vec2;

/// A press that moves less than this is a click, logical pixels.
const CLICK_PX: f32 = 4.0;
/// Distance between the corners of a lasso, logical pixels.
const LASSO_STEP_PX: f32 = 3.0;

/// How a pick changes the present selection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SelectOp {
    /// Replaces it.
    #[default]
    Replace,
    /// Extends it (Shift).
    Extend,
    /// Subtracts from it (Ctrl).
    Subtract,
}

/// The shape of a selection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SelectShape {
    /// A rectangle; a click that does not move picks.
    #[default]
    Box,
    /// The area swept by a circle.
    Circle,
    /// A loop drawn by hand.
    Lasso,
}

/// A pointer event of the selection tool.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SelectEvent {
    /// What happened.
    pub kind: PointerKind,
    /// Its position, in the pixels of [`super::ScreenView`].
    pub at: Vec2,
    /// How to combine, from the modifier keys; a drag uses its first event.
    pub op: SelectOp,
}

/// A request of the tool.
#[derive(Clone, Debug, PartialEq)]
pub enum SelectAction {
    /// Store the selection as the start of the following requests.
    Begin,
    /// Pick what is at this pixel.
    Pick(Vec2, SelectOp),
    /// Select the inside, starting from the stored selection.
    Choose(Region, SelectOp),
    /// Select the inside, starting from the present selection.
    Sweep(Region, SelectOp),
    /// Restore the stored selection.
    Restore,
}

/// The state of the tool: the shape of the next drag, and the drag in progress.
#[derive(Clone, Debug)]
pub struct SelectTool {
    armed: Option<SelectShape>,
    radius_px: f32,
    stroke: Option<Stroke>,
}

#[derive(Clone, Debug)]
struct Stroke {
    shape: SelectShape,
    op: SelectOp,
    start: Vec2,
    at: Vec2,
    path: Vec<Vec2>,
    /// Whether it moved far enough to be a drag.
    has_moved: bool,
    /// Whether its region changed since the last request.
    is_new: bool,
}

impl Default for SelectTool {
    fn default() -> Self {
        Self {
            armed: None,
            radius_px: 25.0,
            stroke: None,
        }
    }
}

impl SelectTool {
    /// Sets the shape of the next drag, wherever it begins; a circle stays until it is cancelled.
    pub fn arm(&mut self, shape: Option<SelectShape>) {
        self.armed = shape;
    }

    /// The shape set by a command; a plain drag is a box in any case.
    pub fn armed(&self) -> Option<SelectShape> {
        self.armed
    }

    /// Whether the button is down.
    pub fn is_active(&self) -> bool {
        self.stroke.is_some()
    }

    /// Radius of the circle, logical pixels.
    pub fn radius_px(&self) -> f32 {
        self.radius_px
    }

    /// Makes the circle larger or smaller.
    pub fn resize(&mut self, factor: f32) {
        self.radius_px = (self.radius_px * factor).clamp(4.0, 500.0);
    }

    /// The region of the drag in progress, to draw; `None` while it is a click.
    pub fn outline(&self) -> Option<Region> {
        let stroke = self.stroke.as_ref().filter(|s| s.has_moved)?;
        match stroke.shape {
            SelectShape::Circle => None,
            _ => Some(stroke.region()),
        }
    }

    /// How the drag in progress combines.
    pub fn op(&self) -> Option<SelectOp> {
        self.stroke.as_ref().map(|s| s.op)
    }

    /// The requests that follow from the event.
    pub fn pointer(&mut self, event: &SelectEvent) -> Vec<SelectAction> {
        match event.kind {
            PointerKind::Press => self.press(event),
            PointerKind::Drag => self.drag(event),
            PointerKind::Release => self.release(event),
            PointerKind::Cancel => match self.stroke.take() {
                // A circle stays active; a box or a lasso is used once.
                Some(stroke) => {
                    if stroke.shape != SelectShape::Circle {
                        self.armed = None;
                    }
                    vec![SelectAction::Restore]
                }
                None => {
                    self.armed = None;
                    Vec::new()
                }
            },
        }
    }

    /// Adds a position of the pointer since the last event, so that a fast lasso keeps its shape.
    pub fn trace(&mut self, at: Vec2) {
        if let Some(stroke) = self
            .stroke
            .as_mut()
            .filter(|s| s.shape == SelectShape::Lasso)
        {
            stroke.go_to(at);
        }
    }

    fn press(&mut self, event: &SelectEvent) -> Vec<SelectAction> {
        let shape = self.armed.unwrap_or_default();
        let mut stroke = Stroke {
            shape,
            op: event.op,
            start: event.at,
            at: event.at,
            path: vec![event.at],
            has_moved: false,
            is_new: false,
        };
        let mut actions = vec![SelectAction::Begin];
        if shape == SelectShape::Circle {
            // A circle paints the selection: it never starts by clearing it.
            if stroke.op == SelectOp::Replace {
                stroke.op = SelectOp::Extend;
            }
            actions.push(self.sweep(&stroke, event.at));
        }
        self.stroke = Some(stroke);
        actions
    }

    fn drag(&mut self, event: &SelectEvent) -> Vec<SelectAction> {
        let Some(mut stroke) = self.stroke.take() else {
            return Vec::new();
        };
        let mut actions = Vec::new();
        if stroke.shape == SelectShape::Circle {
            if event.at != stroke.at {
                actions.push(self.sweep(&stroke, event.at));
            }
            stroke.at = event.at;
        } else {
            stroke.go_to(event.at);
            if stroke.has_moved && std::mem::take(&mut stroke.is_new) {
                actions.push(SelectAction::Choose(stroke.region(), stroke.op));
            }
        }
        self.stroke = Some(stroke);
        actions
    }

    fn release(&mut self, event: &SelectEvent) -> Vec<SelectAction> {
        let mut actions = self.drag(event);
        if let Some(stroke) = self.stroke.take()
            && stroke.shape != SelectShape::Circle
        {
            self.armed = None;
            if !stroke.has_moved {
                actions.push(SelectAction::Pick(stroke.start, stroke.op));
            }
        }
        actions
    }

    fn sweep(&self, stroke: &Stroke, to: Vec2) -> SelectAction {
        let region = Region::Circle {
            from: stroke.at,
            to,
            radius: self.radius_px,
        };
        SelectAction::Sweep(region, stroke.op)
    }
}

impl Stroke {
    fn go_to(&mut self, at: Vec2) {
        self.is_new |= at != self.at;
        self.at = at;
        self.has_moved |= at.distance(self.start) >= CLICK_PX;
        let is_far = |&last: &Vec2| at.distance(last) >= LASSO_STEP_PX;
        if self.shape == SelectShape::Lasso && self.path.last().is_none_or(is_far) {
            self.path.push(at);
        }
    }

    fn region(&self) -> Region {
        if self.shape == SelectShape::Lasso {
            Region::Lasso(Loop::new(self.path.clone()))
        } else {
            Region::between(self.start, self.at)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(kind: PointerKind, x: f32, op: SelectOp) -> SelectEvent {
        SelectEvent {
            kind,
            at: Vec2::new(x, 0.0),
            op,
        }
    }

    #[test]
    fn a_press_that_hardly_moves_picks_where_it_began() {
        let mut tool = SelectTool::default();
        let mut actions = tool.pointer(&event(PointerKind::Press, 10.0, SelectOp::Extend));
        actions.extend(tool.pointer(&event(PointerKind::Drag, 12.0, SelectOp::Replace)));
        actions.extend(tool.pointer(&event(PointerKind::Release, 12.0, SelectOp::Replace)));
        let pick = SelectAction::Pick(Vec2::new(10.0, 0.0), SelectOp::Extend);
        assert_eq!(actions, [SelectAction::Begin, pick]);
        assert!(!tool.is_active());
    }

    #[test]
    fn a_drag_that_comes_back_is_still_a_box_and_escape_takes_it_back() {
        let mut tool = SelectTool::default();
        tool.pointer(&event(PointerKind::Press, 10.0, SelectOp::Replace));
        assert_eq!(
            tool.pointer(&event(PointerKind::Drag, 30.0, SelectOp::Replace))
                .len(),
            1
        );
        assert_eq!(
            tool.pointer(&event(PointerKind::Drag, 11.0, SelectOp::Replace))
                .len(),
            1
        );
        let taken_back = tool.pointer(&event(PointerKind::Cancel, 0.0, SelectOp::Replace));
        assert_eq!(taken_back, [SelectAction::Restore]);
        assert!(
            tool.pointer(&event(PointerKind::Release, 11.0, SelectOp::Replace))
                .is_empty()
        );
    }

    #[test]
    fn a_circle_stays_until_it_is_cancelled_and_never_clears_the_selection() {
        let mut tool = SelectTool::default();
        tool.arm(Some(SelectShape::Circle));
        for _ in 0..2 {
            let actions = tool.pointer(&event(PointerKind::Press, 10.0, SelectOp::Replace));
            assert!(matches!(
                actions[1],
                SelectAction::Sweep(_, SelectOp::Extend)
            ));
            tool.pointer(&event(PointerKind::Release, 10.0, SelectOp::Replace));
            assert_eq!(tool.armed(), Some(SelectShape::Circle));
        }
        tool.pointer(&event(PointerKind::Cancel, 0.0, SelectOp::Replace));
        assert_eq!(tool.armed(), None);
    }
}
