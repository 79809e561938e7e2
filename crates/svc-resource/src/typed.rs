//! The values of a request as a draft or a query, for its permission and its handler.

use std::cell::OnceCell;

use svc_schema::Error;

/// The parameters of a request, converted to a draft or a query.
///
/// A permission converts and checks them, and returns them to its handler. For the `Allow` header, a permission is also called with parameters
/// that its endpoint would reject, because they are those of another method (`author` can be a list in one, a number in the other). A value
/// that cannot be converted is missing in [`values`](Self::values), and [`has_mismatch`](Self::has_mismatch) is true for its name.
#[derive(Clone, Debug)]
pub struct Typed<T> {
    values: T,
    /// Names of parameters whose values cannot be converted, and whether the value is empty as PHP defines it.
    mismatches: Vec<(String, bool)>,
    /// The same without the fields that are not [supported](crate::Field::supported), if the request has some of these.
    supported: Option<Box<Typed<T>>>,
}

impl<T> Typed<T> {
    pub(crate) fn new(values: T, mismatches: Vec<(String, bool)>) -> Self {
        Typed { values, mismatches, supported: None }
    }

    pub(crate) fn with_supported(self, supported: Typed<T>) -> Self {
        Typed { supported: Some(Box::new(supported)), ..self }
    }

    /// The values for a permission, without those that cannot be converted.
    pub fn values(&self) -> &T {
        &self.values
    }

    /// Whether the request has a value of this name that cannot be converted. Empty values (`""`, `"0"`, `0`, `false`, `[]`) do not count.
    pub fn has_mismatch(&self, name: &str) -> bool {
        self.mismatches.iter().any(|(other, is_empty)| other == name && !is_empty)
    }

    /// Whether all values of supported fields could be converted.
    pub fn is_accepted(&self) -> bool {
        self.supported.as_deref().unwrap_or(self).mismatches.is_empty()
    }

    /// The values for a handler: those of supported fields, if all of them could be converted.
    ///
    /// # Errors
    /// `rest_invalid_param` (400) if the schema accepts a value that cannot be converted.
    pub fn accepted(self) -> Result<T, Error> {
        if let Some(supported) = self.supported {
            return supported.accepted();
        }
        match self.mismatches.first() {
            None => Ok(self.values),
            Some((name, _)) => {
                Err(Error::new("rest_invalid_param", format!("Invalid parameter(s): {name}")).with_status(400))
            }
        }
    }
}

/// [`Typed`] values that are converted when they are first used, by the permission or its handler; or not at all, as for a list that is cached.
pub struct LazyTyped<T> {
    typed: OnceCell<Typed<T>>,
    convert: Box<dyn Fn() -> Typed<T> + Send>,
}

impl<T> LazyTyped<T> {
    /// Values that this function converts. It is called at most once.
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
