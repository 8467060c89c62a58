// The shapes of the Rehearsal view. Names of the record's lines are the record's.

/** A parsed line of a record, which core has taken as an event. */
export type Line = any;

export interface Policy { silences: number; timeout_ms: number; joins: number; hold: boolean }

/** The ticks of one lane, or of both. */
export interface Counts { all: number; lost: number; of: Record<string, number> }

export interface Process {
  name: string;
  command: string;
  /** NaN: it was not started. */
  pid: number;
  sigterms: number;
  /** NaN: it did not drain. */
  drain_us: number;
  killed: boolean;
  exit: string;
  turns: { at_us: number; doing: string }[];
}

/** A record as far as it was read, with what core makes of it. */
export interface Known {
  roll: import('../static/greenlight_past.js').Roll;
  /** The lines by their kind. */
  by: Record<string, Line[]>;
  /** By name; NaN where it is null. */
  sums: Record<string, number>;
  /** All, fresh, kept. */
  lanes: Counts[];
  processes: Process[];
  outcome: string;
  why: string;
  findings: string[];
  causes: string[];
  /** In order of their numbers. */
  ticks: Line[];
  misses: Line[];
  doings: string[];
  from_us: number;
  to_us: number;
  recorded: Policy;
}

export interface Replayed {
  leaves: number;
  nobody: number;
  unknown: number;
  /** NaN: throughout. */
  holds_until: number;
  /** By process; `to` is 0 out, 1 in, 2 unknown. */
  shifts: { at_us: number; to: number }[][];
  untold: { at_us: number; unknown: boolean }[];
}

/** All that the view shows follows from this. */
export interface Shown {
  record: Known | null;
  /** The file's name, or the address it came from. */
  name: string;
  /** Why it was refused, with the line; '' where it was not. */
  refusal: string;
  /** Whether what was readable of it is shown all the same. */
  partly: boolean;
  loading: boolean;
  /** What another policy would be tried. */
  policy: Policy;
  /** Whether it is another one than the recorded. */
  tries: boolean;
  recorded: Replayed;
  trial: Replayed;
  /** The cursor; null: nowhere. */
  at_us: number | null;
  /** What of the time is drawn. */
  from_us: number;
  to_us: number;
  /** Nobody-ticks by silences and timeout, as far as they are replayed yet. */
  grid: Map<string, Replayed>;
}
