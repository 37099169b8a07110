//! Markers in fixtures: comments that begin with `~` and say what must be found.
//!
//! | marker | means |
//! | --- | --- |
//! | `#~ new-session` | one finding whose first evidence is on this line, with exactly these mechanisms |
//! | `#~^ new-session` | the same on the line above; one line more for each further `^` |
//! | `#~\| new-group` | the same on the line of the marker before |
//! | `#~ shell-setsid,shell-background` | one finding with both mechanisms |
//! | `#~ new-session may` | it may detach |
//! | `#~ new-session justified` | its justification is valid |
//! | `#~ unused-justification` | a fault that stands alone, on the line of its comment |
//! | `#~ empty-justification,new-session` | a finding whose justification is faulty |
//! | `#~ new-session "part of text"` | its message holds this text |
//! | `#~ none` | nothing here that is denied or warned of by default |
//! | `#~ problem unparsed-file` | not understood here |
//! | `#~ clean` | on the first line: nothing in the whole file |
//! | `… id=py.popen.new_session` | the row of `truth.csv` that this is; several are allowed |
//!
//! In Rust the sign is `//~`.

use check_detached_spawns::report::{FindingId, ProblemId};
use check_detached_spawns::rules::{self, Level};
use check_detached_spawns::source::{Language, Source};

/// What a marker wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Want {
    /// A finding or a fault.
    Finding,
    /// No finding that is denied or warned of by default.
    Nothing,
    /// A problem.
    Problem,
    /// Nothing in the whole file.
    Clean,
}

/// One marker.
#[derive(Clone, Debug)]
pub(crate) struct Marker {
    /// Where it stands, from 1.
    pub(crate) at: u32,
    /// The line that it speaks of, from 1.
    pub(crate) line: u32,
    /// What it wants.
    pub(crate) want: Want,
    /// Mechanisms, ids of faults, the id of a problem: sorted.
    pub(crate) ids: Vec<String>,
    /// Whether it may detach.
    pub(crate) may: bool,
    /// Whether the justification is valid.
    pub(crate) justified: bool,
    /// Rows of the truth table.
    pub(crate) rows: Vec<String>,
    /// What the message must hold.
    pub(crate) says: Option<String>,
}

impl Marker {
    /// One text for a wanted or a found thing, so that the two can be compared and printed.
    pub(crate) fn text(&self) -> String {
        crate::run::describe(
            &self.ids,
            self.may,
            self.justified,
            self.want == Want::Problem,
        )
    }

    /// The level that its mechanisms have by default; none without mechanisms.
    pub(crate) fn level(&self) -> Option<Level> {
        let of = |rule: &&rules::Rule| {
            if self.may {
                rule.level.min(Level::Warn)
            } else {
                rule.level
            }
        };
        let own = rules::ALL
            .iter()
            .filter(|rule| self.ids.iter().any(|id| id == rule.id));
        own.map(of).max()
    }
}

/// Reads the markers of a file; every word must be known, so that a slip of the pen fails.
pub(crate) fn read(source: &Source) -> Result<Vec<Marker>, String> {
    let sign = match source.language {
        Language::Python => "#~",
        Language::Rust => "//~",
    };
    let mut markers: Vec<Marker> = Vec::new();
    for at in 1..=source.line_count() {
        let line = source.slice(source.line_span(at));
        let Some((_, body)) = line.split_once(sign) else {
            continue;
        };
        let carets = body.chars().take_while(|sign| *sign == '^').count();
        let above = u32::try_from(carets).unwrap_or(u32::MAX);
        let (place, body) = match body.strip_prefix('|') {
            Some(rest) => (markers.last().map_or(at, |before| before.line), rest),
            None => (at.saturating_sub(above), &body[carets..]),
        };
        let mut marker = words(body).map_err(|why| format!("{at}: {why}"))?;
        (marker.at, marker.line) = (at, place);
        markers.push(marker);
    }
    Ok(markers)
}

fn words(body: &str) -> Result<Marker, String> {
    let (body, says) = match body.split_once('"') {
        Some((before, rest)) => (
            before,
            Some(rest.trim_end().trim_end_matches('"').to_owned()),
        ),
        None => (body, None),
    };
    let mut marker = Marker {
        at: 0,
        line: 0,
        want: Want::Finding,
        ids: Vec::new(),
        may: false,
        justified: false,
        rows: Vec::new(),
        says,
    };
    for word in body
        .split(|c: char| c == ',' || c.is_whitespace())
        .filter(|word| !word.is_empty())
    {
        match word {
            "clean" => marker.want = Want::Clean,
            "none" => marker.want = Want::Nothing,
            "problem" => marker.want = Want::Problem,
            "may" => marker.may = true,
            "justified" => marker.justified = true,
            _ if is_id(word) => marker.ids.push(word.to_owned()),
            _ => match word.strip_prefix("id=") {
                Some(row) => marker.rows.push(row.to_owned()),
                None => return Err(format!("unknown word `{word}` in a marker")),
            },
        }
    }
    marker.ids.sort_unstable();
    let bare = matches!(marker.want, Want::Clean | Want::Nothing);
    if bare == marker.ids.is_empty() {
        Ok(marker)
    } else {
        Err("a marker names what it wants, and `clean` and `none` name nothing".to_owned())
    }
}

fn is_id(word: &str) -> bool {
    rules::ALL.iter().any(|rule| rule.id == word)
        || FindingId::ALL.iter().any(|id| id.name() == word)
        || ProblemId::ALL.iter().any(|id| id.name() == word)
}
