//! All that runs, and how it ends.

use std::time::Duration;

use protocol::Outgoing;
use protocol::code::AlarmCode;
use protocol::ops::{Alarm, Severity};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::broker::EmbeddedBroker;
use crate::clock::Clock;
use crate::ending::End;
use crate::engine;
use crate::exit;
use crate::http;
use crate::inbox::{Arrival, Heard, Inbox};
use crate::instance::Stamps;
use crate::mqtt::look::duplicate_alarm;
use crate::mqtt::{Egress, egress, ingest};

/// For the engine to finish what it has, doors held included (docs/operating.md: 15 s in all).
const ENGINE_END: Duration = Duration::from_millis(11_500);
/// For each connection to say its last words.
const CONNECTION_END: Duration = Duration::from_secs(2);
/// For answers over HTTP to leave, once the engine has given them.
const HTTP_END: Duration = Duration::from_secs(1);
/// For all connections together.
const CLOSE_END: Duration = Duration::from_millis(3_400);
/// For all bus tasks to finish.
const BUSES_END: Duration = Duration::from_secs(2);

/// All that runs.
pub(super) struct Running {
    pub(super) engine: engine::Running,
    pub(super) ingest: ingest::Running,
    pub(super) egress: egress::Running,
    pub(super) speaker: Egress,
    pub(super) inbox: Inbox,
    pub(super) operators: JoinHandle<()>,
    pub(super) http: Option<http::Running>,
    pub(super) disk: JoinHandle<()>,
    pub(super) buses: Vec<JoinHandle<()>>,
    pub(super) valid_ms: u64,
    pub(super) stamps: Stamps,
    pub(super) clock: Clock,
    pub(super) broker: Option<EmbeddedBroker>,
}

impl Running {
    /// Ends everything in an order in which nothing that was promised is lost.
    pub(super) async fn end(self, end: End, ends: &mut mpsc::Receiver<End>) -> u8 {
        tracing::info!(?end, "ending");
        self.operators.abort();
        self.disk.abort();
        if let Some(http) = &self.http {
            http.leave();
        }
        let mut code = end.exit_code();
        match &end {
            End::Asked | End::Broken(_) => {
                self.finish_engine().await;
                self.speaker.say_offline();
            }
            End::JournalFailed => {
                self.speaker.say(Outgoing::Alarm(self.journal_alarm()));
                self.speaker.say_offline();
                // Doors are held for 2 x valid_s where a robot may be inside, else it ends at once.
                let wait = Duration::from_millis(2 * self.valid_ms) + BUSES_END;
                if !self.engine.ended(wait).await {
                    tracing::error!("the engine did not end in time");
                }
            }
            End::DuplicateGateway(other) => {
                self.speaker
                    .say(Outgoing::Alarm(duplicate_alarm(&self.stamps, other)));
            }
        }
        while let Ok(later) = ends.try_recv() {
            // What failed while it ended counts too.
            if later == End::JournalFailed {
                code = exit::JOURNAL_FAILED;
            }
        }
        let close = self.close(!matches!(end, End::DuplicateGateway(_)));
        if timeout(CLOSE_END, close).await.is_err() {
            tracing::warn!("not all connections closed in time");
        }
        tracing::info!(code, "ended");
        code
    }

    fn journal_alarm(&self) -> Alarm {
        Alarm {
            alarm_id: format!("{}-journal", self.stamps.instance()),
            severity: Severity::Critical,
            code: AlarmCode::JournalFailed,
            elevator_id: None,
            order_id: None,
            raised_at: self.clock.wall(),
            cleared_at: None,
            detail: "the journal cannot be written: the gateway ends".to_owned(),
        }
    }

    /// The engine finishes what it has.
    async fn finish_engine(&self) {
        let stop = self.inbox.send(Arrival {
            heard: Heard::Stop,
            ack: None,
        });
        let over = async { stop.await.is_err() || self.engine.ended(ENGINE_END).await };
        if !timeout(ENGINE_END, over).await.unwrap_or(false) {
            tracing::error!("the engine did not end in time");
        }
    }

    /// Closes all connections. `finish`: the buses end what they have begun.
    async fn close(self, finish: bool) {
        let finished = async {
            for bus in self.buses {
                let _ = bus.await;
            }
        };
        let buses = async {
            if finish && timeout(BUSES_END, finished).await.is_err() {
                tracing::warn!("the buses did not finish in time");
            }
        };
        let http = async {
            if let Some(http) = self.http {
                http.stop(HTTP_END).await;
            }
        };
        tokio::join!(self.ingest.stop(CONNECTION_END), buses, http);
        self.egress.stop(CONNECTION_END).await;
        if let Some(broker) = self.broker {
            broker.stop().await;
        }
    }
}
