//! The token that starts a rental. Whoever knows it may ride, so that nobody sees it but the
//! application that reserved: no log, no error, no journal and no `Debug` holds it.

use std::fmt;

use hmac::{Hmac, KeyInit as _, Mac as _};
use serde::{Deserialize, Serialize, Serializer};
use sha2::{Digest as _, Sha256};

use crate::id::{DeviceId, RentalId, UserId};
use crate::limits::TOKEN_BYTES_MAX;
use crate::sensitive::Sensitive;

/// Bytes of a token before they are written as hexadecimal digits: 160 bits.
const TOKEN_BYTES: usize = 20;

/// What tokens are made with: random, and known to the gateway alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenKey(Sensitive<[u8; 32]>);

impl TokenKey {
    /// A key of random bytes.
    #[must_use]
    pub fn new(random: [u8; 32]) -> Self {
        Self(Sensitive::new(random))
    }

    /// The token of a rental, bound to its user and device. The same each time, so that a
    /// repetition of a request is told the same token and no store needs to hold it.
    #[must_use]
    pub fn token(&self, rental: &RentalId, user: &UserId, device: &DeviceId) -> Token {
        let bound = format!("{rental}\n{user}\n{device}");
        let tag = hmac_sha256(self.0.reveal(), bound.as_bytes());
        Token(Sensitive::new(hex(&tag[..TOKEN_BYTES])))
    }
}

/// A token, on its way to the application that reserved. It can be neither printed nor stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token(Sensitive<String>);

impl Token {
    /// What the gateway remembers it by.
    #[must_use]
    pub fn hash(&self) -> TokenHash {
        TokenHash::of(self.0.reveal())
    }

    /// The token as it stands on the wire.
    pub(crate) fn reveal(&self) -> &str {
        self.0.reveal()
    }
}

/// What a token is known by: a SHA-256 of it. An incoming token is this from where it is read on.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct TokenHash([u8; 32]);

impl TokenHash {
    /// The hash of a token as it stands on the wire.
    #[must_use]
    pub fn of(token: &str) -> Self {
        Self(Sha256::digest(token.as_bytes()).into())
    }

    /// The same, of a text that may be a token.
    pub(crate) fn read(text: &str) -> Option<Self> {
        let is_token = (1..=TOKEN_BYTES_MAX).contains(&text.len());
        is_token.then(|| Self::of(text))
    }
}

impl fmt::Debug for TokenHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TokenHash(***)")
    }
}

impl Serialize for TokenHash {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&hex(&self.0))
    }
}

impl<'de> Deserialize<'de> for TokenHash {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        let digits = text.as_bytes().chunks_exact(2);
        let bytes: Option<Vec<u8>> = digits
            .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok())
            .collect();
        let whole = bytes.and_then(|bytes| <[u8; 32]>::try_from(bytes).ok());
        let whole = whole.filter(|_| text.len() == 64);
        whole
            .map(Self)
            .ok_or_else(|| serde::de::Error::custom("is no hash of a token"))
    }
}

/// HMAC-SHA-256 (RFC 2104) with a key of any length.
pub(crate) fn hmac_sha256(key: &[u8], text: &[u8]) -> [u8; 32] {
    // HMAC takes keys of every length.
    #[allow(clippy::expect_used)]
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("HMAC takes any key");
    mac.update(text);
    mac.finalize().into_bytes().into()
}

/// Bytes as lower-case hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token(key: u8, rental: &str, user: &str, device: &str) -> Token {
        let id = "an id";
        TokenKey::new([key; 32]).token(
            &rental.parse().expect(id),
            &user.parse().expect(id),
            &device.parse().expect(id),
        )
    }

    /// T-RENT-02: another rental, user, device or gateway has another token.
    #[test]
    fn a_token_is_of_one_rental_user_and_device() {
        let one = token(7, "r1", "U1", "D1");
        assert_eq!(one, token(7, "r1", "U1", "D1"));
        for other in [
            token(8, "r1", "U1", "D1"),
            token(7, "r2", "U1", "D1"),
            token(7, "r1", "U2", "D1"),
            token(7, "r1", "U1", "D2"),
        ] {
            assert_ne!(one, other);
            assert_ne!(one.hash(), other.hash());
        }
        assert_eq!(one.reveal().len(), 40);
    }

    /// T-RENT-18: no `Debug` and no store holds a token or a key.
    #[test]
    fn neither_debug_nor_serde_shows_a_token() {
        let token = token(7, "r1", "U1", "D1");
        let shown = format!("{token:?} {:?} {:?}", token.hash(), TokenKey::new([7; 32]));
        assert_eq!(shown, "Token(***) TokenHash(***) TokenKey(***)");
        let stored = serde_json::to_string(&token.hash()).expect("it is written");
        assert!(!stored.contains(token.reveal()));
        let read: TokenHash = serde_json::from_str(&stored).expect("it is read");
        assert_eq!(read, token.hash());
        for bad in ["\"00\"", "\"zz\"", "5"] {
            assert!(serde_json::from_str::<TokenHash>(bad).is_err(), "{bad}");
        }
    }

    /// RFC 4231, test case 2.
    #[test]
    fn hmac_is_that_of_the_standard() {
        let tag = hmac_sha256(b"Jefe", b"what do ya want for nothing?");
        let expected = "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843";
        assert_eq!(hex(&tag), expected);
    }
}
