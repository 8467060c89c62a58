//! What the board is told of the members.

use std::sync::Arc;

use greenlight_core::rotation::MemberId;
use greenlight_core::{Extent, GoodFor, Name, Report, ReportedRow};

use super::state::Shared;
use crate::daemon::{Handle, PublishError};

/// Reports for the prober.
#[derive(Debug)]
pub(super) struct Reporter {
    pub(super) handle: Handle,
    pub(super) source: Name,
    pub(super) shared: Arc<Shared>,
}

impl Reporter {
    /// Reports every row that was renewed since the last time.
    pub(super) async fn report(&self) {
        let groups = self.shared.lock().rows_to_report();
        for (good_for_secs, rows) in groups {
            let good_for = GoodFor::Seconds(good_for_secs);
            let (ids, rows): (Vec<MemberId>, Vec<ReportedRow>) = rows.into_iter().unzip();
            match self.send(rows.clone(), good_for).await {
                Ok(()) => ids.iter().for_each(|id| self.shared.lock().note_refusal(*id, None)),
                Err(PublishError::Ended) => return,
                // One row that is not taken must not keep the others from the board.
                Err(PublishError::Refused(_) | PublishError::Source(_)) => {
                    for (id, row) in ids.into_iter().zip(rows) {
                        let refusal = match self.send(vec![row], good_for).await {
                            Ok(()) => None,
                            Err(PublishError::Ended) => return,
                            Err(error @ (PublishError::Refused(_) | PublishError::Source(_))) => {
                                Some(error.to_string().into())
                            }
                        };
                        self.shared.lock().note_refusal(id, refusal);
                    }
                }
            }
        }
    }

    /// Takes the row of somebody who is no member any more off the board.
    pub(super) async fn remove(&self, name: &Name) {
        if let Err(error) = self.handle.remove(self.source.clone(), name.as_str()).await {
            tracing::warn!(%name, %error, "the row of a member that is no longer probed stays on the board");
        }
    }

    async fn send(&self, rows: Vec<ReportedRow>, good_for: GoodFor) -> Result<(), PublishError> {
        let source = self.source.clone();
        let report = Report { source, extent: Extent::Partial, rows, good_for, sequence: None };
        self.handle.report(report).await.map(|_| ())
    }
}
