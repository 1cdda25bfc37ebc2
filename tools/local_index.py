"""A package index for a rehearsal: pypiserver over a folder, with one user who may upload.

`python local_index.py FOLDER PORT FALLBACK`; the user comes from the environment.
"""

from __future__ import annotations

import os
import sys


def main() -> None:
    """Serve until the process is ended."""
    import pypiserver

    folder, port, fallback = sys.argv[1:]
    allowed = os.environ["LOCAL_INDEX_USER"], os.environ["LOCAL_INDEX_PASSWORD"]
    settings = {"fallback_url": fallback} if fallback else {}
    app = pypiserver.app(
        roots=[folder],
        authenticate=["update"],
        password_file=".",  # noqa: S106 - not read, as `auther` decides
        auther=lambda user, password: (user, password) == allowed,
        **settings,
    )
    from wsgiref.simple_server import WSGIRequestHandler, make_server

    class Quiet(WSGIRequestHandler):
        def log_message(self, *_arguments: object) -> None:
            """Say nothing."""

    make_server("127.0.0.1", int(port), app, handler_class=Quiet).serve_forever()


if __name__ == "__main__":
    main()
