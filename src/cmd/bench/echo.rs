//! The broker alone: the same messages, answered by a client that only fills in the ids.
//!
//! It takes the gateway's place with as many connections (one for what is heard, one for what is
//! said) and answers each request and cancel with a reply and a retained state of the very bytes
//! that the gateway sent in this run.

use std::net::SocketAddr;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use anyhow::{Context, anyhow, ensure};
use protocol::{GatewayId, Topics};
use serde::Deserialize;

use super::crowd::{Sample, Samples};
use super::line::Line;
use super::tally::thread_cpu;
use super::template::find;

/// How soon it sees that it shall end.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// The client that answers.
pub(super) struct Echo {
    over: Arc<AtomicBool>,
    hears: JoinHandle<anyhow::Result<Duration>>,
}

/// What is read of a request or a cancel.
#[derive(Debug, Deserialize)]
struct Asked<'a> {
    message_id: &'a str,
    order_id: &'a str,
}

/// What is read of a reply that is a sample.
#[derive(Debug, Deserialize)]
struct Answered<'a> {
    in_reply_to: &'a str,
    order_id: &'a str,
}

/// A sample with the places of its ids.
struct Answer {
    reply: Vec<u8>,
    state: Vec<u8>,
    message_at: Vec<Range<usize>>,
    reply_order_at: Vec<Range<usize>>,
    state_order_at: Vec<Range<usize>>,
}

impl Echo {
    /// Connects and answers until [`Echo::end`].
    ///
    /// # Errors
    /// Where the broker does not take it, or a sample is none.
    pub(super) fn start(
        broker: SocketAddr,
        topics: &Topics,
        samples: &Samples,
    ) -> anyhow::Result<Self> {
        let filters = topics.ingest_filters(&GatewayId::new("gw-1")?);
        let ears = Line::connect(broker, "echo-in", &filters)?;
        let mouth = Line::connect(broker, "echo-out", &[])?;
        let answers = [
            Answer::new(&samples.request).context("no sample of a request's answer")?,
            Answer::new(&samples.cancel).context("no sample of a cancel's answer")?,
        ];
        let over = Arc::new(AtomicBool::new(false));
        let until = Arc::clone(&over);
        let hears = thread::Builder::new()
            .name("echo".to_owned())
            .spawn(move || answer(ears, mouth, answers, &until))?;
        Ok(Self { over, hears })
    }

    /// Ends it; tells its CPU time.
    ///
    /// # Errors
    /// Where it had ended by itself.
    pub(super) fn end(self) -> anyhow::Result<Duration> {
        self.over.store(true, Ordering::Release);
        self.hears
            .join()
            .map_err(|_| anyhow!("the echo panicked"))?
    }
}

fn answer(
    mut ears: Line,
    mut mouth: Line,
    [mut request, mut cancel]: [Answer; 2],
    over: &AtomicBool,
) -> anyhow::Result<Duration> {
    while !over.load(Ordering::Acquire) {
        if !ears.listen(LOOK_EVERY)? {
            continue;
        }
        while let Some(asked) = ears.next()? {
            ears.acknowledge(&asked)?;
            let (base, answer) = if let Some(base) = asked.topic.strip_suffix("/request") {
                (base, &mut request)
            } else if let Some(base) = asked.topic.strip_suffix("/cancel") {
                (base, &mut cancel)
            } else {
                continue;
            };
            let ids: Asked<'_> = serde_json::from_slice(&asked.payload)?;
            answer.fill(&ids)?;
            mouth.publish(&format!("{base}/state"), &answer.state, true)?;
            mouth.publish(&format!("{base}/reply"), &answer.reply, false)?;
        }
        mouth.flush()?;
        ears.flush()?;
        mouth.pass_over()?;
    }
    Ok(thread_cpu())
}

impl Answer {
    fn new(sample: &Sample) -> anyhow::Result<Self> {
        let ids: Answered<'_> = serde_json::from_slice(&sample.reply)?;
        let answer = Self {
            message_at: find(&sample.reply, ids.in_reply_to),
            reply_order_at: find(&sample.reply, ids.order_id),
            state_order_at: find(&sample.state, ids.order_id),
            reply: sample.reply.clone(),
            state: sample.state.clone(),
        };
        ensure!(
            !answer.state_order_at.is_empty(),
            "a state of another order"
        );
        Ok(answer)
    }

    fn fill(&mut self, ids: &Asked<'_>) -> anyhow::Result<()> {
        put(&self.message_at, &mut self.reply, ids.message_id)?;
        put(&self.reply_order_at, &mut self.reply, ids.order_id)?;
        put(&self.state_order_at, &mut self.state, ids.order_id)
    }
}

fn put(at: &[Range<usize>], bytes: &mut [u8], id: &str) -> anyhow::Result<()> {
    for at in at {
        ensure!(at.len() == id.len(), "{id} is not as long as the sample's");
        bytes[at.clone()].copy_from_slice(id.as_bytes());
    }
    Ok(())
}
