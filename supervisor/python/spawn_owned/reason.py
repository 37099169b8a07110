"""What counts as a reason for a process that outlives its owner.

The crate and the linter ``check-detached-spawns`` hold reasons to the same rules, and one table of
cases tests all three.
"""

import itertools
from typing import Optional

#: Fewest characters of a reason.
MINIMUM = 10
#: Words that stand where a reason should.
PLACEHOLDERS = frozenset(
    "todo fixme tbd tba xxx reason reasons justification justified because n na see above below ok okay "
    "test testing none nothing placeholder explanation explain why lorem ipsum foo bar baz".split()
)
#: Words that carry a placeholder: ``insert your reason here``.
FILLERS = frozenset(
    "a an the this is it here goes go comes my your some any good add write insert put give fill enter in "
    "for of to be and or me later please".split()
)


def fault(reason: str) -> Optional[str]:
    """What is wrong with ``reason``, to follow "the reason"; None if it is one."""
    text = " ".join(reason.split())
    if not text:
        return "is missing"
    if _placeholder(text):
        return f"`{text[:40]}` is a placeholder"
    if len(text) < MINIMUM:
        return f"`{text}` is too short: {len(text)} of at least {MINIMUM} characters"
    return None


def _placeholder(text: str) -> bool:
    lower = text.lower()
    letters = [char for char in lower if char.isalnum()]
    repeated = len(letters) > 1 and len(set(letters)) == 1
    blank = text[0] == "<" and text[-1] == ">" and ">" not in text[1:-1]
    words = "".join(char if char.isalnum() else " " for char in lower).split()
    hollow = all(word in PLACEHOLDERS or word in FILLERS for word in words)
    return repeated or blank or _opened_by_note(text) or hollow


def _opened_by_note(text: str) -> bool:
    """``TODO explain``, ``todo: explain``; not ``todo lists outlive their editor``."""
    text = "".join(itertools.dropwhile(lambda char: not char.isalnum(), text))
    word = "".join(itertools.takewhile(str.isalnum, text))
    note = word.upper() in ("TODO", "FIXME", "TBD", "XXX")
    return note and (word.isupper() or text[len(word) :].startswith((":", "(", ".", "!", "?", ",", ";")))
