//! Widget types that are defined by a table of settings and a render function.

use svc_php::Php;
use svc_site::{SiteResult, widgets::instance::Instance};
use svc_text::{Html, esc_attr, html};

use crate::renderer::widget_types::{WidgetContext, WidgetType};

/// The type of a setting.
#[derive(Clone, Copy)]
pub(crate) enum Input {
    /// A line of text.
    Text,
    /// A URL.
    Url,
    /// A checkbox, stored as 0 or 1.
    Switch,
    /// A checkbox, stored as a boolean.
    Flag,
    /// An integer, with the default of the form; stored as 0 if it is missing.
    Number(i64),
    /// An integer from 1 to a maximum, with the default that replaces others.
    UpTo(i64, i64),
    /// One of these values, with their labels, and the default.
    Choice(&'static [(&'static str, &'static str)], &'static str),
}

/// White space before each element of a form, as in WordPress.
const LINE: &str = "\n\t\t\t";

/// A setting: name, label, type.
pub(crate) type Setting = (&'static str, &'static str, Input);

/// A widget type.
#[derive(Clone, Copy)]
pub(crate) struct SimpleWidget {
    /// The type's id.
    pub id_base: &'static str,
    /// Display name.
    pub name: &'static str,
    /// A short description.
    pub description: &'static str,
    /// Class name of the wrapper element.
    pub class: &'static str,
    /// The settings, in the order of the form.
    pub settings: &'static [Setting],
    /// Whether an update leaves settings unchanged that the request does not contain. Otherwise they are set to empty.
    pub partial_update: bool,
    /// Renders a widget. See [`WidgetType::render`].
    pub render: fn(&mut WidgetContext<'_>, &Instance) -> SiteResult<Option<Html>>,
}

impl Input {
    /// Sanitizes a new value.
    fn sanitize(self, new: &Instance, name: &str) -> Php {
        let text = svc_text::sanitize_text_field(&new.text(name));
        match self {
            Input::Text => Php::from(text.as_str()),
            Input::Url => Php::from(svc_text::sanitize_url(&text).as_str()),
            Input::Switch => Php::Int(new.is_on(name).into()),
            Input::Flag => Php::Bool(new.is_on(name)),
            Input::Number(_) => Php::Int(new.number(name)),
            Input::UpTo(most, default) => {
                Php::Int(Some(new.number(name)).filter(|n| (1..=most).contains(n)).unwrap_or(default))
            }
            Input::Choice(values, default) => {
                let known = values.iter().find(|(value, _)| *value == text);
                Php::from(known.map_or(default, |(value, _)| *value))
            }
        }
    }

    fn html(self, id: &Html, name: &Html, label: &'static str, instance: &Instance, setting: &str) -> Html {
        let value = esc_attr(&instance.text(setting));
        let label = html!("<label for=\"{}\">{}</label>", id, label);
        match self {
            Input::Text | Input::Url => {
                html!(
                    "{}{}<input class=\"widefat\" id=\"{}\" name=\"{}\" type=\"text\" value=\"{}\" />",
                    label,
                    LINE,
                    id,
                    name,
                    value
                )
            }
            Input::Switch | Input::Flag => {
                let checked = if instance.is_on(setting) { " checked='checked'" } else { "" };
                html!(
                    "<input class=\"checkbox\" type=\"checkbox\" id=\"{}\" name=\"{}\"{} />{}{}",
                    id,
                    name,
                    checked,
                    LINE,
                    label
                )
            }
            Input::Number(default) | Input::UpTo(_, default) => {
                let value = if instance.get(setting).is_some() { instance.number(setting) } else { default };
                html!(
                    "{}{}<input class=\"tiny-text\" id=\"{}\" name=\"{}\" type=\"number\" step=\"1\" min=\"1\" value=\"{}\" size=\"3\" />",
                    label,
                    LINE,
                    id,
                    name,
                    value
                )
            }
            Input::Choice(values, _) => {
                let option = |(known, text): &(&'static str, &'static str)| {
                    let selected = if value == *known { " selected='selected'" } else { "" };
                    html!("{}\t<option value=\"{}\"{}>{}</option>", LINE, known, selected, text)
                };
                let options: Html = values.iter().map(option).collect();
                html!(
                    "{}{LINE}<select class=\"widefat\" id=\"{}\" name=\"{}\">{}{LINE}</select>",
                    label,
                    id,
                    name,
                    options,
                    LINE = LINE
                )
            }
        }
    }
}

impl WidgetType for SimpleWidget {
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
        let updated = self.settings.iter().filter(|(name, ..)| !self.partial_update || new.get(name).is_some());
        for (name, _, input) in updated {
            instance.set(name, input.sanitize(new, name));
        }
        instance
    }

    fn render(&self, context: &mut WidgetContext<'_>, instance: &Instance) -> SiteResult<Option<Html>> {
        (self.render)(context, instance)
    }

    fn form(&self, number: &str, instance: &Instance) -> Html {
        let number = esc_attr(number);
        let row = |(setting, label, input): &Setting| {
            let id = html!("widget-{}-{}-{}", self.id_base, number, setting);
            let name = html!("widget-{}[{}][{}]", self.id_base, number, setting);
            html!("<p>{}{}\n\t\t</p>", LINE, input.html(&id, &name, label, instance, setting))
        };
        Html::join(self.settings.iter().map(row), "\n\n\t\t")
    }
}
