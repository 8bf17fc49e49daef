//! The master: one request at a time, each answered by its own reply or by none.

use std::collections::BTreeMap;
use std::io;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::time::{Instant, timeout_at};

use super::echo::{Echo, EchoMemory};
use super::error::RtuError;
use super::figures::LineFigures;
use super::hearing::{Event, Hearing, Strays};
use super::observer::{Observer, Seen};
use super::owed::Owed;
use super::patience::Patience;
use super::probe::{Known, probes};
use super::reply::{Answer, Reply, Shape};
use super::request::Request;
use super::timing::RtuTiming;
use crate::driver::{Gate, open_gate};

/// Bytes taken from the stream at once: more than the longest frame.
const READ_BYTES: usize = 512;

/// A line with its units, over a stream that may come and go.
///
/// A future of [`RtuMaster::request`] that is dropped half way leaves a line that is cleaned before
/// the next request, as after a time-out.
pub struct RtuMaster<S> {
    stream: Option<S>,
    timing: RtuTiming,
    echo: EchoMemory,
    /// The last byte passed then.
    active: Instant,
    /// The silence since then that the next request waits for.
    silence: Duration,
    /// The request under way.
    asked: Option<(Shape, Instant)>,
    owed: Owed,
    strays: Strays,
    units: BTreeMap<u8, UnitMemory>,
    figures: LineFigures,
    observer: Option<Observer>,
}

/// What is remembered of a unit.
#[derive(Debug, Default)]
struct UnitMemory {
    patience: Patience,
    known: Known,
}

impl<S: AsyncRead + AsyncWrite + Unpin> RtuMaster<S> {
    /// A line without a stream.
    #[must_use]
    pub fn new(timing: RtuTiming) -> Self {
        Self {
            stream: None,
            timing,
            echo: EchoMemory::new(),
            active: Instant::now(),
            silence: timing.gap,
            asked: None,
            owed: Owed::default(),
            strays: Strays::default(),
            units: BTreeMap::new(),
            figures: LineFigures::start(),
            observer: None,
        }
    }

    /// Goes on over this stream. What units owed they may still answer.
    pub fn attach(&mut self, stream: S) {
        self.stream = Some(stream);
        self.echo = EchoMemory::new();
        self.active = Instant::now();
        self.strays.clear();
    }

    /// Gives the stream back.
    pub fn detach(&mut self) -> Option<S> {
        self.stream.take()
    }

    /// Whether there is a stream.
    #[must_use]
    pub fn is_attached(&self) -> bool {
        self.stream.is_some()
    }

    /// Tells `observer` of all bytes from here on.
    pub fn observe(&mut self, observer: Observer) {
        self.observer = Some(observer);
    }

    /// The times of the line.
    #[must_use]
    pub fn timing(&self) -> RtuTiming {
        self.timing
    }

    /// Other times from here on, such as those of the port that was found.
    pub fn set_timing(&mut self, timing: RtuTiming) {
        self.timing = timing;
    }

    /// Whether a request echoes, as far as that has shown.
    #[must_use]
    pub fn echo(&self) -> Echo {
        self.echo.known()
    }

    /// When the next request may be sent, where the line stays silent.
    #[must_use]
    pub fn quiet_at(&self) -> Instant {
        self.active + self.silence
    }

    /// The figures so far.
    #[must_use]
    pub fn figures(&self) -> &LineFigures {
        &self.figures
    }

    /// The figures so far, which then begin anew.
    pub fn take_figures(&mut self) -> LineFigures {
        std::mem::replace(&mut self.figures, LineFigures::start())
    }

    /// Asks a unit, and waits for its answer.
    ///
    /// Where an earlier reply may still come that would look like the answer, or where the echo of
    /// the request would and it is not known whether the line echoes, the unit is asked for
    /// something else first: its answer to that settles both.
    ///
    /// # Errors
    /// See [`RtuError`]. Behind [`RtuError::Gone`] there is no stream.
    pub async fn request(&mut self, unit: u8, request: &Request) -> Result<Reply, RtuError> {
        self.request_through(&mut open_gate, unit, request).await
    }

    /// As [`RtuMaster::request`]; `gate` is asked when the line is silent, immediately before the
    /// bytes of the request.
    ///
    /// # Errors
    /// See [`RtuError`].
    pub async fn request_through(
        &mut self,
        gate: &mut Gate<'_>,
        unit: u8,
        request: &Request,
    ) -> Result<Reply, RtuError> {
        let frame = request.frame(unit).map_err(RtuError::BadRequest)?;
        self.give_up_asked();
        self.owed.expire(self.timing.owed);
        let shape = Shape::of(unit, request);
        let is_twin = shape.answer(&frame).is_some();
        let has_echo_to_learn = |echo: &EchoMemory| is_twin && echo.known() == Echo::Unknown;
        if self.owed.has_like(&shape) || has_echo_to_learn(&self.echo) {
            self.sound(unit, request).await?;
        }
        if has_echo_to_learn(&self.echo) {
            self.sound(unit, request).await?;
        }
        if has_echo_to_learn(&self.echo) {
            let detail = format!("unit {unit}: whether the line echoes has not shown yet");
            return Err(RtuError::NotSent(detail));
        }
        let answer = self.exchange(gate, unit, frame, shape).await?;
        match answer {
            Answer::Reply(reply) => {
                self.units
                    .entry(unit)
                    .or_default()
                    .known
                    .note(unit, request);
                Ok(reply)
            }
            Answer::Exception(exception) => Err(RtuError::Exception(exception)),
        }
    }

    /// Asks for something whose answer can be taken for nothing that the unit owes.
    async fn sound(&mut self, unit: u8, request: &Request) -> Result<(), RtuError> {
        let known = self.units.get(&unit).map(|memory| &memory.known);
        let probe = probes(known, request).find_map(|probe| {
            let shape = Shape::of(unit, &probe);
            let frame = probe.frame(unit).ok()?;
            let is_clear = !self.owed.has_like(&shape) && shape.answer(&frame).is_none();
            is_clear.then_some((frame, shape))
        });
        let Some((frame, shape)) = probe else {
            let detail = format!("unit {unit}: it may still answer earlier requests");
            return Err(RtuError::NotSent(detail));
        };
        match self.exchange(&mut open_gate, unit, frame, shape).await {
            Ok(answer) if answer.is_of_unit() => Ok(()),
            Ok(_) => {
                let detail = format!("unit {unit}: it did not answer a read before it");
                Err(RtuError::NotSent(detail))
            }
            Err(RtuError::NoAnswer { wait, miss }) => {
                let wait_ms = wait.as_millis();
                let detail = format!("unit {unit}: {miss} within {wait_ms} ms to a read before it");
                Err(RtuError::NotSent(detail))
            }
            Err(error) => Err(error),
        }
    }

    /// Sends a frame, and listens for its answer.
    async fn exchange(
        &mut self,
        gate: &mut Gate<'_>,
        unit: u8,
        frame: Vec<u8>,
        shape: Shape,
    ) -> Result<Answer, RtuError> {
        self.be_quiet().await?;
        let floor = self.timing.floor(frame.len(), shape.frame_len());
        let slowest = self
            .units
            .get(&unit)
            .and_then(|memory| memory.patience.slowest());
        let wait = self.timing.wait(floor, slowest);
        gate().map_err(RtuError::Dropped)?;
        // Noted first: where this future is dropped, the answer is owed all the same.
        let began = Instant::now();
        self.asked = Some((shape.clone(), began));
        self.silence = wait;
        self.send(&frame, began + wait).await?;
        let sent = Instant::now();
        self.figures.asked(unit);
        let mut hearing = Hearing::new(frame, shape, self.echo.known());
        let answer = self.listen(&mut hearing, sent + wait).await;
        let took = sent.elapsed();
        let answer = answer?;
        self.echo.learn(hearing.echo());
        let Some(answer) = answer else {
            self.give_up_asked();
            self.figures.lost(unit, took);
            let miss = hearing.miss();
            return Err(RtuError::NoAnswer { wait, miss });
        };
        self.silence = self.timing.gap;
        if answer.is_of_unit() {
            self.asked = None;
            self.owed.clear(unit);
        } else {
            self.give_up_asked();
        }
        let memory = self.units.entry(unit).or_default();
        memory.patience.note(took.saturating_sub(floor));
        self.figures.answered(unit, took);
        Ok(answer)
    }

    /// Waits until the line has been silent for long enough; what comes meanwhile answers nothing
    /// that will be asked.
    async fn be_quiet(&mut self) -> Result<(), RtuError> {
        let limit = Instant::now() + self.timing.quiet_max.max(self.silence * 2);
        let mut buffer = [0; READ_BYTES];
        loop {
            let silent = self.active + self.silence;
            if silent > limit {
                let waited_ms = self.timing.quiet_max.as_millis();
                let detail = format!("the line was not silent for {waited_ms} ms");
                return Err(RtuError::NotSent(detail));
            }
            let Some(stream) = &mut self.stream else {
                return Err(RtuError::NotSent("the line is not open".to_owned()));
            };
            // Reads at least once: what waits already is older than the request.
            match timeout_at(silent, stream.read(&mut buffer)).await {
                Err(_) => {
                    self.strays.clear();
                    return Ok(());
                }
                Ok(read) => {
                    let count = self
                        .heard(read, &buffer)
                        .map_err(RtuError::before_sending)?;
                    self.stray(&buffer[..count]);
                }
            }
        }
    }

    async fn send(&mut self, frame: &[u8], deadline: Instant) -> Result<(), RtuError> {
        let Some(stream) = &mut self.stream else {
            return Err(RtuError::NotSent("the line is not open".to_owned()));
        };
        let all = async {
            stream.write_all(frame).await?;
            stream.flush().await
        };
        let written = timeout_at(deadline, all).await;
        let written = written.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()));
        if let Err(error) = written {
            return Err(self.lose(&error));
        }
        self.active = Instant::now();
        if let Some(observer) = &mut self.observer {
            observer(self.active, Seen::Sent(frame));
        }
        Ok(())
    }

    /// The answer, or none until `deadline`.
    async fn listen(
        &mut self,
        hearing: &mut Hearing,
        deadline: Instant,
    ) -> Result<Option<Answer>, RtuError> {
        let mut buffer = [0; READ_BYTES];
        while Instant::now() < deadline {
            let Some(stream) = &mut self.stream else {
                return Err(RtuError::Gone("the line was closed".to_owned()));
            };
            let Ok(read) = timeout_at(deadline, stream.read(&mut buffer)).await else {
                return Ok(None);
            };
            let count = self.heard(read, &buffer)?;
            for (at, byte) in buffer[..count].iter().enumerate() {
                match hearing.feed(*byte, self.owed.shapes()) {
                    Some(Event::Answer(answer)) => {
                        self.stray(&buffer[at + 1..count]);
                        return Ok(Some(answer));
                    }
                    Some(Event::Late(at)) => self.settle(at),
                    None => {}
                }
            }
        }
        Ok(None)
    }

    /// What a read of the stream yielded: how many bytes, and never none.
    fn heard(&mut self, read: io::Result<usize>, buffer: &[u8]) -> Result<usize, RtuError> {
        let count = match read {
            Ok(0) => return Err(self.lose(&io::ErrorKind::UnexpectedEof.into())),
            Err(error) => return Err(self.lose(&error)),
            Ok(count) => count,
        };
        self.active = Instant::now();
        if let Some(observer) = &mut self.observer {
            observer(self.active, Seen::Heard(&buffer[..count]));
        }
        Ok(count)
    }

    /// Bytes that nobody listens for, but for what is owed.
    fn stray(&mut self, bytes: &[u8]) {
        for byte in bytes {
            if let Some(at) = self.strays.feed(*byte, self.owed.shapes()) {
                self.settle(at);
            }
        }
    }

    /// A late answer tells how slow its unit is, where that is no more than can be waited for.
    fn settle(&mut self, at: usize) {
        let Some((shape, asked)) = self.owed.settle(at) else {
            return;
        };
        let unit = shape.unit();
        let floor = self.timing.floor(0, shape.frame_len());
        let took = asked.elapsed().saturating_sub(floor);
        if floor + took <= self.timing.max {
            self.units.entry(unit).or_default().patience.note(took);
        }
        self.figures.late(unit);
        let took_ms = took.as_millis();
        tracing::debug!(unit, "answered {took_ms} ms after it was asked, too late");
    }

    fn give_up_asked(&mut self) {
        if let Some((shape, asked)) = self.asked.take() {
            self.owed.add(shape, asked);
        }
    }

    fn lose(&mut self, error: &io::Error) -> RtuError {
        self.stream = None;
        self.give_up_asked();
        RtuError::Gone(if error.kind() == io::ErrorKind::UnexpectedEof {
            "the line was closed by its other end".to_owned()
        } else {
            format!("the line failed: {error}")
        })
    }
}
