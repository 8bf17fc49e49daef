//! One client that hears every ride state in the order in which it was published, and notes it in
//! the simulator's record.

use std::sync::Arc;

use protocol::Topics;
use protocol::peer::{Heard as Told, Said};
use tokio::sync::oneshot;

use super::building::Building;
use super::radio::{Endpoint, Heard, Radio};
use super::speaker::run_id;
use crate::record::Entry;

/// Notes what the gateway tells robots until the future is dropped; says once when it begins to
/// hear. Kept words of an earlier run are left out.
pub async fn watch(
    building: Arc<Building>,
    topics: Topics,
    endpoint: Endpoint,
    hears: oneshot::Sender<()>,
) {
    let filters = topics.start_filters();
    watch_only(building, topics, endpoint, filters, hears).await;
}

/// [`watch`] for the topics of `filters` alone, where others than this building's robots speak too.
pub async fn watch_only(
    building: Arc<Building>,
    topics: Topics,
    endpoint: Endpoint,
    filters: Vec<String>,
    hears: oneshot::Sender<()>,
) {
    let mut hears = Some(hears);
    let name = format!("watch-{}", run_id());
    let mut radio = Radio::on(&endpoint, &name, None, filters);
    loop {
        match radio.hear().await {
            Heard::Up => {
                if let Some(hears) = hears.take() {
                    // Whoever waited may have given up.
                    let _ = hears.send(());
                }
            }
            Heard::Message { retained: true, .. } => {}
            Heard::Down(why) => tracing::warn!(why, "ride states may be missing from the record"),
            Heard::Message {
                topic,
                payload,
                retained: false,
            } => {
                let said = Told::read(&topics, &topic, &payload).map(|told| told.said);
                if let Ok(Said::RideState {
                    robot,
                    view: Some(view),
                }) = said
                {
                    building.note(Entry::Told {
                        robot,
                        order: view.order_id,
                        state: view.state,
                        instruction: view.instruction,
                        elevator: view.elevator_id,
                        fence: view.fence,
                    });
                }
            }
        }
    }
}
