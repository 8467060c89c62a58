//! Texts put together without the machinery of a formatter.

use alloc::string::String;

/// One text of several; what a formatter would do, without its weight.
pub(crate) fn joined(parts: &[&str]) -> String {
    let mut text = String::new();
    for part in parts {
        text.push_str(part);
    }
    text
}
