//! `hallcall sim explore`: worlds from seeds, each a building with faults of every kind on a virtual
//! clock, until one breaks a law.

mod report;

use std::io::{self, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, anyhow};
use sim::explore::shrink::{Shrunk, shrink};
use sim::explore::sweep::{Sweep, seed_of_this_thread, sweep};
use sim::explore::{Failure, Options, Outcome, Plan, draw, run};
use sim::world::tale::Tale;

use self::report::Report;
use crate::exit;

/// Failing seeds that are made small; the others are only named.
const SHRUNK_MAX: usize = 3;
/// Runs for making one small.
const SHRINK_RUNS_MAX: u32 = 600;
/// The seeds that failed once, relative to the repository.
const SEEDS: &str = "tests/seeds.txt";

/// What to explore.
#[derive(Debug, Clone, clap::Args)]
pub struct ExploreArgs {
    /// The seeds from A to before B, as in 1..1000
    #[arg(long, value_name = "A..B", value_parser = seeds, conflicts_with_all = ["seed", "plan"])]
    pub seeds: Option<Range<u64>>,
    /// One seed
    #[arg(long, value_name = "N", conflicts_with = "plan")]
    pub seed: Option<u64>,
    /// One plan, as a failing seed leaves it
    #[arg(long, value_name = "FILE")]
    pub plan: Option<PathBuf>,
    /// Hours of each seed with requests and faults, 1 to 1000
    #[arg(long, value_name = "H", default_value_t = 24,
        value_parser = clap::value_parser!(u64).range(1..=1_000))]
    pub hours: u64,
    /// Threads, 1 to 256
    #[arg(long, value_name = "N", default_value_t = 1,
        value_parser = clap::value_parser!(u16).range(1..=256))]
    pub jobs: u16,
    /// Tell everything that happens; with --seed or --plan
    #[arg(long)]
    pub trace: bool,
    /// Judge by what cars, controllers and robots saw alone
    #[arg(long)]
    pub truth_only: bool,
    /// Leave failing plans as long as they are
    #[arg(long)]
    pub no_shrink: bool,
    /// Print the figures as one JSON object on the last line
    #[arg(long)]
    pub json: bool,
}

/// Explores.
///
/// # Errors
/// Where a file cannot be read or written, or standard output is gone.
pub(super) fn explore(args: &ExploreArgs) -> anyhow::Result<ExitCode> {
    name_the_seed_of_a_panic();
    let options = Options {
        tell: args.trace.then_some(tell as fn(u64, &Tale)),
        truth_only: args.truth_only,
        script: false,
    };
    let one = match (&args.plan, args.seed) {
        (Some(file), _) => match read(file) {
            Ok(plan) => Some(plan),
            Err(why) => {
                writeln!(io::stderr(), "hallcall: {}: {why:#}", file.display())?;
                return Ok(ExitCode::from(exit::USAGE));
            }
        },
        (None, Some(seed)) => Some(draw(seed, args.hours)),
        (None, None) => None,
    };
    let mut report = Report::new(args.json);
    let mut failed = Vec::new();
    if let Some(plan) = one {
        let outcome = run(&plan, options)?;
        report.take(&outcome)?;
        failed.extend(outcome.failure.map(|failure| (plan, failure)));
    } else {
        let Some(seeds) = args.seeds.clone().filter(|_| !args.trace) else {
            let what = "--seeds A..B, or --seed N or --plan FILE with or without --trace";
            writeln!(io::stderr(), "hallcall: say what to explore: {what}")?;
            return Ok(ExitCode::from(exit::USAGE));
        };
        failed = explore_all(args, seeds, options, &mut report)?;
    }
    if !args.no_shrink && !args.trace {
        for (plan, _) in failed.iter().take(SHRUNK_MAX) {
            if let Some(small) = shrink(plan, options, SHRINK_RUNS_MAX) {
                show(&small, options)?;
            }
        }
    }
    if args.plan.is_none() {
        keep(&failed, args.hours)?;
    }
    report.finish()?;
    Ok(if failed.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

fn explore_all(
    args: &ExploreArgs,
    seeds: Range<u64>,
    options: Options,
    report: &mut Report,
) -> anyhow::Result<Vec<(Plan, Failure)>> {
    let all = Sweep {
        seeds,
        hours: args.hours,
        jobs: args.jobs.into(),
        options,
    };
    let mut failed = Vec::new();
    let mut said = Ok(());
    sweep(&all, |outcome: Outcome| {
        said = report.take(&outcome);
        if let Some(failure) = outcome.failure {
            failed.push((draw(outcome.seed, args.hours), failure));
        }
        said.is_ok()
    });
    said?;
    failed.sort_by_key(|(plan, _)| plan.seed);
    Ok(failed)
}

/// The small plan goes to standard error, where it does not disturb the figures.
fn show(small: &Shrunk, options: Options) -> io::Result<()> {
    let Failure { at_ms, what } = &small.failure;
    let mut err = io::stderr().lock();
    writeln!(
        err,
        "# seed {}, cut down in {} runs, fails at {at_ms} ms: {what}",
        small.plan.seed, small.runs
    )?;
    err.write_all(small.plan.to_text().as_bytes())?;
    let script = run(
        &small.plan,
        Options {
            tell: None,
            script: true,
            ..options
        },
    );
    match script.ok().and_then(|outcome| outcome.script) {
        Some(Ok(text)) => {
            writeln!(err, "# as a transcript for tests/scripts, to be filled in:")?;
            for line in text.lines() {
                writeln!(err, "# {line}")?;
            }
        }
        Some(Err(lack)) => writeln!(err, "# no transcript: {lack}")?,
        None => {}
    }
    Ok(())
}

/// Appends seeds that failed to the list that every test run plays, where it is at hand.
fn keep(failed: &[(Plan, Failure)], hours: u64) -> anyhow::Result<()> {
    let path = Path::new(SEEDS);
    if failed.is_empty() || !path.is_file() {
        return Ok(());
    }
    let known = std::fs::read_to_string(path).with_context(|| SEEDS.to_owned())?;
    let mut file = std::fs::OpenOptions::new()
        .append(true)
        .open(path)
        .with_context(|| SEEDS.to_owned())?;
    for (plan, failure) in failed {
        let entry = format!("{} {hours} ", plan.seed);
        if !known.lines().any(|line| line.starts_with(&entry)) {
            writeln!(file, "{entry}# {}", failure.what)?;
        }
    }
    Ok(())
}

fn read(file: &Path) -> anyhow::Result<Plan> {
    let text = std::fs::read_to_string(file)?;
    Plan::from_text(&text).map_err(|why| anyhow!(why))
}

fn seeds(text: &str) -> Result<Range<u64>, String> {
    let (from, to) = text.split_once("..").ok_or("it is not A..B")?;
    let number = |text: &str| text.parse::<u64>().map_err(|error| error.to_string());
    let (from, to) = (number(from)?, number(to)?);
    if from < to {
        Ok(from..to)
    } else {
        Err(format!("{to} is not above {from}"))
    }
}

fn tell(at_ms: u64, tale: &Tale) {
    // Standard output may be gone; then nobody listens.
    let _ = writeln!(
        io::stdout(),
        "{:>9}.{:03} {tale:?}",
        at_ms / 1_000,
        at_ms % 1_000
    );
}

fn name_the_seed_of_a_panic() {
    let print = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if let Some(seed) = seed_of_this_thread() {
            let _ = writeln!(io::stderr(), "hallcall: seed {seed} panics");
        }
        print(panic);
    }));
}
