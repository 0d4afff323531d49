"""An S3-compatible server on loopback: the package moto, made by others. It can be told to refuse writes."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from types import TracebackType
from typing import Any, Self

import pytest
import s3fs

from atr_client.outputs import stores

BUCKET = "runs"


class ObjectStore:
    """`full` after so many further writes (None: never) answers as a bucket does that has no room left."""

    def __init__(self) -> None:
        from moto.server import ThreadedMotoServer

        logging.getLogger("werkzeug").setLevel(logging.ERROR)
        self._server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
        self.writes_left: int | None = None

    def __enter__(self) -> Self:
        from moto.moto_api._internal.models import moto_api_backend

        self._server.start()
        moto_api_backend.reset()  # what an earlier server of this process held
        host, port = self._server.get_host_and_port()
        self.url = f"http://{host}:{port}"
        inner: Any = self._server._server
        application = inner.app

        def limited(environ: dict[str, Any], start: Any) -> Iterable[bytes]:
            if environ["REQUEST_METHOD"] == "PUT" and environ["PATH_INFO"].endswith(".zip"):
                if self.writes_left == 0:
                    start("507 Insufficient Storage", [("Content-Type", "application/xml")])
                    return [b"<Error><Code>QuotaExceeded</Code><Message>The bucket is full</Message></Error>"]
                self.writes_left = self.writes_left and self.writes_left - 1
            return application(environ, start)

        inner.app = limited
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._server.stop()

    def address(self, name: str) -> str:
        return f"s3://{BUCKET}/{name}"

    def be_known(self, patch: pytest.MonkeyPatch) -> None:
        """Puts it where S3 libraries of this process, and of those it starts, look; makes the bucket."""
        for name, value in {
            "AWS_ENDPOINT_URL": self.url,
            "AWS_ACCESS_KEY_ID": "test",
            "AWS_SECRET_ACCESS_KEY": "test",
            "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_EC2_METADATA_DISABLED": "true",
            "AWS_MAX_ATTEMPTS": "1",
        }.items():
            patch.setenv(name, value)
        forget_connections()
        s3fs.S3FileSystem(skip_instance_cache=True).mkdir(BUCKET)


def forget_connections() -> None:
    """This process keeps what it has opened; a person's next command does not."""
    stores._opened.cache_clear()
    s3fs.S3FileSystem.clear_instance_cache()
