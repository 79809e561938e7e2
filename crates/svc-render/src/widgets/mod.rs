//! Renders widgets and their edit forms.

mod builtin;
pub mod render;

pub use builtin::types as builtin_types;

pub use crate::renderer::widget_types::{WidgetContext, WidgetType, WidgetTypes};
