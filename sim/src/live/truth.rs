//! The truth channel: robots of another process move in this building.
//!
//! TCP, one JSON object a line, each answered by one line. It stands for the floor under a robot's
//! wheels and for its eyes, never for its radio; a real building has none.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use protocol::{ElevatorId, Landing, OrderId, RobotId};
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Mutex, Semaphore};

use super::building::Building;
use super::robot::{Errand, Threshold, Way};
use crate::record::Entry;

/// Bytes of one line.
const LINE_BYTES_MAX: u64 = 1_024;
/// Connections at one time.
const CLIENTS_MAX: usize = 64;
/// For an answer.
const ANSWER: Duration = Duration::from_secs(5);

/// What a robot does or wants to see.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Ask {
    act: Act,
    elevator_id: Option<ElevatorId>,
    robot_id: Option<RobotId>,
    order_id: Option<OrderId>,
    at: Option<Landing>,
    to: Option<Landing>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Act {
    Starts,
    Look,
    BeginIn,
    BeginOut,
    EndIn,
    EndOut,
}

/// What came of it, and what is seen.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Seen {
    /// It was done; false for a door that is closed, or a car that is not there.
    pub done: bool,
    /// Every door of the car is closed.
    pub shut: bool,
    /// What was wrong with the question.
    pub error: Option<String>,
}

/// Why the truth channel does not answer.
#[derive(Debug, thiserror::Error)]
pub enum TruthError {
    /// It cannot be reached, or broke.
    #[error("the truth channel failed: {0}")]
    Io(#[from] std::io::Error),
    /// It does not answer in time.
    #[error("the truth channel is silent")]
    Silent,
    /// It answers that the question makes no sense, or something that makes none.
    #[error("the truth channel says: {0}")]
    Refused(String),
}

impl Ask {
    /// A robot was given an order; for the record.
    #[must_use]
    pub fn starts(robot: &RobotId, errand: &Errand) -> Self {
        Self {
            robot_id: Some(robot.clone()),
            order_id: Some(errand.order.clone()),
            at: Some(errand.from.clone()),
            to: Some(errand.to.clone()),
            ..Self::plain(Act::Starts)
        }
    }

    /// A robot drives onto a threshold.
    #[must_use]
    pub fn begins(robot: &RobotId, at: &Threshold) -> Self {
        Self::crosses(robot, at, [Act::BeginIn, Act::BeginOut])
    }

    /// A robot stands on the other side of a threshold.
    #[must_use]
    pub fn ends(robot: &RobotId, at: &Threshold) -> Self {
        Self::crosses(robot, at, [Act::EndIn, Act::EndOut])
    }

    /// A robot looks at a car.
    #[must_use]
    pub fn looks(elevator: &ElevatorId) -> Self {
        Self {
            elevator_id: Some(elevator.clone()),
            ..Self::plain(Act::Look)
        }
    }

    fn crosses(robot: &RobotId, at: &Threshold, [inwards, outwards]: [Act; 2]) -> Self {
        let act = match at.way {
            Way::In => inwards,
            Way::Out => outwards,
        };
        Self {
            elevator_id: Some(at.elevator.clone()),
            robot_id: Some(robot.clone()),
            at: Some(at.landing.clone()),
            ..Self::plain(act)
        }
    }

    fn plain(act: Act) -> Self {
        Self {
            act,
            elevator_id: None,
            robot_id: None,
            order_id: None,
            at: None,
            to: None,
        }
    }
}

/// A robot's end of the channel.
#[derive(Debug, Clone)]
pub struct Reach(Arc<Mutex<Ends>>);

#[derive(Debug)]
struct Ends {
    answers: BufReader<OwnedReadHalf>,
    asks: OwnedWriteHalf,
}

impl Reach {
    /// Connects to a building's channel.
    ///
    /// # Errors
    /// [`TruthError`].
    pub async fn connect(address: &str) -> Result<Self, TruthError> {
        let connected = tokio::time::timeout(ANSWER, TcpStream::connect(address)).await;
        let stream = connected.map_err(|_| TruthError::Silent)??;
        stream.set_nodelay(true)?;
        let (answers, asks) = stream.into_split();
        Ok(Self(Arc::new(Mutex::new(Ends {
            answers: BufReader::new(answers),
            asks,
        }))))
    }

    /// Asks one thing.
    ///
    /// # Errors
    /// [`TruthError`].
    pub async fn ask(&self, ask: &Ask) -> Result<Seen, TruthError> {
        let mut line = serde_json::to_string(ask).map_err(std::io::Error::other)?;
        line.push('\n');
        let mut ends = self.0.lock().await;
        let answer = async {
            ends.asks.write_all(line.as_bytes()).await?;
            read_line(&mut ends.answers).await
        };
        let answer = tokio::time::timeout(ANSWER, answer)
            .await
            .map_err(|_| TruthError::Silent)??;
        let seen: Seen = serde_json::from_str(&answer.unwrap_or_default())
            .map_err(|error| TruthError::Refused(error.to_string()))?;
        match seen.error {
            Some(error) => Err(TruthError::Refused(error)),
            None => Ok(seen),
        }
    }
}

/// Serves the channel until the future is dropped.
///
/// # Errors
/// What listening failed with.
pub async fn serve(building: Arc<Building>, listen: SocketAddr) -> std::io::Result<()> {
    let listener = TcpListener::bind(listen).await?;
    let room = Arc::new(Semaphore::new(CLIENTS_MAX));
    loop {
        let (stream, _) = listener.accept().await?;
        let Ok(seat) = Arc::clone(&room).try_acquire_owned() else {
            continue;
        };
        let building = Arc::clone(&building);
        tokio::spawn(async move {
            let _seat = seat;
            if let Err(error) = serve_one(&building, stream).await {
                tracing::debug!(%error, "a truth channel ended");
            }
        });
    }
}

async fn serve_one(building: &Building, stream: TcpStream) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let (asks, mut answers) = stream.into_split();
    let mut asks = BufReader::new(asks);
    while let Some(line) = read_line(&mut asks).await? {
        let seen = match serde_json::from_str(&line) {
            Ok(ask) => answer(building, &ask),
            Err(error) => Err(error.to_string()),
        };
        let seen = seen.unwrap_or_else(|error| Seen {
            done: false,
            shut: false,
            error: Some(error),
        });
        let mut line = serde_json::to_string(&seen)?;
        line.push('\n');
        answers.write_all(line.as_bytes()).await?;
    }
    Ok(())
}

/// The next line; `None` at the end. A line that is too long ends the connection.
async fn read_line(from: &mut (impl AsyncBufReadExt + Unpin)) -> std::io::Result<Option<String>> {
    let mut line = String::new();
    let read = from.take(LINE_BYTES_MAX).read_line(&mut line).await?;
    if read == 0 {
        return Ok(None);
    }
    if line.ends_with('\n') {
        Ok(Some(line))
    } else {
        Err(std::io::Error::other(format!(
            "a line of more than {LINE_BYTES_MAX} bytes"
        )))
    }
}

fn answer(building: &Building, ask: &Ask) -> Result<Seen, String> {
    let robot = || need(ask.robot_id.as_ref(), "robot_id");
    if ask.act == Act::Starts {
        building.note(Entry::Asked {
            robot: robot()?.clone(),
            order: need(ask.order_id.as_ref(), "order_id")?.clone(),
            from: need(ask.at.as_ref(), "at")?.clone(),
            to: need(ask.to.as_ref(), "to")?.clone(),
        });
        return Ok(Seen {
            done: true,
            shut: false,
            error: None,
        });
    }
    let elevator = need(ask.elevator_id.as_ref(), "elevator_id")?;
    let threshold = |way| {
        let landing = need(ask.at.as_ref(), "at")?.clone();
        Ok::<_, String>(Threshold {
            elevator: elevator.clone(),
            landing,
            way,
            fence: None,
        })
    };
    let done = match ask.act {
        Act::Look | Act::Starts => Ok(true),
        Act::BeginIn => building.begin_crossing(robot()?, &threshold(Way::In)?),
        Act::BeginOut => building.begin_crossing(robot()?, &threshold(Way::Out)?),
        Act::EndIn => building.end_crossing(robot()?, &threshold(Way::In)?),
        Act::EndOut => building.end_crossing(robot()?, &threshold(Way::Out)?),
    };
    let seen = done.and_then(|done| Ok((done, building.snapshot(elevator)?.is_shut())));
    let (done, shut) = seen.map_err(|error| error.to_string())?;
    Ok(Seen {
        done,
        shut,
        error: None,
    })
}

fn need<'a, T>(field: Option<&'a T>, name: &str) -> Result<&'a T, String> {
    field.ok_or_else(|| format!("{name} is missing"))
}
