//! A lean MQTT 3.1.1 connection: the client library's packets over a blocking socket.
//!
//! One connection carries many robots, and all that one read brought is answered with one write,
//! so that the generator costs little beside what it measures.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use bytes::{Bytes, BytesMut};
use rumqttc::mqttbytes::v4::{Connect, Packet, PubAck, Publish, Subscribe, SubscribeReasonCode};
use rumqttc::{QoS, SubscribeFilter};

/// For CONNACK and SUBACK.
const ANSWER: Duration = Duration::from_secs(10);
/// Bytes of a packet, as for all peers (`wire.md` section 1).
const PACKET_BYTES_MAX: usize = 1024 * 1024;
/// Bytes that one read takes at most.
const READ_BYTES: usize = 128 * 1024;
/// Longer than any silence of a measurement; the embedded broker does not take 0, which is none.
const KEEP_ALIVE_S: u16 = 600;
/// Filters of one SUBSCRIBE.
const FILTERS: usize = 64;

/// A connection with QoS 1 both ways. It sends no pings: whoever has it speaks all the time.
pub(super) struct Line {
    stream: TcpStream,
    chunk: Box<[u8]>,
    heard: BytesMut,
    said: BytesMut,
    packet_id: u16,
    wait: Duration,
}

impl Line {
    /// Connects with a clean session and subscribes.
    ///
    /// # Errors
    /// Where the broker does not take it.
    pub(super) fn connect(at: SocketAddr, name: &str, filters: &[String]) -> anyhow::Result<Self> {
        let stream = TcpStream::connect(at).with_context(|| format!("broker {at}"))?;
        stream.set_nodelay(true)?;
        let mut line = Self {
            stream,
            chunk: vec![0; READ_BYTES].into_boxed_slice(),
            heard: BytesMut::with_capacity(READ_BYTES),
            said: BytesMut::with_capacity(READ_BYTES),
            packet_id: 0,
            wait: Duration::ZERO,
        };
        let mut connect = Connect::new(name);
        connect.keep_alive = KEEP_ALIVE_S;
        connect.write(&mut line.said)?;
        let Packet::ConnAck(answer) = line.answer()? else {
            bail!("{name}: the broker answers no CONNECT");
        };
        ensure!(
            answer.code == rumqttc::ConnectReturnCode::Success,
            "{name}: the broker refuses: {:?}",
            answer.code
        );
        for filters in filters.chunks(FILTERS) {
            let filter = |path: &String| SubscribeFilter::new(path.clone(), QoS::AtLeastOnce);
            let mut subscribe = Subscribe::new_many(filters.iter().map(filter));
            subscribe.pkid = line.next_id();
            subscribe.write(&mut line.said)?;
            let Packet::SubAck(answer) = line.answer()? else {
                bail!("{name}: the broker answers no SUBSCRIBE");
            };
            let granted = SubscribeReasonCode::Success(QoS::AtLeastOnce);
            ensure!(
                answer.return_codes.iter().all(|code| *code == granted),
                "{name}: the broker refuses a subscription"
            );
        }
        Ok(line)
    }

    /// Says something with QoS 1, at the next [`Line::flush`].
    pub(super) fn publish(
        &mut self,
        topic: &str,
        payload: &[u8],
        retain: bool,
    ) -> anyhow::Result<()> {
        let mut publish =
            Publish::from_bytes(topic, QoS::AtLeastOnce, Bytes::copy_from_slice(payload));
        publish.pkid = self.next_id();
        publish.retain = retain;
        publish.write(&mut self.said)?;
        Ok(())
    }

    /// Acknowledges what was heard, at the next [`Line::flush`].
    pub(super) fn acknowledge(&mut self, publish: &Publish) -> anyhow::Result<()> {
        PubAck::new(publish.pkid).write(&mut self.said)?;
        Ok(())
    }

    /// Sends what was said.
    pub(super) fn flush(&mut self) -> anyhow::Result<()> {
        self.stream
            .write_all(&self.said)
            .context("the broker takes no more")?;
        self.said.clear();
        Ok(())
    }

    /// Reads what is there, or waits for it so long. Says whether there was anything.
    pub(super) fn listen(&mut self, wait: Duration) -> anyhow::Result<bool> {
        if wait != self.wait {
            self.stream.set_read_timeout(Some(wait))?;
            self.wait = wait;
        }
        match self.stream.read(&mut self.chunk) {
            Ok(0) => bail!("the broker ended the connection"),
            Ok(read) => {
                self.heard.extend_from_slice(&self.chunk[..read]);
                Ok(true)
            }
            Err(error)
                if matches!(
                    error.kind(),
                    std::io::ErrorKind::WouldBlock
                        | std::io::ErrorKind::TimedOut
                        | std::io::ErrorKind::Interrupted
                ) =>
            {
                Ok(false)
            }
            Err(error) => Err(error).context("the broker cannot be heard"),
        }
    }

    /// Reads what is there without waiting, and passes all of it over: for a connection that only
    /// speaks.
    pub(super) fn pass_over(&mut self) -> anyhow::Result<()> {
        self.stream.set_nonblocking(true)?;
        let read = self.stream.read(&mut self.chunk);
        self.stream.set_nonblocking(false)?;
        match read {
            Ok(0) => bail!("the broker ended the connection"),
            Err(error) if error.kind() != std::io::ErrorKind::WouldBlock => {
                Err(error).context("the broker cannot be heard")
            }
            Ok(_) | Err(_) => Ok(()),
        }
    }

    /// The next message that was read whole. Acknowledgements of what was said are passed over.
    pub(super) fn next(&mut self) -> anyhow::Result<Option<Publish>> {
        loop {
            match self.packet()? {
                None => return Ok(None),
                Some(Packet::Publish(publish)) => return Ok(Some(publish)),
                Some(_) => {}
            }
        }
    }

    fn packet(&mut self) -> anyhow::Result<Option<Packet>> {
        match Packet::read(&mut self.heard, PACKET_BYTES_MAX) {
            Ok(packet) => Ok(Some(packet)),
            Err(rumqttc::mqttbytes::Error::InsufficientBytes(_)) => Ok(None),
            Err(error) => Err(error).context("the broker does not speak MQTT 3.1.1"),
        }
    }

    /// Sends what was said and waits for a packet that is no message.
    fn answer(&mut self) -> anyhow::Result<Packet> {
        self.flush()?;
        let deadline = Instant::now() + ANSWER;
        loop {
            while let Some(packet) = self.packet()? {
                let Packet::Publish(retained) = packet else {
                    return Ok(packet);
                };
                self.acknowledge(&retained)?;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            ensure!(!left.is_zero(), "the broker does not answer");
            self.listen(left)?;
        }
    }

    fn next_id(&mut self) -> u16 {
        self.packet_id = self.packet_id.checked_add(1).unwrap_or(1);
        self.packet_id
    }
}
