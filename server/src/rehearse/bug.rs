//! Bugs that a test asks for, to see what becomes of a rehearsal that has one. A release build has no way to ask.

/// Where the bug is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(debug_assertions, derive(clap::ValueEnum))]
pub(crate) enum Bug {
    /// In the engine, once the stream runs.
    Engine,
    /// In the senders of three ticks.
    Sender,
}

/// Panics where this is the bug that was asked for.
pub(super) fn strike(asked: Option<Bug>, here: Bug) {
    assert_ne!(asked, Some(here), "this bug was asked for");
}

/// Whether the sender of a tick has it.
pub(super) fn is_in_sender_of(tick: u64) -> bool {
    (20..23).contains(&tick)
}
