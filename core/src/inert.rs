//! Text from outside, for a terminal.

use core::fmt::{self, Write};

use crate::name::is_invisible;

/// Shows a text on one line with every invisible character escaped, cut after so many characters.
#[derive(Clone, Copy, Debug)]
pub struct Inert<'a>(pub &'a str, pub usize);

impl Inert<'_> {
    /// Adds it to a text.
    pub(crate) fn push_to(self, out: &mut impl Write) -> fmt::Result {
        let Self(text, limit) = self;
        for (place, character) in text.chars().enumerate() {
            if place == limit {
                return out.write_char('…');
            }
            if is_invisible(character) {
                for escaped in character.escape_unicode() {
                    out.write_char(escaped)?;
                }
            } else {
                out.write_char(character)?;
            }
        }
        Ok(())
    }
}

impl fmt::Display for Inert<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.push_to(f)
    }
}

/// A character as JSON escapes it: by its UTF-16, `\u202e`.
#[derive(Clone, Copy, Debug)]
pub struct JsonEscaped(pub char);

impl fmt::Display for JsonEscaped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for unit in self.0.encode_utf16(&mut [0; 2]) {
            write!(f, "\\u{unit:04x}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn invisible_characters_are_escaped_and_long_texts_cut() {
        assert_eq!(Inert("a\nb\u{202E}", 9).to_string(), "a\\u{a}b\\u{202e}");
        assert_eq!(Inert("abcdef", 3).to_string(), "abc…");
        assert_eq!(Inert("abc", 3).to_string(), "abc");
    }
}
