"""litellm, imported only where a judge calls somebody: it takes seconds of CPU and 190 MB."""

from __future__ import annotations

import importlib
import logging
import os
from functools import cache
from typing import Any, NamedTuple

_ENVIRONMENT = {
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",  # the wheel's price list, no download at import
    "LITELLM_LOCAL_ANTHROPIC_BETA_HEADERS": "True",  # no download at a call
    "LITELLM_OFFLINE_MODE": "true",  # nothing else of its own from the network either
    "LITELLM_MODE": "PRODUCTION",  # a .env file in the working directory is not ours to read
}
_OWN_LOGGERS = ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy")
_CHATTY_LOGGERS = ("openai", "httpx", "httpcore")


class Litellm(NamedTuple):
    """The module, and the root of what its calls raise."""

    module: Any
    provider_error: type[Exception]


@cache
def load_litellm() -> Litellm:
    """litellm, quiet: it logs nothing of prompts or keys, calls nobody back, downloads nothing.

    What the operator set in the environment stays as it is.
    """
    for name, value in _ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    _quieten()  # also while it is loaded: its loggers have handlers of their own by then
    module: Any = importlib.import_module("litellm")
    module.suppress_debug_info = True
    module.turn_off_message_logging = True
    module.disable_hf_tokenizer_download = True
    if hasattr(module, "telemetry"):
        module.telemetry = False
    _quieten()
    return Litellm(module, importlib.import_module("openai").OpenAIError)


def _quieten() -> None:
    """Its own loggers print prompts with their errors; those below it print headers and bodies at DEBUG."""
    for name in _OWN_LOGGERS:
        logging.getLogger(name).setLevel(logging.CRITICAL)
    for name in _CHATTY_LOGGERS:
        logger = logging.getLogger(name)
        logger.setLevel(max(logger.level, logging.WARNING))
