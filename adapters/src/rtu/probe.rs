//! What a unit can be asked instead, so that its answer looks like nothing that it owes.

use super::reply::Shape;
use super::request::Request;
use crate::map::Table;

/// Reads of a unit that are remembered because they were answered.
const KNOWN_MAX: usize = 4;
/// Parts of one read.
const PARTS_MAX: u16 = 8;

/// Reads that a unit answered, each of another shape.
#[derive(Debug, Default)]
pub(super) struct Known(Vec<Request>);

impl Known {
    /// The unit answered this.
    pub(super) fn note(&mut self, unit: u8, request: &Request) {
        if !matches!(request, Request::Read { .. }) {
            return;
        }
        let shape = Shape::of(unit, request);
        let is_new = |known: &Request| !Shape::of(unit, known).is_like(&shape);
        if self.0.iter().all(is_new) {
            if self.0.len() >= KNOWN_MAX {
                self.0.remove(0);
            }
            self.0.push(request.clone());
        }
    }
}

/// Reads to choose from: those that the unit is known to answer, parts of them and of what is asked,
/// the longest first, and one point by each function. A unit without such a point answers that by an
/// exception, which tells as much. A unit that is silent for a while owes each that it was asked, so
/// there have to be more than are asked until the first is forgotten.
pub(super) fn probes(
    known: Option<&Known>,
    request: &Request,
) -> impl Iterator<Item = Request> + use<> {
    let mut probes = known.map(|known| known.0.clone()).unwrap_or_default();
    let wholes: Vec<_> = probes.iter().chain([request]).cloned().collect();
    probes.extend(wholes.iter().flat_map(parts));
    let address = request.address();
    let own = match request {
        Request::Read { table, .. } => *table,
        Request::WriteCoil { .. } | Request::WriteCoils { .. } => Table::Coil,
        Request::WriteRegister { .. } | Request::WriteRegisters { .. } => Table::Holding,
    };
    let one = |(table, address)| Request::Read {
        table,
        address,
        count: 1,
    };
    let all = [
        (own, address),
        (own, 0),
        (Table::Holding, address),
        (Table::Coil, address),
        (Table::Input, address),
        (Table::Discrete, address),
    ];
    probes.extend(all.map(one));
    probes.into_iter()
}

/// The first points of a read, each time a byte of bits or a register less; none of a write.
fn parts(whole: &Request) -> Vec<Request> {
    let Request::Read {
        table,
        address,
        count,
    } = whole
    else {
        return Vec::new();
    };
    let less = if table.is_bits() { 8 } else { 1 };
    let part = |times: u16| {
        let count = count.saturating_sub(times * less);
        (count > 0).then_some(Request::Read {
            table: *table,
            address: *address,
            count,
        })
    };
    (1..=PARTS_MAX).map_while(part).collect()
}
