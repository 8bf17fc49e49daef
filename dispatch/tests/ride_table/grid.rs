//! Rows of events over situations, and how a cell of them is looked at.

use dispatch::SiteConfig;
use protocol::ops::Presence;
use protocol::ride::RideReply;

use crate::support::cell::word_of;
use crate::support::site::one_car;
use crate::support::{Building, Situation, T1};

/// What the presence signal says at the event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Signal {
    /// The car has none.
    Absent,
    /// READ: somebody is inside.
    Full,
    /// READ: nobody is inside.
    Empty,
}

/// Situations, and what the event does in each of them.
pub(crate) type Cells = &'static [(&'static [Situation], &'static str)];

/// An event in every situation.
pub(crate) struct Row {
    /// As the documentation names it.
    pub(crate) event: &'static str,
    /// What the presence signal says.
    pub(crate) signal: Signal,
    /// How long the cell is watched.
    pub(crate) window_ms: u64,
    /// What happens.
    pub(crate) act: fn(&mut Building) -> Option<RideReply>,
    /// What the table says, written by hand.
    pub(crate) cells: Cells,
}

/// One cell that is a story of its own.
pub(crate) struct Case {
    /// As the documentation names the event.
    pub(crate) event: &'static str,
    /// Where it happens.
    pub(crate) at: &'static str,
    /// The site.
    pub(crate) site: fn() -> SiteConfig,
    /// The situation; `None` = no ride yet.
    pub(crate) from: Option<Situation>,
    /// What happens; what an operator is answered.
    pub(crate) script: fn(&mut Building) -> &'static str,
    /// What the table says, written by hand.
    pub(crate) expected: &'static str,
}

/// A case in one line where it fits.
macro_rules! case {
    ($event:expr, $at:literal, $site:expr, $from:expr, $script:expr, $expected:literal) => {
        $crate::grid::Case {
            event: $event,
            at: $at,
            site: $site,
            from: Some($from),
            script: $script,
            expected: $expected,
        }
    };
}
pub(crate) use case;

/// One elevator without a presence signal.
pub(crate) fn plain() -> SiteConfig {
    one_car(Presence::None)
}

/// One elevator with a presence signal.
pub(crate) fn sensing() -> SiteConfig {
    one_car(Presence::Robot)
}

/// One elevator with a robot mode to be claimed.
pub(crate) fn claiming() -> SiteConfig {
    let mut site = plain();
    site.elevators.values_mut().for_each(|car| car.claim = true);
    site
}

/// Looks at cases; those of one event after another become one printed table.
pub(crate) fn tell(cases: &[Case], faults: &mut Faults) -> Vec<Sheet> {
    let mut sheets: Vec<Sheet> = Vec::new();
    for case in cases {
        let mut building = Building::new((case.site)());
        if let Some(situation) = case.from {
            building.reach(situation);
        }
        let before = building.look(T1, case.event.contains("query"));
        let answer = (case.script)(&mut building);
        let outcome = format!("{answer}{}", building.seen(&before));
        let outcome = outcome.trim().to_owned();
        if outcome != case.expected {
            faults.push(format!(
                "{}, {}:\n  table: {}\n  code:  {outcome}",
                case.event, case.at, case.expected
            ));
        }
        let line = Line {
            left: case.at.to_owned(),
            right: outcome,
        };
        match sheets.last_mut().filter(|sheet| sheet.title == case.event) {
            Some(sheet) => sheet.lines.push(line),
            None => sheets.push(Sheet {
                title: case.event.to_owned(),
                lines: vec![line],
            }),
        }
    }
    sheets
}

/// One line of the printed table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) left: String,
    pub(crate) right: String,
}

/// One printed table.
#[derive(Debug)]
pub(crate) struct Sheet {
    pub(crate) title: String,
    pub(crate) lines: Vec<Line>,
}

/// What differs from the table, one line each.
pub(crate) type Faults = Vec<String>;

impl Signal {
    fn presences(self) -> &'static [Presence] {
        match self {
            Self::Absent => &[Presence::None],
            Self::Full | Self::Empty => &[Presence::Robot, Presence::Any],
        }
    }

    fn words(self) -> &'static str {
        match self {
            Self::Absent => "",
            Self::Full => ", the presence signal says FULL",
            Self::Empty => ", the presence signal says EMPTY",
        }
    }

    fn prepare(self, building: &mut Building) {
        let occupied = match self {
            Self::Absent => return,
            Self::Full => true,
            Self::Empty => false,
        };
        building.plant().occupied(occupied);
        if building.plant().answers {
            building.read_again();
        }
    }
}

/// Every cell of a row: what the code does, and where that is not what the table says.
pub(crate) fn walk(row: &Row, faults: &mut Faults) -> Sheet {
    let mut lines: Vec<Line> = Vec::new();
    for situation in Situation::ALL {
        let expected = expectation(row, *situation);
        let mut outcome = String::new();
        for presence in row.signal.presences() {
            outcome = look(row, *situation, *presence);
            if outcome != expected {
                faults.push(format!(
                    "{}{} in {}, presence {presence:?}:\n  table: {expected}\n  code:  {outcome}",
                    row.event,
                    row.signal.words(),
                    situation.words()
                ));
            }
        }
        let same = lines.last_mut().filter(|line| line.right == outcome);
        match same {
            Some(line) => {
                line.left.push_str("<br>");
                line.left.push_str(situation.words());
            }
            None => lines.push(Line {
                left: situation.words().to_owned(),
                right: outcome,
            }),
        }
    }
    if let [line] = lines.as_mut_slice() {
        line.left = "everywhere".to_owned();
    }
    Sheet {
        title: format!("{}{}", row.event, row.signal.words()),
        lines,
    }
}

fn expectation(row: &Row, situation: Situation) -> &'static str {
    let mut found = row
        .cells
        .iter()
        .filter(|(situations, _)| situations.contains(&situation));
    let (_, expected) = found
        .next()
        .unwrap_or_else(|| panic!("{}: no cell for {situation:?}", row.event));
    assert!(
        found.next().is_none(),
        "{}: two cells for {situation:?}",
        row.event
    );
    expected
}

fn look(row: &Row, situation: Situation, presence: Presence) -> String {
    let mut building = situation.building(presence);
    row.signal.prepare(&mut building);
    assert!(
        building.is_in(T1, situation.state()),
        "{}: {situation:?} did not last: {}",
        row.event,
        building.describe(T1)
    );
    let before = building.look(T1, false);
    let reply = (row.act)(&mut building);
    building.run(row.window_ms);
    format!("{}{}", word_of(reply.as_ref()), building.seen(&before))
}

/// Fails with all faults at once.
pub(crate) fn report(faults: &Faults) {
    assert!(
        faults.is_empty(),
        "{} cells differ from ride.md:\n{}",
        faults.len(),
        faults.join("\n")
    );
}
