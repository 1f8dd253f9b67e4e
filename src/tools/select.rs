//! Picking by click, box, circle and lasso: what the pointer does becomes regions of the screen.

use super::PointerKind;
use super::region::{Loop, Region};
use glam::Vec2;

/// A press that moves less than this is a click, logical pixels.
const CLICK_PX: f32 = 4.0;
/// Corners of a lasso are this far apart, logical pixels.
const LASSO_STEP_PX: f32 = 3.0;

/// What becomes of what was selected before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SelectOp {
    /// It gives way.
    #[default]
    Replace,
    /// It stays, and what is picked comes in addition (Shift).
    Extend,
    /// What is picked is taken out of it (Ctrl).
    Subtract,
}

/// What a drag encloses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SelectShape {
    /// A rectangle; a click that does not move picks.
    #[default]
    Box,
    /// What a circle passes over.
    Circle,
    /// A loop drawn by hand.
    Lasso,
}

/// A pointer event while something is selected.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SelectEvent {
    /// What happened.
    pub kind: PointerKind,
    /// Where, in the pixels of [`super::ScreenView`].
    pub at: Vec2,
    /// What the modifier keys ask for; of a drag its first event counts.
    pub op: SelectOp,
}

/// What the tool asks for.
#[derive(Clone, Debug, PartialEq)]
pub enum SelectAction {
    /// Remember the selection: what follows starts from it.
    Begin,
    /// Pick what is at this pixel.
    Pick(Vec2, SelectOp),
    /// Select what is inside, starting from the remembered selection.
    Choose(Region, SelectOp),
    /// Select what is inside, starting from the present selection.
    Sweep(Region, SelectOp),
    /// Put the remembered selection back.
    TakeBack,
}

/// The state of picking: which shape the next drag makes, and the drag under way.
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
    /// Whether it went far enough to be no click.
    has_moved: bool,
    /// Whether its region is another one than was last asked for.
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
    /// The next drag makes this shape, wherever it begins; a circle stays until it is put away.
    pub fn arm(&mut self, shape: Option<SelectShape>) {
        self.armed = shape;
    }

    /// What was asked for by a command; a plain drag is a box all the same.
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

    /// What the drag under way encloses, to draw; `None` for a click so far.
    pub fn outline(&self) -> Option<Region> {
        let stroke = self.stroke.as_ref().filter(|s| s.has_moved)?;
        match stroke.shape {
            SelectShape::Circle => None,
            _ => Some(stroke.region()),
        }
    }

    /// What the drag under way does.
    pub fn op(&self) -> Option<SelectOp> {
        self.stroke.as_ref().map(|s| s.op)
    }

    /// What the event asks for.
    pub fn pointer(&mut self, event: &SelectEvent) -> Vec<SelectAction> {
        match event.kind {
            PointerKind::Press => self.press(event),
            PointerKind::Drag => self.drag(event),
            PointerKind::Release => self.release(event),
            PointerKind::Cancel => match self.stroke.take() {
                // A circle stays at hand, a box or a lasso was asked for once.
                Some(stroke) => {
                    if stroke.shape != SelectShape::Circle {
                        self.armed = None;
                    }
                    vec![SelectAction::TakeBack]
                }
                None => {
                    self.armed = None;
                    Vec::new()
                }
            },
        }
    }

    /// Notes a place that the pointer passed since the last event: a lasso drawn fast keeps its bends.
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
            // Painting a selection piece by piece: it never begins by losing what is there.
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
        assert_eq!(taken_back, [SelectAction::TakeBack]);
        assert!(
            tool.pointer(&event(PointerKind::Release, 11.0, SelectOp::Replace))
                .is_empty()
        );
    }

    #[test]
    fn a_circle_stays_until_it_is_put_away_and_never_starts_afresh() {
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
