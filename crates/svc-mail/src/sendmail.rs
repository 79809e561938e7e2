//! Hands mails over to a program with the arguments of sendmail.

use std::{
    path::Path,
    process::{ExitStatus, Stdio},
};

use tokio::{io::AsyncWriteExt as _, process::Command};

use crate::mailer::{SendError, cut};

/// Exit statuses after which a mail can never be sent (`sysexits.h`): wrong data, an unknown user, an unknown host.
const PERMANENT: [i32; 3] = [65, 67, 68];

/// Runs the program with a mail.
///
/// # Errors
/// If it cannot be run, or does not accept the mail.
pub(crate) async fn send(program: &Path, from: &str, to: &str, message: &[u8]) -> Result<(), SendError> {
    let failed = |error: std::io::Error| SendError::Temporary(format!("{}: {error}", program.display()));
    let mut command = Command::new(program);
    // A line with one dot does not end the mail. The recipient is no option, whatever it begins with.
    command.args(["-i", "-f", from, "--", to]);
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped()).kill_on_drop(true);
    let mut child = command.spawn().map_err(failed)?;
    if let Some(mut input) = child.stdin.take() {
        // A program that refuses the mail may not read all of it: its exit status has the reason.
        let _read = input.write_all(message).await;
    }
    let output = child.wait_with_output().await.map_err(failed)?;
    if output.status.success() {
        return Ok(());
    }
    Err(refused(output.status, &String::from_utf8_lossy(&output.stderr)))
}

fn refused(status: ExitStatus, reason: &str) -> SendError {
    let text = cut(&format!("{status}: {reason}"));
    match status.code() {
        Some(code) if PERMANENT.contains(&code) => SendError::Permanent(text),
        _ => SendError::Temporary(text),
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[tokio::test]
    async fn the_exit_status_decides() {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("sendmail");
        let run = async |script: &str| {
            std::fs::write(&program, format!("#!/bin/sh\ncd {}\n{script}\n", folder.path().display())).unwrap();
            std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
            send(&program, "site@example.org", "-x@example.org", b"Subject: x\r\n\r\n.\r\n").await
        };
        assert_eq!(run("echo \"$@\" > arguments; cat > mail").await, Ok(()));
        let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
        assert_eq!(read("arguments"), "-i -f site@example.org -- -x@example.org\n");
        assert_eq!(read("mail"), "Subject: x\r\n\r\n.\r\n");
        assert_eq!(
            run("echo unknown user >&2; exit 67").await,
            Err(SendError::Permanent("exit status: 67: unknown user".to_owned()))
        );
        assert!(matches!(run("exit 75").await, Err(SendError::Temporary(_))));
        std::fs::remove_file(&program).unwrap();
        let missing = send(&program, "a@b.example", "c@d.example", b"").await;
        assert!(matches!(missing, Err(SendError::Temporary(_))), "{missing:?}");
    }
}
