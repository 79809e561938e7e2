//! Free slugs: numbering and truncation.

use std::collections::HashSet;

use svc_db::{Result, StoreError};

/// Returns the first free one of `slug`, `slug-2`, `slug-3`, …, each truncated to `max` bytes.
///
/// `taken` returns which of several lower-case slugs are taken.
pub(crate) fn free_slug(
    slug: &str,
    max: usize,
    mut taken: impl FnMut(&[String]) -> Result<HashSet<String>>,
) -> Result<String> {
    let mut search = FreeSlug::new(slug, max);
    loop {
        let taken = taken(search.candidates())?;
        if let Some(free) = search.first_free(|slug| taken.contains(&slug.to_ascii_lowercase()))? {
            return Ok(free);
        }
    }
}

/// The search for a free slug, which checks an increasing number of candidates at once: ten thousand items with the
/// same name take ten queries.
pub(crate) struct FreeSlug<'s> {
    slug: &'s str,
    max: usize,
    candidates: Vec<String>,
    next: usize,
    round: u32,
}

impl<'s> FreeSlug<'s> {
    /// `max` is the maximum length in bytes.
    pub(crate) fn new(slug: &'s str, max: usize) -> Self {
        FreeSlug { slug, max, candidates: vec![slug.to_owned()], next: 2, round: 4 }
    }

    /// The candidates that must be checked.
    pub(crate) fn candidates(&self) -> &[String] {
        &self.candidates
    }

    /// Returns the first free candidate. If there is none, prepares further candidates.
    pub(crate) fn first_free(&mut self, is_taken: impl Fn(&str) -> bool) -> Result<Option<String>> {
        if let Some(free) = self.candidates.iter().find(|slug| !is_taken(slug)) {
            return Ok(Some(free.clone()));
        }
        if self.round == 24 {
            return Err(StoreError::TooMany);
        }
        let n = 1_usize << Ord::min(self.round, 12);
        self.candidates = (self.next..self.next + n).map(|n| numbered_slug(self.slug, n, self.max)).collect();
        self.next += n;
        self.round += 1;
        Ok(None)
    }
}

/// `slug-n`, with the slug truncated so that the result fits.
fn numbered_slug(slug: &str, n: usize, max: usize) -> String {
    let suffix = format!("-{n}");
    format!("{}{suffix}", truncate_slug(slug, max.saturating_sub(suffix.len())))
}

/// Truncates a slug to `max` bytes, never within a percent-encoded character, and removes trailing hyphens.
pub(crate) fn truncate_slug(slug: &str, max: usize) -> &str {
    if slug.len() <= max {
        return slug;
    }
    let bytes = slug.as_bytes();
    let hex =
        |at: usize| bytes.get(at + 1..at + 3).and_then(|h| u8::from_str_radix(std::str::from_utf8(h).ok()?, 16).ok());
    let mut end = 0;
    let mut at = 0;
    while at <= max {
        end = at;
        let Some(byte) = bytes.get(at) else { break };
        at += match (byte, hex(at)) {
            (b'%', Some(lead)) => 3 * encoded_len(lead),
            _ => slug[at..].chars().next().map_or(1, char::len_utf8),
        };
    }
    slug[..end].trim_end_matches('-')
}

/// Length of the UTF-8 character that begins with this byte.
fn encoded_len(lead: u8) -> usize {
    match lead {
        0xf0.. => 4,
        0xe0.. => 3,
        0xc0.. => 2,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slugs_are_truncated_between_characters() {
        let rows = [
            ("abc", 10, "abc"),
            ("abcdef", 3, "abc"),
            ("ab-cdef", 3, "ab"),
            ("%e4%b8%ad%e6%96%87", 10, "%e4%b8%ad"),
            ("%e4%b8%ad%e6%96%87", 9, "%e4%b8%ad"),
            ("%e4%b8%ad%e6%96%87", 8, ""),
            ("ab%zz%", 4, "ab%z"),
            ("éé", 3, "é"),
        ];
        for (slug, max, expected) in rows {
            assert_eq!(truncate_slug(slug, max), expected, "{slug} {max}");
        }
        assert_eq!(numbered_slug(&"a".repeat(200), 12, 200).len(), 200);
    }
}
