//! `[[pools]]`, `[[quotas]]`, `[[series]]`, `[[departments]]` and `[turns]`.

use std::path::Path;

use dispatch::{ResourceClass, WhenFull};
use hallcall::config::Config;
use protocol::client::Label;

use super::{GATEWAY, Site, assert_beside_refused};

/// What an integrator reads in `configs/apps.toml` is what the gateway gets.
#[test]
fn the_example_means_what_it_says() {
    let config = Config::load(Path::new("configs/apps.toml")).expect("apps.toml");
    assert!(
        config.site.elevators.is_empty(),
        "a site for applications alone"
    );
    let applications = &config.site.applications;
    assert_eq!(config.site.limits.client_messages_per_s, 500);
    let pool = |id: &str| &applications.pools[&id.parse().expect("an id")];
    let robots = pool("robots");
    assert_eq!(
        (robots.capacity, robots.resources.len(), robots.any_id),
        (3, 4, false)
    );
    assert_eq!(
        (robots.class, &robots.when_full),
        (ResourceClass::Physical, &WhenFull::Wait)
    );
    assert_eq!((robots.heartbeat_ms, robots.init_ms), (30_000, 10_000));
    let accounts = pool("accounts");
    assert_eq!(
        accounts.when_full,
        WhenFull::Spare("shared".parse().expect("an id"))
    );
    let quotas: Vec<_> = accounts
        .quotas
        .iter()
        .map(|quota| {
            (
                quota.label,
                quota.value.as_ref().map(|value| value.as_str()),
                quota.limit,
            )
        })
        .collect();
    assert_eq!(
        quotas,
        [
            (Label::Tenant, None, 10),
            (Label::Project, Some("pilot"), 3)
        ]
    );
    let laboratory = pool("laboratory");
    assert_eq!((laboratory.capacity, laboratory.approval), (2, true));
    let series: Vec<_> = applications
        .series
        .iter()
        .map(|one| (one.id.as_str(), one.start, one.step, one.max, one.switch))
        .collect();
    assert_eq!(
        series,
        [("AA", 1, 1, 10_000, true), ("BB", 1, 1, 10_000, true)]
    );
    assert_eq!(applications.departments.len(), 2);
    let new_year = protocol::Timestamp::parse("2026-12-31T16:00:00Z").expect("a moment");
    let offset_s = applications.zone.offset_s(new_year);
    assert_eq!(new_year.date_at(offset_s).to_string(), "2027-01-01");
}

#[test]
fn a_site_needs_elevators_or_applications() {
    for good in [
        "[[series]]\nid = \"AA\"\nmax = 10\n",
        "[[departments]]\nid = \"D1\"\n",
        "[[pools]]\nid = \"P\"\ncapacity = 1\nany_id = true\n",
    ] {
        let mistakes = Site::new(&format!("{GATEWAY}{good}")).mistakes();
        assert_eq!(mistakes, Vec::<String>::new(), "{good}");
    }
    let mistakes = Site::new(GATEWAY).mistakes();
    assert_eq!(
        mistakes,
        ["elevators = (left out): expected at least one [[elevators]]"]
    );
}

#[test]
fn applications_are_judged_key_by_key() {
    for (text, expected) in [
        (
            "[[series]]\nid = \"A A\"\nmax = 1",
            "series[0].id = \"A A\": expected an identifier, 1 to 64 of A-Z a-z 0-9 _ . : -; it \
             holds the character ' ', only A-Z a-z 0-9 _ . : - are allowed",
        ),
        (
            "[[series]]\nid = \"AA\"",
            "series[0].max = (left out): expected the highest number that the series may give",
        ),
        (
            "[[series]]\nid = \"AA\"\nmax = 4\nstart = 5",
            "series[0].max = 4: expected at least start = 5, else the series has no number",
        ),
        (
            "[[series]]\nid = \"AA\"\nmax = 4\nstep = 0",
            "series[0].step = 0: expected an integer from 1 to 9223372036854775807",
        ),
        (
            "[[series]]\nid = \"AA\"\nmax = 4\n[[series]]\nid = \"AA\"\nmax = 4",
            "series[1].id = \"AA\": expected an identifier that no series above has",
        ),
        (
            "[[departments]]\nid = \"D\"\n[[departments]]\nid = \"D\"",
            "departments[1].id = \"D\": expected an identifier that no department above has",
        ),
        (
            "[turns]\ntime_zone = \"Mars/Olympus\"",
            "turns.time_zone = \"Mars/Olympus\": expected the name of a time zone, such as \
             \"Asia/Shanghai\" or \"UTC\"",
        ),
        (
            "[[pools]]\nid = \"P\"",
            "pools[0].resources = (left out): expected the pool's resources, or any_id = true",
        ),
        (
            "[[pools]]\nid = \"P\"\nany_id = true",
            "pools[0].capacity = (left out): expected how many places the pool has",
        ),
        (
            "[[pools]]\nid = \"P\"\nresources = [\"R\", \"R\"]",
            "pools[0].resources[1] = \"R\": expected a resource that is not above",
        ),
        (
            "[[pools]]\nid = \"P\"\nresources = [\"R\"]\nclass = \"soft\"",
            "pools[0].class = \"soft\": expected \"logical\" or \"physical\"",
        ),
        (
            "[[pools]]\nid = \"P\"\nresources = [\"R\"]\nwhen_full = \"spare\"",
            "pools[0].spare = (left out): expected the pool that serves what this one cannot",
        ),
        (
            "[[pools]]\nid = \"P\"\nresources = [\"R\"]\nwhen_full = \"spare\"\nspare = \"P\"",
            "pools[0].spare = \"P\": expected another pool than this one",
        ),
        (
            "[[pools]]\nid = \"P\"\nresources = [\"R\"]\nwhen_full = \"spare\"\nspare = \"Q\"",
            "pools[0].spare = \"Q\": expected the id of one of the [[pools]]",
        ),
        (
            "[[pools]]\nid = \"P\"\nresources = [\"R\"]\nheartbeat_s = 4",
            "pools[0].heartbeat_s = 4: expected seconds from 5 to 3600",
        ),
        (
            "[[pools]]\nid = \"P\"\nresources = [\"R\"]\n[[quotas]]\npool = \"Q\"\n\
             label = \"user\"\nlimit = 1",
            "quotas[0].pool = \"Q\": expected the id of one of the [[pools]]",
        ),
        (
            "[[pools]]\nid = \"P\"\nresources = [\"R\"]\n[[quotas]]\npool = \"P\"\n\
             label = \"family\"\nlimit = 1",
            "quotas[0].label = \"family\": expected \"user\" or \"department\" or \"project\" or \
             \"tenant\" or \"line\"",
        ),
        (
            "[limits]\nclient_messages_per_s = 0",
            "limits.client_messages_per_s = 0: expected an integer from 1 to 100000",
        ),
    ] {
        assert_beside_refused(&format!("{text}\n"), expected);
    }
}
