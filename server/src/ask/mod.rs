//! One question over a connection of its own, and everything that can come of it.
//!
//! A [`Target`] is what is asked: a literal address or a name, the request, and what is trusted. A [`Question`] is
//! one asking, on a new [`Connection`] or on one that was kept. It ends in an [`Exchange`]: the answer or the
//! [`Trouble`], when each step was done, and the connection where it may be used again. There is no pool, no retry
//! and no redirect. A question has no time limit of its own: [`Question::by`] says what it came to by a deadline, and
//! the same question can be awaited further. How far one has come is told by [`Question::progress`] at any moment,
//! also where it is given up.
//!
//! ```ignore
//! let target = Arc::new(Target::new("http://127.0.0.1:8080/readyz", Use::Once, Trust::Machine)?);
//! let mut question = Question::on_new_connection(Arc::clone(&target), BODY_IS_COMPLETE_AT);
//! match question.by(deadline).await {
//!     Ruling::Decided { exchange, late } => judge(exchange.answer(), late),
//!     Ruling::Silent { late } => { /* the question may be awaited further */ }
//! }
//! ```

mod answer;
mod connect;
mod exchange;
mod late;
mod names;
mod progress;
mod question;
mod target;
#[cfg(test)]
mod tests;
mod tls;
mod trouble;
mod wire;

pub(crate) use self::exchange::Exchange;
pub(crate) use self::late::Late;
pub(crate) use self::progress::Stage;
pub(crate) use self::question::{Question, Ruling};
pub(crate) use self::target::{Target, Use};
pub(crate) use self::tls::Trust;
#[expect(unused_imports, reason = "for whoever keeps connections, and tells how far each question came")]
pub(crate) use self::{
    exchange::{Answered, Connection},
    progress::Progress,
    trouble::Trouble,
};

/// A probe's answer is complete with its head and so many bytes of its body.
pub(crate) const BODY_IS_COMPLETE_AT: u64 = 64 * 1024;
/// A head of more bytes than this is no HTTP of ours.
const MAX_HEAD_BYTES: usize = 64 * 1024;
