//! `hallcall bus write`: one coil or one register, after it was said whom it touches.

use std::process::ExitCode;
use std::str::FromStr;
use std::time::Instant;

use adapters::bus::NoReply;
use adapters::rtu::{COIL_OFF, COIL_ON, Request};
use serde_json::json;

use super::place::{Place, PlaceArgs, TableWord, word};
use super::points::touched;
use super::tell::{Stop, hex, joined, ms, of_unit, say};

/// What to write.
#[derive(Debug, Clone, clap::Args)]
pub struct WriteArgs {
    /// The line
    #[command(flatten)]
    pub place: PlaceArgs,
    /// The unit
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=247))]
    pub unit: u8,
    /// The table: coil or holding
    #[arg(long, value_enum)]
    pub table: TableWord,
    /// The address, from 0 as on the wire
    #[arg(long, value_name = "N")]
    pub address: u16,
    /// on or off for a coil; 0 to 65535 or 0x0 to 0xFFFF for a register
    #[arg(long, value_name = "V")]
    pub value: Value,
    /// By function 15 or 16 instead of 05 or 06
    #[arg(long)]
    pub multiple: bool,
    /// Do it: without this, it is only said what would be touched
    #[arg(long)]
    pub yes: bool,
}

/// A value, as it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Value {
    /// Of a coil.
    State(bool),
    /// Of a register.
    Word(u16),
}

impl FromStr for Value {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let word = match text {
            "on" => return Ok(Self::State(true)),
            "off" => return Ok(Self::State(false)),
            _ => match text.strip_prefix("0x") {
                Some(digits) => u16::from_str_radix(digits, 16).ok(),
                None => text.parse().ok(),
            },
        };
        let expected = || "expected on, off, 0 to 65535 or 0x0 to 0xFFFF".to_owned();
        word.map(Self::Word).ok_or_else(expected)
    }
}

/// Says what would be touched, and writes where that is wanted.
pub(super) async fn write(args: &WriteArgs) -> anyhow::Result<ExitCode> {
    let is_json = args.place.json;
    let begun = request(args).and_then(|request| Ok((request, Place::find(&args.place)?)));
    let (request, place) = match begun {
        Ok(begun) => begun,
        Err(stop) => return stop.tell(is_json),
    };
    if let Err(bad) = request.frame(args.unit) {
        return Stop::Usage(format!("--{bad}")).tell(is_json);
    }
    announce(args, &request, &place)?;
    if !args.yes {
        let why = "nothing was written: --yes writes it".to_owned();
        return Stop::Refused(why).tell(is_json);
    }
    match send(args, &request, &place).await {
        Ok(took_ms) => {
            let told = json!({ "written": true, "took_ms": took_ms });
            let text = format!("the unit confirmed it in {took_ms:.1} ms");
            say(is_json, &told, &text)?;
            Ok(ExitCode::SUCCESS)
        }
        Err(stop) => stop.tell(is_json),
    }
}

async fn send(args: &WriteArgs, request: &Request, place: &Place) -> Result<f64, Stop> {
    let mut line = place.open(Box::new(|_, _| {})).await?;
    let began = Instant::now();
    let written = line.ask(args.unit, request).await;
    let unit = args.unit;
    written.map_err(|why| {
        Stop::Failed(match &why {
            NoReply::NotSent(_) => format!("nothing was written: {}", of_unit(unit, &why)),
            NoReply::Exception(_) => of_unit(unit, &why),
            NoReply::Lost(_) => format!("it may have been written: {}", of_unit(unit, &why)),
        })
    })?;
    Ok(ms(began.elapsed()))
}

/// The request of it.
fn request(args: &WriteArgs) -> Result<Request, Stop> {
    let address = args.address;
    match (args.table, args.value) {
        (TableWord::Coil, value) => {
            let on = match value {
                Value::State(on) => on,
                Value::Word(0) => false,
                Value::Word(1) => true,
                Value::Word(word) => {
                    let why = format!("--value {word}: expected on, off, 1 or 0 for a coil");
                    return Err(Stop::Usage(why));
                }
            };
            Ok(if args.multiple {
                let states = vec![on];
                Request::WriteCoils { address, states }
            } else {
                let value = if on { COIL_ON } else { COIL_OFF };
                Request::WriteCoil { address, value }
            })
        }
        (TableWord::Holding, Value::Word(value)) => Ok(if args.multiple {
            let words = vec![value];
            Request::WriteRegisters { address, words }
        } else {
            Request::WriteRegister { address, value }
        }),
        (TableWord::Holding, Value::State(on)) => {
            let word = if on { "on" } else { "off" };
            let why = format!("--value {word}: expected 0 to 65535 for a register");
            Err(Stop::Usage(why))
        }
        (TableWord::Discrete | TableWord::Input, _) => {
            let table = word(args.table.into());
            let why = format!("--table {table}: expected coil or holding: it can only be read");
            Err(Stop::Usage(why))
        }
    }
}

fn announce(args: &WriteArgs, request: &Request, place: &Place) -> anyhow::Result<()> {
    let table = word(args.table.into());
    let (unit, address, function) = (args.unit, args.address, request.function());
    let value = match (args.table, args.value) {
        (_, Value::State(true)) | (TableWord::Coil, Value::Word(1)) => "on".to_owned(),
        (_, Value::State(false)) | (TableWord::Coil, Value::Word(0)) => "off".to_owned(),
        (_, Value::Word(word)) => format!("{word} ({word:#06X})"),
    };
    let all = touched(place, unit, args.table.into(), address);
    let mut text = format!(
        "{}: unit {unit}, {table} {address} = {value}, by function {function:02}",
        place.name()
    );
    let whom = match (&place.site, all.as_slice()) {
        (None, _) => {
            "which elevator that touches is not known: no configuration is given".to_owned()
        }
        (Some(_), []) => "touches no elevator of the configuration".to_owned(),
        (Some(_), all) => joined(all.iter().map(|one| format!("touches {}", one.what)), "\n"),
    };
    text.push('\n');
    text.push_str(&whom);
    let bytes = request.frame(unit).unwrap_or_default();
    let touches: Vec<_> = all
        .iter()
        .map(|one| json!({ "elevator": one.elevator, "what": one.what }))
        .collect();
    let told = json!({
        "place": place.name(),
        "unit": unit,
        "table": table,
        "address": address,
        "value": value,
        "function": function,
        "frame": hex(&bytes, 2),
        "is_known": place.site.is_some(),
        "touches": touches,
    });
    say(args.place.json, &told, &text)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn values_are_words_or_numbers() {
        assert_eq!("on".parse(), Ok(Value::State(true)));
        assert_eq!("0x1F".parse(), Ok(Value::Word(31)));
        assert_eq!("65535".parse(), Ok(Value::Word(65_535)));
        for bad in ["65536", "-1", "0x10000", "ON", ""] {
            assert!(bad.parse::<Value>().is_err(), "{bad}");
        }
    }
}
