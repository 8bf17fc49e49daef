//! `hallcall bus scan`: who is on the line.

use std::process::ExitCode;
use std::time::Instant;

use adapters::bus::{NoReply, Visit};
use adapters::rtu::{Reply, Request};
use serde_json::{Value, json};

use super::place::{Place, PlaceArgs, TableWord};
use super::points::units;
use super::tell::{Stop, ms, of_unit, say};

/// What to ask, and whom.
#[derive(Debug, Clone, clap::Args)]
pub struct ScanArgs {
    /// The line
    #[command(flatten)]
    pub place: PlaceArgs,
    /// The first unit number, 1 to 247
    #[arg(long, value_name = "UNIT", default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..=247))]
    pub from: u8,
    /// The last one
    #[arg(long, value_name = "UNIT", default_value_t = 247, value_parser = clap::value_parser!(u8).range(1..=247))]
    pub to: u8,
    /// The table that is asked for; a unit without it says so, and that is an answer too
    #[arg(long, value_enum, default_value = "holding")]
    pub table: TableWord,
    /// The address, from 0
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub address: u16,
}

/// Asks every unit.
pub(super) async fn scan(args: &ScanArgs) -> anyhow::Result<ExitCode> {
    let is_json = args.place.json;
    if args.from > args.to {
        let why = format!("--from {}: expected at most --to {}", args.from, args.to);
        return Stop::Usage(why).tell(is_json);
    }
    let opened = match Place::find(&args.place) {
        Ok(place) => place
            .open(Box::new(|_, _| {}))
            .await
            .map(|line| (place, line)),
        Err(stop) => Err(stop),
    };
    let (place, mut line) = match opened {
        Ok(opened) => opened,
        Err(stop) => return stop.tell(is_json),
    };
    let known = units(&place);
    let (mut found, mut missing) = (Vec::new(), known.clone());
    for unit in args.from..=args.to {
        let answer = match ask(args, &mut line, unit).await {
            Ok(Some(answer)) => answer,
            Ok(None) => continue,
            Err(stop) => return stop.tell(is_json),
        };
        missing.remove(&unit);
        let is = known.get(&unit);
        if !is_json {
            let is = is.map_or_else(String::new, |is| format!("  {is}"));
            say(
                false,
                &Value::Null,
                &format!("unit {unit}: {}{is}", answer.text),
            )?;
        }
        let mut told = answer.told;
        told["is"] = json!(is);
        found.push(told);
    }
    missing.retain(|unit, _| (args.from..=args.to).contains(unit));
    let asked = usize::from(args.to - args.from) + 1;
    let mut text = format!(
        "{} of {asked} unit numbers on {} answer",
        found.len(),
        place.name()
    );
    for (unit, is) in &missing {
        text.push_str(&format!("\nunit {unit} does not: {is}"));
    }
    let told = json!({
        "place": place.name(),
        "asked": asked,
        "units": found,
        "missing": missing,
    });
    say(is_json, &told, &text)?;
    Ok(if found.is_empty() {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    })
}

/// What a unit answered.
struct Answered {
    told: Value,
    text: String,
}

/// One unit; `None` where nobody answers.
async fn ask(args: &ScanArgs, line: &mut Visit, unit: u8) -> Result<Option<Answered>, Stop> {
    let request = Request::Read {
        table: args.table.into(),
        address: args.address,
        count: 1,
    };
    let began = Instant::now();
    let answer = line.ask(unit, &request).await;
    let took_ms = ms(began.elapsed());
    match answer {
        Ok(Reply::Points(values)) => {
            let value = values.first().copied().unwrap_or_default();
            Ok(Some(Answered {
                told: json!({ "unit": unit, "value": value, "took_ms": took_ms }),
                text: format!("value {value} (0x{value:04X}) in {took_ms:.1} ms"),
            }))
        }
        // No unit answers a read like that; the master takes no such reply.
        Ok(Reply::Written) => Ok(None),
        // A gateway in front of the line says that nobody is there.
        Err(NoReply::Exception(exception)) if exception.is_of_gateway() => Ok(None),
        Err(NoReply::Exception(exception)) => Ok(Some(Answered {
            told: json!({ "unit": unit, "exception": exception.0, "says": exception.name(),
                          "took_ms": took_ms }),
            text: format!("{exception} in {took_ms:.1} ms"),
        })),
        Err(NoReply::Lost(detail)) if detail.starts_with("no reply within") => Ok(None),
        Err(NoReply::Lost(detail)) => {
            tracing::warn!(unit, "{detail}");
            Ok(None)
        }
        Err(NoReply::NotSent(detail)) => Err(Stop::Failed(of_unit(unit, &detail))),
    }
}
