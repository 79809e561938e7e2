//! One order: an account, proof that the names are this server's (TLS-ALPN-01, RFC 8737), and the certificate.

use std::{sync::Arc, time::Duration};

use instant_acme::{
    Account, AuthorizationStatus, ChallengeType, Identifier, NewAccount, NewOrder, Order, OrderStatus, RetryPolicy,
};

use super::{
    AcmeSettings,
    client::Client,
    folder::{self, Folder},
};
use crate::{certificate::Certificate, challenges::Challenges};

/// How long the authority may take to look at the challenges, and to issue the certificate.
const PATIENCE: RetryPolicy =
    RetryPolicy::new().initial_delay(Duration::from_secs(1)).timeout(Duration::from_secs(120));

type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// Gets a certificate and stores it.
pub(super) async fn complete(
    settings: &AcmeSettings,
    folder: &Folder,
    challenges: &Arc<Challenges>,
) -> Result<Certificate> {
    let account = account(settings, folder).await?;
    let names: Vec<Identifier> = settings.domains.iter().cloned().map(Identifier::Dns).collect();
    let mut order = account.new_order(&NewOrder::new(&names)).await?;
    // The answers to challenges are removed when this is dropped.
    let answers = challenges.begin();
    let mut authorizations = order.authorizations();
    while let Some(authorization) = authorizations.next().await {
        let mut authorization = authorization?;
        match authorization.status {
            AuthorizationStatus::Valid => continue,
            AuthorizationStatus::Pending => {}
            other => return Err(format!("an authorization is {other:?}").into()),
        }
        let name = authorization.identifier().to_string();
        let offered = authorization.challenge(ChallengeType::TlsAlpn01);
        let mut challenge =
            offered.ok_or_else(|| format!("the authority offers no tls-alpn-01 challenge for {name}"))?;
        answers.add(&name, challenge.key_authorization().digest().as_ref())?;
        challenge.set_ready().await?;
    }
    match order.poll_ready(&PATIENCE).await {
        Ok(OrderStatus::Ready) => {}
        other => {
            return Err(match (refusal(&mut order).await, other) {
                (Some(reason), _) => reason.into(),
                (None, Err(error)) => error.into(),
                (None, Ok(status)) => format!("the order is {status:?}").into(),
            });
        }
    }
    drop(answers);
    let key = order.finalize().await?;
    let chain = order.poll_certificate(&PATIENCE).await?;
    folder.set_certificate(&chain, &key)?;
    let certificate = folder.certificate()?.ok_or("the certificate is gone")?;
    match settings.domains.iter().find(|domain| !certificate.is_for(domain)) {
        Some(domain) => Err(format!("the certificate is not for {domain}").into()),
        None if certificate.is_expired() => Err("the certificate has expired: is the clock right?".into()),
        None => Ok(certificate),
    }
}

/// The stored account, or a new one.
async fn account(settings: &AcmeSettings, folder: &Folder) -> Result<Account> {
    let client = || Client::new(settings.root.as_deref()).map(Box::new);
    let builder = Account::builder_with_http(client()?);
    if let Some(credentials) = folder.account(&settings.directory) {
        return Ok(builder.from_credentials(credentials).await?);
    }
    let contact = settings.contact.as_ref().map(|address| format!("mailto:{address}"));
    let contact: Vec<&str> = contact.as_deref().into_iter().collect();
    let new = NewAccount { contact: &contact, terms_of_service_agreed: true, only_return_existing: false };
    let (account, credentials) = builder.create(&new, settings.directory.clone(), None).await?;
    folder.set_account(&folder::Account { directory: settings.directory.clone(), credentials })?;
    Ok(account)
}

/// Which name the authority could not verify, and why.
async fn refusal(order: &mut Order) -> Option<String> {
    let mut authorizations = order.authorizations();
    while let Some(Ok(mut authorization)) = authorizations.next().await {
        let name = authorization.identifier().to_string();
        let Ok(state) = authorization.refresh().await else { continue };
        if let Some(problem) = state.challenges.iter().find_map(|challenge| challenge.error.as_ref()) {
            return Some(format!("the authority could not verify {name}: {problem}"));
        }
    }
    None
}
