//! The program `hallcall`: one command line for the gateway and for those who look after it.

use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

use clap::Parser;
use hallcall::cmd;
use tracing_subscriber::EnvFilter;

/// The gateway that lets robots ride elevators
#[derive(Debug, Parser)]
#[command(name = "hallcall", version, about)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Run the gateway
    Run(cmd::run::RunArgs),
    /// Say what is wrong with a configuration
    Check(cmd::check::CheckArgs),
    /// Show a building with robots that ride its elevators
    #[cfg(feature = "sim")]
    Demo(cmd::demo::DemoArgs),
    /// The parts of that building, one by one
    #[cfg(feature = "sim")]
    #[command(subcommand)]
    Sim(cmd::sim::SimCommand),
    /// How fast it is on this machine
    #[cfg(feature = "sim")]
    #[command(subcommand)]
    Bench(cmd::bench::BenchCommand),
    /// Look at orders, cancel one that waits
    #[command(subcommand)]
    Order(cmd::order::OrderCommand),
    /// Look at elevators, end a HOLD or a block, take one out of use
    #[command(subcommand)]
    Elevator(cmd::elevator::ElevatorCommand),
    /// Suspend grants, and resume them
    #[command(subcommand)]
    Site(cmd::site::SiteCommand),
    /// Look at pools, change the capacity of one
    #[command(subcommand)]
    Pool(cmd::pool::PoolCommand),
    /// Look at claims, free a resource in quarantine
    #[command(subcommand)]
    Claim(cmd::claim::ClaimCommand),
    /// Look at rentals
    #[command(subcommand)]
    Rental(cmd::rental::RentalCommand),
    /// Look at devices that are rented, take one out of use
    #[command(subcommand)]
    Device(cmd::device::DeviceCommand),
    /// Look at series of numbers, resume one that was stopped
    #[command(subcommand)]
    Series(cmd::series::SeriesCommand),
    /// Look at the tickets of departments
    #[command(subcommand)]
    Turn(cmd::turn::TurnCommand),
    /// Look at a bus while no gateway has it: who answers, what a unit says, every frame
    #[command(subcommand)]
    Bus(cmd::bus::BusCommand),
    /// Look at the journal of a gateway that does not run
    Journal(cmd::journal::JournalArgs),
    /// Print the JSON Schema of the messages
    Schema(cmd::schema::SchemaArgs),
    /// The embedded broker, for the gateway to start
    #[command(hide = true)]
    Broker(cmd::broker::BrokerArgs),
}

fn main() -> ExitCode {
    log_to_stderr();
    end_on_panic();
    // A mistake on the command line ends here, with exit code 2.
    let cli = Cli::parse();
    let result = match cli.command {
        Command::Run(args) => cmd::run::run(&args),
        Command::Check(args) => cmd::check::check(&args),
        #[cfg(feature = "sim")]
        Command::Demo(args) => cmd::demo::demo(&args),
        #[cfg(feature = "sim")]
        Command::Sim(command) => cmd::sim::sim(&command),
        #[cfg(feature = "sim")]
        Command::Bench(command) => cmd::bench::bench(&command),
        Command::Order(command) => cmd::order::order(&command),
        Command::Elevator(command) => cmd::elevator::elevator(&command),
        Command::Site(command) => cmd::site::site(&command),
        Command::Pool(command) => cmd::pool::pool(&command),
        Command::Claim(command) => cmd::claim::claim(&command),
        Command::Rental(command) => cmd::rental::rental(&command),
        Command::Device(command) => cmd::device::device(&command),
        Command::Series(command) => cmd::series::series(&command),
        Command::Turn(command) => cmd::turn::turn(&command),
        Command::Bus(command) => cmd::bus::bus(&command),
        Command::Journal(args) => cmd::journal::journal(&args),
        Command::Schema(args) => cmd::schema::schema(&args),
        Command::Broker(args) => cmd::broker::broker(&args),
    };
    result.unwrap_or_else(|error| {
        let _ = writeln!(io::stderr(), "hallcall: {error:#}");
        ExitCode::FAILURE
    })
}

/// `HALLCALL_LOG` says what is logged, as in `hallcall=debug,rumqttc=info`;
/// `HALLCALL_LOG_FORMAT=json` makes a JSON object of each line.
fn log_to_stderr() {
    const DEFAULT: &str = "info,rumqttc=warn,rumqttd=warn";
    let filter =
        EnvFilter::try_from_env("HALLCALL_LOG").unwrap_or_else(|_| EnvFilter::new(DEFAULT));
    let lines = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(io::stderr)
        .with_ansi(io::stderr().is_terminal());
    if std::env::var("HALLCALL_LOG_FORMAT").is_ok_and(|format| format == "json") {
        lines.json().flatten_event(true).init();
    } else {
        lines.init();
    }
}

/// Nothing limps on after a panic, in no thread and no build.
fn end_on_panic() {
    let print = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        print(panic);
        tracing::error!(%panic, "a bug: the process ends");
        std::process::abort();
    }));
}
