//! Messages that nobody can use: counted, and named in the log at most once a minute per source
//! (`wire.md` section 2).

use std::collections::BTreeMap;
use std::time::Duration;

use protocol::text::detail;
use tokio::time::Instant;

/// Sources that are told apart.
const SOURCES_MAX: usize = 256;
/// How often one source is named in the log.
const NAMED_EVERY: Duration = Duration::from_secs(60);

/// The sources, by topic.
#[derive(Debug, Default)]
pub(super) struct Oddities {
    sources: BTreeMap<String, Source>,
}

#[derive(Debug)]
struct Source {
    count: u64,
    named: Instant,
}

impl Oddities {
    /// Counts a message, and names its source where it is time.
    pub(super) fn note(&mut self, topic: &str, why: &str) {
        let topic = detail(topic);
        if let Some(count) = self.count(&topic, Instant::now()) {
            tracing::warn!(topic, why, count, "ignored a message");
        }
    }

    /// How many came from the source, where it is time to tell.
    fn count(&mut self, topic: &str, now: Instant) -> Option<u64> {
        if let Some(source) = self.sources.get_mut(topic) {
            source.count += 1;
            let due = now.duration_since(source.named) >= NAMED_EVERY;
            return due.then(|| {
                source.named = now;
                source.count
            });
        }
        if self.sources.len() >= SOURCES_MAX {
            self.sources
                .retain(|_, source| now.duration_since(source.named) < NAMED_EVERY);
        }
        // A flood of sources is not named one by one.
        if self.sources.len() < SOURCES_MAX {
            self.sources.insert(
                topic.to_owned(),
                Source {
                    count: 1,
                    named: now,
                },
            );
            return Some(1);
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_is_named_once_a_minute_with_its_count() {
        let mut oddities = Oddities::default();
        let start = Instant::now();
        let at = |s| start + Duration::from_secs(s);
        assert_eq!(oddities.count("a", at(0)), Some(1));
        assert_eq!(oddities.count("a", at(1)), None);
        assert_eq!(oddities.count("b", at(1)), Some(1), "another source");
        assert_eq!(oddities.count("a", at(59)), None);
        assert_eq!(oddities.count("a", at(60)), Some(4));
        assert_eq!(oddities.count("a", at(61)), None);
    }

    #[test]
    fn a_flood_of_sources_is_bounded_and_makes_room_after_a_minute() {
        let mut oddities = Oddities::default();
        let start = Instant::now();
        for n in 0..SOURCES_MAX {
            assert_eq!(oddities.count(&n.to_string(), start), Some(1));
        }
        assert_eq!(oddities.count("one more", start), None);
        assert_eq!(oddities.sources.len(), SOURCES_MAX);
        assert_eq!(oddities.count("one more", start + NAMED_EVERY), Some(1));
        assert_eq!(oddities.sources.len(), 1);
    }
}
