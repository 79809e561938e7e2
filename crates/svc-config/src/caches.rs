//! Memory for caches: one setting, divided among them.

/// Sizes of the caches in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Caches {
    /// Responses of the REST API.
    pub responses: u64,
    /// HTML pages and feeds.
    pub html: u64,
    /// Encoded items and pages of lists.
    pub items: u64,
    /// Rendered contents and excerpts.
    pub texts: u64,
    /// Pages of an SQLite database.
    pub pages: u64,
    /// Compressed responses.
    pub compressed: u64,
}

impl Caches {
    /// Divides this number of bytes. Responses take the largest part, since a cached one needs nothing else.
    pub(super) fn divide(total: u64) -> Self {
        let percent = |n: u64| total / 100 * n;
        Caches {
            responses: percent(25),
            html: percent(10),
            items: percent(20),
            texts: percent(15),
            pages: percent(20),
            compressed: percent(10),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_are_the_whole() {
        let Caches { responses, html, items, texts, pages, compressed } = Caches::divide(64 << 20);
        let sum = responses + html + items + texts + pages + compressed;
        assert!(sum <= 64 << 20 && sum > 63 << 20, "{sum}");
        assert_eq!(Caches::divide(u64::MAX).responses, u64::MAX / 100 * 25);
    }
}
