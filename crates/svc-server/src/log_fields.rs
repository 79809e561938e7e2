//! The fields of a line of the log.

use std::fmt;

use tracing::field::{Field, Visit};
use tracing_subscriber::{
    field::{RecordFields, VisitOutput as _},
    fmt::{
        FormatFields,
        format::{DefaultVisitor, Writer},
    },
};

/// Writes fields as [`DefaultFields`](tracing_subscriber::fmt::format::DefaultFields) does, without colors. The lines of requests consist of numbers
/// and short texts, of which `Debug` and the styles are most of the work.
pub(crate) struct PlainFields;

impl<'w> FormatFields<'w> for PlainFields {
    fn format_fields<R: RecordFields>(&self, writer: Writer<'w>, fields: R) -> fmt::Result {
        let mut visitor = PlainVisitor { writer, is_empty: true, result: Ok(()) };
        fields.record(&mut visitor);
        visitor.result
    }
}

struct PlainVisitor<'w> {
    writer: Writer<'w>,
    is_empty: bool,
    result: fmt::Result,
}

impl<'w> PlainVisitor<'w> {
    /// Writes the name of a field, and its value with `write`.
    fn field(&mut self, field: &Field, write: impl FnOnce(&mut Writer<'w>) -> fmt::Result) {
        if self.result.is_ok() {
            self.result = self.name(field).and_then(|()| write(&mut self.writer));
        }
    }

    fn name(&mut self, field: &Field) -> fmt::Result {
        if !std::mem::take(&mut self.is_empty) {
            self.writer.write_char(' ')?;
        }
        let name = field.name();
        self.writer.write_str(name.strip_prefix("r#").unwrap_or(name))?;
        self.writer.write_char('=')
    }

    /// Lets the default visitor write a field.
    fn default(&mut self, record: impl FnOnce(&mut DefaultVisitor<'_>)) {
        if self.result.is_err() {
            return;
        }
        let mut visitor = DefaultVisitor::new(self.writer.by_ref(), self.is_empty);
        self.is_empty = false;
        record(&mut visitor);
        self.result = visitor.finish();
    }
}

impl Visit for PlainVisitor<'_> {
    fn record_u64(&mut self, field: &Field, value: u64) {
        self.field(field, |writer| write!(writer, "{value}"));
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.field(field, |writer| write!(writer, "{value}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        // Others have escapes.
        let is_plain = value.bytes().all(|byte| matches!(byte, b' '..=b'~') && byte != b'"' && byte != b'\\');
        if field.name() == "message" || !is_plain {
            return self.default(|visitor| visitor.record_str(field, value));
        }
        self.field(field, |writer| {
            writer.write_char('"')?;
            writer.write_str(value)?;
            writer.write_char('"')
        });
    }

    fn record_error(&mut self, field: &Field, value: &(dyn std::error::Error + 'static)) {
        self.default(|visitor| visitor.record_error(field, value));
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        if field.name() == "message" {
            // With escapes for what terminals execute.
            return self.default(|visitor| visitor.record_debug(field, value));
        }
        self.field(field, |writer| write!(writer, "{value:?}"));
    }
}

#[cfg(test)]
mod tests {
    use std::{
        io,
        sync::{Arc, Mutex},
    };

    use tracing::{Subscriber, subscriber::with_default};
    use tracing_subscriber::{Layer, fmt, layer::SubscriberExt as _, registry};

    use super::*;

    #[derive(Clone, Default)]
    struct Lines(Arc<Mutex<Vec<u8>>>);

    impl io::Write for Lines {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn log() {
        let path = "/a b?c=\u{e9}";
        let error = io::Error::other("broken");
        let within = tracing::info_span!("request", id = "7f", user = tracing::field::Empty, r#type = 5);
        within.record("user", 3);
        let _within = within.enter();
        tracing::info!(method = %"GET", path, status = 200_u16, bytes = Some(5_u64), none = None::<u64>, ms = 1.5, "response");
        tracing::info!(path, quoted = "\"a\\b\"", control = "a\nb\x1b[1m", empty = "", "with \x1b[1m and \x07");
        tracing::warn!(error = &error as &dyn std::error::Error, n = -5_i64, large = u128::MAX, is = true, debug = ?path);
        tracing::error!("only {}", "a message");
        tracing::info!(name: "other", target: "a", first = 1);
        tracing::info!(text = "before the message", "{path}");
    }

    fn lines<S: Subscriber + Send + Sync>(layer: impl FnOnce(Lines) -> S) -> String {
        let lines = Lines::default();
        with_default(layer(lines.clone()), log);
        let bytes = lines.0.lock().unwrap().clone();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn fields_are_written_as_by_default() {
        let by_default =
            lines(|to| registry().with(fmt::layer().without_time().with_ansi(false).with_writer(move || to.clone())));
        let plain = lines(|to| {
            let layer = fmt::layer().without_time().with_ansi(false).with_writer(move || to.clone());
            registry().with(layer.fmt_fields(PlainFields).boxed())
        });
        assert!(by_default.contains("status=200 bytes=5 ms=1.5") && by_default.contains("id=\"7f\""), "{by_default}");
        assert_eq!(plain, by_default);
    }
}
