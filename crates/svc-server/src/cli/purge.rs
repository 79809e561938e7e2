//! `purge`: tells caches in front of the server that responses are not valid any more.

use std::collections::BTreeSet;

use anyhow::{Context as _, Result, bail};
use clap::{Arg, ArgAction, ArgMatches, Command};
use svc_store::StoreError;

use super::output::say;
use crate::{config::Config, site::open_existing};

pub(super) fn command() -> Command {
    let tags = Arg::new("tags").value_name("TAG").action(ArgAction::Append);
    Command::new("purge")
        .about(
            "Purge caches in front of the server, after changes that it does not see, such as those of a theme's files",
        )
        .arg(tags.help("Only responses with these tags, such as post-12 [default: everything]"))
}

/// Queues the purge, which the running server sends.
pub(super) fn run(config: &Config, args: &ArgMatches) -> Result<()> {
    if config.purge.is_none() {
        bail!("no cache is set: `purge.service`");
    }
    let tags = args.get_many::<String>("tags").map(|tags| tags.cloned().collect::<BTreeSet<String>>());
    if let Some(tag) = tags.iter().flatten().find(|tag| !is_tag(tag)) {
        bail!("`{tag}` is not a tag");
    }
    let store = open_existing(config)?;
    store.create_own_table(&svc_outbox::TABLE).context("cannot create the table of the outbox")?;
    let queue = move |tx: &mut _| {
        svc_events::purge::purge(tx, tags.clone())
            .map_err(|error| StoreError::Other(svc_schema::Error::from(error).message().to_owned()))
    };
    store.write_blocking(queue).context("cannot queue the purge")?;
    say("The running server purges within 15 seconds.");
    Ok(())
}

/// Whether a text can be a tag: it is sent in headers, among others.
fn is_tag(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_single_words() {
        assert!(is_tag("post-12") && is_tag("list-my_type"));
        assert!(!is_tag("") && !is_tag("a b") && !is_tag("a\r\nb") && !is_tag("a,b"));
    }
}
