//! The compensation polynomial fitted to a joint of a model.

use crate::editing::EditorHarness;
use sinew::deform::Polynomial;

#[test]
fn the_polynomial_is_fitted_to_the_active_joint_as_one_step() {
    let mut harness = EditorHarness::new();
    let joints = {
        let document = harness.editor.document();
        let skin = document.skins().values().next().unwrap();
        skin.joints.clone()
    };
    // Nothing to fit: no bone, or no joint above it.
    harness.editor.select_joint(None);
    harness.editor.fit_polynomial_to_joint();
    harness.editor.select_joint(Some(joints[0]));
    harness.editor.fit_polynomial_to_joint();
    assert!(harness.editor.polynomial_fit().is_none());
    let n_steps = harness.editor.history().n_undo();
    harness.editor.select_joint(Some(joints[1]));
    harness.editor.fit_polynomial_to_joint();
    harness.settle();
    let fit = harness.editor.polynomial_fit().unwrap().clone();
    let stack = harness.editor.stack().unwrap().clone();
    assert_eq!(stack.compensation.polynomial, fit.polynomial);
    assert!(matches!(fit.polynomial, Polynomial::Custom { .. }));
    assert!(
        (0.1..2.0).contains(&fit.sigma_over_r) && fit.angle.to_degrees() > 45.0,
        "{} {}",
        fit.sigma_over_r,
        fit.angle
    );
    assert!(fit.error < 0.02, "{}", fit.error);
    assert_eq!(harness.editor.history().n_undo(), n_steps + 1);
    assert_eq!(
        harness.editor.history().undo_label(),
        Some("Fit polynomial to joint")
    );
    // Another polynomial is not the fitted one.
    harness.editor.undo();
    harness.settle();
    assert!(harness.editor.polynomial_fit().is_none());
}
