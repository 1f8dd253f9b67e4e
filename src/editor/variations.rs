//! Limits and gains of the table that is edited: what a what-if has other than the document.

use super::Editor;
use crate::cluster::map::gains::Gain;
use crate::document::{Individual, Variation};
use crate::skeleton::JointId;
use crate::skeleton::joint_limits::JointLimits;

impl Editor {
    /// Whether the fit of the edited table flipped faces.
    pub fn fit_flips(&self) -> bool {
        let shape = self.individuals.of(self.edited_person()).shape.as_ref();
        shape.is_some_and(|shape| shape.report.flipped > 0)
    }

    /// The limits and gains of the table that is edited.
    pub fn variations(&self) -> &[Variation] {
        self.measurements().map_or(&[], |known| &known.variations)
    }

    /// Gives the table that is edited other limits and gains; one undo step. A factor with which a layer is not valid is refused
    /// with a notice.
    pub fn vary(&mut self, variations: Vec<Variation>, label: &str) {
        let Some(known) = self.measurements() else {
            return;
        };
        // Layers that were not valid before may stay so, however the document has changed since: a factor may come down in steps.
        let before = self.document.gain_faults(&known.variations);
        let mut faults = self.document.gain_faults(&variations).into_iter();
        if let Some(fault) =
            faults.find(|fault| !before.iter().any(|of| of.is_of_same_layer(fault)))
        {
            let text = format!(
                "The gain of \"{}\" in the group \"{}\" cannot be multiplied by this factor: {}.",
                fault.layer, fault.group, fault.why
            );
            return self.notify_error(text);
        }
        let table = Individual {
            variations,
            ..Individual::clone(known)
        };
        self.set_person(self.edited_person(), Some(table), label);
    }

    /// Adds limits of a bone: those that it has for posing, else free ones.
    pub fn add_varied_limits(&mut self, joint: JointId) {
        let own = self.document.skeleton().joint(joint).rule.limits;
        let limits = own.unwrap_or(JointLimits([JointLimits::FREE; 3]));
        self.add_variation(Variation::Limits { joint, limits }, "Add limit");
    }

    /// Adds a factor of a gain, 1.
    pub fn add_varied_gain(&mut self, gain: Gain) {
        let factor = 1.0;
        self.add_variation(Variation::Gain { gain, factor }, "Add gain");
    }

    fn add_variation(&mut self, variation: Variation, label: &str) {
        let mut all = self.variations().to_vec();
        all.push(variation);
        self.vary(all, label);
    }
}
