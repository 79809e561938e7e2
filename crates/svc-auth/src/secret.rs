//! Texts that must not be logged, and random text.

use subtle::ConstantTimeEq;

/// A plain-text password, token or nonce. `Debug` hides the text, and comparison takes constant time.
#[derive(Clone)]
pub struct Secret(String);

impl Secret {
    /// Wraps a text.
    pub fn new(text: impl Into<String>) -> Self {
        Secret(text.into())
    }

    /// The text, to be sent to its owner.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret(…)")
    }
}

impl PartialEq for Secret {
    fn eq(&self, other: &Self) -> bool {
        self.0.as_bytes().ct_eq(other.0.as_bytes()).into()
    }
}

impl Eq for Secret {}

/// The operating system provided no random bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RandomSourceError;

impl std::fmt::Display for RandomSourceError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the operating system provided no random bytes")
    }
}

impl std::error::Error for RandomSourceError {}

const ALPHABET: &[u8; 62] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

/// Generates `length` uniformly distributed ASCII letters and digits (5.95 bits each).
///
/// # Errors
/// [`RandomSourceError`] if the operating system provides no random bytes.
pub fn random_text(length: usize) -> Result<Secret, RandomSourceError> {
    let mut text = String::with_capacity(length);
    let mut bytes = [0u8; 64];
    while text.len() < length {
        getrandom::fill(&mut bytes).map_err(|_| RandomSourceError)?;
        // 248 is the largest multiple of 62 that fits in a byte. Larger values would bias the result.
        let unbiased = bytes.iter().filter(|b| **b < 248).map(|b| char::from(ALPHABET[usize::from(*b % 62)]));
        text.extend(unbiased.take(length - text.len()));
    }
    Ok(Secret(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_texts_are_uniform_and_distinct() {
        for length in [0, 1, 24, 43, 300] {
            let text = random_text(length).unwrap();
            assert_eq!(text.expose().len(), length);
            assert!(text.expose().bytes().all(|b| b.is_ascii_alphanumeric()));
        }
        assert_ne!(random_text(43).unwrap(), random_text(43).unwrap());
        // Each occurs 3,226 times, with a standard deviation of 57. Unequal shares of the 256 values of a byte would result
        // in 3,906 or more for some.
        let mut counts = [0; 256];
        for byte in random_text(200_000).unwrap().expose().bytes() {
            counts[usize::from(byte)] += 1;
        }
        for c in ALPHABET {
            let n = counts[usize::from(*c)];
            assert!((2_800..3_650).contains(&n), "{} occurs {n} times", char::from(*c));
        }
    }

    #[test]
    fn errors_have_a_text() {
        assert_eq!(RandomSourceError.to_string(), "the operating system provided no random bytes");
    }

    #[test]
    fn debug_omits_the_text() {
        assert_eq!(format!("{:?}", Secret::new("abc")), "Secret(…)");
    }
}
