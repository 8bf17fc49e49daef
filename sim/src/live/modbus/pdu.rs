//! The protocol data of a request and of its answer (Modbus application protocol 1.1b3, chapter 6),
//! for transports that hand over bytes.

use std::borrow::Cow;

use tokio_modbus::bytes::Bytes;
use tokio_modbus::prelude::{ExceptionCode, Request, Response};

/// Write Single Coil, whose value some makers give meanings of their own.
const WRITE_COIL: u8 = 5;
/// Bytes of a request for, or a write of, one range: function and two words.
const PLAIN_LEN: usize = 5;

/// What a request asks for.
///
/// # Errors
/// The exception that a slave answers with where it asks for nothing that could be.
pub(in crate::live) fn request(data: &[u8]) -> Result<Request<'static>, ExceptionCode> {
    let expected = length(data).ok_or(ExceptionCode::IllegalFunction)?;
    if data.len() != expected || !counts_fit(data) {
        return Err(ExceptionCode::IllegalDataValue);
    }
    if let [WRITE_COIL, .., high, low] = data
        && !matches!((high, low), (0xFF | 0, 0))
    {
        return Ok(Request::Custom(WRITE_COIL, Cow::Owned(data[1..].to_vec())));
    }
    Request::try_from(Bytes::copy_from_slice(data)).map_err(|_| ExceptionCode::IllegalDataValue)
}

/// The address and the value of a write of one coil whose value is neither on nor off.
pub(in crate::live) fn odd_coil(request: &Request<'_>) -> Option<(u16, u16)> {
    let Request::Custom(WRITE_COIL, data) = request else {
        return None;
    };
    let [a, b, c, d] = data.as_ref() else {
        return None;
    };
    Some((u16::from_be_bytes([*a, *b]), u16::from_be_bytes([*c, *d])))
}

/// The protocol data of an answer to the request with this function.
// No device of the simulator answers with anything else.
#[allow(clippy::wildcard_enum_match_arm)]
pub(in crate::live) fn answer(function: u8, answer: &Result<Response, ExceptionCode>) -> Vec<u8> {
    let mut data = vec![function];
    match answer {
        Ok(Response::ReadCoils(bits) | Response::ReadDiscreteInputs(bits)) => {
            push_counted(&mut data, packed(bits));
        }
        Ok(Response::ReadInputRegisters(words) | Response::ReadHoldingRegisters(words)) => {
            let bytes = words.iter().flat_map(|word| word.to_be_bytes()).collect();
            push_counted(&mut data, bytes);
        }
        Ok(Response::WriteSingleCoil(address, on)) => {
            push(&mut data, *address, if *on { 0xFF00 } else { 0 });
        }
        Ok(Response::WriteSingleRegister(address, word)) => push(&mut data, *address, *word),
        Ok(
            Response::WriteMultipleCoils(address, count)
            | Response::WriteMultipleRegisters(address, count),
        ) => push(&mut data, *address, *count),
        Ok(Response::Custom(_, bytes)) => data.extend(bytes.iter()),
        Ok(_) => return exception(function, ExceptionCode::ServerDeviceFailure),
        Err(code) => return exception(function, *code),
    }
    data
}

/// The protocol data of a refusal.
pub(in crate::live) fn exception(function: u8, code: ExceptionCode) -> Vec<u8> {
    vec![function | 0x80, code.into()]
}

/// The length of a request's protocol data by its function; `None` for functions that no device of
/// the simulator has.
pub(in crate::live) fn length(data: &[u8]) -> Option<usize> {
    match data.first()? {
        1..=6 => Some(PLAIN_LEN),
        15 | 16 => Some(6 + data.get(5).map_or(0, |bytes| usize::from(*bytes))),
        _ => None,
    }
}

/// Whether the number of points and the number of bytes of a long write agree.
fn counts_fit(data: &[u8]) -> bool {
    let [function @ (15 | 16), _, _, high, low, bytes, ..] = data else {
        return true;
    };
    let count = u16::from_be_bytes([*high, *low]);
    let (count_max, expected) = match function {
        15 => (1_968, count.div_ceil(8)),
        _ => (123, count.saturating_mul(2)),
    };
    (1..=count_max).contains(&count) && u16::from(*bytes) == expected
}

fn push(data: &mut Vec<u8>, address: u16, word: u16) {
    data.extend(address.to_be_bytes());
    data.extend(word.to_be_bytes());
}

/// Readings are bounded to 2000 bits and 125 words, so their length fits into its byte.
fn push_counted(data: &mut Vec<u8>, bytes: Vec<u8>) {
    data.push(u8::try_from(bytes.len()).unwrap_or(u8::MAX));
    data.extend(bytes);
}

/// Eight bits to a byte, the lowest address in the lowest bit.
fn packed(bits: &[bool]) -> Vec<u8> {
    let byte = |bits: &[bool]| {
        bits.iter()
            .enumerate()
            .fold(0, |byte, (at, bit)| byte | u8::from(*bit) << at)
    };
    bits.chunks(8).map(byte).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// The examples of the application protocol, chapter 6, unless said otherwise.
    #[test]
    fn requests_of_the_specification_are_understood() {
        let read = |data: &[u8]| request(data);
        let is = |asked| Ok(asked);
        // 6.1: coils 20 to 38; 6.2: inputs 197 to 218; 6.3: registers 108 to 110; 6.4: register 9.
        assert_eq!(
            read(&[0x01, 0x00, 0x13, 0x00, 0x13]),
            is(Request::ReadCoils(0x13, 0x13))
        );
        assert_eq!(
            read(&[0x02, 0x00, 0xC4, 0x00, 0x16]),
            is(Request::ReadDiscreteInputs(0xC4, 0x16))
        );
        assert_eq!(
            read(&[0x03, 0x00, 0x6B, 0x00, 0x03]),
            is(Request::ReadHoldingRegisters(0x6B, 3))
        );
        assert_eq!(
            read(&[0x04, 0x00, 0x08, 0x00, 0x01]),
            is(Request::ReadInputRegisters(8, 1))
        );
        // 6.5: coil 173 on; 6.6: register 2 to 3.
        assert_eq!(
            read(&[0x05, 0x00, 0xAC, 0xFF, 0x00]),
            is(Request::WriteSingleCoil(0xAC, true))
        );
        assert_eq!(
            read(&[0x06, 0x00, 0x01, 0x00, 0x03]),
            is(Request::WriteSingleRegister(1, 3))
        );
        // 6.11: ten coils from 20 as CD 01; 6.12: registers 2 and 3 to 10 and 258.
        let coils = [1, 0, 1, 1, 0, 0, 1, 1, 1, 0].map(|bit| bit == 1);
        assert_eq!(
            read(&[0x0F, 0x00, 0x13, 0x00, 0x0A, 0x02, 0xCD, 0x01]),
            is(Request::WriteMultipleCoils(0x13, coils.to_vec().into()))
        );
        assert_eq!(
            read(&[0x10, 0x00, 0x01, 0x00, 0x02, 0x04, 0x00, 0x0A, 0x01, 0x02]),
            is(Request::WriteMultipleRegisters(1, vec![10, 258].into()))
        );
    }

    #[test]
    fn answers_are_those_of_the_specification() {
        let bits = |bytes: &[u8], count| {
            let bit = |at: usize| bytes[at / 8] >> (at % 8) & 1 == 1;
            (0..count).map(bit).collect::<Vec<_>>()
        };
        // 6.1: CD 6B 05 for coils 20 to 38.
        let coils = Ok(Response::ReadCoils(bits(&[0xCD, 0x6B, 0x05], 19)));
        assert_eq!(answer(1, &coils), [0x01, 0x03, 0xCD, 0x6B, 0x05]);
        // 6.2: AC DB 35 for inputs 197 to 218.
        let inputs = Ok(Response::ReadDiscreteInputs(bits(&[0xAC, 0xDB, 0x35], 22)));
        assert_eq!(answer(2, &inputs), [0x02, 0x03, 0xAC, 0xDB, 0x35]);
        // 6.3: 555, 0, 100.
        let words = Ok(Response::ReadHoldingRegisters(vec![555, 0, 100]));
        assert_eq!(
            answer(3, &words),
            [0x03, 0x06, 0x02, 0x2B, 0x00, 0x00, 0x00, 0x64]
        );
        assert_eq!(
            answer(4, &Ok(Response::ReadInputRegisters(vec![10]))),
            [0x04, 0x02, 0x00, 0x0A]
        );
        assert_eq!(
            answer(5, &Ok(Response::WriteSingleCoil(0xAC, true))),
            [0x05, 0x00, 0xAC, 0xFF, 0x00]
        );
        assert_eq!(
            answer(6, &Ok(Response::WriteSingleRegister(1, 3))),
            [0x06, 0x00, 0x01, 0x00, 0x03]
        );
        assert_eq!(
            answer(15, &Ok(Response::WriteMultipleCoils(0x13, 10))),
            [0x0F, 0x00, 0x13, 0x00, 0x0A]
        );
        assert_eq!(
            answer(16, &Ok(Response::WriteMultipleRegisters(1, 2))),
            [0x10, 0x00, 0x01, 0x00, 0x02]
        );
        // Chapter 7: no such output.
        assert_eq!(
            answer(1, &Err(ExceptionCode::IllegalDataAddress)),
            [0x81, 0x02]
        );
    }

    #[test]
    fn what_asks_for_nothing_is_refused_as_the_specification_says() {
        let refused = |data: &[u8]| request(data).unwrap_err();
        assert_eq!(refused(&[0x2B, 0x0E]), ExceptionCode::IllegalFunction);
        assert_eq!(
            refused(&[0x03, 0x00, 0x6B, 0x00]),
            ExceptionCode::IllegalDataValue
        );
        // Twenty coils in one byte; two registers in two bytes; none at all.
        assert_eq!(
            refused(&[0x0F, 0x00, 0x13, 0x00, 0x14, 0x01, 0xCD]),
            ExceptionCode::IllegalDataValue
        );
        assert_eq!(
            refused(&[0x10, 0x00, 0x01, 0x00, 0x02, 0x02, 0x00, 0x0A]),
            ExceptionCode::IllegalDataValue
        );
        assert_eq!(
            refused(&[0x10, 0x00, 0x01, 0x00, 0x00, 0x00]),
            ExceptionCode::IllegalDataValue
        );
    }

    #[test]
    fn a_coil_with_a_value_of_the_makers_own_comes_through() {
        // Relay 1 on for 7 x 100 ms.
        let asked = request(&[0x05, 0x02, 0x00, 0x00, 0x07]).unwrap();
        assert_eq!(odd_coil(&asked), Some((0x0200, 7)));
        assert_eq!(
            answer(
                5,
                &Ok(Response::Custom(5, Bytes::from_static(&[2, 0, 0, 7])))
            ),
            [0x05, 0x02, 0x00, 0x00, 0x07]
        );
    }
}
