//! Situations by hand.
