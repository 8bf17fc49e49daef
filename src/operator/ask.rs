//! The asking side: a command of an operator.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::{ANSWER_BYTES_MAX, Ask, Reply, SOCKET};

/// For the question to be taken and for the answer to come.
const ANSWER: Duration = Duration::from_secs(15);

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum AskError {
    /// The question is none.
    #[error("{0}")]
    Usage(String),
    /// Nobody answers at the socket.
    #[error("no gateway answers at {}: {error}", path.display())]
    NoGateway {
        /// The socket.
        path: PathBuf,
        /// What went wrong.
        error: io::Error,
    },
    /// What came is no answer.
    #[error("the gateway's answer cannot be read: {0}")]
    Unreadable(String),
}

/// Asks the gateway that runs on `data_dir`.
///
/// # Errors
/// Where the question is none, nobody answers, or the answer cannot be read.
pub fn ask(data_dir: &Path, question: &Ask) -> Result<Reply, AskError> {
    if let Some(defect) = question.defect() {
        return Err(AskError::Usage(defect));
    }
    let path = data_dir.join(SOCKET);
    let line = exchange(&path, question).map_err(|error| AskError::NoGateway { path, error })?;
    serde_json::from_str(&line).map_err(|error| AskError::Unreadable(error.to_string()))
}

fn exchange(path: &Path, question: &Ask) -> io::Result<String> {
    let mut stream = UnixStream::connect(path)?;
    stream.set_read_timeout(Some(ANSWER))?;
    stream.set_write_timeout(Some(ANSWER))?;
    let mut line = serde_json::to_vec(question)?;
    line.push(b'\n');
    stream.write_all(&line)?;
    let mut answer = String::new();
    BufReader::new(stream.take(ANSWER_BYTES_MAX as u64)).read_line(&mut answer)?;
    if answer.ends_with('\n') {
        Ok(answer)
    } else {
        Err(io::Error::new(
            io::ErrorKind::UnexpectedEof,
            "the gateway closed the connection",
        ))
    }
}
