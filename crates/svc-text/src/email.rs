//! E-mail addresses: the check and the repair.

use crate::trim::is_space;

/// Shortest address, in bytes.
const MIN_LEN: usize = 6;

fn is_local(c: char) -> bool {
    c.is_ascii_alphanumeric() || "!#$%&'*+/=?^_`{|}~.-".contains(c)
}

fn is_label(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '-'
}

/// Splits at the first `@` that has something before it.
fn split(address: &str) -> Option<(&str, &str)> {
    let (local, domain) = address.split_once('@')?;
    // An address that begins with `@` splits there all the same when another one follows: its local part is empty.
    (address.len() >= MIN_LEN && (!local.is_empty() || domain.contains('@'))).then_some((local, domain))
}

/// Whether this is an e-mail address: ASCII local part, at least two domain labels of letters, digits and hyphens.
///
/// As in the reference, one line feed may end the local part: who writes an address into a header checks that himself.
/// Source: `is_email`.
pub fn is_email(address: &str) -> bool {
    let Some((local, domain)) = split(address) else { return false };
    let mut labels = 0;
    let labels_fit = domain.split('.').all(|label| {
        labels += 1;
        !label.is_empty() && !label.starts_with('-') && !label.ends_with('-') && label.chars().all(is_label)
    });
    let local = local.strip_suffix('\n').unwrap_or(local);
    !local.is_empty() && local.chars().all(is_local) && labels_fit && labels >= 2
}

/// The address without characters and labels that cannot stand in one; empty when none is left.
///
/// Source: `sanitize_email`.
pub fn sanitize_email(address: &str) -> String {
    let Some((local, domain)) = split(address) else { return String::new() };
    let local: String = local.chars().filter(|c| is_local(*c)).collect();
    let domain = without_dot_runs(domain);
    let domain = domain.trim_matches(|c| is_space(c) || c == '.');
    if !domain.contains('.') {
        return String::new();
    }
    let labels: Vec<String> = domain
        .split('.')
        .map(|label| label.trim_matches(|c| is_space(c) || c == '-').chars().filter(|c| is_label(*c)).collect())
        .filter(|label: &String| !label.is_empty())
        .collect();
    if local.is_empty() || labels.len() < 2 { String::new() } else { format!("{local}@{}", labels.join(".")) }
}

/// Runs of two or more dots go altogether.
fn without_dot_runs(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut dots = 0;
    for c in text.chars() {
        if c == '.' {
            dots += 1;
            continue;
        }
        if dots == 1 {
            out.push('.');
        }
        dots = 0;
        out.push(c);
    }
    if dots == 1 {
        out.push('.');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses() {
        for (address, good, repaired) in [
            ("a@b.co", true, "a@b.co"),
            ("a@b.c", false, ""),
            ("o'neil+x@sub.example.org", true, "o'neil+x@sub.example.org"),
            ("a@localhost", false, ""),
            ("a@-b.com", false, "a@b.com"),
            ("a@b..com", false, ""),
            ("a@x.y..com", false, "a@x.ycom"),
            ("é a@exämple.com", false, "a@exmple.com"),
            ("@example.com", false, ""),
            ("a@.b.com", false, "a@b.com"),
            (".a@@b.co", false, ".a@b.co"),
            ("ab\n@b.co", true, "ab@b.co"),
            ("a\nb@b.co", false, "ab@b.co"),
            ("ab@b.co\n", false, "ab@b.co"),
        ] {
            assert_eq!(is_email(address), good, "{address}");
            assert_eq!(sanitize_email(address), repaired, "{address}");
        }
    }
}
