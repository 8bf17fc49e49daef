//! What all commands of operators have in common: who, why, where, and how the answer is told.

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use dispatch::OperatorAction;
use protocol::elevator::{Doors, ElevatorView, Health};
use protocol::ride::RideView;
use protocol::{Landing, hardware::Door};
use serde::Serialize;
use serde_json::{Value, json};

use crate::config::Config;
use crate::exit;
use crate::metrics;
use crate::operator::{Ask, AskError, Reply, ask};

/// Who looks where none is named: looking needs no name.
const ANYBODY: &str = "-";

/// Where the gateway is and how the answer is told.
#[derive(Debug, Clone, clap::Args)]
pub struct LookArgs {
    /// The configuration file of the running gateway
    #[arg(long, value_name = "FILE")]
    pub config: PathBuf,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
    /// Who looks
    #[arg(long, value_name = "ID")]
    pub operator: Option<String>,
    /// Why
    #[arg(long, value_name = "TEXT")]
    pub reason: Option<String>,
}

/// The same for whoever acts: who and why go into the history.
#[derive(Debug, Clone, clap::Args)]
pub struct ActArgs {
    /// The configuration file of the running gateway
    #[arg(long, value_name = "FILE")]
    pub config: PathBuf,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
    /// Who acts
    #[arg(long, value_name = "ID")]
    pub operator: String,
    /// Why
    #[arg(long, value_name = "TEXT")]
    pub reason: String,
}

impl From<&LookArgs> for ActArgs {
    fn from(args: &LookArgs) -> Self {
        let text = |given: &Option<String>| given.clone().unwrap_or_else(|| ANYBODY.to_owned());
        Self {
            config: args.config.clone(),
            json: args.json,
            operator: text(&args.operator),
            reason: text(&args.reason),
        }
    }
}

/// How a list is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// As a table; in JSON as a list under its name.
    List,
    /// The one that was asked for, whole.
    One,
    /// Pools as figures; in JSON as a list.
    Figures,
}

/// Asks the gateway and prints its answer.
///
/// # Errors
/// Where standard output cannot be written to.
pub fn run(args: &ActArgs, action: OperatorAction, shape: Shape) -> anyhow::Result<ExitCode> {
    let config = match Config::load(&args.config) {
        Ok(config) => config,
        Err(mistakes) => {
            let mut out = io::stderr().lock();
            for mistake in mistakes {
                writeln!(out, "{mistake}")?;
            }
            return Ok(ExitCode::from(exit::USAGE));
        }
    };
    let (operator, reason) = (args.operator.clone(), args.reason.clone());
    let question = Ask {
        operator,
        reason,
        action,
    };
    match ask(&config.gateway.data_dir, &question) {
        Ok(Reply::Refused(missing)) => refuse(args.json, &missing),
        Ok(reply) => {
            let mut out = io::stdout().lock();
            if args.json {
                writeln!(out, "{}", as_json(&reply, shape))?;
            } else {
                print(&mut out, &reply, shape)?;
            }
            out.flush()?;
            Ok(ExitCode::SUCCESS)
        }
        Err(AskError::Usage(defect)) => {
            writeln!(io::stderr(), "{defect}")?;
            Ok(ExitCode::from(exit::USAGE))
        }
        Err(error @ (AskError::NoGateway { .. } | AskError::Unreadable(_))) => {
            refuse(args.json, &error.to_string())
        }
    }
}

fn refuse(json: bool, missing: &str) -> anyhow::Result<ExitCode> {
    writeln!(io::stderr(), "refused: {missing}")?;
    if json {
        writeln!(io::stdout(), "{}", json!({ "refused": missing }))?;
    }
    Ok(ExitCode::from(exit::REFUSED))
}

fn as_json(reply: &Reply, shape: Shape) -> Value {
    match (reply, shape) {
        (Reply::Elevators(elevators), Shape::One) if elevators.len() == 1 => {
            json!(elevators.first())
        }
        (Reply::Orders(orders), Shape::One) if orders.len() == 1 => json!(orders.first()),
        (Reply::Series(series), Shape::One) if series.len() == 1 => json!(series.first()),
        (Reply::Series(series), _) => json!({ "series": series }),
        (Reply::Turns(turns), Shape::One) if turns.len() == 1 => json!(turns.first()),
        (Reply::Turns(turns), _) => json!({ "departments": turns }),
        (Reply::Pools(pools), Shape::One) if pools.len() == 1 => json!(pools.first()),
        (Reply::Pools(pools), _) => json!({ "pools": pools }),
        (Reply::Claims(claims), Shape::One) if claims.len() == 1 => json!(claims.first()),
        (Reply::Claims(claims), _) => json!({ "claims": claims }),
        (Reply::Rentals(rentals), Shape::One) if rentals.len() == 1 => json!(rentals.first()),
        (Reply::Rentals(rentals), _) => json!({ "rentals": rentals }),
        (Reply::Devices(devices), _) => json!({ "devices": devices }),
        (Reply::Elevators(elevators), _) => json!({ "elevators": elevators }),
        (Reply::Orders(orders), _) => json!({ "orders": orders }),
        (Reply::Done(sentence), _) => json!({ "done": sentence }),
        (Reply::Refused(missing), _) => json!({ "refused": missing }),
    }
}

const CLAIM_COLUMNS: &[&str] = &[
    "claim_id",
    "pool",
    "resource_id",
    "owner_id",
    "status",
    "state",
    "occupy_time",
    "release_time",
    "last_heartbeat",
];
const RENTAL_COLUMNS: &[&str] = &[
    "rental_id",
    "device_id",
    "user_id",
    "order_id",
    "state",
    "made_at",
    "active_at",
    "metered_s",
];
const DEVICE_COLUMNS: &[&str] = &[
    "device_id",
    "state",
    "health",
    "version",
    "fence",
    "observed_at",
];

fn print(out: &mut impl Write, reply: &Reply, shape: Shape) -> io::Result<()> {
    match (reply, shape) {
        (Reply::Done(sentence) | Reply::Refused(sentence), _) => writeln!(out, "{sentence}"),
        (Reply::Elevators(elevators), Shape::List) => table(
            out,
            &[
                "ELEVATOR", "HEALTH", "MODE", "FLOOR", "DOORS", "MOTION", "OWNER", "FENCE", "QUEUE",
            ],
            elevators.iter().map(elevator_row).collect(),
        ),
        (Reply::Orders(orders), Shape::List) => table(
            out,
            &[
                "ORDER", "ROBOT", "STATE", "SAYS", "FROM", "TO", "ELEVATOR", "FENCE", "REASON",
            ],
            orders.iter().map(order_row).collect(),
        ),
        (Reply::Series(series), Shape::List) => columns(
            out,
            &["series", "given", "last", "next", "max", "stopped"],
            series,
        ),
        (Reply::Series(series), Shape::One | Shape::Figures) => all_fields(out, series),
        (Reply::Turns(turns), Shape::List) => columns(
            out,
            &[
                "department",
                "date",
                "issued",
                "called",
                "waiting",
                "expired",
            ],
            turns,
        ),
        (Reply::Turns(turns), Shape::One | Shape::Figures) => all_fields(out, turns),
        (Reply::Pools(pools), Shape::Figures) => write!(out, "{}", metrics::of_pools(pools)),
        (Reply::Pools(pools), Shape::List) => columns(
            out,
            &["pool", "capacity", "used", "waiting", "quarantined"],
            pools,
        ),
        (Reply::Claims(claims), Shape::List) => columns(out, CLAIM_COLUMNS, claims),
        (Reply::Rentals(rentals), Shape::List) => columns(out, RENTAL_COLUMNS, rentals),
        (Reply::Devices(devices), Shape::List) => columns(out, DEVICE_COLUMNS, devices),
        (Reply::Rentals(rentals), Shape::One | Shape::Figures) => all_fields(out, rentals),
        (Reply::Devices(devices), Shape::One | Shape::Figures) => all_fields(out, devices),
        (Reply::Pools(pools), Shape::One) => all_fields(out, pools),
        (Reply::Claims(claims), Shape::One | Shape::Figures) => all_fields(out, claims),
        (Reply::Elevators(elevators), Shape::One | Shape::Figures) => elevators
            .iter()
            .try_for_each(|elevator| fields(out, &json!(elevator))),
        (Reply::Orders(orders), Shape::One | Shape::Figures) => orders
            .iter()
            .try_for_each(|order| fields(out, &json!(order))),
    }
}

fn all_fields(out: &mut impl Write, views: &[impl Serialize]) -> io::Result<()> {
    views.iter().try_for_each(|view| fields(out, &json!(view)))
}

/// These fields of each view as a table.
fn columns(out: &mut impl Write, names: &[&str], views: &[impl Serialize]) -> io::Result<()> {
    let head: Vec<String> = names.iter().map(|name| name.to_uppercase()).collect();
    let head: Vec<&str> = head.iter().map(String::as_str).collect();
    let row = |view: Value| names.iter().map(|name| shown(&view[name])).collect();
    table(
        out,
        &head,
        views.iter().map(|view| row(json!(view))).collect(),
    )
}

fn elevator_row(view: &ElevatorView) -> Vec<String> {
    let health = match &view.health_reason {
        Some(reason) => format!("{}: {reason}", health_word(view.health)),
        None => health_word(view.health).to_owned(),
    };
    let owner = view.owner.as_ref().map(|owner| owner.robot_id.to_string());
    vec![
        view.elevator_id.to_string(),
        health,
        view.mode.to_string(),
        or_dash(view.floor.as_ref()),
        doors(&view.doors),
        view.motion.to_string(),
        or_dash(owner),
        view.fence.to_string(),
        view.queue_length.to_string(),
    ]
}

fn order_row(view: &RideView) -> Vec<String> {
    vec![
        view.order_id.to_string(),
        view.robot_id.to_string(),
        view.state.to_string(),
        view.instruction.to_string(),
        landing(&view.from),
        landing(&view.to),
        or_dash(view.elevator_id.as_ref()),
        or_dash(view.fence),
        or_dash(
            view.reason
                .as_ref()
                .map(|reason| format!("{}: {}", reason.code, reason.detail)),
        ),
    ]
}

fn health_word(health: Health) -> &'static str {
    match health {
        Health::Ok => "ok",
        Health::Stale => "stale",
        Health::Offline => "offline",
        Health::Unknown => "unknown",
        Health::Maintenance => "maintenance",
    }
}

fn doors(doors: &Doors) -> String {
    let rear = doors
        .rear
        .map_or_else(String::new, |door: Door| format!("/{door}"));
    format!("{}{rear}", doors.front)
}

fn landing(landing: &Landing) -> String {
    format!("{}/{}", landing.floor, landing.side)
}

fn or_dash(value: Option<impl ToString>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| value.to_string())
}

/// One line per field, nested objects on their line.
fn fields(out: &mut impl Write, view: &Value) -> io::Result<()> {
    let Value::Object(fields) = view else {
        return writeln!(out, "{view}");
    };
    let width = fields.keys().map(String::len).max().unwrap_or(0);
    for (name, value) in fields {
        writeln!(out, "{name:width$}  {}", shown(value))?;
    }
    Ok(())
}

fn shown(value: &Value) -> String {
    match value {
        Value::Null => "-".to_owned(),
        Value::String(text) => text.clone(),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => value.to_string(),
    }
}

/// Columns as wide as their widest cell, the last one as it comes.
fn table(out: &mut impl Write, head: &[&str], rows: Vec<Vec<String>>) -> io::Result<()> {
    let head: Vec<String> = head.iter().map(|&cell| cell.to_owned()).collect();
    let all: Vec<&Vec<String>> = std::iter::once(&head).chain(&rows).collect();
    let width = |column: usize| {
        all.iter()
            .filter_map(|row| row.get(column))
            .map(|cell| cell.chars().count())
            .max()
    };
    let widths: Vec<usize> = (0..head.len())
        .map(|column| width(column).unwrap_or(0))
        .collect();
    for row in &all {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(&widths) {
            line.push_str(&format!("{cell:width$}  "));
        }
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}
