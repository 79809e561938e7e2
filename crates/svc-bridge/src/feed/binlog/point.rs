//! Places in the log of a server.

/// A place in the log of a server: files are numbered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Point {
    pub(super) file: u64,
    pub(super) offset: u64,
}

/// The name of a file that does not end with a usable number.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("the binary log file {0} has no usable number")]
pub(super) struct UnnumberedFile(pub(super) String);

impl Point {
    /// # Errors
    /// If the name of the file does not end with a number.
    pub(super) fn new(file: &str, offset: u64) -> Result<Self, UnnumberedFile> {
        let number = file.rsplit_once('.').and_then(|(_, number)| number.parse().ok());
        let number = number.filter(|number| *number < super::position::FILES);
        Ok(Point { file: number.ok_or_else(|| UnnumberedFile(file.to_owned()))?, offset })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_follow_the_order_of_files() {
        let point = |file: &str, offset| Point::new(file, offset).unwrap();
        assert!(point("bin.000009", 900) < point("bin.000010", 4));
        assert!(point("a.b.999999", 900) < point("a.b.1000000", 4));
        for name in ["bin", "bin.", "bin.x", "bin.99999999"] {
            assert_eq!(Point::new(name, 4), Err(UnnumberedFile(name.to_owned())));
        }
    }
}
