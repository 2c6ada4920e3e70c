"""Python as a student wrote it, in coloured pieces.

Lexers made for code that somebody means well look far ahead and go back: a file of 20 kB of blanks
or of digits in a text keeps them busy for seconds, one of 200 kB for many minutes, and a page is
made in a process that serves everybody. Here no rule gives back what it has taken, as nothing that
must follow comes after a repeated group, so the time grows with the length of the file alone.
"""

import builtins
import keyword
import re

from pygments.lexer import RegexLexer, bygroups, words
from pygments.token import Comment, Keyword, Name, Number, Operator, Punctuation, String, Whitespace

_PREFIX = "(?:[rRbBuUfFtT]{1,2})?"


class LinearPythonLexer(RegexLexer):  # type: ignore[misc]  # untyped
    """Comments, texts, numbers, keywords, built-in names; what is defined, and all the rest."""

    name = "Python"
    flags = re.DOTALL
    tokens = {  # noqa: RUF012 - as its base class has it
        "root": [
            (r"\s++", Whitespace),
            (r"#[^\n]*+", Comment.Single),
            (_PREFIX + r"'''(?:[^'\\]+|\\.|'(?!''))*(?:''')?", String),
            (_PREFIX + r'"""(?:[^"\\]+|\\.|"(?!""))*(?:""")?', String),
            (_PREFIX + r"'(?:[^'\\\n]+|\\.)*'?", String),
            (_PREFIX + r'"(?:[^"\\\n]+|\\.)*"?', String),
            (r"(def)(\s++)(\w++)", bygroups(Keyword, Whitespace, Name.Function)),
            (r"(class)(\s++)(\w++)", bygroups(Keyword, Whitespace, Name.Class)),
            (words(keyword.kwlist, suffix=r"\b"), Keyword),
            (words(dir(builtins), prefix=r"(?<!\.)", suffix=r"\b"), Name.Builtin),
            (r"\.?+\d(?:[\w.]|(?<=[eE])[+-])*", Number),
            (r"\w++", Name),
            (r"[-+*/%@<>=!&|^~]++", Operator),
            (r".", Punctuation),
        ]
    }
