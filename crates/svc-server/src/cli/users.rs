//! `user` and `app-password`: accounts without a browser.

use chrono::Utc;
use clap::{Arg, ArgMatches, Command};
use serde_json::Value;
use svc_auth::{
    Secret,
    application_password::{self, ApplicationPassword, IN_USE_OPTION, META_KEY},
    password, random_text,
    roles::Roles,
};
use svc_login::SESSIONS;
use svc_model::{User, UserId};
use svc_store::{
    Db, MetaKind, Order, Store, StoreError, StoredText, Tx, meta, options,
    users::{self, UserOrderBy, UserQuery},
};

use super::output::{columns, say};
use crate::{
    accounts::default_meta,
    config::Config,
    error::{Error, Result},
    first_run,
    site::open_store,
};

/// Letters in a generated password.
const PASSWORD_LENGTH: usize = 20;

/// Most users that are listed.
const MOST_LISTED: u64 = 10_000;

fn required(name: &'static str, help: &'static str) -> Arg {
    Arg::new(name).value_name(name.to_ascii_uppercase()).required(true).help(help)
}

fn optional(name: &'static str, metavar: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).value_name(metavar).help(help)
}

pub(super) fn user_command() -> Command {
    let create = Command::new("create")
        .about("Make a user with a generated password, which is shown once")
        .arg(required("login", "Name to sign in with"))
        .arg(required("email", "Address of e-mail"))
        .arg(optional("role", "ROLE", "Role of the user [default: what the site gives to newcomers]"));
    let set = Command::new("set-password")
        .about("Give a user a new generated password, which is shown once; ends the user's sessions")
        .arg(required("login", "Name to sign in with"));
    let set_role = Command::new("set-role")
        .about("Give a user a role in the place of those that the user has")
        .arg(required("login", "Name to sign in with"))
        .arg(required("role", "Role, as `list` shows them"));
    Command::new("user")
        .about("Make and list users, renew passwords, give roles")
        .subcommand_required(true)
        .subcommand(create)
        .subcommand(Command::new("list").about("List users with their roles"))
        .subcommand(set)
        .subcommand(set_role)
}

pub(super) fn app_password_command() -> Command {
    let user = || required("user", "Name that the user signs in with");
    let create = Command::new("create")
        .about("Make a password for a program, which is shown once")
        .arg(user())
        .arg(required("name", "What the password is for"));
    let list = Command::new("list").about("List a user's application passwords").arg(user());
    let revoke = Command::new("revoke")
        .about("End an application password")
        .arg(user())
        .arg(required("uuid", "Which one, as `list` shows it"));
    Command::new("app-password")
        .about("Make, list and end passwords for programs")
        .subcommand_required(true)
        .subcommand(create)
        .subcommand(list)
        .subcommand(revoke)
}

fn text<'a>(args: &'a ArgMatches, name: &str) -> &'a str {
    args.get_one::<String>(name).map_or("", String::as_str)
}

fn refused(error: impl std::fmt::Display) -> Error {
    Error::Refused(error.to_string())
}

fn open(config: &Config) -> Result<Store> {
    let store = open_store(config)?;
    if first_run::has_site(&store)? {
        Ok(store)
    } else {
        Err(refused("the database holds no site yet: start the server first"))
    }
}

pub(super) fn user(config: &Config, args: &ArgMatches) -> Result {
    let store = open(config)?;
    match args.subcommand() {
        Some(("create", args)) => create_user(&store, text(args, "login"), text(args, "email"), args.get_one("role")),
        Some(("set-password", args)) => set_password(&store, text(args, "login")),
        Some(("set-role", args)) => set_role(&store, text(args, "login"), text(args, "role")),
        _ => list_users(&store),
    }
}

fn generated() -> Result<(Secret, String)> {
    let plain = random_text(PASSWORD_LENGTH).map_err(refused)?;
    let hash = password::hash(plain.expose().as_bytes()).map_err(refused)?;
    Ok((plain, hash))
}

fn create_user(store: &Store, login: &str, email: &str, role: Option<&String>) -> Result {
    if login != svc_text::sanitize_user(login, true) || login.is_empty() || login.chars().count() > 60 {
        return Err(refused(format!("`{login}` cannot be a user's name: use letters, digits, spaces and _ . - @")));
    }
    if !svc_text::is_email(email) {
        return Err(refused(format!("`{email}` is not an address of e-mail")));
    }
    let role = match role {
        Some(role) => role.clone(),
        None => store
            .read(|db| options::get(db, "default_role"))
            .map_err(Error::store("cannot read options"))?
            .map_or_else(String::new, |role| role.text().to_owned()),
    };
    check_role(store, &role)?;
    let (plain, hash) = generated()?;
    let user = User {
        login: login.to_owned(),
        pass: hash,
        nicename: svc_text::sanitize_title(login),
        email: email.to_owned(),
        display_name: login.to_owned(),
        registered: Some(Utc::now().naive_utc()),
        ..User::default()
    };
    let name = login.to_owned();
    let made = store.write_blocking(move |tx| {
        if users::by_login(tx, &user.login)?.is_some() || users::by_email(tx, &user.email)?.is_some() {
            return Ok(None);
        }
        let mut user = user.clone();
        user.nicename = free_nicename(tx, &user.nicename)?;
        let id = users::insert(tx, &user)?;
        default_meta(tx, id, &name, &role)?;
        Ok(Some(id))
    });
    match made.map_err(Error::store("cannot make the user"))? {
        Some(id) => {
            say(&format!("Made user {login} (id {id})."));
            say(&format!("Password, shown only now: {}", plain.expose()));
            Ok(())
        }
        None => Err(refused("a user of this name or address exists already")),
    }
}

/// Refuses a role that the site does not have.
fn check_role(store: &Store, role: &str) -> Result {
    let known = store.read(roles).map_err(Error::store("cannot read roles"))?;
    if known.get(role).is_some() {
        return Ok(());
    }
    let names: Vec<&str> = known.iter().map(|(key, _)| key).collect();
    Err(refused(format!("there is no role `{role}`; there are {}", names.join(", "))))
}

fn set_role(store: &Store, login: &str, role: &str) -> Result {
    let user = find(store, login)?;
    check_role(store, role)?;
    let given = role.to_owned();
    store
        .write_blocking(move |tx| crate::accounts::set_role(tx, user, &given))
        .map_err(Error::store("cannot set the role"))?;
    say(&format!("{login} is {role} now."));
    Ok(())
}

/// The name, or the name with a number behind it that no other user's address has.
fn free_nicename(tx: &mut Tx, wish: &str) -> std::result::Result<String, StoreError> {
    let base: String = wish.chars().take(40).collect();
    let mut name = base.clone();
    for n in 2..1000 {
        if users::by_slug(tx, &name)?.is_none() {
            break;
        }
        name = format!("{base}-{n}");
    }
    Ok(name)
}

fn set_password(store: &Store, login: &str) -> Result {
    let user = find(store, login)?;
    let (plain, hash) = generated()?;
    store
        .write_blocking(move |tx| {
            let Some(mut user) = users::get(tx, user)? else { return Ok(()) };
            user.pass.clone_from(&hash);
            users::update(tx, &user)?;
            meta::delete(tx, MetaKind::User, user.id.0, SESSIONS, None).map(drop)
        })
        .map_err(Error::store("cannot set the password"))?;
    say(&format!("Password of {login}, shown only now: {}", plain.expose()));
    Ok(())
}

fn find(store: &Store, login: &str) -> Result<UserId> {
    let user = store.read(|db| users::by_login(db, login)).map_err(Error::store("cannot read users"))?;
    user.map(|u| u.id).ok_or_else(|| refused(format!("there is no user {login}")))
}

fn roles(db: &mut Db) -> std::result::Result<Roles, StoreError> {
    let name = format!("{}user_roles", db.prefix());
    Ok(options::get(db, &name)?.map(|stored| Roles::from_value(&stored.json())).unwrap_or_default())
}

fn list_users(store: &Store) -> Result {
    let rows = store.read(|db| {
        let query = UserQuery {
            order_by: UserOrderBy::Id,
            order: Order::Asc,
            limit: Some(MOST_LISTED),
            ..UserQuery::default()
        };
        let ids = users::query(db, &query)?.ids;
        let key = format!("{}capabilities", db.prefix());
        let all_roles = roles(db)?;
        let numbers: Vec<i64> = ids.iter().map(|id| id.0).collect();
        let stored = meta::load(db, MetaKind::User, &numbers)?;
        let row = |u: User| {
            let caps: Value = stored.get(&u.id.0).and_then(|m| m.first(&key)).map(StoredText::json).unwrap_or_default();
            vec![u.id.to_string(), u.login, u.email, all_roles.caps_of(&caps).roles.join(", ")]
        };
        Ok(users::get_many(db, &ids)?.into_iter().map(row).collect::<Vec<_>>())
    });
    say(columns(&rows.map_err(Error::store("cannot read users"))?).trim_end());
    Ok(())
}

pub(super) fn app_password(config: &Config, args: &ArgMatches) -> Result {
    let store = open(config)?;
    match args.subcommand() {
        Some(("create", args)) => create_app_password(&store, find(&store, text(args, "user"))?, text(args, "name")),
        Some(("revoke", args)) => revoke(&store, find(&store, text(args, "user"))?, text(args, "uuid")),
        Some((_, args)) => list_app_passwords(&store, find(&store, text(args, "user"))?),
        None => Ok(()),
    }
}

fn stored(db: &mut Db, user: UserId) -> std::result::Result<Vec<ApplicationPassword>, StoreError> {
    let value = meta::get(db, MetaKind::User, user.0, META_KEY)?;
    Ok(value.map(|v| application_password::list_from_value(&v.json())).unwrap_or_default())
}

fn put(tx: &mut Tx, user: UserId, list: &[ApplicationPassword]) -> std::result::Result<(), StoreError> {
    let value = StoredText::of(application_password::list_to_value(list));
    meta::update(tx, MetaKind::User, user.0, META_KEY, &value).map(drop)
}

fn create_app_password(store: &Store, user: UserId, name: &str) -> Result {
    let name = svc_text::sanitize_text_field(name);
    if name.is_empty() {
        return Err(refused("an application password needs a name"));
    }
    let (item, plain) = ApplicationPassword::generate(&name, "", Utc::now().timestamp()).map_err(refused)?;
    let made = store.write_blocking(move |tx| {
        let mut list = stored(tx, user)?;
        if list.iter().any(|p| p.name.eq_ignore_ascii_case(&item.name)) {
            return Ok(false);
        }
        list.push(item.clone());
        put(tx, user, &list)?;
        options::set(tx, IN_USE_OPTION, &StoredText::of(1), false)?;
        Ok(true)
    });
    if !made.map_err(Error::store("cannot make the application password"))? {
        return Err(refused(format!("the user has an application password named {name} already")));
    }
    say(&format!("Password for {name}, shown only now: {}", application_password::chunk(plain.expose())));
    Ok(())
}

fn list_app_passwords(store: &Store, user: UserId) -> Result {
    let list = store.read(|db| stored(db, user)).map_err(Error::store("cannot read application passwords"))?;
    let day =
        |t: i64| chrono::DateTime::from_timestamp(t, 0).map(|d| d.format("%Y-%m-%d").to_string()).unwrap_or_default();
    let used =
        |p: &ApplicationPassword| p.last_used.map_or_else(|| "never used".to_owned(), |t| format!("used {}", day(t)));
    let rows: Vec<Vec<String>> = list
        .iter()
        .map(|p| vec![p.uuid.clone(), p.name.clone(), format!("made {}", day(p.created)), used(p)])
        .collect();
    say(columns(&rows).trim_end());
    Ok(())
}

fn revoke(store: &Store, user: UserId, uuid: &str) -> Result {
    let wanted = uuid.to_owned();
    let found = store.write_blocking(move |tx| {
        let mut list = stored(tx, user)?;
        let before = list.len();
        list.retain(|p| p.uuid != wanted);
        put(tx, user, &list)?;
        Ok(list.len() < before)
    });
    if found.map_err(Error::store("cannot end the application password"))? {
        say("It is ended.");
        Ok(())
    } else {
        Err(refused(format!("the user has no application password {uuid}")))
    }
}
