"""What libraries mark as the failure of a tool: no document, however much its text says."""

from __future__ import annotations

_ERROR_TYPES = ("error", "error-text", "error-json")
_RESULT_KEYS = ("content", "parts", "response", "result", "output")
_ABOUT_ERROR = frozenset(
    {
        "error",
        "message",
        "code",
        "status",
        "status_code",
        "statusCode",
        "type",
        "detail",
        "details",
        "success",
    }
    | {"ok", "isError", "is_error", "traceback"}
)


def is_failure(value: object) -> bool:
    """True for a result, a message or a part of one that says that the tool failed.

    By MCP and the AI SDK `isError`, by Anthropic `is_error`, by LangChain and Bedrock the status `error`, by
    the AI SDK 5 an output of the type `error-text`; also an object of an `error` and nothing but words
    on it. Of anything else a status may be what was asked for.
    """
    if not isinstance(value, dict):
        return False
    if value.get("isError") is True or value.get("is_error") is True:
        return True
    if value.get("status") == "error" and any(key in value for key in _RESULT_KEYS):
        return True
    output = value.get("output")
    if isinstance(output, dict) and output.get("type") in _ERROR_TYPES and "value" in output:
        return True
    is_told = bool(value.get("error")) or value.get("status") == "error"
    return is_told and _ABOUT_ERROR.issuperset(key for key, item in value.items() if item is not None)
