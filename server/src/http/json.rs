//! JSON that is safe to print: every character that shows nothing by itself is escaped, so that text from a source
//! cannot reorder or hide anything on a terminal. Readers get the same strings back.

use std::io::{self, Write};

use greenlight_core::{JsonEscaped, is_invisible};
use serde::Serialize;
use serde_json::ser::Formatter;

/// The bytes of a value.
pub(crate) fn to_vec(value: &impl Serialize) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(256);
    append(&mut bytes, value);
    bytes
}

/// Appends a value. Our types serialize to memory without errors: keys are strings and no map is unbounded.
pub(crate) fn append(bytes: &mut Vec<u8>, value: &impl Serialize) {
    let start = bytes.len();
    let mut serializer = serde_json::Serializer::with_formatter(&mut *bytes, Inert);
    if let Err(error) = value.serialize(&mut serializer) {
        tracing::error!(%error, "a value could not be written as JSON: this is a bug of ours");
        bytes.truncate(start);
        bytes.extend_from_slice(b"null");
    }
}

/// Whether JSON that was written elsewhere is safe to print as it stands; what is no ASCII has to be looked at.
pub(crate) fn is_plain(bytes: &[u8]) -> bool {
    bytes.iter().all(|byte| byte.is_ascii() && *byte != 0x7F)
}

struct Inert;

impl Formatter for Inert {
    fn write_string_fragment<W: ?Sized + Write>(&mut self, writer: &mut W, fragment: &str) -> io::Result<()> {
        if is_plain(fragment.as_bytes()) {
            return writer.write_all(fragment.as_bytes());
        }
        let mut rest = fragment;
        while let Some(at) = rest.find(is_invisible) {
            let (plain, tail) = rest.split_at(at);
            writer.write_all(plain.as_bytes())?;
            let mut characters = tail.chars();
            if let Some(hidden) = characters.next() {
                write!(writer, "{}", JsonEscaped(hidden))?;
            }
            rest = characters.as_str();
        }
        writer.write_all(rest.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_seen_is_escaped_and_reads_back_the_same() {
        for text in ["plain \"quoted\" \\ text", "a\u{202E}b\u{7F}c\u{E0041}d\u{0}é🚦", "\u{FEFF}", ""] {
            let bytes = to_vec(&text);
            let written = String::from_utf8(bytes).unwrap();
            assert!(!written.chars().any(is_invisible), "{written:?}");
            assert_eq!(serde_json::from_str::<String>(&written).unwrap(), text);
        }
        assert_eq!(to_vec(&"a\u{202E}\u{E0041}"), br#""a\u202e\udb40\udc41""#);
    }
}
