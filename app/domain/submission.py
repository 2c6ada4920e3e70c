"""One person's work, as it came in; it never changes."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, kw_only=True)
class Submission:
    """Files by name, in the order given, or the raw answers by field; text where asked for."""

    files: Mapping[str, bytes] = field(default_factory=dict)
    answers: Mapping[str, object] = field(default_factory=dict)
    text: str = ""

    @property
    def is_empty(self) -> bool:
        """Whether files were sent and none of them holds anything."""
        return bool(self.files) and not any(data.strip() for data in self.files.values())
