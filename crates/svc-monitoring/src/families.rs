//! Metrics as families of samples, in the text format of Prometheus.

use std::{fmt, sync::Arc};

use prometheus_client::{
    collector::Collector,
    encoding::{DescriptorEncoder, MetricEncoder, NoLabelSet, prometheus_text},
    metrics::MetricType,
    registry::Registry,
};
use svc_metrics::HistogramReport;

/// Writes metrics when they are requested.
pub trait Source: Send + Sync + 'static {
    /// Writes all metrics of the source.
    ///
    /// # Errors
    /// Those of `families`.
    fn write(&self, families: &mut Families<'_>) -> fmt::Result;
}

impl<S: Source> Source for Arc<S> {
    fn write(&self, families: &mut Families<'_>) -> fmt::Result {
        (**self).write(families)
    }
}

/// No metrics if there is none.
impl<S: Source> Source for Option<S> {
    fn write(&self, families: &mut Families<'_>) -> fmt::Result {
        self.as_ref().map_or(Ok(()), |source| source.write(families))
    }
}

/// The sources of a process.
#[derive(Debug, Default)]
pub struct Metrics(Registry);

impl Metrics {
    /// Adds a source. No two sources may have a metric of the same name.
    #[must_use]
    pub fn with(mut self, source: impl Source) -> Self {
        self.0.register_collector(Box::new(Registered(source)));
        self
    }

    /// All metrics, in the text format of Prometheus (version 0.0.4).
    ///
    /// # Errors
    /// If a source fails.
    pub fn encode(&self) -> Result<String, fmt::Error> {
        let mut text = String::new();
        prometheus_text::encode(&mut text, &self.0)?;
        Ok(text)
    }
}

/// A source as the registry stores it.
struct Registered<S>(S);

impl<S> fmt::Debug for Registered<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(std::any::type_name::<S>())
    }
}

impl<S: Source> Collector for Registered<S> {
    fn encode(&self, encoder: DescriptorEncoder) -> fmt::Result {
        self.0.write(&mut Families(encoder))
    }
}

/// Writes families: a name, a description and samples, each with its labels.
pub struct Families<'a>(DescriptorEncoder<'a>);

/// Names and values of labels.
type Labels<'a> = &'a [(&'a str, &'a str)];

impl Families<'_> {
    /// Writes a counter. Its name is without `_total`, which is added.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn counter<'l>(
        &mut self,
        name: &str,
        help: &str,
        samples: impl IntoIterator<Item = (Labels<'l>, f64)>,
    ) -> fmt::Result {
        self.each(name, help, MetricType::Counter, samples, |encoder, value| {
            // Most counters are whole numbers, which are written without a fraction.
            if value.fract() == 0.0 {
                encoder.encode_counter::<NoLabelSet, u64, f64>(&(*value as u64), None)
            } else {
                encoder.encode_counter::<NoLabelSet, f64, f64>(value, None)
            }
        })
    }

    /// Writes a gauge.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn gauge<'l>(
        &mut self,
        name: &str,
        help: &str,
        samples: impl IntoIterator<Item = (Labels<'l>, f64)>,
    ) -> fmt::Result {
        self.each(name, help, MetricType::Gauge, samples, |encoder, value| encoder.encode_gauge(value))
    }

    /// Writes a histogram of durations in seconds.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn histogram<'l>(
        &mut self,
        name: &str,
        help: &str,
        samples: impl IntoIterator<Item = (Labels<'l>, &'l HistogramReport)>,
    ) -> fmt::Result {
        self.each(name, help, MetricType::Histogram, samples, |encoder, report| {
            encoder.encode_histogram::<NoLabelSet>(report.seconds, report.count, &report.ranges, None)
        })
    }

    fn each<'l, T>(
        &mut self,
        name: &str,
        help: &str,
        kind: MetricType,
        samples: impl IntoIterator<Item = (Labels<'l>, T)>,
        encode: impl Fn(&mut MetricEncoder<'_>, &T) -> fmt::Result,
    ) -> fmt::Result {
        let mut family = self.0.encode_descriptor(name, help, None, kind)?;
        for (labels, value) in samples {
            if labels.is_empty() {
                encode(&mut family, &value)?;
            } else {
                encode(&mut family.encode_family(&labels)?, &value)?;
            }
        }
        Ok(())
    }
}

/// A number as a sample. Numbers above 2^53 are rounded, as Prometheus does.
pub(crate) fn number(n: impl TryInto<u64>) -> f64 {
    n.try_into().map_or(0.0, |n: u64| n as f64)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use svc_metrics::Histogram;

    use super::*;

    struct Sample;

    impl Source for Sample {
        fn write(&self, families: &mut Families<'_>) -> fmt::Result {
            families.counter("svc_x", "Requests.", [(&[("route", "a\"\\\n")][..], 3.0)])?;
            families.gauge("svc_y", "Open.", [(&[][..], 1.5)])?;
            let histogram = Histogram::default();
            histogram.record(Duration::from_millis(1));
            histogram.record(Duration::from_secs(60));
            families.histogram("svc_z_seconds", "Time.", [(&[("kind", "b")][..], &histogram.report())])
        }
    }

    #[test]
    fn text_format() {
        let text = Metrics::default().with(Sample).encode().unwrap();
        for line in [
            "# TYPE svc_x_total counter",
            r#"svc_x_total{route="a\"\\\n"} 3"#,
            "# TYPE svc_y gauge",
            "svc_y 1.5",
            "# TYPE svc_z_seconds histogram",
            r#"svc_z_seconds_count{kind="b"} 2"#,
            r#"svc_z_seconds_bucket{kind="b",le="0.001"} 1"#,
            r#"svc_z_seconds_bucket{kind="b",le="+Inf"} 2"#,
        ] {
            assert!(text.lines().any(|found| found == line), "{line}\n{text}");
        }
    }
}
