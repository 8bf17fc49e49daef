//! Figures as Prometheus reads them (R-REG-046). The article's names have dots, which Prometheus
//! does not take; underscores stand for them.

use std::fmt::Write as _;

use dispatch::PoolView;

/// The figures of pools, in the text format 0.0.4.
#[must_use]
pub fn of_pools(pools: &[PoolView]) -> String {
    let mut text = String::new();
    let mut gauge = |name: &str, help: &str, figure: fn(&PoolView) -> u64| {
        head(&mut text, name, help, "gauge");
        for pool in pools {
            // Writing to a String cannot fail. Identifiers need no escapes.
            let _ = writeln!(text, "{name}{{pool=\"{}\"}} {}", pool.pool, figure(pool));
        }
    };
    gauge(
        "robot_registry_used_capacity",
        "Places that are taken.",
        |pool| pool.used,
    );
    gauge("robot_registry_capacity", "Places.", |pool| pool.capacity);
    gauge(
        "robot_registry_waiting",
        "Claims that wait for a place.",
        |pool| pool.waiting,
    );
    gauge(
        "robot_registry_quarantined",
        "Resources in quarantine.",
        |pool| pool.quarantined,
    );
    let name = "robot_registry_acquire_failure_total";
    head(
        &mut text,
        name,
        "Requests for a place that were refused.",
        "counter",
    );
    for pool in pools {
        for (code, count) in &pool.failures {
            let _ = writeln!(
                text,
                "{name}{{pool=\"{}\",code=\"{code}\"}} {count}",
                pool.pool
            );
        }
    }
    text
}

fn head(text: &mut String, name: &str, help: &str, kind: &str) {
    let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}");
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use dispatch::PoolView;
    use protocol::Code;

    #[test]
    fn figures_are_lines() {
        let pool = PoolView {
            pool: "robots".parse().unwrap(),
            capacity: 3,
            used: 2,
            waiting: 1,
            quarantined: 0,
            failures: BTreeMap::from([(Code::CapacityFull, 5), (Code::ResourceTaken, 7)]),
            claims: Vec::new(),
        };
        let text = super::of_pools(&[pool]);
        for line in [
            "# TYPE robot_registry_used_capacity gauge",
            "robot_registry_used_capacity{pool=\"robots\"} 2",
            "robot_registry_capacity{pool=\"robots\"} 3",
            "# TYPE robot_registry_acquire_failure_total counter",
            "robot_registry_acquire_failure_total{pool=\"robots\",code=\"CAPACITY_FULL\"} 5",
            "robot_registry_acquire_failure_total{pool=\"robots\",code=\"RESOURCE_TAKEN\"} 7",
        ] {
            assert!(text.lines().any(|one| one == line), "{line} in\n{text}");
        }
    }
}
