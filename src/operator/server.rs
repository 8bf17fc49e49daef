//! The answering side: in the gateway.

use std::collections::BTreeMap;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::{UnixListener as StdListener, UnixStream as StdStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use dispatch::{Input, OperatorAnswer, OperatorRequest};
use rustix::fs::Mode;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::{Semaphore, oneshot};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::{Ask, REQUEST_BYTES_MAX, Reply, SOCKET};
use crate::inbox::{Arrival, Heard, Inbox};

/// Connections at a time; more wait to be accepted.
const CONNECTIONS_MAX: usize = 8;
/// Connections that wait to be accepted.
const BACKLOG: i32 = 16;
/// For a request to come, and for an answer to be taken.
const PATIENCE: Duration = Duration::from_secs(5);
/// For the engine to answer: as long as a slow disk may take.
const ANSWER: Duration = Duration::from_secs(12);
/// After a failed accept.
const ACCEPT_AGAIN: Duration = Duration::from_millis(200);

/// Why there is no socket.
#[derive(Debug, thiserror::Error)]
pub enum OperatorsError {
    /// Somebody answers there.
    #[error("another process answers at {}", .0.display())]
    InUse(PathBuf),
    /// Something else is there.
    #[error("{} is no socket, and not replaced", .0.display())]
    NoSocket(PathBuf),
    /// It could not be made.
    #[error("{}: {error}", path.display())]
    Io {
        /// Where.
        path: PathBuf,
        /// What went wrong.
        error: io::Error,
    },
}

/// Operators that wait for an answer, by ticket.
#[derive(Clone, Default)]
pub struct Operators {
    waiting: Arc<Mutex<Waiting>>,
}

#[derive(Default)]
struct Waiting {
    last_ticket: u64,
    /// One for each connection of operators, at most [`CONNECTIONS_MAX`], and one for each request for
    /// figures over HTTP, which are bounded there. Who asks takes the entry along.
    answers: BTreeMap<u64, oneshot::Sender<Reply>>,
}

impl Operators {
    /// Opens the socket and answers at it, through `inbox` and [`Operators::answer`]. Needs a tokio
    /// runtime; ends when the task is aborted.
    ///
    /// # Errors
    /// Where the socket cannot be made.
    pub fn listen(&self, data_dir: &Path, inbox: Inbox) -> Result<JoinHandle<()>, OperatorsError> {
        let path = data_dir.join(SOCKET);
        remove_stale(&path)?;
        let io = |error| OperatorsError::Io {
            path: path.clone(),
            error,
        };
        let listener = bind(&path).map_err(io)?;
        listener.set_nonblocking(true).map_err(io)?;
        let listener = UnixListener::from_std(listener).map_err(io)?;
        Ok(tokio::spawn(self.clone().accept(listener, inbox)))
    }

    /// The engine's answer to a ticket. Nobody may wait for it any more.
    pub fn answer(&self, ticket: u64, answer: Result<OperatorAnswer, String>) {
        if let Some(waiting) = self.lock().answers.remove(&ticket) {
            let _ = waiting.send(answer.into());
        }
    }

    async fn accept(self, listener: UnixListener, inbox: Inbox) {
        let places = Arc::new(Semaphore::new(CONNECTIONS_MAX));
        loop {
            let Ok(place) = Arc::clone(&places).acquire_owned().await else {
                return;
            };
            match listener.accept().await {
                Ok((stream, _)) => {
                    let (operators, inbox) = (self.clone(), inbox.clone());
                    tokio::spawn(async move {
                        if let Err(error) = operators.serve(stream, &inbox).await {
                            tracing::debug!(%error, "an operator's connection failed");
                        }
                        drop(place);
                    });
                }
                Err(error) => {
                    tracing::warn!(%error, "no connection of an operator could be accepted");
                    tokio::time::sleep(ACCEPT_AGAIN).await;
                }
            }
        }
    }

    async fn serve(&self, stream: UnixStream, inbox: &Inbox) -> io::Result<()> {
        let (read, mut write) = stream.into_split();
        let mut line = String::new();
        let mut reader = BufReader::new(read.take(REQUEST_BYTES_MAX as u64));
        timeout(PATIENCE, reader.read_line(&mut line)).await??;
        let reply = match serde_json::from_str::<Ask>(&line) {
            Ok(ask) => match ask.defect() {
                None => self.ask(ask, inbox).await,
                Some(defect) => Reply::Refused(defect),
            },
            Err(error) => Reply::Refused(format!("the request cannot be read: {error}")),
        };
        let mut line = serde_json::to_vec(&reply)?;
        line.push(b'\n');
        timeout(PATIENCE, write.write_all(&line)).await??;
        Ok(())
    }

    /// Asks the engine, and waits for its answer for as long as a slow disk may take.
    pub async fn ask(&self, ask: Ask, inbox: &Inbox) -> Reply {
        let (sender, answer) = oneshot::channel();
        let ticket = {
            let mut waiting = self.lock();
            waiting.last_ticket += 1;
            let ticket = waiting.last_ticket;
            waiting.answers.insert(ticket, sender);
            ticket
        };
        let Ask {
            operator,
            reason,
            action,
        } = ask;
        let request = OperatorRequest {
            ticket,
            operator,
            reason,
            action,
        };
        let heard = Heard::Input(Input::Operator(request));
        let answered = timeout(ANSWER, async {
            inbox.send(Arrival { heard, ack: None }).await.ok()?;
            answer.await.ok()
        });
        let reply = answered.await.ok().flatten();
        self.lock().answers.remove(&ticket);
        reply.unwrap_or_else(|| {
            Reply::Refused(
                "the gateway did not answer in time; whether it was done is not known".to_owned(),
            )
        })
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        // A panic ends the process, so nobody ever sees a poisoned lock.
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Removes the socket of a gateway that is gone.
fn remove_stale(path: &Path) -> Result<(), OperatorsError> {
    let io = |error| OperatorsError::Io {
        path: path.to_owned(),
        error,
    };
    let kind = match std::fs::symlink_metadata(path) {
        Ok(metadata) => metadata.file_type(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(io(error)),
    };
    if !kind.is_socket() {
        return Err(OperatorsError::NoSocket(path.to_owned()));
    }
    if StdStream::connect(path).is_ok() {
        return Err(OperatorsError::InUse(path.to_owned()));
    }
    std::fs::remove_file(path).map_err(io)
}

/// A listening socket with mode 0600 from its first moment.
fn bind(path: &Path) -> io::Result<StdListener> {
    let flags = SocketFlags::CLOEXEC;
    let socket: OwnedFd =
        rustix::net::socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
    // The file that `bind` makes takes its mode from the socket.
    rustix::fs::fchmod(&socket, Mode::RUSR | Mode::WUSR)?;
    rustix::net::bind(&socket, &SocketAddrUnix::new(path)?)?;
    rustix::net::listen(&socket, BACKLOG)?;
    Ok(StdListener::from(socket))
}
