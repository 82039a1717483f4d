"""What holds for every test: nothing of the machine's own is used, and in CI nothing skips."""

from __future__ import annotations

import os
import signal
import tempfile
from collections.abc import Generator

import pytest
from hypothesis import settings

OURS = ("SIDECHAT_", "CLAUDE", "CODEX_", "ANTHROPIC_", "OPENAI_")

settings.register_profile("house", deadline=None)
settings.load_profile("house")


def pytest_configure(config: pytest.Config) -> None:
    """No test meets the person's own log, live conversation or keys, not even by mistake."""
    for name in [name for name in os.environ if name.startswith(OURS)]:
        del os.environ[name]
    # Started in the background, a shell has signals ignored, and what tests start inherits that.
    for name in (signal.SIGINT, signal.SIGHUP):
        if signal.getsignal(name) is signal.SIG_IGN:
            default = signal.default_int_handler if name == signal.SIGINT else signal.SIG_DFL
            signal.signal(name, default)
    home = tempfile.TemporaryDirectory(prefix="sidechat-tests-")
    config.add_cleanup(home.cleanup)
    os.environ["SIDECHAT_HOME"] = home.name


def _in_ci() -> bool:
    return os.environ.get("CI") == "true"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """In CI a skipped test, or one that is expected to fail, fails with its reason."""
    report = yield
    if _in_ci() and report.skipped:
        report.outcome = "failed"
        report.longrepr = f"skipped in CI: {_reason(report)}"
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """The same for a whole module that skips."""
    report = yield
    if _in_ci() and report.skipped:
        report.outcome = "failed"
        report.longrepr = f"skipped in CI: {_reason(report)}"
    return report


def _reason(report: pytest.TestReport | pytest.CollectReport) -> str:
    if excuse := getattr(report, "wasxfail", ""):
        return str(excuse)
    match report.longrepr:
        case (_, _, str(reason)):
            return reason.removeprefix("Skipped: ")
        case other:
            return str(other)
