//! Passkeys: what is accepted, and everything that is not.

#![expect(clippy::unwrap_used, reason = "a failing helper fails the test")]

mod authenticator;

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD as BASE64};
use serde_json::{Value, json};
use svc_auth::{
    Keys, UserId,
    passkey::{
        Assertion, Ceremony, LIFETIME, MAX_PASSKEYS, NewPasskey, PasskeyFault, Passkeys, Purpose, RelyingParty,
        user_handle,
    },
    two_factor::TwoFactor,
};

use authenticator::Authenticator;

const SITE: &str = "https://example.org";
const NOW: i64 = 1_700_000_000;

fn ceremony(purpose: Purpose) -> Ceremony {
    Ceremony {
        keys: Keys::new([("a", "b"), ("c", "d"), ("e", "f"), ("g", "h")]),
        party: RelyingParty::of_url(SITE).unwrap(),
        purpose,
        browser: "cookie".to_owned(),
        now: NOW,
    }
}

/// Adds the passkey of an authenticator.
fn add(passkeys: &mut Passkeys, authenticator: &mut Authenticator, name: &str) -> Result<(), PasskeyFault> {
    let ceremony = ceremony(Purpose::Add);
    let response = authenticator.create(&ceremony.challenge().unwrap()).to_string();
    passkeys.add(&ceremony, &NewPasskey::read(&response).unwrap(), name)
}

fn added(is_ecdsa: bool) -> (Passkeys, Authenticator) {
    let (mut passkeys, mut authenticator) = (Passkeys::default(), Authenticator::new(SITE, b"credential", is_ecdsa));
    assert_eq!(add(&mut passkeys, &mut authenticator, " Phone\u{7} "), Ok(()));
    (passkeys, authenticator)
}

fn accept(passkeys: &mut Passkeys, ceremony: &Ceremony, response: &Value) -> Result<(), PasskeyFault> {
    passkeys.accept(ceremony, &Assertion::read(&response.to_string()).unwrap())
}

#[test]
fn sites_that_can_have_passkeys() {
    for (url, expected) in [
        ("https://example.org/blog", Some(("example.org", "https://example.org"))),
        ("https://Example.org:443", Some(("example.org", "https://example.org"))),
        ("https://example.org:8443/", Some(("example.org", "https://example.org:8443"))),
        ("https://bücher.example", Some(("xn--bcher-kva.example", "https://xn--bcher-kva.example"))),
        ("http://localhost:8080/x", Some(("localhost", "http://localhost:8080"))),
        ("http://site.localhost", Some(("site.localhost", "http://site.localhost"))),
        ("http://example.org", None),
        ("http://notlocalhost", None),
        ("https://192.0.2.1", None),
        ("http://127.0.0.1:8080", None),
        ("https://[::1]", None),
        ("ftp://localhost", None),
        ("example.org", None),
        ("", None),
    ] {
        let party = RelyingParty::of_url(url);
        assert_eq!(party.as_ref().map(|party| (&*party.id, &*party.origin)), expected, "{url}");
    }
}

#[test]
fn a_passkey_is_accepted_and_stored() {
    for is_ecdsa in [true, false] {
        let (passkeys, mut authenticator) = added(is_ecdsa);
        assert_eq!((passkeys.list()[0].name.as_str(), passkeys.list()[0].used), ("Phone", 0));
        let mut state = TwoFactor::since(NOW);
        state.passkeys = passkeys;
        assert!(state.is_complete() && !state.has_app());
        for purpose in [Purpose::LogIn, Purpose::SecondFactor, Purpose::Confirm] {
            // As it is stored in between.
            state = TwoFactor::from_value(&state.to_value());
            let ceremony = Ceremony { now: NOW + 9, ..ceremony(purpose) };
            let response = authenticator.get(&ceremony.challenge().unwrap(), None);
            assert_eq!(accept(&mut state.passkeys, &ceremony, &response), Ok(()), "{purpose:?}");
            assert_eq!(accept(&mut state.passkeys, &ceremony, &response), Err(PasskeyFault::Counter));
        }
        assert_eq!(state.passkeys.list()[0].used, NOW + 9);
        let id = state.passkeys.list()[0].id.clone();
        assert_eq!(state.passkeys.remove(&id).as_deref(), Some("Phone"));
        assert_eq!(state.passkeys.remove(&id), None);
        assert!(!state.is_complete());
    }
}

#[test]
fn responses_that_are_rejected() {
    type Lie = fn(&mut Authenticator);
    let lies: [(&str, Lie, PasskeyFault); 9] = [
        ("another origin", |a| a.origin = "https://example.org.evil.example".to_owned(), PasskeyFault::OtherSite),
        ("no TLS", |a| a.origin = "http://example.org".to_owned(), PasskeyFault::OtherSite),
        ("another port", |a| a.origin = "https://example.org:444".to_owned(), PasskeyFault::OtherSite),
        ("a frame", |a| a.client_data = json!({"crossOrigin": true}), PasskeyFault::OtherSite),
        ("a frame of a site", |a| a.client_data = json!({"topOrigin": "https://e.example"}), PasskeyFault::OtherSite),
        ("another host", |a| a.party = "evil.example".to_owned(), PasskeyFault::OtherSite),
        ("nobody was there", |a| a.flags = 0x04, PasskeyFault::Unreadable),
        ("backed up, but cannot be", |a| a.flags = 0x15, PasskeyFault::Unreadable),
        ("another kind", |a| a.client_data = json!({"type": "payment.get"}), PasskeyFault::Unreadable),
    ];
    for (name, lie, fault) in lies {
        let (mut passkeys, mut authenticator) = added(true);
        lie(&mut authenticator);
        let ceremony = ceremony(Purpose::LogIn);
        let response = authenticator.get(&ceremony.challenge().unwrap(), None);
        let before = passkeys.clone();
        assert_eq!(accept(&mut passkeys, &ceremony, &response), Err(fault), "{name}");
        assert_eq!(passkeys, before, "{name}");
        authenticator.id = b"other".to_vec();
        assert_eq!(add(&mut passkeys, &mut authenticator, "x"), Err(fault), "adding: {name}");
    }
}

#[test]
fn a_log_in_without_password_needs_a_verified_user() {
    for (purpose, expected) in
        [(Purpose::LogIn, Err(PasskeyFault::NotVerified)), (Purpose::SecondFactor, Ok(())), (Purpose::Confirm, Ok(()))]
    {
        let (mut passkeys, mut authenticator) = added(true);
        authenticator.flags = 0x01;
        let ceremony = ceremony(purpose);
        let response = authenticator.get(&ceremony.challenge().unwrap(), None);
        assert_eq!(accept(&mut passkeys, &ceremony, &response), expected, "{purpose:?}");
    }
}

#[test]
fn challenges_belong_to_one_purpose_browser_site_and_time() {
    let (mut passkeys, mut authenticator) = added(true);
    let own = ceremony(Purpose::LogIn);
    let challenge = own.challenge().unwrap();
    let response = authenticator.get(&challenge, None);
    let others = [
        Ceremony { purpose: Purpose::SecondFactor, ..own.clone() },
        Ceremony { browser: "another cookie".to_owned(), ..own.clone() },
        Ceremony { keys: Keys::new([("z", "z"); 4]), ..own.clone() },
        Ceremony { now: NOW + LIFETIME + 1, ..own.clone() },
    ];
    for other in others {
        assert_eq!(accept(&mut passkeys, &other, &response), Err(PasskeyFault::Expired), "{:?}", other.purpose);
    }
    for forged in ["", "!", "AAAA", &"A".repeat(75), &challenge[..74], &format!("B{}", &challenge[1..])] {
        let response = authenticator.get(forged, None);
        assert_eq!(accept(&mut passkeys, &own, &response), Err(PasskeyFault::Expired), "{forged}");
    }
    let last = Ceremony { now: NOW + LIFETIME, ..own };
    let response = authenticator.get(&challenge, None);
    assert_eq!(accept(&mut passkeys, &last, &response), Ok(()));
}

#[test]
fn no_response_is_accepted_twice_even_without_a_counter() {
    let (mut passkeys, mut authenticator) = (Passkeys::default(), Authenticator::new(SITE, b"synchronized", true));
    authenticator.counts = false;
    assert_eq!(add(&mut passkeys, &mut authenticator, ""), Ok(()));
    let ceremony = ceremony(Purpose::LogIn);
    let response = authenticator.get(&ceremony.challenge().unwrap(), None);
    assert_eq!(accept(&mut passkeys, &ceremony, &response), Ok(()));
    assert_eq!(accept(&mut passkeys, &ceremony, &response), Err(PasskeyFault::Used));
    // What is stored stays small: further ones wait until the first expire.
    let mut accepted = 0;
    let fault = loop {
        match accept(&mut passkeys, &ceremony, &authenticator.get(&ceremony.challenge().unwrap(), None)) {
            Ok(()) => accepted += 1,
            Err(fault) => break fault,
        }
    };
    assert_eq!((accepted, fault), (62, PasskeyFault::TooOften), "two were used before");
    assert_eq!(accept(&mut passkeys, &ceremony, &response), Err(PasskeyFault::Used));
    let later = Ceremony { now: NOW + LIFETIME + 1, ..ceremony };
    assert_eq!(accept(&mut passkeys, &later, &response), Err(PasskeyFault::Expired));
    assert_eq!(accept(&mut passkeys, &later, &authenticator.get(&later.challenge().unwrap(), None)), Ok(()));
}

#[test]
fn counters_only_grow() {
    let (mut passkeys, mut authenticator) = added(true);
    let ceremony = ceremony(Purpose::LogIn);
    // The counter was 1 when the passkey was added; it counts before it signs.
    for (counter, expected) in [
        (7, Ok(())),
        (7, Err(PasskeyFault::Counter)),
        (3, Err(PasskeyFault::Counter)),
        (0, Err(PasskeyFault::Counter)),
        (8, Ok(())),
        (u32::MAX, Ok(())),
    ] {
        authenticator.counts = false;
        authenticator.counter = counter;
        let response = authenticator.get(&ceremony.challenge().unwrap(), None);
        assert_eq!(accept(&mut passkeys, &ceremony, &response), expected, "{counter}");
    }
}

#[test]
fn signatures_and_credentials_of_others_are_rejected() {
    let ceremony = ceremony(Purpose::LogIn);
    for is_ecdsa in [true, false] {
        let (mut passkeys, mut own) = added(is_ecdsa);
        let response = own.get(&ceremony.challenge().unwrap(), None);
        for part in ["signature", "authenticatorData", "clientDataJSON"] {
            let mut tampered = response.clone();
            let mut bytes = BASE64.decode(tampered[part].as_str().unwrap()).unwrap();
            if part == "clientDataJSON" {
                bytes.push(b' ');
            } else {
                *bytes.last_mut().unwrap() ^= 1;
            }
            tampered[part] = BASE64.encode(bytes).into();
            assert_eq!(accept(&mut passkeys, &ceremony, &tampered), Err(PasskeyFault::WrongSignature), "{part}");
        }
        // Another key under the same ID, and a passkey that is not of this user.
        let mut thief = Authenticator::new(SITE, b"credential", is_ecdsa);
        thief.counter = 50;
        let stolen = thief.get(&ceremony.challenge().unwrap(), None);
        assert_eq!(accept(&mut passkeys, &ceremony, &stolen), Err(PasskeyFault::WrongSignature));
        let mut other = Authenticator::new(SITE, b"of another user", is_ecdsa);
        let foreign = other.get(&ceremony.challenge().unwrap(), None);
        assert_eq!(accept(&mut passkeys, &ceremony, &foreign), Err(PasskeyFault::Unknown));
        assert_eq!(accept(&mut passkeys, &ceremony, &response), Ok(()), "nothing of that has used the challenge");
    }
}

#[test]
fn passkeys_of_a_user_are_bounded_and_different() {
    let (mut passkeys, mut first) = added(true);
    assert_eq!(add(&mut passkeys, &mut first, "again"), Err(PasskeyFault::Known));
    for n in 1..=MAX_PASSKEYS {
        let mut another = Authenticator::new(SITE, format!("credential {n}").as_bytes(), n % 2 == 0);
        let expected = if n < MAX_PASSKEYS { Ok(()) } else { Err(PasskeyFault::Full) };
        assert_eq!(add(&mut passkeys, &mut another, &"n".repeat(1_000)), expected, "{n}");
    }
    assert_eq!(passkeys.list()[1].name.len(), 60);
    let mut huge = Authenticator::new(SITE, &[7; 1_024], true);
    assert_eq!(add(&mut passkeys, &mut huge, ""), Err(PasskeyFault::Unsupported));
}

#[test]
fn unreadable_responses() {
    for text in ["", "null", "[]", "{}", "\"x\"", r#"{"id":1}"#, r#"{"id":"AA","clientDataJSON":"!"}"#] {
        assert!(Assertion::read(text).is_none() && NewPasskey::read(text).is_none(), "{text}");
    }
    let (mut passkeys, _) = added(true);
    for (client_data, data) in [("", ""), ("bnVsbA", ""), ("e30", "AAAA"), ("/w", "")] {
        let response = json!({"id": "AA", "clientDataJSON": client_data, "authenticatorData": data, "signature": ""});
        if let Some(assertion) = Assertion::read(&response.to_string()) {
            assert_eq!(passkeys.accept(&ceremony(Purpose::LogIn), &assertion), Err(PasskeyFault::Unreadable));
        }
    }
}

#[test]
fn handles_name_the_user_of_one_site() {
    let of = |handle: &str| {
        let response =
            json!({"id": "AA", "clientDataJSON": "", "authenticatorData": "", "signature": "", "userHandle": handle});
        Assertion::read(&response.to_string()).unwrap().user()
    };
    let handle = user_handle("https://example.org/one", UserId(7));
    assert_eq!(of(&handle), Some(UserId(7)));
    assert_ne!(handle, user_handle("https://example.org/two", UserId(7)));
    for wrong in ["", "AAAA", &handle[..30], &format!("{handle}AAAA")] {
        assert_eq!(of(wrong), None, "{wrong}");
    }
}
