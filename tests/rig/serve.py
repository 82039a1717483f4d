"""The server under test as the rig starts it: a file to run, in an environment with us in it."""

from sidechat_mcp.__main__ import serve

if __name__ == "__main__":
    raise SystemExit(serve())
