//! Sets of HTTP methods, for registering routes.

use http::Method;

/// Methods of an endpoint that reads.
pub const READABLE: &[Method] = &[Method::GET];
/// Methods of an endpoint that creates.
pub const CREATABLE: &[Method] = &[Method::POST];
/// Methods of an endpoint that updates.
pub const EDITABLE: &[Method] = &[Method::POST, Method::PUT, Method::PATCH];
/// Methods of an endpoint that deletes.
pub const DELETABLE: &[Method] = &[Method::DELETE];
/// All methods that the API supports.
pub const ALL: &[Method] = &[Method::GET, Method::POST, Method::PUT, Method::PATCH, Method::DELETE];

/// Types that specify the methods of an endpoint: a list, or a string such as `GET, POST` in any case.
pub trait IntoMethods {
    /// The methods in order, without duplicates.
    fn into_methods(self) -> Vec<Method>;
}

/// Invalid method names are ignored: no request could have them.
fn parse(text: &str) -> Vec<Method> {
    unique(text.split(',').filter_map(|m| Method::from_bytes(m.trim().to_ascii_uppercase().as_bytes()).ok()))
}

fn unique(methods: impl Iterator<Item = Method>) -> Vec<Method> {
    let mut out = Vec::new();
    for method in methods {
        if !out.contains(&method) {
            out.push(method);
        }
    }
    out
}

impl IntoMethods for &str {
    fn into_methods(self) -> Vec<Method> {
        parse(self)
    }
}

impl IntoMethods for &[Method] {
    fn into_methods(self) -> Vec<Method> {
        unique(self.iter().cloned())
    }
}

impl<const N: usize> IntoMethods for [Method; N] {
    fn into_methods(self) -> Vec<Method> {
        unique(self.into_iter())
    }
}

impl<const N: usize> IntoMethods for &[Method; N] {
    fn into_methods(self) -> Vec<Method> {
        unique(self.iter().cloned())
    }
}

impl IntoMethods for Vec<Method> {
    fn into_methods(self) -> Vec<Method> {
        unique(self.into_iter())
    }
}

impl IntoMethods for Method {
    fn into_methods(self) -> Vec<Method> {
        vec![self]
    }
}

impl IntoMethods for Vec<&str> {
    fn into_methods(self) -> Vec<Method> {
        unique(self.into_iter().flat_map(parse))
    }
}

/// Whether form and multipart bodies of requests with this method are parameters.
pub(crate) fn accepts_body(method: &Method) -> bool {
    matches!(*method, Method::POST | Method::PUT | Method::PATCH | Method::DELETE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_from_text_and_lists() {
        let rows: [(Vec<Method>, &[&str]); 9] = [
            ("GET".into_methods(), &["GET"]),
            ("put, PATCH,put".into_methods(), &["PUT", "PATCH"]),
            (EDITABLE.into_methods(), &["POST", "PUT", "PATCH"]),
            ("a b, ,GET".into_methods(), &["GET"]),
            (vec!["GET", "POST,DELETE"].into_methods(), &["GET", "POST", "DELETE"]),
            (vec![Method::PUT, Method::GET, Method::PUT].into_methods(), &["PUT", "GET"]),
            ([Method::PUT, Method::PUT].into_methods(), &["PUT"]),
            ((&[Method::PUT, Method::GET]).into_methods(), &["PUT", "GET"]),
            (Method::DELETE.into_methods(), &["DELETE"]),
        ];
        for (got, want) in rows {
            assert_eq!(got.iter().map(Method::as_str).collect::<Vec<_>>(), want);
        }
    }
}
