"""A provider of models on the loopback, as OpenAI's and as Anthropic's: it has the client call one tool, then says done.

It keeps what the client sent, so that a check can tell what a model would have got.
"""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

KEY = "key-of-the-fake-provider"
LAST_WORDS = "It is done."


class Models:
    """Listens on a free port of 127.0.0.1 until it is closed. `server` is what the client calls the MCP server."""

    def __init__(self, server: str, tool: str, arguments: dict) -> None:
        self.server, self.tool, self.arguments = server, tool, json.dumps(arguments)
        self.asked: list = []
        models = self

        class Handler(BaseHTTPRequestHandler):
            """Answers one request."""

            def do_POST(self) -> None:  # the name is the library's
                """Answers as the provider whose path was asked for."""
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                path = self.path.partition("?")[0]
                answer = {"/v1/responses": models.respond, "/v1/messages": models.message}.get(path)
                if answer is None:
                    self.send_error(404)
                    return
                asked = json.loads(body)
                models.asked.append(asked)
                kind, text = answer(asked)
                data = text.encode()
                self.send_response(200)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_) -> None:
                """Says nothing."""

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self._http.server_port
        threading.Thread(target=self._http.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self.port}"

    def last(self, answers) -> list:
        """Gives what tools answered, in the last request that has it: each request repeats what was before."""
        return next((found for asked in reversed(self.asked) if (found := answers(asked))), [])

    def respond(self, asked: dict) -> tuple:
        """Answers a request of the Responses API: a call of the tool, until its output has come."""
        number = len(self.asked)
        if tool_outputs(asked):
            text = {"type": "output_text", "text": LAST_WORDS, "annotations": []}
            item = {"type": "message", "id": f"m{number}", "role": "assistant", "status": "completed", "content": [text]}
        else:
            item = {
                "type": "function_call", "id": f"f{number}", "call_id": f"c{number}", "namespace": f"mcp__{self.server}",
                "name": self.tool, "arguments": self.arguments, "status": "completed",
            }
        usage = {
            "input_tokens": 1, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 1,
            "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 2,
        }
        return events(
            {"type": "response.created", "response": {"id": f"r{number}"}},
            {"type": "response.output_item.added", "output_index": 0, "item": item},
            {"type": "response.output_item.done", "output_index": 0, "item": item},
            {"type": "response.completed", "response": {"id": f"r{number}", "usage": usage}},
        )

    def message(self, asked: dict) -> tuple:
        """Answers a request of the Messages API: a call of the tool, until its result has come."""
        # A client also asks for such things as a title, without tools.
        calls = bool(asked.get("tools")) and not tool_results(asked)
        number = len(self.asked)
        usage = {"input_tokens": 1, "output_tokens": 1}
        message = {
            "id": f"msg_{number}", "type": "message", "role": "assistant", "model": asked.get("model", "fake"),
            "stop_reason": "tool_use" if calls else "end_turn", "stop_sequence": None, "usage": usage,
        }
        if calls:
            block = {"type": "tool_use", "id": f"toolu_{number}", "name": f"mcp__{self.server}__{self.tool}"}
            empty, whole = {"input": {}}, {"input": json.loads(self.arguments)}
            delta = {"type": "input_json_delta", "partial_json": self.arguments}
        else:
            block = {"type": "text"}
            empty, whole = {"text": ""}, {"text": LAST_WORDS}
            delta = {"type": "text_delta", "text": LAST_WORDS}
        if not asked.get("stream"):
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

    def __enter__(self) -> "Models":
        return self

    def __exit__(self, *_) -> None:
        self._http.shutdown()
        self._http.server_close()


def events(*all_of_them: dict) -> tuple:
    """Gives the type and the text of a stream of events."""
    return "text/event-stream", "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in all_of_them)


def tool_outputs(asked: dict) -> list:
    """Gives what tools answered, in a request of the Responses API."""
    items = asked.get("input", [])
    return [item.get("output") for item in items if item.get("type") == "function_call_output"]


def tool_results(asked: dict) -> list:
    """Gives what tools answered, in a request of the Messages API."""
    contents = [message.get("content") for message in asked.get("messages", [])]
    blocks = [block for content in contents if isinstance(content, list) for block in content]
    return [block for block in blocks if block.get("type") == "tool_result"]
