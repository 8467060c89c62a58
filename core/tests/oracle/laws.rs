//! The laws of section 3, each a property.
