"""A provider of models on the loopback, as OpenAI's, Anthropic's and Google's: it has the client make planned calls, one
after another, then says done.

It keeps what the client sent, so that a check can tell what a model would have got: `tools` and `results`.
"""

import itertools
import json
import re
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

KEY = "key-of-the-fake-provider"
LAST_WORDS = "It is done."


class Models:
    """Listens on a free port of 127.0.0.1 until it is closed.

    `server` is what the client calls the MCP server; `calls` are the tools that the model calls, with their arguments.
    With `follow`, a function makes each further call from what the model was shown so far, until it returns nothing.
    """

    def __init__(self, server: str, *calls: tuple, follow: Callable | None = None) -> None:
        self.server, self.calls, self.follow = server, calls, follow
        self.asked: list = []
        self.lost: list = []
        self._numbers = itertools.count(1)
        models = self

        class Handler(BaseHTTPRequestHandler):
            """Answers one request."""

            def do_POST(self) -> None:  # the name is the library's
                """Answers as the provider whose path was asked for."""
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                path, _, query = self.path.partition("?")
                api = next((api for api in APIS if re.fullmatch(api.path, path)), None)
                if api is None:
                    models.lost.append(self.path)
                    self.send_error(404)
                    return
                asked = json.loads(body)
                models.asked.append((api, asked))
                kind, text = models.answer(api, asked, api.streams(asked, path, query))
                data = text.encode()
                self.send_response(200)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def do_GET(self) -> None:  # the name is the library's
                """Has nothing else."""
                models.lost.append(self.path)
                self.send_error(404)

            def log_message(self, *_) -> None:
                """Says nothing."""

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self._http.server_port
        threading.Thread(target=self._http.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self.port}"

    def answer(self, api, asked: dict, stream: bool) -> tuple:
        """Returns the type and the text of an answer: the next call, or the last words."""
        results = api.results(asked)
        made = len(results)
        # A client also asks for such things as a title, without tools.
        planned = self.calls[made] if made < len(self.calls) else self.follow(results) if self.follow else None
        if not planned or not asked.get("tools"):
            return api.answer(asked, next(self._numbers), None, stream)
        tool, arguments = planned
        listed = [name for name in api.tools(asked) if name.endswith(tool)]
        # Some clients list the names of tools alone, until a model asks for more.
        name = listed[0] if listed else f"mcp__{self.server}__{tool}"
        return api.answer(asked, next(self._numbers), (name, arguments, self.server), stream)

    def tools(self) -> dict:
        """Returns the tools that the model was shown first, by name: `{"description", "schema", "strict"}`."""
        return next((found for api, asked in self.asked if (found := api.tools(asked))), {})

    def results(self) -> list:
        """Returns what the model was shown of each call: a list of `("text", text)` and `("image", type, base64)`."""
        # Each request repeats what was before.
        return max((api.results(asked) for api, asked in self.asked), key=len, default=[])

    def __enter__(self) -> "Models":
        return self

    def __exit__(self, *_) -> None:
        self._http.shutdown()
        self._http.server_close()


def codex_settings(models: Models) -> str:
    """Gives the settings by which Codex asks these models."""
    return f"""model = "fake-1"
model_provider = "fake"
approval_policy = "never"
sandbox_mode = "read-only"
check_for_update_on_startup = false
[analytics]
enabled = false
[model_providers.fake]
name = "Fake"
base_url = "{models.url}/v1"
wire_api = "responses"
env_key = "FAKE_KEY"
request_max_retries = 0
stream_max_retries = 0
"""


def codex_server(name: str, product) -> str:
    """Returns the settings by which Codex has Bailiwick over stdio, and asks nobody itself."""
    return f"""
[mcp_servers.{name}]
command = {json.dumps(str(product.binary))}
args = ["mcp"]
env = {{ BAILIWICK_HOME = {json.dumps(str(product.home))} }}
default_tools_approval_mode = "approve"
"""


def events(*all_of_them: dict, names: bool = True) -> tuple:
    """Returns the type and the text of a stream of events."""
    head = [f"event: {event['type']}\n" if names else "" for event in all_of_them]
    text = "".join(f"{name}data: {json.dumps(event)}\n\n" for name, event in zip(head, all_of_them))
    return "text/event-stream", text


def data_url(url: str) -> tuple:
    """Returns the part for an image that is given as a URL with its data."""
    kind, _, data = url.removeprefix("data:").partition(";base64,")
    return "image", kind, data


class Responses:
    """OpenAI's Responses API."""

    path = r"(/v1)?/responses"

    @staticmethod
    def streams(asked: dict, _path: str, _query: str) -> bool:
        """Tells whether a stream is asked for."""
        return bool(asked.get("stream"))

    @staticmethod
    def tools(asked: dict) -> dict:
        """Returns the tools of a request; Codex has those of a server in a namespace."""
        tools = [inner for tool in asked.get("tools", []) for inner in tool.get("tools", [tool])]
        return {
            tool["name"]: {"description": tool.get("description", ""), "schema": tool["parameters"], "strict": tool.get("strict")}
            for tool in tools
            if tool.get("type") == "function"
        }

    @staticmethod
    def results(asked: dict) -> list:
        """Returns what the calls answered."""
        items = asked.get("input", [])
        outputs = [item.get("output") for item in items if isinstance(item, dict) and item.get("type") == "function_call_output"]
        parts = [[{"type": "input_text", "text": output}] if isinstance(output, str) else output for output in outputs]
        return [
            [data_url(part["image_url"]) if part["type"] == "input_image" else ("text", part["text"]) for part in output]
            for output in parts
        ]

    @staticmethod
    def answer(asked: dict, number: int, call: tuple | None, stream: bool) -> tuple:
        """Makes the answer: a call, or the last words."""
        if call:
            name, arguments, server = call
            item = {
                "type": "function_call", "id": f"f{number}", "call_id": f"c{number}", "name": name,
                "arguments": json.dumps(arguments), "status": "completed",
            }
            if any(tool.get("type") == "namespace" for tool in asked["tools"]):
                item["namespace"] = f"mcp__{server}"
        else:
            text = {"type": "output_text", "text": LAST_WORDS, "annotations": []}
            item = {"type": "message", "id": f"m{number}", "role": "assistant", "status": "completed", "content": [text]}
        usage = {
            "input_tokens": 1, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 1,
            "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 2,
        }
        if not stream:
            whole = {
                "id": f"r{number}", "object": "response", "created_at": 1, "status": "completed", "model": asked["model"],
                "output": [item], "usage": usage, "parallel_tool_calls": False, "tool_choice": "auto", "tools": [],
            }
            return "application/json", json.dumps(whole)
        return events(
            {"type": "response.created", "response": {"id": f"r{number}"}},
            {"type": "response.output_item.added", "output_index": 0, "item": item},
            {"type": "response.output_item.done", "output_index": 0, "item": item},
            {"type": "response.completed", "response": {"id": f"r{number}", "usage": usage}},
        )


class Messages:
    """Anthropic's Messages API."""

    path = r"(/v1)?/messages"
    streams = Responses.streams

    @staticmethod
    def tools(asked: dict) -> dict:
        """Returns the tools of a request."""
        return {
            tool["name"]: {"description": tool.get("description", ""), "schema": tool["input_schema"], "strict": tool.get("strict")}
            for tool in asked.get("tools", [])
            if "input_schema" in tool
        }

    @staticmethod
    def results(asked: dict) -> list:
        """Returns what the calls answered."""
        contents = [message.get("content") for message in asked.get("messages", [])]
        blocks = [block for content in contents if isinstance(content, list) for block in content]
        answers = [block.get("content") or [] for block in blocks if block.get("type") == "tool_result"]
        parts = [[{"type": "text", "text": answer}] if isinstance(answer, str) else answer for answer in answers]
        return [
            [
                ("image", part["source"]["media_type"], part["source"]["data"]) if part["type"] == "image"
                else ("text", part.get("text", ""))
                for part in answer
            ]
            for answer in parts
        ]

    @staticmethod
    def answer(asked: dict, number: int, call: tuple | None, stream: bool) -> tuple:
        """Makes the answer: a call, or the last words."""
        usage = {"input_tokens": 1, "output_tokens": 1}
        message = {
            "id": f"msg_{number}", "type": "message", "role": "assistant", "model": asked.get("model", "fake"),
            "stop_reason": "tool_use" if call else "end_turn", "stop_sequence": None, "usage": usage,
        }
        if call:
            name, arguments, _ = call
            block = {"type": "tool_use", "id": f"toolu_{number}", "name": name}
            empty, whole = {"input": {}}, {"input": arguments}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(arguments)}
        else:
            block = {"type": "text"}
            empty, whole = {"text": ""}, {"text": LAST_WORDS}
            delta = {"type": "text_delta", "text": LAST_WORDS}
        if not stream:
            return "application/json", json.dumps({**message, "content": [{**block, **whole}]})
        end = {"stop_reason": message["stop_reason"], "stop_sequence": None}
        return events(
            {"type": "message_start", "message": {**message, "content": [], "stop_reason": None}},
            {"type": "content_block_start", "index": 0, "content_block": {**block, **empty}},
            {"type": "content_block_delta", "index": 0, "delta": delta},
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": end, "usage": {"output_tokens": 1}},
            {"type": "message_stop"},
        )


class Chat:
    """OpenAI's chat completions, which other providers have too."""

    path = r"(/v1)?/chat/completions"
    streams = Responses.streams

    @staticmethod
    def tools(asked: dict) -> dict:
        """Returns the tools of a request."""
        functions = [tool["function"] for tool in asked.get("tools", [])]
        return {
            function["name"]: {
                "description": function.get("description", ""), "schema": function.get("parameters"), "strict": function.get("strict"),
            }
            for function in functions
        }

    @staticmethod
    def results(asked: dict) -> list:
        """Returns what the calls answered. Images come in the answer, or in a message of the user after it."""
        found: list = []
        for message in asked.get("messages", []):
            content = message.get("content") or []
            parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
            images = [data_url(part["image_url"]["url"]) for part in parts if part["type"] == "image_url"]
            if message["role"] == "tool":
                found.append([("text", part["text"]) for part in parts if part["type"] == "text"] + images)
            elif message["role"] == "user" and found:
                found[-1] += images
        return found

    @staticmethod
    def answer(asked: dict, number: int, call: tuple | None, stream: bool) -> tuple:
        """Makes the answer: a call, or the last words."""
        message: dict = {"role": "assistant", "content": LAST_WORDS}
        if call:
            function = {"name": call[0], "arguments": json.dumps(call[1])}
            message = {
                "role": "assistant", "content": None,
                "tool_calls": [{"index": 0, "id": f"call_{number}", "type": "function", "function": function}],
            }
        ending = "tool_calls" if call else "stop"
        head = {"id": f"chat_{number}", "created": 1, "model": asked.get("model", "fake")}
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        if not stream:
            choice = {"index": 0, "message": message, "finish_reason": ending}
            return "application/json", json.dumps({**head, "object": "chat.completion", "choices": [choice], "usage": usage})
        head["object"] = "chat.completion.chunk"
        kind, text = events(
            {**head, "choices": [{"index": 0, "delta": message, "finish_reason": None}]},
            {**head, "choices": [{"index": 0, "delta": {}, "finish_reason": ending}], "usage": usage},
            names=False,
        )
        return kind, f"{text}data: [DONE]\n\n"


class Gemini:
    """Google's Gemini API."""

    path = r"(/v1|/v1beta)?/models/[^/]+:(streamG|g)enerateContent"

    @staticmethod
    def streams(_asked: dict, path: str, _query: str) -> bool:
        """Tells whether a stream is asked for."""
        return path.endswith(":streamGenerateContent")

    @staticmethod
    def tools(asked: dict) -> dict:
        """Returns the tools of a request."""
        functions = [
            function
            for tool in asked.get("tools", [])
            for function in tool.get("functionDeclarations", tool.get("function_declarations", []))
        ]
        names = ("parametersJsonSchema", "parameters_json_schema", "parameters")
        return {
            function["name"]: {
                "description": function.get("description", ""), "strict": None,
                "schema": next((function[name] for name in names if name in function), None),
            }
            for function in functions
        }

    @staticmethod
    def results(asked: dict) -> list:
        """Returns what the calls answered. Images come in the answer, or beside it. What is no text is shown as JSON."""
        found: list = []
        for content in asked.get("contents", []):
            for part in content.get("parts", []):
                response = part.get("functionResponse", part.get("function_response"))
                if response is not None:
                    told = response.get("response", {})
                    # Each library names what a tool answered in its own way.
                    told = next(iter(told.values())) if len(told) == 1 else told
                    found.append([("text", told if isinstance(told, str) else json.dumps(told, ensure_ascii=False))])
                inner = [part, *(response or {}).get("parts", [])]
                data = [it.get("inlineData", it.get("inline_data")) for it in inner]
                if found:
                    found[-1] += [("image", it.get("mimeType", it.get("mime_type")), it["data"]) for it in data if it]
        return found

    @staticmethod
    def answer(_asked: dict, _number: int, call: tuple | None, stream: bool) -> tuple:
        """Makes the answer: a call, or the last words."""
        part = {"functionCall": {"name": call[0], "args": call[1]}} if call else {"text": LAST_WORDS}
        whole = {
            "candidates": [{"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}],
            "usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2},
            "modelVersion": "fake",
        }
        return events(whole, names=False) if stream else ("application/json", json.dumps(whole))


APIS = (Responses, Messages, Chat, Gemini)
