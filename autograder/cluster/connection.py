"""What is asked of a cluster beside grading: which Dask workers there are, and what they have."""

from __future__ import annotations

import importlib.metadata
import platform
import threading
import time
from collections.abc import Mapping
from typing import Any

from autograder.cluster.schedulers import Reached
from autograder.cluster.versions import PYTHON, difference, other_scheduler
from autograder.grading.workers import CannotGrade
from autograder.sandbox.packages import OURS

LOOK_EVERY_S = 1.0
_NOTICED_S = 10.0


class Connection:
    """The conversation with a cluster; whatever it cannot do is a sentence.

    Args:
        cluster: what was reached.
        closed: set when the run is over.
    """

    def __init__(self, cluster: Reached, closed: threading.Event) -> None:
        self._cluster = cluster
        self._client = cluster.client
        self._closed = closed

    def gone(self, error: BaseException | None = None) -> CannotGrade:
        """Return what to tell the user where the scheduler does no more."""
        said = f" ({type(error).__name__}: {str(error)[:200]})" if error is not None else ""
        return CannotGrade(
            f"the Dask scheduler of {self._cluster.where} does no more work for this run{said}: "
            "what is done is kept; run the command again when it is back"
        )

    def ask(self, what: Any, *args: Any, **more: Any) -> Any:
        """Ask Dask for something; one that cannot do it is a sentence."""
        try:
            return what(*args, **more)
        except Exception as error:
            raise self.gone(error) from error

    def threads_there(self) -> dict[str, int]:
        """Return the Dask workers that are there by address, and how many threads each has."""
        return dict(self.ask(self._client.nthreads))

    def everywhere(self, what: Any, *args: Any, **more: Any) -> dict[str, Any]:
        """Have something done on every Dask worker; what came of it, but of those lost meanwhile.

        Raises:
            CannotGrade: one is there and cannot do it.
        """
        found: dict[str, Any] = self.ask(self._client.run, what, *args, on_error="return", **more)
        failed = {a: e for a, e in found.items() if isinstance(e, Exception)}
        expected = (importlib.metadata.PackageNotFoundError,)
        for address, error in failed.items():
            if not isinstance(error, expected) and not self._lost(address, error):
                raise CannotGrade(
                    f"the Dask worker {address} cannot be asked ({type(error).__name__}: "
                    f"{str(error)[:200]}): see its log"
                )
        return {a: e for a, e in found.items() if a not in failed or isinstance(e, expected)}

    def _lost(self, address: str, error: Exception) -> bool:
        """Tell whether a Dask worker that did not answer is gone."""
        end = time.monotonic() + (_NOTICED_S if isinstance(error, OSError) else 0)
        # The scheduler may learn of it later than we do.
        while (there := address in self.threads_there()) and time.monotonic() < end:
            self._closed.wait(LOOK_EVERY_S / 10)
        return not there

    def compare(self, here: Mapping[str, str]) -> None:
        """See that every Dask worker has these versions, and the scheduler this package's.

        Raises:
            CannotGrade: one does not.
        """
        try:
            found = self._client.run_on_scheduler(importlib.metadata.version, OURS)
        except importlib.metadata.PackageNotFoundError:
            found = None
        except Exception as error:
            raise self.gone(error) from error
        # From a checkout that is not installed, neither has one; the hash of the code is compared.
        if (found or "unknown") != here[OURS]:
            raise CannotGrade(other_scheduler(found, here[OURS]))
        there: dict[str, dict[str, str | None]] = {}
        # By functions that every Python has: theirs may lack all of ours.
        for name in dict.fromkeys((PYTHON, OURS, *here)):
            ask: tuple[Any, ...] = (importlib.metadata.version, name)
            answers = self.everywhere(*((platform.python_version,) if name == PYTHON else ask))
            for address, answer in answers.items():
                version = answer if isinstance(answer, str) else None
                there.setdefault(address, {})[name] = version
        for address, versions in there.items():
            asked = {name: here[name] for name in versions}
            if reason := difference(address, versions, asked):
                raise CannotGrade(reason)

    def await_workers(self) -> None:
        """Wait for a first Dask worker.

        Raises:
            CannotGrade: none comes.
        """
        end = time.monotonic() + self._cluster.patience_s
        while not self.threads_there():
            if time.monotonic() > end:
                raise self.nobody()
            self._closed.wait(LOOK_EVERY_S)

    def nobody(self) -> CannotGrade:
        """Return what to tell the user where there is no Dask worker."""
        return CannotGrade(
            f"there is no Dask worker of {self._cluster.where} for "
            f"{self._cluster.patience_s:g} s: start some (`dask worker ADDRESS`); what is done is "
            "kept, and the same command goes on"
        )

    def always_lost(self) -> CannotGrade:
        """Return what to tell the user where Dask workers come and are lost before they grade."""
        return CannotGrade(
            f"the Dask workers of {self._cluster.where} are lost again and again before they grade "
            "anything: see their logs, and whether they have memory enough; what is done is kept"
        )
