//! `/status`: the snapshot as a plain text table, for people with curl and for the page without JavaScript.

use axum::extract::State;
use axum::http::{Uri, header};
use axum::response::{IntoResponse, Response};
use greenlight_core::{Horizon, RowView, Span, UnixSeconds};

use super::problem::Problem;
use super::readyz::in_words;
use super::text::Inert;
use super::{Api, query, streamed};

pub(crate) async fn status(State(api): State<Api>, uri: Uri) -> Result<Response, Problem> {
    let what_if = query::horizon(&query::pairs(&uri)?)?;
    let permit = api.heavy.admit().await?;
    let shared = api.shared();
    let published = shared.published.load_full();
    let now = shared.clock.now();
    let horizon = what_if.unwrap_or(published.horizon);
    let head = head(&api, what_if, now);
    let mut place = 0;
    let body = streamed::body(permit, move |piece| {
        if place == 0 {
            piece.extend_from_slice(head.as_bytes());
        }
        let Some(row) = published.snapshot.at(place) else { return false };
        place += 1;
        // Writing to memory cannot fail.
        let _ = write_row(piece, row, horizon, now);
        true
    });
    Ok(([(header::CONTENT_TYPE, "text/plain; charset=utf-8")], body).into_response())
}

fn head(api: &Api, what_if: Option<Horizon>, now: UnixSeconds) -> String {
    let shared = api.shared();
    let published = shared.published.load();
    let verdict = published.verdict(now);
    let word = match () {
        () if shared.is_shutting_down() => "NOT READY: shutting down".into(),
        () if verdict.is_ready() => "READY".into(),
        () => format!("NOT READY: {verdict}"),
    };
    let mut head =
        format!("{word}\nhorizon {}, {} rows, now {now} (Unix seconds)\n", published.horizon, published.snapshot.len());
    if let Some(horizon) = what_if {
        let verdict = published.snapshot.verdict(horizon, now);
        let word = if verdict.is_ready() { "READY" } else { "NOT READY" };
        head.push_str(&format!("what if {horizon}: {word}: {verdict}\n"));
    }
    if !published.store.durable {
        let trouble = published.store.trouble.as_deref().unwrap_or("unknown");
        head.push_str(&format!("store: not durable: {}\n", Inert(trouble, 200)));
    }
    if let Some(trouble) = shared.prober().trouble {
        head.push_str(&format!("prober: {} members cannot be asked: {}\n", trouble.members, Inert(&trouble.code, 200)));
    }
    head.push_str(&format!(
        "\n{:<24} {:<15} {:<16} {:<10} {:<10} {:<10} {}\n",
        "INSTANCE", "STANDING", "PHASE", "SERVING", "GREEN", "UNCHANGED", "NOTE"
    ));
    head
}

fn write_row(piece: &mut Vec<u8>, row: RowView<'_>, horizon: Horizon, now: UnixSeconds) -> std::io::Result<()> {
    use std::io::Write;
    let state = &row.held.row;
    let sha = |sha: &Option<Box<str>>| sha.as_deref().map_or("-".into(), |sha| Inert(sha, 8).to_string());
    write!(
        piece,
        "{:<24} {:<15} {:<16} {:<10} {:<10} {:<10}",
        row.name().as_str(),
        in_words(row.standing(horizon, now)),
        Inert(&state.phase, 15).to_string(),
        sha(&state.serving_sha),
        sha(&state.last_green),
        Span(row.idle_secs(now)).to_string(),
    )?;
    let notes = [
        row.ages_out(horizon, now).map(|at| format!("stops blocking in {}", Span(now.age(at)))),
        (!row.is_confirmed(now))
            .then(|| format!("unconfirmed: {} silent for {}", row.held.source, Span(row.silent_secs(now)))),
        state.last_red_reason.as_ref().map(|reason| format!("last red: {}", Inert(reason, 80))),
    ];
    writeln!(piece, " {}", notes.into_iter().flatten().collect::<Vec<_>>().join("; "))
}
