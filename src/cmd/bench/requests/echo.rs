//! The broker alone: the same requests, answered by a client that only fills in the ids.
//!
//! It takes the gateway's place with as many connections (one for what is heard, one for what is
//! said) and answers with a reply of the very bytes that the gateway sent in this run.

use std::net::SocketAddr;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use anyhow::{Context, anyhow, ensure};
use protocol::{GatewayId, Topics};
use serde::Deserialize;

use crate::cmd::bench::line::Line;
use crate::cmd::bench::template::find;

/// How soon it sees that it shall end.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// The client that answers.
pub(super) struct Echo {
    over: Arc<AtomicBool>,
    hears: JoinHandle<anyhow::Result<()>>,
}

/// What is read of a request, and of a reply that is a sample.
#[derive(Debug, Deserialize)]
struct Ids<'a> {
    order_id: &'a str,
}

impl Echo {
    /// Connects and answers until [`Echo::end`].
    ///
    /// # Errors
    /// Where the broker does not take it, or the sample is no reply.
    pub(super) fn start(
        broker: SocketAddr,
        topics: &Topics,
        sample: &[u8],
    ) -> anyhow::Result<Self> {
        let filters = topics.ingest_filters(&GatewayId::new("gw-1")?);
        let ears = Line::connect(broker, "echo-in", &filters)?;
        let mouth = Line::connect(broker, "echo-out", &[])?;
        let ids: Ids<'_> = serde_json::from_slice(sample).context("no sample of a reply")?;
        // The message that is answered has the id of its order.
        let places = find(sample, ids.order_id);
        ensure!(places.len() == 2, "a sample without its ids");
        let reply = sample.to_vec();
        let over = Arc::new(AtomicBool::new(false));
        let until = Arc::clone(&over);
        let hears = thread::Builder::new()
            .name("echo".to_owned())
            .spawn(move || answer(ears, mouth, reply, &places, &until))?;
        Ok(Self { over, hears })
    }

    /// Ends it.
    ///
    /// # Errors
    /// Where it had ended by itself.
    pub(super) fn end(self) -> anyhow::Result<()> {
        self.over.store(true, Ordering::Release);
        self.hears
            .join()
            .map_err(|_| anyhow!("the echo panicked"))?
    }
}

fn answer(
    mut ears: Line,
    mut mouth: Line,
    mut reply: Vec<u8>,
    places: &[Range<usize>],
    over: &AtomicBool,
) -> anyhow::Result<()> {
    while !over.load(Ordering::Acquire) {
        if !ears.listen(LOOK_EVERY)? {
            continue;
        }
        while let Some(asked) = ears.next()? {
            ears.acknowledge(&asked)?;
            let Some(base) = asked.topic.strip_suffix("/request") else {
                continue;
            };
            let ids: Ids<'_> = serde_json::from_slice(&asked.payload)?;
            for place in places {
                let order = ids.order_id.as_bytes();
                ensure!(place.len() == order.len(), "an id of another length");
                reply[place.clone()].copy_from_slice(order);
            }
            mouth.publish(&format!("{base}/reply"), &reply, false)?;
        }
        mouth.flush()?;
        ears.flush()?;
        mouth.pass_over()?;
    }
    Ok(())
}
