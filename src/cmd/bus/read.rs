//! `hallcall bus read`: points of a unit.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use adapters::bus::Visit;
use adapters::map::Table;
use adapters::rtu::{Reply, Request};
use serde_json::json;

use super::place::{Place, PlaceArgs, TableWord, word};
use super::points::{Image, names, reads, words};
use super::tell::{Stop, ms, of_unit, say};

/// What to read.
#[derive(Debug, Clone, clap::Args)]
pub struct ReadArgs {
    /// The line
    #[command(flatten)]
    pub place: PlaceArgs,
    /// The unit
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=247))]
    pub unit: u8,
    /// Which points
    #[command(flatten)]
    pub points: PointArgs,
}

/// Points of a unit.
#[derive(Debug, Clone, clap::Args)]
pub struct PointArgs {
    /// The table; without it, all that the register map of the unit reads
    #[arg(long, value_enum, requires = "address")]
    pub table: Option<TableWord>,
    /// The first address, from 0 as on the wire
    #[arg(long, value_name = "N", requires = "table")]
    pub address: Option<u16>,
    /// How many, at most 125 registers or 2000 bits
    #[arg(long, value_name = "N", default_value_t = 1, requires = "table")]
    pub count: u16,
}

impl PointArgs {
    /// The requests for them.
    ///
    /// # Errors
    /// Too many points, or none that the configuration names.
    pub(super) fn requests(&self, place: &Place, unit: u8) -> Result<Vec<Request>, Stop> {
        let (Some(table), Some(address)) = (self.table, self.address) else {
            let requests = reads(place, unit);
            if requests.is_empty() {
                let why = format!(
                    "--table is missing: no register map of {} reads unit {unit}",
                    place.name()
                );
                return Err(Stop::Usage(why));
            }
            return Ok(requests);
        };
        let request = Request::Read {
            table: table.into(),
            address,
            count: self.count,
        };
        // Nothing is sent that no unit can answer.
        request
            .frame(unit)
            .map_err(|bad| Stop::Usage(format!("--{bad}")))?;
        Ok(vec![request])
    }
}

/// Reads.
pub(super) async fn read(args: &ReadArgs) -> anyhow::Result<ExitCode> {
    match look(args).await {
        Ok((place, image, took)) => {
            show(args, &place, &image, took)?;
            Ok(ExitCode::SUCCESS)
        }
        Err(stop) => stop.tell(args.place.json),
    }
}

async fn look(args: &ReadArgs) -> Result<(Place, Image, Duration), Stop> {
    let place = Place::find(&args.place)?;
    let requests = args.points.requests(&place, args.unit)?;
    let mut line = place.open(Box::new(|_, _| {})).await?;
    let began = Instant::now();
    let mut image = Image::new();
    for request in &requests {
        let read = ask(&mut line, args.unit, request).await;
        image.extend(read.map_err(|why| Stop::Failed(of_unit(args.unit, &why)))?);
    }
    Ok((place, image, began.elapsed()))
}

/// Reads one block.
///
/// # Errors
/// A sentence.
pub(super) async fn ask(line: &mut Visit, unit: u8, request: &Request) -> Result<Image, String> {
    let Request::Read { table, address, .. } = request else {
        return Err("only reads are asked here".to_owned());
    };
    match line.ask(unit, request).await {
        Ok(Reply::Points(values)) => {
            let places = (*address..=u16::MAX).map(|address| (*table, address));
            Ok(places.zip(values).collect())
        }
        Ok(Reply::Written) => Err("a read was not read".to_owned()),
        Err(why) => Err(why.to_string()),
    }
}

fn show(args: &ReadArgs, place: &Place, image: &Image, took: Duration) -> anyhow::Result<()> {
    let unit = args.unit;
    let mut lines = Vec::new();
    let mut points = Vec::new();
    for ((table, address), value) in image {
        let names = names(place, unit, *table, *address);
        lines.push(line(*table, *address, *value, &names));
        points.push(json!({
            "table": word(*table),
            "address": address,
            "value": value,
            "points": names,
        }));
    }
    let said = words(place, unit, image);
    lines.extend(said.iter().map(|(key, word)| format!("{key} = {word}")));
    lines.push(format!("read in {:.1} ms", ms(took)));
    let said: serde_json::Map<_, _> = said
        .into_iter()
        .map(|(key, word)| (key, json!(word)))
        .collect();
    let told = json!({
        "place": place.name(),
        "unit": unit,
        "points": points,
        "words": said,
        "took_ms": ms(took),
    });
    say(args.place.json, &told, &lines.join("\n"))
}

fn line(table: Table, address: u16, value: u16, names: &[String]) -> String {
    let number = if table.is_bits() {
        value.to_string()
    } else {
        format!("0x{value:04X}  {value:5}")
    };
    let line = format!(
        "{:8} {address:5}  {number}  {}",
        word(table),
        names.join(", ")
    );
    line.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_are_told_in_hex_and_decimal() {
        let names = ["front.door".to_owned()];
        let told = line(Table::Holding, 100, 2_748, &names);
        assert_eq!(told, "holding    100  0x0ABC   2748  front.door");
        assert_eq!(line(Table::Coil, 7, 1, &[]), "coil         7  1");
    }
}
