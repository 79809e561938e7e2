//! Validates and sanitizes e-mail addresses.

use crate::trim::is_space;

/// Minimum length of an address, in bytes.
const MIN_LEN: usize = 6;

fn is_local(c: char) -> bool {
    c.is_ascii_alphanumeric() || "!#$%&'*+/=?^_`{|}~.-".contains(c)
}

fn is_label(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '-'
}

/// Splits an address at its first `@` after the first character.
fn split(address: &str) -> Option<(&str, &str)> {
    let (local, domain) = address.split_once('@')?;
    // With a leading `@` and another one later, the split is at the first one, and the local part is empty.
    (address.len() >= MIN_LEN && (!local.is_empty() || domain.contains('@'))).then_some((local, domain))
}

/// Whether the text is an e-mail address: an ASCII local part, and at least two domain labels of letters, digits and
/// hyphens.
///
/// As in WordPress, the local part may end in a line feed. Callers that write an address to a mail header must check
/// for it themselves. Source: `is_email`.
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

/// Removes characters and labels that are not allowed in an e-mail address. Empty if no valid address is left.
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

/// Removes runs of two or more dots.
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
        for (address, is_valid, sanitized) in [
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
            assert_eq!(is_email(address), is_valid, "{address}");
            assert_eq!(sanitize_email(address), sanitized, "{address}");
        }
    }
}
