//! An open document, and what was found in it.

use std::num::NonZeroUsize;

use super::protocol::{Changed, Item};
use super::uri;
use super::world::World;
use crate::config::Rules;
use crate::report::{FileReport, Report};
use crate::run;
use crate::source::Language;
use crate::walk::{Content, Input, of_text};

/// A text that an editor shows.
#[derive(Debug)]
pub(super) struct Document {
    /// Its name, as the editor writes it.
    pub(super) uri: String,
    /// What the editor takes it for; counts where there is no file.
    language: String,
    pub(super) version: Option<i64>,
    pub(super) text: String,
    /// Whether the editor knows what was found.
    pub(super) told: bool,
    judged: Option<Judged>,
}

/// What was found.
#[derive(Debug)]
pub(super) enum Judged {
    /// It is left out, or in no language that is read.
    Nothing,
    /// Its configuration is wrong: how.
    Fault(String),
    /// By these rules.
    Report(Rules, Report),
}

impl Document {
    pub(super) fn new(item: Item) -> Self {
        Self {
            uri: item.uri,
            language: item.language_id,
            version: item.version,
            text: item.text,
            told: false,
            judged: None,
        }
    }

    /// Takes a new text.
    pub(super) fn change(&mut self, changed: Changed) {
        self.version = changed.text_document.version;
        if let Some(last) = changed.content_changes.into_iter().next_back() {
            self.text = last.text;
        }
        self.forget();
    }

    /// What was found is no longer true.
    pub(super) fn forget(&mut self) {
        self.judged = None;
        self.told = false;
    }

    /// Judges it, if that was not done.
    pub(super) fn judge(&mut self, world: &mut World) {
        if self.judged.is_none() {
            self.judged = Some(self.judgement(world));
        }
    }

    pub(super) const fn judged(&self) -> &Judged {
        match &self.judged {
            Some(judged) => judged,
            None => &Judged::Nothing,
        }
    }

    /// Its report and the rules that hold for it, if anything was found.
    pub(super) fn file(&self) -> Option<(&FileReport, &Rules)> {
        match self.judged() {
            Judged::Report(rules, report) => report.files.first().map(|file| (file, rules)),
            Judged::Nothing | Judged::Fault(_) => None,
        }
    }

    fn judgement(&self, world: &mut World) -> Judged {
        let path = uri::path(&self.uri);
        let language = match &path {
            Some(path) => of_text(path, self.text.as_bytes()),
            None => language(&self.language),
        };
        let Some(language) = language else {
            return Judged::Nothing;
        };
        let site = match world.site(path.as_deref()) {
            Ok(site) if site.wanted => site,
            Ok(_) => return Judged::Nothing,
            Err(fault) => return Judged::Fault(fault),
        };
        let input = Input {
            path: site.path,
            shown: site.shown,
            language,
            content: Content::Text(self.text.clone()),
            rules: site.rules.clone(),
        };
        let options = run::Options {
            today: world.today(),
            jobs: NonZeroUsize::new(1),
            prefilter: true,
        };
        Judged::Report(site.rules, run::run(&[input], Vec::new(), &options).report)
    }
}

/// The language that a `languageId` of the protocol names.
fn language(id: &str) -> Option<Language> {
    [Language::Python, Language::Rust]
        .into_iter()
        .find(|own| own.name() == id)
}
