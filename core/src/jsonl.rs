//! What every file of JSON lines shares: how a line becomes a value, and whose file it is.

use alloc::boxed::Box;
use alloc::string::String;

use serde::Deserialize;
use serde::de::DeserializeOwned;

/// How a text becomes a value: the driver's reader of JSON, of which core has none.
pub trait Json {
    /// Reads one value.
    ///
    /// # Errors
    /// What is wrong with the text, in words.
    fn read<T: DeserializeOwned>(&self, text: &str) -> Result<T, String>;
}

/// What the first line of every version says, whatever else it holds.
#[derive(Deserialize)]
pub(crate) struct Opening {
    pub(crate) schema: Box<str>,
}

/// A schema that is not the one that is read here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stranger {
    /// Ours, of a version after this one.
    Newer,
    /// Something else.
    Foreign,
}

impl Stranger {
    /// Ours with a higher number is newer, all else is foreign.
    pub(crate) fn of(told: &str, ours: &str) -> Self {
        let parts = |schema| -> Option<(&str, u64)> {
            let slash = str::bytes(schema).rposition(|byte| byte == b'/')?;
            Some((schema.get(..slash)?, schema.get(slash.saturating_add(1)..)?.parse().ok()?))
        };
        match (parts(told), parts(ours)) {
            (Some((told, number)), Some((ours, known))) if told == ours && number > known => Self::Newer,
            _ => Self::Foreign,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ours_with_a_higher_number_is_newer_and_all_else_is_foreign() {
        for (told, expected) in [
            ("greenlight.x/2", Stranger::Newer),
            ("greenlight.x/1", Stranger::Foreign),
            ("greenlight.x/two", Stranger::Foreign),
            ("greenlight.y/2", Stranger::Foreign),
            ("greenlight.x", Stranger::Foreign),
            ("", Stranger::Foreign),
        ] {
            assert_eq!(Stranger::of(told, "greenlight.x/1"), expected, "{told}");
        }
    }
}
