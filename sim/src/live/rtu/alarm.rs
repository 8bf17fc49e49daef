//! A clock that wakes to the tenth of a millisecond, or the runtime's own, which counts in
//! milliseconds, two characters at 19,200 baud.

use std::io;
use std::os::fd::OwnedFd;
use std::time::Duration;

use rustix::fs::Timespec;
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, timerfd_create, timerfd_settime,
};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::time::sleep;

/// The shortest wait: a timer that is set to nothing is off.
const WAIT_MIN: Duration = Duration::from_nanos(1);

/// One timer.
#[derive(Debug)]
pub(super) enum Alarm {
    /// Of the system.
    System(AsyncFd<OwnedFd>),
    /// Of the runtime, whose clock may be virtual.
    Runtime,
}

impl Alarm {
    pub(super) fn of_runtime() -> Self {
        Self::Runtime
    }

    pub(super) fn of_system() -> io::Result<Self> {
        let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
        let timer = timerfd_create(TimerfdClockId::Monotonic, flags)?;
        // What its successor is unsafe for, a descriptor that is closed meanwhile, an owned one is not.
        #[allow(deprecated)]
        let timer = AsyncFd::with_interest(timer, Interest::READABLE)?;
        Ok(Self::System(timer))
    }

    /// Comes back after `wait`; never for `None`.
    pub(super) async fn after(&self, wait: Option<Duration>) -> io::Result<()> {
        let Some(wait) = wait else {
            return std::future::pending().await;
        };
        match self {
            Self::System(timer) => ring(timer, wait.max(WAIT_MIN)).await,
            Self::Runtime => {
                sleep(wait).await;
                Ok(())
            }
        }
    }
}

/// Waits for a timer of the system.
async fn ring(timer: &AsyncFd<OwnedFd>, wait: Duration) -> io::Result<()> {
    let seconds = i64::try_from(wait.as_secs()).map_err(io::Error::other)?;
    let once = Itimerspec {
        it_interval: Timespec::default(),
        it_value: Timespec {
            tv_sec: seconds,
            tv_nsec: wait.subsec_nanos().into(),
        },
    };
    timerfd_settime(timer.get_ref(), TimerfdTimerFlags::empty(), &once)?;
    loop {
        let mut ready = timer.readable().await?;
        let read = |timer: &AsyncFd<OwnedFd>| {
            let mut rung = [0; 8];
            Ok(rustix::io::read(timer.get_ref(), &mut rung)?)
        };
        // A ring of an earlier wait was taken back when this one was set.
        if let Ok(rung) = ready.try_io(read) {
            return rung.map(drop);
        }
    }
}
