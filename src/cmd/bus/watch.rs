//! `hallcall bus watch`: every frame, in hex and in words.

use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use adapters::bus::{Transport, Visit};
use adapters::rtu::{Request, Seen};
use serde_json::{Value, json};
use tokio::time::{Instant, interval, sleep_until};

use super::frames::{Frames, Packing, Shown};
use super::place::{Place, PlaceArgs};
use super::points::{Image, words};
use super::read::{PointArgs, ask};
use super::tell::{Stop, joined, ms, of_unit};

/// After so long without a byte, what came is no frame that still goes on: longer than adapters
/// collect bytes, and than the longest frame takes at 19,200 baud.
const SILENCE: Duration = Duration::from_millis(150);
/// How often that is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// What to watch.
#[derive(Debug, Clone, clap::Args)]
pub struct WatchArgs {
    /// The line
    #[command(flatten)]
    pub place: PlaceArgs,
    /// Say nothing, and show what others say
    #[arg(long, conflicts_with_all = ["unit", "tcp"])]
    pub listen: bool,
    /// The unit whose points are asked for
    #[arg(long, value_name = "N", required_unless_present = "listen",
          value_parser = clap::value_parser!(u8).range(1..=247))]
    pub unit: Option<u8>,
    /// Which points
    #[command(flatten)]
    pub points: PointArgs,
    /// How often they are asked for, in milliseconds, 50 to 60000
    #[arg(long, value_name = "MS", default_value_t = 500, value_parser = clap::value_parser!(u64).range(50..=60_000))]
    pub every_ms: u64,
    /// For how long, in seconds; else until a signal
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=604_800))]
    pub seconds: Option<u64>,
}

/// Shows what passes, as it passes.
struct Screen {
    frames: Frames,
    start: Instant,
    /// When a byte came last.
    heard: Instant,
    is_json: bool,
    /// What the values said last.
    words: Vec<(String, String)>,
    /// Standard output failed.
    failed: Option<io::Error>,
}

/// Watches.
pub(super) async fn watch(args: &WatchArgs) -> anyhow::Result<ExitCode> {
    let place = match Place::find(&args.place) {
        Ok(place) => place,
        Err(stop) => return stop.tell(args.place.json),
    };
    let screen = Arc::new(Mutex::new(Screen::of(&place, args.place.json)));
    let end = args
        .seconds
        .map(|s| Instant::now() + Duration::from_secs(s));
    let over = async {
        match end {
            Some(end) => {
                sleep_until(end).await;
                Ok(())
            }
            None => std::future::pending().await,
        }
    };
    let ended = tokio::select! {
        stop = show(args, &place, &screen) => Err(stop),
        over = over => Ok(over),
        stopped = stop_signal() => Ok(stopped),
    };
    let mut screen = lock(&screen);
    screen.rest();
    if let Some(error) = screen.failed.take() {
        // Whoever read it has gone: `watch | head`.
        if error.kind() == io::ErrorKind::BrokenPipe {
            return Ok(ExitCode::SUCCESS);
        }
        return Err(error.into());
    }
    match ended {
        Err(stop) => stop.tell(args.place.json),
        Ok(ended) => {
            ended?;
            Ok(ExitCode::SUCCESS)
        }
    }
}

/// Asks or listens, until it cannot go on.
async fn show(args: &WatchArgs, place: &Place, screen: &Arc<Mutex<Screen>>) -> Stop {
    let told = Arc::clone(screen);
    let requests = match args.unit {
        Some(unit) => match args.points.requests(place, unit) {
            Ok(requests) => requests,
            Err(stop) => return stop,
        },
        None => Vec::new(),
    };
    let opened = place.open(Box::new(move |at, seen| lock(&told).see(at, seen)));
    let line = match opened.await {
        Ok(line) => line,
        Err(stop) => return stop,
    };
    match args.unit {
        Some(unit) => poll(args, place, screen, line, unit, &requests).await,
        None => {
            let mut look = interval(LOOK_EVERY);
            let looks = async {
                loop {
                    look.tick().await;
                    if let Some(stop) = lock(screen).look() {
                        return stop;
                    }
                }
            };
            tokio::select! {
                error = line.listen() => Stop::Failed(error.to_string()),
                stop = looks => stop,
            }
        }
    }
}

async fn poll(
    args: &WatchArgs,
    place: &Place,
    screen: &Mutex<Screen>,
    mut line: Visit,
    unit: u8,
    requests: &[Request],
) -> Stop {
    let mut every = interval(Duration::from_millis(args.every_ms));
    every.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        every.tick().await;
        let mut image = Image::new();
        for request in requests {
            let asked = ask(&mut line, unit, request).await;
            let mut screen = lock(screen);
            screen.rest();
            match asked {
                Ok(read) => image.extend(read),
                Err(why) => screen.complain(&of_unit(unit, &why)),
            }
            if let Some(stop) = screen.look() {
                return stop;
            }
        }
        lock(screen).say_words(words(place, unit, &image));
    }
}

impl Screen {
    fn of(place: &Place, is_json: bool) -> Self {
        let packing = match place.transport {
            Transport::Tcp { .. } => Packing::Head,
            Transport::RtuOverTcp { .. } | Transport::Serial(_) => Packing::Checksum,
        };
        Self {
            frames: Frames::new(packing),
            start: Instant::now(),
            heard: Instant::now(),
            is_json,
            words: Vec::new(),
            failed: None,
        }
    }

    fn see(&mut self, at: Instant, seen: Seen<'_>) {
        match seen {
            Seen::Sent(bytes) => {
                self.rest();
                let shown = self.frames.sent(bytes);
                self.show(at, true, &shown);
            }
            Seen::Heard(bytes) => {
                self.heard = at;
                for shown in self.frames.heard(bytes) {
                    self.show(at, false, &shown);
                }
            }
        }
    }

    /// What came and was no frame.
    fn rest(&mut self) {
        for shown in self.frames.rest() {
            self.show(self.heard, false, &shown);
        }
    }

    /// Whether it cannot go on; what came before a silence is shown.
    fn look(&mut self) -> Option<Stop> {
        if self.frames.is_amid() && self.heard.elapsed() >= SILENCE {
            self.rest();
        }
        let failed = self.failed.as_ref()?;
        Some(Stop::Failed(format!("standard output: {failed}")))
    }

    fn show(&mut self, at: Instant, is_sent: bool, shown: &Shown) {
        let at_ms = ms(at.saturating_duration_since(self.start));
        let Shown { hex, says, wrong } = shown;
        let told = json!({
            "ms": at_ms,
            "sent": is_sent,
            "hex": hex,
            "says": says,
            "wrong": wrong,
        });
        let way = if is_sent { '>' } else { '<' };
        let wrong = wrong
            .as_ref()
            .map_or_else(String::new, |wrong| format!("  !! {wrong}"));
        self.write(&told, &format!("{at_ms:10.1} {way} {hex}  {says}{wrong}"));
    }

    fn complain(&mut self, why: &str) {
        let at_ms = ms(self.start.elapsed());
        let told = json!({ "ms": at_ms, "wrong": why });
        self.write(&told, &format!("{at_ms:10.1} !! {why}"));
    }

    /// What the values say, where that has changed.
    fn say_words(&mut self, words: Vec<(String, String)>) {
        if words.is_empty() || words == self.words {
            return;
        }
        let at_ms = ms(self.start.elapsed());
        let told: serde_json::Map<_, _> = words
            .iter()
            .map(|(key, word)| (key.clone(), json!(word)))
            .collect();
        let text = joined(
            words.iter().map(|(key, word)| format!("{key} = {word}")),
            "; ",
        );
        self.words = words;
        self.write(
            &json!({ "ms": at_ms, "words": told }),
            &format!("{at_ms:10.1} = {text}"),
        );
    }

    fn write(&mut self, told: &Value, text: &str) {
        let mut out = io::stdout().lock();
        let written = if self.is_json {
            writeln!(out, "{told}")
        } else {
            writeln!(out, "{text}")
        };
        if let Err(error) = written.and_then(|()| out.flush()) {
            self.failed.get_or_insert(error);
        }
    }
}

fn lock(screen: &Mutex<Screen>) -> MutexGuard<'_, Screen> {
    // A panic has ended the process.
    screen.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn stop_signal() -> io::Result<()> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut terminate = signal(SignalKind::terminate())?;
    tokio::select! {
        interrupted = tokio::signal::ctrl_c() => interrupted,
        _ = terminate.recv() => Ok(()),
    }
}
