//! Who reports, besides those who publish over HTTP.

#[cfg(feature = "cli")]
pub(crate) mod follow;
#[cfg(feature = "cli")]
pub(crate) mod probe;
#[cfg_attr(not(feature = "cli"), expect(dead_code, reason = "only the program probes"))]
pub(crate) mod view;
