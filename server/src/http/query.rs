//! What stands after the question mark.

use axum::extract::Query;
use axum::http::Uri;
use greenlight_core::{GoodFor, Horizon, MAX_INTEGER};

use super::problem::Problem;

/// The pairs of a query, in order; a key without a value has an empty one.
pub(crate) fn pairs(uri: &Uri) -> Result<Vec<(String, String)>, Problem> {
    Query::<Vec<(String, String)>>::try_from_uri(uri)
        .map(|Query(pairs)| pairs)
        .map_err(|error| Problem::bad_query(error.to_string()))
}

/// The last value of a key.
pub(crate) fn last<'a>(pairs: &'a [(String, String)], key: &str) -> Option<&'a str> {
    pairs.iter().rev().find(|(name, _)| name == key).map(|(_, value)| value.as_str())
}

/// Whether a flag is set: there without a value, or `true` or `1`.
pub(crate) fn flag(pairs: &[(String, String)], key: &str) -> bool {
    last(pairs, key).is_some_and(|value| matches!(value, "" | "1" | "true"))
}

/// `stale_after`: a length of time, or `never`.
pub(crate) fn horizon(pairs: &[(String, String)]) -> Result<Option<Horizon>, Problem> {
    last(pairs, "stale_after")
        .map(|value| value.parse().map_err(|error| Problem::bad_query(format!("stale_after {error}, or never"))))
        .transpose()
}

/// `good_for_secs`: a number of seconds, `until_restart` or `forever`.
pub(crate) fn good_for(pairs: &[(String, String)]) -> Result<Option<GoodFor>, Problem> {
    last(pairs, "good_for_secs")
        .map(|value| {
            GoodFor::from_word(value).or_else(|| value.parse().ok().and_then(GoodFor::from_secs)).ok_or_else(|| {
                Problem::bad_query(format!(
                    "good_for_secs is a whole number of seconds from 1 to {MAX_INTEGER}, until_restart or forever"
                ))
            })
        })
        .transpose()
}

/// A whole number under a key, no less than `least`.
pub(crate) fn integer(pairs: &[(String, String)], key: &str, least: u64) -> Result<Option<u64>, Problem> {
    last(pairs, key)
        .map(|value| {
            let number = value.parse().ok().filter(|number| *number >= least);
            number.ok_or_else(|| Problem::bad_query(format!("{key} is a whole number of at least {least}")))
        })
        .transpose()
}
