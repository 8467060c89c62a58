//! What the board hears of members, at moments of the test's own.
