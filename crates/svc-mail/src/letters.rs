//! The mails that a site sends. WordPress sends the same ones to the same people; the sentences are our own.

use crate::letter::{Letter, Part, SiteFacts};

/// A comment, for mails about it. All fields are text.
#[derive(Clone, Debug, Default)]
pub struct CommentFacts {
    /// Title of the post.
    pub post: String,
    /// Name of the comment's author.
    pub author: String,
    /// Their e-mail address; may be empty.
    pub email: String,
    /// URL of their website; may be empty.
    pub website: String,
    /// Their IP address.
    pub ip: String,
    /// The comment.
    pub content: String,
    /// URL of the page where comments are approved and deleted.
    pub manage: String,
    /// URL of the comment on its post's page.
    pub link: String,
}

/// Who writes mails, and when: the site, and the time in seconds since 1970.
#[derive(Clone, Debug, Default)]
pub struct Letters {
    /// The site.
    pub site: SiteFacts,
    /// The time.
    pub now: i64,
}

impl Letters {
    fn letter(&self, to: &str, subject: &str, parts: &[Part]) -> Letter {
        Letter::new(&self.site, to, subject, parts, self.now)
    }

    /// A link to set a new password, which somebody at the IP address `from` has requested.
    pub fn lost_password(&self, to: &str, login: &str, link: &str, from: &str) -> Letter {
        let facts = vec![("Username", login.to_owned()), ("Requested from", from.to_owned())];
        self.letter(
            to,
            "Set a new password",
            &[
                Part::text(format!("Someone requested a new password for your account on {}.", self.site.name)),
                Part::Facts(facts),
                Part::link("Set a new password", link),
                Part::text("The link works once, for 24 hours. If you did not request it, ignore this mail: your password stays as it is."),
            ],
        )
    }

    /// A link to set the first password of a new account.
    pub fn new_account(&self, to: &str, login: &str, link: &str, log_in: &str) -> Letter {
        self.letter(
            to,
            "Your account",
            &[
                Part::text(format!("You have an account on {}.", self.site.name)),
                Part::Facts(vec![("Username", login.to_owned())]),
                Part::link("Set your password", link),
                Part::text("The link works once, for 24 hours. Later, request another one on the log-in page with “Lost your password?”."),
                Part::link("Log in", log_in),
            ],
        )
    }

    /// Tells the administrator about a new account.
    pub fn account_created(&self, to: &str, login: &str, email: &str) -> Letter {
        let facts = vec![("Username", login.to_owned()), ("Email address", email.to_owned())];
        self.letter(to, "New user", &[Part::text(format!("{} has a new user.", self.site.name)), Part::Facts(facts)])
    }

    /// Asks the owner of a new e-mail address to confirm it.
    pub fn confirm_email(&self, to: &str, login: &str, link: &str) -> Letter {
        self.letter(
            to,
            "Confirm your email address",
            &[
                Part::text(format!("You asked for this address to be that of your account on {}.", self.site.name)),
                Part::Facts(vec![("Username", login.to_owned())]),
                Part::link("Confirm this address", link),
                Part::text(
                    "Until then your account keeps its present address. If you did not ask for this, ignore this mail.",
                ),
            ],
        )
    }

    /// Tells the owner of the old address that an account has another one.
    pub fn email_changed(&self, to: &str, login: &str, new: &str, admin_email: &str) -> Letter {
        let facts = vec![("Username", login.to_owned()), ("New email address", new.to_owned())];
        self.letter(
            to,
            "Your email address was changed",
            &[
                Part::text(format!("The email address of your account on {} was changed.", self.site.name)),
                Part::Facts(facts),
                self.if_not_you(admin_email),
            ],
        )
    }

    /// Tells a user that their password was changed.
    pub fn password_changed(&self, to: &str, login: &str, admin_email: &str) -> Letter {
        self.letter(
            to,
            "Your password was changed",
            &[
                Part::text(format!("The password of your account on {} was changed.", self.site.name)),
                Part::Facts(vec![("Username", login.to_owned())]),
                self.if_not_you(admin_email),
            ],
        )
    }

    /// Tells a user that two-factor log-in was turned on or off for their account, or that its recovery codes were replaced. `what` is
    /// a sentence.
    pub fn two_factor_changed(&self, to: &str, login: &str, what: &str, admin_email: &str) -> Letter {
        let text = format!("{what} This is about your account on {}.", self.site.name);
        let facts = vec![("Username", login.to_owned())];
        self.letter(to, "Two-factor log-in", &[Part::text(text), Part::Facts(facts), self.if_not_you(admin_email)])
    }

    /// Tells a user that somebody has logged in, or changed two-factor log-in, with a recovery code. `left` is the number of codes that are left.
    pub fn recovery_code_used(&self, to: &str, login: &str, left: usize, admin_email: &str) -> Letter {
        let facts = vec![("Username", login.to_owned()), ("Recovery codes left", left.to_string())];
        let text =
            format!("A recovery code of your account on {} was used instead of a code of the app.", self.site.name);
        let advice = "If few codes are left, or the app is lost, set two-factor log-in up again on your profile page.";
        self.letter(
            to,
            "A recovery code was used",
            &[Part::text(text), Part::Facts(facts), Part::text(advice), self.if_not_you(admin_email)],
        )
    }

    /// Tells the administrator that a user has set a new password with a link.
    pub fn password_reset(&self, to: &str, login: &str) -> Letter {
        self.letter(
            to,
            "A password was reset",
            &[
                Part::text("A user has set a new password with a link that was sent by mail."),
                Part::Facts(vec![("Username", login.to_owned())]),
            ],
        )
    }

    /// A comment that waits for a moderator. `waiting` is the number of all that wait.
    pub fn comment_waits(&self, to: &str, comment: &CommentFacts, waiting: u64) -> Letter {
        let waiting = if waiting == 1 {
            "No other comment waits.".to_owned()
        } else {
            format!("{waiting} comments wait for approval.")
        };
        let mut parts = vec![Part::text(format!("A comment on “{}” waits for your approval.", comment.post))];
        parts.extend(comment.parts());
        parts.extend([Part::link("Approve or delete it", &comment.manage), Part::text(waiting)]);
        self.letter(to, &format!("Please moderate: {}", comment.post), &parts)
    }

    /// A new comment, for the author of its post.
    pub fn new_comment(&self, to: &str, comment: &CommentFacts) -> Letter {
        let mut parts = vec![Part::text(format!("Your post “{}” has a new comment.", comment.post))];
        parts.extend(comment.parts());
        parts.extend([Part::link("Read it on the site", &comment.link), Part::link("Manage it", &comment.manage)]);
        self.letter(to, &format!("New comment: {}", comment.post), &parts).reply_to(&comment.email)
    }

    /// A mail that shows that mail works.
    pub fn test(&self, to: &str) -> Letter {
        let text = format!("This is a test. If you can read it, {} can send mail.", self.site.name);
        self.letter(to, "Test", &[Part::text(text)])
    }

    fn if_not_you(&self, admin_email: &str) -> Part {
        Part::text(format!("If this was not you, write to {admin_email} at once."))
    }
}

impl CommentFacts {
    /// The author and the text.
    fn parts(&self) -> Vec<Part> {
        let name = if self.author.is_empty() { "Anonymous" } else { &self.author };
        let facts =
            [("Author", name), ("Email address", &self.email), ("Website", &self.website), ("IP address", &self.ip)];
        let facts = facts.into_iter().filter(|(_, value)| !value.is_empty());
        vec![
            Part::Facts(facts.map(|(name, value)| (name, value.to_owned())).collect()),
            Part::Quote(self.content.clone()),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    fn letters() -> Letters {
        let site = SiteFacts {
            name: "Tea & <b>Cake</b>".to_owned(),
            home: "https://tea.example/".to_owned(),
            language: "en-US".to_owned(),
        };
        Letters { site, now: 0 }
    }

    #[test]
    fn a_mail_as_text() {
        let mail =
            letters().lost_password("a@b.example", "ada", "https://tea.example/wp-login.php?x=1&y=2", "192.0.2.1");
        expect![[r#"
            Someone requested a new password for your account on Tea & <b>Cake</b>.

            Username: ada
            Requested from: 192.0.2.1

            Set a new password:
            https://tea.example/wp-login.php?x=1&y=2

            The link works once, for 24 hours. If you did not request it, ignore this mail: your password stays as it is.

            -- 
            Tea & <b>Cake</b>
            https://tea.example/
        "#]]
        .assert_eq(&format!("{}\n", mail.text));
        assert_eq!(mail.subject, "[Tea & <b>Cake</b>] Set a new password");
    }

    #[test]
    fn html_is_escaped_and_loads_nothing() {
        let comment = CommentFacts {
            post: "<i>Post</i>".to_owned(),
            author: "\"><script>".to_owned(),
            email: "x@y.example\r\nBcc: z@y.example".to_owned(),
            content: "one\n<img src=x>".to_owned(),
            manage: "https://tea.example/wp-admin/edit-comments.php?a=1&b=2".to_owned(),
            ..CommentFacts::default()
        };
        for mail in
            [letters().comment_waits("a@b.example", &comment, 2), letters().new_comment("a@b.example", &comment)]
        {
            assert!(!mail.html.contains("<script") && !mail.html.contains("<img") && !mail.html.contains("<i>"));
            assert!(mail.html.contains("a=1&#38;b=2") && !mail.html.contains("src=\""), "{}", mail.html);
            assert!(mail.text.contains("> one\n> <img src=x>\n"), "{}", mail.text);
            assert_eq!(mail.reply_to, None, "an address with line breaks is none");
        }
        let comment = CommentFacts { email: "x@y.example".to_owned(), ..comment };
        assert_eq!(letters().new_comment("a@b.example", &comment).reply_to.as_deref(), Some("x@y.example"));
    }
}
