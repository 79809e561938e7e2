//! To whom a site shows its users.

use std::str::FromStr;

use crate::Caller;

/// The users whose names, slugs and ids a site shows to those who are not logged in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UserVisibility {
    /// All of them, also those without published posts.
    Public,
    /// Those with published posts, as WordPress does.
    #[default]
    Authors,
    /// None: also not as authors of what is published.
    Private,
}

impl UserVisibility {
    /// Whether no user is shown to this caller. Those who are logged in see authors.
    pub fn hides_from(self, caller: &Caller) -> bool {
        self == UserVisibility::Private && !caller.is_logged_in()
    }
}

impl FromStr for UserVisibility {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "public" => Ok(UserVisibility::Public),
            "authors" => Ok(UserVisibility::Authors),
            "private" => Ok(UserVisibility::Private),
            _ => Err("must be public, authors or private".to_owned()),
        }
    }
}
