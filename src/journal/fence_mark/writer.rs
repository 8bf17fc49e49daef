//! The thread that writes the file, so that nobody else waits for the disk.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use protocol::{ElevatorId, Fence};

use super::FenceMarkError;
use super::file::{self, Content};

/// How long somebody waits for the disk.
const WAIT: Duration = Duration::from_secs(10);

/// The way to the thread. It ends with this, when what was asked for is written.
#[derive(Debug)]
pub(super) struct Writer {
    desk: Arc<Desk>,
}

#[derive(Debug, Default)]
struct Desk {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// To be written; a newer one takes its place.
    asked: Option<Content>,
    is_writing: bool,
    /// Durable.
    written: BTreeMap<ElevatorId, Fence>,
    error: Option<FenceMarkError>,
    is_over: bool,
}

impl Writer {
    pub(super) fn start(data_dir: &Path) -> Result<Self, FenceMarkError> {
        let desk = Arc::new(Desk::default());
        if let Some(content) = file::read(data_dir)? {
            desk.lock().written = content.marks;
        }
        let (theirs, data_dir) = (Arc::clone(&desk), data_dir.to_owned());
        thread::Builder::new()
            .name("fence-marks".to_owned())
            .spawn(move || theirs.serve(&data_dir))
            .map_err(|error| FenceMarkError::Store(error.to_string()))?;
        Ok(Self { desk })
    }

    /// Asks for a content to be written.
    pub(super) fn write(&mut self, content: &Content) {
        self.desk.lock().asked = Some(content.clone());
        self.desk.changed.notify_all();
    }

    /// Waits until all that was asked for is durable.
    pub(super) fn wait(&self) -> Result<(), FenceMarkError> {
        let is_busy = |state: &mut State| {
            state.error.is_none() && (state.asked.is_some() || state.is_writing)
        };
        let (state, over) = self
            .desk
            .changed
            .wait_timeout_while(self.desk.lock(), WAIT, is_busy)
            .unwrap_or_else(PoisonError::into_inner);
        match &state.error {
            Some(error) => Err(error.clone()),
            None if over.timed_out() => Err(FenceMarkError::Store(format!(
                "they were not written within {WAIT:?}"
            ))),
            None => Ok(()),
        }
    }

    /// Whether the last write went well.
    pub(super) fn check(&self) -> Result<(), FenceMarkError> {
        self.desk.lock().error.clone().map_or(Ok(()), Err)
    }

    /// The durable mark of an elevator.
    pub(super) fn written(&self, elevator: &ElevatorId) -> Option<Fence> {
        self.desk.lock().written.get(elevator).copied()
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.desk.lock().is_over = true;
        self.desk.changed.notify_all();
    }
}

impl Desk {
    fn serve(&self, data_dir: &Path) {
        while let Some(content) = self.next() {
            let result = file::write(data_dir, &content);
            let mut state = self.lock();
            state.is_writing = false;
            match result {
                Ok(()) => state.written = content.marks,
                Err(error) => state.error = Some(error),
            }
            drop(state);
            self.changed.notify_all();
        }
    }

    fn next(&self) -> Option<Content> {
        let is_idle = |state: &mut State| state.asked.is_none() && !state.is_over;
        let waited = self.changed.wait_while(self.lock(), is_idle);
        let mut state = waited.unwrap_or_else(PoisonError::into_inner);
        let content = state.asked.take()?;
        state.is_writing = true;
        Some(content)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
