//! Kinds of widgets that are a table of settings and a function that shows them.

use svc_php::Php;
use svc_site::{SiteResult, widgets::instance::Instance};

use crate::widgets::{kind::WidgetKind, show::Showing};

/// What a setting is.
#[derive(Clone, Copy)]
pub enum Input {
    /// A line of text.
    Text,
    /// An address.
    Address,
    /// Switched on or off, kept as a number.
    Switch,
    /// The same, kept as a boolean.
    Flag,
    /// A whole number; this one without a word.
    Number(i64),
    /// One of these values, the first without a word: value and what people call it.
    Choice(&'static [(&'static str, &'static str)]),
}

/// A setting: its name, what people call it, what it is.
pub type Setting = (&'static str, &'static str, Input);

/// A kind of widgets.
#[derive(Clone, Copy)]
pub struct Simple {
    pub id_base: &'static str,
    pub name: &'static str,
    pub description: &'static str,
    pub class: &'static str,
    pub settings: &'static [Setting],
    /// Settings that a request does not give are left out, and not kept as empty.
    pub only_given: bool,
    pub show: fn(&mut Showing<'_>, &Instance) -> SiteResult<Option<String>>,
}

impl Input {
    /// A given value as it is kept.
    fn clean(self, new: &Instance, name: &str) -> Php {
        let text = svc_text::sanitize_text_field(&new.text(name));
        match self {
            Input::Text => Php::from(text.as_str()),
            Input::Address => Php::from(svc_text::sanitize_url(&text).as_str()),
            Input::Switch => Php::Int(new.is_on(name).into()),
            Input::Flag => Php::Bool(new.is_on(name)),
            Input::Number(otherwise) => Php::Int(if new.get(name).is_some() { new.number(name) } else { otherwise }),
            Input::Choice(values) => {
                let known = values.iter().find(|(value, _)| *value == text).or(values.first());
                Php::from(known.map_or("", |(value, _)| *value))
            }
        }
    }

    fn html(self, id: &str, name: &str, label: &str, instance: &Instance, setting: &str) -> String {
        let value = svc_text::esc_attr(&instance.text(setting));
        let label = format!("<label for=\"{id}\">{label}</label>");
        match self {
            Input::Text | Input::Address => {
                format!(
                    "{label}\n<input class=\"widefat\" id=\"{id}\" name=\"{name}\" type=\"text\" value=\"{value}\" />"
                )
            }
            Input::Switch | Input::Flag => {
                let checked = if instance.is_on(setting) { " checked='checked'" } else { "" };
                format!("<input class=\"checkbox\" type=\"checkbox\" id=\"{id}\" name=\"{name}\"{checked} />\n{label}")
            }
            Input::Number(otherwise) => {
                let value = if instance.get(setting).is_some() { instance.number(setting) } else { otherwise };
                format!(
                    "{label}\n<input class=\"tiny-text\" id=\"{id}\" name=\"{name}\" type=\"number\" step=\"1\" min=\"1\" value=\"{value}\" size=\"3\" />"
                )
            }
            Input::Choice(values) => {
                let option = |(known, text): &(&str, &str)| {
                    let selected = if *known == value { " selected='selected'" } else { "" };
                    format!("<option value=\"{known}\"{selected}>{text}</option>")
                };
                let options: String = values.iter().map(option).collect();
                format!("{label}\n<select class=\"widefat\" id=\"{id}\" name=\"{name}\">{options}</select>")
            }
        }
    }
}

impl WidgetKind for Simple {
    fn id_base(&self) -> &str {
        self.id_base
    }

    fn name(&self) -> &str {
        self.name
    }

    fn description(&self) -> &str {
        self.description
    }

    fn class(&self) -> &str {
        self.class
    }

    fn update(&self, new: &Instance, old: Instance, _: bool) -> Instance {
        let mut instance = old;
        let given = self.settings.iter().filter(|(name, ..)| !self.only_given || new.get(name).is_some());
        for (name, _, input) in given {
            instance.set(name, input.clean(new, name));
        }
        instance
    }

    fn show(&self, on: &mut Showing<'_>, instance: &Instance) -> SiteResult<Option<String>> {
        (self.show)(on, instance)
    }

    fn form(&self, number: &str, instance: &Instance) -> String {
        let row = |(setting, label, input): &Setting| {
            let id = format!("widget-{}-{number}-{setting}", self.id_base);
            let name = format!("widget-{}[{number}][{setting}]", self.id_base);
            format!("<p>{}</p>", input.html(&id, &name, label, instance, setting))
        };
        self.settings.iter().map(row).collect::<Vec<_>>().join("\n")
    }
}
