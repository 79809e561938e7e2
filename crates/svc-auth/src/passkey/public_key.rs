//! Public keys of passkeys.
//!
//! Authenticators write them as COSE keys in the canonical form of CTAP2: the members have one order and one encoding, so that a key
//! is a sequence of constants and numbers of fixed lengths.
//!
//! Source: <https://www.w3.org/TR/webauthn-2/#sctn-encoded-credPubKey-examples>.

use ring::signature::{
    ECDSA_P256_SHA256_ASN1, ED25519, RSA_PKCS1_2048_8192_SHA256, RsaPublicKeyComponents, UnparsedPublicKey,
};

/// `{1: 2, 3: -7, -1: 1, -2: bytes(32)`
const P256_X: &[u8] = &[0xa5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01, 0x21, 0x58, 0x20];
/// `-3: bytes(32)}`
const P256_Y: &[u8] = &[0x22, 0x58, 0x20];
/// `{1: 1, 3: -8, -1: 6, -2: bytes(32)}`
const ED25519_X: &[u8] = &[0xa4, 0x01, 0x01, 0x03, 0x27, 0x20, 0x06, 0x21, 0x58, 0x20];
/// `{1: 3, 3: -257, -1: bytes(`
const RSA_N: &[u8] = &[0xa4, 0x01, 0x03, 0x03, 0x39, 0x01, 0x00, 0x20, 0x59];
/// `-2: bytes(3)}`
const RSA_E: &[u8] = &[0x21, 0x43];

/// Lengths of the modulus of an RSA key, in bytes: 2048 to 4096 bits.
const RSA_LENGTHS: std::ops::RangeInclusive<usize> = 256..=512;

/// A public key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum PublicKey {
    /// ECDSA with P-256 and SHA-256: the coordinates.
    P256([u8; 32], [u8; 32]),
    /// Ed25519.
    Ed25519([u8; 32]),
    /// RSA with PKCS #1 and SHA-256: modulus and exponent.
    Rsa(Vec<u8>, [u8; 3]),
}

/// The rest of the bytes after this constant and so many bytes, with these.
fn after<'a, const N: usize>(bytes: &'a [u8], constant: &[u8]) -> Option<(&'a [u8; N], &'a [u8])> {
    bytes.strip_prefix(constant)?.split_first_chunk()
}

impl PublicKey {
    /// Reads the COSE key with which these bytes begin. Returns what follows it as well.
    pub(super) fn read(bytes: &[u8]) -> Option<(Self, &[u8])> {
        if let Some((x, rest)) = after(bytes, P256_X) {
            let (y, rest) = after(rest, P256_Y)?;
            return Some((PublicKey::P256(*x, *y), rest));
        }
        if let Some((x, rest)) = after(bytes, ED25519_X) {
            return Some((PublicKey::Ed25519(*x), rest));
        }
        let (length, rest) = after(bytes, RSA_N)?;
        let length = usize::from(u16::from_be_bytes(*length));
        let (modulus, rest) = rest.split_at_checked(length)?;
        let (exponent, rest) = after(rest, RSA_E)?;
        RSA_LENGTHS.contains(&length).then(|| (PublicKey::Rsa(modulus.to_vec(), *exponent), rest))
    }

    /// The COSE key.
    pub(super) fn to_cose(&self) -> Vec<u8> {
        match self {
            PublicKey::P256(x, y) => [P256_X, x, P256_Y, y].concat(),
            PublicKey::Ed25519(x) => [ED25519_X, x].concat(),
            PublicKey::Rsa(modulus, exponent) => {
                let length = u16::try_from(modulus.len()).unwrap_or_default();
                [RSA_N, &length.to_be_bytes(), modulus, RSA_E, exponent].concat()
            }
        }
    }

    /// Whether the signature is that of this key and message.
    pub(super) fn verify(&self, message: &[u8], signature: &[u8]) -> bool {
        match self {
            PublicKey::P256(x, y) => {
                let point = [&[0x04], &x[..], y].concat();
                UnparsedPublicKey::new(&ECDSA_P256_SHA256_ASN1, point).verify(message, signature).is_ok()
            }
            PublicKey::Ed25519(x) => UnparsedPublicKey::new(&ED25519, x).verify(message, signature).is_ok(),
            PublicKey::Rsa(n, e) => {
                let key = RsaPublicKeyComponents { n: n.as_slice(), e: e.as_slice() };
                key.verify(&RSA_PKCS1_2048_8192_SHA256, message, signature).is_ok()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use base64::{Engine as _, engine::general_purpose::STANDARD as BASE64};

    use super::*;

    /// A key of OpenSSL, and its signature of `passkey`.
    const MODULUS: &str = "wX4nrNAw7dudnetZhEmbEPmotqXct7GrgI3yaBd/KU6peSfsSaOxe1rGdNs3NcdBHksTv+hS8HOsNfjn2Bvb9jpHO56PGk9pdV79Mi6lzvzNE7ZACUgsVKvzFUCpEcpxU5I726Zb3snpRagQOA8b7v/u9mrTlOGFKCHrnx5I2Bgz8KnsVPDSRiSBOyW5G1po6UaDuedCf3nSMxx0pAIU0wxMNWVoXTBO/O3KGoLdFEDtUEcsXqS2kQIJJJ2g19BcUaLzu9vWpb6CuJVEebHJj6VqCJlBC+BmLcQUeq/hP5qR1XEtXq3qjnXprblp8cC4bHq3vqOM7nnTl7Oaq8tU/w==";
    const SIGNATURE: &str = "uuSEvg7fLLsebhaqL7SHcwJuJpCveGf9z2OkK5zflFkMgqMogJ3GZBAQGwdmUZJcvwiC05cu1vLOjvxgMPiqupxWlp/tRknolvpRwIxlNQkevAYdA16GG2Ge65HLXXJPpX9fyqWaoQb1/cFpp1D0Ic6ze+cyntowYpDRGaoosIpLslDKUmUdDUcjR/+TiE5dO6TVL2fQetMoyM6+yEMnucKPqhTwP/TYwzil3qLb20edMOoOmfcJKSFukw3vwgaoDcLrEqb5vUXNLrb3VI65Pl3hCTJjp5WPofe1jXQIMZJGaTBRujB1acou2tWtTilKkE9CVkezUBx+g8cR8V7oHg==";

    #[test]
    fn rsa_keys_verify_signatures_of_openssl() {
        let key = PublicKey::Rsa(BASE64.decode(MODULUS).unwrap(), [1, 0, 1]);
        let (read, rest) =
            PublicKey::read(&[&key.to_cose()[..], b"rest"].concat()).map(|(key, rest)| (key, rest.to_vec())).unwrap();
        assert_eq!((&read, &*rest), (&key, &b"rest"[..]));
        let signature = BASE64.decode(SIGNATURE).unwrap();
        assert!(read.verify(b"passkey", &signature) && !read.verify(b"passkeys", &signature));
        assert!(!read.verify(b"passkey", &signature[1..]) && !read.verify(b"passkey", b""));
    }

    #[test]
    fn keys_of_other_forms_are_not_read() {
        let p256 = PublicKey::P256([1; 32], [2; 32]).to_cose();
        assert!(PublicKey::read(&p256).is_some());
        // Shorter, of another curve, and with a modulus of 1024 bits.
        let mut curve = p256.clone();
        curve[6] = 2;
        let short = PublicKey::Rsa(vec![3; 128], [1, 0, 1]).to_cose();
        for wrong in [&p256[..76], &curve, &short, &[], &[0xa5]] {
            assert!(PublicKey::read(wrong).is_none(), "{wrong:?}");
        }
    }
}
