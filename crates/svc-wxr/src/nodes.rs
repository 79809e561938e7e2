//! XML as a sequence of elements and texts, within limits. Entities other than XML's own are not resolved, and nothing is loaded.

use std::io::{self, BufRead, Read};

use quick_xml::{Reader, XmlVersion, escape::resolve_xml_entity, events::Event};

/// A file that cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("at byte {at}: {what}")]
pub struct ReadError {
    /// Position in the file.
    pub at: u64,
    /// Description of the error.
    pub what: String,
}

/// A part of a document.
pub(crate) enum Node {
    /// The start of an element, with the name as written and its attributes.
    Open(String, Vec<(String, String)>),
    /// The end of an element.
    Close,
    /// Text, decoded.
    Text(String),
    /// The end of the document.
    End,
}

/// A reader that fails after a number of bytes.
struct Limited<R> {
    from: R,
    left: u64,
}

impl<R: BufRead> Read for Limited<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let n = self.fill_buf()?.read(buf)?;
        self.consume(n);
        Ok(n)
    }
}

impl<R: BufRead> BufRead for Limited<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        let buf = self.from.fill_buf()?;
        if self.left == 0 && !buf.is_empty() {
            return Err(io::Error::other("an entry is too large"));
        }
        Ok(buf)
    }

    fn consume(&mut self, n: usize) {
        self.left = self.left.saturating_sub(n as u64);
        self.from.consume(n);
    }
}

/// Reads nodes.
pub(crate) struct Nodes<R> {
    xml: Reader<Limited<R>>,
    buf: Vec<u8>,
}

impl<R: BufRead> Nodes<R> {
    pub(crate) fn new(from: R) -> Self {
        let mut xml = Reader::from_reader(Limited { from, left: u64::MAX });
        xml.config_mut().expand_empty_elements = true;
        Nodes { xml, buf: Vec::new() }
    }

    /// Limits what is read until the next call to this number of bytes.
    pub(crate) fn limit(&mut self, bytes: u64) {
        self.xml.get_mut().left = bytes;
    }

    pub(crate) fn position(&self) -> u64 {
        self.xml.buffer_position()
    }

    pub(crate) fn error(&self, what: impl Into<String>) -> ReadError {
        ReadError { at: self.position(), what: what.into() }
    }

    pub(crate) fn next(&mut self) -> Result<Node, ReadError> {
        loop {
            self.buf.clear();
            let event = match self.xml.read_event_into(&mut self.buf) {
                Ok(event) => event,
                Err(error) => return Err(ReadError { at: self.xml.error_position(), what: error.to_string() }),
            };
            let at = self.xml.buffer_position();
            let invalid = |what: String| ReadError { at, what };
            let node = match event {
                Event::Start(start) => {
                    let mut attributes = Vec::new();
                    for attribute in start.attributes() {
                        let attribute = attribute.map_err(|error| invalid(error.to_string()))?;
                        let value = attribute
                            .normalized_value(XmlVersion::Implicit1_0)
                            .map_err(|error| invalid(error.to_string()))?;
                        attributes.push((attribute.key.as_ref().to_owned(), value.into_owned()));
                    }
                    Node::Open(start.name().as_ref().to_owned(), attributes)
                }
                Event::End(_) => Node::Close,
                Event::Text(text) => Node::Text(text.into_inner().into_owned()),
                Event::CData(text) => Node::Text(text.into_inner().into_owned()),
                Event::GeneralRef(reference) => {
                    let character = reference.resolve_char_ref().map_err(|error| invalid(error.to_string()))?;
                    let name = reference.into_inner();
                    Node::Text(match (character, resolve_xml_entity(&name)) {
                        (Some(character), _) => character.to_string(),
                        (None, Some(text)) => text.to_owned(),
                        // As it is: the definitions of other entities are not read.
                        (None, None) => format!("&{name};"),
                    })
                }
                Event::Eof => Node::End,
                Event::Empty(_) | Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::DocType(_) => continue,
            };
            return Ok(node);
        }
    }

    /// The text of the element that was opened, up to its end. Elements in it are left out.
    pub(crate) fn text(&mut self) -> Result<String, ReadError> {
        let mut text = String::new();
        let mut depth = 1_u64;
        loop {
            match self.next()? {
                Node::Open(..) => depth = depth.saturating_add(1),
                Node::Close if depth == 1 => return Ok(text),
                Node::Close => depth = depth.saturating_sub(1),
                Node::Text(part) if depth == 1 => text.push_str(&part),
                Node::Text(_) => {}
                Node::End => return Err(self.error("the file ends in an element")),
            }
        }
    }

    /// The elements in the one that was opened, one per call; `None` at its end. The caller reads each to its end.
    pub(crate) fn child(&mut self) -> Result<Option<(String, Vec<(String, String)>)>, ReadError> {
        loop {
            match self.next()? {
                Node::Open(name, attributes) => return Ok(Some((name, attributes))),
                Node::Close => return Ok(None),
                Node::Text(_) => {}
                Node::End => return Err(self.error("the file ends in an element")),
            }
        }
    }
}
