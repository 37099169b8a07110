//! Program text that is given to a Python interpreter.

use crate::facts::gather::gather_inner;
use crate::facts::{Facts, HOLE, Text, Word};
use crate::source::{Language, Source, Span};

/// Reads program text that is given to a Python interpreter, and puts its facts where it stands.
pub(in crate::facts::gather) fn read_programs(facts: &mut Facts, inner: usize) {
    for command in &mut facts.commands {
        let Some(code) = &command.code else { continue };
        let python = command.program.starts_with("python") || command.program.starts_with("pypy");
        if !python || code.text.contains(HOLE) {
            continue;
        }
        let source = Source::new("<string>", Language::Python, code.text.clone());
        let tree = crate::facts::python::read(&source);
        let mut read = gather_inner(&source, &tree, inner + 1);
        place_in(&mut read, code);
        command.python = Some(Box::new(read));
    }
}

/// Moves every span to where the program text is written.
fn place_in(facts: &mut Facts, code: &Word) {
    let text = Text {
        text: code.text.clone(),
        parts: code.parts.clone(),
    };
    let shift = |span: &mut Span| *span = text.span(span.start as usize, span.end as usize);
    for call in &mut facts.calls {
        shift(&mut call.evidence);
        shift(&mut call.span);
        shift(&mut call.act);
    }
    for setting in &mut facts.settings {
        shift(&mut setting.span);
        shift(&mut setting.act);
    }
    for command in &mut facts.commands {
        shift(&mut command.act);
        command
            .words
            .iter_mut()
            .for_each(|word| shift(&mut word.span));
        command.background.iter_mut().for_each(shift);
    }
}
