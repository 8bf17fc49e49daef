//! JSON as it is written, good or bad.

use std::fmt::Write as _;

/// A value. The keys of an object are written in its order, each as often as it stands there.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Tree {
    /// Written as it is.
    Raw(String),
    /// A string, escaped where JSON wants it.
    Text(String),
    List(Vec<Self>),
    Object(Vec<(String, Self)>),
}

/// One step of the way to a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    Key(&'static str),
    At(usize),
}

impl Tree {
    pub(crate) fn raw(text: &str) -> Self {
        Self::Raw(text.to_owned())
    }

    pub(crate) fn text(text: &str) -> Self {
        Self::Text(text.to_owned())
    }

    pub(crate) fn write(&self) -> String {
        let mut out = String::new();
        self.write_to(&mut out);
        out
    }

    fn write_to(&self, out: &mut String) {
        match self {
            Self::Raw(text) => out.push_str(text),
            Self::Text(text) => quote(text, out),
            Self::List(values) => {
                out.push('[');
                for (at, value) in values.iter().enumerate() {
                    out.push_str(if at > 0 { "," } else { "" });
                    value.write_to(out);
                }
                out.push(']');
            }
            Self::Object(fields) => {
                out.push('{');
                for (at, (key, value)) in fields.iter().enumerate() {
                    out.push_str(if at > 0 { "," } else { "" });
                    quote(key, out);
                    out.push(':');
                    value.write_to(out);
                }
                out.push('}');
            }
        }
    }

    /// The fields of an object.
    pub(crate) fn fields(&mut self) -> &mut Vec<(String, Self)> {
        match self {
            Self::Object(fields) => fields,
            Self::Raw(_) | Self::Text(_) | Self::List(_) => panic!("no object: {self:?}"),
        }
    }

    /// The text of a field of an object.
    pub(crate) fn text_of(&self, name: &str) -> Option<&str> {
        let Self::Object(fields) = self else {
            return None;
        };
        let (_, value) = fields.iter().find(|(key, _)| key == name)?;
        if let Self::Text(text) = value {
            Some(text)
        } else {
            None
        }
    }

    /// The value at the end of a way.
    pub(crate) fn at(&mut self, way: &[Step]) -> &mut Self {
        let Some((step, rest)) = way.split_first() else {
            return self;
        };
        let next = match step {
            Step::Key(name) => {
                let field = self.fields().iter_mut().find(|(key, _)| key == name);
                field.map(|(_, value)| value)
            }
            Step::At(at) => {
                if let Self::List(values) = self {
                    values.get_mut(*at)
                } else {
                    None
                }
            }
        };
        next.unwrap_or_else(|| panic!("no {step:?}")).at(rest)
    }

    /// Takes the last step of a way out of its object.
    pub(crate) fn remove(&mut self, way: &[Step]) {
        let Some((Step::Key(name), parents)) = way.split_last() else {
            panic!("no field: {way:?}");
        };
        self.at(parents).fields().retain(|(key, _)| key != name);
    }
}

/// The way as a refusal names it, such as `calls[2].floor`.
pub(crate) fn path(way: &[Step]) -> String {
    let mut path = String::new();
    for step in way {
        let _ = match step {
            Step::Key(name) if path.is_empty() => write!(path, "{name}"),
            Step::Key(name) => write!(path, ".{name}"),
            Step::At(at) => write!(path, "[{at}]"),
        };
    }
    path
}

fn quote(text: &str, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\0'..='\u{1f}' => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            _ => out.push(c),
        }
    }
    out.push('"');
}
