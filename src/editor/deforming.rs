//! Commands on the deformer stack of all objects or of the active one.

use super::Editor;
use crate::deform::{DeformStack, MaskKind, SkinningMethod, StackPreset};
use crate::document::{Edit, MeshId};
use crate::skinning::PolynomialFit;
use std::collections::BTreeSet;
use std::sync::Arc;

/// The objects whose stack is edited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum StackScope {
    /// Every object with a skin.
    #[default]
    All,
    /// The active object.
    Active,
}

/// The editor's state for editing stacks; not part of the document.
#[derive(Clone, Debug, Default)]
pub(super) struct Deforming {
    scope: StackScope,
    copied: Option<Arc<DeformStack>>,
    /// The latest fit of the compensation polynomial.
    pub(super) fit: Option<Arc<PolynomialFit>>,
}

impl Editor {
    /// The objects whose stack is shown and edited.
    pub fn stack_scope(&self) -> StackScope {
        self.deforming.scope
    }

    /// Sets the objects whose stack is shown and edited.
    pub fn set_stack_scope(&mut self, scope: StackScope) {
        self.finish_tool();
        self.deforming.scope = scope;
    }

    /// The meshes with a skin: those that a stack deforms.
    pub fn skinned_meshes(&self) -> BTreeSet<MeshId> {
        let instances = self.document.instances().values();
        let skinned = instances.filter(|instance| instance.skin.is_some());
        skinned.map(|instance| instance.mesh).collect()
    }

    /// The meshes whose stack a command changes.
    pub fn stack_meshes(&self) -> Vec<MeshId> {
        let active = self.document.session().active_mesh;
        let is_meant = |mesh: &MeshId| match self.deforming.scope {
            StackScope::All => true,
            StackScope::Active => active == Some(*mesh),
        };
        let skinned = self.skinned_meshes();
        skinned.into_iter().filter(is_meant).collect()
    }

    /// The stack that is shown: that of the active object, otherwise of the first skinned one; `None` without a skinned
    /// object.
    pub fn stack(&self) -> Option<&Arc<DeformStack>> {
        let meshes = self.stack_meshes();
        let active = self.document.session().active_mesh;
        let shown = active.filter(|mesh| meshes.contains(mesh));
        let mesh = shown.or(meshes.first().copied())?;
        Some(&self.document.meshes().get(&mesh)?.stack)
    }

    /// Whether the stacks in the scope differ.
    pub fn stacks_differ(&self) -> bool {
        let meshes = self.stack_meshes();
        let stacks = meshes
            .iter()
            .filter_map(|mesh| self.document.meshes().get(mesh));
        let mut stacks = stacks.map(|item| &item.stack);
        let first = stacks.next();
        stacks.any(|stack| Some(stack) != first)
    }

    /// Whether a map is painted on an object in the scope.
    pub fn is_mask_painted(&self, mask: MaskKind) -> bool {
        let meshes = self.stack_meshes();
        let mut items = meshes.iter().filter_map(|m| self.document.meshes().get(m));
        items.any(|item| item.masks.get(mask).is_some())
    }

    /// The skinning method that is shown.
    pub fn method(&self) -> SkinningMethod {
        self.stack()
            .map_or_else(SkinningMethod::default, |stack| stack.method)
    }

    /// Sets the skinning method: one undo step.
    pub fn set_method(&mut self, method: SkinningMethod) {
        let label = match method {
            SkinningMethod::Lbs => "Use linear blend skinning",
            SkinningMethod::Dqs => "Use dual quaternion skinning",
            SkinningMethod::CentresOfRotation => "Use centres of rotation",
            SkinningMethod::Blend => "Blend linear and dual quaternion skinning",
        };
        self.choose_in_stack(label, "method", |stack| stack.method = method);
    }

    /// The preset equal in effect to the shown stacks; `None` if objects differ or no preset matches.
    pub fn stack_preset(&self) -> Option<StackPreset> {
        let preset = StackPreset::of(self.stack()?);
        preset.filter(|_| !self.stacks_differ())
    }

    /// Applies a preset: one undo step. Operations that it disables keep their settings.
    pub fn use_preset(&mut self, preset: StackPreset) {
        let label = match preset {
            StackPreset::Default => "Use the default stack",
            StackPreset::Lbs => "Use linear blend skinning only",
            StackPreset::Dqs => "Use dual quaternion skinning only",
            StackPreset::Compensation => "Use DQS with compensation",
            StackPreset::Projection => "Use DQS with projection",
            StackPreset::CentresOfRotation => "Use centres of rotation only",
        };
        self.choose_in_stack(label, "stack preset", |stack| *stack = preset.over(stack));
    }

    /// Changes the stacks of the scope. Becomes part of a step opened with [`Editor::begin_step`]; otherwise it is a
    /// step called `label`, merged with a preceding step of the same label.
    pub fn change_stack(&mut self, label: &'static str, change: impl Fn(&mut DeformStack)) {
        let is_tool = self.is_painting() || self.is_posing() || self.is_dragging_keys();
        if self.history.is_open() && !is_tool {
            self.apply_to_stacks(label, &change);
        } else {
            self.choose_in_stack(label, label, change);
        }
    }

    /// Copies the shown stack, and returns whether there was one.
    pub fn copy_stack(&mut self) -> bool {
        let stack = self.stack().cloned();
        let found = stack.is_some();
        self.deforming.copied = stack.or(self.deforming.copied.take());
        found
    }

    /// Whether there is a stack to paste.
    pub fn has_copied_stack(&self) -> bool {
        self.deforming.copied.is_some()
    }

    /// Pastes the copied stack, which may come from another model, to the objects of the scope: one undo step.
    pub fn paste_stack(&mut self) {
        if let Some(copied) = self.deforming.copied.clone() {
            let label = "Paste deformer stack";
            self.choose_in_stack(label, label, |stack| stack.clone_from(&copied));
        }
    }

    /// Changes the value of `setting`, as a step of its own.
    fn choose_in_stack(
        &mut self,
        label: &str,
        setting: &'static str,
        change: impl Fn(&mut DeformStack),
    ) {
        self.finish_tool();
        let alone = match self.deforming.scope {
            StackScope::All => None,
            StackScope::Active => self.document.session().active_mesh,
        };
        self.history
            .begin_setting(&self.document, label, (setting, alone));
        self.apply_to_stacks(label, &change);
        self.history.commit(&self.document);
    }

    fn apply_to_stacks(&mut self, label: &str, change: &dyn Fn(&mut DeformStack)) {
        for mesh in self.stack_meshes() {
            let Some(item) = self.document.meshes().get(&mesh) else {
                continue;
            };
            let mut stack = DeformStack::clone(&item.stack);
            change(&mut stack);
            if stack == *item.stack {
                continue;
            }
            let stack = Arc::new(stack);
            if let Err(error) = self.apply(Edit::Stack { mesh, stack }, label) {
                self.notify_error(error.to_string());
            }
        }
    }
}
