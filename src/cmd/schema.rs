//! `hallcall schema`: the JSON Schema of every message, for those who build robots and controllers.

use std::io::{self, Write};
use std::process::ExitCode;

use protocol::schema::schemas;
use serde_json::{Map, Value, json};

use crate::exit;

/// Which schema.
#[derive(Debug, Clone, clap::Args)]
pub struct SchemaArgs {
    /// The `type` of one message, such as `ride.request`; without it, all of them in one object
    #[arg(value_name = "MESSAGE")]
    pub message: Option<String>,
}

/// Prints it.
///
/// # Errors
/// Where standard output cannot be written to.
pub fn schema(args: &SchemaArgs) -> anyhow::Result<ExitCode> {
    let schemas = schemas();
    let printed = match &args.message {
        None => {
            let all: Map<String, Value> = schemas
                .iter()
                .map(|(name, schema)| ((*name).to_owned(), json!(schema)))
                .collect();
            Value::Object(all)
        }
        Some(wanted) => match schemas.iter().find(|(name, _)| name == wanted) {
            Some((_, schema)) => json!(schema),
            None => {
                let names: Vec<&str> = schemas.iter().map(|(name, _)| *name).collect();
                let names = names.join(", ");
                writeln!(io::stderr(), "no message {wanted:?}; there are: {names}")?;
                return Ok(ExitCode::from(exit::USAGE));
            }
        },
    };
    let mut out = io::stdout().lock();
    writeln!(out, "{}", serde_json::to_string_pretty(&printed)?)?;
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}
