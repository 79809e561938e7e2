//! Abilities, as registered with `wp_register_ability` on the recorded site.

use serde_json::{Value, json};
use svc_controllers::{
    RestSetup,
    abilities::{Ability, AbilityCall, AbilityCategory},
};
use svc_schema::{
    Error,
    build::{integer, object, string},
};

const CATEGORY: &str = "demo-math";

pub(crate) fn register(setup: &mut RestSetup) {
    let all = &mut setup.abilities;
    all.register_category(AbilityCategory::new(CATEGORY, "Demo math").describe("Sums and the like.").meta("level", 1));
    for ability in [add(), note(), wipe(), broken(), hidden()] {
        all.register(ability);
    }
}

fn add() -> Ability {
    let terms = object([("a", integer()), ("b", integer().default(1))]);
    Ability::new("demo/add", CATEGORY, "Add")
        .describe("Adds two numbers.")
        .input_schema(terms.keyword("required", json!(["a", "b"])).additional_properties(false))
        .output_schema(integer())
        .readonly(true)
        .idempotent(true)
        .in_rest()
        .permission(|_| true)
        .execute(|call| async move {
            let number = |name: &str| call.input[name].as_i64().unwrap_or_default();
            Ok(Value::from(number("a").saturating_add(number("b"))))
        })
}

fn note() -> Ability {
    Ability::new("demo/note", CATEGORY, "Note")
        .describe("Echoes a note.")
        .input_schema(string().min_length(2))
        .output_schema(object([("note", string())]))
        .in_rest()
        .permission(|call| call.caller.has("edit_posts"))
        .execute(|call| async move { Ok(json!({"note": call.input})) })
}

fn wipe() -> Ability {
    Ability::new("demo/wipe", CATEGORY, "Wipe")
        .describe("Pretends to remove.")
        .input_schema(object([("id", integer())]))
        .destructive(true)
        .idempotent(true)
        .in_rest()
        .permission(|call| call.caller.has("manage_options"))
        .execute(|call: AbilityCall| async move {
            match call.input["id"].as_i64() {
                None | Some(0) => Err(Error::new("demo_no_id", "No id was given.").with_status(409)),
                Some(id) => Ok(json!({"wiped": id})),
            }
        })
}

fn broken() -> Ability {
    Ability::new("demo/broken", CATEGORY, "Broken")
        .describe("Gives output of a wrong type.")
        .output_schema(integer())
        .readonly(true)
        .in_rest()
        .permission(|_| true)
        .execute(|_| async { Ok(Value::from("text")) })
}

fn hidden() -> Ability {
    Ability::new("demo/hidden", CATEGORY, "Hidden")
        .describe("Not listed.")
        .permission(|_| true)
        .execute(|_| async { Ok(Value::from(true)) })
}
