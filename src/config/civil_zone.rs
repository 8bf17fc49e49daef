//! `[turns]`: where the days of departments begin and end.

use dispatch::CivilZone;
use jiff::Timestamp as Moment;
use jiff::tz::TimeZone;

use super::document::Table;

const KEYS: &[&str] = &["time_zone"];
/// Default of `wire.md` section 8.
const TIME_ZONE: &str = "Asia/Shanghai";
/// Changes of a zone's offset that are looked up: twice a year, to the year 2100.
const CHANGES_MAX: usize = 400;
/// 2100-01-01.
const LAST_S: i64 = 4_102_444_800;

/// Reads `[turns]`.
pub(super) fn read(root: &Table<'_>) -> Option<CivilZone> {
    let table = root.section("turns", KEYS)?;
    let zone = zone_of(TIME_ZONE);
    table.read("time_zone", zone.unwrap_or_default(), |value| {
        let name = value.text()?;
        zone_of(name).or_else(|| {
            value.refuse("the name of a time zone, such as \"Asia/Shanghai\" or \"UTC\"")
        })
    })
}

/// The zone of the built-in time zone data; `None` where they have none of that name.
fn zone_of(name: &str) -> Option<CivilZone> {
    let zone = TimeZone::get(name).ok()?;
    let start = Moment::UNIX_EPOCH;
    let mut offsets = vec![(protocol::Timestamp(0), zone.to_offset(start).seconds())];
    let changes = zone.following(start).take(CHANGES_MAX);
    for change in changes.take_while(|change| change.timestamp().as_second() < LAST_S) {
        let at_ms = u64::try_from(change.timestamp().as_millisecond()).ok()?;
        offsets.push((protocol::Timestamp(at_ms), change.offset().seconds()));
    }
    Some(CivilZone { offsets })
}

#[cfg(test)]
mod tests {
    use protocol::Timestamp;

    use super::zone_of;

    /// From the tables of the time zone database.
    #[test]
    fn days_begin_where_the_zone_says() {
        let date = |zone: &str, at: &str| {
            let at = Timestamp::parse(at).unwrap();
            at.date_at(zone_of(zone).unwrap().offset_s(at)).to_string()
        };
        // China has had one offset since 1991.
        assert_eq!(
            date("Asia/Shanghai", "2026-11-30T15:59:59.999Z"),
            "2026-11-30"
        );
        assert_eq!(date("Asia/Shanghai", "2026-11-30T16:00:00Z"), "2026-12-01");
        assert_eq!(date("UTC", "2026-11-30T23:59:59.999Z"), "2026-11-30");
        // Summer time ended in Germany on 2026-10-25 at 01:00 UTC.
        assert_eq!(date("Europe/Berlin", "2026-10-24T22:00:00Z"), "2026-10-25");
        assert_eq!(date("Europe/Berlin", "2026-10-25T22:30:00Z"), "2026-10-25");
        assert_eq!(date("Europe/Berlin", "2026-10-25T23:00:00Z"), "2026-10-26");
        assert_eq!(
            date("America/Los_Angeles", "2026-03-08T07:59:59Z"),
            "2026-03-07"
        );
        assert_eq!(zone_of("Mars/Olympus"), None);
    }
}
