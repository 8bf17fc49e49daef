//! Where a master reaches a line.

use std::io;

use tokio::net::{TcpListener, TcpStream};

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
