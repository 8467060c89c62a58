//! The stream: each tick is one request, on a connection of its own or on one that is kept, and ends in one class.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

use greenlight_core::rehearsal::{Choice, Class, Event, Lane, ROTATION_TOO_OLD, SENT_TOO_LATE, TOO_MANY, Tick};
use tokio::sync::mpsc::Receiver;
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::bug::{Bug, is_in_sender_of, strike};
use super::plan::Launch;
use super::recorder::Handle;
use super::shared::Shared;
use super::since::micros;
use crate::ask::{Connection, Exchange, Question, Ruling, Stage, Target, Trouble};
use crate::clock::instant;

/// Sends every tick that is due, until no more comes and all have ended.
pub(super) async fn drive(stream: Rc<Stream>, mut dues: Receiver<u64>) {
    let mut under_way = JoinSet::new();
    while let Some(tick) = dues.recv().await {
        while under_way.try_join_next().is_some() {}
        if let Some(request) = stream.send(tick) {
            under_way.spawn_local(ask(Rc::clone(&stream), request));
        }
        // What was chosen is sent before the next is chosen.
        tokio::task::yield_now().await;
    }
    // A tick whose task panicked has no outcome, which the sum shows.
    while under_way.join_next().await.is_some() {}
}

/// What all ticks share.
#[derive(Debug)]
pub(super) struct Stream {
    shared: Rc<Shared>,
    members: Vec<Member>,
    first_us: i64,
    /// The status that is fine.
    expected: u16,
    connections: Cell<u64>,
    bug: Option<Bug>,
}

#[derive(Debug)]
struct Member {
    fresh: Arc<Target>,
    kept: Arc<Target>,
    /// Idle connections with their numbers, the most recently used last.
    idle: RefCell<Vec<(u64, Connection)>>,
}

/// A request to be sent.
struct Request {
    tick: Tick,
    process: usize,
    sight: Sight,
}

/// Whether our probes kept up when a request was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sight {
    Clear,
    Lost,
}

impl Stream {
    pub(super) fn new(shared: Rc<Shared>, launches: &[Launch], first_us: i64, expected: u16, bug: Option<Bug>) -> Self {
        let members = launches.iter().map(|launch| Member {
            fresh: Arc::clone(&launch.fresh),
            kept: Arc::clone(&launch.kept),
            idle: RefCell::new(Vec::new()),
        });
        Self { members: members.collect(), shared, first_us, expected, connections: Cell::new(0), bug }
    }

    /// Chooses whom a tick asks. One that asks nobody has ended.
    fn send(&self, number: u64) -> Option<Request> {
        let sent_us = self.shared.since.now_us();
        let due_us = due_us(self.first_us, self.shared.options.every_us, number);
        let mut tick = unsent(number, due_us, sent_us);
        match self.shared.choose(tick.lane, due_us, sent_us) {
            Choice::Nobody => tick.class = Class::Nobody,
            Choice::TooLate => {
                tick.sent_us = Some(sent_us);
                tick.error = Some(SENT_TOO_LATE.into());
            }
            Choice::Ask(process) => {
                tick.sent_us = Some(sent_us);
                tick.process = Some(self.shared.name(process));
                let is_lost = self.shared.is_out_of_sight(process, sent_us);
                return Some(Request { tick, process, sight: if is_lost { Sight::Lost } else { Sight::Clear } });
            }
        }
        self.shared.record.note(Event::Tick(tick));
        None
    }

    fn next_connection(&self) -> u64 {
        let number = self.connections.get();
        self.connections.set(number.saturating_add(1));
        number
    }
}

/// When a tick is due.
pub(super) fn due_us(first_us: i64, every_us: i64, tick: u64) -> i64 {
    first_us.saturating_add(every_us.saturating_mul(i64::try_from(tick).unwrap_or(i64::MAX)))
}

/// Ends a tick that too many others kept from being taken up.
pub(super) fn leave_out(record: &Handle, number: u64, due_us: i64, at_us: i64) {
    let error = Some(TOO_MANY.into());
    record.note(Event::Tick(Tick { error, ..unsent(number, due_us, at_us) }));
}

fn unsent(number: u64, due_us: i64, end_us: i64) -> Tick {
    Tick {
        tick: number,
        due_us,
        sent_us: None,
        end_us,
        lane: Lane::of_tick(number),
        process: None,
        class: Class::Ours,
        status: None,
        error: None,
        connection: None,
        uses: 0,
        reopened: false,
    }
}

/// Asks, and notes what that came to.
async fn ask(stream: Rc<Stream>, Request { mut tick, process, sight }: Request) {
    let Some(member) = stream.members.get(process) else { return };
    if is_in_sender_of(tick.tick) {
        strike(stream.bug, Bug::Sender);
    }
    // From when it was sent: no lateness of ours takes from the time that the service has.
    let deadline = instant() + micros(stream.shared.options.give_up_us);
    let kept = match tick.lane {
        Lane::Fresh => None,
        Lane::Kept => member.idle.borrow_mut().pop(),
    };
    let mut asked = if let Some((number, connection)) = kept {
        let uses = connection.uses();
        let question = Question::on(connection, Arc::clone(&member.kept), u64::MAX);
        let asked = by(question, number, uses, deadline).await;
        // Closed before anything was written: nobody knows of this request yet.
        if asked.was_closed() {
            tick.reopened = true;
            on_new_connection(&stream, &member.kept, deadline).await
        } else {
            asked
        }
    } else {
        let target = match tick.lane {
            Lane::Fresh => &member.fresh,
            Lane::Kept => &member.kept,
        };
        on_new_connection(&stream, target, deadline).await
    };
    if let (Lane::Kept, Some(connection)) = (tick.lane, asked.take_connection()) {
        let mut idle = member.idle.borrow_mut();
        if idle.len() < MAX_IDLE {
            idle.push((asked.connection, connection));
        }
    }
    asked.tell(&mut tick, &stream);
    if sight == Sight::Lost && matches!(tick.class, Class::Refused | Class::Cut) {
        (tick.class, tick.error) = (Class::Ours, Some(ROTATION_TOO_OLD.into()));
    }
    stream.shared.record.note(Event::Tick(tick));
}

async fn on_new_connection(stream: &Stream, target: &Arc<Target>, deadline: Instant) -> Asked {
    let question = Question::on_new_connection(Arc::clone(target), u64::MAX);
    by(question, stream.next_connection(), 0, deadline).await
}

/// A question that is over.
struct Asked {
    connection: u64,
    /// How many questions that had carried before.
    uses: u32,
    came_to: CameTo,
}

enum CameTo {
    Decided(Box<Exchange>),
    /// The client gave up.
    GivenUp {
        stage: Stage,
        at: Instant,
    },
}

async fn by(mut question: Question, connection: u64, uses: u32, deadline: Instant) -> Asked {
    let came_to = match question.by(deadline).await {
        Ruling::Decided { exchange, .. } => CameTo::Decided(exchange),
        Ruling::Silent { .. } => CameTo::GivenUp { stage: question.progress().stage, at: instant() },
    };
    Asked { connection, uses, came_to }
}

impl Asked {
    /// Whether a kept connection turned out closed before anything was written.
    fn was_closed(&self) -> bool {
        match &self.came_to {
            CameTo::Decided(exchange) => {
                exchange.earlier_uses > 0
                    && exchange.progress.written_bytes == 0
                    && matches!(exchange.result, Err(Trouble::Cut { .. }))
            }
            CameTo::GivenUp { .. } => false,
        }
    }

    fn take_connection(&mut self) -> Option<Connection> {
        match &mut self.came_to {
            CameTo::Decided(exchange) => exchange.connection.take(),
            CameTo::GivenUp { .. } => None,
        }
    }

    fn tell(&self, tick: &mut Tick, stream: &Stream) {
        let since = stream.shared.since;
        let is_connected = match &self.came_to {
            CameTo::Decided(exchange) => {
                tick.end_us = since.floor_us(exchange.ended_at);
                (tick.class, tick.error) = classify(exchange, stream.expected);
                tick.status = exchange.result.as_ref().ok().map(|answered| answered.status);
                self.uses > 0 || exchange.progress.connected_at.is_some()
            }
            CameTo::GivenUp { stage, at } => {
                tick.end_us = since.floor_us(*at);
                tick.class = Class::Slow;
                let (error, is_connected) = match stage {
                    Stage::Resolving | Stage::Connecting => ("GAVE_UP_CONNECTING", false),
                    Stage::Waiting => ("GAVE_UP_WAITING", true),
                    Stage::Reading => ("GAVE_UP_READING", true),
                };
                tick.error = Some(error.into());
                is_connected
            }
        };
        tick.connection = is_connected.then_some(self.connection);
        tick.uses = if is_connected { self.uses.saturating_add(1) } else { 0 };
    }
}

fn classify(exchange: &Exchange, expected: u16) -> (Class, Option<Box<str>>) {
    match &exchange.result {
        Ok(answered) if answered.status == expected => (Class::Ok, None),
        Ok(answered) if answered.status >= 500 => (Class::ServerError, None),
        Ok(_) => (Class::Unexpected, None),
        Err(trouble) => {
            let class = match trouble {
                Trouble::Refused | Trouble::NoSuchName => Class::Refused,
                Trouble::Cut { .. } => Class::Cut,
                Trouble::Torn { .. } => Class::Torn,
                Trouble::Garbled => Class::Garbled,
                // The network gave up for us.
                Trouble::Unreachable { .. } => Class::Slow,
                Trouble::Ours { .. } => Class::Ours,
            };
            (class, Some(trouble.code().into()))
        }
    }
}

/// How many idle connections are kept to a process: as many as a burst may have under way.
pub(super) const MAX_IDLE: usize = 64;
