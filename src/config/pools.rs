//! `[[pools]]` and `[[quotas]]`.

use std::collections::{BTreeMap, BTreeSet};

use dispatch::{PoolConfig, Quota, ResourceClass, WhenFull};
use protocol::client::Label;
use protocol::limits::{LEASE_S_MAX, LEASE_S_MIN, POOLS_MAX, QUOTAS_MAX, RESOURCES_MAX};
use protocol::{PoolId, ResourceId};

use super::document::{Table, Value};

const POOL_KEYS: &[&str] = &[
    "id",
    "capacity",
    "resources",
    "any_id",
    "class",
    "when_full",
    "spare",
    "approval",
    "heartbeat_s",
    "init_s",
];
const QUOTA_KEYS: &[&str] = &["pool", "label", "value", "limit"];
const CLASSES: &[(&str, ResourceClass)] = &[
    ("logical", ResourceClass::Logical),
    ("physical", ResourceClass::Physical),
];
/// Defaults of `wire.md` section 8.
const HEARTBEAT_MS: u64 = 30_000;
const INIT_MS: u64 = 10_000;

/// What `when_full` says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Full {
    Refuse,
    Wait,
    Spare,
}

const WHEN_FULL: &[(&str, Full)] = &[
    ("refuse", Full::Refuse),
    ("wait", Full::Wait),
    ("spare", Full::Spare),
];

/// Reads the pools with their quotas.
pub(super) fn read(root: &Table<'_>) -> Option<BTreeMap<PoolId, PoolConfig>> {
    let tables = root.tables("pools", POOLS_MAX);
    let mut pools = BTreeMap::new();
    let mut is_whole = true;
    for table in &tables {
        match read_pool(table, &pools) {
            Some(pool) => {
                pools.insert(pool.id.clone(), pool);
            }
            None => is_whole = false,
        }
    }
    if is_whole {
        for table in &tables {
            is_whole &= check_spare(table, &pools).is_some();
        }
    }
    for table in root.tables("quotas", QUOTAS_MAX) {
        match read_quota(&table, &pools, is_whole) {
            Some((pool, quota)) => {
                if let Some(pool) = pools.get_mut(&pool) {
                    pool.quotas.push(quota);
                }
            }
            None => is_whole = false,
        }
    }
    is_whole.then_some(pools)
}

fn read_pool(table: &Table<'_>, above: &BTreeMap<PoolId, PoolConfig>) -> Option<PoolConfig> {
    table.refuse_unknown(POOL_KEYS);
    let id = table.require("id", "the identifier of the pool", |value| {
        let id: PoolId = value.identifier()?;
        if above.contains_key(&id) {
            return value.refuse("an identifier that no pool above has");
        }
        Some(id)
    });
    let any_id = table.read("any_id", false, Value::flag);
    let resources = read_resources(table, any_id);
    let most = u64::try_from(RESOURCES_MAX).unwrap_or(u64::MAX);
    let count = resources.as_ref().map_or(0, BTreeSet::len);
    let count = u64::try_from(count).unwrap_or(u64::MAX);
    let capacity = if any_id == Some(true) {
        table.require("capacity", "how many places the pool has", |value| {
            value.integer(0..=most)
        })
    } else {
        table.read("capacity", count, |value| value.integer(0..=most))
    };
    let class = table.read("class", ResourceClass::Logical, |value| value.word(CLASSES));
    let when_full = read_when_full(table);
    let approval = table.read("approval", false, Value::flag);
    let heartbeat_ms = table.read("heartbeat_s", HEARTBEAT_MS, |value| {
        let ms = value.seconds_ms()?;
        let range = u64::from(LEASE_S_MIN) * 1000..=u64::from(LEASE_S_MAX) * 1000;
        if range.contains(&ms) {
            return Some(ms);
        }
        value.refuse(format!("seconds from {LEASE_S_MIN} to {LEASE_S_MAX}"))
    });
    let init_ms = table.read("init_s", INIT_MS, Value::seconds_ms);
    Some(PoolConfig {
        id: id?,
        capacity: capacity?,
        resources: resources?,
        any_id: any_id?,
        class: class?,
        when_full: when_full?,
        approval: approval?,
        heartbeat_ms: heartbeat_ms?,
        init_ms: init_ms?,
        quotas: Vec::new(),
    })
}

fn read_resources(table: &Table<'_>, any_id: Option<bool>) -> Option<BTreeSet<ResourceId>> {
    let Some(value) = table.value("resources") else {
        return match any_id {
            Some(false) => table.refuse("resources", "the pool's resources, or any_id = true"),
            Some(true) | None => Some(BTreeSet::new()),
        };
    };
    if any_id == Some(true) {
        return value.refuse("nothing: with any_id = true every identifier is a resource");
    }
    let items = value.list()?;
    if items.is_empty() || items.len() > RESOURCES_MAX {
        return value.refuse(format!("1 to {RESOURCES_MAX} resources"));
    }
    let mut resources = BTreeSet::new();
    let mut is_whole = true;
    for item in items {
        let known: Option<ResourceId> = item.identifier();
        is_whole &= match known {
            Some(resource) if resources.insert(resource.clone()) => true,
            Some(_) => item.refuse::<()>("a resource that is not above").is_some(),
            None => false,
        };
    }
    is_whole.then_some(resources)
}

fn read_when_full(table: &Table<'_>) -> Option<WhenFull> {
    let full = table.read("when_full", Full::Refuse, |value| value.word(WHEN_FULL))?;
    match (full, table.value("spare")) {
        (Full::Refuse, None) => Some(WhenFull::Refuse),
        (Full::Wait, None) => Some(WhenFull::Wait),
        (Full::Spare, Some(spare)) => spare.identifier().map(WhenFull::Spare),
        (Full::Spare, None) => table.refuse("spare", "the pool that serves what this one cannot"),
        (Full::Refuse | Full::Wait, Some(spare)) => {
            spare.refuse("nothing, or when_full = \"spare\"")
        }
    }
}

fn check_spare(table: &Table<'_>, pools: &BTreeMap<PoolId, PoolConfig>) -> Option<()> {
    let Some(value) = table.value("spare") else {
        return Some(());
    };
    let spare: PoolId = value.identifier()?;
    let own = table.value("id").and_then(|id| id.identifier::<PoolId>());
    if own.as_ref() == Some(&spare) {
        return value.refuse("another pool than this one");
    }
    if pools.contains_key(&spare) {
        return Some(());
    }
    value.refuse("the id of one of the [[pools]]")
}

fn read_quota(
    table: &Table<'_>,
    pools: &BTreeMap<PoolId, PoolConfig>,
    pools_are_whole: bool,
) -> Option<(PoolId, Quota)> {
    table.refuse_unknown(QUOTA_KEYS);
    let pool = table.require("pool", "the pool that the quota is of", |value| {
        let pool: PoolId = value.identifier()?;
        if pools.contains_key(&pool) || !pools_are_whole {
            return Some(pool);
        }
        value.refuse("the id of one of the [[pools]]")
    });
    let labels: Vec<(&str, Label)> = Label::ALL
        .iter()
        .map(|label| (label.as_str(), *label))
        .collect();
    let label = table.require("label", "what the quota counts by", |value| {
        value.word(&labels)
    });
    let value = table.read("value", None, |value| {
        if value.is_text("*") {
            return Some(None);
        }
        value.identifier().map(Some)
    });
    let most = u64::try_from(RESOURCES_MAX).unwrap_or(u64::MAX);
    let limit = table.require("limit", "how many resources at most", |value| {
        value.integer(0..=most)
    });
    let quota = Quota {
        label: label?,
        value: value?,
        limit: limit?,
    };
    Some((pool?, quota))
}
