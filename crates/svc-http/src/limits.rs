//! Bounds on what a request may make the service hold.

/// Bounds on requests. Beyond them the answer is 413.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of a JSON or form body.
    pub text_body: usize,
    /// Bytes of any other body, uploads included.
    pub body: usize,
    /// Bytes of an uploaded file that are kept in memory; a larger one goes to a temporary file.
    pub file_in_memory: usize,
    /// Uploaded files of one request.
    pub files: usize,
    /// Fields of a multipart body.
    pub fields: usize,
    /// Values of a JSON body: lists, objects and what they hold.
    pub values: usize,
    /// Bytes of all JSON and form bodies above 64 KiB that are in memory at a time. Beyond them the answer is 503.
    pub memory: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            text_body: 8 << 20,
            body: 64 << 20,
            file_in_memory: 256 << 10,
            files: 20,
            fields: 1000,
            values: 100_000,
            memory: 128 << 20,
        }
    }
}
