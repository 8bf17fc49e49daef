//! A world so small that all that can happen in it is looked at: two robots, one elevator, three
//! floors, messages that are lost, doubled and overtake each other, and a crash.
//!
//! Time is coarse: it jumps to the core's next deadline or stands still. The car moves in one go.
//! What the gateway publishes reaches robots at once; what robots and the controller say waits
//! until it is delivered, in any order. The search is breadth first over hashes of the core's state
//! and the world's; the checker that goes along judges every step, and of two ways to one state the
//! first goes on.

mod act;
mod play;
mod robot;

use std::collections::BTreeSet;
use std::fmt;
use std::hash::{DefaultHasher, Hasher};

use protocol::id::IdError;

pub use self::act::Act;
pub use self::play::Small;

/// What a search has seen.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Searched {
    /// Different states.
    pub states: usize,
    /// Steps from one to another.
    pub steps: usize,
    /// How many acts deep; every way of so many acts was looked at, or all there are.
    pub depth: usize,
    /// The first law that was broken, and the acts that break it.
    pub broken: Option<(String, Vec<Act>)>,
    /// Rides that came to their end on some way.
    pub arrived: usize,
    /// Acts of the plainest way, where that was followed.
    pub way: usize,
}

/// Acts of the plainest way, on which both robots ride.
const WAY_MAX: usize = 400;

/// Looks at all states that lie at most so many acts off the plainest way: from each of its states
/// on, with all that can go wrong.
///
/// # Errors
/// As [`search`].
pub fn search_along(depth_max: usize, states_max: usize) -> Result<Searched, IdError> {
    let mut here = Small::new()?;
    let mut seen = BTreeSet::new();
    let mut all = Searched::default();
    let mut way = Vec::new();
    while way.len() < WAY_MAX && !here.is_over() {
        let found = from(here.clone(), depth_max, states_max, &mut seen);
        all.steps += found.steps;
        all.arrived += found.arrived;
        all.states = seen.len();
        all.depth = found.depth.max(all.depth);
        if let Some((why, acts)) = found.broken {
            way.extend(acts);
            all.broken = Some((why, way));
            return Ok(all);
        }
        let act = here.plainest();
        here.act(act);
        way.push(act);
    }
    all.way = way.len();
    Ok(all)
}

/// Looks at all states up to a depth, but at no more than `states_max`.
///
/// # Errors
/// [`IdError`] never, unless the names of the small world are broken.
pub fn search(depth_max: usize, states_max: usize) -> Result<Searched, IdError> {
    let mut seen = BTreeSet::new();
    Ok(from(Small::new()?, depth_max, states_max, &mut seen))
}

fn from(
    first: Small,
    depth_max: usize,
    states_max: usize,
    seen: &mut BTreeSet<(u64, u64)>,
) -> Searched {
    seen.insert(fingerprint(&first));
    let mut level = vec![(first, Vec::new())];
    let mut searched = Searched::default();
    while searched.depth < depth_max && !level.is_empty() {
        let mut next = Vec::new();
        for (world, way) in level {
            for act in world.acts() {
                let mut after = world.clone();
                after.act(act);
                searched.steps += 1;
                let mut way: Vec<Act> = way.clone();
                way.push(act);
                if let Some(why) = after.broken() {
                    searched.broken = Some((why, way));
                    return searched;
                }
                if seen.insert(fingerprint(&after)) {
                    searched.arrived += usize::from(after.has_arrived());
                    next.push((after, way));
                }
            }
            if seen.len() >= states_max {
                searched.states = seen.len();
                return searched;
            }
        }
        level = next;
        searched.depth += 1;
        searched.states = seen.len();
    }
    searched
}

/// Two hashes of all that a world goes on by: that two of a million states share both is less likely
/// than a fault of the machine.
fn fingerprint(world: &Small) -> (u64, u64) {
    let mut digest = Digest(DefaultHasher::new(), DefaultHasher::new());
    digest.1.write_u8(1);
    // Writing to a hash cannot fail.
    let _ = world.write_all(&mut digest);
    (digest.0.finish(), digest.1.finish())
}

struct Digest(DefaultHasher, DefaultHasher);

impl fmt::Write for Digest {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.write(text.as_bytes());
        self.1.write(text.as_bytes());
        Ok(())
    }
}
