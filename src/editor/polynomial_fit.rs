//! Fits the compensation polynomial to the active joint: to its own falloff, and to the largest bend that the clips have.

use super::Editor;
use crate::deform::falloff_of_pairs;
use crate::document::Document;
use crate::skeleton::{JointId, Property};
use crate::skinning::{PolynomialFit, fit_polynomial};
use glam::DQuat;
use std::sync::Arc;

/// The bend that is fitted where no clip bends the joint, degrees: that of the paper.
const USUAL_BEND: f64 = 90.0;

impl Editor {
    /// Sets the polynomial that fits the active joint and its parent, as one step; a notice says what it fits, or why
    /// there is nothing to fit.
    pub fn fit_polynomial_to_joint(&mut self) {
        let found = fit(&self.document);
        match found {
            Ok((joint, fit)) => {
                let name = self.document.skeleton().label(joint);
                let polynomial = fit.polynomial;
                self.notify(format!(
                    "Fitted to \"{name}\": falloff {:.2} of the radius, {:.0}° bend.",
                    fit.sigma_over_r,
                    fit.angle.to_degrees()
                ));
                self.deforming.fit = Some(Arc::new(fit));
                self.change_stack("Fit polynomial to joint", |stack| {
                    stack.compensation.polynomial = polynomial;
                });
            }
            Err(why) => self.notify(why),
        }
    }

    /// The fit that the shown polynomial comes from.
    pub fn polynomial_fit(&self) -> Option<&Arc<PolynomialFit>> {
        let shown = self.stack()?.compensation.polynomial;
        let fit = self.deforming.fit.as_ref();
        fit.filter(|fit| fit.polynomial == shown)
    }
}

/// The fit to the active joint, or a message why there is none.
fn fit(document: &Document) -> Result<(JointId, PolynomialFit), String> {
    let session = document.session();
    let joint = session
        .active_joint
        .ok_or("No bone is active. Select the child bone of the joint, such as the forearm.")?;
    let skeleton = document.skeleton();
    let name = skeleton.label(joint);
    let is_skinned = |mesh| document.skin_of_mesh(mesh).is_some();
    let mesh = session
        .active_mesh
        .filter(|mesh| is_skinned(*mesh))
        .or_else(|| document.meshes().keys().copied().find(|m| is_skinned(*m)))
        .ok_or("The model has no skinned mesh.")?;
    let (_, skin) = document.skin_of_mesh(mesh).ok_or("The mesh has no skin.")?;
    let index = |joint: JointId| skin.joints.iter().position(|&j| j == joint);
    let parent = skeleton.ancestors(joint).find_map(index);
    let (Some(own), Some(parent)) = (index(joint), parent) else {
        return Err(format!(
            "\"{name}\" has no parent in the skin, so there is no joint to fit."
        ));
    };
    let bones = document.bind_bones(mesh).ok_or("The mesh has no skin.")?;
    let item = &document.meshes()[&mesh];
    let order = document.joint_order(skin);
    let ratios = falloff_of_pairs(&item.influences, &order, &item.geometry, &bones);
    let pair = [own.min(parent) as u16, own.max(parent) as u16];
    let sigma_over_r = ratios.get(&pair).copied().ok_or_else(|| {
        format!("No vertex is shared by \"{name}\" and its parent, so there is no falloff to fit.")
    })?;
    let bend = largest_bend(document, joint).unwrap_or(USUAL_BEND.to_radians());
    Ok((joint, fit_polynomial(sigma_over_r, bend)))
}

/// The largest angle of a joint to its rest pose at the keyframes of the clips, radians; `None` where none turns it.
fn largest_bend(document: &Document, joint: JointId) -> Option<f64> {
    let rest = document.skeleton().joint(joint).rest.rotation;
    let clips = document.clips().values();
    let channels = clips.flat_map(|clip| &clip.channels);
    let channels = channels.filter(|c| c.joint == joint && c.property == Property::Rotation);
    let angles = channels.flat_map(|channel| {
        (0..channel.times.len()).filter_map(move |k| {
            let [x, y, z, w] = *channel.key(k).first_chunk::<4>()?;
            let turned = DQuat::from_xyzw(x.into(), y.into(), z.into(), w.into());
            // Keys of a file need not be unit; one without a direction gives no angle.
            let cosine = (turned.dot(rest) / turned.length()).abs();
            let angle = 2.0 * cosine.min(1.0).acos();
            (cosine.is_finite() && angle.is_finite()).then_some(angle)
        })
    });
    let largest = angles.fold(0.0, f64::max);
    (largest > 0.02).then_some(largest)
}
