//! Errors of widgets.

family_errors! {
    use svc_site::errors::widgets;

    /// The caller may not manage widgets.
    cannot_manage = "rest_cannot_manage_widgets" "You are not allowed to manage widgets on this site.";
}
