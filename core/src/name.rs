//! Names of instances and sources: what they may hold, and why one was refused.

use alloc::string::String;
use alloc::sync::Arc;
use core::borrow::Borrow;
use core::fmt;
use core::ops::Deref;

/// The identity of an instance or a source, checked once and shared from then on.
///
/// 1 to [`Name::MAX_BYTES`] bytes without white space, control or format characters. `/` stands only
/// between parts, and no part is empty, `.` or `..`. A source's name has no `/` at all.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "String"))]
pub struct Name(#[cfg_attr(feature = "serde", serde(serialize_with = "serialize_name"))] Arc<str>);

impl Name {
    /// As long as a DNS name may be.
    pub const MAX_BYTES: usize = 253;

    /// Checks the name of an instance.
    ///
    /// # Errors
    /// The first part of the rule that it breaks.
    pub fn of_instance(text: &str) -> Result<Self, NameError> {
        check(text).map(|()| Self(text.into()))
    }

    /// Checks the name of a source: as an instance's, but without `/`.
    ///
    /// # Errors
    /// The first part of the rule that it breaks.
    pub fn of_source(text: &str) -> Result<Self, NameError> {
        if text.bytes().any(|byte| byte == b'/') {
            return Err(NameError::Slash);
        }
        Self::of_instance(text)
    }

    /// The rule alone, without making a name.
    pub(crate) fn check(text: &str) -> Result<(), NameError> {
        check(text)
    }

    /// The text of the name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Deref for Name {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl Borrow<str> for Name {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl PartialEq<str> for Name {
    fn eq(&self, other: &str) -> bool {
        self.as_str() == other
    }
}

impl PartialEq<&str> for Name {
    fn eq(&self, other: &&str) -> bool {
        self.as_str() == *other
    }
}

impl TryFrom<String> for Name {
    type Error = NameError;

    fn try_from(text: String) -> Result<Self, NameError> {
        Self::of_instance(&text)
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self)
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

/// Which part of the rule for names a text breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameError {
    /// Not one byte.
    Empty,
    /// So many bytes, more than [`Name::MAX_BYTES`].
    TooLong(usize),
    /// A character that people cannot see or that a line of text cannot hold.
    Forbidden(char),
    /// A part between slashes that is empty, `.` or `..`.
    Part,
    /// A source's name with a slash in it.
    Slash,
}

impl fmt::Display for NameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("name is empty"),
            Self::TooLong(bytes) => write!(f, "name has {bytes} bytes, at most {} are allowed", Name::MAX_BYTES),
            Self::Forbidden(c) => write!(
                f,
                "name holds U+{:04X}: white space, control and format characters are not allowed",
                u32::from(*c)
            ),
            Self::Part => f.write_str("name has a part that is empty, '.' or '..': '/' may stand only between parts"),
            Self::Slash => f.write_str("name of a source holds '/', which only names of instances may"),
        }
    }
}

impl core::error::Error for NameError {}

/// Whether a character shows nothing by itself: control and format characters (general categories Cc and Cf)
/// and the line and paragraph separators. Where text from a source is printed, such a character is escaped.
pub fn is_invisible(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{2028}' | '\u{2029}')
        || FORMAT.iter().any(|(first, last)| (*first..=*last).contains(&c))
}

fn check(text: &str) -> Result<(), NameError> {
    if text.is_empty() {
        return Err(NameError::Empty);
    }
    if text.len() > Name::MAX_BYTES {
        return Err(NameError::TooLong(text.len()));
    }
    let forbidden = |c: &char| !c.is_ascii_graphic() && (c.is_whitespace() || is_invisible(*c));
    if let Some(c) = text.chars().find(forbidden) {
        return Err(NameError::Forbidden(c));
    }
    // By bytes: the search for characters would weigh more in the page than all of this.
    if text.as_bytes().split(|byte| *byte == b'/').any(|part| matches!(part, b"" | b"." | b"..")) {
        return Err(NameError::Part);
    }
    Ok(())
}

#[cfg(feature = "serde")]
fn serialize_name<S: serde::Serializer>(name: &Arc<str>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(name)
}

/// General category Cf, Unicode 16.
const FORMAT: [(char, char); 21] = [
    ('\u{AD}', '\u{AD}'),
    ('\u{600}', '\u{605}'),
    ('\u{61C}', '\u{61C}'),
    ('\u{6DD}', '\u{6DD}'),
    ('\u{70F}', '\u{70F}'),
    ('\u{890}', '\u{891}'),
    ('\u{8E2}', '\u{8E2}'),
    ('\u{180E}', '\u{180E}'),
    ('\u{200B}', '\u{200F}'),
    ('\u{202A}', '\u{202E}'),
    ('\u{2060}', '\u{2064}'),
    ('\u{2066}', '\u{206F}'),
    ('\u{FEFF}', '\u{FEFF}'),
    ('\u{FFF9}', '\u{FFFB}'),
    ('\u{110BD}', '\u{110BD}'),
    ('\u{110CD}', '\u{110CD}'),
    ('\u{13430}', '\u{1343F}'),
    ('\u{1BCA0}', '\u{1BCA3}'),
    ('\u{1D173}', '\u{1D17A}'),
    ('\u{E0001}', '\u{E0001}'),
    ('\u{E0020}', '\u{E007F}'),
];

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;

    #[test]
    fn ordinary_names_pass() {
        for text in ["dev", "feature-x", "team/lane", "a..b", "é", "日本/x", "🚦"] {
            assert!(Name::of_instance(text).is_ok(), "{text}");
        }
        assert!(Name::of_instance(&"x".repeat(253)).is_ok());
    }

    #[test]
    fn each_part_of_the_rule_refuses() {
        for (text, why) in [
            ("", NameError::Empty),
            ("a b", NameError::Forbidden(' ')),
            ("a\nb", NameError::Forbidden('\n')),
            ("a\u{202E}b", NameError::Forbidden('\u{202E}')),
            ("a\u{3000}b", NameError::Forbidden('\u{3000}')),
            ("a\u{200D}", NameError::Forbidden('\u{200D}')),
            ("/a", NameError::Part),
            ("a/", NameError::Part),
            ("a//b", NameError::Part),
            ("..", NameError::Part),
            ("a/./b", NameError::Part),
        ] {
            assert_eq!(Name::of_instance(text), Err(why), "{text:?}");
        }
        assert_eq!(Name::of_instance(&"x".repeat(254)), Err(NameError::TooLong(254)));
        assert_eq!(Name::of_source("a/b"), Err(NameError::Slash));
    }

    #[test]
    fn a_refusal_says_what_was_compared() {
        let told = format!("{}", NameError::Forbidden('\u{202E}'));
        assert!(told.contains("U+202E"), "{told}");
    }
}
