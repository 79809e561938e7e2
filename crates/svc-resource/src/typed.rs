//! The values of a request as a draft or a query, for its permission and its callback.

use std::cell::OnceCell;

use svc_schema::Error;

/// The values of a request's parameters as a draft or a query.
///
/// A permission makes it, reads it, and returns it to its callback, so that both see the same values. For the `Allow` header, a
/// permission is also asked about parameters of other endpoints, which its own would reject (`author` is a list in one, a number in
/// another). Such a value is not among the [`values`](Self::values); the permission knows it as [another value](Self::has_other), and
/// the callback is not called.
#[derive(Clone, Debug, Default)]
pub struct Typed<T> {
    values: T,
    /// Names of parameters with a value that the type has no place for, and whether it is empty as PHP defines it.
    others: Vec<(String, bool)>,
}

impl<T> Typed<T> {
    pub(crate) fn new(values: T, others: Vec<(String, bool)>) -> Self {
        Typed { values, others }
    }

    /// The values that the type has a place for.
    pub fn values(&self) -> &T {
        &self.values
    }

    /// Whether the request sets this parameter to a value that the type has no place for. Empty values (`""`, `"0"`, `0`, `false`,
    /// `[]`) count as absent.
    pub fn has_other(&self, name: &str) -> bool {
        self.others.iter().any(|(other, is_empty)| other == name && !is_empty)
    }

    /// The values, for a callback.
    ///
    /// # Errors
    /// `rest_invalid_param` (400) for a value that the schema accepts and the type has no place for.
    pub fn accepted(self) -> Result<T, Error> {
        match self.others.first() {
            None => Ok(self.values),
            Some((name, _)) => {
                Err(Error::new("rest_invalid_param", format!("Invalid parameter(s): {name}")).with_status(400))
            }
        }
    }
}

/// [`Typed`] values that are converted when the permission or its handler first needs them: never for a response that is cached, or for
/// `Allow` where the permission does not read them.
pub struct LazyTyped<T> {
    typed: OnceCell<Typed<T>>,
    convert: Box<dyn Fn() -> Typed<T> + Send>,
}

impl<T> LazyTyped<T> {
    /// Values that this function converts, at most once.
    pub fn new(convert: impl Fn() -> Typed<T> + Send + 'static) -> Self {
        LazyTyped { typed: OnceCell::new(), convert: Box::new(convert) }
    }

    /// The values.
    pub fn get(&self) -> &Typed<T> {
        self.typed.get_or_init(&self.convert)
    }

    /// As [`Typed::accepted`].
    ///
    /// # Errors
    /// Those of [`Typed::accepted`].
    pub fn accepted(self) -> Result<T, Error> {
        self.typed.into_inner().unwrap_or_else(self.convert).accepted()
    }
}
