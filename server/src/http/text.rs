//! Text from outside, for a terminal.

pub(crate) use greenlight_core::Inert;
