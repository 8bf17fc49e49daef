//! The committer: the one thread that writes the journal, and lets out what its facts allow.
//!
//! It takes steps in order, appends all that came while the last sync ran, syncs once, and
//! releases what waited, in order. It never waits to fill a group. A step without facts is
//! released at once when nothing before it waits. After a failure nothing is released any more.

use std::collections::VecDeque;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use dispatch::edge::{Barrier, Batch, Journal, JournalError, Seq};

/// Records of one group, and of one sync (architecture, The journal). The step that reaches it is
/// still part of the group.
pub const GROUP_RECORDS_MAX: usize = 256;
/// Facts from one snapshot to the next.
pub const SNAPSHOT_EVERY: u64 = 20_000;
/// Steps that may wait for the committer; then the core waits, and with it the sockets.
pub const QUEUE_MAX: usize = 1024;
/// How long a step may wait for its place in the queue. A disk that takes longer is broken.
pub const SUBMIT_WAIT: Duration = Duration::from_secs(30);

/// Where the committer lets things out. Called by its thread only.
pub trait Sink<T>: Send {
    /// All facts before this item, and its own, are durable.
    fn release(&mut self, item: T);

    /// Nothing more is released for now: what was may leave, all of it at once.
    fn settle(&mut self);

    /// The journal failed; nothing is released from here on. Called at most once.
    fn failed(&mut self, error: JournalError);
}

/// How a committer works.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// Steps that may wait.
    pub queue: usize,
    /// Facts from one snapshot to the next.
    pub snapshot_every: u64,
    /// How long a step may wait for its place in the queue.
    pub submit_wait: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            queue: QUEUE_MAX,
            snapshot_every: SNAPSHOT_EVERY,
            submit_wait: SUBMIT_WAIT,
        }
    }
}

/// Why a step was not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SubmitError {
    /// The journal failed, or was closed.
    #[error("the committer has ended")]
    Ended,
    /// The disk does not come back.
    #[error("the journal took no step for {0:?}")]
    Stuck(Duration),
}

/// The way to the committer's thread.
#[derive(Debug)]
pub struct Committer<T> {
    shared: Arc<Shared<T>>,
    thread: Option<JoinHandle<()>>,
    options: Options,
    submitted: Seq,
    facts_since_snapshot: u64,
}

impl<T: Send + 'static> Committer<T> {
    /// Starts the thread over a journal that is loaded up to record `last`, of which
    /// `last - covered` are not covered by its snapshot.
    ///
    /// # Errors
    /// Where the system starts no thread.
    pub fn start(
        journal: impl Journal + 'static,
        (covered, last): (Seq, Seq),
        sink: impl Sink<T> + 'static,
        options: Options,
    ) -> io::Result<Self> {
        let shared = Arc::new(Shared::new(last));
        let mut worker = Worker {
            journal,
            sink,
            // A group is no longer than the queue.
            barrier: Barrier::new(last, options.queue),
            last,
            shared: Arc::clone(&shared),
        };
        let thread = thread::Builder::new()
            .name("committer".to_owned())
            .spawn(move || {
                let _ended = EndOnDrop(Arc::clone(&worker.shared));
                worker.run();
            })?;
        let facts_since_snapshot = last.saturating_sub(covered);
        let thread = Some(thread);
        Ok(Self {
            shared,
            thread,
            options,
            submitted: last,
            facts_since_snapshot,
        })
    }

    /// Hands a step over; `item` is released when its facts and all before it are durable.
    ///
    /// # Errors
    /// [`SubmitError`]: the process must end as for a failed journal.
    pub fn submit(&mut self, batch: Batch, item: T) -> Result<(), SubmitError> {
        let facts = batch.facts.len() as u64;
        self.shared.put(Job::Step(batch, item), &self.options)?;
        self.submitted += facts;
        self.facts_since_snapshot += facts;
        Ok(())
    }

    /// Whether it is time for a snapshot of the state as it is after the step submitted last.
    #[must_use]
    pub fn snapshot_is_due(&self) -> bool {
        self.facts_since_snapshot >= self.options.snapshot_every
    }

    /// Hands a snapshot over: the state after all steps submitted so far.
    ///
    /// # Errors
    /// As for [`Committer::submit`].
    pub fn snapshot(&mut self, state: Vec<u8>) -> Result<(), SubmitError> {
        self.shared.put(Job::Snapshot(state), &self.options)?;
        self.facts_since_snapshot = 0;
        Ok(())
    }

    /// The last record submitted.
    #[must_use]
    pub fn submitted(&self) -> Seq {
        self.submitted
    }

    /// The last record known durable.
    #[must_use]
    pub fn durable(&self) -> Seq {
        self.shared.durable.load(Ordering::Acquire)
    }

    /// Finishes all that was submitted, closes the journal and ends the thread.
    ///
    /// # Errors
    /// [`SubmitError::Stuck`] when that takes longer than `wait`; the thread is left behind.
    pub fn close(mut self, wait: Duration) -> Result<(), SubmitError> {
        self.shared.ask_to_end();
        self.shared.wait_for_end(wait)?;
        if let Some(thread) = self.thread.take() {
            // What a panic of it had to say was said.
            let _ = thread.join();
        }
        Ok(())
    }
}

impl<T> Drop for Committer<T> {
    /// Without [`Committer::close`] the thread finishes what was submitted, and ends.
    fn drop(&mut self) {
        self.shared.ask_to_end();
    }
}

#[derive(Debug)]
enum Job<T> {
    Step(Batch, T),
    Snapshot(Vec<u8>),
}

#[derive(Debug)]
struct Shared<T> {
    queue: Mutex<Queue<T>>,
    /// A job came, or the end was asked for.
    came: Condvar,
    /// Jobs were taken, or the thread ended.
    taken: Condvar,
    durable: AtomicU64,
}

#[derive(Debug)]
struct Queue<T> {
    jobs: VecDeque<Job<T>>,
    /// The committer waits for a job. A thread that works needs no wake, which is a system call.
    idle: bool,
    closing: bool,
    ended: bool,
}

impl<T> Shared<T> {
    fn new(last: Seq) -> Self {
        Self {
            queue: Mutex::new(Queue {
                jobs: VecDeque::new(),
                idle: false,
                closing: false,
                ended: false,
            }),
            came: Condvar::new(),
            taken: Condvar::new(),
            durable: AtomicU64::new(last),
        }
    }

    fn put(&self, job: Job<T>, options: &Options) -> Result<(), SubmitError> {
        let wait = options.submit_wait;
        let is_full = |queue: &Queue<T>| queue.jobs.len() >= options.queue && !queue.ended;
        let mut queue = self.wait_while(self.lock(), wait, is_full)?;
        if queue.ended {
            return Err(SubmitError::Ended);
        }
        queue.jobs.push_back(job);
        let wake = std::mem::take(&mut queue.idle);
        drop(queue);
        if wake {
            self.came.notify_one();
        }
        Ok(())
    }

    /// All that waits, up to a group; none once the end was asked for and nothing waits.
    fn take(&self) -> Vec<Job<T>> {
        let mut queue = self.lock();
        while queue.jobs.is_empty() && !queue.closing {
            queue.idle = true;
            queue = self
                .came
                .wait(queue)
                .unwrap_or_else(PoisonError::into_inner);
        }
        let mut group = Vec::new();
        let mut records = 0;
        while records < GROUP_RECORDS_MAX
            && let Some(job) = queue.jobs.pop_front()
        {
            if let Job::Step(batch, _) = &job {
                records += batch.facts.len();
            }
            group.push(job);
        }
        drop(queue);
        self.taken.notify_all();
        group
    }

    fn ask_to_end(&self) {
        self.lock().closing = true;
        self.came.notify_one();
    }

    fn wait_for_end(&self, wait: Duration) -> Result<(), SubmitError> {
        self.wait_while(self.lock(), wait, |queue| !queue.ended)
            .map(drop)
    }

    fn end(&self) {
        let mut queue = self.lock();
        queue.ended = true;
        queue.jobs.clear();
        drop(queue);
        self.taken.notify_all();
    }

    fn wait_while<'a>(
        &self,
        queue: MutexGuard<'a, Queue<T>>,
        wait: Duration,
        blocked: impl Fn(&Queue<T>) -> bool,
    ) -> Result<MutexGuard<'a, Queue<T>>, SubmitError> {
        let (queue, over) = self
            .taken
            .wait_timeout_while(queue, wait, |queue| blocked(queue))
            .unwrap_or_else(PoisonError::into_inner);
        if over.timed_out() {
            Err(SubmitError::Stuck(wait))
        } else {
            Ok(queue)
        }
    }

    fn lock(&self) -> MutexGuard<'_, Queue<T>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct Worker<J, S, T> {
    journal: J,
    sink: S,
    barrier: Barrier<T>,
    /// The last record appended.
    last: Seq,
    shared: Arc<Shared<T>>,
}

impl<J: Journal, S: Sink<T>, T> Worker<J, S, T> {
    fn run(&mut self) {
        loop {
            let group = self.shared.take();
            let is_over = group.is_empty();
            let result = if is_over {
                self.journal.close()
            } else {
                self.commit(group)
            };
            if let Err(error) = result {
                return self.sink.failed(error);
            }
            if is_over {
                return;
            }
        }
    }

    fn commit(&mut self, group: Vec<Job<T>>) -> Result<(), JournalError> {
        for job in group {
            match job {
                Job::Step(batch, item) => {
                    if !batch.facts.is_empty() {
                        crash_point!(appending(&batch.facts));
                        self.last = self.journal.append(&batch)?;
                        self.barrier.appended(self.last);
                        crash_point!(appended());
                    }
                    self.barrier.hold(item).map_err(|full| {
                        JournalError::Store(format!("more than {} steps wait", full.capacity))
                    })?;
                }
                Job::Snapshot(state) => {
                    self.sync()?;
                    self.journal.snapshot(self.last, &state)?;
                }
            }
        }
        // Steps without facts, which nothing before them holds back.
        self.release();
        self.sync()
    }

    fn sync(&mut self) -> Result<(), JournalError> {
        if !self.barrier.is_pending() {
            return Ok(());
        }
        self.journal.sync()?;
        crash_point!(synced());
        self.barrier.durable(self.last);
        self.shared.durable.store(self.last, Ordering::Release);
        self.release();
        Ok(())
    }

    fn release(&mut self) {
        let mut any = false;
        while let Some(item) = self.barrier.release() {
            self.sink.release(item);
            any = true;
        }
        if any {
            self.sink.settle();
        }
    }
}

/// Ends the queue with the thread, however that ends.
struct EndOnDrop<T>(Arc<Shared<T>>);

impl<T> Drop for EndOnDrop<T> {
    fn drop(&mut self) {
        self.0.end();
    }
}

#[cfg(test)]
mod tests;
