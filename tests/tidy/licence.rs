//! SPDX expressions, as far as packages use them.

/// Whether an expression allows a use under licences for which `allowed` holds. `AND` binds closer
/// than `OR`; `/` is the old way to write `OR`.
pub(crate) fn is_allowed(expression: &str, allowed: &dyn Fn(&str) -> bool) -> bool {
    let spaced = expression
        .replace('/', " OR ")
        .replace('(', " ( ")
        .replace(')', " ) ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut reader = Reader {
        words: &words,
        at: 0,
        is_broken: false,
        allowed,
    };
    let is_allowed = reader.any();
    is_allowed && !reader.is_broken && reader.at == words.len()
}

struct Reader<'w> {
    words: &'w [&'w str],
    at: usize,
    is_broken: bool,
    allowed: &'w dyn Fn(&str) -> bool,
}

impl Reader<'_> {
    fn any(&mut self) -> bool {
        let mut is_allowed = self.all();
        while self.take("OR") {
            is_allowed |= self.all();
        }
        is_allowed
    }

    fn all(&mut self) -> bool {
        let mut is_allowed = self.one();
        while self.take("AND") {
            is_allowed &= self.one();
        }
        is_allowed
    }

    fn one(&mut self) -> bool {
        if self.take("(") {
            let is_allowed = self.any();
            self.is_broken |= !self.take(")");
            return is_allowed;
        }
        let mut licence = self.name();
        if self.take("WITH") {
            licence = format!("{licence} WITH {}", self.name());
        }
        (self.allowed)(&licence)
    }

    fn name(&mut self) -> String {
        let name = self.words.get(self.at).copied().unwrap_or_default();
        self.is_broken |= matches!(name, "" | "AND" | "OR" | "WITH" | ")");
        self.at += 1;
        name.to_owned()
    }

    fn take(&mut self, word: &str) -> bool {
        let is_next = self.words.get(self.at) == Some(&word);
        self.at += usize::from(is_next);
        is_next
    }
}

#[test]
fn expressions_are_judged() {
    let allowed = |licence: &str| ["MIT", "ISC", "A WITH e"].contains(&licence);
    for good in [
        "MIT",
        "GPL-3.0 OR MIT",
        "MIT/GPL-3.0",
        "MIT AND ISC",
        "(GPL-3.0 OR MIT) AND ISC",
        "A WITH e",
    ] {
        assert!(is_allowed(good, &allowed), "{good}");
    }
    for bad in [
        "",
        "GPL-3.0",
        "MIT AND GPL-3.0",
        "MIT OR",
        "A",
        "(MIT",
        "MIT ISC",
        "GPL-3.0 OR A WITH f",
    ] {
        assert!(!is_allowed(bad, &allowed), "{bad}");
    }
}
