//! Laws of what a replay adds up to, for any record at all.
