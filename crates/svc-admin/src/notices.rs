//! The messages that pages show after a change. The change redirects to a page with the key in the parameter `done`.

/// Messages by key.
const NOTICES: &[(&str, &str)] = &[
    ("saved", "Saved."),
    ("published", "Published."),
    ("scheduled", "Scheduled."),
    ("draft", "Draft saved."),
    ("autosaved", "Saved automatically."),
    ("trashed", "Moved to the trash."),
    ("restored", "Restored from the trash, as a draft."),
    ("deleted", "Deleted permanently."),
    ("created", "Created."),
    ("approved", "Approved."),
    ("held", "Waits for moderation again."),
    ("spam", "Marked as spam."),
    ("replied", "Reply published."),
    ("restored-revision", "The revision has been restored."),
    ("reset", "The theme's version is back."),
    ("uploaded", "Uploaded."),
    ("secret-added", "A secret has been added."),
    ("secrets-replaced", "A new secret has replaced the others."),
    ("checked", "Checked."),
    ("queued", "Queued: the delivery is below as soon as it is sent."),
];

/// The message of a key; empty for an unknown one.
pub(crate) fn text_of(key: &str) -> &'static str {
    NOTICES.iter().find(|(known, _)| *known == key).map_or("", |(_, text)| text)
}
