//! The tables: every key on the wire, what it holds, and what it means.

use super::{Field, Kind, Shape, Side, always, sometimes};
use Kind::{Count, Flag, GoodFor, List, OrNull, Signed, Text, Word};

const TEXT_OR_NULL: Kind = OrNull(&Text);
const COUNT_OR_NULL: Kind = OrNull(&Count);
const TEXTS: Kind = List(&Text);
const STANDINGS: Kind = Word(&["serving", "never_green", "live_degraded", "stale_degraded"]);
const REASONS: Kind = Word(&["shutting_down", "nothing_serving", "live_degraded", "ready"]);

const NAME: &[Field] = &[always("name", Text, "identity, unique on the board")];

/// The name of a row that is reported.
const OWN_NAME: &[Field] = &[sometimes("name", Text, "identity; left out where the path has it, and nowhere else")];

const STATE: &[Field] = &[
    always("phase", Text, "a free word from the source, shown and never judged"),
    always("serving_sha", TEXT_OR_NULL, "what it serves now; null serves nothing"),
    always("last_green", TEXT_OR_NULL, "the newest build that served; null was never green"),
    always("last_red_sha", TEXT_OR_NULL, "the newest failure"),
    always("last_red_reason", TEXT_OR_NULL, "why it failed, at most 16 KiB"),
    always("last_red_files", TEXTS, "evidence for the failure: sorted, without doubles"),
    always("pending_sha", TEXT_OR_NULL, "the newest sha waiting"),
    always("draining", Count, "demoted children that are still draining"),
];

const ROUTE: &[Field] = &[
    always("proxy_port", COUNT_OR_NULL, "the port that a proxy reaches it at"),
    always("public_host", TEXT_OR_NULL, "the host name that the public reaches it by"),
    always("expires_at", COUNT_OR_NULL, "when the route ends, in Unix seconds"),
];

const IDLE: &[Field] =
    &[always("idle_secs", Count, "for how long it has been unchanged; in a report believed once, at first sight")];

const SOURCE: &[Field] = &[always("source", Text, "who reports it")];
const STAMP: &[Field] = &[always("last_change_unix", Count, "the stamp: when the daemon last saw it change")];

const VOUCH: &[Field] = &[
    always("last_report_unix", Count, "when the last report that named it came in"),
    always("good_for_secs", GoodFor, "for how long that report said it was good"),
    always("good_until_unix", COUNT_OR_NULL, "the first moment at which nobody vouches any more; null is never"),
];

const JUDGED: &[Field] = &[
    always("stale", Flag, "whether idle_secs is at least stale_after_secs, whatever the standing"),
    always("standing", STANDINGS, "what the row amounts to at this moment"),
    always("since_unix", Count, "since when: the stamp, or when its witness was lost"),
    always(
        "ages_out_unix",
        COUNT_OR_NULL,
        "when it stops blocking; null unless live_degraded under a horizon that ends",
    ),
];

const READINESS: &[Field] = &[
    always("ready", Flag, "the verdict"),
    always("since_unix", COUNT_OR_NULL, "since when it has had its value; null where that is not known"),
    always("reason", REASONS, "why"),
    always("text", Text, "why, in words"),
    always("serving", TEXTS, "names"),
    always("live_degraded", TEXTS, "names: these veto"),
    always("stale_degraded", TEXTS, "names: these do not any more"),
    always("never_green", TEXTS, "names"),
    always("unconfirmed", TEXTS, "names: nobody vouches for these"),
    always("stale_after_secs", COUNT_OR_NULL, "the horizon; null is never"),
    always("flips", List(&Kind::Shape("Flip")), "when the verdict will change if nothing else happens"),
];

const APP: &[Field] = &[
    always("instances", List(&Kind::Shape("JudgedRow")), "in the order in which they were first reported"),
    always("ready", Flag, "the verdict"),
    always("readiness", Kind::Shape("Readiness"), ""),
    sometimes("what_if", Flag, "true where another horizon was asked for"),
    always("now_unix", Count, "the moment of all of this, in Unix seconds"),
    always("now_unix_ms", Count, "the same in milliseconds"),
    always("boot", Text, "a word that is another after each start"),
    always("revision", Count, "moves when a row changes, comes or goes"),
    always("id", Text, "where /events goes on from here"),
    always("started_unix", Count, "when the daemon started"),
    always("reported_since_start", Flag, "whether any source has reported since"),
    always("clock", Kind::Shape("Clock"), ""),
    always("store", Kind::Shape("Store"), ""),
    always("prober", Kind::Shape("Prober"), ""),
    always("schema", Word(&["greenlight.app/1"]), "the name of this shape"),
    always("version", Text, "the daemon's"),
];

const ACCEPTED: &[Field] = &[
    always("revision", Count, "the one that it led to"),
    always("changed", TEXTS, "names of rows whose stamp moved, and of rows that came"),
    always("removed", TEXTS, "names of rows that left"),
    sometimes("durable", Flag, "false where a restart would lose it"),
    sometimes("warnings", TEXTS, "fields that were passed over"),
];

const PROBLEM: &[Field] = &[
    always("type", Text, "about:blank"),
    always("title", Text, "what kind of problem"),
    always("status", Count, "the status of the answer"),
    always("detail", Text, "what happened, and what to do"),
    sometimes("path", Text, "where in the body, as instances[3].draining"),
    sometimes("owner", Text, "the source that holds the name"),
];

const REPORT: &[Field] = &[
    always("instances", List(&Kind::Shape("ReportedRow")), "all rows of the source"),
    sometimes("good_for_secs", GoodFor, "for how long this is good; the daemon's --good-for if left out"),
    sometimes("sequence", Count, "greater than the last one of this source"),
];

const AT: &[Field] = &[always("at_unix", Count, "when")];
const HAPPENINGS: &[&[Field]] = &[
    &[
        AT[0],
        always("event", Word(&["changed"]), "a row changed, came or came back: as it became"),
        NAME[0],
        always("order", Count, "its place: rows stand on the board in rising order"),
        SOURCE[0],
        STAMP[0],
        sometimes("stored_change_unix", Count, "the stamp as it is stored, where a restart clamped the other"),
        always("row", Kind::Shape("RowState"), ""),
    ],
    &[AT[0], always("event", Word(&["removed"]), "a row left the board"), NAME[0]],
    &[
        AT[0],
        always("event", Word(&["lapsed"]), "rows have no witness from then on"),
        SOURCE[0],
        always("names", TEXTS, ""),
        sometimes("good_until_unix", Count, "when their reports ended, where that was earlier"),
    ],
    &[
        AT[0],
        always("event", Word(&["came_back"]), "rows are vouched for again, or still after a start"),
        SOURCE[0],
        always("names", TEXTS, ""),
    ],
    &[
        AT[0],
        always("event", Word(&["started"]), "the daemon began to watch; every row lost its witness, if it had one"),
        always("watched_until_unix", COUNT_OR_NULL, "the last second that the one before it is known to have watched"),
        always("drift_secs", Signed, "by how much the times that the one before it wrote were moved"),
    ],
    &[
        AT[0],
        always("event", Word(&["resumed"]), "the daemon watches again: it was stopped, or its machine slept"),
        always("watched_until_unix", Count, "the last second that it is known to have watched"),
    ],
    &[
        AT[0],
        always("event", Word(&["retold"]), "the board is told anew: its rows follow, nothing else is on it"),
        always(
            "missing_since_unix",
            COUNT_OR_NULL,
            "since when things are not recorded; null where nothing is missing",
        ),
    ],
];

/// Every shape: its name, its meaning, its fields.
const ANSWER_KINDS: Kind = Word(&["ready", "not_ready", "refused", "cut", "silent", "fault"]);

const ROTATION: &[Field] = &[
    always("members", List(&Kind::Shape("Member")), "in order of configuration"),
    always("trouble", OrNull(&Kind::Shape("ProberTrouble")), "what keeps the prober from asking; null: nothing"),
    always("now_unix_ms", Count, "the daemon's clock"),
    always("schema", Text, "greenlight.rotation/1"),
];

const MEMBER: &[Field] = &[
    always("url", Text, "what is asked"),
    always("in_rotation", Flag, "whether it gets traffic"),
    always("held_last", Flag, "whether it is in only because it is the last one"),
    always("since_unix", Count, "since when it is in or out"),
    always("silences", Count, "how many in a row"),
    always("moves", Count, "how often it joined or left"),
    always("faults", Count, "how often it could not be asked: the prober's own trouble"),
    always("last_answer", OrNull(&Kind::Shape("ProbeAnswer")), "the newest one in time, or a silence"),
    always("last_late", OrNull(&Kind::Shape("ProbeAnswer")), "the newest one after a silence; it changed nothing"),
    always("last_move", OrNull(&Kind::Shape("Move")), "the newest join or leave"),
    always("not_on_board", TEXT_OR_NULL, "why the board does not take its row; null where it does"),
];

const PROBE_ANSWER: &[Field] = &[
    always("kind", ANSWER_KINDS, "what it amounts to; fault says nothing of the member"),
    always("status", COUNT_OR_NULL, "the status, where the answer was complete"),
    always("text", Text, "in words"),
    always("took_ms", Count, "how long it took"),
    always("late_ms", Count, "how late the prober itself came to its deadline"),
    always("at_unix", Count, "when"),
];

const MOVE: &[Field] = &[
    always("move", Word(&["join", "leave"]), "which of the two"),
    always("cause", Text, "the answer that caused it"),
    always("at_unix", Count, "when"),
];

const PROBER_TROUBLE: &[Field] = &[
    always("code", Text, "the name of the newest error, as EMFILE"),
    always("members", Count, "how many could not be asked the last time"),
    always("since_unix", Count, "since when"),
];

pub(super) const ALL: &[(&str, &str, Shape)] = &[
    ("Rotation", "who gets traffic", answered(&[ROTATION])),
    ("Member", "a member that is probed", answered(&[NAME, MEMBER])),
    ("ProbeAnswer", "what one probe learned", answered(&[PROBE_ANSWER])),
    ("Move", "a join or a leave", answered(&[MOVE])),
    ("ProberTrouble", "why the prober cannot ask: it moves no member", answered(&[PROBER_TROUBLE])),
    ("App", "the snapshot: rows, clock and verdict of one instant", answered(&[APP])),
    (
        "JudgedRow",
        "a row as it stands at one moment",
        answered(&[NAME, STATE, ROUTE, SOURCE, STAMP, VOUCH, IDLE, JUDGED]),
    ),
    ("Row", "a row without anything that depends on the moment", answered(&[NAME, STATE, ROUTE, SOURCE, STAMP, VOUCH])),
    ("RowState", "what counts in a row: each field alone moves the stamp", answered(&[STATE])),
    ("Readiness", "the verdict and the names behind it", answered(&[READINESS])),
    (
        "Flip",
        "a moment at which time alone changes the verdict",
        answered(&[AT, &[always("ready", Flag, "to what"), always("because", Text, "the row that causes it")]]),
    ),
    (
        "Clock",
        "how the clock does",
        answered(&[&[always("drift_secs", Signed, "how far the wall clock has moved away since the start")]]),
    ),
    (
        "Store",
        "how the store does",
        answered(&[&[
            always("durable", Flag, "whether what is acknowledged survives a restart"),
            sometimes("trouble", Text, "why not"),
        ]]),
    ),
    (
        "Prober",
        "whether members can be asked",
        answered(&[&[always(
            "trouble",
            OrNull(&Kind::Shape("ProberTrouble")),
            "what keeps the prober from asking; null: nothing",
        )]]),
    ),
    ("Report", "the full report of a source", answered(&[REPORT])),
    (
        "ReportedRow",
        "a row as a source writes it; what is left out or null is null, [] or 0, and the phase is idle",
        Shape::Object(Side::Reported, &[OWN_NAME, STATE, ROUTE, IDLE]),
    ),
    ("Accepted", "what a report or a removal did", answered(&[ACCEPTED])),
    ("Problem", "an RFC 9457 problem", answered(&[PROBLEM])),
    (
        "Change",
        "the data of a change event",
        answered(&[&[
            always("revision", Count, "the one that it led to"),
            always("id", Text, "the event's own"),
            always("rows", List(&Kind::Shape("Row")), "new rows and changed ones"),
            always("removed", TEXTS, "names of those that left, before any of the rows came"),
        ]]),
    ),
    (
        "Renew",
        "the data of a renew event: until when rows are vouched for",
        answered(&[&[
            always("sources", List(&Kind::Shape("RenewedSource")), "each holds for all rows of its source"),
            always("rows", List(&Kind::Shape("RenewedRow")), "each holds for one row"),
        ]]),
    ),
    ("RenewedSource", "until when all rows of a source are vouched for", answered(&[SOURCE, VOUCH])),
    ("RenewedRow", "until when a row is vouched for", answered(&[NAME, VOUCH])),
    (
        "Beat",
        "the data of a beat event: what the daemon says",
        answered(&[&[
            always("now_unix_ms", Count, "when"),
            always("id", Text, "of the last change"),
            always("ready", Flag, "the verdict"),
            always("reason", REASONS, "why"),
            always("store", Kind::Shape("Store"), ""),
            always("prober", Kind::Shape("Prober"), ""),
        ]]),
    ),
    (
        "Reset",
        "the data of a reset event: what was missed is not known any more, read /app again",
        answered(&[&[always("reason", Text, "why")]]),
    ),
    (
        "History",
        "what happened in a window, beginning with the board as it was before",
        answered(&[&[
            always("schema", Text, "greenlight.history/1"),
            always("version", Text, "of the daemon"),
            always("from_unix", Count, "the window's first second"),
            always("to_unix", Count, "the first second after it"),
            always("known_until_unix", Count, "before which second the record is known to be complete"),
            always("stale_after_secs", COUNT_OR_NULL, "the daemon's horizon; null is never"),
            always("complete_from_unix", COUNT_OR_NULL, "from when on nothing has been pruned; null where nothing was"),
            always("names", OrNull(&TEXTS), "the instances that are told of and no others; null where all are"),
            always("overtaking", List(&Kind::Shape("Overtaking")), "lives that begin before an earlier one's end"),
            always("events", List(&Kind::Shape("HistoryEvent")), "in the order in which they were recorded"),
            always("next", COUNT_OR_NULL, "to be given as after to go on; null where nothing follows"),
        ]]),
    ),
    (
        "Overtaking",
        "a life of the daemon that holds from its start, whatever an earlier one says of later",
        answered(&[&[
            always("life", Count, "which, counted from 1 for the first start among the events"),
            always("from_unix", Count, "from when on"),
        ]]),
    ),
    ("HistoryEvent", "one thing that happened", Shape::OneOf(HAPPENINGS)),
];

const fn answered(tables: &'static [&'static [Field]]) -> Shape {
    Shape::Object(Side::Answered, tables)
}
