//! The saved form of a layout: readable, and independent of the docking library.

use crate::view::frame::{PanelKind, Workspace};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// A node of the layout tree.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Node {
    /// A panel.
    Panel(PanelKind),
    /// Tabs; the one with this index is in front.
    Tabs(usize, Vec<Node>),
    /// Side by side, with widths in points.
    Row(Vec<(f32, Node)>),
    /// One above the other, with heights in points.
    Column(Vec<(f32, Node)>),
}

/// A floating panel.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Floating {
    /// The panel.
    pub panel: PanelKind,
    /// Left and top edge, points.
    pub at: [f32; 2],
    /// Width and height, points.
    pub size: [f32; 2],
}

/// A complete layout.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Arrangement {
    /// All panels, including closed and floating ones, so that they return to their places.
    pub root: Node,
    /// The closed panels.
    #[serde(default)]
    pub closed: BTreeSet<PanelKind>,
    /// The floating panels.
    #[serde(default)]
    pub floating: Vec<Floating>,
}

/// The sum of proportional sizes, and the size of the part with the viewport, which takes the rest.
pub(super) const WHOLE: f32 = 1000.0;

/// The width beside the layers, so that on a small screen they are as wide as the properties.
const BESIDE_LAYERS: f32 = 789.0;

/// The width of the clusters beside the viewport.
const CLUSTERS: f32 = 264.0;

/// In a window that is less wide, points, panels to both sides leave the header of the viewport too little room.
pub(super) const NARROW: f32 = 880.0;

/// Size of a part without one.
const ANY_SIZE: f32 = 200.0;

impl Node {
    /// Its panels, from left to right and top to bottom.
    pub fn panels(&self) -> Vec<PanelKind> {
        match self {
            Self::Panel(panel) => vec![*panel],
            Self::Tabs(_, nodes) => nodes.iter().flat_map(Self::panels).collect(),
            Self::Row(nodes) | Self::Column(nodes) => {
                nodes.iter().flat_map(|(_, node)| node.panels()).collect()
            }
        }
    }

    /// The tree without its sizes and the tabs in front: only where each panel is.
    pub(super) fn places(&self) -> Self {
        let plain = |nodes: &[(f32, Self)]| nodes.iter().map(|n| (0.0, n.1.places())).collect();
        match self {
            Self::Panel(panel) => Self::Panel(*panel),
            Self::Tabs(_, nodes) => Self::Tabs(0, nodes.iter().map(Self::places).collect()),
            Self::Row(nodes) => Self::Row(plain(nodes)),
            Self::Column(nodes) => Self::Column(plain(nodes)),
        }
    }

    /// The tree without the panels in `seen`, which collects the remaining ones; `None` if nothing remains.
    fn cleaned(self, seen: &mut BTreeSet<PanelKind>) -> Option<Self> {
        let clean_sized = |nodes: Vec<(f32, Node)>, seen: &mut BTreeSet<PanelKind>| {
            let sized = nodes.into_iter().filter_map(|(size, node)| {
                let usable = size.is_finite() && (1.0..=20_000.0).contains(&size);
                Some((if usable { size } else { ANY_SIZE }, node.cleaned(seen)?))
            });
            sized.collect::<Vec<_>>()
        };
        match self {
            Self::Panel(panel) => seen.insert(panel).then_some(Self::Panel(panel)),
            Self::Tabs(active, nodes) => {
                let nodes: Vec<_> = nodes.into_iter().filter_map(|n| n.cleaned(seen)).collect();
                (!nodes.is_empty()).then(|| Self::Tabs(active.min(nodes.len() - 1), nodes))
            }
            Self::Row(nodes) => Some(clean_sized(nodes, seen))
                .filter(|n| !n.is_empty())
                .map(Self::Row),
            Self::Column(nodes) => Some(clean_sized(nodes, seen))
                .filter(|n| !n.is_empty())
                .map(Self::Column),
        }
    }
}

impl Arrangement {
    /// The default layout of a workspace.
    pub fn of_workspace(workspace: Workspace) -> Self {
        Self::of_size(workspace, false)
    }

    /// The tree of panels that takes the place of the default one in a narrow window; `None` where that one fits.
    pub(super) fn narrow_root(workspace: Workspace) -> Option<Node> {
        (workspace == Workspace::Clusters).then(|| Self::of_size(workspace, true).root)
    }

    fn of_size(workspace: Workspace, is_narrow: bool) -> Self {
        let (side, list, below) = match workspace {
            Workspace::Rig => (288.0, 600.0, 150.0),
            Workspace::Weights => (288.0, 450.0, 150.0),
            Workspace::Clusters => (288.0, 420.0, 150.0),
            Workspace::Correctives => (288.0, 420.0, 248.0),
            Workspace::Animate => (288.0, 560.0, 224.0),
            Workspace::Compare => (288.0, 340.0, 150.0),
        };
        let panel = Node::Panel;
        let clusters = PanelKind::Clusters;
        let properties = panel(PanelKind::Properties);
        let (properties, beside) = match (workspace, is_narrow) {
            (Workspace::Clusters, true) => (Node::Tabs(0, vec![panel(clusters), properties]), None),
            (Workspace::Clusters, false) => (properties, Some((CLUSTERS, panel(clusters)))),
            _ => (properties, None),
        };
        let (hierarchy, poses) = (panel(PanelKind::Hierarchy), PanelKind::Poses);
        // Beside the hierarchy, because bones are selected in the viewport while posing.
        let hierarchy = if workspace == Workspace::Animate {
            Node::Tabs(0, vec![hierarchy, panel(poses)])
        } else {
            hierarchy
        };
        let column = Node::Column(vec![(list, hierarchy), (WHOLE - list, properties)]);
        let mut above = vec![(WHOLE, panel(PanelKind::Viewport)), (side, column)];
        above.splice(0..0, beside);
        let above = Node::Row(above);
        let tabs = [
            PanelKind::Timeline,
            PanelKind::Problems,
            PanelKind::History,
            PanelKind::Volume,
            PanelKind::Influences,
            PanelKind::Motion,
            PanelKind::Individual,
        ];
        let mut tabs = tabs.map(panel).to_vec();
        if workspace != Workspace::Clusters {
            tabs.push(panel(clusters));
        }
        if workspace != Workspace::Animate {
            tabs.push(panel(poses));
        }
        let (layers, correctives) = (PanelKind::Layers, PanelKind::Correctives);
        let below_view = match workspace {
            Workspace::Weights => {
                tabs.push(panel(correctives));
                // In one column with the properties, because both are used while painting.
                Node::Row(vec![
                    (BESIDE_LAYERS, Node::Tabs(0, tabs)),
                    (WHOLE - BESIDE_LAYERS, panel(layers)),
                ])
            }
            Workspace::Correctives => {
                tabs.insert(0, panel(correctives));
                tabs.push(panel(layers));
                Node::Tabs(0, tabs)
            }
            Workspace::Rig | Workspace::Clusters | Workspace::Animate | Workspace::Compare => {
                tabs.extend([layers, correctives].map(panel));
                Node::Tabs(0, tabs)
            }
        };
        // Other panels are closed; the Window menu opens them.
        let (volume, influences) = (PanelKind::Volume, PanelKind::Influences);
        let (motion, individual) = (PanelKind::Motion, PanelKind::Individual);
        let closed = match workspace {
            Workspace::Animate => [influences, layers, correctives, clusters, individual].into(),
            Workspace::Compare => [
                influences,
                layers,
                correctives,
                clusters,
                motion,
                individual,
                poses,
            ]
            .into(),
            Workspace::Rig => [
                volume,
                influences,
                layers,
                correctives,
                clusters,
                motion,
                individual,
                poses,
            ]
            .into(),
            Workspace::Weights => [volume, correctives, clusters, motion, individual, poses].into(),
            Workspace::Clusters => [
                volume,
                influences,
                layers,
                correctives,
                motion,
                individual,
                poses,
            ]
            .into(),
            Workspace::Correctives => [
                volume, influences, layers, clusters, motion, individual, poses,
            ]
            .into(),
        };
        Self {
            root: Node::Column(vec![(WHOLE, above), (below, below_view)]),
            closed,
            floating: Vec::new(),
        }
    }

    /// A valid layout, whatever the file contains: each panel once, and the viewport open.
    #[must_use]
    pub fn cleaned(self) -> Self {
        let mut seen = BTreeSet::new();
        let root = self.root.cleaned(&mut seen);
        let Some(mut root) = root.filter(|_| seen.contains(&PanelKind::Viewport)) else {
            return Self::of_workspace(Workspace::default());
        };
        let mut closed = self.closed;
        // Panels that an older file does not list start closed.
        for panel in PanelKind::ALL.into_iter().filter(|p| !seen.contains(p)) {
            root = match root {
                Node::Column(mut nodes) => {
                    nodes.push((ANY_SIZE, Node::Panel(panel)));
                    Node::Column(nodes)
                }
                other => Node::Column(vec![(600.0, other), (ANY_SIZE, Node::Panel(panel))]),
            };
            closed.insert(panel);
        }
        closed.remove(&PanelKind::Viewport);
        let mut floats = BTreeSet::new();
        let floating = self.floating.into_iter().filter(|f| {
            let numbers = [f.at, f.size].concat();
            f.panel != PanelKind::Viewport
                && numbers.iter().all(|n| n.is_finite() && n.abs() < 20_000.0)
                && f.size.iter().all(|n| *n > 0.0)
                && floats.insert(f.panel)
        });
        let floating: Vec<_> = floating.collect();
        closed.retain(|panel| !floating.iter().any(|f| f.panel == *panel));
        Self {
            root,
            closed,
            floating,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_workspaces_hold_every_panel_once() {
        for workspace in Workspace::ALL {
            let arrangement = Arrangement::of_workspace(workspace);
            let mut panels = arrangement.root.panels();
            panels.sort();
            assert_eq!(panels, PanelKind::ALL.to_vec());
            assert_eq!(arrangement.clone().cleaned(), arrangement);
        }
    }

    #[test]
    fn what_a_file_says_wrong_is_mended() {
        let panel = Node::Panel;
        let wrong = Arrangement {
            root: Node::Row(vec![
                (f32::NAN, panel(PanelKind::Viewport)),
                (-3.0, panel(PanelKind::Viewport)),
                (50.0, Node::Tabs(9, vec![panel(PanelKind::Timeline)])),
                (50.0, Node::Column(Vec::new())),
            ]),
            closed: [PanelKind::Viewport, PanelKind::Timeline].into(),
            floating: vec![
                Floating {
                    panel: PanelKind::Timeline,
                    at: [4.0, 4.0],
                    size: [100.0, 100.0],
                };
                2
            ],
        };
        let mended = wrong.cleaned();
        let mut panels = mended.root.panels();
        panels.sort();
        assert_eq!(panels, PanelKind::ALL.to_vec());
        assert!(!mended.closed.contains(&PanelKind::Viewport));
        assert!(mended.closed.contains(&PanelKind::Problems), "in the menu");
        assert_eq!(mended.floating.len(), 1);
        assert!(!mended.closed.contains(&PanelKind::Timeline));

        let without_view = Arrangement {
            root: panel(PanelKind::History),
            ..mended
        };
        let default = Arrangement::of_workspace(Workspace::Rig);
        assert_eq!(without_view.cleaned(), default);
    }
}
