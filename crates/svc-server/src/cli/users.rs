//! `user` and `app-password`: users and their application passwords.

use std::sync::Arc;

use anyhow::{Context as _, Result, anyhow, bail, ensure};
use chrono::{DateTime, NaiveDateTime};
use clap::{Arg, ArgAction, ArgMatches, Command};
use serde_json::{Value, json};
use svc_auth::{
    Secret,
    application_password::{self, ApplicationPassword, IN_USE_OPTION, META_KEY},
    password, random_text, reset_key,
    roles::Roles,
};
use svc_login::SESSIONS;
use svc_model::{User, UserId};
use svc_new_site::accounts::{self, default_meta};
use svc_site::{SiteError, mail::accounts::reset_link};
use svc_store::{
    Db, MetaKind, Order, Store, StoreError, StoredText, Tx, meta, options, posts,
    users::{self, UserOrderBy, UserQuery},
};
use svc_versions::Context;

use super::output::{columns, json_flag, say};
use crate::{
    config::{Config, SiteUrl},
    site::{SiteBuilder, open_existing},
};

/// Length of a generated password.
const PASSWORD_LENGTH: usize = 20;

/// Maximum length of a login name, in characters.
const LOGIN_LENGTH: usize = 60;

/// Maximum number of users in the list.
const MAX_LISTED: u64 = 10_000;

fn required(name: &'static str, help: &'static str) -> Arg {
    Arg::new(name).value_name(name.to_ascii_uppercase()).required(true).help(help)
}

fn optional(name: &'static str, metavar: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).value_name(metavar).help(help)
}

pub(super) fn user_command() -> Command {
    let create = Command::new("create")
        .about("Create a user with a generated password, which is shown once")
        .arg(required("login", "Login name"))
        .arg(required("email", "Email address"))
        .arg(optional("role", "ROLE", "Role of the user [default: the default role for new users]"));
    let set = Command::new("set-password")
        .about("Set a new generated password, which is shown once, and end the user's sessions")
        .arg(required("login", "Login name"));
    let set_role = Command::new("set-role")
        .about("Replace the roles of a user by one role")
        .arg(required("login", "Login name"))
        .arg(required("role", "Role, as printed by `list`"));
    let set_email = Command::new("set-email")
        .about("Set the email address of a user")
        .arg(required("login", "Login name"))
        .arg(required("email", "Email address"));
    let reset_link = Command::new("reset-link")
        .about("Print a link with which a user sets a new password; it works once, for 24 hours")
        .arg(required("login", "Login name"));
    let two_factor_off = Command::new("two-factor-off")
        .about("Turn two-factor log-in off for a user who has lost the app and the recovery codes")
        .arg(required("login", "Login name"));
    let delete = Command::new("delete")
        .about("Delete a user, their sessions and application passwords")
        .arg(required("login", "Login name"))
        .arg(optional("reassign", "LOGIN", "User who gets the deleted user's content; required if there is any"));
    Command::new("user")
        .visible_alias("users")
        .about("Create, list and delete users, set passwords, email addresses and roles, turn two-factor log-in off")
        .subcommand_required(true)
        .subcommand(create)
        .subcommand(Command::new("list").about("List users with their roles").arg(json_flag()))
        .subcommand(set)
        .subcommand(set_role)
        .subcommand(set_email)
        .subcommand(reset_link)
        .subcommand(two_factor_off)
        .subcommand(delete)
}

pub(super) fn app_password_command() -> Command {
    let user = || required("user", "Login name");
    let create = Command::new("create")
        .about("Create an application password, which is shown once")
        .arg(user())
        .arg(required("name", "Name of the application"))
        .arg(Arg::new("porcelain").long("porcelain").action(ArgAction::SetTrue).help("Print only the password"));
    let list = Command::new("list").about("List a user's application passwords").arg(user()).arg(json_flag());
    let revoke = Command::new("revoke")
        .about("Revoke an application password")
        .arg(user())
        .arg(required("uuid", "UUID, as printed by `list`"));
    Command::new("app-password")
        .about("Create, list and revoke application passwords")
        .subcommand_required(true)
        .subcommand(create)
        .subcommand(list)
        .subcommand(revoke)
}

fn text<'a>(args: &'a ArgMatches, name: &str) -> &'a str {
    args.get_one::<String>(name).map_or("", String::as_str)
}

/// Runs a `user` command. `now` is the current time in UTC.
pub(super) fn user(builder: &SiteBuilder, config: &Config, args: &ArgMatches, now: NaiveDateTime) -> Result<()> {
    let store = open_existing(config)?;
    match args.subcommand() {
        Some(("create", args)) => {
            create_user(&store, text(args, "login"), text(args, "email"), args.get_one("role"), now)
        }
        Some(("set-password", args)) => set_password(&store, text(args, "login")),
        Some(("reset-link", args)) => {
            let user = find(&store, text(args, "login"))?;
            print_reset_link(builder, config, &store, user, now)
        }
        Some(("two-factor-off", args)) => two_factor_off(builder, config, &store, text(args, "login")),
        Some(("set-role", args)) => set_role(&store, text(args, "login"), text(args, "role")),
        Some(("set-email", args)) => set_email(&store, text(args, "login"), text(args, "email")),
        Some(("delete", args)) => delete(&store, text(args, "login"), args.get_one("reassign")),
        Some((_, args)) => list_users(&store, args.get_flag("json")),
        None => Ok(()),
    }
}

/// A new password and its hash.
fn generate_password() -> Result<(Secret, String)> {
    let plain = random_text(PASSWORD_LENGTH)?;
    let hash = password::hash(plain.expose().as_bytes())?;
    Ok((plain, hash))
}

fn create_user(store: &Store, login: &str, email: &str, role: Option<&String>, now: NaiveDateTime) -> Result<()> {
    let is_valid = login == svc_text::sanitize_user(login, true) && (1..=LOGIN_LENGTH).contains(&login.chars().count());
    ensure!(is_valid, "`{login}` is not a valid login name: use letters, digits, spaces and _ . - @");
    ensure!(svc_text::is_email(email), "`{email}` is not a valid email address");
    let role = match role {
        Some(role) => role.clone(),
        None => store
            .read_blocking(|db| options::get(db, "default_role"))
            .context("cannot read the options")?
            .map_or_else(String::new, |role| role.text().to_owned()),
    };
    check_role(store, &role)?;
    let (plain, hash) = generate_password()?;
    let user = User {
        login: login.to_owned(),
        pass: hash,
        nicename: svc_text::sanitize_title(login),
        email: email.to_owned(),
        display_name: login.to_owned(),
        registered: Some(now),
        ..User::default()
    };
    let name = login.to_owned();
    let created = store.write_blocking(move |tx| {
        if users::by_login(tx, &user.login)?.is_some() || users::by_email(tx, &user.email)?.is_some() {
            return Ok(None);
        }
        let mut user = user.clone();
        user.nicename = unique_nicename(tx, &user.nicename)?;
        let id = users::insert(tx, &user)?;
        default_meta(tx, id, &name, &role)?;
        Ok(Some(id))
    });
    let Some(id) = created.context("cannot create the user")? else {
        bail!("a user with this login name or email address already exists")
    };
    say(&format!("Created user {login} (id {id})."));
    say(&format!("Password (not shown again): {}", plain.expose()));
    Ok(())
}

/// Fails if the site has no such role.
fn check_role(store: &Store, role: &str) -> Result<()> {
    let known = store.read_blocking(roles).context("cannot read the roles")?;
    if known.get(role).is_some() {
        return Ok(());
    }
    let names: Vec<&str> = known.iter().map(|(key, _)| key).collect();
    bail!("there is no role `{role}`; the roles are {}", names.join(", "))
}

fn set_role(store: &Store, login: &str, role: &str) -> Result<()> {
    let user = find(store, login)?;
    check_role(store, role)?;
    let given = role.to_owned();
    store.write_blocking(move |tx| accounts::set_role(tx, user, &given)).context("cannot set the role")?;
    say(&format!("Set the role of {login} to {role}."));
    Ok(())
}

/// A slug that no other user has: the wanted one, or with a number appended.
fn unique_nicename(tx: &mut Tx, wanted: &str) -> std::result::Result<String, StoreError> {
    let base: String = wanted.chars().take(40).collect();
    let mut name = base.clone();
    for n in 2..1000 {
        if users::by_slug(tx, &name)?.is_none() {
            break;
        }
        name = format!("{base}-{n}");
    }
    Ok(name)
}

fn set_password(store: &Store, login: &str) -> Result<()> {
    let user = find(store, login)?;
    let (plain, hash) = generate_password()?;
    store
        .write_blocking(move |tx| {
            let Some(mut user) = users::get(tx, user)? else { return Ok(()) };
            user.pass.clone_from(&hash);
            users::update(tx, &user)?;
            meta::delete(tx, MetaKind::User, user.id.0, SESSIONS, None).map(drop)
        })
        .context("cannot set the password")?;
    say(&format!("Password of {login} (not shown again): {}", plain.expose()));
    Ok(())
}

/// Stores a reset key for the user, and prints a link with it.
fn print_reset_link(
    builder: &SiteBuilder,
    config: &Config,
    store: &Store,
    id: UserId,
    now: NaiveDateTime,
) -> Result<()> {
    let unused: SiteUrl = "http://localhost".parse().map_err(anyhow::Error::msg)?;
    let open = builder.open(config, &unused)?;
    let settings = open.site().settings(&Context::background()).map_err(|error| anyhow!("{}", error.message()))?;
    let key = reset_key::generate()?;
    let stored = reset_key::stored(key.expose(), now.and_utc().timestamp());
    let login = store.write_blocking(move |tx| {
        let Some(mut user) = users::get(tx, id)? else { return Ok(None) };
        user.activation_key.clone_from(&stored);
        users::update(tx, &user)?;
        Ok(Some(user.login))
    });
    let login = login.context("cannot store the key")?.context("the user was deleted")?;
    say(&reset_link(open.site(), &settings, &login, key.expose()));
    Ok(())
}

fn two_factor_off(builder: &SiteBuilder, config: &Config, store: &Store, login: &str) -> Result<()> {
    let id = find(store, login)?;
    let unused: SiteUrl = "http://localhost".parse().map_err(anyhow::Error::msg)?;
    let open = builder.open(config, &unused)?;
    let site = Arc::clone(open.site());
    let settings = site.settings(&Context::background()).map_err(|error| anyhow!("{}", error.message()))?;
    let turn_off = move |tx: &mut Tx| {
        let Some(user) = users::get(tx, id)? else { return Ok(Ok(false)) };
        match svc_login::two_factor::turn_off(tx, &site, &settings, &user) {
            Ok(was_on) => Ok(Ok(was_on)),
            Err(SiteError::Store(error)) => Err(error),
            Err(SiteError::Wire(error)) => Ok(Err(error)),
        }
    };
    let was_on = store.write_blocking(turn_off).context("cannot change the user")?;
    match was_on.map_err(|error| anyhow!("{}", error.message()))? {
        true => say(&format!(
            "Two-factor log-in of {login} is off. The password alone opens the account until the user sets it up again."
        )),
        false => say(&format!("Two-factor log-in of {login} was not on.")),
    }
    Ok(())
}

fn set_email(store: &Store, login: &str, email: &str) -> Result<()> {
    let user = find(store, login)?;
    ensure!(svc_text::is_email(email), "`{email}` is not a valid email address");
    let address = email.to_owned();
    let is_free = store.write_blocking(move |tx| {
        if users::by_email(tx, &address)?.is_some_and(|other| other.id != user) {
            return Ok(false);
        }
        let Some(mut user) = users::get(tx, user)? else { return Ok(true) };
        user.email.clone_from(&address);
        users::update(tx, &user).map(|_| true)
    });
    ensure!(is_free.context("cannot set the email address")?, "another user has the email address {email}");
    say(&format!("Set the email address of {login} to {email}."));
    Ok(())
}

/// Why a user is not deleted.
enum Refusal {
    LastAdministrator,
    /// The number of posts that would have no author.
    HasPosts(usize),
}

fn delete(store: &Store, login: &str, reassign: Option<&String>) -> Result<()> {
    let user = find(store, login)?;
    let new_owner = reassign.map(|login| find(store, login)).transpose()?;
    ensure!(new_owner != Some(user), "the content of {login} cannot be reassigned to {login}");
    let deleted = store.write_blocking(move |tx| {
        let all = user_rows(tx)?;
        let is_administrator = |row: &UserRow| row.roles.iter().any(|role| role == "administrator");
        if !all.iter().any(|row| row.id != user && is_administrator(row)) {
            return Ok(Some(Refusal::LastAdministrator));
        }
        if new_owner.is_none() {
            let types = posts::counts_by_type(tx)?;
            let types: Vec<&str> = types.keys().map(String::as_str).filter(|t| *t != "revision").collect();
            let n_posts = users::posts_of(tx, user, &types)?.len();
            if n_posts > 0 {
                return Ok(Some(Refusal::HasPosts(n_posts)));
            }
        }
        users::delete(tx, user, new_owner).map(|_| None)
    });
    match deleted.context("cannot delete the user")? {
        Some(Refusal::LastAdministrator) => bail!("{login} is the last administrator: create another one first"),
        Some(Refusal::HasPosts(n)) => bail!("{login} is the author of {n} posts: reassign them with --reassign LOGIN"),
        None => say(&format!("Deleted user {login}.")),
    }
    Ok(())
}

fn find(store: &Store, login: &str) -> Result<UserId> {
    let user = store.read_blocking(|db| users::by_login(db, login)).context("cannot read the users")?;
    user.map(|u| u.id).with_context(|| format!("there is no user {login}"))
}

fn roles(db: &mut Db) -> std::result::Result<Roles, StoreError> {
    let name = format!("{}user_roles", db.prefix());
    Ok(options::get(db, &name)?.map(|stored| Roles::from_value(&stored.json())).unwrap_or_default())
}

/// A user in the list.
struct UserRow {
    id: UserId,
    login: String,
    email: String,
    roles: Vec<String>,
}

/// All users with their roles, ordered by id.
fn user_rows(db: &mut Db) -> std::result::Result<Vec<UserRow>, StoreError> {
    let query = UserQuery::default().order_by(UserOrderBy::Id).order(Order::Asc).limit(Some(MAX_LISTED));
    let ids = users::query(db, &query)?.ids;
    let key = format!("{}capabilities", db.prefix());
    let all_roles = roles(db)?;
    let id_values: Vec<i64> = ids.iter().map(|id| id.0).collect();
    let stored = meta::load(db, MetaKind::User, &id_values)?;
    let row = |u: User| {
        let caps: Value = stored.get(&u.id.0).and_then(|m| m.first(&key)).map(StoredText::json).unwrap_or_default();
        UserRow { id: u.id, login: u.login, email: u.email, roles: all_roles.caps_of(&caps).roles }
    };
    Ok(users::get_many(db, &ids)?.into_iter().map(row).collect())
}

fn list_users(store: &Store, as_json: bool) -> Result<()> {
    let rows = store.read_blocking(user_rows).context("cannot read the users")?;
    if as_json {
        let row = |u: &UserRow| json!({"id": u.id.0, "login": u.login, "email": u.email, "roles": u.roles});
        say(&serde_json::to_string_pretty(&rows.iter().map(row).collect::<Vec<_>>())?);
        return Ok(());
    }
    let row = |u: UserRow| vec![u.id.to_string(), u.login, u.email, u.roles.join(", ")];
    say(columns(&rows.into_iter().map(row).collect::<Vec<_>>()).trim_end());
    Ok(())
}

/// Runs an `app-password` command. `now` is the current time in UTC.
pub(super) fn app_password(config: &Config, args: &ArgMatches, now: NaiveDateTime) -> Result<()> {
    let store = open_existing(config)?;
    match args.subcommand() {
        Some(("create", args)) => {
            let user = find(&store, text(args, "user"))?;
            create_app_password(&store, user, text(args, "name"), args.get_flag("porcelain"), now)
        }
        Some(("revoke", args)) => revoke(&store, find(&store, text(args, "user"))?, text(args, "uuid")),
        Some((_, args)) => list_app_passwords(&store, find(&store, text(args, "user"))?, args.get_flag("json")),
        None => Ok(()),
    }
}

fn load_list(db: &mut Db, user: UserId) -> std::result::Result<Vec<ApplicationPassword>, StoreError> {
    let value = meta::get(db, MetaKind::User, user.0, META_KEY)?;
    Ok(value.map(|v| application_password::list_from_value(&v.json())).unwrap_or_default())
}

fn store_list(tx: &mut Tx, user: UserId, list: &[ApplicationPassword]) -> std::result::Result<(), StoreError> {
    let value = StoredText::of(application_password::list_to_value(list));
    meta::update(tx, MetaKind::User, user.0, META_KEY, &value).map(drop)
}

/// With `porcelain`, only the password is printed, for scripts.
fn create_app_password(store: &Store, user: UserId, name: &str, porcelain: bool, now: NaiveDateTime) -> Result<()> {
    let (_, plain) = add_app_password(store, user, name, now)?;
    let shown = application_password::chunk(plain.expose());
    if porcelain {
        say(&shown)
    } else {
        say(&format!("Password for {name} (not shown again): {shown}"))
    }
    Ok(())
}

/// Adds an application password. Returns its UUID and the password.
fn add_app_password(store: &Store, user: UserId, name: &str, now: NaiveDateTime) -> Result<(String, Secret)> {
    let name = svc_text::sanitize_text_field(name);
    ensure!(!name.is_empty(), "an application password requires a name");
    let (item, plain) = ApplicationPassword::generate(&name, "", now.and_utc().timestamp())?;
    let uuid = item.uuid.clone();
    let created = store.write_blocking(move |tx| {
        let mut list = load_list(tx, user)?;
        if list.iter().any(|p| p.name.eq_ignore_ascii_case(&item.name)) {
            return Ok(false);
        }
        list.push(item.clone());
        store_list(tx, user, &list)?;
        options::set(tx, IN_USE_OPTION, &StoredText::of(1), false)?;
        Ok(true)
    });
    let created = created.context("cannot create the application password")?;
    ensure!(created, "the user already has an application password named {name}");
    Ok((uuid, plain))
}

fn list_app_passwords(store: &Store, user: UserId, as_json: bool) -> Result<()> {
    let list = store.read_blocking(|db| load_list(db, user)).context("cannot read the application passwords")?;
    if as_json {
        let time = |t: i64| DateTime::from_timestamp(t, 0).map(|d| d.format("%Y-%m-%dT%H:%M:%SZ").to_string());
        let row = |p: &ApplicationPassword| json!({"uuid": p.uuid, "name": p.name, "created": time(p.created), "last_used": p.last_used.and_then(time)});
        say(&serde_json::to_string_pretty(&list.iter().map(row).collect::<Vec<_>>())?);
        return Ok(());
    }
    let day = |t: i64| DateTime::from_timestamp(t, 0).map(|d| d.format("%Y-%m-%d").to_string()).unwrap_or_default();
    let used = |p: &ApplicationPassword| {
        p.last_used.map_or_else(|| "never used".to_owned(), |t| format!("last used {}", day(t)))
    };
    let rows: Vec<Vec<String>> = list
        .iter()
        .map(|p| vec![p.uuid.clone(), p.name.clone(), format!("created {}", day(p.created)), used(p)])
        .collect();
    say(columns(&rows).trim_end());
    Ok(())
}

fn revoke(store: &Store, user: UserId, uuid: &str) -> Result<()> {
    let wanted = uuid.to_owned();
    let found = store.write_blocking(move |tx| {
        let mut list = load_list(tx, user)?;
        let before = list.len();
        list.retain(|p| p.uuid != wanted);
        store_list(tx, user, &list)?;
        Ok(list.len() < before)
    });
    let found = found.context("cannot revoke the application password")?;
    ensure!(found, "the user has no application password {uuid}");
    say("Revoked.");
    Ok(())
}
