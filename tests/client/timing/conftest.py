"""The mock providers of the adapters' tests, for models that play the timing track."""

from tests.client.models.conftest import llmock_server, running_llmock

__all__ = ["llmock_server", "running_llmock"]
