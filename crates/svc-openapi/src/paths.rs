//! Route patterns as path templates.
//!
//! A template has one parameter per segment. A group that spans segments (`[a-z]+/[a-z]+`) becomes a numbered parameter
//! for each, and optional parts become further templates.

use crate::pattern::{Node, Piece, Quantity, Sequence, parse};

/// The most templates of a pattern.
const MAX_TEMPLATES: usize = 8;

/// A path template, such as `/books/{id}`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct PathTemplate {
    pub(crate) path: String,
    pub(crate) params: Vec<PathParam>,
}

/// A parameter of a template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PathParam {
    /// The name in the template.
    pub(crate) name: String,
    /// The argument that it fills.
    pub(crate) argument: String,
    /// The position among the segments that fill the argument, and their number, if there are several.
    pub(crate) part: Option<(usize, usize)>,
    /// A regular expression for the value; `None` if it has no form that all dialects share.
    pub(crate) pattern: Option<String>,
    /// Whether the value consists of digits only.
    pub(crate) is_number: bool,
}

/// The templates of a pattern, the shortest form first.
///
/// # Errors
/// The reason why the pattern has no template.
pub(crate) fn templates(pattern: &str) -> Result<Vec<PathTemplate>, String> {
    let alternatives = parse(pattern)?;
    let mut out = Vec::new();
    for sequence in &alternatives {
        out.extend(expand(sequence)?);
    }
    out.retain(|template| template.path.starts_with('/'));
    // Trailing slashes do not matter.
    for template in out.iter_mut().filter(|template| template.path.len() > 1) {
        template.path.truncate(template.path.trim_end_matches('/').len());
    }
    let mut unique: Vec<PathTemplate> = Vec::new();
    for template in out {
        if !unique.iter().any(|other| other.path == template.path) {
            unique.push(template);
        }
    }
    match unique.len() {
        0 => Err("it has no path".to_owned()),
        n if n > MAX_TEMPLATES => Err(format!("it has more than {MAX_TEMPLATES} forms")),
        _ => Ok(unique),
    }
}

/// The templates of a sequence.
fn expand(sequence: &Sequence) -> Result<Vec<PathTemplate>, String> {
    let mut out = vec![PathTemplate::default()];
    for piece in sequence {
        let forms = forms(piece)?;
        if out.len() * forms.len() > MAX_TEMPLATES * MAX_TEMPLATES {
            return Err(format!("it has more than {MAX_TEMPLATES} forms"));
        }
        out = forms.iter().flat_map(|form| out.iter().map(|start| joined(start, form))).collect();
    }
    Ok(out)
}

fn joined(start: &PathTemplate, end: &PathTemplate) -> PathTemplate {
    PathTemplate {
        path: format!("{}{}", start.path, end.path),
        params: start.params.iter().chain(&end.params).cloned().collect(),
    }
}

/// The forms of a part of a pattern.
fn forms(piece: &Piece) -> Result<Vec<PathTemplate>, String> {
    let mut forms = match &piece.node {
        Node::Char(c) => vec![PathTemplate { path: c.to_string(), ..PathTemplate::default() }],
        Node::Assertion => return Ok(vec![PathTemplate::default()]),
        // Registered paths, such as `/oembed/1.0`, contain dots that match dots only.
        Node::Class { .. } if piece.text.as_deref() == Some(".") => {
            vec![PathTemplate { path: ".".to_owned(), ..PathTemplate::default() }]
        }
        Node::Class { .. } => return Err("it has a part without a name".to_owned()),
        Node::Group { name: Some(name), alternatives } => params(name, alternatives),
        Node::Group { name: None, alternatives } => {
            alternatives.iter().map(expand).collect::<Result<Vec<_>, _>>()?.concat()
        }
    };
    match piece.quantity {
        Quantity::One => {}
        Quantity::Optional => forms.insert(0, PathTemplate::default()),
        Quantity::Many => return Err("it repeats a part".to_owned()),
    }
    Ok(forms)
}

/// The forms of a named group: its segments, for each number of them that it may have.
fn params(name: &str, alternatives: &[Sequence]) -> Vec<PathTemplate> {
    let [sequence] = alternatives else { return vec![one_param(name, alternatives)] };
    // A class with a percent sign accepts encoded slashes.
    if admits(sequence, '%') || !has_slash(sequence) {
        return vec![one_param(name, alternatives)];
    }
    let mut out: Vec<PathTemplate> = Vec::new();
    for variant in variants(sequence) {
        let segments: Vec<Sequence> = variant.split(is_slash).map(<[Piece]>::to_vec).collect();
        if let [only] = &*segments {
            out.push(one_param(name, std::slice::from_ref(only)));
            // A class of names that contains the slash accepts names such as `group/name`. One of digits is an id.
            if admits(only, '/') && admits(only, 'a') {
                out.push(several(name, &[vec![], vec![]]));
            }
        } else {
            out.push(several(name, &segments));
        }
    }
    out
}

fn one_param(name: &str, alternatives: &[Sequence]) -> PathTemplate {
    let text = alternatives.iter().map(text).collect::<Option<Vec<_>>>();
    let param = PathParam {
        name: name.to_owned(),
        argument: name.to_owned(),
        part: None,
        pattern: text.map(|all| format!("^(?:{})$", all.join("|"))),
        is_number: alternatives.iter().all(is_number),
    };
    PathTemplate { path: format!("{{{name}}}"), params: vec![param] }
}

fn several(name: &str, segments: &[Sequence]) -> PathTemplate {
    let numbered = |(index, segment): (usize, &Sequence)| PathParam {
        name: format!("{name}_{}", index + 1),
        argument: name.to_owned(),
        part: Some((index + 1, segments.len())),
        pattern: text(segment).filter(|text| !text.is_empty()).map(|text| format!("^(?:{text})$")),
        is_number: is_number(segment),
    };
    let params: Vec<PathParam> = segments.iter().enumerate().map(numbered).collect();
    let path = params.iter().map(|param| format!("{{{}}}", param.name)).collect::<Vec<_>>().join("/");
    PathTemplate { path, params }
}

/// The sequence without groups that contain a slash: without the optional ones, and with them.
fn variants(sequence: &Sequence) -> Vec<Sequence> {
    let mut out: Vec<Sequence> = vec![Vec::new()];
    for piece in sequence {
        let Node::Group { name: None, alternatives } = &piece.node else {
            out.iter_mut().for_each(|start| start.push(piece.clone()));
            continue;
        };
        match (&**alternatives, piece.quantity) {
            ([inner], Quantity::One | Quantity::Optional) if has_slash(inner) => {
                let with = out.iter().flat_map(|start| {
                    variants(inner).into_iter().map(move |end| start.iter().cloned().chain(end).collect())
                });
                let with: Vec<Sequence> = with.take(MAX_TEMPLATES).collect();
                if piece.quantity == Quantity::One {
                    out.clear();
                }
                out.extend(with);
            }
            _ => out.iter_mut().for_each(|start| start.push(piece.clone())),
        }
    }
    out
}

fn is_slash(piece: &Piece) -> bool {
    matches!(piece.node, Node::Char('/')) && piece.quantity == Quantity::One
}

fn has_slash(sequence: &Sequence) -> bool {
    sequence.iter().any(|piece| match &piece.node {
        Node::Char(c) => *c == '/',
        Node::Class { admitted, .. } => admitted.contains('/'),
        Node::Group { alternatives, .. } => alternatives.iter().any(has_slash),
        Node::Assertion => false,
    })
}

/// Whether a class of the sequence names this character.
fn admits(sequence: &Sequence, c: char) -> bool {
    sequence.iter().any(|piece| match &piece.node {
        Node::Class { admitted, .. } => admitted.contains(c),
        Node::Group { alternatives, .. } => alternatives.iter().any(|inner| admits(inner, c)),
        Node::Char(_) | Node::Assertion => false,
    })
}

fn is_number(sequence: &Sequence) -> bool {
    matches!(&**sequence, [Piece { node: Node::Class { admitted, .. }, .. }] if admitted == "0")
}

/// The expression of a sequence; `None` if it has no portable form.
fn text(sequence: &Sequence) -> Option<String> {
    sequence.iter().map(|piece| piece.text.as_deref()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(pattern: &str) -> Vec<String> {
        templates(pattern).unwrap().into_iter().map(|template| template.path).collect()
    }

    #[test]
    fn patterns_become_templates() {
        #[rustfmt::skip]
        let rows: [(&str, &[&str]); 14] = [
            ("/", &["/"]),
            ("/oembed/1.0", &["/oembed/1.0"]),
            ("/acme/v1/books", &["/acme/v1/books"]),
            (r"/a/(?P<id>[\d]+)/b", &["/a/{id}/b"]),
            (r"/a/(?P<id>\d+)/?", &["/a/{id}"]),
            (r"/a(?:/(?P<id>[\d]+))?", &["/a", "/a/{id}"]),
            (r"/(?:a|b)/(?P<id>[\d]+)", &["/a/{id}", "/b/{id}"]),
            (r"/u/(?P<user_id>(?:[\d]+|me))/x", &["/u/{user_id}/x"]),
            (r"/i/(?P<name>[a-z0-9-]+/[a-z0-9-]+)", &["/i/{name_1}/{name_2}"]),
            (r"/p/(?P<plugin>[^.\/]+(?:\/[^.\/]+)?)", &["/p/{plugin}", "/p/{plugin_1}/{plugin_2}"]),
            (r"/t/(?P<id>([^\/:]+(?:\/[^\/:]+)?)[\/\w%-]+)/x", &["/t/{id}/x"]),
            (r"/n/(?P<name>[a-zA-Z0-9\-\/]+?)/run", &["/n/{name}/run", "/n/{name_1}/{name_2}/run"]),
            (r"/g/(?P<id>[\/\d+]+)", &["/g/{id}"]),
            (r"/v1\.5/(?!x)(?P<a>[a-z]{2})", &["/v1.5/{a}"]),
        ];
        for (pattern, expected) in rows {
            assert_eq!(paths(pattern), expected, "{pattern}");
        }
    }

    #[test]
    fn parameters_have_patterns_of_all_dialects() {
        let param = |pattern: &str| templates(pattern).unwrap().pop().unwrap().params.pop().unwrap();
        let id = param(r"/a/(?P<id>[\d]+)");
        assert_eq!((id.is_number, id.pattern.as_deref()), (true, Some(r"^(?:[\d]+)$")));
        assert_eq!(param(r"/a/(?P<n>[^\/:<>\*\?\x22\|]+)").pattern, None, "escapes of bytes differ between dialects");
        assert_eq!(param(r"/a/(?P<n>[\/\s%\w\.\@_\-]+)").pattern.as_deref(), Some(r"^(?:[/\s%\w.@_\-]+)$"));
        assert_eq!(param(r"/a/(?P<n>x/[a-z]+?)").pattern.as_deref(), Some("^(?:[a-z]+)$"));
        assert_eq!(param(r"/a/(?P<n>x/[a-z]+?)").part, Some((2, 2)));
    }

    #[test]
    fn patterns_without_template_have_a_reason() {
        for pattern in [r"/a/[a-z]+", r"/a/(?:b/)*c", r"/a/(?P<x>[a-z]", r"/(a|b)(c|d)(e|f)(g|h)"] {
            assert!(templates(pattern).is_err(), "{pattern}");
        }
    }
}
