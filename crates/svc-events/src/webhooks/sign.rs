//! Signatures of Standard Webhooks.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

/// The start of a secret as receivers get it.
pub(super) const PREFIX: &str = "whsec_";

/// Number of characters of a secret, which are Base64 of 33 bytes. The standard allows 24 to 64 bytes.
const LENGTH: usize = 44;

/// A new secret.
///
/// # Errors
/// If the operating system provides no random bytes.
pub fn new_secret() -> Result<String, svc_auth::RandomSourceError> {
    Ok(format!("{PREFIX}{}", svc_auth::random_text(LENGTH)?.expose()))
}

/// The signature of a delivery: `v1,` and a code over its id, the time of the attempt in seconds, and the body. `None` if the secret
/// is malformed.
pub fn signature(secret: &str, id: &str, timestamp: i64, body: &str) -> Option<String> {
    let key = STANDARD.decode(secret.strip_prefix(PREFIX)?).ok()?;
    let mut code = Hmac::<Sha256>::new_from_slice(&key).ok()?;
    code.update(format!("{id}.{timestamp}.{body}").as_bytes());
    Some(format!("v1,{}", STANDARD.encode(code.finalize().into_bytes())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_as_the_example_of_the_standard() {
        let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
        let body = r#"{"test": 2432232314}"#;
        let expected = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=";
        assert_eq!(signature(secret, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1_614_265_330, body).as_deref(), Some(expected));
        assert_eq!(signature("MfKQ", "a", 1, body), None);
    }

    #[test]
    fn new_secrets_are_usable_and_different() {
        let [a, b] = [(); 2].map(|()| new_secret().unwrap());
        assert!(a != b && signature(&a, "a", 1, "").is_some());
    }
}
