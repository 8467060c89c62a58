//! What a rehearsal asks with, alone and as fast as it goes, for whoever measures it.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use tokio::time::Instant;

use crate::ask::{Connection, Question, Ruling, Target, Trust, Use};
use crate::clock::instant;

/// Asks `url` over so many connections at once for so long, one question after the other on each, and gives the number
/// of complete 200s. As in the kept lane of a rehearsal, each question has its deadline and its moments taken.
///
/// # Errors
/// In words, where the URL is none, the system gives no thread, or a question got another answer, or none within 10 s.
pub fn ask_for(url: &str, connections: NonZeroU32, how_long: Duration) -> Result<u64, String> {
    let target = Arc::new(Target::new(url, Use::Again, Trust::Machine)?);
    let until = instant() + how_long;
    let askers: Vec<_> = (0..connections.get())
        .map(|_| {
            let target = Arc::clone(&target);
            thread::spawn(move || ask(&target, until))
        })
        .collect();
    askers.into_iter().try_fold(0, |sum: u64, asker| {
        let asked = asker.join().unwrap_or_else(|_| Err("a thread panicked".into()))?;
        Ok(sum.saturating_add(asked))
    })
}

fn ask(target: &Arc<Target>, until: Instant) -> Result<u64, String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| format!("no runtime can be had: {error}"))?;
    runtime.block_on(async {
        let (mut kept, mut answers): (Option<Connection>, u64) = (None, 0);
        while instant() < until {
            let mut question = match kept.take() {
                Some(connection) => Question::on(connection, Arc::clone(target), u64::MAX),
                None => Question::on_new_connection(Arc::clone(target), u64::MAX),
            };
            let Ruling::Decided { exchange, .. } = question.by(instant() + GIVE_UP).await else {
                return Err("no answer".into());
            };
            match exchange.result {
                Ok(answered) if answered.status == 200 => answers = answers.saturating_add(1),
                Ok(answered) => return Err(format!("it answers {}", answered.status)),
                // The server closes a connection now and then: asked again on another.
                Err(_) if exchange.earlier_uses > 0 && exchange.progress.written_bytes == 0 => {}
                Err(trouble) => return Err(trouble.code().into()),
            }
            kept = exchange.connection;
        }
        Ok(answers)
    })
}

const GIVE_UP: Duration = Duration::from_secs(10);
