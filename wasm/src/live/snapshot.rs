//! A board inside wasm: read once, kept up by events, judged at any moment under any horizon.

#![expect(clippy::needless_pass_by_value, reason = "what JavaScript passes is handed over; to borrow it costs glue")]

use alloc::vec::Vec;

use greenlight_core::{Horizon, RowView, Standing, UnixSeconds};
use wasm_bindgen::prelude::*;

use super::{read, write};
use crate::number::as_number;

/// A board as `/app` told it. `now` is in Unix seconds, fractions are floored; `stale_after` is in seconds,
/// null is never, and left out it is the daemon's own. Arrays are in the order of the rows.
#[wasm_bindgen]
#[derive(Debug)]
pub struct Snapshot {
    board: greenlight_core::Snapshot,
    own_horizon: Horizon,
}

#[wasm_bindgen]
impl Snapshot {
    /// Reads `/app`, once.
    ///
    /// # Errors
    /// Where it is not one: which field, and what is wanted there.
    #[wasm_bindgen(constructor)]
    pub fn new(#[wasm_bindgen(unchecked_param_type = "AppFacts")] app: JsValue) -> Result<Self, JsError> {
        let app = read::object("app", app)?;
        let rows = read::each("app.instances", app.instances(), read::row)?;
        let restart = if app.reported_since_start().is_falsy()
            && !app.reported_since_start().is_undefined()
            && !rows.is_empty()
        {
            Some(read::moment("app.started_unix", &app.started_unix())?)
        } else {
            None
        };
        let readiness = read::object("app.readiness", app.readiness())?;
        let own_horizon = read::horizon("app.readiness.stale_after_secs", &readiness.stale_after_secs())?;
        // In the order of the list, each gets its place as a row that comes.
        let board = greenlight_core::Snapshot::replica(rows, restart);
        Ok(Self { board, own_horizon })
    }

    /// Takes in the data of a `change` or of a `renew`. The order of rows stays that of the daemon: removals
    /// first, a row that is there is replaced in its place, any other is appended.
    ///
    /// # Errors
    /// Where it is neither; the snapshot is then as it was.
    pub fn apply(
        &mut self,
        #[wasm_bindgen(unchecked_param_type = "ChangeFacts | RenewFacts")] event: JsValue,
    ) -> Result<(), JsError> {
        let event = read::object("event", event)?;
        self.board = if event.sources().is_undefined() {
            let removed = read::each("change.removed", event.removed(), read::instance)?;
            self.board.changed(&removed, read::each("change.rows", event.rows(), read::row)?)
        } else {
            let sources = read::each("renew.sources", event.sources(), read::renewed_source)?;
            self.board.renewed(&sources, &read::each("renew.rows", event.rows(), read::renewed_row)?)
        };
        Ok(())
    }

    /// The verdict with every name behind it.
    ///
    /// # Errors
    /// Where `now` or the horizon is none, as in every method below.
    #[wasm_bindgen(unchecked_return_type = "Verdict")]
    pub fn verdict(
        &self,
        now: f64,
        #[wasm_bindgen(unchecked_optional_param_type = "number | null")] stale_after: JsValue,
    ) -> Result<JsValue, JsError> {
        let (horizon, now) = self.asked(now, &stale_after)?;
        Ok(write::judgement(&self.board.judge(horizon, now), &self.board.verdict(horizon, now)))
    }

    /// The verdict alone, at the same small cost for any number of rows.
    ///
    /// # Errors
    /// As above.
    #[wasm_bindgen(unchecked_return_type = "Glance")]
    pub fn glance(
        &self,
        now: f64,
        #[wasm_bindgen(unchecked_optional_param_type = "number | null")] stale_after: JsValue,
    ) -> Result<JsValue, JsError> {
        let (horizon, now) = self.asked(now, &stale_after)?;
        Ok(write::glance(&self.board.verdict(horizon, now)))
    }

    /// When the verdict changes by time alone.
    ///
    /// # Errors
    /// As above.
    #[wasm_bindgen(unchecked_return_type = "Flip[]")]
    pub fn flips(
        &self,
        now: f64,
        #[wasm_bindgen(unchecked_optional_param_type = "number | null")] stale_after: JsValue,
    ) -> Result<Vec<JsValue>, JsError> {
        let (horizon, now) = self.asked(now, &stale_after)?;
        Ok(write::flips(&self.board.flips(horizon, now)))
    }

    /// What each row amounts to, as a number whose word `standingWords` gives.
    ///
    /// # Errors
    /// As above.
    pub fn standings(
        &self,
        now: f64,
        #[wasm_bindgen(unchecked_optional_param_type = "number | null")] stale_after: JsValue,
    ) -> Result<Vec<u8>, JsError> {
        let (horizon, now) = self.asked(now, &stale_after)?;
        Ok(self.board.rows().map(|row| number(row.standing(horizon, now))).collect())
    }

    /// 1 where nobody vouches for the row, else 0.
    ///
    /// # Errors
    /// As above.
    pub fn unconfirmed(&self, now: f64) -> Result<Vec<u8>, JsError> {
        let now = read::moment_of(now)?;
        Ok(self.board.rows().map(|row| u8::from(!row.is_confirmed(now))).collect())
    }

    /// Since when each row stands as it does, in Unix seconds.
    ///
    /// # Errors
    /// As above.
    pub fn since(&self, now: f64) -> Result<Vec<f64>, JsError> {
        let now = read::moment_of(now)?;
        Ok(moments(self.board.rows().map(|row| Some(row.since(now)))))
    }

    /// When each live degraded row stops blocking; NaN for every other, and where nothing ages out.
    ///
    /// # Errors
    /// As above.
    pub fn ages_out(
        &self,
        now: f64,
        #[wasm_bindgen(unchecked_optional_param_type = "number | null")] stale_after: JsValue,
    ) -> Result<Vec<f64>, JsError> {
        let (horizon, now) = self.asked(now, &stale_after)?;
        Ok(moments(self.board.rows().map(|row: RowView<'_>| row.ages_out(horizon, now))))
    }

    /// The first moment after `now` at which time alone changes what the arrays here or the flips say;
    /// infinity where nothing does. Whoever keeps them until then need not ask again.
    ///
    /// # Errors
    /// As above.
    pub fn next_turn(
        &self,
        now: f64,
        #[wasm_bindgen(unchecked_optional_param_type = "number | null")] stale_after: JsValue,
    ) -> Result<f64, JsError> {
        let (horizon, now) = self.asked(now, &stale_after)?;
        Ok(self.board.next_turn(horizon, now).map_or(f64::INFINITY, |at| as_number(at.as_secs())))
    }

    /// The places of the rows, worst first.
    ///
    /// # Errors
    /// As above.
    pub fn order(
        &self,
        now: f64,
        #[wasm_bindgen(unchecked_optional_param_type = "number | null")] stale_after: JsValue,
    ) -> Result<Vec<u32>, JsError> {
        let (horizon, now) = self.asked(now, &stale_after)?;
        let places = self.board.worst_first(horizon, now).into_iter();
        Ok(places.map(|place| u32::try_from(place).unwrap_or(u32::MAX)).collect())
    }

    fn asked(&self, now: f64, stale_after: &JsValue) -> Result<(Horizon, UnixSeconds), JsError> {
        Ok((read::horizon_or(stale_after, self.own_horizon)?, read::moment_of(now)?))
    }
}

/// The place of a standing in the list that `standingWords` gives.
fn number(standing: Standing) -> u8 {
    (0_u8..).zip(Standing::ALL).find(|(_, other)| *other == standing).map_or(u8::MAX, |(number, _)| number)
}

fn moments(moments: impl Iterator<Item = Option<UnixSeconds>>) -> Vec<f64> {
    moments.map(|at| at.map_or(f64::NAN, |at| as_number(at.as_secs()))).collect()
}
