//! Stores changes to users, each in one transaction.

use std::sync::Arc;

use svc_auth::{Caller, Secret};
use svc_model::{User, UserId};
use svc_resource::Typed;
use svc_routing::{ObjectId, Request, Result};
use svc_site::{
    Access, Settings, Site,
    hashing::HashFailure,
    mail::accounts::NewUserMails,
    revisions::RevisionAuthor,
    users::{draft::UserDraft, save::SaveUser},
};
use svc_store::{authors, users};
use svc_versions::Context;

use super::{Users, errors, fields::OBJECT};
use crate::caller;

/// Hashes a new password. Failures become errors of the REST API.
async fn hash(site: &Site, password: Secret) -> Result<String> {
    let failed = |code, status| svc_schema::Error::new(code, "The password could not be stored.").with_status(status);
    site.password_hashing.hash(password).await.map_err(|failure| match failure {
        HashFailure::TooLong => errors::invalid_password(),
        HashFailure::Busy => failed("rest_service_unavailable", 503),
        HashFailure::Unavailable => failed("rest_internal_error", 500),
    })
}

impl Users {
    /// The values of a request that creates or changes a user.
    pub(super) fn draft(&self, req: &Request) -> Result<Typed<UserDraft>> {
        Ok(self.fields.current(&*self.site.settings(req.cx())?).typed(req))
    }

    /// Creates or updates a user from a request.
    pub(super) async fn save(&self, req: &Request, draft: Typed<UserDraft>, existing: Option<User>) -> Result<UserId> {
        let mut draft = draft.accepted()?;
        let settings = self.site.settings(req.cx())?;
        let caller = caller(req);
        if let Some(user) = &existing {
            self.check_names(req.cx(), &draft, user)?;
        }
        self.check_roles(req, &draft, &settings, &caller, existing.as_ref())?;
        let hash = match draft.password.take() {
            Some(password) => Some(hash(&self.site, password).await?),
            None => None,
        };
        let mails = req.extensions().get::<NewUserMails>().copied();
        let job = SaveUser {
            site: Arc::clone(&self.site),
            settings,
            caller,
            draft,
            hash,
            existing: existing.map(|u| u.id),
            mails,
        };
        let id = self.site.write(req.cx(), move |tx| job.run(tx)).await?;
        let id_key = u64::try_from(id.0).unwrap_or_default();
        self.extra.update(OBJECT, &ObjectId::from(id_key), req).await?;
        Ok(id)
    }

    /// Validates e-mail address, login and slug of an update.
    fn check_names(&self, cx: &Context, draft: &UserDraft, user: &User) -> Result<()> {
        self.site.read(cx, |db| {
            if let Some(email) = draft.email.as_deref().filter(|email| !email.is_empty())
                && users::by_email(db, email)?.is_some_and(|other| other.id != user.id)
            {
                return Err(errors::invalid_email().into());
            }
            if draft.username.as_ref().is_some_and(|name| *name != user.login) {
                return Err(errors::fixed_username().into());
            }
            if let Some(slug) = draft.slug.as_deref().filter(|s| !s.is_empty() && *s != user.nicename)
                && users::by_slug(db, slug)?.is_some_and(|other| other.id != user.id)
            {
                return Err(errors::invalid_slug().into());
            }
            Ok(())
        })
    }

    /// Checks that the roles exist and that the caller may assign them.
    fn check_roles(
        &self,
        req: &Request,
        draft: &UserDraft,
        settings: &Settings,
        caller: &Caller,
        existing: Option<&User>,
    ) -> Result<()> {
        let roles_sent = draft.roles.as_deref().unwrap_or_default();
        if roles_sent.is_empty() {
            return Ok(());
        }
        // Callers who may create users but not change roles create them with the default role. (WordPress lets them
        // create administrators.)
        if existing.is_none() && !Access::new(&self.site, settings).can(caller, "promote_users") {
            return Err(errors::cannot_edit_roles(req));
        }
        let prefix = self.site.read(req.cx(), |db| Ok(db.prefix().to_owned()))?;
        let roles = settings.roles(&prefix);
        for key in roles_sent {
            let role = roles.get(key).ok_or_else(|| errors::unknown_role(key))?;
            if existing.is_some_and(|user| user.id == caller.id) && !role.capabilities.has("edit_users") {
                return Err(errors::cannot_lose_rights(req));
            }
        }
        Ok(())
    }

    /// Deletes a user permanently. Their posts and links are reassigned to `reassign`; id 0 leaves them without an
    /// author. With `None`, posts of types with `delete_with_user` are deleted. `by` is the caller.
    pub(super) async fn remove(
        &self,
        cx: &Context,
        id: UserId,
        reassign: Option<UserId>,
        by: RevisionAuthor,
    ) -> Result<()> {
        let site = Arc::clone(&self.site);
        let files = self
            .site
            .write(cx, move |tx| {
                let mut files = Vec::new();
                users::get(tx, id)?.ok_or_else(errors::not_found)?;
                match reassign {
                    Some(user) if user.is_none() => {}
                    Some(user) => {
                        users::get(tx, user)?.ok_or_else(errors::invalid_reassign)?;
                    }
                    None => {
                        let is_deleted =
                            |t: &svc_model::PostType| t.delete_with_user.unwrap_or_else(|| t.supports("author"));
                        let types: Vec<&str> =
                            site.registries.types.iter().filter(|t| is_deleted(t)).map(|t| t.name.as_str()).collect();
                        for post in users::posts_of(tx, id, &types)? {
                            files.extend(svc_site::posts::delete::trash_or_delete(tx, &site, post, by)?);
                        }
                        authors::delete_links(tx, id)?;
                    }
                }
                users::delete(tx, id, reassign)?;
                Ok(files)
            })
            .await?;
        let uploads = self.site.services.uploads.clone();
        self.site.store.after_commit(cx, async move { uploads.delete(files).await }).await;
        Ok(())
    }
}
