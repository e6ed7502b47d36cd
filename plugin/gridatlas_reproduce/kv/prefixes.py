"""The beginnings that the cells of a question share, kept in the run's folder.

A run that is gone on with, cell by cell or after a stop, passes them through the model again and
doesn't decode them: on a GPU another text could come out, which the other cells wouldn't share.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from gridatlas_reproduce.kv.tasks import Prefix, Prefixes
from gridatlas_reproduce.runner.errors import CannotRun
from gridatlas_reproduce.runner.files import compact, strict_json, write_atomic

FOLDER = "prefixes"


class StoredPrefixes(Prefixes):
    """One file per question and sample, written whole."""

    def __init__(self, run: Path) -> None:
        self.folder = run / FOLDER

    def _path(self, key: str, number: int) -> Path:
        return self.folder / f"{hashlib.sha256(key.encode()).hexdigest()[:24]}-{number}.json"

    def find(self, key: str, number: int) -> Prefix | None:
        """That of a sample, where the run has it.

        Raises:
            CannotRun: For a file that isn't whole.
        """
        path = self._path(key, number)
        try:
            content = strict_json(path.read_bytes())
            tokens, ended = content["tokens"], content["ended"]
            if (content["key"], content["number"]) != (key, number) or not isinstance(ended, bool):
                raise ValueError("it is of another sample")
            return Prefix(tuple(int(token) for token in tokens), ended)
        except FileNotFoundError:
            return None
        except (OSError, ValueError, LookupError, TypeError, RecursionError) as error:
            raise CannotRun(
                f"{path} can't be read: {error}",
                "the tokens that the cells of a question share, as the script wrote them",
                "remove it: they are decoded again, and may be others than those of finished cells",
            ) from error

    def keep(self, key: str, number: int, prefix: Prefix) -> None:
        """Write it; of two processes that decode the same question the first one's stays.

        Raises:
            CannotRun: For a full disk, or a folder that can't be written to.
        """
        content = {
            "key": key,
            "number": number,
            "ended": prefix.ended,
            "tokens": list(prefix.tokens),
        }
        path = self._path(key, number)
        write_atomic(path, f"{compact(content)}\n".encode(), replace=False)
