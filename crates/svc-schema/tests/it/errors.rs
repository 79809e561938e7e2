//! Errors of the API.

use svc_schema::Error;

#[test]
fn statuses_are_those_of_errors() {
    for status in [400, 404, 599] {
        assert_eq!(Error::new("rest_x", "No.").with_status(status).status(), status);
    }
}

#[test]
#[should_panic(expected = "9999 is not the status of an error")]
fn tests_fail_with_other_numbers() {
    drop(Error::new("rest_x", "No.").with_status(9999));
}
