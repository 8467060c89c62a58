//! Who reports, besides those who publish over HTTP.

pub(crate) mod follow;
