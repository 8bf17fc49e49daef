//! Connections: bounded in number and in time, and closed when the gateway ends.

use std::io;
use std::net::{SocketAddr, TcpListener as StdListener};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::timeout;

/// Connections at a time, each with one request at a time; more wait to be accepted.
const CONNECTIONS_MAX: usize = 256;
/// For the head of a request to come, and so for a connection to be idle.
const HEAD: Duration = Duration::from_secs(20);
/// A connection is closed after its request when it is so old.
const AGE: Duration = Duration::from_secs(600);
/// For the last request of a connection that is to close.
const LAST_REQUEST: Duration = Duration::from_secs(15);
/// Bytes of the head of a request.
const HEAD_BYTES_MAX: usize = 16 * 1024;
/// After a failed accept.
const ACCEPT_AGAIN: Duration = Duration::from_millis(200);

/// Why nothing is answered.
#[derive(Debug, thiserror::Error)]
#[error("http.listen = \"{address}\": {error}")]
pub struct HttpError {
    /// Where.
    address: SocketAddr,
    /// What went wrong.
    error: io::Error,
}

/// HTTP as it runs.
pub struct Running {
    over: watch::Sender<bool>,
    task: JoinHandle<()>,
}

impl Running {
    /// Takes no new connection, and no new request on those that are open.
    pub fn leave(&self) {
        self.over.send_replace(true);
    }

    /// Waits until all that was asked is answered, at most for `wait`.
    pub async fn stop(mut self, wait: Duration) {
        self.leave();
        if timeout(wait, &mut self.task).await.is_err() {
            tracing::warn!("not all HTTP requests were answered in time");
            self.task.abort();
        }
    }
}

pub(super) fn start(address: SocketAddr, routes: Router) -> Result<Running, HttpError> {
    let error = |error| HttpError { address, error };
    let listener = StdListener::bind(address).map_err(error)?;
    listener.set_nonblocking(true).map_err(error)?;
    let listener = TcpListener::from_std(listener).map_err(error)?;
    tracing::info!(%address, "HTTP is listened for");
    let (over, is_over) = watch::channel(false);
    let task = tokio::spawn(accept(listener, routes, is_over));
    Ok(Running { over, task })
}

async fn accept(listener: TcpListener, routes: Router, mut over: watch::Receiver<bool>) {
    let places = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    let mut open = JoinSet::new();
    let mut ended = over.clone();
    loop {
        let next = async {
            // Nobody closes the semaphore.
            let place = Arc::clone(&places).acquire_owned().await.ok()?;
            Some((listener.accept().await, place))
        };
        let next = tokio::select! {
            next = next => next,
            _ = ended.wait_for(|over| *over) => break,
        };
        match next {
            Some((Ok((stream, _)), place)) => {
                let (routes, over) = (routes.clone(), over.clone());
                open.spawn(async move {
                    serve(stream, routes, over).await;
                    drop(place);
                });
            }
            Some((Err(error), _)) => {
                tracing::warn!(%error, "no HTTP connection could be accepted");
                tokio::time::sleep(ACCEPT_AGAIN).await;
            }
            None => break,
        }
        while open.try_join_next().is_some() {}
    }
    drop(listener);
    let _ = over.wait_for(|over| *over).await;
    while open.join_next().await.is_some() {}
}

async fn serve(stream: TcpStream, routes: Router, mut over: watch::Receiver<bool>) {
    // An answer is written at once, and small.
    let _ = stream.set_nodelay(true);
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD)
        .max_buf_size(HEAD_BYTES_MAX)
        .serve_connection(TokioIo::new(stream), TowerToHyperService::new(routes));
    let mut connection = pin!(connection);
    let result = tokio::select! {
        result = connection.as_mut() => Ok(result),
        () = end(&mut over) => {
            connection.as_mut().graceful_shutdown();
            timeout(LAST_REQUEST, connection).await
        }
    };
    match result {
        Ok(Ok(())) => {}
        Ok(Err(error)) => tracing::debug!(%error, "an HTTP connection ended"),
        Err(_) => tracing::debug!("an HTTP connection did not end in time"),
    }
}

/// The gateway ends, or the connection is old.
async fn end(over: &mut watch::Receiver<bool>) {
    let _ = timeout(AGE, over.wait_for(|over| *over)).await;
}
