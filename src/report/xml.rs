//! The two reports in XML: those of `JUnit` and of checkstyle. What XML 1.0 cannot hold is replaced.

use std::io::{self, Write};

use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesText, Event};

use super::paths::from_root;
use super::summary::{Entry, Weight, entries, line};
use super::{Context, Report};

/// Writes a report as `JUnit` does: one suite a file, one case an entry, and one passing case where
/// there is nothing to say, since some readers refuse an empty report.
///
/// # Errors
///
/// Those of `out`.
pub fn junit(out: &mut dyn Write, report: &Report, context: &Context<'_>) -> io::Result<()> {
    let entries = entries(report);
    let (tests, failures, errors) = counts(&entries);
    let mut xml = start(out)?;
    xml.create_element("testsuites")
        .with_attribute(("name", "check-detached-spawns"))
        .with_attribute(("tests", tests.as_str()))
        .with_attribute(("failures", failures.as_str()))
        .with_attribute(("errors", errors.as_str()))
        .write_inner_content(|xml| {
            if entries.is_empty() {
                return suite(xml, &line(report), &[], context);
            }
            for part in entries.chunk_by(|a, b| a.path() == b.path()) {
                let name = from_root(context.prefix, part[0].path());
                suite(xml, &name, part, context)?;
            }
            Ok(())
        })?;
    writeln!(xml.get_mut())
}

fn suite(
    xml: &mut Writer<&mut dyn Write>,
    name: &str,
    entries: &[Entry<'_>],
    context: &Context<'_>,
) -> io::Result<()> {
    let (tests, failures, errors) = counts(entries);
    xml.create_element("testsuite")
        .with_attribute(("name", valid(name).as_str()))
        .with_attribute(("tests", tests.as_str()))
        .with_attribute(("failures", failures.as_str()))
        .with_attribute(("errors", errors.as_str()))
        .write_inner_content(|xml| {
            if entries.is_empty() {
                let case = xml.create_element("testcase");
                case.with_attribute(("classname", "check-detached-spawns"))
                    .with_attribute(("name", "nothing to report"))
                    .write_empty()?;
            }
            for entry in entries {
                case(xml, entry, context)?;
            }
            Ok(())
        })?;
    Ok(())
}

fn case(
    xml: &mut Writer<&mut dyn Write>,
    entry: &Entry<'_>,
    context: &Context<'_>,
) -> io::Result<()> {
    let path = from_root(context.prefix, entry.path());
    let (id, message) = (entry.title(), entry.message());
    let element = match entry {
        Entry::Problem(..) => "error",
        Entry::Finding(..) if entry.fails() => "failure",
        Entry::Finding(..) => "system-out",
    };
    let line = entry.position().map_or(1, |at| at.line).to_string();
    let name = format!("{id} at line {line}");
    xml.create_element("testcase")
        .with_attribute(("classname", valid(&path).as_str()))
        .with_attribute(("name", valid(&name).as_str()))
        .with_attribute(("file", valid(&path).as_str()))
        .with_attribute(("line", line.as_str()))
        .write_inner_content(|xml| {
            let text = valid(&format!("{path}:{line}: {}", entry.told("\n")));
            let mut inner = xml.create_element(element);
            if element != "system-out" {
                inner = inner
                    .with_attribute(("type", id.as_str()))
                    .with_attribute(("message", valid(message).as_str()));
            }
            inner.write_text_content(BytesText::new(text.trim_end()))?;
            Ok(())
        })?;
    Ok(())
}

/// Writes a report as checkstyle's XML.
///
/// # Errors
///
/// Those of `out`.
pub fn checkstyle(out: &mut dyn Write, report: &Report, context: &Context<'_>) -> io::Result<()> {
    let entries = entries(report);
    let mut xml = start(out)?;
    xml.create_element("checkstyle")
        .with_attribute(("version", "4.3"))
        .write_inner_content(|xml| {
            for part in entries.chunk_by(|a, b| a.path() == b.path()) {
                let name = valid(&from_root(context.prefix, part[0].path()));
                xml.create_element("file")
                    .with_attribute(("name", name.as_str()))
                    .write_inner_content(|xml| {
                        for entry in part {
                            error(xml, entry)?;
                        }
                        Ok(())
                    })?;
            }
            Ok(())
        })?;
    writeln!(xml.get_mut())
}

fn error(xml: &mut Writer<&mut dyn Write>, entry: &Entry<'_>) -> io::Result<()> {
    let severity = match entry.weight() {
        Weight::Error => "error",
        Weight::Warning => "warning",
        Weight::Info => "info",
    };
    let (line, column) = entry.position().map_or((1, 1), |at| (at.line, at.column));
    let source = format!("check-detached-spawns.{}", entry.title());
    xml.create_element("error")
        .with_attribute(("line", line.to_string().as_str()))
        .with_attribute(("column", column.to_string().as_str()))
        .with_attribute(("severity", severity))
        .with_attribute(("message", valid(&entry.told("; ")).as_str()))
        .with_attribute(("source", source.as_str()))
        .write_empty()?;
    Ok(())
}

fn start(out: &mut dyn Write) -> io::Result<Writer<&mut dyn Write>> {
    let mut xml = Writer::new_with_indent(out, b' ', 2);
    xml.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
    Ok(xml)
}

/// How many cases, failures and errors entries make; with none of them there is one passing case.
fn counts(entries: &[Entry<'_>]) -> (String, String, String) {
    let problem = |entry: &&Entry<'_>| matches!(entry, Entry::Problem(..));
    let errors = entries.iter().filter(problem).count();
    let failures = entries.iter().filter(|entry| entry.fails()).count() - errors;
    let tests = entries.len().max(1);
    (tests.to_string(), failures.to_string(), errors.to_string())
}

/// Text without the characters that no XML 1.0 document can hold, escaped or not.
fn valid(text: &str) -> String {
    let allowed = |char: char| matches!(char, '\t' | '\n' | '\r' | '\u{20}'..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..);
    text.chars()
        .map(|char| if allowed(char) { char } else { '\u{fffd}' })
        .collect()
}

#[cfg(test)]
mod tests {
    use quick_xml::Reader;

    use super::*;
    use crate::report::sample;

    const CONTEXT: Context<'_> = sample::context("");

    /// The names of all elements, in order.
    fn elements(bytes: &[u8]) -> Vec<String> {
        let mut reader = Reader::from_reader(bytes);
        let mut names = Vec::new();
        loop {
            match reader.read_event().unwrap() {
                Event::Start(element) | Event::Empty(element) => {
                    for attribute in element.attributes() {
                        attribute.unwrap();
                    }
                    names.push(String::from_utf8(element.name().as_ref().to_vec()).unwrap());
                }
                Event::Eof => return names,
                _ => {}
            }
        }
    }

    #[test]
    fn junit_has_a_case_for_each_entry() {
        let mut out = Vec::new();
        junit(&mut out, &sample::report(), &CONTEXT).unwrap();
        let names = elements(&out);
        let count = |name: &str| names.iter().filter(|own| *own == name).count();
        assert_eq!(
            (
                count("testsuite"),
                count("testcase"),
                count("failure"),
                count("error"),
                count("system-out")
            ),
            (2, 5, 2, 2, 1)
        );
    }

    #[test]
    fn an_empty_junit_report_passes_one_case() {
        let mut out = Vec::new();
        junit(&mut out, &Report::default(), &CONTEXT).unwrap();
        assert_eq!(elements(&out), ["testsuites", "testsuite", "testcase"]);
    }

    #[test]
    fn checkstyle_holds_what_xml_can_hold() {
        let mut report = sample::report();
        report.problems[0].path = "a/<\u{1}&\"'>.py".to_owned();
        let mut out = Vec::new();
        checkstyle(&mut out, &report, &CONTEXT).unwrap();
        let text = String::from_utf8(out.clone()).unwrap();
        assert!(
            text.contains("a/&lt;\u{fffd}&amp;&quot;&apos;&gt;.py"),
            "{text}"
        );
        let mut expected = vec!["checkstyle", "file", "error", "file"];
        expected.resize(8, "error");
        assert_eq!(elements(&out), expected);
    }
}
