//! `hallcall check`: what is wrong with a configuration, all of it at once.

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use serde_json::{Value, json};

use crate::config::{Broker, Config, DriverConfig, Mistake};
use crate::exit;

/// What to check.
#[derive(Debug, Clone, clap::Args)]
pub struct CheckArgs {
    /// The configuration file
    #[arg(long, value_name = "FILE")]
    pub config: PathBuf,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

/// Prints every mistake of the configuration, or what it sets up.
///
/// # Errors
/// Where standard output cannot be written to.
pub fn check(args: &CheckArgs) -> anyhow::Result<ExitCode> {
    let result = match Config::load(&args.config) {
        Ok(config) if !config.advice.is_empty() => Err(config.advice),
        result => result,
    };
    let mut out = io::stdout().lock();
    match (&result, args.json) {
        (Ok(config), false) => writeln!(out, "ok: {}", summary(config))?,
        (Err(mistakes), false) => {
            for mistake in mistakes {
                writeln!(out, "{mistake}")?;
            }
        }
        (_, true) => writeln!(out, "{}", report(&result))?,
    }
    out.flush()?;
    Ok(if result.is_ok() {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(exit::USAGE)
    })
}

/// What a configuration sets up, in one line.
fn summary(config: &Config) -> String {
    let Config {
        gateway,
        mqtt,
        site,
        buses,
        zone_inputs,
        ..
    } = config;
    let broker = match &mqtt.broker {
        Broker::Embedded => format!("embedded broker on {}", mqtt.listen),
        broker @ (Broker::Tcp { .. } | Broker::Tls { .. }) => format!("broker {broker}"),
    };
    let by_mqtt = elevators_by_mqtt(config);
    format!(
        "gateway {}, site {}, {broker}, elevators: {by_mqtt} by MQTT and {} by Modbus, \
         floors: {}, buses: {}, fire inputs: {}{}",
        gateway.id,
        gateway.site,
        site.elevators.len() - by_mqtt,
        site.floors().len(),
        buses.len(),
        zone_inputs.len(),
        applications(config) + &listening(config),
    )
}

/// What applications may ask for, where there is anything.
fn applications(config: &Config) -> String {
    let told = &config.site.applications;
    let counts = [
        ("pools", told.pools.len()),
        ("devices", told.rentals.devices.len()),
        ("series", told.series.len()),
        ("departments", told.departments.len()),
    ];
    counts
        .into_iter()
        .filter(|(_, count)| *count > 0)
        .map(|(name, count)| format!(", {name}: {count}"))
        .collect()
}

/// Where HTTP is listened for, and for how many clients.
fn listening(config: &Config) -> String {
    config.http.as_ref().map_or_else(String::new, |http| {
        format!(
            ", HTTP on {} for {} clients",
            http.listen,
            http.clients.len()
        )
    })
}

fn report(result: &Result<Config, Vec<Mistake>>) -> Value {
    match result {
        Ok(config) => json!({
            "ok": true,
            "mistakes": [],
            "gateway": config.gateway.id,
            "site": config.gateway.site,
            "broker": config.mqtt.broker.to_string(),
            "elevators": config.site.elevators.len(),
            "elevators_by_mqtt": elevators_by_mqtt(config),
            "floors": config.site.floors().len(),
            "buses": config.buses.len(),
            "fire_inputs": config.zone_inputs.len(),
            "pools": config.site.applications.pools.len(),
            "devices": config.site.applications.rentals.devices.len(),
            "series": config.site.applications.series.len(),
            "http": config.http.as_ref().map(|http| http.listen),
            "departments": config.site.applications.departments.len(),
        }),
        Err(mistakes) => json!({ "ok": false, "mistakes": mistakes }),
    }
}

fn elevators_by_mqtt(config: &Config) -> usize {
    config
        .drivers
        .values()
        .filter(|driver| **driver == DriverConfig::Mqtt)
        .count()
}
