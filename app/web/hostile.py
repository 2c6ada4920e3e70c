"""Text that others wrote, made safe to show.

Escaping keeps it from being markup. What is left could still lie: characters that turn the
direction of the text, hide, or move the cursor. Each of these is shown by its number instead.
"""

import re

from markupsafe import Markup, escape

_STRANGE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"  # control characters, without tab and line feed
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e"  # drawn as nothing
    "\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0"  # hide, join or turn text
    "\ufff9-\ufffb\U000e0000-\U000e007f"  # annotations and tags
    "\ud800-\udfff]"  # halves of characters, which no encoding can send
)


def shown(text: object) -> Markup:
    """``text`` as markup that shows every character of it."""
    return Markup(mark_strange(str(escape(text))))  # noqa: S704 - escaped right here


def mark_strange(markup: str) -> str:
    """The same markup with its invisible characters shown by their numbers.

    None of them stands inside a tag of markup that we or pygments write.
    """
    return _STRANGE.sub(_number, markup)


def _number(match: re.Match[str]) -> str:
    return f'<span class="strange">U+{ord(match.group()):04X}</span>'
