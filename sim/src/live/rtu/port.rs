//! Where a master reaches a line.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;

/// A stream of bytes to and from the master.
pub(super) trait Port {
    /// The master's next bytes; may be dropped at any time without losing one.
    async fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize>;

    /// Hands bytes to the master; says how many it had room for. A line waits for nobody.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize>;
}

/// A converter between TCP and the line. It has one master at a time: the newest.
#[derive(Debug)]
pub(super) struct Converter {
    listener: TcpListener,
    master: Option<TcpStream>,
}

impl Converter {
    pub(super) fn new(listener: TcpListener) -> Self {
        Self {
            listener,
            master: None,
        }
    }
}

impl Port for Converter {
    async fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let readable = async {
                match &self.master {
                    Some(master) => master.readable().await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                accepted = self.listener.accept() => {
                    let (master, _) = accepted?;
                    master.set_nodelay(true)?;
                    self.master = Some(master);
                    continue;
                }
                // What is wrong with a connection shows when it is read.
                _ = readable => {}
            }
            let Some(master) = &self.master else {
                continue;
            };
            match master.try_read(buffer) {
                Ok(0) => self.master = None,
                Ok(count) => return Ok(count),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => {
                    tracing::debug!(%error, "a connection to a serial line ended");
                    self.master = None;
                }
            }
        }
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let Some(master) = &self.master else {
            return Ok(0);
        };
        match master.try_write(bytes) {
            Ok(count) => Ok(count),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(0),
            Err(error) => {
                tracing::debug!(%error, "a connection to a serial line ended");
                self.master = None;
                Ok(0)
            }
        }
    }
}

/// Streams that come one after the other; the newest is the master's.
#[derive(Debug)]
pub(super) struct Streams<S> {
    coming: mpsc::Receiver<S>,
    master: Option<S>,
}

impl<S> Streams<S> {
    pub(super) fn new(coming: mpsc::Receiver<S>) -> Self {
        Self {
            coming,
            master: None,
        }
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> Port for Streams<S> {
    async fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let read = async {
                match &mut self.master {
                    Some(master) => master.read(buffer).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                biased;
                Some(stream) = self.coming.recv() => self.master = Some(stream),
                read = read => match read {
                    Ok(0) => self.master = None,
                    Ok(count) => return Ok(count),
                    Err(error) => {
                        tracing::debug!(%error, "a stream to a serial line ended");
                        self.master = None;
                    }
                },
                // No stream, and none will come.
                else => std::future::pending().await,
            }
        }
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let Some(master) = &mut self.master else {
            return Ok(0);
        };
        let mut context = Context::from_waker(Waker::noop());
        match Pin::new(master).poll_write(&mut context, bytes) {
            Poll::Ready(Ok(count)) => Ok(count),
            Poll::Pending => Ok(0),
            Poll::Ready(Err(error)) => {
                tracing::debug!(%error, "a stream to a serial line ended");
                self.master = None;
                Ok(0)
            }
        }
    }
}
