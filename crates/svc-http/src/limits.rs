//! Limits on the resources that a request can use.

/// Limits on requests. A request that exceeds one is rejected with 413.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestLimits {
    /// Bytes of a JSON or form body.
    pub text_body: usize,
    /// Bytes of any other body, including uploads.
    pub body: usize,
    /// Bytes of an uploaded file that stay in memory; a larger file is written to a temporary file.
    pub file_in_memory: usize,
    /// Uploaded files per request.
    pub files: usize,
    /// Fields of a multipart body.
    pub fields: usize,
    /// Values of a JSON body: lists, objects and everything in them.
    pub values: usize,
    /// Bytes of all JSON and form bodies above 64 KiB in memory at a time. Beyond that, requests are rejected with 503.
    pub memory: usize,
    /// Bytes of cached responses, if responses are cached.
    pub cached_responses: u64,
}

impl Default for RequestLimits {
    fn default() -> Self {
        Self {
            text_body: 8 << 20,
            body: 64 << 20,
            file_in_memory: 256 << 10,
            files: 20,
            fields: 1000,
            values: 100_000,
            memory: 128 << 20,
            cached_responses: 24 << 20,
        }
    }
}
