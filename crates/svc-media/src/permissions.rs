//! Permissions of uploaded files: those of the folder above, regardless of the umask of the process. WordPress does the same, so that PHP,
//! the web server and this server can share a folder of uploads. Source: `wp_mkdir_p`, `_wp_handle_upload`.

use std::{io, path::Path};

/// Creates the missing folders of a file durably, each with the permissions of the one above.
///
/// # Errors
/// If a folder cannot be created.
pub fn create_folders(file: &Path) -> io::Result<()> {
    let Some(folder) = file.parent().filter(|folder| !folder.is_dir()) else { return Ok(()) };
    let missing: Vec<&Path> = folder.ancestors().take_while(|folder| !folder.is_dir()).collect();
    for folder in missing.into_iter().rev() {
        match std::fs::create_dir(folder) {
            Ok(()) => {
                inherit(folder, 0o7777);
                folder.parent().map_or(Ok(()), svc_files::sync_folder)?;
            }
            // Another upload has created it.
            Err(_) if folder.is_dir() => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Lets those read and write a file who may do so in its folder.
pub fn share(file: &Path) {
    inherit(file, 0o666);
}

/// Gives a file or folder the permissions of the folder above, as far as `mask` permits.
#[cfg(unix)]
fn inherit(path: &Path, mask: u32) {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};

    let set = || {
        let above = std::fs::metadata(path.parent().unwrap_or(path))?.mode() & mask;
        match std::fs::metadata(path)?.mode() & 0o7777 {
            own if own == above => Ok(()),
            _ => std::fs::set_permissions(path, std::fs::Permissions::from_mode(above)),
        }
    };
    if let Err(error) = set() {
        tracing::warn!(%error, path = %path.display(), "cannot set the permissions of an upload");
    }
}

#[cfg(not(unix))]
fn inherit(_: &Path, _: u32) {}
