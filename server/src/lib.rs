//! Greenlight: the daemon and its command line.
pub mod store;
