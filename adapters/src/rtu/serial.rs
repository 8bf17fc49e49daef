//! Serial ports: opened by name, locked, set up, and switched to RS485 where that is asked for.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use rustix::fs::FlockOperation;
use rustix::termios::{ControlModes, OptionalActions};
use serial2::rs4xx::{Rs485Config, TransceiverMode};
use serial2::{KeepSettings, SerialPort, Settings};
use tokio::io::unix::AsyncFd;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::timing::RtuTiming;

/// Major numbers of the pseudo terminals that programs open (Linux, `admin-guide/devices.rst`).
const PTY_MAJORS: std::ops::RangeInclusive<u32> = 136..=143;

/// The parity bit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Parity {
    /// There is none.
    None,
    /// The default of Modbus over Serial Line V1.02, section 2.5.1.
    Even,
    /// The other one.
    Odd,
}

/// How the kernel switches the direction of an RS485 transceiver by the RTS line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Rs485 {
    /// Between the switch to sending and the first character, in milliseconds.
    pub before_send_ms: u64,
    /// Between the last character and the switch back, in milliseconds.
    pub after_send_ms: u64,
    /// RTS is low while it sends.
    pub inverted: bool,
}

/// A serial port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SerialConfig {
    /// Its name, best one below `/dev/serial/by-id/`, which stays.
    pub path: PathBuf,
    /// Bits in a second.
    pub baud: u32,
    /// The parity bit.
    pub parity: Parity,
    /// Two stop bits; one where false.
    pub two_stop_bits: bool,
    /// The kernel switches the direction; where `None`, the adapter does by itself.
    pub rs485: Option<Rs485>,
}

impl SerialConfig {
    /// A port with even parity, one stop bit, and an adapter that switches direction by itself.
    #[must_use]
    pub fn new(path: impl Into<PathBuf>, baud: u32) -> Self {
        Self {
            path: path.into(),
            baud,
            parity: Parity::Even,
            two_stop_bits: false,
            rs485: None,
        }
    }
}

/// An open port, which nobody else can open while it is.
pub struct SerialStream {
    port: AsyncFd<SerialPort>,
    timing: RtuTiming,
}

/// Opens a port, locks it and sets it up. What came over it before is thrown away. A port whose
/// driver stands still is opened in the background, so that the wait for it can be given up.
///
/// A pseudo terminal has no parity and no stop bits, and its rate takes no time.
///
/// # Errors
/// A sentence: the port does not exist, is no serial port, is in use, or does not take a setting.
pub async fn open(config: &SerialConfig) -> io::Result<SerialStream> {
    let wanted = config.clone();
    let opened = tokio::task::spawn_blocking(move || set_up(&wanted)).await;
    let port = watch(opened.map_err(io::Error::other)??)?;
    let timing = RtuTiming::serial(config.baud);
    Ok(SerialStream { port, timing })
}

impl SerialStream {
    /// The times of the line.
    #[must_use]
    pub fn timing(&self) -> RtuTiming {
        self.timing
    }
}

impl fmt::Debug for SerialStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.port.get_ref().fmt(f)
    }
}

impl AsyncRead for SerialStream {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        loop {
            let mut guard = ready!(self.port.poll_read_ready(context))?;
            let unfilled = buffer.initialize_unfilled();
            let read = guard.try_io(|port| Ok(rustix::io::read(port.get_ref(), unfilled)?));
            if let Ok(read) = read {
                return Poll::Ready(read.map(|count| buffer.advance(count)));
            }
        }
    }
}

impl AsyncWrite for SerialStream {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        loop {
            let mut guard = ready!(self.port.poll_write_ready(context))?;
            let written = guard.try_io(|port| Ok(rustix::io::write(port.get_ref(), bytes)?));
            if let Ok(written) = written {
                return Poll::Ready(written);
            }
        }
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        // The kernel sends what it took; to wait for that would block the thread.
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

// Its successor is unsafe, which this workspace forbids. What it asks for holds: a port has one
// descriptor, which is its own, open until it is dropped.
#[allow(deprecated)]
fn watch(port: SerialPort) -> io::Result<AsyncFd<SerialPort>> {
    AsyncFd::new(port)
}

fn set_up(config: &SerialConfig) -> io::Result<SerialPort> {
    let path = &config.path;
    let opened = SerialPort::open(path, KeepSettings);
    let mut port = opened.map_err(|error| said(path, "cannot be opened", &error))?;
    lock(&port, path)?;
    let device = rustix::fs::fstat(&port)?.st_rdev;
    let is_pty = PTY_MAJORS.contains(&rustix::fs::major(device));
    if !is_pty {
        // Against programs that do not ask for the lock; root may open it all the same.
        let exclusive = rustix::termios::ioctl_tiocexcl(&port);
        exclusive.map_err(|error| said(path, "cannot be kept to itself", &error.into()))?;
    }
    settle(&mut port, config, is_pty)?;
    if let Some(rs485) = &config.rs485 {
        switch(&port, path, *rs485)?;
    }
    port.discard_buffers()
        .map_err(|error| said(path, "cannot be emptied", &error))?;
    Ok(port)
}

fn lock(port: &SerialPort, path: &Path) -> io::Result<()> {
    let locked = rustix::fs::flock(port, FlockOperation::NonBlockingLockExclusive);
    locked.map_err(|error| match error {
        rustix::io::Errno::WOULDBLOCK => {
            let detail = format!("{} is in use by another program", path.display());
            io::Error::new(io::ErrorKind::ResourceBusy, detail)
        }
        _ => said(path, "cannot be locked", &error.into()),
    })
}

/// Rate, parity and stop bits. A driver may take a setting in silence and leave it out; the port is
/// read back.
fn settle(port: &mut SerialPort, config: &SerialConfig, is_pty: bool) -> io::Result<()> {
    let path = &config.path;
    let wrong = |what: &str, error: &io::Error| {
        said(
            path,
            &format!("does not take {what}: is it a serial port?"),
            error,
        )
    };
    let receives = receive(port);
    receives.map_err(|error| wrong("settings", &error.into()))?;
    let present = port.get_configuration();
    let mut settings = present.map_err(|error| wrong("settings", &error))?;
    settings.set_raw();
    let baud = format!("baud = {}", config.baud);
    let rate = settings.set_baud_rate(config.baud);
    rate.map_err(|error| wrong(&baud, &error))?;
    if !is_pty {
        shape(&mut settings, config);
    }
    port.set_configuration(&settings).map_err(|error| {
        let stop_bits = if config.two_stop_bits { 2 } else { 1 };
        let (baud, parity) = (config.baud, config.parity);
        wrong(
            &format!("baud = {baud}, parity {parity:?} and {stop_bits} stop bits"),
            &error,
        )
    })
}

/// Receives, and does not care whether a modem has a carrier: without it a port hangs up.
fn receive(port: &SerialPort) -> rustix::io::Result<()> {
    let mut modes = rustix::termios::tcgetattr(port)?;
    modes.control_modes |= ControlModes::CLOCAL | ControlModes::CREAD;
    rustix::termios::tcsetattr(port, OptionalActions::Now, &modes)
}

fn shape(settings: &mut Settings, config: &SerialConfig) {
    settings.set_parity(match config.parity {
        Parity::None => serial2::Parity::None,
        Parity::Even => serial2::Parity::Even,
        Parity::Odd => serial2::Parity::Odd,
    });
    settings.set_stop_bits(if config.two_stop_bits {
        serial2::StopBits::Two
    } else {
        serial2::StopBits::One
    });
}

/// The kernel switches the direction from here on. A driver that cannot says so, or does nothing.
fn switch(port: &SerialPort, path: &Path, rs485: Rs485) -> io::Result<()> {
    let mut wanted = Rs485Config::new();
    wanted.set_delay_before_send(Duration::from_millis(rs485.before_send_ms));
    wanted.set_delay_after_send(Duration::from_millis(rs485.after_send_ms));
    wanted.set_invert_rts(rs485.inverted);
    let advice = "cannot switch to RS485 by itself: leave rs485 out where the adapter does that";
    port.set_rs4xx_mode(wanted)
        .map_err(|error| said(path, advice, &error))?;
    match port.get_rs4xx_mode() {
        Ok(TransceiverMode::Rs485(_)) => Ok(()),
        Ok(TransceiverMode::Default | TransceiverMode::Rs422) => {
            let error = io::Error::other("its driver took the setting and left it out");
            Err(said(path, advice, &error))
        }
        Err(error) => Err(said(path, advice, &error)),
    }
}

fn said(path: &Path, what: &str, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{} {what}: {error}", path.display()))
}
