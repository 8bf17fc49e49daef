//! One request, whatever the line speaks.

use crate::map::{Block, Write};
use crate::rs485::Message;
use crate::rtu::{COIL_OFF, COIL_ON, Request};

/// What is asked of a unit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Ask {
    /// A Modbus request.
    Modbus(Request),
    /// A frame of the unit's maker.
    Frame(Message),
}

impl From<Block> for Ask {
    fn from(block: Block) -> Self {
        Self::Modbus(Request::Read {
            table: block.table,
            address: block.address,
            count: block.count,
        })
    }
}

impl From<&Write> for Ask {
    fn from(write: &Write) -> Self {
        Self::Modbus(match write {
            Write::Coil {
                address,
                on,
                multiple: false,
            } => Request::WriteCoil {
                address: *address,
                value: if *on { COIL_ON } else { COIL_OFF },
            },
            Write::Coil {
                address,
                on,
                multiple: true,
            } => Request::WriteCoils {
                address: *address,
                states: vec![*on],
            },
            Write::Flash { address, value } => Request::WriteCoil {
                address: *address,
                value: *value,
            },
            Write::Registers {
                address,
                words,
                multiple,
            } => match words.as_slice() {
                [word] if !*multiple => Request::WriteRegister {
                    address: *address,
                    value: *word,
                },
                words => Request::WriteRegisters {
                    address: *address,
                    words: words.to_vec(),
                },
            },
        })
    }
}
