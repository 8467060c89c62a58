//! What TypeScript is told of the objects that cross.

use wasm_bindgen::prelude::wasm_bindgen;

#[wasm_bindgen(typescript_custom_section)]
const TYPES: &'static str = r#"
export type Standing = 'serving' | 'live_degraded' | 'stale_degraded' | 'never_green';
export type Reason = 'nothing_serving' | 'live_degraded' | 'ready';

/** A moment at which the verdict changes by time alone. */
export interface Flip { at_unix: number; ready: boolean; because: string }

/** The verdict with every name behind it: `readiness` of `/app`, but for `since_unix`, which only the daemon knows. */
export interface Verdict {
    ready: boolean;
    reason: Reason;
    /** The daemon's own line for a person. */
    text: string;
    serving: string[];
    live_degraded: string[];
    stale_degraded: string[];
    never_green: string[];
    unconfirmed: string[];
    /** null = never. */
    stale_after_secs: number | null;
    flips: Flip[];
}

/** The verdict alone. It costs the same for any number of rows. */
export interface Glance {
    ready: boolean;
    reason: Reason;
    text: string;
    /** The row that blocks longest, where one blocks. */
    blocking: string | null;
}

/** An expectation of a scenario that does not hold. */
export interface Miss { step: number; at: number; what: string; expected: string; got: string }

/** What a snapshot reads of a row in `/app` or in a `change`. */
export interface RowFacts {
    name: string;
    serving_sha: string | null;
    last_green: string | null;
    source: string;
    last_change_unix: number;
    last_report_unix: number;
    good_for_secs: number | 'until_restart' | 'forever';
    good_until_unix: number | null;
}

/** What a snapshot reads of `/app`. */
export interface AppFacts {
    instances: RowFacts[];
    readiness: { stale_after_secs: number | null };
    started_unix: number;
    reported_since_start?: boolean;
}

export interface ChangeFacts { rows: RowFacts[]; removed: string[] }
export interface RenewalFacts {
    last_report_unix: number;
    good_for_secs: number | 'until_restart' | 'forever';
    good_until_unix: number | null;
}
export interface RenewFacts {
    sources: ({ source: string } & RenewalFacts)[];
    rows: ({ name: string } & RenewalFacts)[];
}
"#;
