//! PHP value semantics that the interface and the stored data need.
