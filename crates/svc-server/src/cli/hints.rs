//! Advice for errors whose remedy is not obvious from the message.

use std::io::ErrorKind;

use svc_store::StoreError;

use crate::error::Error;

/// The advice for an error of a command, if there is any.
pub(super) fn of(error: &anyhow::Error) -> Option<String> {
    error.chain().find_map(|cause| {
        if let Some(listen) = cause.downcast_ref::<svc_listen::Error>() {
            return of_listen(listen);
        }
        if let Some(store) = cause.downcast_ref::<StoreError>() {
            return of_store(store);
        }
        match cause.downcast_ref::<Error>()? {
            Error::Store { cause, .. } => of_store(cause),
            Error::Listen(listen) => of_listen(listen),
            _ => None,
        }
    })
}

fn of_listen(error: &svc_listen::Error) -> Option<String> {
    let svc_listen::Error::Bind { address, cause } = error else { return None };
    let (host, port) = address.rsplit_once(':')?;
    match cause.kind() {
        ErrorKind::AddrInUse => {
            let next = port.parse::<u16>().ok()?.checked_add(1)?;
            Some(format!("another server uses this port; try `--listen {host}:{next}`"))
        }
        ErrorKind::PermissionDenied => {
            Some(format!("ports below 1024 require special rights; try `--listen {host}:8080` behind a proxy"))
        }
        _ => None,
    }
}

fn of_store(error: &StoreError) -> Option<String> {
    match error {
        StoreError::Corrupt(_) => Some(
            "restore a backup with `svc-server restore BACKUP --overwrite`, or choose another --database".to_owned(),
        ),
        StoreError::Schema(_) => Some("check the settings `database` and `table_prefix`".to_owned()),
        StoreError::ReadOnlyFolder(_) => {
            Some("make the folder writable for this user, or copy it and serve the copy with --data".to_owned())
        }
        StoreError::WriteAheadLog(_) => Some(
            "give this user access to both files, and keep the database on a local disk; a server that ran as another user \
             may have left them"
                .to_owned(),
        ),
        StoreError::Full => Some("free space on the disk; nothing was lost".to_owned()),
        _ => None,
    }
}
