// The shapes that the modules of the page hand to each other. Names of the wire are the wire's.

export type Standing = 'serving' | 'never_green' | 'live_degraded' | 'stale_degraded';
export type Word = 'ready' | 'not_ready' | 'unknown';
export type GoodFor = number | 'until_restart' | 'forever';

/** One element of `/app`'s `instances`; the last five are missing in a `change`. */
export interface Row {
  name: string;
  phase: string;
  serving_sha: string | null;
  last_green: string | null;
  last_red_sha: string | null;
  last_red_reason: string | null;
  last_red_files: string[];
  pending_sha: string | null;
  draining: number;
  proxy_port: number | null;
  public_host: string | null;
  expires_at: number | null;
  source: string;
  last_change_unix: number;
  last_report_unix: number;
  good_for_secs: GoodFor;
  good_until_unix: number | null;
  idle_secs?: number;
  stale?: boolean;
  standing?: Standing;
  since_unix?: number;
  ages_out_unix?: number | null;
}

export interface Flip { at_unix: number; ready: boolean; because: string }

export interface Readiness {
  ready: boolean;
  since_unix: number | null;
  reason: string;
  text: string;
  serving: string[];
  live_degraded: string[];
  stale_degraded: string[];
  never_green: string[];
  unconfirmed: string[];
  stale_after_secs: number | null;
  flips: Flip[];
}

export interface App {
  instances: Row[];
  ready: boolean;
  readiness: Readiness;
  now_unix: number;
  now_unix_ms: number;
  boot: string;
  revision: number;
  id: string;
  started_unix: number;
  reported_since_start?: boolean;
  clock?: { drift_secs: number };
  store?: Store;
  prober?: Prober;
  schema: string;
  version: string;
}

export interface Change { revision: number; id: string; rows: Row[]; removed: string[] }
export interface Renewal { last_report_unix: number; good_for_secs: GoodFor; good_until_unix: number | null }
export interface Renew {
  sources: ({ source: string } & Renewal)[];
  rows: ({ name: string } & Renewal)[];
}
/** `store` and `prober` are missing where the daemon is older than the page. */
export interface Beat { now_unix_ms: number; id: string; ready: boolean; reason: string; store?: Store; prober?: Prober }
export interface Store { durable: boolean }
export interface Prober { trouble: { code: string; members: number; since_unix: number } | null }

/** Seconds; null = never; undefined = the daemon's own. */
export type StaleAfter = number | null | undefined;

/** One judgement of the whole board at one moment, by index of row. */
export interface Judged {
  now: number;
  ready: boolean;
  reason: string;
  /** The row that the text names: the one that blocks longest. */
  named: string | null;
  /** The one line that the daemon has for it. */
  text: string;
  /** The places, worst first. The same array for as long as nothing about any row changes: what is made of it can be kept. */
  order: ArrayLike<number>;
  standing(index: number): Standing;
  confirmed(index: number): boolean;
  since(index: number): number;
  /** null unless it is live degraded under a finite horizon. */
  ages_out(index: number): number | null;
  flips: Flip[];
}

/** What the address says, so what a link shares. */
export interface View {
  view: ViewName;
  /** As it was written: `15m`, `never`; '' = the daemon's own. */
  stale_after: string;
  q: string;
  standing: Standing | '';
  sort: SortKey;
  down: boolean;
  open: string;
  /** The moment at which a saved snapshot is judged; null = when it was taken. */
  at: number | null;
}
export type ViewName = 'live' | 'history' | 'rehearsal';
export type SortKey = 'worst' | 'name' | 'phase' | 'changed' | 'ages_out';

export type Phase = 'starting' | 'live' | 'checking' | 'reconnecting' | 'unknown' | 'asleep' | 'saved' | 'nothing';

/** What the page knows of its line to the daemon; times are the browser's own. */
export interface Line {
  /** When anything was last heard; null before the first word. */
  heard_ms: number | null;
  /** When the page began to doubt: at a wake-up. */
  checking_ms: number | null;
  /** Stream errors since the last word. */
  failures: number;
  asleep: boolean;
  opened: boolean;
}

export type FromStream =
  | { kind: 'open' }
  | { kind: 'error' }
  | { kind: 'joined'; beat: Beat; renew: Renew }
  | { kind: 'beat'; beat: Beat }
  | { kind: 'change'; change: Change }
  | { kind: 'renew'; renew: Renew }
  | { kind: 'reset' };

/** Everything that is shown follows from this and the time. */
export interface State {
  view: View;
  /** The view's horizon, where it is one and not the daemon's own. */
  trial: StaleAfter;
  board: import('../static/board').Board | null;
  /** Under the daemon's horizon. */
  judged: Judged | null;
  /** Under the view's, where that is another one and wasm runs. */
  what_if: Judged | null;
  wasm: 'loading' | 'running' | 'failed';
  line: Line;
  phase: Phase;
  beat: Beat | null;
  /** Since when `ready` has had its value; null = not known. */
  since_unix: number | null;
  /** Why /app could not be read, while nothing is shown yet. */
  trouble: string;
  paused: boolean;
  /** Focus or pointer is in the table, so its rows stay where they are. */
  held: boolean;
  /** Names in the order in which the table shows them. */
  shown: string[];
  moved: number;
  page: number;
  help: boolean;
  keys: boolean;
  /** What the horizon's field says while it is being written. */
  field: string | null;
  /** That is no horizon. */
  bad_field: boolean;
  /** What became of the last copy, for a moment. */
  note: string;
  /** The name of the saved file that is shown, or '' while live. */
  saved: string;
  hosted: boolean;
  origin: string | null;
}

/** What the shell lends to a view that is loaded when it is opened. */
export interface Host {
  origin: string | null;
  /** Draws again, soon: after anything that the view shows has changed. */
  draw_soon(): void;
  /** What of the address is the view's own: everything but `view` and `daemon`. */
  query(): URLSearchParams;
  /** Writes it. `replace` while something is dragged or typed, `push` when it is let go. */
  show(query: Record<string, string>, step: 'push' | 'replace'): void;
  /** Reads a horizon as people write it; undefined: it is none, or the rules are not there yet. */
  read_horizon(text: string): StaleAfter;
}

/** A view that is loaded when it is opened. It keeps what it shows to itself. */
export interface LaterView {
  draw(state: State, time: Time): VNode[];
  /** The rest of an action that began with `past`; `event` is what caused it. */
  act(action: unknown[], event: Event | undefined): void;
  /** A file that somebody chose or dropped. */
  open_file(file: File): void;
  /** The address is another one: somebody went back or forward, or came here. */
  came(): void;
}
export type VNode = import('../static/dom').VNode;

/** The first line of an export: what it is of. */
export interface HistoryHead {
  schema: string;
  version: string;
  from_unix: number;
  to_unix: number;
  known_until_unix: number;
  stale_after_secs: number | null;
  complete_from_unix: number | null;
  names: string[] | null;
}

/** What a span of the past tells. Of an instance: its standing, or that nobody was watching. */
export type PastWord = 'ready' | 'live_degraded' | 'nothing_serving' | 'not_watching' | 'serving' | 'stale_degraded' | 'never_green';

/** Under one horizon, in seconds; flips are a number. */
export interface PastSums { ready: number; not_ready: number; not_watched: number; flips: number; longest: number }

/** Spans in the order of time: the number of the first, and how many follow each other. */
export interface Spans { first: number; length: number }

/** A window replayed under one horizon or two. A span is given by its number. */
export interface Replay {
  from: number;
  to: number;
  /** Before which second the record is known to be complete. */
  known_until: number;
  /** In seconds, null is never; the first is the daemon's own. */
  horizons: (number | null)[];
  names: string[];
  /** What the numbers are read from: the first is of the daemon's own horizon. */
  lanes: import('../static/history-replay.js').Lane[];
  /** Numbers of names, worst first. */
  order: number[];
  /** For what spans tell, by number. */
  words: PastWord[];
  sums: PastSums[];
  /** Of all instances together: seconds masked, by horizon. */
  masked: number[];
  start(span: number): number;
  end(span: number): number;
  /** The number of what it tells; of a difference, the place of the horizon that is ready. */
  what(span: number): number;
  word(span: number): PastWord;
  sha(span: number): string | null;
  /** The rows behind a span of a verdict, or of a difference. */
  blame(span: number): { names: string[]; more: number };
  /** Of an instance under the first horizon: seconds vetoed and masked. */
  vetoed(number: number): number;
  masked_of(number: number): number;
}

/** Puts spans into a picture, one after the other: from, to, and which of the looks. */
export type Painter = (put: (from: number, to: number, look: number) => void) => void;

export interface Time { now: number; zone: number; local_ms: number; skew_ms: number }
