//! What is shown of surfaces besides their shapes: a recorded quantity as colour, and the wet / dry line.

use super::Editor;
use crate::cluster::{ColourBy, Quantity, Readings, SurfaceDisplay};
use crate::document::InstanceId;
use crate::evaluate::SurfaceData;
use std::collections::{BTreeMap, BTreeSet};

/// The colours on screen.
#[derive(Default)]
pub(super) struct Surfaces {
    shown: BTreeMap<InstanceId, SurfaceData>,
    generation: u64,
    /// The objects hidden at the latest request: they are not part of the bed of water.
    hidden: BTreeSet<InstanceId>,
}

/// Generations of recorded values are no generations of heat maps, which colour the same buffers.
const FIRST_GENERATION: u64 = 1 << 63;

impl Surfaces {
    /// Puts results on screen, in place of all earlier ones.
    pub(super) fn take(&mut self, found: Vec<SurfaceData>) {
        if !(found.is_empty() && self.shown.is_empty()) {
            self.generation += 1;
        }
        self.shown = found
            .into_iter()
            .map(|data| (data.instance, data))
            .collect();
    }
}

impl Editor {
    /// What is shown of an instance besides its shape, once it is evaluated.
    pub fn surface_data(&self, instance: InstanceId) -> Option<&SurfaceData> {
        self.surfaces.shown.get(&instance)
    }

    /// The same of all instances.
    pub fn all_surface_data(&self) -> impl Iterator<Item = &SurfaceData> {
        self.surfaces.shown.values()
    }

    /// Changes with every such result.
    pub fn surface_generation(&self) -> u64 {
        FIRST_GENERATION + self.surfaces.generation
    }

    /// What is shown of the active object besides its shape.
    pub fn surface_display(&self) -> SurfaceDisplay {
        self.clusters()
            .map(|map| map.display().clone())
            .unwrap_or_default()
    }

    /// The quantities that are recorded at the clusters of the active object.
    pub fn quantities(&self) -> Vec<Quantity> {
        let recordings = self.document.recordings();
        let map = self.clusters();
        map.map_or_else(Vec::new, |map| {
            Quantity::all_of(map, recordings).into_iter().collect()
        })
    }

    /// Colours the active object by a quantity, or by none, as one undo step.
    pub fn colour_by(&mut self, quantity: Option<&Quantity>) -> bool {
        let label = match quantity {
            Some(quantity) => format!("Colour by {}", quantity.label()),
            None => "Colour by None".to_owned(),
        };
        let colour = quantity.map(|quantity| ColourBy {
            recording: quantity.recording,
            quantity: quantity.name.clone(),
            range: None,
        });
        let display = SurfaceDisplay {
            colour,
            ..self.surface_display()
        };
        self.show_of_surface(&label, display)
    }

    /// Sets the values at both ends of the colours, `None` for those of the whole recording, as one undo step or as part of
    /// the open one.
    pub fn set_colour_range(&mut self, range: Option<[f64; 2]>) -> bool {
        let known = self.surface_display();
        let map = self.clusters();
        let readings = map.and_then(|map| Readings::new(map, self.document.recordings()));
        let size = readings.map_or(1.0, |readings| readings.size());
        let range = range.map(|range| range.map(|end| end * size));
        let colour = known.colour.map(|colour| ColourBy { range, ..colour });
        self.show_of_surface("Range of colours", SurfaceDisplay { colour, ..known })
    }

    /// Draws the line where the active object meets the other meshes, or not, as one undo step.
    pub fn show_shore(&mut self, shore: bool) -> bool {
        let known = self.surface_display();
        self.show_of_surface("Wet / dry line", SurfaceDisplay { shore, ..known })
    }

    /// Whether objects were hidden or shown since the latest request, and water is drawn that may stand on them.
    pub(super) fn wants_other_bed(&self) -> bool {
        self.surfaces.hidden != self.document.session().hidden_instances
            && (self.document.meshes().values()).any(|item| item.clusters.display().shore)
    }

    /// Remembers what is hidden at a request.
    pub(super) fn remember_bed(&mut self) {
        let hidden = &self.document.session().hidden_instances;
        self.surfaces.hidden.clone_from(hidden);
    }

    fn show_of_surface(&mut self, label: &str, display: SurfaceDisplay) -> bool {
        self.change_clusters(label, |map| map.clone().with_display(display))
    }
}
